// Whether places in a file are places: see runtime/routines/places.h. Private to this room.
#ifndef PERMC_RUNTIME_EXTERNAL_ROUTINES_WRONG_H
#define PERMC_RUNTIME_EXTERNAL_ROUTINES_WRONG_H

#include "core/scalar/scalar.h"
#include "fusion/external/external.h"
#include "runtime/external/routines/pipeline.h"

typedef struct external_wrong {
  scalar_type type;  // an integer
  bool distinct;     // within each row
  uint64_t rows, length, limit;
  external_place from;
  disk *disk;
  uint64_t memory;                 // bytes, at most
  const atomic_bool *interrupted;  // may be NULL
} external_wrong;

// Adds what it reads and writes, where no place occurs twice.
void external_wrong_add_traffic(const external_wrong *w, external_traffic *to);
// The places are read once; distinct ones once for each part of the numbers below the limit that
// memory has bits for, and where one occurs twice, again.
bool external_wrong_find(const external_wrong *w, int64_t found[2], error *failure);

#endif
