// Exchanges by every bank layout: results stay, and a machine counts the conflicts that the kernels
// have.
#include "tests/unit/kernels_trial.h"

#include "kernels/banks/banks.h"

enum { KINDS_MOST = 32 };

typedef struct row {
  const char *expression, *types;
  size_t first, step;  // layouts: all, or some, other ones in each row
} row;

// Of every width, of one and several slots, complex, with phases that skip a slot, and padded.
static const row rows[] = {
    {"bitrev", "[2^12]u32", 0, 1},
    {"transpose", "[2^6][2^6]u16", 0, 3},
    {"bitrev", "[2^13]u8", 1, 3},
    {"map sort", "[4][2^9]u64", 2, 3},
    {"fft", "[2^10]c64", 1, 3},
    {"map sort", "[8][2^6](u8, f64)", 1, 5},
    {"padded maxval sort", "[1500]f32", 2, 5},
    {"bitrev", "[2^3]u16", 0, 1},
};
enum { ROWS = sizeof rows / sizeof *rows };

static size_t kind_count(void) {
  size_t count = 0;
  while (bank_layout_kind_at(count))
    count++;
  return count;
}

static void check_row(const row *r) {
  static trial trials[KINDS_MOST];
  static kernels all[KINDS_MOST];
  size_t kinds = 0;
  bool good = CHECK(kind_count() <= KINDS_MOST);
  for (size_t kind = r->first; bank_layout_kind_at(kind) && good; kind += r->step) {
    size_t i = kinds++;
    all[i] = (kernels){.options = {.layout = bank_layout_kind_at(kind), .layout_seed = 7 + i}};
    good = trial_make(&trials[i], &all[i], r->expression, r->types);
  }
  if (good)
    kernels_compile(all, kinds);
  for (size_t i = 0; i < kinds && good; i++) {
    bool agrees = trial_agrees(&trials[i], &all[i]);
    if (agrees)
      kernels_check_hmm(&all[i]);
    if (agrees && all[i].options.layout == bank_layout_kind_named(BANK_LAYOUT_DEFAULT))
      kernels_check_counts(&all[i]);
    if (!agrees)
      printf("%s of %s by %s\n", r->expression, r->types, all[i].options.layout->name);
  }
  for (size_t i = 0; i < kinds; i++) {
    kernels_free(&all[i]);
    trial_free(&trials[i]);
  }
}

TEST(kernels_by_every_layout) {
  if (kernels_no_compiler())
    SKIP("there is no C compiler");
  for (size_t i = 0; i < ROWS; i++)
    check_row(&rows[i]);
}

// The turns at the banks that a machine counts for a whole plan, of accesses with none to spare.
static void count(const kernels *k, uint64_t *accesses, uint64_t *turns) {
  hmm_machine m = {HMM_KIND_HMM, 1, 32, 100, 1, 0, true};
  *accesses = *turns = 0;
  for (uint32_t i = 0; i < k->plan->passes.count; i++) {
    arena scratch = {.failure = &kernels_failure};
    hmm_counts c = {0};
    CHECK_STR(hmm_plan_run(&scratch, &m, k->plan, i, &k->options, &c), NULL);
    for (int op = 0; op < HMM_ACCESSES; op++)
      if (hmm_is_shared(op)) {
        *accesses += c.accesses[op];
        *turns += c.stages[op];
      }
    arena_free(&scratch);
  }
}

// A transpose of 2^10 x 2^10: lanes along rows before the exchange, along columns behind it, where
// in the raw bank_layout all 32 meet in a bank. Accesses of four neighbours have lanes four words
// apart, so that padding and single bits do not suffice; XORs of bits do.
TEST(conflicts_of_a_transpose) {
  static const struct {
    const char *layout;
    double least, most;  // turns of an access
  } expected[] = {{"raw", 16.5, 32},
                  {"padding", 1, 8},
                  {"fixed-xor", 1, 8},
                  {"RAP", 1, 8},
                  {"RAS", 1, 8},
                  {"bitwise-mih", 1, 16.5},
                  {"bit-vector-xor", 1, 1},
                  {"bitwise-xor-mih", 1, 1},
                  {"optimal", 1, 1}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    trial t;
    kernels k = {
        .options = {.layout = bank_layout_kind_named(expected[i].layout), .layout_seed = 1}};
    uint64_t accesses, turns;
    if (!CHECK(k.options.layout) || !trial_make(&t, &k, "transpose", "[2^10][2^10]u32"))
      return;
    count(&k, &accesses, &turns);
    double each = (double)turns / (double)accesses;
    if (!CHECK(each >= expected[i].least && each <= expected[i].most))
      printf("%s: %g turns\n", expected[i].layout, each);
    kernels_free(&k);
    trial_free(&t);
  }
}

TEST(on_the_cpu) {
  permc_context *c = permc_context_new();
  permc_value **arguments = NULL;
  size_t count = 0;
  result oracle = {0};
  bool good = permc_define(c, "fft") &&
              permc_read_random(c, "-e", "[2^9]c64", 1, &arguments, &count) &&
              permc_run(c, "-e", "interp", arguments, count, &oracle.values, &oracle.count);
  for (size_t i = 0; bank_layout_kind_at(i) && good; i++) {
    result found = {0};
    good = CHECK(permc_use_layout(c, bank_layout_kind_at(i)->name) &&
                 permc_run(c, "-e", "cpu", arguments, count, &found.values, &found.count)) &&
           CHECK(kernels_equal(oracle.values[0], found.values[0], 0));
    CHECK_STR(permc_message(c), "");
    if (!good)
      printf("%s: %s\n", bank_layout_kind_at(i)->name, permc_message(c));
    free_result(&found);
  }
  CHECK(good);
  free_result(&oracle);
  permc_values_free(arguments, count);
  permc_context_free(c);
}

TEST(names) {
  permc_context *c = permc_context_new();
  CHECK(permc_use_layout(c, "RAP:18446744073709551615") && permc_use_layout(c, "ras:0"));
  static const char *const wrong[] = {"",       ":",      "RAP:", "RAP:x",
                                      "RAP:-1", "RAP:1x", "RAPS", "1:RAP"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    CHECK(!permc_use_layout(c, wrong[i]));
  CHECK_CONTAINS(permc_message(c), "permc: there is no layout '1:RAP'\n");
  CHECK(permc_use_layout(c, NULL));
  permc_context_free(c);
}

TEST_MAIN()
