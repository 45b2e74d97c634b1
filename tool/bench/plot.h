// Curves and groups of bars as an SVG text, each with axes and a legend. Curves have logarithmic
// axes, a line and dots for each series.
//
//   const bench_point points[] = {{1024, 3.1e8}, {4096, 4.0e8}};
//   const bench_curve curves[] = {{"permc", points, 2, .look = {0, 0}}};
//   bench_plot p = {.title = "Sorting", .x_label = "keys", .y_label = "keys per second",
//                   .curves = curves, .count = 1};
//   bench_plot_write(&svg, &p);
//
// Several in one picture, one below the other:
//
//   text panels = {0};
//   int height = bench_bars_draw(&panels, &b, bench_plot_draw(&panels, &p, 0));
//   bench_svg_write(&svg, &panels, height);
#ifndef PERMC_TOOL_BENCH_PLOT_H
#define PERMC_TOOL_BENCH_PLOT_H

#include "core/text.h"

typedef struct bench_point {
  double x, y;
} bench_point;

// Numbers from 0, and after the last again from 0: of colours; of dashes and kinds of dots.
typedef struct bench_look {
  unsigned colour, style;
} bench_look;

typedef struct bench_curve {
  const char *name;
  const bench_point *points;  // from left to right
  size_t count;
  bench_look look;
} bench_curve;

typedef struct bench_plot {
  const char *title, *x_label, *y_label;
  const bench_curve *curves;
  size_t count;
} bench_plot;

// Bars in groups, from zero; or, where they span a decade, from below the lowest on a logarithmic
// axis.
typedef struct bench_bars {
  const char *title, *y_label;
  const char *const *groups;  // names, broken before each '+'
  size_t group_count;
  const char *const *series;
  size_t series_count;
  const double *heights;  // of each group, of each series; what is not positive is left out
  bool from_zero;         // whatever they span
  const char *line_name;  // of a line at `line`; NULL: none
  double line;
} bench_bars;

// The look of the number-th of many curves that have nothing to do with each other.
bench_look bench_look_of(size_t number);
// Points that are not positive and finite are left out. Ticks are at powers of two on the x axis,
// and at powers of ten on the y axis, in between at 2 and 5 times or all times them if there is
// room.
void bench_plot_write(text *to, const bench_plot *p);
// Elements from `top` on; returns where they end.
int bench_plot_draw(text *to, const bench_plot *p, int top);
int bench_bars_draw(text *to, const bench_bars *b, int top);
// The whole text around what was drawn.
void bench_svg_write(text *to, const text *panels, int height);
// "2.5 G" for 2.5e9, "300 p" for 3e-10; `room` is for 16 bytes.
const char *bench_si(char *room, double value);

#endif
