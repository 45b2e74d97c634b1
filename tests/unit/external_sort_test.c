// Sorts of files by little memory, beside sorts in memory: every type, payloads of any size, indices, rows
// that fit and rows that do not, sorts that go on after some pieces.
#include "tests/test.h"

#include "core/random.h"
#include "runtime/external/routines/sort.h"
#include "runtime/routines/sort.h"

enum { COLUMNS = 4, ELEMENTS = 200000 };

typedef struct example {
  scalar_type type;
  bool descending, keys_wanted;
  uint32_t bits;
  uint64_t rows, length, memory;
  uint32_t column_count;
  size_t sizes[COLUMNS];  // 0: the index, of 4 bytes; 1 << 8: of 8 bytes
  uint64_t different;     // keys, at most
  uint64_t lead;          // bytes of the files before the arrays
} example;

enum { INDEX_4 = 0, INDEX_8 = 1 << 8 };

// The files of a column, and what is to be in the last.
typedef struct column_files {
  disk_file from, between, to;
  char names[3][4096];
  char *wanted;
} column_files;

static const char *path_of(char *path, const char *name, uint32_t column) {
  const char *folder = getenv("PERMC_TMP") ? getenv("PERMC_TMP") : "/tmp";
  snprintf(path, 4096, "%s/%s%" PRIu32, folder, name, column);
  remove(path);  // what is emptied is written to the disk when it is closed
  return path;
}

static size_t size_of(const example *x, uint32_t c) {
  return x->sizes[c] == INDEX_4 ? 4 : x->sizes[c] == INDEX_8 ? 8 : x->sizes[c];
}

static bool is_index(const example *x, uint32_t c) {
  return c > 0 && (x->sizes[c] == INDEX_4 || x->sizes[c] == INDEX_8);
}

static char *random_keys(const example *x, uint64_t *state, uint64_t count) {
  size_t size = scalar_types[x->type].size;
  char *keys = malloc(count * size + 1), *some = malloc(x->different * size + 1);
  for (uint64_t i = 0; i < x->different; i++) {
    uint64_t word = draw_word(state);
    word = x->bits                                   ? word >> (64 - x->bits)
           : scalar_types[x->type].kind == KIND_BOOL ? word & 1
                                                     : word;
    memcpy(some + i * size, &word, size);
  }
  for (uint64_t i = 0; i < count; i++)
    memcpy(keys + i * size, some + draw_word(state) % x->different * size, size);
  free(some);
  return keys;
}

static char *random_payload(uint64_t *state, uint64_t bytes) {
  char *payload = malloc(bytes + 1);
  for (uint64_t i = 0; i < bytes; i++)
    payload[i] = (char)draw_word(state);
  return payload;
}

// Writes what is given, and finds what is wanted.
static void prepare(const example *x, uint64_t *state, column_files *files, error *e) {
  uint64_t count = x->rows * x->length;
  sort_payload payloads[COLUMNS] = {{0}};
  char *given[COLUMNS] = {NULL};
  for (uint32_t c = 0; c < x->column_count; c++) {
    column_files *f = &files[c];
    size_t size = size_of(x, c);
    f->wanted = calloc(count * size + 1, 1);
    CHECK(disk_open(&f->to, path_of(f->names[2], "to", c), DISK_CREATE, x->lead + count * size, e));
    if (!is_index(x, c)) {
      given[c] = c == 0 ? random_keys(x, state, count) : random_payload(state, count * size);
      CHECK(disk_open(&f->from, path_of(f->names[0], "from", c), DISK_CREATE,
                      x->lead + count * size, e) &&
            disk_write(&f->from, x->lead, given[c], count * size, e));
    }
    if (c > 0)
      payloads[c - 1] = (sort_payload){given[c], f->wanted, size};
  }
  CHECK(count == 0 || routine_sort(&(sort_task){.type = x->type,
                                                .descending = x->descending,
                                                .bits = x->bits,
                                                .rows = x->rows,
                                                .length = x->length,
                                                .keys = given[0],
                                                .sorted = files[0].wanted,
                                                .payload_count = x->column_count - 1,
                                                .payloads = payloads,
                                                .threads = 1}));
  for (uint32_t c = 0; c < x->column_count; c++)
    free(given[c]);
}

static void compare(const example *x, const column_files *files, error *e) {
  uint64_t count = x->rows * x->length;
  for (uint32_t c = x->keys_wanted ? 0 : 1; c < x->column_count; c++) {
    uint64_t bytes = count * size_of(x, c);
    char *found = malloc(bytes + 1);
    CHECK(disk_read(&files[c].to, x->lead, found, bytes, e));
    CHECK(memcmp(found, files[c].wanted, bytes) == 0);
    free(found);
  }
}

