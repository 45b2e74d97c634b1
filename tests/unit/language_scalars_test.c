// Elements in the language: what operations, conversions and choices make of them, known before a
// run and in it, against C code or results worked out by hand.
#include "tests/unit/language.h"

// ---- integers, static and dynamic ------------------------------------------------------------

__extension__ typedef __int128 wide;

static const char *const integer_types[] = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"};
enum { INTEGER_TYPES = 8, SAMPLES = 14 };

static wide least(const char *type) {
  return *type == 'i' ? -((wide)1 << (8 * size_of_type(type) - 1)) : 0;
}

static wide largest(const char *type) {
  return ((wide)1 << (8 * size_of_type(type) - (*type == 'i'))) - 1;
}

static wide wrap(const char *type, wide x) {
  wide range = largest(type) - least(type) + 1;
  x = (x - least(type)) % range;
  return x < 0 ? x + range + least(type) : x + least(type);
}

static wide sample(const char *type, int i) {
  const wide near[] = {0, 1, 2, 3, 5, 7, -1, -2, -5, -8};
  if (i < 10)
    return near[i] < least(type) ? largest(type) + near[i] : near[i];
  const wide far[] = {least(type), least(type) + 1, largest(type), largest(type) - 1};
  return far[i - 10];
}

static wide floor_div(wide x, wide y) {
  if (y == 0)
    return 0;
  return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

static wide floor_mod(wide x, wide y) { return y == 0 ? 0 : x - y * floor_div(x, y); }

// The exact result, or what is documented where there is none; *fault: whether that is a static
// error.
static wide integer_operation(const char *op, const char *type, wide x, wide y, bool *fault) {
  wide bits = 8 * (wide)size_of_type(type), result = 0;
  *fault = (*op == '/' || *op == '%') && y == 0;
  switch (*op) {
  case '+':
    result = x + y;
    break;
  case '-':
    result = x - y;
    break;
  case '*':
    // The product of two u64 may leave the range of wide: wrapped as unsigned.
    if (__builtin_mul_overflow(x, y, &result)) {
      *fault = true;
      return wrap(type, (wide)((uint64_t)x * (uint64_t)y));
    }
    break;
  case '/':
    result = floor_div(x, y);
    break;
  case '%':
    result = floor_mod(x, y);
    break;
  case '&':
    result = x & y;
    break;
  case '|':
    result = x | y;
    break;
  case 'x':
    result = x ^ y;
    break;
  case '<':
    *fault = y < 0 || y >= bits;
    return *fault ? 0 : wrap(type, x * ((wide)1 << y));
  default:  // >>
    *fault = y < 0 || y >= bits;
    return *fault ? (x < 0 ? -1 : 0) : floor_div(x, (wide)1 << y);
  }
  *fault = *fault || result < least(type) || result > largest(type);
  return wrap(type, result);
}

static void put_literal(const char *type, wide x) {
  if (x < 0)
    put("(-%" PRIu64 "%s)", (uint64_t)-x, type);
  else
    put("%" PRIu64 "%s", (uint64_t)x, type);
}

// All pairs of samples, dynamically; and those without a fault as one list of literals.
static void check_integer_operation(const char *op, const char *type) {
  size_t size = size_of_type(type), count = 0, good = 0;
  char x_data[SAMPLES * SAMPLES * 8], y_data[SAMPLES * SAMPLES * 8],
      expected[SAMPLES * SAMPLES * 8];
  char expected_good[SAMPLES * SAMPLES * 8];
  shown_length = 0;
  put("main : [m]%s -> [m]%s -> [m]%s\nmain = zip_with (\\x y -> (x %s y))\nfixed : []%s\nfixed = "
      "[",
      type, type, type, op, type);
  for (int i = 0; i < SAMPLES; i++)
    for (int k = 0; k < SAMPLES; k++, count++) {
      bool fault;
      wide x = sample(type, i), y = sample(type, k);
      uint64_t x_bits = (uint64_t)x, y_bits = (uint64_t)y;
      uint64_t z_bits = (uint64_t)integer_operation(op, type, x, y, &fault);
      memcpy(x_data + count * size, &x_bits, size);
      memcpy(y_data + count * size, &y_bits, size);
      memcpy(expected + count * size, &z_bits, size);
      if (fault)
        continue;
      memcpy(expected_good + good++ * size, &z_bits, size);
      put(good > 1 ? ", (" : "(");
      put_literal(type, x);
      put(" %s ", op);
      put_literal(type, y);
      put(")");
    }
  put("]\n");
  permc_context *c = load_text(shown);
  permc_value *in[2] = {value_1(type, count, x_data), value_1(type, count, y_data)};
  outcome out = run_values(c, "main", in, 2), fixed = run_values(c, "fixed", NULL, 0);
  bool same = out.count == 1 && fixed.count == 1 &&
              check_1(out.values[0], 0, type, count, expected) &&
              check_1(fixed.values[0], 0, type, good, expected_good);
  if (!same)
    printf("%s of %s\n", op, type);
  permc_values_free(out.values, out.count);
  permc_values_free(fixed.values, fixed.count);
  permc_context_free(c);
}

TEST(integer_operations) {
  static const char *const operations[] = {"+", "-", "*", "/", "%", "&", "|", "xor", "<<", ">>"};
  for (int t = 0; t < INTEGER_TYPES; t++)
    for (int k = 0; k < 10; k++)
      check_integer_operation(operations[k], integer_types[t]);
}

TEST(static_faults) {
  static const struct {
    const char *expression, *part;
  } faults[] = {{"2^62 + 2^62", "overflows i64"},   {"-(2^62) - 2^62 - 1", "overflows i64"},
                {"2^62 * 2", "overflows i64"},      {"2^63", "overflows i64"},
                {"5u8 / 0", "divides by zero"},     {"5 / 0", "divides by zero"},
                {"5 % 0", "divides by zero"},       {"2 ^ (-1)", "negative exponent"},
                {"1 << (-1)", "a negative number"}, {"1 >> (-1)", "a negative number"},
                {"200i8", "does not fit i8"},       {"log2 12", "power of two"},
                {"(iota 3)[3]", "index 3"},         {"[1, 2][-1]", "index -1"},
                {"take 3 [1, 2]", "take 3"},        {"iter (-1) (+ 1) 0", "-1 times"}};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    char program[200];
    snprintf(program, sizeof program, "main = %s\n", faults[i].expression);
    expect_error(program, "", faults[i].part);
  }
  // Types that are not those of sizes wrap, and what is dynamic, also where only one side is.
  expect("main = (127i8 + 1, 0u32 - 1, -(-128i8), abs (-128i8), (-128i8) / (-1), 200u8 * 2)\n", "",
         "i8 -128; u32 4294967295; i8 -128; i8 -128; i8 -128; u8 144");
  expect("main : i8 -> (i8, i8, i8, i8, i8)\nmain x = (x + 1, -(x + 1), abs (x + 1), 5 / (x - "
         "127), 1 << x)\n",
         "127i8", "i8 -128; i8 -128; i8 -128; i8 0; i8 0");
  expect("main : int -> int -> (int, int, int)\nmain x k = (x ^ k, x ^ 63, (-1) ^ k)\n", "2 -1",
         "i64 0; i64 -9223372036854775808; i64 -1");
}

