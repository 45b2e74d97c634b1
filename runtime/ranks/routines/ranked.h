// What routines over ranks ask of their arrays. Private to this room.
#ifndef PERMC_RUNTIME_RANKS_ROUTINES_RANKED_H
#define PERMC_RUNTIME_RANKS_ROUTINES_RANKED_H

#include "runtime/ranks/routines/routine.h"

// Elements first, ..., first + count - 1: those that a rank has.
typedef struct slab {
  uint64_t first, count;
} slab;

static inline slab slab_of(uint64_t size, uint64_t count, uint32_t rank) {
  uint64_t first = rank * size < count ? rank * size : count;
  return (slab){first, count - first < size ? count - first : size};
}

static inline const net_array *ranked_array(const ranked_routine *c, net_id id) {
  return &c->net->arrays.items[id];
}

static inline uint64_t ranked_elements(const ranked_routine *c) {
  return c->routine->rows * c->routine->length;
}

// The slab of arrays of one element for each key.
static inline uint64_t ranked_slab_size(const ranked_routine *c) {
  return shares_routine_slab(c->net, c->routine, c->slab, c->team->transport->ranks);
}

static inline slab ranked_slab(const ranked_routine *c) {
  return slab_of(ranked_slab_size(c), ranked_elements(c), c->team->transport->rank);
}

// Bytes of what an array has for each key.
static inline size_t ranked_unit(const ranked_routine *c, net_id id) {
  return net_routine_bytes(c->routine, ranked_array(c, id));
}

// Where the array has what belongs to key i. (Element 0 need not be in this rank's memory.)
static inline void *ranked_at(const ranked_routine *c, net_id id, uint64_t i) {
  return (void *)((uintptr_t)c->data[id] + i * ranked_unit(c, id));
}

// The most of all pairs.
static inline size_t ranked_largest_unit(const ranked_routine *c) {
  size_t most = ranked_unit(c, c->routine->pairs[0].from);
  for (uint32_t i = 1; i < c->routine->pair_count; i++) {
    size_t unit = ranked_unit(c, c->routine->pairs[i].to);
    most = unit > most ? unit : most;
  }
  return most;
}

bool run_ranked_sort(const ranked_routine *c);
bool run_ranked_places(const ranked_routine *c);
bool run_ranked_count(const ranked_routine *c);
bool run_ranked_permute(const ranked_routine *c);
bool run_ranked_wrong(const ranked_routine *c);

#endif
