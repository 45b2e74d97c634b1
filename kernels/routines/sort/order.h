// Text of what sorts of keys share: keys as unsigned numbers of their order.
#ifndef PERMC_KERNELS_ROUTINES_SORT_ORDER_H
#define PERMC_KERNELS_ROUTINES_SORT_ORDER_H

#include "core/scalar/scalar.h"
#include "core/text.h"

// The unsigned type of 1, 2, 4 or 8 bytes.
const char *unsigned_of(uint32_t bytes);

// A function `name` that makes a key of this type an unsigned number with the order of the key: a
// flipped sign, all bits of negative floats flipped, all NaN equal, all bits flipped where they
// descend. And `last`, a key that none comes behind.
void write_sort_order(text *out, const char *name, const char *last, scalar_type type,
                      bool descending);

#endif
