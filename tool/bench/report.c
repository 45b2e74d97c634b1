// Rows to JSON and back, by one table of members. See bench/report.h.
#include "tool/bench/report.h"

#include "runtime/compiled/compiler.h"
#include "runtime/permc.h"
#include "runtime/system/pool.h"
#include "tool/reports/json.h"
#include <stdio.h>
#include <time.h>

// ---- where and when -----------------------------------------------------------------------------

#define COPY(to, ...) snprintf((to), sizeof(to), __VA_ARGS__)

// What follows `key`, separators and quotes in the first line of the file that begins with it.
static void find_value(char *to, size_t size, const char *path, const char *key) {
  char line[512];
  FILE *from = fopen(path, "r");
  snprintf(to, size, "unknown");
  while (from && fgets(line, sizeof line, from)) {
    if (strncmp(line, key, strlen(key)) != 0)
      continue;
    const char *value = line + strlen(key) + strspn(line + strlen(key), "=:\" \t");
    snprintf(to, size, "%.*s", (int)strcspn(value, "\"\n"), value);
    break;
  }
  if (from)
    fclose(from);
}

void bench_report_begin(bench_report *r) {
  compiler found;
  time_t now = time(NULL);
  struct tm date;
  *r = (bench_report){.processors = pool_processors()};
  COPY(r->permc, "%s", permc_version());
#if defined(__clang__)
  COPY(r->built_by, "clang %d.%d.%d", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  COPY(r->built_by, "gcc %d.%d.%d", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
  COPY(r->compiler, "%s", compiler_find(&found, NULL) ? found.version : "none");
  COPY(r->features, "%s", compiler_widest_isa());
  find_value(r->system, sizeof r->system, "/etc/os-release", "PRETTY_NAME");
  if (gmtime_r(&now, &date))
    strftime(r->date, sizeof r->date, "%Y-%m-%dT%H:%M:%SZ", &date);
  if (getloadavg(&r->load, 1) < 1)
    r->load = 0;
  find_value(r->processor, sizeof r->processor, "/proc/cpuinfo", "model name");
}

// ---- members ------------------------------------------------------------------------------------

// A member of a structure that is a text, a count or a number.
typedef enum member_kind { TEXT, COUNT, THREADS, NUMBER } member_kind;

typedef struct member {
  const char *name;
  member_kind kind;
  size_t offset, size;
} member;

#define MEMBER(structure, kind, field)                                                             \
  { #field, kind, offsetof(structure, field), sizeof(((structure *)0)->field) }

static const member report_members[] = {
    MEMBER(bench_report, TEXT, permc),    MEMBER(bench_report, TEXT, date),
    MEMBER(bench_report, TEXT, system),   MEMBER(bench_report, TEXT, processor),
    MEMBER(bench_report, TEXT, features), MEMBER(bench_report, THREADS, processors),
    MEMBER(bench_report, TEXT, built_by), MEMBER(bench_report, TEXT, compiler),
    MEMBER(bench_report, NUMBER, load),   {NULL, TEXT, 0, 0},
};

static const member row_members[] = {
    MEMBER(bench_row, TEXT, suite),
    MEMBER(bench_row, TEXT, series),
    MEMBER(bench_row, TEXT, name),
    MEMBER(bench_row, TEXT, backend),
    MEMBER(bench_row, TEXT, strategy),
    MEMBER(bench_row, TEXT, device),
    MEMBER(bench_row, TEXT, verified),
    MEMBER(bench_row, COUNT, passes),
    MEMBER(bench_row, COUNT, elements),
    MEMBER(bench_row, COUNT, bytes),
    MEMBER(bench_row, THREADS, threads),
    MEMBER(bench_row, NUMBER, elaborate),
    MEMBER(bench_row, NUMBER, plan),
    MEMBER(bench_row, NUMBER, compile),
    MEMBER(bench_row, NUMBER, read),
    MEMBER(bench_row, NUMBER, predicted),
    {NULL, TEXT, 0, 0},
};

static void write_members(json_t *to, const member *members, const void *from) {
  for (const member *m = members; m->name; m++) {
    const char *field = (const char *)from + m->offset;
    json_object_set_new(to, m->name,
                        m->kind == TEXT      ? report_string(field)
                        : m->kind == COUNT   ? report_count(*(const uint64_t *)(const void *)field)
                        : m->kind == THREADS ? report_count(*(const unsigned *)(const void *)field)
                                             : report_number(*(const double *)(const void *)field));
  }
}

// A count as another program may have written it: from 0 to 2^53.
static uint64_t read_count(const json_t *value) {
  double number = json_number_value(value);
  return number > 0 && number <= 0x1p53 ? (uint64_t)number : 0;
}

static void read_members(const json_t *from, const member *members, void *to) {
  for (const member *m = members; m->name; m++) {
    char *field = (char *)to + m->offset;
    const json_t *value = json_object_get(from, m->name);
    if (m->kind == TEXT)
      snprintf(field, m->size, "%s", json_is_string(value) ? json_string_value(value) : "");
    else if (m->kind == COUNT)
      *(uint64_t *)(void *)field = read_count(value);
    else if (m->kind == THREADS)
      *(unsigned *)(void *)field = (unsigned)(read_count(value) & UINT32_MAX);
    else
      *(double *)(void *)field = json_number_value(value);
  }
}

// ---- writing ------------------------------------------------------------------------------------

static json_t *write_figures(const bench_figures *f) {
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "runs", report_count(f->runs), "median",
                   report_number(f->median), "mean", report_number(f->mean), "least",
                   report_number(f->least), "greatest", report_number(f->greatest), "low",
                   report_number(f->low), "high", report_number(f->high));
}

static json_t *write_row(const bench_row *row) {
  json_t *to = json_object(), *sides = json_array();
  write_members(to, row_members, row);
  json_object_set_new(to, "seconds", write_figures(&row->seconds));
  if (row->has_copy)
    json_array_append_new(sides, json_pack("{s:s, s:o, s:o}", "name", "copy", "seconds",
                                           write_figures(&row->copy), "ratio",
                                           write_figures(&row->copy_ratio)));
  json_object_set_new(to, "beside", sides);
  return to;
}

void bench_report_write(text *to, const bench_report *r) {
  json_t *all = json_object(), *rows = json_array();
  write_members(all, report_members, r);
  for (size_t i = 0; i < r->rows.count; i++)
    json_array_append_new(rows, write_row(&r->rows.items[i]));
  json_object_set_new(all, "rows", rows);
  report_print_json(to, all, 6, 2);
}

// ---- reading ------------------------------------------------------------------------------------

static bench_figures read_figures(const json_t *from) {
  return (bench_figures){.runs = read_count(json_object_get(from, "runs")),
                         .median = json_number_value(json_object_get(from, "median")),
                         .mean = json_number_value(json_object_get(from, "mean")),
                         .least = json_number_value(json_object_get(from, "least")),
                         .greatest = json_number_value(json_object_get(from, "greatest")),
                         .low = json_number_value(json_object_get(from, "low")),
                         .high = json_number_value(json_object_get(from, "high"))};
}

static bench_row read_row(const json_t *from) {
  bench_row row = {.has_copy = false};
  const json_t *side;
  size_t i;
  read_members(from, row_members, &row);
  row.seconds = read_figures(json_object_get(from, "seconds"));
  json_array_foreach(json_object_get(from, "beside"), i, side) {
    const char *name = json_string_value(json_object_get(side, "name"));
    if (!name || strcmp(name, "copy") != 0)
      continue;
    row.has_copy = true;
    row.copy = read_figures(json_object_get(side, "seconds"));
    row.copy_ratio = read_figures(json_object_get(side, "ratio"));
  }
  return row;
}

bool bench_report_read(arena *memory, const char *bytes, size_t length, bench_report *r,
                       text *wrong) {
  json_t *all = report_read_json(bytes, length, wrong);
  const json_t *rows = json_object_get(all, "rows");
  bool good = json_is_array(rows);
  *r = (bench_report){.processors = 0};
  if (all && !good)
    text_string(wrong, "this is not a report of permc bench --json: it has no \"rows\"");
  read_members(all, report_members, r);
  r->rows.items = NEW_ARRAY(memory, bench_row, json_array_size(rows));
  for (; r->rows.count < json_array_size(rows); r->rows.count++)
    r->rows.items[r->rows.count] = read_row(json_array_get(rows, r->rows.count));
  json_decref(all);
  return good;
}
