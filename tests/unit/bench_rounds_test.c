// What permc bench measures with: statistics, rounds, copies. No test here looks at a clock.
#include "runtime/measure/measure.h"
#include "tests/test.h"

#include <math.h>

// ---- statistics ---------------------------------------------------------------------------------

// The probability that the interval with that rank does not hold the median.
static double miss(size_t count, size_t rank) {
  double chosen = pow(0.5, (double)count), sum = 0;
  for (size_t k = 0; k < rank; k++) {
    sum += chosen;
    chosen *= (double)(count - k) / (double)(k + 1);
  }
  return 2 * sum;
}

TEST(ranks_of_the_interval) {
  static const size_t table[][2] = {// Gibbons and Chakraborti, table G: 95 %
                                    {5, 0},   {6, 1},   {8, 1},   {9, 2},   {10, 2},  {12, 3},
                                    {15, 4},  {17, 5},  {20, 6},  {25, 8},  {30, 10}, {40, 14},
                                    {50, 18}, {60, 22}, {80, 31}, {100, 40}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    CHECK_EQ_U64(bench_interval_rank(table[i][0]), table[i][1]);
}

TEST(ranks_are_the_largest_that_serve) {
  for (size_t count = BENCH_LEAST_RUNS; count <= BENCH_MOST_RUNS; count++) {
    size_t rank = bench_interval_rank(count);
    CHECK(miss(count, rank) <= 0.05);
    CHECK(miss(count, rank + 1) > 0.05);
  }
}

TEST(figures) {
  double samples[] = {9, 1, 8, 2, 7, 3, 6, 4, 5};
  bench_figures f = bench_figures_of(samples, 9);
  CHECK_EQ_U64(f.runs, 9);
  CHECK(f.median == 5 && f.least == 1 && f.low == 2 && f.high == 8);
  CHECK(bench_spread(&f) == 3.0 / 5);
}

TEST(figures_of_few_samples) {
  bench_figures none = bench_figures_of(NULL, 0);
  CHECK(none.runs == 0 && none.median == 0 && bench_spread(&none) == 0);
  double samples[] = {4, 2, 1, 3};
  bench_figures f = bench_figures_of(samples, 4);
  CHECK(f.median == 2.5 && f.low == 1 && f.high == 4);
}

// ---- rounds -------------------------------------------------------------------------------------

typedef struct clockwork {
  size_t turns, ends_after;
  double seconds, drift;
} clockwork;

static bool tick(void *with, double *seconds) {
  clockwork *c = with;
  c->turns++;
  *seconds = c->seconds + c->drift * (double)c->turns;
  return c->turns != c->ends_after;
}

TEST(rounds_end_when_the_median_is_known) {
  clockwork a = {.seconds = 2}, b = {.seconds = 8};
  bench_contestant both[] = {{.name = "a", .turn = tick, .with = &a},
                             {.name = "b", .turn = tick, .with = &b}};
  bench_limits limits = {.warm_up = 3, .least = 7, .most = 50, .spread = 0.01, .seconds = 3600};
  REQUIRE(bench_measure(both, 2, &limits));
  CHECK_EQ_U64(a.turns, 10);
  CHECK_EQ_U64(b.turns, 10);
  CHECK_EQ_U64(both[0].figures.runs, 7);
  CHECK(both[0].figures.median == 2 && both[1].figures.median == 8);
  CHECK(both[0].ratio.median == 1 && both[1].ratio.median == 0.25);
}

TEST(rounds_have_an_end) {
  clockwork a = {.seconds = 1, .drift = 1};
  bench_contestant one = {.name = "a", .turn = tick, .with = &a};
  bench_limits limits = {.least = 5, .most = 20, .spread = 0.0001, .seconds = 3600};
  REQUIRE(bench_measure(&one, 1, &limits));
  CHECK_EQ_U64(a.turns, 20);
  CHECK(one.samples[0] == 2 && one.samples[19] == 21);
  limits.seconds = 0;
  a = (clockwork){.seconds = 1, .drift = 1};
  REQUIRE(bench_measure(&one, 1, &limits));
  CHECK_EQ_U64(a.turns, 5);
}

TEST(ratios_are_taken_round_by_round) {
  clockwork a = {.seconds = 10, .drift = 10}, b = {.seconds = 5, .drift = 5};
  bench_contestant both[] = {{.name = "a", .turn = tick, .with = &a},
                             {.name = "b", .turn = tick, .with = &b}};
  bench_limits limits = {.least = 9, .most = 9};
  REQUIRE(bench_measure(both, 2, &limits));
  CHECK(both[1].ratio.least == 2 && both[1].ratio.high == 2);  // although both get slower
}

TEST(a_turn_that_fails_ends_it) {
  clockwork a = {.seconds = 1, .ends_after = 4};
  bench_contestant one = {.name = "a", .turn = tick, .with = &a};
  bench_limits limits = {.least = 9, .most = 9};
  CHECK(!bench_measure(&one, 1, &limits));
  CHECK_EQ_U64(a.turns, 4);
}

TEST(copies) {
  bench_copy c;
  double seconds = 0;
  for (uint64_t bytes = 1; bytes < UINT64_C(1) << 23; bytes = 5 * bytes + 3) {
    REQUIRE(bench_copy_open(&c, bytes, 2));
    CHECK(bench_copy_turn(&c, &seconds));
    CHECK_EQ_I64(memcmp(c.from, c.to, (size_t)bytes), 0);
    bench_copy_close(&c);
  }
}

TEST_MAIN()
