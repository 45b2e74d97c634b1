// permc_explain: what it counts, what it says in text, JSON and dumps, and what it refuses.
#include "tests/readers/readers.h"
#include "tests/unit/api.h"
#include "tests/unit/memory.h"

#include "fusion/plan/plan.h"
#include "runtime/system/speed.h"
#include "tool/reports/explain.h"
#include <jansson.h>

// The explanation, in the test's memory; "" after a failed check.
static const char *explained(permc_context *c, const char *entry, const permc_size *sizes,
                             size_t count, const permc_explain_options *options) {
  char *out = NULL;
  if (!c || !CHECK(permc_explain(c, entry, sizes, count, options, &out))) {
    CHECK_STR(c ? permc_message(c) : "no context", "");
    return "";
  }
  CHECK_STR(permc_message(c), "");
  const char *copy = arena_copy(&memory, out, strlen(out));
  free(out);
  return copy;
}

static const permc_size at_24[] = {{"n", 24}};

// ---- text ------------------------------------------------------------------------------------

TEST(the_sorter_of_the_paper) {
  START();
  permc_context *c = load_file("tests/programs/paper_sort.perm");
  permc_explain_options o = {.target = "line128-tile128k"};
  const char *shown = explained(c, "main", at_24, 1, &o);
  CHECK_CONTAINS(shown, "main : [2^n]i32 -> [2^n]i32\nsizes         n = 24\n"
                        "arguments     [2^24]i32\nresults       [2^24]i32\n"
                        "target        line128-tile128k: lines of 128 bytes, tiles of 128 KiB, ");
  CHECK_CONTAINS(shown, "columns       300, each of static direction\nmaps          0\n"
                        "permutations  0; as written, ");
  CHECK_CONTAINS(shown, "\npass   ops  phases       read    written       time  bound by  tile\n");
  CHECK_CONTAINS(shown, "\nplanned in ");
  CHECK(strstr(shown, "parm-parm") == NULL);
  o.rules = true;
  CHECK_CONTAINS(explained(c, "main", at_24, 1, &o), "\nparm-parm");
  permc_context_free(c);
  arena_free(&memory);
}

static void check_passes(const char *expression, const char *types, const char *figures) {
  permc_context *c = permc_context_new();
  permc_explain_options o = {.target = "gpu", .types = types};
  if (c && CHECK(permc_define(c, expression)))
    CHECK_CONTAINS(explained(c, "-e", NULL, 0, &o), figures);
  permc_context_free(c);
}

// Chains that meet, in lockstep; two passes by half lines; a sum of each row in the rows' pass.
TEST(passes_for_gpus) {
  START();
  check_passes("convolve", "[2^24]c64 [2^24]c64", "\npasses        7, with 12 exchanges\n");
  check_passes("convolve", "[2^24]c64 [2^24]c64", "      1 GiB    896 MiB  ");
  check_passes("fft2", "[2^11][2^11]c64", "\npasses        2, ");
  check_passes("fft2", "[2^12][2^12]c64", "\npasses        3, ");
  check_passes("map sum", "[2^12][2^12]f32", "\npasses        1, ");
  check_passes("map hadamard_e4m3", "[2^12][2^12]f32", "\npasses        1, ");
  arena_free(&memory);
}

TEST(flip2_twice_is_a_copy) {
  START();
  permc_context *c = load_file("tests/programs/flip2.perm");
  const char *shown = explained(c, "main", at_24, 1, NULL);
  CHECK_CONTAINS(shown, "permutations  0; as written, 2 steps move elements\n"
                        "passes        0; besides, 1 copy\n"
                        "memory        at most 32 MiB at a time; 0 arrays between passes\n");
  CHECK_CONTAINS(shown, "\n   1  copy       1     16 MiB     16 MiB  ");
  CHECK_CONTAINS(explained(c, "once", at_24, 1, NULL),
                 "permutations  1; as written, 1 step moves elements\npasses        1\n");
  permc_context_free(c);
  arena_free(&memory);
}

