// The HMM paper by execution: Table I, Table III's distributions, and those of its five
// permutations (section IV).
#include "core/random.h"
#include "kernels/hmm/algorithm.h"
#include "tool/papers/paper.h"

#include <assert.h>
#include <inttypes.h>

enum { WIDTH = 32, RANDOM = 20, RANDOM_BITS = 22 };  // WIDTH: of distributions

// ---- Table I ---------------------------------------------------------------------------------

// Rounds of a row: reads and writes of the global memory that are casual, and that are coalesced;
// those of the shared memories that are free of conflicts.
typedef struct row {
  const char *algorithm, *permutation;  // NULL: a transpose
  double casual[2], coalesced[2], free[2];
} row;
static const row rows[] = {
    {"d-designated", "bit-reversal", {0, 1}, {2, 0}, {0, 0}},
    {"d-designated", "random", {0, 1}, {2, 0}, {0, 0}},
    {"s-designated", "bit-reversal", {1, 0}, {1, 1}, {0, 0}},
    {"s-designated", "random", {1, 0}, {1, 1}, {0, 0}},
    {"hmm-transpose", NULL, {0, 0}, {1, 1}, {1, 1}},
    {"row-wise", "random in rows", {0, 0}, {3, 1}, {2, 2}},
    {"column-wise", "random in columns", {0, 0}, {5, 3}, {4, 4}},
    {"scheduled", "random", {0, 0}, {11, 5}, {8, 8}},
};

// A permutation by its name, or another random one for each row, or each column, of a square.
static uint64_t *list_of_row(arena *a, const row *r, uint32_t bits) {
  const hmm_permutation *named = hmm_permutation_named(r->permutation);
  if (named)
    return hmm_permutation_list(a, named, bits, 1);
  uint64_t side = UINT64_C(1) << bits / 2, *list = NEW_ARRAY(a, uint64_t, side * side), state = 1;
  uint16_t *order = NEW_ARRAY(a, uint16_t, side);
  bool in_rows = !strcmp(r->algorithm, "row-wise");
  for (uint64_t i = 0; i < side; i++) {
    draw_permutation(&state, (uint32_t)side, order);
    for (uint64_t k = 0; k < side; k++)
      list[in_rows ? i * side + k : k * side + i] =
          in_rows ? i * side + order[k] : order[k] * side + i;
  }
  return list;
}

static double formula_of_row(arena *a, const row *r, const hmm_machine *m, const hmm_task *t) {
  uint64_t w = m->width, n = t->n;
  uint64_t global = (uint64_t)(r->coalesced[0] + r->coalesced[1]);
  uint64_t rounds = global + (uint64_t)(r->free[0] + r->free[1]);
  if (rounds > global)
    return (double)(rounds * n / w + global * m->latency - global);
  uint64_t *images = NEW_ARRAY(a, uint64_t, n);
  for (uint64_t i = 0; i < n; i++)
    *(r->casual[0] > 0 ? &images[t->list[i]] : &images[i]) = r->casual[0] > 0 ? i : t->list[i];
  return (double)(hmm_distribution(a, images, n, (uint32_t)w, false) + 2 * n / w + 3 * m->latency -
                  3);
}

static void add_rounds(paper_table *t, const row *r, const hmm_counts *c) {
  static const char *const kinds[] = {"casual", "coalesced", "conflict-free"};
  for (int i = 0; i < 6; i++) {
    int op = i < 4 ? i & 1 : 2 + (i & 1);
    uint64_t ours = i < 2 ? c->casual[op] : c->rounds[op] - c->casual[op];
    const double *published = i < 2 ? r->casual : i < 4 ? r->coalesced : r->free;
    paper_add(t, published[i & 1], (double)ours, "%s rounds of %s", kinds[i / 2], hmm_op_names[op]);
  }
}

