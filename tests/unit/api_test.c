// The public API where other tests do not reach it: what a program has, threads, instruction sets,
// what a program may do, checks before a run, what is reported meanwhile.
#include "tests/unit/api.h"

#include <sys/stat.h>
#include <unistd.h>

static const char program[] = "half : [m]a -> []a\n"
                              "half xs = take (length xs / 2) xs\n\n"
                              "helper f = f 1\n\n"
                              "apply : (int -> int) -> int -> int\n"
                              "apply f = f\n\n"
                              "two : i32 -> [m]f32 -> (i32, [m]f32)\n"
                              "two k xs = (k, xs)\n\n"
                              "main = map (+ 1)\n";

TEST(entry_points) {
  static const struct {
    const char *name, *type;
    size_t parameters;
  } expected[] = {{"half", "[m]a -> []a", 1},
                  {"two", "i32 -> [m]f32 -> (i32, [m]f32)", 2},
                  {"main", "[]t1 -> []t1", 1}};
  permc_context *c = load_text(program);
  REQUIRE(c != NULL);
  CHECK_EQ_U64(permc_entry_count(c), 3);
  for (size_t i = 0; i < 3; i++) {
    CHECK_STR(permc_entry_name(c, i), expected[i].name);
    CHECK_CONTAINS(permc_entry_type(c, expected[i].name), expected[i].type);
    CHECK_EQ_U64(permc_parameter_count(c, expected[i].name), expected[i].parameters);
    CHECK_STR(permc_message(c), "");
  }
  CHECK(permc_entry_name(c, 3) == NULL);
  static const char *const none[] = {"apply", "helper", "mian", ""};
  for (size_t i = 0; i < 4; i++) {
    CHECK(permc_parameter_count(c, none[i]) == (size_t)-1);
    CHECK_CONTAINS(permc_message(c), none[i]);
    CHECK(permc_entry_type(c, none[i]) == NULL);
  }
  CHECK(permc_define(c, "sort"));
  CHECK_EQ_U64(permc_entry_count(c), 4);
  CHECK_STR(permc_entry_name(c, 3), "-e");
  permc_context_free(c);
}

enum { COUNT = 1 << 10 };

static void check_sorted_by(permc_context *c, const char *backend) {
  int32_t keys[COUNT], expected[COUNT];
  for (int32_t i = 0; i < COUNT; i++)
    keys[i] = (i * 229 + 7) % COUNT, expected[i] = i;
  permc_value *in = value_1("i32", COUNT, keys), **out = NULL;
  size_t count = 0;
  if (CHECK(permc_run(c, "-e", backend, &in, 1, &out, &count)))
    check_1(out[0], 0, "i32", COUNT, expected);
  CHECK_STR(permc_message(c), "");
  permc_values_free(out, count);
  permc_value_free(in);
}

TEST(threads) {
  static const char *const backends[] = {"cpu", "portable", "interp"};
  permc_context *c = load_expression("sort");
  REQUIRE(c != NULL);
  for (unsigned threads = 0; threads <= 5; threads++) {
    permc_use_threads(c, threads);
    for (size_t i = 0; i < 3; i++)
      check_sorted_by(c, backends[i]);
  }
  permc_context_free(c);
}

TEST(instruction_sets) {
  static const char *const names[] = {"baseline", "native", "avx2", "avx512"};
  permc_context *c = load_expression("sort");
  REQUIRE(c != NULL);
  for (size_t i = 0; i < 4; i++)
    if (permc_use_isa(c, names[i]))
      check_sorted_by(c, i < 2 ? "cpu" : "interp");  // this machine may have no others
    else
      CHECK(i >= 2);
  CHECK(!permc_use_isa(c, "z80"));
  CHECK_CONTAINS(permc_message(c), "there is no instruction set 'z80' here");
  permc_context_free(c);
}

// ---- what a program may do -------------------------------------------------------------------

TEST(functions_of_c) {
  static const char calling[] = "extern \"libm\" fabs : f64 -> f64\n"
                                "main : [m]f64 -> [m]f64\nmain = map fabs\n"
                                "plain : [m]f64 -> [m]f64\nplain = map (+ 1)\n";
  permc_context *c = load_text(calling);
  REQUIRE(c != NULL);
  permc_value *in = value_1("f64", 2, (double[]){1, 2}), **out = NULL;
  size_t count = 0;
  CHECK(!permc_needs_extern(c));
  CHECK(!permc_run(c, "main", "interp", &in, 1, &out, &count));
  CHECK(permc_needs_extern(c));
  CHECK(permc_run(c, "plain", "interp", &in, 1, &out, &count));
  CHECK(!permc_needs_extern(c));  // it tells of the last call
  permc_values_free(out, count);
  permc_value_free(in);
  permc_context_free(c);
}