// Ends after so many pieces, which goes for interrupted.
typedef struct stop {
  uint64_t after, done;
} stop;

static bool count_pieces(void *with, uint64_t done, error *failure) {
  stop *s = with;
  s->done = done;
  return done != s->after || error_set(failure, SPAN_NONE, "enough");
}

static external_sort sort_of(const example *x, const column_files *files, external_column *columns,
                             disk *d) {
  for (uint32_t c = 0; c < x->column_count; c++) {
    const column_files *f = &files[c];
    columns[c] = (external_column){.from = {is_index(x, c) ? NULL : &f->from, x->lead},
                                   .between = {&f->between, 0},
                                   .to = {&f->to, x->lead},
                                   .size = size_of(x, c)};
  }
  if (!x->keys_wanted)
    columns[0].to.file = NULL;
  return (external_sort){.type = x->type,
                         .descending = x->descending,
                         .bits = x->bits,
                         .rows = x->rows,
                         .length = x->length,
                         .column_count = x->column_count,
                         .columns = columns,
                         .disk = d,
                         .memory = x->memory,
                         .threads = 2};
}

// What a sort has between, but for its columns.
typedef struct kept_files {
  disk_file samples, cuts;
} kept_files;

static void open_kept(external_sort *s, const external_sort_shape *shape, column_files *files,
                      kept_files *k, error *e) {
  char name[4096];
  for (uint32_t c = 0; c < s->column_count; c++)
    CHECK(disk_open(&files[c].between, path_of(files[c].names[1], "between", c), DISK_CREATE,
                    external_sort_between(s, shape, c), e));
  CHECK(
      disk_open(&k->samples, path_of(name, "samples", 0), DISK_CREATE,
                external_sort_samples(s, shape), e) &&
      disk_open(&k->cuts, path_of(name, "cuts", 0), DISK_CREATE, external_sort_cuts(s, shape), e));
  s->samples = (external_place){&k->samples, 0, false};
  s->cuts = (external_place){&k->cuts, 0, false};
}

static void close_files(column_files *files, kept_files *k) {
  for (uint32_t c = 0; c < COLUMNS; c++) {
    disk_close(&files[c].from);
    disk_close(&files[c].between);
    disk_close(&files[c].to);
    free(files[c].wanted);
  }
  disk_close(&k->samples);
  disk_close(&k->cuts);
}

// Sorts, in two runs with an end in between if it has more than one piece. How many pieces those were.
static uint64_t check_example(const example *x, uint64_t seed) {
  column_files files[COLUMNS];
  memset(files, 0, sizeof files);
  external_column columns[COLUMNS];
  external_sort_shape shape = {0};
  uint64_t state = seed;
  error e = {0};
  disk *d = disk_new(NULL, NULL, &e);
  prepare(x, &state, files, &e);
  external_sort s = sort_of(x, files, columns, d);
  CHECK(external_sort_fit(&s, &shape, &e));
  kept_files kept;
  open_kept(&s, &shape, files, &kept, &e);
  stop half = {.after = shape.pieces / 2 + draw_word(&state) % (shape.pieces / 2 + 1)};
  s.report = count_pieces;
  s.with = &half;
  error ended = {0};
  CHECK(external_sort_run(&s, &shape, &ended) == (half.after == 0));
  s.done = half.done;
  half.after = UINT64_MAX;
  CHECK(external_sort_run(&s, &shape, &e));
  CHECK_EQ_U64(half.done, shape.pieces);
  compare(x, files, &e);
  CHECK_STR(e.message, "");
  close_files(files, &kept);
  disk_free(d);
  return shape.pieces;
}

