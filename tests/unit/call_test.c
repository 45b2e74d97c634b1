// permc_call: compiled programs on memory of the caller, by several threads, and what is refused.
#include "api.h"
#include "core/clock.h"
#include "core/sanitized.h"

#include <dirent.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const backends[] = {"cpu", "portable", "interp", "auto"};
enum { BACKENDS = sizeof backends / sizeof *backends };

static permc_value *borrow(const char *type, uint64_t length, const void *data) {
  permc_error why = {PERMC_OK, ""};
  permc_memory m = {.type = type,
                    .rank = 1,
                    .dims = &length,
                    .data = (void *)(uintptr_t)data,
                    .device = PERMC_HOST};
  permc_value *v = permc_value_borrow(&m, &why);
  CHECK_STR(why.message, "");
  return v;
}

static permc_code call_1(const permc_compiled *p, permc_value *in, permc_value *out) {
  return permc_call(p, &in, 1, &out, 1, NULL, &call_error);
}

static void fill(uint32_t *data, uint64_t count, uint32_t seed) {
  for (uint32_t i = 0; i < count; i++)
    data[i] = (i + 1) * 2654435761u * (seed | 1) >> 3;
}

static bool is_sorted(const uint32_t *data, uint64_t count) {
  for (uint64_t i = 1; i < count; i++)
    if (data[i - 1] > data[i])
      return false;
  return true;
}

// ---- memory of the caller ----------------------------------------------------------------------

TEST(in_place_of_the_caller) {
  enum { N = 1 << 12 };
  static uint32_t in[N], out[N];
  for (size_t i = 0; i < BACKENDS; i++) {
    permc_context *c = load_expression("sort");
    permc_compiled *p = permc_compile_types(c, "-e", backends[i], "[4096]u32");
    if (CHECK(p != NULL)) {
      permc_value *x = borrow("u32", N, in), *y = borrow("u32", N, out);
      CHECK(permc_value_data(y, 0) == out);
      for (uint32_t run = 0; run < 3; run++) {
        fill(in, N, run);
        memset(out, 0xaa, sizeof out);
        CHECK_EQ_U64(call_1(p, x, y), PERMC_OK);
        CHECK(is_sorted(out, N));
      }
      CHECK_STR(permc_value_type(permc_compiled_argument(p, 0), 0), "u32");
      CHECK_EQ_U64(permc_value_dims(permc_compiled_result(p, 0), 0)[0], N);
      CHECK(permc_compiled_argument(p, 1) == NULL && permc_compiled_result(p, 1) == NULL);
      permc_value_free(x);
      permc_value_free(y);
    }
    permc_compiled_free(p);
    permc_context_free(c);
  }
}

// Bools of the caller are any bytes: what is not 0 is true, and a result's are 0 or 1.
static void check_bools(permc_compiled *p, uint8_t *const bytes[2]) {
  permc_value **results[2] = {NULL, NULL};
  size_t count = 0;
  for (int i = 0; i < 2; i++) {
    permc_memory m = {.type = "bool", .rank = 2, .dims = (uint64_t[]){30, 35}, .data = bytes[i]};
    m.device = PERMC_HOST;
    permc_value *in = permc_value_borrow(&m, NULL);
    CHECK(call_values(p, &in, 1, &results[i], &count));
    permc_value_free(in);
  }
  for (size_t r = 0; r < count; r++)
    for (size_t k = 0; k < permc_value_components(results[1][r]); k++) {
      const permc_value *v = results[1][r];
      check_value(results[0][r], k, permc_value_type(v, k), permc_value_rank(v, k),
                  permc_value_dims(v, k), permc_value_data(v, k));
    }
  permc_values_free(results[0], count);
  permc_values_free(results[1], count);
}

