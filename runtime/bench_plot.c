// SVG 1.1. See bench_plot.h.
#include "runtime/bench_plot.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 820, HEIGHT = 440, LEFT = 74, RIGHT = 620, TOP = 44, BOTTOM = 384, LINE = 20 };

// Colours that people with any kind of colour vision can tell apart (Okabe and Ito, Color Universal
// Design, 2008).
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000", "#999933"};
enum { COLOURS = sizeof colours / sizeof *colours };

// Of lines, and what is drawn around a point, the centre of a dot.
static const struct {
  const char *dashes, *dot;
} styles[] = {{"", NULL},
              {"6 3", "m-3 -3h6v6h-6z"},
              {"2 3", "m0 -4l4 7h-8z"},
              {"8 3 2 3", "m0 -4l4 4l-4 4l-4 -4z"}};
enum { STYLES = sizeof styles / sizeof *styles };

bench_look bench_look_of(size_t number) {
  return (bench_look){(unsigned)(number % COLOURS), (unsigned)(number / COLOURS % STYLES)};
}

typedef struct range {
  double low, high;  // logarithms
} range;

typedef struct axes {
  range x, y;  // of base 2, of base 10
} axes;

static bool shown(bench_point p) { return p.x > 0 && p.y > 0 && isfinite(p.x) && isfinite(p.y); }

static void widen(range *r, double value) {
  r->low = fmin(r->low, value);
  r->high = fmax(r->high, value);
}

