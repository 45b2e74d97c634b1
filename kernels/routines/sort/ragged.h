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

// `k` has its work, and what goes along. NULL, or why there are no kernels.
const char *ragged_kernels_of(sort_kernels *k);
void ragged_kernels_write(text *out, const sort_kernels *k);
void ragged_launches(const sort_kernels *k, routine_launch *out);

#endif
