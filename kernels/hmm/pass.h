// Private to kernels/hmm/: what the threads of a pass ask of memory, step by step
// (kernels/schedule/record.h), as its kernel does while its text is written (kernels/emit/).
//
// A step of a thread block is some requests of every warp, or a barrier. The addresses of a warp are
// found by XORs of the columns of words, and nothing is listed.
#ifndef PERMC_KERNELS_HMM_PASS_H
#define PERMC_KERNELS_HMM_PASS_H

#include "kernels/emit/emit.h"
#include "kernels/hmm/plan.h"

enum {
  LANES = HMM_PLAN_WIDTH,
  LANE_BITS = 5,
  WORD = 4,  // bytes
};

// ---- steps -----------------------------------------------------------------------------------

typedef struct pass_step {
  const kernel_step *of;
  uint32_t part;  // which of its requests
} pass_step;

typedef struct hmm_pass {
  kernel_record of;
  uint64_t threads, items;  // of a block; tiles, a block each
  VEC(pass_step) steps;     // of one item, at least one
  xor_sum alive;            // forms of items: 0 where they are alive (plan_pass)
  uint64_t least[F2_MAX];   // by bit of an item: of the least index in its tile
} hmm_pass;

// NULL: *out has all steps, in the order of the kernel. Or a sentence. `options`: as the kernels are
// written with; NULL: the usual ones.
const char *hmm_pass_open(arena *a, const plan *of, uint32_t number, const c_options *options,
                          hmm_pass *out);
// Whether there is nothing to do in the item's tile.
bool hmm_pass_skips(const hmm_pass *p, uint64_t item);
// How many items there are for which that is not so; 0: none, else *first is one of them, that with
// the least index in its tile.
uint64_t hmm_pass_working(const hmm_pass *p, uint64_t *first);

// ---- requests --------------------------------------------------------------------------------

typedef struct pass_place {
  const pass_step *step;  // NULL: there are no more items
  uint64_t item, warp;    // the warp within its block
} pass_place;

// Where the lanes of the step's part are, in units, or HMM_IDLE: so many lanes, of *words words each.
uint32_t hmm_pass_units(const hmm_pass *p, const pass_place *at, uint64_t *unit, uint32_t *words);
// Whether any of them may be idle.
bool hmm_pass_has_idle(const hmm_pass *p, const kernel_step *s);

#endif
