// Routines on arrays in files, by little memory, beside the same on arrays in memory.
#include "tests/test.h"

#include "core/random.h"
#include "runtime/external/routines/routine.h"
#include "runtime/routines/routine.h"

enum { MOST_ARRAYS = 6, MOST_FILES = 16 };

// A plan of one routine, the data of its arrays, and files of the same.
typedef struct example {
  arena memory;
  plan plan;
  net_routine routine;
  net_routine_pair pairs[MOST_ARRAYS];
  void *data[MOST_ARRAYS];
  disk_file files[MOST_ARRAYS], between[MOST_FILES];
  external_place places[MOST_ARRAYS];
  char paths[MOST_ARRAYS + MOST_FILES][1024];
  uint64_t stop, done;
  error failure;
} example;

static const char *path_of(example *x, uint32_t i) {
  const char *folder = getenv("PERMC_TMP") ? getenv("PERMC_TMP") : "/tmp";
  snprintf(x->paths[i], sizeof x->paths[i], "%s/routine%" PRIu32, folder, i);
  remove(x->paths[i]);  // what is emptied is written to the disk when it is closed
  return x->paths[i];
}

static uint64_t bytes_of(const net_array *a) { return a->count * scalar_types[a->type].size; }

static net_id add_array(example *x, scalar_type type, uint64_t count) {
  vec_push(&x->memory, &x->plan.arrays, ((net_array){.type = type, .count = count}));
  net_id id = (net_id)x->plan.arrays.count - 1;
  x->data[id] = calloc(count + 1, scalar_types[type].size);
  return id;
}

// Integers below `limit`.
static net_id add_numbers(example *x, scalar_type type, uint64_t count, uint64_t limit,
                          uint64_t *state) {
  net_id id = add_array(x, type, count);
  size_t size = scalar_types[type].size;
  for (uint64_t i = 0; i < count; i++)
    memcpy((char *)x->data[id] + i * size, &(uint64_t){draw_word(state) % limit}, size);
  return id;
}

static net_id add_permutation(example *x, uint64_t count, uint64_t *state) {
  net_id id = add_array(x, SCALAR_I64, count);
  int64_t *places = x->data[id];
  for (uint64_t i = 0; i < count; i++) {
    uint64_t j = draw_word(state) % (i + 1);
    places[i] = places[j];
    places[j] = (int64_t)i;
  }
  return id;
}

static void add_pair(example *x, net_id from, net_id to) {
  x->pairs[x->routine.pair_count++] = (net_routine_pair){from, to};
}

static external_place file_between(void *with, uint32_t number, uint64_t offset, uint64_t bytes,
                                   error *failure) {
  example *x = with;
  disk_file *f = &x->between[number];
  if (!f->path &&
      !disk_open(f, path_of(x, MOST_ARRAYS + number), DISK_CREATE, offset + bytes, failure))
    return (external_place){0};
  return (external_place){f, offset};
}

static bool stop_in_between(void *with, uint64_t done, error *failure) {
  const example *x = with;
  return done != x->stop || error_set(failure, SPAN_NONE, "enough");
}

static bool go_on_after(void *with, uint64_t done, error *failure) {
  example *x = with;
  x->done = done;
  return failure;
}

// Makes the files, of what their arrays have before.
static void write_files(example *x) {
  for (uint32_t i = 0; i < x->plan.arrays.count; i++) {
    uint64_t bytes = bytes_of(&x->plan.arrays.items[i]);
    CHECK(disk_open(&x->files[i], path_of(x, i), DISK_CREATE, 128 + bytes, &x->failure) &&
          disk_write(&x->files[i], 128, x->data[i], bytes, &x->failure));
    x->places[i] = (external_place){&x->files[i], 128};
  }
}

static void compare_files(example *x) {
  for (uint32_t i = 0; i < x->plan.arrays.count; i++) {
    uint64_t bytes = bytes_of(&x->plan.arrays.items[i]);
    char *found = malloc(bytes + 1);
    CHECK(disk_read(&x->files[i], 128, found, bytes, &x->failure));
    CHECK(memcmp(found, x->data[i], bytes) == 0);
    free(found);
  }
}

// Of counts and checks, which are one piece. What is wrong twice is read again; rows after one that
// is wrong are not read.
static bool is_predicted(const external_routine *r, uint64_t requests, uint64_t bytes_read,
                         error *failure) {
  external_traffic wanted;
  return external_routine_traffic(r, &wanted, failure) && requests <= 2 * wanted.requests &&
         bytes_read <= 2 * (wanted.reads + wanted.requests * DISK_PAGE);
}

