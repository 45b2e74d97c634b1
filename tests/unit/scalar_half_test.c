// The operations on f16 (core/scalar/scalar.h) against doubles: all elements, all pairs with chosen
// ones, and random pairs. Conversions are in scalar_convert_test.c, texts in value_text_test.c.
#include "tests/test.h"

#include "core/scalar/scalar.h"
#include "tests/unit/splitmix.h"

#include <math.h>

// With the edges of subnormal, normal and infinite numbers.
static const uint16_t chosen[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x8400, 0x0401, 0x07ff, 0x13ff,
    0x1400, 0x2e66, 0x3555, 0x37ff, 0x3800, 0x3bff, 0x3c00, 0xbc00, 0x3c01, 0x3e00,
    0x4000, 0xc200, 0x4248, 0x4900, 0x63ff, 0x6400, 0x6401, 0x6800, 0x77ff, 0x7800,
    0x7bfe, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xfe12,
};
enum { CHOSEN = sizeof chosen / sizeof *chosen };

static double value_of(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double size = exponent == 31 ? (double)(fraction ? NAN : INFINITY)
                : exponent     ? ldexp(1024 + fraction, exponent - 25)
                               : ldexp(fraction, -24);
  return bits & 0x8000 ? -size : size;
}

// The nearest, ties to even; NaN as the usual one.
static uint16_t nearest(double x) {
  if (isnan(x))
    return 0x7e00;
  uint16_t sign = signbit(x) ? 0x8000 : 0;
  int exponent;
  x = fabs(x);
  if (x >= 65520)
    return sign | 0x7c00;
  frexp(x, &exponent);
  int last = x == 0 || exponent < -13 ? -24 : exponent - 11;
  return (uint16_t)(sign | (((last + 24) << 10) + (int)rint(ldexp(x, -last))));
}

static bool is_nan(uint16_t bits) { return (bits & 0x7fff) > 0x7c00; }

static scalar_bits apply(scalar_op op, uint16_t a, uint16_t b) {
  scalar_bits x = {.f16 = a}, y = {.f16 = b}, out = {{0}};
  scalar_apply(op, SCALAR_F16, 1, &x, &y, &out);
  return out;
}

static void check_bits(scalar_op op, uint16_t a, uint16_t b, uint64_t found, uint64_t expected) {
  if (found == expected)
    return;
  CHECK_EQ_U64(found, expected);
  printf("  %s of %04x, %04x\n", scalar_ops[op].name, a, b);
}

// ---- sums, products and quotients ------------------------------------------------------------

// A double holds the exact sum and product. A quotient in double, rounded again, is the same as
// rounded once: 53 digits are more than 2 * 11 + 2.
static void check_arithmetic(uint16_t a, uint16_t b) {
  double x = value_of(a), y = value_of(b);
  check_bits(OP_ADD, a, b, apply(OP_ADD, a, b).u64, nearest(x + y));
  check_bits(OP_SUB, a, b, apply(OP_SUB, a, b).u64, nearest(x - y));
  check_bits(OP_MUL, a, b, apply(OP_MUL, a, b).u64, nearest(x * y));
  check_bits(OP_DIV, a, b, apply(OP_DIV, a, b).u64, nearest(x / y));
}

TEST(arithmetic) {
  for (uint32_t a = 0; a < 65536; a++)
    for (int i = 0; i < CHOSEN; i++) {
      check_arithmetic((uint16_t)a, chosen[i]);
      check_arithmetic(chosen[i], (uint16_t)a);
    }
  for (int i = 0; i < 2000000; i++) {
    uint64_t bits = random_u64();
    check_arithmetic((uint16_t)bits, (uint16_t)(bits >> 16));
  }
}

TEST(roots_and_integral_values) {
  for (uint32_t i = 0; i < 65536; i++) {
    uint16_t a = (uint16_t)i;
    double x = value_of(a);
    check_bits(OP_SQRT, a, 0, apply(OP_SQRT, a, 0).u64, nearest(sqrt(x)));
    check_bits(OP_FLOOR, a, 0, apply(OP_FLOOR, a, 0).u64, nearest(floor(x)));
    check_bits(OP_CEIL, a, 0, apply(OP_CEIL, a, 0).u64, nearest(ceil(x)));
    check_bits(OP_ROUND, a, 0, apply(OP_ROUND, a, 0).u64, nearest(rint(x)));
    check_bits(OP_TRUNC, a, 0, apply(OP_TRUNC, a, 0).u64, nearest(trunc(x)));
    check_bits(OP_NEG, a, 0, apply(OP_NEG, a, 0).u64, a ^ 0x8000U);
    check_bits(OP_ABS, a, 0, apply(OP_ABS, a, 0).u64, a & 0x7fffU);
    check_bits(OP_ISNAN, a, 0, apply(OP_ISNAN, a, 0).u64, is_nan(a));
    check_bits(OP_SIGN, a, 0, apply(OP_SIGN, a, 0).u64,
               isnan(x) ? 0x7e00 : nearest((x > 0) - (x < 0)));
  }
}