TEST(rows_of_unequal_length) {
  START();
  permc_context *c = load_expression("sort_ragged");
  permc_explain_options o = {.types = "[5]int [4096]u32", .target = "gpu"};
  CHECK_CONTAINS(explained(c, "-e", NULL, 0, &o),
                 "keys array 2 of the arguments of 32 bits, in rows that array 1 of the arguments "
                 "cuts: each by itself, by kernels tiles and parts\n");
  permc_context_free(c);
  arena_free(&memory);
}

// However often it is loaded, and whatever was before: a program becomes the same steps. (Of the
// library, which stays, nothing may be known of a function that was where another is now.)
TEST(the_same_program_again) {
  static const char lines[] = "main : [2^n]i64 -> [2]i64\n"
                              "main xs = [max (sum xs) (clz xs[0]), xs[1]]\n";
  permc_explain_options o = {.types = "[8]i64", .dump = "trace"};
  permc_context *c = permc_context_new();
  char *first = NULL;
  for (int i = 0; i < 4 && CHECK(c != NULL); i++) {
    char *out = NULL;
    CHECK(permc_load_text(c, "again", lines, strlen(lines)));
    CHECK(permc_explain(c, "main", NULL, 0, &o, &out));
    if (first)
      CHECK_STR(out, first);
    else
      first = strdup(out);
    free(out);
  }
  free(first);
  permc_context_free(c);
}

TEST(types_of_arguments) {
  START();
  permc_context *c = load_expression("\\xs ys -> (sort xs, map (+ 1) ys)");
  permc_explain_options o = {.types = "[2^11](u8, f32) [1000]i16"};
  CHECK_CONTAINS(explained(c, "-e", NULL, 0, &o), "arguments     [2^11]u8, [2^11]f32, [1000]i16\n"
                                                  "results       [2^11]u8, [2^11]f32, [1000]i16\n");
  permc_context_free(c);
  arena_free(&memory);
}

TEST(no_arguments) {
  START();
  permc_context *c = load_text("main : ([]int, f32)\nmain = (iota 1000, 3)\n");
  const char *shown = explained(c, "main", NULL, 0, NULL);
  CHECK_CONTAINS(shown, "arguments     none\nresults       [1000]i64, f32\n");
  permc_context_free(c);
  c = load_text("main : [0]f32 -> [0]f32\nmain = map (+ 1)\n");
  CHECK_CONTAINS(explained(c, "main", NULL, 0, NULL), "passes        ");
  permc_context_free(c);
  arena_free(&memory);
}

TEST(a_target_from_a_file) {
  START();
  permc_context *c = load_expression("bitrev");
  char path[4096];
  const char *folder = getenv("PERMC_TMP");
  snprintf(path, sizeof path, "%s/small.target", folder ? folder : "/tmp");
  FILE *file = fopen(path, "w");
  REQUIRE(file != NULL);
  fputs("base = gpu\nname = small\ntile_bytes = 4096\n", file);
  fclose(file);
  permc_explain_options o = {.target = path, .types = "[2^16]u8"};
  CHECK_CONTAINS(explained(c, "-e", NULL, 0, &o),
                 "target        small: lines of 128 bytes, tiles of 4 KiB, 32 lanes, ");
  remove(path);
  permc_context_free(c);
  arena_free(&memory);
}