TEST(bools_of_any_bytes) {
  static const char *const programs[] = {
      "id",
      "transpose",
      "map (map not)",
      "sort . join",
      "argsort . join",
      "sum . map i32 . join",
      "histogram 1 u8 . join",
      "compact id . join",
      "\\m -> scan_segments (+) (join m) (iota 1050)",
      "\\m -> gather (map (* 7) (iota 150)) (join m)",
      "\\m -> scatter [3, 1] [true, false] (join m)",
  };
  static const char *const tried[] = {"cpu", "portable", "interp"};
  enum { PROGRAMS = sizeof programs / sizeof *programs, TRIED = sizeof tried / sizeof *tried };
  uint8_t any[1050], truths[1050];
  for (uint32_t i = 0; i < sizeof any; i++) {
    any[i] = (uint8_t)(i * i % 7 < 3 ? 0 : 1 + i * 37 % 255);
    truths[i] = any[i] != 0;
  }
  for (size_t i = 0; i < (size_t)PROGRAMS * TRIED; i++) {
    permc_context *c = load_expression(programs[i / TRIED]);
    permc_compiled *p = permc_compile_types(c, "-e", tried[i % TRIED], "[30][35]bool");
    if (CHECK_STR(permc_message(c), ""))
      check_bools(p, (uint8_t *const[2]){any, truths});
    permc_compiled_free(p);
    permc_context_free(c);
  }
}

static int released;
static void count_release(void *with) { released += *(int *)with; }

TEST(released_once) {
  uint32_t data[4] = {3, 1, 2, 0};
  int step = 1;
  uint64_t dims[1] = {4};
  permc_memory m = {.type = "u32",
                    .rank = 1,
                    .dims = dims,
                    .data = data,
                    .device = PERMC_HOST,
                    .read_only = true,
                    .release = count_release,
                    .with = &step};
  permc_context *c = load_expression("\\(x, y) -> sort x");
  permc_value *parts[2] = {permc_value_borrow(&m, NULL), permc_value_borrow(&m, NULL)};
  permc_value *pair = permc_value_tuple(parts, 2), **results = NULL;
  size_t count = 0;
  CHECK_EQ_I64(released, 0);
  for (int i = 0; i < 2; i++) {
    const char *backend = i ? "interp" : "portable";
    CHECK(permc_run(c, "-e", backend, &pair, 1, &results, &count));
    permc_values_free(results, count);
  }
  CHECK(permc_run_consume(c, "-e", "portable", &pair, 1, &results, &count));
  CHECK(pair == NULL);
  CHECK_EQ_I64(released, 2);
  CHECK_EQ_U64(data[0], 3);  // never written to
  check_1(results[0], 0, "u32", 4, (uint32_t[]){0, 1, 2, 3});
  permc_values_free(results, count);
  permc_context_free(c);
}

// Arrays that end where memory ends, and begin anywhere an element may.
TEST(nothing_beside_an_array) {
  enum { BYTES = 1 << 16 };
  static const char *const programs[] = {"sort",     "bitrev", "map (* 3)", "reverse",
                                         "scan (+)", "id",     "sort_desc"};
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *memory[2];
  for (int i = 0; i < 2; i++) {
    memory[i] =
        mmap(NULL, BYTES + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory[i] != MAP_FAILED && mprotect(memory[i] + BYTES, page, PROT_NONE) == 0);
  }
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    for (int b = 0; b < 2; b++)
      for (uint32_t n = 1 << 4; n <= 1 << 12; n <<= 4) {
        char types[32];
        snprintf(types, sizeof types, "[%" PRIu32 "]u32", n);
        permc_context *c = load_expression(programs[i]);
        permc_compiled *p = permc_compile_types(c, "-e", backends[b], types);
        uint32_t *in = (void *)(memory[0] + BYTES - n * 4),
                 *out = (void *)(memory[1] + BYTES - n * 4);
        for (int shift = 0; shift < 2 && CHECK(p != NULL); shift++) {
          permc_value *x = borrow("u32", n, in - shift), *y = borrow("u32", n, out - 3 * shift);
          permc_value *own = permc_value_new("u32", 1, &(uint64_t){n}, NULL);
          fill(in - shift, n, n);
          CHECK_EQ_U64(call_1(p, x, y), PERMC_OK);
          CHECK_EQ_U64(call_1(p, x, own), PERMC_OK);
          CHECK(!memcmp(permc_value_data(own, 0), out - 3 * shift, n * 4));
          permc_value_free(own);
          permc_value_free(x);
          permc_value_free(y);
        }
        permc_compiled_free(p);
        permc_context_free(c);
      }
  for (int i = 0; i < 2; i++)
    munmap(memory[i], BYTES + page);
}

