// permc_tune: candidates compiled, compared and measured; the best one stored. See tune.h.
#include "runtime/tune/tune.h"

#include "core/units.h"
#include "runtime/cuda/cuda.h"
#include "runtime/pipeline.h"
#include "runtime/values/value.h"

#include <math.h>
#include <stdio.h>

typedef struct tuning {
  permc_context *context;
  const char *entry, *backend;
  permc_value *const *arguments;
  size_t argument_count;
  permc_tune_options options;
  tune_clock *clock;
  void *with;
  tuned_trial trial;
  tune_search search;
  permc_value **expected;  // the results of the model's choice
  size_t expected_count;
  double model_seconds;
  text report;
  char *warnings;  // of the first compilation
} tuning;

// ---- equality ----------------------------------------------------------------------------------

bool tune_same_results(permc_value *const *a, permc_value *const *b, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (a[i]->count != b[i]->count)
      return false;
    for (size_t k = 0; k < a[i]->count; k++)
      if (!array_same_bits(&a[i]->components[k], &b[i]->components[k]))
        return false;
  }
  return true;
}

// ---- the clock ---------------------------------------------------------------------------------

// In turns, so that a machine that gets slower or faster meanwhile decides nothing. What is half as
// slow again in the first round is not looked at for longer.
static bool measure_sides(void *with, tune_side *one, tune_side *other, double *seconds,
                          double *ratio) {
  const double hopeless = 1.5;
  const bench_limits rounds[] = {
      {.warm_up = 1, .least = 1, .most = 1, .spread = 0, .seconds = 0},
      {.warm_up = 0, .least = 7, .most = BENCH_MOST_RUNS, .spread = 0, .seconds = *(double *)with}};
  bench_contestant sides[] = {{.turn = bench_program_turn, .with = &one->program},
                              {.turn = bench_program_turn, .with = other ? &other->program : NULL}};
  size_t count = other ? 2 : 1;
  bool good = true;
  *ratio = 1;
  for (size_t i = 0; i < 2 && good && *ratio < hopeless; i++) {
    good = bench_measure(sides, count, &rounds[i]);
    if (good)
      *ratio = sides[count - 1].ratio.median;
  }
  *seconds = sides[0].figures.median;
  return good;
}

// ---- sides -------------------------------------------------------------------------------------

static void close_side(tune_side *s) {
  permc_compiled_free(s->program.compiled);
  permc_values_free(s->program.results, s->program.result_count);
  *s = (tune_side){0};
}

// Compiles for the point (NULL: as the model has it), and runs it once. False: reported.
static bool open_side(tuning *t, tune_side *s, const tuned_point *p) {
  target on_trial;
  t->trial.target = NULL;
  if (p) {
    on_trial = tuned_target_at(t->trial.own, p);
    t->trial.target = &on_trial;
  }
  *s = (tune_side){.program = {.arguments = t->arguments, .argument_count = t->argument_count}};
  s->program.compiled =
      permc_compile(t->context, t->entry, t->backend, t->arguments, t->argument_count);
  t->trial.target = NULL;
  if (!s->program.compiled)
    return false;
  s->point = p ? *p : t->trial.chosen;
  if (!p && !t->warnings)
    t->warnings = strdup(permc_message(t->context));
  double seconds;
  bool good = bench_program_run(&s->program) || context_fail(t->context, &s->program.why);
  s->program.on_device = good && permc_time_call(s->program.compiled, 1, &seconds);
  if (!good)
    close_side(s);
  return good;
}

// ---- the report --------------------------------------------------------------------------------

static void report_point(tuning *t, const char *title, const tuned_point *p) {
  char number[NUMBER_SPACE];
  text_printf(&t->report, "%-6s", title);
  for (int f = 0; f < TUNED_FIELDS; f++)
    if (f != TUNED_WIDE || t->trial.own->lane_bytes == 0)
      text_printf(&t->report, "%12s", show_bytes(number, p->bytes[f]));
}

