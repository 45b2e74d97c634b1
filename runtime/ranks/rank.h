// Private to runtime/ranks: what one rank does, and has.
#ifndef PERMC_RUNTIME_RANKS_RANK_H
#define PERMC_RUNTIME_RANKS_RANK_H

#include "runtime/ranks/ranks.h"

// What one rank has.
typedef struct rank_place {
  uint32_t threads;
  transport *transport;
  uint32_t own;       // which of this process's ranks it is: its GPU
  transport **links;  // with a GPU: *links carries arrays, and is opened if it is NULL
} rank_place;

// Executes the run's steps as the transport's rank. parts: by result, {0} at first; the caller frees
// their memory. False: the others were told, and *failure is the line.
bool rank_execute(const ranks_run *run, const rank_place *place, array_part *parts, error *failure);

// Of this process; NULL if it has all ranks.
transport *ranks_transport(const rank_world *r);

// What a rank says it does next, by all at one time: each must say the same. NULL: nothing of the
// kind.
typedef struct rank_step {
  const char *step;                  // "a run", "a call", "writing a file" ...
  const char *call;                  // of what
  const char *entry, *text, *types;  // run, call: what explains that plans, or calls, differ
  const char *plan;                  // run: stages, where arrays lie
  const char *parts;                 // run: which arguments are in parts
  const char *whole;                 // run: a digest of the other arguments
  const char *floats;                // run: fast, or strict
  const char *memory;                // run: of the host, or of GPUs
  const char *file;                  // write
} rank_step;
bool rank_agree(transport *t, const rank_step *own, error *failure);

// Whether all ranks have the same number: *same. False: they cannot say.
bool rank_compare(transport *t, uint64_t own, bool *same, error *failure);

#endif
