// Conversions between element types (core/scalar/scalar.h): every pair of types at every boundary,
// against a model in long double, which holds all of i64, u64 and f64 exactly.
#include "tests/test.h"

#include "core/scalar/scalar.h"

#include <float.h>
#include <math.h>

// valgrind computes long double in 53 bits, and converts i64 to f32 by way of f64.
static bool long_double_is_long(void) {
  volatile long double one = 1, small = 0x1p-63L;
  return one + small != one;
}

static int width_of(scalar_type type) { return (int)scalar_types[type].size * 8; }

static long double least_of(scalar_type type) {
  return scalar_types[type].kind == KIND_SIGNED ? -ldexpl(1, width_of(type) - 1) : 0;
}

static long double largest_of(scalar_type type) {
  return ldexpl(1, width_of(type) - (scalar_types[type].kind == KIND_SIGNED)) - 1;
}

static bool is_integer(scalar_type type) { return CLASS_OF(type) & CLASS_INTEGER; }

static scalar_bits convert(scalar_type from, scalar_type to, scalar_bits a) {
  scalar_bits out = {{0}};
  scalar_convert(from, to, 1, &a, &out);
  return out;
}

static bool same(scalar_bits a, scalar_bits b) { return memcmp(&a, &b, sizeof a) == 0; }

// ---- the model -----------------------------------------------------------------------------

// Floats that C lacks: the bits of the fraction, and the exponent of 1.
typedef struct small_float {
  int places, bias;
} small_float;
static small_float form_of(scalar_type type) {
  return type == SCALAR_F16 ? (small_float){10, 15} : (small_float){7, 127};
}

// Of bits, and back: rounded to the nearest multiple of the last place, ties to even.
static long double value_of_small(scalar_type type, uint16_t bits) {
  small_float f = form_of(type);
  int exponent = (bits & 0x7fff) >> f.places, one = 1 << f.places, fraction = bits & (one - 1);
  long double size = exponent == 2 * f.bias + 1 ? fraction ? NAN : INFINITY
                     : exponent ? ldexpl(one + fraction, exponent - f.bias - f.places)
                                : ldexpl(fraction, 1 - f.bias - f.places);
  return bits & 0x8000 ? -size : size;
}

static uint16_t small_of(scalar_type type, long double x) {
  small_float f = form_of(type);
  int infinity = (2 * f.bias + 1) << f.places, least = 1 - f.bias - f.places, exponent;
  if (isnan(x))
    return (uint16_t)(infinity | 1 << (f.places - 1));
  uint16_t sign = signbit(x) ? 0x8000 : 0;
  x = fabsl(x);
  frexpl(x, &exponent);
  if (x == INFINITY || exponent > f.bias + 1)
    return (uint16_t)(sign | infinity);
  int last = x == 0 || exponent - 1 - f.places < least ? least : exponent - 1 - f.places;
  long double units = rintl(ldexpl(x, -last));  // up to the next power of two
  return (uint16_t)(sign | (((last - least) << f.places) + (int)units));
}

// The value of a real element (or the real part).
static long double value_of(scalar_type type, scalar_bits x) {
  switch (type) {
  case SCALAR_BOOL:
  case SCALAR_U8:
    return x.u8;
  case SCALAR_I8:
    return x.i8;
  case SCALAR_I16:
    return x.i16;
  case SCALAR_I32:
    return x.i32;
  case SCALAR_I64:
    return x.i64;
  case SCALAR_U16:
    return x.u16;
  case SCALAR_U32:
    return x.u32;
  case SCALAR_U64:
    return x.u64;
  case SCALAR_F16:
  case SCALAR_BF16:
    return value_of_small(type, x.u16);
  case SCALAR_F32:
    return x.f32;
  default:
    return x.f64;
  }
}

// An integral value in range, as its bits.
static scalar_bits integer_element(scalar_type type, long double value) {
  uint64_t low = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
  scalar_bits bits = {{0}};
  memcpy(&bits, &low, scalar_types[type].size);
  return bits;
}

