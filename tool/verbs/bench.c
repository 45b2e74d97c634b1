// permc bench: cases from a suite, a file or an expression; each measured, verified, shown.
#include "tool/bench/bench.h"
#include "tool/cli/progress.h"
#include "tool/verbs/verbs.h"

#include <inttypes.h>

enum { LONGEST_RANGE = 64 };  // of --size n=FIRST..LAST

typedef struct bench_session {
  const cli_arguments *args;
  bench_request request;  // of all cases: each sets what is its own
  bench_limits limits;
  bench_case *cases;
  size_t case_count;
  permc_size *sizes;            // request.data.size_count for each case
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
  s->request = (bench_request){
      .file = cli_operand(args, 0),
      .expression = cli_value(args, "-e"),
      .entry = cli_is_given(args, "--suite") ? "-e" : cli_entry(args),
      .data = {.types = cli_value(args, "--arguments"), .seed = cli_number(args, "--seed", 1)},
      .backend = cli_backend(args),
      .threads = (unsigned)cli_number(args, "--threads", 0),
      .ranks = (uint32_t)cli_number(args, "--ranks", 1),
      .args = args};
  s->limits = bench_limits_default;
  return read_seconds(args, &s->limits.seconds);
}

// ---- cases --------------------------------------------------------------------------------------

// Case `number` of a file or expression: the last range of sizes runs through its values first.
static void make_case(bench_session *s, size_t number, const cli_sizes *ranges) {
  bench_case *c = &s->cases[number];
  permc_size *sizes = &s->sizes[number * ranges->count];
  const char *types = s->request.data.types;
  *c = (bench_case){.suite = "",
                    .series = s->request.expression ? s->request.expression : s->request.entry,
                    .property = BENCH_INTERP};
  for (size_t i = ranges->count; i-- > 0;) {
    size_t width = (size_t)(ranges->last[i] - ranges->first[i].value + 1);
    sizes[i] = ranges->first[i];
    sizes[i].value += (int64_t)(number % width);
    number /= width;
  }
  snprintf(c->name, sizeof c->name, "%.40s%s%.20s", c->series, types ? " " : "",
           types ? types : "");
  for (size_t i = 0; i < ranges->count; i++) {
    size_t length = strlen(c->name);
    snprintf(c->name + length, sizeof c->name - length, " %.16s=%" PRId64, sizes[i].name,
             sizes[i].value);
  }
}

// Cases of a file or an expression: one for each size of the ranges.
static cli_status make_cases(bench_session *s, const cli_sizes *ranges) {
  size_t count = 1;
  for (size_t i = 0; i < ranges->count; i++)
    count *= (size_t)(ranges->last[i] - ranges->first[i].value + 1);
  s->cases = calloc(count, sizeof *s->cases);
  s->sizes = calloc(count * ranges->count + 1, sizeof *s->sizes);
  if (!s->cases || !s->sizes)
    return cli_out_of_memory();
  for (s->case_count = 0; s->case_count < count; s->case_count++)
    make_case(s, s->case_count, ranges);
  s->request.data.size_count = ranges->count;
  return CLI_OK;
}

static cli_status find_cases(bench_session *s, const cli_sizes *ranges) {
  const char *suite = cli_value(s->args, "--suite"), *backend = s->request.backend;
  if (!suite)
    return make_cases(s, ranges);
  unsigned gpus = backend && !strcmp(backend, "cuda") ? cli_device_count(s->args) : 0;
  gpus = gpus && s->request.ranks > 1 ? s->request.ranks : gpus;
  s->case_count = bench_suite_cases(suite, gpus, &s->cases);
  if (!s->cases)
    return cli_out_of_memory();
  if (!s->case_count)
    cli_error("bench: all cases of the suite %s are for a GPU; give --backend cuda", suite);
  return s->case_count ? CLI_OK : CLI_WRONG;
}

static bench_request request_of(const bench_session *s, const bench_case *c) {
  bench_request r = s->request;
  if (c->suite[0]) {
    r.program = c->program;
    r.expression = c->expression;
    r.data.types = c->types;
    r.gpu_only = c->gpu_only;
    r.permutation = c->permutation;
    r.lengths = c->lengths;
    r.draws = c->draws;
    r.strategy = c->strategy;
    r.layout = c->layout;
  }
  if (c->threads)
    r.threads = c->threads;
  r.data.sizes = s->sizes ? s->sizes + (size_t)(c - s->cases) * r.data.size_count : NULL;
  return r;
}

// By --only, and by a --strategy that is another than the case's.
static bool is_selected(const bench_session *s, const bench_case *c) {
  const char *only = cli_value(s->args, "--only"), *strategy = cli_value(s->args, "--strategy");
  return (!only || strstr(c->name, only)) &&
         (!strategy || !c->strategy || strcmp(strategy, c->strategy) == 0);
}

