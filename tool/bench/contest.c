// A program and a copy of as many bytes, taking turns. See bench.h.
#include "core/clock.h"
#include "runtime/gpu/context.h"
#include "runtime/system/pool.h"
#include "runtime/system/speed.h"
#include "tool/bench/bench.h"
#include "tool/testing/compare.h"

#include <stdio.h>

typedef struct contest {
  const bench_request *request;
  unsigned threads;
  permc_context *context;
  permc_value **arguments;
  size_t argument_count;
  permc_times times;
  uint64_t passes;
  double predicted, read_seconds;
  bench_program program, copy_there;  // copy_there: a copy on its device
  bench_copy copy;                    // where the program is on no device
  bench_contestant all[2];            // the program; the copy, where there is something to copy
  size_t count;
  bool verified;  // by interp
} contest;

static uint64_t value_bytes(permc_value *const *values, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < values[i]->count; k++)
      sum += array_bytes(&values[i]->components[k]);
  return sum;
}

static uint64_t bytes_of_all(const contest *g) {
  return value_bytes(g->arguments, g->argument_count) +
         value_bytes(g->program.results, g->program.result_count);
}

// Bytes that a copy moves: half of the arguments and results. A schedule's places are not data.
static uint64_t bytes_to_copy(const contest *g) {
  uint64_t places = 0;
  for (size_t i = 0; i < g->argument_count; i++)
    if (g->arguments[i]->count == 1 && g->arguments[i]->components[0].permutation)
      places += value_bytes(&g->arguments[i], 1);
  return (bytes_of_all(g) - places) / 2;
}

static uint64_t count_elements(const contest *g) {
  uint64_t sum = 0;
  for (size_t i = 0; i < g->argument_count; i++)
    if (g->arguments[i]->count > 0)
      sum += array_count(&g->arguments[i]->components[0]);
  return sum;
}

// ---- turns --------------------------------------------------------------------------------------

// What a run or a turn has said, if it has failed.
static bool report_turn(contest *g, const bench_program *p, bool good) {
  if (!good && p->why.code)
    context_fail(g->context, &p->why);
  return good || cli_report(g->context, false);
}

static bool turn_and_report(void *with, double *seconds) {
  contest *g = with;
  return report_turn(g, &g->program, bench_program_turn(&g->program, seconds));
}

static bool copy_and_report(void *with, double *seconds) {
  contest *g = with;
  return report_turn(g, &g->copy_there, bench_program_turn(&g->copy_there, seconds));
}

// ---- opening ------------------------------------------------------------------------------------

static bool read_program(contest *g) {
  const bench_request *r = g->request;
  if (cli_use_options(r->args, g->context) != CLI_OK)
    return false;
  permc_use_threads(g->context, g->threads);
  if (!cli_load(g->context, r->file, r->expression))
    return false;
  double start = clock_seconds();
  bool good = cli_read_data(g->context, r->entry, &r->data, &g->arguments, &g->argument_count);
  g->read_seconds = clock_seconds() - start;
  return good;
}

static bool compile_and_run(contest *g) {
  const bench_request *r = g->request;
  permc_ranks ranks = {.transport = "threads", .count = r->ranks};
  // After the arguments are made, all of each.
  if (r->ranks > 1 && !cli_report(g->context, permc_use_ranks(g->context, &ranks)))
    return false;
  (void)speed_of_machine(true);  // what is predicted is shown
  g->program = (bench_program){
      .compiled = permc_compile(g->context, r->entry, r->backend, g->arguments, g->argument_count),
      .arguments = g->arguments,
      .argument_count = g->argument_count};
  g->times = permc_last_times(g->context);
  g->passes = g->context->passes;
  g->predicted = r->ranks > 1 ? 0 : g->context->predicted;
  if (g->program.compiled && r->ranks > 1)
    permc_use_ranks(g->context, NULL);  // interp, which verifies, is on none
  return cli_report(g->context, g->program.compiled != NULL) &&
         report_turn(g, &g->program, bench_program_run(&g->program));
}

static bool open_copy(contest *g) {
  uint64_t bytes = bytes_to_copy(g);
  bool on_device = g->program.on_device;
  g->copy_there =
      (bench_program){.compiled = g->program.compiled, .on_device = on_device, .copy_bytes = bytes};
  if (!bench_copy_open(&g->copy, on_device ? 0 : bytes, g->threads)) {
    cli_error("bench: out of memory for the copy to compare with");
    return false;
  }
  if (bytes)
    g->all[g->count++] =
        on_device ? (bench_contestant){.name = "copy", .turn = copy_and_report, .with = g}
                  : (bench_contestant){.name = "copy", .turn = bench_copy_turn, .with = &g->copy};
  return true;
}

// Loads, reads, compiles and runs once. False: reported.
static bool open_contest(contest *g, const bench_request *r) {
  double seconds;
  *g = (contest){.request = r,
                 .threads = r->threads ? r->threads : pool_processors(),
                 .context = cli_context_new()};
  if (!g->context || !read_program(g) || !compile_and_run(g))
    return false;
  g->program.on_device = permc_time_call(g->program.compiled, 1, &seconds);
  g->all[g->count++] = (bench_contestant){.name = "permc", .turn = turn_and_report, .with = g};
  return open_copy(g);
}

static void close_contest(contest *g) {
  bench_copy_close(&g->copy);
  permc_compiled_free(g->program.compiled);
  permc_values_free(g->arguments, g->argument_count);
  permc_values_free(g->program.results, g->program.result_count);
  permc_context_free(g->context);
}