// Ended in the second row, and known to be done no further than in the first, whose runs are
// overwritten then; and once between the last two cuts, of which the others are not made again.
TEST(rows_that_go_on) {
  const example x = {SCALAR_U32, false, true, 0, 3, 20000, 100 << 10, 2, {4, INDEX_4}, 1000, 128};
  column_files files[COLUMNS];
  memset(files, 0, sizeof files);
  external_column columns[COLUMNS];
  external_sort_shape shape = {0};
  uint64_t state = 1;
  error e = {0};
  disk *d = disk_new(NULL, NULL, &e);
  prepare(&x, &state, files, &e);
  external_sort s = sort_of(&x, files, columns, d);
  REQUIRE(external_sort_fit(&s, &shape, &e));
  kept_files kept;
  open_kept(&s, &shape, files, &kept, &e);
  uint64_t row = shape.pieces / x.rows, cut = shape.runs + shape.buckets + 1, known = cut + 3;
  stop at = {.after = row + cut + 2};
  error ended = {0};
  s.report = count_pieces;
  s.with = &at;
  CHECK(!external_sort_run(&s, &shape, &ended) && at.done == at.after);
  s.done = known;
  at.after = 2 * row + cut - 1;
  CHECK(!external_sort_run(&s, &shape, &ended) && at.done == at.after);
  s.done = at.done;
  at.after = 2 * row + cut + 1;
  uint64_t before = disk_counts_of(d).requests;
  CHECK(!external_sort_run(&s, &shape, &ended) && at.done == at.after);
  CHECK(disk_counts_of(d).requests - before < 10 * shape.runs);
  s.done = at.done;
  at.after = UINT64_MAX;
  CHECK(external_sort_run(&s, &shape, &e));
  compare(&x, files, &e);
  CHECK_STR(e.message, "");
  close_files(files, &kept);
  disk_free(d);
}

TEST(a_long_row) {
  const example x = {.type = SCALAR_U32,
                     .keys_wanted = true,
                     .rows = 1,
                     .length = ELEMENTS,
                     .memory = 256 << 10,
                     .column_count = 1,
                     .sizes = {4},
                     .different = ELEMENTS,
                     .lead = 128};
  CHECK(check_example(&x, 1) > 10);
}

TEST(rows_and_payloads) {
  const example xs[] = {
      {SCALAR_U32, true, true, 0, 1, 30000, 300 << 10, 2, {4, 4}, 30000, 128},
      {SCALAR_U32, false, true, 0, 1, 30000, 300 << 10, 2, {4, INDEX_8}, 3, 128},
      {SCALAR_U64, false, false, 0, 1, 30000, 400 << 10, 2, {8, INDEX_4}, 1, 4096},
      {SCALAR_U16, true, true, 11, 1, 30000, 300 << 10, 3, {2, INDEX_4, 12}, 100, 128},
      {SCALAR_F32, true, true, 0, 1, 30000, 200 << 10, 1, {4}, 50, 128},
      {SCALAR_I32, false, true, 0, 3, 20000, 200 << 10, 2, {4, INDEX_8}, 1000, 128},
      {SCALAR_I16, false, true, 0, 300, 100, 20 << 10, 2, {2, INDEX_4}, 1000, 128},
      {SCALAR_U8, false, true, 0, 30000, 1, 20 << 10, 1, {1}, 100, 128},
      {SCALAR_U32, false, true, 0, 1, 1, 20 << 10, 1, {4}, 1, 128},
      {SCALAR_U32, false, true, 0, 1, 0, 20 << 10, 1, {4}, 1, 128},
      {SCALAR_U32, false, true, 0, 0, 10, 20 << 10, 1, {4}, 1, 128},
  };
  for (size_t i = 0; i < sizeof xs / sizeof *xs; i++)
    check_example(&xs[i], i);
}

TEST(every_type) {
  for (scalar_type t = 0; t < SCALAR_COUNT; t++)
    for (int k = 0; k < 4 && CLASS_ORD & CLASS_OF(t); k++) {
      size_t size = scalar_types[t].size;
      example x = {t,
                   k & 1,
                   true,
                   0,
                   1,
                   8000,
                   k & 2 ? 120 << 10 : 50 << 10,
                   k & 2 ? 3 : 1,
                   {size, INDEX_8, 3},
                   500,
                   128};
      check_example(&x, (uint64_t)t * 4 + (uint64_t)k);
    }
}

TEST(too_little_memory) {
  column_files files[COLUMNS];
  memset(files, 0, sizeof files);
  external_column columns[COLUMNS];
  external_sort_shape shape;
  error e = {0};
  const example x = {SCALAR_U32, false, true, 0, 1, 1 << 20, 4096, 1, {4}, 1, 0};
  external_sort s = sort_of(&x, files, columns, NULL);
  CHECK(!external_sort_fit(&s, &shape, &e));
  CHECK_STR(e.message, "4 KiB of memory are too few to sort 1048576 elements in files");
  // Memory has not room for one element.
  e = (error){0};
  columns[0].size = 40001;
  s.length = 3;
  CHECK(!external_sort_fit(&s, &shape, &e));
  CHECK_STR(e.message, "4 KiB of memory are too few to sort 3 elements in files");
}

TEST_MAIN()