// Tiles of a GPU whose blocks may have 128 KiB: the largest where it takes much fewer passes, and
// half of the usual one where neither passes nor phases are more.
TEST(tiles_of_many_elements) {
  static const struct {
    const char *program, *types, *passes;
  } rows[] = {{"fft", "[2^10]c64", "passes        1, with 3 exchanges"},
              {"map fft", "[2^11][2^13]c64", "passes        1, with 2 exchanges"},
              {"map fft", "[2^10][2^14]c64", "passes        1, with 2 exchanges"},
              {"map fft", "[2^9][2^15]c64", "   2     8       2    128 MiB    128 MiB"},
              {"fft", "[2^21]c64", "passes        2, with 3 exchanges"},
              {"fft", "[2^22]c64", "passes        3, with"},
              {"fft", "[2^24]c64", "passes        3, with 3 exchanges"},
              {"rfft", "[2^20]f32", "passes        4, with"},
              {"rfft", "[2^22]f32", "passes        3, with 4 exchanges"},
              {"irfft 4194304", "[2097153]c64", "passes        2, with 4 exchanges"},
              {"map hadamard_i8", "[2^14][2^12]f32", "passes        1, with 7 exchanges"},
              {"map sort_network", "[2^10][2^14]u32", "passes        1, with 20 exchanges"},
              {"map fft", "[2^12][2^12]c128", "passes        1, with 2 exchanges"},
              {"fwht", "[2^24]f32", "passes        2, with"},
              {"sort_network", "[2^24]u32", "passes        16, with"}};
  START();
  char path[4096];
  const char *folder = getenv("PERMC_TMP");
  snprintf(path, sizeof path, "%s/large.target", folder ? folder : "/tmp");
  FILE *file = fopen(path, "w");
  REQUIRE(file != NULL);
  fputs("base = gpu\nname = large\ntile_bytes = 131072\n", file);
  fclose(file);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    permc_context *c = load_expression(rows[i].program);
    permc_explain_options o = {.target = path, .types = rows[i].types};
    CHECK_CONTAINS(explained(c, "-e", NULL, 0, &o), rows[i].passes);
    permc_context_free(c);
  }
  remove(path);
  arena_free(&memory);
}

// ---- JSON ------------------------------------------------------------------------------------

static bool print_json(permc_context *c, const explanation *e, void *out) {
  (void)c;
  report_explain_json(out, e, true);
  return true;
}

// The entry as JSON, rules included; NULL if it cannot be explained.
static json_t *explained_as_json(permc_context *c, const pipeline_request *r) {
  text out = {0};
  if (!c || !CHECK(explain_entry(c, r, print_json, &out)))
    return NULL;
  json_t *all = json_loads(text_content(&out), 0, NULL);
  text_free(&out);
  return all;
}

static double number_of(const json_t *object, const char *member) {
  return json_number_value(json_object_get(object, member));
}

static void check_members(const json_t *object, const char *const *names) {
  for (; *names; names++)
    if (!CHECK(json_object_get(object, *names) != NULL))
      printf("  %s\n", *names);
}

TEST(json_has_everything) {
  static const char *const members[] = {"entry",
                                        "type",
                                        "sizes",
                                        "arguments",
                                        "results",
                                        "target",
                                        "columns",
                                        "maps",
                                        "static_columns",
                                        "moving_steps",
                                        "permutations",
                                        "pass_count",
                                        "copies",
                                        "exchanges",
                                        "bytes_read",
                                        "bytes_written",
                                        "seconds",
                                        "temporaries",
                                        "temporary_bytes",
                                        "peak_bytes",
                                        "passes",
                                        "rules",
                                        "planning_seconds",
                                        NULL};
  static const char *const pass_members[] = {
      "stage",   "n",     "loops",  "kind",      "padding",    "ops",          "strategy",
      "columns", "maps",  "phases", "exchanges", "tile",       "bytes_read",   "bytes_written",
      "seconds", "bound", "loads",  "stores",    "boundaries", "permutations", NULL};
  START();
  permc_context *c = load_file("tests/programs/bitonic_rows.perm");
  const permc_size sizes[] = {{"m", 3}, {"n", 16}};
  pipeline_request r = {
      .entry = "main", .last = STAGE_PLAN, .sizes = sizes, .size_count = 2, .target = "avx2"};
  json_t *all = explained_as_json(c, &r);
  REQUIRE(all != NULL);
  check_members(all, members);
  CHECK_STR(json_string_value(json_object_get(all, "entry")), "main");
  CHECK(number_of(json_object_get(all, "sizes"), "n") == 16);
  CHECK(number_of(json_object_get(all, "target"), "line_bytes") == 128);
  CHECK(number_of(all, "columns") == 136 && number_of(all, "static_columns") == 136);
  const json_t *passes = json_object_get(all, "passes");
  CHECK(number_of(all, "pass_count") == (double)json_array_size(passes));
  double ops = 0, seconds = 0;
  for (size_t i = 0; i < json_array_size(passes); i++) {
    const json_t *pass = json_array_get(passes, i);
    check_members(pass, pass_members);
    ops += number_of(pass, "ops");
    seconds += number_of(pass, "seconds");
    CHECK_EQ_U64(json_array_size(json_object_get(pass, "loops")), 1);
  }
  CHECK(ops == 136);
  CHECK(seconds > 0.999 * number_of(all, "seconds") && seconds < 1.001 * number_of(all, "seconds"));
  CHECK(json_array_size(json_object_get(all, "rules")) > 0);
  json_decref(all);
  permc_context_free(c);
  arena_free(&memory);
}

