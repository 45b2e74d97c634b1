// Values and the steps that make them: the part of elaboration that writes the trace.
#include "lang/elaborate/elaborate.h"
#include <inttypes.h>
#include <stdio.h>

// ---- values ----------------------------------------------------------------------------------

static value *new_value(elaborator *e, value_kind kind) {
  value *v = NEW(e->memory, value);
  v->kind = kind;
  return v;
}

value *make_function(elaborator *e, uint32_t arity) {
  value *v = new_value(e, VALUE_FUNCTION);
  v->u.function.arity = arity;
  return v;
}

value *make_scalar(elaborator *e, scalar_type t, scalar_bits bits) {
  value *v = new_value(e, VALUE_SCALAR);
  v->u.scalar.type = t;
  v->u.scalar.bits = bits;
  return v;
}

value *make_integer(elaborator *e, int64_t i) {
  return make_scalar(e, SCALAR_I64, (scalar_bits){.i64 = i});
}

value *make_bool(elaborator *e, bool b) {
  scalar_bits bits = {.bytes = {0}};
  bits.b = b;
  return make_scalar(e, SCALAR_BOOL, bits);
}

value *make_parts(elaborator *e, value_kind kind, uint32_t count) {
  value *v = new_value(e, kind);
  v->u.parts.count = count;
  v->u.parts.items = NEW_ARRAY(e->memory, value *, count);
  return v;
}

value *make_empty(elaborator *e, type *element) {
  value *v = make_parts(e, VALUE_LIST, 0);
  v->u.parts.element = element;
  return v;
}

value *make_array(elaborator *e, uint64_t length, value *element) {
  value *v = new_value(e, VALUE_ARRAY);
  v->u.array.length = length;
  v->u.array.element = element;
  return v;
}

value *make_leaf(elaborator *e, value_id id) {
  value *v = new_value(e, VALUE_LEAF);
  v->u.leaf = id;
  return v;
}

// ---- steps -----------------------------------------------------------------------------------

value_id emit(elaborator *e, trace_step s) {
  if (e->out->steps.count >= e->limits.trace_steps)
    fail_limit(e, "this program does more than %" PRIu64 " operations at this size",
               e->limits.trace_steps);
  if (!trace_size_fits(&s))
    fail(e, "this needs an array of 2^63 bytes or more");
  s.where = e->where;
  vec_push(e->memory, &e->out->steps, s);
  return (value_id)e->out->steps.count - 1;
}

const trace_step *step_of(const elaborator *e, const value *leaf) {
  return &e->out->steps.items[leaf->u.leaf];
}

static value_id *operands(elaborator *e, uint32_t count, const value_id *ids) {
  value_id *copy = NEW_ARRAY(e->memory, value_id, count);
  memcpy(copy, ids, count * sizeof *ids);
  return copy;
}

uint64_t times_batch(elaborator *e, uint64_t factor) {
  uint64_t product;
  if (__builtin_mul_overflow(e->batch, factor, &product) || product > UINT64_C(1) << 62)
    fail(e, "parm, column and map nest to more than 2^62 repetitions here");
  return product;
}

value *as_leaf(elaborator *e, value *v) {
  if (v->kind == VALUE_LEAF)
    return v;
  trace_step s = {
      .op = TRACE_CONSTANT, .type = v->u.scalar.type, .batch = 1, .constant = v->u.scalar.bits};
  return make_leaf(e, emit(e, s));
}

// ---- structure -------------------------------------------------------------------------------

value *map_leaves(elaborator *e, value *v, leaf_map *f, void *with) {
  switch (v->kind) {
  case VALUE_SCALAR:
    return map_leaves(e, as_leaf(e, v), f, with);
  case VALUE_LEAF:
    return make_leaf(e, f(e, v->u.leaf, with));
  case VALUE_ARRAY:
    return make_array(e, v->u.array.length, map_leaves(e, v->u.array.element, f, with));
  case VALUE_TUPLE: {
    value *t = make_parts(e, VALUE_TUPLE, v->u.parts.count);
    for (uint32_t i = 0; i < v->u.parts.count; i++)
      t->u.parts.items[i] = map_leaves(e, v->u.parts.items[i], f, with);
    return t;
  }
  case VALUE_LIST:
    return map_leaves(e, as_array(e, v), f, with);
  default:
    fail(e, "a function cannot be an element of an array");
  }
}

static value_id lift_leaf(elaborator *e, value_id leaf, void *with) {
  (void)with;
  const trace_step *from = &e->out->steps.items[leaf];
  if (from->batch == e->batch)
    return leaf;
  trace_step s = {.op = TRACE_BROADCAST,
                  .type = from->type,
                  .rank = from->rank,
                  .batch = e->batch,
                  .operand_count = 1};
  s.dims = from->dims;
  s.operands = operands(e, 1, &leaf);
  return emit(e, s);
}

