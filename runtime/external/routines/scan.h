// Reads rows of keys from a file once, in pieces: whole rows, or parts of one. Private to this
// room.
//
//   rows of 3 keys, memory for 8      rows 0 1, rows 2 3, ...
//   rows of 10 keys, memory for 8     keys 0 ... 7 of row 0, keys 8 9 of row 0, keys 0 ... 7 of row 1, ...
#ifndef PERMC_RUNTIME_EXTERNAL_ROUTINES_SCAN_H
#define PERMC_RUNTIME_EXTERNAL_ROUTINES_SCAN_H

#include "fusion/external/external.h"
#include "runtime/external/routines/pipeline.h"

// Keys start, ..., start + length - 1 of the rows first, ..., first + rows - 1.
typedef struct scan_part {
  uint64_t first, rows, start, length;
  const void *keys;
} scan_part;

typedef struct scan {
  const external_means *by;  // half of their memory
  external_place from;
  size_t size;  // of a key
  uint64_t rows, length;
  uint64_t most_rows;  // of a part
  void *with;
  bool (*work)(void *with, const scan_part *part, error *failure);  // in order
} scan;

// The rows of a part, at most.
uint64_t scan_rows(const scan *s);
bool scan_run(const scan *s, error *failure);
// Adds what it reads.
void scan_add_traffic(const scan *s, external_traffic *to);

#endif
