// Checksums of blocks: eight chains of multiplications, side by side, so that memory is the limit.
#include "runtime/disk/disk.h"

#include <string.h>

enum { CHAINS = 8 };

static inline uint64_t turn(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

// One to one in the word and in the chain: of two blocks that differ in one word, it differs.
static inline uint64_t add_word(uint64_t chain, uint64_t word) {
  return turn((chain ^ word) * UINT64_C(0x9e3779b97f4a7c15), 29);
}

uint64_t disk_sum(const void *bytes, uint64_t count) {
  const unsigned char *at = bytes;
  uint64_t chains[CHAINS] = {1, 2, 3, 4, 5, 6, 7, 8}, sum = count;
  for (; count >= sizeof chains; at += sizeof chains, count -= sizeof chains) {
    uint64_t words[CHAINS];
    memcpy(words, at, sizeof words);
    for (int c = 0; c < CHAINS; c++)
      chains[c] = add_word(chains[c], words[c]);
  }
  for (; count > 0; at++, count--)
    chains[count % CHAINS] = add_word(chains[count % CHAINS], *at);
  for (int c = 0; c < CHAINS; c++)
    sum = add_word(sum, chains[c]);
  return sum ^ sum >> 32;
}
