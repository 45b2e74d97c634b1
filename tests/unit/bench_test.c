// What permc bench rests on: statistics, rounds, checks of results, reports, plots. No test here
// looks at a clock.
#include "core/permutation/permutation.h"
#include "fusion/plan/plan.h"
#include "kernels/hmm/algorithm.h"
#include "runtime/measure/measure.h"
#include "tests/test.h"
#include "tool/bench/bench.h"
#include "tool/bench/bmmc_figures.h"
#include "tool/bench/hmm_figures.h"
#include "tool/bench/lengths.h"
#include "tool/bench/permutation.h"
#include "tool/bench/report.h"
#include "tool/bench/suites.h"
#include "tool/reports/chart.h"
#include "tool/reports/json.h"

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

// ---- suites and checks --------------------------------------------------------------------------

static void check_case(const bench_case *c) {
  CHECK(c->name[0] && c->expression[0] && c->types[0] == '[');
  CHECK(!strchr(c->name, '$') && !strchr(c->types, '$') && !strchr(c->beside_types, '$'));
  CHECK(c->elements > 0 && c->x > 0);
  CHECK(strlen(c->series) < sizeof((bench_row *)0)->series);
  for (int i = 0; i < BENCH_PEERS; i++) {
    CHECK(!strchr(c->peers[i].arguments, '$'));
    CHECK(strlen(c->peers[i].arguments) + 1 < sizeof c->peers[i].arguments);
  }
}

TEST(suites_have_cases) {
  for (size_t i = 0; bench_suite_at(i); i++)
    for (int device = 0; device < 2; device++) {
      bench_case *cases;
      size_t count = bench_suite_cases(bench_suite_at(i)->name, 4 * (unsigned)device, &cases);
      CHECK(count > 0 || (!device && (strcmp(bench_suite_at(i)->name, "hmm") == 0 ||
                                      strcmp(bench_suite_at(i)->name, "links") == 0)));
      for (size_t k = 0; k < count; k++) {
        check_case(&cases[k]);
        CHECK(device || !cases[k].gpu_only);
        for (size_t j = 0; j < k; j++)
          CHECK(strcmp(cases[j].name, cases[k].name) != 0);
      }
      bench_cases_free(cases, count);
    }
  CHECK(bench_suite_named("bmmc") && !bench_suite_named("nothing"));
}

static const bench_case *find_case(const bench_case *cases, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(cases[i].name, name) == 0)
      return &cases[i];
  return NULL;
}

TEST(suites_for_a_gpu) {
  static const struct {
    const char *suite, *name, *types, *expression, *peer, *arguments, *second;
    bool everywhere, gpu_only;
  } table[] = {
      {"sort", "sort u32 2^26", "[67108864]u32", "sort", "cub", "--count 67108864 --type u32",
       "cccl", true, false},
      {"sort", "sort f32 2^10", "[1024]f32", "sort", "cub", "--count 1024 --type f32", "cccl",
       false, false},
      {"sort", "sort (u32, u32) 2^12", "[4096](u32, u32)", "sort_on fst", "cub",
       "--count 4096 --type u32pair", "cccl", false, false},
      {"rows", "sort rows of 2^10 f32", "[16384][1024]f32", "map sort", "cub",
       "--count 16777216 --row 1024 --type f32", "torch", false, false},
      {"rows", "sort rows of 2^10 (u32, u32)", "[16384][1024](u32, u32)", "map (sort_on fst)",
       "cub", "--count 16777216 --row 1024 --type u32pair", NULL, false, false},
      {"ragged", "zipf rows of 2^10 u32", "[16385]i64 [16777216]u32", "sort_ragged", "cub",
       "--count 16777216 --row 1024 --lengths zipf --type u32", NULL, true, false},
      {"bmmc", "transpose u32 2^30", "[32768][32768]u32", "transpose", "cuda_memcpy",
       "--count 1073741824 --width 4", "torch", false, true},
      {"bmmc", "bit reversal (u32, u32) 2^28", "[268435456](u32, u32)", "bitrev", "cuda_memcpy",
       "--count 268435456 --width 8", "torch", false, true},
      {"padded", "padded sort of 10^7", "[10000000]u32", "padded maxval sort", NULL, NULL, NULL,
       true, false},
      {"paper", "the paper's sorter u32 2^14", "[16384]u32",
       "\\xs -> paper_sort (log2 (length xs)) xs", NULL, NULL, NULL, true, false},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    bench_case *cases, *others;
    size_t count = bench_suite_cases(table[i].suite, 1, &cases);
    size_t other_count = bench_suite_cases(table[i].suite, 0, &others);
    const bench_case *c = find_case(cases, count, table[i].name);
    if (CHECK(c != NULL)) {
      CHECK_STR(c->types, table[i].types);
      CHECK_STR(c->expression, table[i].expression);
      CHECK(c->gpu_only == table[i].gpu_only);
      CHECK_EQ_U64(c->bytes, c->elements * (strstr(c->types, "(u32, u32)") ? 8 : 4));
      CHECK_STR(c->peers[0].name ? c->peers[0].name : "", table[i].peer ? table[i].peer : "");
      CHECK_STR(c->peers[0].arguments, table[i].arguments ? table[i].arguments : "");
      CHECK_STR(c->peers[1].name ? c->peers[1].name : "", table[i].second ? table[i].second : "");
    }
    CHECK(!find_case(others, other_count, table[i].name) == !table[i].everywhere);
    bench_cases_free(cases, count);
    bench_cases_free(others, other_count);
  }
}

