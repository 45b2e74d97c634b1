// The evaluator of the static level: expressions, patterns, calls, sizes. Builtins are in
// builtins.c, the writing of steps in values.c and scalars.c, memoised calls in memo.c.
//
// Arguments are evaluated before a call; let and where bindings when first asked for, once, at the
// batch where they stand. The first error ends elaboration (fail).
#include "lang/elaborate/elaborator.h"
#include "lang/elaborate/memo.h"
#include <inttypes.h>

static value *force_thunk(elaborator *e, value *v);

static scalar_type literal_type(elaborator *e, type *t, type_env *env) {
  t = type_prune(t);
  if (t->kind == TYPE_SCALAR)
    return t->scalar;
  return closed_scalar(close_type(e, t, env));
}

// ---- names -----------------------------------------------------------------------------------

// Types of a use: what the variables of the group stand for. A use inside of its own group takes
// over what the group already stands for.
static type_env *instantiate_types(elaborator *e, const expr *x, const quantifier *of,
                                   type_env *env) {
  type_env *t = NEW(e->memory, type_env);
  t->of = of;
  t->outer = NULL;
  if (x->u.name.instance_count) {
    t->instance = NEW_ARRAY(e->memory, type *, x->u.name.instance_count);
    for (uint32_t i = 0; i < x->u.name.instance_count; i++)
      t->instance[i] = close_type(e, x->u.name.instance[i], env);
    return t;
  }
  for (const type_env *o = env; o; o = o->outer)
    if (o->of == of)
      t->instance = o->instance;
  return t;
}

static value *global_reference(elaborator *e, activation *act, const expr *x) {
  binding *b = x->u.name.target;
  if (b->kind == BINDING_EXTERN) {
    value *v = make_function(e, b->signature_arrows);
    v->u.function.foreign = b;
    return v;
  }
  value *v = make_function(e, b->code->call_arity);
  v->u.function.code = b->code;
  v->u.function.guards = b->code->indexes ? e->guards : NULL;
  if (b->scheme->all->variables.count)
    v->u.function.types = instantiate_types(e, x, b->scheme->all, act->types);
  return v->u.function.arity ? v : call_function(e, &v->u.function);
}

static value *builtin_reference(elaborator *e, activation *act, const expr *x) {
  const builtin *row = x->u.name.row;
  value *v = make_function(e, row->arity);
  v->u.function.row = row;
  v->u.function.instance = NEW_ARRAY(e->memory, type *, x->u.name.instance_count);
  for (uint32_t i = 0; i < x->u.name.instance_count; i++)
    v->u.function.instance[i] = close_type(e, x->u.name.instance[i], act->types);
  return row->arity ? v : row->run(e, row, NULL, v->u.function.instance);
}

// A local function that is generalised gets its types at each use.
static value *local_reference(elaborator *e, activation *act, const expr *x, value *v) {
  v = force_thunk(e, v);
  const binding *b = x->u.name.target;
  if (v->kind != VALUE_FUNCTION || b->kind != BINDING_FUNCTION || !b->scheme->all->variables.count)
    return v;
  value *typed = copy_of_value(e, v);
  type_env *t = instantiate_types(e, x, b->scheme->all, act->types);
  t->outer = v->u.function.types;
  typed->u.function.types = t;
  return typed;
}

static value *eval_name(elaborator *e, activation *act, const expr *x) {
  switch (x->u.name.kind) {
  case REF_GLOBAL:
    return global_reference(e, act, x);
  case REF_BUILTIN:
    return builtin_reference(e, act, x);
  case REF_SLOT:
    return local_reference(e, act, x, act->slots[x->u.name.index]);
  case REF_CAPTURE:
    return local_reference(e, act, x, act->captures[x->u.name.index]);
  }
  return NULL;
}

// ---- patterns --------------------------------------------------------------------------------

