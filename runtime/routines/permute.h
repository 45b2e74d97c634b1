// Permutes arrays by a schedule (core/permutation_schedule.h): a door of this room.
//
//   permute_task t = {.schedule = &s, .size = 4, .from = a, .to = b, .threads = 2};
//   routine_permute(&t)                    b[p[e]] = a[e]
//
// Steps 0 and 1 write what they gather transposed, so that step 1 gathers in rows as the others do,
// and there are no passes that transpose: each of three passes reads and writes an array once, all
// but the gathers inside a row in order. Rows of 2^12 elements and their lines stay in the caches,
// where a direct permutation waits for memory at each element.
#ifndef PERMC_RUNTIME_ROUTINES_PERMUTE_H
#define PERMC_RUNTIME_ROUTINES_PERMUTE_H

#include "core/permutation_schedule.h"

typedef struct permute_task {
  const permutation_schedule *schedule;
  size_t size;                     // bytes of an element: 1, 2, 4, 8 or 16
  const void *from;                // schedule->length of them
  void *to;                        // as many; it may be `from`
  unsigned threads;                // at most, and at least 1
  const atomic_bool *interrupted;  // looked at now and then; may be NULL
} permute_task;

// False: out of memory, or interrupted. Then `to` is anything.
bool routine_permute(const permute_task *t);

#endif