// Sizes are those of one GPU; random maps differ.
TEST(suites_for_several_gpus) {
  bench_case *cases[2];
  size_t count = bench_suite_cases("links", 1, &cases[0]);
  CHECK_EQ_U64(bench_suite_cases("links", 4, &cases[1]), count);
  const bench_case *one = find_case(cases[0], count, "random BMMC 0 u32 2^28"),
                   *of_four = find_case(cases[1], count, "random BMMC 0 u32 2^30"),
                   *next = find_case(cases[1], count, "random BMMC 1 u32 2^30");
  if (CHECK(one && of_four && next)) {
    CHECK_STR(one->types, "[268435456]u32");
    CHECK_STR(of_four->types, "[1073741824]u32");
    CHECK(!one->peers[0].name && strcmp(of_four->peers[1].name, "nccl") == 0);
    CHECK_STR(of_four->peers[1].arguments,
              "--count 1073741824 --row 268435456 --algorithm alltoall");
    CHECK(!f2_affine_equal(of_four->map, next->map));
  }
  for (int i = 0; i < 2; i++)
    bench_cases_free(cases[i], count);
}

// Each strategy that moves elements has rows of its own; the paper has no iterations for any
// matrix.
TEST(suites_by_strategy) {
  static const char *const permutations[] = {"bit reversal", "random BPC", "random BMMC"};
  bench_case *cases, *others;
  size_t count = bench_suite_cases("bmmc", 1, &cases), named = 0, expected = 0;
  size_t other_count = bench_suite_cases("bmmc", 0, &others);
  for (size_t s = 0; plan_strategy_at(s); s++)
    for (int p = 0; p < 3 && plan_strategy_at(s)->moves; p++)
      for (int n = 20; n <= 30; n += 2) {
        const char *strategy = plan_strategy_at(s)->name;
        char name[64], like[64];
        snprintf(name, sizeof name, "%s u32 2^%d by %s", permutations[p], n, strategy);
        snprintf(like, sizeof like, "%s u32 2^%d", permutations[p], n);
        const bench_case *c = find_case(cases, count, name), *plain = find_case(cases, count, like);
        if (p == 2 && !strcmp(strategy, "tile+banks+iters")) {
          CHECK(!c);
          continue;
        }
        expected++;
        if (!CHECK(c && plain))
          continue;
        CHECK_STR(c->strategy, strategy);
        CHECK(!plain->strategy && c->gpu_only && !c->peers[0].name);
        CHECK_STR(c->types, plain->types);
        CHECK_STR(c->expression, plain->expression);
        CHECK(c->property == BENCH_MOVED && f2_affine_equal(c->map, plain->map));
      }
  for (size_t i = 0; i < count; i++)
    named += cases[i].strategy != NULL;
  CHECK_EQ_U64(named, expected);
  for (size_t i = 0; i < other_count; i++)
    CHECK(!others[i].strategy);
  bench_cases_free(cases, count);
  bench_cases_free(others, other_count);
}

TEST(peers_elsewhere) {
  static const char *const table[][5] = {
      {"sort", "sort u32 2^20", "std_sort", "--count 1048576", "x86_simd_sort"},
      {"rows", "sort rows of 2^5 u32", "std_sort", "--count 16777216 --row 32", "x86_simd_sort"},
      {"bmmc", "bit reversal u32 2^20", "memcpy", "--count 1048576 --width 4", "bit_reversal"},
      {"bmmc", "random BMMC c128 2^24", "memcpy", "--count 16777216 --width 16", NULL},
      {"fft", "fft c64 2^10", "fftw", "--count 1024", NULL}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    bench_case *cases;
    size_t count = bench_suite_cases(table[i][0], 0, &cases);
    const bench_case *c = find_case(cases, count, table[i][1]);
    if (CHECK(c != NULL)) {
      CHECK_STR(c->peers[0].name, table[i][2]);
      CHECK_STR(c->peers[0].arguments, table[i][3]);
      CHECK_STR(c->peers[1].name ? c->peers[1].name : "", table[i][4] ? table[i][4] : "");
    }
    bench_cases_free(cases, count);
  }
}

// Arrays of one part or two, as many as `count` in rows of `row`.
typedef struct parts {
  array given[2], found[2];
  size_t count;
} parts;

static parts parts_of(uint64_t count, uint64_t row) {
  parts p = {.count = 0};
  for (int i = 0; i < 2; i++)
    p.given[i] = p.found[i] = (array){.rank = 2, .dims = {count / row, row}};
  return p;
}

static void add_part(parts *p, scalar_type type, const void *given, const void *found) {
  array *g = &p->given[p->count], *f = &p->found[p->count++];
  g->type = f->type = type;
  g->data = (void *)(uintptr_t)given;
  f->data = (void *)(uintptr_t)found;
}

