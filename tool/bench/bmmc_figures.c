// See bmmc_figures.h.
#include "tool/bench/bmmc_figures.h"
#include "core/f2.h"
#include "core/units.h"
#include "tool/reports/chart.h"

#include <math.h>
#include <stdio.h>

typedef enum permutation { BIT_REVERSAL, RANDOM_BPC, RANDOM_BMMC, PERMUTATIONS } permutation;

static const char *const permutations[PERMUTATIONS] = {"bit reversal", "random BPC", "random BMMC"};

// In the order of the figures: the paper's, then others.
typedef enum strategy {
  NAIVE,
  TILE,
  TILE_BANKS,
  TILE_BANKS_ITERS,
  ONEPASS,
  ONLINE,
  ULP,
  STRATEGIES
} strategy;
static const char *const strategies[STRATEGIES] = {
    "naive", "tile", "tile+banks", "tile+banks+iters", "onepass", "online", "ulp"};

enum { SMALLEST = 20, LARGEST = 40, SIZES = LARGEST - SMALLEST + 1 };

// ---- rows ---------------------------------------------------------------------------------------

typedef struct bmmc_rows {
  const bench_row *row[SIZES][PERMUTATIONS][STRATEGIES];  // of 2^(SMALLEST + size); or NULL
  bool has_size[SIZES];
  int size, n;            // the largest, 2^n
  const bench_row *some;  // of the largest; NULL: there is no row at all
  // Each row has taken turns with a copy of its own: the median of their medians, for the largest
  // size. 0: there is none.
  double copy;
} bmmc_rows;

// False: it is not for the figures.
static bool classify_row(const bench_row *row, permutation *p, strategy *s) {
  char series[sizeof row->series + sizeof row->strategy];
  if (strcmp(row->suite, "bmmc") != 0 || !(row->seconds.median > 0))
    return false;
  for (*p = 0; *p < PERMUTATIONS; ++*p)
    for (*s = 0; *s < STRATEGIES; ++*s) {
      snprintf(series, sizeof series, "%s u32 by %s", permutations[*p], strategies[*s]);
      if (!strcmp(series, row->series) && !strcmp(strategies[*s], row->strategy))
        return true;
    }
  return false;
}

bool bmmc_is_row(const bench_row *row) {
  permutation p;
  strategy s;
  return classify_row(row, &p, &s);
}

static double copy_seconds(const bmmc_rows *r) {
  double samples[STRATEGIES * PERMUTATIONS];
  size_t count = 0;
  for (int p = 0; p < PERMUTATIONS; p++)
    for (int s = 0; s < STRATEGIES; s++) {
      const bench_row *row = r->row[r->size][p][s];
      const bench_side *copy = row ? bench_row_side(row, "copy") : NULL;
      if (copy && copy->seconds.median > 0)
        samples[count++] = copy->seconds.median;
    }
  return bench_figures_of(samples, count).median;
}

static bmmc_rows collect_rows(const bench_report *report) {
  bmmc_rows r = {.some = NULL};
  for (size_t i = 0; i < report->rows.count; i++) {
    const bench_row *row = &report->rows.items[i];
    permutation p;
    strategy s;
    if (!classify_row(row, &p, &s) || row->x & (row->x - 1) || row->x >> SMALLEST == 0 ||
        row->x >> LARGEST > 1)
      continue;
    int size = f2_msb(row->x) - SMALLEST;
    if (!r.row[size][p][s])
      r.row[size][p][s] = row;
    r.has_size[size] = true;
    if (!r.some || size > r.size) {
      r.some = row;
      r.size = size;
    }
  }
  r.n = SMALLEST + r.size;
  r.copy = copy_seconds(&r);
  return r;
}

// ---- numbers ------------------------------------------------------------------------------------

// What figures 10 and 11 compare.
typedef enum method { METHOD_NAIVE, METHOD_ALL, METHOD_ONEPASS, METHODS } method;
// Names, behind that of what they are compared with.
static const char *const methods[1 + METHODS] = {"copy", "naive", "all optimisations", "onepass"};

static const bench_row *row_of_method(const bmmc_rows *r, int size, permutation p, method m) {
  strategy all = p == RANDOM_BMMC ? TILE_BANKS : TILE_BANKS_ITERS;
  return r->row[size][p][m == METHOD_NAIVE ? NAIVE : m == METHOD_ALL ? all : ONEPASS];
}