static bool match_integer(elaborator *e, activation *act, const pattern *p, value *v) {
  v = static_scalar(e, v);
  if (v->kind != VALUE_SCALAR) {
    e->where = p->where;
    fail_dynamic(e, v, "a pattern that is a number");
  }
  const value *wanted =
      integer_literal(e, literal_type(e, p->type, act->types), p->negative, p->magnitude);
  bool equal = false;
  scalar_apply(OP_EQ, v->u.scalar.type, 1, v->u.scalar.bits.bytes, wanted->u.scalar.bits.bytes,
               &equal);
  return equal;
}

static bool match_list(elaborator *e, activation *act, const pattern *p, value *v) {
  if (length_of(v) != p->count)
    return false;
  span where = e->where;
  bool matches = true;
  for (uint32_t i = 0; matches && i < p->count; i++) {
    e->where = p->items[i]->where;  // of the element's step, for messages about dynamic values
    if (p->items[i]->kind != PATTERN_WILD)
      matches = match_pattern(e, act, p->items[i], element_at(e, v, i));
  }
  e->where = where;
  return matches;
}

bool match_pattern(elaborator *e, activation *act, const pattern *p, value *v) {
  switch (p->kind) {
  case PATTERN_WILD:
    return true;
  case PATTERN_NAME:
    act->slots[p->slot] = v;
    return true;
  case PATTERN_INT:
    return match_integer(e, act, p, v);
  case PATTERN_BOOL:
    v = static_scalar(e, v);
    if (v->kind != VALUE_SCALAR) {
      e->where = p->where;
      fail_dynamic(e, v, "a pattern that is true or false");
    }
    return v->u.scalar.bits.b == p->boolean;
  case PATTERN_LIST:
    return match_list(e, act, p, v);
  case PATTERN_TUPLE:
    for (uint32_t i = 0; i < p->count; i++)
      if (!match_pattern(e, act, p->items[i], v->u.parts.items[i]))
        return false;
    return true;
  }
  return false;
}

// ---- bindings --------------------------------------------------------------------------------

static value *new_closure(elaborator *e, activation *act, function *code) {
  value *v = make_function(e, code->call_arity);
  v->u.function.code = code;
  v->u.function.types = act->types;
  v->u.function.captures = NEW_ARRAY(e->memory, value *, code->captures.count);
  v->u.function.guards = code->indexes ? e->guards : NULL;
  return v;
}

static void capture_variables(activation *act, value *v) {
  const function *code = v->u.function.code;
  for (size_t i = 0; i < code->captures.count; i++) {
    capture c = code->captures.items[i];
    v->u.function.captures[i] = c.from_capture ? act->captures[c.index] : act->slots[c.index];
  }
}

static value *new_thunk(elaborator *e, activation *act, binding *b) {
  value *v = make_value(e, VALUE_THUNK);
  v->u.thunk.activation = act;
  v->u.thunk.definition = b;
  v->u.thunk.batch = e->batch;
  v->u.thunk.guards = e->guards;
  return v;
}

static void delay_pattern_variables(elaborator *e, activation *act, binding *b, const pattern *p) {
  if (p->kind == PATTERN_NAME) {
    act->slots[p->slot] = new_thunk(e, act, b);
    act->slots[p->slot]->u.thunk.part = p;
  }
  for (uint32_t i = 0; i < p->count; i++)
    delay_pattern_variables(e, act, b, p->items[i]);
}

static void bind_locals(elaborator *e, activation *act, binding **bindings, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    binding *b = bindings[i];
    if (b->kind == BINDING_FUNCTION)
      act->slots[b->slot] = new_closure(e, act, b->code);
    else
      act->slots[b->slot] = new_thunk(e, act, b);
    if (b->kind == BINDING_PATTERN)
      delay_pattern_variables(e, act, b, b->target);
  }
  for (uint32_t i = 0; i < count; i++)
    if (bindings[i]->kind == BINDING_FUNCTION)
      capture_variables(act, act->slots[bindings[i]->slot]);
}

// ---- sizes -----------------------------------------------------------------------------------