static void report_time(tuning *t, double seconds, double ratio) {
  char number[NUMBER_SPACE];
  text_printf(&t->report, "%12s%9.3f\n", show_seconds(number, seconds), ratio);
}

static void report_head(tuning *t, const tune_side *model) {
  text_printf(&t->report, "%s on %s: %s\n%-6s%12s%12s", t->entry,
              permc_compiled_backend(model->program.compiled), t->trial.machine, "", "tile",
              "registers");
  if (t->trial.own->lane_bytes == 0)
    text_printf(&t->report, "%12s", "access");
  text_printf(&t->report, "%12s%9s\n", "time", "ratio");
}

// Of the context's message, the first line without what stands before it.
static void report_skipped(tuning *t, const char *why) {
  why = diag_unprefixed(why);
  text_printf(&t->report, "  skipped: %.*s\n", (int)strcspn(why, "\n"), why);
}

// ---- candidates --------------------------------------------------------------------------------

static bool was_interrupted(tuning *t) {
  if (!atomic_load(t->context->limits.interrupted))
    return false;
  context_clear(t->context);
  context_error_of(t->context, PERMC_ERROR_INTERRUPTED, "interrupted");
  return true;
}

// *ratio: of its seconds to those of the best so far, INFINITY where it cannot be used.
static void measure_candidate(tuning *t, tune_side *candidate, tune_side *best,
                              const tuned_point *p, double *ratio) {
  double seconds;
  *ratio = INFINITY;
  report_point(t, "", p);
  if (!open_side(t, candidate, p)) {
    report_skipped(t, permc_message(t->context));
    return;
  }
  const bench_program *made = &candidate->program;
  if (made->result_count != t->expected_count ||
      !tune_same_results(made->results, t->expected, t->expected_count)) {
    report_skipped(t, t->context->fuse
                          ? "its results differ, as fused products and sums may make them"
                          : "its results differ (please report this)");
    return;
  }
  if (!t->clock(t->with, candidate, best, &seconds, ratio)) {
    *ratio = INFINITY;
    report_skipped(t, made->why.code ? made->why.message : permc_message(t->context));
    return;
  }
  report_time(t, seconds, *ratio * (t->search.best ? t->search.best->ratio : 1));
}

// False: interrupted.
static bool search_points(tuning *t, tune_side *best) {
  tuned_point p;
  while (tune_search_next(&t->search, &p)) {
    tune_side candidate = {0};
    double ratio;
    const tune_candidate *before = t->search.best;
    measure_candidate(t, &candidate, best, &p, &ratio);
    tune_search_add(&t->search, &p, ratio);
    if (t->search.best != before) {
      close_side(best);
      *best = candidate;
    } else {
      close_side(&candidate);
    }
    if (was_interrupted(t))
      return false;
  }
  return true;
}

// What may be tried on this machine.
static tune_bounds machine_bounds(const tuning *t) {
  const target *m = t->trial.own;
  const cuda_facts *facts = m->lane_bytes || !context_gpu(t->context)->open
                                ? NULL
                                : cuda_facts_of(context_gpu(t->context)->open);
  if (m->lane_bytes)
    return (tune_bounds){{1 << 14, m->lane_bytes, m->wide_bytes},
                         {1 << 20, 2 * m->register_bytes, m->wide_bytes}};
  return (tune_bounds){{1 << 10, 16, 4},
                       {facts ? (uint64_t)facts->shared_per_block : CUDA_SHARED_FOR_ALL, 128, 16}};
}

// ---- the end -----------------------------------------------------------------------------------

static bool store_best(tuning *t, const tuned_point *p) {
  cache folder;
  char path[CACHE_PATH];
  const char *why;
  if (t->options.dry_run) {
    text_string(&t->report, "nothing is stored: this is a dry run\n");
    return true;
  }
  cache_open(&folder);
  if (!tuned_store(&folder, t->trial.key, t->trial.own, p, path, &why)) {
    context_clear(t->context);
    context_error_of(t->context, PERMC_ERROR_FILE, "the best target cannot be stored: %s", why);
    return false;
  }
  text_printf(&t->report, "stored in %s\n", path);
  return true;
}

