// The accesses of scratch memory that a Plan makes, as a trace (banks.h).
//
// What goes in are the exchanges of a plan for GPUs, in the raw layout: a tile's elements in the
// order of their indices (kernels/schedule/swizzle.h). What comes out are the requests of its warps, each of up
// to 32 words, as the memory machine executes them (hmm/plan.h). Equal ones are one access with its
// number of times: all blocks of a pass ask alike.
//
//   bitrev of [2^14]u32 by the strategy tile: 2^4 blocks, each of 32 warps with a tile of 2^10
//
//     put   0 1 2 ... 31     32 33 ... 63      ...   32 accesses, 16 times each
//     get   0 512 256 ...    16 528 272 ...    ...   32 accesses, 16 times each
#ifndef PERMC_KERNELS_HMM_BANKS_PLAN_H
#define PERMC_KERNELS_HMM_BANKS_PLAN_H

#include "fusion/plan/plan.h"
#include "kernels/banks/banks.h"

// Adds the accesses of all passes, in the order in which the plan first makes them. Passes without
// an exchange add nothing. NULL, or a sentence: a plan for lanes that are no threads, or by the
// strategy online.
const char *bank_trace_add_plan(arena *a, bank_trace *t, const plan *p);

#endif
