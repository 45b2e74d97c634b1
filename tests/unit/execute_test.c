// permc_compile and permc_call: a program compiled once and run often, on every backend.
#include "api.h"

static const char *const backends[] = {"interp", "portable", "cpu", "auto"};
enum { BACKENDS = sizeof backends / sizeof *backends };

static const char program[] = "main : [2^n]i32 -> ([2^n]i32, i32)\n"
                              "main xs = (sort xs, sum xs)\n"
                              "\n"
                              "same : [2^n]i32 -> [2^n]i32\n"
                              "same xs = xs\n"
                              "\n"
                              "pairs : [2^n](i32, f32) -> [2^n]i32 -> [2^n](f32, i32)\n"
                              "pairs xs ys = zip_with (\\(a, b) y -> (b, a + y)) xs ys\n"
                              "\n"
                              "nine : i32\n"
                              "nine = 9\n";

enum { N = 1 << 13 };  // large enough for auto to compile

static void fill(int32_t *data, uint32_t seed) {
  for (uint32_t i = 0; i < N; i++)
    data[i] = (int32_t)((i + seed) * 2654435761u >> 8);
}

static bool sorted(const permc_value *v) {
  const int32_t *data = permc_value_data(v, 0);
  for (uint32_t i = 1; i < N; i++)
    if (data[i - 1] > data[i])
      return false;
  return true;
}

static int32_t sum_of(const int32_t *data) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < N; i++)
    sum += (uint32_t)data[i];
  return (int32_t)sum;
}

// Three runs with other data each, the results passed back in.
static void run_often(permc_context *c, const char *backend) {
  static int32_t data[N];
  permc_value **results = NULL, *argument = value_1("i32", N, data);
  size_t count = 0;
  permc_compiled *p = permc_compile(c, "main", backend, &argument, 1);
  permc_value_free(argument);
  if (!CHECK(p != NULL))
    return;
  for (uint32_t run = 0; run < 3; run++) {
    fill(data, 100 * run);
    argument = value_1("i32", N, data);
    if (CHECK(call_values(p, &argument, 1, &results, &count))) {
      CHECK_EQ_U64(count, 2);
      CHECK(sorted(results[0]));
      CHECK_EQ_I64(*(const int32_t *)permc_value_data(results[1], 0), sum_of(data));
      CHECK_EQ_U64(permc_value_rank(results[1], 0), 0);
    }
    CHECK_EQ_I64(memcmp(permc_value_data(argument, 0), data, sizeof data), 0);
    permc_value_free(argument);
  }
  permc_values_free(results, count);
  permc_compiled_free(p);
}

TEST(runs_often) {
  permc_context *c = load_text(program);
  REQUIRE(c != NULL);
  for (size_t i = 0; i < BACKENDS; i++)
    run_often(c, backends[i]);
  permc_context_free(c);
}

TEST(a_result_is_never_an_argument) {
  static int32_t data[N];
  permc_context *c = load_text(program);
  REQUIRE(c != NULL);
  fill(data, 1);
  permc_value *argument = value_1("i32", N, data);
  for (size_t i = 0; i < BACKENDS; i++) {
    permc_value **results = NULL;
    size_t count = 0;
    permc_compiled *p = permc_compile(c, "same", backends[i], &argument, 1);
    for (int run = 0; p && run < 2; run++)
      CHECK(call_values(p, &argument, 1, &results, &count));
    CHECK(p && count == 1);
    CHECK(count == 1 && permc_value_data(results[0], 0) != permc_value_data(argument, 0));
    CHECK(count == 1 && !memcmp(permc_value_data(results[0], 0), data, sizeof data));
    permc_values_free(results, count);
    permc_compiled_free(p);
  }
  permc_value_free(argument);
  permc_context_free(c);
}

TEST(tuples_and_several_arguments) {
  permc_context *c = load_text(program);
  REQUIRE(c != NULL);
  const int32_t a[] = {1, 2, 3, 4}, y[] = {10, 20, 30, 40};
  const float b[] = {0.5f, 1.5f, 2.5f, 3.5f};
  for (size_t i = 0; i < BACKENDS; i++) {
    permc_value *parts[] = {value_1("i32", 4, a), value_1("f32", 4, b)};
    permc_value *arguments[] = {permc_value_tuple(parts, 2), value_1("i32", 4, y)};
    permc_value **results = NULL;
    size_t count = 0;
    permc_compiled *p = permc_compile(c, "pairs", backends[i], arguments, 2);
    for (int run = 0; p && run < 2; run++) {
      CHECK(call_values(p, arguments, 2, &results, &count));
      CHECK_EQ_U64(count, 1);
    }
    CHECK(count == 1 && permc_value_components(results[0]) == 2);
    CHECK(count == 1 && !memcmp(permc_value_data(results[0], 0), b, sizeof b));
    CHECK(count == 1 && ((const int32_t *)permc_value_data(results[0], 1))[3] == 44);
    permc_values_free(results, count);
    permc_compiled_free(p);
    permc_value_free(arguments[0]);
    permc_value_free(arguments[1]);
  }
  permc_context_free(c);
}

