// Stable sorts of rows of any lengths on a GPU: the kernels of sort.h where offsets cut its rows.
// Private to this room.
//
//   starts   a thread for each offset             finds the first row of each window
//   tiles    a block for each window of keys      sorts the rows that begin there, and lists those that are too long
//   parts    a few blocks                         sort the parts of listed rows, and merge them
//
// kernels/routines/sort/ragged_head.h says how.
#ifndef PERMC_KERNELS_ROUTINES_SORT_RAGGED_H
#define PERMC_KERNELS_ROUTINES_SORT_RAGGED_H

#include "kernels/routines/sort/sort.h"

enum { RAGGED_LAUNCHES = 3 };

static inline uint32_t sort_key_bytes(const sort_kernels *k) {
  return (uint32_t)scalar_types[k->work.type].size;
}
// Arrays with what goes along, before and after: numbers of keys are made, not read.
static inline uint32_t sort_along_from(const sort_kernels *k) {
  bool numbers = k->along_order || (k->along_bytes && k->work.payloads->numbers);
  return numbers ? (uint32_t)LAUNCH_NOTHING : (uint32_t)SORT_PAYLOADS;
}
static inline uint32_t sort_along_to(const sort_kernels *k) {
  return k->along_order ? SORT_ALONG : SORT_PAYLOADS + 1;
}

// `k` has its work, and what goes along. NULL, or why there are no kernels.
const char *ragged_kernels_of(sort_kernels *k);
void ragged_kernels_write(text *out, const sort_kernels *k);
void ragged_launches(const sort_kernels *k, routine_launch *out);

#endif
