// The suites of permc bench: their cases on processors and GPUs, the peers beside them, and the
// permutations and rows that some are given.
#include "core/permutation/permutation.h"
#include "fusion/plan/plan.h"
#include "kernels/hmm/algorithm.h"
#include "tests/test.h"
#include "tool/bench/lengths.h"
#include "tool/bench/permutation.h"
#include "tool/bench/report.h"
#include "tool/bench/suites.h"

// ---- cases --------------------------------------------------------------------------------------

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

// ---- inputs -------------------------------------------------------------------------------------

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

TEST_MAIN()
