// Sorts by keys of at most 8 bits, with payloads: each element goes to its place at once
// (classes.h). Private to this room.
#ifndef PERMC_RUNTIME_ROUTINES_BUCKETS_H
#define PERMC_RUNTIME_ROUTINES_BUCKETS_H

#include "runtime/routines/sort.h"

enum { BUCKETS = 1 << 8, BUCKETS_LEAST = 1 << 8 };

// Whether the task is one for these: few bits, payloads, and rows that are long.
ROUTINE_SCOPE bool buckets_suit(const sort_task *t);
// As routine_sort does it. Arrays are not sorted in place.
ROUTINE_SCOPE bool routine_bucket(const sort_task *t);

#endif
