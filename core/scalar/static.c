// What is an error when it happens while the program is elaborated. Of int, which sizes are, it is
// to overflow, too; data, and static values of other types, wrap around.
#include "core/scalar/scalar.h"

// Holds every value of every integer type.
__extension__ typedef __int128 int128;

static int width_of(scalar_type type) { return (int)scalar_types[type].size * 8; }

static int128 least_of(scalar_type type) {
  return scalar_types[type].kind == KIND_SIGNED ? -((int128)1 << (width_of(type) - 1)) : 0;
}

static int128 largest_of(scalar_type type) {
  return ((int128)1 << (width_of(type) - (scalar_types[type].kind == KIND_SIGNED))) - 1;
}

static bool is_integer(scalar_type type) { return CLASS_OF(type) & CLASS_INTEGER; }

static bool in_range(scalar_type type, int128 value) {
  return value >= least_of(type) && value <= largest_of(type);
}

bool scalar_holds(scalar_type type, bool negative, uint64_t magnitude) {
  if (is_integer(type))
    return in_range(type, negative ? -(int128)magnitude : (int128)magnitude);
  if (type == SCALAR_F16)
    return magnitude < 65520;  // what rounds to an infinity; the others hold all of u64
  return type != SCALAR_BOOL;
}

// x^y for y >= 0. 0, 1 and -1 never leave the range; any other x does in at most 64 products.
static bool power_overflows(int64_t x, int64_t y) {
  if (x >= -1 && x <= 1)
    return false;
  int64_t power = 1;
  for (; y > 0; y--)
    if (__builtin_mul_overflow(power, x, &power))
      return true;
  return false;
}

static bool overflows(scalar_op op, int64_t x, int64_t y) {
  int64_t result;
  switch (op) {
  case OP_ADD:
    return __builtin_add_overflow(x, y, &result);
  case OP_SUB:
    return __builtin_sub_overflow(x, y, &result);
  case OP_MUL:
    return __builtin_mul_overflow(x, y, &result);
  case OP_DIV:
    return y == -1 && x == INT64_MIN;
  case OP_POWI:
    return power_overflows(x, y);
  case OP_NEG:
  case OP_ABS:
    return x == INT64_MIN;
  default:
    return false;
  }
}

// What a shift, an exponent or a divisor is wrong by: its sign, or 0.
static int64_t second_of(scalar_op op, scalar_type type, const scalar_bits *b) {
  int64_t value = 1;
  if (op == OP_POWI)
    value = b->i64;
  else if (scalar_ops[op].arity == 2)
    scalar_convert(type, SCALAR_I64, 1, b, &value);
  return type == SCALAR_U64 && value < 0 && op != OP_POWI ? INT64_MAX : value;
}

const char *scalar_static_error(scalar_op op, scalar_type type, const scalar_bits *a,
                                const scalar_bits *b, const char **hint) {
  if (!is_integer(type) || !(scalar_ops[op].operands & CLASS_OF(type)))
    return NULL;
  int64_t y = second_of(op, type, b);
  *hint = "an if or a guard keeps it apart: if k == 0 then 0 else n / k";
  if ((op == OP_DIV || op == OP_MOD) && y == 0)
    return "divides by zero";
  *hint = "of floats it is pow x y; 1.0 / x is the reciprocal";
  if (op == OP_POWI && y < 0)
    return "has a negative exponent";
  *hint = "the other direction is the other operator: << to the left, >> to the right";
  if ((op == OP_SHL || op == OP_SHR) && y < 0)
    return "shifts by a negative number";
  if (type != SCALAR_I64 || !overflows(op, a->i64, y))
    return NULL;
  *hint = op == OP_POWI && a->i64 == 2
              ? "2^n elements have n index bits, of which a size has at most 62: n = 20 for 2^20 "
                "elements"
              : "an int that is known before the program runs must fit into i64; data, and other "
                "types, wrap around: take u64 for that, or a float, as in f64 n";
  return "overflows i64";
}
