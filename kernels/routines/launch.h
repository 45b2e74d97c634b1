// A launch of a kernel of a routine, as a value:
//
//   routine_launch l = {.kernel = "places", .blocks = 4, .threads = 256,
//                       LAUNCH_ARRAYS(SORT_PLACES, SORT_ALONG), LAUNCH_NUMBERS(rows, length)};
//
//   parameters of the kernel:  0, the addresses of SORT_PLACES and SORT_ALONG, rows, length
#ifndef PERMC_KERNELS_ROUTINES_LAUNCH_H
#define PERMC_KERNELS_ROUTINES_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

enum {
  LAUNCH_MOST_ARRAYS = 16,
  LAUNCH_MOST_NUMBERS = 5,
  LAUNCH_MOST_SHARED = 5,
  LAUNCH_NOTHING = UINT16_MAX  // in place of an array: a null pointer
};

// Which arrays a launch has, where several devices have a part of each, and which of its blocks.
typedef enum launch_scope {
  LAUNCH_OWN,    // the device's part of arrays; all blocks
  LAUNCH_ALL,    // whole arrays; all blocks
  LAUNCH_SHARED  // whole arrays; each device a part of the blocks
} launch_scope;

// Its parameters: the number of the first block, arrays, numbers, each of 8 bytes.
typedef struct routine_launch {
  const char *kernel;  // permc_pass_ and this
  uint64_t blocks;
  uint32_t threads, shared_bytes;
  uint32_t array_count, arrays[LAUNCH_MOST_ARRAYS];  // numbered by the routine
  uint32_t number_count;
  uint64_t numbers[LAUNCH_MOST_NUMBERS];
  launch_scope scope;
  bool meets;  // devices wait for each other before it
} routine_launch;

// In the initialiser of a launch: its arrays, and its numbers.
#define LAUNCH_ARRAYS(...)                                                                         \
  .arrays = {__VA_ARGS__}, .array_count = sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)
#define LAUNCH_NUMBERS(...)                                                                        \
  .numbers = {__VA_ARGS__}, .number_count = sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)

static inline void launch_add_array(routine_launch *l, uint32_t which) {
  l->arrays[l->array_count++] = which;
}

// Elements are moved as words as wide as their bytes allow: 8, 4, 2 or 1.
static inline uint32_t launch_word_bytes(uint32_t bytes) {
  uint32_t word = bytes & -bytes;
  return word < 8 ? word : 8;
}

#endif