// ---- conversions -----------------------------------------------------------------------------

static const char *const all_types[] = {"bool", "i8",  "i16", "i32", "i64", "u8",
                                        "u16",  "u32", "u64", "f32", "f64"};
enum { ALL_TYPES = 11, CONVERTED = 24 };

static const double converted[CONVERTED] = {
    0,   1,     -1,    0.5, -0.5, 1.5,          -1.5,         127,    128,    -128,    -129, 255,
    256, 32767, 65536, 1e9, -1e9, 2147483648.0, 4294967296.0, 9.2e18, 1.8e19, -9.3e18, 1e30, -1e30};

// The samples that a type holds, as that type. Returns how many.
static size_t converted_samples(const char *type, void *data) {
  size_t count = 0, size = size_of_type(type);
  for (int i = 0; i < CONVERTED; i++) {
    double x = converted[i];
    if (strcmp(type, "f64") == 0) {
      ((double *)data)[count++] = x;
    } else if (strcmp(type, "f32") == 0) {
      ((float *)data)[count++] = (float)x;
    } else {
      bool fits = strcmp(type, "bool") == 0 ? x == 0 || x == 1
                                            : x == floor(x) && x >= (double)least(type) &&
                                                  x < (double)largest(type) + 0.5;
      uint64_t bits = x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
      if (fits)
        memcpy((char *)data + count++ * size, &bits, size);
    }
  }
  if (strcmp(type, "f64") == 0) {
    const double more[] = {NAN, INFINITY, -INFINITY, -0.0};
    memcpy((double *)data + count, more, sizeof more);
    count += 4;
  }
  return count;
}