static scalar_bits model(scalar_type from, scalar_type to, scalar_bits a) {
  long double x = value_of(from, a);
  scalar_bits out = {{0}};
  if (to == SCALAR_BOOL) {
    out.u8 = x != 0;
  } else if (CLASS_OF(to) & CLASS_SMALL) {
    out.u16 = small_of(to, x);
  } else if (to == SCALAR_F32 || to == SCALAR_C64) {
    out.c64[0] = (float)x;  // one rounding, as x is exact
  } else if (to == SCALAR_F64 || to == SCALAR_C128) {
    out.c128[0] = (double)x;
  } else if (scalar_types[from].kind != KIND_FLOAT) {
    uint64_t low = x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
    memcpy(&out, &low, scalar_types[to].size);
  } else {
    x = isnan(x) ? 0 : truncl(x);
    x = x < least_of(to) ? least_of(to) : x > largest_of(to) ? largest_of(to) : x;
    out = integer_element(to, x);
  }
  return out;
}

static void check_all(scalar_type from, scalar_bits a) {
  for (scalar_type to = 0; to < SCALAR_COUNT; to++) {
    scalar_bits found = convert(from, to, a), expected = model(from, to, a);
    bool nan = scalar_types[to].kind == KIND_FLOAT && isnan(value_of(to, expected));
    if (nan ? isnan(value_of(to, found)) : same(found, expected))
      continue;
    if (CLASS_OF(to) & CLASS_COMPLEX && isnan(value_of(from, a)))
      continue;
    CHECK(same(found, expected));
    printf("  %s %.25Lg to %s: %.25Lg, expected %.25Lg\n", scalar_types[from].name,
           value_of(from, a), scalar_types[to].name, value_of(scalar_real_of(to), found),
           value_of(scalar_real_of(to), expected));
  }
}

// ---- integers ------------------------------------------------------------------------------

TEST(integers_near_powers_of_two) {
  if (!long_double_is_long())
    SKIP("long double is no wider than double here");
  for (scalar_type from = 0; from < SCALAR_COUNT; from++)
    for (int power = 0; is_integer(from) && power <= 64; power++)
      for (int64_t near = -3; near <= 3; near++)
        for (int step = 0; step < 64; step++) {  // near 2^power, at each distance of 2^step
          uint64_t base = power < 64 ? (uint64_t)1 << power : 0;
          uint64_t value = base + ((uint64_t)near << step);
          scalar_bits a = {{0}};
          memcpy(&a, &value, scalar_types[from].size);
          check_all(from, a);
        }
}

TEST(all_elements_of_16_bits_and_bools) {
  if (!long_double_is_long())
    SKIP("long double is no wider than double here");
  for (uint32_t i = 0; i < 65536; i++) {
    check_all(SCALAR_I16, (scalar_bits){.u16 = (uint16_t)i});
    check_all(SCALAR_U16, (scalar_bits){.u16 = (uint16_t)i});
    check_all(SCALAR_F16, (scalar_bits){.f16 = (uint16_t)i});
    check_all(SCALAR_BF16, (scalar_bits){.bf16 = (uint16_t)i});
  }
  check_all(SCALAR_BOOL, (scalar_bits){.u8 = 0});
  check_all(SCALAR_BOOL, (scalar_bits){.u8 = 1});
}

TEST(large_u64_is_not_rounded_twice) {
  if (!long_double_is_long())
    SKIP("long double is no wider than double here");
  // Just above and on half of an f32 step; by way of f64 the first would round to the second.
  scalar_bits above = {.u64 = (UINT64_C(1) << 63) + (UINT64_C(1) << 39) + 1};
  scalar_bits half = {.u64 = (UINT64_C(1) << 63) + (UINT64_C(1) << 39)};
  CHECK(convert(SCALAR_U64, SCALAR_F32, above).f32 == 0x1.000002p63f);
  CHECK(convert(SCALAR_U64, SCALAR_F32, half).f32 == 0x1p63f);
  CHECK(convert(SCALAR_U64, SCALAR_F64, (scalar_bits){.u64 = UINT64_MAX}).f64 == 0x1p64);
}

// ---- floats --------------------------------------------------------------------------------

static void check_f32(float x) { check_all(SCALAR_F32, (scalar_bits){.f32 = x}); }
static void check_f64(double x) { check_all(SCALAR_F64, (scalar_bits){.f64 = x}); }

