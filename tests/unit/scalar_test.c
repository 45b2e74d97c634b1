// Element types, integer and bool operations, selection and static errors (core/scalar/scalar.h),
// against models in 128-bit integers: all operands of 8 bits, edges and random ones of the wider
// types.
#include "tests/test.h"

#include "core/scalar/scalar.h"
#include "tests/unit/splitmix.h"

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

// ---- reading and writing elements ----------------------------------------------------------

static bool is_signed(scalar_type type) { return scalar_types[type].kind == KIND_SIGNED; }
static int width_of(scalar_type type) { return (int)scalar_types[type].size * 8; }

static scalar_bits element(int128 value, scalar_type type) {
  scalar_bits bits = {{0}};
  uint64_t low = (uint64_t)value;
  memcpy(bits.bytes, &low, scalar_types[type].size);
  return bits;
}

// The integer of that type with the low bits of value.
static int128 wrap(int128 value, scalar_type type) {
  int128 modulus = (int128)1 << width_of(type);
  int128 rest = (int128)((uint128)value & (uint128)(modulus - 1));
  return is_signed(type) && rest >= modulus / 2 ? rest - modulus : rest;
}

static int128 value_of(scalar_bits bits, scalar_type type) {
  uint64_t low = 0;
  memcpy(&low, bits.bytes, scalar_types[type].size);
  return wrap((int128)low, type);
}

static scalar_bits apply(scalar_op op, scalar_type type, scalar_bits a, scalar_bits b) {
  scalar_bits out = {{0}};
  scalar_apply(op, type, 1, &a, &b, &out);
  return out;
}

// ---- the model -----------------------------------------------------------------------------

static int128 floor_divide(int128 x, int128 y) {
  int128 quotient = x / y, rest = x - quotient * y;
  return rest != 0 && (rest < 0) != (y < 0) ? quotient - 1 : quotient;
}

static int128 model_power(int128 x, int64_t y, scalar_type type) {
  if (y < 0)
    return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
  int128 power = 1;
  // From high bits down; the code under test goes up.
  for (int bit = 62; bit >= 0; bit--) {
    power = wrap((int128)((uint128)power * (uint128)power), type);
    if (y >> bit & 1)
      power = wrap((int128)((uint128)power * (uint128)x), type);
  }
  return power;
}

static int128 model_shift(scalar_op op, int128 x, int128 y, scalar_type type) {
  bool out = y < 0 || y >= width_of(type);
  if (op == OP_SHL)
    return out ? 0 : (int128)((uint128)x << y);
  return out ? (x < 0 ? -1 : 0) : x >> y;
}

static int128 model_bits(scalar_op op, int128 x, scalar_type type) {
  int width = width_of(type), ones = 0, leading = width, trailing = width;
  for (int bit = 0; bit < width; bit++)
    if ((uint128)x >> bit & 1) {
      ones++;
      leading = width - 1 - bit;
      if (trailing == width)
        trailing = bit;
    }
  return op == OP_POPCOUNT ? ones : op == OP_PARITY ? ones % 2 : op == OP_CLZ ? leading : trailing;
}

// The result before it is wrapped to the result's type.
static int128 model(scalar_op op, int128 x, int128 y, scalar_type type) {
  switch (op) {
  case OP_ADD:
    return x + y;
  case OP_SUB:
    return x - y;
  case OP_MUL:
    return (int128)((uint128)x * (uint128)y);
  case OP_MULHI:
    return scalar_types[type].kind == KIND_SIGNED
               ? x * y >> width_of(type)
               : (int128)((uint128)x * (uint128)y >> width_of(type));
  case OP_DIV:
    return y == 0 ? 0 : floor_divide(x, y);
  case OP_MOD:
    return y == 0 ? 0 : x - y * floor_divide(x, y);
  case OP_POWI:
    return model_power(x, (int64_t)y, type);
  case OP_NEG:
    return -x;
  case OP_ABS:
    return x < 0 ? -x : x;
  case OP_SIGN:
    return x < 0 ? -1 : x > 0 ? 1 : 0;
  case OP_EQ:
    return x == y;
  case OP_NE:
    return x != y;
  case OP_LT:
    return x < y;
  case OP_LE:
  case OP_TOTAL_LE:
    return x <= y;
  case OP_GT:
    return x > y;
  case OP_GE:
    return x >= y;
  case OP_AND:
    return x & y;
  case OP_OR:
    return x | y;
  case OP_XOR:
    return x ^ y;
  case OP_COMPLEMENT:
    return ~x;
  case OP_SHL:
  case OP_SHR:
    return model_shift(op, x, y, type);
  default:
    return model_bits(op, x, type);
  }
}

