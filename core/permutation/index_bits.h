// Operations on integers from 0 to 2^63 - 1 whose bits are affine forms of the bits of an index:
// where i is the index x, i xor 5, 2 * i + 1 and i / 4 are such integers, but i + 1 is not.
//
//   i                bits x2, x1, x0
//   i xor 5          bits x2^1, x1, x0^1
//   2 * i + 1        bits x2, x1, x0, 1
//   i / 4            bit x2
#ifndef PERMC_CORE_PERMUTATION_INDEX_BITS_H
#define PERMC_CORE_PERMUTATION_INDEX_BITS_H

#include "core/f2.h"
#include "core/scalar/scalar.h"

// Such an integer: bit i is row i, of F2_MAX rows.
typedef f2_affine index_bits;

// x op y, on forms of the same index. False: it is no such integer.
bool index_bits_apply(scalar_op op, const index_bits *x, const index_bits *y, index_bits *out);

#endif
