// Equal calls that stand beside each other, elaborated together.
//
//   f xs = concat (f (take h xs)) (f (drop h xs))
//
// Each call of f makes two, so a literal evaluation writes 2^n of them. But they differ only in the
// elements of their arguments. So the arguments are put into one array, as the rows of a batch
// twice as large, and f is called once:
//
//   %1    slice %0 [0, h)         batch 1   [h]     the first argument
//   %2    slice %0 [h, 2h)        batch 1   [h]     the second
//   %3    reshape %0              batch 2   [h]     both; of %1 and %2 that do not make an array: pack
//   ...   f, once                 batch 2
//   %8    reshape %7              batch 1   [2][h]
//   %9    element %8 [0]          batch 1   [h]     the result for the first
//   %10   element %8 [1]          batch 1   [h]     for the second
//
// (Neubig, Goldberg and Dyer 2017, "On-the-fly operation batching in dynamic computation graphs",
// do it for neural networks.) It is done where nothing has to move for it: where the arguments are
// computed, element by element, of parts of one array that is as large as they together. In a
// recursion they may have moved, each in its own way: one pass on each level puts them side by side,
// and each call would make several more on the next.
#include "lang/elaborate/groups.h"

static const uint64_t MOST_INSTANCES = UINT64_C(1) << 40;

// ---- equal calls -----------------------------------------------------------------------------

// The steps of a dynamic argument in two calls.
typedef struct step_pair {
  value_id first, second;
} step_pair;
typedef VEC(step_pair) step_pairs;

static bool same_values(elaborator *e, const value *a, const value *b, step_pairs *pairs);

static bool same_items(elaborator *e, value *const *a, value *const *b, size_t count,
                       step_pairs *pairs) {
  for (size_t i = 0; i < count; i++)
    if (!same_values(e, a[i], b[i], pairs))
      return false;
  return true;
}

static bool same_types(const closure *a, const closure *b) {
  const type_env *s = a->types, *t = b->types;
  for (; s && t && s != t; s = s->outer, t = t->outer)
    for (size_t i = 0; i < s->of->variables.count; i++)
      if (s->of != t->of || s->instance[i] != t->instance[i])
        return false;
  return !s == !t;
}

// Functions of the program or the library, with the same variables.
static bool same_functions(const closure *a, const closure *b) {
  bool same = a->code && a->code == b->code && a->given == b->given && a->guards == b->guards &&
              same_types(a, b);
  for (size_t i = 0; same && i < a->code->captures.count; i++)
    same = a->captures[i] == b->captures[i];
  return same;
}

static bool same_shapes(const trace_step *a, const trace_step *b) {
  return a->type == b->type && a->rank == b->rank &&
         (!a->rank || !memcmp(a->dims, b->dims, a->rank * sizeof *a->dims));
}

// Whether they differ in nothing but dynamic elements, which are appended to the pairs.
static bool same_values(elaborator *e, const value *a, const value *b, step_pairs *pairs) {
  size_t count, other;
  value *const *x = value_parts(a, &count), *const *y = value_parts(b, &other);
  if (a->kind != b->kind)
    return false;
  switch (a->kind) {
  case VALUE_SCALAR:
    return a->u.scalar.type == b->u.scalar.type &&
           !memcmp(&a->u.scalar.bits, &b->u.scalar.bits, scalar_types[a->u.scalar.type].size);
  case VALUE_DYNAMIC:
    vec_push(e->memory, pairs, ((step_pair){a->u.step, b->u.step}));
    return same_shapes(step_at(e, a->u.step), step_at(e, b->u.step));
  case VALUE_ARRAY:
  case VALUE_TUPLE:
  case VALUE_LIST:
    return (a->kind != VALUE_ARRAY || a->u.array.length == b->u.array.length) && count &&
           count == other && same_items(e, x, y, count, pairs);
  case VALUE_FUNCTION: {
    size_t before = pairs->count;
    bool same = a == b || (same_functions(&a->u.function, &b->u.function) &&
                           same_items(e, a->u.function.arguments, b->u.function.arguments,
                                      a->u.function.given, pairs));
    for (size_t i = before; same && i < pairs->count; i++)
      same = pairs->items[i].first == pairs->items[i].second;
    pairs->count = before;
    return same;
  }
  case VALUE_THUNK:
    return a == b;
  }
  return false;
}

// ---- elements of one array -------------------------------------------------------------------

enum { MOST_SOURCES = 64 };

// The steps of which one is computed, element by element, of parts of them: itself first.
typedef struct source_list {
  value_id steps[MOST_SOURCES];
  uint32_t count;
} source_list;

