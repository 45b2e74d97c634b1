// Transposes on a GPU: dimensions of any lengths in another order.
//
//   net_dimension d[] = {{16385, 1, 16383}, {16383, 16385, 1}};    [16383][16385] to [16385][16383]
//   transpose_kernel k;
//   transpose_kernel_of(4, 2, d, &k);        of elements of 4 bytes
//   transpose_kernel_write(&out, &k);        text, for NVRTC or for the host
//   routine_launch l = transpose_launch(&k);
//
// A tile is a box: a range of each dimension. It is chosen so that in both arrays its elements are
// neighbours in long runs. Of a thin dimension it has all, so that runs go on with the next one:
//
//   [10^7][7] to [7][10^7]      a tile of 585 rows and all 7 columns: it is one run of 4095 elements
//                               before, and 7 of 585 after
//
// The runs of the result begin where lines of memory do. Where rows begin anywhere, each row of the
// tile is moved to the next line, and the box has the elements that all rows of it together need:
//
//   row 0   |-------|-------            | a line begins, - an element of the tile
//   row 1    |-------|-------
//   row 2     |-------|-------
//
//   transpose.c        shapes, and the launch
//   transpose_write.c  what stands before transpose_text.h
#ifndef PERMC_KERNELS_ROUTINES_TRANSPOSE_TRANSPOSE_H
#define PERMC_KERNELS_ROUTINES_TRANSPOSE_TRANSPOSE_H

#include "core/text.h"
#include "fusion/net/net.h"
#include "kernels/routines/launch.h"

// What threads do in turns: a level is neighbours at equal distances.
typedef struct transpose_level {
  uint64_t extent, array, scratch;  // how many; how far apart, in elements
  uint64_t inner;                   // indices of the dimension are so many elements of the level
  uint32_t dimension;
  bool all;               // of it is in the box
  uint64_t width, turns;  // of it, threads at once; how often
} transpose_level;

typedef struct transpose_threads {
  uint32_t count;
  transpose_level levels[NET_DIMENSIONS + 1];
  uint64_t turns, at_work;  // ... of all levels
} transpose_threads;

typedef struct transpose_kernel {
  uint32_t bytes;  // of an element: 1, 2, 4, 8 or 16; several that stay together are one
  uint32_t count;
  net_dimension dimensions[NET_DIMENSIONS];
  uint32_t reads[NET_DIMENSIONS];    // dimensions by their distances before: the nearest first
  uint32_t writes[NET_DIMENSIONS];   // ... and after
  uint64_t tile[NET_DIMENSIONS];     // by dimension: of how much of it a tile makes results
  uint64_t box[NET_DIMENSIONS];      // ... what it holds
  uint64_t pitch[NET_DIMENSIONS];    // ... how far apart that is in scratch
  uint64_t numbers[NET_DIMENSIONS];  // ... tiles
  uint64_t tiles, scratch;           // how many; elements of one in scratch
  uint32_t in_run, cut;              // of `writes`; the last of these, which ends with lines
  uint64_t inner, run, line;         // elements of its index, of a tile's run, of a line
  uint32_t packed;                   // elements that are stored at once
  transpose_threads reading, writing;
  uint32_t threads, blocks;  // of a block; on a multiprocessor
  uint32_t at_once;          // loads of a thread
} transpose_kernel;

// `bytes`: of an element, a power of two, at most 16.
void transpose_kernel_of(uint32_t bytes, uint32_t count, const net_dimension *dimensions,
                         transpose_kernel *out);
void transpose_kernel_write(text *out, const transpose_kernel *k);

enum { TRANSPOSE_FROM, TRANSPOSE_TO };  // arrays of the launch
routine_launch transpose_launch(const transpose_kernel *k);

#endif