value *lift(elaborator *e, value *v) { return map_leaves(e, v, lift_leaf, NULL); }

static value *pack(elaborator *e, value **items, uint32_t count);

static value *pack_leaves(elaborator *e, value **items, uint32_t count) {
  value_id *ids = NEW_ARRAY(e->memory, value_id, count);
  uint64_t batch = 1;
  for (uint32_t i = 0; i < count; i++) {
    ids[i] = as_leaf(e, items[i])->u.leaf;
    uint64_t b = e->out->steps.items[ids[i]].batch;
    if (b > batch || !b)
      batch = batch ? b : 0;
  }
  const trace_step *first = &e->out->steps.items[ids[0]];
  trace_step s = {.op = TRACE_PACK,
                  .type = first->type,
                  .rank = first->rank + 1,
                  .batch = batch,
                  .operand_count = count,
                  .operands = ids};
  s.dims = NEW_ARRAY(e->memory, uint64_t, s.rank);
  s.dims[0] = count;
  if (first->rank)
    memcpy(s.dims + 1, first->dims, first->rank * sizeof *s.dims);
  return make_leaf(e, emit(e, s));
}

// Element number i of each of the items, packed.
static value *pack_children(elaborator *e, value **items, uint32_t count, uint32_t child) {
  value **children = NEW_ARRAY(e->memory, value *, count);
  for (uint32_t i = 0; i < count; i++) {
    const value *v = items[i];
    children[i] = v->kind == VALUE_TUPLE ? v->u.parts.items[child] : v->u.array.element;
  }
  return pack(e, children, count);
}

// What an array of these items is inside.
static value *pack(elaborator *e, value **items, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (items[i]->kind == VALUE_LIST)
      items[i] = as_array(e, items[i]);
  const value *first = items[0];
  if (first->kind == VALUE_TUPLE) {
    value *t = make_parts(e, VALUE_TUPLE, first->u.parts.count);
    for (uint32_t k = 0; k < first->u.parts.count; k++)
      t->u.parts.items[k] = pack_children(e, items, count, k);
    return t;
  }
  if (first->kind == VALUE_ARRAY) {
    for (uint32_t i = 1; i < count; i++)
      if (items[i]->u.array.length != first->u.array.length)
        fail(e, "the elements of an array must have equal lengths: %" PRIu64 " and %" PRIu64,
             first->u.array.length, items[i]->u.array.length);
    return make_array(e, first->u.array.length, pack_children(e, items, count, 0));
  }
  if (first->kind == VALUE_FUNCTION)
    fail(e, "a function cannot be an element of an array here");
  return pack_leaves(e, items, count);
}

static value *empty_inside(elaborator *e, type *t, uint32_t depth) {
  t = type_prune(t);
  if (t->kind == TYPE_ARRAY)
    return make_array(e, 0, empty_inside(e, t->parts[0], depth + 1));
  if (t->kind == TYPE_TUPLE) {
    value *v = make_parts(e, VALUE_TUPLE, t->count);
    for (uint32_t i = 0; i < t->count; i++)
      v->u.parts.items[i] = empty_inside(e, t->parts[i], depth);
    return v;
  }
  scalar_type s = closed_scalar(t);
  if (s == SCALAR_COUNT)
    fail(e, "a function cannot be an element of an array here");
  trace_step step = {.op = TRACE_PACK, .type = s, .rank = depth, .batch = 1};
  step.dims = NEW_ARRAY(e->memory, uint64_t, depth);
  return make_leaf(e, emit(e, step));
}

value *as_array(elaborator *e, value *v) {
  if (v->kind == VALUE_ARRAY)
    return v;
  if (!v->u.parts.count)
    return make_array(e, 0, empty_inside(e, v->u.parts.element, 1));
  value **items = NEW_ARRAY(e->memory, value *, v->u.parts.count);
  memcpy(items, v->u.parts.items, v->u.parts.count * sizeof *items);
  return make_array(e, v->u.parts.count, pack(e, items, v->u.parts.count));
}

value *as_data(elaborator *e, value *v) {
  switch (v->kind) {
  case VALUE_LIST:
    return as_array(e, v);
  case VALUE_TUPLE: {
    value *t = make_parts(e, VALUE_TUPLE, v->u.parts.count);
    for (uint32_t i = 0; i < v->u.parts.count; i++)
      t->u.parts.items[i] = as_data(e, v->u.parts.items[i]);
    return t;
  }
  case VALUE_FUNCTION:
    fail(e, "this gives a function where data is needed");
  default:
    return v;
  }
}