static bench_error rounding;  // of the last check

static bool right_parts(const bench_case *c, const parts *p) {
  text room = {0};
  const char *wrong = bench_check(c, p->given, p->found, p->count, &room, &rounding);
  text_free(&room);
  return !wrong;
}

static bool right(const bench_case *c, scalar_type type, const void *given, const void *found,
                  uint64_t count, uint64_t row) {
  parts p = parts_of(count, row);
  add_part(&p, type, given, found);
  return right_parts(c, &p);
}

TEST(sorted_is_checked) {
  const bench_case c = {.property = BENCH_SORTED};
  const uint32_t given[] = {3, 1, 2, 7, 7, 0}, found[] = {1, 2, 3, 0, 7, 7};
  const uint32_t unsorted[] = {1, 3, 2, 0, 7, 7}, other[] = {1, 2, 3, 0, 0, 7};
  const uint32_t across[] = {0, 1, 2, 3, 7, 7};
  CHECK(right(&c, SCALAR_U32, given, found, 6, 3));
  CHECK(!right(&c, SCALAR_U32, given, unsorted, 6, 3));
  CHECK(!right(&c, SCALAR_U32, given, other, 6, 3));
  CHECK(!right(&c, SCALAR_U32, given, across, 6, 3));
  CHECK(right(&c, SCALAR_U32, given, across, 6, 6));
}

// In the total order, to the bit: f32 with both zeros and two NaN.
TEST(sorted_floats_are_checked) {
  const bench_case c = {.property = BENCH_SORTED};
  const uint32_t nan = 0x7fc00001, minus_nan = 0xffc00002, zero = 0, minus_zero = 0x80000000;
  const uint32_t one = 0x3f800000, minus_two = 0xc0000000, infinity = 0x7f800000;
  const uint32_t given[] = {nan, one, zero, minus_nan, minus_zero, minus_two, infinity, one};
  const uint32_t found[] = {minus_two, minus_zero, zero, one, one, infinity, nan, minus_nan};
  uint32_t changed[8];
  CHECK(right(&c, SCALAR_F32, given, found, 8, 8));
  CHECK(!right(&c, SCALAR_U32, given, found, 8, 8));
  for (int i = 0; i < 8; i++) {
    memcpy(changed, found, sizeof changed);
    changed[i] ^= 1;
    CHECK(!right(&c, SCALAR_F32, given, changed, 8, 8));
    memcpy(changed, found, sizeof changed);
    changed[i] = found[(i + 1) % 8];
    changed[(i + 1) % 8] = found[i];
    CHECK(right(&c, SCALAR_F32, given, changed, 8, 8) == (i == 3 || i == 6));  // equal ones
  }
}

TEST(sorted_numbers_of_each_width_are_checked) {
  const bench_case c = {.property = BENCH_SORTED};
  const int8_t i8[] = {-128, -1, 0, 127};
  const uint16_t u16[] = {0, 255, 256, 65535};
  const int64_t i64[] = {INT64_MIN, -1, 0, INT64_MAX};
  const double f64[] = {-INFINITY, -1e-300, 0, NAN};
  const struct {
    scalar_type type;
    const void *sorted;
  } table[] = {{SCALAR_I8, i8}, {SCALAR_U16, u16}, {SCALAR_I64, i64}, {SCALAR_F64, f64}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    size_t size = scalar_types[table[i].type].size;
    char swapped[32];
    memcpy(swapped, table[i].sorted, 4 * size);
    memcpy(swapped, (const char *)table[i].sorted + size, size);
    memcpy(swapped + size, table[i].sorted, size);
    CHECK(right(&c, table[i].type, swapped, table[i].sorted, 4, 4));
    CHECK(!right(&c, table[i].type, swapped, swapped, 4, 4));
  }
}

// By the key alone; each key keeps its value, also where keys are equal.
TEST(sorted_pairs_are_checked) {
  const bench_case c = {.property = BENCH_SORTED};
  const uint32_t keys[] = {5, 2, 5, 1}, values[] = {10, 20, 30, 40}, sorted[] = {1, 2, 5, 5};
  static const struct {
    uint32_t values[4];
    bool right;
  } table[] = {{{40, 20, 10, 30}, true},  {{40, 20, 30, 10}, true},  {{20, 40, 10, 30}, false},
               {{10, 20, 30, 40}, false}, {{40, 20, 10, 10}, false}, {{40, 10, 20, 30}, false}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    parts p = parts_of(4, 4);
    add_part(&p, SCALAR_U32, keys, sorted);
    add_part(&p, SCALAR_U32, values, table[i].values);
    CHECK(right_parts(&c, &p) == table[i].right);
  }
  parts p = parts_of(4, 4);  // all is there, but in no order
  add_part(&p, SCALAR_U32, keys, keys);
  add_part(&p, SCALAR_U32, values, values);
  CHECK(!right_parts(&c, &p));
}

