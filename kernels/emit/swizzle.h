// Swizzles: scratch by a layout that was asked for (layout.h), not the planner's own, of any
// exchange.
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
#ifndef PERMC_KERNELS_EMIT_SWIZZLE_H
#define PERMC_KERNELS_EMIT_SWIZZLE_H

#include "kernels/banks/layout.h"
#include "kernels/text/writer.h"

// How a slot lies in scratch between two phases.
typedef struct c_swizzle {
  const uint64_t *basis;  // address bit i is coordinate i
  const bank_layout *by;  // it goes to another place in words of 2^word units; NULL: it stays
  uint32_t word;
  const bank_layout
      *made;  // the layout, whether a basis or a function came of it; NULL: the planner's
} c_swizzle;

// Whether the code is written with a layout other than the planner's own.
bool c_swizzle_asked(const c_writer *w);

// For content of `type` that goes from phase `before` to `after`, whose own exchange is `usual`.
// Where the layout does not suit it, it lies as usual, and w->problem says why.
c_swizzle c_swizzle_between(c_writer *w, f2_space tile, const plan_phase *before,
                            const plan_phase *after, const uint64_t *usual, scalar_type type);

bool c_swizzle_equal(const c_swizzle *a, const c_swizzle *b, uint32_t dimension);

// How many units it takes that would take `units` in the raw layout.
uint64_t c_swizzle_units(const c_swizzle *l, uint64_t units);
uint64_t c_swizzle_place(const c_swizzle *l, uint64_t unit);

// A line for each exchange of a pass: "pass 2, before phase 3: k1 = 0, k2 = 5, mask = 31".
void c_swizzle_print(arena *a, text *to, const plan *p, const c_options *options);

// The name of the function in the text.
const char *c_swizzle_function(c_writer *w, const c_swizzle *l);

#endif
