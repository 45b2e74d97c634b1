#include "runtime/context/backend.h"

#include "core/units.h"

// Where the program makes the largest array of those that fit in so many bytes, if that is much.
static void note_largest_array(backend_program *p, double bytes) {
  const trace_step *largest = NULL;
  double most = bytes / 16;
  for (size_t i = 0; i < p->trace->steps.count; i++) {
    const trace_step *s = &p->trace->steps.items[i];
    double own = (double)trace_step_count(s) * (double)scalar_types[s->type].size;
    if (own <= most || own > bytes || s->caller.file == UINT32_MAX || s->op == TRACE_ARGUMENT)
      continue;
    largest = s;
    most = own;
  }
  char size[NUMBER_SPACE];
  if (largest)
    diag_report(&p->context->program.diagnostics, DIAG_NOTE, largest->caller,
                "the largest array is made here: it has %s", show_bytes(size, (uint64_t)most));
}

bool backend_fail(backend_program *p, const error *failure) {
  permc_context *c = p->context;
  if (failure->step == STEP_NONE && failure->where.file == UINT32_MAX) {
    context_error_of(c, PERMC_ERROR_MEMORY, "%s", failure->message);
    if (failure->bytes > 0)
      note_largest_array(p, failure->bytes);
    return false;
  }
  span where =
      failure->step == STEP_NONE ? failure->where : p->trace->steps.items[failure->step].where;
  diag_report(&c->program.diagnostics, DIAG_ERROR, where, "%s", failure->message);
  return false;
}

void backend_shape_results(const trace *t, array *results) {
  for (size_t i = 0; i < t->results.count; i++) {
    const trace_step *s = &t->steps.items[t->results.items[i]];
    results[i].type = s->type;
    results[i].rank = s->rank;
    for (uint32_t k = 0; k < s->rank; k++)
      results[i].dims[k] = s->dims[k];
  }
}