TEST(workspace_of_the_caller) {
  enum { N = 1 << 16 };
  static uint32_t in[N], out[N];
  permc_context *c = load_expression("\\xs -> bitrev (sort (bitrev xs))");
  CHECK(permc_use_strategy(c, "tile"));
  permc_compiled *p = permc_compile_types(c, "-e", "cpu", "[2^16]u32");
  REQUIRE(p != NULL);
  permc_value *x = borrow("u32", N, in), *y = borrow("u32", N, out);
  uint64_t bytes = permc_workspace_bytes(p);
  void *memory = aligned_alloc(256, bytes + 256);
  permc_call_options o = {.workspace = memory, .workspace_bytes = bytes};
  fill(in, N, 1);
  CHECK_EQ_U64(permc_call(p, &x, 1, &y, 1, &o, &call_error), PERMC_OK);
  o.workspace = (char *)memory + 8;
  CHECK_EQ_U64(permc_call(p, &x, 1, &y, 1, &o, &call_error), PERMC_ERROR_LAYOUT);
  CHECK_CONTAINS(call_error.message, "workspace");
  free(memory);
  permc_value_free(x);
  permc_value_free(y);
  permc_compiled_free(p);
  permc_context_free(c);
}

// Results have the names of the components that their elements come from, and no others.
TEST(names_of_components) {
  enum { N = 4 };
  uint64_t n = N;
  permc_value *parts[2] = {permc_value_new("u32", 1, &n, (uint32_t[]){3, 1, 2, 0}),
                           permc_value_new("f32", 1, &n, (float[]){0, 1, 2, 3})};
  permc_value *in = permc_value_tuple(parts, 2);
  permc_context *c = load_expression("\\xs -> (sort_on fst xs, map fst xs, sum (map snd xs))");
  for (size_t i = 0; i < BACKENDS; i++) {
    size_t count = 0;
    permc_compiled *p = permc_compile(c, "-e", backends[i], &in, 1);
    REQUIRE(p != NULL);
    permc_value **out = permc_results_new(p, &count);
    REQUIRE(out != NULL && count == 3);
    for (int named = 1; named >= 0; named--) {
      CHECK(permc_value_set_name(in, 0, named ? "key" : NULL));
      CHECK(permc_value_set_name(in, 1, named ? "weight" : NULL));
      CHECK_EQ_U64(permc_call(p, &in, 1, out, count, NULL, &call_error), PERMC_OK);
      CHECK_STR(permc_value_name(out[0], 0), named ? "key" : NULL);
      CHECK_STR(permc_value_name(out[0], 1), named ? "weight" : NULL);
      CHECK_STR(permc_value_name(out[1], 0), named ? "key" : NULL);
      CHECK_STR(permc_value_name(out[2], 0), NULL);
    }
    permc_values_free(out, count);
    permc_compiled_free(p);
  }
  permc_value_free(in);
  permc_context_free(c);
}

// ---- codes of a context ------------------------------------------------------------------------

TEST(codes) {
  permc_context *c = permc_context_new();
  permc_value *keys = borrow("f32", 4, (float[]){1, 2, 3, 4}), **results = NULL;
  size_t count = 0;
  CHECK_EQ_U64(permc_last_code(c), PERMC_OK);
  CHECK(!permc_load(c, "no such file.perm"));
  CHECK_EQ_U64(permc_last_code(c), PERMC_ERROR_FILE);
  CHECK(!permc_define(c, "sort +"));
  CHECK_EQ_U64(permc_last_code(c), PERMC_ERROR_PROGRAM);
  CHECK(permc_define(c, "\\xs -> map (+ 1u32) (sort xs)"));
  CHECK_EQ_U64(permc_last_code(c), PERMC_OK);
  CHECK(!permc_read_files(c, "-e", (const char *[]){"no such file"}, 1, &results, &count));
  CHECK_EQ_U64(permc_last_code(c), PERMC_ERROR_FILE);
  static const char *const texts[] = {"[1, 2", "[1.5]", "[1u32] [2u32]", ""};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    CHECK(!permc_read_bytes(c, "-e", "text", texts[i], strlen(texts[i]), &results, &count));
    CHECK_EQ_U64(permc_last_code(c), PERMC_ERROR_FILE);
  }
  CHECK(!permc_compile_types(c, "-e", NULL, "[1.5]"));
  CHECK_EQ_U64(permc_last_code(c), PERMC_ERROR_ARGUMENT);
  CHECK(!permc_run(c, "-e", NULL, &keys, 1, &results, &count));
  CHECK_EQ_U64(permc_last_code(c), PERMC_ERROR_ARGUMENT);
  CHECK(!permc_run(c, "-e", NULL, NULL, 0, &results, &count));
  CHECK_EQ_U64(permc_last_code(c), PERMC_ERROR_ARGUMENT);
  CHECK(!permc_compile_types(c, "absent", NULL, "[4]u32"));
  CHECK_EQ_U64(permc_last_code(c), PERMC_ERROR_ARGUMENT);
  CHECK(!permc_compile_types(c, "-e", "absent", "[4]u32"));
  CHECK_EQ_U64(permc_last_code(c), PERMC_ERROR_MISSING);
  CHECK(permc_set_limit(c, "steps", 1));
  CHECK(!permc_compile_types(c, "-e", "portable", "[4]u32"));
  CHECK_EQ_U64(permc_last_code(c), PERMC_ERROR_MEMORY);
  permc_value_free(keys);
  permc_context_free(c);
}

