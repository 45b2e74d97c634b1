// Private to fusion/plan: padding that never moves. A load with padding reads a constant c beyond
// the end of its array: at all indices x >= m. Where every op keeps that so, the padding need not
// exist in memory, neither in results nor between passes.
//
//   n = 3, m = 5, c: the greatest value; compare-exchange, direction 0b011, coordinate x_1
//
//     x          0 1 2 3 4 5 6 7
//     before     9 2 7 4 1 c c c     pairs (0,3) (1,2) (4,7) (5,6): the larger index gets the max
//     after      4 2 7 9 1 c c c     (4,7): 1 and c stay; (5,6): c and c
//
// The proof, op by op: the elements of a coset are ordered by their index in the same way in every
// coset (each coordinate is the leading bit of its direction), so the elements that are padding are
// the last ones. For each number of last elements, with c put in for them and nothing known of the
// others, each of them must evaluate to one and the same constant: the padding of the op's value.
//
// Shadows (lang/elaborate/padding.c) say which elements are padding. They are bools that are false
// at all x < m, and where ops keep that so, too, padding is in no result.
#ifndef PERMC_FUSION_PLAN_PADDING_H
#define PERMC_FUSION_PLAN_PADDING_H

#include "fusion/net/net.h"

typedef struct padding {
  uint64_t start;       // m; UINT64_MAX: no load of the stage has padding
  scalar_bits *values;  // by value of the stage: c
  bool *holds;          // by value: whether it is c at all x >= m
  bool *shadow;         // by value: whether it is false at all x < m, besides
  uint32_t first_op;    // the first op whose value is not (NET_NONE: none)
} padding;

padding padding_find(arena *a, const net *n, const net_stage *s);

#endif