// ---- verifying ----------------------------------------------------------------------------------

enum { LARGEST_FOR_INTERP = 1 << 25, STRETCH = 1 << 20 };  // bytes

static bool overwrite_stretches(void *with, unsigned worker, uint64_t first, uint64_t last) {
  (void)worker;
  const array *a = with;
  for (uint64_t i = first; i < last; i++) {
    uint64_t start = i * STRETCH, left = array_bytes(a) - start;
    memset((char *)a->data + start, 0xa5, left < STRETCH ? left : STRETCH);
  }
  return true;
}

// The hash of all results; then they have other bytes.
static uint64_t hash_results(const contest *g, bool overwrite) {
  uint64_t hash = 0;
  for (size_t i = 0; i < g->program.result_count; i++)
    for (size_t k = 0; k < g->program.results[i]->count; k++) {
      array *a = &g->program.results[i]->components[k];
      uint64_t bytes = array_bytes(a);
      hash = hash * 31 + pool_hash(pool_processors(), a->data, bytes);
      if (overwrite)
        pool_run(pool_processors(), (bytes + STRETCH - 1) / STRETCH, 1, overwrite_stretches, a,
                 NULL);
    }
  return hash;
}

// The results of the last timed run are those of this one, which starts with other bytes in its
// results, so that nothing right can be left over from an earlier run.
static bool run_again(contest *g) {
  uint64_t before = hash_results(g, true);
  if (!report_turn(g, &g->program, bench_program_run(&g->program)))
    return false;
  if (hash_results(g, false) == before)
    return true;
  cli_error("two runs on the same arguments gave different results");
  return false;
}

// An interp that fails, which it says itself, leaves the results unverified.
static bool equals_interp(contest *g) {
  const bench_request *r = g->request;
  permc_value **values = NULL;
  size_t count = 0;
  FREED_BY(text_free) text why = {0};
  g->verified = cli_report(g->context, permc_run(g->context, r->entry, "interp", g->arguments,
                                                 g->argument_count, &values, &count));
  bool good = g->verified && values_equal("result", values, count, g->program.results,
                                          g->program.result_count, &why, NULL);
  if (g->verified && !good && (why.failed || !why.data))
    cli_out_of_memory();
  else if (g->verified && !good)
    cli_error("%s: the result is wrong: %s", r->name, why.data);
  permc_values_free(values, count);
  return good;
}

static bool verify_results(contest *g) {
  return run_again(g) && (bytes_of_all(g) > LARGEST_FOR_INTERP || equals_interp(g));
}

// ---- the row ------------------------------------------------------------------------------------

static void make_row(bench_row *row, const contest *g) {
  const bench_request *r = g->request;
  const char *strategy = cli_value(r->args, "--strategy");
  const char *device = permc_compiled_device(g->program.compiled);
  *row = (bench_row){.elements = count_elements(g),
                     .bytes = bytes_of_all(g),
                     .passes = g->passes,
                     .threads = g->threads,
                     .elaborate = g->times.elaborate,
                     .plan = g->times.plan,
                     .compile = g->times.compile,
                     .read = g->read_seconds,
                     .predicted = g->predicted,
                     .seconds = g->all[0].figures,
                     .has_copy = g->count > 1,
                     .copy = g->all[1].figures,
                     .copy_ratio = g->all[1].ratio};
  snprintf(row->series, sizeof row->series, "%.47s", r->series);
  snprintf(row->name, sizeof row->name, "%s", r->name);
  snprintf(row->backend, sizeof row->backend, "%s", permc_compiled_backend(g->program.compiled));
  snprintf(row->strategy, sizeof row->strategy, "%s", strategy ? strategy : "");
  snprintf(row->device, sizeof row->device, "%s", device ? device : "");
  snprintf(row->verified, sizeof row->verified, "%s", g->verified ? "equal to interp" : "");
}

bool bench_measure_program(const bench_request *request, const bench_limits *until,
                           bench_row *row) {
  FREED_BY(close_contest) contest g = {0};
  bool good =
      open_contest(&g, request) && bench_measure(g.all, g.count, until) && verify_results(&g);
  if (good)
    make_row(row, &g);
  return good;
}

// ---- turns that are asked for -------------------------------------------------------------------

static bool serve(contest *g) {
  char line[16];
  while (fgets(line, sizeof line, stdin)) {
    bool copies = strcmp(line, "copy\n") == 0;
    double seconds;
    if (copies && g->count == 1) {
      cli_error("bench: there is nothing to copy");
      return false;
    }
    if (!g->all[copies].turn(g->all[copies].with, &seconds))
      return false;
    printf("%.9g\n", seconds);
    fflush(stdout);
  }
  return true;
}

// As many files as results, or none.
static bool write_results(contest *g) {
  size_t count;
  const char *const *paths = cli_values(g->request->args, "-o", &count);
  if (count == g->program.result_count)
    return cli_report(g->context, permc_write_files(g->context, paths, g->program.results, count));
  cli_error("bench: there are %zu results, but %zu files for them", g->program.result_count, count);
  return false;
}

bool bench_serve_turns(const bench_request *request, bench_row *row) {
  FREED_BY(close_contest) contest g = {0};
  bool writes = cli_is_given(request->args, "-o");
  bool good = open_contest(&g, request) && serve(&g) &&
              (writes ? run_again(&g) && write_results(&g) : verify_results(&g));
  if (good)
    make_row(row, &g);
  return good;
}