// The C compiler gets loops as loops: 4000 steps in 2 KB, not 5 MB.
TEST(json_of_loops) {
  setenv("PERMC_CACHE", getenv("PERMC_TMP"), 1);
  speed_keep(&speed_usual);
  permc_context *c = load_expression("map (iter 4000 (\\x -> 3.7 * x * (1 - x)))");
  REQUIRE(c != NULL);
  pipeline_request r = {.entry = "-e", .last = STAGE_PLAN, .types = "[4096]f64"};
  json_t *all = explained_as_json(c, &r);
  const json_t *compile = json_object_get(json_object_get(all, "auto"), "compile");
  CHECK(number_of(compile, "cpu") < 0.5);
  json_decref(all);
  permc_context_free(c);
  arena_free(&memory);
}

// What auto would do, and why. How it decides is tested in adaptive_test.c.
TEST(json_of_auto) {
  static const struct {
    const char *types, *backend, *cached, *on_gpu, *why;
    bool compiles, untrusted;
  } rows[] = {
      {"[2^4]u32", "interp", "interp", "interp", "interp takes ", false, false},
      {"[2^16]u32", "portable", "portable", "portable", ", but looking for the code takes ", false,
       false},
      {"[2^23]u32", "portable", "cpu", "cpu", "; compiling takes ", false, false},
      {"[2^30]u32", "portable", "cpu", "cuda", "; compiling takes ", true, false},
      {"[2^30]u32", "portable", "portable", "portable", "is not trusted", false, true},
  };
  setenv("PERMC_CACHE", getenv("PERMC_TMP"), 1);
  speed_keep(&speed_usual);  // whatever this machine does meanwhile
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    permc_context *c = load_expression("sort_network");
    REQUIRE(c != NULL);
    permc_use_threads(c, 4);
    if (rows[i].untrusted)
      permc_use_untrusted(c);
    pipeline_request r = {.entry = "-e", .last = STAGE_PLAN, .types = rows[i].types};
    json_t *all = explained_as_json(c, &r);
    const json_t *choice = json_object_get(all, "auto"), *times;
    CHECK_STR(json_string_value(json_object_get(choice, "backend")), rows[i].backend);
    CHECK_STR(json_string_value(json_object_get(choice, "cached")), rows[i].cached);
    CHECK_STR(json_string_value(json_object_get(choice, "on_gpu")), rows[i].on_gpu);
    CHECK_CONTAINS(json_string_value(json_object_get(choice, "why")), rows[i].why);
    CHECK(json_is_true(json_object_get(choice, "compiles")) == rows[i].compiles);
    CHECK_STR(json_string_value(json_object_get(choice, "often")),
              rows[i].untrusted ? "portable" : "cpu");
    CHECK(number_of(choice, "planning") > 0 && number_of(choice, "look") > 0);
    times = json_object_get(choice, "predicted");
    static const char *const backends[] = {"interp", "portable", "cpu", "cuda"};
    for (size_t k = 0; k < 4; k++)
      CHECK(number_of(times, backends[k]) > 0);
    times = json_object_get(choice, "compile");
    CHECK(number_of(times, "cpu") > 0 && number_of(times, "cuda") > 0);
    json_decref(all);
    permc_context_free(c);
  }
  unsetenv("PERMC_CACHE");
}