static bool keeps_elements_apart(trace_op op, bool moved) {
  switch (op) {
  case TRACE_BMMC:
  case TRACE_TRANSPOSE:
  case TRACE_STITCH:
  case TRACE_UNPAIR:
  case TRACE_PACK:
  case TRACE_CONCAT:
    return moved;
  case TRACE_SCALAR:
  case TRACE_SELECT:
  case TRACE_CONVERT:
  case TRACE_RESHAPE:
  case TRACE_BROADCAST:
  case TRACE_SLICE:
  case TRACE_ELEMENT:
  case TRACE_SPLIT:
  case TRACE_PAIR:
    return true;
  default:
    return false;
  }
}

static bool has_source(const source_list *l, value_id id) {
  uint32_t i = 0;
  while (i < l->count && l->steps[i] != id)
    i++;
  return i < l->count;
}

// moved: they may have moved.
static source_list find_sources(const elaborator *e, value_id id, bool moved) {
  source_list l = {{id}, 1};
  for (uint32_t i = 0; i < l.count; i++) {
    const trace_step *s = step_at(e, l.steps[i]);
    uint32_t operands = keeps_elements_apart(s->op, moved) ? s->operand_count : 0;
    for (uint32_t k = 0; k < operands && l.count < MOST_SOURCES; k++)
      if (!has_source(&l, s->operands[k]))
        l.steps[l.count++] = s->operands[k];
  }
  return l;
}

// Whether they are computed of one array that has as many elements as both: not of it all twice.
static bool have_common_source(const elaborator *e, step_pair p, bool moved) {
  uint64_t both = 2 * trace_step_count(step_at(e, p.first));
  source_list a = find_sources(e, p.first, moved), b = find_sources(e, p.second, moved);
  for (uint32_t i = 0; i < a.count; i++)
    if (trace_step_count(step_at(e, a.steps[i])) >= both && has_source(&b, a.steps[i]))
      return true;
  return p.first == p.second;
}

// Whether the function, or one that it is recursive with, is being called.
static bool is_running(const elaborator *e, const function *code) {
  for (const active_call *c = e->calls; c; c = c->outer) {
    const function *f = c->closure->code;
    if (f == code || (f && f->binding && code->binding && f->binding->low == code->binding->low))
      return true;
  }
  return false;
}

// Whether the first steps of the pairs, of a call of that function, and the second ones are parts
// of one array.
static bool are_parts(elaborator *e, const function *code, const step_pairs *pairs) {
  bool parts = pairs->count > 0, moved = parts && is_running(e, code);
  for (size_t i = 0; i < pairs->count && parts; i++)
    parts = step_at(e, pairs->items[i].first)->rank > 0 &&
            (have_common_source(e, pairs->items[i], false) ||
             (moved && have_common_source(e, pairs->items[i], true)));
  return parts;
}

// Whether the calls can be one. pairs: their dynamic values, in the order of the arguments.
static bool fits(elaborator *e, const closure *first, const closure *other, step_pairs *pairs) {
  pairs->count = 0;
  return same_functions(first, other) &&
         same_items(e, first->arguments, other->arguments, first->given, pairs) &&
         are_parts(e, first->code, pairs);
}

typedef VEC(value_id) step_list;

static void find_dynamic(elaborator *e, value *const *items, size_t count, step_list *to) {
  for (size_t i = 0; i < count; i++) {
    size_t inside;
    value *const *parts = value_parts(items[i], &inside);
    if (items[i]->kind == VALUE_DYNAMIC)
      vec_push(e->memory, to, items[i]->u.step);
    find_dynamic(e, parts, inside, to);
  }
}

bool are_alike(elaborator *e, const closure *a, const closure *b) {
  step_list x = {0}, y = {0};
  step_pairs pairs = {0};
  find_dynamic(e, a->arguments, a->given, &x);
  find_dynamic(e, b->arguments, b->given, &y);
  bool alike = a->code->repeats && b->code->repeats && x.count == y.count &&
               is_running(e, a->code) && is_running(e, b->code);
  for (size_t i = 0; alike && i < x.count; i++) {
    vec_push(e->memory, &pairs, ((step_pair){x.items[i], y.items[i]}));
    alike = same_shapes(step_at(e, x.items[i]), step_at(e, y.items[i]));
  }
  return alike && are_parts(e, a->code, &pairs) && !fits(e, a, b, &pairs);
}

// ---- one call for several --------------------------------------------------------------------

static value_id lifted(elaborator *e, value_id id) { return lift(e, make_dynamic(e, id))->u.step; }

