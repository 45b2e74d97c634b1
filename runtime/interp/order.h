// The steps of a Trace that put keys in order, count them, and look at places.
//
// In: the step and where its operand's data are. Out: the result's data.
#ifndef PERMC_RUNTIME_INTERP_ORDER_H
#define PERMC_RUNTIME_INTERP_ORDER_H

#include "runtime/interp/move.h"

// Executes a PLACES, COUNT or WRONG of `keys`. False: interrupted, or out of memory (w->no_memory).
bool interp_order(interp_watch *w, const trace_step *s, const trace_step *of, const void *keys,
                  int64_t *out);

#endif
