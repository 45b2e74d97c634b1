// The figures of the BMMC paper. See bench/paper.h.
#include "tool/bench/paper.h"

#include "tool/bench/plot.h"

#include <math.h>
#include <stdio.h>

typedef enum permutation { BIT_REVERSAL, RANDOM_BPC, RANDOM_BMMC, PERMUTATIONS } permutation;

static const char *const permutations[PERMUTATIONS] = {"bit reversal", "random BPC", "random BMMC"};

// In the order of the figures: the paper's, then others.
static const char *const strategies[] = {"naive",   "tile",   "tile+banks", "tile+banks+iters",
                                         "onepass", "online", "ulp"};
enum { STRATEGIES = sizeof strategies / sizeof *strategies, SMALLEST = 20, LARGEST = 40 };

// ---- rows ---------------------------------------------------------------------------------------

// PERMUTATIONS: it is not for the figures.
static permutation permutation_of(const bench_row *row) {
  char series[sizeof row->series + sizeof row->strategy];
  int p = strcmp(row->suite, "bmmc") == 0 ? 0 : PERMUTATIONS;
  for (; p < PERMUTATIONS; p++) {
    snprintf(series, sizeof series, "%s u32 by %s", permutations[p], row->strategy);
    if (strcmp(series, row->series) == 0)
      break;
  }
  return (permutation)p;
}

bool bench_paper_row(const bench_row *row) {
  return permutation_of(row) != PERMUTATIONS && row->seconds.median > 0;
}

bool bench_paper_in(const bench_report *r) {
  for (size_t i = 0; i < r->rows.count; i++)
    if (bench_paper_row(&r->rows.items[i]))
      return true;
  return false;
}

static const bench_row *find_row(const bench_report *r, permutation p, const char *strategy,
                                 int n) {
  for (size_t i = 0; i < r->rows.count; i++) {
    const bench_row *row = &r->rows.items[i];
    if (row->x == UINT64_C(1) << n && bench_paper_row(row) && permutation_of(row) == p &&
        strcmp(row->strategy, strategy) == 0)
      return row;
  }
  return NULL;
}

static const char *all_optimisations(permutation p) {
  return p == RANDOM_BMMC ? "tile+banks" : "tile+banks+iters";
}

static bool has_size(const bench_report *r, int n) {
  for (size_t i = 0; i < r->rows.count; i++)
    if (r->rows.items[i].x == UINT64_C(1) << n && bench_paper_row(&r->rows.items[i]))
      return true;
  return false;
}

static int largest_size(const bench_report *r) {
  int n = LARGEST;
  while (n > SMALLEST && !has_size(r, n))
    n--;
  return n;
}

static const bench_row *first_row(const bench_report *r, int n) {
  const bench_row *first = NULL;
  for (int s = 0; s < STRATEGIES && !first; s++)
    for (int p = 0; p < PERMUTATIONS && !first; p++)
      first = find_row(r, (permutation)p, strategies[s], n);
  return first;
}

// ---- numbers ------------------------------------------------------------------------------------

// Each row has taken turns with a copy of its own: the median of their medians. 0: there is none.
static double copy_seconds(const bench_report *r, int n) {
  double samples[STRATEGIES * PERMUTATIONS];
  size_t count = 0;
  for (int s = 0; s < STRATEGIES; s++)
    for (int p = 0; p < PERMUTATIONS; p++) {
      const bench_row *row = find_row(r, (permutation)p, strategies[s], n);
      const bench_side *copy = row ? bench_row_side(row, "copy") : NULL;
      if (copy && copy->seconds.median > 0)
        samples[count++] = copy->seconds.median;
    }
  return bench_figures_of(samples, count).median;
}

// Of what all passes read and write, as the paper counts them.
static double moved_per_second(const bench_row *row) {
  double passes = row->passes > 1 ? (double)row->passes : 1;
  return passes * bench_row_bytes_per_second(row, row->seconds.median);
}

// 0: one of them is missing.
static double speedup(const bench_report *r, permutation p, const char *strategy, int n) {
  const bench_row *naive = find_row(r, p, "naive", n), *row = find_row(r, p, strategy, n);
  return naive && row ? naive->seconds.median / row->seconds.median : 0;
}

// ---- tables -------------------------------------------------------------------------------------

static void add_head(text *to, int width) {
  text_printf(to, "%-20s", "");
  for (int p = 0; p < PERMUTATIONS; p++)
    text_printf(to, " %*s", width, permutations[p]);
  text_string(to, "\n");
}