// The k-th dynamic value of all calls, in a batch for all of them.
static value_id stack_steps(call_group *g, uint32_t k) {
  elaborator *e = g->e;
  value_id *ids = NEW_ARRAY(e->memory, value_id, g->count), first = g->steps[k];
  bool same = true;
  for (uint32_t i = 0; i < g->count; i++) {
    ids[i] = lifted(e, g->steps[i * g->leaves + k]);
    same = same && g->steps[i * g->leaves + k] == first;
  }
  return same ? first : batch_of_rows(e, ids, g->count);
}

// A copy of the value with the step of every DYNAMIC replaced; what is static stays as it is.
static value *map_dynamic(elaborator *e, value *v, step_map *f, void *with) {
  size_t count;
  value **mapped, *const *parts = value_parts(v, &count);
  if (v->kind == VALUE_DYNAMIC)
    return make_dynamic(e, f(e, v->u.step, with));
  if (v->kind == VALUE_SCALAR || v->kind == VALUE_FUNCTION || v->kind == VALUE_THUNK)
    return v;
  value *n = copy_with_parts(e, v, &mapped);
  for (size_t i = 0; i < count; i++)
    mapped[i] = map_dynamic(e, parts[i], f, with);
  return n;
}

static value_id next_stacked(elaborator *e, value_id id, void *with) {
  (void)e, (void)id;
  call_group *g = with;
  return g->steps[g->next++];
}

// A step of the result, for call number `next`.
static value_id step_of_call(elaborator *e, value_id id, void *with) {
  const call_group *g = with;
  if (e->out->steps.items[id].batch < g->outer * g->count)
    return id;  // the same for all
  uint64_t count = g->count;
  trace_step out = {.op = TRACE_RESHAPE, .batch = g->outer, .rank = 1, .dims = &count};
  id = emit(e, out, 1, &id);
  return emit(e, (trace_step){.op = TRACE_ELEMENT, .number = g->next}, 1, &id);
}

const closure *stack_calls(call_group *g, const closure *first) {
  elaborator *e = g->e;
  for (uint32_t k = 0; k < g->leaves && g->count > 1; k++)
    g->steps[k] = stack_steps(g, k);
  g->outer = e->batch;
  closure *all = NEW(e->memory, closure);
  *all = *first;
  all->arguments = NEW_ARRAY(e->memory, value *, first->given);
  for (uint32_t i = 0; i < first->given; i++)
    all->arguments[i] = map_dynamic(e, first->arguments[i], next_stacked, g);
  e->batch = times_batch(e, g->count);
  return all;
}

bool share_result(call_group *g, value *result, value **results) {
  for (g->next = 0; g->next < g->count && is_data(result, true); g->next++)
    results[g->next] = g->count > 1 ? map_dynamic(g->e, result, step_of_call, g) : result;
  return g->next > 0;
}

call_group find_group(elaborator *e, uint32_t count, const closure *const *calls, uint32_t first,
                      const bool *taken, uint32_t *members) {
  const closure *c = calls[first];
  step_pairs pairs = {0};
  call_group g = {.e = e};
  step_list steps = {0};
  bool possible =
      e->batch && e->batch <= MOST_INSTANCES && !e->out->wants_laws && fits(e, c, c, &pairs);
  for (uint32_t i = first; possible && i < count; i++)
    if (!taken[i] && fits(e, c, calls[i], &pairs)) {
      members[g.count++] = i;
      for (size_t k = 0; k < pairs.count; k++)
        vec_push(e->memory, &steps, pairs.items[k].second);
      g.leaves = (uint32_t)pairs.count;
    }
  g.steps = steps.items;
  return g;
}

// Calls the first of the closures, with those that fit it.
static void call_group_of(elaborator *e, uint32_t count, const closure *const *calls,
                          uint32_t first, bool *taken, value **results) {
  uint32_t *members = NEW_ARRAY(e->memory, uint32_t, count);
  value **made = NEW_ARRAY(e->memory, value *, count);
  call_group g = find_group(e, count, calls, first, taken, members);
  bool shared = false;
  if (g.count > 1) {
    value *result = call_function(e, stack_calls(&g, calls[first]));
    e->batch = g.outer;
    shared = share_result(&g, result, made);
  }
  if (!shared)
    results[first] = call_function(e, calls[first]);
  for (uint32_t i = 0; shared && i < g.count; i++) {
    results[members[i]] = made[i];
    taken[members[i]] = true;
  }
}

void call_each(elaborator *e, uint32_t count, const closure *const *calls, value **results) {
  bool *taken = NEW_ARRAY(e->memory, bool, count);
  for (uint32_t i = 0; i < count; i++)
    if (!taken[i] && count <= MOST_TOGETHER)
      call_group_of(e, count, calls, i, taken, results);
    else if (!taken[i])
      results[i] = call_function(e, calls[i]);
}
