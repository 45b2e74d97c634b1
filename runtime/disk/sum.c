// Checksums of blocks: eight chains of multiplications, side by side, so that memory is the limit. And of
// the blocks of a file.
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

// ---- of a file ---------------------------------------------------------------------------------

// Blocks first, ..., end - 1 are inside of the bytes.
static void blocks_inside(const disk_sums *s, uint64_t offset, uint64_t bytes, uint64_t *first,
                          uint64_t *end) {
  *first = (offset + s->block - 1) / s->block;
  *end = (offset + bytes) / s->block;
}

static uint64_t sum_of_block(const disk_sums *s, uint64_t offset, const void *memory,
                             uint64_t block) {
  uint64_t sum = disk_sum((const char *)memory + (block * s->block - offset), s->block);
  return sum ? sum : 1;
}

void disk_sums_note(const disk_sums *s, uint64_t offset, const void *memory, uint64_t bytes) {
  uint64_t first, end;
  if (!s->count || !bytes)
    return;
  blocks_inside(s, offset, bytes, &first, &end);
  s->of[offset / s->block] = s->of[(offset + bytes - 1) / s->block] = 0;
  for (uint64_t b = first; b < end; b++)
    s->of[b] = sum_of_block(s, offset, memory, b);
}

bool disk_sums_hold(const disk_sums *s, uint64_t offset, const void *memory, uint64_t bytes,
                    uint64_t *wrong) {
  uint64_t first, end;
  if (!s->count || !bytes)
    return true;
  blocks_inside(s, offset, bytes, &first, &end);
  for (*wrong = first; *wrong < end; ++*wrong)
    if (s->of[*wrong] && s->of[*wrong] != sum_of_block(s, offset, memory, *wrong))
      return false;
  return true;
}
