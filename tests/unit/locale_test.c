// A locale whose numbers have a decimal comma, which localedef makes here: what the library and the
// tool read and write under it is what they read and write without it.
#include "core/text.h"
#include "fusion/target/target.h"
#include "tests/unit/api.h"

#include <unistd.h>

static const char comma[] = "LC_NUMERIC\n"
                            "decimal_point \",\"\n"
                            "thousands_sep \".\"\n"
                            "grouping 3;3\n"
                            "END LC_NUMERIC\n";

static const char program[] = "main : [m]f64 -> [m]f64\n"
                              "main xs = map (\\x -> x / 3 + 0.1) xs\n"
                              "pair : [2]f64 -> [2]f64\n"
                              "pair [x, y] = [x + y, x - y]\n";

static void write_text(const char *path, const char *content) {
  FILE *f = fopen(path, "w");
  if (CHECK(f != NULL)) {
    fputs(content, f);
    fclose(f);
  }
}

// All that there is to read, up to the first line that begins with `last`.
static void add_stream(text *out, FILE *f, const char *last) {
  char line[4096];
  if (!CHECK(f != NULL))
    return;
  while (fgets(line, sizeof line, f) && (!last || strncmp(line, last, strlen(last)) != 0))
    text_string(out, line);
}

static void add_file(text *out, const char *path) {
  FILE *f = fopen(path, "r");
  add_stream(out, f, NULL);
  if (f)
    fclose(f);
}

// In the working directory. False: there is no localedef, or the C library has other locales.
static bool make_locale(void) {
  char here[4096];
  write_text("comma.source", comma);  // localedef warns that the rest is missing, and makes it
  bool ran = system("localedef -c -i ./comma.source ./comma >log 2>&1") != -1;
  setenv("LOCPATH", getcwd(here, sizeof here), true);
  bool good = ran && setlocale(LC_ALL, "comma") && strcmp(localeconv()->decimal_point, ",") == 0;
  setlocale(LC_ALL, "C");
  return good;
}

// ---- what is compared ----------------------------------------------------------------------------

static void add_values(text *out, permc_context *c, const char *entry, const char *name,
                       const char *content, const char *backend) {
  static const char *const endings[] = {"x.out", "x.csv", "x.txt"};
  permc_value **read = NULL, **results = NULL;
  size_t count = 0, made = 0;
  bool good = CHECK(permc_read_bytes(c, entry, name, content, strlen(content), &read, &count)) &&
              CHECK(permc_run(c, entry, backend, read, count, &results, &made));
  for (size_t i = 0; i < sizeof endings / sizeof *endings && good; i++) {
    if (CHECK(permc_write_file(c, endings[i], results[0])))
      add_file(out, endings[i]);
  }
  permc_values_free(results, made);
  permc_values_free(read, count);
}

static void add_forms(text *out, permc_context *c) {
  static const struct {
    const char *name, *entry, *types;
  } forms[] = {{"trace", "main", "[2^12]f64"},
               {"net", "main", "[2^12]f64"},
               {"plan", "main", "[2^12]f64"},
               {"c", "main", "[2^12]f64"},
               {"network.svg", "pair", "[2]f64"}};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    permc_explain_options o = {
        .types = forms[i].types, .target = "some.target", .dump = forms[i].name};
    char *form = NULL;
    if (!CHECK(permc_explain(c, forms[i].entry, NULL, 0, &o, &form)))
      CHECK_STR(permc_message(c), "");
    text_string(out, form ? form : "");
    free(form);
  }
}

static void add_target(text *out) {
  const target *t = target_at(0);
  for (size_t i = 0; i < target_field_count(); i++)
    target_print_field(out, t, i);
}

// What the tool prints about times changes from run to run.
static void add_tool(text *out) {
  static const char *const words[] = {
      "run -e 'map (/ 3)' --quiet", "explain -e 'map (\\x -> x / 3 + 0.1)' --arguments '[2^12]f64'",
      "fmt -"};
  static const char *const given[] = {"[0.5, 1.25]", "", "main = 0.1 + 1e-7\n"};
  for (size_t i = 0; i < sizeof words / sizeof *words && getenv("PERMC"); i++) {
    text command = {0};
    write_text("given", given[i]);
    text_printf(&command, "'%s' %s <given 2>&1", getenv("PERMC"), words[i]);
    FILE *f = popen(text_content(&command), "r");
    add_stream(out, f, "planned in");
    CHECK(f && pclose(f) == 0);
    text_free(&command);
  }
}

static void add_all(text *out) {
  static const char *const backends[] = {"interp", "portable", "cpu"};
  permc_context *c = load_text(program);
  write_text("some.target", "base = avx2\nname = some\nmemory_bytes_per_second = 1.5e9\n");
  for (size_t i = 0; c && i < sizeof backends / sizeof *backends; i++) {
    add_values(out, c, "main", "x.in", "[0.5, 1.25, 1e-300, 0x1.8p3]", backends[i]);
    add_values(out, c, "main", "x.csv", "0.5\n1.25\n1234567.5\n", backends[i]);
  }
  if (c)
    add_forms(out, c);
  permc_context_free(c);
  add_target(out);
  add_tool(out);
}

TEST(locale_of_the_caller_does_not_matter) {
  text usual = {0}, found = {0};
  char digits[8];
  const char *folder = getenv("PERMC_TMP");
  REQUIRE(chdir(folder ? folder : "/tmp") == 0);
  if (!make_locale())
    SKIP("no locale with a decimal comma could be made by localedef");
  add_all(&usual);
  setenv("LC_ALL", "comma", true);
  REQUIRE(setlocale(LC_ALL, "") != NULL);
  add_all(&found);
  snprintf(digits, sizeof digits, "%.1f", 0.5);
  CHECK_STR(digits, "0,5");  // and is as it was
  CHECK_STR(text_content(&found), text_content(&usual));
  text_free(&usual);
  text_free(&found);
}

TEST_MAIN()
