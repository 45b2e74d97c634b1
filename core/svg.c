// See svg.h.
#include "core/svg.h"
#include "core/units.h"

#include <math.h>
#include <stdio.h>

// ---- looks -----------------------------------------------------------------------------------

// Colours that people with any kind of colour vision can tell apart (Okabe and Ito, Color Universal
// Design, 2008).
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000", "#999933"};
enum { COLOURS = sizeof colours / sizeof *colours };

// Dashes of lines; what is drawn around a point, NULL: a circle.
static const struct {
  const char *dashes, *mark;
} styles[] = {{"", NULL},
              {"6 3", "m-3 -3h6v6h-6z"},
              {"2 3", "m0 -4l4 7h-8z"},
              {"8 3 2 3", "m0 -4l4 4l-4 4l-4 -4z"}};
enum { STYLES = sizeof styles / sizeof *styles };

svg_look svg_look_at(size_t number) {
  return (svg_look){(unsigned)(number % COLOURS), (unsigned)(number / COLOURS % STYLES)};
}

const char *svg_colour(unsigned number) { return colours[number % COLOURS]; }

// ---- elements --------------------------------------------------------------------------------

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

void svg_power(text *to, double x, double y, int base, int exponent) {
  text_printf(to,
              "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%d<tspan dy=\"-5\" "
              "font-size=\"9\">%d</tspan></text>\n",
              x, y, base, exponent);
}

static void add_stroke(text *to, const char *colour, int width, const char *dashes) {
  text_printf(to, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"%d\"", colour, width);
  if (dashes[0])
    text_printf(to, " stroke-dasharray=\"%s\"", dashes);
  text_string(to, "/>\n");
}

void svg_line(text *to, double x, double y, double dx, double dy, const char *colour,
              const char *dashes) {
  text_printf(to, "<path d=\"M%.1f %.1fl%.1f %.1f", x, y, dx, dy);
  add_stroke(to, colour, 1, dashes);
}

void svg_curve(text *to, const svg_point *points, size_t count, svg_look look) {
  text_string(to, "<path d=\"");
  for (size_t i = 0; i < count; i++)
    text_printf(to, "%c%.1f %.1f", i ? 'L' : 'M', points[i].x, points[i].y);
  add_stroke(to, svg_colour(look.colour), 2, styles[look.style % STYLES].dashes);
}

void svg_mark(text *to, double x, double y, svg_look look) {
  const char *colour = svg_colour(look.colour), *mark = styles[look.style % STYLES].mark;
  if (mark)
    text_printf(to, "<path d=\"M%.1f %.1f%s\" fill=\"%s\"/>\n", x, y, mark, colour);
  else
    svg_dot(to, x, y, 3, colour);
}

void svg_dot(text *to, double x, double y, double radius, const char *fill) {
  text_printf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", x, y, radius, fill);
}

void svg_arrow_up(text *to, double x, double y, const char *fill) {
  text_printf(to, "<path d=\"M%.1f %.1fl4 8h-8z\" fill=\"%s\"/>\n", x, y, fill);
}

void svg_box(text *to, double x, double y, double width, double height, const char *fill) {
  text_printf(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x,
              y, width, height, fill);
}

void svg_shade(text *to, double x, double y, double width, double height, const char *fill) {
  text_printf(to,
              "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
              "fill-opacity=\"0.35\"/>\n",
              x, y, width, height, fill);
}

void svg_frame(text *to, double x, double y, double width, double height) {
  text_printf(to,
              "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
              "stroke=\"#666\"/>\n",
              x, y, width, height);
}

void svg_begin_group(text *to, double top) {
  text_printf(to, "<g transform=\"translate(0 %.1f)\">\n", top);
}

void svg_end_group(text *to) { text_string(to, "</g>\n"); }

void svg_write(text *to, const text *body, int width, int height) {
  text_printf(to,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
              "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
              "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n%s</svg>\n",
              width, height, width, height, text_content(body));
  to->failed = to->failed || body->failed;
}

// ---- axes ------------------------------------------------------------------------------------

svg_axis svg_make_axis(double low, double high, bool logarithmic, double from, double to) {
  return (svg_axis){logarithmic, logarithmic ? log10(low) : low, logarithmic ? log10(high) : high,
                    from, to};
}

double svg_place(const svg_axis *a, double value) {
  double at = ((a->logarithmic ? log10(value) : value) - a->low) / (a->high - a->low);
  return a->from + at * (a->to - a->from);
}

static bool has_tick(double decades, int digit) {
  return digit == 1 || (decades <= 3.5 && (digit == 2 || digit == 5)) || decades <= 0.6;
}

static size_t logarithmic_ticks(const svg_axis *a, double *ticks) {
  size_t count = 0;
  for (int k = (int)floor(a->low); k <= (int)ceil(a->high); k++)
    for (int digit = 1; digit <= 9; digit++) {
      double value = digit * pow(10, k), at = log10(value);
      if (at >= a->low && at <= a->high && has_tick(a->high - a->low, digit) && count < SVG_TICKS)
        ticks[count++] = value;
    }
  return count;
}

// From low on, by 1, 2 or 5 times a power of ten, at most some seven steps.
size_t svg_ticks(const svg_axis *a, double *ticks) {
  static const double digits[] = {1, 2, 5, 10};
  double unit = pow(10, floor(log10((a->high - a->low) / 4))), step = unit;
  size_t count = 0;
  if (a->logarithmic)
    return logarithmic_ticks(a, ticks);
  for (int i = 0; i < 4 && step * 7 < a->high - a->low; i++)
    step = digits[i] * unit;
  for (; a->low + (double)count * step <= a->high && count < SVG_TICKS; count++)
    ticks[count] = a->low + (double)count * step;
  return count;
}

const char *svg_si(char *buffer, double value) {
  static const char prefixes[] = "fpnum kMGTP";
  char number[NUMBER_SPACE];
  int thousands = value > 0 ? (int)floor(log10(value / 0.9995) / 3) : 0;
  thousands = thousands < -5 ? -5 : thousands > 5 ? 5 : thousands;
  snprintf(buffer, 16, "%.13s %c", show_number(number, value / pow(1000, thousands)),
           prefixes[thousands + 5]);
  if (thousands == 0)
    buffer[strlen(buffer) - 2] = 0;
  return buffer;
}
