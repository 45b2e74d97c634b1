// Expressions of functions that call something twice: calls that stand beside each other and are
// equal but for their elements are elaborated as one (groups.c).
//
// To find such calls, an expression is not evaluated at once. Its applications become TASKS,
// arguments first; what is no call of a function of the program or the library is done as soon as
// its arguments are there. Then equal calls that wait are done together, and so on.
//
//   up xs = merge_up (concat (up (take h xs)) (down (drop h xs)))     down xs = ... the same
//
// Two calls that differ in more than their elements, but whose arrays are such parts, are OPENED:
// their bodies become tasks of the same graph, where the two calls of `up` and the two of `down`
// in them are beside each other. Each level has one call of both.
#include "lang/elaborate/groups.h"

typedef struct task task;

// What is the same for the tasks of one body.
typedef struct frame {
  activation *act;
  elaborator state;  // in which they are evaluated
} frame;

struct task {
  const frame *in;
  expr *x;
  const expr *name;  // of a builtin; NULL: the function below, or x is a tuple or list
  value *function;   // to be called
  value *thunk;      // a binding whose value this is
  task **arguments;  // or items
  uint32_t count;
  value *result;  // NULL: it waits
  bool made;      // with its arguments
  bool opened;
};

typedef struct open_group open_group;

typedef struct graph {
  elaborator *e;
  const frame *in;       // of the tasks that are made
  VEC(task *) tasks;     // that have no result; arguments before their calls
  VEC(task *) bindings;  // those of bindings
  VEC(open_group *) open;
} graph;

// ---- tasks -----------------------------------------------------------------------------------

static task *add_task(graph *g, expr *x);

