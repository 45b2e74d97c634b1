// SVG 1.1. See bench/plot.h.
#include "tool/bench/plot.h"

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

// Of an axis of so many decades.
static bool has_tick(double decades, int digit) {
  return digit == 1 || (decades <= 3 && (digit == 2 || digit == 5)) || decades <= 0.6;
}

static void add_y_axis(text *to, const axes *a, const char *label) {
  char room[16];
  double decades = a->y.high - a->y.low;
  for (int k = (int)floor(a->y.low); k <= (int)ceil(a->y.high); k++)
    for (int digit = 1; digit <= 9; digit++) {
      double value = digit * pow(10, k), height = log10(value);
      if (height < a->y.low || height > a->y.high || !has_tick(decades, digit))
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

static void open_panel(text *to, int top, const char *title) {
  text_printf(to, "<g transform=\"translate(0 %d)\">\n", top);
  add_label(to, LEFT, 20, " font-size=\"15\"", title);
}

static void close_panel(text *to) { text_string(to, "</g>\n"); }

static void add_frame(text *to) {
  text_printf(to,
              "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
              "stroke=\"#666\"/>\n",
              LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP);
}

// Of a panel whose legend has so many lines.
static int panel_height(size_t lines) {
  int height = TOP + 8 + LINE * (int)lines + LINE;
  return height > HEIGHT ? height : HEIGHT;
}

int bench_plot_draw(text *to, const bench_plot *p, int top) {
  axes a = find_axes(p);
  c_locale locale;
  bool entered = c_locale_enter(&locale);
  open_panel(to, top, p->title);
  add_x_axis(to, &a, p->x_label);
  add_y_axis(to, &a, p->y_label);
  add_frame(to);
  for (size_t i = 0; i < p->count; i++)
    add_curve(to, &a, &p->curves[i]);
  add_legend(to, p);
  close_panel(to);
  if (entered)
    c_locale_leave(&locale);
  return top + panel_height(p->count);
}

void bench_svg_write(text *to, const text *panels, int height) {
  text_printf(to,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
              "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
              "<style>.grid{stroke:#ddd;fill:none}</style>\n"
              "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
              WIDTH, height, WIDTH, height);
  text_string(to, text_content(panels));
  text_string(to, "</svg>\n");
  to->failed = to->failed || panels->failed;
}

void bench_plot_write(text *to, const bench_plot *p) {
  text panel = {0};
  int height = bench_plot_draw(&panel, p, 0);
  bench_svg_write(to, &panel, height);
  text_free(&panel);
}

// ---- bars ---------------------------------------------------------------------------------------

typedef struct bar_scale {
  bool logarithmic;
  double low, high;  // of the frame
} bar_scale;

static bool is_bar(double height) { return height > 0 && isfinite(height); }

static bar_scale find_scale(const bench_bars *b) {
  const double decade = 10, room = 1.5;  // for the numbers on top of bars
  double low = INFINITY, high = 0;
  if (b->line_name && is_bar(b->line))
    low = high = b->line;
  for (size_t i = 0; i < b->group_count * b->series_count; i++)
    if (is_bar(b->heights[i])) {
      low = fmin(low, b->heights[i]);
      high = fmax(high, b->heights[i]);
    }
  if (high <= 0)
    return (bar_scale){false, 0, 1};
  if (b->from_zero || high < decade * low)
    return (bar_scale){false, 0, 1.12 * high};
  return (bar_scale){true, log10(low / 2), log10(high * room)};
}

static double bar_place(const bar_scale *s, double height) {
  double value = s->logarithmic ? log10(height) : height;
  return BOTTOM - (value - s->low) / (s->high - s->low) * (BOTTOM - TOP);
}

// "0.123", "12.3", "1234"; `room` is for 24 bytes.
static const char *say_height(char *room, double height) {
  snprintf(room, 24, height >= 100 ? "%.0f" : "%.3g", height);
  return room;
}

static void add_tick(text *to, const bar_scale *s, double height) {
  char room[24];
  double y = height > 0 ? bar_place(s, height) : BOTTOM;
  text_printf(to, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, y, RIGHT);
  add_label(to, LEFT - 6, y + 4, " text-anchor=\"end\"", say_height(room, height));
}

static void add_bar_axis(text *to, const bar_scale *s, const char *label) {
  static const double digits[] = {1, 2, 5, 10};
  if (s->logarithmic) {
    for (int k = (int)floor(s->low); k <= (int)ceil(s->high); k++)
      for (int i = 0; i < 3; i++) {
        double value = digits[i] * pow(10, k);
        if (log10(value) >= s->low && log10(value) <= s->high)
          add_tick(to, s, value);
      }
  } else {
    double unit = pow(10, floor(log10(s->high / 4))), step = unit;
    for (int i = 0; i < 4 && step * 7 < s->high; i++)
      step = digits[i] * unit;
    for (int i = 0; i * step <= s->high; i++)
      add_tick(to, s, i * step);
  }
  add_label(to, LEFT - 58, TOP - 10, "", label);
}

static void add_bar(text *to, const bar_scale *s, double left, double width, double height,
                    const char *colour) {
  char room[24];
  double y = bar_place(s, height);
  text_printf(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
              left, y, width, BOTTOM - y, colour);
  add_label(to, left + width / 2, y - 3, " text-anchor=\"middle\" font-size=\"9\"",
            say_height(room, height));
}

// "tile+banks" as "tile" and, below it, "+banks".
static void add_group_name(text *to, double x, const char *name) {
  char part[32];
  for (int line = 0; *name; line++) {
    size_t length = 1 + strcspn(name + 1, "+");
    snprintf(part, sizeof part, "%.*s", (int)length, name);
    add_label(to, x, BOTTOM + 16 + 14 * line, " text-anchor=\"middle\"", part);
    name += length;
  }
}

static void add_groups(text *to, const bench_bars *b, const bar_scale *s) {
  double group = (RIGHT - LEFT) / (double)b->group_count;
  double width = fmin(0.86 * group / (double)b->series_count, 48);
  for (size_t g = 0; g < b->group_count; g++) {
    double middle = LEFT + group * ((double)g + 0.5);
    double left = middle - width * (double)b->series_count / 2;
    add_group_name(to, middle, b->groups[g]);
    for (size_t i = 0; i < b->series_count; i++) {
      double height = b->heights[g * b->series_count + i];
      if (is_bar(height))
        add_bar(to, s, left + width * (double)i, width - 1, height, colours[i % COLOURS]);
    }
  }
}

static void add_line(text *to, int x, double y, int width) {
  text_printf(to,
              "<path d=\"M%d %.1fh%d\" fill=\"none\" stroke=\"#000\" stroke-dasharray=\"6 3\"/>\n",
              x, y, width);
}

static void add_bar_legend(text *to, const bench_bars *b, bool has_line) {
  int y = TOP + 8;
  for (size_t i = 0; i < b->series_count; i++, y += LINE) {
    text_printf(to, "<rect x=\"%d\" y=\"%d\" width=\"22\" height=\"11\" fill=\"%s\"/>\n",
                RIGHT + 14, y - 6, colours[i % COLOURS]);
    add_label(to, RIGHT + 42, y + 4, "", b->series[i]);
  }
  if (!has_line)
    return;
  add_line(to, RIGHT + 14, y, 22);
  add_label(to, RIGHT + 42, y + 4, "", b->line_name);
}

int bench_bars_draw(text *to, const bench_bars *b, int top) {
  bar_scale s = find_scale(b);
  bool has_line = b->line_name && is_bar(b->line);
  c_locale locale;
  bool entered = c_locale_enter(&locale);
  open_panel(to, top, b->title);
  add_bar_axis(to, &s, b->y_label);
  add_groups(to, b, &s);
  if (has_line)
    add_line(to, LEFT, bar_place(&s, b->line), RIGHT - LEFT);
  add_frame(to);
  add_bar_legend(to, b, has_line);
  close_panel(to);
  if (entered)
    c_locale_leave(&locale);
  return top + panel_height(b->series_count + has_line);
}
