// Sorts by keys of at most 8 bits, with payloads: each element goes to its place at once. Private
// to this room.
//
//   keys      1 0 2 0 1 | 2 0 1        two chunks; before each, how many go before it of each key:
//   starts    0 3 6       2 5 7        of chunk 0 key 0 from place 0 on, key 1 from 3, key 2 from 6; ...
//   places    3 0 6 1 4 | 7 2 5
//
// Chunks are counted, then moved, by all threads.
#ifndef PERMC_RUNTIME_ROUTINES_BUCKETS_H
#define PERMC_RUNTIME_ROUTINES_BUCKETS_H

#include "runtime/routines/sort.h"

enum { BUCKETS = 1 << 8, BUCKETS_CHUNK = 1 << 16, BUCKETS_LEAST = 1 << 8 };

// Whether the task is one for these: few bits, payloads, and rows that are long.
ROUTINE_SCOPE bool buckets_suit(const sort_task *t);
// As routine_sort does it. Arrays are not sorted in place.
ROUTINE_SCOPE bool routine_bucket(const sort_task *t);

#endif
