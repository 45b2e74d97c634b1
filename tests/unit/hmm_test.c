// The memory machines: against a literal one, pipeline register by pipeline register, and their
// memory, errors and speed. What the papers say of them: hmm_papers_test.c.
#include "kernels/hmm/algorithm.h"
#include "tests/test.h"
#include "tests/unit/hmm_listed.h"
#include "tests/unit/splitmix.h"

#include <time.h>

static hmm_counts run(const hmm_machine *m, listed *l) {
  hmm_counts counts = {0};
  hmm_program p = listed_program(l);
  CHECK_STR(hmm_run(&memory, m, &p, &counts), NULL);
  return counts;
}

// ---- against a literal machine ---------------------------------------------------------------

static uint64_t below(uint64_t limit) { return random_u64() % limit; }

static hmm_machine random_hmm(void) {
  hmm_machine m = {.kind = (hmm_kind)below(HMM_KINDS), .dmms = 1};
  m.width = 1 + (uint32_t)below(9);
  m.latency = 1 + below(LISTED_DEEP);
  m.shared_latency = 1 + below(3);
  if (m.kind == HMM_KIND_HMM)
    m.dmms = 1 + (uint32_t)below(LISTED_MEMORIES - 1);
  return m;
}

static void random_list(hmm_machine *m, listed *l) {
  *l = (listed){.width = m->width, .block_warps = 1 + below(4), .steps = 1 + below(LISTED_STEPS)};
  l->warps = l->block_warps * (1 + below(6));
  m->threads = l->warps * m->width;
  for (uint64_t s = 0; s < l->steps; s++)
    for (uint64_t i = 0; i < l->warps; i++) {
      uint64_t block = i / l->block_warps * l->block_warps;
      bool sync = i == block ? below(5) == 0 : l->op[block][s] == HMM_SYNC;
      uint64_t shared = m->kind == HMM_KIND_HMM ? below(2) : m->kind == HMM_KIND_DMM;
      uint64_t spread = 1 + below(40);
      l->op[i][s] = sync ? HMM_SYNC : (hmm_op)(2 * shared + below(2));
      for (uint32_t k = 0; k < m->width; k++)
        l->address[i][s][k] = below(8) == 0 || below(9) == s ? HMM_IDLE : below(spread);
    }
}

TEST(as_a_literal_machine) {
  START();
  for (int i = 0; i < 4000; i++) {
    arena_free(&memory);
    listed l;
    hmm_machine m = random_hmm();
    random_list(&m, &l);
    uint64_t time = run(&m, &l).time;
    if (!CHECK_EQ_U64(time, literal_time(&m, &l)))
      return;
  }
}

// Of one warp there is nobody to wait for: barriers change nothing.
TEST(barriers_of_one_warp) {
  START();
  for (int i = 0; i < 1000; i++) {
    arena_free(&memory);
    listed l;
    hmm_machine m = random_hmm();
    random_list(&m, &l);
    l.warps = l.block_warps = 1;
    m.threads = m.width;
    uint64_t time = run(&m, &l).time;
    m.barrier = true;
    CHECK_EQ_U64(run(&m, &l).time, time);
  }
}

// With barriers: by the definition, round by round.
TEST(barriers_by_definition) {
  START();
  for (int i = 0; i < 1000; i++) {
    arena_free(&memory);
    listed l;
    hmm_machine m = random_hmm();
    random_list(&m, &l);
    if (m.kind == HMM_KIND_HMM)
      continue;
    m.barrier = true;
    uint64_t time = 0;
    for (uint64_t s = 0; s < l.steps; s++)  // steps that are no barriers of blocks line up
      for (uint64_t w = 0; w < l.warps; w++)
        if (l.op[w][s] == HMM_SYNC)
          l.op[w][s] = m.kind == HMM_KIND_DMM ? HMM_READ_SHARED : HMM_READ_GLOBAL;
    for (uint64_t s = 0; s < l.steps; s++) {
      listed one = {.width = l.width, .warps = l.warps, .block_warps = 1, .steps = 1};
      for (uint64_t w = 0; w < l.warps; w++) {
        one.op[w][0] = l.op[w][s];
        memcpy(one.address[w][0], l.address[w][s], sizeof one.address[w][0]);
      }
      time += literal_time(&m, &one);
    }
    CHECK_EQ_U64(run(&m, &l).time, time);
  }
}

// ---- memory ----------------------------------------------------------------------------------

typedef struct writing {
  uint64_t address[4];
} writing;

static hmm_op write_then_read(void *state, uint64_t warp, uint64_t step) {
  (void)state;
  (void)warp;
  return step == 0 ? HMM_WRITE_SHARED : step == 1 ? HMM_READ_SHARED : HMM_END;
}

