// Strategies by name: each computes what interp computes, on the CPU and by kernels on the host,
// and asks of memory what its name promises (kernels.h).
#include "tests/unit/kernels.h"

#include "fusion/plan/plan.h"
#include "kernels/routines/permute/permute.h"

#include <sys/mman.h>

#define ANY_16                                                                                     \
  "bmmc [1, 3, 7, 14, 19, 51, 66, 229, 348, 985, 1303, 3271, 5947, 10967, 32537, 51699] 12345"

typedef struct row {
  const char *expression, *types;
} row;

static const row rows[] = {
    {"bitrev", "[2^16]u32"},
    {"bitrev", "[2^15]u8"},
    {"bitrev", "[2^14]c128"},
    {"bitrev", "[2^4]u16"},
    {"bitrev", "[1]u32"},
    {ANY_16, "[2^16]u32"},
    {ANY_16, "[2^16]u16"},
    {"map bitrev", "[3][2^12]u64"},
    {"map (map reverse)", "[3][5][2^10]u8"},
    {"bitrev", "[2^13](u8, f64)"},
    {"transpose", "[2^6][2^9]u32"},
    {"gray", "[2^15]f32"},
    {"\\xs -> (bitrev xs, gray xs, xs)", "[2^12]u32"},
    {"bitrev . map (+ 1) . gray", "[2^12]u32"},
    {"\\xs -> take 3000 (bitrev (extended 7 xs))", "[3000]u32"},
    {"sort", "[2^11]u32"},
};
enum { ROWS = sizeof rows / sizeof *rows };

typedef struct trial {
  permc_context *context;
  permc_value **arguments;
  size_t count;
  result oracle;
  char name[200];
} trial;

static bool open_trial(trial *t, const row *r, const char *strategy) {
  *t = (trial){.context = permc_context_new()};
  permc_context *c = t->context;
  snprintf(t->name, sizeof t->name, "%s of %s by %s", r->expression, r->types, strategy);
  bool good =
      c && permc_use_strategy(c, strategy) && permc_define(c, r->expression) &&
      permc_read_random(c, "-e", r->types, 1, &t->arguments, &t->count) &&
      permc_run(c, "-e", "interp", t->arguments, t->count, &t->oracle.values, &t->oracle.count);
  if (!CHECK(good))
    printf("%s: %s\n", t->name, c ? permc_message(c) : "");
  return good;
}

static void close_trial(trial *t) {
  free_result(&t->oracle);
  permc_values_free(t->arguments, t->count);
  permc_context_free(t->context);
}

static void check_equal(const trial *t, const result *found) {
  bool good = CHECK_EQ_U64(found->count, t->oracle.count);
  for (size_t v = 0; good && v < found->count; v++)
    for (size_t i = 0; good && i < permc_value_components(found->values[v]); i++)
      good = CHECK(kernels_equal(t->oracle.values[v], found->values[v], i));
  if (!good)
    printf("%s\n", t->name);
}

// Banks that meet are what `tile` is there to show.
static bool has_conflicts(const char *strategy) { return !strcmp(strategy, "tile"); }

static void check_kernels(trial *t, const row *r, const char *strategy) {
  kernels k = {.name = t->name};
  result found = {0};
  if (CHECK(kernels_make(&k, t->context, "-e", r->types))) {
    kernels_compile(&k, 1);
    if (kernels_run(&k, t->arguments, t->count, &t->oracle, &found))
      check_equal(t, &found);
    if (!has_conflicts(strategy))
      kernels_check_counts(&k);
  }
  free_result(&found);
  kernels_free(&k);
}

// These change nothing here: permuted_test has them.
static bool is_for_schedules(const char *strategy) {
  bool found = false;
  for (size_t i = 0; i < PERMUTE_KINDS; i++)
    found |= !strcmp(strategy, permute_names[i]);
  return found;
}

