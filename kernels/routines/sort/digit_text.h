// Digits of 8 bits, of keys on their way through a sort, and the lanes of a warp that have the same
// one. This text stands in generated files as it is here, behind kernels/text/cuda_host.h and
// SORT_KEY, an unsigned type.
#ifndef PERMC_KERNELS_ROUTINES_SORT_DIGIT_TEXT_H
#define PERMC_KERNELS_ROUTINES_SORT_DIGIT_TEXT_H

#ifdef PERMC_HOST
static inline uint32_t sort_digit(SORT_KEY w, uint32_t number) {
  return (uint32_t)(w >> 8 * number) & 255;
}

// How many keys of the warp before this one have the digit. Counts this one.
#define sort_rank(counter, digit, t) ((uint32_t)(*(counter))++)
#else
static inline uint32_t sort_digit(SORT_KEY w, uint32_t number) {
  if (sizeof w == 4)
    return __byte_perm((uint32_t)w, 0, 0x4440 + number);
  return (uint32_t)(w >> 8 * number) & 255;
}

// The lanes whose bit is the same. The others' complement is a product here: sums and logic have
// one unit, and this kernel waits for it.
static inline uint32_t sort_vote(uint32_t digit, uint32_t bit) {
  uint32_t vote;
  asm volatile("{ .reg .pred one; .reg .b32 b; and.b32 b, %1, %2; setp.ne.u32 one, b, 0;\n"
               "vote.sync.ballot.b32 %0, one, -1; @!one mad.lo.u32 %0, %0, %3, %3; }"
               : "=r"(vote)
               : "r"(digit), "r"(bit), "r"(0U - blockDim.y));
  return vote;
}

static inline uint32_t sort_and(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t all;
  asm("lop3.b32 %0, %1, %2, %3, 0x80;" : "=r"(all) : "r"(a), "r"(b), "r"(c));
  return all;
}

// The lanes whose digit is the same.
static inline uint32_t sort_same(uint32_t digit) {
  uint32_t same = sort_vote(digit, 1), vote[7];
  PERMC_UNROLL for (uint32_t k = 0; k < 7; k++) vote[k] = sort_vote(digit, 2U << k);
  same = sort_and(same, vote[0], vote[1]);
  same = sort_and(same, vote[2], vote[3]);
  same = sort_and(same, vote[4], vote[5]);
  return same & vote[6];
}

template <typename T> uint32_t sort_rank(volatile T *counter, uint32_t digit, uint32_t t) {
  const uint32_t same = sort_same(digit), before = __popc(same & ((1U << t % 32) - 1));
  const uint32_t old = *counter;
  __syncwarp();
  if (before == 0)
    *counter = (T)(old + __popc(same));
  __syncwarp();
  return old + before;
}
#endif

#endif
