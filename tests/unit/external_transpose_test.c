// Transposed arrays in files, beside their definition: any dimensions in any order, by little
// memory; counts of keys in files.
#include "tests/test.h"

#include "core/random.h"
#include "runtime/external/routines/routine.h"
#include "runtime/external/routines/transpose.h"
#include "runtime/routines/count.h"

static const char *path_of(char *path, const char *name) {
  const char *folder = getenv("PERMC_TMP") ? getenv("PERMC_TMP") : "/tmp";
  snprintf(path, 4096, "%s/%s", folder, name);
  remove(path);  // what is emptied is written to the disk when it is closed
  return path;
}

static char *random_bytes(uint64_t *state, uint64_t count) {
  char *bytes = malloc(count + 8);
  for (uint64_t i = 0; i < count; i += 8)
    memcpy(bytes + i, &(uint64_t){draw_word(state)}, 8);
  return bytes;
}

// ---- transposes --------------------------------------------------------------------------------

typedef struct example {
  size_t size;
  uint32_t count;
  uint64_t extents[NET_DIMENSIONS];
  uint32_t
      after[NET_DIMENSIONS];  // dimension i after is dimension after[i] before; innermost first
  uint64_t memory, lead;
} example;

static uint64_t set_dimensions(const example *x, net_dimension *dimensions) {
  uint64_t from = 1, to = 1;
  for (uint32_t i = 0; i < x->count; i++) {
    dimensions[i] = (net_dimension){x->extents[i], from, 0};
    from *= x->extents[i];
  }
  for (uint32_t i = 0; i < x->count; i++) {
    dimensions[x->after[i]].to = to;
    to *= x->extents[x->after[i]];
  }
  return from;
}

static char *transposed(const example *x, const net_dimension *dimensions, const char *from,
                        uint64_t elements) {
  char *to = malloc(elements * x->size);
  for (uint64_t i = 0; i < elements; i++) {
    uint64_t at = 0;
    for (uint32_t d = 0; d < x->count; d++)
      at += i / dimensions[d].from % dimensions[d].extent * dimensions[d].to;
    memcpy(to + at * x->size, from + i * x->size, x->size);
  }
  return to;
}

static bool stop_at(void *with, uint64_t done, error *failure) {
  return done != *(uint64_t *)with || error_set(failure, SPAN_NONE, "enough");
}

// Once stopped in the middle, if there is more than one box, then whole. How many those are.
static uint64_t check_transpose(const example *x, uint64_t *state) {
  net_dimension dimensions[NET_DIMENSIONS];
  uint64_t elements = set_dimensions(x, dimensions), bytes = elements * x->size;
  char *given = random_bytes(state, bytes), *wanted = transposed(x, dimensions, given, elements),
       *found = malloc(bytes), paths[2][4096];
  error e = {0}, stopped = {0};
  disk_file from, to;
  disk *d = disk_new(NULL, NULL, &e);
  CHECK(disk_open(&from, path_of(paths[0], "from"), DISK_CREATE, x->lead + bytes, &e) &&
        disk_write(&from, x->lead, given, bytes, &e) &&
        disk_open(&to, path_of(paths[1], "to"), DISK_CREATE, DISK_PAGE + bytes, &e));
  external_transpose t = {.size = x->size,
                          .count = x->count,
                          .dimensions = dimensions,
                          .from = {&from, x->lead},
                          .to = {&to, DISK_PAGE},
                          .by = {.disk = d, .memory = x->memory, .threads = 2, .report = stop_at}};
  external_transpose_shape shape = {0};
  CHECK(external_transpose_fit(&t, &shape, &e));
  uint64_t half = shape.boxes / 2;
  t.by.with = &half;
  CHECK(external_transpose_run(&t, &shape, &stopped) == (half == 0));
  t.by.report = NULL;
  CHECK(external_transpose_run(&t, &shape, &e) && disk_read(&to, DISK_PAGE, found, bytes, &e));
  CHECK(memcmp(found, wanted, bytes) == 0);
  CHECK_STR(e.message, "");
  disk_close(&from);
  disk_close(&to);
  disk_free(d);
  free(given);
  free(wanted);
  free(found);
  return shape.boxes;
}