static bool is_integer_op(scalar_op op) { return scalar_ops[op].operands & CLASS_OF(SCALAR_U8); }

static void check_one(scalar_op op, scalar_type type, int128 x, int128 y) {
  scalar_type second = op == OP_POWI ? SCALAR_I64 : type, result = scalar_result_of(op, type);
  scalar_bits found = apply(op, type, element(x, type), element(y, second));
  int128 expected = wrap(model(op, x, y, type), result);
  if (value_of(found, result) == expected)
    return;
  CHECK_EQ_I64(value_of(found, result), expected);
  printf("  %s %s on %" PRId64 ", %" PRId64 "\n", scalar_types[type].name, scalar_ops[op].name,
         (int64_t)x, (int64_t)y);
}

static const scalar_type integer_types[8] = {SCALAR_I8, SCALAR_I16, SCALAR_I32, SCALAR_I64,
                                             SCALAR_U8, SCALAR_U16, SCALAR_U32, SCALAR_U64};

// ---- operations ----------------------------------------------------------------------------

TEST(all_operands_of_8_bits) {
  for (int i = 0; i < 8; i += 4)
    for (scalar_op op = 0; op < SCALAR_OP_COUNT; op++)
      for (int x = 0; is_integer_op(op) && x < 256; x++)
        for (int y = 0; y < 256; y++)
          if (op == OP_POWI)
            check_one(op, integer_types[i], wrap(x, integer_types[i]), y - 100);
          else
            check_one(op, integer_types[i], wrap(x, integer_types[i]), wrap(y, integer_types[i]));
}

// Small, near a power of two of either sign, or of random bits.
static int128 interesting(scalar_type type) {
  uint64_t bits = random_u64();
  int128 power = (int128)1 << random_u64() % 65;
  int128 near = (int128)(bits % 5) - 2;
  switch (bits >> 60 & 3) {
  case 0:
    return wrap(near, type);
  case 1:
    return wrap(power + near, type);
  case 2:
    return wrap(near - power, type);
  default:
    return wrap((int128)(random_u64() >> random_u64() % 64), type);
  }
}

TEST(random_operands_of_every_width) {
  for (int i = 0; i < 8; i++)
    for (scalar_op op = 0; op < SCALAR_OP_COUNT; op++)
      for (int round = 0; is_integer_op(op) && round < 20000; round++)
        check_one(op, integer_types[i], interesting(integer_types[i]),
                  interesting(op == OP_POWI ? SCALAR_I64 : integer_types[i]));
}

