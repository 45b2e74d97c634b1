// Floating-point and complex operations and roots of unity (core/scalar/scalar.h): special values
// by table, the rest against long double.
#include "tests/test.h"

#include "core/scalar/scalar.h"
#include "tests/unit/splitmix.h"

#include <complex.h>
#include <float.h>
#include <math.h>

static const double infinity = INFINITY;

// valgrind computes long double in 53 bits: no better than what is tested.
static bool long_double_is_long(void) {
  volatile long double one = 1, small = 0x1p-63L;
  return one + small != one;
}
#define NEEDS_LONG_DOUBLE()                                                                        \
  if (!long_double_is_long())                                                                      \
  SKIP("long double is no wider than double here")

// x as a float. Volatile, as gcc 12 -O2 vectorises two (double)(float)x side by side to a mere
// copy.
static double as_float(double x) {
  volatile float rounded = (float)x;
  return (double)rounded;
}

// Uniform in [-range, range], rounded to a float.
static double random_real(double range) {
  return as_float(((double)(random_u64() >> 40) - 0x1p23) * 0x1p-23 * range);
}

static scalar_bits apply(scalar_op op, scalar_type type, scalar_bits a, scalar_bits b) {
  scalar_bits out = {{0}};
  scalar_apply(op, type, 1, &a, &b, &out);
  return out;
}

// A real operation on doubles, in either type (the operands are floats for F32).
static double real(scalar_op op, scalar_type type, double x, double y) {
  if (type == SCALAR_F32)
    return (double)apply(op, type, (scalar_bits){.f32 = (float)x}, (scalar_bits){.f32 = (float)y})
        .f32;
  return apply(op, type, (scalar_bits){.f64 = x}, (scalar_bits){.f64 = y}).f64;
}

static bool truth(scalar_op op, scalar_type type, double x, double y) {
  if (type == SCALAR_F32)
    return apply(op, type, (scalar_bits){.f32 = (float)x}, (scalar_bits){.f32 = (float)y}).b;
  return apply(op, type, (scalar_bits){.f64 = x}, (scalar_bits){.f64 = y}).b;
}

static double power(scalar_type type, double x, int64_t y) {
  if (type == SCALAR_F32)
    return (double)apply(OP_POWI, type, (scalar_bits){.f32 = (float)x}, (scalar_bits){.i64 = y})
        .f32;
  return apply(OP_POWI, type, (scalar_bits){.f64 = x}, (scalar_bits){.i64 = y}).f64;
}

// Same value and sign; any NaN equals any other.
static bool same(double x, double y) {
  return isnan(x) || isnan(y) ? isnan(x) && isnan(y) : x == y && !signbit(x) == !signbit(y);
}

// The distance of found from exact in units of the last place of the type at exact.
static double ulps(scalar_type type, double found, long double exact) {
  if (isnan(exact) || isnan(found))
    return isnan(exact) && isnan(found) ? 0 : INFINITY;
  if ((long double)found == exact)
    return 0;
  int exponent, digits = type == SCALAR_F32 ? FLT_MANT_DIG : DBL_MANT_DIG;
  int least = type == SCALAR_F32 ? FLT_MIN_EXP : DBL_MIN_EXP;
  frexpl(exact, &exponent);
  exponent = exponent < least ? least : exponent;
  return (double)(fabsl((long double)found - exact) / ldexpl(1, exponent - digits));
}

static void check_ulps(scalar_op op, scalar_type type, double x, double y, double found,
                       long double exact, double limit) {
  double error = ulps(type, found, exact);
  if (error <= limit)
    return;
  CHECK(error <= limit);
  printf("  %s %s of %.17g, %.17g: %.17g, exactly %.21Lg: %.2f ulp\n", scalar_types[type].name,
         scalar_ops[op].name, x, y, found, exact, error);
}

static const scalar_type real_types[2] = {SCALAR_F32, SCALAR_F64};

// ---- comparisons ---------------------------------------------------------------------------

