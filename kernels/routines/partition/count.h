// Counting keys on a GPU: how many of each of the integers 0 ... limit - 1 a row has, as i64.
//
//   count_kernels k = {.type = SCALAR_U8, .rows = 1, .length = 500000, .limit = 256,
//                      .multiprocessors = 132};
//   count_kernels_write(&out, &k);          text, for NVRTC or for the host
//   routine_launch launches[COUNT_LAUNCHES];
//   count_launches(&k, launches);           all counts become 0; blocks count in scratch, and add
//                                           or, what has no room there, in memory
#ifndef PERMC_KERNELS_ROUTINES_PARTITION_COUNT_H
#define PERMC_KERNELS_ROUTINES_PARTITION_COUNT_H

#include "core/scalar/scalar.h"
#include "core/text.h"
#include "kernels/routines/launch.h"

typedef struct count_kernels {
  scalar_type type;  // an integer type
  uint64_t rows, length;
  uint64_t limit;
  uint32_t multiprocessors;
} count_kernels;

enum { COUNT_IN_SCRATCH = 12288, COUNT_LAUNCHES = 2 };  // as many counts fit in scratch
enum { COUNT_KEYS, COUNT_COUNTS, COUNT_ARRAYS };        // arrays of launches

void count_kernels_write(text *out, const count_kernels *k);
void count_launches(const count_kernels *k, routine_launch out[COUNT_LAUNCHES]);

#endif
