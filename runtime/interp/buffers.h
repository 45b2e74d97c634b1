// What the interpreter knows before it runs: which values are needed, which of them share a buffer,
// when each buffer dies, and how much memory all that takes. Private to runtime/interp/.
//
// In: a verified Trace. Out: a row for each step, and the peak.
//
//   %0 argument 0          buffer 0    last read by %1
//   %1 pair %0 m=3         buffer 1    last read by %3
//   %2 element %1 [0]      buffer 2
//   %3 element %1 [1]      buffer 3, and buffer 1 is freed
//   %4 reshape %3          buffer 3
#ifndef PERMC_RUNTIME_INTERP_BUFFERS_H
#define PERMC_RUNTIME_INTERP_BUFFERS_H

#include "lang/trace.h"

typedef struct interp_value {
  uint64_t bytes;
  value_id buffer;  // the step whose buffer holds the value: itself, or an earlier one
  size_t last_use;  // of a buffer: the last step that reads it; the number of steps for a result
  bool needed;      // some result depends on it
  bool in_place;    // an elementwise step that writes over an operand
} interp_value;

typedef struct interp_buffers {
  interp_value *values;  // by step
  uint64_t peak;         // most bytes in buffers at any time; UINT64_MAX: it overflows
} interp_buffers;

bool interp_buffers_find(interp_buffers *b, const trace *t);  // false: memory is out
void interp_buffers_free(interp_buffers *b);

bool trace_step_elementwise(trace_op op);  // SCALAR, SELECT, CONVERT, ROOT or EXTERN

#endif