// In the total order; the rows of one rank are equal in it.
static const struct {
  uint32_t f32;
  uint64_t f64;
  int rank;
} ordered[] = {
    {0xff800000, UINT64_C(0xfff0000000000000), 0},   // -infinity
    {0xff7fffff, UINT64_C(0xffefffffffffffff), 1},   // the least finite
    {0xbf800000, UINT64_C(0xbff0000000000000), 2},   // -1
    {0x80000001, UINT64_C(0x8000000000000001), 3},   // the negative next to 0
    {0x80000000, UINT64_C(0x8000000000000000), 4},   // -0
    {0x00000000, UINT64_C(0x0000000000000000), 5},   // +0
    {0x00000001, UINT64_C(0x0000000000000001), 6},   // the positive next to 0
    {0x3f800000, UINT64_C(0x3ff0000000000000), 7},   // 1
    {0x7f7fffff, UINT64_C(0x7fefffffffffffff), 8},   // the largest finite
    {0x7f800000, UINT64_C(0x7ff0000000000000), 9},   // infinity
    {0x7f800001, UINT64_C(0x7ff0000000000001), 10},  // NaN of all kinds
    {0x7fc00000, UINT64_C(0x7ff8000000000000), 10}, {0x7fffffff, UINT64_C(0x7fffffffffffffff), 10},
    {0xff800001, UINT64_C(0xfff0000000000001), 10}, {0xffc00000, UINT64_C(0xfff8000000000000), 10},
    {0xffffffff, UINT64_C(0xffffffffffffffff), 10},
};
enum { ORDERED = sizeof ordered / sizeof *ordered };

TEST(comparisons_of_special_values) {
  for (int i = 0; i < ORDERED; i++)
    for (int j = 0; j < ORDERED; j++)
      for (int t = 0; t < 2; t++) {
        scalar_type type = real_types[t];
        scalar_bits a = {.u64 = t ? ordered[i].f64 : ordered[i].f32};
        scalar_bits b = {.u64 = t ? ordered[j].f64 : ordered[j].f32};
        int x = ordered[i].rank, y = ordered[j].rank;
        CHECK_EQ_I64(apply(OP_TOTAL_LE, type, a, b).u8, x <= y);
        bool nan = x == 10 || y == 10;
        x -= x == 5, y -= y == 5;  // IEEE: both zeros are equal
        CHECK_EQ_I64(apply(OP_EQ, type, a, b).u8, !nan && x == y);
        CHECK_EQ_I64(apply(OP_NE, type, a, b).u8, nan || x != y);
        CHECK_EQ_I64(apply(OP_LT, type, a, b).u8, !nan && x < y);
        CHECK_EQ_I64(apply(OP_LE, type, a, b).u8, !nan && x <= y);
        CHECK_EQ_I64(apply(OP_GT, type, a, b).u8, !nan && x > y);
        CHECK_EQ_I64(apply(OP_GE, type, a, b).u8, !nan && x >= y);
        CHECK_EQ_I64(apply(OP_ISNAN, type, a, b).u8, ordered[i].rank == 10);
      }
}

TEST(comparisons_of_random_values) {
  for (int i = 0; i < 100000; i++)
    for (int t = 0; t < 2; t++) {
      double x = random_real(8), y = i % 3 ? random_real(8) : i % 2 ? x : -x;
      CHECK_EQ_I64(truth(OP_LE, real_types[t], x, y), x <= y);
      CHECK_EQ_I64(truth(OP_LT, real_types[t], x, y), x < y);
      if (x != 0)
        CHECK_EQ_I64(truth(OP_TOTAL_LE, real_types[t], x, y), x <= y);
    }
}

