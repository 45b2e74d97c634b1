// Comprehensions: their generators and conditions are run like an interpreter, and their elements are
// listed; or, where that leaves the same steps for each, their body is elaborated once (counted.c).
#include "lang/elaborate/elaborator.h"
#include <inttypes.h>

typedef VEC(value *) value_list;

static void run_qualifiers(elaborator *e, activation *act, const expr *x, uint32_t from,
                           value_list *out);

// ---- generators ------------------------------------------------------------------------------

static activation *copy_activation(elaborator *e, const activation *act) {
  activation *n = NEW(e->memory, activation);
  *n = *act;
  n->slots = NEW_ARRAY(e->memory, value *, act->slot_count);
  memcpy(n->slots, act->slots, act->slot_count * sizeof *n->slots);
  return n;
}

// A number of a range, of any type of numbers.
static int64_t whole_number(elaborator *e, value *v, const char *what) {
  v = static_scalar(e, v);
  if (v->kind != VALUE_SCALAR)
    fail_dynamic(e, v, what);
  value *whole = convert(e, SCALAR_I64, v), *again = convert(e, v->u.scalar.type, whole);
  if (memcmp(&again->u.scalar.bits, &v->u.scalar.bits, scalar_types[v->u.scalar.type].size))
    fail_hint(e, "the numbers between may be computed of whole ones: [x / 2.0 | x <- [0..9]]",
              "%s must be a whole number", what);
  return whole->u.scalar.bits.i64;
}

static generator eval_range(elaborator *e, activation *act, const qualifier *q) {
  value *first = eval_expr(e, act, q->source), *last = eval_expr(e, act, q->last),
        *second = q->second ? eval_expr(e, act, q->second) : NULL;
  e->where = q->source->where;
  generator g = {.first = whole_number(e, first, "a range's first number"), .step = 1};
  int64_t to = whole_number(e, last, "a range's last number");
  g.type = static_scalar(e, first)->u.scalar.type;
  if (second &&
      __builtin_sub_overflow(whole_number(e, second, "a range's second number"), g.first, &g.step))
    fail(e, "the step of this range overflows i64");
  if (!g.step)
    fail(e, "the step of this range is 0");
  if (g.step > 0 ? g.first > to : g.first < to)
    return g;
  uint64_t length = g.step > 0 ? ((uint64_t)to - (uint64_t)g.first) / (uint64_t)g.step
                               : ((uint64_t)g.first - (uint64_t)to) / -(uint64_t)g.step;
  g.count = length + (length < UINT64_MAX);
  return g;
}

static generator eval_generator(elaborator *e, activation *act, const qualifier *q) {
  return q->last ? eval_range(e, act, q) : generator_of(eval_expr(e, act, q->source));
}

// ---- elements one by one ---------------------------------------------------------------------

// Each round in an activation of its own, so that functions made inside keep its number.
static void run_generator(elaborator *e, const activation *act, const expr *x, uint32_t i,
                          const generator *g, value_list *out) {
  const qualifier *q = &x->u.comprehension.qualifiers[i];
  e->where = q->source->where;
  if (g->count > e->limits.steps)
    fail_limit(e, "steps", UINT64_MAX,
               "this range has more numbers than the %" PRIu64 " steps that are the limit of '%s'",
               e->limits.steps, running_name(e));
  for (uint64_t k = 0; k < g->count; k++) {
    activation *own = copy_activation(e, act);
    e->where = q->source->where;
    value *v = generated(e, g, k);
    count_step(e);
    if (match_pattern(e, own, q->target, v))
      run_qualifiers(e, own, x, i + 1, out);
  }
}

static bool holds(elaborator *e, activation *act, const qualifier *q) {
  value *condition = static_scalar(e, eval_expr(e, act, q->source));
  e->where = q->source->where;
  if (condition->kind != VALUE_SCALAR)
    fail_dynamic(e, condition, "a condition in a comprehension");
  return condition->u.scalar.bits.b;
}

static void run_qualifiers(elaborator *e, activation *act, const expr *x, uint32_t from,
                           value_list *out) {
  for (uint32_t i = from; i < x->u.comprehension.count; i++) {
    const qualifier *q = &x->u.comprehension.qualifiers[i];
    if (q->target) {
      generator g = eval_generator(e, act, q);
      run_generator(e, act, x, i, &g, out);
      return;
    }
    if (!holds(e, act, q))
      return;
  }
  vec_push(e->memory, out, eval_expr(e, act, x->u.comprehension.body));
}

