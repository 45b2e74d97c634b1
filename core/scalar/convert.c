// Conversions between element types: scalar/convert.inc for each type converted from.
#include "core/scalar/loops.h"

#ifndef __CUDACC_RTC__
#include <string.h>
#endif

// ---- from integers and bool: wrap ----------------------------------------------------------

#define READ(x) x
#define INTEGER(to, type) (type) x
#define HALF(x) f16_of_f32((float)x)  // beyond 2^24, where that rounds, all are infinite
#define BRAIN(x)                                                                                   \
  (sizeof(x) < 4 ? bf16_of_f32((float)(x))                                                         \
                 : bf16_of_parts((double)((x) - ((x)&4095)), (double)((x)&4095)))

#define T uint8_t
#define SUFFIX truth
#include "core/scalar/convert.inc"
#define T int8_t
#define SUFFIX i8
#include "core/scalar/convert.inc"
#define T int16_t
#define SUFFIX i16
#include "core/scalar/convert.inc"
#define T int32_t
#define SUFFIX i32
#include "core/scalar/convert.inc"
#define T int64_t
#define SUFFIX i64
#include "core/scalar/convert.inc"
#define T uint8_t
#define SUFFIX u8
#include "core/scalar/convert.inc"
#define T uint16_t
#define SUFFIX u16
#include "core/scalar/convert.inc"
#define T uint32_t
#define SUFFIX u32
#include "core/scalar/convert.inc"
#define T uint64_t
#define SUFFIX u64
#include "core/scalar/convert.inc"

#undef INTEGER
#undef HALF
#undef BRAIN

// ---- from floats: truncate and saturate ----------------------------------------------------

// The least value and one more than the largest are powers of two (or 0), so exact as F; the
// largest itself is not: (float)INT32_MAX is 2^31.
#define SATURATE(F, f, type, to, least, largest)                                                   \
  static inline type saturate_##f##_##to(F x) {                                                    \
    const F below = (F)(least), above = (F)((largest) / 2 + 1) * 2;                                \
    if (!(x > below))                                                                              \
      return x != x ? 0 : (least);                                                                 \
    return x >= above ? (largest) : (type)x;                                                       \
  }
#define SATURATE_EACH(ROW, F, f)                                                                   \
  ROW(F, f, int8_t, i8, INT8_MIN, INT8_MAX)                                                        \
  ROW(F, f, int16_t, i16, INT16_MIN, INT16_MAX)                                                    \
  ROW(F, f, int32_t, i32, INT32_MIN, INT32_MAX)                                                    \
  ROW(F, f, uint8_t, u8, 0, UINT8_MAX)                                                             \
  ROW(F, f, uint16_t, u16, 0, UINT16_MAX)
#define SATURATE_OTHERS(F, f)                                                                      \
  SATURATE(F, f, int64_t, i64, INT64_MIN, INT64_MAX)                                               \
  SATURATE(F, f, uint64_t, u64, 0, UINT64_MAX)
#ifdef __CUDACC_RTC__
// A GPU's instructions saturate, and make 0 of a NaN.
#define SATURATED(F, f, type, to, least, largest)                                                  \
  static inline type saturate_##f##_##to(F x) {                                                    \
    const int32_t number = __float2int_rz(x);                                                      \
    return (type)(number < (least) ? (least) : number > (largest) ? (largest) : number);           \
  }
SATURATE_EACH(SATURATED, float, f32)
static inline uint32_t saturate_f32_u32(float x) { return __float2uint_rz(x); }
#else
SATURATE_EACH(SATURATE, float, f32)
SATURATE(float, f32, uint32_t, u32, 0, UINT32_MAX)
#endif
SATURATE_OTHERS(float, f32)
SATURATE_EACH(SATURATE, double, f64)
SATURATE(double, f64, uint32_t, u32, 0, UINT32_MAX)
SATURATE_OTHERS(double, f64)