// CLI_WRONG: some cases have no figures.
static cli_status run_cases(bench_session *s, arena *memory) {
  bench_report *report = &s->report;
  cli_status status = CLI_OK;
  bench_report_begin(report);
  report->rows.items = NEW_ARRAY(memory, bench_row, s->case_count);
  bench_show_head(s->table, report);
  for (size_t i = 0; i < s->case_count; i++) {
    const bench_case *c = &s->cases[i];
    bench_row *row = &report->rows.items[report->rows.count];
    bench_request r = request_of(s, c);
    if (!is_selected(s, c))
      continue;
    cli_progress_work(c->name, "cases", i, s->case_count);
    if (bench_run_case(c, &r, cli_value(s->args, "--peers"), &s->limits, row)) {
      report->rows.count++;
      cli_progress_clear();
      bench_show_row(s->table, row);
    } else {
      cli_error("bench: no figures for %s", c->name);
      status = CLI_WRONG;
    }
  }
  bench_show_figures(s->table, report);
  return status;
}

// ---- output -------------------------------------------------------------------------------------

static cli_status write_plot(const bench_session *s, arena *memory) {
  const char *path = cli_value(s->args, "--svg");
  text svg = {0};
  if (!path)
    return CLI_OK;
  bench_draw(memory, &svg, &s->report);
  bool good = cli_write_file(path, &svg);
  text_free(&svg);
  return good ? CLI_OK : CLI_WRONG;
}

static cli_status write_json(const bench_session *s) {
  text json = {0};
  if (!cli_is_given(s->args, "--json"))
    return CLI_OK;
  bench_report_write(&json, &s->report);
  return cli_print_text(&json);
}

static bool read_report(arena *memory, const char *path, bench_report *r) {
  size_t length;
  const char *why = NULL;
  text wrong = {0};
  char *bytes = cli_read_file(path, &length, &why);
  bool good = bytes && bench_report_read(memory, bytes, length, r, &wrong);
  if (!good)
    cli_error("%s: %s", path, bytes ? text_content(&wrong) : why);
  text_free(&wrong);
  free(bytes);
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

// Two reports, without measuring.
static cli_status compare_reports(bench_session *s, arena *memory) {
  bench_report after;
  if (!read_report(memory, cli_operand(s->args, 0), &after))
    return CLI_WRONG;
  show_changes(s, &after);
  return CLI_OK;
}

static cli_status report_no_case(const bench_session *s) {
  const char *only = cli_value(s->args, "--only");
  if (only)
    cli_error("bench: no case has '%s' in its name", only);
  else
    cli_error("bench: no case is planned by the strategy '%s'", cli_value(s->args, "--strategy"));
  return CLI_WRONG;
}

static cli_status run_and_show(bench_session *s, arena *memory) {
  size_t selected = 0;
  for (size_t i = 0; i < s->case_count; i++)
    selected += is_selected(s, &s->cases[i]);
  if (!selected)
    return report_no_case(s);
  cli_status status = run_cases(s, memory);
  // What was measured is written wherever that is still possible.
  cli_status plot = write_plot(s, memory), json = write_json(s);
  show_changes(s, &s->report);
  return status == CLI_OK && plot == CLI_OK && json == CLI_OK ? CLI_OK : CLI_WRONG;
}

static cli_status measure(bench_session *s, arena *memory) {
  cli_sizes ranges;
  cli_status status = cli_read_sizes(s->args, LONGEST_RANGE, &ranges);
  if (status == CLI_OK)
    status = read_request(s);
  const char **paths = cli_values(s->args, "-i", &s->request.data.path_count);
  s->request.data.paths = paths;
  if (status == CLI_OK)
    status = paths ? find_cases(s, &ranges) : CLI_WRONG;
  if (status == CLI_OK)
    status = run_and_show(s, memory);
  free(paths);
  cli_sizes_free(&ranges);
  return status;
}

static cli_status measure_or_compare(arena *memory, void *with) {
  bench_session *s = with;
  const char *before = cli_value(s->args, "--compare");
  if (before && !read_report(memory, before, &s->before))
    return CLI_WRONG;
  bool compares = before && s->args->operand_count && cli_ends_with(s->args->operands[0], ".json");
  return compares ? compare_reports(s, memory) : measure(s, memory);
}

cli_status verb_bench(const cli_arguments *args) {
  bench_session s = {.args = args, .table = cli_is_given(args, "--json") ? stderr : stdout};
  const char *plot = cli_value(args, "--svg");
  if (plot && !cli_check_picture(plot, false))
    return CLI_WRONG;
  cli_status status = cli_with_arena(measure_or_compare, &s);
  bench_cases_free(s.cases, s.case_count);
  free(s.sizes);
  return status;
}
