// Compare-exchange of floats in the total order, as minimum and maximum of integers.
//
// The total order has -0.0 before 0.0, NaN last, and all NaN equal: where two NaN meet, the network
// says which goes where, and their bits must not change. The bits of a float x as an integer, with
// the lower ones flipped if it is negative, are its KEY: keys have the order of the floats, and
// the float can be had back. So a slot whose ops in a pass are compare-exchanges alone holds keys
// from its load to its store, and each op is a minimum and a maximum:
//
//      float        -inf       -1         -0.0       0.0        1          inf        NaN
//      bits         ff800000   bf800000   80000000   00000000   3f800000   7f800000   7fc00000
//      key          807fffff   c07fffff   ffffffff   00000000   3f800000   7f800000   7fc00000
//
// That is right as long as all NaN have the same bits, the usual ones above. Loads look for odd
// ones; a tile that has some is worked on by a slower loop.
#ifndef PERMC_KERNELS_OPS_EXCHANGE_H
#define PERMC_KERNELS_OPS_EXCHANGE_H

#include "kernels/ops/op.h"

// By slot of the pass: whether it holds keys.
bool *c_keyed_slots(const c_pass *p);

// The bits of a float as a key.
uint64_t c_key_of(uint64_t bits, uint32_t bytes);

// Registers of floats to keys, looking for odd NaN: sets the variable `odd_nan` of the item.
void c_to_keys(c_phase *f, uint32_t slot);
// And to floats again, in new registers.
c_registers c_from_keys(c_phase *f, uint32_t slot);

// All ops of the phase on a keyed slot.
void c_exchange(c_phase *f, uint32_t slot, uint32_t op_count, const net_op *const *ops);

#endif