static void check_loops(permc_context *c, const char *entry, permc_value **arguments) {
  permc_value **expected = NULL;
  size_t expected_count = 0;
  CHECK(permc_run(c, entry, "interp", arguments, 3, &expected, &expected_count));
  for (size_t i = 1; i < BACKENDS && expected_count == 2; i++) {
    permc_value **results = NULL;
    size_t count = 0;
    permc_compiled *p = permc_compile(c, entry, backends[i], arguments, 3);
    for (int run = 0; p && run < 2; run++)
      CHECK(call_values(p, arguments, 3, &results, &count));
    for (size_t k = 0; k < 2 && CHECK_EQ_U64(count, 2); k++)
      CHECK(!memcmp(permc_value_data(results[k], 0), permc_value_data(expected[k], 0),
                    N * sizeof(int32_t)));
    permc_values_free(results, count);
    permc_compiled_free(p);
  }
  permc_values_free(expected, expected_count);
}

// Loops whose rounds have one plan: of elements of an argument in turn, with checks in each round;
// of two rounds as one; two loops of equal rounds, where the second one begins with other values.
TEST(loops) {
  static const char text[] =
      "main : [m]i32 -> [k]i32 -> [m]i32 -> ([m]i32, [m]i32)\n"
      "main ps ws xs = let ys = fold (\\y w -> zip_with (+) (gather ps y) (map (* w) y)) xs ws in "
      "(ys, map (sum ys +) xs)\n"
      "swapped : [m]i32 -> [k]i32 -> [m]i32 -> ([m]i32, [m]i32)\n"
      "swapped ps ws xs = iter 25 step (snd t, fst t)\n"
      "  where t = iter 25 step (xs, ps)\n"
      "        step (a, b) = (zip_with (-) (rotate 1 a) (rotate 2 a), replicate m ws[0])\n";
  static int32_t ps[N], xs[N];
  static const int32_t ws[20] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
  permc_context *c = load_text(text);
  REQUIRE(c != NULL);
  fill(xs, 5);
  for (int32_t i = 0; i < N; i++)
    ps[i] = (i * 5 + 3) % N;
  permc_value *arguments[] = {value_1("i32", N, ps), value_1("i32", 20, ws), value_1("i32", N, xs)};
  check_loops(c, "main", arguments);
  check_loops(c, "swapped", arguments);
  for (size_t i = 0; i < 3; i++)
    permc_value_free(arguments[i]);
  permc_context_free(c);
}

TEST(without_arguments) {
  permc_context *c = load_text(program);
  REQUIRE(c != NULL);
  for (size_t i = 0; i < BACKENDS; i++) {
    permc_value **results = NULL;
    size_t count = 0;
    permc_compiled *p = permc_compile(c, "nine", backends[i], NULL, 0);
    CHECK(p && call_values(p, NULL, 0, &results, &count));
    CHECK(count == 1 && *(const int32_t *)permc_value_data(results[0], 0) == 9);
    permc_values_free(results, count);
    permc_compiled_free(p);
  }
  permc_context_free(c);
}

TEST(arguments_of_other_shapes) {
  static int32_t data[N];
  permc_context *c = load_text(program);
  REQUIRE(c != NULL);
  permc_value *like = value_1("i32", N, data), **results = NULL;
  permc_value *others[] = {value_1("i32", N / 2, data), value_1("u32", N, data),
                           value_2("i32", 2, N / 2, data)};
  size_t count = 0;
  permc_compiled *p = permc_compile(c, "main", "cpu", &like, 1);
  REQUIRE(p != NULL);
  CHECK_STR(permc_compiled_backend(p), "cpu");
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    CHECK(call_values(p, &like, 1, &results, &count));
    CHECK(!call_values(p, &others[i], 1, &results, &count));
    CHECK_CONTAINS(call_error.message, "compiled for other types or sizes");
    CHECK(results == NULL && count == 0);
    permc_value_free(others[i]);
  }
  CHECK(!call_values(p, NULL, 0, &results, &count));
  permc_compiled_free(p);
  permc_value_free(like);
  permc_context_free(c);
}

