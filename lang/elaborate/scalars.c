// Scalar code: literals, operations, conversions, comparisons and choices, folded where all
// operands are static, else written as steps.
#include "lang/elaborate/elaborator.h"
#include <inttypes.h>
#include <math.h>

// ---- literals --------------------------------------------------------------------------------

value *integer_literal(elaborator *e, scalar_type t, bool negative, uint64_t magnitude) {
  scalar_kind kind = scalar_types[t].kind;
  if (!scalar_holds(t, negative, magnitude))
    fail_hint(e,
              negative && kind == KIND_UNSIGNED && magnitude <= INT64_MAX
                  ? "the types with a sign are i8, i16, i32 and i64"
              : kind == KIND_FLOAT ? "f32 holds numbers up to 3.4e38, f64 up to 1.8e308"
                                   : "a wider type may hold it, such as i64 or u64; f64 holds "
                                     "larger ones, rounded",
              "%s%" PRIu64 " does not fit %s", negative ? "-" : "", magnitude,
              scalar_types[t].name);
  scalar_bits out = {.bytes = {0}};
  if (kind == KIND_FLOAT || kind == KIND_COMPLEX) {
    scalar_convert(SCALAR_U64, t, 1, &magnitude, out.bytes);
    scalar_bits positive = out;
    if (negative)
      scalar_apply(OP_NEG, t, 1, positive.bytes, NULL, out.bytes);
    // -0 of a complex type would negate the imaginary part as well.
    if (negative && t == SCALAR_C64)
      out.c64[1] = 0;
    if (negative && t == SCALAR_C128)
      out.c128[1] = 0;
  } else {
    uint64_t bits = negative ? (uint64_t)0 - magnitude : magnitude;
    memcpy(out.bytes, &bits,
           scalar_types[t].size);  // little end first, as on every target of permc
  }
  return make_scalar(e, t, out);
}

value *real_literal(elaborator *e, scalar_type t, real_number real) {
  scalar_type part = scalar_real_of(t);
  scalar_bits rounded = scalar_of_real_number(part, real), out = {.bytes = {0}};
  if (isinf(scalar_as_double(part, &rounded)))
    fail_hint(e, "f64 holds numbers up to 1.8e308", "this number does not fit %s",
              scalar_types[t].name);
  scalar_convert(part, t, 1, &rounded, &out);
  return make_scalar(e, t, out);
}

// ---- operations ------------------------------------------------------------------------------

static value *fold_operation(elaborator *e, scalar_op op, const value *a, const value *b) {
  scalar_type t = a->u.scalar.type;
  const scalar_bits *second = b ? &b->u.scalar.bits : NULL;
  const char *hint, *wrong = scalar_static_error(op, t, &a->u.scalar.bits, second, &hint);
  bool nowhere = !e->batch && e->trial;  // for an element that there is not
  if (wrong && !nowhere) {
    text shown[2] = {{0}};
    trace_print_constant(&shown[0], t, &a->u.scalar.bits);
    if (b)
      trace_print_constant(&shown[1], b->u.scalar.type, second);
    const char *first = arena_text(e->memory, &shown[0]);
    if (!b)
      fail_hint(e, hint, "%s %s %s", scalar_ops[op].name, first, wrong);
    fail_hint(e, hint, "%s %s %s %s", first, scalar_ops[op].name, arena_text(e->memory, &shown[1]),
              wrong);
  }
  scalar_bits out = {.bytes = {0}};
  if (!wrong)
    scalar_apply(op, t, 1, a->u.scalar.bits.bytes, second ? second->bytes : NULL, out.bytes);
  return make_scalar(e, scalar_result_of(op, t), out);
}

value *scalar_operation(elaborator *e, scalar_op op, value *a, value *b) {
  if (a->kind == VALUE_SCALAR && (!b || b->kind == VALUE_SCALAR))
    return fold_operation(e, op, a, b);
  value_id ids[2] = {as_dynamic(e, a)->u.step, b ? as_dynamic(e, b)->u.step : NO_STEP};
  trace_step s = {.op = TRACE_SCALAR, .scalar = op};
  return make_dynamic(e, emit(e, s, b ? 2 : 1, ids));
}

