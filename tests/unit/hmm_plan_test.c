// Plans on the memory machines: the counts of their kernels on the host, and what the counts say.
#include "tests/unit/kernels_trial.h"

#include <time.h>

typedef struct row {
  const char *expression, *types;
  bool whole;  // a full line for each access of memory
} row;

#define ANY_16                                                                                     \
  "bmmc [1, 3, 7, 14, 19, 51, 66, 229, 348, 985, 1303, 3271, 5947, 10967, 32537, 51699] 12345"

static const row rows[] = {
    {"bitrev", "[2^16]u32", true},
    {"bitrev", "[2^16]u8", true},
    {"bitrev", "[2^16]u16", true},
    {"bitrev", "[2^16]u64", true},
    {"bitrev", "[2^14]c128", true},
    {ANY_16, "[2^16]u32", true},
    {ANY_16, "[2^16]u8", true},
    {"transpose", "[2^8][2^8]u32", true},
    {"map reverse", "[100][2^8]u32", true},
    {"sort", "[2^15]u32", true},
    {"map sort", "[64][2^8]u8", true},
    {"map sort", "[32][2^8]u64", true},
    {"map sort", "[16][2^8]f32", true},
    {"fwht", "[2^16]f32", true},
    {"fft", "[2^14]c64", false},
    {"map sort", "[20][2^5](u8, f64)", false},
    {"padded maxval sort", "[20000]u32", false},
    {"padded maxval sort", "[2500]f32", false},
    {"map (padded maxval sort)", "[40][200]u32", false},
    {"merge_sorted", "[5000]u32 [3000]u32", false},
    {"top_k 64", "[2^15]u32", false},
    {"reduce (+)", "[2^16]u32", false},
    {"scan (+)", "[2^15]u32", false},
    {"sum", "[50000]f32", false},
    {"convolve_real", "[2^10]f32 [2^10]f32", false},
    {"map id", "[1]u32", false},
    // accesses of 16 bytes, of which each quarter of a warp has parts of all lines
    {"sort . ungray", "[2^8]u16", false},
    {"bitrev", "[2^4]u16", false},
};
enum { ROWS = sizeof rows / sizeof *rows };

// No exchange has a conflict, and each line of memory is asked for once.
static void check_counts(const row *r, const kernels *k) {
  hmm_machine m = {HMM_KIND_HMM, 1, 32, 100, 1, 0, true};
  for (uint32_t i = 0; i < k->plan->passes.count; i++) {
    arena scratch = {.failure = &kernels_failure};
    hmm_counts c = {0};
    CHECK_STR(hmm_plan_run(&scratch, &m, k->plan, i, NULL, &c), NULL);
    for (hmm_op op = 0; op < HMM_ACCESSES; op++)
      if (hmm_is_shared(op) || r->whole) {
        CHECK_EQ_U64(c.stages[op], c.accesses[op]);
        CHECK_EQ_U64(c.casual[op], 0);
      }
    arena_free(&scratch);
  }
}

TEST(as_on_the_host) {
  static trial trials[ROWS];
  static kernels all[ROWS];
  bool good = true;
  if (kernels_no_compiler())
    SKIP("there is no C compiler");
  for (size_t i = 0; i < ROWS; i++) {
    all[i].options.apart = true;
    good = trial_make(&trials[i], &all[i], rows[i].expression, rows[i].types) && good;
  }
  if (good)
    kernels_compile(all, ROWS);
  for (size_t i = 0; i < ROWS; i++) {
    if (good && trial_agrees(&trials[i], &all[i])) {
      kernels_check_counts(&all[i]);
      kernels_check_hmm(&all[i]);
      check_counts(&rows[i], &all[i]);
    }
    kernels_free(&all[i]);
    trial_free(&trials[i]);
  }
}

// ---- time ------------------------------------------------------------------------------------