// Floats whose last bits differ: further from zero by d units in the last place.
TEST(total_order_of_neighbours) {
  for (int i = 0; i < 1000; i++)
    for (uint64_t d = 0; d < 9; d++) {
      float narrow = (float)random_real(8);
      double wide = (double)narrow;
      scalar_bits a[2] = {{{0}}, {{0}}};
      memcpy(&a[0], &narrow, sizeof narrow);
      memcpy(&a[1], &wide, sizeof wide);
      for (int t = 0; t < 2; t++) {
        scalar_bits b = {.u64 = a[t].u64 + d};
        CHECK_EQ_I64(apply(OP_TOTAL_LE, real_types[t], a[t], b).u8, d == 0 || narrow > 0);
        CHECK_EQ_I64(apply(OP_TOTAL_LE, real_types[t], b, a[t]).u8, d == 0 || narrow < 0);
      }
    }
}

// ---- arithmetic ----------------------------------------------------------------------------

TEST(arithmetic_is_rounded_once) {
  for (int i = 0; i < 100000; i++) {
    double x = random_real(1000), y = random_real(1000);
    CHECK(same(real(OP_ADD, SCALAR_F32, x, y), (double)(float)(x + y)));
    CHECK(same(real(OP_SUB, SCALAR_F32, x, y), (double)(float)(x - y)));
    CHECK(same(real(OP_MUL, SCALAR_F32, x, y), (double)(float)(x * y)));
    CHECK(same(real(OP_DIV, SCALAR_F32, x, y), (double)(float)(x / y)));
    CHECK(same(real(OP_SQRT, SCALAR_F32, x, y), (double)(float)sqrt(x)));
    CHECK(same(real(OP_MUL, SCALAR_F64, x / 3, y), x / 3 * y));
    CHECK(same(real(OP_DIV, SCALAR_F64, x, y), x / y));
  }
}

TEST(signs) {
  for (int t = 0; t < 2; t++) {
    scalar_type type = real_types[t];
    CHECK(same(real(OP_NEG, type, 0, 0), -0.0) && same(real(OP_NEG, type, -2, 0), 2));
    CHECK(same(real(OP_ABS, type, -0.0, 0), 0) && same(real(OP_ABS, type, -infinity, 0), infinity));
    CHECK(same(real(OP_SIGN, type, -3, 0), -1) && same(real(OP_SIGN, type, infinity, 0), 1));
    CHECK(same(real(OP_SIGN, type, -0.0, 0), 0) && isnan(real(OP_SIGN, type, NAN, 0)));
    CHECK(same(real(OP_ROUND, type, 2.5, 0), 2) && same(real(OP_ROUND, type, -3.5, 0), -4));
    CHECK(same(real(OP_ROUND, type, -0.5, 0), -0.0));
    CHECK(same(real(OP_FLOOR, type, -0.5, 0), -1) && same(real(OP_CEIL, type, -0.5, 0), -0.0));
    CHECK(same(real(OP_TRUNC, type, -1.5, 0), -1));
  }
}

