// Rows as curves: one for each series, and for the copies, references and peers beside it.
#include "tool/bench/bench.h"
#include "tool/bench/bmmc_figures.h"
#include "tool/reports/chart.h"

// ---- values -------------------------------------------------------------------------------------

// Of so many elements, as many bytes of each as the row has.
static double height_of(const bench_row *row, bench_axis axis, double elements, double seconds) {
  switch (axis) {
  case BENCH_BYTES_PER_SECOND:
    return (double)row->bytes / (double)row->elements * elements / seconds;
  case BENCH_ELEMENTS_PER_SECOND:
    return elements / seconds;
  case BENCH_SECONDS_PER_OPERATION:
    return seconds / elements / (double)row->columns;
  }
  return 0;
}

static const char *label_of(bench_axis axis) {
  static const char *const labels[] = {"bytes per second, arguments and results",
                                       "elements per second", "seconds per element and column"};
  return labels[axis];
}

// ---- curves -------------------------------------------------------------------------------------

typedef struct curve {
  const char *name;
  svg_point *points;
  size_t count;
  svg_look look;
} curve;

typedef struct curve_set {
  arena *memory;
  const bench_report *report;
  bench_axis axis;
  VEC(curve) curves;
} curve_set;

// The number of the curve of that name, or their count.
static size_t find_curve(const curve_set *set, const char *name) {
  size_t i = 0;
  while (i < set->curves.count && strcmp(set->curves.items[i].name, name) != 0)
    i++;
  return i;
}

// Adds the point to the curve of that name, or to a new one that looks like `look`; of several
// points at one x the first stays.
static void add_point(curve_set *set, const char *name, svg_look look, svg_point point) {
  size_t i = find_curve(set, name);
  if (i == set->curves.count) {
    curve made = {name, NEW_ARRAY(set->memory, svg_point, set->report->rows.count), 0, look};
    vec_push(set->memory, &set->curves, made);
  }
  curve *c = &set->curves.items[i];
  size_t place = c->count;
  while (place > 0 && c->points[place - 1].x > point.x)
    place--;
  if (place > 0 && c->points[place - 1].x == point.x)
    return;
  memmove(c->points + place + 1, c->points + place, (c->count - place) * sizeof *c->points);
  c->points[place] = point;
  c->count++;
}

static bool has_one_series(const bench_report *r) {
  for (size_t i = 1; i < r->rows.count; i++)
    if (strcmp(r->rows.items[i].series, r->rows.items[0].series) != 0)
      return false;
  return true;
}

// Names of sides are numbered from 1 in the order in which they come.
static unsigned side_number(const bench_report *r, const char *name) {
  const char *seen[32] = {NULL};
  unsigned count = 0;
  for (size_t i = 0; i < r->rows.count; i++)
    for (size_t k = 0; k < r->rows.items[i].side_count; k++) {
      unsigned j = 0;
      const char *other = r->rows.items[i].sides[k].name;
      while (j < count && strcmp(seen[j], other) != 0)
        j++;
      if (strcmp(other, name) == 0)
        return j + 1;
      if (j == count && count < sizeof seen / sizeof *seen)
        seen[count++] = other;
    }
  return 0;
}

static const char *first_series_with(const bench_report *r, const char *side) {
  for (size_t i = 0; i < r->rows.count; i++)
    if (bench_row_side(&r->rows.items[i], side))
      return r->rows.items[i].series;
  return "";
}

// In the colour of its series. Bytes are bytes: a copy or a peer is shown only for the first series
// that has it, while of elements per second each series has its own.
static void add_side(curve_set *set, const bench_row *row, const bench_side *side) {
  const bench_report *r = set->report;
  bool alone = has_one_series(r);
  double elements = (double)(side->elements ? side->elements : row->elements);
  double x = (double)(side->elements ? side->elements : row->x);
  if (set->axis == BENCH_BYTES_PER_SECOND &&
      strcmp(first_series_with(r, side->name), row->series) != 0)
    return;
  const char *name =
      arena_printf(set->memory, "%s%s%s", side->name, alone ? "" : ", ", alone ? "" : row->series);
  svg_look look = {svg_look_at(find_curve(set, row->series)).colour, side_number(r, side->name)};
  if (alone)
    look = svg_look_at(set->curves.count);
  add_point(set, name, look,
            (svg_point){x, height_of(row, set->axis, elements, side->seconds.median)});
}

// The series in the order of the rows, then the copies, the references and the peers.
static void add_curves(curve_set *set) {
  const bench_report *r = set->report;
  for (size_t i = 0; i < r->rows.count; i++) {
    const bench_row *row = &r->rows.items[i];
    double height = height_of(row, set->axis, (double)row->elements, row->seconds.median);
    add_point(set, row->series, svg_look_at(set->curves.count),
              (svg_point){(double)row->x, height});
  }
  for (size_t i = 0; i < r->rows.count && set->axis != BENCH_SECONDS_PER_OPERATION; i++)
    for (size_t k = 0; k < r->rows.items[i].side_count; k++)
      add_side(set, &r->rows.items[i], &r->rows.items[i].sides[k]);
}

// ---- the picture --------------------------------------------------------------------------------

static int draw_series(arena *a, text *svg, const bench_report *r) {
  const bench_row *first = r->rows.count ? &r->rows.items[0] : NULL;
  const bench_suite *suite = first ? bench_suite_named(first->suite) : NULL;
  curve_set set = {a, r, suite ? suite->axis : BENCH_BYTES_PER_SECOND, {0}};
  add_curves(&set);
  chart_curve *curves = NEW_ARRAY(a, chart_curve, set.curves.count);
  for (size_t i = 0; i < set.curves.count; i++) {
    const curve *c = &set.curves.items[i];
    curves[i] = (chart_curve){c->name, c->points, c->count, c->look};
  }
  chart_curves chart = {
      .title = arena_printf(a, "%s: %.60s, %.10s", suite ? suite->summary : "permc bench",
                            first && first->device[0] ? first->device : r->processor, r->date),
      .x_label = suite ? suite->x_label : "elements of the arguments",
      .y_label = label_of(set.axis),
      .curves = curves,
      .count = set.curves.count};
  return chart_draw_curves(svg, &chart, 0);
}

// The series, without the rows for the figures of the BMMC paper, which follow.
void bench_draw(arena *a, text *svg, const bench_report *r) {
  text panels = {0};
  bench_report others = *r;
  int height = 0;
  others.rows.count = 0;
  others.rows.items = NEW_ARRAY(a, bench_row, r->rows.count);
  for (size_t i = 0; i < r->rows.count; i++)
    if (!bmmc_is_row(&r->rows.items[i]))
      others.rows.items[others.rows.count++] = r->rows.items[i];
  if (others.rows.count || others.rows.count == r->rows.count)
    height = draw_series(a, &panels, &others);
  height = bmmc_draw(&panels, r, height);
  chart_write(svg, &panels, height);
  text_free(&panels);
}