// Each row by itself; elements of no row are not looked at.
TEST(ragged_is_checked) {
  const bench_case c = {.property = BENCH_RAGGED};
  int64_t offsets[] = {1, 1, 4, 6};
  uint32_t keys[] = {9, 3, 1, 2, 7, 0, 5}, good[] = {9, 1, 2, 3, 0, 7, 5};
  uint32_t unsorted[] = {9, 1, 3, 2, 0, 7, 5}, across[] = {9, 0, 1, 2, 3, 7, 5};
  const array given[] = {{.type = SCALAR_I64, .rank = 1, .dims = {4}, .data = offsets},
                         {.type = SCALAR_U32, .rank = 1, .dims = {7}, .data = keys}};
  const struct {
    uint32_t *keys;
    bool right;
  } table[] = {{good, true}, {unsorted, false}, {across, false}, {keys, false}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const array found = {.type = SCALAR_U32, .rank = 1, .dims = {7}, .data = table[i].keys};
    text room = {0};
    bench_error none;
    CHECK((bench_check(&c, given, &found, 1, &room, &none) == NULL) == table[i].right);
    text_free(&room);
  }
}

TEST(moved_is_checked) {
  bench_case c = {.property = BENCH_MOVED, .map = {f2_bit_reversal(3), 1}};
  uint16_t given[8], found[8];
  for (uint16_t i = 0; i < 8; i++)
    given[i] = (uint16_t)(100 + i);
  for (uint64_t i = 0; i < 8; i++)
    found[f2_affine_apply(c.map, i)] = given[i];
  CHECK(right(&c, SCALAR_U16, given, found, 8, 8));
  for (int i = 0; i < 8; i++) {
    found[i]++;
    CHECK(!right(&c, SCALAR_U16, given, found, 8, 8));
    found[i]--;
  }
  CHECK(!right(&c, SCALAR_U16, given, found, 4, 4));
}

TEST(transposed_is_checked) {
  const bench_case c = {.property = BENCH_TRANSPOSED};
  const uint16_t given[] = {0, 1, 2, 3, 4, 5}, found[] = {0, 3, 1, 4, 2, 5};
  CHECK(right(&c, SCALAR_U16, given, found, 6, 3));
  CHECK(!right(&c, SCALAR_U16, given, given, 6, 3));
  CHECK(!right(&c, SCALAR_U16, given, found, 6, 2));
}

// More elements than one thread takes at once; pairs, whose floats are NaN with a payload.
TEST(moved_pairs_are_checked) {
  enum { BITS = 18, COUNT = 1 << BITS };
  bench_case c = {.property = BENCH_MOVED, .map = {f2_bit_reversal(BITS), 12345}};
  uint32_t *words = malloc(4 * COUNT * sizeof *words);
  REQUIRE(words != NULL);
  uint32_t *given = words, *found = words + COUNT, *nans = words + 2 * COUNT;
  uint32_t *found_nans = words + 3 * COUNT;
  for (uint32_t i = 0; i < COUNT; i++) {
    given[i] = i * 2654435761u;
    nans[i] = 0x7fc00000 | i;
    uint64_t to = f2_affine_apply(c.map, i);
    found[to] = given[i];
    found_nans[to] = nans[i];
  }
  parts p = parts_of(COUNT, COUNT);
  add_part(&p, SCALAR_U32, given, found);
  add_part(&p, SCALAR_F32, nans, found_nans);
  CHECK(right_parts(&c, &p));
  static const uint32_t places[] = {0, 1, 65535, 65536, 200000, COUNT - 1};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    found_nans[places[i]] ^= 1;
    CHECK(!right_parts(&c, &p));
    found_nans[places[i]] ^= 1;
    found[places[i]]++;
    CHECK(!right_parts(&c, &p));
    found[places[i]]--;
  }
  CHECK(right_parts(&c, &p));
  free(words);
}

TEST(transformed_is_checked) {
  const bench_case c = {.property = BENCH_FOURIER};
  enum { N = 16 };
  float given[2 * N], found[2 * N] = {0};
  for (int i = 0; i < 2 * N; i++)
    given[i] = (float)((i * 7 + 3) % 11) / 11;
  for (int k = 0; k < N; k++)
    for (int j = 0; j < N; j++) {
      double angle = -2 * acos(-1) * j * k / N, re = (double)given[2 * j];
      double im = (double)given[2 * j + 1];
      found[2 * k] += (float)(re * cos(angle) - im * sin(angle));
      found[2 * k + 1] += (float)(re * sin(angle) + im * cos(angle));
    }
  CHECK(right(&c, SCALAR_C64, given, found, N, N));
  CHECK(rounding.mean > 0 && rounding.mean < 5e-7);  // sums in f32
  CHECK(rounding.largest > 0 && rounding.largest < 5e-7);
  for (int k = 0; k < 2 * N; k++) {
    float before = found[k];
    found[k] += 0.01f;
    CHECK(!right(&c, SCALAR_C64, given, found, N, N));
    CHECK(rounding.mean > 1e-4 && rounding.largest > 1e-4);
    found[k] = before;
  }
}

// ---- reports ------------------------------------------------------------------------------------

static arena memory;

static bench_report read_back(const text *t) {
  bench_report r = {.processors = 0};
  text wrong = {0};
  CHECK(bench_report_read(&memory, t->data, t->length, &r, &wrong));
  CHECK_STR(text_content(&wrong), "");
  return r;
}