// ---- what is refused ---------------------------------------------------------------------------

// A text that was formatted is its owner's, and no part of the program that is compiled after it.
TEST(formatted_text_is_of_the_caller) {
  permc_context *c = load_expression("sort");
  const char written[] = "f   x = x\n";
  char *text = permc_format(c, "other.perm", written, sizeof written - 1);
  CHECK_STR(text, "f x = x\n");
  free(text);
  permc_compiled *p = permc_compile_types(c, "-e", "portable", "[4]u32");
  CHECK(p != NULL);
  permc_compiled_free(p);
  permc_context_free(c);
}

TEST(memory_that_is_refused) {
  static _Alignas(16) uint32_t data[64];
  const uint64_t dims[2] = {4, 8};
  const int64_t good[2] = {32, 4}, columns[2] = {4, 16}, gaps[2] = {64, 4}, back[2] = {-32, 4};
  const struct {
    permc_memory memory;
    permc_code code;
    const char *part;
  } rows[] = {
      {{"u32", 2, dims, good, data, PERMC_HOST, 0, 0, 0}, PERMC_OK, ""},
      {{"u31", 2, dims, good, data, PERMC_HOST, 0, 0, 0},
       PERMC_ERROR_ARGUMENT,
       "no element type 'u31'"},
      {{NULL, 2, dims, good, data, PERMC_HOST, 0, 0, 0}, PERMC_ERROR_ARGUMENT, "no element type"},
      {{"u32", 17, dims, good, data, PERMC_HOST, 0, 0, 0}, PERMC_ERROR_ARGUMENT, "at most 16"},
      {{"u32", 2, NULL, good, data, PERMC_HOST, 0, 0, 0}, PERMC_ERROR_ARGUMENT, "dimensions"},
      {{"u32", 2, dims, good, NULL, PERMC_HOST, 0, 0, 0}, PERMC_ERROR_ARGUMENT, "no memory"},
      {{"u32", 2, dims, columns, data, PERMC_HOST, 0, 0, 0}, PERMC_ERROR_LAYOUT, "row-major"},
      {{"u32", 2, dims, gaps, data, PERMC_HOST, 0, 0, 0}, PERMC_ERROR_LAYOUT, "row-major"},
      {{"u32", 2, dims, back, data, PERMC_HOST, 0, 0, 0}, PERMC_ERROR_LAYOUT, "row-major"},
      {{"u32", 2, dims, good, (char *)data + 2, PERMC_HOST, 0, 0, 0},
       PERMC_ERROR_LAYOUT,
       "no multiple of 4"},
      {{"c64", 2, dims, NULL, data + 1, PERMC_HOST, 0, 0, 0}, PERMC_OK, ""},
      {{"u32", 2, dims, good, data + 1, 0, 0, 0, 0}, PERMC_ERROR_LAYOUT, "no multiple of 16"},
      {{"u32", 2, dims, good, data, -2, 0, 0, 0}, PERMC_ERROR_DEVICE, "no device -2"},
      {{"u32", 2, (uint64_t[]){UINT64_MAX, 2}, NULL, data, PERMC_HOST, 0, 0, 0},
       PERMC_ERROR_ARGUMENT,
       "too large"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    permc_error why = {PERMC_OK, ""};
    permc_value *v = permc_value_borrow(&rows[i].memory, &why);
    CHECK((v != NULL) == (rows[i].code == PERMC_OK));
    CHECK_EQ_U64(why.code, rows[i].code);
    CHECK_CONTAINS(why.message, rows[i].part);
    permc_value_free(v);
  }
}

TEST(calls_that_are_refused) {
  enum { N = 8 };
  uint32_t in[2 * N], out[N];
  permc_context *c = load_expression("sort");
  permc_compiled *p = permc_compile_types(c, "-e", "cpu", "[8]u32");
  REQUIRE(p != NULL);
  uint64_t dims[1] = {N};
  permc_memory locked = {
      .type = "u32", .rank = 1, .dims = dims, .data = out, .device = PERMC_HOST, .read_only = true};
  permc_memory far = {.type = "u32", .rank = 1, .dims = dims, .data = (void *)4096, .device = 0};
  permc_value *x = borrow("u32", N, in), *y = borrow("u32", N, out),
              *late = borrow("u32", N, in + 4);
  permc_value *i32 = borrow("i32", N, in), *shorter = borrow("u32", N / 2, in);
  permc_value *square = permc_value_new("u32", 2, (uint64_t[]){2, 4}, in);
  permc_value *read_only = permc_value_borrow(&locked, NULL),
              *device = permc_value_borrow(&far, NULL);
  permc_value *empty = (permc_value *)(uintptr_t)permc_compiled_result(p, 0);
  const struct {
    permc_value *in, *out;
    permc_code code;
    const char *part;
  } rows[] = {
      {x, y, PERMC_OK, ""},
      {i32, y, PERMC_ERROR_ARGUMENT, "argument 1 must be [8]u32, and is [8]i32"},
      {shorter, y, PERMC_ERROR_ARGUMENT, "and is [4]u32"},
      {square, y, PERMC_ERROR_ARGUMENT, "and is [2][4]u32"},
      {NULL, y, PERMC_ERROR_ARGUMENT, "and is NULL"},
      {x, NULL, PERMC_ERROR_ARGUMENT, "result 1 must be [8]u32, and is NULL"},
      {x, empty, PERMC_ERROR_ARGUMENT, "result 1"},
      {x, i32, PERMC_ERROR_ARGUMENT, "result 1"},
      {x, x, PERMC_ERROR_LAYOUT, "overlaps an argument"},
      {x, late, PERMC_ERROR_LAYOUT, "overlaps an argument"},
      {x, read_only, PERMC_ERROR_LAYOUT, "read-only"},
      {device, y, PERMC_ERROR_DEVICE, "several devices"},
      {device, device, PERMC_ERROR_DEVICE, "another device"},
      {read_only, late, PERMC_OK, ""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    fill(in, 2 * N, 1);
    CHECK_EQ_U64(call_1(p, rows[i].in, rows[i].out), rows[i].code);
    CHECK_CONTAINS(call_error.message, rows[i].part);
    CHECK_EQ_U64(call_1(p, x, y), PERMC_OK);  // nothing is lost
  }
  CHECK_EQ_U64(permc_call(p, &x, 0, &y, 1, NULL, &call_error), PERMC_ERROR_ARGUMENT);
  CHECK_EQ_U64(permc_call(p, &x, 1, &y, 0, NULL, &call_error), PERMC_ERROR_ARGUMENT);
  CHECK_EQ_U64(permc_call(p, NULL, 1, NULL, 1, NULL, &call_error), PERMC_ERROR_ARGUMENT);
  CHECK_EQ_U64(permc_call(p, &i32, 1, &y, 1, NULL, NULL), PERMC_ERROR_ARGUMENT);
  permc_value **results = NULL;
  size_t count = 0;
  CHECK(!permc_run(c, "-e", "cpu", &device, 1, &results, &count));
  CHECK_CONTAINS(permc_message(c), "in the memory of GPU 0");
  CHECK(!permc_write_file(c, "-", device));
  CHECK_EQ_U64(permc_last_code(c), PERMC_ERROR_DEVICE);
  permc_value *all[] = {x, y, late, i32, shorter, square, read_only, device};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    permc_value_free(all[i]);
  permc_compiled_free(p);
  permc_context_free(c);
}

TEST(data_that_is_refused) {
  const uint32_t keys[4] = {1, 2, 3, 4};
  int64_t places[4] = {0, 1, 2, 3};
  uint32_t out[4];
  permc_context *c = load_expression("gather");
  for (size_t i = 0; i < BACKENDS; i++) {
    permc_compiled *p = permc_compile_types(c, "-e", backends[i], "[4]i64 [4]u32");
    permc_value *in[2] = {borrow("i64", 4, places), borrow("u32", 4, keys)},
                *y = borrow("u32", 4, out);
    for (int run = 0; run < 3 && CHECK(p != NULL); run++) {
      places[2] = run == 1 ? 7 : 3;
      CHECK_EQ_U64(permc_call(p, in, 2, &y, 1, NULL, &call_error),
                   run == 1 ? PERMC_ERROR_PROGRAM : PERMC_OK);
      CHECK_CONTAINS(call_error.message, run == 1 ? "index 7 at position 2" : "");
    }
    for (int k = 0; k < 2; k++)
      permc_value_free(in[k]);
    permc_value_free(y);
    permc_compiled_free(p);
  }
  permc_context_free(c);
}

// ---- threads -----------------------------------------------------------------------------------

// A thread works until it has made so many rounds; where nothing is left out, for a minute.
typedef struct caller {
  const permc_compiled *compiled;  // NULL: it compiles programs of its own
  const char *backend;
  uint32_t number, length, rounds;
  bool good;
  pthread_t thread;
} caller;

typedef struct caller_arrays {
  uint32_t *in, *out;
  permc_value *x, *y;
} caller_arrays;

static bool make_arrays(caller_arrays *a, uint32_t length) {
  permc_memory m = {"u32", 1, &(uint64_t){length}, NULL, NULL, PERMC_HOST, false, NULL, NULL};
  m.data = a->in = malloc(length * sizeof *a->in);
  a->x = permc_value_borrow(&m, NULL);
  m.data = a->out = malloc(length * sizeof *a->out);
  a->y = permc_value_borrow(&m, NULL);
  return a->x && a->y;
}

static void free_arrays(caller_arrays *a) {
  permc_value_free(a->x);
  permc_value_free(a->y);
  free(a->in);
  free(a->out);
}

static bool sorts(const permc_compiled *p, caller_arrays *a, uint32_t length, uint32_t seed) {
  permc_error why;
  uint64_t sum = 0;
  fill(a->in, length, seed);
  bool good =
      permc_call(p, &a->x, 1, &a->y, 1, NULL, &why) == PERMC_OK && is_sorted(a->out, length);
  for (uint32_t k = 0; k < length; k++)
    sum += (uint64_t)a->in[k] - a->out[k];
  return good && sum == 0;
}

// A context of the thread's own: a mistake, a program, some calls.
static bool compiles_and_sorts(const caller *t, caller_arrays *a, uint32_t round) {
  char types[32];
  snprintf(types, sizeof types, "[%" PRIu32 "]u32", t->length);
  permc_context *c = permc_context_new();
  bool good = c && !permc_define(c, "sort +") && permc_define(c, "sort");
  permc_compiled *p = good ? permc_compile_types(c, "-e", t->backend, types) : NULL;
  for (uint32_t k = 0; p && good && k < 3; k++)
    good = sorts(p, a, t->length, t->number * 100 + round + k);
  permc_compiled_free(p);
  permc_context_free(c);
  return p && good;
}

static void *work_often(void *with) {
  enum { SECONDS = 60 };
  caller *t = with;
  caller_arrays a;
  double start = clock_seconds();
  t->good = make_arrays(&a, t->length);
  for (uint32_t i = 0; t->good && (test_all() ? clock_seconds() - start < SECONDS : i < t->rounds);
       i++)
    t->good = t->compiled ? sorts(t->compiled, &a, t->length, t->number * 100 + i)
                          : compiles_and_sorts(t, &a, i);
  free_arrays(&a);
  return NULL;
}

enum { CALLERS = 8 };

static void start_callers(caller *all, caller like) {
  for (uint32_t i = 0; i < CALLERS; i++) {
    all[i] = like;
    all[i].number = i;
    REQUIRE(pthread_create(&all[i].thread, NULL, work_often, &all[i]) == 0);
  }
}

static void end_callers(caller *all) {
  for (uint32_t i = 0; i < CALLERS; i++) {
    pthread_join(all[i].thread, NULL);
    CHECK(all[i].good);
  }
}

// One program by eight threads, while the context does something else.
static void call_by_threads(const char *backend, uint32_t length, uint32_t calls) {
  char types[32];
  caller all[CALLERS];
  snprintf(types, sizeof types, "[%" PRIu32 "]u32", length);
  permc_context *c = load_expression("sort");
  permc_compiled *p = permc_compile_types(c, "-e", backend, types);
  REQUIRE(p != NULL);
  start_callers(all, (caller){.compiled = p, .length = length, .rounds = calls});
  for (int i = 0; i < 3; i++) {
    permc_compiled *other = permc_compile_types(c, "-e", "portable", "[16]f32");
    CHECK(other != NULL);
    permc_compiled_free(other);
  }
  end_callers(all);
  permc_compiled_free(p);
  permc_context_free(c);
}

TEST(threads) {
  for (size_t i = 0; i < 3; i++) {
    call_by_threads(backends[i], 16, (uint32_t)test_amount(200, 200));
    call_by_threads(backends[i], 1 << 12, (uint32_t)test_amount(10, 10));
  }
  call_by_threads("cpu", 1 << 15, (uint32_t)test_amount(5, 5));
}

// Eight contexts, by a thread each.
TEST(contexts_of_threads) {
  caller all[CALLERS];
  for (size_t i = 0; i < BACKENDS; i++) {
    start_callers(all, (caller){.backend = backends[i], .length = 16, .rounds = 1});
    end_callers(all);
  }
}

// A thread of the caller's whose stack is small.
static void *call_on_small_stack(void *with) {
  caller *t = with;
  caller_arrays a;
  t->good = make_arrays(&a, t->length) &&
            permc_call(t->compiled, &a.x, 1, &a.y, 1, NULL, NULL) == PERMC_OK;
  free_arrays(&a);
  return NULL;
}

// ---- forks ---------------------------------------------------------------------------------------

static atomic_bool forks_ended;

static bool sorts_16(const permc_compiled *p, uint32_t seed) {
  uint32_t in[16], out[16];
  fill(in, 16, seed);
  permc_value *x = borrow("u32", 16, in), *y = borrow("u32", 16, out);
  bool good = permc_call(p, &x, 1, &y, 1, NULL, NULL) == PERMC_OK && is_sorted(out, 16);
  permc_value_free(x);
  permc_value_free(y);
  return good;
}

static bool compiles_16(void) {
  permc_context *c = permc_context_new();
  permc_compiled *p =
      c && permc_define(c, "sort") ? permc_compile_types(c, "-e", "cpu", "[16]u32") : NULL;
  bool good = p && sorts_16(p, 1);
  permc_compiled_free(p);
  permc_context_free(c);
  return good;
}

// Calls the program until the end; NULL: compiles one.
static void *work_beside_forks(void *with) {
  bool good = true;
  for (uint32_t i = 0; good && !atomic_load(&forks_ended); i++)
    good = with ? sorts_16(with, i) : compiles_16();
  return good ? NULL : &forks_ended;
}

// Children of fork call and compile, whatever other threads did meanwhile.
TEST(children_of_fork) {
  enum { FORKS = 60, SECONDS = 60 };
  if (SANITIZED)
    SKIP("sanitizers have locks of their own, which fork does not give back");
  permc_context *c = load_expression("sort");
  permc_compiled *programs[] = {permc_compile_types(c, "-e", "portable", "[16]u32"),
                                permc_compile_types(c, "-e", "interp", "[16]u32"), NULL};
  pthread_t threads[3];
  bool good = compiles_16();
  for (int i = 0; i < 3; i++)
    REQUIRE(pthread_create(&threads[i], NULL, work_beside_forks, programs[i]) == 0);
  for (uint32_t i = 0; i < FORKS && good; i++) {
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
      alarm(SECONDS);
      _exit(!(sorts_16(programs[0], i) && sorts_16(programs[1], i) && compiles_16()));
    }
    good = CHECK(child > 0 && waitpid(child, &status, 0) == child) && CHECK_EQ_I64(status, 0);
  }
  atomic_store(&forks_ended, true);
  for (int i = 0; i < 3; i++) {
    void *wrong;
    pthread_join(threads[i], &wrong);
    CHECK(!wrong);
    permc_compiled_free(programs[i]);
  }
  permc_context_free(c);
}

TEST(small_stacks) {
  enum { STACK = 1 << 16, SLOWER_STACK = 1 << 20, N = 1 << 12 };
  static const char *const programs[] = {"sort",        "sort_network",
                                         "scan (+)",    "map u32 . ranks",
                                         "bitrev",      "radix_sort",
                                         "sample_sort", "shuffle_random 3",
                                         "reverse",     "map u32 . histogram 12 (\\x -> x & 4095)"};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, slower() > 1 ? SLOWER_STACK : STACK);
  permc_context *c = permc_context_new();
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    CHECK(permc_define(c, programs[i]));
    permc_compiled *p = permc_compile_types(c, "-e", "portable", "[2^12]u32");
    caller t = {.compiled = p, .length = N};
    if (CHECK(p && pthread_create(&t.thread, &attributes, call_on_small_stack, &t) == 0))
      pthread_join(t.thread, NULL);
    CHECK(t.good);
    permc_compiled_free(p);
  }
  pthread_attr_destroy(&attributes);
  permc_context_free(c);
}