TEST(what_cannot_be_compiled) {
  const int32_t data[3] = {1, 2, 3};
  permc_context *c = load_text(program);
  REQUIRE(c != NULL);
  permc_value *three = value_1("i32", 3, data);
  CHECK(permc_compile(c, "main", NULL, &three, 1) == NULL);
  CHECK_CONTAINS(permc_message(c), "power of two");
  CHECK(permc_compile(c, "main", "no such", &three, 1) == NULL);
  CHECK_CONTAINS(permc_message(c), "no backend 'no such'");
  CHECK(permc_compile(c, "absent", NULL, &three, 1) == NULL);
  CHECK(permc_compile(c, "main", NULL, NULL, 0) == NULL);
  permc_compiled_free(NULL);
  permc_value_free(three);
  permc_context_free(c);
}

TEST(random_at_sizes) {
  permc_context *c = load_text(program);
  REQUIRE(c != NULL);
  permc_value **arguments;
  size_t count;
  const permc_size sizes[] = {{"n", 5}};
  REQUIRE(permc_read_random_at(c, "pairs", sizes, 1, 7, &arguments, &count));
  CHECK_EQ_U64(count, 2);
  CHECK_EQ_U64(permc_value_components(arguments[0]), 2);
  CHECK_STR(permc_value_type(arguments[0], 1), "f32");
  CHECK_EQ_U64(permc_value_dims(arguments[1], 0)[0], 32);
  permc_values_free(arguments, count);
  CHECK(!permc_read_random_at(c, "pairs", NULL, 0, 7, &arguments, &count));
  CHECK_CONTAINS(permc_message(c), "the size 'n' of 'pairs' is not given");
  CHECK(arguments == NULL && count == 0);
  permc_context_free(c);
}

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

// Tiles are far smaller than the array, and its end lies inside one.
static void sort_padded(permc_context *c, const char *backend, uint64_t count) {
  int64_t *data = malloc(count * sizeof *data);
  for (uint64_t i = 0; data && i < count; i++)
    data[i] = i % 5 ? (int64_t)(i * UINT64_C(0x9e3779b97f4a7c15)) : INT64_MAX;
  permc_value **results = NULL, *argument = data ? value_1("i64", count, data) : NULL;
  size_t result_count = 0;
  if (CHECK(argument && permc_run(c, "main", backend, &argument, 1, &results, &result_count))) {
    qsort(data, count, sizeof *data, by_value);
    CHECK(memcmp(permc_value_data(results[0], 0), data, count * sizeof *data) == 0);
    permc_values_free(results, result_count);
  }
  permc_value_free(argument);
  free(data);
}

TEST(padding_over_several_passes) {
  permc_context *c = load_text("main : [m]i64 -> [m]i64\nmain = padded maxval sort\n");
  for (int b = 1; c && b < 3; b++) {
    sort_padded(c, backends[b], (1 << 16) + 1);
    sort_padded(c, backends[b], 100000);
  }
  permc_context_free(c);
}

// Columns in several directions that repeat are a loop in compiled code: registers that change
// places in each round, two types, and what no loop has between them.
static const char repeated[] =
    "main : [2^n]i32 -> [2^n](f32, i32)\n"
    "main xs = iter 60 (column 1 f . column 3 g) (iter 70 (column 2 g . column 4 h) ys)\n"
    "  where ys = [(f32 x, x) | x <- xs]\n"
    "f [(a, i), (b, j)] = [(a * 0.5 + b, i + j), (b * 0.25 - a, i - j)]\n"
    "g [(a, i), (b, j)] = if i <= j then [(a, j), (b, i)] else [(b, i), (a * 0.5, j)]\n"
    "h [x, y] = [y, x]\n";

TEST(repeated_columns) {
  enum { COUNT = 256 };
  permc_context *c = load_text(repeated);
  int32_t keys[COUNT];
  for (size_t i = 0; i < COUNT; i++)
    keys[i] = (int32_t)(i * UINT64_C(0x9e3779b9));
  permc_value *argument = value_1("i32", COUNT, keys), **expected, **results;
  size_t count;
  if (CHECK(permc_run(c, "main", "interp", &argument, 1, &expected, &count)) &&
      CHECK(permc_run(c, "main", "cpu", &argument, 1, &results, &count))) {
    for (size_t part = 0; part < 2; part++)
      CHECK(!memcmp(permc_value_data(expected[0], part), permc_value_data(results[0], part),
                    sizeof keys));
    permc_values_free(results, count);
    permc_values_free(expected, count);
  }
  CHECK_STR(permc_message(c), "");
  permc_value_free(argument);
  permc_context_free(c);
}