// The noted lengths from number `first` on must be what the signature of b says; forgets them.
static void check_lengths(elaborator *e, activation *act, const binding *b, size_t first,
                          bool result) {
  span where = e->where;
  for (size_t i = first, end = e->ledger->lengths.count; i < end; i++) {
    written_length l = e->ledger->lengths.items[i];
    value *v = eval_expr(e, act, l.size);
    e->where = where;
    int64_t wanted = static_integer(e, v, "a size");
    if (wanted < 0 || (uint64_t)wanted != l.length)
      fail_size(e, b, l, wanted, result);
  }
  e->ledger->lengths.count = first;
}

static void check_argument_sizes(elaborator *e, activation *act, const binding *b,
                                 value **arguments) {
  size_t first = argument_lengths(e, b, arguments);
  bind_size_names(e, act, b, first);
  check_lengths(e, act, b, first, false);
}

// What an element of type t would look like by the written type; NULL: that does not say it.
static value *written_element(elaborator *e, activation *act, const type_expr *written, type *t) {
  if (written->kind == TYPE_EXPR_NAME)
    return absent_element(e, make_empty(e, t, NULL));
  if (written->kind == TYPE_EXPR_TUPLE) {
    value *v = make_parts(e, VALUE_TUPLE, t->count);
    for (uint32_t i = 0; i < t->count; i++)
      if (!(v->u.parts.items[i] = written_element(e, act, written->parts[i], t->parts[i])))
        return NULL;
    return v;
  }
  if (written->kind != TYPE_EXPR_ARRAY || !written->size)
    return NULL;
  value *row = written_element(e, act, written->parts[0], t->parts[0]);
  int64_t length = static_integer(e, eval_expr(e, act, written->size), "a size");
  return row && length >= 0 ? replicate_value(e, (uint64_t)length, lift(e, row)) : NULL;
}

static value *fill_in_lengths(elaborator *e, activation *act, const type_expr *t, value *v) {
  bool list = t->kind == TYPE_EXPR_ARRAY && v->kind == VALUE_LIST;
  if (list && !v->u.parts.count && type_has_arrays(v->u.parts.element) && !v->u.parts.like)
    return make_empty(e, v->u.parts.element,
                      written_element(e, act, t->parts[0], v->u.parts.element));
  bool parts = list ? t->parts[0]->kind != TYPE_EXPR_NAME : t->kind == TYPE_EXPR_TUPLE;
  if (!parts)
    return v;
  value *filled = copy_of_value(e, v);
  filled->u.parts.items = NEW_ARRAY(e->memory, value *, v->u.parts.count);
  for (uint32_t i = 0; i < v->u.parts.count; i++)
    filled->u.parts.items[i] = fill_in_lengths(e, act, t->parts[list ? 0 : i], v->u.parts.items[i]);
  return filled;
}

// The result with the lengths that the signature of b says, where it has no rows that have lengths.
static value *with_written_lengths(elaborator *e, activation *act, const binding *b,
                                   value *result) {
  const elaborator before = *e;
  e->batch = 0;
  value *filled = fill_in_lengths(e, act, written_result(b), result);
  *e = before;
  return filled;
}

static value *check_result_sizes(elaborator *e, activation *act, const binding *b, value *result) {
  check_lengths(e, act, b, result_lengths(e, b, result), true);
  return with_written_lengths(e, act, b, result);
}

// ---- local definitions -----------------------------------------------------------------------

static value *eval_alternatives(elaborator *e, activation *act, const equation *q, uint32_t from,
                                bool *found);

static value *force_definition(elaborator *e, activation *act, binding *b) {
  const equation *q = &b->code->equations.items[0];
  bind_locals(e, act, q->locals, q->local_count);
  bool found;
  value *v = eval_alternatives(e, act, q, 0, &found);
  if (!found) {
    e->where = q->where;
    fail(e, "no guard of this binding is true");
  }
  e->where = result_of(q->alternatives[0].body)->where;
  return b->signature ? check_result_sizes(e, act, b, v) : v;
}

static bool pattern_contains(const pattern *p, const pattern *part) {
  if (p == part)
    return true;
  for (uint32_t i = 0; i < p->count; i++)
    if (pattern_contains(p->items[i], part))
      return true;
  return false;
}