TEST(matrices) {
  uint64_t state = 1;
  const example xs[] = {
      {4, 2, {512, 512}, {1, 0}, 256 << 10, DISK_PAGE},
      {4, 2, {511, 513}, {1, 0}, 256 << 10, 128},
      {8, 2, {3, 20001}, {1, 0}, 256 << 10, 128},
      {1, 2, {20001, 3}, {1, 0}, 96 << 10, 128},
      {16, 3, {3, 77, 55}, {0, 2, 1}, 96 << 10, 128},
      {4, 3, {5000, 3, 5}, {0, 2, 1}, 96 << 10, 128},
      {2, 3, {64, 1, 64}, {2, 1, 0}, 90 << 10, 128},
      {4, 2, {1, 1}, {1, 0}, 90 << 10, 128},
  };
  for (size_t i = 0; i < sizeof xs / sizeof *xs; i++)
    check_transpose(&xs[i], &state);
  CHECK(check_transpose(&xs[0], &state) > 1);
}

TEST(random_dimensions) {
  uint64_t state = 2;
  for (int i = 0; i < 40; i++) {
    example x = {(size_t)1 << draw_below(&state, 5),
                 2 + draw_below(&state, 4),
                 {0},
                 {0},
                 (82 << 10) + draw_below(&state, 100000),
                 128};
    uint16_t order[NET_DIMENSIONS];
    draw_permutation(&state, x.count, order);
    uint64_t elements = 1;
    for (uint32_t d = 0; d < x.count; d++) {
      uint32_t most = (uint32_t)(60000 / elements);
      x.extents[d] = 1 + draw_below(&state, d % 2 ? most : most < 40 ? most : 40);
      elements *= x.extents[d];
      x.after[d] = order[d];
    }
    check_transpose(&x, &state);
  }
}

// ---- counts ------------------------------------------------------------------------------------

static void check_count(scalar_type type, uint64_t rows, uint64_t length, uint64_t limit) {
  uint64_t state = 3, bytes = rows * length * scalar_types[type].size, counts = rows * limit;
  char *keys = random_bytes(&state, bytes), paths[2][4096];
  int64_t *found = calloc(counts, sizeof *found), *wanted = calloc(counts, sizeof *wanted);
  error e = {0};
  disk_file from, to;
  disk *d = disk_new(NULL, NULL, &e);
  CHECK(disk_open(&from, path_of(paths[0], "keys"), DISK_CREATE, 128 + bytes, &e) &&
        disk_write(&from, 128, keys, bytes, &e) &&
        disk_open(&to, path_of(paths[1], "counts"), DISK_CREATE, 128 + counts * 8, &e));
  bool is_signed = scalar_types[type].kind == KIND_SIGNED;
  CHECK(routine_count(&(count_task){
      scalar_types[type].size, is_signed, rows, length, limit, keys, wanted, {.threads = 1}}));
  net_array arrays[] = {{.type = type, .count = rows * length},
                        {.type = SCALAR_I64, .count = counts}};
  net_routine r = {.kind = NET_COUNT,
                   .rows = rows,
                   .length = length,
                   .limit = limit,
                   .pair_count = 1,
                   .pairs = &(net_routine_pair){0, 1}};
  external_routine c = {.routine = &r,
                        .arrays = arrays,
                        .places = (external_place[]){{&from, 128}, {&to, 128}},
                        .by = {.disk = d, .memory = 20000}};
  CHECK(external_routine_run(&c, &e) && disk_read(&to, 128, found, counts * 8, &e));
  CHECK_STR(e.message, "");
  CHECK(memcmp(found, wanted, counts * sizeof *found) == 0);
  r.limit = 10000;
  CHECK(!external_routine_run(&c, &e));
  CHECK_STR(e.message, "19.5 KiB of memory are too few for 10000 counts");
  disk_close(&from);
  disk_close(&to);
  disk_free(d);
  free(keys);
  free(found);
  free(wanted);
}

TEST(counts) {
  check_count(SCALAR_U8, 1, 50000, 200);
  check_count(SCALAR_I16, 3, 5000, 500);
  check_count(SCALAR_U8, 1000, 7, 100);
}

TEST_MAIN()
