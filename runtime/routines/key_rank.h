// The ranks of keys (key_order.h), by their bits. Libraries made ahead of time contain this text.
#ifndef PERMC_RUNTIME_ROUTINES_KEY_RANK_H
#define PERMC_RUNTIME_ROUTINES_KEY_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
