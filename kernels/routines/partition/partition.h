// Stable sorts by keys of few bits on a GPU: partitions. The text of the kernels, and the list of
// their launches.
//
//   partition_moved xs = {.bytes = 4, .input = 0};
//   partition_work w = {.bits = 1, .rows = 1, .length = 1 << 24, .multiprocessors = 132, .input_count = 1,
//                       .input_bytes = {4}, .key_text = "... static inline uint32_t partition_key("
//                       "uint32_t x) { return x & 1; }", .payload_count = 1, .payloads = &xs};
//   partition_kernels k;
//   if (partition_kernels_of(&w, &k))
//     partition_kernels_write(&out, &k);      text, for NVRTC or for the host
//   partition_launches(&k, launches);         count, then partition
//
// A key is made of an element of each input, where it is needed: inputs are read twice, and nothing
// of keys is written. Where sorted keys are wanted, they are a payload.
#ifndef PERMC_KERNELS_ROUTINES_PARTITION_PARTITION_H
#define PERMC_KERNELS_ROUTINES_PARTITION_PARTITION_H

#include "core/text.h"
#include "kernels/routines/launch.h"

enum {
  PARTITION_MOST_BITS = 4,
  PARTITION_MOST_INPUTS = 3,
  PARTITION_MOST_PAYLOADS = 4,
  PARTITION_LAUNCHES = 2
};
#define PARTITION_NO_INPUT UINT32_MAX

// Elements that go where the keys go.
typedef struct partition_moved {
  uint32_t bytes;  // of an element; of numbers 4 or 8
  bool numbers;    // instead of elements, the numbers of the keys in their row
  uint32_t input;  // the input that the elements are, or PARTITION_NO_INPUT
} partition_moved;

typedef struct partition_work {
  uint32_t bits;  // of a key
  uint64_t rows, length;
  uint32_t multiprocessors;
  uint32_t input_count, input_bytes[PARTITION_MOST_INPUTS];  // 1, 2, 4 or 8
  bool input_is_truth[PARTITION_MOST_INPUTS];                // any byte but 0 stands for 1
  const char *key_text;  // cuda_host.h, and a function of an element of each input: partition_key
  bool wants_places;     // the place of each key, as i64
  uint32_t payload_count;
  const partition_moved *payloads;
} partition_work;

// Arrays of launches. Inputs follow, and then payload i: before, and at the next number after.
enum {
  PARTITION_STATE,   // counts of groups
  PARTITION_TOTALS,  // how many keys there are of each, as i64; may be a null pointer
  PARTITION_PLACED,
  PARTITION_FIRST_INPUT,
  PARTITION_FIRST_PAYLOAD = PARTITION_FIRST_INPUT + PARTITION_MOST_INPUTS,
  PARTITION_ARRAYS = PARTITION_FIRST_PAYLOAD + 2 * PARTITION_MOST_PAYLOADS
};

typedef struct partition_kernels {
  partition_work work;
  uint32_t threads, items, blocks;  // of a block; of a thread; on a multiprocessor
  uint32_t tiles, group, groups;    // of a row; tiles that a block counts; groups of a row
  uint32_t count_bytes;             // of a number of keys: 4, or 8
  uint64_t state_bytes;
} partition_kernels;

// A key_text for keys as they are, in an array of such elements.
void partition_keys_write(text *out, uint32_t bytes, uint32_t bits);
// False: there are too many keys, or payloads.
bool partition_kernels_of(const partition_work *w, partition_kernels *out);
void partition_kernels_write(text *out, const partition_kernels *k);
void partition_launches(const partition_kernels *k, routine_launch out[PARTITION_LAUNCHES]);

#endif
