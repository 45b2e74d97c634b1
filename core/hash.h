// A hash of bytes, for tables in memory (files have their own: runtime/system/digest.h).
#ifndef PERMC_CORE_HASH_H
#define PERMC_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *bytes, size_t count);

// Of a sequence of words, one after the other: of those before, and the next one.
static inline uint64_t hash_word(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 32;
}

#endif