TEST(kernels) {
  if (kernels_no_compiler())
    SKIP("there is no C compiler");
  for (size_t s = 0; plan_strategy_at(s); s++)
    for (size_t i = 0; i < ROWS && !is_for_schedules(plan_strategy_at(s)->name); i++) {
      trial t;
      if ((s + i) % test_step(2))
        continue;
      if (open_trial(&t, &rows[i], plan_strategy_at(s)->name))
        check_kernels(&t, &rows[i], plan_strategy_at(s)->name);
      close_trial(&t);
    }
}

TEST(on_the_processor) {
  for (size_t s = 0; plan_strategy_at(s); s++)
    for (size_t i = 0; i < ROWS; i++) {
      trial t;
      result found = {0};
      if (open_trial(&t, &rows[i], plan_strategy_at(s)->name) &&
          CHECK(permc_run(t.context, "-e", "portable", t.arguments, t.count, &found.values,
                          &found.count)))
        check_equal(&t, &found);
      free_result(&found);
      close_trial(&t);
    }
}

// ---- addresses of more than 32 bits ------------------------------------------------------------

static uint64_t reversed(uint64_t x, int n) {
  uint64_t y = 0;
  for (int i = 0; i < n; i++)
    y |= (x >> i & 1) << (n - 1 - i);
  return y;
}

// The index of an element of a block, which is the source's address.
static uint64_t element_of(const plan_pass *p, int n, uint64_t block, uint64_t number) {
  uint64_t x = 0;
  for (int i = 0; i < p->tile.dimension; i++)
    x ^= number >> i & 1 ? p->tile.basis[i] : 0;
  for (int i = 0; i < n - p->tile.dimension; i++)
    x ^= block >> i & 1 ? p->blocks[i] : 0;
  return x;
}

