// Elements by index, xs[i] and xs[i][j], and the conditions that guard indices.
//
// An index that is data is checked in each run. In a branch of a dynamic condition, which is computed
// for all, it has to be inside where the branch is taken; elsewhere it is that of any element:
//
//   if i > 0 then xs[i - 1] else x      xs[select (i > 0) (i - 1) 0]
//
// So is a static one that is outside: it is an error of those runs that take the branch. The guards
// go where functions and bindings that are made in a branch go.
#include "lang/elaborate/elaborator.h"
#include <inttypes.h>

// ---- guards ------------------------------------------------------------------------------------

const index_guard *guarded_by(elaborator *e, value *condition, bool taken,
                              const index_guard *outer) {
  enum {
    MOST_GUARDS = 50
  };  // where there are more, indices have to be inside for some of them, too
  uint32_t number = outer ? outer->number + 1 : 0;
  if (number == MOST_GUARDS)
    return outer;
  index_guard *g = NEW(e->memory, index_guard);
  *g = (index_guard){condition, taken, number, outer};
  return g;
}

const index_guard *guards_of_both(elaborator *e, const index_guard *first,
                                  const index_guard *second) {
  const index_guard *g = first;
  while (g && g != second)
    g = g->outer;
  if (g || !second)
    return first;
  for (g = first; g; g = g->outer)
    second = guarded_by(e, g->condition, g->taken, second);
  return second;
}

const index_guard *guards_at(elaborator *e, const index_guard *g, uint64_t batch) {
  while (g && step_at(e, g->condition->u.step)->batch > batch)
    g = g->outer;
  if (!g)
    return NULL;
  const index_guard *outer = guards_at(e, g->outer, batch);
  return outer == g->outer ? g : guarded_by(e, g->condition, g->taken, outer);
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

// Whether the run finds out if the index is inside: it is data, or an error only where a branch is
// taken, or of an array without elements in a function for none at all.
static bool is_for_run(elaborator *e, value *index, uint64_t length) {
  if (index->kind == VALUE_DYNAMIC)
    return !depends_on_int_argument(e, index);
  bool nowhere = !e->batch && (e->trial || !length);
  return (e->guards || nowhere) && (uint64_t)index->u.scalar.bits.i64 >= length;
}

// The index where all guards hold, else 0.
static value *guarded_index(elaborator *e, value *index) {
  value *none = make_integer(e, 0);
  for (const index_guard *g = e->guards; g; g = g->outer)
    if (step_at(e, g->condition->u.step)->batch <= e->batch)  // not of elements of what is here
      index = select_value(e, g->condition, g->taken ? index : none, g->taken ? none : index);
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

indexed index_into(elaborator *e, indexed at, value *index) {
  uint64_t rows = length_of(at.array), length = rows;
  if (at.index)
    length = length_of(as_array(e, at.array)->u.array.element);
  bool for_run = is_for_run(e, index, length) && is_data(at.array, true);  // no functions
  index = for_run ? run_index(e, index, length) : make_integer(e, index_inside(e, index, length));
  if (!at.index)
    return for_run ? (indexed){at.array, index}
                   : (indexed){element_at(e, at.array, (uint64_t)index->u.scalar.bits.i64), NULL};
  if (for_run && length)
    index = bounded_index(e, index, length);
  if (rows)
    at.index = bounded_index(e, at.index, rows);
  value *row = scalar_operation(e, OP_MUL, at.index, make_integer(e, (int64_t)length));
  return (indexed){join_rows(e, at.array), scalar_operation(e, OP_ADD, row, index)};
}

value *indexed_element(elaborator *e, indexed at) {
  return at.index ? element_at_data(e, at.array, at.index) : at.array;
}
