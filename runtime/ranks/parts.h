// Parts of an array change ranks. Private to this room.
//
//   rank 0 has  a b c    wants  a b        a b c d e f g    what it has
//   rank 1 has  d        wants  c d        0 0 0 1 2 2 2    at rank
//   rank 2 has  e f g    wants  e f g      0 0 1 1 2 2 2    wanted by rank
//
//   extent has[3] = {{0, 3}, {3, 1}, {4, 3}}, wants[3] = {{0, 2}, {2, 2}, {4, 3}};
//
// Rank 0 sends c to rank 1, and copies a b. What several want goes to each of them.
#ifndef PERMC_RUNTIME_RANKS_PARTS_H
#define PERMC_RUNTIME_RANKS_PARTS_H

#include "runtime/ranks/rank.h"
#include "runtime/values/value.h"

// Elements first, ..., first + count - 1.
typedef struct extent {
  uint64_t first, count;
} extent;

static inline extent extent_of(array_part p) { return (extent){p.first, p.count}; }

// Those of all ranks, which the caller frees; NULL: *failure is one of all.
static inline extent *parts_gather(transport *t, array_part own, error *failure) {
  return transport_gather_each(t, &(extent){own.first, own.count}, sizeof(extent), failure);
}
// Whether they are all of an array of so many elements, each once.
bool parts_are_whole(const extent *all, uint32_t ranks, uint64_t count);
// From what each rank has, each element once, to what each wants. This rank's begins at `from`,
// `to`.
bool parts_exchange(transport *t, const extent *has, const void *from, const extent *wants,
                    void *to, uint64_t size, error *failure);

#endif