bool same_structure(elaborator *e, const value *a, const value *b) {
  if ((a->kind == VALUE_SCALAR || a->kind == VALUE_LEAF) &&
      (b->kind == VALUE_SCALAR || b->kind == VALUE_LEAF))
    return true;
  if (a->kind != b->kind)
    return false;
  if (a->kind == VALUE_ARRAY)
    return a->u.array.length == b->u.array.length &&
           same_structure(e, a->u.array.element, b->u.array.element);
  if (a->kind == VALUE_FUNCTION || a->u.parts.count != b->u.parts.count)
    return false;
  for (uint32_t i = 0; i < a->u.parts.count; i++)
    if (!same_structure(e, a->u.parts.items[i], b->u.parts.items[i]))
      return false;
  return true;
}

uint64_t length_of(elaborator *e, value *array) {
  (void)e;
  return array->kind == VALUE_LIST ? array->u.parts.count : array->u.array.length;
}

static value_id element_leaf(elaborator *e, value_id leaf, void *with) {
  const trace_step *from = &e->out->steps.items[leaf];
  trace_step s = {.op = TRACE_ELEMENT,
                  .type = from->type,
                  .rank = from->rank - 1,
                  .batch = from->batch,
                  .operand_count = 1};
  s.number = *(const uint64_t *)with;
  s.dims = from->dims + 1;
  s.operands = operands(e, 1, &leaf);
  return emit(e, s);
}

value *element_at(elaborator *e, value *array, uint64_t index) {
  if (array->kind == VALUE_LIST)
    return force(e, array->u.parts.items[index]);
  return map_leaves(e, array->u.array.element, element_leaf, &index);
}

// ---- scalar code -----------------------------------------------------------------------------

static value *fold(elaborator *e, scalar_op op, const value *a, const value *b) {
  scalar_type t = a->u.scalar.type;
  const scalar_bits *second = b ? &b->u.scalar.bits : NULL;
  const char *wrong = scalar_static_error(op, t, &a->u.scalar.bits, second);
  if (wrong) {
    char shown[2][64] = {"", ""};
    for (int i = 0; i < 2; i++) {
      const value *v = i ? b : a;
      if (v && scalar_types[v->u.scalar.type].kind == KIND_SIGNED) {
        int64_t x;
        scalar_convert(v->u.scalar.type, SCALAR_I64, 1, v->u.scalar.bits.bytes, &x);
        snprintf(shown[i], sizeof shown[i], "%" PRId64, x);
      } else if (v && scalar_types[v->u.scalar.type].kind == KIND_UNSIGNED) {
        uint64_t x;
        scalar_convert(v->u.scalar.type, SCALAR_U64, 1, v->u.scalar.bits.bytes, &x);
        snprintf(shown[i], sizeof shown[i], "%" PRIu64, x);
      }
    }
    if (!b)
      fail(e, "%s %s %s", scalar_ops[op].name, shown[0], wrong);
    fail(e, "%s %s %s %s", shown[0], scalar_ops[op].name, shown[1], wrong);
  }
  scalar_bits out = {.bytes = {0}};
  scalar_apply(op, t, 1, a->u.scalar.bits.bytes, second ? second->bytes : NULL, out.bytes);
  return make_scalar(e, scalar_result_of(op, t), out);
}

static uint64_t joint_batch(const trace_step *a, const trace_step *b) {
  if (!a->batch || !b->batch)
    return 0;
  return a->batch > b->batch ? a->batch : b->batch;
}

value *scalar_operation(elaborator *e, scalar_op op, value *a, value *b) {
  if (a->kind == VALUE_SCALAR && (!b || b->kind == VALUE_SCALAR))
    return fold(e, op, a, b);
  value_id ids[2] = {as_leaf(e, a)->u.leaf, b ? as_leaf(e, b)->u.leaf : 0};
  const trace_step *first = &e->out->steps.items[ids[0]],
                   *second = &e->out->steps.items[ids[b ? 1 : 0]];
  trace_step s = {.op = TRACE_SCALAR,
                  .scalar = op,
                  .type = scalar_result_of(op, first->type),
                  .batch = joint_batch(first, second)};
  s.operand_count = b ? 2 : 1;
  s.operands = operands(e, s.operand_count, ids);
  return make_leaf(e, emit(e, s));
}

value *convert(elaborator *e, scalar_type to, value *a) {
  if (a->kind == VALUE_SCALAR) {
    if (a->u.scalar.type == to)
      return a;
    scalar_bits out = {.bytes = {0}};
    scalar_convert(a->u.scalar.type, to, 1, a->u.scalar.bits.bytes, out.bytes);
    return make_scalar(e, to, out);
  }
  const trace_step *from = step_of(e, a);
  if (from->type == to)
    return a;
  trace_step s = {.op = TRACE_CONVERT, .type = to, .batch = from->batch, .operand_count = 1};
  s.operands = operands(e, 1, &a->u.leaf);
  return make_leaf(e, emit(e, s));
}

