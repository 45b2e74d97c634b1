// Which places that are computed of their own numbers are a permutation by an affine map:
//
//   %0 iota [8]   %1 constant 5   %2 scalar xor %0 %1        place i is (x2^1, x1, x0^1)
//
// Which bits of an integer a condition tells: i & 4 == 0, not i / 4 % 2 == 1, i % 8 < 4.
#include "core/number.h"
#include "core/permutation/index_bits.h"
#include "lang/trace.h"

#include <string.h>

// Whether the value of a step is integers, a multiple of 2^n of them: its elements, instance after
// instance.
static bool count_bits(const trace_step *s, int *n) {
  uint64_t count = trace_step_count(s);
  *n = count ? f2_lsb(count) : 0;
  return s->type == SCALAR_I64 && count;
}

// The forms, of the lowest bits of an element's number, where each of the arrays of so many elements
// is repeated so often.
static bool repeat_bits(index_bits *x, uint64_t elements, uint64_t times) {
  uint64_t inside = f2_mask(f2_lsb(elements)), outside = 0;
  for (int k = 0; k < F2_MAX; k++)
    outside |= x->a.row[k] & ~inside;
  if (outside && times > 1 && !(is_power_of_two(elements) && is_power_of_two(times)))
    return false;
  for (int k = 0; k < F2_MAX && outside; k++)
    x->a.row[k] = (x->a.row[k] & inside) | (x->a.row[k] & ~inside) << f2_msb(times);
  return true;
}

// The integer of the index's lowest bits.
static index_bits lowest_bits(int n, int width) {
  index_bits x = {f2_zero(F2_MAX, n), 0};
  for (int i = 0; i < width; i++)
    x.a.row[i] = f2_unit(i);
  return x;
}

// Whether a step is computed of indices and constants alone: *x, its elements as forms of the lowest
// bits of their own number. `left`: how many steps may still be looked at.
static bool find_bits(const trace *t, value_id id, uint32_t *left, index_bits *x) {
  const trace_step *s = &t->steps.items[id];
  index_bits of[2];
  f2_affine moved;
  int n;
  if (*left == 0 || !count_bits(s, &n) || s->operand_count > 2)
    return false;
  --*left;
  for (uint32_t i = 0; i < s->operand_count; i++) {
    const trace_step *o = &t->steps.items[s->operands[i]];  // maybe of fewer instances
    if (!find_bits(t, s->operands[i], left, &of[i]) ||
        !repeat_bits(&of[i], trace_step_count(o) / o->batch,
                     trace_step_count(s) / trace_step_count(o)))
      return false;
    of[i].a.columns = n;
  }
  switch (s->op) {
  case TRACE_CONSTANT:
    *x = (index_bits){f2_zero(F2_MAX, n), (uint64_t)s->constant.i64};
    return s->constant.i64 >= 0;
  case TRACE_IOTA:
    *x = lowest_bits(n, is_power_of_two(s->dims[0]) ? f2_msb(s->dims[0]) : 0);
    return is_power_of_two(s->dims[0]);
  case TRACE_INSTANCE:
    *x = lowest_bits(n, is_power_of_two(s->number) ? f2_msb(s->number) : 0);
    return is_power_of_two(s->number);
  case TRACE_RESHAPE:
  case TRACE_BROADCAST:
  case TRACE_PACK:
    *x = of[0];
    return s->operand_count == 1;
  case TRACE_BMMC:  // element A y ^ c is that of y
    if (s->batch != 1 || s->rank != 1 || !is_power_of_two(s->dims[0]))
      return false;
    moved = (f2_affine){f2_zero(n, n), s->number};
    memcpy(moved.a.row, s->rows, (size_t)n * sizeof *s->rows);
    if (!f2_affine_inverse(moved, &moved))
      return false;
    *x = f2_affine_compose(of[0], moved);
    return true;
  case TRACE_SCALAR:
    return s->operand_count == 2 && index_bits_apply(s->scalar, &of[0], &of[1], x);
  default:
    return false;
  }
}

