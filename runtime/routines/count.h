// How many there are of each of the keys 0 ... limit - 1 in rows. A door of this room.
//
//   {.limit = 3, .rows = 1} of 2 0 2 1 5        counts = 1 1 2: others are passed over
#ifndef PERMC_RUNTIME_ROUTINES_COUNT_H
#define PERMC_RUNTIME_ROUTINES_COUNT_H

#include "core/scalar/scalar.h"
#include <stdatomic.h>

typedef struct count_task {
  scalar_type type;  // an integer
  uint64_t rows, length, limit;
  const void *keys;
  int64_t *counts;                 // rows x limit
  const atomic_bool *interrupted;  // may be NULL
} count_task;

// False: interrupted.
bool routine_count(const count_task *t);

#endif