static double bytes_per_second(const bench_row *row) {
  return bench_row_bytes_per_second(row, row->seconds.median);
}

// Of what all passes read and write, as the paper counts them. 0: there is no row.
static double moved_per_second(const bench_row *row) {
  return row ? (row->passes > 1 ? (double)row->passes : 1) * bytes_per_second(row) : 0;
}

// 0: one of them is missing.
static double speedup(const bmmc_rows *r, int size, permutation p, method m) {
  const bench_row *naive = r->row[size][p][NAIVE], *row = row_of_method(r, size, p, m);
  return naive && row ? naive->seconds.median / row->seconds.median : 0;
}

// ---- tables -------------------------------------------------------------------------------------

// A number and a unit in a column, or a dash where it is 0.
static void print_cell(text *to, int width, const char *format, double number) {
  char cell[24] = "-";
  if (number > 0)
    snprintf(cell, sizeof cell, format, number);
  text_printf(to, " %*s", width, cell);
}

static void print_time(text *to, const bmmc_rows *r, int s, permutation p) {
  const bench_row *row = r->row[r->size][p][s];
  const bench_side *copy = row ? bench_row_side(row, "copy") : NULL;
  print_cell(to, 12, "%.4g ms", row ? 1e3 * row->seconds.median : 0);
  if (copy)
    text_printf(to, " %6.2fx", copy->ratio.median);
  else
    text_printf(to, " %7s", "");
}

static void print_bandwidth(text *to, const bmmc_rows *r, int m, permutation p) {
  const bench_row *row = m ? row_of_method(r, r->size, p, (method)(m - 1)) : NULL;
  double copy = bench_row_bytes_per_second(r->some, r->copy);
  char once[24] = "";
  if (row && row->passes > 1)
    snprintf(once, sizeof once, "(%.0f)", bytes_per_second(row) / 1e9);
  print_cell(to, 13, "%.0f", (m ? moved_per_second(row) : copy) / 1e9);
  text_printf(to, "%7s", once);
}

static void print_speedup(text *to, const bmmc_rows *r, int size, permutation p) {
  print_cell(to, 9, "%.2fx", speedup(r, size, p, METHOD_ALL));
  print_cell(to, 8, "%.2fx", speedup(r, size, p, METHOD_ONEPASS));
}

// The names of the permutations above columns of that width.
static void print_head(text *to, int width) {
  text_printf(to, "%-20s", "");
  for (int p = 0; p < PERMUTATIONS; p++)
    text_printf(to, " %*s", width, permutations[p]);
  text_string(to, "\n");
}

static void print_row(text *to, const bmmc_rows *r, const char *name, int number,
                      void (*print)(text *to, const bmmc_rows *r, int number, permutation p)) {
  text_printf(to, "%-20s", name);
  for (permutation p = 0; p < PERMUTATIONS; p++)
    print(to, r, number, p);
  text_string(to, "\n");
}

void bmmc_print_tables(text *to, const bench_report *report) {
  bmmc_rows r = collect_rows(report);
  if (!r.some)
    return;
  char number[NUMBER_SPACE];
  text_printf(to, "\nFigure 9: times for 2^%d u32", r.n);
  if (r.copy > 0)
    text_printf(to, ", and as multiples of a copy's (%s ms)", show_number(number, 1e3 * r.copy));
  text_string(to, "\n");
  print_head(to, 20);
  for (int s = 0; s < STRATEGIES; s++)
    print_row(to, &r, strategies[s], s, print_time);
  text_printf(to,
              "\nFigure 10: GB/s that the passes read and write, 2^%d u32; in brackets of two "
              "passes as one\n",
              r.n);
  print_head(to, 20);
  for (int m = r.copy > 0 ? 0 : 1; m <= METHODS; m++)
    print_row(to, &r, methods[m], m, print_bandwidth);
  text_string(to, "\nFigure 11: times faster than naive: all optimisations, and onepass\n");
  print_head(to, 18);
  text_printf(to, "%-20s%19s%19s%19s\n", "", "all  onepass", "all  onepass", "all  onepass");
  for (int size = 0; size < SIZES; size++) {
    char name[24];
    snprintf(name, sizeof name, "2^%d", SMALLEST + size);
    if (r.has_size[size])
      print_row(to, &r, name, size, print_speedup);
  }
}