// What the variable `part` of pattern p is when p is matched with v.
static value *match_variable(elaborator *e, const pattern *p, const pattern *part, value *v) {
  if (p == part)
    return v;
  if (p->kind == PATTERN_LIST && length_of(v) != p->count) {
    e->where = p->where;
    fail(e, "this pattern has %u elements, but the array has %" PRIu64, p->count, length_of(v));
  }
  uint32_t i = 0;
  while (!pattern_contains(p->items[i], part))
    i++;
  return match_variable(e, p->items[i], part,
                        p->kind == PATTERN_LIST ? element_at(e, v, i) : v->u.parts.items[i]);
}

static value *run_thunk(elaborator *e, const thunk *t) {
  binding *b = t->definition;
  return t->part
             ? match_variable(e, b->target, t->part, force_thunk(e, t->activation->slots[b->slot]))
             : force_definition(e, t->activation, b);
}

static value *force_thunk(elaborator *e, value *v) {
  if (v->kind != VALUE_THUNK)
    return v;
  thunk *t = &v->u.thunk;
  if (t->result)
    return t->result;
  if (t->running) {
    e->where = t->definition->where;
    static const char hint[] = "definitions are no steps: give each value a name of its own, "
                               "as in let y = x + 1 or let (a1, c1) = order (a, c)";
    if (!t->definition->name)
      fail_hint(e, hint, "the value of this pattern depends on itself");
    fail_hint(e, hint, "the value of '%s' depends on itself", t->definition->name);
  }
  const elaborator before = *e;
  e->batch = t->batch;
  e->guards = t->guards;
  t->running = true;
  t->outer = e->running;
  e->running = v;
  t->result = run_thunk(e, t);
  e->ledger->kept++;
  t->running = false;
  *e = before;
  return t->result;
}

// ---- branches --------------------------------------------------------------------------------

static value *eval_branch(elaborator *e, activation *act, const expr *x) {
  const expr *condition = x->u.branch.condition;
  value *c = static_scalar(e, eval_expr(e, act, x->u.branch.condition));
  if (c->kind == VALUE_SCALAR)
    return eval_expr(e, act, c->u.scalar.bits.b ? x->u.branch.yes : x->u.branch.no);
  const elaborator before = *e;
  enter_branch(e, condition, c, true);
  value *yes = eval_expr(e, act, x->u.branch.yes);
  *e = before;
  enter_branch(e, condition, c, false);
  value *no = eval_expr(e, act, x->u.branch.no);
  *e = before;
  e->where = condition->where;
  return select_value(e, c, yes, no);
}

// The alternatives of an equation from number `from` on. *found: whether one applies; a dynamic
// guard chooses between its body and what follows, which then must apply.
static value *eval_alternatives(elaborator *e, activation *act, const equation *q, uint32_t from,
                                bool *found) {
  for (uint32_t i = from; i < q->alternative_count; i++) {
    const alternative *a = &q->alternatives[i];
    value *c = a->guard ? static_scalar(e, eval_expr(e, act, a->guard)) : NULL;
    if (c && c->kind == VALUE_SCALAR && !c->u.scalar.bits.b)
      continue;
    if (!c || c->kind == VALUE_SCALAR) {
      *found = true;
      return eval_expr(e, act, a->body);
    }
    const elaborator before = *e;
    enter_branch(e, a->guard, c, true);
    value *yes = eval_expr(e, act, a->body);
    *e = before;
    enter_branch(e, a->guard, c, false);
    value *no = eval_alternatives(e, act, q, i + 1, found);
    *e = before;
    e->where = a->guard->where;
    if (!*found)
      fail_uncovered(e, c);
    return select_value(e, c, yes, no);
  }
  *found = false;
  return NULL;
}

// ---- expressions -----------------------------------------------------------------------------

value *make_list(elaborator *e, activation *act, const expr *x, value **items, size_t count) {
  if (!count)
    return make_empty(e, close_type(e, x->type, act->types)->parts[0], NULL);
  if (count > UINT32_MAX)
    fail(e, "this list has more than 2^32 elements");
  value *v = make_value(e, VALUE_LIST);
  v->u.parts.count = (uint32_t)count;
  v->u.parts.items = items;
  return v;
}

