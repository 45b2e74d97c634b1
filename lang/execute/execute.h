// Steps of a Trace, executed literally: each makes the data of its value of the data of its
// operands, element by element. The door of this room. runtime/interp executes whole Traces by it,
// the oracle; lang/elaborate what depends on no argument, where a program asks for its value.
//
// In: a step that trace_verify accepts, and where its operands' data are. Out: the result's data.
//
//   move.c     the steps that move elements
//   order.c    the steps that put keys in order, and count them
//   execute.c  the scalar steps, and all of them
#ifndef PERMC_LANG_EXECUTE_EXECUTE_H
#define PERMC_LANG_EXECUTE_EXECUTE_H

#include "lang/trace.h"
#include <stdatomic.h>

// Calls the foreign function of an EXTERN n times.
typedef void foreign_calls(void *with, const trace_step *s, size_t n, const void *const *in,
                           void *out);

// Counts work and looks at the caller's flag now and then.
typedef struct step_watch {
  const atomic_bool *interrupted;  // NULL: never
  uint64_t left;                   // elements until the next look
  bool no_memory;                  // why a step has ended early
} step_watch;

// Whether to go on, after `elements` more were moved or computed.
bool step_watch_spend(step_watch *w, uint64_t elements);

// Executes any step but an ARGUMENT. in[k] is the data of operand k; out has room for the result
// and overlaps no operand. call: of an EXTERN. False: interrupted, or out of memory (w->no_memory).
bool execute_step(step_watch *w, const trace *t, const trace_step *s, const void *const *in,
                  void *out, foreign_calls *call, void *with);

// Executes a BROADCAST, SPLIT, STITCH, PAIR, UNPAIR, BMMC, ELEMENT, PACK, TRANSPOSE, SLICE, CONCAT,
// REPLICATE, GATHER, SCATTER or RESHAPE. False: interrupted.
bool execute_move(step_watch *w, const trace *t, const trace_step *s, const void *const *in,
                  void *out);

// out[i] = in[(start + i) / ratio] for i < n: what n instances see of an operand of a smaller
// batch. False: interrupted.
bool execute_repeat(step_watch *w, void *out, const void *in, size_t unit, uint64_t start,
                    uint64_t n, uint64_t ratio);

// Executes a PLACES, COUNT or WRONG. False: as execute_step.
bool execute_order(step_watch *w, const trace *t, const trace_step *s, const void *const *in,
                   int64_t *out);

#endif
