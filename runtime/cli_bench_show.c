// Figures for people: a table, what changed, a plot. See cli_bench.h.
#include "runtime/bench_plot.h"
#include "runtime/cli_bench.h"

#include <math.h>

// ---- words --------------------------------------------------------------------------------------

// "1.23 ms"; `room` is for 24 bytes.
static const char *say_seconds(char *room, double seconds) {
  char number[16];
  bench_si(number, seconds);
  snprintf(room, 24, "%s%ss", number, strchr(number, ' ') ? "" : " ");
  return room;
}

// "12.3x faster", "1.04x slower" of a ratio of times.
static const char *say_ratio(char *room, size_t size, double ratio) {
  if (!(ratio > 0))
    room[0] = 0;
  else if (ratio < 1)
    snprintf(room, size, "%.3gx faster", 1 / ratio);
  else
    snprintf(room, size, "%.3gx slower", ratio);
  return room;
}

// ---- the table ----------------------------------------------------------------------------------

void bench_show_head(FILE *to, const bench_report *r) {
  fprintf(to, "permc %s (%s), %.10s\n%s, %u processor%s, %s, %s\n%s\n", r->permc, r->built_by,
          r->date, r->processor, r->processors, r->processors == 1 ? "" : "s", r->features,
          r->system, r->compiler);
  if (r->load > 0.25 * r->processors)
    fprintf(to, "others are at work here (load %.1f): trust ratios more than times\n", r->load);
  fprintf(to, "\n%-32s %10s %10s %7s %7s %7s\n", "", "median", "least", "+-", "GB/s", "of copy");
}

static void show_side(FILE *to, const bench_side *side) {
  char time[24], ratio[32];
  fprintf(to, "%s%s %s: %s", "  ", side->name, say_seconds(time, side->seconds.median),
          say_ratio(ratio, sizeof ratio, side->ratio.median));
}

void bench_show_row(FILE *to, const bench_row *row) {
  char median[24], least[24], ready[24];
  const bench_side *copy = bench_row_side(row, "copy");
  fprintf(to, "%-32s %10s %10s %6.1f%% %7.2f ", row->name, say_seconds(median, row->seconds.median),
          say_seconds(least, row->seconds.least), 100 * bench_spread(&row->seconds),
          bench_row_bytes_per_second(row, row->seconds.median) / 1e9);
  if (copy && copy->ratio.median > 0)
    fprintf(to, "%6.1f%%", 100 / copy->ratio.median);
  else
    fprintf(to, "%7s", "-");
  for (size_t i = 0; i < row->side_count; i++)
    if (&row->sides[i] != copy)
      show_side(to, &row->sides[i]);
  fprintf(to, "  (%s, ", row->backend);
  if (row->device[0])
    fprintf(to, "%s, ", row->device);
  else
    fprintf(to, "%u thread%s, ", row->threads, row->threads == 1 ? "" : "s");
  fprintf(to, "ready in %s%s%s)\n", say_seconds(ready, row->elaborate + row->plan + row->compile),
          row->verified[0] ? ", " : ", not verified", row->verified);
  fflush(to);
}

// ---- changes ------------------------------------------------------------------------------------

static const bench_row *find_row(const bench_report *r, const bench_row *like) {
  for (size_t i = 0; i < r->rows.count; i++) {
    const bench_row *row = &r->rows.items[i];
    if (!strcmp(row->name, like->name) && !strcmp(row->suite, like->suite) &&
        !strcmp(row->backend, like->backend) && row->threads == like->threads)
      return row;
  }
  return NULL;
}

// What a program's time is of a copy's in the same run changes less from day to day than the time.
static const bench_figures *of_copy(const bench_row *row) {
  const bench_side *copy = bench_row_side(row, "copy");
  return copy && copy->ratio.median > 0 ? &copy->ratio : NULL;
}