// Rows of x, y, x % y: from Python's float %.
TEST(modulo) {
  static const double rows[][3] = {{7, 2, 1},
                                   {-7, 2, 1},
                                   {7, -2, -1},
                                   {-7, -2, -1},
                                   {5.5, 2, 1.5},
                                   {-5.5, 2, 0.5},
                                   {6, 2, 0},
                                   {6, -2, -0.0},
                                   {-6, 2, 0},
                                   {-6, -2, -0.0},
                                   {0, 3, 0},
                                   {-0.0, 3, 0},
                                   {0, -3, -0.0},
                                   {1, 0, NAN},
                                   {0, 0, NAN},
                                   {NAN, 1, NAN},
                                   {1, NAN, NAN},
                                   {INFINITY, 1, NAN},
                                   {5, INFINITY, 5},
                                   {-5, INFINITY, INFINITY},
                                   {5, -INFINITY, -INFINITY},
                                   {-5, -INFINITY, -5},
                                   {-0x1p-100, 1, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int t = 0; t < 2; t++)
      CHECK(same(real(OP_MOD, real_types[t], rows[i][0], rows[i][1]), rows[i][2]));
  for (int i = 0; i < 100000; i++) {
    double x = random_real(1000), y = random_real(10), exact = x - y * floor(x / y);
    if (y != 0)
      CHECK(fabs(real(OP_MOD, SCALAR_F64, x, y) - exact) < 1e-9 ||
            fabs(fabs(real(OP_MOD, SCALAR_F64, x, y) - exact) - fabs(y)) < 1e-9);
  }
}

TEST(whole_powers) {
  for (int t = 0; t < 2; t++) {
    scalar_type type = real_types[t];
    CHECK(same(power(type, NAN, 0), 1) && same(power(type, 0, 0), 1));
    CHECK(same(power(type, 3, 5), 243) && same(power(type, -2, 3), -8));
    CHECK(same(power(type, 2, -3), 0.125) && same(power(type, 0, -1), infinity));
    CHECK(same(power(type, -1, INT64_MIN), 1) && same(power(type, 2, INT64_MIN), 0));
    CHECK(same(power(type, 0.5, INT64_MAX), 0) && same(power(type, infinity, -1), 0));
    CHECK(same(power(type, -0.0, 3), -0.0) && same(power(type, NAN, 1), NAN));
  }
  for (int i = 0; i < 10000; i++) {
    double x = random_real(3);
    double x2 = x * x, x4 = x2 * x2;
    CHECK(same(power(SCALAR_F64, x, 3), x * x2));  // the documented order
    CHECK(same(power(SCALAR_F64, x, 6), x2 * x4));
    CHECK(same(power(SCALAR_F64, x, 7), x * x2 * x4));
    CHECK(same(power(SCALAR_F64, x, -3), 1 / (x * x2)));
  }
}

// ---- elementary functions ------------------------------------------------------------------

typedef long double long_function(long double);

// Each operation, its function, and where to sample it: offset +- range.
static const struct {
  scalar_op op;
  long_function *exact;
  double offset, range;
} elementary[] = {
    {OP_SQRT, sqrtl, 50, 50},   {OP_EXP, expl, 0, 80},    {OP_LOG, logl, 50, 50},
    {OP_SIN, sinl, 0, 100},     {OP_COS, cosl, 0, 100},   {OP_TAN, tanl, 0, 100},
    {OP_ASIN, asinl, 0, 1},     {OP_ACOS, acosl, 0, 1},   {OP_ATAN, atanl, 0, 100},
    {OP_SINH, sinhl, 0, 10},    {OP_COSH, coshl, 0, 10},  {OP_TANH, tanhl, 0, 5},
    {OP_FLOOR, floorl, 0, 100}, {OP_CEIL, ceill, 0, 100}, {OP_ROUND, rintl, 0, 100},
    {OP_TRUNC, truncl, 0, 100},
};

TEST(elementary_functions) {
  NEEDS_LONG_DOUBLE();
  for (size_t row = 0; row < sizeof elementary / sizeof *elementary; row++)
    for (int i = 0; i < 4000; i++)
      for (int t = 0; t < 2; t++) {
        scalar_op op = elementary[row].op;
        double x = as_float(elementary[row].offset + random_real(elementary[row].range));
        check_ulps(op, real_types[t], x, 0, real(op, real_types[t], x, 0),
                   elementary[row].exact((long double)x), 3);
      }
}

TEST(functions_of_two_arguments) {
  NEEDS_LONG_DOUBLE();
  for (int i = 0; i < 10000; i++)
    for (int t = 0; t < 2; t++) {
      scalar_type type = real_types[t];
      double x = random_real(10), y = random_real(10);
      check_ulps(OP_ATAN2, type, x, y, real(OP_ATAN2, type, x, y), atan2l(x, y), 3);
      check_ulps(OP_POW, type, fabs(x), y, real(OP_POW, type, fabs(x), y), powl(fabsl(x), y), 3);
    }
}

// ---- sinpi, cospi --------------------------------------------------------------------------

static long double sinpi_exact(long double x) {
  x = remainderl(x, 2);
  const long double pi = 3.14159265358979323846264338327950288L;
  if (fabsl(x) <= 0.25L)
    return sinl(pi * x);
  if (fabsl(x) >= 0.75L)  // 1 - |x| is exact
    return copysignl(sinl(pi * (1 - fabsl(x))), x);
  return copysignl(cosl(pi * (0.5L - fabsl(x))), x);
}

static long double cospi_exact(long double x) {
  x = fabsl(remainderl(x, 2));
  const long double pi = 3.14159265358979323846264338327950288L;
  return x <= 0.25L ? cosl(pi * x) : x >= 0.75L ? -cosl(pi * (1 - x)) : sinl(pi * (0.5L - x));
}

TEST(multiples_of_a_half_turn_are_exact) {
  static const double sines[4] = {0, 1, 0, -1}, cosines[4] = {1, 0, -1, 0};
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < 100000; i++) {
      scalar_type type = real_types[t];
      double x = i < 1000 ? i / 2.0 : as_float((double)(random_u64() >> random_u64() % 63)) / 2;
      int quadrant = (int)fmod(2 * x, 4);
      CHECK(same(real(OP_SINPI, type, x, 0), sines[quadrant]));
      CHECK(same(real(OP_SINPI, type, -x, 0), -sines[quadrant]));
      CHECK(same(real(OP_COSPI, type, x, 0), cosines[quadrant]));
      CHECK(same(real(OP_COSPI, type, -x, 0), cosines[quadrant]));
    }
}

