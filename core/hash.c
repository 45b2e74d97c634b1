#include "core/hash.h"
#include <string.h>

// Every bit of the result depends on every bit of x (the finaliser of MurmurHash3).
static uint64_t hash_mix(uint64_t x) {
  x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
  x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
  return x ^ x >> 33;
}

uint64_t hash_bytes(const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  uint64_t hash = count * UINT64_C(0x9e3779b97f4a7c15);
  for (; count >= 8; at += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    hash = hash_mix(hash ^ word) + UINT64_C(0x9e3779b97f4a7c15);
  }
  uint64_t rest = 0;
  if (count)
    memcpy(&rest, at, count);
  return hash_mix(hash ^ rest);
}
