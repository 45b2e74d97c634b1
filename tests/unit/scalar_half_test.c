// The operations on f16 and bf16 (core/scalar/scalar.h) against doubles: all elements, all pairs with chosen
// ones, and random pairs. Conversions are in scalar_convert_test.c, texts in value_text_test.c.
#include "tests/test.h"

#include "core/scalar/scalar.h"
#include "tests/unit/splitmix.h"

#include <math.h>

enum { CHOSEN = 38 };

// The bits of the fraction, the exponent of 1, and elements at the edges of subnormal, normal and
// infinite numbers.
typedef struct small_float {
  scalar_type type;
  uint32_t step;  // of the elements that are tried: bf16 has the operations of f16
  int places, bias;
  uint16_t chosen[CHOSEN];
} small_float;

static const small_float forms[] = {
    {SCALAR_F16, 1, 10, 15, {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x8400, 0x0401,
                             0x07ff, 0x13ff, 0x1400, 0x2e66, 0x3555, 0x37ff, 0x3800, 0x3bff,
                             0x3c00, 0xbc00, 0x3c01, 0x3e00, 0x4000, 0xc200, 0x4248, 0x4900,
                             0x63ff, 0x6400, 0x6401, 0x6800, 0x77ff, 0x7800, 0x7bfe, 0x7bff,
                             0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xfe12}},
    {SCALAR_BF16, 7, 7, 127, {0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080, 0x8080, 0x0081,
                              0x00ff, 0x1fbf, 0x2000, 0x3dcd, 0x3eab, 0x3eff, 0x3f00, 0x3f7f,
                              0x3f80, 0xbf80, 0x3f81, 0x3fc0, 0x4000, 0xc040, 0x4049, 0x4120,
                              0x42ff, 0x4300, 0x4301, 0x4380, 0x5f7f, 0x5f80, 0x7f7e, 0x7f7f,
                              0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0xffd2}},
};
enum { FORMS = 2 };

static const small_float *form;  // the one that is tried
static const uint16_t *chosen;

#define EACH_FORM for (form = forms; form < forms + FORMS && (chosen = form->chosen); form++)

static double value_of(uint16_t bits) {
  int exponent = (bits & 0x7fff) >> form->places, one = 1 << form->places;
  int fraction = bits & (one - 1), last = 1 - form->bias - form->places;
  double size = exponent == 2 * form->bias + 1 ? (double)(fraction ? NAN : INFINITY)
                : exponent                     ? ldexp(one + fraction, exponent - 1 + last)
                                               : ldexp(fraction, last);
  return bits & 0x8000 ? -size : size;
}

static uint16_t infinity(void) { return (uint16_t)((2 * form->bias + 1) << form->places); }
static uint16_t usual_nan(void) { return (uint16_t)(infinity() | 1 << (form->places - 1)); }

// The nearest, ties to even; NaN as the usual one.
static uint16_t nearest(double x) {
  int exponent, least = 1 - form->bias - form->places;
  if (isnan(x))
    return usual_nan();
  uint16_t sign = signbit(x) ? 0x8000 : 0;
  x = fabs(x);
  frexp(x, &exponent);
  if (isinf(x) || exponent > form->bias + 1)
    return sign | infinity();
  int last = x == 0 || exponent - 1 - form->places < least ? least : exponent - 1 - form->places;
  return (uint16_t)(sign | (((last - least) << form->places) + (int)rint(ldexp(x, -last))));
}

static bool is_nan(uint16_t bits) { return (bits & 0x7fff) > infinity(); }

static scalar_bits apply(scalar_op op, uint16_t a, uint16_t b) {
  scalar_bits x = {.u16 = a}, y = {.u16 = b}, out = {{0}};
  scalar_apply(op, form->type, 1, &x, &y, &out);
  return out;
}