TEST(reports_read_back) {
  bench_row rows[2] = {{.suite = "sort",
                        .series = "sort u32",
                        .name = "sort \"u32\" \\ 2^20\n",
                        .backend = "cpu",
                        .strategy = "tile+banks",
                        .verified = "sorted, same elements",
                        .x = 1 << 20,
                        .elements = 1 << 20,
                        .bytes = 8 << 20,
                        .columns = 210,
                        .passes = 2,
                        .threads = 2,
                        .plan = 0.25,
                        .seconds = {31, 0.5, 0.125, 0.25, 0.75},
                        .side_count = 2,
                        .sides = {{"copy", 0, {31, 0.25, 0, 0, 0}, {31, 2, 1.5, 1.75, 2.25}},
                                  {"reference", 8, {31, 4, 4, 4, 4}, {31, 0.125, 0, 0, 0}}}},
                       {.name = "second"}};
  bench_report r = {.permc = "1.2.3", .load = 0.5, .processors = 2, .rows = {rows, 2, 2}};
  text t = {0};
  bench_report_write(&t, &r);
  bench_report back = read_back(&t);
  CHECK_STR(back.permc, "1.2.3");
  CHECK(back.load == 0.5 && back.processors == 2);
  REQUIRE(back.rows.count == 2);
  CHECK_EQ_I64(memcmp(&back.rows.items[0], &rows[0], sizeof rows[0]), 0);
  CHECK_EQ_I64(memcmp(&back.rows.items[1], &rows[1], sizeof rows[1]), 0);
  CHECK(bench_row_side(&rows[0], "reference") == &rows[0].sides[1]);
  CHECK(bench_row_side(&rows[0], "peer") == NULL);
  text_free(&t);
  arena_free(&memory);
}

TEST(reports_of_others) {
  static const char *const texts[] = {
      "{}", "[]", "{\"rows\": 3}", "{\"rows\": [", "",
  };
  bench_report r;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    text wrong = {0};
    CHECK(!bench_report_read(&memory, texts[i], strlen(texts[i]), &r, &wrong));
    CHECK(wrong.length > 0);
    text_free(&wrong);
  }
  static const char odd[] = "{\"rows\": [{\"x\": -1, \"threads\": 1e300, \"name\": 7, "
                            "\"seconds\": [], \"beside\": [1, null]}, 5]}";
  text wrong = {0};
  CHECK(bench_report_read(&memory, odd, sizeof odd - 1, &r, &wrong));
  CHECK_EQ_U64(r.rows.count, 2);
  CHECK_EQ_U64(r.rows.items[0].side_count, 2);
  arena_free(&memory);
}

TEST(reports_say_where) {
  bench_report r;
  bench_report_begin(&r);
  CHECK(r.processors > 0 && r.permc[0] && r.processor[0] && r.system[0]);
  CHECK_EQ_U64(strlen(r.date), 20);
}

// ---- JSON ---------------------------------------------------------------------------------------

static void check_written(json_t *value, const char *expected) {
  text t = {0};
  report_print_json(&t, value, 3, 0);
  CHECK_STR(text_content(&t), expected);
  text_free(&t);
}

TEST(json_is_written) {
  check_written(json_pack("{s:o, s:[o, o, o]}", "a", report_string("\"\\\n"), "b",
                          report_number(0.125), report_number(INFINITY), report_count(1000)),
                "{\"a\": \"\\\"\\\\\\n\", \"b\": [0.125, null, 1000]}\n");
  check_written(report_count(UINT64_MAX), "1.84e19\n");
  check_written(report_string("x\u00e9\u20ac\U0001d11e"), "\"x\u00e9\u20ac\U0001d11e\"\n");
  // Not UTF-8: a lone byte, an overlong form, a surrogate, the half of a sequence.
  check_written(report_string("<\xff>"), "\"<\ufffd>\"\n");
  check_written(report_string("\xc0\xaf"), "\"\ufffd\ufffd\"\n");
  check_written(report_string("\xed\xa0\x80"), "\"\ufffd\ufffd\ufffd\"\n");
  check_written(report_string("\xe2\x82"), "\"\ufffd\ufffd\"\n");
}

static void check_mistake(const char *bytes, size_t length, const char *expected) {
  text wrong = {0};
  CHECK(report_read_json(bytes, length, &wrong) == NULL);
  CHECK_CONTAINS(text_content(&wrong), expected);
  text_free(&wrong);
}

TEST(json_mistakes) {
  check_mistake("", 0, "line 1: ");
  check_mistake("{\"a\": 1,\n \"b\" 2}", 17, "line 2: ':' expected near '2'");
  check_mistake("[1] 2", 5, "line 1: end of file expected near '2'");
  char deep[5000];
  memset(deep, '[', sizeof deep);
  check_mistake(deep, sizeof deep, "maximum parsing depth reached near '['");
}

// ---- plots --------------------------------------------------------------------------------------

static size_t occurrences(const char *string, const char *part) {
  size_t count = 0;
  for (const char *c = strstr(string, part); c; c = strstr(c + 1, part))
    count++;
  return count;
}

