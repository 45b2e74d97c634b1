// How long arrays may be that a target sorts faster by networks than by the places of keys. The
// library's guards ask for it (network_keys, network_pairs, network_top: lang/elaborate/builtins.c);
// a row of fusion/target/target.c has it, as measured there.
#ifndef PERMC_CORE_NETWORKS_H
#define PERMC_CORE_NETWORKS_H

#include <stdint.h>

typedef enum network_shape {
  NETWORK_KEYS,   // elements of one array of keys
  NETWORK_PAIRS,  // elements of one array of keys, each with its number or another element
  NETWORK_ROWS,   // elements of a row, of several that are sorted alike
  NETWORK_TOP,    // elements that are taken from the end of a sorted array
  NETWORK_SHAPES
} network_shape;

enum { NETWORK_WIDTHS = 4 };  // keys of 1, 2, 4, and 8 bytes or more

typedef struct network_limits {
  uint64_t most[NETWORK_SHAPES][NETWORK_WIDTHS];
} network_limits;

#endif
