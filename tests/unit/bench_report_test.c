// Reports of permc bench and the JSON that they are: written, read back, by others, damaged.
#include "tests/test.h"
#include "tool/bench/report.h"
#include "tool/reports/json.h"

#include <math.h>

// ---- reports ------------------------------------------------------------------------------------

static arena memory;

static bench_report read_back(const text *t) {
  bench_report r = {.processors = 0};
  text wrong = {0};
  CHECK(bench_report_read(&memory, t->data, t->length, &r, &wrong));
  CHECK_STR(text_content(&wrong), "");
  return r;
}

TEST(reports_read_back) {
  bench_row rows[2] = {{.suite = "sort",
                        .series = "sort u32",
                        .name = "sort \"u32\" \\ 2^20\n",
                        .backend = "cpu",
                        .strategy = "tile+banks",
                        .verified = "sorted, same elements",
                        .elements = 1 << 20,
                        .bytes = 8 << 20,
                        .passes = 2,
                        .threads = 2,
                        .plan = 0.25,
                        .predicted = 0.75,
                        .seconds = {31, 0.5, 0.375, 0.125, 0.875, 0.25, 0.75},
                        .has_copy = true,
                        .copy = {31, 0.25, 0, 0, 0, 0, 0},
                        .copy_ratio = {31, 2, 1.875, 1.5, 2.5, 1.75, 2.25}},
                       {.name = "second"}};
  bench_report r = {.permc = "1.2.3", .load = 0.5, .processors = 2, .rows = {rows, 2, 2}};
  text t = {0};
  bench_report_write(&t, &r);
  bench_report back = read_back(&t);
  CHECK_STR(back.permc, "1.2.3");
  CHECK(back.load == 0.5 && back.processors == 2);
  REQUIRE(back.rows.count == 2);
  CHECK_EQ_I64(memcmp(&back.rows.items[0], &rows[0], sizeof rows[0]), 0);
  CHECK_EQ_I64(memcmp(&back.rows.items[1], &rows[1], sizeof rows[1]), 0);
  text_free(&t);
  arena_free(&memory);
}

TEST(reports_of_others) {
  static const char *const texts[] = {
      "{}", "[]", "{\"rows\": 3}", "{\"rows\": [", "",
  };
  bench_report r;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    text wrong = {0};
    CHECK(!bench_report_read(&memory, texts[i], strlen(texts[i]), &r, &wrong));
    CHECK(wrong.length > 0);
    text_free(&wrong);
  }
  static const char odd[] = "{\"rows\": [{\"x\": -1, \"threads\": 1e300, \"name\": 7, "
                            "\"seconds\": [], \"beside\": [1, null, {\"name\": \"copy\"}]}, 5]}";
  text wrong = {0};
  CHECK(bench_report_read(&memory, odd, sizeof odd - 1, &r, &wrong));
  CHECK_EQ_U64(r.rows.count, 2);
  CHECK(r.rows.items[0].has_copy && !r.rows.items[1].has_copy);
  arena_free(&memory);
}

TEST(reports_say_where) {
  bench_report r;
  bench_report_begin(&r);
  CHECK(r.processors > 0 && r.permc[0] && r.processor[0] && r.system[0]);
  CHECK_EQ_U64(strlen(r.date), 20);
}

// ---- JSON ---------------------------------------------------------------------------------------

static void check_written(json_t *value, const char *expected) {
  text t = {0};
  report_print_json(&t, value, 3, 0);
  CHECK_STR(text_content(&t), expected);
  text_free(&t);
}

TEST(json_is_written) {
  check_written(json_pack("{s:o, s:[o, o, o]}", "a", report_string("\"\\\n"), "b",
                          report_number(0.125), report_number(INFINITY), report_count(1000)),
                "{\"a\": \"\\\"\\\\\\n\", \"b\": [0.125, null, 1000]}\n");
  check_written(report_count(UINT64_MAX), "1.84e19\n");
  check_written(report_string("x\u00e9\u20ac\U0001d11e"), "\"x\u00e9\u20ac\U0001d11e\"\n");
  // Not UTF-8: a lone byte, an overlong form, a surrogate, the half of a sequence.
  check_written(report_string("<\xff>"), "\"<\ufffd>\"\n");
  check_written(report_string("\xc0\xaf"), "\"\ufffd\ufffd\"\n");
  check_written(report_string("\xed\xa0\x80"), "\"\ufffd\ufffd\ufffd\"\n");
  check_written(report_string("\xe2\x82"), "\"\ufffd\ufffd\"\n");
}

static void check_mistake(const char *bytes, size_t length, const char *expected) {
  text wrong = {0};
  CHECK(report_read_json(bytes, length, &wrong) == NULL);
  CHECK_CONTAINS(text_content(&wrong), expected);
  text_free(&wrong);
}

TEST(json_mistakes) {
  check_mistake("", 0, "line 1: ");
  check_mistake("{\"a\": 1,\n \"b\" 2}", 17, "line 2: ':' expected near '2'");
  check_mistake("[1] 2", 5, "line 1: end of file expected near '2'");
  char deep[5000];
  memset(deep, '[', sizeof deep);
  check_mistake(deep, sizeof deep, "maximum parsing depth reached near '['");
}

TEST_MAIN()
