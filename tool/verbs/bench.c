// permc bench: cases from a suite, a file or an expression; each measured, verified, shown.
#include "tool/bench/bench.h"
#include "runtime/system/pool.h"

#include <errno.h>

typedef struct bench_session {
  const cli_arguments *given;
  bench_request request;  // of all cases: each sets what is its own
  const char *peers;
  bench_limits limits;
  bench_case *cases;
  size_t case_count;
  permc_size *sizes;  // request.size_count for each case
  char *size_names;   // where their names are
  bench_report report;
  FILE *table;
  cli_status status;
} bench_session;

static bool fail(bench_session *s, cli_status status) {
  s->status = status;
  return false;
}

// ---- options ------------------------------------------------------------------------------------

static bool read_number(bench_session *s, const char *option, uint64_t least, uint64_t most,
                        uint64_t *number) {
  const char *value = cli_value(s->given, option);
  if (!value || (cli_number(value, number) && *number >= least && *number <= most))
    return true;
  return fail(s, cli_usage_error("bench: %s is a number from %llu to %llu, not '%s'", option,
                                 (unsigned long long)least, (unsigned long long)most, value));
}

static bool read_seconds(bench_session *s) {
  const char *value = cli_value(s->given, "--seconds");
  char *end = NULL;
  if (!value)
    return true;
  s->limits.seconds = strtod(value, &end);
  if (end > value && !*end && s->limits.seconds >= 0 && s->limits.seconds <= 3600)
    return true;
  return fail(s, cli_usage_error("bench: --seconds is a number from 0 to 3600, not '%s'", value));
}

static bool exclude(bench_session *s, const char *one, const char *other) {
  if (!cli_count(s->given, one) || !cli_count(s->given, other))
    return true;
  return fail(s, cli_usage_error("bench: %s and %s exclude each other", one, other));
}

