// What the interpreter knows before it runs: which values are needed, which of them share a buffer,
// when each buffer dies, and how much memory all that takes.
//
//   %0 argument 0          buffer 0    last read by %1
//   %1 pair %0 m=3         buffer 1    last read by %3
//   %2 element %1 [0]      buffer 2
//   %3 element %1 [1]      buffer 3, and buffer 1 is freed
//   %4 reshape %3          buffer 3
//
// In: a verified Trace. Out: one place per step.
#ifndef PERMC_RUNTIME_INTERP_PLAN_H
#define PERMC_RUNTIME_INTERP_PLAN_H

#include "lang/trace.h"

typedef struct interp_place {
  uint64_t bytes;   // of the value
  value_id buffer;  // the step whose buffer holds the value: itself, or an earlier one
  size_t last_use;  // of a buffer: the last step that reads it; the number of steps for a result
  bool needed;      // some result depends on it
  bool in_place;    // an elementwise step that writes over an operand
} interp_place;

typedef struct interp_plan {
  interp_place *places;
  uint64_t peak;  // most bytes in buffers at any time; UINT64_MAX: it overflows
} interp_plan;

bool interp_plan_make(interp_plan *p, const trace *t);  // false: memory is out
void interp_plan_free(interp_plan *p);

uint64_t trace_step_count(const trace_step *s);  // elements of the value, over all instances
bool trace_step_elementwise(trace_op op);        // SCALAR, SELECT, CONVERT or EXTERN

#endif
