// choose by cost: which function runs where, seen by functions that differ although they promise
// not to. What is predicted and stored; what a function that is not taken leaves behind: nothing.
#include "tests/unit/api.h"

#include "runtime/pipeline.h"

#include <unistd.h>

// long and short ones: 200 dependent steps for each element, or one; they mark their results.
#define FUNCTIONS                                                                                  \
  "long xs = map (\\x -> 1000 + (iter 200 (\\y -> y * y + x) x & 1)) xs\n"                         \
  "short xs = map (+ 2000) xs\n"

static int32_t first_of(permc_context *c, const char *entry, const char *name, uint64_t length) {
  int32_t *zeros = calloc(length, sizeof *zeros), first = -1;
  permc_value *in = value_1("i32", length, zeros), **out = NULL;
  size_t count = 0;
  if (CHECK(permc_run(c, entry, name, &in, 1, &out, &count)))
    first = ((const int32_t *)permc_value_data(out[0], 0))[0];
  else
    CHECK_STR(permc_message(c), "");
  permc_values_free(out, count);
  permc_value_free(in);
  free(zeros);
  return first;
}

TEST(the_cheapest_is_taken_and_interp_takes_the_first) {
  static const struct {
    const char *functions;
    int32_t first, cheapest;
  } rows[] = {{"[long, short]", 1000, 2000},
              {"[short, long]", 2000, 2000},
              {"[long, long . long, short]", 1000, 2000},
              {"[short . short, choose [long, short]]", 4000, 2000},
              {"[choose [long, short], long]", 1000, 2000},
              {"[long]", 1000, 1000}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text_of[1000];
    snprintf(text_of, sizeof text_of, FUNCTIONS "main : [m]i32 -> [m]i32\nmain = choose %s\n",
             rows[i].functions);
    permc_context *c = load_text(text_of);
    REQUIRE(c != NULL);
    CHECK_EQ_I64(first_of(c, "main", "interp", 100), rows[i].first);
    CHECK_EQ_I64(first_of(c, "main", "portable", 100), rows[i].cheapest);
    CHECK_EQ_I64(first_of(c, "main", "machine", 100), rows[i].cheapest);
    permc_context_free(c);
  }
}

// Inside map, column and calls that are copied for another batch; of several arrays at once.
TEST(wherever_it_stands) {
  permc_context *c = load_text(
      FUNCTIONS
      "either = choose [long, short]\n"
      "rows : [m]i32 -> [m]i32\n"
      "rows xs = join (map either (split 2 xs))\n"
      "twice : [m]i32 -> [m]i32\n"
      "twice xs = zip_with (-) (join (map either (split 1 xs))) (map (+ 0) (either xs))\n"
      "pairs : [m]i32 -> [m]i32\n"
      "pairs xs = (choose [\\(x, y) -> (long x, y), \\(x, y) -> (short x, y)] (xs, xs)).0\n"
      "static : [m]i32 -> [m]i32\n"
      "static xs = map (+ (i32 (choose [sum, maximum] [1, 2, 3]))) xs\n"
      "function : [m]i32 -> [m]i32\n"
      "function xs = choose [\\ys f -> f ys, \\ys f -> ys] xs (map (+ 7))\n");
  REQUIRE(c != NULL);
  CHECK_EQ_I64(first_of(c, "rows", "interp", 16), 1000);
  CHECK_EQ_I64(first_of(c, "rows", "portable", 16), 2000);
  CHECK_EQ_I64(first_of(c, "twice", "interp", 16), 0);
  CHECK_EQ_I64(first_of(c, "twice", "portable", 16), 0);
  CHECK_EQ_I64(first_of(c, "pairs", "portable", 16), 2000);
  CHECK_EQ_I64(first_of(c, "static", "portable", 16), 6);
  CHECK_EQ_I64(first_of(c, "function", "portable", 16), 7);
  permc_context_free(c);
}

// What ranks send is part of what a function takes: work on a rank's own elements is the cheaper
// one there.
TEST(ranks_compare_what_they_send) {
  permc_context *c =
      load_text("far : [2^n]i32 -> [2^n]i32\n"
                "far xs = map (+ 1000) (bitrev xs)\n"
                "near : [2^n]i32 -> [2^n]i32\n"
                "near xs = map (\\x -> 2000 + (iter 12 (\\y -> y * y + x) x & 1)) xs\n"
                "main : [2^n]i32 -> [2^n]i32\n"
                "main = choose [far, near]\n");
  REQUIRE(c != NULL);
  CHECK_EQ_I64(first_of(c, "main", "cpu", 1 << 14), 1000);
  CHECK(permc_use_ranks(c, &(permc_ranks){.transport = "threads", .count = 4}));
  CHECK_EQ_I64(first_of(c, "main", "cpu", 1 << 14), 2000);
  permc_context_free(c);
}

