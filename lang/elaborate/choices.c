// choose [f, g, ...] x: the steps of every function, of which one is taken later (trace_choice).
//
// Inside of padded it is the first function: what is padding does not depend on what is cheaper.
//
// Choices inside of choices may be of more functions than can be written down: once there are so
// many steps of others than the first, the others that are left are not looked at.
#include "lang/elaborate/elaborator.h"

enum { MOST_COMPARED = 1 << 16 };

static bool holds_function(const value *v) {
  bool parts = v->kind == VALUE_TUPLE || v->kind == VALUE_LIST;
  for (uint32_t i = 0; parts && i < v->u.parts.count; i++)
    if (holds_function(v->u.parts.items[i]))
      return true;
  return v->kind == VALUE_FUNCTION;
}

typedef struct alternatives {
  uint32_t count, choice;
  VEC(value_id) ids;  // of the results of all functions, one function behind the other
  size_t arrays, next;
} alternatives;

static value_id collect_result(elaborator *e, value_id id, void *with) {
  alternatives *all = with;
  vec_push(e->memory, &all->ids, id);
  return id;
}

// The step that stands for the next array of the results.
static value_id choose_result(elaborator *e, value_id id, void *with) {
  alternatives *all = with;
  trace_step s = e->out->steps.items[id];
  s.op = TRACE_CHOICE;
  s.number = all->choice;
  s.shadow = false;
  s.rows = NULL;
  s.operand_count = all->count;
  s.operands = NEW_ARRAY(e->memory, value_id, all->count);
  for (uint32_t i = 0; i < all->count; i++)
    s.operands[i] = all->ids.items[i * all->arrays + all->next];
  all->next++;
  return emit(e, s);
}

static value *choose_later(elaborator *e, value *functions, value *x) {
  alternatives all = {.count = functions->u.parts.count, .choice = (uint32_t)e->out->choices.count};
  trace_choice c = {.where = own_place(e),
                    .count = all.count,
                    .like = all.choice,
                    .batch = e->batch,
                    .first = (value_id)e->out->steps.count};
  value *first = NULL;
  vec_push(e->memory, &e->out->choices, c);
  for (uint32_t i = 0; i < all.count; i++) {
    size_t before = e->out->steps.count;
    value *result = apply(e, functions->u.parts.items[i], x);
    if (i == 0 && holds_function(result))
      return result;
    result = lift(e, as_data(e, result));
    first = first ? first : result;
    if (!same_structure(first, result))
      fail(e, "the functions that choose is given return arrays of different lengths");
    map_steps(e, result, collect_result, &all);
    e->compared += i ? e->out->steps.count - before : 0;
    if (e->compared >= MOST_COMPARED)
      all.count = i + 1;
  }
  e->out->choices.items[all.choice].count = all.count;
  all.arrays = all.ids.count / all.count;
  return map_steps(e, first, choose_result, &all);
}

value *run_choose(elaborator *e, const builtin *row, value **a, type **instance) {
  (void)row, (void)instance;
  if (a[0]->kind != VALUE_LIST || !a[0]->u.parts.count) {
    e->where = e->places[0];
    fail(e, "choose needs a list of at least one function");
  }
  bool dynamic = is_dynamic_data(a[1]), library = e->d->sources.items[e->places[0].file].library;
  if (dynamic && !library)  // whose tests are its own
    promise_equal(e, a[0], a[1]);
  bool compared = dynamic && a[0]->u.parts.count > 1 && e->batch && !e->trial && !e->padding &&
                  !e->out->wants_laws && e->compared < MOST_COMPARED;
  return compared ? choose_later(e, a[0], a[1]) : apply(e, a[0]->u.parts.items[0], a[1]);
}
