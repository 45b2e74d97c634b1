// Which places that are computed of their own numbers are a permutation by an affine map:
//
//   %0 iota [8]   %1 constant 5   %2 scalar xor %0 %1        place i is (x2^1, x1, x0^1)
#include "core/number.h"
#include "core/permutation/index_bits.h"
#include "lang/trace.h"

#include <string.h>

// Whether the value of a step is 2^n integers: its elements, instance after instance.
static bool count_bits(const trace_step *s, int *n) {
  uint64_t count = trace_step_count(s);
  *n = count ? f2_msb(count) : 0;
  return s->type == SCALAR_I64 && is_power_of_two(count);
}

// The integer of the index's lowest bits.
static index_bits lowest_bits(int n, int width) {
  index_bits x = {f2_zero(F2_MAX, n), 0};
  for (int i = 0; i < width; i++)
    x.a.row[i] = f2_unit(i);
  return x;
}

// Whether a step is computed of indices and constants alone: *x, its elements as forms of their own
// number. `left`: how many steps may still be looked at.
static bool find_bits(const trace *t, value_id id, uint32_t *left, index_bits *x) {
  const trace_step *s = &t->steps.items[id];
  index_bits of[2];
  f2_affine moved;
  int n;
  if (*left == 0 || !count_bits(s, &n) || s->operand_count > 2)
    return false;
  --*left;
  for (uint32_t i = 0; i < s->operand_count; i++) {
    if (!find_bits(t, s->operands[i], left, &of[i]) || of[i].a.columns > n)
      return false;
    for (int k = 0; k < F2_MAX; k++)  // of fewer instances: each is repeated
      of[i].a.row[k] <<= n - of[i].a.columns;
    of[i].a.columns = n;
  }
  switch (s->op) {
  case TRACE_CONSTANT:
    *x = (index_bits){f2_zero(F2_MAX, n), (uint64_t)s->constant.i64};
    return s->constant.i64 >= 0;
  case TRACE_IOTA:
    *x = lowest_bits(n, n);
    return true;
  case TRACE_INSTANCE:
    *x = lowest_bits(n, is_power_of_two(s->number) ? f2_msb(s->number) : 0);
    return is_power_of_two(s->number);
  case TRACE_RESHAPE:
  case TRACE_BROADCAST:
  case TRACE_PACK:
    *x = of[0];
    return s->operand_count == 1;
  case TRACE_BMMC:  // element A y ^ c is that of y
    if (s->batch != 1 || s->rank != 1)
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

bool trace_find_permutation(const trace *t, value_id places, f2_affine *map) {
  enum { MOST_STEPS = 64 };
  uint32_t left = MOST_STEPS;
  index_bits x;
  f2_affine back;
  if (!find_bits(t, places, &left, &x))
    return false;
  int n = x.a.columns;
  for (int i = n; i < F2_MAX; i++)
    if (x.a.row[i] || f2_bit(x.c, i))
      return false;
  x.a.rows = n;
  *map = x;
  return f2_affine_inverse(x, &back);
}