// What is not rounded right by itself is that of f32, rounded.
TEST(other_operations_are_those_of_f32) {
  for (scalar_op op = 0; op < SCALAR_OP_COUNT; op++)
    for (uint32_t i = 0; i < 65536; i++) {
      bool computes = scalar_ops[op].operands & CLASS_OF(SCALAR_F16) && op != OP_POWI &&
                      op != OP_NEG && op != OP_ABS && scalar_ops[op].result == RESULT_SAME;
      if (!computes || (scalar_ops[op].arity == 2 && i % 5))
        continue;
      uint16_t a = (uint16_t)i, b = chosen[random_u64() % CHOSEN];
      scalar_bits x = {.f32 = (float)value_of(a)}, y = {.f32 = (float)value_of(b)}, wide = {{0}};
      scalar_apply(op, SCALAR_F32, 1, &x, &y, &wide);
      check_bits(op, a, b, apply(op, a, b).u64, nearest((double)wide.f32));
    }
}

TEST(powers) {
  for (int64_t y = -5; y <= 12; y++)
    for (uint32_t i = 0; i < 65536; i += 7) {
      scalar_bits a = {.f16 = (uint16_t)i}, x = {.f32 = (float)value_of((uint16_t)i)};
      scalar_bits found = {{0}}, wide = {{0}};
      scalar_apply(OP_POWI, SCALAR_F16, 1, &a, &y, &found);
      scalar_apply(OP_POWI, SCALAR_F32, 1, &x, &y, &wide);
      check_bits(OP_POWI, (uint16_t)i, (uint16_t)y, found.u64, nearest((double)wide.f32));
    }
}

// ---- comparisons -----------------------------------------------------------------------------

// The place in the total order: -0.0 before 0.0, all NaN last.
static int32_t place(uint16_t bits) {
  int32_t size = bits & 0x7fff;
  return is_nan(bits) ? 0x8000 : bits & 0x8000 ? -1 - size : size;
}

static void check_comparisons(uint16_t a, uint16_t b) {
  double x = value_of(a), y = value_of(b);
  check_bits(OP_EQ, a, b, apply(OP_EQ, a, b).u64, x == y);
  check_bits(OP_NE, a, b, apply(OP_NE, a, b).u64, x != y);
  check_bits(OP_LT, a, b, apply(OP_LT, a, b).u64, x < y);
  check_bits(OP_LE, a, b, apply(OP_LE, a, b).u64, x <= y);
  check_bits(OP_GT, a, b, apply(OP_GT, a, b).u64, x > y);
  check_bits(OP_GE, a, b, apply(OP_GE, a, b).u64, x >= y);
  check_bits(OP_TOTAL_LE, a, b, apply(OP_TOTAL_LE, a, b).u64, place(a) <= place(b));
}

TEST(comparisons) {
  for (uint32_t a = 0; a < 65536; a++) {
    for (int i = 0; i < CHOSEN; i++) {
      check_comparisons((uint16_t)a, chosen[i]);
      check_comparisons(chosen[i], (uint16_t)a);
    }
    for (int k = -1; k <= 1; k++)
      check_comparisons((uint16_t)a, (uint16_t)((int)a + k));
  }
  for (int i = 0; i < 1000000; i++) {
    uint64_t bits = random_u64();
    check_comparisons((uint16_t)bits, (uint16_t)(bits >> 16));
  }
}

// ---- complex numbers -------------------------------------------------------------------------

TEST(no_complex_number_has_parts_of_f16) {
  CHECK(!(scalar_ops[OP_CIS].operands & CLASS_OF(SCALAR_F16)));
  CHECK(!(scalar_ops[OP_CISPI].operands & CLASS_OF(SCALAR_F16)));
  CHECK(!(scalar_ops[OP_COMPLEX].operands & CLASS_OF(SCALAR_F16)));
  scalar_bits x = {.f16 = 0x3e00}, out = {{0}};
  scalar_convert(SCALAR_F16, SCALAR_C64, 1, &x, &out);
  CHECK(out.c64[0] == 1.5f && out.c64[1] == 0);
}

TEST_MAIN()
