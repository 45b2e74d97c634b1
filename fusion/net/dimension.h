// A dimension of an array that a routine transposes (net.h). A door of this room, of which libraries
// made ahead of time contain the text.
#ifndef PERMC_FUSION_NET_DIMENSION_H
#define PERMC_FUSION_NET_DIMENSION_H

#include <stdbool.h>
#include <stdint.h>

// `extent` elements, which are so far apart before, and after.
enum { NET_DIMENSIONS = 8 };  // of a routine, at most
typedef struct net_dimension {
  uint64_t extent, from, to;
} net_dimension;

static inline uint64_t dimension_distance(net_dimension d, bool after) {
  return after ? d.to : d.from;
}

// The dimensions by their distances, the nearest first; of equal ones the first.
static inline void dimensions_order(const net_dimension *d, uint32_t count, bool after,
                                    uint32_t *order) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = i;
    for (; at > 0 && dimension_distance(d[order[at - 1]], after) > dimension_distance(d[i], after);
         at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
}

// Makes a box of them so wide that the innermost in that order have a run of `wanted` elements.
//
//   [6][5] of the order 5, 6, wanted 12, box 2 x 1        5 x 3: a run of 15
static inline void dimensions_widen(const net_dimension *d, uint32_t count, const uint32_t *order,
                                    uint64_t wanted, uint64_t *box) {
  uint64_t run = 1;
  for (uint32_t i = 0; i < count && run < wanted; i++) {
    uint64_t extent = d[order[i]].extent, wide = (wanted - 1) / run + 1, *own = &box[order[i]];
    wide = wide < extent ? wide : extent;
    *own = *own < wide ? wide : *own;
    if (*own < extent)
      return;
    run *= extent;
  }
}

#endif
