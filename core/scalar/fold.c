// Folds by scalar operations.
#include "core/scalar/scalar.h"

#include <math.h>
#include <string.h>

bool scalar_fold_chooses(scalar_op op) { return op >= OP_LT && op <= OP_TOTAL_LE; }

bool scalar_folds(scalar_op op, scalar_type type) {
  bool known = op == OP_ADD || op == OP_MUL || op == OP_AND || op == OP_OR || op == OP_XOR;
  return (known || scalar_fold_chooses(op)) && scalar_ops[op].operands & CLASS_OF(type);
}

void scalar_fold(scalar_op op, scalar_type type, void *so_far, const void *x) {
  scalar_bits made = {.bytes = {0}};
  scalar_apply(op, type, 1, so_far, x, &made);
  if (!scalar_fold_chooses(op))
    memcpy(so_far, &made, scalar_types[type].size);
  else if (!made.b)
    memcpy(so_far, x, scalar_types[type].size);
}

static bool is_equal(scalar_op by, scalar_type type, const scalar_bits *a, const scalar_bits *b) {
  bool equal = false, back = false;
  scalar_apply(by, type, 1, a, b, &equal);
  scalar_apply(by, type, 1, b, a, &back);
  return equal && back;
}

// Of floats the greatest is NaN, which no comparison chooses, or the infinity in front of it.
static bool is_unit_of_choice(scalar_op op, scalar_type type, const scalar_bits *unit) {
  bool least = op == OP_LT || op == OP_LE || op == OP_TOTAL_LE;
  scalar_bits last = least ? scalar_maxval(type) : scalar_minval(type), infinity = last;
  double greatest = INFINITY;
  if (least && op != OP_TOTAL_LE && scalar_types[type].kind == KIND_FLOAT)
    scalar_convert(SCALAR_F64, type, 1, &greatest, &infinity);
  return is_equal(OP_TOTAL_LE, type, unit, &last) || is_equal(OP_TOTAL_LE, type, unit, &infinity);
}

bool scalar_is_unit(scalar_op op, scalar_type type, const scalar_bits *unit) {
  scalar_bits wanted = {.bytes = {0}};
  if (!scalar_folds(op, type))
    return false;
  if (scalar_fold_chooses(op))
    return is_unit_of_choice(op, type, unit);
  if (op == OP_MUL)
    wanted = scalar_from_i64(type, 1);
  else if (op == OP_AND)
    memset(&wanted, type == SCALAR_BOOL ? 1 : 0xff, scalar_types[type].size);
  return is_equal(OP_EQ, type, unit, &wanted);
}
