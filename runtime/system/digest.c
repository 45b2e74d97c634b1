// BLAKE2b (RFC 7693, section 3). See digest.h.
#include "runtime/system/digest.h"

#include <string.h>

static const uint64_t initial[8] = {
    UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b), UINT64_C(0x3c6ef372fe94f82b),
    UINT64_C(0xa54ff53a5f1d36f1), UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
    UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179),
};

static const unsigned char message_order[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static inline uint64_t rotate_right(uint64_t x, int by) { return x >> by | x << (64 - by); }

#define MIX(a, b, c, d, x, y)                                                                      \
  do {                                                                                             \
    v[a] += v[b] + (x);                                                                            \
    v[d] = rotate_right(v[d] ^ v[a], 32);                                                          \
    v[c] += v[d];                                                                                  \
    v[b] = rotate_right(v[b] ^ v[c], 24);                                                          \
    v[a] += v[b] + (y);                                                                            \
    v[d] = rotate_right(v[d] ^ v[a], 16);                                                          \
    v[c] += v[d];                                                                                  \
    v[b] = rotate_right(v[b] ^ v[c], 63);                                                          \
  } while (0)

static void compress_block(digest *d, const unsigned char *block, uint64_t last) {
  uint64_t v[16], m[16];
  memcpy(m, block, DIGEST_BLOCK);  // little-endian, as permc is
  memcpy(v, d->h, sizeof d->h);
  memcpy(v + 8, initial, sizeof initial);
  v[12] ^= d->count;
  v[14] ^= last;
  for (int round = 0; round < 12; round++) {
    const unsigned char *s = message_order[round % 10];
    MIX(0, 4, 8, 12, m[s[0]], m[s[1]]);
    MIX(1, 5, 9, 13, m[s[2]], m[s[3]]);
    MIX(2, 6, 10, 14, m[s[4]], m[s[5]]);
    MIX(3, 7, 11, 15, m[s[6]], m[s[7]]);
    MIX(0, 5, 10, 15, m[s[8]], m[s[9]]);
    MIX(1, 6, 11, 12, m[s[10]], m[s[11]]);
    MIX(2, 7, 8, 13, m[s[12]], m[s[13]]);
    MIX(3, 4, 9, 14, m[s[14]], m[s[15]]);
  }
  for (int i = 0; i < 8; i++)
    d->h[i] ^= v[i] ^ v[i + 8];
}

digest digest_start(void) {
  digest d = {.count = 0};
  memcpy(d.h, initial, sizeof initial);
  d.h[0] ^= UINT64_C(0x01010000) ^ DIGEST_BYTES;
  return d;
}

// The last block is told from the others, so a full block waits until more comes.
void digest_add(digest *d, const void *bytes, size_t count) {
  const unsigned char *from = bytes;
  while (count > 0) {
    if (d->held == DIGEST_BLOCK) {
      d->count += DIGEST_BLOCK;
      compress_block(d, d->block, 0);
      d->held = 0;
    }
    size_t some = DIGEST_BLOCK - d->held < count ? DIGEST_BLOCK - d->held : count;
    memcpy(d->block + d->held, from, some);
    d->held += some;
    from += some;
    count -= some;
  }
}

void digest_finish(digest *d, unsigned char out[DIGEST_BYTES]) {
  d->count += d->held;
  memset(d->block + d->held, 0, DIGEST_BLOCK - d->held);
  compress_block(d, d->block, UINT64_MAX);
  memcpy(out, d->h, DIGEST_BYTES);
}

void digest_finish_hex(digest *d, char out[2 * DIGEST_BYTES + 1]) {
  static const char digits[] = "0123456789abcdef";
  unsigned char bytes[DIGEST_BYTES];
  digest_finish(d, bytes);
  for (size_t i = 0; i < DIGEST_BYTES; i++) {
    out[2 * i] = digits[bytes[i] >> 4];
    out[2 * i + 1] = digits[bytes[i] & 15];
  }
  out[2 * DIGEST_BYTES] = 0;
}