// Arrays of 16 GiB that the system need not have: one block touches few pages of them.
enum { HUGE_BITS = 34 };
static uint8_t *huge_array(void) {
  void *all = mmap(NULL, (size_t)1 << HUGE_BITS, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return all == MAP_FAILED ? NULL : all;
}

static void check_huge_block(kernels *k, uint64_t block, uint8_t *input, uint8_t *goal) {
  const plan_pass *p = &k->plan->passes.items[0];
  const permc_pass_row *kernel = dlsym(k->library, "permc_passes");
  uint64_t count = UINT64_C(1) << p->tile.dimension, wrong = 0;
  size_t room = (kernel->scratch_bytes + KERNELS_GUARD) / KERNELS_GUARD * KERNELS_GUARD;
  void *scratch = aligned_alloc(KERNELS_GUARD, room), *arrays[2];
  arrays[p->loads[0].array] = input;
  arrays[p->stores[0].array] = goal;
  for (uint64_t i = 0; i < count; i++)
    input[element_of(p, HUGE_BITS, block, i)] = (uint8_t)(i * 37 + (i >> 8) + 1);
  kernel->code(arrays, block, block + 1, scratch, NULL);
  for (uint64_t i = 0; i < count; i++) {
    uint64_t x = element_of(p, HUGE_BITS, block, i);
    wrong += goal[reversed(x, HUGE_BITS)] != input[x];
  }
  CHECK_EQ_U64(wrong, 0);
  free(scratch);
}

static void check_huge(const char *strategy) {
  permc_context *c = permc_context_new();
  kernels k = {.name = "bitrev of [2^34]u8"};
  uint8_t *input = huge_array(), *goal = huge_array();
  if (input && goal && CHECK(c && permc_use_strategy(c, strategy)) &&
      CHECK(permc_define(c, "bitrev") && kernels_make(&k, c, "-e", "[2^34]u8"))) {
    kernels_compile(&k, 1);
    REQUIRE(k.library != NULL && k.plan->passes.count == 1);
    uint64_t last = (UINT64_C(1) << (HUGE_BITS - k.plan->passes.items[0].tile.dimension)) - 1;
    check_huge_block(&k, 5, input, goal);
    check_huge_block(&k, last, input, goal);
    check_huge_block(&k, last / 3 * 2, input, goal);
  }
  if (input)
    munmap(input, (size_t)1 << HUGE_BITS);
  if (goal)
    munmap(goal, (size_t)1 << HUGE_BITS);
  kernels_free(&k);
  permc_context_free(c);
}

TEST(more_than_32_bits) {
  uint8_t *probe = huge_array();
  if (kernels_no_compiler() || !probe)
    SKIP(probe ? "there is no C compiler" : "there are no 16 GiB of addresses");
  munmap(probe, (size_t)1 << HUGE_BITS);
  check_huge("onepass");
  check_huge("online");
  check_huge("tile+banks+iters");
  check_huge("naive");
}

// ---- what the names promise ------------------------------------------------------------------

static const plan *plan_by(arena *memory, const char *strategy, const char *expression,
                           const char *types) {
  permc_context *c = permc_context_new();
  const plan *p = NULL;
  if (CHECK(c && permc_use_strategy(c, strategy) && permc_define(c, expression)))
    p = kernels_plan(memory, c, "-e", types);
  permc_context_free(c);
  return p;
}

static void check_passes(const char *strategy, const char *expression, const char *types,
                         size_t passes, bool coalesced) {
  jmp_buf failure;
  arena memory = {.failure = &failure};
  if (setjmp(failure))
    abort();
  const plan *p = plan_by(&memory, strategy, expression, types);
  if (CHECK(p != NULL)) {
    CHECK_EQ_U64(p->passes.count, passes);
    CHECK_STR(p->strategy[0], strategy);
    for (size_t i = 0; i < p->passes.count; i++) {
      CHECK(p->passes.items[i].loads[0].coalesced);
      CHECK(p->passes.items[i].stores[0].coalesced == coalesced);
    }
  }
  arena_free(&memory);
}

// The BMMC paper, sections 4 and 5: a matrix that permutes bits is one pass, any other two; a tile
// that is any subspace makes one of each.
TEST(passes) {
  check_passes("naive", "bitrev", "[2^20]u32", 1, false);
  check_passes("tile", "bitrev", "[2^20]u32", 1, true);
  check_passes("tile+banks", "bitrev", "[2^20]u32", 1, true);
  check_passes("tile+banks+iters", "bitrev", "[2^20]u32", 1, true);
  check_passes("ulp", "bitrev", "[2^20]u32", 2, true);
  check_passes("onepass", "bitrev", "[2^20]u32", 1, true);
  check_passes("tile", ANY_16, "[2^16]u32", 2, true);
  check_passes("tile+banks", ANY_16, "[2^16]u32", 2, true);
  check_passes("ulp", ANY_16, "[2^16]u32", 2, true);
  check_passes("onepass", ANY_16, "[2^16]u32", 1, true);
  check_passes("online", ANY_16, "[2^16]u32", 1, true);
}

static char *text_by(const char *expression, const char *types) {
  permc_context *c = permc_context_new();
  kernels k = {.name = expression};
  char *found = NULL;
  if (CHECK(c && permc_use_strategy(c, "online") && permc_define(c, expression)) &&
      CHECK(kernels_make(&k, c, "-e", types)))
    found = kernels_gpu_text(&k);
  kernels_free(&k);
  permc_context_free(c);
  return found;
}

// One kernel for any matrix, any size and any type of that width.
TEST(online_kernels_are_one) {
  char *a = text_by("bitrev", "[2^20]u32"), *b = text_by("bitrev", "[2^25]f32"),
       *c = text_by("flip_bits 77777 . bitrev", "[2^22]i32"),
       *d = text_by("map bitrev", "[9][2^20]u32");
  if (CHECK(a && b && c && d)) {
    CHECK_STR(b, a);
    CHECK_STR(c, a);
    CHECK_STR(d, a);
  }
  free(a);
  free(b);
  free(c);
  free(d);
}

TEST(unknown_names_are_refused) {
  permc_context *c = permc_context_new();
  CHECK(c && !permc_use_strategy(c, "tiles"));
  CHECK_STR(permc_message(c), "permc: there is no strategy 'tiles'\n");
  CHECK(permc_use_strategy(c, NULL));
  permc_context_free(c);
}

TEST_MAIN()