static void add_row(paper_tables *out, const row *r, uint32_t bits, uint32_t width,
                    uint64_t latency) {
  FREED_BY(arena_free) arena own = {.failure = out->memory->failure};
  hmm_machine m = {HMM_KIND_HMM, 1, width, latency, 1, UINT64_C(1) << bits, true};
  hmm_task task = {.n = m.threads};
  hmm_counts c = {0}, free = {0}, several = {0};
  if (r->permutation)
    task.list = list_of_row(&own, r, bits);
  const hmm_algorithm *algorithm = hmm_algorithm_named(r->algorithm);
  const char *problem = hmm_algorithm_run(&own, &m, algorithm, &task, &c);
  paper_table *t = paper_add_table(out, "Table I: %s%s%s, n = 2^%u, w = %u, L = %" PRIu64,
                                   r->algorithm, r->permutation ? " of " : "",
                                   r->permutation ? r->permutation : "", bits, width, latency);
  add_rounds(t, r, &c);
  paper_add(t, formula_of_row(&own, r, &m, &task), (double)c.time, "time units, d = 1, barriers")
      ->note = "by the formula of the table";
  m.barrier = false;
  if (!problem)
    problem = hmm_algorithm_run(&own, &m, algorithm, &task, &free);
  m.dmms = 8;
  if (!problem)
    problem = hmm_algorithm_run(&own, &m, algorithm, &task, &several);
  assert(!problem);
  paper_add(t, NAN, (double)free.time, "time units, d = 1, free");
  paper_add(t, NAN, (double)several.time, "time units, d = 8, free");
}

// ---- distributions ---------------------------------------------------------------------------

static double distribution_by_size(arena *a, const char *name, uint32_t bits, uint64_t seed) {
  FREED_BY(arena_free) arena own = {.failure = a->failure};
  uint64_t *list = hmm_permutation_list(&own, hmm_permutation_named(name), bits, seed);
  uint64_t n = UINT64_C(1) << bits, d = hmm_distribution(&own, list, n, WIDTH, false);
  return (double)d / (double)n;
}

static void add_distributions(paper_tables *out) {
  static const char *const names[] = {"identical", "shuffle", "bit-reversal", "transpose"};
  static const double published[] = {1.0 / WIDTH, 2.0 / WIDTH, 1, 1};
  paper_table *t = paper_add_table(out, "Section IV: D_w(P)/n, n = 2^20, w = %d", WIDTH);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    paper_add(t, published[i], distribution_by_size(out->memory, names[i], 20, 1), "%s", names[i]);
}

// Of fewer permutations than the paper's 1000 least and greatest are less far apart.
static void add_random(paper_tables *out, uint64_t trials) {
  double least = 2, most = 0, sum = 0;
  uint64_t count = trials ? trials : RANDOM;
  for (uint64_t seed = 1; seed <= count; seed++) {
    double part = distribution_by_size(out->memory, "random", RANDOM_BITS, seed);
    least = part < least ? part : least;
    most = part > most ? part : most;
    sum += part;
  }
  const char *note =
      arena_printf(out->memory, "of %" PRIu64 " permutations, the paper: 1000", count);
  const paper_cell cells[] = {{"minimum", 99987, 1e5 * least, 2, note},
                              {"average", 99989, 1e5 * sum / (double)count, 1, note},
                              {"maximum", 99990, 1e5 * most, 2, note}};
  paper_add_cells(paper_add_table(out, "Table III: 10^5 D_w(P)/n of random permutations of 4M"),
                  cells, sizeof cells / sizeof *cells);
}

void paper_hmm(paper_tables *out, uint64_t trials) {
  static const uint64_t latencies[] = {1, 400};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (uint32_t bits = 14; bits <= 16; bits += 2)
      for (int k = 0; k < 2; k++)
        add_row(out, &rows[i], bits, WIDTH, latencies[k]);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (uint32_t width = 8; width < WIDTH; width *= 2)
      add_row(out, &rows[i], 14, width, 400);
  add_distributions(out);
  add_random(out, trials);
}
