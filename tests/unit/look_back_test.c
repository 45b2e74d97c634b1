// Passes that are one kernel, whose blocks look back (fusion/plan/plan.h): which programs they are,
// and what they compute when the kernel runs on the host, for several runs one after the other.
#include "tests/unit/kernels_trial.h"

typedef struct row {
  const char *expression, *types;
  bool one;  // whether its passes are one kernel
} row;

// At 2^18, blocks look back over more blocks than a warp has lanes.
static const row rows[] = {
    {"scan (+)", "[2^15]u32", true},
    {"scan (+)", "[2^16]i32", true},
    {"scan (+)", "[2^18]i32", true},
    {"scan (+)", "[2^20]f32", true},
    {"scan (+)", "[2^17]f32", true},
    {"scan (+)", "[2^18]f16", true},
    {"scan (*)", "[2^18]u8", true},
    {"scan (+)", "[2^18]i64", true},
    {"scan (+)", "[2^18]c64", true},
    {"scan max", "[2^18]f64", true},
    {"scan (\\x y -> if total_le x y then y else x)", "[2^18]f32", true},
    {"scan_exclusive (+) 7", "[2^18]u32", true},
    {"scan_back (+)", "[2^18]f32", true},
    {"\\xs -> map (\\x -> x + 1) (scan (+) (map (\\x -> 2 * x) xs))", "[2^18]u32", true},
    {"scan_segments (+)", "[2^20]bool [2^20]f32", true},
    {"linear_recurrence 7", "[2^18]u32 [2^18]u32", true},
    {"scan (+)", "[2^18]u32", true},
    // Of other lengths: the blocks behind the end are left out.
    {"scan (+)", "[1000000]u32", true},
    {"scan (+)", "[262145]f32", true},
    {"scan (+)", "[150001]f64", true},
    {"scan_exclusive (+) 1", "[262143]f32", true},
    {"scan_back (+)", "[250000]f32", true},
    {"scan_segments (+)", "[250000]bool [250000]f32", true},
    // Only up.
    {"sum", "[2^18]u32", false},
    // What comes down begins above the blocks, or not at all.
    {"\\xs -> take 16 (scan (+) xs)", "[2^14]i32", false},
    {"\\xs -> (scan (+) xs)[47]", "[2^16]i16", false},
};
enum { ROWS = sizeof rows / sizeof *rows };

static bool is_one(const kernels *k) {
  bool one = false;
  for (uint32_t i = 0; i < k->code.pass_count; i++)
    one |= k->code.facts[i].one != NULL;
  return one;
}

// A run on other arguments leaves what it has published.
static void run_before(const row *r, const trial *t, kernels *k) {
  permc_value **arguments = NULL;
  size_t count = 0;
  result found = {0};
  CHECK(permc_read_random(t->context, "-e", r->types, 2, &arguments, &count) &&
        kernels_run(k, arguments, count, &t->oracle, &found));
  free_result(&found);
  permc_values_free(arguments, count);
}

static void check_row(const row *r) {
  trial t;
  kernels k = {0};
  bool good = trial_make(&t, &k, r->expression, r->types) && CHECK(is_one(&k) == r->one);
  if (good)
    kernels_compile(&k, 1);
  for (int i = 0; i < 2 && good; i++) {
    run_before(r, &t, &k);
    good = trial_agrees(&t, &k);
  }
  good = good && kernels_check_counts(&k);
  if (good)
    kernels_check_hmm(&k);
  if (!good)
    printf("%s of %s\n", r->expression, r->types);
  kernels_free(&k);
  trial_free(&t);
}

TEST(scans) {
  if (kernels_no_compiler())
    SKIP("there is no C compiler");
  size_t step = ROWS / test_amount(ROWS / 2, ROWS);  // a slow build takes some
  for (size_t i = 0; i < ROWS; i += step)
    check_row(&rows[i]);
}

// Of a memory machine: 2^8 blocks of 8 warps, which read the number of the run. Blocks publish a
// total each, and read those of all before them, of 8 bytes each: two levels of 16 are joined.
TEST(state_on_a_machine) {
  arena memory = {.failure = &kernels_failure};
  permc_context *c = permc_context_new();
  hmm_machine m = {HMM_KIND_HMM, 4, 32, 100, 1, 0, false};
  uint64_t data = (UINT64_C(1) << 20) / 32;
  hmm_counts one, none;
  if (setjmp(kernels_failure))
    abort();
  CHECK(permc_define(c, "scan (+)"));
  const plan *p = kernels_plan(&memory, c, "-e", "[2^20]i32");
  CHECK_STR(hmm_plan_run(&memory, &m, p, 0, NULL, &one), NULL);
  uint64_t totals = 0;
  for (uint64_t block = 0; block < 256; block++)
    totals += (block + 15) / 16;
  CHECK_EQ_U64(one.accesses[HMM_READ_GLOBAL], data + 8 * 256 + totals);
  CHECK_EQ_U64(one.accesses[HMM_WRITE_GLOBAL], data + 256);
  for (uint32_t i = 1; i < p->passes.count; i++) {
    CHECK_STR(hmm_plan_run(&memory, &m, p, i, NULL, &none), NULL);
    CHECK_EQ_U64(none.requests, 0);
  }
  arena_free(&memory);
  permc_context_free(c);
}

// In the text of a kernel.
static unsigned occurrences(const char *types, const char *word) {
  permc_context *c = permc_context_new();
  permc_explain_options o = {.target = "gpu", .types = types, .dump = "cuda"};
  char *dump = NULL;
  unsigned count = 0;
  CHECK(permc_define(c, "scan (+)") && permc_explain(c, "-e", NULL, 0, &o, &dump));
  for (const char *at = dump; at && (at = strstr(at, word)); at++)
    count++;
  free(dump);
  permc_context_free(c);
  return count;
}

// 8, 12 and 20 bits of blocks: levels of 4 bits are joined by two.
TEST(looks) {
  CHECK_EQ_U64(occurrences("[2^20]i32", "PERMC_LOOK("), 1);
  CHECK_EQ_U64(occurrences("[2^24]i32", "PERMC_LOOK("), 2);
  CHECK_EQ_U64(occurrences("[2^32]i32", "PERMC_LOOK("), 3);
  CHECK_EQ_U64(occurrences("[2^20]i32", "PERMC_PAUSE"), 0);
  CHECK_EQ_U64(occurrences("[2^24]i32", "PERMC_PAUSE"), 2);
}

TEST_MAIN()
