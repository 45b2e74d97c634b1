// Layouts of the elements of W in registers, and the shuffles from one to another.
//
// A LAYOUT says which element lies in lane j of register i: the one with coordinates
// origin ^ (sum of the registers' vectors at the bits of i) ^ (the lanes' at the bits of j).
// Memory gives vectors whose lanes are neighbours in memory; ops want lanes that are none of their
// directions. Two layouts whose lanes span the same space differ by a permutation in each register.
// Otherwise, with I the intersection of the lanes' spaces, those of the one are I + <p_1 ... p_s>
// and of the other I + <q_1 ... q_s>: s steps, each with q_k in the place of p_k, where every new
// register takes half of its lanes from one old register and half from another, one shuffle of two
// operands. A transposition of 16 x 16 elements is 4 steps of 16 shuffles:
//
//      registers <1, 2>, lanes <4>      a: 0 4    b: 1 5    c: 2 6    d: 3 7
//      registers <4, 2>, lanes <1>      a': 0 1 = shuffle(a, b, 0, 2)    b': 4 5 = shuffle(a, b, 1,
//      3)
#ifndef PERMC_KERNELS_EMIT_RELAYOUT_H
#define PERMC_KERNELS_EMIT_RELAYOUT_H

#include "kernels/text/writer.h"

enum { C_REGISTER_BITS = 20 };  // more registers than that no plan has

typedef struct c_layout {
  uint32_t registers, lanes;            // bits
  uint64_t origin, vector[F2_MAX + 1];  // the registers' vectors, then the lanes'
} c_layout;

// The coordinates of lane `lane` of register `number`.
uint64_t c_layout_at(const c_layout *y, uint64_t number, uint64_t lane);

// Which vectors are neighbours of which: a basis of W in which `lanes` are the lanes' vectors and
// unit vectors the registers'.
void c_layout_complete(c_layout *y);

// From variables in[2^registers] of layout `from` to out[] of layout `to`, of elements of `bytes`
// bytes. Writes the shuffles; registers that only change their name keep their variables.
void c_relayout(c_writer *w, uint32_t bytes, const c_layout *from, const c_layout *to,
                const uint32_t *in, uint32_t *out);

#endif