static value *eval_parts(elaborator *e, activation *act, const expr *x) {
  value *v = make_parts(e, VALUE_TUPLE, x->u.list.count);
  for (uint32_t i = 0; i < x->u.list.count; i++)
    v->u.parts.items[i] = eval_expr(e, act, x->u.list.items[i]);
  return x->kind == EXPR_TUPLE ? v : make_list(e, act, x, v->u.parts.items, x->u.list.count);
}

static indexed find_indexed(elaborator *e, activation *act, const expr *x) {
  expr *of = x->u.at.array;
  indexed at =
      of->kind == EXPR_INDEX ? find_indexed(e, act, of) : (indexed){.array = eval_expr(e, act, of)};
  value *index = static_scalar(e, eval_expr(e, act, x->u.at.index));
  e->where = x->u.at.index->where;
  at.inside = x->u.at.inside;
  return index_into(e, at, index);
}

static value *apply_at(elaborator *e, value *callee, value *argument, span place);

void find_arguments(const expr *x, uint32_t count, expr **arguments) {
  for (; count-- > 0; x = x->u.apply.function)
    arguments[count] = x->u.apply.argument;
}

value *call_builtin(elaborator *e, activation *act, const expr *x, const expr *name,
                    value **values) {
  const builtin *row = name->u.name.row;
  type *instance[MOST_AT_ONCE];
  span places[MOST_AT_ONCE];
  expr *arguments[MOST_AT_ONCE];
  find_arguments(x, row->arity, arguments);
  for (uint32_t i = 0; i < name->u.name.instance_count; i++)
    instance[i] = close_type(e, name->u.name.instance[i], act->types);
  for (uint32_t i = 0; i < row->arity; i++)
    places[i] = arguments[i]->where;
  e->where = x->where;
  return call_function(e, &(closure){.row = row,
                                     .instance = instance,
                                     .arity = row->arity,
                                     .given = row->arity,
                                     .arguments = values,
                                     .places = places});
}

static value *apply_builtin(elaborator *e, activation *act, const expr *x, const expr *name) {
  uint32_t arity = name->u.name.row->arity;
  expr *arguments[MOST_AT_ONCE];
  value *values[MOST_AT_ONCE];
  find_arguments(x, arity, arguments);
  for (const expr *inner = x; inner != name; inner = inner->u.apply.function) {
    e->where = inner->u.apply.function->where;
    count_step(e);
  }
  for (uint32_t i = 0; i < arity; i++)
    values[i] = eval_expr(e, act, arguments[i]);
  return call_builtin(e, act, x, name, values);
}

const expr *applied_builtin(const expr *x) {
  uint32_t count = 0;
  for (; x->kind == EXPR_APPLY && count <= MOST_AT_ONCE; x = x->u.apply.function)
    count++;
  bool is_builtin = x->kind == EXPR_NAME && x->u.name.kind == REF_BUILTIN;
  return is_builtin && x->u.name.row->arity == count && count <= MOST_AT_ONCE &&
                 x->u.name.instance_count <= MOST_AT_ONCE
             ? x
             : NULL;
}

value *eval_apply(elaborator *e, activation *act, const expr *x) {
  const expr *name = applied_builtin(x);
  if (name)
    return apply_builtin(e, act, x, name);
  value *callee = eval_expr(e, act, x->u.apply.function);
  value *argument = eval_expr(e, act, x->u.apply.argument);
  e->where = x->where;
  return apply_at(e, callee, argument, x->u.apply.argument->where);
}