static void add_times(text *to, const bench_report *r, int n) {
  double copy = copy_seconds(r, n);
  text_printf(to, "\nFigure 9: times for 2^%d u32", n);
  if (copy > 0)
    text_printf(to, ", and as multiples of a copy's (%.3g ms)", 1e3 * copy);
  text_string(to, "\n");
  add_head(to, 20);
  for (int s = 0; s < STRATEGIES; s++) {
    text_printf(to, "%-20s", strategies[s]);
    for (int p = 0; p < PERMUTATIONS; p++) {
      const bench_row *row = find_row(r, (permutation)p, strategies[s], n);
      const bench_side *side = row ? bench_row_side(row, "copy") : NULL;
      if (row)
        text_printf(to, " %9.4g ms", 1e3 * row->seconds.median);
      else
        text_printf(to, " %12s", "-");
      if (side)
        text_printf(to, " %6.2fx", side->ratio.median);
      else
        text_printf(to, " %7s", "");
    }
    text_string(to, "\n");
  }
}

// What figure 10 has beside the copy.
typedef enum way { NAIVE, ALL_OPTIMISATIONS, ONEPASS, WAYS } way;
static const char *const ways[WAYS] = {"naive", "all optimisations", "onepass"};

static const char *strategy_of(way w, permutation p) {
  return w == ALL_OPTIMISATIONS ? all_optimisations(p) : ways[w];
}

static void add_bandwidths(text *to, const bench_report *r, int n) {
  const bench_row *first = first_row(r, n);
  double copy = copy_seconds(r, n);
  text_printf(to,
              "\nFigure 10: GB/s that the passes read and write, 2^%d u32; in brackets of two "
              "passes as one\n",
              n);
  add_head(to, 20);
  if (first && copy > 0) {
    text_printf(to, "%-20s", "copy");
    for (int p = 0; p < PERMUTATIONS; p++)
      text_printf(to, " %13.0f%7s", bench_row_bytes_per_second(first, copy) / 1e9, "");
    text_string(to, "\n");
  }
  for (int w = 0; w < WAYS; w++) {
    text_printf(to, "%-20s", ways[w]);
    for (int p = 0; p < PERMUTATIONS; p++) {
      const bench_row *row = find_row(r, (permutation)p, strategy_of((way)w, (permutation)p), n);
      char once[24] = "";
      if (row && row->passes > 1)
        snprintf(once, sizeof once, "(%.0f)",
                 bench_row_bytes_per_second(row, row->seconds.median) / 1e9);
      if (row)
        text_printf(to, " %13.0f%7s", moved_per_second(row) / 1e9, once);
      else
        text_printf(to, " %13s%7s", "-", "");
    }
    text_string(to, "\n");
  }
}

static void add_speedup(text *to, double times, int width) {
  char room[24] = "-";
  if (times > 0)
    snprintf(room, sizeof room, "%.2fx", times);
  text_printf(to, " %*s", width, room);
}

static void add_speedups(text *to, const bench_report *r) {
  text_string(to, "\nFigure 11: times faster than naive: all optimisations, and onepass\n");
  add_head(to, 18);
  text_printf(to, "%-20s", "");
  for (int p = 0; p < PERMUTATIONS; p++)
    text_printf(to, " %9s %8s", "all", "onepass");
  text_string(to, "\n");
  for (int n = SMALLEST; n <= LARGEST; n++) {
    if (!has_size(r, n))
      continue;
    char size[24];
    snprintf(size, sizeof size, "2^%d", n);
    text_printf(to, "%-20s", size);
    for (int p = 0; p < PERMUTATIONS; p++) {
      add_speedup(to, speedup(r, (permutation)p, all_optimisations((permutation)p), n), 9);
      add_speedup(to, speedup(r, (permutation)p, "onepass", n), 8);
    }
    text_string(to, "\n");
  }
}

void bench_paper_tables(text *to, const bench_report *r) {
  c_locale locale;
  if (!bench_paper_in(r))
    return;
  bool entered = c_locale_enter(&locale);
  int n = largest_size(r);
  add_times(to, r, n);
  add_bandwidths(to, r, n);
  add_speedups(to, r);
  if (entered)
    c_locale_leave(&locale);
}

// ---- panels -------------------------------------------------------------------------------------

enum { TITLE = 160 };

