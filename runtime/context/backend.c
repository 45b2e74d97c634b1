#include "runtime/context/backend.h"

void backend_shape_results(const trace *t, array *results) {
  for (size_t i = 0; i < t->results.count; i++) {
    const trace_step *s = &t->steps.items[t->results.items[i]];
    results[i].rank = s->rank;
    for (uint32_t k = 0; k < s->rank; k++)
      results[i].dims[k] = s->dims[k];
  }
}