bool trace_find_permutation(const trace *t, value_id places, uint64_t length, f2_affine *map) {
  enum { MOST_STEPS = 64 };
  uint32_t left = MOST_STEPS;
  index_bits x;
  f2_affine back;
  int n = length ? f2_msb(length) : 0;
  if (!is_power_of_two(length) || !find_bits(t, places, &left, &x) || x.a.columns < n ||
      x.c & ~f2_mask(n))
    return false;
  for (int i = 0; i < F2_MAX; i++)
    if (x.a.row[i] & ~(i < n ? f2_mask(n) : 0))
      return false;
  x.a.rows = x.a.columns = n;
  *map = x;
  return f2_affine_inverse(x, &back);
}

// ---- bits that conditions tell ------------------------------------------------------------------

static bool is_constant(const trace_step *s, int64_t *value) {
  *value = s->type == SCALAR_BOOL ? s->constant.u8 : s->constant.i64;
  return s->op == TRACE_CONSTANT && (s->type == SCALAR_I64 || s->type == SCALAR_BOOL);
}

// Whether a value is x / 2^shift & mask, of which x, not negative, is a step.
static bool is_field(const trace *t, value_id value, value_id x, uint64_t *mask, int *shift) {
  const trace_step *s = &t->steps.items[value];
  int64_t by;
  if (value == x) {
    *shift = 0;
    return true;
  }
  if (s->op != TRACE_SCALAR || s->operand_count != 2 || s->type != SCALAR_I64 ||
      !is_constant(&t->steps.items[s->operands[1]], &by) || by < 0 ||
      !is_field(t, s->operands[0], x, mask, shift))
    return false;
  bool power = is_power_of_two((uint64_t)by);
  int more = s->scalar == OP_SHR ? (int)(by < 63 ? by : 63) : power ? f2_msb((uint64_t)by) : 0;
  switch (s->scalar) {
  case OP_AND:
    *mask &= (uint64_t)by;
    return true;
  case OP_MOD:
    *mask &= (uint64_t)by - 1;
    return power;
  case OP_DIV:
  case OP_SHR:
    *mask >>= more;
    *shift += more;
    return power || s->scalar == OP_SHR;
  default:
    return false;
  }
}

// The same of a comparison with a constant.
static void add_compared(const trace *t, const trace_step *c, bool holds, value_id x,
                         known_bits *known, uint64_t mask) {
  scalar_op op = c->scalar;
  int64_t with;
  int shift;
  if (!is_constant(&t->steps.items[c->operands[1]], &with) || with < 0 ||
      !is_field(t, c->operands[0], x, &mask, &shift) || !mask)
    return;
  uint64_t limit = (uint64_t)with + (op == OP_LE || op == OP_GT), bits = (uint64_t)with;
  if (op == OP_GT || op == OP_GE || op == OP_NE)
    holds = !holds;
  if (op == OP_EQ || op == OP_NE) {
    if (bits & ~mask || (!holds && !is_power_of_two(mask)))
      return;
    bits ^= holds ? 0 : mask;
  } else if (mask && limit == f2_unit(f2_msb(mask))) {  // the highest bit
    mask = limit;
    bits = holds ? 0 : limit;
  } else {
    return;
  }
  known->zeros |= (mask & ~bits) << shift;
  known->ones |= (mask & bits) << shift;
}

void trace_find_bits(const trace *t, value_id condition, bool holds, value_id x, uint64_t most,
                     known_bits *known) {
  const trace_step *s = &t->steps.items[condition];
  int64_t value;
  uint64_t all = most ? f2_mask(f2_msb(most) + 1) : 0;
  if (s->op == TRACE_SCALAR && s->scalar == OP_COMPLEMENT)
    trace_find_bits(t, s->operands[0], !holds, x, most, known);
  if (s->op == TRACE_SCALAR && (trace_is_comparison(s) || s->scalar == OP_EQ || s->scalar == OP_NE))
    add_compared(t, s, holds, x, known, all);
  for (uint32_t i = 1; i < 3 && s->op == TRACE_SELECT; i++)  // a && b is select a b false
    if (is_constant(&t->steps.items[s->operands[i]], &value) && (value != 0) != holds) {
      trace_find_bits(t, s->operands[0], i == 2, x, most, known);
      trace_find_bits(t, s->operands[3 - i], holds, x, most, known);
      return;
    }
}