TEST(odd_eighths_of_a_turn_are_equal) {
  const double root = 0.70710678118654752440;  // nearest to sqrt(1/2)
  for (int i = 1; i < 4000; i += 2) {
    double x = i / 4.0, sine = i % 8 < 4 ? root : -root, cosine = (i + 2) % 8 < 4 ? root : -root;
    CHECK(same(real(OP_SINPI, SCALAR_F64, x, 0), sine));
    CHECK(same(real(OP_COSPI, SCALAR_F64, x, 0), cosine));
    CHECK(same(real(OP_SINPI, SCALAR_F32, x, 0), (double)(float)sine));
    CHECK(same(real(OP_COSPI, SCALAR_F32, x, 0), (double)(float)cosine));
  }
}

TEST(sinpi_and_cospi_are_accurate) {
  NEEDS_LONG_DOUBLE();
  for (int i = 0; i < 200000; i++) {
    double x = random_real(ldexp(1, (int)(random_u64() % 40) - 30));
    double y = x * (1 + random_real(1e-3));  // more bits than a float has
    for (int t = 0; t < 2; t++) {
      scalar_type type = real_types[t];
      double z = t ? y : x;
      check_ulps(OP_SINPI, type, z, 0, real(OP_SINPI, type, z, 0), sinpi_exact(z), t ? 1 : 0.501);
      check_ulps(OP_COSPI, type, z, 0, real(OP_COSPI, type, z, 0), cospi_exact(z), t ? 1 : 0.501);
    }
  }
}

TEST(sinpi_and_cospi_of_extremes) {
  for (int t = 0; t < 2; t++) {
    scalar_type type = real_types[t];
    CHECK(isnan(real(OP_SINPI, type, infinity, 0)) && isnan(real(OP_COSPI, type, -infinity, 0)));
    CHECK(isnan(real(OP_SINPI, type, NAN, 0)) && isnan(real(OP_COSPI, type, NAN, 0)));
    double largest = t ? DBL_MAX : (double)FLT_MAX;
    CHECK(same(real(OP_SINPI, type, largest, 0), 0) && same(real(OP_COSPI, type, largest, 0), 1));
    CHECK(same(real(OP_SINPI, type, -largest, 0), -0.0));
  }
  CHECK(same(real(OP_COSPI, SCALAR_F64, 0x1p53 - 1, 0), -1));
  CHECK(real(OP_SINPI, SCALAR_F64, 5e-324, 0) == 1.5e-323);  // pi, in units of the least number
}

// ---- complex numbers -----------------------------------------------------------------------

static const scalar_type complex_types[2] = {SCALAR_C64, SCALAR_C128};

static scalar_bits complex_bits(scalar_type type, double re, double im) {
  scalar_bits z = {{0}};
  scalar_convert(SCALAR_C128, type, 1, (double[2]){re, im}, &z);
  return z;
}