static value *truth(elaborator *e, scalar_op op, value *a, value *b) {
  // false & x and true | x need no step.
  value *fixed = a->kind == VALUE_SCALAR ? a : b->kind == VALUE_SCALAR ? b : NULL;
  if (!fixed)
    return scalar_operation(e, op, a, b);
  value *other = fixed == a ? b : a;
  bool absorbs = fixed->u.scalar.bits.b == (op == OP_OR);
  return absorbs ? fixed : other;
}

// Lexicographic: a0 before b0, or a0 equivalent to b0 and the rest compares so.
static value *compare_ordered(elaborator *e, scalar_op op, value *a, value *b, uint32_t from) {
  bool last = from + 1 == a->u.parts.count;
  value *x = a->u.parts.items[from], *y = b->u.parts.items[from];
  if (last)
    return compare(e, op, x, y);
  value *before, *equivalent;
  if (op == OP_TOTAL_LE) {
    value *le = compare(e, op, x, y), *ge = compare(e, op, y, x);
    before = scalar_operation(e, OP_COMPLEMENT, ge, NULL);
    equivalent = truth(e, OP_AND, le, ge);
  } else {
    before = compare(e, op == OP_LT || op == OP_LE ? OP_LT : OP_GT, x, y);
    equivalent = compare(e, OP_EQ, x, y);
  }
  return truth(e, OP_OR, before,
               truth(e, OP_AND, equivalent, compare_ordered(e, op, a, b, from + 1)));
}

value *compare(elaborator *e, scalar_op op, value *a, value *b) {
  if (a->kind != VALUE_TUPLE)
    return scalar_operation(e, op, a, b);
  if (op != OP_EQ && op != OP_NE)
    return compare_ordered(e, op, a, b, 0);
  value *all = NULL;
  for (uint32_t i = 0; i < a->u.parts.count; i++) {
    value *one = compare(e, op, a->u.parts.items[i], b->u.parts.items[i]);
    all = all ? truth(e, op == OP_EQ ? OP_AND : OP_OR, all, one) : one;
  }
  return all;
}

static value *select_leaves(elaborator *e, value *condition, value *yes, value *no) {
  if (yes->kind == VALUE_SCALAR && no->kind == VALUE_SCALAR &&
      !memcmp(&yes->u.scalar.bits, &no->u.scalar.bits, sizeof yes->u.scalar.bits))
    return yes;
  value_id ids[3] = {condition->u.leaf, as_leaf(e, yes)->u.leaf, as_leaf(e, no)->u.leaf};
  if (ids[1] == ids[2])
    return yes;
  const trace_step *c = &e->out->steps.items[ids[0]], *y = &e->out->steps.items[ids[1]],
                   *n = &e->out->steps.items[ids[2]];
  uint64_t batch = joint_batch(y, n);
  trace_step s = {.op = TRACE_SELECT,
                  .type = y->type,
                  .operand_count = 3,
                  .batch = !c->batch || c->batch > batch ? c->batch : batch};
  if (!batch)
    s.batch = 0;
  s.operands = operands(e, 3, ids);
  return make_leaf(e, emit(e, s));
}

value *select_value(elaborator *e, value *condition, value *yes, value *no) {
  bool scalars = (yes->kind == VALUE_SCALAR || yes->kind == VALUE_LEAF) &&
                 (no->kind == VALUE_SCALAR || no->kind == VALUE_LEAF);
  if (scalars)
    return select_leaves(e, condition, yes, no);
  if (yes->kind == VALUE_FUNCTION || no->kind == VALUE_FUNCTION || yes->kind == VALUE_ARRAY ||
      no->kind == VALUE_ARRAY)
    fail_dynamic(e, condition,
                 yes->kind == VALUE_FUNCTION ? "a condition that chooses between functions"
                                             : "a condition that chooses between arrays");
  if (yes->u.parts.count != no->u.parts.count)
    fail(e, "the two branches have different lengths: %u and %u", yes->u.parts.count,
         no->u.parts.count);
  if (!yes->u.parts.count)
    return yes;
  value *v = make_parts(e, yes->kind, yes->u.parts.count);
  for (uint32_t i = 0; i < yes->u.parts.count; i++)
    v->u.parts.items[i] =
        select_value(e, condition, force(e, yes->u.parts.items[i]), force(e, no->u.parts.items[i]));
  return v;
}
