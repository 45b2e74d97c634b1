// Where a call stands in the nest of parm, column and map: where its arguments come from.
//
//   \x -> map (\y -> y - sum x) x       of [4]i32
//
//   %0   argument 0         batch 1    x
//   %1   reshape %0         batch 4    y
//   ...  sum, of %0         batch 1    not 4: each y would get a sum of its own
//   %9   scalar - %1 %8     batch 4
//
// A comprehension over an array stands where the array and what its body uses come from. A call in
// which an index stands is no further out than the conditions of the branches around it.
#include "lang/elaborate/elaborator.h"

// The largest batch that the values have; the current one where that would take long to find out:
// `left` more may be looked at. (A function may hold itself.) Constants are at home in any.
static uint64_t batch_of_values(const elaborator *e, value *const *items, size_t count,
                                unsigned *left);

static uint64_t batch_of_guards(const elaborator *e, const branch *g) {
  uint64_t batch = 0;
  for (; g; g = g->outer)
    if (step_at(e, g->value->u.step)->batch > batch)
      batch = step_at(e, g->value->u.step)->batch;
  return batch;
}

static uint64_t batch_of_value(const elaborator *e, const value *v, unsigned *left) {
  const closure *c = &v->u.function;
  const trace_step *s;
  size_t count;
  value *const *parts = value_parts(v, &count);
  if (!*left)
    return e->batch;
  --*left;
  switch (v->kind) {
  case VALUE_SCALAR:
    return 0;
  case VALUE_DYNAMIC:
    s = step_at(e, v->u.step);
    return s->fixed && s->batch == 1 ? 0 : s->batch;
  case VALUE_ARRAY:
  case VALUE_TUPLE:
  case VALUE_LIST:
    return batch_of_values(e, parts, count, left);
  case VALUE_THUNK:
    return v->u.thunk.result ? batch_of_value(e, v->u.thunk.result, left) : v->u.thunk.batch;
  case VALUE_FUNCTION:
    break;
  }
  uint64_t captured = c->code ? batch_of_values(e, c->captures, c->code->captures.count, left) : 0;
  uint64_t given = batch_of_values(e, c->arguments, c->given, left);
  uint64_t guarded = batch_of_guards(e, c->guards);
  given = captured > given ? captured : given;
  return guarded > given ? guarded : given;
}

static uint64_t batch_of_values(const elaborator *e, value *const *items, size_t count,
                                unsigned *left) {
  uint64_t batch = 0;
  for (size_t i = 0; i < count && batch < e->batch; i++) {
    uint64_t own = batch_of_value(e, items[i], left);
    batch = own > batch ? own : batch;
  }
  return batch;
}

enum { MOST_VALUES = 100 };  // that are looked at, for each call

static uint64_t batch_within(const elaborator *e, uint64_t batch) {
  return batch < 1 ? 1 : batch < e->batch ? batch : e->batch;
}

uint64_t batch_of_call(const elaborator *e, const closure *c) {
  if (e->batch <= 1)
    return e->batch;
  unsigned left = MOST_VALUES;
  value f = {.kind = VALUE_FUNCTION, .u.function = *c};
  uint64_t guarded = c->code && c->code->indexes ? batch_of_guards(e, e->guards) : 0;
  uint64_t batch = batch_of_value(e, &f, &left);
  return batch_within(e, batch > guarded ? batch : guarded);
}

uint64_t batch_of_comprehension(const elaborator *e, const activation *act, const expr *x,
                                const value *list) {
  if (e->batch <= 1)
    return e->batch;
  unsigned left = MOST_VALUES;
  uint64_t batch = list ? batch_of_value(e, list, &left) : 0;
  for (size_t i = 0; i < x->u.comprehension.variables.count; i++) {
    capture c = x->u.comprehension.variables.items[i];
    value *const *of = c.from_capture ? act->captures : act->slots;
    uint64_t own = batch_of_value(e, of[c.index], &left);
    batch = own > batch ? own : batch;
  }
  return batch_within(e, batch);
}
