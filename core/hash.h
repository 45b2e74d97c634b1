// A hash of bytes, for tables in memory (files have their own: runtime/system/digest.h).
#ifndef PERMC_CORE_HASH_H
#define PERMC_CORE_HASH_H

#include "core/memory.h"

uint64_t hash_bytes(const void *bytes, size_t count);

// Of a sequence of words, one after the other: of those before, and the next one.
static inline uint64_t hash_word(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 32;
}

// Numbers of things, by hashes of them: open addressing, at most half full. Who looks for a thing
// compares it with those whose hash agrees in the lowest bits:
//
//      uint32_t id;
//      for (size_t tried = 0; (id = hash_next(&t, hash, &tried)) != HASH_NONE;)
//        if (!strcmp(names[id], name))
//          return id;
//      hash_add(a, &t, hash, count);
#define HASH_NONE UINT32_MAX
typedef struct hash_slot {
  uint32_t hash, number;  // 1 + the number; 0: free
} hash_slot;
typedef struct hash_table {
  hash_slot *slots;
  size_t size, count;  // a power of two, or 0
} hash_table;
uint32_t hash_next(const hash_table *t, uint64_t hash, size_t *tried);
void hash_add(arena *a, hash_table *t, uint64_t hash, uint32_t number);

#endif
