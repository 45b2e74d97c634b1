#include "runtime/context/backend.h"

bool backend_fail(backend_program *p, const error *failure) {
  permc_context *c = p->context;
  if (failure->step == STEP_NONE && failure->where.file == UINT32_MAX)
    return context_error_of(c, PERMC_ERROR_MEMORY, "%s", failure->message);
  span where =
      failure->step == STEP_NONE ? failure->where : p->trace->steps.items[failure->step].where;
  diag_report(&c->program.diagnostics, DIAG_ERROR, where, "%s", failure->message);
  return false;
}

void backend_shape_results(const trace *t, array *results) {
  for (size_t i = 0; i < t->results.count; i++) {
    const trace_step *s = &t->steps.items[t->results.items[i]];
    results[i].rank = s->rank;
    for (uint32_t k = 0; k < s->rank; k++)
      results[i].dims[k] = s->dims[k];
  }
}
