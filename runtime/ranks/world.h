// The ranks of this process, and what they have from run to run. Private to this room.
#ifndef PERMC_RUNTIME_RANKS_WORLD_H
#define PERMC_RUNTIME_RANKS_WORLD_H

#include "runtime/ranks/ranks.h"

#include <pthread.h>

struct rank_world {
  ranks_options options;
  uint32_t count;
  transport *own;  // of this process; NULL: all ranks are threads of it, which each run starts
  // Of the threads, which meet in the group: for one run, or, with GPUs, as long as all goes well.
  transport_group *group;
  transport **members;
  // By rank of this process: its GPU, and what carries arrays there. NULL: not yet.
  cuda_device **gpus;
  transport **links;
  unsigned owners;
  pthread_mutex_t turn;  // of the owners; and of runs, where all ranks are threads
  uint32_t forks;        // those of the lock (system/locks.h)
};

static inline uint32_t ranks_here(const rank_world *r) { return r->own ? 1 : r->count; }

// Around what this process does with the other ranks: of several contexts one after the other.
void world_begin_turn(rank_world *r);
void world_end_turn(rank_world *r);

// The threads' transports, unless there are some.
bool world_begin_team(rank_world *r, error *failure);
void world_end_team(rank_world *r);  // and what carries arrays of GPUs
void world_close_gpus(rank_world *r);

#endif