static void show_change(FILE *to, const bench_row *before, const bench_row *after) {
  char old[24], new[24], ratio[32];
  const bench_figures *a = of_copy(before), *b = of_copy(after);
  bool both = a && b;
  if (!both)
    a = &before->seconds, b = &after->seconds;
  bool apart = a->high < b->low || b->high < a->low;
  say_ratio(ratio, sizeof ratio, a->median > 0 ? b->median / a->median : 0);
  fprintf(to, "%-32s %10s %10s  %-14s %s\n", after->name, say_seconds(old, before->seconds.median),
          say_seconds(new, after->seconds.median), apart ? ratio : "the same",
          both ? "against the copy" : "");
}

void bench_show_changes(FILE *to, const bench_report *before, const bench_report *after) {
  fprintf(to, "%-32s %10s %10s\n", "", "before", "after");
  for (size_t i = 0; i < after->rows.count; i++) {
    const bench_row *row = &after->rows.items[i], *old = find_row(before, row);
    if (old)
      show_change(to, old, row);
    else
      fprintf(to, "%-32s %10s\n", row->name, "new");
  }
  for (size_t i = 0; i < before->rows.count; i++)
    if (!find_row(after, &before->rows.items[i]))
      fprintf(to, "%-32s %10s %10s\n", before->rows.items[i].name, "", "gone");
}

// ---- plots --------------------------------------------------------------------------------------

static double height_of(const bench_row *row, bench_axis axis, double seconds) {
  double elements = (double)row->elements;
  switch (axis) {
  case BENCH_BYTES_PER_SECOND:
    return (double)row->bytes / seconds;
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

typedef struct curve_set {
  bench_curve *curves;
  size_t count;
} curve_set;

// Adds the point to the curve of that name; of several points at one place the first stays.
static void add_point(curve_set *set, size_t most, const char *name, bench_point point) {
  size_t i = 0;
  while (i < set->count && strcmp(set->curves[i].name, name) != 0)
    i++;
  bench_curve *curve = &set->curves[i];
  if (i == set->count) {
    bench_point *points = calloc(most, sizeof *points);
    if (!points)
      return;
    *curve = (bench_curve){name, points, 0};
    set->count++;
  }
  bench_point *points = (bench_point *)(uintptr_t)curve->points;
  size_t place = curve->count;
  while (place > 0 && points[place - 1].x > point.x)
    place--;
  if (place > 0 && points[place - 1].x == point.x)
    return;
  memmove(points + place + 1, points + place, (curve->count - place) * sizeof *points);
  points[place] = point;
  curve->count++;
}

// The series in the table's order, then the copy and the peers.
static void fill_curves(curve_set *set, const bench_report *r, bench_axis axis) {
  size_t most = r->rows.count;
  for (size_t i = 0; i < most; i++) {
    const bench_row *row = &r->rows.items[i];
    add_point(set, most, row->series,
              (bench_point){(double)row->x, height_of(row, axis, row->seconds.median)});
  }
  for (size_t i = 0; i < most && axis != BENCH_SECONDS_PER_OPERATION; i++)
    for (size_t k = 0; k < r->rows.items[i].side_count; k++) {
      const bench_row *row = &r->rows.items[i];
      const bench_side *side = &row->sides[k];
      bench_point point = {(double)row->x, height_of(row, axis, side->seconds.median)};
      if (strcmp(side->name, "reference") != 0)
        add_point(set, most, side->name, point);
    }
}

void bench_show_plot(text *svg, const bench_report *r) {
  const bench_suite *suite = r->rows.count ? bench_suite_named(r->rows.items[0].suite) : NULL;
  bench_axis axis = suite ? suite->axis : BENCH_BYTES_PER_SECOND;
  curve_set set = {calloc(r->rows.count * (1 + BENCH_SIDES) + 1, sizeof *set.curves), 0};
  if (set.curves)
    fill_curves(&set, r, axis);
  char title[160];
  snprintf(title, sizeof title, "%s: %.60s, %.10s", suite ? suite->summary : "permc bench",
           r->processor, r->date);
  bench_plot plot = {.title = title,
                     .x_label = suite ? suite->x_label : "elements of the arguments",
                     .y_label = label_of(axis),
                     .curves = set.curves,
                     .count = set.count};
  bench_plot_write(svg, &plot);
  for (size_t i = 0; i < set.count; i++)
    free((void *)(uintptr_t)set.curves[i].points);
  free(set.curves);
}
