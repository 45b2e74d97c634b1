// The backends cpu and portable: a Plan's passes over memory by all cores, compiled or not.
#include "runtime/compiled/compiled.h"
#include "runtime/context/backend.h"
#include "runtime/portable/portable.h"

typedef struct cpu_program {
  cpu_store *store;
  portable *portable;  // one of the two
  compiled *compiled;
  cpu_executor executor;
} cpu_program;

static void report_failure(backend_program *p, const error *failure) {
  span where = SPAN_NONE;
  if (failure->step != STEP_NONE)
    where = p->trace->steps.items[failure->step].where;
  diag_report(&p->context->program.diagnostics, DIAG_ERROR, where, "%s", failure->message);
}

static cpu_program *new_program(backend_program *p) {
  cpu_program *state = p->state = calloc(1, sizeof *state);
  if (state && (state->store = cpu_store_new()) != NULL)
    return state;
  context_error(p->context, "out of memory");
  return NULL;
}

static backend_status prepare_portable(backend_program *p, char why[BACKEND_WHY]) {
  const permc_context *c = p->context;
  cpu_program *state = new_program(p);
  error failure = {0};
  portable_options o = {.allow_foreign = c->allow_extern, .interrupted = c->limits.interrupted};
  (void)why;
  if (!state)
    return BACKEND_FAILED;
  state->portable = portable_new(p->plan, &o, &failure);
  state->executor = (cpu_executor){portable_pass, state->portable};
  if (state->portable)
    return BACKEND_READY;
  report_failure(p, &failure);
  return BACKEND_FAILED;
}

static backend_status prepare_compiled(backend_program *p, char why[BACKEND_WHY]) {
  const permc_context *c = p->context;
  cpu_program *state = new_program(p);
  error failure = {0};
  compiled_status status;
  compiled_options o = {.isa = c->isa,
                        .fuse = c->fuse,
                        .allow_foreign = c->allow_extern,
                        .interrupted = c->limits.interrupted};
  if (!state)
    return BACKEND_FAILED;
  state->compiled = compiled_new(p->plan, p->code, &o, &status, &failure);
  state->executor = (cpu_executor){compiled_pass, state->compiled};
  if (state->compiled)
    return BACKEND_READY;
  snprintf(why, BACKEND_WHY, "%s", failure.message);
  if (status == COMPILED_UNAVAILABLE)
    return BACKEND_MISSING;
  report_failure(p, &failure);
  return BACKEND_FAILED;
}

// The memory of an earlier run's results becomes this run's.
static void reuse_results(const cpu_program *state, const trace *t, array *results) {
  for (size_t i = 0; i < t->results.count; i++) {
    if (results[i].data)
      cpu_store_give(state->store, results[i].data, array_bytes(&results[i]));
    results[i] = (array){0};
  }
}

static bool execute_plan(backend_program *p, backend_run *r) {
  const permc_context *c = p->context;
  cpu_program *state = p->state;
  error failure = {0};
  cpu_options o = {.threads = c->threads,
                   .interrupted = c->limits.interrupted,
                   .executor = &state->executor,
                   .borrow_arguments = r->keep,
                   .store = state->store};
  reuse_results(state, p->trace, r->results);
  if (!cpu_run(p->plan, &o, r->arguments, r->argument_count, r->results, &failure)) {
    report_failure(p, &failure);
    return false;
  }
  backend_shape_results(p->trace, r->results);
  return true;
}

static void release_program(backend_program *p) {
  cpu_program *state = p->state;
  if (!state)
    return;
  portable_free(state->portable);
  compiled_free(state->compiled);
  cpu_store_free(state->store);
  free(state);
}

const backend cpu_backend = {.name = "cpu",
                             .summary = "fused passes, compiled for this machine",
                             .target = "",
                             .at_hand = true,
                             .stream_bytes = COMPILED_STREAM_BYTES,
                             .fallback = "portable",
                             .missing = WARNING_NO_COMPILER,
                             .instead = "programs run uncompiled, which is slower",
                             .prepare = prepare_compiled,
                             .execute = execute_plan,
                             .release = release_program};

const backend portable_backend = {.name = "portable",
                                  .summary = "fused passes, without a compiler",
                                  .target = "",
                                  .at_hand = true,
                                  .prepare = prepare_portable,
                                  .execute = execute_plan,
                                  .release = release_program};
