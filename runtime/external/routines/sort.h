// Stable sorting of rows that lie in files, with payloads, by as much memory as there is.
//
// Rows that fit in memory are sorted there, many at a time: each array is read once and written
// once. A longer row is read twice and written twice: RUNS of what fits in memory are sorted; then
// BUCKETS, which fit too, are read from all runs (cuts.h) and sorted.
//
//   external_sort s = {.order = key_order_of(SCALAR_U32, false, 0), .rows = 1, .length = 1 << 30,
//                      .column_count = 1,
//                      .columns = &(external_column){.from = {&in, 128}, .between = {&runs, 0},
//                                                    .to = {&out, 4096}, .size = 4},
//                      .samples = {&samples, 0}, .by = {.disk = d, .memory = 1 << 28, .threads = 2}};
//   external_sort_shape shape;
//   external_sort_fit(&s, &shape, &failure)       how many bytes `runs` and `samples` must have, how many pieces there are
//   external_sort_run(&s, &shape, &failure)
//
// Of rows that offsets cut into segments (segments.h), each segment is sorted for itself. Those
// that lie in one run are in their places after it; only keys of the others go on to buckets.
//
// The order is that of runtime/routines/sort.h.
#ifndef PERMC_RUNTIME_EXTERNAL_ROUTINES_SORT_H
#define PERMC_RUNTIME_EXTERNAL_ROUTINES_SORT_H

#include "fusion/external/external.h"
#include "runtime/external/routines/segments.h"
#include "runtime/routines/key_order.h"

// The keys, or a payload.
typedef struct external_column {
  external_place from;  // no file, of a payload: the numbers 0, 1, ... of a row's elements
  external_place
      between;        // of a row that does not fit, best at the same byte of a page as `from`; if
                      // offsets cut it, as `to`
  external_place to;  // no file, of the keys: they are not wanted
  size_t size;        // bytes that a key has of it; of numbers 4 or 8
} external_column;

typedef struct external_sort {
  key_order order;
  uint64_t rows, length;
  external_offsets offsets;
  uint32_t column_count;
  const external_column *columns;  // the keys first
  external_place samples;          // of a row that does not fit
  // Of rows that do not fit, pieces are settled before the runs of a row, and behind them.
  external_means by;
} external_sort;

// How a sort is cut into pieces.
typedef struct external_sort_shape {
  bool fits;       // a row, in memory
  uint64_t piece;  // keys that are in memory at one time; if rows fit, of whole rows
  uint64_t runs, run, step, buckets;  // of a row that does not: see cuts.h
  uint64_t slack;                     // bytes of a buffer that its segments may leave free
  uint64_t pieces;                    // of all rows
} external_sort_shape;

// False: so much memory does not do.
bool external_sort_fit(const external_sort *s, external_sort_shape *shape, error *failure);
// Bytes of column c that are kept between, and of samples.
uint64_t external_sort_between(const external_sort *s, const external_sort_shape *shape,
                               uint32_t c);
uint64_t external_sort_samples(const external_sort *s, const external_sort_shape *shape);
// Adds what it reads and writes, but for the bytes of cuts and samples of long rows.
void external_sort_add_traffic(const external_sort *s, const external_sort_shape *shape,
                               external_traffic *to);
bool external_sort_run(const external_sort *s, const external_sort_shape *shape, error *failure);

#endif