// ---- elements that there are not -------------------------------------------------------------

typedef struct body_call {
  const activation *activation;
  const expr *comprehension;
  uint32_t qualifier;  // that is mapped
} body_call;

// The first element; if there is none, what it would look like, or NULL.
static value *any_element(elaborator *e, value *list) {
  if (length_of(list))
    return element_at(e, list, 0);
  if (list->kind == VALUE_LIST)
    return absent_element(e, list);
  trace_step s = {.op = TRACE_RESHAPE, .batch = e->batch, .number = 1};
  return move_element(e, list, s);
}

// Its body for elements such as those of its generators, whether or not there are any.
static value *eval_absent_body(elaborator *e, void *with) {
  const body_call *b = with;
  const expr *x = b->comprehension;
  activation *own = copy_activation(e, b->activation);
  for (uint32_t i = 0; i < x->u.comprehension.count; i++) {
    const qualifier *q = &x->u.comprehension.qualifiers[i];
    if (!q->target)
      continue;
    value *v = eval_expr(e, own, q->source);
    if (!q->last)
      v = any_element(e, v);
    if (!v || !match_pattern(e, own, q->target, v))
      fail(e, "an empty array has no element to copy");
  }
  return eval_expr(e, own, x->u.comprehension.body);
}

static value *make_no_elements(elaborator *e, activation *act, const expr *x) {
  type *element = close_type(e, x->type, act->types)->parts[0];
  return make_empty_like(e, element, x, eval_absent_body, &(body_call){act, x, 0});
}

// ---- all elements at once --------------------------------------------------------------------

static uint32_t next_generator(const expr *x, uint32_t i) {
  while (++i < x->u.comprehension.count && !x->u.comprehension.qualifiers[i].target)
    ;
  return i;
}

// What the qualifiers after this generator list for its element: an array, or the body after the
// last generator.
static value *eval_mapped_body(elaborator *e, value *element, void *with) {
  const body_call *b = with;
  const expr *x = b->comprehension;
  const qualifier *q = &x->u.comprehension.qualifiers[b->qualifier];
  activation *own = copy_activation(e, b->activation);
  uint32_t next = next_generator(x, b->qualifier);
  if (!match_pattern(e, own, q->target, element)) {
    e->where = q->target->where;
    fail(e, "this pattern does not match the elements");
  }
  for (uint32_t i = b->qualifier + 1; i < next; i++)
    if (!holds(e, own, &x->u.comprehension.qualifiers[i]))
      fail(e, "this condition is false");
  if (next == x->u.comprehension.count)
    return eval_expr(e, own, x->u.comprehension.body);
  generator g = eval_generator(e, own, &x->u.comprehension.qualifiers[next]);
  value *inner = map_generator(e, &g, eval_mapped_body, &(body_call){own, x, next});
  return next_generator(x, next) < x->u.comprehension.count ? join_rows(e, inner) : inner;
}

// [body | x <- xs] over an array of data is map (\x -> body) xs. NULL: it is written out.
static value *map_comprehension(elaborator *e, activation *act, const expr *x, const generator *g) {
  const elaborator before = *e;
  bool one = x->u.comprehension.count == 1;
  body_call body = {act, x, 0};
  e->batch = batch_of_comprehension(e, act, x, g->list);
  e->guards = guards_at(e, e->guards, e->batch);
  value *mapped = one && g->list && g->list->kind == VALUE_ARRAY && !g->list->u.array.listed
                      ? map_generator(e, g, eval_mapped_body, &body)
                      : map_counted(e, g, eval_mapped_body, &body);
  if (mapped && next_generator(x, 0) < x->u.comprehension.count)
    mapped = as_listed(e, join_rows(e, mapped));
  *e = before;
  return mapped;
}

value *eval_comprehension(elaborator *e, activation *act, const expr *x) {
  const qualifier *q = x->u.comprehension.qualifiers;
  value_list out = {0};
  if (q->target) {
    generator g = eval_generator(e, act, q);
    value *mapped = map_comprehension(e, act, x, &g);
    if (mapped)
      return mapped;
    run_generator(e, act, x, 0, &g, &out);
  } else {
    run_qualifiers(e, act, x, 0, &out);
  }
  e->where = x->where;
  return out.count ? make_list(e, act, x, out.items, out.count) : make_no_elements(e, act, x);
}