typedef struct pair {
  double re, im;
} pair;

static pair parts(scalar_type type, scalar_bits z) {
  pair p;
  scalar_convert(type, SCALAR_C128, 1, &z, &p);
  return p;
}

static pair complex_apply(scalar_op op, scalar_type type, pair x, pair y) {
  return parts(type,
               apply(op, type, complex_bits(type, x.re, x.im), complex_bits(type, y.re, y.im)));
}

static bool same_pair(pair x, pair y) { return same(x.re, y.re) && same(x.im, y.im); }

// CMPLXL, which not every <complex.h> has, for finite parts.
static long double _Complex long_complex(double re, double im) {
  return (long double)re + (long double)im * I;
}

static bool near(scalar_type type, pair found, long double _Complex exact) {
  double limit = type == SCALAR_C64 ? 1e-6 : 1e-14;
  long double _Complex z = long_complex(found.re, found.im);
  return cabsl(z - exact) <= (long double)limit * cabsl(exact) + 1e-30L;
}

TEST(complex_arithmetic) {
  for (int i = 0; i < 20000; i++) {
    double a = random_real(10), b = random_real(10), c = random_real(10), d = random_real(10);
    pair x = {a, b}, y = {c, d};
    CHECK(same_pair(complex_apply(OP_ADD, SCALAR_C128, x, y), (pair){a + c, b + d}));
    CHECK(same_pair(complex_apply(OP_SUB, SCALAR_C128, x, y), (pair){a - c, b - d}));
    CHECK(
        same_pair(complex_apply(OP_MUL, SCALAR_C128, x, y), (pair){a * c - b * d, a * d + b * c}));
    CHECK(same_pair(complex_apply(OP_NEG, SCALAR_C128, x, y), (pair){-a, -b}));
    CHECK(same_pair(complex_apply(OP_CONJ, SCALAR_C128, x, y), (pair){a, -b}));
    float p = (float)a * (float)c, q = (float)b * (float)d, r = (float)a * (float)d;
    float s = (float)b * (float)c;  // each product is rounded
    CHECK(same_pair(complex_apply(OP_MUL, SCALAR_C64, x, y),
                    (pair){(double)(p - q), (double)(r + s)}));
    for (int t = 0; t < 2; t++) {
      long double _Complex u = long_complex(a, b), v = long_complex(c, d);
      if (c != 0 || d != 0)
        CHECK(near(complex_types[t], complex_apply(OP_DIV, complex_types[t], x, y), u / v));
      CHECK(near(complex_types[t],
                 parts(complex_types[t],
                       apply(OP_POWI, complex_types[t], complex_bits(complex_types[t], a, b),
                             (scalar_bits){.i64 = 5})),
                 u * u * u * u * u));
    }
  }
}

TEST(complex_equality_and_parts) {
  for (int t = 0; t < 2; t++) {
    scalar_type type = complex_types[t];
    scalar_bits z = complex_bits(type, 3, -4), w = complex_bits(type, 3, 4);
    CHECK(apply(OP_EQ, type, z, z).b && !apply(OP_NE, type, z, z).b);
    CHECK(!apply(OP_EQ, type, z, w).b && apply(OP_NE, type, z, w).b);
    CHECK(!apply(OP_EQ, type, complex_bits(type, NAN, 0), complex_bits(type, NAN, 0)).b);
    CHECK(apply(OP_EQ, type, complex_bits(type, 0, -0.0), complex_bits(type, -0.0, 0)).b);
    scalar_bits re = apply(OP_RE, type, z, z), im = apply(OP_IM, type, z, z);
    scalar_bits size = apply(OP_MAGNITUDE, type, z, z);
    CHECK(t ? re.f64 == 3 && im.f64 == -4 && size.f64 == 5
            : re.f32 == 3 && im.f32 == -4 && size.f32 == 5);
    scalar_bits back = apply(OP_COMPLEX, real_types[t], re, im);
    CHECK(memcmp(&back, &z, sizeof z) == 0);
  }
}