TEST(json_of_odd_names) {
  START();
  permc_context *c = load_text("main : [2^n]i32\n   ->  [2^n]i32\nmain = reverse\n");
  const permc_size sizes[] = {{"n", 0}};
  pipeline_request r = {.entry = "main", .last = STAGE_PLAN, .sizes = sizes, .size_count = 1};
  json_t *all = explained_as_json(c, &r);
  CHECK_STR(json_string_value(json_object_get(all, "type")), "[2^n]i32\n   ->  [2^n]i32");
  json_decref(all);
  permc_context_free(c);
  arena_free(&memory);
}

// ---- dumps -----------------------------------------------------------------------------------

static const char *printed(const plan *p) {
  text out = {0};
  text_string(&out, net_legend);
  text_string(&out, plan_legend);
  plan_print(&out, p);
  const char *copy = arena_copy(&memory, out.data ? out.data : "", out.length);
  text_free(&out);
  return copy;
}

static void check_plan_dump(permc_context *c, const char *types, const char *machine) {
  START();
  permc_explain_options o = {.target = machine, .types = types, .dump = "plan"};
  const char *first = explained(c, "-e", NULL, 0, &o), *wrong = NULL;
  const plan *p = plan_read(&memory, first, &wrong);
  CHECK_STR(wrong, NULL);
  if (p) {
    CHECK_STR(printed(p), first);
    CHECK_STR(net_verify(&memory, p->net), NULL);
    CHECK_STR(plan_verify(&memory, p), NULL);
  }
  arena_free(&memory);
}

// Functions of the library, and what argument they take: %d is 2^n.
static const struct {
  const char *expression, *types;
} functions[] = {
    {"sort", "[%d]u32"},
    {"sort", "[%d](u8, f64)"},
    {"padded maxval sort", "[%d]i16"},
    {"\\xs -> padded maxval sort (drop 1 xs)", "[%d]f32"},
    {"balanced_sort", "[%d]i32"},
    {"bitrev . sort_desc . gray", "[%d]u64"},
    {"argsort", "[%d]f64"},
    {"fft", "[%d]c64"},
    {"fft_real", "[%d]f32"},
    {"ifft . map conj", "[%d]c128"},
    {"fwht", "[%d]f32"},
    {"walsh", "[%d]i64"},
    {"sum", "[%d]i32"},
    {"scan (+)", "[%d]u8"},
    {"map reverse . transpose", "[%d][8]bool"},
    {"map sort", "[3][%d]i8"},
    {"\\xs -> zip xs (reverse xs)", "[%d]i32"},
    {"\\xs -> concat xs (map (+ 1) xs)", "[%d]i32"},
};

TEST(plans_read_back) {
  static const int sizes[] = {0, 1, 3, 6, 11, 17};
  static const char *const machines[] = {"avx512", "baseline", "gpu", "line32-tile128k"};
  for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
    permc_context *c = load_expression(functions[f].expression);
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
      char types[64], length[16];
      snprintf(length, sizeof length, "%d", 1 << sizes[n]);
      const char *hole = strstr(functions[f].types, "%d");
      snprintf(types, sizeof types, "%.*s%s%s", (int)(hole - functions[f].types),
               functions[f].types, length, hole + 2);
      check_plan_dump(c, types, machines[(f + n) % 4]);
    }
    permc_context_free(c);
  }
}

// Every pass but the first says why it is one of its own, every pass that only moves why it is
// there.
static void check_boundaries(const json_t *passes) {
  for (size_t i = 0; i < json_array_size(passes); i++) {
    const json_t *pass = json_array_get(passes, i), *why = json_object_get(pass, "boundaries");
    const char *kind = json_string_value(json_object_get(pass, "kind"));
    CHECK((json_array_size(why) > 0) == (i > 0));
    CHECK_EQ_U64(json_array_size(json_object_get(pass, "permutations")), !strcmp(kind, "move"));
    for (size_t k = 0; k < json_array_size(why); k++) {
      const json_t *b = json_array_get(why, k);
      const char *reason = json_string_value(json_object_get(b, "reason"));
      bool tile = !strcmp(reason, "tile");
      CHECK(number_of(b, "before") < (double)i && strcmp(reason, "none") != 0);
      CHECK(*json_string_value(json_object_get(b, "why")) &&
            *json_string_value(json_object_get(b, "without")));
      if (tile)
        CHECK(number_of(b, "needed_dimensions") > number_of(b, "held_dimensions") &&
              json_is_string(json_object_get(b, "first")) &&
              json_is_string(json_object_get(b, "second")));
    }
  }
}

