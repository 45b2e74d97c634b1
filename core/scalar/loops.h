// Private to core/scalar: one loop over arrays for each operation and element type.
//
// A template (*.inc) is included once for each type. It sees the macros SUFFIX (i32, f64, ...) and
// T (the C type), writes each operation as a function of one element, NAME(add), and turns it into
// a loop by LOOP_1 or LOOP_2. The compiler inlines the function and vectorises the loop.
//
// Generated C code (kernels/text/source.c) contains these files as well, with
// SCALAR_FUNCTIONS_ONLY: the functions without loops and tables.
#ifndef PERMC_CORE_SCALAR_LOOPS_H
#define PERMC_CORE_SCALAR_LOOPS_H

#ifndef SCALAR_FUNCTIONS_ONLY
#include "core/scalar/scalar.h"

typedef void scalar_loop(size_t n, const void *restrict a, const void *restrict b,
                         void *restrict out);

// By type, then by operation; NULL where the operation is not defined on the type.
extern scalar_loop *const *const scalar_integer_loops[SCALAR_COUNT];
extern scalar_loop *const *const scalar_float_loops[SCALAR_COUNT];
#endif

// Elements of C64 and C128. Not <complex.h>'s types, whose * and / repair infinities.
typedef struct complex_f32 {
  float re, im;
} complex_f32;
typedef struct complex_f64 {
  double re, im;
} complex_f64;

#include "core/scalar/half.inc"  // f16, which is no type of C

// sin(pi x) and cos(pi x), exact at multiples of 1/2; infinities give NaN.
#ifdef SCALAR_FUNCTIONS_ONLY
#define SHARED static
#else
#define SHARED extern
#endif
SHARED float scalar_sinpi_f32(float x);
SHARED float scalar_cospi_f32(float x);
SHARED double scalar_sinpi_f64(double x);
SHARED double scalar_cospi_f64(double x);
#undef SHARED

// A value of a struct from its members: {re, im} follows. (C++, which is what CUDA is, has another
// form.)
#ifdef __cplusplus
#define LITERAL(type) type
#else
#define LITERAL(type) (type)
#endif

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define NAME(operation) PASTE(operation, SUFFIX)

// The loop of NAME(op), from arrays of A (and B) to an array of R.
#ifdef SCALAR_FUNCTIONS_ONLY
#define LOOP_1(op, A, R)
#define LOOP_2(op, A, B, R)
#else
#define LOOP_1(op, A, R)                                                                           \
  static void NAME(op##_loop)(size_t n, const void *restrict a, const void *restrict b,            \
                              void *restrict out) {                                                \
    const A *restrict x = a;                                                                       \
    R *restrict to = out;                                                                          \
    (void)b;                                                                                       \
    for (size_t i = 0; i < n; i++)                                                                 \
      to[i] = NAME(op)(x[i]);                                                                      \
  }
#define LOOP_2(op, A, B, R)                                                                        \
  static void NAME(op##_loop)(size_t n, const void *restrict a, const void *restrict b,            \
                              void *restrict out) {                                                \
    const A *restrict x = a;                                                                       \
    const B *restrict y = b;                                                                       \
    R *restrict to = out;                                                                          \
    for (size_t i = 0; i < n; i++)                                                                 \
      to[i] = NAME(op)(x[i], y[i]);                                                                \
  }
#endif

// Operations that are one expression in x (and y).
#define DEFINE_1(op, A, R, expression)                                                             \
  static inline R NAME(op)(A x) { return (R)(expression); }                                        \
  LOOP_1(op, A, R)
#define DEFINE_2(op, A, B, R, expression)                                                          \
  static inline R NAME(op)(A x, B y) { return (R)(expression); }                                   \
  LOOP_2(op, A, B, R)

#endif
