// Dimensions of an array in another order, on the processor.
//
//   transpose_task t = {.bytes = 4, .count = 2, .from = xs, .to = ys, .crew = {.threads = 2},
//                       .dimensions = {{16385, 1, 16383}, {16383, 16385, 1}}};
//   routine_transpose(&t)       ys, 16385 rows of 16383, has the columns of xs
//
// Tiles are ranges of two dimensions: the innermost ones before and after. Squares of a tile are
// transposed in vector registers.
#ifndef PERMC_RUNTIME_ROUTINES_TRANSPOSE_H
#define PERMC_RUNTIME_ROUTINES_TRANSPOSE_H

#include "fusion/net/dimension.h"
#include "runtime/routines/crew.h"

typedef struct transpose_task {
  size_t bytes;  // of an element
  uint32_t count;
  const net_dimension *dimensions;
  const void *from;
  void *to;
  crew crew;
} transpose_task;

// False: interrupted.
ROUTINE_SCOPE bool routine_transpose(const transpose_task *t);

// Of memory that it takes for each thread.
ROUTINE_SCOPE uint64_t transpose_scratch_bytes(const transpose_task *t);

#endif