static void remove_stored(tuning *t) {
  cache folder;
  cache_look(&folder);
  if (!t->options.dry_run && cache_remove_text(&folder, CACHE_TUNED, t->trial.key))
    text_string(&t->report, "the stored target is removed\n");
  else if (t->options.forget)
    text_string(&t->report, "no target is stored\n");
}

// The best against the model's choice, once more.
static bool confirm_best(tuning *t, tune_side *best) {
  tune_side model = {0};
  double seconds = 0, ratio = 1;
  bool good = true;
  if (t->search.best) {
    good = open_side(t, &model, NULL) && t->clock(t->with, best, &model, &seconds, &ratio);
    close_side(&model);
  }
  if (!good || was_interrupted(t))
    return false;
  if (t->search.best) {
    report_point(t, "best", &best->point);
    report_time(t, seconds, ratio);
  }
  if (ratio < TUNE_WORTH)
    return store_best(t, &best->point);
  text_printf(&t->report, "the model's choice is kept: no other is more than %.0f %% faster\n",
              100 * (1 - TUNE_WORTH));
  remove_stored(t);
  return true;
}

static bool tune_entry(tuning *t, tune_side *best) {
  if (!open_side(t, best, NULL))
    return false;
  if (!t->trial.key[0]) {
    context_clear(t->context);
    context_error(t->context,
                  "the backend %s makes no plan, so there is nothing to tune; use cpu or cuda",
                  permc_compiled_backend(best->program.compiled));
    return false;
  }
  if (t->options.forget) {
    remove_stored(t);
    return true;
  }
  double ratio;
  report_head(t, best);
  if (!t->clock(t->with, best, NULL, &t->model_seconds, &ratio))
    return false;
  report_point(t, "model", &best->point);
  report_time(t, t->model_seconds, 1);
  t->expected = best->program.results;
  t->expected_count = best->program.result_count;
  best->program.results = NULL;
  best->program.result_count = 0;
  tune_bounds b = machine_bounds(t);
  tune_search_start(&t->search, &t->trial.chosen, t->trial.same, &b, 0);
  return search_points(t, best) && confirm_best(t, best);
}

// ---- the API -----------------------------------------------------------------------------------

bool tune_program(permc_context *c, const char *entry, const char *backend_name,
                  permc_value *const *arguments, size_t argument_count,
                  const permc_tune_options *options, tune_clock *clock, void *with, char **report) {
  tuning t = {.context = c,
              .entry = entry,
              .backend = backend_name,
              .arguments = arguments,
              .argument_count = argument_count,
              .options = options ? *options : (permc_tune_options){0}};
  tune_side best = {0};
  double seconds = t.options.seconds > 0 ? t.options.seconds : 0.4;
  t.clock = clock ? clock : measure_sides;
  t.with = clock ? with : &seconds;
  context_begin_call(c);
  if (!context_given(c, report, "the report") ||
      !context_given_list(c, arguments, argument_count, "arguments"))
    return false;
  *report = NULL;
  c->trial = &t.trial;
  bool good = tune_entry(&t, &best);
  c->trial = NULL;
  if (good && (t.report.failed || !t.report.data))
    good = context_no_memory(c);
  if (good) {
    context_clear(c);
    if (t.warnings)
      text_string(&c->program.diagnostics.rendered, t.warnings);
    *report = t.report.data;
  } else {
    text_free(&t.report);
  }
  close_side(&best);
  permc_values_free(t.expected, t.expected_count);
  free(t.warnings);
  return good;
}

bool permc_tune(permc_context *c, const char *entry, const char *backend_name,
                permc_value *const *arguments, size_t argument_count,
                const permc_tune_options *options, char **report) {
  return tune_program(c, entry, backend_name, arguments, argument_count, options, NULL, NULL,
                      report);
}
