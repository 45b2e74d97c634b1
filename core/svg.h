// A small writer of SVG 1.1 pictures: words, lines, boxes and marks. Places are in pixels from the
// top left corner, y downward.
//
//   text body = {0};
//   svg_line(&body, 74, 200, 546, 0, svg_colour(0), "");      // from 74, 200 to the right
//   svg_words(&body, 68, 204, SVG_END, 0, "10");
//   svg_write(&picture, &body, 820, 440);
#ifndef PERMC_CORE_SVG_H
#define PERMC_CORE_SVG_H

#include "core/text.h"

typedef enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END } svg_anchor;

const char *svg_colour(unsigned number);  // after the last comes the first again

// Words as XML and HTML have them, without characters that these cannot have.
void svg_escape(text *to, const char *words);
// `size` of the font; 0: 12 pixels.
void svg_words(text *to, double x, double y, svg_anchor anchor, int size, const char *words);
// From x, y on by dx, dy. dashes: "" or lengths of dashes and gaps.
void svg_line(text *to, double x, double y, double dx, double dy, const char *colour,
              const char *dashes);
void svg_dot(text *to, double x, double y, double radius, const char *fill);
// Its tip is at x, y.
void svg_arrow_up(text *to, double x, double y, const char *fill);
// attributes: "" or more of SVG's, such as SVG_SHADE, which lets words on it be read.
void svg_box(text *to, double x, double y, double width, double height, const char *fill,
             const char *attributes);
#define SVG_SHADE " fill-opacity=\"0.35\""

// The whole picture around its elements.
void svg_write(text *to, const text *body, int width, int height);

#endif