TEST(complex_extremes) {
  pair huge = {1e300, 1e300}, one = {1, 0};
  CHECK(same_pair(complex_apply(OP_DIV, SCALAR_C128, huge, huge), one));
  CHECK(same_pair(complex_apply(OP_DIV, SCALAR_C128, (pair){1, 2}, (pair){0, 1}), (pair){2, -1}));
  CHECK(same_pair(complex_apply(OP_DIV, SCALAR_C128, (pair){1e-300, 1e300}, (pair){1e-300, 1e300}),
                  (pair){1, -0.0}));
  CHECK(same_pair(complex_apply(OP_DIV, SCALAR_C128, one, (pair){0, 0}), (pair){INFINITY, NAN}));
  CHECK(same_pair(complex_apply(OP_DIV, SCALAR_C128, (pair){-1, 2}, (pair){-0.0, 0}),
                  (pair){-infinity, INFINITY}));
  // No Annex G: inf * i is (inf 0 - 0 1, inf 1 + 0 0).
  CHECK(same_pair(complex_apply(OP_MUL, SCALAR_C128, (pair){INFINITY, 0}, (pair){0, 1}),
                  (pair){NAN, INFINITY}));
  scalar_bits z = complex_bits(SCALAR_C128, INFINITY, -0.0);
  scalar_bits first = apply(OP_POWI, SCALAR_C128, z, (scalar_bits){.i64 = 1});
  CHECK(memcmp(&first, &z, sizeof z) == 0);  // x^1 is x
  CHECK(same_pair(parts(SCALAR_C128, apply(OP_POWI, SCALAR_C128, complex_bits(SCALAR_C128, 0, 1),
                                           (scalar_bits){.i64 = -2})),
                  (pair){-1, -0.0}));
  CHECK(same_pair(complex_apply(OP_POW, SCALAR_C64, (pair){0, 0}, (pair){2, 1}), (pair){0, 0}));
  CHECK(same_pair(complex_apply(OP_POW, SCALAR_C64, (pair){0, 0}, (pair){0, 0}), one));
}

TEST(complex_functions) {
  NEEDS_LONG_DOUBLE();
  static const struct {
    scalar_op op;
    long double _Complex (*exact)(long double _Complex);
  } rows[] = {
      {OP_SQRT, csqrtl}, {OP_EXP, cexpl}, {OP_LOG, clogl}, {OP_SIN, csinl}, {OP_COS, ccosl}};
  for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
    for (int i = 0; i < 2000; i++)
      for (int t = 0; t < 2; t++) {
        double re = random_real(5), im = random_real(5);
        CHECK(near(complex_types[t],
                   complex_apply(rows[row].op, complex_types[t], (pair){re, im}, (pair){0, 0}),
                   rows[row].exact(long_complex(re, im))));
      }
  CHECK(near(SCALAR_C128, complex_apply(OP_POW, SCALAR_C128, (pair){1, 2}, (pair){0.5, -1}),
             cpowl(long_complex(1, 2), long_complex(0.5, -1))));
}

TEST(cis_and_cispi) {
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < 1000; i++) {
      scalar_type type = real_types[t];
      double x = random_real(10);
      scalar_bits a = t ? (scalar_bits){.f64 = x} : (scalar_bits){.f32 = (float)x};
      pair z = parts(complex_types[t], apply(OP_CIS, type, a, a));
      pair w = parts(complex_types[t], apply(OP_CISPI, type, a, a));
      CHECK(same(z.re, real(OP_COS, type, x, 0)) && same(z.im, real(OP_SIN, type, x, 0)));
      CHECK(same(w.re, real(OP_COSPI, type, x, 0)) && same(w.im, real(OP_SINPI, type, x, 0)));
    }
}

// ---- roots of unity ------------------------------------------------------------------------

static pair root(scalar_type type, int64_t k, int64_t m) {
  return parts(type, scalar_root(type, k, m));
}

