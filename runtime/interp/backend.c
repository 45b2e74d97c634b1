// The backend interp: the Trace, step by step.
#include "runtime/context/backend.h"
#include "runtime/interp/interp.h"

static backend_status prepare_interp(backend_program *p, char why[BACKEND_WHY]) {
  (void)p, (void)why;
  return BACKEND_READY;
}

static bool execute_trace(backend_program *p, backend_run *r) {
  permc_context *c = p->context;
  error failure = {0};
  bool good = interp_run(p->trace, r->arguments, r->argument_count, r->results, c->allow_extern,
                         c->limits.interrupted, &failure);
  if (!r->keep)
    arrays_destroy(r->arguments, r->argument_count);
  return good || backend_fail(p, &failure);
}

static void release_nothing(backend_program *p) { (void)p; }

const backend interp_backend = {.name = "interp",
                                .summary = "step by step, the definition of the language",
                                .prepare = prepare_interp,
                                .execute = execute_trace,
                                .release = release_nothing};
