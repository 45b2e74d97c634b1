// See index_bits.h.
#include "core/permutation/index_bits.h"

#include "core/number.h"

// The bits that are not 0 for all indices.
static uint64_t bits_of(const index_bits *x) {
  uint64_t bits = x->c;
  for (int i = 0; i < F2_MAX; i++)
    bits |= (uint64_t)(x->a.row[i] != 0) << i;
  return bits;
}

static bool is_constant(const index_bits *x) {
  for (int i = 0; i < F2_MAX; i++)
    if (x->a.row[i])
      return false;
  return true;
}

static index_bits sum(const index_bits *x, const index_bits *y) {
  index_bits z = *x;
  z.c ^= y->c;
  for (int i = 0; i < F2_MAX; i++)
    z.a.row[i] ^= y->a.row[i];
  return z;
}

static index_bits masked(const index_bits *x, uint64_t mask) {
  index_bits z = *x;
  z.c &= mask;
  for (int i = 0; i < F2_MAX; i++)
    z.a.row[i] = f2_bit(mask, i) ? x->a.row[i] : 0;
  return z;
}

// x * 2^by, where by may be negative: rounded down.
static index_bits shifted(const index_bits *x, int by) {
  index_bits z = {f2_zero(F2_MAX, x->a.columns), by < 0 ? x->c >> -by : x->c << by};
  for (int i = 0; i < F2_MAX; i++)
    if (i - by >= 0 && i - by < F2_MAX)
      z.a.row[i] = x->a.row[i - by];
  return z;
}

static bool shift_left(const index_bits *x, uint64_t by, index_bits *out) {
  if (by >= F2_MAX || bits_of(x) >> (F2_MAX - by))
    return false;
  *out = shifted(x, (int)by);
  return true;
}

bool index_bits_apply(scalar_op op, const index_bits *x, const index_bits *y, index_bits *out) {
  if (scalar_ops[op].arity != 2)
    return false;
  bool apart = !(bits_of(x) & bits_of(y)), power = is_constant(y) && is_power_of_two(y->c);
  const index_bits *swapped = x;
  if ((op == OP_AND || op == OP_OR || op == OP_MUL) && is_constant(x)) {
    x = y;
    y = swapped;
    power = is_power_of_two(y->c);
  }
  switch (op) {
  case OP_XOR:
    *out = sum(x, y);
    return true;
  case OP_AND:
    *out = masked(x, y->c);
    return is_constant(y);
  case OP_ADD:
    *out = sum(x, y);
    return apart;
  case OP_SUB:  // from a constant that has all these bits
    *out = sum(x, y);
    return is_constant(x) && !(bits_of(y) & ~x->c);
  case OP_OR:
    *out = masked(x, ~y->c);
    *out = sum(out, y);
    return apart || is_constant(y);
  case OP_SHL:
    return is_constant(y) && shift_left(x, y->c, out);
  case OP_MUL:
    return power && shift_left(x, (uint64_t)f2_lsb(y->c), out);
  case OP_SHR:
    *out = shifted(x, -(int)(y->c < F2_MAX ? y->c : F2_MAX));
    return is_constant(y);
  case OP_DIV:
    *out = shifted(x, power ? -f2_lsb(y->c) : 0);
    return power;
  case OP_MOD:
    *out = masked(x, y->c - 1);
    return power;
  default:
    return false;
  }
}