static void writing_lanes(void *state, uint64_t warp, uint64_t step, uint64_t *address,
                          hmm_word *value) {
  const writing *w = state;
  (void)warp;
  for (uint32_t i = 0; i < 4; i++) {
    address[i] = w->address[i];
    value[i] = step == 0 ? 100 + i : 0;
  }
}

TEST(concurrent_access) {
  START();
  hmm_machine m = {HMM_KIND_DMM, 1, 4, 3, 1, 4, false};
  writing w = {{9, 5, 9, HMM_IDLE}};
  hmm_word words[16] = {0}, value[4] = {0};
  hmm_program p = {.warps = 1,
                   .block_warps = 1,
                   .state = &w,
                   .op = write_then_read,
                   .lanes = writing_lanes,
                   .shared = words,
                   .shared_words = 16,
                   .value = value};
  hmm_counts c;
  CHECK_STR(hmm_run(&memory, &m, &p, &c), NULL);
  CHECK_EQ_U64(words[5], 101);
  CHECK_EQ_U64(words[9], 102);
  CHECK_EQ_U64(value[0], 102);  // a lane that lost reads what the winner wrote
  CHECK_EQ_U64(value[2], 102);
  CHECK_EQ_U64(c.requests, 6);
  CHECK_EQ_U64(c.histogram[true][2], 2);  // 9 and 5 share a bank, 9 and 9 a request
  CHECK_EQ_U64(c.time, 2 * (2 + 3 - 1));
  p.shared_words = 9;
  CHECK_STR(hmm_run(&memory, &m, &p, &c),
            "warp 0, step 0: shared write at 9, where the memory has 9 words");
}

// ---- errors ----------------------------------------------------------------------------------

static void check_wrong(hmm_machine m, const char *wrong) {
  CHECK_STR(hmm_problem(&memory, &m), wrong);
}

TEST(what_is_no_machine) {
  START();
  check_wrong((hmm_machine){HMM_KIND_DMM, 1, 0, 1, 1, 32, true},
              "the width is from 1 to 4096, not 0");
  check_wrong((hmm_machine){HMM_KIND_DMM, 1, 32, 0, 1, 32, true},
              "a latency is from 1 to 2^32 - 1 time units");
  check_wrong((hmm_machine){HMM_KIND_DMM, 2, 32, 1, 1, 32, true}, "only an HMM has several DMMs");
  check_wrong((hmm_machine){HMM_KIND_HMM, 0, 32, 1, 1, 32, true},
              "an HMM has from 1 to 4096 DMMs, not 0");
  check_wrong((hmm_machine){HMM_KIND_UMM, 1, 32, 1, 1, 100, true},
              "the threads are whole warps: p = 100 is no multiple of w = 32");
  check_wrong((hmm_machine){HMM_KIND_UMM, 1, 32, 1, 1, 0, true},
              "the threads are whole warps: p = 0 is no multiple of w = 32");
  check_wrong((hmm_machine){HMM_KIND_UMM, 1, 3, 1, 1, 9, true}, NULL);
}

static void check_task(const char *algorithm, hmm_machine m, hmm_task t, const char *wrong) {
  hmm_counts c;
  CHECK_STR(hmm_algorithm_run(&memory, &m, hmm_algorithm_named(algorithm), &t, &c), wrong);
}

