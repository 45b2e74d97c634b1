// Curves as an SVG text: logarithmic axes, a line and dots for each series, a legend.
//
//   const bench_point points[] = {{1024, 3.1e8}, {4096, 4.0e8}};
//   const bench_curve curves[] = {{"permc", points, 2, .look = {0, 0}}};
//   bench_plot p = {.title = "Sorting", .x_label = "keys", .y_label = "keys per second",
//                   .curves = curves, .count = 1};
//   bench_plot_write(&svg, &p);
#ifndef PERMC_RUNTIME_BENCH_PLOT_H
#define PERMC_RUNTIME_BENCH_PLOT_H

#include "lang/base.h"

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

// The look of the number-th of many curves that have nothing to do with each other.
bench_look bench_look_of(size_t number);
// Points that are not positive and finite are left out. Ticks are at powers of two on the x axis,
// and at 1, 2 and 5 times powers of ten on the y axis.
void bench_plot_write(text *to, const bench_plot *p);
// "2.5 G" for 2.5e9, "300 p" for 3e-10; `room` is for 16 bytes.
const char *bench_si(char *room, double value);

#endif
