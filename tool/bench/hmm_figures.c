// See hmm_figures.h.
#include "tool/bench/hmm_figures.h"
#include "core/units.h"

#include <stdio.h>
#include <string.h>

enum { FIRST = 16, SIZES = 7, PUBLISHED_SIZES = 5, PERMUTATIONS = 5, TYPES = 2, STRATEGIES = 4 };
enum { PUBLISHED_STRATEGIES = 3 };  // the first ones

static const char *const permutations[PERMUTATIONS] = {"identical", "shuffle", "random",
                                                       "bit-reversal", "transpose"};
static const char *const strategies[STRATEGIES] = {"d-designated", "s-designated", "scheduled",
                                                   "tiled"};
static const char *const types[TYPES] = {"u32", "u64"};

// Of 2^16, 2^18, ..., 2^24 elements: D-designated, S-designated, scheduled.
static const double published[TYPES][PERMUTATIONS][PUBLISHED_SIZES][PUBLISHED_STRATEGIES] = {
    {{{0.86, 0.86, 3.87},
      {2.48, 2.49, 11.7},
      {9.06, 9.13, 46.9},
      {33.2, 33.1, 173},
      {130, 129, 780}},
     {{0.94, 0.84, 3.87},
      {3.05, 2.47, 11.7},
      {11.5, 9.09, 46.9},
      {44.7, 33.6, 174},
      {186, 133, 780}},
     {{1.55, 3.3, 3.87}, {15.1, 15.7, 11.7}, {93.9, 89.8, 47}, {425, 398, 173}, {1756, 1644, 780}},
     {{1.6, 3.12, 3.87}, {15.6, 20.8, 11.7}, {95.3, 96.6, 47}, {459, 414, 173}, {2328, 1870, 780}},
     {{1.44, 2.72, 3.87}, {21.2, 17.8, 11.7}, {127, 87, 46.9}, {636, 370, 173}, {2850, 2037, 780}}},
    {{{1.07, 1.07, 5.07}, {3.57, 3.6, 16.9}, {13.5, 13.8, 66.6}, {54.6, 54.6, 275}},
     {{1.44, 1.08, 5.09}, {5.14, 3.57, 17}, {19.7, 13.6, 66.7}, {82.2, 54.6, 275}},
     {{2.98, 3.4, 5.09}, {21.6, 21.3, 17}, {104, 100, 66.6}, {452, 424, 275}},
     {{3, 3.36, 5.09}, {22, 25, 17}, {108, 104, 66.6}, {559, 498, 275}},
     {{2.07, 2.99, 5.12}, {22.2, 15.4, 17}, {134, 80.3, 66.6}, {638, 358, 275}}},
};

// ---- rows ---------------------------------------------------------------------------------------

typedef struct hmm_rows {
  const bench_row *row[TYPES][PERMUTATIONS][SIZES][STRATEGIES];  // or NULL
  const bench_row *drawn[STRATEGIES];                            // of Table III
} hmm_rows;

static bool is_series(const bench_row *row, const char *permutation, const char *type, int s) {
  char series[sizeof row->series];
  snprintf(series, sizeof series, "%s %s by %s", permutation, type, strategies[s]);
  return !strcmp(series, row->series);
}

static void classify_row(hmm_rows *r, const bench_row *row, int s) {
  int size = 0;
  while (size < SIZES && row->x != UINT64_C(1) << (FIRST + 2 * size))
    size++;
  if (is_series(row, "1000 random", "u32", s))
    r->drawn[s] = row;
  for (int t = 0; t < TYPES; t++)
    for (int p = 0; p < PERMUTATIONS && size < SIZES; p++)
      if (is_series(row, permutations[p], types[t], s))
        r->row[t][p][size][s] = row;
}

static hmm_rows collect_rows(const bench_report *report) {
  hmm_rows r = {.drawn = {NULL}};
  for (size_t i = 0; i < report->rows.count; i++)
    for (int s = 0; s < STRATEGIES && !strcmp(report->rows.items[i].suite, "hmm"); s++)
      classify_row(&r, &report->rows.items[i], s);
  return r;
}

// ---- tables -------------------------------------------------------------------------------------

// A time in a column; nothing where there is none.
static void print_time(text *to, int width, double time) {
  char cell[NUMBER_SPACE];
  text_printf(to, "%*s", width, time > 0 ? show_number(cell, time) : "");
}

// Each row has taken turns with a copy of its own: the least of their medians, in us. 0: no row.
static double copy_time(const bench_row *const *rows) {
  double least = 0;
  for (int s = 0; s < STRATEGIES; s++) {
    const bench_side *copy = rows[s] ? bench_row_side(rows[s], "copy") : NULL;
    if (copy && (least == 0 || copy->seconds.median < least))
      least = copy->seconds.median;
  }
  return 1e6 * least;
}

static void print_size(text *to, const hmm_rows *r, int type, int permutation, int size) {
  const bench_row *const *rows = r->row[type][permutation][size];
  bool some = false;
  for (int s = 0; s < STRATEGIES; s++)
    some = some || rows[s];
  if (!some)
    return;
  text_printf(to, "%-12s %6d", permutations[permutation], 1 << (FIRST / 2 + size));
  for (int s = 0; s < PUBLISHED_STRATEGIES; s++)
    print_time(to, 8, size < PUBLISHED_SIZES ? published[type][permutation][size][s] : 0);
  for (int s = 0; s < STRATEGIES; s++)
    print_time(to, s ? 8 : 10, rows[s] ? 1e6 * rows[s]->seconds.median : 0);
  print_time(to, 8, copy_time(rows));
  text_string(to, "\n");
}

static void print_type(text *to, const hmm_rows *r, int type) {
  text_printf(to, "\nTable II: %s          published, ms %28s\n", types[type], "here, us");
  text_printf(to, "%19s%8s%8s%8s%10s%8s%8s%8s%8s\n", "root of n", "D", "S", "sched.", "D", "S",
              "sched.", "tiled", "copy");
  for (int p = 0; p < PERMUTATIONS; p++)
    for (int size = 0; size < SIZES; size++)
      print_size(to, r, type, p, size);
}

static void print_drawn(text *to, const hmm_rows *r) {
  text_string(to, "\nTable III: random permutations of 2^22 u32, us\n");
  text_printf(to, "%-14s%14s%10s%10s%10s\n", "", "permutations", "least", "mean", "greatest");
  for (int s = 0; s < STRATEGIES; s++) {
    const bench_figures *f = r->drawn[s] ? &r->drawn[s]->seconds : NULL;
    if (f)
      text_printf(to, "%-14s%14zu%10.2f%10.2f%10.2f\n", strategies[s], f->runs, 1e6 * f->least,
                  1e6 * f->mean, 1e6 * f->greatest);
  }
}

void hmm_print_tables(text *to, const bench_report *report) {
  hmm_rows r = collect_rows(report);
  bool has[TYPES] = {false}, drawn = false;
  for (size_t i = 0; i < sizeof r.row / sizeof r.drawn[0]; i++)
    if ((&r.row[0][0][0][0])[i])
      has[i / (sizeof r.row[0] / sizeof r.drawn[0])] = true;
  for (int s = 0; s < STRATEGIES; s++)
    drawn = drawn || r.drawn[s];
  for (int t = 0; t < TYPES; t++)
    if (has[t])
      print_type(to, &r, t);
  if (drawn)
    print_drawn(to, &r);
}
