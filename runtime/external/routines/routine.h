// Executes the routines of steps (fusion/net/net.h) on arrays in files; each is a row of the table
// in routine.c. See runtime/routines/routine.h for what they do to arrays in memory.
#ifndef PERMC_RUNTIME_EXTERNAL_ROUTINES_ROUTINE_H
#define PERMC_RUNTIME_EXTERNAL_ROUTINES_ROUTINE_H

#include "fusion/external/external.h"
#include "fusion/net/net.h"
#include "runtime/external/routines/pipeline.h"

typedef struct external_routine {
  const net_routine *routine;
  const net_array *arrays;
  const external_place *places;  // by array: element 0
  external_means by;
  // So many bytes in file `number` of those that the routine has for itself, from that offset on:
  // new, or as they were left. With by.with.
  external_place (*between)(void *with, uint32_t number, uint64_t offset, uint64_t bytes,
                            error *failure);
} external_routine;

// How many pieces there are. False: what it asks for is not done in files, or not by so much
// memory.
bool external_routine_fit(const external_routine *r, uint64_t *pieces, error *failure);
// What it reads from files, and writes to them: about.
bool external_routine_traffic(const external_routine *r, external_traffic *out, error *failure);
bool external_routine_run(const external_routine *r, error *failure);

#endif