value *convert(elaborator *e, scalar_type to, value *a) {
  if (a->kind == VALUE_SCALAR) {
    if (a->u.scalar.type == to)
      return a;
    scalar_bits out = {.bytes = {0}};
    scalar_convert(a->u.scalar.type, to, 1, a->u.scalar.bits.bytes, out.bytes);
    return make_scalar(e, to, out);
  }
  const trace_step *from = step_at(e, a->u.step);
  if (from->type == to)
    return a;
  if (to == SCALAR_BOOL && scalar_types[from->type].kind == KIND_COMPLEX)
    return scalar_operation(e, OP_NE, a, make_scalar(e, from->type, (scalar_bits){.bytes = {0}}));
  return make_dynamic(e, emit(e, (trace_step){.op = TRACE_CONVERT, .type = to}, 1, &a->u.step));
}

static value *combine_truths(elaborator *e, scalar_op op, value *a, value *b) {
  // false & x and true | x need no step.
  value *fixed = a->kind == VALUE_SCALAR ? a : b->kind == VALUE_SCALAR ? b : NULL;
  if (!fixed)
    return scalar_operation(e, op, a, b);
  value *other = fixed == a ? b : a;
  bool absorbs = fixed->u.scalar.bits.b == (op == OP_OR);
  return absorbs ? fixed : other;
}

static bool is_complex(const elaborator *e, const value *v) {
  bool scalar = v->kind == VALUE_SCALAR || v->kind == VALUE_DYNAMIC;
  scalar_type t = !scalar                   ? SCALAR_BOOL
                  : v->kind == VALUE_SCALAR ? v->u.scalar.type
                                            : step_at(e, v->u.step)->type;
  return scalar_types[t].kind == KIND_COMPLEX;
}

// The parts of a complex number as a tuple whose order is that of NumPy's sorts: first which parts
// are NaN, x + iy before x + i NaN before NaN + iy, and then the parts themselves.
static value *key_of_complex(elaborator *e, value *z) {
  value *key = make_parts(e, VALUE_TUPLE, 3), **parts = key->u.parts.items, *missing[2];
  for (int i = 0; i < 2; i++) {
    parts[1 + i] = scalar_operation(e, i ? OP_IM : OP_RE, z, NULL);
    missing[i] = convert(e, SCALAR_U8, scalar_operation(e, OP_ISNAN, parts[1 + i], NULL));
  }
  value *twice = scalar_operation(e, OP_ADD, missing[0], missing[0]);
  parts[0] = scalar_operation(e, OP_ADD, twice, missing[1]);
  return key;
}

static value *key_of_element(elaborator *e, value *element, void *with) {
  if (is_complex(e, element))
    return key_of_complex(e, element);
  if (element->kind != VALUE_TUPLE)
    return element;
  value *keys = make_parts(e, VALUE_TUPLE, element->u.parts.count);
  for (uint32_t i = 0; i < keys->u.parts.count; i++)
    keys->u.parts.items[i] = key_of_element(e, element->u.parts.items[i], with);
  return keys;
}

static bool has_complex(const elaborator *e, const value *element) {
  if (element->kind != VALUE_TUPLE)
    return is_complex(e, element);
  for (uint32_t i = 0; i < element->u.parts.count; i++)
    if (has_complex(e, element->u.parts.items[i]))
      return true;
  return false;
}

value *ordered_keys(elaborator *e, value *list) {
  value *keys = as_array(e, list);
  return has_complex(e, keys->u.array.element) ? map_elements(e, keys, key_of_element, NULL) : keys;
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
    equivalent = combine_truths(e, OP_AND, le, ge);
  } else {
    before = compare(e, op == OP_LT || op == OP_LE ? OP_LT : OP_GT, x, y);
    equivalent = compare(e, OP_EQ, x, y);
  }
  return combine_truths(
      e, OP_OR, before,
      combine_truths(e, OP_AND, equivalent, compare_ordered(e, op, a, b, from + 1)));
}