// Executes it in memory and in files, there in two runs.
static void check_routine(example *x, uint64_t memory) {
  error stopped = {0};
  disk *d = disk_new(NULL, NULL, &x->failure);
  x->routine.pairs = x->pairs;
  write_files(x);
  external_routine r = {.routine = &x->routine,
                        .arrays = x->plan.arrays.items,
                        .places = x->places,
                        .between = file_between,
                        .by = {.report = stop_in_between,
                               .settle = go_on_after,
                               .with = x,
                               .disk = d,
                               .memory = memory,
                               .threads = 2}};
  uint64_t pieces = 0;
  CHECK(external_routine_fit(&r, &pieces, &x->failure));
  x->stop = pieces / 2 + pieces / 4;
  x->done = 0;
  CHECK(pieces == 1 || !external_routine_run(&r, &stopped));
  r.by.done = x->done;
  x->stop = 0;
  disk_counts before = disk_counts_of(d), after;
  CHECK(external_routine_run(&r, &x->failure));
  after = disk_counts_of(d);
  CHECK(pieces > 1 || is_predicted(&r, after.requests - before.requests,
                                   after.bytes_read - before.bytes_read, &x->failure));
  CHECK(routine_run(&x->plan, &x->routine, x->data, 1, NULL));
  compare_files(x);
  CHECK_STR(x->failure.message, "");
  for (uint32_t i = 0; i < x->plan.arrays.count; i++) {
    disk_close(&x->files[i]);
    free(x->data[i]);
  }
  for (uint32_t i = 0; i < MOST_FILES; i++)
    if (x->between[i].path)
      disk_close(&x->between[i]);
  disk_free(d);
  arena_free(&x->memory);
}

static void begin(example *x, net_routine_kind kind, uint64_t rows, uint64_t length) {
  memset(x, 0, sizeof *x);
  x->routine = (net_routine){.kind = kind, .rows = rows, .length = length, .origin = NET_NONE};
}

enum { LENGTH = 20000 };
static example x;  // of the test that runs

TEST(sorts_that_count) {
  uint64_t state = 1;
  begin(&x, NET_SORT, 1, LENGTH);
  x.routine.limit = 13;
  x.routine.counts = x.routine.descending = true;
  net_id keys = add_numbers(&x, SCALAR_I32, LENGTH, 13, &state);
  add_pair(&x, keys, add_array(&x, SCALAR_I32, LENGTH));
  net_id payload = add_numbers(&x, SCALAR_U16, 3 * LENGTH, 1 << 16, &state);
  add_pair(&x, payload, add_array(&x, SCALAR_U16, 3 * LENGTH));
  add_pair(&x, NET_NONE, add_array(&x, SCALAR_I64, LENGTH));
  add_pair(&x, keys, add_array(&x, SCALAR_I64, 13));
  check_routine(&x, 400 << 10);
}

TEST(places) {
  uint64_t state = 2;
  for (uint64_t rows = 1; rows <= LENGTH; rows *= 100) {
    begin(&x, NET_PLACES, rows, LENGTH / rows);
    add_pair(&x, add_numbers(&x, SCALAR_U32, LENGTH, 5000, &state),
             add_array(&x, SCALAR_I64, LENGTH));
    check_routine(&x, 300 << 10);
  }
}

TEST(permutations) {
  uint64_t state = 3;
  for (int back = 0; back < 2; back++) {
    begin(&x, NET_PERMUTE, 1, LENGTH);
    x.routine.back = back;
    add_pair(&x, add_permutation(&x, LENGTH, &state), NET_NONE);
    for (int i = 0; i < 2; i++) {
      scalar_type type = i ? SCALAR_U8 : SCALAR_F64;
      net_id from = add_numbers(&x, type, LENGTH, UINT64_MAX, &state);
      add_pair(&x, from, add_array(&x, type, LENGTH));
    }
    check_routine(&x, 300 << 10);
  }
}

TEST(counts) {
  uint64_t state = 4;
  begin(&x, NET_COUNT, 3, LENGTH / 4);
  x.routine.limit = 100;
  net_id keys = add_numbers(&x, SCALAR_U8, x.routine.rows * x.routine.length, 200, &state);
  add_pair(&x, keys, add_array(&x, SCALAR_I64, 300));
  check_routine(&x, 20 << 10);
}

// Places below a limit; one too high; one twice.
TEST(wrong_places) {
  uint64_t state = 5;
  for (uint32_t i = 0; i < 6; i++) {
    begin(&x, NET_WRONG, i < 3 ? 1 : 2, LENGTH / 2);
    x.routine.limit = LENGTH / 2;
    x.routine.distinct = i != 3;
    net_id places = add_permutation(&x, LENGTH / 2, &state);
    if (i >= 3) {
      net_id more = add_array(&x, SCALAR_I64, LENGTH);
      for (int k = 0; k < 2; k++)
        memcpy((int64_t *)x.data[more] + k * (LENGTH / 2), x.data[places], LENGTH / 2 * 8);
      places = more;
    }
    int64_t *own = x.data[places];
    if (i % 3 == 1)
      own[LENGTH / 3] = draw_word(&state) & 1 ? LENGTH : -1;
    if (i % 3 == 2)
      own[LENGTH / 3] = own[LENGTH / 4];
    add_pair(&x, places, add_array(&x, SCALAR_I64, 2));
    check_routine(&x, i ? 8 << 10 : 1 << 10);  // of the first, not all places at a time
  }
}

TEST(transposes) {
  uint64_t state = 6;
  net_dimension dimensions[] = {{150, 1, 133}, {133, 150, 1}};
  begin(&x, NET_TRANSPOSE, 1, (uint64_t)150 * 133);
  x.routine.dimension_count = 2;
  x.routine.dimensions = dimensions;
  net_id from = add_numbers(&x, SCALAR_U32, x.routine.length, UINT64_MAX, &state);
  add_pair(&x, from, add_array(&x, SCALAR_U32, x.routine.length));
  check_routine(&x, 100 << 10);
}

TEST_MAIN()