TEST(division_rounds_down) {
  static const int rows[][4] = {{7, 2, 3, 1},    {-7, 2, -4, 1}, {7, -2, -4, -1},
                                {-7, -2, 3, -1}, {6, -2, -3, 0}, {5, 0, 0, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    scalar_bits x = element(rows[i][0], SCALAR_I32), y = element(rows[i][1], SCALAR_I32);
    CHECK_EQ_I64(apply(OP_DIV, SCALAR_I32, x, y).i32, rows[i][2]);
    CHECK_EQ_I64(apply(OP_MOD, SCALAR_I32, x, y).i32, rows[i][3]);
  }
  scalar_bits least = scalar_minval(SCALAR_I64), minus_one = element(-1, SCALAR_I64);
  CHECK_EQ_I64(apply(OP_DIV, SCALAR_I64, least, minus_one).i64, INT64_MIN);
  CHECK_EQ_I64(apply(OP_MOD, SCALAR_I64, least, minus_one).i64, 0);
}

TEST(bools) {
  static const scalar_op binary[] = {OP_EQ, OP_NE, OP_LT,  OP_LE,  OP_GT,
                                     OP_GE, OP_OR, OP_AND, OP_XOR, OP_TOTAL_LE};
  for (int x = 0; x < 2; x++) {
    scalar_bits not = apply(OP_COMPLEMENT, SCALAR_BOOL, element(x, SCALAR_U8), (scalar_bits){{0}});
    CHECK_EQ_I64(not .u8, !x);
    for (int y = 0; y < 2; y++)
      for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
        CHECK_EQ_I64(apply(binary[i], SCALAR_BOOL, element(x, SCALAR_U8), element(y, SCALAR_U8)).u8,
                     model(binary[i], x, y, SCALAR_U8));
  }
}

// A vectorised loop has a body and a rest; no length may read or write past its end.
TEST(loops_of_every_length) {
  for (int i = 0; i < 8; i++)
    for (size_t n = 0; n < 70; n++) {
      scalar_type type = integer_types[i];
      size_t size = scalar_types[type].size;
      unsigned char *a = malloc(n * size + 1), *b = malloc(n * size + 1);
      unsigned char *out = malloc(n * size + 1);
      for (size_t j = 0; j < n * size; j++) {
        a[j] = (unsigned char)random_u64();
        b[j] = (unsigned char)random_u64();
      }
      out[n * size] = 0x5a;
      scalar_apply(OP_SUB, type, n, a, b, out);
      CHECK_EQ_U64(out[n * size], 0x5a);
      for (size_t j = 0; j < n; j++) {
        scalar_bits x = {{0}}, y = {{0}}, z = {{0}};
        memcpy(&x, a + j * size, size);
        memcpy(&y, b + j * size, size);
        memcpy(&z, out + j * size, size);
        CHECK(value_of(z, type) == wrap(value_of(x, type) - value_of(y, type), type));
      }
      free(a);
      free(b);
      free(out);
    }
}

// ---- selection -----------------------------------------------------------------------------

TEST(select_moves_every_bit) {
  enum { N = 77 };
  for (size_t size = 1; size <= 16; size *= 2) {
    _Alignas(16) unsigned char a[N * 16], b[N * 16], out[N * 16 + 1];
    bool condition[N];
    for (size_t i = 0; i < sizeof a; i++) {
      a[i] = (unsigned char)random_u64();
      b[i] = (unsigned char)random_u64();
    }
    for (size_t i = 0; i < N; i++)
      condition[i] = random_u64() & 1;
    memset(out, 0x5a, sizeof out);
    scalar_select(size, N, condition, a, b, out);
    for (size_t i = 0; i < N; i++)
      CHECK(memcmp(out + i * size, (condition[i] ? a : b) + i * size, size) == 0);
    CHECK_EQ_U64(out[N * size], 0x5a);
  }
}

// 0x7f800001 and its kin are signalling: an arithmetic move would set their quiet bit.
TEST(select_keeps_payloads_of_nan) {
  uint32_t a[4] = {0x7f800001, 0xffbfffff, 0x7fc12345, 0x80000000}, b[4] = {0}, out[4];
  scalar_select(4, 4, (bool[]){true, true, true, true}, a, b, out);
  CHECK(memcmp(a, out, sizeof a) == 0);
  scalar_select(4, 4, (bool[]){false, false, false, false}, b, a, out);
  CHECK(memcmp(a, out, sizeof a) == 0);
  uint64_t c[2] = {UINT64_C(0x7ff0000000000001), UINT64_C(0xfff7ffffffffffff)}, d[2] = {0},
           moved[2];
  scalar_select(8, 2, (bool[]){true, true}, c, d, moved);
  CHECK(memcmp(c, moved, sizeof c) == 0);
  scalar_select(16, 1, (bool[]){true}, c, d, moved);
  CHECK(memcmp(c, moved, sizeof c) == 0);
  float f[4], g[4] = {0}, chosen[4];  // arrays of floats, too
  memcpy(f, a, sizeof f);
  scalar_select(4, 4, (bool[]){true, true, true, true}, f, g, chosen);
  CHECK(memcmp(f, chosen, sizeof f) == 0);
}

// ---- tables --------------------------------------------------------------------------------

TEST(names_of_types) {
  for (scalar_type t = 0; t < SCALAR_COUNT; t++)
    CHECK_EQ_I64(scalar_named(scalar_types[t].name, strlen(scalar_types[t].name)), t);
  CHECK_EQ_I64(scalar_named("int", 3), SCALAR_I64);
  CHECK_EQ_I64(scalar_named("i16 x", 3), SCALAR_I16);
  CHECK_EQ_I64(scalar_named("i1", 2), SCALAR_COUNT);
  CHECK_EQ_I64(scalar_named("integer", 7), SCALAR_COUNT);
  CHECK_EQ_I64(scalar_named("", 0), SCALAR_COUNT);
}

TEST(result_types) {
  CHECK_EQ_I64(scalar_result_of(OP_ADD, SCALAR_U16), SCALAR_U16);
  CHECK_EQ_I64(scalar_result_of(OP_LE, SCALAR_F64), SCALAR_BOOL);
  CHECK_EQ_I64(scalar_result_of(OP_CLZ, SCALAR_U8), SCALAR_I64);
  CHECK_EQ_I64(scalar_result_of(OP_RE, SCALAR_C64), SCALAR_F32);
  CHECK_EQ_I64(scalar_result_of(OP_MAGNITUDE, SCALAR_C128), SCALAR_F64);
  CHECK_EQ_I64(scalar_result_of(OP_CIS, SCALAR_F32), SCALAR_C64);
  CHECK_EQ_I64(scalar_complex_of(SCALAR_F64), SCALAR_C128);
  CHECK_EQ_I64(scalar_complex_of(SCALAR_F16), SCALAR_COUNT);
  CHECK_EQ_I64(scalar_real_of(SCALAR_F16), SCALAR_F16);
  CHECK_EQ_I64(scalar_complex_of(SCALAR_I32), SCALAR_COUNT);
  CHECK_EQ_I64(scalar_real_of(SCALAR_C64), SCALAR_F32);
  CHECK_EQ_I64(scalar_real_of(SCALAR_U8), SCALAR_U8);
}

// Every operation has a loop on each type of its class: none is left out of the tables.
TEST(every_operation_runs_on_its_class) {
  for (scalar_op op = 0; op < SCALAR_OP_COUNT; op++)
    for (scalar_type t = 0; t < SCALAR_COUNT; t++) {
      scalar_bits a = {{0}}, b = {{0}}, out;
      memset(&out, 0x5a, sizeof out);
      scalar_bits untouched = out;
      scalar_apply(op, t, 1, &a, &b, &out);
      CHECK((memcmp(&out, &untouched, sizeof out) != 0) ==
            ((scalar_ops[op].operands & CLASS_OF(t)) != 0));
      scalar_apply(op, t, 0, NULL, NULL, NULL);
    }
}

TEST(least_and_largest) {
  CHECK_EQ_I64(scalar_minval(SCALAR_I8).i8, INT8_MIN);
  CHECK_EQ_I64(scalar_minval(SCALAR_I16).i16, INT16_MIN);
  CHECK_EQ_I64(scalar_minval(SCALAR_I32).i32, INT32_MIN);
  CHECK_EQ_I64(scalar_minval(SCALAR_I64).i64, INT64_MIN);
  CHECK_EQ_I64(scalar_maxval(SCALAR_I8).i8, INT8_MAX);
  CHECK_EQ_I64(scalar_maxval(SCALAR_I16).i16, INT16_MAX);
  CHECK_EQ_I64(scalar_maxval(SCALAR_I32).i32, INT32_MAX);
  CHECK_EQ_I64(scalar_maxval(SCALAR_I64).i64, INT64_MAX);
  CHECK_EQ_U64(scalar_minval(SCALAR_U64).u64, 0);
  CHECK_EQ_U64(scalar_maxval(SCALAR_U8).u64, UINT8_MAX);  // the rest of the bytes is 0
  CHECK_EQ_U64(scalar_maxval(SCALAR_U16).u64, UINT16_MAX);
  CHECK_EQ_U64(scalar_maxval(SCALAR_U32).u64, UINT32_MAX);
  CHECK_EQ_U64(scalar_maxval(SCALAR_U64).u64, UINT64_MAX);
  CHECK_EQ_U64(scalar_minval(SCALAR_BOOL).u64, 0);
  CHECK_EQ_U64(scalar_maxval(SCALAR_BOOL).u64, 1);
  CHECK_EQ_U64(scalar_minval(SCALAR_F16).u64, 0xfc00);
  CHECK_EQ_U64(scalar_maxval(SCALAR_F16).u64, 0x7e00);
  CHECK_EQ_U64(scalar_minval(SCALAR_F32).u64, 0xff800000);
  CHECK_EQ_U64(scalar_maxval(SCALAR_F32).u64, 0x7fc00000);
  CHECK_EQ_U64(scalar_minval(SCALAR_F64).u64, UINT64_C(0xfff0000000000000));
  CHECK_EQ_U64(scalar_maxval(SCALAR_F64).u64, UINT64_C(0x7ff8000000000000));
}

TEST(numbers_from_i64) {
  CHECK_EQ_U64(scalar_from_i64(SCALAR_U8, -1).u64, 255);
  CHECK_EQ_U64(scalar_from_i64(SCALAR_I16, -2).u64, 0xfffe);
  CHECK_EQ_U64(scalar_from_i64(SCALAR_BOOL, 256).u64, 1);
  CHECK(scalar_from_i64(SCALAR_F32, 3).f32 == 3);
  CHECK(scalar_from_i64(SCALAR_F64, INT64_MIN).f64 == -0x1p63);
  scalar_bits z = scalar_from_i64(SCALAR_C128, -7);
  CHECK(z.c128[0] == -7 && z.c128[1] == 0);
  z = scalar_from_i64(SCALAR_C64, 5);
  CHECK(z.c64[0] == 5 && z.c64[1] == 0);
}

TEST(literals_that_fit) {
  CHECK(scalar_holds(SCALAR_I8, false, 127) && !scalar_holds(SCALAR_I8, false, 128));
  CHECK(scalar_holds(SCALAR_I8, true, 128) && !scalar_holds(SCALAR_I8, true, 129));
  CHECK(scalar_holds(SCALAR_I64, false, INT64_MAX));
  CHECK(!scalar_holds(SCALAR_I64, false, (uint64_t)1 << 63));
  CHECK(scalar_holds(SCALAR_I64, true, (uint64_t)1 << 63));
  CHECK(!scalar_holds(SCALAR_I64, true, ((uint64_t)1 << 63) + 1));
  CHECK(scalar_holds(SCALAR_U64, false, UINT64_MAX) && !scalar_holds(SCALAR_U64, true, 1));
  CHECK(scalar_holds(SCALAR_U8, true, 0) && !scalar_holds(SCALAR_U8, false, 256));
  CHECK(scalar_holds(SCALAR_F32, true, UINT64_MAX) && scalar_holds(SCALAR_C64, false, 1));
  CHECK(scalar_holds(SCALAR_F16, true, 65519) && !scalar_holds(SCALAR_F16, false, 65520));
  CHECK(!scalar_holds(SCALAR_BOOL, false, 1));
}

// ---- static errors -------------------------------------------------------------------------

static const char *error_of(scalar_op op, scalar_type type, int128 x, int128 y) {
  scalar_bits a = element(x, type), b = element(y, op == OP_POWI ? SCALAR_I64 : type);
  const char *hint;
  return scalar_static_error(op, type, &a, &b, &hint);
}

TEST(static_errors_of_8_bits) {
  static const scalar_op ops[] = {OP_ADD,  OP_SUB, OP_MUL, OP_DIV, OP_MOD,
                                  OP_POWI, OP_NEG, OP_ABS, OP_XOR, OP_LT};
  for (int i = 0; i < 8; i += 4)
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
      for (int j = 0; j < 65536; j++) {
        scalar_op op = ops[o];
        scalar_type type = integer_types[i];
        int128 x = wrap(j / 256, type), y = wrap(j % 256, op == OP_POWI ? SCALAR_I64 : type);
        bool zero = (op == OP_DIV || op == OP_MOD) && y == 0;
        const char *error = error_of(op, type, x, y);
        CHECK_STR(error, zero ? "divides by zero" : NULL);  // but they wrap around
      }
}

TEST(static_errors_of_64_bits) {
  for (int i = 0; i < 100000; i++) {
    int64_t x = (int64_t)interesting(SCALAR_I64), y = (int64_t)interesting(SCALAR_I64), r;
    CHECK((error_of(OP_ADD, SCALAR_I64, x, y) != NULL) == __builtin_add_overflow(x, y, &r));
    CHECK((error_of(OP_SUB, SCALAR_I64, x, y) != NULL) == __builtin_sub_overflow(x, y, &r));
    CHECK((error_of(OP_MUL, SCALAR_I64, x, y) != NULL) == __builtin_mul_overflow(x, y, &r));
    CHECK_STR(error_of(OP_MUL, SCALAR_U64, (uint64_t)x, (uint64_t)y), NULL);
  }
}

TEST(static_errors_in_words) {
  CHECK_STR(error_of(OP_POWI, SCALAR_I64, 2, 63), "overflows i64");
  CHECK_STR(error_of(OP_POWI, SCALAR_I64, 2, 62), NULL);
  CHECK_STR(error_of(OP_POWI, SCALAR_I64, -2, 63), NULL);
  CHECK_STR(error_of(OP_POWI, SCALAR_I64, 3, INT64_MAX), "overflows i64");
  CHECK_STR(error_of(OP_POWI, SCALAR_I64, -1, INT64_MAX), NULL);
  CHECK_STR(error_of(OP_POWI, SCALAR_U64, 2, 63), NULL);
  CHECK_STR(error_of(OP_POWI, SCALAR_U64, UINT64_MAX, 2), NULL);
  CHECK_STR(error_of(OP_DIV, SCALAR_U64, 1, 0), "divides by zero");
  CHECK_STR(error_of(OP_POWI, SCALAR_I64, 1, -1), "has a negative exponent");
  CHECK_STR(error_of(OP_SHL, SCALAR_I64, 1, 70), NULL);
  CHECK_STR(error_of(OP_SHR, SCALAR_I8, 1, -1), "shifts by a negative number");
  CHECK_STR(error_of(OP_SHR, SCALAR_U64, 1, UINT64_MAX), NULL);
  CHECK_STR(error_of(OP_SHL, SCALAR_I64, 1, 63), NULL);
  CHECK_STR(error_of(OP_DIV, SCALAR_I64, INT64_MIN, -1), "overflows i64");
  CHECK_STR(error_of(OP_MOD, SCALAR_I64, INT64_MIN, -1), NULL);
  CHECK_STR(error_of(OP_MOD, SCALAR_U32, 1, 0), "divides by zero");
  CHECK_STR(error_of(OP_DIV, SCALAR_F32, 1, 0), NULL);  // only integers
  CHECK_STR(error_of(OP_AND, SCALAR_BOOL, 1, 1), NULL);
  CHECK_STR(error_of(OP_NEG, SCALAR_I64, INT64_MIN, 0), "overflows i64");
}

TEST_MAIN()
