// Private to kernels/schedule/ (door: schedule.h): scratch in a bank layout that was asked
// for (kernels/banks/banks.h), not the planner's own.
//
// What the layout moves are the words of a slot in the order of their indices, the raw layout:
//
//   lanes are threads     w = 32 banks; a word has 4 bytes (several elements of 1 or 2), or one
//                         element of 8, of which w = 16 are 32 banks. A warp's accesses are those
//                         of its lanes before the exchange, and behind it.
//   vectors of a CPU      a word is a vector, the raw layout that of the exchange, which keeps
//                         lanes together; w = 64, the lines of a set-associative cache. An access
//                         is all registers of a thread.
//
//   2^4 elements of 4 bytes, lanes at x0 x1 before and x2 x3 behind, w = 4, layout fixed-xor:
//     raw     bank = x0 + 2 x1: lanes behind all meet in one bank
//     place   bits x0^x2, x1^x3, x2, x3: a basis of scratch; both sides are free of conflicts
//
// Linear layouts are another basis of scratch and cost nothing else. The others are a function in
// the text, through which each address goes.
#ifndef PERMC_KERNELS_SCHEDULE_SWIZZLE_H
#define PERMC_KERNELS_SCHEDULE_SWIZZLE_H

#include "fusion/plan/plan.h"
#include "kernels/banks/banks.h"

// How kernels are made.
typedef struct c_options {
  uint64_t
      stream_bytes;  // arrays of so many bytes are stored past the caches where lines are whole
  const bank_layout_kind *layout;  // of scratch; NULL: the planner's own
  uint64_t layout_seed;
  bool apart;  // each pass has a kernel of its own, as memory machines execute them
  uint32_t
      root_bits;  // tables of roots have at most 2^root_bits; larger orders are computed. 0: 2^26
  const struct c_comments *comments;  // for a reader (kernels/emit/emit.h); NULL: for compilers
} c_options;
// Those of a GPU, which has no such stores.
#define C_OPTIONS_OF_GPU(kind, seed)                                                               \
  { .stream_bytes = UINT64_MAX, .layout = (kind), .layout_seed = (seed) }

// What schedules are made of, and where.
typedef struct c_context {
  arena *memory;
  const plan *plan;
  const c_options *options;
  bool warps;           // lanes are threads, as on a GPU
  const char *problem;  // what the options ask and the plan cannot have, or NULL
} c_context;
c_context c_context_of(arena *memory, const plan *p, const c_options *options);

// How a slot lies in scratch between two phases.
typedef struct c_swizzle {
  const uint64_t *basis;  // address bit i is coordinate i
  const bank_layout *by;  // it goes to another place in words of 2^word units; NULL: it stays
  uint32_t word;
  const bank_layout *made;  // whether a basis or a function came of it; NULL: the planner's own
} c_swizzle;

// Whether the code is written with a layout other than the planner's own.
bool c_swizzle_asked(const c_context *c);

// For content of `type` that goes from phase `before` to `after`, whose own exchange is `usual`.
// Where the layout does not suit it, it lies as usual, and c->problem says why.
c_swizzle c_swizzle_between(c_context *c, f2_space tile, const plan_phase *before,
                            const plan_phase *after, const uint64_t *usual, scalar_type type);

bool c_swizzle_equal(const c_swizzle *a, const c_swizzle *b, uint32_t dimension);

// How many units it takes that would take `units` in the raw layout.
uint64_t c_swizzle_units(const c_swizzle *l, uint64_t units);
uint64_t c_swizzle_place(const c_swizzle *l, uint64_t unit);

#endif
