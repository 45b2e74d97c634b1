// The steps of a Trace that put keys in order, count them, and look at places.
//
// In: the step and where its operands' data are. Out: the result's data.
#ifndef PERMC_RUNTIME_INTERP_ORDER_H
#define PERMC_RUNTIME_INTERP_ORDER_H

#include "runtime/interp/move.h"

// Executes a PLACES, COUNT or WRONG. False: interrupted, or out of memory (w->no_memory).
bool interp_order(interp_watch *w, const trace *t, const trace_step *s, const void *const *in,
                  int64_t *out);

#endif
