// Elements by index, xs[i] and xs[i][j], and the conditions that guard indices.
//
// An index that is data is checked in each run. In a branch of a dynamic condition, which is computed
// for all, it has to be inside where the branch is taken; elsewhere it is that of any element:
//
//   if i > 0 then xs[i - 1] else x      xs[select (i > 0) (i - 1) 0]
//
// Where the conditions say that i + d has no carry, or i - d no borrow, it is i xor d, which is mostly
// inside in the other branches, too. Such an index moves elements as a column of a network does:
//
//   if i & 4 == 0 then xs[i + 4] else xs[i - 4]     xs[i xor 4] in both branches
//
// So is a static one that is outside: it is an error of those runs that take the branch. The guards
// go where functions and bindings that are made in a branch go.
#include "lang/elaborate/elaborator.h"
#include <inttypes.h>

// ---- guards ------------------------------------------------------------------------------------

static const branch *branch_in(elaborator *e, const branch *b, const branch *outer) {
  branch *own = NEW(e->memory, branch);
  *own = *b;
  own->number = outer ? outer->number + 1 : 0;
  own->outer = outer;
  return own;
}

void enter_branch(elaborator *e, const expr *condition, value *c, bool taken) {
  enum { MOST_GUARDS = 50 };  // of more branches, indices have to be inside for some of them, too
  const branch b = {.condition = condition, .value = c, .taken = taken};
  e->branches = branch_in(e, &b, e->branches);
  if (!e->guards || e->guards->number + 1 < MOST_GUARDS)
    e->guards = branch_in(e, &b, e->guards);
}

const branch *guards_of_both(elaborator *e, const branch *first, const branch *second) {
  const branch *g = first;
  while (g && g != second)
    g = g->outer;
  if (g || !second)
    return first;
  for (g = first; g; g = g->outer)
    second = branch_in(e, g, second);
  return second;
}

const branch *guards_at(elaborator *e, const branch *g, uint64_t batch) {
  while (g && step_at(e, g->value->u.step)->batch > batch)
    g = g->outer;
  if (!g)
    return NULL;
  const branch *outer = guards_at(e, g->outer, batch);
  return outer == g->outer ? g : branch_in(e, g, outer);
}

// ---- indices -----------------------------------------------------------------------------------

static int64_t index_inside(elaborator *e, value *index, uint64_t length) {
  int64_t i = static_integer(e, index, "an index");
  const char *code = e->d->sources.items[e->where.file].text + e->where.start;
  const char *hint = memchr(code, '^', e->where.end - e->where.start)
                         ? "i ^ j is a power; the exclusive or of the bits is i xor j"
                         : "indices count from 0; the last element is last xs";
  if (i < 0)
    fail_hint(e, hint, "index %" PRId64 " is before the first element", i);
  if ((uint64_t)i >= length)
    fail_hint(e, length ? hint : "an empty array has no element",
              "index %" PRId64 " is outside of an array of %" PRIu64 " element%s", i, length,
              length == 1 ? "" : "s");
  return i;
}

// Whether it is an index of each run: it is data, or an error only where a branch is taken, or of an
// array without elements in a function for none at all.
static bool is_for_run(elaborator *e, value *index, uint64_t length, bool inside) {
  if (index->kind == VALUE_DYNAMIC)
    return inside || !step_at(e, index->u.step)->of_int;
  bool nowhere = !e->batch && (e->trial || !length);
  return (e->guards || nowhere) && (uint64_t)index->u.scalar.bits.i64 >= length;
}

// The first of these guards that is not of elements of what is here; or NULL.
static const branch *guard_from(elaborator *e, const branch *g) {
  while (g && step_at(e, g->value->u.step)->batch > e->batch)
    g = g->outer;
  return g;
}

// The index where all guards hold, else 0.
static value *guarded_index(elaborator *e, value *index) {
  value *none = make_integer(e, 0);
  for (const branch *g = guard_from(e, e->guards); g; g = guard_from(e, g->outer))
    index = select_value(e, g->value, g->taken ? index : none, g->taken ? none : index);
  return index;
}

// An index that the run looks at, if there are elements to look at it for. Of an array without
// elements, which has none for anybody, it is checked as CHECK_NONE says.
static value *run_index(elaborator *e, value *index, uint64_t length) {
  if (!length) {
    index = scalar_operation(e, OP_AND, index, make_integer(e, CHECK_NONE - 1));
    index = scalar_operation(e, OP_OR, index, make_integer(e, CHECK_NONE));
  }
  index = guarded_index(e, index);
  if (!e->batch)
    index = lift(e, as_dynamic(e, index));
  return length ? index : bounded_index(e, index, 1);
}

// Whether it needs no guard: it is inside in the other branches, too.
static bool is_always_inside(elaborator *e, const value *index, uint64_t length) {
  return e->guards && e->batch && index->kind == VALUE_DYNAMIC &&
         trace_is_below(find_ranges(e)[index->u.step], length);
}

// i xor d for i + d or i - d, if the guards know those bits of i; else NULL.
static value *without_carry(elaborator *e, const value *index) {
  if (!e->guards || index->kind != VALUE_DYNAMIC)
    return NULL;
  const trace_step *s = step_at(e, index->u.step);
  if (s->op != TRACE_SCALAR || (s->scalar != OP_ADD && s->scalar != OP_SUB))
    return NULL;
  uint32_t left = s->scalar == OP_ADD && step_at(e, s->operands[0])->op == TRACE_CONSTANT;
  value_id x = s->operands[left];
  const trace_step *d = step_at(e, s->operands[1 - left]);
  number_range all = find_ranges(e)[x];
  if (d->op != TRACE_CONSTANT || all.least < 0 || all.most == INT64_MAX)
    return NULL;
  known_bits known = {0, 0};
  for (const branch *g = guard_from(e, e->guards); g; g = guard_from(e, g->outer))
    trace_find_bits(e->out, g->value->u.step, g->taken, x, (uint64_t)all.most, &known);
  if (d->constant.u64 & ~(s->scalar == OP_ADD ? known.zeros : known.ones))
    return NULL;
  return scalar_operation(e, OP_XOR, make_dynamic(e, x), make_dynamic(e, s->operands[1 - left]));
}

indexed index_into(elaborator *e, indexed at, value *index) {
  uint64_t rows = length_of(at.array), length = rows;
  if (at.index)
    length = length_of(as_array(e, at.array)->u.array.element);
  bool for_run = is_for_run(e, index, length, at.inside) && is_data(at.array, true);
  value *moved = for_run && !at.inside ? without_carry(e, index) : NULL;
  if (moved && is_always_inside(e, moved, length))
    index = moved;
  if (!for_run)
    index = make_integer(e, index_inside(e, index, length));
  else if (!at.inside && !is_always_inside(e, index, length))
    index = run_index(e, index, length);
  if (!at.index && !for_run)
    return (indexed){.array = element_at(e, at.array, (uint64_t)index->u.scalar.bits.i64)};
  if (!at.index)
    return (indexed){at.array, index, at.inside};
  if (for_run && length && !at.inside)
    index = bounded_index(e, index, length);
  if (rows && !at.inside)
    at.index = bounded_index(e, at.index, rows);
  value *row = scalar_operation(e, OP_MUL, at.index, make_integer(e, (int64_t)length));
  return (indexed){join_rows(e, at.array), scalar_operation(e, OP_ADD, row, index), at.inside};
}

value *indexed_element(elaborator *e, indexed at) {
  return at.index ? element_at_data(e, at.array, at.index, at.inside || !length_of(at.array))
                  : at.array;
}
