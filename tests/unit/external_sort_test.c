// Sorts of files by little memory, beside sorts in memory: every type, payloads of any size,
// indices, rows that fit and rows that do not, rows that offsets cut, sorts that go on after some
// pieces.
#include "tests/test.h"

#include "core/random.h"
#include "runtime/external/routines/sort.h"
#include "runtime/routines/key_order.h"
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

// Offsets: in order; all of them in the second half; most are one; not in order; a table.
typedef enum cut_kind {
  CUT_ANYWHERE,
  CUT_BEHIND,
  CUT_EMPTY,
  CUT_WRONG,
  CUT_TABLE,
  CUT_KINDS
} cut_kind;

// What the test that runs cuts rows by.
static struct {
  uint64_t count;  // of a row; 0: rows are whole
  cut_kind kind;
} cutting;

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

static int compare_offsets(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static uint64_t *random_offsets(const example *x, uint64_t *state) {
  uint64_t *offsets = calloc(x->rows * cutting.count + 1, sizeof *offsets), length = x->length;
  for (uint64_t r = 0; r < x->rows && cutting.count; r++) {
    uint64_t *own = offsets + r * cutting.count,
             first = cutting.kind == CUT_BEHIND ? length / 2 : 0;
    for (uint64_t i = 0; i < cutting.count; i++)
      own[i] = first + draw_word(state) % (length - first + 1);
    for (uint64_t i = cutting.count / 4; i < cutting.count && cutting.kind == CUT_EMPTY; i++)
      own[i] = own[0];
    if (draw_word(state) & 1)
      own[0] = 0;
    if (cutting.count > 1 && draw_word(state) & 1)
      own[cutting.count - 1] = length;
    qsort(own, cutting.count, sizeof *own, compare_offsets);
    if (cutting.kind == CUT_WRONG)
      own[draw_word(state) % cutting.count] = length + 1;
  }
  return offsets;
}

// Where rows begin that are sorted for themselves: NULL, all are whole. Elements of none are one
// each.
static uint64_t *segments_of(const example *x, const uint64_t *offsets, uint64_t *count) {
  if (!cutting.count)
    return *count = x->rows, NULL;
  uint64_t *begins = calloc(x->rows * x->length + 1, sizeof *begins);
  *count = 0;
  for (uint64_t r = 0; r < x->rows; r++)
    for (uint64_t i = 0, next = 0; i < x->length; i++) {
      const uint64_t *own = offsets + r * cutting.count;
      bool is_first = next == 0;
      for (; cutting.kind != CUT_WRONG && next < cutting.count && own[next] <= i; next++)
        is_first = true;
      if (is_first || next == cutting.count)
        begins[(*count)++] = r * x->length + i;
    }
  begins[*count] = x->rows * x->length;
  return begins;
}

// Indices that are those in segments as those in rows.
static void number_in_rows(const example *x, const uint64_t *begins, uint64_t count, char *numbers,
                           size_t size) {
  for (uint64_t s = 0; begins && s < count; s++)
    for (uint64_t i = begins[s]; i < begins[s + 1]; i++) {
      uint64_t number = 0;
      memcpy(&number, numbers + i * size, size);
      number += begins[s] % x->length;
      memcpy(numbers + i * size, &number, size);
    }
}

// Writes what is given, and finds what is wanted.
static void prepare(const example *x, uint64_t *state, column_files *files, const uint64_t *offsets,
                    error *e) {
  uint64_t count = x->rows * x->length, rows, *begins = segments_of(x, offsets, &rows);
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
  CHECK(count == 0 ||
        routine_sort(&(sort_task){.order = key_order_of(x->type, x->descending, x->bits),
                                  .rows = rows,
                                  .length = x->length,
                                  .offsets = begins,
                                  .keys = given[0],
                                  .sorted = files[0].wanted,
                                  .payload_count = x->column_count - 1,
                                  .payloads = payloads,
                                  .crew = {.threads = 1}}));
  for (uint32_t c = 0; c < x->column_count; c++) {
    if (is_index(x, c))
      number_in_rows(x, begins, rows, files[c].wanted, size_of(x, c));
    free(given[c]);
  }
  free(begins);
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
  uint64_t after, done, settled;
} stop;

static bool count_pieces(void *with, uint64_t done, error *failure) {
  stop *s = with;
  s->done = done;
  return done != s->after || error_set(failure, SPAN_NONE, "enough");
}

static bool settle_pieces(void *with, uint64_t done, error *failure) {
  stop *s = with;
  s->settled = done;
  return done <= s->done || error_set(failure, SPAN_NONE, "not done yet");
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
  return (external_sort){.order = key_order_of(x->type, x->descending, x->bits),
                         .rows = x->rows,
                         .length = x->length,
                         .column_count = x->column_count,
                         .columns = columns,
                         .by = {.disk = d, .memory = x->memory, .threads = 2}};
}

// What a sort has between, but for its columns; its offsets.
typedef struct kept_files {
  disk_file samples, offsets;
  uint64_t *table;
} kept_files;

static void open_offsets(external_sort *s, const example *x, kept_files *k, error *e) {
  char name[4096];
  uint64_t bytes = x->rows * cutting.count * sizeof *k->table;
  s->offsets = (external_offsets){.count = cutting.count};
  if (cutting.kind == CUT_TABLE)
    s->offsets.table = k->table;
  else if (cutting.count)
    CHECK(disk_open(&k->offsets, path_of(name, "offsets", 0), DISK_CREATE, x->lead + bytes, e) &&
          disk_write(&k->offsets, x->lead, k->table, bytes, e));
  s->offsets.from = (external_place){&k->offsets, x->lead};
}

static void open_kept(external_sort *s, const external_sort_shape *shape, column_files *files,
                      kept_files *k, error *e) {
  char name[4096];
  for (uint32_t c = 0; c < s->column_count; c++)
    CHECK(disk_open(&files[c].between, path_of(files[c].names[1], "between", c), DISK_CREATE,
                    external_sort_between(s, shape, c), e));
  CHECK(disk_open(&k->samples, path_of(name, "samples", 0), DISK_CREATE,
                  external_sort_samples(s, shape), e));
  s->samples = (external_place){&k->samples, 0};
}

static void close_files(column_files *files, kept_files *k) {
  for (uint32_t c = 0; c < COLUMNS; c++) {
    disk_close(&files[c].from);
    disk_close(&files[c].between);
    disk_close(&files[c].to);
    free(files[c].wanted);
  }
  disk_close(&k->samples);
  disk_close(&k->offsets);
  free(k->table);
}

// Sorts, in two runs with an end in between if it has more than one piece. How many pieces those
// were.
static uint64_t check_example(const example *x, uint64_t seed) {
  column_files files[COLUMNS];
  memset(files, 0, sizeof files);
  external_column columns[COLUMNS];
  external_sort_shape shape = {0};
  uint64_t state = seed;
  error e = {0};
  disk *d = disk_new(NULL, NULL, &e);
  kept_files kept = {.table = random_offsets(x, &state)};
  prepare(x, &state, files, kept.table, &e);
  external_sort s = sort_of(x, files, columns, d);
  open_offsets(&s, x, &kept, &e);
  CHECK(external_sort_fit(&s, &shape, &e));
  open_kept(&s, &shape, files, &kept, &e);
  stop half = {.after = shape.pieces / 2 + draw_word(&state) % (shape.pieces / 2 + 1)};
  s.by.report = count_pieces;
  s.by.settle = settle_pieces;
  s.by.with = &half;
  error ended = {0};
  CHECK(external_sort_run(&s, &shape, &ended) == (half.after == 0));
  s.by.done = half.settled;
  half.after = UINT64_MAX;
  CHECK(external_sort_run(&s, &shape, &e));
  CHECK_EQ_U64(half.done, shape.pieces);
  compare(x, files, &e);
  CHECK_STR(e.message, "");
  close_files(files, &kept);
  disk_free(d);
  return shape.pieces;
}

// Ended among the buckets of the second row, and then among the runs of the third, which overwrite
// those of the second: it goes on behind the runs, and at the third row.
TEST(rows_that_go_on) {
  const example x = {SCALAR_U32, false, true, 0, 3, 20000, 100 << 10, 2, {4, INDEX_4}, 1000, 128};
  column_files files[COLUMNS];
  memset(files, 0, sizeof files);
  external_column columns[COLUMNS];
  external_sort_shape shape = {0};
  uint64_t state = 1;
  error e = {0};
  disk *d = disk_new(NULL, NULL, &e);
  prepare(&x, &state, files, NULL, &e);
  external_sort s = sort_of(&x, files, columns, d);
  REQUIRE(external_sort_fit(&s, &shape, &e));
  kept_files kept = {.table = NULL};
  open_kept(&s, &shape, files, &kept, &e);
  uint64_t row = shape.pieces / x.rows;
  stop at = {.after = 2 * row - 2};
  error ended = {0};
  s.by.report = count_pieces;
  s.by.settle = settle_pieces;
  s.by.with = &at;
  CHECK(!external_sort_run(&s, &shape, &ended) && at.done == at.after);
  CHECK_EQ_U64(at.settled, row + shape.runs);
  s.by.done = at.settled;
  at.after = 2 * row + 2;
  uint64_t written = disk_counts_of(d).bytes_written;
  CHECK(!external_sort_run(&s, &shape, &ended) && at.done == at.after);
  CHECK_EQ_U64(at.settled, 2 * row);
  // The buckets of a row and two runs of the next: no run of the second row again.
  CHECK(disk_counts_of(d).bytes_written - written < 8 * (x.length + 3 * shape.run));
  s.by.done = at.settled;
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

// Rows of any lengths: none, one, some, of which some are longer than memory.
TEST(rows_of_unequal_length) {
  static const example xs[] = {
      {SCALAR_U32, false, true, 0, 1, 30000, 320 << 10, 1, {4}, 30000, 128},
      {SCALAR_U16, false, true, 0, 1, 100000, 400 << 10, 1, {2}, 30000, 128},
      {SCALAR_F64, true, true, 0, 1, 20000, 320 << 10, 2, {8, INDEX_4}, 100, 128},
      {SCALAR_I16, false, true, 0, 3, 10000, 200 << 10, 3, {2, INDEX_8, 3}, 200, 4096},
      {SCALAR_U64, true, false, 0, 2, 20000, 420 << 10, 2, {8, 1}, 3, 8},
      {SCALAR_U8, false, true, 5, 300, 100, 20 << 10, 2, {1, INDEX_4}, 32, 128},
      {SCALAR_I32, false, true, 0, 3000, 3, 20 << 10, 2, {4, INDEX_4}, 1000, 128},
  };
  uint64_t seed = 1, cuts[] = {1, 2, 3, 10, 100, 3000, 50000};
  for (size_t i = 0; i < sizeof xs / sizeof *xs; i++)
    for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++)
      for (cutting.kind = 0; cutting.kind < CUT_KINDS; cutting.kind++) {
        cutting.count = xs[i].rows > 3 && cuts[k] > 100 ? 7 : cuts[k];
        check_example(&xs[i], seed++);
      }
  cutting.count = 0;
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
