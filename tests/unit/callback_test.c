// permc_define_extern: C functions of the caller as `extern` functions, on every backend of a
// processor.
#include "api.h"

#include <complex.h>
#include <pthread.h>
#include <stdatomic.h>

static const char *const backends[] = {"interp", "portable", "cpu", "auto"};
enum { BACKENDS = sizeof backends / sizeof *backends };

#define FUNCTION(f) ((permc_function *)(f))
#define TWICE "extern \"nowhere\" twice : i32 -> i32\nmain : [m]i32 -> [m]i32\nmain = map twice\n"

// ---- functions ---------------------------------------------------------------------------------

static int32_t twice(int32_t x) { return 2 * x; }
static int32_t thrice(int32_t x) { return 3 * x; }

typedef struct scale {
  double factor;
  atomic_uint calls;
} scale;

static double scaled(void *with, double x, int32_t k, bool negative) {
  scale *s = with;
  atomic_fetch_add(&s->calls, 1);
  return (negative ? -1 : 1) * s->factor * x + k;
}

static float complex turned(float complex z) { return z * I; }
static int8_t narrow(uint8_t a, int8_t b) { return (int8_t)(a / 2 + b); }
static double complex sum_of_nine(double complex a, float b, int8_t c, uint8_t d, int16_t e,
                                  uint16_t f, int64_t g, uint64_t h, uint32_t i) {
  return a + b + c + d + e + f + (double)g + (double)h + i;
}

// ---- results -----------------------------------------------------------------------------------

static permc_context *define(const char *name, const char *type, permc_function *function,
                             void *with, const char *expression) {
  permc_context *c = permc_context_new();
  CHECK(permc_define_extern(c, name, type, function, with));
  CHECK(permc_define(c, expression));
  CHECK_STR(permc_message(c), "");
  return c;
}

static void check_result(permc_context *c, const char *entry, permc_value *const *in, size_t count,
                         const char *type, uint64_t length, const void *wanted) {
  for (size_t i = 0; i < BACKENDS; i++) {
    permc_value **results = NULL;
    size_t results_count = 0;
    if (CHECK(permc_run(c, entry, backends[i], in, count, &results, &results_count)))
      check_1(results[0], 0, type, length, wanted);
    CHECK_STR(permc_message(c), "");
    permc_values_free(results, results_count);
  }
}

TEST(declared_by_the_program) {
  permc_context *c = permc_context_new();
  permc_value *in = permc_value_new("i32", 1, &(uint64_t){3}, (int32_t[]){1, 2, 3});
  CHECK(permc_define_extern(c, "twice", NULL, FUNCTION(twice), NULL));
  CHECK(permc_load_text(c, "text", TWICE, strlen(TWICE)));
  check_result(c, "main", &in, 1, "i32", 3, (int32_t[]){2, 4, 6});
  permc_value **results = NULL;
  size_t count = 0;
  permc_use_untrusted(c);  // what the caller gives is the caller's affair
  CHECK(permc_load_text(c, "text", TWICE, strlen(TWICE)));
  CHECK(permc_run(c, "main", "portable", &in, 1, &results, &count));
  permc_values_free(results, count);
  permc_value_free(in);
  permc_context_free(c);
}

TEST(with_data_and_several_arguments) {
  scale s = {.factor = 2.5};
  uint64_t n = 4;
  permc_value *in[3] = {permc_value_new("f64", 1, &n, (double[]){1, 2, 3, 4}),
                        permc_value_new("i32", 1, &n, (int32_t[]){10, 20, -30, 40}),
                        permc_value_new("bool", 1, &n, (bool[]){false, true, false, true})};
  permc_context *c =
      define("scaled", " f64->i32 ->  bool -> f64 ", FUNCTION(scaled), &s,
             "\\xs ks bs -> map (\\(x, (k, b)) -> scaled x k b) (zip xs (zip ks bs))");
  check_result(c, "-e", in, 3, "f64", n, (double[]){12.5, 15, -22.5, 30});
  CHECK(atomic_load(&s.calls) >= BACKENDS * n);
  for (int i = 0; i < 3; i++)
    permc_value_free(in[i]);
  permc_context_free(c);
}

