// A door of kernels/hmm: Plans on an HMM.
//
//   in     a Plan for GPUs, and a machine
//   out    what each pass costs in time units; the same accesses as a trace
//
// A thread block of a pass is a block of the machine, of 2^t threads; its steps are the loads,
// gets, puts, stores and barriers that are noted while the kernel of the pass is written
// (kernels/schedule/record.h). Words have 4 bytes. An access of 32 lanes for elements, or several
// neighbours, of 2 or 4 words each is 2 or 4 requests of so many lanes that they ask for 32 words,
// as GPUs make it; lanes whose elements share a word are merged. Addresses are affine forms: nothing
// is listed.
//
//   pass 3 of a sorter of 2^20, tiles of 2^13 elements, 2^9 threads of 2^4 registers:
//     steps 0 ... 3     load wide: address = 4 x of register 4 i ... 4 i + 3: 4 requests each
//     ...               put in shared memory, barrier, get, ...
//     the last          stores
//
// Accesses are counted, and no words are moved. Where a gather or a scatter goes is data: each of
// its lanes counts as a group of its own.
//
// Files, in reading order: hmm/plan.c (a pass as a program of a machine), hmm/pass.h (the steps of
// a pass and their requests), hmm/plan_trace.c.
#ifndef PERMC_KERNELS_HMM_PLAN_H
#define PERMC_KERNELS_HMM_PLAN_H

#include "fusion/plan/plan.h"
#include "kernels/hmm/hmm.h"
#include "kernels/schedule/schedule.h"

enum { HMM_PLAN_WIDTH = 32 };  // lanes of a warp, banks of a shared memory

// Executes pass `number` of the plan. At most m->threads threads are at work at once (as many
// blocks as fit; the next block begins where one has ended), 0: those of all blocks. `options`: as
// the kernels are written with, such as a layout of scratch; NULL: the usual ones. NULL: *out has the
// counts; or a sentence: what of the plan or the machine does not do. Routines are counted by a
// formula. Of passes that are one kernel, whose blocks look back, the first has all counts, and the
// others have none.
const char *hmm_plan_run(arena *a, const hmm_machine *m, const plan *of, uint32_t number,
                         const c_options *options, hmm_counts *out);

// What counting all passes takes, about: requests of lanes (at most so many), and bytes. NULL, or a
// sentence: what of a plan or the machine does not do.
typedef struct hmm_estimate {
  double requests, bytes;
} hmm_estimate;
const char *hmm_plan_estimate(arena *a, const hmm_machine *m, const plan *of,
                              const c_options *options, hmm_estimate *out);

// One block of the pass that finds work in its tile, that with the least index, to look at what its
// warps ask for without a machine: by out->op and out->lanes, step by step. `*times` blocks have
// work. Each asks scratch for the same words as this one, in an order that may differ by an XOR of
// a constant, or for fewer, where its tile is partly padding. (Not where blocks look back: options
// with a layout have none that do.) NULL, or a sentence.
const char *hmm_plan_block(arena *a, const plan *of, uint32_t number, const c_options *options,
                           hmm_program *out, uint64_t *times);

// ---- accesses of scratch memory, as a trace ----------------------------------------------------

// Adds the accesses of all passes to a trace (kernels/banks/banks.h), in the raw layout, in the
// order in which the plan first makes them. Equal ones are one access with its number of times: all
// blocks of a pass ask alike. Passes without an exchange add nothing. NULL, or a sentence.
//
//   bitrev of [2^14]u32 by the strategy tile: 2^4 blocks, each of 32 warps with a tile of 2^10
//
//     put   0 1 2 ... 31     32 33 ... 63      ...   32 accesses, 16 times each
//     get   0 512 256 ...    16 528 272 ...    ...   32 accesses, 16 times each
const char *bank_trace_add_plan(arena *a, bank_trace *t, const plan *p);

#endif
