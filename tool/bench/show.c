// Figures for people: a table, what changed, a plot. See bench/bench.h.
#include "tool/bench/bench.h"
#include "tool/bench/paper.h"
#include "tool/bench/plot.h"

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

static void show_side(FILE *to, const bench_row *row, const bench_side *side) {
  char time[24], ratio[32];
  bool other = side->elements && side->elements != row->elements;
  fprintf(to, "  %s %s: %s%s", side->name, say_seconds(time, side->seconds.median),
          say_ratio(ratio, sizeof ratio, side->ratio.median), other ? " per element" : "");
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
      show_side(to, row, &row->sides[i]);
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

typedef bool row_match(const bench_row *row, const bench_row *like);

static bool same_program(const bench_row *row, const bench_row *like) {
  return !strcmp(row->name, like->name) && !strcmp(row->suite, like->suite);
}

static bool same_case(const bench_row *row, const bench_row *like) {
  return same_program(row, like) && !strcmp(row->backend, like->backend) &&
         !strcmp(row->strategy, like->strategy) && row->threads == like->threads;
}

static const bench_row *find_row(const bench_report *r, const bench_row *like, row_match *match) {
  for (size_t i = 0; i < r->rows.count; i++)
    if (match(&r->rows.items[i], like))
      return &r->rows.items[i];
  return NULL;
}

// What a program's time is of a copy's in the same run changes less from day to day than the time.
static const bench_figures *of_copy(const bench_row *row) {
  const bench_side *copy = bench_row_side(row, "copy");
  return copy && copy->ratio.median > 0 ? &copy->ratio : NULL;
}

// What a row ran on; a GPU without the version of its driver, as of "NVIDIA H200, CUDA 13.0".
static int device_length(const bench_row *row) {
  const char *version = strstr(row->device, ", CUDA ");
  return version ? (int)(version - row->device) : (int)strlen(row->device);
}

static bool same_device(const bench_report *before, const bench_row *a, const bench_report *after,
                        const bench_row *b) {
  if (!a->device[0] && !b->device[0])
    return strcmp(before->processor, after->processor) == 0;
  return device_length(a) == device_length(b) &&
         strncmp(a->device, b->device, (size_t)device_length(a)) == 0;
}

// "on NVIDIA H200"
static void show_device(FILE *to, const bench_report *r, const bench_row *row) {
  if (row->device[0])
    fprintf(to, "on %.*s", device_length(row), row->device);
  else
    fprintf(to, "on %s", r->processor[0] ? r->processor : "an unknown processor");
}

static void show_times(FILE *to, const bench_row *before, const bench_row *after) {
  char old[24], new[24];
  fprintf(to, "%-32s %10s %10s  ", after->name, say_seconds(old, before->seconds.median),
          say_seconds(new, after->seconds.median));
}

static void show_change(FILE *to, const bench_row *before, const bench_row *after) {
  char ratio[32];
  const bench_figures *a = of_copy(before), *b = of_copy(after);
  bool both = a && b;
  if (!both)
    a = &before->seconds, b = &after->seconds;
  bool apart = a->high < b->low || b->high < a->low;
  say_ratio(ratio, sizeof ratio, a->median > 0 ? b->median / a->median : 0);
  show_times(to, before, after);
  fprintf(to, "%-14s %s\n", apart ? ratio : "the same", both ? "against the copy" : "");
}

// That two devices differ is no change of the program: no ratio.
static void show_both_devices(FILE *to, const bench_report *before, const bench_row *a,
                              const bench_report *after, const bench_row *b) {
  show_times(to, a, b);
  fprintf(to, "not compared: ");
  show_device(to, before, a);
  fprintf(to, " before, ");
  show_device(to, after, b);
  fprintf(to, " after\n");
}

// A row that only one report has; `other` may have its program with another backend or strategy.
static void show_lone(FILE *to, const bench_row *row, const char *word, int width,
                      const bench_report *other) {
  const bench_row *like = find_row(other, row, same_program);
  fprintf(to, "%-32s %*s", row->name, width, word);
  if (like && strcmp(like->backend, row->backend) != 0)
    fprintf(to, "  with --backend %s", row->backend);
  else if (like && strcmp(like->strategy, row->strategy) != 0)
    fprintf(to, "  %s%s", row->strategy[0] ? "with --strategy " : "without --strategy",
            row->strategy);
  else if (like)
    fprintf(to, "  with %u thread%s", row->threads, row->threads == 1 ? "" : "s");
  fputc('\n', to);
}

void bench_show_changes(FILE *to, const bench_report *before, const bench_report *after) {
  fprintf(to, "%-32s %10s %10s\n", "", "before", "after");
  for (size_t i = 0; i < after->rows.count; i++) {
    const bench_row *row = &after->rows.items[i], *old = find_row(before, row, same_case);
    if (!old)
      show_lone(to, row, "new", 10, before);
    else if (same_device(before, old, after, row))
      show_change(to, old, row);
    else
      show_both_devices(to, before, old, after, row);
  }
  for (size_t i = 0; i < before->rows.count; i++)
    if (!find_row(after, &before->rows.items[i], same_case))
      show_lone(to, &before->rows.items[i], "gone", 21, after);
}

// ---- figures of the paper -----------------------------------------------------------------------

void bench_show_figures(FILE *to, const bench_report *r) {
  text tables = {0};
  bench_paper_tables(&tables, r);
  if (tables.data)
    fputs(tables.data, to);
  text_free(&tables);
}

// ---- plots --------------------------------------------------------------------------------------

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

enum { CURVE_NAME = 96 };

typedef struct curve_set {
  bench_curve *curves;
  char (*names)[CURVE_NAME];
  size_t count;
} curve_set;

// The number of the curve of that name, or their count.
static size_t find_curve(const curve_set *set, const char *name) {
  size_t i = 0;
  while (i < set->count && strcmp(set->curves[i].name, name) != 0)
    i++;
  return i;
}

// Adds the point to the curve of that name, or to a new one that looks like `look`; of several
// points at one place the first stays.
static void add_point(curve_set *set, size_t most, const char *name, bench_look look,
                      bench_point point) {
  size_t i = find_curve(set, name);
  bench_curve *curve = &set->curves[i];
  if (i == set->count) {
    bench_point *points = calloc(most, sizeof *points);
    if (!points)
      return;
    snprintf(set->names[i], CURVE_NAME, "%s", name);
    *curve = (bench_curve){set->names[i], points, 0, look};
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

static const char *first_series_with(const bench_report *r, const char *name) {
  for (size_t i = 0; i < r->rows.count; i++)
    if (bench_row_side(&r->rows.items[i], name))
      return r->rows.items[i].series;
  return "";
}

// In the colour of its series. Bytes are bytes: a copy or a peer is shown for the first series that
// has it only, while of elements per second each series has its own.
static void add_side(curve_set *set, const bench_report *r, bench_axis axis, const bench_row *row,
                     const bench_side *side) {
  char name[CURVE_NAME];
  bool alone = has_one_series(r);
  double elements = (double)(side->elements ? side->elements : row->elements);
  double x = (double)(side->elements ? side->elements : row->x);
  if (axis == BENCH_BYTES_PER_SECOND && strcmp(first_series_with(r, side->name), row->series) != 0)
    return;
  snprintf(name, sizeof name, "%s%s%s", side->name, alone ? "" : ", ", alone ? "" : row->series);
  bench_look look = {bench_look_of(find_curve(set, row->series)).colour,
                     side_number(r, side->name)};
  if (alone)
    look = bench_look_of(set->count);
  add_point(set, r->rows.count, name, look,
            (bench_point){x, height_of(row, axis, elements, side->seconds.median)});
}

// The series in the table's order, then the copy, the references and the peers.
static void fill_curves(curve_set *set, const bench_report *r, bench_axis axis) {
  size_t most = r->rows.count;
  for (size_t i = 0; i < most; i++) {
    const bench_row *row = &r->rows.items[i];
    double height = height_of(row, axis, (double)row->elements, row->seconds.median);
    add_point(set, most, row->series, bench_look_of(set->count),
              (bench_point){(double)row->x, height});
  }
  for (size_t i = 0; i < most && axis != BENCH_SECONDS_PER_OPERATION; i++)
    for (size_t k = 0; k < r->rows.items[i].side_count; k++)
      add_side(set, r, axis, &r->rows.items[i], &r->rows.items[i].sides[k]);
}

static int draw_series(text *svg, const bench_report *r) {
  const bench_row *first = r->rows.count ? &r->rows.items[0] : NULL;
  const bench_suite *suite = first ? bench_suite_named(first->suite) : NULL;
  bench_axis axis = suite ? suite->axis : BENCH_BYTES_PER_SECOND;
  size_t most = r->rows.count * (1 + BENCH_SIDES) + 1;
  curve_set set = {calloc(most, sizeof *set.curves), calloc(most, sizeof *set.names), 0};
  if (set.curves && set.names)
    fill_curves(&set, r, axis);
  char title[160];
  snprintf(title, sizeof title, "%s: %.60s, %.10s", suite ? suite->summary : "permc bench",
           first && first->device[0] ? first->device : r->processor, r->date);
  bench_plot plot = {.title = title,
                     .x_label = suite ? suite->x_label : "elements of the arguments",
                     .y_label = label_of(axis),
                     .curves = set.curves,
                     .count = set.count};
  int height = bench_plot_draw(svg, &plot, 0);
  for (size_t i = 0; i < set.count; i++)
    free((void *)(uintptr_t)set.curves[i].points);
  free(set.curves);
  free(set.names);
  return height;
}

// The series, without the rows for the paper's figures, which follow.
void bench_draw(text *svg, const bench_report *r) {
  text panels = {0};
  bench_report others = *r;
  others.rows.count = 0;
  others.rows.items = calloc(r->rows.count + 1, sizeof *others.rows.items);
  for (size_t i = 0; others.rows.items && i < r->rows.count; i++)
    if (!bench_paper_row(&r->rows.items[i]))
      others.rows.items[others.rows.count++] = r->rows.items[i];
  int height = 0;
  if (others.rows.count || !bench_paper_in(r))
    height = draw_series(&panels, &others);
  height = bench_paper_draw(&panels, r, height);
  bench_svg_write(svg, &panels, height);
  text_free(&panels);
  free(others.rows.items);
}
