// A launch of a kernel of a routine.
#ifndef PERMC_KERNELS_ROUTINES_LAUNCH_H
#define PERMC_KERNELS_ROUTINES_LAUNCH_H

#include <stdint.h>

enum {
  LAUNCH_ARRAYS = 16,
  LAUNCH_NUMBERS = 5,
  LAUNCH_NOTHING = UINT16_MAX  // in place of an array: a null pointer
};

// Its parameters: the number of the first block, arrays, numbers, each of 8 bytes.
typedef struct routine_launch {
  const char *kernel;  // permc_pass_ and this
  uint64_t blocks;
  uint32_t threads, shared_bytes;
  uint32_t array_count, arrays[LAUNCH_ARRAYS];  // numbered by the routine
  uint32_t number_count;
  uint64_t numbers[LAUNCH_NUMBERS];
} routine_launch;

static inline void launch_add_array(routine_launch *l, uint32_t which) {
  l->arrays[l->array_count++] = which;
}
static inline void launch_add_number(routine_launch *l, uint64_t number) {
  l->numbers[l->number_count++] = number;
}

#endif
