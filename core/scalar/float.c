// Floating-point and complex operations: the templates for each type, and the table of the loops.
// Compiled with -ffp-contract=off: every product and sum is rounded, in the order written.
#include "core/scalar/loops.h"

#ifndef __CUDACC_RTC__  // it knows them by itself
#include <complex.h>
#include <math.h>
#endif

#undef I  // <complex.h>'s unit; the templates use the name

// e^x of float: 2^k e^r, |r| <= ln 2 / 2, by Taylor's series in double, whose error is below 2^-32.
// Without a branch, so that compilers make vectors of it; where x is large, e^128 is infinite, too.
#ifdef __CUDACC_RTC__
#define exp_of_f32 expf
#else
static inline __attribute__((always_inline)) float exp_of_f32(float x) {
  const double magic = 0x1.8p52;  // added, it leaves an integer in the low bits
  double y = x < -128 ? -128 : x > 128 ? 128 : x, t = y * 0x1.71547652b82fep+0 + magic;
  double r = y - (t - magic) * 0x1.62e42fefa39efp-1, s = r * r, power;
  double p = (1 + r) + s * ((1.0 / 2 + 1.0 / 6 * r) +
                            s * ((1.0 / 24 + 1.0 / 120 * r) +
                                 s * ((1.0 / 720 + 1.0 / 5040 * r) + s * (1.0 / 40320))));
  uint64_t bits;
  memcpy(&bits, &t, sizeof bits);
  bits = (bits + 1023) << 52;
  memcpy(&power, &bits, sizeof power);
  return (float)(p * power);
}
#endif

#define T float
#define C complex_f32
#define I int32_t
#define M(g) g##f
#define EXP exp_of_f32
#define SUFFIX f32
#include "core/scalar/real.inc"

#define T double
#define C complex_f64
#define I int64_t
#define M(g) g
#define EXP exp
#define SUFFIX f64
#include "core/scalar/real.inc"

#define SUFFIX f16
#define INFINITE 0x7c00
#include "core/scalar/half_ops.inc"

#define SUFFIX bf16
#define INFINITE 0x7f80
#include "core/scalar/half_ops.inc"

#define T float
#define C complex_f32
#define Z float _Complex
#define M(g) g##f
#define SUFFIX c64
#include "core/scalar/complex.inc"

#define T double
#define C complex_f64
#define Z double _Complex
#define M(g) g
#define SUFFIX c128
#include "core/scalar/complex.inc"

#ifndef SCALAR_FUNCTIONS_ONLY
scalar_loop *const *const scalar_float_loops[SCALAR_COUNT] = {
    [SCALAR_F16] = loops_f16, [SCALAR_BF16] = loops_bf16, [SCALAR_F32] = loops_f32,
    [SCALAR_F64] = loops_f64, [SCALAR_C64] = loops_c64,   [SCALAR_C128] = loops_c128,
};
#endif