// A program in a folder that imports a file beside it, and one from elsewhere.
static char place[600];
static void write_file(const char *name, const char *content) {
  char path[700];
  snprintf(path, sizeof path, "%s/%s", place, name);
  FILE *f = fopen(path, "w");
  REQUIRE(f != NULL);
  fputs(content, f);
  CHECK(fclose(f) == 0);
}

static void enter_folder(void) {
  const char *folder = getenv("PERMC_TMP");
  snprintf(place, sizeof place, "%s/api-XXXXXX", folder ? folder : "/tmp");
  REQUIRE(mkdtemp(place) != NULL);
  char inner[700];
  snprintf(inner, sizeof inner, "%s/inner", place);
  REQUIRE(mkdir(inner, 0700) == 0);
  write_file("outside.perm", "twice x = x + x\n");
  write_file("inner/beside.perm", "twice x = 2 * x\n");
}

static void leave_folder(void) {
  static const char *const files[] = {"outside.perm", "inner/beside.perm", "inner", ""};
  for (size_t i = 0; i < 4; i++) {
    char path[700];
    snprintf(path, sizeof path, "%s/%s", place, files[i]);
    CHECK(remove(path) == 0);
  }
}

static bool loads_import(permc_context *c, const char *import) {
  char content[200], name[700];
  snprintf(content, sizeof content, "import \"%s\"\nmain : i32 -> i32\nmain x = twice x\n", import);
  snprintf(name, sizeof name, "%s/inner/program.perm", place);
  bool good = permc_load_text(c, name, content, strlen(content));
  CHECK(good == !*permc_message(c));
  return good;
}

TEST(imports) {
  static const struct {
    permc_import_rule rule;
    bool beside, outside;
  } rows[] = {{PERMC_IMPORT_ANYWHERE, true, true},
              {PERMC_IMPORT_BESIDE, true, false},
              {PERMC_IMPORT_NONE, false, false}};
  enter_folder();
  for (size_t untrusted = 0; untrusted < 2; untrusted++)
    for (size_t i = 0; i < 3; i++) {
      permc_context *c = permc_context_new();
      REQUIRE(c != NULL);
      if (untrusted)
        permc_use_untrusted(c);
      permc_allow_imports(c, rows[i].rule);
      CHECK(loads_import(c, "beside.perm") == rows[i].beside);
      CHECK(loads_import(c, "../outside.perm") == (rows[i].outside && !untrusted));
      permc_context_free(c);
    }
  leave_folder();
}

TEST(programs_of_strangers) {
  permc_context *c = permc_context_new();
  REQUIRE(c != NULL);
  permc_use_untrusted(c);
  permc_allow_extern(c, true);  // has no effect any more
  static const char strange[] = "extern \"libm\" fabs : f64 -> f64\n"
                                "main : [m]f64 -> [m]f64\nmain = map fabs\n"
                                "large : [m]f64 -> [2^28]f64\nlarge xs = replicate (2^28) 1\n"
                                "less : [m]f64 -> [1000]f64\nless xs = replicate 1000 1\n"
                                "order : [2^n]f64 -> [2^n]f64\norder = sort\n";
  REQUIRE(permc_load_text(c, "strange", strange, sizeof strange - 1));
  permc_value *in = value_1("f64", 2, (double[]){2, 1}), **out = NULL;
  size_t count = 0;
  CHECK(!permc_run(c, "main", NULL, &in, 1, &out, &count) && permc_needs_extern(c));
  CHECK(permc_run(c, "less", NULL, &in, 1, &out, &count));
  permc_values_free(out, count);
  out = NULL;
  CHECK(permc_set_limit(c, "results", 7999));
  CHECK(!permc_run(c, "less", NULL, &in, 1, &out, &count));
  CHECK_CONTAINS(permc_message(c), "the limit");
  static const char *const compiling[] = {"cpu", "cuda"};
  for (size_t i = 0; i < 2; i++) {
    CHECK(!permc_run(c, "order", compiling[i], &in, 1, &out, &count));
    CHECK_CONTAINS(permc_message(c), "is not compiled");
  }
  permc_compiled *p = permc_compile(c, "order", NULL, &in, 1);
  if (CHECK(p != NULL))
    CHECK(strcmp(permc_compiled_backend(p), "cpu") && strcmp(permc_compiled_backend(p), "cuda"));
  permc_compiled_free(p);
  permc_value_free(in);
  permc_context_free(c);
  c = permc_context_new();
  REQUIRE(c != NULL);
  permc_use_untrusted(c);
  REQUIRE(permc_load_text(c, "strange", strange, sizeof strange - 1));
  in = value_1("f64", 2, (double[]){2, 1});
  CHECK(!permc_run(c, "large", NULL, &in, 1, &out, &count));
  permc_value_free(in);
  permc_context_free(c);
}

