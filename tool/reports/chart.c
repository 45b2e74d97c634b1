// See chart.h.
#include "tool/reports/chart.h"
#include "core/units.h"

#include <math.h>
#include <stdio.h>

// Of a panel, in pixels; LEFT to BOTTOM: its frame; LINE: of the legend, at the right of it.
enum { WIDTH = 820, HEIGHT = 440, LEFT = 74, RIGHT = 620, TOP = 44, BOTTOM = 384, LINE = 20 };

static bool is_shown(double value) { return value > 0 && isfinite(value); }

// The smallest and the largest of the values that are shown.
typedef struct value_range {
  double least, most;
} value_range;

static void widen_range(value_range *r, double value) {
  if (!is_shown(value))
    return;
  r->least = r->most > 0 ? fmin(r->least, value) : value;
  r->most = fmax(r->most, value);
}

// ---- panels ----------------------------------------------------------------------------------

static void begin_panel(text *to, int top, const char *title, const char *y_label) {
  svg_begin_group(to, top);
  svg_words(to, LEFT, 20, SVG_START, 15, title);
  svg_words(to, LEFT - 58, TOP - 10, SVG_START, 0, y_label);
}

// The height of a panel whose legend has so many lines.
static int end_panel(text *to, size_t lines) {
  int height = TOP + 8 + LINE * (int)lines + LINE;
  svg_end_group(to);
  return height > HEIGHT ? height : HEIGHT;
}

static void draw_y_ticks(text *to, const svg_axis *y,
                         const char *(*print)(char *buffer, double value)) {
  double ticks[SVG_TICKS];
  char buffer[NUMBER_SPACE];
  size_t count = svg_ticks(y, ticks);
  for (size_t i = 0; i < count; i++) {
    double place = svg_place(y, ticks[i]);
    svg_line(to, LEFT, place, RIGHT - LEFT, 0, "#ddd", "");
    svg_words(to, LEFT - 6, place + 4, SVG_END, 0, print(buffer, ticks[i]));
  }
}

static void draw_legend_name(text *to, size_t line, const char *name) {
  svg_words(to, RIGHT + 42, TOP + 12 + LINE * (int)line, SVG_START, 0, name);
}

// ---- curves ----------------------------------------------------------------------------------

static bool is_point(svg_point p) { return is_shown(p.x) && is_shown(p.y); }

// An axis a little longer than the range, by factors of 2^0.25 or 10^0.08 at its ends.
static svg_axis make_axis(value_range r, double factor, double from, double to) {
  if (r.most <= 0)
    r = (value_range){1, 10};
  return svg_make_axis(r.least / factor, r.most * factor, true, from, to);
}

static void draw_x_ticks(text *to, const svg_axis *x) {
  const double bit = log10(2);
  int first = (int)ceil(x->low / bit), last = (int)floor(x->high / bit);
  for (int k = first; k <= last; k += last - first > 16 ? 2 : 1) {
    double place = svg_place(x, ldexp(1, k));
    svg_line(to, place, TOP, 0, BOTTOM - TOP, "#ddd", "");
    svg_power(to, place, BOTTOM + 18, 2, k);
  }
}

static void draw_curve(text *to, const svg_axis *x, const svg_axis *y, const chart_curve *c) {
  svg_point *places = calloc(c->count + 1, sizeof *places);
  size_t count = 0;
  to->failed = to->failed || !places;
  for (size_t i = 0; places && i < c->count; i++)
    if (is_point(c->points[i]))
      places[count++] = (svg_point){svg_place(x, c->points[i].x), svg_place(y, c->points[i].y)};
  svg_curve(to, places, count, c->look);
  for (size_t i = 0; i < count; i++)
    svg_mark(to, places[i].x, places[i].y, c->look);
  free(places);
}