static void draw_picture(text *picture, const chart_curves *curves) {
  text panel = {0};
  int height = chart_draw_curves(&panel, curves, 0);
  chart_write(picture, &panel, height);
  text_free(&panel);
}

TEST(plots) {
  const svg_point points[] = {{1024, 3e8}, {4096, 4e8}, {16384, NAN}, {65536, 5e8}};
  const chart_curve curves[] = {{"permc <1> & co", points, 4, {0, 0}},
                                {"copy", points, 2, {1, 0}},
                                {"copy, dashed", points, 2, {1, 1}}};
  chart_curves p = {.title = "a < b", .x_label = "x", .y_label = "y", .curves = curves, .count = 3};
  text t = {0};
  draw_picture(&t, &p);
  REQUIRE(t.data != NULL);
  CHECK_EQ_U64(occurrences(t.data, "<circle"), 5 + 2);  // and in the legend
  CHECK_EQ_U64(occurrences(t.data, "stroke-dasharray=\"6 3\""), 2);
  CHECK_EQ_U64(occurrences(t.data, "<text"), occurrences(t.data, "</text>"));
  CHECK_CONTAINS(t.data, "permc &lt;1&gt; &amp; co");
  CHECK_EQ_U64(occurrences(t.data, "nan"), 0);
  CHECK_CONTAINS(t.data, "</svg>\n");
  text_free(&t);
}

TEST(plots_of_nothing) {
  const svg_point bad = {-1, 1};
  const chart_curve curve = {"none", &bad, 1, {0, 0}};
  chart_curves p = {.title = "", .x_label = "", .y_label = "", .curves = &curve, .count = 1};
  text t = {0};
  draw_picture(&t, &p);
  CHECK_CONTAINS(t.data, "</svg>\n");
  CHECK_EQ_U64(occurrences(t.data, "nan"), 0);
  CHECK_EQ_U64(occurrences(t.data, "inf"), 0);
  text_free(&t);
}

static size_t count_bars(const chart_bars *b, text *t) {
  t->length = 0;
  CHECK_EQ_U64(chart_draw_bars(t, b, 100), 540);
  CHECK_EQ_U64(occurrences(t->data, "<text"), occurrences(t->data, "</text>"));
  CHECK(!occurrences(t->data, "nan") && !occurrences(t->data, "inf"));
  return occurrences(t->data, "font-size=\"9\"");  // the number on top of it
}

TEST(bars) {
  static const char *const groups[] = {"a", "b+c"}, *const series[] = {"first", "second <2>"};
  const double near[] = {10, 20, 0, 60}, far[] = {1, 20, NAN, 600}, none[] = {0, -1, NAN, INFINITY};
  chart_bars b = {"t", "ms", groups, 2, series, 2, near, false, "copy", 15};
  text t = {0};
  CHECK_EQ_U64(count_bars(&b, &t), 3);
  CHECK_CONTAINS(t.data, ">0</text>");  // from zero
  CHECK_CONTAINS(t.data, ">+c</text>");
  CHECK_CONTAINS(t.data, "second &lt;2&gt;");
  CHECK_EQ_U64(occurrences(t.data, "stroke-dasharray"), 2);
  b.heights = far;
  b.line_name = NULL;
  CHECK_EQ_U64(count_bars(&b, &t), 3);
  CHECK(!occurrences(t.data, ">0</text>"));
  CHECK_CONTAINS(t.data, ">500</text>");
  CHECK_EQ_U64(occurrences(t.data, "stroke-dasharray"), 0);
  b.from_zero = true;
  CHECK_EQ_U64(count_bars(&b, &t), 3);
  CHECK_CONTAINS(t.data, ">0</text>");
  b.heights = none;
  CHECK_EQ_U64(count_bars(&b, &t), 0);
  text_free(&t);
}

// Of 2^10 elements, beside a copy.
static bench_row row_of(const char *suite, const char *series) {
  bench_row row = {.x = 1024,
                   .elements = 1024,
                   .bytes = 8192,
                   .columns = 10,
                   .seconds = {.median = 1},
                   .side_count = 1,
                   .sides = {{"copy", 0, {.median = 0.5}, {.median = 2}}}};
  snprintf(row.suite, sizeof row.suite, "%s", suite);
  snprintf(row.series, sizeof row.series, "%s", series);
  return row;
}

// Bytes are bytes: one copy; of elements per second each series has its own.
TEST(copies_beside_series) {
  static const struct {
    const char *suite;
    unsigned copies;
  } table[] = {{"sort", 3}, {"bmmc", 1}, {"scaling", 0}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const char *suite = table[i].suite;
    bench_row rows[] = {row_of(suite, "u32"), row_of(suite, "f32"), row_of(suite, "(u32, u32)")};
    bench_report r = {.rows = {rows, 3, 3}};
    text t = {0};
    bench_draw(&memory, &t, &r);
    REQUIRE(t.data != NULL);
    for (size_t k = 0; k < 3; k++) {
      char name[80];
      snprintf(name, sizeof name, ">%s</text>", rows[k].series);
      CHECK_EQ_U64(occurrences(t.data, name), 1);
      snprintf(name, sizeof name, ">copy, %s</text>", rows[k].series);
      CHECK_EQ_U64(occurrences(t.data, name), k < table[i].copies);
    }
    text_free(&t);
  }
  arena_free(&memory);
}