static task *new_task(graph *g, expr *x) {
  task *t = NEW(g->e->memory, task);
  t->in = g->in;
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
    value *f = head->kind == EXPR_NAME ? eval_expr(e, g->in->act, head) : NULL;
    const closure *c = f ? &f->u.function : NULL;
    if (!c || !c->code || c->given + count != c->arity) {
      e->where = x->where;
      t->result = eval_apply(e, g->in->act, x);
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
  value *v = g->in->act->slots[x->u.name.index];
  if (!v || v->kind != VALUE_THUNK)
    return NULL;
  const thunk *t = &v->u.thunk;
  const binding *b = t->definition;
  const equation *q = &b->code->equations.items[0];
  return !t->result && !t->running && !t->part && t->activation == g->in->act &&
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
    t->result = eval_expr(g->e, g->in->act, x);
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
  return !t->result && !t->opened;
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
  *e = t->in->state;
  value **values = argument_values(g, t);
  e->where = t->x->where;
  if (t->name)
    return call_builtin(e, t->in->act, t->x, t->name, values);
  value *v = make_parts(e, VALUE_TUPLE, t->count);
  v->u.parts.items = values;
  return t->x->kind == EXPR_TUPLE ? v : make_list(e, t->in->act, t->x, values, t->count);
}

static void run_simple_tasks(graph *g) {
  size_t left = 0;
  for (size_t i = 0; i < g->tasks.count; i++) {
    task *t = g->tasks.items[i];
    if (t->result)
      finish_task(t, t->result);
    else if (!t->function && is_ready(t))
      finish_task(t, run_simple_task(g, t));
    else
      g->tasks.items[left++] = t;
  }
  g->tasks.count = left;
}

static const closure *complete_call(graph *g, const task *t) {
  closure *c = NEW(g->e->memory, closure);
  *c = t->function->u.function;
  value **values = argument_values(g, t), **all = NEW_ARRAY(g->e->memory, value *, c->arity);
  if (c->given)
    memcpy(all, c->arguments, c->given * sizeof *all);
  memcpy(all + c->given, values, t->count * sizeof *all);
  c->arguments = all;
  c->given = c->arity;
  c->places = NULL;
  return c;
}

// Whether a call of the same function waits for its arguments.
static bool may_find_more(const graph *g, const task *call) {
  for (size_t i = 0; i < g->tasks.count; i++) {
    const task *t = g->tasks.items[i];
    if (t->function && !t->opened && !is_ready(t) &&
        t->function->u.function.code == call->function->u.function.code)
      return true;
  }
  return false;
}

// The call that is made next: of a function for which no other call waits, if there is one.
static const task *next_call(const graph *g) {
  const task *first = NULL;
  for (size_t i = 0; i < g->tasks.count; i++) {
    const task *t = g->tasks.items[i];
    if (!t->function || !is_ready(t))
      continue;
    if (g->tasks.count > MOST_TOGETHER || !may_find_more(g, t))
      return t;
    if (!first)
      first = t;
  }
  return first;
}

// Calls that have their arguments.
typedef struct ready_calls {
  task **tasks;
  const closure **calls;
  uint32_t count;
} ready_calls;

// Those in the state of the first, which becomes that of e, of any function or of the same one.
static ready_calls find_ready(graph *g, const task *first, bool any) {
  ready_calls r = {.tasks = NEW_ARRAY(g->e->memory, task *, g->tasks.count),
                   .calls = NEW_ARRAY(g->e->memory, const closure *, g->tasks.count)};
  const elaborator *state = &first->in->state;
  *g->e = *state;
  g->e->where = first->x->where;
  for (size_t i = 0; i < g->tasks.count; i++) {
    task *t = g->tasks.items[i];
    if (t->function && is_ready(t) && t->in->state.batch == state->batch &&
        t->in->state.guards == state->guards &&
        (any || t->function->u.function.code == first->function->u.function.code)) {
      r.tasks[r.count] = t;
      r.calls[r.count++] = complete_call(g, t);
    }
  }
  return r;
}

static void run_calls(graph *g, const task *first) {
  ready_calls r = find_ready(g, first, false);
  value **results = NEW_ARRAY(g->e->memory, value *, r.count);
  call_each(g->e, r.count, r.calls, results);
  for (uint32_t i = 0; i < r.count; i++)
    finish_task(r.tasks[i], results[i]);
}

// ---- calls whose bodies are in the graph -----------------------------------------------------

struct open_group {
  call_group group;
  task **members;
  const closure **calls;
  opened_call call;
  frame frame;
  task *body;
};

static bool open_group_of(graph *g, const ready_calls *r, uint32_t first, bool *taken) {
  elaborator *e = g->e;
  const elaborator before = *e;
  open_group *o = NEW(e->memory, open_group);
  uint32_t *members = NEW_ARRAY(e->memory, uint32_t, r->count);
  o->group = find_group(e, r->count, r->calls, first, taken, members);
  bool opened = o->group.count && open_call(e, stack_calls(&o->group, r->calls[first]), &o->call);
  *e = before;
  if (!opened)
    return false;
  o->members = NEW_ARRAY(e->memory, task *, o->group.count);
  o->calls = NEW_ARRAY(e->memory, const closure *, o->group.count);
  for (uint32_t i = 0; i < o->group.count; i++) {
    taken[members[i]] = true;
    o->calls[i] = r->calls[members[i]];
    o->members[i] = r->tasks[members[i]];
    o->members[i]->opened = true;
  }
  o->frame = (frame){o->call.act, o->call.inside};
  g->in = &o->frame;
  *e = o->frame.state;
  o->body = add_task(g, o->call.body);
  *e = before;
  vec_push(e->memory, &g->open, o);
  return true;
}

// Opens the calls that differ in more than their elements. false: there are none.
static bool open_alike(graph *g, const task *first) {
  if (g->tasks.count > MOST_TOGETHER)
    return false;
  ready_calls r = find_ready(g, first, true);
  bool *alike = NEW_ARRAY(g->e->memory, bool, r.count), opened = false;
  bool *taken = NEW_ARRAY(g->e->memory, bool, r.count);
  for (uint32_t i = 0; i < r.count; i++)
    for (uint32_t k = 0; k < i; k++)
      if (are_alike(g->e, r.calls[i], r.calls[k]))
        alike[i] = alike[k] = true;
  for (uint32_t i = 0; i < r.count; i++)
    if (alike[i] && !taken[i])
      opened |= open_group_of(g, &r, i, taken);
  return opened;
}

static void close_group(graph *g, open_group *o) {
  elaborator *e = g->e;
  value **results = NEW_ARRAY(e->memory, value *, o->group.count);
  value *result = close_call(e, &o->call, o->body->result);
  *e = o->members[0]->in->state;
  bool shared = share_result(&o->group, result, results);
  for (uint32_t i = 0; i < o->group.count; i++)
    finish_task(o->members[i], shared ? results[i] : call_function(e, o->calls[i]));
}

static bool close_groups(graph *g) {
  size_t left = 0, count = g->open.count;
  for (size_t i = 0; i < count; i++)
    if (g->open.items[i]->body->result)
      close_group(g, g->open.items[i]);
    else
      g->open.items[left++] = g->open.items[i];
  g->open.count = left;
  return left < count;
}

// Each round looks at all tasks, which takes steps where they are many.
value *eval_together(elaborator *e, activation *act, expr *x) {
  enum { TASKS_OF_STEP = 16 };
  const frame outer = {act, *e};
  graph g = {.e = e, .in = &outer};
  task *root = add_task(&g, x);
  run_simple_tasks(&g);
  while (!root->result) {
    e->ledger->steps += g.tasks.count / TASKS_OF_STEP;
    count_step(e);
    const task *next = next_call(&g);
    if (!open_alike(&g, next))
      run_calls(&g, next);
    do
      run_simple_tasks(&g);
    while (close_groups(&g));
  }
  *e = outer.state;
  return root->result;
}
