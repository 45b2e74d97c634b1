// The steps of a Trace that move elements: everything between rank-0 values.
//
// In: the step and where its operands' data are. Out: the result's data.
#ifndef PERMC_RUNTIME_INTERP_MOVE_H
#define PERMC_RUNTIME_INTERP_MOVE_H

#include "lang/trace.h"
#include <stdatomic.h>

// Counts work and looks at the caller's flag now and then.
typedef struct interp_watch {
  const atomic_bool *interrupted;  // NULL: never
  uint64_t left;                   // elements until the next look
  bool no_memory;                  // why a step has ended early
} interp_watch;

// Whether to go on, after `elements` more were moved or computed.
bool interp_watch_spend(interp_watch *w, uint64_t elements);

// Executes a BROADCAST, SPLIT, STITCH, PAIR, UNPAIR, BMMC, ELEMENT, PACK, TRANSPOSE, SLICE, CONCAT,
// REPLICATE, GATHER, SCATTER or RESHAPE. in[k] is the data of operand k; out has room for the
// result and overlaps no operand. False: interrupted.
bool interp_move(interp_watch *w, const trace *t, const trace_step *s, const void *const *in,
                 void *out);

// out[i] = in[(start + i) / ratio] for i < n: what n instances see of an operand of a smaller
// batch. False: interrupted.
bool interp_repeat(interp_watch *w, void *out, const void *in, size_t unit, uint64_t start,
                   uint64_t n, uint64_t ratio);

#endif
