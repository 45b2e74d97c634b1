// Bounds of the integers that a Trace computes, from types, constants and lengths: what cannot be a
// wrong place, or a wrong key, need not be looked for in each run. See trace.h.
//
//   %0  argument 0                 u8     0 ... 255
//   %1  constant 15                u8     15 ... 15
//   %2  & %0 %1                    u8     0 ... 15
//   %3  convert %2                 i64    0 ... 15: places of an array of 16
//
// INT64_MIN and INT64_MAX are bounds of nothing: the elements may be beyond.
#include "lang/trace.h"

#define ANY ((number_range){INT64_MIN, INT64_MAX})
#define NONE ((number_range){INT64_MAX, INT64_MIN})

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }

static bool is_unsigned(scalar_type t) { return scalar_types[t].kind == KIND_UNSIGNED; }

static bool is_integer(scalar_type t) {
  return is_unsigned(t) || scalar_types[t].kind == KIND_SIGNED || t == SCALAR_BOOL;
}

static number_range range_of_type(scalar_type t) {
  size_t bits = 8 * scalar_types[t].size;
  if (t == SCALAR_BOOL)
    return (number_range){0, 1};
  if (is_unsigned(t))
    return (number_range){0, bits < 64 ? (INT64_C(1) << bits) - 1 : INT64_MAX};
  if (!is_integer(t) || bits == 64)
    return ANY;
  return (number_range){-(INT64_C(1) << (bits - 1)), (INT64_C(1) << (bits - 1)) - 1};
}

static bool is_none(number_range r) { return r.least > r.most; }

static bool is_bounded(number_range r) { return r.least > INT64_MIN && r.most < INT64_MAX; }

static number_range both(number_range a, number_range b) {
  return (number_range){lesser(a.least, b.least), greater(a.most, b.most)};
}

// The bounds, if numbers between them do not wrap; else those of the type.
static number_range within(scalar_type t, number_range r) {
  number_range all = range_of_type(t);
  return is_bounded(r) && r.least >= all.least && r.most <= all.most ? r : all;
}

static number_range at_element(scalar_type t, const void *element) {
  scalar_bits x = {{0}};
  memcpy(&x, element, scalar_types[t].size);
  switch (t) {
  case SCALAR_I8:
    return (number_range){x.i8, x.i8};
  case SCALAR_I16:
    return (number_range){x.i16, x.i16};
  case SCALAR_I32:
    return (number_range){x.i32, x.i32};
  case SCALAR_I64:
    return (number_range){x.i64, x.i64};
  default:  // the other bytes are 0
    return x.u64 > INT64_MAX ? (number_range){INT64_MAX, INT64_MAX}
                             : (number_range){(int64_t)x.u64, (int64_t)x.u64};
  }
}

// ---- operations --------------------------------------------------------------------------------

// The numbers with no more bits than x, x >= 0.
static int64_t all_bits(int64_t x) {
  for (int shift = 1; shift < 64; shift *= 2)
    x |= x >> shift;
  return x;
}

static number_range sum(number_range a, number_range b) {
  number_range r = ANY;
  if (!is_bounded(a) || !is_bounded(b) || __builtin_add_overflow(a.least, b.least, &r.least) ||
      __builtin_add_overflow(a.most, b.most, &r.most))
    return ANY;
  return r;
}

static number_range negative(number_range a) {
  return is_bounded(a) ? (number_range){-a.most, -a.least} : ANY;
}

static number_range product(number_range a, number_range b) {
  const int64_t x[] = {a.least, a.most}, y[] = {b.least, b.most};
  number_range r = NONE;
  for (int i = 0; i < 4; i++) {
    int64_t n;
    if (__builtin_mul_overflow(x[i / 2], y[i % 2], &n))
      return ANY;
    r = both(r, (number_range){n, n});
  }
  return is_bounded(a) && is_bounded(b) ? r : ANY;
}

// Of numbers that are not negative, shifted to the right.
static number_range shifted(scalar_type t, number_range a, number_range by) {
  uint64_t most = t == SCALAR_U64 && a.most == INT64_MAX ? UINT64_MAX : (uint64_t)a.most;
  most = by.least < 0 ? most : by.least > 63 ? 0 : most >> by.least;
  return (number_range){0, most > INT64_MAX ? INT64_MAX : (int64_t)most};
}

