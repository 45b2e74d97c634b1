// Private to kernels/transfer/: the shuffles from one layout in registers to another.
//
// Memory gives vectors whose lanes are neighbours in memory; ops want lanes that are none of their
// directions. Two layouts whose lanes span the same space differ by a permutation in each register.
// Otherwise, with I the intersection of the lanes' spaces, those of the one are I + <p_1 ... p_s>
// and of the other I + <q_1 ... q_s>: s steps, each with q_k in the place of p_k, where every new
// register takes half of its lanes from one old register and half from another, one shuffle of two
// operands. A transposition of 16 x 16 elements is 4 steps of 16 shuffles; one of 2 x 2 blocks is
// one step of 4:
//
//      registers <1, 2>, lanes <4>       registers <4, 2>, lanes <1>
//
//      a: 0 4                            a': 0 1 = shuffle(a, b, 0, 2)
//      b: 1 5                            b': 4 5 = shuffle(a, b, 1, 3)
//      c: 2 6                            c': 2 3 = shuffle(c, d, 0, 2)
//      d: 3 7                            d': 6 7 = shuffle(c, d, 1, 3)
#ifndef PERMC_KERNELS_TRANSFER_RELAYOUT_H
#define PERMC_KERNELS_TRANSFER_RELAYOUT_H

#include "kernels/transfer/address.h"

// From variables in[2^registers] of layout `from` to out[] of layout `to`, of elements of `bytes`
// bytes. Writes the shuffles; registers that only change their name keep their variables. A
// register whose elements are all dead has none: UINT32_MAX.
void c_relayout(c_writer *w, uint32_t bytes, const register_layout *from, const register_layout *to,
                const uint32_t *in, uint32_t *out);

#endif