TEST(types) {
  uint64_t n = 2;
  permc_value *z = permc_value_new("c64", 1, &n, (float complex[]){1 + 2 * I, 3 - 1 * I});
  permc_context *c = define("turned", "c64 -> c64", FUNCTION(turned), NULL, "map turned");
  check_result(c, "-e", &z, 1, "c64", n, (float complex[]){-2 + 1 * I, 1 + 3 * I});
  permc_value_free(z);
  permc_context_free(c);

  permc_value *a = permc_value_new("u8", 1, &n, (uint8_t[]){200, 9});
  c = define("narrow", "u8 -> i8 -> i8", FUNCTION(narrow), NULL, "map (\\a -> narrow a (-1i8))");
  check_result(c, "-e", &a, 1, "i8", n, (int8_t[]){99, 3});
  permc_value_free(a);
  permc_context_free(c);

  permc_value *x = permc_value_new("c128", 1, &n, (double complex[]){I, 1});
  c = define("sum_of_nine", "c128 -> f32 -> i8 -> u8 -> i16 -> u16 -> i64 -> u64 -> u32 -> c128",
             FUNCTION(sum_of_nine), NULL,
             "map (\\z -> sum_of_nine z 0.5 (-1i8) 2u8 (-300i16) 400u16 (-5000) 6000u64 7u32)");
  check_result(c, "-e", &x, 1, "c128", n, (double complex[]){1108.5 + I, 1109.5});
  permc_value_free(x);
  permc_context_free(c);
}

// A compiled program keeps the function that it was loaded with.
TEST(a_later_function_is_for_later_programs) {
  permc_context *c = define("twice", "i32 -> i32", FUNCTION(twice), NULL, "map twice");
  permc_value *in = permc_value_new("i32", 1, &(uint64_t){2}, (int32_t[]){1, 2});
  for (size_t i = 0; i < BACKENDS; i++) {
    CHECK(permc_define_extern(c, "twice", "i32 -> i32", FUNCTION(twice), NULL));
    CHECK(permc_load_text(c, "text", TWICE, strlen(TWICE)));
    permc_compiled *p = permc_compile(c, "main", backends[i], &in, 1);
    CHECK(permc_define_extern(c, "twice", "i32 -> i32", FUNCTION(thrice), NULL));
    permc_value **out = NULL;
    size_t count = 0;
    if (CHECK(p != NULL) && CHECK((out = permc_results_new(p, &count)) != NULL) &&
        CHECK_EQ_U64(permc_call(p, &in, 1, out, 1, NULL, &call_error), PERMC_OK))
      check_1(out[0], 0, "i32", 2, (int32_t[]){2, 4});
    permc_values_free(out, count);
    permc_compiled_free(p);
    CHECK(permc_load_text(c, "text", TWICE, strlen(TWICE)));
    check_result(c, "main", &in, 1, "i32", 2, (int32_t[]){3, 6});
  }
  permc_value_free(in);
  permc_context_free(c);
}

// ---- what is refused ---------------------------------------------------------------------------

TEST(refused) {
  static const struct {
    const char *name, *type, *part;
    permc_function *function;
  } rows[] = {
      {NULL, NULL, "needs a name", FUNCTION(twice)},
      {"", NULL, "needs a name", FUNCTION(twice)},
      {"2f", NULL, "needs a name", FUNCTION(twice)},
      {"f : i32 -> i32\nmain", NULL, "needs a name", FUNCTION(twice)},
      {"f", NULL, "an address", NULL},
      {"f", "i32", "cannot be the type of the C function 'f'", FUNCTION(twice)},
      {"f", "", "cannot be the type", FUNCTION(twice)},
      {"f", "i32 ->", "cannot be the type", FUNCTION(twice)},
      {"f", "i32 -> a", "cannot be the type", FUNCTION(twice)},
      {"f", "[4]i32 -> i32", "cannot be the type", FUNCTION(twice)},
      {"f", "f16 -> f16", "cannot be the type", FUNCTION(twice)},
      {"f", "i32 -> i32 i32", "cannot be the type", FUNCTION(twice)},
  };
  permc_context *c = permc_context_new();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    CHECK(!permc_define_extern(c, rows[i].name, rows[i].type, rows[i].function, NULL));
    CHECK_CONTAINS(permc_message(c), rows[i].part);
    CHECK_EQ_U64(permc_last_code(c), PERMC_ERROR_ARGUMENT);
  }
  CHECK(permc_define(c, "sort"));
  permc_context_free(c);
}

