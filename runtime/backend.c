// The table of backends, and the way from a Trace to a Plan. See backend.h.
#include "runtime/backend.h"

#include "lang/lower.h"
#include "runtime/cpu.h"
#include "runtime/interp.h"

// ---- planning ---------------------------------------------------------------------------------

const target *backend_target(const permc_context *c) {
  (void)c;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
    return target_named("avx512");
  if (__builtin_cpu_supports("avx2"))
    return target_named("avx2");
#endif
  return target_named("baseline");
}

static bool right(permc_context *c, const char *what, const char *wrong) {
  if (wrong)
    context_error(c, "the %s is wrong (please report this): %s", what, wrong);
  return !wrong;
}

bool backend_plan(permc_context *c, arena *memory, const trace *t, const target *machine,
                  lowered_program *out) {
  double start = context_now();
  out->net = lower(memory, t);
  if (!right(c, "net", net_verify(memory, out->net)))
    return false;
  out->plan = plan_make(memory, out->net, machine);
  if (!right(c, "plan", plan_verify(memory, out->plan)))
    return false;
  c->times.plan = context_now() - start;
  return true;
}

// ---- interp -----------------------------------------------------------------------------------

static bool run_interp(backend_run *r) {
  permc_context *c = r->context;
  interp_failure failure = {0};
  if (interp_run(r->trace, r->arguments, r->argument_count, r->results, c->allow_extern,
                 &context_interrupted, &failure))
    return true;
  span where = failure.has_span ? failure.where : (span){UINT32_MAX, 0, 0};
  diag_report(&c->program.diagnostics, DIAG_ERROR, where, "%s", failure.message);
  return false;
}

// ---- plans ------------------------------------------------------------------------------------

static bool run_plan(backend_run *r, const plan *p, const cpu_executor *executor) {
  permc_context *c = r->context;
  cpu_failure failure = {0};
  cpu_options o = {c->threads, c->allow_extern, &context_interrupted, executor};
  if (!cpu_run(p, &o, r->arguments, r->argument_count, r->results, &failure)) {
    span where = {UINT32_MAX, 0, 0};
    if (failure.has_origin)
      where = r->trace->steps.items[failure.origin].where;
    diag_report(&c->program.diagnostics, DIAG_ERROR, where, "%s", failure.message);
    return false;
  }
  for (size_t i = 0; i < r->trace->results.count; i++) {
    const trace_step *s = &r->trace->steps.items[r->trace->results.items[i]];
    r->results[i].rank = s->rank;
    for (uint32_t k = 0; k < s->rank; k++)
      r->results[i].dims[k] = s->dims[k];
  }
  return true;
}

static bool run_portable(backend_run *r) {
  lowered_program l;
  return backend_plan(r->context, r->memory, r->trace, backend_target(r->context), &l) &&
         run_plan(r, l.plan, NULL);
}

// ---- the table --------------------------------------------------------------------------------

static const backend rows[] = {
    {"interp", "step by step, the definition of the language", run_interp},
    {"cpu", "fused passes, compiled for this machine", run_portable},
    {"portable", "fused passes, without a compiler", run_portable},
};

// Data so small that planning takes longer than interp.
static bool tiny(const trace *t) {
  enum { ELEMENTS = 1 << 12 };
  uint64_t count = 0;
  for (size_t i = 0; i < t->steps.count; i++) {
    const trace_step *s = &t->steps.items[i];
    uint64_t elements = s->batch;
    for (uint32_t k = 0; k < s->rank; k++)
      elements *= s->dims[k];
    count = elements > count ? elements : count;
  }
  return count < ELEMENTS;
}

static const backend *named(const char *name) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].name, name))
      return &rows[i];
  return NULL;
}

static bool is_auto(const char *name) { return !name || !strcmp(name, "auto"); }

bool backend_exists(permc_context *c, const char *name) {
  bool exists = is_auto(name) || named(name);
  if (!exists)
    context_error(c, "there is no backend '%s'; there is auto, interp, cpu, portable", name);
  return exists;
}

const backend *backend_for(const char *name, const trace *t) {
  return named(!is_auto(name) ? name : tiny(t) ? "interp" : "cpu");
}
