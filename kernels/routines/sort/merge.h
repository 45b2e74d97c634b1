// Merges of sorted runs on a GPU: of the shares of a row (sort.h), and what rows of any lengths
// (ragged.h) have of it. Private to this room.
#ifndef PERMC_KERNELS_ROUTINES_SORT_MERGE_H
#define PERMC_KERNELS_ROUTINES_SORT_MERGE_H

#include "kernels/routines/sort/sort.h"

// Arrays of what goes with keys: of their numbers, where these are sorted; before and after a sort.
// Numbers are made, not read.
static inline uint32_t sort_key_bytes(const sort_kernels *k) {
  return (uint32_t)scalar_types[k->work.type].size;
}
static inline uint32_t sort_order(const sort_kernels *k) {
  return k->levels ? SORT_ORDER : SORT_ALONG;
}
static inline uint32_t sort_along_from(const sort_kernels *k) {
  bool numbers = k->along_order || (k->along_bytes && k->work.payloads->numbers);
  return numbers ? (uint32_t)LAUNCH_NOTHING : (uint32_t)SORT_PAYLOADS;
}
static inline uint32_t sort_along_to(const sort_kernels *k) {
  return k->along_order ? sort_order(k) : SORT_PAYLOADS + 1;
}

// Keys of a block; bytes of its scratch for them, or for what goes along, and their numbers.
static inline uint64_t sort_room(sort_shape s) { return (uint64_t)s.threads * s.items; }
uint32_t sort_scratch(const sort_kernels *k, sort_shape s, bool numbers);

// The order of keys; the files of a kernel's text, up to NULL, in its shape.
void sort_order_write(text *out, const sort_kernels *k);
void sort_block_write(text *out, const char *const *files, sort_shape s, bool numbers);

enum { MERGE_LAUNCHES = 3 };

// Of shares: their arrays; kernels; launches, MERGE_LAUNCHES a level.
void merge_kernels_of(sort_kernels *k);
void merge_kernels_write(text *out, const sort_kernels *k);
void merge_launches(const sort_kernels *k, routine_launch *out);

#endif