value *eval_expr(elaborator *e, activation *act, expr *x) {
  e->where = x->where;
  count_step(e);
  switch (x->kind) {
  case EXPR_INT:
    return integer_literal(e, literal_type(e, x->type, act->types), x->u.integer.negative,
                           x->u.integer.magnitude);
  case EXPR_FLOAT:
    return real_literal(e, literal_type(e, x->type, act->types), x->u.real);
  case EXPR_BOOL:
    return make_bool(e, x->u.boolean);
  case EXPR_NAME:
    return eval_name(e, act, x);
  case EXPR_APPLY:
    return act->code->repeats ? e->together(e, act, x) : eval_apply(e, act, x);
  case EXPR_LAMBDA: {
    value *v = new_closure(e, act, x->u.lambda);
    capture_variables(act, v);
    return v;
  }
  case EXPR_LET:
    bind_locals(e, act, x->u.let.bindings, x->u.let.count);
    return eval_expr(e, act, x->u.let.body);
  case EXPR_IF:
    return eval_branch(e, act, x);
  case EXPR_TUPLE:
  case EXPR_LIST:
    return act->code->repeats ? e->together(e, act, x) : eval_parts(e, act, x);
  case EXPR_COMPREHENSION:
    return e->comprehension(e, act, x);
  case EXPR_INDEX:
    return indexed_element(e, find_indexed(e, act, x));
  case EXPR_PROJECT: {
    value *tuple = eval_expr(e, act, x->u.project.tuple);
    return tuple->u.parts.items[x->u.project.field];
  }
  case EXPR_WILD:
    break;
  }
  return NULL;
}

// ---- calls -----------------------------------------------------------------------------------

// The equation that applies from number `from` on, with its names bound; NULL: there is none.
static const equation *match_equation(elaborator *e, activation *act, const closure *c,
                                      size_t from) {
  for (size_t i = from; i < c->code->equations.count; i++) {
    const equation *q = &c->code->equations.items[i];
    bool matches = true;
    for (uint32_t k = 0; matches && k < c->code->arity; k++)
      matches = match_pattern(e, act, q->patterns[k], c->arguments[k]);
    if (!matches)
      continue;
    bind_locals(e, act, q->locals, q->local_count);
    return q;
  }
  return NULL;
}

static value *run_equations(elaborator *e, activation *act, const closure *c) {
  span where = e->where;
  const equation *q, *first = c->code->equations.items;
  for (size_t i = 0; (q = match_equation(e, act, c, i)); i = (size_t)(q - first) + 1) {
    bool found;
    value *v = eval_alternatives(e, act, q, 0, &found);
    if (found)
      return v;
  }
  e->where = where;
  fail_no_equation(e, c->code, c->arguments);
}

static activation *enter_function(elaborator *e, const closure *c) {
  const function *code = c->code;
  const binding *b = code->binding;
  span where = e->where;
  activation *act = NEW(e->memory, activation);
  act->code = code;
  act->slot_count = code->slot_count;
  act->slots = NEW_ARRAY(e->memory, value *, code->slot_count);
  act->captures = c->captures;
  act->types = c->types;
  if (b && b->signature)
    check_argument_sizes(e, act, b, c->arguments);
  e->where = where;
  if (b && b->global && !code->indexes)  // its calls are copied wherever they stand
    e->guards = NULL;
  else
    e->guards = guards_of_both(e, e->guards, c->guards);
  return act;
}

// v: what the body makes. What goes wrong from here on is the body's doing (main = sort n, or a
// result of another size).
static value *leave_function(elaborator *e, activation *act, const closure *c, value *v) {
  const function *code = c->code;
  const binding *b = code->binding;
  span body = result_of(code->equations.items[0].alternatives[0].body)->where;
  for (uint32_t i = code->arity; i < code->call_arity; i++) {
    e->where = body;
    v = apply(e, v, c->arguments[i]);
  }
  e->where = body;
  return b && b->signature ? check_result_sizes(e, act, b, v) : v;
}

static value *run_function(elaborator *e, const closure *c) {
  const elaborator before = *e;
  activation *act = enter_function(e, c);
  value *v = run_equations(e, act, c);
  *e = before;
  return leave_function(e, act, c, v);
}

static value *run_code(elaborator *e, const closure *c) {
  bool global = c->code->binding && c->code->binding->global;
  memo_call *recording = NULL;
  if (global) {
    value *known = memo_replay(e, c, &recording);
    if (known)
      return known;
  }
  value *v = run_function(e, c);
  memo_finish(e, recording, v);
  return v;
}