// ---- figures of the paper -----------------------------------------------------------------------

// Times of 2^n elements: naive ones are `slow` times a copy's, two passes twice as long.
static bench_row paper_row(const char *permutation, const char *strategy, int n) {
  double slow = !strcmp(permutation, "bit reversal") ? 16 : 8, copy = ldexp(8, n) / 4e12;
  bool naive = !strcmp(strategy, "naive"), any = !strcmp(permutation, "random BMMC");
  bool twice = !strcmp(strategy, "ulp") || (any && !strncmp(strategy, "tile", 4));
  double times = naive ? slow : twice ? 2 : 1;
  bench_row row = {.suite = "bmmc",
                   .backend = "cuda",
                   .device = "NVIDIA H200, CUDA 13.0",
                   .x = UINT64_C(1) << n,
                   .elements = UINT64_C(1) << n,
                   .bytes = UINT64_C(8) << n,
                   .passes = twice ? 2 : 1,
                   .seconds = {.median = copy * times},
                   .side_count = 1,
                   .sides = {{"copy", 0, {.median = copy}, {.median = times}}}};
  snprintf(row.strategy, sizeof row.strategy, "%s", strategy);
  snprintf(row.series, sizeof row.series, "%s u32 by %s", permutation, strategy);
  snprintf(row.name, sizeof row.name, "%s u32 2^%d by %s", permutation, n, strategy);
  return row;
}

static bench_report paper_report(bench_row *rows) {
  static const char *const permutations[] = {"random BMMC", "bit reversal", "random BPC"};
  static const char *const strategies[] = {"naive", "tile+banks", "tile+banks+iters", "onepass",
                                           "ulp"};
  bench_report r = {.rows = {rows, 0, 0}};
  for (size_t s = 0; s < 5; s++)
    for (size_t p = 0; p < 3; p++)
      for (int n = 20; n <= 28; n += 4)
        if ((p || s != 2) && (n < 28 || s != 3))  // onepass lacks the largest
          rows[r.rows.count++] = paper_row(permutations[p], strategies[s], n);
  return r;
}

