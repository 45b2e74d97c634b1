// One rank at work: its steps, its arrays. Private to this room.
//
//   rank.c     a run, from its first step to its results; the time of its steps
//   steps.c    steps: which there are, and how one is executed
//   arrays.c   where its arrays are: slabs, memory, what is given
#ifndef PERMC_RUNTIME_RANKS_STATE_H
#define PERMC_RUNTIME_RANKS_STATE_H

#include "runtime/cpu/storage.h"
#include "runtime/cuda/cuda.h"
#include "runtime/ranks/parts.h"

// What a rank does next.
typedef struct step {
  share_kind kind;
  uint32_t stage, pass;  // the pass; of what only moves the first of its stage
} step;

typedef struct rank {
  const ranks_run *run;
  transport *transport;  // of what is in memory of the host
  transport *links;      // of arrays
  cuda_device *device;   // in whose memory these are; NULL: the host's
  uint32_t own;          // the number of its GPU
  uint32_t threads;
  cpu_store *store;
  error *failure;
  bool told;  // ... is one that all ranks know
  step *steps;
  uint32_t step_count;
  uint64_t *slab;     // by array of the plan
  storage storage;    // by steps
  array_part *parts;  // by array, while it lives
  void **data;        // ... the address that element 0 would have
} rank;

// Says what has failed in the memory of arrays; false.
static inline bool rank_failed(rank *r) {
  return r->device ? cuda_fail(r->device, r->failure) : error_no_memory(r->failure);
}

static inline uint64_t rank_element_bytes(const rank *r, net_id a) {
  return scalar_types[r->run->plan->arrays.items[a].type].size;
}

// ---- arrays.c ----------------------------------------------------------------------------------

void rank_find_slabs(rank *r);
extent *rank_list_extents(const rank *r, net_id a);  // of all ranks, which the caller frees
// Memory for this rank's part, and the part in such memory.
uint64_t rank_memory_bytes(const rank *r, net_id a);
array_part rank_part_in(const rank *r, net_id a, void *memory, void **element_0);
// Which arrays lie in one room, by the lifetimes in r->storage.
bool rank_place_arrays(rank *r);
void rank_end_arrays(rank *r);
// Its part in its room, in r->parts and r->data.
bool rank_allocate(rank *r, net_id a);
bool rank_take_arrays(rank *r, uint32_t step);  // those that the step is the first to need
bool rank_take_given(rank *r, net_id a);        // an argument or table, with its elements
// What each rank wants of an array comes there from those that have it, by that transport: to `to`.
// `wants`, which is freed, may be NULL: there is no memory.
bool rank_fetch(rank *r, transport *t, net_id from, extent *wants, void *to);
// This rank's part of a result, or of what is not returned all of it, in memory of the host that
// becomes the caller's.
bool rank_take_result(rank *r, net_id a, array_part *out);

// ---- steps.c -----------------------------------------------------------------------------------

void rank_list_steps(rank *r);
bool rank_find_lifetimes(rank *r);  // of arrays
bool rank_execute_step(rank *r, uint32_t number);

#endif
