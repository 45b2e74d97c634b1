// Checksums: of bytes, by eight chains of multiplications, side by side, so that memory is the
// limit; and of the blocks of a file, which are sums, so that a block may be moved in pieces.
#include "runtime/disk/disk.h"

#include <pthread.h>
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

// ---- stretches ---------------------------------------------------------------------------------
//
//   the sum over words w (32 bits) of the file, modulo 2^64, of   w * key(place in its page) * key(page)
//
// Keys are odd, so that a change of one word changes it. It is multilinear hashing (Lemire and
// Kaser, Strongly universal string hashing is fast, 2014, section 2) with keys that are fixed:
// other damage is not seen in one of about 2^32 cases.

enum { WORD = 4, PAGE_WORDS = DISK_PAGE / WORD };
static uint64_t word_keys[PAGE_WORDS];
static pthread_once_t has_keys = PTHREAD_ONCE_INIT;

// SplitMix64 (Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014).
static uint64_t key_of(uint64_t number) {
  uint64_t x = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return (x ^ x >> 31) | 1;
}

static void make_keys(void) {
  for (uint64_t i = 0; i < PAGE_WORDS; i++)
    word_keys[i] = key_of(i);
}

// Of bytes inside of one word of the file; the others of it are zeros.
static uint64_t sum_in_word(uint64_t offset, const char *memory, uint64_t bytes) {
  unsigned char word[WORD] = {0};
  uint32_t w;
  memcpy(word + offset % WORD, memory, bytes);
  memcpy(&w, word, WORD);
  return w * word_keys[offset % DISK_PAGE / WORD];
}

static uint64_t sum_of_words(const uint64_t *keys, const char *memory, uint64_t words) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < words; i++) {
    uint32_t w;
    memcpy(&w, memory + i * WORD, WORD);
    sum += w * keys[i];
  }
  return sum;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t sum_in_page(uint64_t offset, const char *memory, uint64_t bytes) {
  uint64_t head = least(-offset % WORD, bytes), words = (bytes - head) / WORD,
           tail = (bytes - head) % WORD, sum = 0;
  if (head)
    sum += sum_in_word(offset, memory, head);
  sum += sum_of_words(word_keys + (offset + head) % DISK_PAGE / WORD, memory + head, words);
  if (tail)
    sum += sum_in_word(offset + bytes - tail, memory + bytes - tail, tail);
  return sum;
}

uint64_t disk_sum_of_stretch(uint64_t offset, const void *memory, uint64_t bytes) {
  const char *at = memory;
  uint64_t sum = 0;
  pthread_once(&has_keys, make_keys);
  while (bytes > 0) {
    uint64_t some = least(DISK_PAGE - offset % DISK_PAGE, bytes);
    sum += sum_in_page(offset, at, some) * key_of(~(offset / DISK_PAGE));
    offset += some;
    at += some;
    bytes -= some;
  }
  return sum;
}

// ---- of a file ---------------------------------------------------------------------------------

// What some bytes of the file have of a block.
typedef struct piece {
  disk_block *block;
  uint64_t bytes, all;  // of the block
  uint64_t sum;
} piece;

// The one at `*offset`, up to `end`; *offset goes behind it.
static piece next_piece(const disk_sums *s, uint64_t *offset, uint64_t end, const char *memory) {
  uint64_t number = *offset / s->block, first = number * s->block, last = first + s->block;
  first = first < s->begin ? s->begin : first;
  last = least(last, s->end);
  uint64_t bytes = least((number + 1) * s->block, end) - *offset;
  piece p = {&s->of[number], bytes, last - first, disk_sum_of_stretch(*offset, memory, bytes)};
  *offset += bytes;
  return p;
}

void disk_sums_note(const disk_sums *s, bool once, uint64_t offset, const void *memory,
                    uint64_t bytes) {
  uint64_t end = offset + bytes, at = offset;
  while (s->count && at < end) {
    piece p = next_piece(s, &at, end, (const char *)memory + (at - offset));
    if (p.bytes == p.all) {
      atomic_store(&p.block->written, p.sum);
      atomic_store(&p.block->unknown, 0);
    } else if (once)
      atomic_fetch_add(&p.block->written, p.sum);
    else
      atomic_store(&p.block->unknown, 1);
  }
}

static bool is_as_written(const piece *p, uint64_t sum) {
  return atomic_load(&p->block->unknown) || atomic_load(&p->block->written) == sum;
}

// Adds what was read; when that is all of the block, compares.
static bool add_read(const piece *p) {
  atomic_fetch_add(&p->block->read, p->sum);
  if (atomic_fetch_add(&p->block->bytes, (uint32_t)p->bytes) + p->bytes != p->all)
    return true;
  atomic_store(&p->block->bytes, 0);
  return is_as_written(p, atomic_exchange(&p->block->read, 0));
}

bool disk_sums_hold(const disk_sums *s, bool once, uint64_t offset, const void *memory,
                    uint64_t bytes, uint64_t *wrong) {
  uint64_t end = offset + bytes, at = offset;
  bool good = true;
  while (s->count && at < end && good) {
    *wrong = at / s->block;
    piece p = next_piece(s, &at, end, (const char *)memory + (at - offset));
    if (p.bytes == p.all)
      good = is_as_written(&p, p.sum);
    else if (once)
      good = add_read(&p);
  }
  return good;
}

void disk_sums_take(const disk_sums *s, uint64_t offset, const void *memory, uint64_t bytes) {
  uint64_t end = offset + bytes, at = offset;
  while (s->count && at < end) {
    piece p = next_piece(s, &at, end, (const char *)memory + (at - offset));
    atomic_fetch_sub(&p.block->written, p.sum);
  }
}

bool disk_sums_all_hold(const disk_sums *s, uint64_t *wrong) {
  bool good = true;
  for (uint64_t b = 0; b < s->count && good; b++) {
    const disk_block *k = &s->of[b];
    *wrong = b;
    good = !atomic_load(&k->bytes) || atomic_load(&k->unknown) ||
           atomic_load(&k->read) == atomic_load(&k->written);
  }
  return good;
}

void disk_sums_begin(const disk_sums *s) {
  for (uint64_t b = 0; b < s->count; b++) {
    atomic_store(&s->of[b].read, 0);
    atomic_store(&s->of[b].bytes, 0);
  }
}

void disk_sums_doubt(const disk_sums *s) {
  for (uint64_t b = 0; b < s->count; b++)
    atomic_store(&s->of[b].unknown, 1);
}

void disk_sums_clear(const disk_sums *s) {
  for (uint64_t b = 0; b < s->count; b++)
    memset(&s->of[b], 0, sizeof s->of[b]);
}