static void check_bits(scalar_op op, uint16_t a, uint16_t b, uint64_t found, uint64_t expected) {
  if (found == expected)
    return;
  CHECK_EQ_U64(found, expected);
  printf("  %s of %s %04x, %04x\n", scalar_ops[op].name, scalar_types[form->type].name, a, b);
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

static void check_all_arithmetic(void) {
  for (uint32_t a = 0; a < 65536; a += form->step)
    for (int i = 0; i < CHOSEN; i++) {
      check_arithmetic((uint16_t)a, chosen[i]);
      check_arithmetic(chosen[i], (uint16_t)a);
    }
  for (uint32_t i = 0; i < 2000000; i += form->step) {
    uint64_t bits = random_u64();
    check_arithmetic((uint16_t)bits, (uint16_t)(bits >> 16));
  }
}

TEST(arithmetic) { EACH_FORM check_all_arithmetic(); }

static void check_all_roots_and_integral_values(void) {
  for (uint32_t i = 0; i < 65536; i += form->step) {
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
               isnan(x) ? usual_nan() : nearest((x > 0) - (x < 0)));
  }
}

TEST(roots_and_integral_values) { EACH_FORM check_all_roots_and_integral_values(); }

// What is not rounded right by itself is that of f32, rounded.
static void check_all_other_operations_are_those_of_f32(void) {
  for (scalar_op op = 0; op < SCALAR_OP_COUNT; op++)
    for (uint32_t i = 0; i < 65536; i += form->step) {
      bool computes = scalar_ops[op].operands & CLASS_OF(form->type) && op != OP_POWI &&
                      op != OP_NEG && op != OP_ABS && scalar_ops[op].result == RESULT_SAME;
      if (!computes || (scalar_ops[op].arity == 2 && i % 5))
        continue;
      uint16_t a = (uint16_t)i, b = chosen[random_u64() % CHOSEN];
      scalar_bits x = {.f32 = (float)value_of(a)}, y = {.f32 = (float)value_of(b)}, wide = {{0}};
      scalar_apply(op, SCALAR_F32, 1, &x, &y, &wide);
      check_bits(op, a, b, apply(op, a, b).u64, nearest((double)wide.f32));
    }
}

TEST(other_operations_are_those_of_f32) { EACH_FORM check_all_other_operations_are_those_of_f32(); }

static void check_all_powers(void) {
  for (int64_t y = -5; y <= 12; y++)
    for (uint32_t i = 0; i < 65536; i += 7) {
      scalar_bits a = {.u16 = (uint16_t)i}, x = {.f32 = (float)value_of((uint16_t)i)};
      scalar_bits found = {{0}}, wide = {{0}};
      scalar_apply(OP_POWI, form->type, 1, &a, &y, &found);
      scalar_apply(OP_POWI, SCALAR_F32, 1, &x, &y, &wide);
      check_bits(OP_POWI, (uint16_t)i, (uint16_t)y, found.u64, nearest((double)wide.f32));
    }
}

TEST(powers) { EACH_FORM check_all_powers(); }

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

static void check_all_comparisons(void) {
  for (uint32_t a = 0; a < 65536; a += form->step) {
    for (int i = 0; i < CHOSEN; i++) {
      check_comparisons((uint16_t)a, chosen[i]);
      check_comparisons(chosen[i], (uint16_t)a);
    }
    for (int k = -1; k <= 1; k++)
      check_comparisons((uint16_t)a, (uint16_t)((int)a + k));
  }
  for (uint32_t i = 0; i < 1000000; i += form->step) {
    uint64_t bits = random_u64();
    check_comparisons((uint16_t)bits, (uint16_t)(bits >> 16));
  }
}

TEST(comparisons) { EACH_FORM check_all_comparisons(); }

// ---- complex numbers -------------------------------------------------------------------------

TEST(no_complex_number_has_such_parts) {
  CHECK(!(scalar_ops[OP_CIS].operands & CLASS_SMALL));
  CHECK(!(scalar_ops[OP_CISPI].operands & CLASS_SMALL));
  CHECK(!(scalar_ops[OP_COMPLEX].operands & CLASS_SMALL));
  scalar_bits x = {.f16 = 0x3e00}, out = {{0}};
  scalar_convert(SCALAR_F16, SCALAR_C64, 1, &x, &out);
  CHECK(out.c64[0] == 1.5f && out.c64[1] == 0);
  x.bf16 = 0x3fc0;
  scalar_convert(SCALAR_BF16, SCALAR_C64, 1, &x, &out);
  CHECK(out.c64[0] == 1.5f && out.c64[1] == 0);
}

TEST_MAIN()
