// See svg.h.
#include "core/svg.h"

// Colours that people with any kind of colour vision can tell apart (Okabe and Ito, Color Universal
// Design, 2008).
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000", "#999933"};
enum { COLOURS = sizeof colours / sizeof *colours };

const char *svg_colour(unsigned number) { return colours[number % COLOURS]; }

void svg_escape(text *to, const char *words) {
  for (const char *c = words; *c; c++) {
    const char *entity = *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : *c == '&' ? "&amp;" : NULL;
    if (entity)
      text_string(to, entity);
    else if ((unsigned char)*c >= 0x20 || *c == '\n')
      text_add(to, c, 1);
  }
}

void svg_words(text *to, double x, double y, svg_anchor anchor, int size, const char *words) {
  static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  text_printf(to, "<text x=\"%.1f\" y=\"%.1f\"%s", x, y, anchors[anchor]);
  if (size)
    text_printf(to, " font-size=\"%d\"", size);
  text_string(to, ">");
  svg_escape(to, words);
  text_string(to, "</text>\n");
}

void svg_line(text *to, double x, double y, double dx, double dy, const char *colour,
              const char *dashes) {
  text_printf(to, "<path d=\"M%.1f %.1fl%.1f %.1f\" fill=\"none\" stroke=\"%s\" stroke-width=\"1\"",
              x, y, dx, dy, colour);
  if (dashes[0])
    text_printf(to, " stroke-dasharray=\"%s\"", dashes);
  text_string(to, "/>\n");
}

void svg_dot(text *to, double x, double y, double radius, const char *fill) {
  text_printf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", x, y, radius, fill);
}

void svg_arrow_up(text *to, double x, double y, const char *fill) {
  text_printf(to, "<path d=\"M%.1f %.1fl4 8h-8z\" fill=\"%s\"/>\n", x, y, fill);
}

void svg_box(text *to, double x, double y, double width, double height, const char *fill,
             const char *attributes) {
  text_printf(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"%s/>\n", x,
              y, width, height, fill, attributes);
}

void svg_write(text *to, const text *body, int width, int height) {
  text_printf(to,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
              "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
              "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n%s</svg>\n",
              width, height, width, height, text_content(body));
  to->failed = to->failed || body->failed;
}
