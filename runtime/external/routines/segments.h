// Rows of unequal length, SEGMENTS, of rows that lie in files: offsets cut them. Private to this
// room.
//
//   a row of 10 keys, offsets 1 4 4 9    segments 0 | 1 2 3 | 4 ... 8 | 9: keys of none are one each
//   runs of 3 keys                       borders at 3: 1 ... 3 lies on both sides; at 6: 4 ... 8; at 9: none
//
// Offsets are read in their order, as often as segments are asked for. Where those of a row are not
// in order, each key is a segment: the program's check says what is wrong.
#ifndef PERMC_RUNTIME_EXTERNAL_ROUTINES_SEGMENTS_H
#define PERMC_RUNTIME_EXTERNAL_ROUTINES_SEGMENTS_H

#include "runtime/external/routines/pipeline.h"

// So many for each row, i64.
typedef struct external_offsets {
  const void *table;    // in memory; NULL:
  external_place from;  // in a file
  uint64_t count;       // 0: rows are not cut
} external_offsets;

// The segment that has keys before a run and in it, begin ... end - 1; none: both are the run's
// first key.
typedef struct segment_border {
  uint64_t begin, end;
  uint64_t next;  // offset of the row, the first that is beyond
} segment_border;

enum { SEGMENTS_SOME = 1 << 10 };  // offsets that are read at a time

typedef struct segments {
  external_offsets offsets;
  uint64_t rows, length;
  const external_means *by;
  bool wrong;                                    // those of the rows that were looked at last
  uint64_t first, count, values[SEGMENTS_SOME];  // of all rows' offsets, some
} segments;

// Looks at the offsets of some rows; of one row with runs of so many keys (0: none), borders[r] is
// that before run r; borders[runs] is the row's end.
bool segments_scan(segments *s, uint64_t row, uint64_t rows, uint64_t run, segment_border *borders,
                   error *failure);
// Where segments of keys first, ..., first + count - 1 of the row begin, less by `first`: *found of
// them, and the end besides. No offset before `next` is beyond `first`.
bool segments_cut(segments *s, uint64_t row, uint64_t first, uint64_t count, uint64_t next,
                  uint64_t *begins, uint64_t *found, error *failure);

#endif
