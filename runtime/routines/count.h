// How many there are of each of the keys 0 ... limit - 1 in rows. A door of this room.
//
//   {.limit = 3, .rows = 1} of 2 0 2 1 5        counts = 1 1 2: others are passed over
#ifndef PERMC_RUNTIME_ROUTINES_COUNT_H
#define PERMC_RUNTIME_ROUTINES_COUNT_H

#include "runtime/routines/crew.h"

typedef struct count_task {
  size_t size;  // of a key, an integer
  bool is_signed;
  uint64_t rows, length, limit;
  const void *keys;
  int64_t *counts;  // rows x limit
  crew crew;        // it takes one thread
} count_task;

enum { COUNT_SECOND = 1 << 12 };  // most counts of two tables

// False: interrupted.
ROUTINE_SCOPE bool routine_count(const count_task *t);

#endif
