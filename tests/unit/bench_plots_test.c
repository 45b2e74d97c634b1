// What permc bench draws and prints of a report: curves, bars, the figures and tables of papers.
#include "tests/test.h"
#include "tool/bench/bench.h"
#include "tool/bench/bmmc_figures.h"
#include "tool/bench/hmm_figures.h"
#include "tool/reports/chart.h"

#include <math.h>

static arena memory;

// ---- plots --------------------------------------------------------------------------------------

static size_t occurrences(const char *string, const char *part) {
  size_t count = 0;
  for (const char *c = strstr(string, part); c; c = strstr(c + 1, part))
    count++;
  return count;
}

static void draw_picture(text *picture, const chart_curves *curves) {
  text panel = {0};
  int height = chart_draw_curves(&panel, curves, 0);
  chart_write(picture, &panel, height);
  text_free(&panel);
}

TEST(plots) {
  const svg_point points[] = {{1024, 3e8}, {4096, 4e8}, {16384, NAN}, {65536, 5e8}};
  const chart_curve curves[] = {{"permc <1> & co", points, 4, {0, 0}},
                                {"copy", points, 2, {1, 0}},
                                {"copy, dashed", points, 2, {1, 1}}};
  chart_curves p = {.title = "a < b", .x_label = "x", .y_label = "y", .curves = curves, .count = 3};
  text t = {0};
  draw_picture(&t, &p);
  REQUIRE(t.data != NULL);
  CHECK_EQ_U64(occurrences(t.data, "<circle"), 5 + 2);  // and in the legend
  CHECK_EQ_U64(occurrences(t.data, "stroke-dasharray=\"6 3\""), 2);
  CHECK_EQ_U64(occurrences(t.data, "<text"), occurrences(t.data, "</text>"));
  CHECK_CONTAINS(t.data, "permc &lt;1&gt; &amp; co");
  CHECK_EQ_U64(occurrences(t.data, "nan"), 0);
  CHECK_CONTAINS(t.data, "</svg>\n");
  text_free(&t);
}

TEST(plots_of_nothing) {
  const svg_point bad = {-1, 1};
  const chart_curve curve = {"none", &bad, 1, {0, 0}};
  chart_curves p = {.title = "", .x_label = "", .y_label = "", .curves = &curve, .count = 1};
  text t = {0};
  draw_picture(&t, &p);
  CHECK_CONTAINS(t.data, "</svg>\n");
  CHECK_EQ_U64(occurrences(t.data, "nan"), 0);
  CHECK_EQ_U64(occurrences(t.data, "inf"), 0);
  text_free(&t);
}

static size_t count_bars(const chart_bars *b, text *t) {
  t->length = 0;
  CHECK_EQ_U64(chart_draw_bars(t, b, 100), 540);
  CHECK_EQ_U64(occurrences(t->data, "<text"), occurrences(t->data, "</text>"));
  CHECK(!occurrences(t->data, "nan") && !occurrences(t->data, "inf"));
  return occurrences(t->data, "font-size=\"9\"");  // the number on top of it
}

TEST(bars) {
  static const char *const groups[] = {"a", "b+c"}, *const series[] = {"first", "second <2>"};
  const double near[] = {10, 20, 0, 60}, far[] = {1, 20, NAN, 600}, none[] = {0, -1, NAN, INFINITY};
  chart_bars b = {"t", "ms", groups, 2, series, 2, near, false, "copy", 15};
  text t = {0};
  CHECK_EQ_U64(count_bars(&b, &t), 3);
  CHECK_CONTAINS(t.data, ">0</text>");  // from zero
  CHECK_CONTAINS(t.data, ">+c</text>");
  CHECK_CONTAINS(t.data, "second &lt;2&gt;");
  CHECK_EQ_U64(occurrences(t.data, "stroke-dasharray"), 2);
  b.heights = far;
  b.line_name = NULL;
  CHECK_EQ_U64(count_bars(&b, &t), 3);
  CHECK(!occurrences(t.data, ">0</text>"));
  CHECK_CONTAINS(t.data, ">500</text>");
  CHECK_EQ_U64(occurrences(t.data, "stroke-dasharray"), 0);
  b.from_zero = true;
  CHECK_EQ_U64(count_bars(&b, &t), 3);
  CHECK_CONTAINS(t.data, ">0</text>");
  b.heights = none;
  CHECK_EQ_U64(count_bars(&b, &t), 0);
  text_free(&t);
}