TEST(boundaries) {
  START();
  for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
    permc_context *c = load_expression(functions[f].expression);
    const char *hole = strstr(functions[f].types, "%d"), *types;
    types = arena_printf(&memory, "%.*s%d%s", (int)(hole - functions[f].types), functions[f].types,
                         1 << 17, hole + 2);
    pipeline_request r = {
        .entry = "-e", .last = STAGE_PLAN, .types = types, .target = "line128-tile32k"};
    json_t *all = explained_as_json(c, &r);
    REQUIRE(all != NULL);
    check_boundaries(json_object_get(all, "passes"));
    json_decref(all);
    permc_context_free(c);
  }
  arena_free(&memory);
}

TEST(traces_and_nets) {
  START();
  permc_context *c = load_expression("bitrev . sort");
  permc_explain_options o = {.types = "[2^5]i32", .dump = "trace"};
  CHECK_CONTAINS(explained(c, "-e", NULL, 0, &o), "\nresults %");
  o.dump = "net";
  const char *shown = explained(c, "-e", NULL, 0, &o), *wrong = NULL;
  CHECK(net_read(&memory, shown, &wrong) != NULL);
  CHECK_STR(wrong, NULL);
  permc_context_free(c);
  arena_free(&memory);
}

// ---- mistakes --------------------------------------------------------------------------------

static const char mistaken_program[] = "main : [2^n]a -> [m]a -> []a\n"
                                       "main xs ys = concat (sort xs) ys\n"
                                       "odd : []u32 -> []u32\n"
                                       "odd = flip_bits 1\n"
                                       "rows : [2^n]u32 -> [][4]u32 -> u32\n"
                                       "rows xs ys = 1\n";

static const struct {
  const char *entry;
  permc_size sizes[3];
  permc_explain_options options;
  const char *message;
} mistakes[] = {
    {"min",
     {{0}},
     {0},
     "permc: there is no entry point 'min'; there is 'main', 'odd', 'rows' (choose one, as in "
     "--entry main)\n"},
    {"main",
     {{0}},
     {0},
     "permc: the size 'n' of 'main' is not given\nhint: give each size by its name, such as --size "
     "n=3 --size m=3\n"},
    {"main",
     {{"n", 3}},
     {0},
     "permc: the size 'm' of 'main' is not given\nhint: give each size by its name, such as --size "
     "m=3\n"},
    {"main",
     {{"n", 3}, {"m", 3}, {"k", 3}},
     {0},
     "permc: 'main' has no size named 'k'; it has 'n', 'm'\n"},
    {"odd",
     {{"n", 3}},
     {0},
     "permc: 'odd' has lengths without size names; give argument types instead: --arguments "
     "'[2^3]u32'\n"},
    {"rows",
     {{"n", 3}},
     {0},
     "permc: 'rows' has lengths without size names; give argument types instead: --arguments "
     "'[2^3]u32 [2^3][2^3]u32'\n"},
    {"main",
     {{"n", 3}},
     {.types = "[8]i8 [8]i8"},
     "permc: sizes and the types of arguments exclude each other: the types say the sizes\n"},
    {"odd", {{0}}, {.types = ""}, "permc: 'odd' has 1 parameter, but 0 argument types are given\n"},
    {"main",
     {{0}},
     {.types = "[8]i8"},
     "permc: 'main' has 2 parameters, but 1 argument type is given\n"},
    {"odd",
     {{0}},
     {.types = "[8]u32 [8]u32"},
     "permc: 'odd' has 1 parameter, but there are more argument types\n"},
    {"odd",
     {{0}},
     {.types = "[2^64]u32"},
     "permc: argument types: '[2^64]u32' is wrong at '^64]u32'; write types such as [1024]i32, "
     "[2^10]f64 or [8](u32, f64), or values such as 5 or [4, 1, 2]\n"},
    {"odd",
     {{0}},
     {.types = "[8]u33"},
     "permc: argument types: '[8]u33' is wrong at 'u33'; write types such as [1024]i32, "
     "[2^10]f64 or [8](u32, f64), or values such as 5 or [4, 1, 2]\n"},
    {"odd",
     {{0}},
     {.types = "[8]f32"},
     "argument 1 of 'odd' must be []u32, but the data is [8]f32"},
    {"odd", {{0}}, {.types = "[9]u32"}, "power of two"},
    {"odd", {{0}}, {.types = "[2^63]u32"}, "error: "},
    {"main", {{"n", 3}, {"m", -1}}, {0}, "error: "},
    {"main", {{"n", 63}, {"m", 3}}, {0}, "error: "},
    {"odd",
     {{0}},
     {.types = "[8]u32", .target = "avx3"},
     "permc: there is no target 'avx3', nor a file of that name (known targets: avx512, "},
    {"odd",
     {{0}},
     {.types = "[8]u32", .target = "CMakeLists.txt"},
     "permc: CMakeLists.txt: line 8: expected NAME = VALUE\n"},
    {"odd",
     {{0}},
     {.types = "[8]u32", .dump = "code"},
     "permc: --dump has no form 'code'; it has trace, net, plan, c, cuda, picture, "},
};

