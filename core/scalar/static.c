// What is an error when it happens while the program is elaborated, and wraps at run time.
#include "core/scalar/scalar.h"

#include <stdio.h>

// Holds every value of every integer type, and their sums.
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

static int128 integer_value(scalar_type type, const scalar_bits *bits) {
  if (type == SCALAR_U64)
    return bits->u64;
  int64_t value = 0;
  scalar_convert(type, SCALAR_I64, 1, bits, &value);
  return value;
}

bool scalar_holds(scalar_type type, bool negative, uint64_t magnitude) {
  if (is_integer(type))
    return in_range(type, negative ? -(int128)magnitude : (int128)magnitude);
  if (type == SCALAR_F16)
    return magnitude < 65520;  // what rounds to an infinity
  return type != SCALAR_BOOL;
}

// x^y for y >= 0. 0, 1 and -1 never leave the range; any other x does in at most 64 products.
static bool power_overflows(scalar_type type, int128 x, int128 y) {
  if (x >= -1 && x <= 1)
    return false;
  int128 power = 1;
  for (; y > 0; y--)
    if (__builtin_mul_overflow(power, x, &power) || !in_range(type, power))
      return true;
  return false;
}

static bool overflows(scalar_op op, scalar_type type, int128 x, int128 y) {
  int128 product;
  switch (op) {
  case OP_ADD:
    return !in_range(type, x + y);
  case OP_SUB:
    return !in_range(type, x - y);
  case OP_MUL:
    return __builtin_mul_overflow(x, y, &product) || !in_range(type, product);
  case OP_DIV:
    return y == -1 && !in_range(type, -x);
  case OP_POWI:
    return power_overflows(type, x, y);
  case OP_NEG:
    return !in_range(type, -x);
  case OP_ABS:
    return x < 0 && !in_range(type, -x);
  default:
    return false;
  }
}

const char *scalar_static_error(scalar_op op, scalar_type type, const scalar_bits *a,
                                const scalar_bits *b, const char **hint) {
  static _Thread_local char reason[24];
  if (!is_integer(type) || !(scalar_ops[op].operands & CLASS_OF(type)))
    return NULL;
  int128 x = integer_value(type, a);
  int128 y = scalar_ops[op].arity < 2 ? 0 : integer_value(op == OP_POWI ? SCALAR_I64 : type, b);
  *hint = "an if or a guard keeps it apart: if k == 0 then 0 else n / k";
  if ((op == OP_DIV || op == OP_MOD) && y == 0)
    return "divides by zero";
  *hint = "of floats it is pow x y; 1.0 / x is the reciprocal";
  if (op == OP_POWI && y < 0)
    return "has a negative exponent";
  *hint = "the other direction is the other operator: << to the left, >> to the right";
  if ((op == OP_SHL || op == OP_SHR) && y < 0)
    return "shifts by a negative number";
  if (!overflows(op, type, x, y))
    return NULL;
  *hint =
      "2^n elements have n index bits, of which a size has at most 62: n = 20 for 2^20 elements";
  if (op == OP_POWI && type == SCALAR_I64 && x == 2)
    return "overflows i64";
  *hint = "what is known before a program runs must fit into its type, which for sizes is i64 "
          "(data wrap around): take a wider one, or a float, as in f64 n";
  snprintf(reason, sizeof reason, "overflows %s", scalar_types[type].name);
  return reason;
}