static double real_at(const char *type, const void *data, size_t i) {
  return strcmp(type, "f32") == 0 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static wide integer_at(const char *type, const void *data, size_t i) {
  uint64_t bits = element_bits(data, size_of_type(type), i);
  return *type == 'i' ? wrap(type, (wide)bits) : (wide)bits;
}

static wide saturated(const char *to, double x) {
  if (isnan(x))
    return 0;
  x = trunc(x);
  if (x <= (double)least(to))
    return least(to);
  return x >= (double)largest(to) ? largest(to) : (wide)x;
}

static void convert_reference(const char *from, const void *data, size_t i, const char *to,
                              void *out) {
  bool real = *from == 'f';
  double x = real ? real_at(from, data, i) : 0;
  wide n = real ? 0 : integer_at(from, data, i);
  if (strcmp(to, "bool") == 0) {
    *(uint8_t *)out = real ? x != 0 : n != 0;
  } else if (strcmp(to, "f32") == 0) {
    *(float *)out = real ? (float)x : (float)n;
  } else if (strcmp(to, "f64") == 0) {
    *(double *)out = real ? x : (double)n;
  } else {
    wide m = real ? saturated(to, x) : wrap(to, n);
    uint64_t bits = (uint64_t)m;
    memcpy(out, &bits, size_of_type(to));
  }
}

TEST(conversions) {
  for (int f = 0; f < ALL_TYPES; f++)
    for (int t = 0; t < ALL_TYPES; t++) {
      const char *from = all_types[f], *to = all_types[t];
      uint64_t data[CONVERTED + 4], expected[CONVERTED + 4];
      size_t count = converted_samples(from, data), size = size_of_type(to);
      for (size_t i = 0; i < count; i++)
        convert_reference(from, data, i, to, (char *)expected + i * size);
      char program[100];
      snprintf(program, sizeof program, "main : [m]%s -> [m]%s\nmain = map %s\n", from, to, to);
      permc_context *c = load_text(program);
      permc_value *out = run_value(c, "main", value_1(from, count, data));
      if (!check_1(out, 0, to, count, expected))
        printf("%s to %s\n", from, to);
      permc_value_free(out);
      permc_context_free(c);
    }
  // The same while elaborating.
  expect("main = [i8 x | x <- [300, -129, 127.9, -1.5, 0 / 0]]\n", "", "i8 [127 -128 127 -1 0]");
  expect("main = [u8 x | x <- [300, -129, 255, 256]]\n", "", "u8 [44 127 255 0]");
  expect("main = (u64 (-1i8), i64 0xffffffffffffffffu64, f32 16777217, bool 0.5, bool (0.0 / 0), "
         "i16 true)\n",
         "", "u64 18446744073709551615; i64 -1; f32 16777216; bool true; bool true; i16 1");
  expect("main = (c64 1.5f64, c128 (complex 1.5f32 (-0.5)), c128 3u8, re (c64 2))\n", "",
         "c64 1.5,0i; c128 1.5,-0.5i; c128 3,0i; f32 2");
  expect("main : c128 -> (c64, c128, f64)\nmain z = (c64 z, c128 z, re z)\n", "1.5-0.25i",
         "c64 1.5,-0.25i; c128 1.5,-0.25i; f64 1.5");
  expect_error("main : c128 -> f64\nmain z = f64 z\n", "1.5-0.25i", "c128");
}

TEST(extremes) {
  expect(
      "main : (i8, i8, u16, u16, i32, i32, u64, u64, i64, i64)\n"
      "main = (minval, maxval, minval, maxval, minval, maxval, minval, maxval, minval, maxval)\n",
      "",
      "i8 -128; i8 127; u16 0; u16 65535; i32 -2147483648; i32 2147483647; u64 0; u64 "
      "18446744073709551615; "
      "i64 -9223372036854775808; i64 9223372036854775807");
  expect("main : (bool, bool, f32, f32, f64, f64)\nmain = (minval, maxval, minval, maxval, minval, "
         "maxval)\n",
         "", "bool false; bool true; f32 -inf; f32 nan; f64 -inf; f64 nan");
  expect("main : ((u8, bool), (i8, (f32, u8)))\nmain = (maxval, minval)\n", "",
         "u8 255; bool true; i8 -128; f32 -inf; u8 0");
  expect("main : int -> int -> f64 -> (int, int, f64, f64, f64, f64)\n"
         "main x y nan = (min x y, max x y, min nan 1, min 1 nan, max nan 1, max 1 nan)\n",
         "3 -4 f64.nan", "i64 -4; i64 3; f64 1; f64 nan; f64 1; f64 nan");
}

// ---- comparisons and choices -----------------------------------------------------------------

static int compare_total(double x, double y) {
  if (isnan(x) || isnan(y))
    return isnan(x) - isnan(y);
  if (x == y)
    return (signbit(x) == 0) - (signbit(y) == 0);
  return x < y ? -1 : 1;
}

TEST(comparisons_of_tuples) {
  static const double keys[] = {-1, -0.0, 0.0, 1, INFINITY, NAN};
  double a[144], c[144];
  uint8_t b[144], d[144], expected[7][144];
  size_t count = 0;
  for (int i = 0; i < 12; i++)
    for (int k = 0; k < 12; k++, count++) {
      double x = a[count] = keys[i / 2], y = c[count] = keys[k / 2];
      int u = b[count] = (uint8_t)(i % 2), v = d[count] = (uint8_t)(k % 2),
          order = compare_total(x, y);
      expected[0][count] = x == y && u == v;
      expected[1][count] = x != y || u != v;
      expected[2][count] = x < y || (x == y && u < v);
      expected[3][count] = x < y || (x == y && u <= v);
      expected[4][count] = x > y || (x == y && u > v);
      expected[5][count] = x > y || (x == y && u >= v);
      expected[6][count] = order < 0 || (order == 0 && u <= v);
    }
  permc_context *context = load_text("both f = zip_with (\\x y -> f x y)\n"
                                     "main : [m](f64, u8) -> [m](f64, u8) -> ([m]bool, [m]bool, "
                                     "[m]bool, [m]bool, [m]bool, [m]bool, [m]bool)\n"
                                     "main x y = (both (==) x y, both (!=) x y, both (<) x y, both "
                                     "(<=) x y, both (>) x y, both (>=) x y, both total_le x y)\n");
  permc_value *in[2] = {value_pair(value_1("f64", count, a), value_1("u8", count, b)),
                        value_pair(value_1("f64", count, c), value_1("u8", count, d))};
  outcome out = run_values(context, "main", in, 2);
  for (size_t i = 0; i < out.count; i++)
    check_1(out.values[i], 0, "bool", count, expected[i]);
  CHECK_EQ_U64(out.count, 7);
  permc_values_free(out.values, out.count);
  permc_context_free(context);
}

TEST(static_and_dynamic_comparisons) {
  expect("main : int -> [8]bool\nmain x = [(x, 1) < (3, 2), (2, x) < (3, 0), (4, x) < (3, 0), (3, "
         "x) <= (3, 3), (3, x) <= (3, 2),\n"
         "                   (1, (x, 2)) == (1, (3, 2)), (1, x) != (1, 3), total_le (x, false) (3, "
         "false)]\n",
         "3", "bool [true true false true false true false true]");
  expect("main = [(1, 2) < (1, 3), (true, 0) < (false, 9), (1, 1, 1) >= (1, 1, 1), total_le (0 / "
         "0) 1.0, total_le (-0.0) 0.0]\n",
         "", "bool [true false true false true]");
  expect("main : bool -> bool -> [6]bool\nmain a b = [a <= b, a == b, a && b, a || b, a xor b, not "
         "a]\n",
         "true false", "bool [false false false true true false]");
  // && and || stop at a static answer.
  expect("main : [m]int -> [2]bool\nmain xs = [m > 9 && xs[9] > 0, m < 9 || xs[9] > 0]\n", "[1]",
         "bool [false true]");
  expect(
      "main : bool -> int -> (int, bool)\nmain b x = (if b then x else 3, if b then true else b)\n",
      "false 1", "i64 3; bool false");
}

TEST(choices_move_bits) {
  uint64_t bits[4] = {UINT64_C(0x7ff8000000000123), UINT64_C(0x8000000000000000),
                      UINT64_C(0xfff80000000000ff), 0};
  uint8_t choice[4] = {1, 0, 1, 0};
  uint64_t first[4] = {bits[0], 0, bits[2], 0}, second[4] = {0, bits[1], 0, bits[3]};
  permc_context *c =
      load_text("main : [m]bool -> [m]f64 -> ([m]f64, [m]f64)\n"
                "main bs xs = unzip (zip_with (\\b x -> if b then (x, 0) else (0, x)) bs xs)\n"
                "swaps : [m]bool -> [m]f64 -> [m][2]f64\n"
                "swaps bs xs = zip_with (\\b x -> if not b then [0, x] else [x, 0]) bs xs\n");
  outcome out = run_values(
      c, "main", (permc_value *[]){value_1("bool", 4, choice), value_1("f64", 4, bits)}, 2);
  if (CHECK_EQ_U64(out.count, 2)) {
    check_1(out.values[0], 0, "f64", 4, first);
    check_1(out.values[1], 0, "f64", 4, second);
  }
  permc_values_free(out.values, out.count);
  uint64_t both[8];
  for (int i = 0; i < 4; i++) {
    both[2 * i] = first[i];
    both[2 * i + 1] = second[i];
  }
  out = run_values(c, "swaps",
                   (permc_value *[]){value_1("bool", 4, choice), value_1("f64", 4, bits)}, 2);
  if (CHECK_EQ_U64(out.count, 1))
    check_2(out.values[0], 0, "f64", 4, 2, both);
  permc_values_free(out.values, out.count);
  permc_context_free(c);
}

TEST(choices) {
  expect("main : int -> [2][2]int\nmain x = if x > 0 then [[x, 1], [2, x]] else [[0, 0], [0, 0]]\n",
         "3", "i64 [[3 1] [2 3]]");
  expect("main : int -> (int, (bool, [2]int))\nmain x = if x > 5 then (1, (true, [x, 0])) else (2, "
         "(false, [0, x]))\n",
         "3", "i64 2; bool false; i64 [0 3]");
  // Static conditions choose anything, and evaluate nothing else.
  expect("main : [m]int -> [m]int\nmain xs = (if m > 2 then map (+ 1) else map (* xs[2])) xs\n",
         "[1, 2, 3]", "i64 [2 3 4]");
  expect("main : [m]int -> [m]int\nmain xs = if m == 2 then reverse xs else concat (take 1 xs) "
         "(bmmc [] 0 (drop 1 xs))\n",
         "[1, 2]", "i64 [2 1]");
  expect("main : [2]i32 -> [2]i32\nmain xs = if xs[0] > 0 then reverse xs else xs\n", "[1, 2]",
         "i32 [2 1]");
  expect("main : [2]i32 -> [2]i32\nmain xs = if xs[0] > 0 then reverse xs else xs\n", "[-1, 2]",
         "i32 [-1 2]");
  expect("main : bool -> [2][2](int, bool) -> [2][2](int, bool)\n"
         "main b xs = if b then transpose xs else xs\n",
         "true [[1, 2], [3, 4]] [[true, true], [false, true]]",
         "i64 [[1 3] [2 4]]; bool [[true false] [true true]]");
  expect(
      "main : [m]int -> [m][2]int\nmain = map (\\x -> if x > 1 then [x, 1] else replicate 2 x)\n",
      "[1, 2]", "i64 [[1 1] [2 1]]");
  expect("main : bool -> [m]int -> [m]int\nmain b xs = if b then xs else map (+ 1) xs\n",
         "true empty([0]i64)", "i64 [0]");
  expect_error("main : [m]int -> i8 -> []int\nmain xs k = take (i64 k) xs\n", "[1, 2] 1",
               "known before");
  expect("main : [m]int -> int -> []int\nmain xs k = take k xs\n", "[1, 2] 1", "i64 [1]");
  expect_error("main : int -> [2]int\nmain x = if x > 0 then [x, 1] else [x]\n", "1", "lengths");
  expect_error("main : [m]int -> []int\nmain xs = if xs[0] > 0 then xs else drop 1 xs\n", "[1, 2]",
               "lengths: 2 and 1");
}

// ---- floats and complex numbers --------------------------------------------------------------

TEST(floats) {
  expect("main : f64 -> f64 -> (f64, f64, f64, f64, f64, f64)\nmain x y = (x + y, x - y, x * y, x "
         "/ y, x % y, -x)\n",
         "7.5 -2.0", "f64 5.5; f64 9.5; f64 -15; f64 -3.75; f64 -0.5; f64 -7.5");
  expect("main : f32 -> f32 -> (f32, f32, bool, bool)\nmain x y = (x / y, 0 - x, x / y == y / 0, "
         "isnan (x / y - x / y))\n",
         "1.0 0.0", "f32 inf; f32 -1; bool false; bool true");
  expect("main : [m]f64 -> ([m]f64, [m]f64, [m]f64, [m]f64, [m]f64)\n"
         "main xs = (map floor xs, map ceil xs, map round xs, map trunc xs, map sign xs)\n",
         "[2.5, -2.5, 3.5, -0.25, 0.0]",
         "f64 [2 -3 3 -1 0]; f64 [3 -2 4 -0 0]; f64 [2 -2 4 -0 0]; f64 [2 -2 3 -0 0]; f64 [1 -1 1 "
         "-1 0]");
  expect("main : (f64, f64, f64, f64, f32)\nmain = (sinpi 0.5, cospi 0.5, sinpi 1, cospi 1e15, "
         "sqrt 2)\n",
         "", "f64 1; f64 0; f64 0; f64 1; f32 1.4142135");
  expect("main : f64 -> (f64, f64, f64, f64)\nmain x = (x ^ 3, x ^ (-2), pow x 0.5, x ^ 0)\n",
         "4.0", "f64 64; f64 0.0625; f64 2; f64 1");
  expect("main : f32 -> f32\nmain x = x * pi\n", "1.0", "f32 3.1415927");
}

TEST(complex_numbers) {
  expect("main : c128 -> c128 -> (c128, c128, c128, c128, c128)\nmain z w = (z + w, z - w, z * w, "
         "z / w, -z)\n",
         "3.0+4.0i 1.0-2.0i", "c128 4,2i; c128 2,6i; c128 11,-2i; c128 -1,2i; c128 -3,-4i");
  expect("main : c64 -> (f32, f32, c64, f32, bool, c64)\nmain z = (re z, im z, conj z, magnitude "
         "z, z == conj z, z ^ 2)\n",
         "3.0-4.0ic64", "f32 3; f32 -4; c64 3,4i; f32 5; bool false; c64 -7,-24i");
  expect("main : f64 -> (c128, c128, c128)\nmain x = (complex x 1 * complex 0 1, cispi x, 2 * "
         "complex x x)\n",
         "0.5", "c128 -1,0.5i; c128 0,1i; c128 1,1i");
  expect("main = (root 1 4 * root 1 4, root (-1) 4 + 1, root 5 1)\n", "",
         "c128 -1,0i; c128 1,-1i; c128 1,0i");
  expect("main : [m]c64 -> [m](f32, f32)\nmain = map (\\z -> (re z, im z))\n",
         "[1.0+2.0ic64, 3.0-4.0ic64]", "f32 [1 3]; f32 [2 -4]");
  expect("main : c64 -> c64 -> bool\nmain z w = z < w\n", "1.0ic64 2.0ic64", "bool true");
  expect_error("main : c64 -> c64\nmain z = z % z\n", "1.0i", "c64");
}

TEST_MAIN()