int chart_draw_curves(text *to, const chart_curves *c, int top) {
  value_range width = {0, 0}, height = {0, 0};
  for (size_t i = 0; i < c->count; i++)
    for (size_t k = 0; k < c->curves[i].count; k++)
      if (is_point(c->curves[i].points[k])) {
        widen_range(&width, c->curves[i].points[k].x);
        widen_range(&height, c->curves[i].points[k].y);
      }
  svg_axis x = make_axis(width, exp2(0.25), LEFT, RIGHT);
  svg_axis y = make_axis(height, pow(10, 0.08), BOTTOM, TOP);
  begin_panel(to, top, c->title, c->y_label);
  draw_x_ticks(to, &x);
  svg_words(to, (LEFT + RIGHT) / 2.0, BOTTOM + 40, SVG_MIDDLE, 0, c->x_label);
  draw_y_ticks(to, &y, svg_si);
  svg_frame(to, LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP);
  for (size_t i = 0; i < c->count; i++) {
    double place = TOP + 8 + LINE * (double)i;
    svg_point sample[] = {{RIGHT + 14, place}, {RIGHT + 36, place}};
    draw_curve(to, &x, &y, &c->curves[i]);
    svg_curve(to, sample, 2, c->curves[i].look);
    svg_mark(to, RIGHT + 25, place, c->curves[i].look);
    draw_legend_name(to, i, c->curves[i].name);
  }
  return top + end_panel(to, c->count);
}

// ---- bars ------------------------------------------------------------------------------------

// With space for the numbers on top of bars.
static svg_axis make_bar_axis(const chart_bars *b) {
  value_range range = {0, 0};
  if (b->line_name)
    widen_range(&range, b->line);
  for (size_t i = 0; i < b->group_count * b->series_count; i++)
    widen_range(&range, b->heights[i]);
  if (range.most <= 0)
    return svg_make_axis(0, 1, false, BOTTOM, TOP);
  if (b->from_zero || range.most < 10 * range.least)
    return svg_make_axis(0, 1.12 * range.most, false, BOTTOM, TOP);
  return svg_make_axis(range.least / 2, 1.5 * range.most, true, BOTTOM, TOP);
}

// "tile+banks" as "tile" and, below it, "+banks".
static void draw_group_name(text *to, double x, const char *name) {
  char part[32];
  for (int line = 0; *name; line++) {
    size_t length = 1 + strcspn(name + 1, "+");
    snprintf(part, sizeof part, "%.*s", (int)length, name);
    svg_words(to, x, BOTTOM + 16 + 14 * line, SVG_MIDDLE, 0, part);
    name += length;
  }
}

static void draw_group(text *to, const chart_bars *b, const svg_axis *y, size_t group) {
  double space = (RIGHT - LEFT) / (double)b->group_count;
  double width = fmin(0.86 * space / (double)b->series_count, 48);
  double middle = LEFT + space * ((double)group + 0.5);
  draw_group_name(to, middle, b->groups[group]);
  for (size_t i = 0; i < b->series_count; i++) {
    char buffer[NUMBER_SPACE];
    double height = b->heights[group * b->series_count + i];
    double left = middle + width * ((double)i - (double)b->series_count / 2);
    if (!is_shown(height))
      continue;
    double place = svg_place(y, height);
    svg_box(to, left, place, width - 1, BOTTOM - place, svg_colour((unsigned)i));
    svg_words(to, left + (width - 1) / 2, place - 3, SVG_MIDDLE, 9, show_number(buffer, height));
  }
}

int chart_draw_bars(text *to, const chart_bars *b, int top) {
  svg_axis y = make_bar_axis(b);
  bool has_line = b->line_name && is_shown(b->line);
  begin_panel(to, top, b->title, b->y_label);
  draw_y_ticks(to, &y, show_number);
  for (size_t g = 0; g < b->group_count; g++)
    draw_group(to, b, &y, g);
  svg_frame(to, LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP);
  for (size_t i = 0; i < b->series_count; i++) {
    svg_box(to, RIGHT + 14, TOP + 2 + LINE * (double)i, 22, 11, svg_colour((unsigned)i));
    draw_legend_name(to, i, b->series[i]);
  }
  if (has_line) {
    svg_line(to, LEFT, svg_place(&y, b->line), RIGHT - LEFT, 0, "#000", "6 3");
    svg_line(to, RIGHT + 14, TOP + 8 + LINE * (double)b->series_count, 22, 0, "#000", "6 3");
    draw_legend_name(to, b->series_count, b->line_name);
  }
  return top + end_panel(to, b->series_count + has_line);
}

void chart_write(text *to, const text *panels, int height) { svg_write(to, panels, WIDTH, height); }