// ---- the compiler ----------------------------------------------------------------------------

TEST(limits_of_the_compiler) {
  char path[700], folder[700];
  const char *cache = getenv("PERMC_CACHE"), *before = cache ? strdup(cache) : NULL;
  enter_folder();
  snprintf(folder, sizeof folder, "%s/cache", place);
  snprintf(path, sizeof path, "%s/cc", place);
  write_file("cc", "#!/bin/sh\n[ \"$1\" = --version ] && echo cc && exit 0\nexec sleep 1000\n");
  CHECK(chmod(path, 0700) == 0);
  setenv("PERMC_CC", path, 1);
  setenv("PERMC_CACHE", "/dev/null/none", 1);
  permc_context *c = load_expression("sort");
  REQUIRE(c != NULL);
  permc_value *in = value_1("i32", 4, (int32_t[]){3, 1, 2, 0}), **out = NULL;
  size_t count = 0;
  permc_limit_compiler(c, 1, 0);
  CHECK(!permc_run(c, "-e", "cpu", &in, 1, &out, &count));
  CHECK_CONTAINS(permc_message(c), "takes more than 1 s, its limit");
  permc_compiled *p = permc_compile(c, "-e", NULL, &in, 1);  // auto has another backend
  if (CHECK(p != NULL) && CHECK(call_values(p, &in, 1, &out, &count)))
    check_1(out[0], 0, "i32", 4, (int32_t[]){0, 1, 2, 3});
  permc_compiled_free(p);
  permc_values_free(out, count);
  permc_value_free(in);
  permc_context_free(c);
  CHECK(remove(path) == 0);
  unsetenv("PERMC_CC");
  if (before)
    setenv("PERMC_CACHE", before, 1);
  else
    unsetenv("PERMC_CACHE");
  free((void *)before);
  leave_folder();
}

// ---- before a run ----------------------------------------------------------------------------

