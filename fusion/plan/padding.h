// Padding that never moves. A load with a limit reads a fill c beyond the end of its array: at all
// indices x >= m. Where the ops keep that so, the suffix need not exist in memory, neither in
// results nor between passes.
//
//   n = 3, m = 5, compare-exchange with direction 0b011 and coordinate x_1, fill: the greatest
//   value
//
//     x          0 1 2 3 4 5 6 7        pairs (0,3) (1,2) (4,7) (5,6); the larger index gets the
//     max before     9 2 7 4 1 c c c after      4 2 7 9 1 c c c        (4,7): 1 and c stay; (5,6):
//     c and c
//
// The proof, op by op: the elements of a coset are ordered by their index in the same way
// everywhere (each coordinate is the leading bit of its direction), so those in the suffix are the
// last ones; for each possible number of last ones, with c put in for them and nothing known of the
// others, every element there must evaluate to a constant, the same one: the fill of the op's
// value.
#ifndef PERMC_FUSION_PLAN_PADDING_H
#define PERMC_FUSION_PLAN_PADDING_H

#include "fusion/net/net.h"

typedef struct suffix {
  uint64_t start;      // m; UINT64_MAX: the stage loads no suffix
  scalar_bits *fills;  // by value of the stage
  bool *holds;         // whether the value is its fill at all x >= m
  uint32_t first_op;   // the first op whose value is not (NET_NONE: none)
} suffix;

suffix suffix_find(arena *a, const net_stage *s);

#endif
