// The backends cpu, portable and auto: a Plan's passes over memory by all cores, compiled or not.
#include "runtime/adaptive/adaptive.h"
#include "runtime/compiled/compiled.h"
#include "runtime/context/backend.h"
#include "runtime/portable/portable.h"

typedef struct cpu_program {
  portable *portable;  // one of the three
  compiled *compiled;
  adaptive *adaptive;
  cpu_executor executor;
} cpu_program;

static cpu_program *new_program(backend_program *p) {
  cpu_program *state = p->state = calloc(1, sizeof *state);
  if (!state)
    context_no_memory(p->context);
  return state;
}

static portable_options portable_options_of(const permc_context *c) {
  return (portable_options){.allow_foreign = c->allow_extern, .interrupted = c->limits.interrupted};
}

static compiled_options compiled_options_of(const permc_context *c) {
  return (compiled_options){.isa = c->isa,
                            .fuse = c->fuse,
                            .allow_foreign = c->allow_extern,
                            .interrupted = c->limits.interrupted,
                            .limits = {c->compile_seconds, c->compile_memory}};
}

static backend_status prepare_portable(backend_program *p, char why[BACKEND_WHY]) {
  cpu_program *state = new_program(p);
  error failure = {0};
  portable_options o = portable_options_of(p->context);
  (void)why;
  if (!state)
    return BACKEND_FAILED;
  state->portable = portable_new(p->plan, &o, &failure);
  state->executor = (cpu_executor){portable_pass, state->portable, NULL};
  if (state->portable)
    return BACKEND_READY;
  backend_fail(p, &failure);
  return BACKEND_FAILED;
}

// Of passes that run uncompiled.
static void warn_of_rest(permc_context *c, const char *note) {
  if (*note)
    context_warn_once(c, WARNING_NO_COMPILER, "%s", note);
}

static backend_status prepare_compiled(backend_program *p, char why[BACKEND_WHY]) {
  cpu_program *state = new_program(p);
  error failure = {0};
  compiled_status status;
  compiled_options o = compiled_options_of(p->context);
  o.progress = p->progress;
  if (!state)
    return BACKEND_FAILED;
  c_code_bound(p->code, p->plan, C_CODE_MOST_BYTES);
  state->compiled = compiled_new(p->plan, p->code, &o, &status, &failure);
  state->executor = (cpu_executor){compiled_pass, state->compiled, compiled_in_place};
  if (state->compiled) {
    warn_of_rest(p->context, compiled_note(state->compiled));
    return BACKEND_READY;
  }
  snprintf(why, BACKEND_WHY, "%s", failure.message);
  if (status == COMPILED_UNAVAILABLE)
    return BACKEND_MISSING;
  backend_fail(p, &failure);
  return BACKEND_FAILED;
}

static backend_status prepare_adaptive(backend_program *p, char why[BACKEND_WHY]) {
  permc_context *c = p->context;
  cpu_program *state = new_program(p);
  error failure = {0};
  adaptive_options o = {.portable = portable_options_of(c),
                        .compiled = compiled_options_of(c),
                        .text = backend_text_options(&cpu_backend, c),
                        .model = p->model,
                        .threads = context_threads(c)};
  (void)why;
  if (!state)
    return BACKEND_FAILED;
  state->adaptive = adaptive_new(p->plan, &o, &failure);
  state->executor = (cpu_executor){adaptive_pass, state->adaptive, adaptive_in_place};
  if (state->adaptive)
    return BACKEND_READY;
  backend_fail(p, &failure);
  return BACKEND_FAILED;
}

static bool execute_plan(backend_program *p, backend_run *r) {
  const permc_context *c = p->context;
  cpu_program *state = p->state;
  error failure = {0};
  cpu_options o = {.threads = c->threads,
                   .interrupted = c->limits.interrupted,
                   .executor = &state->executor,
                   .borrow_arguments = r->keep,
                   .progress = r->progress};
  if (!cpu_run(p->plan, &o, r->arguments, r->argument_count, r->results, &failure)) {
    backend_fail(p, &failure);
    return false;
  }
  if (state->adaptive && *adaptive_problem(state->adaptive))
    context_warn_uncompiled(p->context, adaptive_problem(state->adaptive));
  if (state->adaptive)
    warn_of_rest(p->context, adaptive_note(state->adaptive));
  backend_shape_results(p->trace, r->results);
  return true;
}

static bool call_plan(const backend_program *p, const backend_call *call, error *failure) {
  const permc_context *c = p->context;
  cpu_program *state = p->state;
  cpu_options o = {.threads = context_threads(c),
                   .interrupted = c->limits.interrupted,
                   .executor = &state->executor,
                   .store = call->store};
  return cpu_run_in_place(p->plan, &o, call->data, failure);
}

static void describe_passes(const backend_program *p, storage_pass *passes) {
  cpu_describe_passes(p->plan, &((const cpu_program *)p->state)->executor, passes);
}

static const cpu_executor *executor_of(const backend_program *p) {
  return &((const cpu_program *)p->state)->executor;
}

static void release_program(backend_program *p) {
  FREED cpu_program *state = p->state;
  if (!state)
    return;
  portable_free(state->portable);
  compiled_free(state->compiled);
  adaptive_free(state->adaptive);
}

// What the three have in common, and what each has of its own.
#define ON_PROCESSOR(...)                                                                          \
  {                                                                                                \
    .target = "", .at_hand = true, .execute = execute_plan, .release = release_program,            \
    __VA_ARGS__                                                                                    \
  }
#define CALLED .call = call_plan, .passes = describe_passes, .executor = executor_of
const backend cpu_backend =
    ON_PROCESSOR(.name = "cpu", .summary = "fused passes, compiled for this machine",
                 .stream_bytes = COMPILED_STREAM_BYTES, .prepare = prepare_compiled, CALLED);
const backend portable_backend =
    ON_PROCESSOR(.name = "portable", .summary = "fused passes, without a compiler",
                 .prepare = prepare_portable, CALLED);
const backend auto_backend =
    ON_PROCESSOR(.name = "auto", .summary = "the fastest of interp, portable, cpu and cuda",
                 .prepare = prepare_adaptive);
