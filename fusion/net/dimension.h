// A dimension of an array that a routine transposes (net.h). A door of this room, of which libraries
// made ahead of time contain the text.
#ifndef PERMC_FUSION_NET_DIMENSION_H
#define PERMC_FUSION_NET_DIMENSION_H

#include <stdint.h>

// `extent` elements, which are so far apart before, and after.
enum { NET_DIMENSIONS = 8 };  // of a routine, at most
typedef struct net_dimension {
  uint64_t extent, from, to;
} net_dimension;

#endif