// "Figure 9: times of 2^30 u32, NVIDIA H200, CUDA 13.0"
static void make_title(char *title, const bench_report *r, const char *words, int n) {
  const bench_row *first = first_row(r, n);
  snprintf(title, TITLE, "%s 2^%d u32, %.60s", words, n,
           first && first->device[0] ? first->device : r->processor);
}

static int draw_times(text *svg, const bench_report *r, int n, int top) {
  char title[TITLE], line[48];
  double heights[STRATEGIES * PERMUTATIONS] = {0}, copy = 1e3 * copy_seconds(r, n);
  for (int s = 0; s < STRATEGIES; s++)
    for (int p = 0; p < PERMUTATIONS; p++) {
      const bench_row *row = find_row(r, (permutation)p, strategies[s], n);
      heights[s * PERMUTATIONS + p] = row ? 1e3 * row->seconds.median : 0;
    }
  make_title(title, r, "Figure 9: times of permutations of", n);
  snprintf(line, sizeof line, "copy, %.3g ms", copy);
  return bench_bars_draw(svg,
                         &(bench_bars){.title = title,
                                       .y_label = "milliseconds",
                                       .groups = strategies,
                                       .group_count = STRATEGIES,
                                       .series = permutations,
                                       .series_count = PERMUTATIONS,
                                       .heights = heights,
                                       .line_name = line,
                                       .line = copy},
                         top);
}

static int draw_bandwidths(text *svg, const bench_report *r, int n, int top) {
  char title[TITLE], line[48];
  const bench_row *first = first_row(r, n);
  double heights[PERMUTATIONS * WAYS] = {0}, seconds = copy_seconds(r, n);
  double copy = first ? bench_row_bytes_per_second(first, seconds) / 1e9 : 0;
  for (int p = 0; p < PERMUTATIONS; p++)
    for (int w = 0; w < WAYS; w++) {
      const bench_row *row = find_row(r, (permutation)p, strategy_of((way)w, (permutation)p), n);
      heights[p * WAYS + w] = row ? moved_per_second(row) / 1e9 : 0;
    }
  make_title(title, r, "Figure 10: bandwidth of permutations of", n);
  snprintf(line, sizeof line, "copy, %.0f GB/s", copy);
  return bench_bars_draw(svg,
                         &(bench_bars){.title = title,
                                       .y_label = "GB/s that the passes read and write",
                                       .groups = permutations,
                                       .group_count = PERMUTATIONS,
                                       .series = ways,
                                       .series_count = WAYS,
                                       .heights = heights,
                                       .from_zero = true,
                                       .line_name = line,
                                       .line = copy},
                         top);
}

// A curve of each permutation by all optimisations, then by onepass.
static int draw_speedups(text *svg, const bench_report *r, int top) {
  enum { CURVES = 2 * PERMUTATIONS, SIZES = LARGEST - SMALLEST + 1 };
  bench_point points[CURVES][SIZES];
  bench_curve curves[CURVES];
  char names[CURVES][48], title[TITLE];
  for (unsigned i = 0; i < CURVES; i++) {
    permutation p = (permutation)(i % PERMUTATIONS);
    bool all = i < PERMUTATIONS;
    curves[i] = (bench_curve){names[i], points[i], 0, {p, all ? 0 : 1}};
    snprintf(names[i], sizeof names[i], "%s, %s", permutations[p], all ? "all" : "onepass");
    for (int n = SMALLEST; n <= LARGEST; n++) {
      double times = speedup(r, p, all ? all_optimisations(p) : "onepass", n);
      if (times > 0)
        points[i][curves[i].count++] = (bench_point){ldexp(1, n), times};
    }
  }
  make_title(title, r, "Figure 11: speedup over naive, up to", largest_size(r));
  return bench_plot_draw(svg,
                         &(bench_plot){.title = title,
                                       .x_label = "elements (u32)",
                                       .y_label = "times faster than naive",
                                       .curves = curves,
                                       .count = CURVES},
                         top);
}

int bench_paper_draw(text *svg, const bench_report *r, int top) {
  c_locale locale;
  if (!bench_paper_in(r))
    return top;
  bool entered = c_locale_enter(&locale);
  int n = largest_size(r);
  top = draw_times(svg, r, n, top);
  top = draw_bandwidths(svg, r, n, top);
  top = draw_speedups(svg, r, top);
  if (entered)
    c_locale_leave(&locale);
  return top;
}
