// The routines on arrays in files. Private to this room.
//
//   routine.c   their table; sorts, of which places and permutations are made
//   count.c     how many there are of each key       wrong.c   whether places are places
//   transpose.h boxes that are read, transposed and written
#ifndef PERMC_RUNTIME_EXTERNAL_ROUTINES_ROUTINES_H
#define PERMC_RUNTIME_EXTERNAL_ROUTINES_ROUTINES_H

#include "runtime/external/routines/routine.h"
#include "runtime/external/routines/scan.h"

static inline const net_array *external_array(const external_routine *r, net_id id) {
  return &r->arrays[id];
}

// NET_NONE: no file.
static inline external_place external_place_of(const external_routine *r, net_id id) {
  return id == NET_NONE ? (external_place){0} : r->places[id];
}

// Of rows row, ..., row + rows - 1 of the keys, so many at once.
static inline scan external_scan(const external_routine *r, uint64_t row, uint64_t rows,
                                 uint64_t most_rows) {
  net_id keys = r->routine->pairs[0].from;
  size_t size = scalar_types[external_array(r, keys)->type].size;
  return (scan){.by = &r->by,
                .from = place_after(external_place_of(r, keys), row * r->routine->length * size),
                .size = size,
                .rows = rows,
                .length = r->routine->length,
                .most_rows = most_rows};
}

// As those of routine.h; traffic is added.
bool fit_count(const external_routine *c, uint64_t *pieces, error *failure);
bool traffic_of_count(const external_routine *c, external_traffic *to, error *failure);
bool run_count(const external_routine *c, error *failure);
bool traffic_of_wrong(const external_routine *c, external_traffic *to, error *failure);
bool run_wrong(const external_routine *c, error *failure);

#endif
