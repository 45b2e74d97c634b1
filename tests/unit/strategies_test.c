// Strategies by name: each computes what interp computes, on the CPU and by kernels on the host,
// and asks of memory what its name promises (kernels.h).
#include "tests/unit/kernels.h"

#include "fusion/plan.h"

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
    {"padded 7 bitrev", "[3000]u32"},
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

TEST(kernels) {
  if (kernels_no_compiler())
    SKIP("there is no C compiler");
  for (size_t s = 0; plan_strategy_at(s); s++)
    for (size_t i = 0; i < ROWS; i++) {
      trial t;
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

// ---- what the names promise
// ----------------------------------------------------------------------

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
