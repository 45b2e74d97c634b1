// A launch of a kernel of a routine, as a value:
//
//   routine_launch l = {.kernel = "places", .blocks = 4, .threads = 256,
//                       LAUNCH_ARRAYS(SORT_PLACES, SORT_ALONG), LAUNCH_NUMBERS(rows, length)};
//
//   launch_parameters(&l, addresses, values)     0, addresses[SORT_PLACES], addresses[SORT_ALONG],
//                                                rows, length
#ifndef PERMC_KERNELS_ROUTINES_LAUNCH_H
#define PERMC_KERNELS_ROUTINES_LAUNCH_H

#include <stdint.h>

enum {
  LAUNCH_MOST_ARRAYS = 16,
  LAUNCH_MOST_NUMBERS = 5,
  LAUNCH_PARAMETERS = 1 + LAUNCH_MOST_ARRAYS + LAUNCH_MOST_NUMBERS,
  LAUNCH_NOTHING = UINT16_MAX  // in place of an array: a null pointer
};

// Its parameters: the number of the first block, arrays, numbers, each of 8 bytes.
typedef struct routine_launch {
  const char *kernel;  // permc_pass_ and this
  uint64_t blocks;
  uint32_t threads, shared_bytes;
  uint32_t array_count, arrays[LAUNCH_MOST_ARRAYS];  // numbered by the routine
  uint32_t number_count;
  uint64_t numbers[LAUNCH_MOST_NUMBERS];
} routine_launch;

// In the initialiser of a launch: its arrays, and its numbers.
#define LAUNCH_ARRAYS(...)                                                                         \
  .arrays = {__VA_ARGS__}, .array_count = sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)
#define LAUNCH_NUMBERS(...)                                                                        \
  .numbers = {__VA_ARGS__}, .number_count = sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)

static inline void launch_add_array(routine_launch *l, uint32_t which) {
  l->arrays[l->array_count++] = which;
}

// The values of the parameters, by the addresses of the routine's arrays. Returns how many.
static inline uint32_t launch_parameters(const routine_launch *l, const uint64_t *addresses,
                                         uint64_t values[LAUNCH_PARAMETERS]) {
  uint32_t count = 0;
  values[count++] = 0;
  for (uint32_t i = 0; i < l->array_count; i++)
    values[count++] = l->arrays[i] == LAUNCH_NOTHING ? 0 : addresses[l->arrays[i]];
  for (uint32_t i = 0; i < l->number_count; i++)
    values[count++] = l->numbers[i];
  return count;
}

// Elements are moved as words as wide as their bytes allow: 8, 4, 2 or 1.
static inline uint32_t launch_word_bytes(uint32_t bytes) {
  uint32_t word = bytes & -bytes;
  return word < 8 ? word : 8;
}

#endif