static bool excluded_options(bench_session *s) {
  static const char *const pairs[][2] = {
      {"--suite", "-e"},         {"--suite", "--entry"}, {"--suite", "--arguments"},
      {"--suite", "--size"},     {"--suite", "-i"},      {"--entry", "-e"},
      {"--arguments", "--size"}, {"--arguments", "-i"},  {"--size", "-i"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (!exclude(s, pairs[i][0], pairs[i][1]))
      return false;
  return true;
}

static bool read_request(bench_session *s) {
  const cli_arguments *given = s->given;
  uint64_t threads = 0;
  bench_request *r = &s->request;
  *r = (bench_request){.file = given->operand_count ? given->operands[0] : NULL,
                       .expression = cli_value(given, "-e"),
                       .entry = cli_value(given, "--entry"),
                       .types = cli_value(given, "--arguments"),
                       .seed = 1,
                       .backend = cli_value(given, "--backend"),
                       .allow_extern = cli_count(given, "--allow-extern") > 0,
                       .given = given};
  s->peers = cli_value(given, "--peers");
  s->limits = bench_limits_default;
  if (!excluded_options(s) || !read_number(s, "--seed", 0, UINT64_MAX, &r->seed) ||
      !read_number(s, "--threads", 1, 1024, &threads) || !read_seconds(s))
    return false;
  r->threads = (unsigned)threads;
  if (!r->entry)
    r->entry = r->expression || cli_count(given, "--suite") ? "-e" : "main";
  if (cli_count(given, "--suite") && r->file)
    return fail(s, cli_usage_error("bench: --suite and FILE exclude each other"));
  if (!cli_count(given, "--suite") && !r->file && !r->expression)
    return fail(s,
                cli_usage_error("bench: FILE, -e EXPR or --suite NAME is missing (see permc help "
                                "bench)"));
  return true;
}

// ---- sizes --------------------------------------------------------------------------------------

typedef struct size_range {
  const char *name;
  uint64_t first, last;
} size_range;

// "n=10" or "n=10..24"; the name is cut off in place.
static bool parse_size(char *word, size_range *range) {
  char *equals = strchr(word, '='), *dots = equals ? strstr(equals, "..") : NULL;
  if (!equals || equals == word)
    return false;
  if (dots)
    *dots = 0;
  *equals = 0;
  range->name = word;
  bool good = cli_number(equals + 1, &range->first);
  range->last = range->first;
  good = good && (!dots || cli_number(dots + 2, &range->last));
  return good && range->last >= range->first && range->last <= INT64_MAX &&
         range->last - range->first < 64;
}

// Cases for each size of the one range there may be, the last --size the fastest.
static bool sized_cases(bench_session *s, size_range *ranges, size_t count) {
  size_t cases = 1;
  for (size_t i = 0; i < count; i++)
    cases *= (size_t)(ranges[i].last - ranges[i].first + 1);
  s->cases = calloc(cases, sizeof *s->cases);
  s->sizes = calloc(cases * count + 1, sizeof *s->sizes);
  if (!s->cases || !s->sizes) {
    cli_error("out of memory");
    return fail(s, CLI_WRONG);
  }
  const char *title = s->request.expression ? s->request.expression : s->request.entry;
  for (s->case_count = 0; s->case_count < cases; s->case_count++) {
    bench_case *c = &s->cases[s->case_count];
    size_t number = s->case_count;
    *c = (bench_case){.suite = "", .series = title, .property = BENCH_INTERP};
    snprintf(c->name, sizeof c->name, "%.40s%s%.20s", title, s->request.types ? " " : "",
             s->request.types ? s->request.types : "");
    for (size_t i = count; i-- > 0;) {
      uint64_t width = ranges[i].last - ranges[i].first + 1;
      s->sizes[s->case_count * count + i] =
          (permc_size){ranges[i].name, (int64_t)(ranges[i].first + number % width)};
      number /= (size_t)width;
    }
    for (size_t i = 0; i < count; i++) {
      size_t length = strlen(c->name);
      snprintf(c->name + length, sizeof c->name - length, " %.16s=%lld", ranges[i].name,
               (long long)s->sizes[s->case_count * count + i].value);
    }
  }
  s->request.size_count = count;
  return true;
}

static bool cases_of_sizes(bench_session *s) {
  size_t count, length = 1;
  const char **words = cli_values(s->given, "--size", &count);
  size_range *ranges = calloc(count + 1, sizeof *ranges);
  for (size_t i = 0; words && i < count; i++)
    length += strlen(words[i]) + 1;
  char *next = s->size_names = calloc(length, 1);
  bool good = words && ranges && next;
  if (!good) {
    cli_error("out of memory");
    s->status = CLI_WRONG;
  }
  for (size_t i = 0; good && i < count; i++) {
    size_t size = strlen(words[i]) + 1;
    memcpy(next, words[i], size);
    if (!parse_size(next, &ranges[i]))
      good = fail(s, cli_usage_error("bench: --size is NAME=SIZE or NAME=FIRST..LAST (at most 64 "
                                     "sizes), not '%s'",
                                     words[i]));
    next += size;
  }
  good = good && sized_cases(s, ranges, count);
  free(ranges);
  free(words);
  return good;
}

static bool find_cases(bench_session *s) {
  const char *suite = cli_value(s->given, "--suite");
  if (!suite)
    return cases_of_sizes(s);
  s->case_count = bench_suite_cases(
      suite, s->request.backend && !strcmp(s->request.backend, "cuda"), &s->cases);
  if (s->case_count)
    return true;
  cli_error("out of memory");
  return fail(s, CLI_WRONG);
}

// ---- one case -----------------------------------------------------------------------------------

// Everything that takes turns in one case.
typedef struct bench_stage {
  bench_program program, reference;
  bench_copy copy;
  bench_peer peers[BENCH_PEERS];
  bench_contestant all[BENCH_SIDES];
  size_t count;
} bench_stage;

static void add_contestant(bench_stage *g, const char *name, bench_turn *turn, void *with) {
  g->all[g->count++] = (bench_contestant){.name = name, .turn = turn, .with = with};
}

static bench_request request_of(const bench_session *s, const bench_case *c) {
  bench_request r = s->request;
  if (c->suite[0]) {
    r.program = c->program;
    r.expression = c->expression;
    r.types = c->types;
    r.gpu_only = c->gpu_only;
    r.strategy = c->strategy;
    r.layout = c->layout;
  }
  if (c->threads)
    r.threads = c->threads;
  r.sizes = s->sizes ? s->sizes + (size_t)(c - s->cases) * r.size_count : NULL;
  return r;
}

static bool add_copy(bench_stage *g, const bench_request *r) {
  bool on_device = g->program.on_device;
  if (!bench_copy_open(&g->copy, on_device ? 0 : bench_program_bytes(&g->program) / 2,
                       r->threads)) {
    cli_error("there is no memory for a copy");
    return false;
  }
  if (on_device && bench_program_bytes(&g->program) > 1)
    add_contestant(g, "copy", bench_device_copy_turn, &g->program);
  if (g->copy.bytes)
    add_contestant(g, "copy", bench_copy_turn, &g->copy);
  return true;
}

static bool add_reference(bench_stage *g, const bench_case *c, const bench_request *r) {
  if (!c->beside[0])
    return true;
  bench_request other = *r;
  other.program = NULL;
  other.expression = c->beside;
  other.types = c->beside_types;
  other.backend = permc_compiled_backend(g->program.compiled);  // also where that was chosen
  if (!bench_program_open(&g->reference, &other))
    return false;
  add_contestant(g, "reference", bench_program_turn, &g->reference);
  return true;
}

// The first must run. Another is left out where the folder has none of that name, and where its
// first turn fails, which is then said.
static bool add_peers(bench_session *s, bench_stage *g, const bench_case *c,
                      const bench_request *r) {
  unsigned threads = r->threads ? r->threads : pool_processors();
  for (int i = 0; s->peers && i < BENCH_PEERS; i++) {
    const bench_peer_case *peer = &c->peers[i];
    double seconds;
    if (!peer->name || (i > 0 && !bench_peer_exists(s->peers, peer->name)))
      continue;
    bool good = bench_peer_open(&g->peers[i], s->peers, peer->name, peer->arguments, threads);
    if (i > 0 && good && !bench_peer_turn(&g->peers[i], &seconds)) {
      bench_peer_close(&g->peers[i]);
      continue;
    }
    if (!good)
      return false;
    add_contestant(g, peer->name, bench_peer_turn, &g->peers[i]);
  }
  return true;
}

static bool set_stage(bench_session *s, bench_stage *g, const bench_case *c,
                      const bench_request *r) {
  if (!bench_program_open(&g->program, r))
    return false;
  add_contestant(g, "permc", bench_program_turn, &g->program);
  return add_copy(g, r) && add_reference(g, c, r) && add_peers(s, g, c, r);
}

static void strike_stage(bench_stage *g) {
  bench_contestants_free(g->all, g->count);
  bench_program_close(&g->program);
  bench_program_close(&g->reference);
  bench_copy_close(&g->copy);
  for (int i = 0; i < BENCH_PEERS; i++)
    bench_peer_close(&g->peers[i]);
}

static void scale(bench_figures *f, double factor) {
  f->median *= factor;
  f->least *= factor;
  f->low *= factor;
  f->high *= factor;
}

static void fill_row(bench_row *row, const bench_stage *g, const bench_case *c,
                     const bench_request *r) {
  const bench_program *p = &g->program;
  uint64_t elements = bench_program_elements(p);
  *row = (bench_row){.x = c->x ? c->x : elements,
                     .elements = elements,
                     .bytes = bench_program_bytes(p),
                     .columns = c->columns,
                     .passes = p->passes,
                     .threads = r->threads ? r->threads : pool_processors(),
                     .elaborate = p->times.elaborate,
                     .plan = p->times.plan,
                     .compile = p->times.compile,
                     .read = p->read_seconds,
                     .seconds = g->all[0].figures,
                     .side_count = g->count - 1};
  snprintf(row->suite, sizeof row->suite, "%s", c->suite);
  snprintf(row->series, sizeof row->series, "%.47s", c->series);
  snprintf(row->name, sizeof row->name, "%s", c->name);
  snprintf(row->backend, sizeof row->backend, "%s", permc_compiled_backend(p->compiled));
  const char *strategy = c->strategy ? c->strategy : cli_value(r->given, "--strategy");
  snprintf(row->strategy, sizeof row->strategy, "%s", strategy ? strategy : "");
  const char *device = permc_compiled_device(p->compiled);
  snprintf(row->device, sizeof row->device, "%s", device ? device : "");
  snprintf(row->verified, sizeof row->verified, "%s", p->verified);
  for (size_t i = 1; i < g->count; i++) {
    bench_side *side = &row->sides[i - 1];
    snprintf(side->name, sizeof side->name, "%s", g->all[i].name);
    side->seconds = g->all[i].figures;
    side->ratio = g->all[i].ratio;
    if (g->all[i].with != &g->reference)
      continue;
    side->elements = bench_program_elements(&g->reference);
    scale(&side->ratio, (double)side->elements / (double)elements);
  }
}

// Bytes of memory that the system can give without taking them from others; UINT64_MAX: not known.
static uint64_t memory_left(void) {
  char line[128];
  unsigned long long kilobytes = UINT64_MAX >> 10;
  FILE *from = fopen("/proc/meminfo", "r");
  while (from && fgets(line, sizeof line, from))
    if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
      break;
  if (from)
    fclose(from);
  return kilobytes << 10;
}

// Argument and result of a suite's case, before they are asked for: what the system promises it may
// not have.
static bool fits(const bench_case *c) {
  const double gib = 1 << 30;
  uint64_t left = memory_left();
  if (c->bytes <= left / 2)
    return true;
  cli_error("bench: argument and result have %.1f GiB, %.1f GiB of memory being free",
            2 * (double)c->bytes / gib, (double)left / gib);
  return false;
}

static bool run_case(bench_session *s, const bench_case *c, bench_row *row) {
  bench_stage g = {.count = 0};
  for (int i = 0; i < BENCH_PEERS; i++)
    g.peers[i].process = -1;
  bench_request r = request_of(s, c);
  bool good = fits(c) && set_stage(s, &g, c, &r) && bench_measure(g.all, g.count, &s->limits) &&
              bench_program_verify(&g.program, &r, c);
  if (good)
    fill_row(row, &g, c, &r);
  strike_stage(&g);
  return good;
}

// Whether --only has another text, or --strategy another name than that of the case.
static bool left_out(const bench_session *s, const bench_case *c) {
  const char *only = cli_value(s->given, "--only"), *way = cli_value(s->given, "--strategy");
  return (only && !strstr(c->name, only)) || (way && c->strategy && strcmp(way, c->strategy) != 0);
}

static bool run_cases(bench_session *s) {
  const char *only = cli_value(s->given, "--only");
  bench_report *report = &s->report;
  bench_report_begin(report);
  report->rows.items = calloc(s->case_count + 1, sizeof *report->rows.items);
  if (!report->rows.items) {
    cli_error("out of memory");
    return fail(s, CLI_WRONG);
  }
  bench_show_head(s->table, report);
  for (size_t i = 0; i < s->case_count; i++) {
    if (left_out(s, &s->cases[i]))
      continue;
    bench_row *row = &report->rows.items[report->rows.count];
    if (run_case(s, &s->cases[i], row)) {
      report->rows.count++;
      bench_show_row(s->table, row);
    } else {
      cli_error("bench: no figures for %s", s->cases[i].name);
      s->status = CLI_WRONG;
    }
  }
  if (report->rows.count == 0 && s->status == CLI_OK) {
    cli_error("bench: no case has '%s' in its name", only ? only : "");
    return fail(s, CLI_WRONG);
  }
  return true;
}

// ---- what is written ----------------------------------------------------------------------------

static bool write_text(const char *path, const text *t) {
  FILE *to = fopen(path, "w");
  bool good = to && !t->failed && fwrite(text_content(t), 1, t->length, to) == t->length;
  if (to && fclose(to) != 0)
    good = false;
  if (!good)
    cli_error("%s: %s", path, strerror(errno ? errno : ENOMEM));
  return good;
}

static bool write_plot(bench_session *s) {
  const char *path = cli_value(s->given, "--svg");
  text svg = {0};
  if (!path)
    return true;
  bench_show_plot(&svg, &s->report);
  bool good = write_text(path, &svg);
  text_free(&svg);
  return good || fail(s, CLI_WRONG);
}

static void write_json(const bench_session *s) {
  text json = {0};
  if (!cli_count(s->given, "--json"))
    return;
  bench_report_write(&json, &s->report);
  if (json.data && !json.failed)
    fputs(json.data, stdout);
  else
    cli_error("out of memory");
  text_free(&json);
}

// ---- comparing ----------------------------------------------------------------------------------

static bool read_report(arena *memory, const char *path, bench_report *r) {
  size_t length;
  const char *why = NULL;
  char *bytes = cli_read_file(path, &length, &why);
  bool good = bytes && bench_report_read(memory, bytes, length, r, &why);
  if (!good)
    cli_error("%s: %s", path, why);
  free(bytes);
  return good;
}

static bool show_changes(bench_session *s, const bench_report *after) {
  const char *path = cli_value(s->given, "--compare");
  arena memory = {0};
  bench_report before;
  bool good = !path || read_report(&memory, path, &before);
  if (good && path) {
    fputc('\n', s->table);
    bench_show_changes(s->table, &before, after);
  }
  arena_free(&memory);
  return good || fail(s, CLI_WRONG);
}

// FILE of --compare is a report, too: nothing is measured.
static bool compares_files(const bench_session *s) {
  const char *path = s->given->operand_count ? s->given->operands[0] : "";
  size_t length = strlen(path);
  return cli_count(s->given, "--compare") && length > 5 && !strcmp(path + length - 5, ".json");
}

static bool compare_files(bench_session *s) {
  arena memory = {0};
  bench_report after;
  bool good = read_report(&memory, s->given->operands[0], &after) || fail(s, CLI_WRONG);
  good = good && show_changes(s, &after);
  arena_free(&memory);
  return good;
}

// ---- the verb -----------------------------------------------------------------------------------

cli_status cli_bench(const cli_arguments *given) {
  bench_session s = {.given = given, .status = CLI_OK, .table = stdout};
  if (cli_count(given, "--json"))
    s.table = stderr;
  if (compares_files(&s)) {
    compare_files(&s);
    return s.status;
  }
  size_t path_count = 0;
  const char **paths = cli_values(given, "-i", &path_count);
  if (paths && read_request(&s) && find_cases(&s)) {
    s.request.paths = paths;
    s.request.path_count = path_count;
    bool measured = run_cases(&s);
    if (measured)
      bench_show_figures(s.table, &s.report);
    if (measured && write_plot(&s)) {
      write_json(&s);
      show_changes(&s, &s.report);
    }
  }
  free(paths);
  free(s.report.rows.items);
  bench_cases_free(s.cases, s.case_count);
  free(s.sizes);
  free(s.size_names);
  return s.status;
}
