// Arrays that pass from shares to others, and indices that begin with their share.
#ifndef PERMC_FUSION_SHARES_PASSAGE_H
#define PERMC_FUSION_SHARES_PASSAGE_H

#include "core/f2.h"

// An affine map of p rows NUMBERS shares: index x belongs to share number(x).

// An array of 2^n elements that passes from shares to others: element x is stored by the writer at
// before(x) and read at after(x), and blocks of 2^block elements change places between.
typedef struct passage {
  f2_affine before, after;
  int block;
  f2_affine blocks;
} passage;
passage sharing_passage(f2_affine writer, f2_affine reader);

f2_affine sharing_stack(f2_affine low, f2_affine high);  // the rows of both
// Index bits, the lowest first, that complete the forms of `known` to all forms.
f2_affine sharing_rest(f2_space known);
// An index that begins with its share: the bits of sharing_rest, and above them the number.
f2_affine sharing_coordinates(f2_affine number);
// A number of shares that are cosets of v, with as many rows as `before`, and those of `before`
// that serve.
f2_affine sharing_number(f2_space v, f2_affine before);

#endif
