// A set of numbers, a bit for each: which were seen.
#ifndef PERMC_CORE_PERMUTATION_MARK_H
#define PERMC_CORE_PERMUTATION_MARK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// The empty set of numbers below `count`: count / 32 + 1 words.
static inline void mark_none(uint32_t *seen, uint64_t count) {
  memset(seen, 0, (count / 32 + 1) * sizeof *seen);
}

// Whether a number is new; it is not from then on.
static inline bool mark(uint32_t *seen, uint64_t number) {
  uint32_t bit = UINT32_C(1) << number % 32, *word = &seen[number / 32];
  bool is_new = (*word & bit) == 0;
  *word |= bit;
  return is_new;
}

#endif
