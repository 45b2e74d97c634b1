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
//
// To find such calls, an expression is not evaluated at once. Its applications become TASKS,
// arguments first; what is no call of a function of the program or the library is done as soon as
// its arguments are there. Then equal calls that wait are done together, and so on.
#include "lang/elaborate/elaborator.h"

typedef struct task {
  expr *x;
  const expr *name;         // of a builtin; NULL: the function below, or x is a tuple or list
  value *function;          // to be called
  value *thunk;             // a binding whose value this is
  struct task **arguments;  // or items
  uint32_t count;
  value *result;  // NULL: it waits
  bool made;      // with its arguments
} task;

typedef struct graph {
  elaborator *e;
  activation *act;
  VEC(task *) tasks;     // arguments before their calls
  VEC(task *) bindings;  // those of bindings
} graph;

// More are evaluated one after the other: looking for equal ones among them would take longer.
enum { MOST_TASKS = 256 };

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

enum { MOST_SOURCES = 8, MOST_LOOKS = 100 };

// The values of which a step is computed, element by element, of parts of them.
typedef struct source_list {
  value_id steps[MOST_SOURCES];
  uint32_t count, looks;
  bool moved;  // they may have moved
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

static void find_sources(const elaborator *e, value_id id, source_list *to) {
  const trace_step *s = &e->out->steps.items[id];
  if (++to->looks > MOST_LOOKS || s->op == TRACE_CONSTANT)
    return;
  if (keeps_elements_apart(s->op, to->moved)) {
    for (uint32_t i = 0; i < s->operand_count; i++)
      find_sources(e, s->operands[i], to);
    return;
  }
  for (uint32_t i = 0; i < to->count; i++)
    if (to->steps[i] == id)
      return;
  if (to->count < MOST_SOURCES)
    to->steps[to->count++] = id;
}

// Whether they are computed of one array that has as many elements as both: not of it all twice.
static bool have_common_source(const elaborator *e, step_pair p, bool moved) {
  const trace_step *steps = e->out->steps.items;
  uint64_t both = 2 * trace_step_count(&steps[p.first]);
  source_list a = {.moved = moved}, b = a;
  find_sources(e, p.first, &a);
  find_sources(e, p.second, &b);
  for (uint32_t i = 0; i < a.count; i++)
    for (uint32_t k = 0; k < b.count; k++)
      if (a.steps[i] == b.steps[k] && trace_step_count(&steps[a.steps[i]]) >= both)
        return true;
  return p.first == p.second;
}

static bool is_running(const elaborator *e, const function *code) {
  const active_call *c = e->calls;
  while (c && c->closure->code != code)
    c = c->outer;
  return c;
}

// Whether the calls can be one. pairs: their dynamic values, in the order of the arguments.
static bool fits(elaborator *e, const closure *first, const closure *other, step_pairs *pairs) {
  pairs->count = 0;
  if (!same_functions(first, other) ||
      !same_items(e, first->arguments, other->arguments, first->given, pairs))
    return false;
  bool arrays = pairs->count > 0, moved = arrays && is_running(e, first->code);
  for (size_t i = 0; i < pairs->count; i++)
    arrays = arrays && e->out->steps.items[pairs->items[i].first].rank > 0 &&
             (have_common_source(e, pairs->items[i], false) ||
              (moved && have_common_source(e, pairs->items[i], true)));
  return arrays;
}

// ---- one call for several --------------------------------------------------------------------

// Calls of one function. steps[i * leaves + k] is the k-th dynamic value in the arguments of call
// i.
typedef struct call_group {
  elaborator *e;
  uint32_t count, leaves, next;
  value_id *steps;
  uint64_t outer;  // batch
} call_group;

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

// Calls the function of the first once, with the arguments of all. false: its result is no data.
static bool call_once(call_group *g, const closure *first, value **results) {
  elaborator *e = g->e;
  for (uint32_t k = 0; k < g->leaves; k++)
    g->steps[k] = stack_steps(g, k);
  g->outer = e->batch;
  closure all = *first;
  all.arguments = NEW_ARRAY(e->memory, value *, first->given);
  for (uint32_t i = 0; i < first->given; i++)
    all.arguments[i] = map_dynamic(e, first->arguments[i], next_stacked, g);
  e->batch = times_batch(e, g->count);
  value *result = call_function(e, &all);
  e->batch = g->outer;
  if (!is_data(result, true))
    return false;
  for (g->next = 0; g->next < g->count; g->next++)
    results[g->next] = map_dynamic(e, result, step_of_call, g);
  return true;
}

// Calls the first of the closures that have no result yet, with those that fit it.
static void call_group_of(elaborator *e, uint32_t count, const closure *const *calls,
                          uint32_t first, value **results) {
  const closure *c = calls[first];
  uint32_t *members = NEW_ARRAY(e->memory, uint32_t, count);
  step_pairs pairs = {0};
  call_group g = {.e = e};
  VEC(value_id) steps = {0};
  bool possible =
      e->batch && e->batch <= MOST_INSTANCES && !e->out->wants_laws && fits(e, c, c, &pairs);
  for (uint32_t i = first; possible && i < count; i++)
    if (!results[i] && fits(e, c, calls[i], &pairs)) {
      members[g.count++] = i;
      for (size_t k = 0; k < pairs.count; k++)
        vec_push(e->memory, &steps, pairs.items[k].second);
      g.leaves = (uint32_t)pairs.count;
    }
  value **made = NEW_ARRAY(e->memory, value *, count);
  g.steps = steps.items;
  if (g.count < 2 || !call_once(&g, c, made)) {
    results[first] = call_function(e, c);
    return;
  }
  for (uint32_t i = 0; i < g.count; i++)
    results[members[i]] = made[i];
}

void call_each(elaborator *e, uint32_t count, const closure *const *calls, value **results) {
  memset(results, 0, count * sizeof *results);
  for (uint32_t i = 0; i < count; i++)
    if (!results[i] && count <= MOST_TASKS)
      call_group_of(e, count, calls, i, results);
    else if (!results[i])
      results[i] = call_function(e, calls[i]);
}

// ---- tasks -----------------------------------------------------------------------------------

static task *add_task(graph *g, expr *x);

static task *new_task(graph *g, expr *x) {
  task *t = NEW(g->e->memory, task);
  t->x = x;
  return t;
}

static void add_arguments(graph *g, task *t, uint32_t count, expr **arguments) {
  t->count = count;
  t->arguments = NEW_ARRAY(g->e->memory, task *, count);
  for (uint32_t i = 0; i < count; i++)
    t->arguments[i] = add_task(g, arguments[i]);
}

static uint32_t argument_count(const expr *x) {
  uint32_t count = 0;
  for (; x->kind == EXPR_APPLY; x = x->u.apply.function)
    count++;
  return count;
}

static void add_application(graph *g, task *t, expr *x) {
  elaborator *e = g->e;
  uint32_t count = argument_count(x);
  expr **arguments = NEW_ARRAY(e->memory, expr *, count), *head = x;
  t->name = applied_builtin(x);
  find_arguments(x, count, arguments);
  for (uint32_t i = 0; i < count; i++)
    head = head->u.apply.function;
  if (!t->name) {
    value *f = head->kind == EXPR_NAME ? eval_expr(e, g->act, head) : NULL;
    const closure *c = f ? &f->u.function : NULL;
    if (!c || !c->code || c->given + count != c->arity) {
      e->where = x->where;
      t->result = eval_apply(e, g->act, x);
      return;
    }
    t->function = f;
  }
  add_arguments(g, t, count, arguments);
}

// The unevaluated binding that the name stands for, if it is a mere expression beside it.
static value *simple_binding(const graph *g, const expr *x) {
  if (x->kind != EXPR_NAME || x->u.name.kind != REF_SLOT)
    return NULL;
  value *v = g->act->slots[x->u.name.index];
  if (!v || v->kind != VALUE_THUNK)
    return NULL;
  const thunk *t = &v->u.thunk;
  const binding *b = t->definition;
  const equation *q = &b->code->equations.items[0];
  return !t->result && !t->running && !t->part && t->activation == g->act &&
                 t->batch == g->e->batch && t->guards == g->e->guards && !b->signature &&
                 b->kind == BINDING_VALUE && !q->local_count && q->alternative_count == 1 &&
                 !q->alternatives[0].guard
             ? v
             : NULL;
}

static task *task_of_binding(graph *g, value *v, expr *x) {
  for (size_t i = 0; i < g->bindings.count; i++)
    if (g->bindings.items[i]->thunk == v)  // being made: it depends on itself, which is an error
      return g->bindings.items[i]->made ? g->bindings.items[i] : NULL;
  task *t = new_task(g, x);
  t->thunk = v;
  vec_push(g->e->memory, &g->bindings, t);
  return t;
}

static task *add_task(graph *g, expr *x) {
  value *v = simple_binding(g, x);
  task *t = v ? task_of_binding(g, v, x) : new_task(g, x);
  if (t && t->made)
    return t;
  if (t && v)
    t->x = x = v->u.thunk.definition->code->equations.items[0].alternatives[0].body;
  if (!t)
    t = new_task(g, x);
  if (x->kind == EXPR_APPLY) {
    count_step(g->e);
    add_application(g, t, x);
  } else if (x->kind == EXPR_TUPLE || x->kind == EXPR_LIST) {
    count_step(g->e);
    add_arguments(g, t, x->u.list.count, x->u.list.items);
  } else {
    t->result = eval_expr(g->e, g->act, x);
  }
  t->made = true;
  vec_push(g->e->memory, &g->tasks, t);
  return t;
}

// ---- the order of work -----------------------------------------------------------------------

static void finish_task(task *t, value *result) {
  t->result = result;
  if (t->thunk && !t->thunk->u.thunk.result)
    t->thunk->u.thunk.result = result;
}

static bool is_ready(const task *t) {
  for (uint32_t i = 0; i < t->count; i++)
    if (!t->arguments[i]->result)
      return false;
  return !t->result;
}

static value **argument_values(graph *g, const task *t) {
  value **values = NEW_ARRAY(g->e->memory, value *, t->count);
  for (uint32_t i = 0; i < t->count; i++)
    values[i] = t->arguments[i]->result;
  return values;
}

// What is no call of a function of the program or the library.
static value *run_simple_task(graph *g, const task *t) {
  elaborator *e = g->e;
  value **values = argument_values(g, t);
  e->where = t->x->where;
  if (t->name)
    return call_builtin(e, g->act, t->x, t->name, values);
  value *v = make_parts(e, VALUE_TUPLE, t->count);
  v->u.parts.items = values;
  return t->x->kind == EXPR_TUPLE ? v : make_list(e, g->act, t->x, values, t->count);
}

static void run_simple_tasks(graph *g) {
  for (size_t i = 0; i < g->tasks.count; i++) {
    task *t = g->tasks.items[i];
    if (t->result)
      finish_task(t, t->result);
    else if (!t->function && is_ready(t))
      finish_task(t, run_simple_task(g, t));
  }
}

static closure complete_call(graph *g, const task *t) {
  closure c = t->function->u.function;
  value **values = argument_values(g, t), **all = NEW_ARRAY(g->e->memory, value *, c.arity);
  if (c.given)
    memcpy(all, c.arguments, c.given * sizeof *all);
  memcpy(all + c.given, values, t->count * sizeof *all);
  c.arguments = all;
  c.given = c.arity;
  c.places = NULL;
  return c;
}

// Whether a call of the same function waits for its arguments.
static bool may_find_more(const graph *g, const task *call) {
  for (size_t i = 0; i < g->tasks.count; i++) {
    const task *t = g->tasks.items[i];
    if (t->function && !t->result && !is_ready(t) &&
        t->function->u.function.code == call->function->u.function.code)
      return true;
  }
  return false;
}

// Of the function that is called next: one that no other call waits for, if there is one.
static const function *next_function(const graph *g) {
  const function *first = NULL;
  for (size_t i = 0; i < g->tasks.count; i++) {
    const task *t = g->tasks.items[i];
    if (!t->function || !is_ready(t))
      continue;
    if (g->tasks.count > MOST_TASKS || !may_find_more(g, t))
      return t->function->u.function.code;
    if (!first)
      first = t->function->u.function.code;
  }
  return first;
}

static void run_calls(graph *g, const function *code) {
  VEC(task *) ready = {0};
  for (size_t i = 0; i < g->tasks.count; i++) {
    task *t = g->tasks.items[i];
    if (t->function && t->function->u.function.code == code && is_ready(t))
      vec_push(g->e->memory, &ready, t);
  }
  closure *calls = NEW_ARRAY(g->e->memory, closure, ready.count);
  const closure **pointers = NEW_ARRAY(g->e->memory, const closure *, ready.count);
  value **results = NEW_ARRAY(g->e->memory, value *, ready.count);
  for (size_t i = 0; i < ready.count; i++) {
    calls[i] = complete_call(g, ready.items[i]);
    pointers[i] = &calls[i];
  }
  g->e->where = ready.items[0]->x->where;
  call_each(g->e, (uint32_t)ready.count, pointers, results);
  for (size_t i = 0; i < ready.count; i++)
    finish_task(ready.items[i], results[i]);
}

// Each round looks at all tasks, which takes steps where they are many.
value *eval_together(elaborator *e, activation *act, expr *x) {
  enum { TASKS_OF_STEP = 16 };
  graph g = {.e = e, .act = act};
  task *root = add_task(&g, x);
  run_simple_tasks(&g);
  while (!root->result) {
    e->ledger->steps += g.tasks.count / TASKS_OF_STEP;
    count_step(e);
    run_calls(&g, next_function(&g));
    run_simple_tasks(&g);
  }
  return root->result;
}
