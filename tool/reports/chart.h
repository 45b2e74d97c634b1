// Charts of a report: panels of curves or of bars, one below the other in a picture.
//
//   const svg_point points[] = {{1024, 3.1e8}, {4096, 4.0e8}};
//   const chart_curve curves[] = {{"permc", points, 2, .look = {0, 0}}};
//   chart_curves c = {.title = "Sorting", .x_label = "keys", .y_label = "keys per second",
//                     .curves = curves, .count = 1};
//   text panels = {0};
//   int height = chart_draw_bars(&panels, &b, chart_draw_curves(&panels, &c, 0));
//   chart_write(&picture, &panels, height);
#ifndef PERMC_TOOL_REPORTS_CHART_H
#define PERMC_TOOL_REPORTS_CHART_H

#include "core/svg.h"

typedef struct chart_curve {
  const char *name;
  const svg_point *points;  // from left to right; those not positive and finite are left out
  size_t count;
  svg_look look;
} chart_curve;

// On logarithmic axes, x with powers of two.
typedef struct chart_curves {
  const char *title, *x_label, *y_label;
  const chart_curve *curves;
  size_t count;
} chart_curves;

// Bars in groups, from zero; or, where they span a decade, on a logarithmic axis from below the
// lowest.
typedef struct chart_bars {
  const char *title, *y_label;
  const char *const *groups;  // names, broken before each '+'
  size_t group_count;
  const char *const *series;
  size_t series_count;
  const double *heights;  // of each group, of each series; what is not positive is left out
  bool from_zero;         // whatever they span
  const char *line_name;  // of a line at `line`; NULL: none
  double line;
} chart_bars;

// Elements from `top` on; returns where they end.
int chart_draw_curves(text *to, const chart_curves *c, int top);
int chart_draw_bars(text *to, const chart_bars *b, int top);
void chart_write(text *to, const text *panels, int height);

#endif
