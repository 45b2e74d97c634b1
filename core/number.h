// Whole numbers: what several rooms compute of them.
#ifndef PERMC_CORE_NUMBER_H
#define PERMC_CORE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool is_power_of_two(uint64_t x) { return x && !(x & (x - 1)); }

static inline uint64_t magnitude_of(int64_t x) { return x < 0 ? -(uint64_t)x : (uint64_t)x; }

// How many b it takes for a.
static inline uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

// Bits of the numbers 0 ... limit - 1: of 5 of them 3, of one 1, of none 0.
static inline uint32_t bits_below(uint64_t limit) {
  return limit > 1 ? 64 - (uint32_t)__builtin_clzll(limit - 1) : (uint32_t)limit;
}

static inline uint64_t product_of(const uint64_t *numbers, size_t count) {
  uint64_t product = 1;
  for (size_t i = 0; i < count; i++)
    product *= numbers[i];
  return product;
}

static inline uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// compare_u32 and its kin: two numbers of one type, for qsort and bsearch.
#define COMPARE_NUMBERS(name, type)                                                                \
  static inline int compare_##name(const void *a, const void *b) {                                 \
    type x = *(const type *)a, y = *(const type *)b;                                               \
    return (x > y) - (x < y);                                                                      \
  }
COMPARE_NUMBERS(u32, uint32_t)
COMPARE_NUMBERS(u64, uint64_t)
COMPARE_NUMBERS(f64, double)
#undef COMPARE_NUMBERS

#endif
