// Sums, products, quotients and roots of vectors of f16, by the instructions of x86 that convert
// such vectors. This text stands in generated code that needs it. They round as lang/scalar_half.inc
// does; every NaN is made the usual one.
//
// PERMC_HALVES: the most lanes; 0 where there are no such instructions.
#if defined(__F16C__) && defined(__AVX2__) && !defined(PERMC_PLAIN)
#include <immintrin.h>
#ifdef __AVX512F__
#define PERMC_HALVES 32
#else
#define PERMC_HALVES 16
#endif
#define PERMC_INLINE static inline __attribute__((always_inline))

PERMC_INLINE __m256 permc_widen_8(__m128i a) { return _mm256_cvtph_ps(a); }
PERMC_INLINE __m128i permc_narrow_8(__m256 a) {
  const __m128i x = _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT);
  const __m128i size = _mm_and_si128(x, _mm_set1_epi16(0x7fff));
  return _mm_blendv_epi8(x, _mm_set1_epi16(0x7e00), _mm_cmpgt_epi16(size, _mm_set1_epi16(0x7c00)));
}
#ifdef __AVX512F__
PERMC_INLINE __m512 permc_widen_16(__m256i a) { return _mm512_cvtph_ps(a); }
PERMC_INLINE __m256i permc_narrow_16(__m512 a) {
  const __m256i x = _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT);
  const __m256i size = _mm256_and_si256(x, _mm256_set1_epi16(0x7fff));
  const __m256i nan = _mm256_cmpgt_epi16(size, _mm256_set1_epi16(0x7c00));
  return _mm256_blendv_epi8(x, _mm256_set1_epi16(0x7e00), nan);
}
#endif

// Wider vectors as halves of them.
#define PERMC_LOW_16(x) _mm256_castsi256_si128(x)
#define PERMC_HIGH_16(x) _mm256_extracti128_si256(x, 1)
#define PERMC_BOTH_16(low, high) _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1)
#define PERMC_LOW_32(x) _mm512_castsi512_si256(x)
#define PERMC_HIGH_32(x) _mm512_extracti64x4_epi64(x, 1)
#define PERMC_BOTH_32(low, high) _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1)

#ifdef __AVX512F__
#define PERMC_HALVES_2(name, sign)                                                                 \
  PERMC_INLINE __m128i permc_##name##_8(__m128i a, __m128i b) {                                    \
    return permc_narrow_8(permc_widen_8(a) sign permc_widen_8(b));                                 \
  }                                                                                                \
  PERMC_INLINE __m256i permc_##name##_16(__m256i a, __m256i b) {                                   \
    return permc_narrow_16(permc_widen_16(a) sign permc_widen_16(b));                              \
  }                                                                                                \
  PERMC_INLINE __m512i permc_##name##_32(__m512i a, __m512i b) {                                   \
    return PERMC_BOTH_32(permc_##name##_16(PERMC_LOW_32(a), PERMC_LOW_32(b)),                      \
                         permc_##name##_16(PERMC_HIGH_32(a), PERMC_HIGH_32(b)));                   \
  }
PERMC_INLINE __m128i permc_sqrt_8(__m128i a) {
  return permc_narrow_8(_mm256_sqrt_ps(permc_widen_8(a)));
}
PERMC_INLINE __m256i permc_sqrt_16(__m256i a) {
  return permc_narrow_16(_mm512_sqrt_ps(permc_widen_16(a)));
}
PERMC_INLINE __m512i permc_sqrt_32(__m512i a) {
  return PERMC_BOTH_32(permc_sqrt_16(PERMC_LOW_32(a)), permc_sqrt_16(PERMC_HIGH_32(a)));
}
#else
#define PERMC_HALVES_2(name, sign)                                                                 \
  PERMC_INLINE __m128i permc_##name##_8(__m128i a, __m128i b) {                                    \
    return permc_narrow_8(permc_widen_8(a) sign permc_widen_8(b));                                 \
  }                                                                                                \
  PERMC_INLINE __m256i permc_##name##_16(__m256i a, __m256i b) {                                   \
    return PERMC_BOTH_16(permc_##name##_8(PERMC_LOW_16(a), PERMC_LOW_16(b)),                       \
                         permc_##name##_8(PERMC_HIGH_16(a), PERMC_HIGH_16(b)));                    \
  }
PERMC_INLINE __m128i permc_sqrt_8(__m128i a) {
  return permc_narrow_8(_mm256_sqrt_ps(permc_widen_8(a)));
}
PERMC_INLINE __m256i permc_sqrt_16(__m256i a) {
  return PERMC_BOTH_16(permc_sqrt_8(PERMC_LOW_16(a)), permc_sqrt_8(PERMC_HIGH_16(a)));
}
#endif
PERMC_HALVES_2(add, +)
PERMC_HALVES_2(sub, -)
PERMC_HALVES_2(mul, *)
PERMC_HALVES_2(div, /)
#else
#define PERMC_HALVES 0
#endif
