// Sums, products, quotients and roots of vectors of f16, by the instructions of x86 that convert
// such vectors. This text stands in generated code that needs it. They round as
// core/scalar/half.inc does; every NaN is made the usual one.
//
//   __m512i sum = permc_add_32(a, b);     32 lanes; likewise permc_add_8, permc_add_16
//
// PERMC_HALVES: the most lanes; 0 where there are no such instructions.
#if defined(__F16C__) && defined(__AVX2__) && !defined(PERMC_PLAIN)
#include <immintrin.h>
#define PERMC_INLINE static inline __attribute__((always_inline))

PERMC_INLINE __m256 permc_widen_8(__m128i a) { return _mm256_cvtph_ps(a); }
PERMC_INLINE __m128i permc_narrow_8(__m256 a) {
  const __m128i x = _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT);
  const __m128i size = _mm_and_si128(x, _mm_set1_epi16(0x7fff));
  return _mm_blendv_epi8(x, _mm_set1_epi16(0x7e00), _mm_cmpgt_epi16(size, _mm_set1_epi16(0x7c00)));
}

#ifdef __AVX512F__
#define PERMC_HALVES 32
PERMC_INLINE __m512 permc_widen_16(__m256i a) { return _mm512_cvtph_ps(a); }
PERMC_INLINE __m256i permc_narrow_16(__m512 a) {
  const __m256i x = _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT);
  const __m256i size = _mm256_and_si256(x, _mm256_set1_epi16(0x7fff));
  const __m256i nan = _mm256_cmpgt_epi16(size, _mm256_set1_epi16(0x7c00));
  return _mm256_blendv_epi8(x, _mm256_set1_epi16(0x7e00), nan);
}
#define PERMC_WIDER_HALVES(name, of_16)                                                            \
  PERMC_INLINE __m256i permc_##name##_16(__m256i a, __m256i b) {                                   \
    const __m512 x = permc_widen_16(a), y = permc_widen_16(b);                                     \
    (void)y;                                                                                       \
    return permc_narrow_16(of_16);                                                                 \
  }                                                                                                \
  PERMC_INLINE __m512i permc_##name##_32(__m512i a, __m512i b) {                                   \
    const __m256i low = permc_##name##_16(_mm512_castsi512_si256(a), _mm512_castsi512_si256(b));   \
    const __m256i high =                                                                           \
        permc_##name##_16(_mm512_extracti64x4_epi64(a, 1), _mm512_extracti64x4_epi64(b, 1));       \
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);                               \
  }
#else
#define PERMC_HALVES 16
#define PERMC_WIDER_HALVES(name, of_16)                                                            \
  PERMC_INLINE __m256i permc_##name##_16(__m256i a, __m256i b) {                                   \
    const __m128i low = permc_##name##_8(_mm256_castsi256_si128(a), _mm256_castsi256_si128(b));    \
    const __m128i high =                                                                           \
        permc_##name##_8(_mm256_extracti128_si256(a, 1), _mm256_extracti128_si256(b, 1));          \
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);                          \
  }
#endif

// Of x and y, as f32. (A root is that of x.)
#define PERMC_HALVES_BY(name, of_8, of_16)                                                         \
  PERMC_INLINE __m128i permc_##name##_8(__m128i a, __m128i b) {                                    \
    const __m256 x = permc_widen_8(a), y = permc_widen_8(b);                                       \
    (void)y;                                                                                       \
    return permc_narrow_8(of_8);                                                                   \
  }                                                                                                \
  PERMC_WIDER_HALVES(name, of_16)
PERMC_HALVES_BY(add, x + y, x + y)
PERMC_HALVES_BY(sub, x - y, x - y)
PERMC_HALVES_BY(mul, x *(y), x *(y))
PERMC_HALVES_BY(div, x / y, x / y)
PERMC_HALVES_BY(sqrt, _mm256_sqrt_ps(x), _mm512_sqrt_ps(x))
#else
#define PERMC_HALVES 0
#endif
