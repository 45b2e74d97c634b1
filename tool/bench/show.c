// Rows as a table, and compared with earlier ones. See bench.h.
#include "core/units.h"
#include "tool/bench/bench.h"

#include <math.h>

// ---- words --------------------------------------------------------------------------------------

// "1.23 ms", "300 ps"; `room` is for 24 bytes.
static const char *format_seconds(char *room, double seconds) {
  static const char prefixes[] = "fpnum kMGTP";
  char number[NUMBER_SPACE];
  int thousands = seconds > 0 ? (int)floor(log10(seconds / 0.9995) / 3) : 0;
  thousands = thousands < -5 ? -5 : thousands > 5 ? 5 : thousands;
  snprintf(room, 24, "%.13s %.*ss", show_number(number, seconds / pow(1000, thousands)),
           thousands != 0, &prefixes[thousands + 5]);
  return room;
}

// "12.3x faster", "1.04x slower" of a ratio of times.
static const char *format_ratio(char *room, size_t size, double ratio) {
  char number[NUMBER_SPACE];
  room[0] = 0;
  if (ratio > 0)
    snprintf(room, size, "%.12sx %s", show_number(number, ratio < 1 ? 1 / ratio : ratio),
             ratio < 1 ? "faster" : "slower");
  return room;
}

// ---- the table ----------------------------------------------------------------------------------

void bench_show_head(FILE *to, const bench_report *r) {
  fprintf(to, "permc %s (%s), %.10s\n%s, %u processor%s, %s, %s\n%s\n", r->permc, r->built_by,
          r->date, r->processor, r->processors, r->processors == 1 ? "" : "s", r->features,
          r->system, r->compiler);
  if (r->load > 0.25 * r->processors)
    fprintf(to, "the machine is busy (load %.1f): trust ratios more than times\n", r->load);
  fprintf(to, "\n%-32s %10s %10s %7s %7s %7s\n", "", "median", "least", "+-", "GB/s", "of copy");
}

void bench_show_row(FILE *to, const bench_row *row) {
  char median[24], least[24], ready[24], predicted[24];
  fprintf(to, "%-32s %10s %10s %6.1f%% %7.2f ", row->name,
          format_seconds(median, row->seconds.median), format_seconds(least, row->seconds.least),
          100 * bench_spread(&row->seconds),
          row->seconds.median > 0 ? (double)row->bytes / row->seconds.median / 1e9 : 0);
  if (row->copy_ratio.median > 0)
    fprintf(to, "%6.1f%%", 100 / row->copy_ratio.median);
  else
    fprintf(to, "%7s", "-");
  fprintf(to, "  (%s, ", row->backend);
  if (row->device[0])
    fprintf(to, "%s, ", row->device);
  else
    fprintf(to, "%u thread%s, ", row->threads, row->threads == 1 ? "" : "s");
  if (row->predicted > 0)
    fprintf(to, "predicted %s, ", format_seconds(predicted, row->predicted));
  fprintf(to, "ready in %s%s%s)\n",
          format_seconds(ready, row->elaborate + row->plan + row->compile),
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
  fprintf(to, "%-32s %10s %10s  ", after->name, format_seconds(old, before->seconds.median),
          format_seconds(new, after->seconds.median));
}

// A program's time changes more from day to day than its ratio to a copy's in the same run.
static void show_change(FILE *to, const bench_row *before, const bench_row *after) {
  char ratio[32];
  bool both = before->copy_ratio.median > 0 && after->copy_ratio.median > 0;
  const bench_figures *a = both ? &before->copy_ratio : &before->seconds,
                      *b = both ? &after->copy_ratio : &after->seconds;
  bool apart = a->high < b->low || b->high < a->low;
  format_ratio(ratio, sizeof ratio, a->median > 0 ? b->median / a->median : 0);
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
