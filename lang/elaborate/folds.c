// Folds of ranges whose ends are data, by operators that are one operation:
//
//   is_foldable op start xs                 whether `op` is one, which begins with `start` as with nothing
//   fold_range op start begin end xs        start op xs[begin] op ... op xs[end - 1]
//
// The operator is applied to two elements, to see which step it makes of them.
#include "lang/elaborate/elaborator.h"

// Of which nobody can say that it is less than another one.
static value_id emit_any(elaborator *e, scalar_type t, int64_t i) {
  trace_step s = {.op = TRACE_CONSTANT, .type = t, .constant = scalar_from_i64(t, i)};
  value_id id = emit(e, s, 0, NULL);
  e->out->steps.items[id].known = false;
  return id;
}

// What a comparison is with its operands in the other order.
static scalar_op turned_comparison(scalar_op op) {
  switch (op) {
  case OP_LT:
    return OP_GT;
  case OP_LE:
    return OP_GE;
  case OP_GT:
    return OP_LT;
  case OP_GE:
    return OP_LE;
  default:
    return SCALAR_OP_COUNT;
  }
}

// SCALAR_OP_COUNT: it is no single operation on x and y.
static scalar_op operation_of(const elaborator *e, value_id made, value_id x, value_id y) {
  const trace_step *s = step_at(e, made);
  const value_id *o = s->operands;
  if (s->op == TRACE_SCALAR && s->operand_count == 2 && o[0] == x && o[1] == y)
    return s->scalar;
  const trace_step *c = s->op == TRACE_SELECT ? step_at(e, o[0]) : NULL;
  if (!c || c->op != TRACE_SCALAR || o[1] != x || o[2] != y || c->operand_count != 2)
    return SCALAR_OP_COUNT;
  bool turned = c->operands[0] == y && c->operands[1] == x;
  if (!turned && (c->operands[0] != x || c->operands[1] != y))
    return SCALAR_OP_COUNT;
  return turned ? turned_comparison(c->scalar) : c->scalar;
}

// The operation that op is on elements of the array, or SCALAR_OP_COUNT.
static scalar_op find_operation(elaborator *e, value *op, value *xs) {
  if (!length_of(xs))
    return SCALAR_OP_COUNT;
  const value *element = as_array(e, xs)->u.array.element;
  if (element->kind != VALUE_DYNAMIC || step_at(e, element->u.step)->rank != 1)
    return SCALAR_OP_COUNT;
  scalar_type t = step_at(e, element->u.step)->type;
  value_id x = emit_any(e, t, 0), y = emit_any(e, t, 1);
  const value *made = apply(e, apply(e, op, make_dynamic(e, x)), make_dynamic(e, y));
  if (made->kind != VALUE_DYNAMIC)
    return SCALAR_OP_COUNT;
  scalar_op found = operation_of(e, made->u.step, x, y);
  return found < SCALAR_OP_COUNT && scalar_folds(found, t) ? found : SCALAR_OP_COUNT;
}

value *run_is_foldable(elaborator *e, const builtin *row, value **a, type **instance) {
  (void)row, (void)instance;
  scalar_op op = a[1]->kind == VALUE_SCALAR ? find_operation(e, a[0], a[2]) : SCALAR_OP_COUNT;
  return make_bool(e, op < SCALAR_OP_COUNT &&
                          scalar_is_unit(op, a[1]->u.scalar.type, &a[1]->u.scalar.bits));
}

value *run_fold_range(elaborator *e, const builtin *row, value **a, type **instance) {
  (void)instance;
  scalar_op op = find_operation(e, a[0], a[4]);
  if (op == SCALAR_OP_COUNT)
    fail(e, "%s needs an operator that is one operation, such as (+)", row->name);
  value_id operands[] = {as_dynamic(e, a[2])->u.step, as_dynamic(e, a[3])->u.step,
                         as_dynamic(e, a[1])->u.step, as_array(e, a[4])->u.array.element->u.step};
  return make_dynamic(e, emit(e, (trace_step){.op = TRACE_FOLD, .scalar = op}, 4, operands));
}

value *run_grouped(elaborator *e, const builtin *row, value **a, type **instance) {
  (void)instance;
  scalar_op op = find_operation(e, a[0], a[3]);
  if (op == SCALAR_OP_COUNT || length_of(a[1]) != length_of(a[2]))
    fail(e, "%s needs an operator that is one operation, and a place for each element", row->name);
  value_id operands[3];
  for (int i = 0; i < 3; i++)
    operands[i] = as_dynamic(e, as_array(e, a[i + 1])->u.array.element)->u.step;
  value_id made = emit(e, (trace_step){.op = TRACE_GROUP, .scalar = op}, 3, operands);
  return make_array(e, length_of(a[3]), make_dynamic(e, made));
}

// Where threads are many, elements of a group are not written one after the other.
value *run_groups_by_steps(elaborator *e, const builtin *row, value **a, type **instance) {
  (void)row, (void)a, (void)instance;
  return make_bool(e, e->out->wants_steps);
}
