// Executes routines (work.h). A door of this room.
//
//   executor.c   the kinds of routines, by
//   sort.h, buckets.h, words.h, count.h, places.h, transpose.h      which have arrays in memory
//   classes.h    elements in the order of few classes
//   crew.h       threads and memory
//   routine.h    routines of a plan
#ifndef PERMC_RUNTIME_ROUTINES_EXECUTOR_H
#define PERMC_RUNTIME_ROUTINES_EXECUTOR_H

#include "runtime/routines/crew.h"
#include "runtime/routines/work.h"

// arrays: by number; those that it reads and writes are there, and do not overlap. False: out of
// memory, or interrupted.
ROUTINE_SCOPE bool routine_execute(const routine_work *w, void *const *arrays, const crew *c);

// The most bytes of each block that a crew of one thread takes (memory.c).
void routine_memory_bytes(const routine_work *w, uint64_t bytes[BLOCKS]);

#endif