// Each two of the floats that the total order is about, to the bit: also which of two NaN it is.
static const char extrema[] =
    "main : [m]f32 -> [m]f32 -> [m]f64 -> [m]f64 -> ([m](f32, f32), [m](f64, f64))\n"
    "main xs ys us vs = (zip_with ends xs ys, zip_with ends us vs)\n"
    "  where ends x y = (if total_le x y then y else x, if total_le x y then x else y)\n";

TEST(extrema_in_the_total_order) {
  enum { KINDS = 14, COUNT = KINDS * KINDS };
  static const uint64_t kinds[KINDS] = {0x0000000000000000, 0x8000000000000000, 0x0000000000000001,
                                        0x8000000000000001, 0x3ff0000000000000, 0xbff0000000000000,
                                        0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
                                        0xfff8000000000000, 0x7ff0000000000001, 0xfff0000000000001,
                                        0x7fffffffffffffff, 0xffffffffffffffff};
  static uint64_t wide[2][COUNT];
  static uint32_t narrow[2][COUNT];
  for (int i = 0; i < COUNT; i++)
    for (int k = 0; k < 2; k++) {
      uint64_t x = wide[k][i] = kinds[k ? i % KINDS : i / KINDS];
      bool special = (x << 1 >> 53) == 0x7ff;
      narrow[k][i] = (uint32_t)(x >> 63) << 31 | (uint32_t)(x & 1) |
                     (special ? UINT32_C(0x7f800000) | (uint32_t)(x >> 29 & 0x7fffff)
                              : (uint32_t)(x >> 32 & 0x3ff00000));
    }
  permc_context *c = load_text(extrema);
  REQUIRE(c != NULL);
  permc_value *arguments[4] = {value_1("f32", COUNT, narrow[0]), value_1("f32", COUNT, narrow[1]),
                               value_1("f64", COUNT, wide[0]), value_1("f64", COUNT, wide[1])};
  permc_value **expected = NULL, **results;
  size_t count = 0;
  CHECK(permc_run(c, "main", "interp", arguments, 4, &expected, &count));
  for (size_t i = 1; i < BACKENDS && count == 2; i++) {
    if (!CHECK(permc_run(c, "main", backends[i], arguments, 4, &results, &count)))
      break;
    for (size_t k = 0; k < 4; k++)
      CHECK(!memcmp(permc_value_data(expected[k / 2], k % 2),
                    permc_value_data(results[k / 2], k % 2), COUNT * (k < 2 ? 4 : 8)));
    permc_values_free(results, count);
  }
  permc_values_free(expected, count);
  for (size_t i = 0; i < 4; i++)
    permc_value_free(arguments[i]);
  permc_context_free(c);
}

// Names of arguments come out with their elements.
TEST(names) {
  permc_context *c = permc_context_new();
  REQUIRE(c && permc_load_text(c, "names", program, strlen(program)));
  static int32_t data[8];
  permc_value **results = NULL;
  size_t count = 0;
  for (int i = 0; i < 6; i++) {
    permc_value *keys = value_1("i32", 8, data);
    CHECK(permc_value_set_name(keys, 0, i < 4 ? "k" : NULL));
    permc_value *parts[2] = {keys, value_1("f32", 8, data)};
    permc_value *arguments[2] = {permc_value_tuple(parts, 2), value_1("i32", 8, data)};
    CHECK_STR(permc_value_name(arguments[0], 0), i < 4 ? "k" : NULL);
    CHECK(permc_value_set_name(arguments[0], 1, i % 2 ? "weight" : ""));
    const char *backend = backends[i % BACKENDS];
    permc_values_free(results, count);
    if (CHECK(i % 3 == 2 ? permc_run_consume(c, "pairs", backend, arguments, 2, &results, &count)
                         : permc_run(c, "pairs", backend, arguments, 2, &results, &count))) {
      CHECK_STR(permc_value_name(results[0], 0), i % 2 ? "weight" : NULL);
      CHECK_STR(permc_value_name(results[0], 1), NULL);  // a + y
    }
    for (int k = 0; k < 2; k++)
      permc_value_free(arguments[k]);
  }
  permc_values_free(results, count);
  permc_context_free(c);
}

TEST_MAIN()
