// The routines of a plan (fusion/net/net.h) on the processor, for whoever has their arrays in
// memory. A door of this room.
#ifndef PERMC_RUNTIME_ROUTINES_ROUTINE_H
#define PERMC_RUNTIME_ROUTINES_ROUTINE_H

#include "fusion/plan/plan.h"
#include "runtime/routines/work.h"
#include <stdatomic.h>

// The routine as a value. `pairs` has room for as many as it has.
routine_work routine_work_of(const plan *p, const net_routine *r, routine_pair *pairs);

// data: by array of the plan; those that it reads and writes are there, and do not overlap.
// threads: at most, and at least 1. False: out of memory, or interrupted (a flag that may be NULL).
bool routine_run(const plan *p, const net_routine *r, void *const *data, unsigned threads,
                 const atomic_bool *interrupted);

#endif