// ---- what stays behind -------------------------------------------------------------------------

static size_t bytes_in_use(void) {
#if defined(__GLIBC__) && !SANITIZED
  return mallinfo2().uordblks;
#else
  return 0;
#endif
}

// Descriptors that are open, and pages of memory: what /proc says of this process.
static size_t open_files(void) {
  DIR *folder = opendir("/proc/self/fd");
  size_t count = 0;
  while (folder && readdir(folder))
    count++;
  if (folder)
    closedir(folder);
  return count;
}

static size_t resident_bytes(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%*d %ld", &pages) != 1)
    pages = 0;
  if (file)
    fclose(file);
  return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

// Programs that are compiled, called and freed leave nothing in their context, and contexts
// nothing. The first cycles fill what is kept for later ones.
static void check_cycles(const char *backend, bool fresh, size_t cycles) {
  enum { WARM = 20, FRESH_EACH = 10, RESIDENT = 4 << 20 };
  uint32_t in[16] = {0}, out[16];
  permc_value *x = borrow("u32", 16, in), *y = borrow("u32", 16, out);
  permc_context *c = load_expression("sort");
  size_t before = 0, files = 0, resident = 0;
  for (size_t i = 0; i < cycles + WARM && CHECK(c != NULL); i++) {
    permc_compiled *p = permc_compile_types(c, "-e", backend, "[16]u32");
    CHECK(p && call_1(p, x, y) == PERMC_OK);
    permc_compiled_free(p);
    if (fresh && i % FRESH_EACH == 0) {
      permc_context_free(c);
      c = load_expression("sort");
    }
    if (i == WARM)
      before = bytes_in_use(), files = open_files(), resident = resident_bytes();
  }
  size_t after = bytes_in_use(), grown = resident_bytes() - resident;
  if (test_all())
    printf("%s, %zu cycles%s: %+ld bytes in use, %+ld resident, %zu files open\n", backend, cycles,
           fresh ? " with new contexts" : "", (long)(after - before), (long)grown, files);
  CHECK(after <= before + 65536);
  CHECK((long)grown <= RESIDENT || slower() > 1);
  CHECK_EQ_U64(open_files(), files);
  permc_context_free(c);
  permc_value_free(x);
  permc_value_free(y);
}

TEST(nothing_grows) {
  for (size_t i = 0; i < BACKENDS; i++) {
    bool portable = !strcmp(backends[i], "portable");
    size_t cycles = (size_t)test_amount(portable ? 200 : 20, 100000);
    check_cycles(backends[i], false, cycles);
    check_cycles(backends[i], true, cycles);
  }
}

// ---- what it costs -----------------------------------------------------------------------------

TEST(overhead) {
  uint32_t in[16], out[16];
  int calls = (int)test_amount(20000, 20000);
  permc_context *c = load_expression("sort");
  permc_compiled *p = permc_compile_types(c, "-e", "cpu", "[16]u32");
  REQUIRE(p != NULL);
  permc_value *x = borrow("u32", 16, in), *y = borrow("u32", 16, out);
  fill(in, 16, 1);
  double least = 1;
  for (int turn = 0; turn < 5; turn++) {
    double start = clock_seconds();
    for (int i = 0; i < calls; i++)
      call_1(p, x, y);
    double each = (clock_seconds() - start) / calls;
    least = each < least ? each : least;
  }
  printf("a call of a sort of 16 keys takes %.0f ns\n", least * 1e9);
  CHECK(is_sorted(out, 16));
  permc_value_free(x);
  permc_value_free(y);
  permc_compiled_free(p);
  permc_context_free(c);
}

TEST_MAIN()
