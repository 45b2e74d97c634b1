// Rows to JSON and back, by one table of members. See bench/report.h.
#include "tool/bench/report.h"

#include "runtime/compiled/compiler.h"
#include "runtime/explain/json.h"
#include "runtime/permc.h"
#include "runtime/system/pool.h"
#include <inttypes.h>
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
    MEMBER(bench_row, TEXT, suite),      MEMBER(bench_row, TEXT, series),
    MEMBER(bench_row, TEXT, name),       MEMBER(bench_row, TEXT, backend),
    MEMBER(bench_row, TEXT, strategy),   MEMBER(bench_row, TEXT, device),
    MEMBER(bench_row, TEXT, verified),   MEMBER(bench_row, COUNT, passes),
    MEMBER(bench_row, COUNT, x),         MEMBER(bench_row, COUNT, elements),
    MEMBER(bench_row, COUNT, bytes),     MEMBER(bench_row, COUNT, columns),
    MEMBER(bench_row, THREADS, threads), MEMBER(bench_row, NUMBER, elaborate),
    MEMBER(bench_row, NUMBER, plan),     MEMBER(bench_row, NUMBER, compile),
    MEMBER(bench_row, NUMBER, read),     {NULL, TEXT, 0, 0},
};

static void write_members(text *to, const member *members, const void *from) {
  for (const member *m = members; m->name; m++) {
    const char *field = (const char *)from + m->offset;
    text_printf(to, "%s\"%s\": ", m == members ? "" : ", ", m->name);
    if (m->kind == TEXT)
      json_write_string(to, field);
    else if (m->kind == COUNT)
      text_printf(to, "%" PRIu64, *(const uint64_t *)(const void *)field);
    else if (m->kind == THREADS)
      text_printf(to, "%u", *(const unsigned *)(const void *)field);
    else
      text_printf(to, "%.6g", *(const double *)(const void *)field);
  }
}

// A count as another program may have written it: from 0 to 2^53.
static uint64_t count_of(double number) {
  return number > 0 && number <= 0x1p53 ? (uint64_t)number : 0;
}

static void read_members(const json *from, const member *members, void *to) {
  for (const member *m = members; m->name; m++) {
    char *field = (char *)to + m->offset;
    const json *value = json_member(from, m->name);
    double number = json_number(value, 0);
    if (m->kind == TEXT)
      snprintf(field, m->size, "%s", json_string(value, ""));
    else if (m->kind == COUNT)
      *(uint64_t *)(void *)field = count_of(number);
    else if (m->kind == THREADS)
      *(unsigned *)(void *)field = (unsigned)(count_of(number) & UINT32_MAX);
    else
      *(double *)(void *)field = number;
  }
}

// ---- writing ------------------------------------------------------------------------------------

static void write_figures(text *to, const char *name, const bench_figures *f) {
  text_printf(to,
              "\"%s\": {\"runs\": %zu, \"median\": %.6g, \"least\": %.6g, \"low\": %.6g, "
              "\"high\": %.6g}",
              name, f->runs, f->median, f->least, f->low, f->high);
}

void bench_row_write(text *to, const bench_row *row, const char *indent) {
  text_printf(to, "%s{\n%s  ", indent, indent);
  write_members(to, row_members, row);
  text_printf(to, ",\n%s  ", indent);
  write_figures(to, "seconds", &row->seconds);
  text_printf(to, ",\n%s  \"beside\": [", indent);
  for (size_t i = 0; i < row->side_count; i++) {
    const bench_side *side = &row->sides[i];
    text_printf(to, "%s\n%s    {\"name\": ", i ? "," : "", indent);
    json_write_string(to, side->name);
    if (side->elements)
      text_printf(to, ", \"elements\": %" PRIu64, side->elements);
    text_printf(to, ",\n%s     ", indent);
    write_figures(to, "seconds", &side->seconds);
    text_printf(to, ",\n%s     ", indent);
    write_figures(to, "ratio", &side->ratio);
    text_string(to, "}");
  }
  text_printf(to, "%s%s]\n%s}", row->side_count ? "\n  " : "", row->side_count ? indent : "",
              indent);
}

void bench_report_write(text *to, const bench_report *r) {
  c_locale locale;
  bool entered = c_locale_enter(&locale);
  text_string(to, "{\n  ");
  write_members(to, report_members, r);
  text_string(to, ",\n  \"rows\": [");
  for (size_t i = 0; i < r->rows.count; i++) {
    text_string(to, i ? ",\n" : "\n");
    bench_row_write(to, &r->rows.items[i], "    ");
  }
  text_string(to, r->rows.count ? "\n  ]\n}\n" : "]\n}\n");
  if (entered)
    c_locale_leave(&locale);
}

// ---- reading ------------------------------------------------------------------------------------

static bench_figures read_figures(const json *from) {
  return (bench_figures){.runs = count_of(json_number(json_member(from, "runs"), 0)),
                         .median = json_number(json_member(from, "median"), 0),
                         .least = json_number(json_member(from, "least"), 0),
                         .low = json_number(json_member(from, "low"), 0),
                         .high = json_number(json_member(from, "high"), 0)};
}

static bench_row read_row(const json *from) {
  bench_row row = {.side_count = 0};
  read_members(from, row_members, &row);
  row.seconds = read_figures(json_member(from, "seconds"));
  const json *side = json_first(json_member(from, "beside"));
  for (; side && row.side_count < BENCH_SIDES; side = side->next) {
    bench_side *s = &row.sides[row.side_count++];
    snprintf(s->name, sizeof s->name, "%s", json_string(json_member(side, "name"), ""));
    s->elements = count_of(json_number(json_member(side, "elements"), 0));
    s->seconds = read_figures(json_member(side, "seconds"));
    s->ratio = read_figures(json_member(side, "ratio"));
  }
  return row;
}

static bool read_report(arena *memory, const char *bytes, size_t length, bench_report *r,
                        const char **wrong) {
  const json *all = json_read(memory, bytes, length, wrong);
  if (!all)
    return false;
  *wrong = "there are no \"rows\" in it";
  const json *rows = json_member(all, "rows");
  if (!rows || rows->kind != JSON_ARRAY)
    return false;
  read_members(all, report_members, r);
  for (const json *row = rows->first; row; row = row->next)
    vec_push(memory, &r->rows, read_row(row));
  *wrong = NULL;
  return true;
}

bool bench_report_read(arena *memory, const char *bytes, size_t length, bench_report *r,
                       const char **wrong) {
  jmp_buf failure, *before = memory->failure;
  c_locale locale;
  volatile bool good = false;  // as of after a jump
  *r = (bench_report){.processors = 0};
  *wrong = "out of memory";
  if (!c_locale_enter(&locale))
    return false;
  memory->failure = &failure;
  if (setjmp(failure) == 0)
    good = read_report(memory, bytes, length, r, wrong);
  else
    *wrong = "out of memory";
  memory->failure = before;
  c_locale_leave(&locale);
  return good;
}

// ---- figures of a row ---------------------------------------------------------------------------

double bench_row_bytes_per_second(const bench_row *row, double seconds) {
  return seconds > 0 ? (double)row->bytes / seconds : 0;
}

const bench_side *bench_row_side(const bench_row *row, const char *name) {
  for (size_t i = 0; i < row->side_count; i++)
    if (strcmp(row->sides[i].name, name) == 0)
      return &row->sides[i];
  return NULL;
}
