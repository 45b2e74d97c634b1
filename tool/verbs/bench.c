// permc bench: programs of a file or an expression; each measured, verified, shown.
#include "tool/bench/bench.h"
#include "tool/cli/progress.h"
#include "tool/verbs/verbs.h"

#include <inttypes.h>

enum { LONGEST_RANGE = 64 };  // of --size n=FIRST..LAST

typedef struct bench_session {
  const cli_arguments *args;
  cli_sizes ranges;
  permc_size *sizes;  // of the case at hand
  char name[96];      // likewise: "main n=10"
  bench_request request;
  bench_limits limits;
  bench_report report, before;  // before: of --compare
  FILE *table;
} bench_session;

// ---- options ------------------------------------------------------------------------------------

static cli_status read_seconds(const cli_arguments *args, double *seconds) {
  const char *value = cli_value(args, "--seconds");
  char *end = NULL;
  if (!value)
    return CLI_OK;
  *seconds = strtod(value, &end);
  if (end > value && !*end && *seconds >= 0 && *seconds <= 3600)
    return CLI_OK;
  return cli_usage_error("bench: --seconds must be a number from 0 to 3600, not '%s'", value);
}

static cli_status read_request(bench_session *s) {
  const cli_arguments *args = s->args;
  const char *expression = cli_value(args, "-e"), *entry = cli_entry(args);
  s->request = (bench_request){.name = s->name,
                               .series = expression ? expression : entry,
                               .file = cli_operand(args, 0),
                               .expression = expression,
                               .entry = entry,
                               .data = {.types = cli_value(args, "--arguments"),
                                        .sizes = s->sizes,
                                        .size_count = s->ranges.count,
                                        .seed = cli_number(args, "--seed", 1)},
                               .backend = cli_backend(args),
                               .threads = (unsigned)cli_number(args, "--threads", 0),
                               .ranks = (uint32_t)cli_number(args, "--ranks", 1),
                               .args = args};
  s->limits = bench_limits_default;
  return read_seconds(args, &s->limits.seconds);
}

// ---- cases --------------------------------------------------------------------------------------

static size_t range_width(const cli_sizes *ranges, size_t i) {
  return (size_t)(ranges->last[i] - ranges->first[i].value + 1);
}

// One for each size of the ranges.
static size_t count_cases(const cli_sizes *ranges) {
  size_t count = 1;
  for (size_t i = 0; i < ranges->count; i++)
    count *= range_width(ranges, i);
  return count;
}

// Sets sizes and name: the last range of sizes runs through its values first.
static void choose_case(bench_session *s, size_t number) {
  const char *types = s->request.data.types;
  for (size_t i = s->ranges.count; i-- > 0;) {
    s->sizes[i] = s->ranges.first[i];
    s->sizes[i].value += (int64_t)(number % range_width(&s->ranges, i));
    number /= range_width(&s->ranges, i);
  }
  snprintf(s->name, sizeof s->name, "%.40s%s%.20s", s->request.series, types ? " " : "",
           types ? types : "");
  for (size_t i = 0; i < s->ranges.count; i++) {
    size_t length = strlen(s->name);
    snprintf(s->name + length, sizeof s->name - length, " %.16s=%" PRId64, s->sizes[i].name,
             s->sizes[i].value);
  }
}

// Whether there is a program. What is wrong with it is so said once, not for each case.
static bool has_program(const bench_session *s) {
  permc_context *context = cli_context_new();
  bool good = context && cli_use_options(s->args, context) == CLI_OK &&
              cli_load(context, s->request.file, s->request.expression);
  permc_context_free(context);
  return good;
}

// CLI_WRONG: some cases have no figures.
static cli_status measure_cases(bench_session *s, arena *memory) {
  bench_report *report = &s->report;
  size_t count = count_cases(&s->ranges);
  cli_status status = has_program(s) ? CLI_OK : CLI_WRONG;
  report->rows.items = NEW_ARRAY(memory, bench_row, count);
  for (size_t i = 0; i < count && (i || status == CLI_OK); i++) {
    bench_row *row = &report->rows.items[report->rows.count];
    choose_case(s, i);
    cli_progress_work(s->name, "cases", i, count);
    if (bench_measure_program(&s->request, &s->limits, row)) {
      cli_progress_clear();
      if (!report->rows.count++)
        bench_show_head(s->table, report);
      bench_show_row(s->table, row);
    } else {
      status = cli_error("bench: no figures for %s", s->name);
    }
  }
  return status;
}

static cli_status serve_turns(bench_session *s, arena *memory) {
  if (count_cases(&s->ranges) > 1)
    return cli_usage_error("bench: --turns is of one case, not of several sizes");
  s->report.rows.items = NEW_ARRAY(memory, bench_row, 1);
  s->report.rows.count = 1;
  choose_case(s, 0);
  return bench_serve_turns(&s->request, s->report.rows.items) ? CLI_OK : CLI_WRONG;
}

// ---- output -------------------------------------------------------------------------------------

static cli_status write_json(const bench_session *s) {
  text json = {0};
  if (!cli_is_given(s->args, "--json") && !cli_is_given(s->args, "--turns"))
    return CLI_OK;
  bench_report_write(&json, &s->report);
  return cli_print_text(&json);
}

static bool read_report(arena *memory, const char *path, bench_report *r) {
  size_t length;
  const char *why = NULL;
  FREED_BY(text_free) text wrong = {0};
  FREED char *bytes = cli_read_file(path, SIZE_MAX, &length, &why);
  bool good = bytes && bench_report_read(memory, bytes, length, r, &wrong);
  if (!good)
    cli_error("%s: %s", path, bytes ? text_content(&wrong) : why);
  return good;
}

// What changed since the report of --compare.
static void show_changes(const bench_session *s, const bench_report *after) {
  if (!cli_is_given(s->args, "--compare"))
    return;
  fputc('\n', s->table);
  bench_show_changes(s->table, &s->before, after);
}

// ---- the verb -----------------------------------------------------------------------------------

static cli_status measure_and_show(bench_session *s, arena *memory) {
  bool turns = cli_is_given(s->args, "--turns");
  s->sizes = NEW_ARRAY(memory, permc_size, s->ranges.count);
  cli_status status = read_request(s);
  s->request.data.paths = cli_values(s->args, "-i", &s->request.data.path_count);
  if (status != CLI_OK)
    return status;
  bench_report_begin(&s->report);
  status = turns ? serve_turns(s, memory) : measure_cases(s, memory);
  // What was measured is written wherever that is still possible.
  cli_status json = turns && status != CLI_OK ? status : write_json(s);
  if (!turns)
    show_changes(s, &s->report);
  return status == CLI_OK ? json : status;
}

// Two reports are compared without measuring.
static cli_status measure_or_compare(bench_session *s, arena *memory) {
  bench_report after;
  const char *before = cli_value(s->args, "--compare");
  if (before && !read_report(memory, before, &s->before))
    return CLI_WRONG;
  if (before && s->args->operand_count && cli_ends_with(s->args->operands[0], ".json")) {
    if (!read_report(memory, s->args->operands[0], &after))
      return CLI_WRONG;
    show_changes(s, &after);
    return CLI_OK;
  }
  cli_status status = cli_read_sizes(s->args, LONGEST_RANGE, &s->ranges);
  return status == CLI_OK ? measure_and_show(s, memory) : status;
}

cli_status verb_bench(const cli_arguments *args) {
  bench_session s = {.args = args, .table = cli_is_given(args, "--json") ? stderr : stdout};
  return measure_or_compare(&s, args->memory);
}
