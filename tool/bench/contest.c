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
  permc_compiled *compiled;
  permc_value **arguments, **results;
  size_t argument_count, result_count;
  permc_times times;
  uint64_t passes;
  double predicted, read_seconds;
  bench_repeats repeats, copy_repeats;  // copy_repeats: of a copy on a device
  bench_copy copy;                      // where the program is on no device
  bench_contestant all[2];              // the program; the copy, where there is something to copy
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
  return value_bytes(g->arguments, g->argument_count) + value_bytes(g->results, g->result_count);
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

static bool run_once(void *with) {
  contest *g = with;
  permc_error why;
  if (!g->results && !(g->results = permc_results_new(g->compiled, &g->result_count)))
    return context_error(g->context, "out of memory");
  return permc_call(g->compiled, g->arguments, g->argument_count, g->results, g->result_count, NULL,
                    &why) == PERMC_OK ||
         context_fail(g->context, &why);
}

static bool turn_on_processor(void *with, double *seconds) {
  contest *g = with;
  return bench_time(&g->repeats, run_once, g, seconds) || cli_report(g->context, false);
}

// `bytes` of a copy; 0: a call.
static bool time_on_device(contest *g, uint64_t bytes, unsigned runs, double *seconds) {
  return cli_report(g->context, bytes ? permc_time_copy(g->compiled, bytes, runs, seconds)
                                      : permc_time_call(g->compiled, runs, seconds));
}

// Enough runs that the device's clock, exact to a microsecond, tells them apart.
static bool turn_on_device(contest *g, bench_repeats *r, uint64_t bytes, double *seconds) {
  const double enough = 5e-4;
  if (r->count == 0) {
    if (!time_on_device(g, bytes, 1, seconds))
      return false;
    r->count = *seconds * 100 < enough ? 100 : (unsigned)(enough / *seconds) + 1;
  }
  return time_on_device(g, bytes, r->count, seconds);
}

static bool call_on_device(void *with, double *seconds) {
  contest *g = with;
  return turn_on_device(g, &g->repeats, 0, seconds);
}

static bool copy_on_device(void *with, double *seconds) {
  contest *g = with;
  return turn_on_device(g, &g->copy_repeats, bytes_to_copy(g), seconds);
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
  g->compiled = permc_compile(g->context, r->entry, r->backend, g->arguments, g->argument_count);
  g->times = permc_last_times(g->context);
  g->passes = g->context->passes;
  g->predicted = r->ranks > 1 ? 0 : g->context->predicted;
  if (g->compiled && r->ranks > 1)
    permc_use_ranks(g->context, NULL);  // interp, which verifies, is on none
  return cli_report(g->context, g->compiled != NULL) && cli_report(g->context, run_once(g));
}

static bool open_copy(contest *g, bool on_device) {
  uint64_t bytes = bytes_to_copy(g);
  if (!bench_copy_open(&g->copy, on_device ? 0 : bytes, g->threads)) {
    cli_error("bench: out of memory for the copy to compare with");
    return false;
  }
  if (bytes)
    g->all[g->count++] =
        on_device ? (bench_contestant){.name = "copy", .turn = copy_on_device, .with = g}
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
  bool on_device = permc_time_call(g->compiled, 1, &seconds);
  g->all[g->count++] = (bench_contestant){
      .name = "permc", .turn = on_device ? call_on_device : turn_on_processor, .with = g};
  return open_copy(g, on_device);
}

static void close_contest(contest *g) {
  bench_copy_close(&g->copy);
  permc_compiled_free(g->compiled);
  permc_values_free(g->arguments, g->argument_count);
  permc_values_free(g->results, g->result_count);
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
  for (size_t i = 0; i < g->result_count; i++)
    for (size_t k = 0; k < g->results[i]->count; k++) {
      array *a = &g->results[i]->components[k];
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
  if (!cli_report(g->context, run_once(g)))
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
  text why = {0};
  g->verified = cli_report(g->context, permc_run(g->context, r->entry, "interp", g->arguments,
                                                 g->argument_count, &values, &count));
  bool good =
      g->verified && values_equal("result", values, count, g->results, g->result_count, &why, NULL);
  if (g->verified && !good && (why.failed || !why.data))
    cli_out_of_memory();
  else if (g->verified && !good)
    cli_error("%s: the result is wrong: %s", r->name, why.data);
  permc_values_free(values, count);
  text_free(&why);
  return good;
}

static bool verify_results(contest *g) {
  return run_again(g) && (bytes_of_all(g) > LARGEST_FOR_INTERP || equals_interp(g));
}

// ---- the row ------------------------------------------------------------------------------------

static void make_row(bench_row *row, const contest *g) {
  const bench_request *r = g->request;
  const char *strategy = cli_value(r->args, "--strategy");
  const char *device = permc_compiled_device(g->compiled);
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
  snprintf(row->backend, sizeof row->backend, "%s", permc_compiled_backend(g->compiled));
  snprintf(row->strategy, sizeof row->strategy, "%s", strategy ? strategy : "");
  snprintf(row->device, sizeof row->device, "%s", device ? device : "");
  snprintf(row->verified, sizeof row->verified, "%s", g->verified ? "equal to interp" : "");
}

bool bench_measure_program(const bench_request *request, const bench_limits *until,
                           bench_row *row) {
  contest g;
  bool good =
      open_contest(&g, request) && bench_measure(g.all, g.count, until) && verify_results(&g);
  if (good)
    make_row(row, &g);
  close_contest(&g);
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
  if (count == g->result_count)
    return cli_report(g->context, permc_write_files(g->context, paths, g->results, count));
  cli_error("bench: there are %zu results, but %zu files for them", g->result_count, count);
  return false;
}

bool bench_serve_turns(const bench_request *request, bench_row *row) {
  contest g;
  bool writes = cli_is_given(request->args, "-o");
  bool good = open_contest(&g, request) && serve(&g) &&
              (writes ? run_again(&g) && write_results(&g) : verify_results(&g));
  if (good)
    make_row(row, &g);
  close_contest(&g);
  return good;
}