static const plan *plan_of(arena *memory, permc_context *c, const char *expression,
                           const char *types) {
  CHECK(permc_define(c, expression));
  return kernels_plan(memory, c, "-e", types);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// All passes: time units; *requests, if it is not NULL, the requests of lanes.
static uint64_t time_of(const plan *p, const hmm_machine *m, uint64_t *requests) {
  uint64_t time = 0;
  for (uint32_t i = 0; i < p->passes.count; i++) {
    arena scratch = {.failure = &kernels_failure};
    hmm_counts c = {0};
    CHECK_STR(hmm_plan_run(&scratch, m, p, i, NULL, &c), NULL);
    time += c.time;
    if (requests)
      *requests += c.requests;
    arena_free(&scratch);
  }
  return time;
}

// A permutation in one pass: with barriers, as the transpose of the HMM paper's Table I.
TEST(one_pass_as_in_table_1) {
  arena memory = {.failure = &kernels_failure};
  permc_context *c = permc_context_new();
  if (setjmp(kernels_failure))
    abort();
  const plan *p = plan_of(&memory, c, "bitrev", "[2^16]u32");
  CHECK_EQ_U64(p->passes.count, 1);
  for (uint64_t latency = 1; latency <= 400; latency += 133) {
    hmm_machine m = {HMM_KIND_HMM, 1, 32, latency, 1, 0, true};
    hmm_counts counts;
    CHECK_STR(hmm_plan_run(&memory, &m, p, 0, NULL, &counts), NULL);
    uint64_t rounds = counts.rounds[HMM_READ_GLOBAL] + counts.rounds[HMM_WRITE_GLOBAL];
    CHECK_EQ_U64(counts.time, 4 * (UINT64_C(1) << 16) / 32 + rounds * (latency - 1));
  }
  arena_free(&memory);
  permc_context_free(c);
}

// More threads at work hide more latency; more DMMs exchange faster.
TEST(latency_is_hidden) {
  arena memory = {.failure = &kernels_failure};
  permc_context *c = permc_context_new();
  if (setjmp(kernels_failure))
    abort();
  const plan *p = plan_of(&memory, c, "sort", "[2^16]u32");
  uint64_t before = UINT64_MAX;
  for (uint64_t threads = 256; threads <= 65536; threads *= 4) {
    hmm_machine m = {HMM_KIND_HMM, 8, 32, 400, 1, threads, false};
    uint64_t time = time_of(p, &m, NULL);
    CHECK(time <= before);
    before = time;
  }
  before = UINT64_MAX;
  for (uint32_t d = 1; d <= 8; d *= 2) {
    hmm_machine m = {HMM_KIND_HMM, d, 32, 400, 1, 0, false};
    uint64_t time = time_of(p, &m, NULL);
    CHECK(time <= before);
    before = time;
  }
  arena_free(&memory);
  permc_context_free(c);
}

TEST(a_large_sorter) {
  arena memory = {.failure = &kernels_failure};
  permc_context *c = permc_context_new();
  if (setjmp(kernels_failure))
    abort();
  const plan *p = plan_of(&memory, c, "sort", slower() > 1 ? "[2^16]u32" : "[2^20]u32");
  uint64_t times[2], all[2];
  for (int barrier = 0; barrier < 2; barrier++) {
    hmm_machine m = {HMM_KIND_HMM, 132, 32, 400, 1, 132 * 2048, barrier};
    uint64_t requests = 0;
    double start = seconds();
    uint64_t time = time_of(p, &m, &requests);
    double took = seconds() - start;
    printf("%zu passes, %s: %" PRIu64 " time units, %" PRIu64
           " requests in %.2f s, %.0f million a second\n",
           (size_t)p->passes.count, barrier ? "barriers" : "free", time, requests, took,
           (double)requests / took / 1e6);
    times[barrier] = time;
    all[barrier] = requests;
  }
  CHECK_EQ_U64(all[0], all[1]);
  CHECK(times[0] <= times[1]);
  arena_free(&memory);
  permc_context_free(c);
}

// Of a plan without conditions the estimate is exact in requests.
TEST(estimates) {
  arena memory = {.failure = &kernels_failure};
  permc_context *c = permc_context_new();
  if (setjmp(kernels_failure))
    abort();
  const plan *p = plan_of(&memory, c, "sort", "[2^16]u32");
  for (uint64_t threads = 0; threads <= 4096; threads += 1024) {
    hmm_machine m = {HMM_KIND_HMM, 8, 32, 400, 1, threads, false};
    hmm_estimate e, tall;
    uint64_t requests = 0;
    time_of(p, &m, &requests);
    CHECK_STR(hmm_plan_estimate(&memory, &m, p, NULL, &e), NULL);
    CHECK_EQ_U64((uint64_t)e.requests, requests);
    m.dmms = 4096;
    CHECK_STR(hmm_plan_estimate(&memory, &m, p, NULL, &tall), NULL);
    CHECK(tall.bytes > e.bytes);
  }
  hmm_machine few = {HMM_KIND_HMM, 1, 32, 400, 1, 32, false}, odd = few;
  hmm_estimate e;
  odd.threads = 300;
  CHECK_STR(hmm_plan_estimate(&memory, &few, p, NULL, &e),
            "the blocks of pass 1 have 256 threads: p = 32 is not enough for one");
  CHECK_STR(hmm_plan_estimate(&memory, &odd, p, NULL, &e),
            "the threads are whole warps: p = 300 is no multiple of w = 32");
  arena_free(&memory);
  permc_context_free(c);
}

TEST(what_has_no_plan_there) {
  arena memory = {.failure = &kernels_failure};
  permc_context *c = permc_context_new();
  hmm_counts counts;
  if (setjmp(kernels_failure))
    abort();
  const plan *p = plan_of(&memory, c, "bitrev", "[2^16]u32");
  hmm_machine dmm = {HMM_KIND_DMM, 1, 32, 1, 1, 0, true},
              narrow = {HMM_KIND_HMM, 1, 16, 1, 1, 0, true};
  CHECK_STR(hmm_plan_run(&memory, &dmm, p, 0, NULL, &counts),
            "a plan needs an hmm (permc machine hmm): a dmm has one memory only");
  CHECK_STR(hmm_plan_run(&memory, &narrow, p, 0, NULL, &counts),
            "the warps of a plan have 32 lanes: w = 16 will not do");
  CHECK(permc_use_strategy(c, "online"));
  p = plan_of(&memory, c, "bitrev", "[2^16]u32");
  narrow.width = 32;
  CHECK_CONTAINS(hmm_plan_run(&memory, &narrow, p, 0, NULL, &counts), "kernel of its own");
  arena_free(&memory);
  permc_context_free(c);
}

TEST_MAIN()
