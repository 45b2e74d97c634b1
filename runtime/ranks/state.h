// One rank at work: its steps, its arrays. Private to this room.
//
//   rank.c     a run, from its first step to its results; the time of its steps
//   steps.c    steps: which there are, and how one is executed
//   arrays.c   where its arrays are: slabs, memory, what is given
#ifndef PERMC_RUNTIME_RANKS_STATE_H
#define PERMC_RUNTIME_RANKS_STATE_H

#include "runtime/ranks/memory.h"
#include "runtime/ranks/parts.h"

#define NEVER UINT32_MAX

// What a rank does next.
typedef struct step {
  share_kind kind;
  uint32_t stage, pass;  // the pass; of what only moves the first of its stage
  bool in_pieces;        // of an exchange, at one time with the steps before and behind it
} step;

typedef struct rank {
  const ranks_run *run;
  transport *transport;  // of what is in memory of the host
  transport *links;      // of arrays
  rank_memory memory;    // where these are
  uint32_t own;          // the number of its GPU
  uint32_t threads;
  cpu_store *store;
  error *failure;
  bool told;  // ... is one that all ranks know
  step *steps;
  uint32_t step_count;
  uint64_t *slab;          // by array of the plan
  uint32_t *first, *last;  // by array: the steps that need it; first is NEVER: none
  array_part *parts;       // by array, while it lives
  void **data;             // ... the address that element 0 would have
} rank;

static inline bool rank_device_failed(rank *r, const rank_memory *m) {
  return error_set(r->failure, SPAN_NONE, "%s", rank_memory_problem(m));
}

static inline uint64_t rank_element_bytes(const rank *r, net_id a) {
  return scalar_types[r->run->plan->arrays.items[a].type].size;
}

// ---- arrays.c ----------------------------------------------------------------------------------

void rank_find_slabs(rank *r);
// What rank `of` has of an array, without memory: a window, a slab, or all.
array_part rank_part_of(const rank *r, net_id a, uint32_t of);
extent *rank_list_extents(const rank *r, net_id a);  // of all ranks, which the caller frees
// Memory of this rank's part, in r->parts and r->data.
uint64_t rank_memory_bytes(const rank *r, net_id a);
bool rank_allocate(rank *r, net_id a);
void rank_free_part(rank *r, net_id a);
// Those that a step is the first to need, or the last.
bool rank_take_arrays(rank *r, uint32_t step);
void rank_free_arrays(rank *r, uint32_t step);
bool rank_take_given(rank *r, net_id a);  // an argument or table
// Results in memory of the GPU come to that of the host, where the rank's memory is then.
bool rank_bring_home(rank *r);

// ---- steps.c -----------------------------------------------------------------------------------

void rank_list_steps(rank *r);
bool rank_find_lifetimes(rank *r);
// Exchanges go in pieces where the transport does that beside passes, and all ranks have room for
// what the three need at one time.
bool rank_agree_on_pieces(rank *r);
// That step, and those at one time with it; *next: the one behind them.
bool rank_execute_step(rank *r, uint32_t number, uint32_t *next);
// All elements of an array come to each rank, to `to`, by that transport.
bool rank_gather(rank *r, transport *t, net_id from, void *to);

#endif
