// Quicksort of words in vectors, for AVX2 and AVX-512, chosen when the program runs, and by digits
// for other processors.
#include "runtime/routines/words.h"

#include "core/sanitized.h"

#define PASTE__2(a, b) a##b
#define PASTE_2(a, b) PASTE__2(a, b)
#define PASTE__3(a, b, c) a##_##b##_##c
#define PASTE_3(a, b, c) PASTE__3(a, b, c)
#define NAME(x) PASTE_3(x, WIDTH, SET)

#if defined(__x86_64__)
#include <immintrin.h>

// clang-format off
// Networks of the fewest comparators known.
#define NETWORK_4(C) C(0, 2) C(1, 3) C(0, 1) C(2, 3) C(1, 2)
#define NETWORK_8(C)                                                                               \
  C(0, 2) C(1, 3) C(4, 6) C(5, 7) C(0, 4) C(1, 5) C(2, 6) C(3, 7) C(0, 1) C(2, 3) C(4, 5) C(6, 7)  \
  C(2, 4) C(3, 5) C(1, 4) C(3, 6) C(1, 2) C(3, 4) C(5, 6)
#define NETWORK_16(C)                                                                              \
  C(0, 13) C(1, 12) C(2, 15) C(3, 14) C(4, 8) C(5, 6) C(7, 11) C(9, 10) C(0, 5) C(1, 7) C(2, 9)    \
  C(3, 4) C(6, 13) C(8, 14) C(10, 15) C(11, 12) C(0, 1) C(2, 3) C(4, 5) C(6, 8) C(7, 9) C(10, 11)  \
  C(12, 13) C(14, 15) C(0, 2) C(1, 3) C(4, 10) C(5, 11) C(6, 7) C(8, 9) C(12, 14) C(13, 15)        \
  C(1, 2) C(3, 12) C(4, 6) C(5, 7) C(8, 10) C(9, 11) C(13, 14) C(1, 4) C(2, 6) C(5, 8) C(7, 10)    \
  C(9, 13) C(11, 14) C(2, 4) C(3, 6) C(9, 12) C(11, 13) C(3, 5) C(6, 8) C(7, 9) C(10, 12) C(3, 4)  \
  C(5, 6) C(7, 8) C(9, 10) C(11, 12) C(6, 7) C(8, 9)
// clang-format on

// For each set of lanes out of eight, given by bits: the lanes in it, then the others; a byte each.
#define BELOW(set, i) __builtin_popcount((set) & ((1 << (i)) - 1))
#define LANE(set, i)                                                                               \
  ((uint64_t)(i) << 8 * ((set) >> (i)&1 ? BELOW(set, i) : BELOW(set, 8) + (i)-BELOW(set, i)))
#define LANES_OF(set)                                                                              \
  LANE(set, 0) | LANE(set, 1) | LANE(set, 2) | LANE(set, 3) | LANE(set, 4) | LANE(set, 5) |        \
      LANE(set, 6) | LANE(set, 7)
#define SETS_4(n) LANES_OF(n), LANES_OF((n) + 1), LANES_OF((n) + 2), LANES_OF((n) + 3)
#define SETS_16(n) SETS_4(n), SETS_4((n) + 4), SETS_4((n) + 8), SETS_4((n) + 12)
#define SETS_64(n) SETS_16(n), SETS_16((n) + 16), SETS_16((n) + 32), SETS_16((n) + 48)
static const uint64_t lanes_of[256] = {SETS_64(0), SETS_64(64), SETS_64(128), SETS_64(192)};

#endif

static bool word_job_interrupted(const word_job *j) {
  return j->interrupted && atomic_load_explicit(j->interrupted, memory_order_relaxed);
}

typedef uint32_t __attribute__((may_alias)) word_32;
typedef uint64_t __attribute__((may_alias)) word_64;
typedef int32_t integer_32;
typedef int64_t integer_64;

// What words.inc is written in, by WIDTH and SET.
#define WORD PASTE_2(word_, WIDTH)
#define INTEGER PASTE_2(integer_, WIDTH)
#define LANES PASTE_2(LANES_, WIDTH)
#define VECTOR NAME(vector)
#define INTEGERS NAME(integers)
#define FEW_WORDS (LANES == 1 ? ROWS : 2 * ROWS * LANES)  // words: sorted at once
#define IOTA_4 0, 1, 2, 3
#define IOTA_8 IOTA_4, 4, 5, 6, 7
#define IOTA_16 IOTA_8, 8, 9, 10, 11, 12, 13, 14, 15
#define IOTA ((VECTOR){PASTE_2(IOTA_, LANES)})

#if SANITIZED  // Compilers take half a minute for what is inlined and unrolled then.
#define INLINE static inline
#define EACH(i, count) for (uint32_t i = 0; i < (count); i++)
#else
#define INLINE static inline __attribute__((always_inline))
#define EACH(i, count) _Pragma("GCC unroll 16") for (uint32_t i = 0; i < (count); i++)
#endif

#define WIDTH 32
#include "runtime/routines/words_scalar.inc"
#define WIDTH 64
#include "runtime/routines/words_scalar.inc"
#if defined(__x86_64__)
#define WIDTH 32
#include "runtime/routines/words_avx2.inc"
#define WIDTH 64
#include "runtime/routines/words_avx2.inc"
#define WIDTH 32
#include "runtime/routines/words_avx512.inc"
#define WIDTH 64
#include "runtime/routines/words_avx512.inc"
#endif

const word_sorter *word_sorter_find(size_t size, uint32_t most) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool any = most == 0, popcnt = __builtin_cpu_supports("popcnt");
  if ((any || most >= 64) && popcnt && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2"))
    return size == 4 ? &sorter_32_avx512 : &sorter_64_avx512;
  if ((any || most >= 32) && popcnt && __builtin_cpu_supports("avx2"))
    return size == 4 ? &sorter_32_avx2 : &sorter_64_avx2;
#endif
  (void)most;
  return size == 4 ? &sorter_32_scalar : &sorter_64_scalar;
}
