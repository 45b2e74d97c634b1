// Traces of plans: what the memory machine counts of the same accesses, and known ones.
#include "kernels/banks/banks.h"
#include "kernels/hmm/pass.h"
#include "kernels/hmm/plan.h"
#include "runtime/permc.h"
#include "tests/readers/readers.h"
#include "tests/test.h"

static arena memory;
static jmp_buf failure;

static const plan *plan_of(const char *expression, const char *types, const char *strategy) {
  permc_explain_options o = {.target = "gpu", .types = types, .dump = "plan"};
  permc_context *c = permc_context_new();
  char *printed = NULL;
  const char *wrong = NULL;
  CHECK(c && permc_use_strategy(c, strategy) && permc_define(c, expression) &&
        permc_explain(c, "-e", NULL, 0, &o, &printed));
  const plan *p = printed ? plan_read(&memory, printed, &wrong) : NULL;
  CHECK_STR(wrong, NULL);
  free(printed);
  permc_context_free(c);
  return p;
}

static uint64_t times_of(const bank_trace *t) {
  uint64_t sum = 0;
  for (size_t i = 0; i < t->accesses.count; i++)
    sum += t->accesses.items[i].times;
  return sum;
}

static uint64_t units_of(const bank_trace *t) {
  bank_counter *c = bank_counter_new(&memory, 32, 32);
  uint64_t sum = 0;
  for (size_t i = 0; i < t->accesses.count; i++) {
    const bank_access *one = &t->accesses.items[i];
    sum += one->times * bank_congestion(c, one->count, one->address);
  }
  return sum;
}

static void check_access(const bank_access *one, uint64_t first, uint64_t second, uint64_t last) {
  CHECK_EQ_U64(one->times, 16);
  if (CHECK_EQ_U64(one->count, 32)) {
    CHECK_EQ_U64(one->address[0], first);
    CHECK_EQ_U64(one->address[1], second);
    CHECK_EQ_U64(one->address[31], last);
  }
}

// The example of plan.h: lines in, and columns out, in the order of the reversed bits.
TEST(tile_of_a_bit_reversal) {
  bank_trace t = {0};
  const plan *p = plan_of("bitrev", "[2^14]u32", "tile");
  REQUIRE(p && !bank_trace_add_plan(&memory, &t, p));
  REQUIRE(t.accesses.count == 64);
  CHECK_EQ_U64(t.words, 1024);
  CHECK_EQ_U64(t.lanes, 32);
  check_access(&t.accesses.items[0], 0, 1, 31);
  check_access(&t.accesses.items[1], 0, 512, 992);
  check_access(&t.accesses.items[2], 32, 33, 63);
  CHECK_EQ_U64(units_of(&t), 16 * (32 + 32 * 32));
}

// ---- counts ----------------------------------------------------------------------------------

typedef struct row {
  const char *expression, *types;
} row;
#define ANY_16                                                                                     \
  "bmmc [1, 3, 7, 14, 19, 51, 66, 229, 348, 985, 1303, 3271, 5947, 10967, 32537, 51699] 12345"

static const row rows[] = {
    {ANY_16, "[2^16]u32"},         {ANY_16, "[2^16]u64"},
    {"bitrev", "[2^16]u32"},       {"bitrev", "[2^16]u8"},
    {"bitrev", "[2^15]u16"},       {"bitrev", "[2^14]u64"},
    {"bitrev", "[2^12]c128"},      {"transpose", "[2^7][2^8]u32"},
    {"sort", "[2^15]u32"},         {"map sort", "[64][2^8]u8"},
    {"fft", "[2^13]c64"},          {"map sort", "[20][2^5](u8, f64)"},
    {"map bitrev", "[3][2^9]f32"},
};

