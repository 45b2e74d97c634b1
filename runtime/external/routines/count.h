// How many there are of each of the keys 0 ... limit - 1 in rows that lie in a file. Private to
// this room.
#ifndef PERMC_RUNTIME_EXTERNAL_ROUTINES_COUNT_H
#define PERMC_RUNTIME_EXTERNAL_ROUTINES_COUNT_H

#include "core/scalar/scalar.h"
#include "fusion/external/external.h"
#include "runtime/external/routines/pipeline.h"

typedef struct external_count {
  scalar_type type;  // an integer
  uint64_t rows, length, limit;
  external_place from, to;  // keys; rows x limit of i64
  disk *disk;
  uint64_t memory;                 // bytes, at most
  const atomic_bool *interrupted;  // may be NULL
} external_count;

// False: so much memory does not do.
bool external_count_fit(const external_count *c, error *failure);
// Adds what it reads and writes.
void external_count_add_traffic(const external_count *c, external_traffic *to);
// The keys are read once. False: interrupted, or so much memory does not do, or the disk fails.
bool external_count_run(const external_count *c, error *failure);

#endif