static axes find_axes(const bench_plot *p) {
  axes a = {{INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
  for (size_t i = 0; i < p->count; i++)
    for (size_t k = 0; k < p->curves[i].count; k++) {
      bench_point point = p->curves[i].points[k];
      if (!shown(point))
        continue;
      widen(&a.x, log2(point.x));
      widen(&a.y, log10(point.y));
    }
  if (!(a.x.low <= a.x.high))
    a = (axes){{0, 1}, {0, 1}};
  a.x = (range){a.x.low - 0.25, a.x.high + 0.25};
  a.y = (range){a.y.low - 0.08, a.y.high + 0.08};
  return a;
}

static double x_place(const axes *a, double x) {
  return LEFT + (log2(x) - a->x.low) / (a->x.high - a->x.low) * (RIGHT - LEFT);
}

static double y_place(const axes *a, double y) {
  return BOTTOM - (log10(y) - a->y.low) / (a->y.high - a->y.low) * (BOTTOM - TOP);
}

// ---- text ---------------------------------------------------------------------------------------

static void add_escaped(text *to, const char *words) {
  for (const char *c = words; *c; c++) {
    const char *entity = *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : *c == '&' ? "&amp;" : NULL;
    if (entity)
      text_string(to, entity);
    else if ((unsigned char)*c >= 0x20)
      text_add(to, c, 1);
  }
}

static void add_label(text *to, double x, double y, const char *attributes, const char *words) {
  text_printf(to, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, attributes);
  add_escaped(to, words);
  text_string(to, "</text>\n");
}

const char *bench_si(char *room, double value) {
  static const char prefixes[] = "fpnum kMGTP";
  int thousands = value > 0 ? (int)floor(log10(value) / 3 + 1e-9) : 0;
  thousands = thousands < -5 ? -5 : thousands > 5 ? 5 : thousands;
  snprintf(room, 16, "%.3g %c", value / pow(1000, thousands), prefixes[thousands + 5]);
  if (thousands == 0)
    room[strlen(room) - 2] = 0;
  return room;
}

// ---- parts --------------------------------------------------------------------------------------

static void add_x_axis(text *to, const axes *a, const char *label) {
  int first = (int)ceil(a->x.low), last = (int)floor(a->x.high);
  int step = last - first > 16 ? 2 : 1;
  for (int k = first; k <= last; k += step) {
    double x = x_place(a, ldexp(1, k));
    text_printf(to, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>\n", x, TOP, BOTTOM);
    text_printf(to,
                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">2<tspan dy=\"-5\" "
                "font-size=\"9\">%d</tspan></text>\n",
                x, BOTTOM + 18, k);
  }
  add_label(to, (LEFT + RIGHT) / 2.0, BOTTOM + 40, " text-anchor=\"middle\"", label);
}

static void add_y_axis(text *to, const axes *a, const char *label) {
  char room[16];
  bool sparse = a->y.high - a->y.low > 3;
  for (int k = (int)floor(a->y.low); k <= (int)ceil(a->y.high); k++)
    for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3) {
      double value = digit * pow(10, k), height = log10(value);
      if (height < a->y.low || height > a->y.high || (sparse && digit > 1))
        continue;
      double y = y_place(a, value);
      text_printf(to, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, y, RIGHT);
      add_label(to, LEFT - 6, y + 4, " text-anchor=\"end\"", bench_si(room, value));
    }
  add_label(to, LEFT - 58, TOP - 10, "", label);
}

static void add_stroke(text *to, bench_look look) {
  text_printf(to, "fill=\"none\" stroke=\"%s\" stroke-width=\"2\"", colours[look.colour % COLOURS]);
  const char *dashes = styles[look.style % STYLES].dashes;
  if (dashes[0])
    text_printf(to, " stroke-dasharray=\"%s\"", dashes);
  text_string(to, "/>\n");
}

static void add_dot(text *to, double x, double y, bench_look look) {
  const char *colour = colours[look.colour % COLOURS], *dot = styles[look.style % STYLES].dot;
  if (dot)
    text_printf(to, "<path d=\"M%.1f %.1f%s\" fill=\"%s\"/>\n", x, y, dot, colour);
  else
    text_printf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x, y, colour);
}

static void add_curve(text *to, const axes *a, const bench_curve *c) {
  bool begun = false;
  text_string(to, "<path d=\"");
  for (size_t i = 0; i < c->count; i++) {
    if (!shown(c->points[i]))
      continue;
    text_printf(to, "%c%.1f %.1f", begun ? 'L' : 'M', x_place(a, c->points[i].x),
                y_place(a, c->points[i].y));
    begun = true;
  }
  text_string(to, "\" ");
  add_stroke(to, c->look);
  for (size_t i = 0; i < c->count; i++)
    if (shown(c->points[i]))
      add_dot(to, x_place(a, c->points[i].x), y_place(a, c->points[i].y), c->look);
}

static void add_legend(text *to, const bench_plot *p) {
  for (size_t i = 0; i < p->count; i++) {
    int y = TOP + 8 + LINE * (int)i;
    text_printf(to, "<path d=\"M%d %dh22\" ", RIGHT + 14, y);
    add_stroke(to, p->curves[i].look);
    add_dot(to, RIGHT + 25, y, p->curves[i].look);
    add_label(to, RIGHT + 42, y + 4, "", p->curves[i].name);
  }
}

void bench_plot_write(text *to, const bench_plot *p) {
  axes a = find_axes(p);
  int height = TOP + 8 + LINE * (int)p->count + LINE;
  height = height > HEIGHT ? height : HEIGHT;
  c_locale locale;
  bool entered = c_locale_enter(&locale);
  text_printf(to,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
              "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
              "<style>.grid{stroke:#ddd;fill:none}</style>\n"
              "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
              WIDTH, height, WIDTH, height);
  add_label(to, LEFT, 20, " font-size=\"15\"", p->title);
  add_x_axis(to, &a, p->x_label);
  add_y_axis(to, &a, p->y_label);
  text_printf(to,
              "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
              "stroke=\"#666\"/>\n",
              LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP);
  for (size_t i = 0; i < p->count; i++)
    add_curve(to, &a, &p->curves[i]);
  add_legend(to, p);
  text_string(to, "</svg>\n");
  if (entered)
    c_locale_leave(&locale);
}
