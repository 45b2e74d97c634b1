// A sort of rows in files, at work. Private to this room.
//
//   sort_shape.c  how rows are cut into pieces, and what is read and written
//   sort_piece.c  pieces: rows that fit, runs, buckets
//   sort.c        the pieces of all rows, one after the other
#ifndef PERMC_RUNTIME_EXTERNAL_ROUTINES_SORTING_H
#define PERMC_RUNTIME_EXTERNAL_ROUTINES_SORTING_H

#include "runtime/external/routines/cuts.h"
#include "runtime/external/routines/sort.h"

// What pieces are of: rows that fit, runs of a row, or its buckets.
typedef struct sorting {
  const external_sort *task;
  const external_sort_shape *shape;
  uint64_t count;   // of keys
  uint64_t before;  // pieces that others were
  run_cuts cuts;
  bool buckets;
  uint64_t row;             // that does not fit, or 0
  segments *segments;       // of rows of unequal length; NULL: there are none
  segment_border *borders;  // then: of a row that does not fit
  uint64_t *begins;         // then: of the segments of a piece
  uint64_t *places;         // of buckets: see cuts_find
  uint64_t *samples;        // of runs: of each buffer's
  char *memory;             // as it was got: buffers, which begin with a page
} sorting;

// Of a row that does not fit: its runs, where these are cut, its buckets.
uint64_t sorting_pieces_of_row(const external_sort_shape *s);

// Of a buffer of the column.
uint64_t sorting_buffer_bytes(const sorting *s, uint32_t column);
// Where that key of the column is read.
external_place sorting_source(const sorting *s, uint32_t column, uint64_t key);

// Of a pipeline: `with` is a sorting.
bool sorting_load(void *with, uint64_t piece, transfers *t);
bool sorting_work(void *with, uint64_t piece, error *failure);
bool sorting_store(void *with, uint64_t piece, transfers *t);

#endif