// A place outside, or padding in a result, is an error of the function that is taken only.
TEST(what_is_not_taken_is_not_checked) {
  permc_context *c = load_text(FUNCTIONS "outside xs = long (gather (map (+ 99) xs) xs)\n"
                                         "padding xs = long (padded 5 reverse xs)\n"
                                         "main : [m]i32 -> [m]i32\n"
                                         "main = choose [outside, short]\n"
                                         "other : [m]i32 -> [m]i32\n"
                                         "other = choose [padding, short]\n");
  REQUIRE(c != NULL);
  CHECK_EQ_I64(first_of(c, "main", "portable", 3), 2000);
  CHECK_EQ_I64(first_of(c, "other", "portable", 3), 2000);
  permc_value *in = value_1("i32", 3, (int32_t[]){0, 0, 0}), **out = NULL;
  size_t count;
  CHECK(!permc_run(c, "main", "interp", &in, 1, &out, &count));
  CHECK_CONTAINS(permc_message(c), "index 99 at position 0 is outside");
  CHECK(!permc_run(c, "other", "interp", &in, 1, &out, &count));
  CHECK_CONTAINS(permc_message(c), "padding");
  permc_value_free(in);
  permc_context_free(c);
}

// Choices of choices have 2^60 functions: so many are compared as there is time for.
TEST(many_are_bounded) {
  permc_context *c = load_text("deep k xs = if k == 0 then xs else\n"
                               "  choose [deep (k - 1) . map (+ 1), deep (k - 1) . map (1 +)] xs\n"
                               "main : [m]i32 -> [m]i32\n"
                               "main = deep 60\n");
  REQUIRE(c != NULL);
  CHECK_EQ_I64(first_of(c, "main", "portable", 10), 60);
  permc_context_free(c);
}

typedef struct expected {
  uint32_t taken;
  choice_reason reason;
} expected;

static bool check_choice(permc_context *c, pipeline *p, void *with) {
  const expected *e = with;
  (void)c;
  CHECK_EQ_U64(p->choices.count, 1);
  CHECK_EQ_U64(p->choices.taken[0], e->taken);
  CHECK_EQ_U64(p->choices.reason[0], e->reason);
  return true;
}

static void check_taken(permc_context *c, const char *name, expected e) {
  pipeline_request r = {.entry = "main", .types = "[1000]i32", .last = STAGE_PLAN, .backend = name};
  CHECK(pipeline_with(c, &r, check_choice, &e));
}

// What was measured counts more than what is predicted; numbers of functions that are not there,
// nothing.
TEST(what_is_stored) {
  char place[512];
  const char *folder = getenv("PERMC_TMP"), *why;
  snprintf(place, sizeof place, "%s/choices-XXXXXX", folder ? folder : "/tmp");
  REQUIRE(mkdtemp(place) != NULL);
  setenv("PERMC_CACHE", place, 1);
  permc_context *c = load_text(FUNCTIONS "main : [m]i32 -> [m]i32\nmain = choose [long, short]\n");
  REQUIRE(c != NULL);
  tuned_trial trial = {.target = NULL};
  cache entries;
  char path[CACHE_PATH];
  check_taken(c, "interp", (expected){0, CHOICE_FIRST});
  c->trial = &trial;
  check_taken(c, "portable", (expected){1, CHOICE_PREDICTED});
  CHECK_EQ_U64(trial.predicted.count, 1);
  CHECK_EQ_U64(trial.predicted.items[0].function, 1);
  CHECK_EQ_U64(trial.functions[0], 2);
  trial.take = (tuned_choices){1, {{0, 0}}};
  check_taken(c, "portable", (expected){0, CHOICE_MEASURED});
  c->trial = NULL;
  check_taken(c, "portable", (expected){1, CHOICE_PREDICTED});
  cache_open(&entries);
  CHECK(tuned_store_choices(&entries, trial.choice_key, &trial.take, path, &why));
  check_taken(c, "portable", (expected){0, CHOICE_MEASURED});
  check_taken(c, "machine", (expected){1, CHOICE_PREDICTED});
  CHECK(cache_keep_text(&entries, CACHE_TUNED, trial.choice_key, "choice 0 = 2\nchoice 9 = 0\nno",
                        path, &why));
  check_taken(c, "portable", (expected){1, CHOICE_PREDICTED});
  permc_context_free(c);
  char command[600];
  snprintf(command, sizeof command, "rm -rf %s", place);
  CHECK(system(command) == 0);
}

TEST_MAIN()
