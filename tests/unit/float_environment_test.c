// The rounding mode of the caller, and whether its thread flushes subnormal numbers, change no
// result of any backend, whatever thread computes it; and the caller finds them as they were.
#include "core/scalar/scalar.h"
#include "tests/unit/api.h"

#include <fcntl.h>
#include <fenv.h>
#include <unistd.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

// Divisions, conversions, subnormal numbers, f16, functions of libm, constants of the program,
// text.
static const char program[] =
    "main : [m]f64 -> [m]int -> ([m]f64, [m]f64, [m]f32, [m]f16, [m]f64, [m]f32, [m]f64, f64)\n"
    "main xs ks = (map (\\x -> x / 3 + 0.1) xs, map (\\x -> x * 1e-310) xs, map f32 xs,\n"
    "              map (\\x -> f16 (x / 7)) xs, map (\\x -> exp x + sqrt x + sin x) xs,\n"
    "              map (\\k -> f32 k * 1e-40) ks, map (\\x -> round x + floor x) xs, 1 / 3)\n";

enum { LENGTH = 1 << 16, MODES = 4 };
static const int modes[MODES] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};

static unsigned flush_state(void) {
#ifdef __x86_64__
  return _mm_getcsr() & 0x8040;
#else
  return 0;
#endif
}

// Sets the mode, and on x86 FTZ and DAZ.
static void set_environment(int mode, bool flush) {
  fesetround(mode);
#ifdef __x86_64__
  _mm_setcsr((_mm_getcsr() & ~0x8040u) | (flush ? 0x8040u : 0));
#endif
}

typedef struct run_outcome {
  permc_value **results;
  size_t count;
  char text[256];  // what is written of a number that was read
} run_outcome;

static void write_number(permc_context *c, run_outcome *o) {
  permc_value **read = NULL;
  size_t count;
  char path[] = "/tmp/permc_float_XXXXXX";
  int file = mkstemp(path);
  const char number[] = "1.1f16";
  if (CHECK(file >= 0) &&
      CHECK(permc_read_bytes(c, "-e", "number", number, strlen(number), &read, &count)) &&
      CHECK(permc_write_file(c, path, read[0]))) {
    close(file);
    file = open(path, O_RDONLY);
    CHECK(pread(file, o->text, sizeof o->text - 1, 0) > 0);
  }
  permc_values_free(read, count);
  close(file);
  unlink(path);
}

static run_outcome run_in(const char *backend, int mode, bool flush) {
  run_outcome o = {0};
  permc_context *c = load_text(program);
  double *xs = malloc(LENGTH * sizeof *xs);
  int64_t *ks = malloc(LENGTH * sizeof *ks);
  for (int64_t i = 0; i < LENGTH; i++) {
    ks[i] = (i + 1) * INT64_C(123456789123);
    xs[i] = (double)(i + 1) / 8;
  }
  permc_value *arguments[2] = {value_1("f64", LENGTH, xs), value_1("i64", LENGTH, ks)};
  if (c && CHECK(permc_define(c, "\\x -> x + 0f16"))) {
    permc_use_threads(c, 2);
    set_environment(mode, flush);
    unsigned flushed = flush_state();
    CHECK(permc_run(c, "main", backend, arguments, 2, &o.results, &o.count));
    write_number(c, &o);
    CHECK(fegetround() == mode);
    CHECK(flush_state() == flushed);
    set_environment(FE_TONEAREST, false);
  }
  permc_value_free(arguments[0]);
  permc_value_free(arguments[1]);
  permc_context_free(c);
  free(xs);
  free(ks);
  return o;
}

static void check_same(const run_outcome *a, const run_outcome *b, const char *backend, int mode) {
  CHECK_EQ_U64(a->count, b->count);
  CHECK_STR(a->text, b->text);
  for (size_t i = 0; i < a->count && i < b->count; i++) {
    size_t size = scalar_types[scalar_named(permc_value_type(a->results[i], 0), 3)].size;
    size_t bytes = permc_value_rank(a->results[i], 0) ? LENGTH * size : size;
    if (!CHECK(
            !memcmp(permc_value_data(a->results[i], 0), permc_value_data(b->results[i], 0), bytes)))
      printf("  result %zu on %s in mode %d\n", i, backend, mode);
  }
}

// The first runs start the threads of the pool, which would inherit the environment.
TEST(any_environment) {
  static const char *const backends[] = {"portable", "cpu", "interp"};
  for (size_t b = 0; b < sizeof backends / sizeof *backends; b++) {
    run_outcome found[MODES];
    for (size_t m = 0; m < MODES; m++)
      found[m] = run_in(backends[b], modes[m], true);
    run_outcome usual = run_in(backends[b], FE_TONEAREST, false);
    for (size_t m = 0; m < MODES; m++) {
      check_same(&found[m], &usual, backends[b], modes[m]);
      permc_values_free(found[m].results, found[m].count);
    }
    permc_values_free(usual.results, usual.count);
  }
}

TEST_MAIN()