// x, its neighbours, and those of x plus small fractions, in both types and both signs.
static void check_around(double x) {
  for (int sign = 0; sign < 2; sign++, x = -x)
    for (double offset = -1.5; offset <= 1.5; offset += 0.25) {
      double y = x + offset;
      check_f64(y);
      check_f64(nextafter(y, INFINITY));
      check_f64(nextafter(y, -(double)INFINITY));
      check_f32((float)y);
      check_f32(nextafterf((float)y, INFINITY));
      check_f32(nextafterf((float)y, -INFINITY));
    }
}

TEST(floats_near_powers_of_two) {
  if (!long_double_is_long())
    SKIP("long double is no wider than double here");
  for (int power = -5; power <= 70; power++)
    check_around(ldexp(1, power));
  check_around(0);
}

TEST(special_floats) {
  if (!long_double_is_long())
    SKIP("long double is no wider than double here");
  const double rows[] = {0.0,     -0.0,    INFINITY, -(double)INFINITY, NAN,    DBL_MAX, -DBL_MAX,
                         DBL_MIN, FLT_MAX, FLT_MIN,  -FLT_MIN,          5e-324, 1e-45};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    check_f64(rows[i]);
    if (!isfinite(rows[i]) || fabs(rows[i]) <= (double)FLT_MAX)
      check_f32((float)rows[i]);
  }
}

TEST(floats_of_random_bits) {
  if (!long_double_is_long())
    SKIP("long double is no wider than double here");
  for (uint64_t i = 0; i < 100000; i++) {
    uint64_t bits = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    bits ^= bits >> 31;
    check_all(SCALAR_F64, (scalar_bits){.u64 = bits});
    check_all(SCALAR_F32, (scalar_bits){.u32 = (uint32_t)bits});
  }
}

// Each element, the middle between it and the next, and what is next to both in the wider types.
static void check_around_every(scalar_type type, uint16_t step) {
  uint16_t infinity = (uint16_t)scalar_types[type].infinity;
  for (uint16_t i = 0; i < infinity; i = (uint16_t)(i + step)) {
    double x = (double)value_of_small(type, i), before = (double)value_of_small(type, i - 1);
    double next = i + 1 == infinity ? 2 * x - before : (double)value_of_small(type, i + 1);
    double y = (x + next) / 2;
    for (int sign = 0; sign < 2; sign++, x = -x, y = -y)
      for (int side = -1; side <= 1; side++) {
        double to = (double)INFINITY * side;
        check_f64(side ? nextafter(x, to) : x);
        check_f64(side ? nextafter(y, to) : y);
        check_f32(side ? nextafterf((float)x, (float)to) : (float)x);
        check_f32(side ? nextafterf((float)y, (float)to) : (float)y);
      }
  }
}

TEST(floats_around_every_small_one) {
  if (!long_double_is_long())
    SKIP("long double is no wider than double here");
  check_around_every(SCALAR_F16, 1);
  check_around_every(SCALAR_BF16, 7);
}

TEST(nan_of_small_floats_is_the_usual_one) {
  for (uint32_t bits = 0x7f800001; bits < 0x7fffffff; bits += 4097)
    for (uint32_t sign = 0; sign < 2; sign++) {
      scalar_bits x = {.u32 = bits | sign << 31};
      CHECK_EQ_U64(convert(SCALAR_F32, SCALAR_F16, x).u64, 0x7e00);
      CHECK_EQ_U64(convert(SCALAR_F32, SCALAR_BF16, x).u64, 0x7fc0);
    }
  scalar_bits x = {.u64 = UINT64_C(0xfff0000000000001)};
  CHECK_EQ_U64(convert(SCALAR_F64, SCALAR_F16, x).u64, 0x7e00);
  CHECK_EQ_U64(convert(SCALAR_F64, SCALAR_BF16, x).u64, 0x7fc0);
}