// By the real part and then the imaginary one, as tuples; a NaN is neither smaller nor larger.
static value *compare_complex(elaborator *e, scalar_op op, value *a, value *b) {
  value *x = key_of_complex(e, a), *y = key_of_complex(e, b);
  if (op == OP_TOTAL_LE)
    return compare_ordered(e, op, x, y, 0);
  value *numbers = scalar_operation(
      e, OP_EQ, scalar_operation(e, OP_ADD, x->u.parts.items[0], y->u.parts.items[0]),
      make_scalar(e, SCALAR_U8, (scalar_bits){{0}}));
  return combine_truths(e, OP_AND, numbers, compare_ordered(e, op, x, y, 1));
}

value *compare(elaborator *e, scalar_op op, value *a, value *b) {
  if (is_complex(e, a) && op != OP_EQ && op != OP_NE)
    return compare_complex(e, op, a, b);
  if (a->kind != VALUE_TUPLE)
    return scalar_operation(e, op, a, b);
  if (op != OP_EQ && op != OP_NE)
    return compare_ordered(e, op, a, b, 0);
  value *all = NULL;
  for (uint32_t i = 0; i < a->u.parts.count; i++) {
    value *one = compare(e, op, a->u.parts.items[i], b->u.parts.items[i]);
    all = all ? combine_truths(e, op == OP_EQ ? OP_AND : OP_OR, all, one) : one;
  }
  return all;
}

static value *select_scalar(elaborator *e, value *condition, value *yes, value *no) {
  if (yes->kind == VALUE_SCALAR && no->kind == VALUE_SCALAR &&
      !memcmp(&yes->u.scalar.bits, &no->u.scalar.bits, sizeof yes->u.scalar.bits))
    return yes;
  value_id ids[3] = {condition->u.step, as_dynamic(e, yes)->u.step, as_dynamic(e, no)->u.step};
  if (ids[1] == ids[2])
    return yes;
  return make_dynamic(e, emit(e, (trace_step){.op = TRACE_SELECT}, 3, ids));
}

static value *select_element(elaborator *e, value *pair, void *condition) {
  return select_value(e, condition, pair->u.parts.items[0], pair->u.parts.items[1]);
}

static NORETURN void fail_lengths(elaborator *e, uint64_t yes, uint64_t no) {
  fail_hint(e,
            "this condition depends on data, so that both branches are computed and one array is "
            "made of them: fill the shorter one up, as by concat xs (replicate k 0), or let a size "
            "decide",
            "the two branches have different lengths: %" PRIu64 " and %" PRIu64, yes, no);
}

// Element by element.
static value *select_array(elaborator *e, value *condition, value *yes, value *no) {
  if (length_of(yes) != length_of(no))
    fail_lengths(e, length_of(yes), length_of(no));
  value *pair = make_parts(e, VALUE_TUPLE, 2);
  pair->u.parts.items[0] = as_array(e, yes)->u.array.element;
  pair->u.parts.items[1] = as_array(e, no)->u.array.element;
  return map_elements(e, make_array(e, length_of(yes), pair), select_element, condition);
}

value *select_value(elaborator *e, value *condition, value *yes, value *no) {
  bool scalars = (yes->kind == VALUE_SCALAR || yes->kind == VALUE_DYNAMIC) &&
                 (no->kind == VALUE_SCALAR || no->kind == VALUE_DYNAMIC);
  if (scalars)
    return select_scalar(e, condition, yes, no);
  if (yes->kind == VALUE_FUNCTION || no->kind == VALUE_FUNCTION)
    fail_dynamic(e, condition, "a condition that chooses between functions");
  if (yes->kind == VALUE_ARRAY || no->kind == VALUE_ARRAY)
    return select_array(e, condition, yes, no);
  if (yes->u.parts.count != no->u.parts.count)
    fail_lengths(e, yes->u.parts.count, no->u.parts.count);
  if (!yes->u.parts.count)
    return yes->u.parts.like ? yes : no;
  value *v = make_parts(e, yes->kind, yes->u.parts.count);
  for (uint32_t i = 0; i < yes->u.parts.count; i++)
    v->u.parts.items[i] = select_value(e, condition, yes->u.parts.items[i], no->u.parts.items[i]);
  return v;
}