TEST(what_cannot_run) {
  START();
  hmm_machine dmm = {HMM_KIND_DMM, 1, 4, 3, 1, 16, true}, hmm = {HMM_KIND_HMM, 1, 4, 3, 1, 8, true};
  hmm_machine umm = {HMM_KIND_UMM, 1, 8, 3, 1, 8, true};
  check_task("contiguous", dmm, (hmm_task){.n = 24},
             "n = 24 is no multiple of p = 16: --threads is a multiple of w = 4 that divides n");
  check_task("contiguous", dmm, (hmm_task){.n = 10},
             "n = 10 is no multiple of w = 4, so whole warps of threads cannot share it: the next "
             "that is, is 12");
  check_task("umm-transpose", (hmm_machine){HMM_KIND_UMM, 1, 32, 3, 1, 0, true},
             (hmm_task){.n = 16}, "the side of the matrix, 4, is no multiple of w = 32");
  check_task("contiguous", dmm, (hmm_task){.n = 0}, "n is from 1 to 2^31, not 0");
  check_task("crsw", dmm, (hmm_task){.n = 32},
             "a square matrix has no 32 elements: n is to be a square");
  check_task("crsw", (hmm_machine){HMM_KIND_DMM, 1, 8, 3, 1, 8, true}, (hmm_task){.n = 144},
             "the side of the matrix, 12, is no multiple of w = 8");
  check_task("hmm-transpose", dmm, (hmm_task){.n = 16},
             "hmm-transpose does not run on a dmm, only on an hmm");
  check_task("umm-transpose", hmm, (hmm_task){.n = 16},
             "umm-transpose does not run on an hmm, only on a dmm and a umm");
  check_task("hmm-transpose", hmm, (hmm_task){.n = 64},
             "its blocks have w^2 = 16 threads, of which p = 8 is no multiple");
  check_task("umm-transpose", umm, (hmm_task){.n = 64, .registers = 4},
             "tiles have the side sqrt(r w), a divisor of w: with w = 8, r = 4 there are none");
  check_task("umm-transpose", umm, (hmm_task){.n = 64, .registers = 9},
             "a thread has from 1 to w = 8 registers, not 9");
  uint64_t turned[16];
  for (uint64_t i = 0; i < 16; i++)
    turned[i] = (i + 4) % 16;
  hmm_task turn = {.n = 16, .list = turned};
  check_task("scheduled", hmm, turn,
             "it has a thread for each of the n = 16 elements: --threads 16");
  hmm.threads = 16;
  check_task("row-wise", hmm, turn, "the permutation does not stay inside rows of 4: 0 goes to 4");
  turned[3] = 0;
  check_task("column-wise", hmm, turn,
             "the permutation does not stay inside columns of 4: 3 goes to 0");
  hmm.threads = 32;
  check_task(
      "scheduled", hmm, (hmm_task){.n = 32, .list = turned},
      "n is to be a square whose side is a multiple of w = 4 and at most 2^16, which 32 is not");
  hmm.threads = 144;
  check_task("scheduled", hmm, (hmm_task){.n = 144, .list = turned},
             "the side of the matrix is to be a power of two, not 12");
  check_task("conflict-free", dmm, (hmm_task){.n = 1 << 17, .list = turned},
             "n is at most 2^16, as a shared memory's words are, not 131072");
  umm.threads = 64;
  check_task("umm-transpose", umm, (hmm_task){.n = 64},
             "each warp has as many of the 1 tiles of 8 x 8: p / w = 8 is no divisor");
}

// The waiting sets, a bit for each warp and memory, and an entry for each round.
TEST(bytes) {
  const hmm_algorithm *random = hmm_algorithm_named("random");
  hmm_machine m = {HMM_KIND_HMM, 4096, 1, 1, 1, 1 << 20, false};
  hmm_task t = {.n = 1 << 20};
  CHECK(hmm_algorithm_bytes(&m, random, &t) > UINT64_C(4096) * (1 << 20) / 8);
  m.barrier = true;
  CHECK(hmm_algorithm_bytes(&m, random, &t) < 1 << 28);
  m.threads = 1;
  CHECK(hmm_algorithm_bytes(&m, random, &t) > 5 << 20);
  m.threads = 0;
  CHECK(hmm_algorithm_bytes(&m, random, &t) >= 4 << 20);
}

// ---- speed -----------------------------------------------------------------------------------

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Rounds of the given stride; 0: of random addresses.
typedef struct rounds {
  hmm_op op;
  uint64_t count, stride;
} rounds;

static hmm_op rounds_op(void *state, uint64_t warp, uint64_t step) {
  const rounds *r = state;
  (void)warp;
  return step < r->count ? r->op : HMM_END;
}

static void rounds_lanes(void *state, uint64_t warp, uint64_t step, uint64_t *address,
                         hmm_word *value) {
  const rounds *r = state;
  uint64_t first = step * 1000 + warp * 32 * r->stride;
  (void)value;
  for (uint64_t i = 0; i < 32; i++)
    address[i] = r->stride ? first + i * r->stride
                           : ((warp << 20 ^ step << 5 ^ i) * UINT64_C(0x9e3779b97f4a7c15)) >> 40;
}

static void check_requests(uint64_t stride, hmm_op op, bool barrier) {
  START();
  rounds r = {op, 16, stride};
  hmm_machine m = {HMM_KIND_HMM, 1, 32, 400, 1, 1 << 15, barrier};
  hmm_program p = {.warps = 1 << 10,
                   .block_warps = 1,
                   .state = &r,
                   .op = rounds_op,
                   .lanes = rounds_lanes,
                   .global_words = UINT64_MAX,
                   .shared_words = UINT64_MAX};
  hmm_counts c;
  double start = seconds();
  CHECK_STR(hmm_run(&memory, &m, &p, &c), NULL);
  printf("%s, stride %d, %s: %.0f million accesses a second\n", hmm_op_names[op], (int)stride,
         barrier ? "barriers" : "free", (double)c.requests / (seconds() - start) / 1e6);
  CHECK_EQ_U64(c.requests, r.count << 15);
}

// Each request is counted, whatever the congestion. (It also says how fast: no more than that, for
// a test does not judge by the clock.)
TEST(many_requests) {
  static const uint64_t strides[] = {1, 2, 32, 0};
  for (int i = 0; i < 16; i++)
    check_requests(strides[i / 4], i & 1 ? HMM_READ_GLOBAL : HMM_READ_SHARED, i & 2);
}

TEST_MAIN()