static void enter_call(elaborator *e, const closure *c, active_call *here) {
  *here = (active_call){.where = e->where, .closure = c, .outer = e->calls};
  if (c->code) {
    here->name = c->code->name;
    here->library = c->code->binding && c->code->binding->in_library;
  } else if (c->row) {
    here->name = c->row->name;
    here->library = true;
  }
  e->calls = here;
  // Reported at a call of the program's, not at the arithmetic in its arguments.
  if (++e->depth > e->limits.calls && c->code)
    fail_limit(e, "calls", 0, "the calls of '%s' are nested %" PRIu64 " deep, which is the limit",
               running_name(e), e->limits.calls);
  e->caller = own_place(e);
  e->places = c->places;
  e->batch = batch_of_call(e, c);
  e->guards = guards_at(e, e->guards, e->batch);
}

value *call_function(elaborator *e, const closure *c) {
  const elaborator before = *e;
  active_call here;
  enter_call(e, c, &here);
  value *v = c->code ? run_code(e, c) : c->row ? run_builtin(e, c) : run_foreign(e, c);
  *e = before;
  return v;
}

// The expression that a static condition chooses; NULL: data choose.
static expr *chosen_expr(elaborator *e, activation *act, const equation *q) {
  expr *x = NULL;
  for (uint32_t i = 0; i < q->alternative_count && !x; i++) {
    const alternative *a = &q->alternatives[i];
    value *c = a->guard ? static_scalar(e, eval_expr(e, act, a->guard)) : NULL;
    if (c && c->kind != VALUE_SCALAR)
      return NULL;
    x = !c || c->u.scalar.bits.b ? a->body : NULL;
  }
  while (x && (x->kind == EXPR_LET || x->kind == EXPR_IF)) {
    if (x->kind == EXPR_LET) {
      bind_locals(e, act, x->u.let.bindings, x->u.let.count);
      x = x->u.let.body;
      continue;
    }
    value *c = static_scalar(e, eval_expr(e, act, x->u.branch.condition));
    if (c->kind != VALUE_SCALAR)
      return NULL;
    x = c->u.scalar.bits.b ? x->u.branch.yes : x->u.branch.no;
  }
  return x;
}

bool open_call(elaborator *e, const closure *c, opened_call *o) {
  const elaborator before = *e;
  enter_call(e, c, NEW(e->memory, active_call));
  o->outside = *e;
  o->closure = c;
  o->act = enter_function(e, c);
  const equation *q = match_equation(e, o->act, c, 0);
  o->body = q ? chosen_expr(e, o->act, q) : NULL;
  o->inside = *e;
  *e = before;
  return o->body;
}

value *close_call(elaborator *e, const opened_call *o, value *result) {
  const elaborator before = *e;
  *e = o->outside;
  value *v = leave_function(e, o->act, o->closure, result);
  *e = before;
  return v;
}

static span *append_place(elaborator *e, const closure *c, span place) {
  span *places = NEW_ARRAY(e->memory, span, c->given + 1);
  if (c->given)
    memcpy(places, c->places, c->given * sizeof *places);
  places[c->given] = place;
  return places;
}

value *apply(elaborator *e, value *callee, value *argument) {
  count_step(e);
  return apply_at(e, callee, argument, e->where);
}

value *with_argument(elaborator *e, value *callee, value *argument, span place) {
  const closure *c = &callee->u.function;
  value *v = copy_of_value(e, callee);
  v->u.function.arguments = NEW_ARRAY(e->memory, value *, c->given + 1);
  if (c->given)
    memcpy(v->u.function.arguments, c->arguments, c->given * sizeof *c->arguments);
  if (c->row || e->out->wants_laws)
    v->u.function.places = append_place(e, c, place);
  v->u.function.arguments[v->u.function.given++] = argument;
  return v;
}

// As apply; place: where the argument stands.
static value *apply_at(elaborator *e, value *callee, value *argument, span place) {
  value *v = with_argument(e, callee, argument, place);
  return v->u.function.given < v->u.function.arity ? v : call_function(e, &v->u.function);
}
