// Dimensions of an array in a file in another order, by as much memory as there is. Private to this
// room.
//
//   [5][6] to [6][5], boxes of 2 rows and 3 columns: 6 boxes
//   a box is read in 2 stretches of 3 elements, and written in 3 stretches of 2
//
// A box has some neighbours of each dimension. It is read in stretches, each of which the array has
// without a gap, and written in others. Its dimensions are chosen so that both kinds are long. Each
// array is read once, or written once.
#ifndef PERMC_RUNTIME_EXTERNAL_ROUTINES_TRANSPOSE_H
#define PERMC_RUNTIME_EXTERNAL_ROUTINES_TRANSPOSE_H

#include "fusion/external/external.h"
#include "fusion/net/net.h"
#include "runtime/external/routines/pipeline.h"

typedef struct external_transpose {
  size_t size;     // of an element: 1, 2, 4, 8 or 16 bytes
  uint32_t count;  // of dimensions
  const net_dimension *dimensions;
  external_place from, to;
  external_means by;
} external_transpose;

// An array as a box has it in memory: neighbours of each dimension are so many bytes apart.
typedef struct box_side {
  uint64_t pitches[NET_DIMENSIONS];
  uint64_t bytes;
  bool inside[NET_DIMENSIONS];  // the dimension is one of a stretch
} box_side;

typedef struct external_transpose_shape {
  uint64_t box[NET_DIMENSIONS];
  box_side from, to;
  uint64_t boxes;
} external_transpose_shape;

// False: so much memory does not do.
bool external_transpose_fit(const external_transpose *t, external_transpose_shape *shape,
                            error *failure);
// For its stretches.
uint64_t external_transpose_requests(const external_transpose *t,
                                     const external_transpose_shape *shape);
bool external_transpose_run(const external_transpose *t, const external_transpose_shape *shape,
                            error *failure);

#endif
