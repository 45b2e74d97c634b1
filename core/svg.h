// A small writer of SVG 1.1 pictures: words, lines, boxes, marks, and axes that place values.
// Places are in pixels from the top left corner, y downward.
//
//   text body = {0};
//   svg_axis y = svg_make_axis(1, 1000, true, 384, 44);        // logarithmic, from 1 at the bottom
//   svg_line(&body, 74, svg_place(&y, 10), 546, 0, "#ddd", "");   // a line at 10, to the right
//   svg_words(&body, 68, svg_place(&y, 10) + 4, SVG_END, 0, "10");
//   svg_write(&picture, &body, 820, 440);
#ifndef PERMC_TOOL_REPORTS_SVG_H
#define PERMC_TOOL_REPORTS_SVG_H

#include "core/text.h"

// ---- elements --------------------------------------------------------------------------------

typedef enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END } svg_anchor;

// Numbers of a colour and of a kind of dashes and marks; after the last comes the first again.
typedef struct svg_look {
  unsigned colour, style;
} svg_look;
svg_look svg_look_at(size_t number);  // looks that differ, for things that belong to no group
const char *svg_colour(unsigned number);

typedef struct svg_point {
  double x, y;
} svg_point;

// Words as XML and HTML have them, without characters that these cannot have.
void svg_escape(text *to, const char *words);
// `size` of the font; 0: 12 pixels.
void svg_words(text *to, double x, double y, svg_anchor anchor, int size, const char *words);
void svg_power(text *to, double x, double y, int base, int exponent);  // 2 and a raised 10
// From x, y on by dx, dy. dashes: "" or lengths of dashes and gaps.
void svg_line(text *to, double x, double y, double dx, double dy, const char *colour,
              const char *dashes);
void svg_curve(text *to, const svg_point *points, size_t count, svg_look look);
void svg_mark(text *to, double x, double y, svg_look look);
void svg_dot(text *to, double x, double y, double radius, const char *fill);
// Its tip is at x, y.
void svg_arrow_up(text *to, double x, double y, const char *fill);
void svg_box(text *to, double x, double y, double width, double height, const char *fill);
void svg_shade(text *to, double x, double y, double width, double height,
               const char *fill);  // lets words on it be read
void svg_frame(text *to, double x, double y, double width, double height);
// What follows is moved down by `top`, until svg_end_group.
void svg_begin_group(text *to, double top);
void svg_end_group(text *to);

// The whole picture around its elements.
void svg_write(text *to, const text *body, int width, int height);

// ---- axes ------------------------------------------------------------------------------------

// Values, or their decimal logarithms, from `low` to `high` lie from the place `from` to `to`.
typedef struct svg_axis {
  bool logarithmic;
  double low, high, from, to;
} svg_axis;
svg_axis svg_make_axis(double low, double high, bool logarithmic, double from, double to);
double svg_place(const svg_axis *a, double value);
// Round values along the axis, at most SVG_TICKS: on a logarithmic one 1, 2 and 5 times powers of
// ten, without 2 and 5 on more than 3.5 decades, and with all digits on less than 0.6.
enum { SVG_TICKS = 64 };
size_t svg_ticks(const svg_axis *a, double *ticks);

// "2.5 G" for 2.5e9, "300 p" for 3e-10; `buffer` is for 16 bytes.
const char *svg_si(char *buffer, double value);

#endif