// What the operation (core/scalar/integer.inc) makes of integers in these ranges.
static number_range apply(scalar_op op, scalar_type t, number_range a, number_range b) {
  bool positive = a.least >= 0, both_positive = positive && b.least >= 0;
  number_range all = range_of_type(t);
  switch (op) {
  case OP_ADD:
    return within(t, sum(a, b));
  case OP_SUB:
    return within(t, sum(a, negative(b)));
  case OP_NEG:
    return within(t, negative(a));
  case OP_MUL:
    return within(t, product(a, b));
  case OP_DIV:
    return both_positive && a.most < INT64_MAX ? (number_range){0, a.most / greater(b.least, 1)}
                                               : all;
  case OP_MOD:  // x mod 0 is 0
    if (b.least < 0 || b.most == INT64_MAX)
      return both_positive ? (number_range){0, a.most} : all;
    return (number_range){0, positive ? lesser(a.most, greater(b.most - 1, 0))
                                      : greater(b.most - 1, 0)};
  case OP_ABS:
    return positive ? a : all;
  case OP_AND:
    if (positive && (b.least < 0 || a.most < b.most))
      return (number_range){0, a.most};
    return b.least >= 0 ? (number_range){0, b.most} : all;
  case OP_OR:
  case OP_XOR:
    return both_positive ? (number_range){0, all_bits(a.most | b.most)} : all;
  case OP_SHR:
    return positive ? shifted(t, a, b) : all;
  case OP_POPCOUNT:
  case OP_PARITY:
  case OP_CLZ:
  case OP_CTZ:
    return (number_range){0, 64};
  default:
    return all;
  }
}

// ---- conditions --------------------------------------------------------------------------------

enum { MOST_FACTS = 8, DEPTH = 4 };  // steps that are looked at again, back from a select

// Comparisons that hold, or do not, where an element is computed:
//
//   %5  select (x < 16) %4 3       where %4 is read, x < 16
//   %4  select (x < 8) %3 x        where x is read, also not x < 8: 8 ... 15
typedef struct known {
  const trace *t;
  const number_range *r;  // of the steps so far, wherever they are read
  uint32_t count;
  struct {
    const trace_step *comparison;
    bool holds;
  } facts[MOST_FACTS];
} known;

static bool is_equality(const trace_step *s) {
  return s->op == TRACE_SCALAR && (s->scalar == OP_EQ || s->scalar == OP_NE);
}

static bool is_never(number_range r, bool value) { return value ? r.most < 1 : r.least > 0; }

// `a && b` is select a b false.
static void assume(known *k, value_id condition, bool holds, unsigned depth) {
  const trace_step *s = &k->t->steps.items[condition];
  if ((trace_is_comparison(s) || is_equality(s)) && k->count < MOST_FACTS) {
    k->facts[k->count].comparison = s;
    k->facts[k->count++].holds = holds;
  }
  if (depth == 0)
    return;
  if (s->op == TRACE_SCALAR && s->scalar == OP_COMPLEMENT)
    assume(k, s->operands[0], !holds, depth - 1);
  for (uint32_t i = 1; i < 3 && s->op == TRACE_SELECT; i++)
    if (is_never(k->r[s->operands[i]], holds)) {
      assume(k, s->operands[0], i == 2, depth - 1);
      assume(k, s->operands[3 - i], holds, depth - 1);
      return;
    }
}

// Whether they are one step, or do the same to the same: i + 2 of a condition, and of an index.
static bool is_same(const trace *t, value_id a, value_id b, unsigned depth) {
  const trace_step *x = &t->steps.items[a], *y = &t->steps.items[b];
  if (a == b || (x->op == TRACE_CONSTANT && y->op == TRACE_CONSTANT && x->type == y->type &&
                 memcmp(&x->constant, &y->constant, scalar_types[x->type].size) == 0))
    return true;
  bool same = depth > 0 && x->op == TRACE_SCALAR && trace_steps_are_alike(x, y);
  for (uint32_t i = 0; i < x->operand_count && same; i++)
    same = is_same(t, x->operands[i], y->operands[i], depth - 1);
  return same;
}

// The same of ==, and of != where the other number is one at an end.
static number_range where_equal(const known *k, const trace_step *c, bool holds, value_id of,
                                number_range all) {
  bool equal = (c->scalar == OP_EQ) == holds;
  for (uint32_t i = 0; i < 2; i++) {
    number_range other = k->r[c->operands[1 - i]];
    if (!is_same(k->t, of, c->operands[i], DEPTH) || !is_bounded(other))
      continue;
    if (equal)
      all = (number_range){greater(all.least, other.least), lesser(all.most, other.most)};
    else if (other.least == other.most && !is_none(all))
      all = (number_range){all.least + (all.least == other.least),
                           all.most - (all.most == other.most)};
  }
  return all;
}

// What is left of the bounds of a value where a comparison holds, or does not: of x, where x < 16,
// at most 15.
static number_range where(const known *k, const trace_step *c, bool holds, value_id of,
                          number_range all) {
  if (is_equality(c))
    return where_equal(k, c, holds, of, all);
  bool less = c->scalar != OP_GT && c->scalar != OP_GE;
  // low < high, or low <= high.
  value_id low = c->operands[less == holds ? 0 : 1], high = c->operands[less == holds ? 1 : 0];
  int64_t apart = (c->scalar == OP_LT || c->scalar == OP_GT) == holds;
  if (is_same(k->t, of, low, DEPTH) && is_bounded(k->r[high]))
    all.most = lesser(all.most, k->r[high].most - apart);
  if (is_same(k->t, of, high, DEPTH) && is_bounded(k->r[low]))
    all.least = greater(all.least, k->r[low].least + apart);
  return all;
}