TEST(another_type_than_declared) {
  permc_context *c = permc_context_new();
  CHECK(permc_define_extern(c, "twice", "i32 -> i64", FUNCTION(twice), NULL));
  CHECK(permc_load_text(c, "text", TWICE, strlen(TWICE)));
  CHECK(!permc_compile_types(c, "main", "portable", "[4]i32"));
  CHECK_CONTAINS(permc_message(c), "text:3:");
  CHECK_CONTAINS(permc_message(c),
                 "'twice' is declared as i32 -> i32, and the function that is given for it is "
                 "i32 -> i64");
  permc_context_free(c);
}

TEST(a_gpu_has_no_c_functions) {
  permc_context *c = define("twice", "i32 -> i32", FUNCTION(twice), NULL, "map twice");
  permc_value *in = permc_value_new("i32", 1, &(uint64_t){4}, (int32_t[]){1, 2, 3, 4});
  permc_value **results = NULL;
  size_t count = 0;
  CHECK(!permc_run(c, "-e", "cuda", &in, 1, &results, &count));
  CHECK_CONTAINS(permc_message(c), "cuda");
  check_result(c, "-e", &in, 1, "i32", 4, (int32_t[]){2, 4, 6, 8});
  permc_value_free(in);
  permc_context_free(c);
}

// ---- threads -----------------------------------------------------------------------------------

enum { THREADS = 4, LENGTH = 64 };

typedef struct caller {
  const permc_compiled *compiled;
  double first;
  pthread_t thread;
  bool good;
} caller;

static void *call_often(void *with) {
  caller *t = with;
  double in[LENGTH], out[LENGTH];
  uint64_t n = LENGTH;
  permc_memory from = {.type = "f64", .rank = 1, .dims = &n, .data = in, .device = PERMC_HOST};
  permc_memory to = from;
  to.data = out;
  permc_value *x = permc_value_borrow(&from, NULL), *y = permc_value_borrow(&to, NULL);
  t->good = x && y;
  for (int i = 0; i < LENGTH; i++)
    in[i] = t->first + i;
  for (int run = 0; run < 50 && t->good; run++) {
    t->good = permc_call(t->compiled, &x, 1, &y, 1, NULL, NULL) == PERMC_OK;
    for (int i = 0; i < LENGTH; i++)
      t->good = t->good && out[i] == 2 * in[i] + 1;
  }
  permc_value_free(x);
  permc_value_free(y);
  return NULL;
}

TEST(threads) {
  for (size_t i = 0; i < BACKENDS; i++) {
    scale s = {.factor = 2};
    permc_context *c = define("scaled", "f64 -> i32 -> bool -> f64", FUNCTION(scaled), &s,
                              "map (\\x -> scaled x 1i32 false)");
    permc_compiled *p = permc_compile_types(c, "-e", backends[i], "[64]f64");
    REQUIRE(p != NULL);
    caller all[THREADS];
    for (int k = 0; k < THREADS; k++) {
      all[k] = (caller){.compiled = p, .first = 1000 * k};
      REQUIRE(pthread_create(&all[k].thread, NULL, call_often, &all[k]) == 0);
    }
    for (int k = 0; k < THREADS; k++) {
      pthread_join(all[k].thread, NULL);
      CHECK(all[k].good);
    }
    CHECK(atomic_load(&s.calls) >= THREADS * 50 * LENGTH);
    permc_compiled_free(p);
    permc_context_free(c);
  }
}

TEST_MAIN()