TEST(roots_at_eighths_are_exact) {
  const double half = 0.70710678118654752440;
  static const int re[8] = {2, 1, 0, -1, -2, -1, 0, 1}, im[8] = {0, 1, 2, 1, 0, -1, -2, -1};
  for (int t = 0; t < 2; t++)
    for (int log = 3; log < 62; log++)
      for (int k = -16; k <= 16; k++) {
        double h = t ? half : (double)(float)half, values[5] = {-1, -h, 0, h, 1};
        pair z = root(complex_types[t], k * ((int64_t)1 << (log - 3)) % ((int64_t)1 << log),
                      (int64_t)1 << log);
        CHECK(same_pair(z, (pair){values[re[k & 7] + 2], values[im[k & 7] + 2]}));
      }
  for (int t = 0; t < 2; t++) {
    CHECK(same_pair(root(complex_types[t], INT64_MIN, 1), (pair){1, 0}));
    CHECK(same_pair(root(complex_types[t], 5, 2), (pair){-1, 0}));
    CHECK(same_pair(root(complex_types[t], -1, 4), (pair){0, -1}));
    CHECK(same_pair(root(complex_types[t], INT64_MAX, INT64_MAX), (pair){1, 0}));
  }
}

TEST(roots_are_symmetric) {
  static const int64_t orders[] = {3, 5, 8, 12, 60, 1000, 4096, 65537};
  for (int t = 0; t < 2; t++)
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
      for (int64_t k = 1, m = orders[i]; k < m; k++) {
        scalar_type type = complex_types[t];
        pair z = root(type, k, m), below = root(type, -k, m);
        CHECK(same(z.re, below.re) && z.im == -below.im);
        CHECK(same_pair(z, root(type, k + m, m)) && same_pair(z, root(type, k * 2, m * 2)));
        if (m % 4 == 0) {
          pair later = root(type, k + m / 4, m);  // times i
          CHECK(z.re == later.im && z.im == -later.re);
        }
      }
}

TEST(roots_are_nearest) {
  NEEDS_LONG_DOUBLE();
  int wrong = 0;
  for (int i = 0; i < 100000; i++) {
    int64_t m = (int64_t)((random_u64() >> 1) >> random_u64() % 62) + 1;
    int64_t k = (int64_t)random_u64() % m;
    long double turn = 2 * (long double)k / (long double)m;  // k and m are exact in 64 bits
    pair c64 = root(SCALAR_C64, k, m), c128 = root(SCALAR_C128, k, m);
    long double re = cospi_exact(turn), im = sinpi_exact(turn);
    // Where re or im is tiny, the rounding of `turn` itself shows: allow it.
    long double slack = 0x1p-62L;
    wrong += fabsl((long double)c64.re - re) > 0x1p-25L * fabsl(re) * 2.001L + slack;
    wrong += fabsl((long double)c64.im - im) > 0x1p-25L * fabsl(im) * 2.001L + slack;
    wrong += fabsl((long double)c128.re - re) > 0x1p-54L * fabsl(re) * 2.01L + slack;
    wrong += fabsl((long double)c128.im - im) > 0x1p-54L * fabsl(im) * 2.01L + slack;
  }
  CHECK_EQ_I64(wrong, 0);
}

// Near an axis the small part keeps its relative accuracy: the angle is reduced in whole numbers.
TEST(roots_near_an_axis) {
  NEEDS_LONG_DOUBLE();
  const long double tau = 6.28318530717958647692528676655900577L;
  int64_t m = (int64_t)1 << 60;
  for (int64_t quarter = 0; quarter < 4; quarter++)
    for (int64_t k = -3; k <= 3; k++) {
      pair z = root(SCALAR_C128, quarter * (m / 4) + k, m);
      double small = quarter % 2 ? z.re : z.im;
      long double exact = tau * (long double)k / (long double)m;
      check_ulps(OP_SINPI, SCALAR_F64, (double)k, (double)m, fabs(small), fabsl(exact), 0.51);
    }
}

TEST_MAIN()
