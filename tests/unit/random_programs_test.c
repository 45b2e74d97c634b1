// Random programs against a literal evaluator (tests/literal). permc works on all instances of a
// nest in one batch, forces bindings late and replays calls that it has seen before; all of that
// must make no difference. On a failure the program is printed.
#include "tests/literal/literal.h"
#include "tests/unit/api.h"

// The expected results of `both`, rows of which are those of `alone` and `rows`.
typedef struct expected {
  int64_t *alone, *rows, *shifted, *mixed;
} expected;

// A program, and its evaluations so far: to give up where it takes too long.
typedef struct subject {
  literal_program *program;
  size_t work;
} subject;

static void last_function(subject *p, int64_t s, const int64_t *row, size_t count, int64_t *to) {
  int64_t *out = literal_program_run(p->program, s, row, count, &p->work);
  memcpy(to, out, count * sizeof *to);
  free(out);
}

static expected expect(subject *p, int64_t s, size_t rows, size_t count, const int64_t *in,
                       const int64_t *rows_in) {
  size_t size = (rows * count + 1) * sizeof(int64_t);
  expected x = {malloc(count * sizeof(int64_t)), malloc(size), malloc(size), malloc(size)};
  last_function(p, s, in, count, x.alone);
  for (size_t i = 0; i < rows; i++) {
    const int64_t *row = rows_in + i * count;
    int64_t *mixed = x.mixed + i * count;
    last_function(p, s, row, count, x.rows + i * count);
    last_function(p, literal_add(s, (int64_t)i), x.rows + i * count, count, x.shifted + i * count);
    last_function(p, row[0], row, count, mixed);
    for (size_t k = 0; k < count; k++)
      mixed[k] = literal_add(in[k], mixed[k]);
    last_function(p, in[0], mixed, count, mixed);
  }
  return x;
}

// Static arithmetic may leave the range of its type, and a program may be too large: its own fault.
static outcome run_or_limit(permc_context *c, const char *entry, permc_value **in, size_t count,
                            bool *good) {
  outcome out = {NULL, 0};
  *good = permc_run(c, entry, "interp", in, count, &out.values, &out.count);
  if (!*good && strstr(permc_message(c), "overflows") == NULL &&
      strstr(permc_message(c), "more than") == NULL)
    CHECK_STR(permc_message(c), "");
  return out;
}

static void check_entry(permc_context *c, const char *entry, permc_value **in, size_t arguments,
                        size_t results, int64_t *const *wanted, const uint32_t *ranks, size_t rows,
                        size_t columns) {
  bool good;
  outcome out = run_or_limit(c, entry, in, arguments, &good);
  if (good && CHECK_EQ_U64(out.count, results))
    for (size_t i = 0; i < results; i++) {
      uint64_t dims[2] = {rows, columns};
      check_value(out.values[i], 0, "i64", ranks[i], dims + (2 - ranks[i]), wanted[i]);
    }
  permc_values_free(out.values, out.count);
}

static void check_program(permc_context *c, subject *p, int bits, size_t rows) {
  size_t count = (size_t)1 << bits;
  int64_t s = (int64_t)random_below(1000), *in = malloc(count * sizeof *in);
  int64_t *rows_in = malloc((rows * count + 1) * sizeof *rows_in);
  for (size_t i = 0; i < count; i++)
    in[i] = (int64_t)random_below(200) - 100;
  for (size_t i = 0; i < rows * count; i++)
    rows_in[i] = (int64_t)random_below(200) - 100;
  expected x = expect(p, s, rows, count, in, rows_in);
  permc_value *a = value_0("i64", &s), *b = value_1("i64", count, in);
  permc_value *d = value_2("i64", rows, count, rows_in);
  check_entry(c, "alone", (permc_value *[]){a, b}, 2, 1, (int64_t *[]){x.alone}, (uint32_t[]){1},
              rows, count);
  check_entry(c, "rows", (permc_value *[]){a, d}, 2, 2, (int64_t *[]){x.rows, x.shifted},
              (uint32_t[]){2, 2}, rows, count);
  check_entry(c, "both", (permc_value *[]){a, b, d}, 3, 3, (int64_t *[]){x.alone, x.rows, x.mixed},
              (uint32_t[]){1, 2, 2}, rows, count);
  permc_value_free(a);
  permc_value_free(b);
  permc_value_free(d);
  free(x.alone);
  free(x.rows);
  free(x.shifted);
  free(x.mixed);
  free(in);
  free(rows_in);
}

static void check_random_program(uint64_t seed, int size) {
  random_state = seed;
  subject p = {literal_program_new(&random_state, size), 0};
  REQUIRE(p.program != NULL);
  const char *program = literal_program_text(p.program);
  size_t failures = test_state.failures;
  static const size_t row_counts[] = {0, 1, 3};
  permc_context *c = load_text(program);
  for (int bits = 0; c != NULL && bits <= 7 && p.work < 30000; bits++)
    check_program(c, &p, bits, row_counts[(size_t)bits % 3]);
  permc_context_free(c);
  if (test_state.failures > failures && test_state.failures <= TEST_FAILURES_SHOWN)
    printf("---- seed %" PRIu64 ", size %d\n%s----\n", seed, size, program);
  literal_program_free(p.program);
}

// Other programs than usual: PERMC_SEED=2 random_programs_test
static void check_programs(uint64_t first, unsigned count, int size) {
  const char *other = getenv("PERMC_SEED");
  if (other != NULL)
    first += strtoull(other, NULL, 10) * 1000000;
  for (uint64_t seed = first;
       seed < first + test_amount(count, 100 * count) && test_state.failures == 0; seed++)
    check_random_program(seed, size);
}

TEST(tiny_programs) { check_programs(0, 150, 1); }

TEST(small_programs) { check_programs(100000, 200, 4); }

TEST(middling_programs) { check_programs(200000, 100, 10); }

TEST(large_programs) { check_programs(300000, 100, 20); }

TEST_MAIN()