// A pattern numbers the elements of its op, whatever is used first; directions
// are those of the index, without the bits that are fixed.
TEST(patterns_number_elements) {
  START();
  static const char *const table[][2] = {
      {"\\xs -> join (map (\\[a, b, c, d] -> [d - a, c, b - a, a]) (split 2 xs))",
       "  op 0 directions 0b0001 0b0010 coordinates x0 x1 step %10\n    v1[0] = - v0[3] v0[0]\n"},
      {"\\xs -> join (map (\\[[a, b], [c, d]] -> [d - a, c, b - a, a]) (split 1 (split 1 xs)))",
       "  op 0 directions 0b0001 0b0010 coordinates x0 x1 step %13\n    v1[0] = - v0[3] v0[0]\n"},
      {"\\xs -> map (\\[_, b, c, d] -> (b - c) * d) (split 2 xs)",
       "  op 0 directions 0b0001 0b0010 coordinates x0 x1 "},
      {"\\xs -> map (\\[[a, _], [b, _], [c, _], [d, _]] -> (d - a) * (c - b)) "
       "(split 2 (split 1 xs))",
       "stage 0 n=3\n  v0 = load a0 at 2*x0 + 4*x1 + 8*x2\n"
       "  op 0 directions 0b001 0b010 coordinates x0 x1 "}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    permc_context *c = load_expression(table[i][0]);
    permc_explain_options o = {.types = "[16]i32", .dump = "net"};
    CHECK_CONTAINS(explained(c, "-e", NULL, 0, &o), table[i][1]);
    permc_context_free(c);
  }
  arena_free(&memory);
}

TEST(mistakes_are_told) {
  permc_context *c = load_text(mistaken_program);
  for (size_t i = 0; c && i < sizeof mistakes / sizeof *mistakes; i++) {
    char *out = NULL;
    size_t count = 0;
    while (count < 3 && mistakes[i].sizes[count].name)
      count++;
    CHECK(
        !permc_explain(c, mistakes[i].entry, mistakes[i].sizes, count, &mistakes[i].options, &out));
    CHECK(out == NULL);
    CHECK_CONTAINS(permc_message(c), mistakes[i].message);
  }
  permc_context_free(c);
}

// Nothing of an explanation stays in the context.
TEST(between_runs) {
  START();
  permc_context *c = load_text(mistaken_program);
  for (int i = 0; i < 3; i++) {
    permc_explain_options o = {.types = "[8]u32"};
    explained(c, "odd", NULL, 0, &o);
    uint32_t in[2] = {1, 2}, expected[2] = {2, 1};
    permc_value *out = run_value(c, "odd", value_1("u32", 2, in));
    check_1(out, 0, "u32", 2, expected);
    permc_value_free(out);
  }
  permc_context_free(c);
  arena_free(&memory);
}

TEST_MAIN()