// ---- panels -------------------------------------------------------------------------------------

enum { TITLE = 160 };

// "Figure 9: times of 2^30 u32, NVIDIA H200, CUDA 13.0"
static void make_title(char *title, const bench_report *report, const char *words,
                       const bmmc_rows *r) {
  snprintf(title, TITLE, "%s 2^%d u32, %.60s", words, r->n,
           r->some->device[0] ? r->some->device : report->processor);
}

static int draw_times(text *svg, const bench_report *report, const bmmc_rows *r, int top) {
  char title[TITLE], line[48], number[NUMBER_SPACE];
  double heights[STRATEGIES * PERMUTATIONS] = {0}, copy = 1e3 * r->copy;
  for (int s = 0; s < STRATEGIES; s++)
    for (int p = 0; p < PERMUTATIONS; p++) {
      const bench_row *row = r->row[r->size][p][s];
      heights[s * PERMUTATIONS + p] = row ? 1e3 * row->seconds.median : 0;
    }
  make_title(title, report, "Figure 9: times of permutations of", r);
  snprintf(line, sizeof line, "copy, %.20s ms", show_number(number, copy));
  chart_bars bars = {.title = title,
                     .y_label = "milliseconds",
                     .groups = strategies,
                     .group_count = STRATEGIES,
                     .series = permutations,
                     .series_count = PERMUTATIONS,
                     .heights = heights,
                     .line_name = line,
                     .line = copy};
  return chart_draw_bars(svg, &bars, top);
}

static int draw_bandwidths(text *svg, const bench_report *report, const bmmc_rows *r, int top) {
  char title[TITLE], line[48];
  double heights[PERMUTATIONS * METHODS];
  double copy = bench_row_bytes_per_second(r->some, r->copy) / 1e9;
  for (permutation p = 0; p < PERMUTATIONS; p++)
    for (method m = 0; m < METHODS; m++)
      heights[p * METHODS + m] = moved_per_second(row_of_method(r, r->size, p, m)) / 1e9;
  make_title(title, report, "Figure 10: bandwidth of permutations of", r);
  snprintf(line, sizeof line, "copy, %.0f GB/s", copy);
  chart_bars bars = {.title = title,
                     .y_label = "GB/s that the passes read and write",
                     .groups = permutations,
                     .group_count = PERMUTATIONS,
                     .series = methods + 1,
                     .series_count = METHODS,
                     .heights = heights,
                     .from_zero = true,
                     .line_name = line,
                     .line = copy};
  return chart_draw_bars(svg, &bars, top);
}

// A curve of each permutation by all optimisations, then by onepass.
static int draw_speedups(text *svg, const bench_report *report, const bmmc_rows *r, int top) {
  enum { CURVES = 2 * PERMUTATIONS };
  svg_point points[CURVES][SIZES];
  chart_curve curves[CURVES];
  char names[CURVES][48], title[TITLE];
  for (unsigned i = 0; i < CURVES; i++) {
    permutation p = (permutation)(i % PERMUTATIONS);
    bool all = i < PERMUTATIONS;
    curves[i] = (chart_curve){names[i], points[i], SIZES, {p, all ? 0 : 1}};
    snprintf(names[i], sizeof names[i], "%s, %s", permutations[p], all ? "all" : "onepass");
    for (int size = 0; size < SIZES; size++)
      points[i][size] = (svg_point){ldexp(1, SMALLEST + size),
                                    speedup(r, size, p, all ? METHOD_ALL : METHOD_ONEPASS)};
  }
  make_title(title, report, "Figure 11: speedup over naive, up to", r);
  chart_curves chart = {.title = title,
                        .x_label = "elements (u32)",
                        .y_label = "times faster than naive",
                        .curves = curves,
                        .count = CURVES};
  return chart_draw_curves(svg, &chart, top);
}

int bmmc_draw(text *svg, const bench_report *report, int top) {
  bmmc_rows r = collect_rows(report);
  if (!r.some)
    return top;
  top = draw_times(svg, report, &r, top);
  top = draw_bandwidths(svg, report, &r, top);
  return draw_speedups(svg, report, &r, top);
}
