// Kernels of sorts and counts (kernels/routines/sort/sort.h, count.h): their text, compiled for the
// host, sorts as a stable merge does, whatever the keys' type, the payloads and the rows; it asks
// for as many lines of memory as a sort by digits has to; NVRTC compiles it, where there is one.
#include "tests/test.h"

#include "core/number.h"
#include "kernels/routines/partition/count.h"
#include "kernels/routines/sort/ragged.h"
#include "kernels/routines/sort/sort.h"
#include "runtime/cuda/code.h"
#include "tests/unit/routine_library.h"
#include "tests/unit/splitmix.h"

enum { MOST_PAYLOADS = 3, MOST_SHARES = 4 };

typedef struct row {
  scalar_type type;
  bool descending;
  uint32_t bits;
  uint64_t rows, length;
  bool no_keys, places;
  bool plain;        // there are no NaN
  uint64_t alike;    // not 0: so many neighbours are equal, and there are no NaN
  uint64_t offsets;  // of each row, not 0: these cut it into rows of unequal length
  uint32_t shares;   // of the only row, or 0
  uint32_t payload_count;
  sort_moved payloads[MOST_PAYLOADS];
} row;

// The first of each four are a sample: joined, apart, the order along, and floats without NaN.
static const row rows[] = {
    {SCALAR_U32, false, 0, 1, 20000, .payload_count = 1, .payloads = {{4, false}}},
    {SCALAR_F32, true, 0, 3, 1000, .payload_count = 2, .payloads = {{12, false}, {4, true}}},
    {SCALAR_I64, false, 0, 1, 9001, .payload_count = 0},
    {SCALAR_F64, false, 0, 2, 3000, .no_keys = true, .payload_count = 1, .payloads = {{8, true}}},
    {SCALAR_U8, true, 0, 1, 30000, .payload_count = 1, .payloads = {{2, false}}},
    {SCALAR_U16, false, 11, 5, 77, .no_keys = true, .places = true},
    {SCALAR_I16, true, 0, 1, 17000, .payload_count = 1, .payloads = {{16, false}}},
    {SCALAR_F16, false, 0, 40, 9, .payload_count = 1, .payloads = {{1, false}}},
    {SCALAR_F32, true, 0, 2, 9000, .no_keys = true, .places = true},
    {SCALAR_BOOL, false, 0, 1, 12345, .payload_count = 1, .payloads = {{8, false}}},
    {SCALAR_U64, false, 37, 1, 1, .payload_count = 3,
     .payloads = {{5, false}, {8, true}, {4, true}}},
    {SCALAR_I8, false, 0, 7, 500, .no_keys = true, .places = true},
    {SCALAR_F32, false, 0, 1, 20000, .plain = true, .payload_count = 0},
    {SCALAR_I32, true, 20, 1, 50000, .payload_count = 0},
    {SCALAR_F32, false, 0, 1, 20000, .plain = true, .payload_count = 1, .payloads = {{4, true}}},
    {SCALAR_F64, true, 0, 2, 5000, .plain = true, .payload_count = 0},
    {SCALAR_BF16, true, 0, 1, 20000, .payload_count = 1, .payloads = {{2, false}}},
    {SCALAR_U8, false, 0, 1, 30000, .payload_count = 1, .payloads = {{1, false}}},
    {SCALAR_U32, true, 24, 1, 6000, .no_keys = true, .payload_count = 1, .payloads = {{4, false}}},
    {SCALAR_F32, false, 0, 1, 200000, .payload_count = 0},
    {SCALAR_U8, false, 0, 1, 20000, .payload_count = 1, .payloads = {{8, false}}},
    {SCALAR_U8, false, 0, 1, 20000, .no_keys = true, .places = true},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const row ragged_rows[] = {
    {SCALAR_U32, .rows = 1, .length = 20000, .payload_count = 1, .payloads = {{4, false}},
     .offsets = 700},
    {SCALAR_F32, true, .rows = 2, .length = 9000, .payload_count = 2,
     .payloads = {{12, false}, {8, true}}, .offsets = 30},
    {SCALAR_I64, .rows = 1, .length = 60000, .offsets = 4},
    {SCALAR_U8, .rows = 3, .length = 5000, .no_keys = true, .places = true, .offsets = 90},
    {SCALAR_BF16, true, .rows = 1, .length = 3000, .offsets = 1000},
    {SCALAR_U16, .rows = 1, .length = 40000, .payload_count = 1, .payloads = {{4, true}},
     .offsets = 2},
};
static const row shared_rows[] = {
    {SCALAR_U32, .rows = 1, .length = 40000, .shares = 2},
    {SCALAR_U16, .rows = 1, .length = 600000, .shares = 2},
    {SCALAR_F32, true, .rows = 1, .length = 40000, .shares = 4, .payload_count = 2,
     .payloads = {{12, false}, {4, true}}},
    {SCALAR_U32, .rows = 1, .length = 50002, .shares = 2, .payload_count = 1,
     .payloads = {{4, false}}},
    {SCALAR_F64, .rows = 1, .length = 30004, .no_keys = true, .places = true, .shares = 2},
    {SCALAR_U8, .rows = 1, .length = 30000, .shares = 4, .payload_count = 1,
     .payloads = {{8, false}}},
    {SCALAR_I64, true, .rows = 1, .length = 20000, .no_keys = true, .shares = 2, .payload_count = 1,
     .payloads = {{8, true}}},
    {SCALAR_F16, .rows = 1, .length = 9996, .shares = 4, .payload_count = 1,
     .payloads = {{2, false}}},
};
enum { SHARED_ROWS = sizeof shared_rows / sizeof *shared_rows };
enum { RAGGED_ROWS = sizeof ragged_rows / sizeof *ragged_rows };

static sort_work work_of(const row *r) {
  return (sort_work){.type = r->type,
                     .descending = r->descending,
                     .bits = r->bits,
                     .rows = r->rows,
                     .length = r->length / (r->shares ? r->shares : 1),
                     .shares = r->shares,
                     .offsets = r->offsets,
                     .multiprocessors = 2,
                     .shared_bytes = 64 << 10,
                     .wants_keys = !r->no_keys,
                     .wants_places = r->places,
                     .payload_count = r->payload_count,
                     .payloads = r->payloads};
}

// ---- arguments, and what is expected -----------------------------------------------------------

typedef struct subject {
  const row *row;
  uint64_t elements;
  size_t key_bytes;
  char *arrays[SORT_PAYLOADS + 2 * MOST_PAYLOADS];
  uint64_t *order;  // in each row
} subject;

static bool is_above(const subject *s, uint64_t a, uint64_t b) {
  bool below;
  const char *x = s->arrays[SORT_KEYS] + a * s->key_bytes,
             *y = s->arrays[SORT_KEYS] + b * s->key_bytes;
  if (s->row->descending)
    scalar_apply(OP_TOTAL_LE, s->row->type, 1, y, x, &below);
  else
    scalar_apply(OP_TOTAL_LE, s->row->type, 1, x, y, &below);
  return !below;
}

static void merge(const subject *s, uint64_t first, uint64_t *order, uint64_t *spare, uint64_t n) {
  uint64_t half = n / 2, i = 0, k = half;
  if (n < 2)
    return;
  merge(s, first, order, spare, half);
  merge(s, first, order + half, spare, n - half);
  for (uint64_t to = 0; to < n; to++)
    spare[to] = k == n || (i < half && !is_above(s, first + order[i], first + order[k]))
                    ? order[i++]
                    : order[k++];
  memcpy(order, spare, n * sizeof *order);
}

// Few different keys, and all of them.
static void fill_keys(subject *s) {
  for (uint64_t i = 0; i < s->elements; i++) {
    uint64_t key = random_u64() >> (random_u64() % 3 * 20);
    if (s->row->bits)
      key &= (UINT64_C(1) << s->row->bits) - 1;
    else if (s->row->type == SCALAR_BOOL)
      key &= 1;
    else if (random_u64() % 16 == 0)
      key = random_u64() % 2 ? 0 : UINT64_C(0x8000800080008000);  // zeros, least numbers
    else if (random_u64() % 16 == 0)
      key |= UINT64_C(0x7ff07ff07ff07ff0);  // NaN
    if (s->row->plain || s->row->alike)
      key &= UINT64_C(0xbfffbfffbfffbfff);
    char *to = s->arrays[SORT_KEYS] + i * s->key_bytes;
    if (s->row->alike && i % s->row->alike)
      memcpy(to, to - s->key_bytes, s->key_bytes);
    else
      memcpy(to, &key, s->key_bytes);
  }
}

// Rows of all lengths, many of them short, in each row; elements of none at both ends. Their order.
static void cut_rows(subject *s) {
  const row *r = s->row;
  int64_t *offsets = calloc(r->rows * r->offsets, sizeof *offsets);
  uint64_t mean = r->length / r->offsets;
  s->arrays[SORT_OFFSETS] = (char *)offsets;
  for (uint64_t first = 0; first < s->elements; first += r->length, offsets += r->offsets) {
    uint64_t at = random_u64() % 5;
    offsets[0] = (int64_t)at;
    for (uint64_t i = 1; i < r->offsets; i++) {
      uint64_t begin = at, most = random_u64() % 8 ? 2 * mean : 12 * mean;
      at += random_u64() % 4 ? random_u64() % (most + 1) : 0;
      at = at < r->length ? at : r->length;
      offsets[i] = (int64_t)at;
      merge(s, first, s->order + first + begin, s->order + s->elements, at - begin);
    }
  }
}

// Arrays begin where lines of memory do.
static char *make_array(uint64_t bytes) {
  char *a = aligned_alloc(128, (bytes + 127) / 128 * 128);
  return memset(a, 0, bytes);
}

static void subject_make(subject *s, const row *r, const sort_kernels *k) {
  *s = (subject){r, r->rows * r->length, scalar_types[r->type].size, .order = NULL};
  s->order = calloc(2 * s->elements, sizeof *s->order);
  s->arrays[SORT_KEYS] = make_array(s->elements * s->key_bytes);
  s->arrays[SORT_SORTED] = make_array(s->elements * s->key_bytes);
  s->arrays[SORT_PLACES] = make_array(s->elements * 8);
  for (uint32_t i = 0; i < SORT_PAYLOADS; i++)
    if (k->bytes[i])
      s->arrays[i] = make_array(k->bytes[i]);
  for (uint32_t i = 0; i < r->payload_count; i++)
    for (uint32_t to = 0; to < 2; to++) {
      uint64_t bytes = s->elements * r->payloads[i].bytes;
      char *a = s->arrays[SORT_PAYLOADS + 2 * i + to] = make_array(bytes);
      for (uint64_t b = 0; b < bytes; b++)
        a[b] = (char)random_u64();
    }
  fill_keys(s);
  for (uint64_t i = 0; i < s->elements; i++)
    s->order[i] = i % r->length;
  if (r->offsets)
    cut_rows(s);
  for (uint64_t first = 0; first < s->elements && !r->offsets; first += r->length)
    merge(s, first, s->order + first, s->order + s->elements, r->length);
}

static void subject_free(subject *s) {
  for (size_t i = 0; i < sizeof s->arrays / sizeof *s->arrays; i++)
    free(s->arrays[i]);
  free(s->order);
}

// Element i of `to` is the one of `from` whose key is there.
static bool is_moved(const subject *s, const char *from, const char *to, size_t bytes) {
  for (uint64_t i = 0; i < s->elements; i++) {
    uint64_t first = i / s->row->length * s->row->length;
    if (memcmp(to + i * bytes, from + (first + s->order[i]) * bytes, bytes) != 0)
      return false;
  }
  return true;
}

static bool has_order(const subject *s, const char *to, size_t bytes) {
  for (uint64_t i = 0; i < s->elements; i++)
    if (memcmp(to + i * bytes, &s->order[i], bytes) != 0)
      return false;
  return true;
}

static bool has_places(const subject *s, const int64_t *places) {
  for (uint64_t i = 0; i < s->elements; i++)
    if (places[i / s->row->length * s->row->length + s->order[i]] != (int64_t)(i % s->row->length))
      return false;
  return true;
}

static void check_results(const subject *s) {
  const row *r = s->row;
  if (!r->no_keys)
    CHECK(is_moved(s, s->arrays[SORT_KEYS], s->arrays[SORT_SORTED], s->key_bytes));
  if (r->places)
    CHECK(has_places(s, (const int64_t *)(const void *)s->arrays[SORT_PLACES]));
  for (uint32_t i = 0; i < r->payload_count; i++) {
    char *const *a = &s->arrays[SORT_PAYLOADS + 2 * i];
    CHECK(r->payloads[i].numbers ? has_order(s, a[1], r->payloads[i].bytes)
                                 : is_moved(s, a[0], a[1], r->payloads[i].bytes));
  }
}

// ---- running -----------------------------------------------------------------------------------

static void *compile_sort(const sort_kernels *k, const routine_launch *launches) {
  text body = {0};
  text_string(&body, "#include <stdbool.h>\ntypedef struct permc_imports permc_imports;\n");
  sort_kernels_write(&body, k);
  write_entries(&body, sort_launch_count(k), launches);
  text_string(&body, "PERMC_COUNTERS\n");
  void *library = compile(&body);
  text_free(&body);
  return library;
}

// As several devices run it: each with temporaries of its own.
static void run_shares(const subject *s, const sort_kernels *k, void *library,
                       const routine_launch *launches, char *scratch) {
  uint32_t arrays = sizeof s->arrays / sizeof *s->arrays, shares = s->row->shares;
  char *own[MOST_SHARES][sizeof s->arrays / sizeof *s->arrays] = {{NULL}};
  for (uint32_t part = 0; part < shares; part++)
    for (uint32_t a = 0; a < arrays; a++) {
      bool temporary = a < SORT_RUNS && k->bytes[a];
      uint64_t bytes = a < SORT_PLACES     ? s->key_bytes
                       : a == SORT_PLACES  ? 8
                       : a < SORT_RUNS     ? 0
                       : a < SORT_PAYLOADS ? k->bytes[a] / s->elements
                                           : s->row->payloads[(a - SORT_PAYLOADS) / 2].bytes;
      if (temporary)
        own[part][a] = make_array(k->bytes[a]);
      else if (s->arrays[a])
        own[part][a] = s->arrays[a] + s->elements / shares * bytes * part;
    }
  for (int run = 0; run < 2; run++) {
    for (uint32_t i = 0; i < sort_launch_count(k); i++)
      for (uint32_t part = 0; part < shares; part++) {
        const routine_launch *l = &launches[i];
        bool shared = l->scope == LAUNCH_SHARED;
        char *of[sizeof s->arrays / sizeof *s->arrays];
        for (uint32_t a = 0; a < arrays; a++)
          of[a] = l->scope == LAUNCH_OWN || (a < SORT_RUNS && k->bytes[a]) ? own[part][a]
                                                                           : s->arrays[a];
        run_blocks(of, library, l, scratch, shared ? l->blocks * part / shares : 0,
                   shared ? l->blocks * (part + 1) / shares : l->blocks);
      }
    check_results(s);
  }
  for (uint32_t part = 0; part < shares; part++)
    for (uint32_t a = 0; a < SORT_RUNS; a++)
      if (k->bytes[a])
        free(own[part][a]);
}

static void check_row(const row *r) {
  sort_work w = work_of(r);
  sort_kernels k;
  subject s;
  CHECK_STR(sort_kernels_of(&w, &k), NULL);
  routine_launch *launches = calloc(sort_launch_count(&k), sizeof *launches);
  char *scratch = aligned_alloc(128, SCRATCH);
  sort_launches(&k, launches);
  void *library = compile_sort(&k, launches);
  REQUIRE(library != NULL);
  subject_make(&s, r, &k);
  if (r->shares)
    run_shares(&s, &k, library, launches, scratch);
  for (int run = 0; run < 2 && !r->shares; run++) {  // the first one leaves its state
    for (uint32_t i = 0; i < sort_launch_count(&k); i++)
      run_launch(s.arrays, library, &launches[i], scratch);
    check_results(&s);
  }
  dlclose(library);
  subject_free(&s);
  free(launches);
  free(scratch);
}

TEST(sorts) {
  if (!has_compiler())
    SKIP(NO_COMPILER);
  EACH_OF_SAMPLE(i, 5, ROWS)
  check_row(&rows[i]);
}

TEST(sorts_of_rows_of_unequal_length) {
  if (!has_compiler())
    SKIP(NO_COMPILER);
  EACH_OF_SAMPLE(i, 2, RAGGED_ROWS)
  check_row(&ragged_rows[i]);
}

TEST(sorts_of_shares) {
  if (!has_compiler())
    SKIP(NO_COMPILER);
  EACH_OF_SAMPLE(i, 3, SHARED_ROWS)
  check_row(&shared_rows[i]);
}

// ---- lines and banks ---------------------------------------------------------------------------

static const row counted_rows[] = {
    {SCALAR_U32, .rows = 1, .length = 9600, .alike = 32},
    {SCALAR_U32, .rows = 1, .length = 9600, .alike = 32, .payload_count = 1,
     .payloads = {{4, false}}},
    {SCALAR_U32, .rows = 1, .length = 9600},
    {SCALAR_U64, .rows = 2, .length = 9600, .alike = 32, .payload_count = 1,
     .payloads = {{8, false}}},
    {SCALAR_U32, .rows = 1, .length = 9600, .payload_count = 1, .payloads = {{4, false}},
     .offsets = 400},
    {SCALAR_F32, true, .rows = 1, .length = 9600, .alike = 32},
    {SCALAR_I16, .rows = 1, .length = 9600, .alike = 64, .payload_count = 1,
     .payloads = {{8, false}}},
    {SCALAR_U64, .rows = 1, .length = 9600},
};
enum { COUNTED_ROWS = sizeof counted_rows / sizeof *counted_rows };

// The counting kernel reads each key once. A digit's reads and writes each key once, and its
// payload (Adinets and Merrill, 2022, section 3), beside what blocks tell each other. Where as many
// neighbours as a warp has lanes are alike, digits begin where lines do, and the lines are as few
// as a copy's: the numbers of bytes, divided by 128. Any other row has two more for each stretch of
// a digit in a tile at most. What lies in scratch is read without conflicts, and put there by
// stretches, whose words are neighbours.
static void check_lines(const row *r, const sort_kernels *k, uint32_t launch,
                        const access_sums *found) {
  uint64_t elements = r->rows * r->length, keys = scalar_types[r->type].size;
  uint64_t moved = keys + (r->payload_count ? r->payloads->bytes : 0);
  uint64_t stretches = UINT64_C(2) * 256 * k->tiles * r->rows;
  if (launch == 0) {
    CHECK_EQ_U64(found->lines[PERMC_LOADS], elements / 32 * divide_up(32 * keys, 128));
    CHECK_EQ_U64(found->lines[PERMC_STORES], 0);
    return;
  }
  CHECK_EQ_U64(found->lines[PERMC_LOADS], found->least_lines[PERMC_LOADS]);
  CHECK_EQ_U64(found->least_lines[PERMC_LOADS], found->least_lines[PERMC_STORES]);
  if (keys >= 4) {
    CHECK_EQ_U64(found->least_lines[PERMC_LOADS], elements * moved / 128);
    CHECK_EQ_U64(found->least_turns[0], k->tiles * r->rows * k->threads * k->items * moved / 128);
  }
  if (r->alike)
    CHECK_EQ_U64(found->lines[PERMC_STORES], found->least_lines[PERMC_STORES]);
  else
    CHECK(found->lines[PERMC_STORES] <= 2 * found->least_lines[PERMC_STORES] + stretches);
  CHECK_EQ_U64(found->turns[0], found->least_turns[0]);
  if (r->alike)
    CHECK_EQ_U64(found->turns[1], found->least_turns[1]);
}

// Rows that fit a tile are read once and written once, whatever their lengths, by warps whose lines
// are as few as a copy's. Of a window, the warps at both ends may have idle lanes: these are not
// counted. The keys behind a window are read before it is known whether its rows need them.
static void check_ragged_lines(const subject *s, const sort_kernels *k, uint32_t launch,
                               const access_sums *found) {
  const int64_t *offsets = (const int64_t *)(const void *)s->arrays[SORT_OFFSETS];
  uint64_t elements = (uint64_t)(offsets[s->row->offsets - 1] - offsets[0]);
  uint64_t arrays = 1 + s->row->payload_count, lines = launch == 1 ? elements / 32 * arrays : 0;
  uint64_t windows = divide_up(s->row->length, k->window), ends = 4 * arrays * windows;
  uint64_t behind = windows * (k->tile.threads * k->tile.items - k->window) / 32;
  for (int i = 0; i < 2; i++) {
    CHECK_EQ_U64(found->lines[i], found->least_lines[i]);
    CHECK(found->lines[i] <= lines + (i == PERMC_LOADS ? behind : 0));
    CHECK(found->lines[i] + ends >= lines);
  }
}

static void count_row(const row *r) {
  sort_work w = work_of(r);
  sort_kernels k;
  subject s;
  CHECK_STR(sort_kernels_of(&w, &k), NULL);
  uint32_t count = sort_launch_count(&k);
  routine_launch *launches = calloc(count, sizeof *launches);
  char *scratch = aligned_alloc(128, SCRATCH);
  sort_launches(&k, launches);
  void *library = compile_sort(&k, launches);
  REQUIRE(library != NULL);
  subject_make(&s, r, &k);
  CHECK_EQ_U64(count, r->offsets ? RAGGED_LAUNCHES : 1 + k.digits);
  for (uint32_t i = 0; i < count; i++) {
    access_sums found = {.lines = {0}};
    run_launch(s.arrays, library, &launches[i], scratch);
    take_counts(library, &found);
    if (r->offsets)
      check_ragged_lines(&s, &k, i, &found);
    else
      check_lines(r, &k, i, &found);
  }
  check_results(&s);
  dlclose(library);
  subject_free(&s);
  free(launches);
  free(scratch);
}

TEST(lines_and_banks) {
  if (!has_compiler())
    SKIP(NO_COMPILER);
  EACH_OF_SAMPLE(i, 2, COUNTED_ROWS)
  count_row(&counted_rows[i]);
}

static void check_count(const count_kernels *k) {
  text body = {0};
  routine_launch launches[COUNT_LAUNCHES];
  size_t size = scalar_types[k->type].size;
  uint64_t all = k->rows * k->length;
  char *scratch = aligned_alloc(128, SCRATCH);
  int64_t *expected = calloc(k->rows * k->limit, sizeof *expected);
  char *arrays[] = {calloc(all, size), malloc(k->rows * k->limit * sizeof *expected)};
  for (uint64_t i = 0; i < all; i++) {
    uint64_t key = random_u64() % (k->limit + 3);  // some are too large
    memcpy(arrays[COUNT_KEYS] + i * size, &key, size);
    key &= UINT64_MAX >> (64 - 8 * size);
    if (key < k->limit)
      expected[i / k->length * k->limit + key]++;
  }
  text_string(&body, "#include <stdbool.h>\ntypedef struct permc_imports permc_imports;\n");
  count_kernels_write(&body, k);
  count_launches(k, launches);
  write_entries(&body, COUNT_LAUNCHES, launches);
  text_string(&body, "PERMC_COUNTERS\n");
  void *library = compile(&body);
  REQUIRE(library != NULL);
  for (uint32_t i = 0; i < COUNT_LAUNCHES; i++)
    run_launch(arrays, library, &launches[i], scratch);
  CHECK(memcmp(arrays[COUNT_COUNTS], expected, k->rows * k->limit * sizeof *expected) == 0);
  dlclose(library);
  free(arrays[0]);
  free(arrays[1]);
  free(expected);
  free(scratch);
  text_free(&body);
}

static const count_kernels counts[] = {
    {SCALAR_U8, 3, 5000, 256, 2},
    {SCALAR_U32, 1, 30000, COUNT_IN_SCRATCH, 2},
    {SCALAR_I16, 2, 9000, 100, 1},
    {SCALAR_I64, 1, 1, 1, 132},
    {SCALAR_I32, 2, 30000, COUNT_IN_SCRATCH + 1, 2},
};
enum { COUNTS = sizeof counts / sizeof *counts };

TEST(counts_of_keys) {
  if (!has_compiler())
    SKIP(NO_COMPILER);
  EACH_OF_SAMPLE(i, 3, COUNTS)
  check_count(&counts[i]);
}

static void check_text(text *body) {
  char why[NVRTC_WHY];
  void *cubin = NULL;
  size_t size;
  text_add(body, "", 1);
  nvrtc_job job = {body->data, "routine.cu", 90, cuda_code_options[0], CUDA_CODE_OPTIONS};
  if (!CHECK(nvrtc_compile(&job, &cubin, &size, why, sizeof why)))
    printf("%s\n", why);
  else  // no variables of the module, which all launches share
    CHECK(!memmem(cubin, size, ".nv.global", sizeof ".nv.global"));
  free(cubin);
  text_free(body);
}

static void check_texts(const row *all, size_t count, size_t amount) {
  for (size_t i = count > 1; i < count; i += count / amount) {
    sort_work w = work_of(&all[i]);
    sort_kernels k;
    text body = {0};
    CHECK_STR(sort_kernels_of(&w, &k), NULL);
    sort_kernels_write(&body, &k);
    check_text(&body);
  }
}

TEST(texts_for_gpus) {
  char why[NVRTC_WHY];
  if (!nvrtc_find(why, sizeof why))
    SKIP(why);
  check_texts(rows, ROWS, test_amount(2, ROWS));
  check_texts(ragged_rows, RAGGED_ROWS, test_amount(1, RAGGED_ROWS));
  check_texts(shared_rows, SHARED_ROWS, test_amount(1, SHARED_ROWS));
  for (size_t i = 0; i < COUNTS; i += COUNTS / test_amount(2, COUNTS)) {
    text body = {0};
    count_kernels_write(&body, &counts[i]);
    check_text(&body);
  }
}

TEST(too_many) {
  sort_kernels k;
  CHECK_CONTAINS(sort_kernels_of(&(sort_work){.rows = UINT64_MAX, .length = 2}, &k), "too many");
  CHECK_CONTAINS(sort_kernels_of(&(sort_work){.type = SCALAR_U8,
                                              .rows = UINT64_C(1) << 40,
                                              .length = 2,
                                              .multiprocessors = 1},
                                 &k),
                 "too many tiles");
}

TEST_MAIN()
