// Floating-point and complex operations: the templates for each type, and the table of the loops.
// Compiled with -ffp-contract=off: every product and sum is rounded, in the order written.
#include "core/scalar/loops.h"

#ifndef __CUDACC_RTC__  // it knows them by itself
#include <complex.h>
#include <math.h>
#endif

#undef I  // <complex.h>'s unit; the templates use the name

#define T float
#define C complex_f32
#define I int32_t
#define M(g) g##f
#define SUFFIX f32
#include "core/scalar/real.inc"

#define T double
#define C complex_f64
#define I int64_t
#define M(g) g
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
