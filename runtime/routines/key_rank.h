// The ranks of keys (key_order.h), by their bits. A door of this room.
#ifndef PERMC_RUNTIME_ROUTINES_KEY_RANK_H
#define PERMC_RUNTIME_ROUTINES_KEY_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

static inline bool order_is_descending(const key_order *o) { return o->nan == 0; }

static inline bool key_is_nan(const key_order *o, uint64_t key) {
  return (key & o->magnitude) > o->infinity;
}

// Of a key that is no NaN.
static inline uint64_t key_encode(const key_order *o, uint64_t key) {
  return key ^ (key > o->magnitude ? o->code.negative : 0) ^ o->code.all;
}

static inline uint64_t key_decode(const key_order *o, uint64_t word) {
  uint64_t key = word ^ o->code.all;
  return key ^ (key > o->magnitude ? o->code.negative : 0);
}

static inline uint64_t key_rank(const key_order *o, uint64_t key) {
  return key_is_nan(o, key) ? o->nan : key_encode(o, key);
}

// An unsigned number of 1, 2, 4 or 8 bytes; of more, the first 8, for FOR_ELEMENT_SIZE goes on to
// 16.
static inline uint64_t load_key(const void *keys, uint64_t i, size_t size) {
  const char *at = (const char *)keys + i * size;
  uint16_t two;
  uint32_t four;
  uint64_t eight;
  switch (size) {
  case 1:
    return *(const uint8_t *)at;
  case 2:
    memcpy(&two, at, 2);
    return two;
  case 4:
    memcpy(&four, at, 4);
    return four;
  default:
    memcpy(&eight, at, 8);
    return eight;
  }
}

static inline void store_key(char *to, uint64_t i, size_t size, uint64_t key) {
  memcpy(to + i * size, &key, size < 8 ? size : 8);
}

#endif
