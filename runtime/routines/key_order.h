// Keys of all ordered types as unsigned numbers of the same order, their RANKS. A door of this
// room.
//
//   key_order o = key_order_of(SCALAR_F32, false, 0);
//   key_rank(&o, load_key(keys, i, 4)) < key_rank(&o, load_key(keys, j, 4))     key i stands before key j
//
// The order is the language's: see sort.h. All NaN have one rank, the highest of that many bits; or
// where the order is descending, the lowest. No other key has it.
#ifndef PERMC_RUNTIME_ROUTINES_KEY_ORDER_H
#define PERMC_RUNTIME_ROUTINES_KEY_ORDER_H

#include "core/scalar/scalar.h"
#include "runtime/routines/key_rank.h"

// bits: not 0: the keys are integers 0 ... 2^bits - 1. Of a type that has no order, which may have
// more than 8 bytes, only the size means something.
static inline key_order key_order_of(scalar_type of, bool descending, uint32_t bits) {
  key_order o = {.size = scalar_types[of].size, .infinity = UINT64_MAX};
  uint32_t width = o.size < 8 ? 8 * (uint32_t)o.size : 64;
  uint64_t all = UINT64_MAX >> (64 - width), sign = (all >> 1) + 1;
  scalar_kind kind = scalar_types[of].kind;
  o.bits = bits ? bits : width;
  o.magnitude = all >> 1;
  if (kind == KIND_FLOAT) {
    o.infinity = scalar_types[of].infinity;
    o.code.negative = all >> 1;
  }
  if (kind == KIND_FLOAT || (kind == KIND_SIGNED && !bits))
    o.code.all = sign;
  o.nan = descending ? 0 : all;
  if (descending)
    o.code.all ^= UINT64_MAX >> (64 - o.bits);
  return o;
}

#endif