#define INTEGER(to, type) PASTE(PASTE(saturate, SUFFIX), to)(x)
#define HALF(x) f16_of_f32(x)
#define BRAIN(x) bf16_of_f32(x)

#define T float
#define SUFFIX f32
#include "core/scalar/convert.inc"
#undef HALF
#undef BRAIN
#define HALF(x) f16_of_f64(x)
#define BRAIN(x) bf16_of_f64(x)
#define T double
#define SUFFIX f64
#include "core/scalar/convert.inc"

#undef READ
#undef INTEGER
#undef HALF
#undef BRAIN
#define READ(x) f32_of_f16(x)
#define INTEGER(to, type) PASTE(saturate_f32, to)(READ(x))
#define HALF(x) x
#define BRAIN(x) bf16_of_f32(READ(x))
#define T uint16_t
#define SUFFIX f16
#include "core/scalar/convert.inc"

#undef READ
#undef HALF
#undef BRAIN
#define READ(x) f32_of_bf16(x)
#define HALF(x) f16_of_f32(READ(x))
#define BRAIN(x) x
#define T uint16_t
#define SUFFIX bf16
#include "core/scalar/convert.inc"

#undef READ
#undef INTEGER
#undef HALF
#undef BRAIN

// ---- from complex numbers: to bool and complex only ----------------------------------------

#define SUFFIX c64
DEFINE_1(to_bool, complex_f32, uint8_t, x.re != 0 || x.im != 0)
static inline complex_f64 to_c128_c64(complex_f32 x) { return LITERAL(complex_f64){x.re, x.im}; }
LOOP_1(to_c128, complex_f32, complex_f64)
#undef SUFFIX

#define SUFFIX c128
DEFINE_1(to_bool, complex_f64, uint8_t, x.re != 0 || x.im != 0)
static inline complex_f32 to_c64_c128(complex_f64 x) {
  return LITERAL(complex_f32){(float)x.re, (float)x.im};
}
LOOP_1(to_c64, complex_f64, complex_f32)
#undef SUFFIX

#ifndef SCALAR_FUNCTIONS_ONLY
static scalar_loop *const conversions_c64[SCALAR_COUNT] = {
    [SCALAR_BOOL] = to_bool_loop_c64,
    [SCALAR_C128] = to_c128_loop_c64,
};
static scalar_loop *const conversions_c128[SCALAR_COUNT] = {
    [SCALAR_BOOL] = to_bool_loop_c128,
    [SCALAR_C64] = to_c64_loop_c128,
};

// ---- all -----------------------------------------------------------------------------------

static scalar_loop *const *const conversions[SCALAR_COUNT] = {
    [SCALAR_BOOL] = conversions_truth, [SCALAR_I8] = conversions_i8,
    [SCALAR_I16] = conversions_i16,    [SCALAR_I32] = conversions_i32,
    [SCALAR_I64] = conversions_i64,    [SCALAR_U8] = conversions_u8,
    [SCALAR_U16] = conversions_u16,    [SCALAR_U32] = conversions_u32,
    [SCALAR_U64] = conversions_u64,    [SCALAR_F16] = conversions_f16,
    [SCALAR_BF16] = conversions_bf16,  [SCALAR_F32] = conversions_f32,
    [SCALAR_F64] = conversions_f64,    [SCALAR_C64] = conversions_c64,
    [SCALAR_C128] = conversions_c128,
};

void scalar_convert(scalar_type from, scalar_type to, size_t n, const void *a, void *out) {
  if (n == 0)
    return;
  scalar_loop *loop = conversions[from][to];
  if (from == to)
    memcpy(out, a, n * scalar_types[from].size);
  else if (loop)
    loop(n, a, NULL, out);
}

scalar_bits scalar_from_i64(scalar_type type, int64_t value) {
  scalar_bits bits = {{0}};
  scalar_convert(SCALAR_I64, type, 1, &value, &bits);
  return bits;
}
#endif
