// Dimensions of an array in another order, on the processor.
//
//   transpose_task t = {.bytes = 4, .count = 2, .from = xs, .to = ys, .threads = 2,
//                       .dimensions = {{16385, 1, 16383}, {16383, 16385, 1}}};
//   routine_transpose(&t)       ys, 16385 rows of 16383, has the columns of xs
//
// Tiles are ranges of two dimensions: the innermost ones before and after. Squares of a tile are
// transposed in vector registers.
#ifndef PERMC_RUNTIME_ROUTINES_TRANSPOSE_H
#define PERMC_RUNTIME_ROUTINES_TRANSPOSE_H

#include "fusion/plan/plan.h"
#include <stdatomic.h>

typedef struct transpose_task {
  size_t bytes;  // of an element
  uint32_t count;
  const net_dimension *dimensions;
  const void *from;
  void *to;
  unsigned threads;                // at most, and at least 1
  const atomic_bool *interrupted;  // may be NULL
} transpose_task;

// False: interrupted.
bool routine_transpose(const transpose_task *t);

#endif