static bool is_elementwise(const trace_step *s) {
  return s->op == TRACE_SCALAR || s->op == TRACE_SELECT || s->op == TRACE_CONVERT;
}

static number_range range_of_elementwise(const known *k, const trace_step *s, unsigned depth);

// Of a value where it is read; NONE: it is not, as the conditions cannot hold together.
static number_range range_where(const known *k, value_id of, unsigned depth) {
  const trace_step *s = &k->t->steps.items[of];
  number_range all = k->r[of];
  for (uint32_t i = 0; i < k->count; i++)
    all = where(k, k->facts[i].comparison, k->facts[i].holds, of, all);
  if (k->count && depth && is_elementwise(s) && is_integer(s->type)) {
    number_range again = range_of_elementwise(k, s, depth - 1);
    all = (number_range){greater(all.least, again.least), lesser(all.most, again.most)};
  }
  return is_none(all) ? NONE : all;
}

static number_range range_of_select(const known *k, const trace_step *s, unsigned depth) {
  number_range all = NONE;
  for (uint32_t i = 1; i < 3; i++) {
    known branch = *k;
    assume(&branch, s->operands[0], i == 1, depth);
    all = both(all, range_where(&branch, s->operands[i], depth));
  }
  return all;
}

static number_range range_of_elementwise(const known *k, const trace_step *s, unsigned depth) {
  if (s->op == TRACE_SELECT)
    return range_of_select(k, s, depth);
  if (!is_integer(k->t->steps.items[s->operands[0]].type))
    return range_of_type(s->type);
  number_range a = range_where(k, s->operands[0], depth);
  number_range b = range_where(k, s->operands[s->operand_count - 1], depth);
  return is_none(a) || is_none(b) ? NONE
         : s->op == TRACE_CONVERT ? within(s->type, a)
                                  : apply(s->scalar, s->type, a, b);
}

// ---- steps -------------------------------------------------------------------------------------

static number_range range_of_table(const trace_step *s) {
  uint64_t count = trace_step_count(s);
  number_range r = range_of_type(s->type);
  for (uint64_t i = 0; i < count; i++) {
    number_range x = at_element(s->type, (const char *)s->table + i * scalar_types[s->type].size);
    r = i ? both(r, x) : x;
  }
  return r;
}

// Of 0, 1, ..., count - 1.
static number_range below(uint64_t count) {
  return (number_range){0, count > INT64_MAX ? INT64_MAX : count ? (int64_t)count - 1 : 0};
}

static number_range range_of_moved(const trace_step *s, const number_range *r) {
  uint32_t first = trace_first_moved(s->op);
  number_range all = s->op == TRACE_GATHER || first >= s->operand_count ? (number_range){0, 0}
                                                                        // outside there are zeros
                                                                        : r[s->operands[first]];
  for (uint32_t i = first; i < s->operand_count; i++)
    all = both(all, r[s->operands[i]]);
  return all;
}

static number_range range_of_step(const trace *t, const trace_step *s, const number_range *r) {
  const trace_step *x = s->operand_count ? &t->steps.items[s->operands[0]] : NULL;
  if (!is_integer(s->type))
    return ANY;
  switch (s->op) {
  case TRACE_ARGUMENT:
  case TRACE_ROOT:
  case TRACE_EXTERN:
  case TRACE_PLACES:
  case TRACE_WRONG:
  case TRACE_GROUP:
  case TRACE_FOLD:
    return range_of_type(s->type);
  case TRACE_CONSTANT:
    return at_element(s->type, &s->constant);
  case TRACE_TABLE:
    return range_of_table(s);
  case TRACE_SCALAR:
  case TRACE_SELECT:
  case TRACE_CONVERT:
    return range_of_elementwise(&(known){.t = t, .r = r}, s, DEPTH);
  case TRACE_INSTANCE:
    return below(s->number ? s->number : s->batch);
  case TRACE_IOTA:
    return below(s->dims[0]);
  case TRACE_COUNT:
    return below(x->dims[0] + 1);
  default:
    return range_of_moved(s, r);
  }
}

bool trace_is_below(number_range r, uint64_t limit) {
  return r.least >= 0 && r.most < INT64_MAX && (uint64_t)r.most < limit;
}

void trace_find_ranges(const trace *t, size_t first, uint64_t *limits, number_range *ranges) {
  for (size_t i = first; i < t->steps.count; i++) {
    number_range *r = &ranges[i];
    *r = range_of_step(t, &t->steps.items[i], ranges);
    if (limits && trace_is_below(*r, limits[i]))
      limits[i] = 0;
    if (limits && limits[i])
      *r = below(limits[i]);
  }
}