TEST(tables_of_the_paper) {
  bench_row rows[50];
  bench_report r = paper_report(rows);
  text t = {0};
  bmmc_print_tables(&t, &r);
  REQUIRE(t.data != NULL);
  static const char *const lines[] = {
      "\nFigure 9: times for 2^28 u32, and as multiples of a copy's (0.537 ms)\n",
      "\nnaive                     8.59 ms  16.00x     4.295 ms   8.00x     4.295 ms   8.00x\n",
      "\ntile                            -                    -                    -        \n",
      "\ntile+banks+iters        0.5369 ms   1.00x    0.5369 ms   1.00x            -        \n",
      "\nulp                      1.074 ms   2.00x     1.074 ms   2.00x     1.074 ms   2.00x\n",
      "\ncopy                          4000                 4000                 4000       \n",
      "\nnaive                          250                  500                  500       \n",
      "\nall optimisations             4000                 4000                 4000 (2000)\n",
      "\nonepass                          -                    -                    -       \n",
      "\n2^24                    16.00x   16.00x     8.00x    8.00x     4.00x    8.00x\n",
      "\n2^28                    16.00x        -     8.00x        -     4.00x        -\n",
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    CHECK_CONTAINS(t.data, lines[i]);
  CHECK_EQ_U64(occurrences(t.data, "\nFigure "), 3);
  CHECK_EQ_U64(occurrences(t.data, "\n2^"), 3);
  text_free(&t);
}

TEST(panels_of_the_paper) {
  bench_row rows[50];
  bench_report r = paper_report(rows);
  text t = {0};
  CHECK_EQ_U64(bmmc_draw(&t, &r, 10), 10 + 3 * 440);
  REQUIRE(t.data != NULL);
  CHECK_EQ_U64(occurrences(t.data, ">Figure "), 3);
  CHECK_EQ_U64(occurrences(t.data, "2^28 u32, NVIDIA H200"), 3);
  CHECK_EQ_U64(occurrences(t.data, "font-size=\"9\">8.59<"), 1);
  CHECK_EQ_U64(occurrences(t.data, "font-size=\"9\">4000<"), 3);
  CHECK_EQ_U64(occurrences(t.data, "<circle"), 9 + 3);
  CHECK(!occurrences(t.data, "nan") && !occurrences(t.data, "inf"));
  text_free(&t);
}

TEST(tables_of_the_hmm_paper) {
  bench_row rows[] = {
      {.suite = "hmm",
       .series = "random u32 by tiled",
       .x = 1 << 16,
       .seconds = {.median = 9.6e-6},
       .side_count = 1,
       .sides = {{"copy", 0, {.median = 1.25e-6}, {.median = 8}}}},
      {.suite = "hmm",
       .series = "random u32 by d-designated",
       .x = 1 << 16,
       .seconds = {.median = 2.5e-6}},
      {.suite = "hmm",
       .series = "transpose u64 by scheduled",
       .x = 1 << 28,
       .seconds = {.median = 1e-2}},
      {.suite = "hmm",
       .series = "1000 random u32 by tiled",
       .x = 1 << 22,
       .seconds = {.runs = 1000, .least = 24.5e-6, .mean = 25e-6, .greatest = 26e-6}},
      {.suite = "permute",
       .series = "random u32 by tiled",
       .x = 1 << 18,
       .seconds = {.median = 1}}};
  bench_report r = {.rows = {rows, 5, 5}};
  text t = {0};
  hmm_print_tables(&t, &r);
  CHECK_CONTAINS(
      text_content(&t),
      "\nrandom          256    1.55     3.3    3.87       2.5                     9.6    1.25\n");
  CHECK_CONTAINS(text_content(&t), "\ntranspose     16384 ");
  CHECK_CONTAINS(text_content(&t),
                 "\ntiled                   1000     24.50     25.00     26.00\n");
  CHECK_EQ_U64(occurrences(text_content(&t), "\nTable "), 3);
  text_free(&t);
  r.rows.count = 0;
  hmm_print_tables(&t, &r);
  CHECK_EQ_U64(t.length, 0);
  text_free(&t);
}

// Each number once, and the same for a seed; of random ones half of them are below the middle.
TEST(permutations) {
  enum { COUNT = 1 << 18 };
  static uint32_t places[COUNT], again[COUNT], seen[COUNT / 32 + 1];
  for (size_t i = 0; hmm_permutation_at(i); i++) {
    const char *name = hmm_permutation_at(i)->name;
    uint64_t position, count = hmm_permutation_at(i)->at ? COUNT : COUNT - 77, low = 0;
    REQUIRE(bench_permutation_write(name, 5, places, count) &&
            bench_permutation_write(name, 5, again, count));
    place_list p = {places, sizeof *places, count};
    CHECK_EQ_I64(permutation_check(&p, seen, &position), PERMUTATION_OK);
    CHECK(memcmp(places, again, count * sizeof *places) == 0);
    for (uint64_t k = 0; k < count / 2; k++)
      low += places[k] < count / 2;
    CHECK(hmm_permutation_at(i)->at || (low > count / 4 - 2000 && low < count / 4 + 2000));
  }
}

TEST(lengths_of_rows) {
  enum { ROWS = 1000, ELEMENTS = 100000 };
  static const struct {
    const char *name;
    uint64_t least, most;  // of the longest row
  } table[] = {{"uniform", 180, 220}, {"zipf", 12000, 14500}};
  int64_t offsets[ROWS + 1], again[ROWS + 1];
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    uint64_t longest = 0;
    REQUIRE(bench_offsets_write(table[i].name, offsets, ROWS, ELEMENTS) &&
            bench_offsets_write(table[i].name, again, ROWS, ELEMENTS));
    CHECK(memcmp(offsets, again, sizeof offsets) == 0);
    CHECK(offsets[0] == 0 && offsets[ROWS] == ELEMENTS);
    for (size_t k = 0; k < ROWS; k++) {
      REQUIRE(offsets[k] <= offsets[k + 1]);
      uint64_t length = (uint64_t)(offsets[k + 1] - offsets[k]);
      longest = length > longest ? length : longest;
    }
    CHECK(longest >= table[i].least && longest <= table[i].most);
  }
}

TEST(reports_without_the_paper) {
  bench_row rows[3] = {paper_row("bit reversal", "tile", 20), paper_row("bit reversal", "tile", 20),
                       paper_row("transpose", "tile", 20)};
  bench_report r = {.rows = {rows, 3, 3}};
  text t = {0};
  snprintf(rows[0].series, sizeof rows[0].series,
           "bit reversal u32");  // planned by --strategy tile
  snprintf(rows[1].suite, sizeof rows[1].suite, "sort");
  for (size_t i = 0; i < 3; i++)
    CHECK(!bmmc_is_row(&rows[i]));
  bmmc_print_tables(&t, &r);
  CHECK_EQ_I64(bmmc_draw(&t, &r, 7), 7);
  CHECK(!t.data);
  rows[0] = paper_row("bit reversal", "tile", 20);
  rows[0].side_count = 0;  // no copy, no naive, one of the strategies
  bmmc_print_tables(&t, &r);
  CHECK_EQ_I64(bmmc_draw(&t, &r, 0), 3 * 440);
  CHECK(!occurrences(t.data, "nan") && !occurrences(t.data, "inf") && !occurrences(t.data, "copy"));
  text_free(&t);
}

TEST(prefixes) {
  static const struct {
    double value;
    const char *text;
  } table[] = {{1, "1"},     {2.5e9, "2.5 G"},  {3e-10, "300 p"}, {1000, "1 k"},
               {999, "999"}, {1.5e-3, "1.5 m"}, {0, "0"},         {1e-15, "1 f"}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    char room[16];
    CHECK_STR(svg_si(room, table[i].value), table[i].text);
  }
}

TEST_MAIN()
