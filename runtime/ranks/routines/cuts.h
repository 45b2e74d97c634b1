// Where an array that is to be sorted is cut, so that each rank gets its slab of the result:
// exactly. Private to this room.
//
//   rank 0 has 5 1 5 2, rank 1 has 5 3 5 5        in order 1 2 3 5 | 5 5 5 5, of slabs of 4
//   the cut    key 5, and one 5 stands before it: the first of rank 0
//   equal      1 on rank 0, 0 on rank 1           so the result is stable
//
// The key at a cut is found digit by digit, from the highest on (a distributed radix selection):
// for all cuts at once, ranks count the digits of their keys that begin as the cut's. Rank r
// chooses for the cut before its own slab. Two exchanges for each digit, whatever the keys are.
#ifndef PERMC_RUNTIME_RANKS_ROUTINES_CUTS_H
#define PERMC_RUNTIME_RANKS_ROUTINES_CUTS_H

#include "runtime/ranks/routines/team.h"
#include "runtime/routines/key_order.h"

// This rank's keys: elements first, ..., first + count - 1 of an array, in rows.
typedef struct ranked_keys {
  key_order order;
  const char *keys;  // from element `first` on
  uint64_t first, count;
  uint64_t length;  // of a row
} ranked_keys;

// Ranks of keys first, ..., last - 1 of these: at most so many at once.
enum { RANKED_KEYS = 1 << 9 };
void find_ranks(const ranked_keys *k, uint64_t first, uint64_t last, uint64_t *ranks);

// The end of the block of keys that begins with key `first`.
static inline uint64_t ranked_block_end(uint64_t first, uint64_t last) {
  return last - first < RANKED_KEYS ? last : first + RANKED_KEYS;
}

// Of the elements of its row, those with lower keys stand before it, and of this rank's with its
// key the first `equal`.
typedef struct cut {
  uint64_t row, key, equal;
} cut;

// The cuts before the slabs of ranks 0, 1, ..., which have `slab` elements each of the result,
// which has `count`. False: the team has failed.
bool find_cuts(const team *t, const ranked_keys *k, uint64_t slab, uint64_t count, cut *cuts);

#endif
