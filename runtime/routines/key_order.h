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
#include <string.h>

// Keys that are no unsigned numbers are encoded as words of the same order and back: x becomes
// x ^ (x < 0 ? negative : 0) ^ all, where negative lacks the sign. {0, 0}: as they are.
//   i32, ascending    {0, 0x80000000}
//   f32, ascending    {0x7fffffff, 0x80000000}     -0.0 before 0.0; NaN at both ends
//   descending        the same with ~all
typedef struct word_code {
  uint64_t negative, all;
} word_code;

typedef struct key_order {
  size_t size;     // bytes of a key
  uint32_t bits;   // that ranks have
  word_code code;  // how they are made of keys that are no NaN
  // NaN are magnitudes above infinity, and of rank nan; UINT64_MAX: there is none.
  uint64_t magnitude, infinity, nan;
} key_order;

// bits: not 0: the keys are integers 0 ... 2^bits - 1.
static inline key_order key_order_of(scalar_type type, bool descending, uint32_t bits) {
  key_order o = {.size = scalar_types[type].size, .infinity = UINT64_MAX};
  uint32_t width = 8 * (uint32_t)o.size;
  uint64_t all = UINT64_MAX >> (64 - width), sign = (all >> 1) + 1;
  scalar_kind kind = scalar_types[type].kind;
  o.bits = bits ? bits : width;
  o.magnitude = all >> 1;
  if (kind == KIND_FLOAT) {
    o.infinity = scalar_types[type].infinity;
    o.code.negative = all >> 1;
  }
  if (kind == KIND_FLOAT || (kind == KIND_SIGNED && !bits))
    o.code.all = sign;
  o.nan = descending ? 0 : all;
  if (descending)
    o.code.all ^= UINT64_MAX >> (64 - o.bits);
  return o;
}

// Keys have at most 8 bytes; FOR_ELEMENT_SIZE goes on to 16.
static inline uint64_t load_key(const char *keys, uint64_t i, size_t size) {
  uint64_t x = 0;
  memcpy(&x, keys + i * size, size < 8 ? size : 8);
  return x;
}

static inline void store_key(char *to, uint64_t i, size_t size, uint64_t key) {
  memcpy(to + i * size, &key, size < 8 ? size : 8);
}

static inline bool key_is_nan(const key_order *o, uint64_t key) {
  return (key & o->magnitude) > o->infinity;
}

// Of a key that is no NaN.
static inline uint64_t key_encode(const key_order *o, uint64_t key) {
  return key ^ (key > o->magnitude ? o->code.negative : 0) ^ o->code.all;
}

static inline uint64_t key_decode(const key_order *o, uint64_t rank) {
  uint64_t key = rank ^ o->code.all;
  return key ^ (key > o->magnitude ? o->code.negative : 0);
}

static inline uint64_t key_rank(const key_order *o, uint64_t key) {
  return key_is_nan(o, key) ? o->nan : key_encode(o, key);
}

#endif