// Of 2^10 elements, beside a copy.
static bench_row row_of(const char *suite, const char *series) {
  bench_row row = {.x = 1024,
                   .elements = 1024,
                   .bytes = 8192,
                   .columns = 10,
                   .seconds = {.median = 1},
                   .side_count = 1,
                   .sides = {{"copy", 0, {.median = 0.5}, {.median = 2}}}};
  snprintf(row.suite, sizeof row.suite, "%s", suite);
  snprintf(row.series, sizeof row.series, "%s", series);
  return row;
}

// Bytes are bytes: one copy; of elements per second each series has its own.
TEST(copies_beside_series) {
  static const struct {
    const char *suite;
    unsigned copies;
  } table[] = {{"sort", 3}, {"bmmc", 1}, {"scaling", 0}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const char *suite = table[i].suite;
    bench_row rows[] = {row_of(suite, "u32"), row_of(suite, "f32"), row_of(suite, "(u32, u32)")};
    bench_report r = {.rows = {rows, 3, 3}};
    text t = {0};
    bench_draw(&memory, &t, &r);
    REQUIRE(t.data != NULL);
    for (size_t k = 0; k < 3; k++) {
      char name[80];
      snprintf(name, sizeof name, ">%s</text>", rows[k].series);
      CHECK_EQ_U64(occurrences(t.data, name), 1);
      snprintf(name, sizeof name, ">copy, %s</text>", rows[k].series);
      CHECK_EQ_U64(occurrences(t.data, name), k < table[i].copies);
    }
    text_free(&t);
  }
  arena_free(&memory);
}

// ---- figures of the paper -----------------------------------------------------------------------

// Times of 2^n elements: naive ones are `slow` times a copy's, two passes twice as long.
static bench_row paper_row(const char *permutation, const char *strategy, int n) {
  double slow = !strcmp(permutation, "bit reversal") ? 16 : 8, copy = ldexp(8, n) / 4e12;
  bool naive = !strcmp(strategy, "naive"), any = !strcmp(permutation, "random BMMC");
  bool twice = !strcmp(strategy, "ulp") || (any && !strncmp(strategy, "tile", 4));
  double times = naive ? slow : twice ? 2 : 1;
  bench_row row = {.suite = "bmmc",
                   .backend = "cuda",
                   .device = "NVIDIA H200, CUDA 13.0",
                   .x = UINT64_C(1) << n,
                   .elements = UINT64_C(1) << n,
                   .bytes = UINT64_C(8) << n,
                   .passes = twice ? 2 : 1,
                   .seconds = {.median = copy * times},
                   .side_count = 1,
                   .sides = {{"copy", 0, {.median = copy}, {.median = times}}}};
  snprintf(row.strategy, sizeof row.strategy, "%s", strategy);
  snprintf(row.series, sizeof row.series, "%s u32 by %s", permutation, strategy);
  snprintf(row.name, sizeof row.name, "%s u32 2^%d by %s", permutation, n, strategy);
  return row;
}

static bench_report paper_report(bench_row *rows) {
  static const char *const permutations[] = {"random BMMC", "bit reversal", "random BPC"};
  static const char *const strategies[] = {"naive", "tile+banks", "tile+banks+iters", "onepass",
                                           "ulp"};
  bench_report r = {.rows = {rows, 0, 0}};
  for (size_t s = 0; s < 5; s++)
    for (size_t p = 0; p < 3; p++)
      for (int n = 20; n <= 28; n += 4)
        if ((p || s != 2) && (n < 28 || s != 3))  // onepass lacks the largest
          rows[r.rows.count++] = paper_row(permutations[p], strategies[s], n);
  return r;
}

