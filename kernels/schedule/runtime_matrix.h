// Private to kernels/schedule/ (door: schedule.h): a pass that only moves as data for the
// kernel that any matrix will do with (kernels/text/runtime_matrix.h).
#ifndef PERMC_KERNELS_SCHEDULE_RUNTIME_MATRIX_H
#define PERMC_KERNELS_SCHEDULE_RUNTIME_MATRIX_H

#include "kernels/schedule/swizzle.h"
#include "kernels/text/runtime_matrix.h"

typedef struct c_runtime_matrix {
  uint32_t bytes;                // of an element
  uint32_t threads, r, in, out;  // log2 of threads, elements of one, neighbours of one access
  uint64_t scratch_bytes;
  permc_runtime_matrix data;
} c_runtime_matrix;

// False: it is no pass of the strategy online that moves one array to another by maps that are
// affine in the index bits.
bool c_runtime_matrix_of(c_context *c, const plan_pass *pass, c_runtime_matrix *out);

#endif