TEST(checks_of_arguments) {
  permc_context *c = load_text("main : [2^n]i32 -> [m]i32 -> [m]i32\nmain xs ys = ys\n"
                               "same : [m]i32 -> [m]i32 -> [m]i32\nsame = zip_with (+)\n");
  REQUIRE(c != NULL);
  static const struct {
    const char *entry, *types, *problem;  // NULL: there is none
  } rows[] = {{"main", "[8]i32 [3]i32", NULL}, {"main", "[6]i32 [3]i32", "6"},
              {"main", "[8]i32", "argument"},  {"main", "[8]f32 [3]i32", "f32"},
              {"same", "[3]i32 [3]i32", NULL}, {"same", "[3]i32 [4]i32", "m"},
              {"none", "[3]i32", "none"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bool good = permc_check_arguments(c, rows[i].entry, rows[i].types, NULL, 0);
    if (!CHECK(good == !rows[i].problem))
      printf("%s: %s\n", rows[i].types, permc_message(c));
    CHECK_CONTAINS(permc_message(c), rows[i].problem ? rows[i].problem : "");
  }
  int32_t keys[4] = {3, 1, 2, 0};
  permc_value *values[2] = {value_1("i32", 3, keys), value_1("i32", 3, keys)};
  CHECK(permc_check_arguments(c, "same", NULL, values, 2));
  CHECK(!permc_check_arguments(c, "main", NULL, values, 2));
  permc_value_free(values[1]);
  values[1] = value_1("i32", 4, keys);
  CHECK(!permc_check_arguments(c, "same", NULL, values, 2));
  CHECK_CONTAINS(permc_message(c), "same");
  permc_value_free(values[0]);
  permc_value_free(values[1]);
  permc_context_free(c);
}

TEST(checks_of_laws) {
  permc_context *c = load_text("main : [m]i32 -> i32 -> [m]i32\n"
                               "main xs k = scan (\\x y -> x + k * y) xs\n"
                               "single : [1]i32 -> i32\nsingle xs = reduce (-) xs\n"
                               "ordered : [m]f64 -> [m]f64\nordered = scan (-)\n");
  REQUIRE(c != NULL);
  int32_t keys[4] = {3, 1, 2, 0};
  double reals[2] = {1, 2};
  permc_value *values[2] = {value_1("i32", 4, keys), permc_value_new("i32", 0, NULL, &keys[1])};
  permc_value *more[2] = {permc_value_new("i32", 0, NULL, &keys[2]), value_1("f64", 2, reals)};
  CHECK(permc_check_laws(c, "main", values, 2));
  CHECK_STR(permc_message(c), "");
  permc_value *twice[2] = {values[0], more[0]};
  CHECK(!permc_check_laws(c, "main", twice, 2));
  CHECK_CONTAINS(permc_message(c), ":2:18: error: this operator is not associative, as scan takes");
  CHECK_CONTAINS(permc_message(c), "with x = 0, y = 0 and z = 1, (x op y) op z is 2 and ");
  CHECK(permc_check_laws(c, "ordered", &more[1], 1));
  CHECK(!permc_check_laws(c, "none", values, 2));
  CHECK(!permc_check_laws(c, "main", values, 1));
  permc_value *one = value_1("i32", 1, keys);
  CHECK(permc_check_laws(c, "single", &one, 1));  // no operator is asked for
  permc_value_free(one);
  for (int i = 0; i < 2; i++) {
    permc_value_free(values[i]);
    permc_value_free(more[i]);
  }
  permc_context_free(c);
}

TEST(checks_of_outputs) {
  enter_folder();
  permc_context *c = load_text("main : [m]i32 -> ([m]i32, i32)\nmain xs = (xs, sum xs)\n"
                               "nested : [m][2][3]i32 -> [m][2][3]i32\nnested xs = xs\n");
  REQUIRE(c != NULL && chdir(place) == 0);
  static const struct {
    const char *entry, *paths[3], *problem;
  } rows[] = {{"main", {"a.npy", "b.npy", NULL}, NULL},
              {"main", {"a.npy", NULL, NULL}, NULL},
              {"main", {"-", NULL, NULL}, NULL},
              {"main", {"a.npy", "b.npy", "c.npy"}, "2 results"},
              {"main", {"a.npy", "inner/../a.npy", NULL}, "one file"},
              {"main", {"a.png", NULL, NULL}, "a.png"},
              {"main", {"absent/a.npy", NULL, NULL}, "there is no folder 'absent'"},
              {"main", {"inner", NULL, NULL}, "inner"},
              {"nested", {"a.npy", NULL, NULL}, NULL},
              {"nested", {"a.csv", NULL, NULL}, "a.csv"},
              {"main", {"first:2=a.npy", NULL, NULL}, NULL},
              {"main", {"first:1=a.npy", NULL, NULL}, "result 1 is no integer"},
              {"main", {"b.npy", "first:2=a.npy", NULL}, "result 2 is no array"},
              {"main", {"first:2=a.npy", "a.npy", NULL}, "one file"},
              {"main", {"first:a.npy", NULL, NULL}, "first:2=FILE"},
              {"none", {"a.npy", NULL, NULL}, "none"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    size_t count = 0;
    while (count < 3 && rows[i].paths[count])
      count++;
    bool good = permc_check_outputs(c, rows[i].entry, NULL, 0, rows[i].paths, count);
    if (!CHECK(good == !rows[i].problem))
      printf("%s %s: %s\n", rows[i].entry, rows[i].paths[0], permc_message(c));
    CHECK_CONTAINS(permc_message(c), rows[i].problem ? rows[i].problem : "");
    CHECK(access("a.npy", F_OK) != 0);  // nothing is written
  }
  permc_context_free(c);
  leave_folder();
}

// Of a value of two arrays of three elements each.
TEST(first_elements) {
  static const struct {
    const char *type;
    int64_t count;
    uint64_t left;
    const char *problem;
  } rows[] = {{"i64", 3, 3, NULL},           {"u8", 2, 2, NULL},
              {"i16", 0, 0, NULL},           {"i64", 4, 3, "the count is 4, but there are only 3"},
              {"i64", -1, 3, "is negative"}, {"bool", 1, 3, "no integer"}};
  const uint64_t dims[] = {3, 2};
  const uint32_t numbers[] = {1, 2, 3, 4, 5, 6};
  permc_context *c = permc_context_new();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    permc_value *parts[] = {permc_value_new("u32", 1, dims, numbers),
                            permc_value_new("u32", 2, dims, numbers)};
    permc_value *count = permc_value_new(rows[i].type, 0, NULL, &rows[i].count);
    permc_value *v = permc_value_tuple(parts, 2);
    REQUIRE(c && v && count);
    CHECK(permc_keep_first(c, v, count) == !rows[i].problem);
    CHECK_CONTAINS(permc_message(c), rows[i].problem ? rows[i].problem : "");
    for (size_t k = 0; k < 2; k++)
      CHECK_EQ_U64(permc_value_dims(v, k)[0], rows[i].left);
    CHECK(!permc_keep_first(c, count, count) && !permc_keep_first(c, v, NULL));
    permc_value_free(v);
    permc_value_free(count);
  }
  permc_context_free(c);
}

TEST_MAIN()
