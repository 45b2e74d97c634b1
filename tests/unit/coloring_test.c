// Edge colouring of regular bipartite multigraphs: each colour is a perfect matching, each edge is
// there once, and the number of threads does not matter.
#include "core/permutation/coloring.h"
#include "core/random.h"
#include "runtime/system/pool.h"
#include "tests/test.h"

typedef uint32_t right_end(uint32_t nodes, uint32_t degree, uint32_t node, uint32_t place);

static uint32_t cyclic(uint32_t nodes, uint32_t degree, uint32_t node, uint32_t place) {
  (void)degree;
  return (node + place) % nodes;
}
static uint32_t parallel(uint32_t nodes, uint32_t degree, uint32_t node, uint32_t place) {
  (void)degree, (void)place;
  return nodes - 1 - node;
}
static uint32_t complete(uint32_t nodes, uint32_t degree, uint32_t node, uint32_t place) {
  return (uint32_t)(((uint64_t)node * degree + place) % nodes);
}
// One circle through all nodes, each of its edges many times: walks are as long as can be.
static uint32_t one_circle(uint32_t nodes, uint32_t degree, uint32_t node, uint32_t place) {
  return (node + (place < degree / 2)) % nodes;
}
// Two parts with no edge between them.
static uint32_t blocks(uint32_t nodes, uint32_t degree, uint32_t node, uint32_t place) {
  uint32_t half = nodes / 2 + (nodes < 2), first = node < half ? 0 : half;
  uint32_t count = first == 0 ? half : nodes - half;
  return first + (uint32_t)(((uint64_t)(node - first) * degree + place) % count);
}
static right_end *const graphs[] = {cyclic, parallel, complete, one_circle, blocks, NULL};

// NULL: right ends at random, each as often as the degree says.
static void fill(uint16_t *right, uint32_t nodes, uint32_t degree, right_end *end,
                 uint64_t *state) {
  for (uint32_t i = 0; i < nodes; i++)
    for (uint32_t j = 0; j < degree; j++)
      right[(size_t)i * degree + j] = (uint16_t)(end ? end : cyclic)(nodes, degree, i, j);
  for (size_t i = end ? 0 : (size_t)nodes * degree; i > 1; i--) {
    size_t k = draw_below(state, (uint32_t)i);
    uint16_t kept = right[i - 1];
    right[i - 1] = right[k];
    right[k] = kept;
  }
}

static bool color(uint32_t nodes, uint32_t degree, uint16_t *right, uint16_t *edge,
                  unsigned threads) {
  coloring c = {.nodes = nodes,
                .degree = degree,
                .right = right,
                .edge = edge,
                .threads = threads,
                .pool = threads == 1 ? NULL : pool_run};
  c.scratch = malloc(coloring_scratch(&c) * sizeof *c.scratch);
  bool good = color_edges(&c);
  free(c.scratch);
  return good;
}

// Numbers of a row or column, `step` apart, that are not 0 ... count - 1 once each.
static size_t strangers(const uint16_t *from, uint32_t count, size_t step) {
  bool *seen = calloc(count, sizeof *seen);
  size_t wrong = 0;
  for (uint32_t i = 0; i < count; i++, from += step)
    if (*from >= count || seen[*from])
      wrong++;
    else
      seen[*from] = true;
  free(seen);
  return wrong;
}

// Edges that are not as the law says.
static size_t faults(uint32_t nodes, uint32_t degree, const uint16_t *before, const uint16_t *right,
                     const uint16_t *edge) {
  size_t wrong = 0;
  for (uint32_t k = 0; k < degree; k++)
    wrong += strangers(right + k, nodes, degree);
  for (size_t i = 0; i < nodes; i++) {
    wrong += strangers(edge + i * degree, degree, 1);
    for (size_t k = i * degree; k < (i + 1) * degree; k++)
      wrong += edge[k] < degree && before[i * degree + edge[k]] != right[k];
  }
  return wrong;
}

static void check(uint32_t nodes, uint32_t degree, right_end *end, uint64_t *state) {
  enum { RUNS = 2 };
  size_t bytes = (size_t)nodes * degree * sizeof(uint16_t);
  uint16_t *before = malloc(bytes), *right[RUNS], *edge[RUNS];
  fill(before, nodes, degree, end, state);
  for (int run = 0; run < RUNS; run++) {
    right[run] = malloc(bytes);
    edge[run] = malloc(bytes);
    memcpy(right[run], before, bytes);
    CHECK(color(nodes, degree, right[run], edge[run], run == 0 ? 1 : 3));
    CHECK_EQ_U64(faults(nodes, degree, before, right[run], edge[run]), 0);
  }
  CHECK(memcmp(edge[0], edge[1], bytes) == 0);
  for (int run = 0; run < RUNS; run++) {
    free(right[run]);
    free(edge[run]);
  }
  free(before);
}

TEST(small_graphs) {
  uint64_t state = 1;
  for (uint32_t nodes = 1; nodes <= 12; nodes++)
    for (uint32_t degree = 1; degree <= 12; degree++)
      for (size_t g = 0; g < sizeof graphs / sizeof *graphs; g++)
        check(nodes, degree, graphs[g], &state);
}

TEST(shapes) {
  static const struct {
    uint32_t nodes, degree;
  } shapes[] = {{64, 64},  {100, 99}, {32, 1000}, {33, 511},  {1, 2048},
                {257, 64}, {2, 3001}, {150, 256}, {2, 65536}, {65536, 3}};
  size_t count = sizeof shapes / sizeof *shapes - (test_all() ? 0 : 2);
  uint64_t state = 2;
  for (size_t i = 0; i < count; i++)
    for (size_t g = 0; g < sizeof graphs / sizeof *graphs; g++)
      check(shapes[i].nodes, shapes[i].degree, graphs[g], &state);
}

static bool stopped(unsigned threads, uint64_t items, uint64_t chunk, coloring_work *work,
                    void *with, const atomic_bool *interrupted) {
  (void)threads, (void)chunk;
  return work(with, 0, 0, items) && !atomic_load(interrupted);
}

TEST(interruption) {
  static uint16_t right[64 * 64], edge[64 * 64];
  uint64_t state = 3;
  atomic_bool interrupted = true;
  fill(right, 64, 64, NULL, &state);
  coloring c = {64, 64, right, edge, NULL, 1, stopped, &interrupted};
  c.scratch = malloc(coloring_scratch(&c) * sizeof *c.scratch);
  CHECK(!color_edges(&c));
  free(c.scratch);
}

TEST_MAIN()
