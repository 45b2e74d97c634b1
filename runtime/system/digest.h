// A cryptographic digest: BLAKE2b with 32 bytes (RFC 7693; Aumasson, Neves, Wilcox-O'Hearn and
// Winnerlein 2013). It names and checks what lies in the cache of compiled code. Our own 60 lines:
// no digest is in the C library, and this one is faster than SHA-256 where there is no instruction
// for that.
//
//   digest d = digest_start();
//   digest_add(&d, "abc", 3);
//   digest_finish_hex(&d, out); // bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319
#ifndef PERMC_RUNTIME_SYSTEM_DIGEST_H
#define PERMC_RUNTIME_SYSTEM_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { DIGEST_BYTES = 32, DIGEST_BLOCK = 128 };

typedef struct digest {
  uint64_t h[8], count;  // bytes so far; less than 2^64
  unsigned char block[DIGEST_BLOCK];
  size_t held;  // bytes in the block
} digest;

digest digest_start(void);
void digest_add(digest *d, const void *bytes, size_t count);
void digest_finish(digest *d, unsigned char out[DIGEST_BYTES]);
// As 64 hexadecimal digits and a 0.
void digest_finish_hex(digest *d, char out[2 * DIGEST_BYTES + 1]);

#endif
