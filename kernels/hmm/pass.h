// Private to kernels/hmm/: what the threads of a pass ask of memory, step by step.
//
// A STEP of a thread block is a request of every warp, or a barrier. Its addresses are sums of words,
// each an XOR of columns for the bits of the block, of the thread and of the register
// (kernels/schedule/map.h): those of a warp are found by XORs, and nothing is listed.
//
//   bit reversal of 2^10 u32 by a block of 2^5 threads of 2^5 registers, a word at a time:
//     steps 0 ... 31    load: register i of thread t has element 32 i + t
//     steps 32 ... 63   put in shared memory, then a barrier
//     steps 65 ... 96   get, the other way round
//     steps 97 ... 128  store
#ifndef PERMC_KERNELS_HMM_PASS_H
#define PERMC_KERNELS_HMM_PASS_H

#include "kernels/hmm/plan.h"
#include "kernels/schedule/schedule.h"

enum {
  LANES = HMM_PLAN_WIDTH,
  LANE_BITS = 5,
  WORD = 4,  // bytes
};

// ---- steps -----------------------------------------------------------------------------------

// Threads with nothing but padding do nothing, except that they fill scratch
// (c_pass_has_padding_threads).
typedef enum pass_who { PASS_ALL, PASS_PADDING, PASS_WITHIN } pass_who;

// Of each lane one address, in units: offset + strides . loops + the sum of words, of a register:
// what it decides is in their constants.
typedef struct pass_access {
  hmm_op op;
  // NULL: a gather or a scatter, which goes where data says. What follows is then of no meaning,
  // but for scale and bytes.
  const c_map *map;
  uint32_t count;
  const xor_word *words;
  uint64_t base;          // in scratch, in bytes
  uint32_t scale, bytes;  // of a unit; of the access of one lane
  uint64_t limit;         // units from here on are left out
  const xor_word *live;   // 0 where it is alive; NULL: it is everywhere
  pass_who who;
  const xor_word *least;  // of `who`: the least index of a thread
} pass_access;

typedef struct pass_step {
  const pass_access *access;  // NULL: a barrier
  uint32_t part;              // which of its requests
} pass_step;

typedef struct hmm_pass {
  arena *memory;
  c_pass pass;
  uint64_t threads, items;  // of a block; tiles, a block each
  VEC(pass_step) steps;     // of one item, at least one
  // While a phase is added: the threads that have something to do (c_pass_live_threads).
  f2_space known;
  uint32_t live_count;
  const net_form *live;
  xor_word alive,
      least;  // of items: 0 where they are alive; the least index in the tile (plan_pass)
} hmm_pass;

// NULL: *out has all steps, in the order of kernels/emit/phase.c. Or a sentence. `options`: as the
// kernels are written with; NULL: the usual ones.
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
bool hmm_pass_has_idle(const hmm_pass *p, const pass_access *a);

#endif