// By way of f32 or f64 these would be in the middle of two, and go to the even one.
TEST(large_integers_are_rounded_to_bf16_once) {
  CHECK_EQ_U64(convert(SCALAR_I32, SCALAR_BF16, (scalar_bits){.i32 = 0x40400001}).u64, 0x4e81);
  CHECK_EQ_U64(convert(SCALAR_I64, SCALAR_BF16, (scalar_bits){.i64 = -0x4040000000000001}).u64,
               0xde81);
  CHECK_EQ_U64(convert(SCALAR_U64, SCALAR_BF16, (scalar_bits){.u64 = 0x8080000000000001}).u64,
               0x5f01);
}

TEST(floats_saturate_at_the_very_boundary) {
  CHECK_EQ_I64(convert(SCALAR_F32, SCALAR_I32, (scalar_bits){.f32 = 0x1p31f}).i32, INT32_MAX);
  CHECK_EQ_I64(convert(SCALAR_F32, SCALAR_I32, (scalar_bits){.f32 = 0x1.fffffep30f}).i32,
               2147483520);
  CHECK_EQ_I64(convert(SCALAR_F32, SCALAR_I32, (scalar_bits){.f32 = -0x1p31f}).i32, INT32_MIN);
  CHECK_EQ_I64(convert(SCALAR_F64, SCALAR_I64, (scalar_bits){.f64 = 0x1p63}).i64, INT64_MAX);
  CHECK_EQ_I64(convert(SCALAR_F64, SCALAR_I64, (scalar_bits){.f64 = -0x1p63}).i64, INT64_MIN);
  CHECK_EQ_U64(convert(SCALAR_F64, SCALAR_U64, (scalar_bits){.f64 = 0x1p64}).u64, UINT64_MAX);
  CHECK_EQ_U64(convert(SCALAR_F64, SCALAR_U64, (scalar_bits){.f64 = 0x1p63}).u64,
               (uint64_t)1 << 63);
  CHECK_EQ_U64(convert(SCALAR_F64, SCALAR_U64, (scalar_bits){.f64 = -1}).u64, 0);
  CHECK_EQ_U64(convert(SCALAR_F64, SCALAR_U8, (scalar_bits){.f64 = 255.99}).u8, 255);
  CHECK_EQ_I64(convert(SCALAR_F64, SCALAR_I8, (scalar_bits){.f64 = -128.99}).i8, -128);
  CHECK_EQ_I64(convert(SCALAR_F64, SCALAR_I64, (scalar_bits){.f64 = NAN}).i64, 0);
}

// ---- complex, and types to themselves ------------------------------------------------------

TEST(complex_numbers) {
  scalar_bits z = {.c128 = {1.1, -0.0}}, w = convert(SCALAR_C128, SCALAR_C64, z);
  CHECK(w.c64[0] == 1.1f && w.c64[1] == 0 && signbit(w.c64[1]));
  z = convert(SCALAR_C64, SCALAR_C128, w);
  CHECK(z.c128[0] == (double)1.1f && signbit(z.c128[1]));
  CHECK_EQ_U64(convert(SCALAR_C128, SCALAR_BOOL, (scalar_bits){.c128 = {0, -0.0}}).u8, 0);
  CHECK_EQ_U64(convert(SCALAR_C128, SCALAR_BOOL, (scalar_bits){.c128 = {0, 1}}).u8, 1);
  CHECK_EQ_U64(convert(SCALAR_C64, SCALAR_BOOL, (scalar_bits){.c64 = {2, 0}}).u8, 1);
  CHECK_EQ_U64(convert(SCALAR_C64, SCALAR_BOOL, (scalar_bits){.c64 = {0, NAN}}).u8, 1);
}

TEST(a_type_to_itself_keeps_every_bit) {
  uint32_t f32[2] = {0x7f800001, 0xffbfffff}, out32[2];
  scalar_convert(SCALAR_F32, SCALAR_F32, 2, f32, out32);
  CHECK(memcmp(f32, out32, sizeof f32) == 0);
  uint64_t c128[2] = {UINT64_C(0x7ff0000000000001), UINT64_C(0xfff7ffffffffffff)}, out[2];
  scalar_convert(SCALAR_C128, SCALAR_C128, 1, c128, out);
  CHECK(memcmp(c128, out, sizeof c128) == 0);
  scalar_convert(SCALAR_F32, SCALAR_I32, 0, NULL, NULL);
}

TEST_MAIN()