static void count(const plan *p, uint64_t *accesses, uint64_t *units) {
  hmm_machine m = {HMM_KIND_HMM, 1, 32, 1, 1, 0, true};
  const c_options raw = {.stream_bytes = UINT64_MAX, .layout = bank_layout_kind_named("raw")};
  *accesses = *units = 0;
  for (uint32_t i = 0; i < p->passes.count; i++) {
    hmm_counts c = {0};
    CHECK_STR(hmm_plan_run(&memory, &m, p, i, &raw, &c), NULL);
    *accesses += c.accesses[HMM_READ_SHARED] + c.accesses[HMM_WRITE_SHARED];
    *units += c.stages[HMM_READ_SHARED] + c.stages[HMM_WRITE_SHARED];
  }
}

// Of every block, where the trace has looked at one of each pass only.
TEST(as_the_machine_counts) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bank_trace t = {0};
    uint64_t accesses, units;
    const plan *p = plan_of(rows[i].expression, rows[i].types, NULL);
    REQUIRE(p && !bank_trace_add_plan(&memory, &t, p));
    count(p, &accesses, &units);
    if (!CHECK_EQ_U64(times_of(&t), accesses) || !CHECK_EQ_U64(units_of(&t), units))
      printf("%s of %s\n", rows[i].expression, rows[i].types);
  }
}

// Of two passes the same again: only times grow.
TEST(equal_accesses_are_one) {
  bank_trace t = {0};
  const plan *p = plan_of("bitrev", "[2^14]u32", "tile");
  REQUIRE(p && !bank_trace_add_plan(&memory, &t, p) && !bank_trace_add_plan(&memory, &t, p));
  CHECK_EQ_U64(t.accesses.count, 64);
  CHECK_EQ_U64(times_of(&t), 2 * 1024);
}

// Blocks of nothing but padding ask for nothing.
TEST(padding) {
  bank_trace t = {0}, whole = {0};
  const plan *p = plan_of("padded maxval sort", "[40000]u32", NULL);
  REQUIRE(p && !bank_trace_add_plan(&memory, &t, p));
  p = plan_of("sort", "[65536]u32", NULL);
  REQUIRE(p && !bank_trace_add_plan(&memory, &whole, p));
  CHECK(times_of(&t) > 0 && times_of(&t) < times_of(&whole));
}

// Those that have work are counted by their least indices, and here one by one.
TEST(tiles_with_work) {
  static const row padded[] = {{"padded maxval sort", "[40000]u32"},
                               {"padded maxval sort", "[8193]u32"},
                               {"padded maxval sort", "[65537]u8"},
                               {"map (padded maxval sort)", "[5][3000]u64"},
                               {"padded maxval (sort_on fst)", "[20000](u32, u32)"},
                               {"padded 0 (scan (+))", "[100001]u32"},
                               {"sort", "[2^14]u32"}};
  for (size_t i = 0; i < sizeof padded / sizeof *padded; i++) {
    const plan *p = plan_of(padded[i].expression, padded[i].types, NULL);
    for (uint32_t k = 0; p && k < p->passes.count; k++) {
      hmm_pass pass;
      uint64_t first, times = 0;
      REQUIRE(hmm_pass_open(&memory, p, k, NULL, &pass) == NULL);
      for (uint64_t item = 0; item < pass.items; item++)
        times += !hmm_pass_skips(&pass, item);
      if (!CHECK_EQ_U64(hmm_pass_working(&pass, &first), times) ||
          !CHECK(times == 0 || !hmm_pass_skips(&pass, first)))
        printf("%s of %s, pass %u\n", padded[i].expression, padded[i].types, k + 1);
    }
  }
}

TEST(none) {
  bank_trace t = {0};
  const plan *p = plan_of("map (+ 1)", "[2^10]u32", NULL);
  REQUIRE(p);
  CHECK_STR(bank_trace_add_plan(&memory, &t, p), NULL);
  CHECK_EQ_U64(t.accesses.count, 0);
  p = plan_of("bitrev", "[2^14]u32", "online");
  REQUIRE(p);
  CHECK_CONTAINS(bank_trace_add_plan(&memory, &t, p),
                 "the strategy online has a kernel of its own");
}

int main(int argc, char **argv) {
  memory.failure = &failure;
  if (setjmp(failure))
    abort();
  int status = test_main(argc, argv);
  arena_free(&memory);
  return status;
}