TEST(tables_of_the_paper) {
  bench_row rows[50];
  bench_report r = paper_report(rows);
  text t = {0};
  bmmc_print_tables(&t, &r);
  REQUIRE(t.data != NULL);
  static const char *const lines[] = {
      "\nFigure 9: times for 2^28 u32, and as multiples of a copy's (0.537 ms)\n",
      "\nnaive                     8.59 ms  16.00x     4.295 ms   8.00x     4.295 ms   8.00x\n",
      "\ntile                            -                    -                    -        \n",
      "\ntile+banks+iters        0.5369 ms   1.00x    0.5369 ms   1.00x            -        \n",
      "\nulp                      1.074 ms   2.00x     1.074 ms   2.00x     1.074 ms   2.00x\n",
      "\ncopy                          4000                 4000                 4000       \n",
      "\nnaive                          250                  500                  500       \n",
      "\nall optimisations             4000                 4000                 4000 (2000)\n",
      "\nonepass                          -                    -                    -       \n",
      "\n2^24                    16.00x   16.00x     8.00x    8.00x     4.00x    8.00x\n",
      "\n2^28                    16.00x        -     8.00x        -     4.00x        -\n",
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    CHECK_CONTAINS(t.data, lines[i]);
  CHECK_EQ_U64(occurrences(t.data, "\nFigure "), 3);
  CHECK_EQ_U64(occurrences(t.data, "\n2^"), 3);
  text_free(&t);
}

TEST(panels_of_the_paper) {
  bench_row rows[50];
  bench_report r = paper_report(rows);
  text t = {0};
  CHECK_EQ_U64(bmmc_draw(&t, &r, 10), 10 + 3 * 440);
  REQUIRE(t.data != NULL);
  CHECK_EQ_U64(occurrences(t.data, ">Figure "), 3);
  CHECK_EQ_U64(occurrences(t.data, "2^28 u32, NVIDIA H200"), 3);
  CHECK_EQ_U64(occurrences(t.data, "font-size=\"9\">8.59<"), 1);
  CHECK_EQ_U64(occurrences(t.data, "font-size=\"9\">4000<"), 3);
  CHECK_EQ_U64(occurrences(t.data, "<circle"), 9 + 3);
  CHECK(!occurrences(t.data, "nan") && !occurrences(t.data, "inf"));
  text_free(&t);
}

TEST(tables_of_the_hmm_paper) {
  bench_row rows[] = {
      {.suite = "hmm",
       .series = "random u32 by tiled",
       .x = 1 << 16,
       .seconds = {.median = 9.6e-6},
       .side_count = 1,
       .sides = {{"copy", 0, {.median = 1.25e-6}, {.median = 8}}}},
      {.suite = "hmm",
       .series = "random u32 by d-designated",
       .x = 1 << 16,
       .seconds = {.median = 2.5e-6}},
      {.suite = "hmm",
       .series = "transpose u64 by scheduled",
       .x = 1 << 28,
       .seconds = {.median = 1e-2}},
      {.suite = "hmm",
       .series = "1000 random u32 by tiled",
       .x = 1 << 22,
       .seconds = {.runs = 1000, .least = 24.5e-6, .mean = 25e-6, .greatest = 26e-6}},
      {.suite = "permute",
       .series = "random u32 by tiled",
       .x = 1 << 18,
       .seconds = {.median = 1}}};
  bench_report r = {.rows = {rows, 5, 5}};
  text t = {0};
  hmm_print_tables(&t, &r);
  CHECK_CONTAINS(
      text_content(&t),
      "\nrandom          256    1.55     3.3    3.87       2.5                     9.6    1.25\n");
  CHECK_CONTAINS(text_content(&t), "\ntranspose     16384 ");
  CHECK_CONTAINS(text_content(&t),
                 "\ntiled                   1000     24.50     25.00     26.00\n");
  CHECK_EQ_U64(occurrences(text_content(&t), "\nTable "), 3);
  text_free(&t);
  r.rows.count = 0;
  hmm_print_tables(&t, &r);
  CHECK_EQ_U64(t.length, 0);
  text_free(&t);
}

TEST(reports_without_the_paper) {
  bench_row rows[3] = {paper_row("bit reversal", "tile", 20), paper_row("bit reversal", "tile", 20),
                       paper_row("transpose", "tile", 20)};
  bench_report r = {.rows = {rows, 3, 3}};
  text t = {0};
  snprintf(rows[0].series, sizeof rows[0].series,
           "bit reversal u32");  // planned by --strategy tile
  snprintf(rows[1].suite, sizeof rows[1].suite, "sort");
  for (size_t i = 0; i < 3; i++)
    CHECK(!bmmc_is_row(&rows[i]));
  bmmc_print_tables(&t, &r);
  CHECK_EQ_I64(bmmc_draw(&t, &r, 7), 7);
  CHECK(!t.data);
  rows[0] = paper_row("bit reversal", "tile", 20);
  rows[0].side_count = 0;  // no copy, no naive, one of the strategies
  bmmc_print_tables(&t, &r);
  CHECK_EQ_I64(bmmc_draw(&t, &r, 0), 3 * 440);
  CHECK(!occurrences(t.data, "nan") && !occurrences(t.data, "inf") && !occurrences(t.data, "copy"));
  text_free(&t);
}

TEST(prefixes) {
  static const struct {
    double value;
    const char *text;
  } table[] = {{1, "1"},          {2.5e9, "2.5 G"},    {3e-10, "300 p"}, {1000, "1 k"},
               {999, "999"},      {1.5e-3, "1.5 m"},   {0, "0"},         {1e-15, "1 f"},
               {999.6e-6, "1 m"}, {999.4e-6, "999 u"}, {0.9996, "1"},    {1e6, "1 M"},
               {12345, "12.3 k"}, {1e20, "100000 P"}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    char room[16];
    CHECK_STR(svg_si(room, table[i].value), table[i].text);
  }
}

TEST_MAIN()
