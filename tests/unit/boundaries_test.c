// Every boundary between passes has a reason (fusion/plan/plan.h): in the library at some sizes,
// and in random programs.
#include "tests/unit/api.h"
#include "tests/unit/library_rows.h"
#include "tests/unit/memory.h"

#include "runtime/pipeline.h"
#include "tests/generator/hidden.h"
#include "tests/generator/program.h"

#include <ctype.h>

static size_t boundaries;

static bool check_plan(permc_context *c, pipeline *p, void *with) {
  (void)c;
  bool *good = with;
  uint32_t count;
  const plan_boundary *list = plan_boundaries(&memory, p->plan, &count);
  for (uint32_t i = 0; i < count; i++)
    *good = CHECK(list[i].reason != NET_REASON_NONE) && *good;
  boundaries += count;
  return true;
}

// One that does not exist at these arguments has nothing to check.
static void check_boundaries(permc_context *c, const char *entry, const char *types,
                             const char *goal, const char *code) {
  bool good = true;
  pipeline_request r = {.entry = entry, .last = STAGE_PLAN, .types = types, .target = goal};
  pipeline_with(c, &r, check_plan, &good);
  if (!good)
    printf("%s of %s for %s\n", code, types, goal);
  arena_free(&memory);
}

// The types with 2^(k + more) for each 2^k.
static void resize(text *out, const char *types, int more) {
  for (const char *at = types; *at; at++) {
    text_printf(out, "%c", *at);
    if (at[0] == '^') {
      int k = (int)strtol(at + 1, NULL, 10) + more;
      text_printf(out, "%d", k > 0 ? k : 0);
      while (isdigit((unsigned char)at[1]))
        at++;
    }
  }
}

TEST(library) {
  static const char *const targets[] = {"avx512", "gpu"};
  START();
  for (size_t i = 0; i < LIBRARY_ROWS; i++) {
    permc_context *c = load_expression(library_rows[i].expression);
    for (int more = -9; more <= 3; more += 3) {
      text types = {0};
      resize(&types, library_rows[i].types, more);
      for (int t = 0; t < 2; t++)
        check_boundaries(c, "-e", text_content(&types), targets[t], library_rows[i].expression);
      text_free(&types);
    }
    permc_context_free(c);
  }
  CHECK(boundaries > 500);
}

static void check_program(permc_context *c, const char *code, const char *types) {
  if (CHECK(permc_load_text(c, "random.perm", code, strlen(code))))
    check_boundaries(c, "main", types, "line32-tile128k", code);
}

TEST(random_programs) {
  enum { PROGRAMS = 200, HIDDEN = 50 };
  program_options options = default_program_options;
  options.fault_percent = 0;
  permc_context *c = random_program_context();
  START();
  boundaries = 0;
  for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
    random_program *p = random_program_new(seed, &options);
    REQUIRE(p != NULL);
    char *types = random_program_types(p);
    check_program(c, p->text, types);
    free(types);
    random_program_free(p);
  }
  for (uint64_t seed = 0; seed < HIDDEN; seed++) {
    hidden_program p;
    text code = {0}, types = {0};
    hidden_draw(&p, seed, (hidden_way)(seed % HIDDEN_WAYS));
    hidden_text(&code, &p);
    hidden_types(&types, &p);
    check_program(c, text_content(&code), text_content(&types));
    text_free(&code);
    text_free(&types);
  }
  permc_context_free(c);
  CHECK(boundaries > 200);
}

TEST_MAIN()
