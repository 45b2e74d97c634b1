// The evaluator of the static level: expressions, patterns, calls, sizes. Builtins are in
// builtins.c, the writing of steps in emit.c, memoised calls in memo.c.
//
// Arguments are evaluated before a call; let and where bindings when first asked for, once, at the
// batch where they stand. The first error ends elaboration (fail).
#include "lang/elaborate.h"
#include "lang/memo.h"
#include <inttypes.h>
#include <stdio.h>

const limits default_limits = {.steps = 10000000,
                               .depth = 10000,
                               .trace_steps = 4000000,
                               .memory = (size_t)2 << 30,
                               .stack = (size_t)200 << 20};

static value *eval(elaborator *e, frame *f, expr *x);

// ---- errors ----------------------------------------------------------------------------------

// Errors are shown in the user's own text: where it called into the library.
static span user_place(const elaborator *e, const char **through) {
  span where = e->where;
  *through = NULL;
  for (const active_call *c = e->calls; c && e->d->sources.items[where.file].library;
       c = c->outer) {
    where = c->where;
    *through = c->name;
  }
  return where;
}

static void vfail(elaborator *e, const char *hint, const char *format, va_list arguments) {
  const char *through;
  span where = user_place(e, &through);
  text message = {0};
  text_vprintf(&message, format, arguments);
  if (through)
    diag_report(e->d, DIAG_ERROR, where, "%s (in the library's '%s')",
                message.data ? message.data : "", through);
  else
    diag_report(e->d, DIAG_ERROR, where, "%s", message.data ? message.data : "");
  text_free(&message);
  if (hint)
    diag_report(e->d, DIAG_HINT, where, "%s", hint);
}

void fail(elaborator *e, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfail(e, NULL, format, arguments);
  va_end(arguments);
  longjmp(e->failure, 1);
}

void fail_limit(elaborator *e, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  e->d->demote = NULL;
  e->d->exhausted = true;
  vfail(e, "a recursion needs an equation that ends it, such as f 0 x = x", format, arguments);
  va_end(arguments);
  longjmp(e->failure, 1);
}

void fail_hint(elaborator *e, const char *hint, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfail(e, hint, format, arguments);
  va_end(arguments);
  longjmp(e->failure, 1);
}

// The step at which a value stopped being static.
static const trace_step *origin(const elaborator *e, value_id id) {
  const trace_step *s = &e->out->steps.items[id];
  while (s->operand_count && s->op != TRACE_ELEMENT) {
    uint32_t i = 0;
    while (i + 1 < s->operand_count && e->out->steps.items[s->operands[i]].op == TRACE_CONSTANT)
      i++;
    s = &e->out->steps.items[s->operands[i]];
  }
  return s;
}

void fail_dynamic(elaborator *e, value *v, const char *what) {
  const char *through;
  span where = user_place(e, &through);
  diag_report(e->d, DIAG_ERROR, where, "%s needs a value that is known before the program runs",
              what);
  if (v->kind == VALUE_LEAF) {
    const trace_step *s = origin(e, v->u.leaf);
    const char *why = s->op == TRACE_ARGUMENT ? "it depends on an argument of the program"
                      : s->op == TRACE_INSTANCE
                          ? "it depends on an index bit, which becomes known here"
                          : "it depends on an element of an array, taken here";
    if (s->op == TRACE_ARGUMENT || e->d->sources.items[s->where.file].library)
      diag_report(e->d, DIAG_HINT, where, "%s", why);
    else
      diag_report(e->d, DIAG_NOTE, s->where, "%s", why);
  }
  longjmp(e->failure, 1);
}

int64_t static_integer(elaborator *e, value *v, const char *what) {
  if (v->kind != VALUE_SCALAR)
    fail_dynamic(e, v, what);
  return v->u.scalar.bits.i64;
}

// The innermost function of the program itself, for messages about recursion.
static const char *running_name(const elaborator *e) {
  for (const active_call *c = e->calls; c; c = c->outer)
    if (c->name && !c->library)
      return c->name;
  return e->calls && e->calls->name ? e->calls->name : "this expression";
}

static void count_step(elaborator *e) {
  if (++e->steps > e->limits.steps)
    fail_limit(e, "evaluating '%s' takes more than %" PRIu64 " steps: does its recursion end?",
               running_name(e), e->limits.steps);
  if (!(e->steps & 1023) && e->limits.interrupted && atomic_load(e->limits.interrupted))
    fail_limit(e, "interrupted");
  char *here = __builtin_frame_address(0);
  size_t used = here < e->stack ? (size_t)(e->stack - here) : (size_t)(here - e->stack);
  if (used > e->limits.stack)
    fail_limit(e, "'%s' is nested too deeply", running_name(e));
}

// ---- types -----------------------------------------------------------------------------------

scalar_type closed_scalar(type *t) {
  t = type_prune(t);
  if (t->kind == TYPE_SCALAR)
    return t->scalar;
  if (t->kind != TYPE_COMPLEX)
    return SCALAR_COUNT;
  scalar_type real = closed_scalar(t->parts[0]);
  return real == SCALAR_COUNT ? SCALAR_COUNT : scalar_complex_of(real);
}

static bool same_type(const type *a, const type *b) {
  if (a->kind != b->kind || a->count != b->count)
    return false;
  if (a->kind == TYPE_SCALAR && a->scalar != b->scalar)
    return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (a->parts[i] != b->parts[i])
      return false;
  return true;
}

// Closed types are equal exactly when they are the same pointer.
static type *intern(elaborator *e, type t) {
  for (size_t i = 0; i < e->closed.count; i++)
    if (same_type(e->closed.items[i], &t))
      return e->closed.items[i];
  type *n = NEW(e->memory, type);
  *n = t;
  vec_push(e->memory, &e->closed, n);
  return n;
}

static type *look_up(const type *t, const type_env *env) {
  for (; env; env = env->outer)
    if (env->of == t->owner)
      return env->instance[t->index];
  return NULL;
}

type *close_type(elaborator *e, type *t, type_env *env) {
  t = type_prune(t);
  if (t->kind == TYPE_VARIABLE) {
    type *known = t->owner ? look_up(t, env) : NULL;
    // What nothing determines does not matter.
    return known ? known : intern(e, (type){.kind = TYPE_SCALAR, .scalar = SCALAR_I64});
  }
  type closed = {.kind = t->kind,
                 .scalar = t->kind == TYPE_SCALAR ? t->scalar : SCALAR_BOOL,
                 .count = t->count};
  if (t->count)
    closed.parts = NEW_ARRAY(e->memory, type *, t->count);
  for (uint32_t i = 0; i < t->count; i++)
    closed.parts[i] = close_type(e, t->parts[i], env);
  return intern(e, closed);
}

static scalar_type literal_type(elaborator *e, type *t, type_env *env) {
  t = type_prune(t);
  if (t->kind == TYPE_SCALAR)
    return t->scalar;
  return closed_scalar(close_type(e, t, env));
}

// ---- literals and names ----------------------------------------------------------------------

static value *integer_literal(elaborator *e, scalar_type t, bool negative, uint64_t magnitude) {
  scalar_kind kind = scalar_types[t].kind;
  if ((kind == KIND_SIGNED || kind == KIND_UNSIGNED) && !scalar_holds(t, negative, magnitude))
    fail(e, "%s%" PRIu64 " does not fit %s", negative ? "-" : "", magnitude, scalar_types[t].name);
  scalar_bits out = {.bytes = {0}};
  if (kind == KIND_FLOAT || kind == KIND_COMPLEX) {
    scalar_convert(SCALAR_U64, t, 1, &magnitude, out.bytes);
    scalar_bits positive = out;
    if (negative)
      scalar_apply(OP_NEG, t, 1, positive.bytes, NULL, out.bytes);
    // -0 of a complex type would negate the imaginary part as well.
    if (negative && t == SCALAR_C64)
      out.c64[1] = 0;
    if (negative && t == SCALAR_C128)
      out.c128[1] = 0;
  } else {
    uint64_t bits = negative ? (uint64_t)0 - magnitude : magnitude;
    memcpy(out.bytes, &bits,
           scalar_types[t].size);  // little end first, as on every target of permc
  }
  return make_scalar(e, t, out);
}

static value *real_literal(elaborator *e, scalar_type t, double real) {
  scalar_bits out = {.bytes = {0}};
  scalar_convert(SCALAR_F64, t, 1, &real, out.bytes);
  return make_scalar(e, t, out);
}

static value *new_function(elaborator *e, uint32_t arity) {
  value *v = NEW(e->memory, value);
  v->kind = VALUE_FUNCTION;
  v->u.function.arity = arity;
  return v;
}

static value *call(elaborator *e, const closure *f);

// Types of a use: what the variables of the group stand for. A use inside of its own group takes
// over what the group already stands for.
static type_env *instantiate(elaborator *e, const expr *x, const quantifier *of, type_env *env) {
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

static value *global_reference(elaborator *e, frame *f, const expr *x) {
  binding *b = x->u.name.target;
  if (b->kind == BINDING_EXTERN) {
    value *v = new_function(e, b->signature_arrows);
    v->u.function.foreign = b;
    return v;
  }
  value *v = new_function(e, b->code->call_arity);
  v->u.function.code = b->code;
  if (b->scheme->all->variables.count)
    v->u.function.types = instantiate(e, x, b->scheme->all, f->types);
  return v->u.function.arity ? v : call(e, &v->u.function);
}

static value *builtin_reference(elaborator *e, frame *f, const expr *x) {
  const builtin *row = x->u.name.row;
  value *v = new_function(e, row->arity);
  v->u.function.row = row;
  v->u.function.instance = NEW_ARRAY(e->memory, type *, x->u.name.instance_count);
  for (uint32_t i = 0; i < x->u.name.instance_count; i++)
    v->u.function.instance[i] = close_type(e, x->u.name.instance[i], f->types);
  return row->arity ? v : row->run(e, row, NULL, v->u.function.instance);
}

// A local function that is generalised gets its types at each use.
static value *local_reference(elaborator *e, frame *f, const expr *x, value *v) {
  v = force(e, v);
  const binding *b = x->u.name.target;
  if (v->kind != VALUE_FUNCTION || b->kind != BINDING_FUNCTION || !b->scheme->all->variables.count)
    return v;
  value *typed = NEW(e->memory, value);
  *typed = *v;
  type_env *t = instantiate(e, x, b->scheme->all, f->types);
  t->outer = v->u.function.types;
  typed->u.function.types = t;
  return typed;
}

static value *eval_name(elaborator *e, frame *f, const expr *x) {
  switch (x->u.name.kind) {
  case REF_GLOBAL:
    return global_reference(e, f, x);
  case REF_BUILTIN:
    return builtin_reference(e, f, x);
  case REF_SLOT:
    return local_reference(e, f, x, f->slots[x->u.name.index]);
  case REF_CAPTURE:
    return local_reference(e, f, x, f->captures[x->u.name.index]);
  }
  return NULL;
}

// ---- patterns --------------------------------------------------------------------------------

static bool match(elaborator *e, frame *f, const pattern *p, value *v);

static bool match_integer(elaborator *e, frame *f, const pattern *p, value *v) {
  if (v->kind != VALUE_SCALAR) {
    e->where = p->where;
    fail_dynamic(e, v, "a pattern that is a number");
  }
  const value *wanted =
      integer_literal(e, literal_type(e, p->type, f->types), p->negative, p->magnitude);
  bool equal = false;
  scalar_apply(OP_EQ, v->u.scalar.type, 1, v->u.scalar.bits.bytes, wanted->u.scalar.bits.bytes,
               &equal);
  return equal;
}

static bool match_list(elaborator *e, frame *f, const pattern *p, value *v) {
  if (length_of(e, v) != p->count)
    return false;
  span where = e->where;
  bool fits = true;
  for (uint32_t i = 0; fits && i < p->count; i++) {
    e->where = p->items[i]->where;  // of the element's step, for messages about dynamic values
    if (p->items[i]->kind != PATTERN_WILD)
      fits = match(e, f, p->items[i], element_at(e, v, i));
  }
  e->where = where;
  return fits;
}

static bool match(elaborator *e, frame *f, const pattern *p, value *v) {
  v = force(e, v);
  switch (p->kind) {
  case PATTERN_WILD:
    return true;
  case PATTERN_NAME:
    f->slots[p->slot] = v;
    return true;
  case PATTERN_INT:
    return match_integer(e, f, p, v);
  case PATTERN_BOOL:
    if (v->kind != VALUE_SCALAR)
      fail_dynamic(e, v, "a pattern that is true or false");
    return v->u.scalar.bits.b == p->boolean;
  case PATTERN_LIST:
    return match_list(e, f, p, v);
  case PATTERN_TUPLE:
    for (uint32_t i = 0; i < p->count; i++)
      if (!match(e, f, p->items[i], v->u.parts.items[i]))
        return false;
    return true;
  }
  return false;
}

// ---- bindings --------------------------------------------------------------------------------

static value *new_closure(elaborator *e, frame *f, function *code) {
  value *v = new_function(e, code->call_arity);
  v->u.function.code = code;
  v->u.function.types = f->types;
  v->u.function.captures = NEW_ARRAY(e->memory, value *, code->captures.count);
  return v;
}

static void fill_captures(frame *f, value *v) {
  const function *code = v->u.function.code;
  for (size_t i = 0; i < code->captures.count; i++) {
    capture c = code->captures.items[i];
    v->u.function.captures[i] = c.from_capture ? f->captures[c.index] : f->slots[c.index];
  }
}

static value *new_thunk(elaborator *e, frame *f, binding *b) {
  value *v = NEW(e->memory, value);
  v->kind = VALUE_THUNK;
  v->u.thunk.frame = f;
  v->u.thunk.definition = b;
  v->u.thunk.batch = e->batch;
  return v;
}

static void delay_pattern(elaborator *e, frame *f, binding *b, const pattern *p) {
  if (p->kind == PATTERN_NAME) {
    f->slots[p->slot] = new_thunk(e, f, b);
    f->slots[p->slot]->u.thunk.part = p;
  }
  for (uint32_t i = 0; i < p->count; i++)
    delay_pattern(e, f, b, p->items[i]);
}

static void bind_locals(elaborator *e, frame *f, binding **bindings, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    binding *b = bindings[i];
    if (b->kind == BINDING_FUNCTION)
      f->slots[b->slot] = new_closure(e, f, b->code);
    else
      f->slots[b->slot] = new_thunk(e, f, b);
    if (b->kind == BINDING_PATTERN)
      delay_pattern(e, f, b, b->target);
  }
  for (uint32_t i = 0; i < count; i++)
    if (bindings[i]->kind == BINDING_FUNCTION)
      fill_captures(f, f->slots[bindings[i]->slot]);
}

static value *eval_right(elaborator *e, frame *f, const equation *q, uint32_t from, bool *found);

static value *force_definition(elaborator *e, frame *f, binding *b) {
  const equation *q = &b->code->equations.items[0];
  bind_locals(e, f, q->locals, q->local_count);
  bool found;
  value *v = eval_right(e, f, q, 0, &found);
  if (!found) {
    e->where = q->where;
    fail(e, "no guard of this binding is true");
  }
  return force(e, v);
}

static bool holds(const pattern *p, const pattern *part) {
  if (p == part)
    return true;
  for (uint32_t i = 0; i < p->count; i++)
    if (holds(p->items[i], part))
      return true;
  return false;
}

// What the variable `part` of pattern p is when p is matched with v.
static value *part_of(elaborator *e, const pattern *p, const pattern *part, value *v) {
  v = force(e, v);
  if (p == part)
    return v;
  if (p->kind == PATTERN_LIST && length_of(e, v) != p->count) {
    e->where = p->where;
    fail(e, "this pattern has %u elements, but the array has %" PRIu64, p->count, length_of(e, v));
  }
  uint32_t i = 0;
  while (!holds(p->items[i], part))
    i++;
  return part_of(e, p->items[i], part,
                 p->kind == PATTERN_LIST ? element_at(e, v, i) : v->u.parts.items[i]);
}

static value *run_thunk(elaborator *e, const thunk *t) {
  binding *b = t->definition;
  return t->part ? part_of(e, b->target, t->part, t->frame->slots[b->slot])
                 : force_definition(e, t->frame, b);
}

value *force(elaborator *e, value *v) {
  if (v->kind != VALUE_THUNK)
    return v;
  thunk *t = &v->u.thunk;
  if (t->result)
    return t->result;
  if (t->running) {
    e->where = t->definition->where;
    fail(e, "'%s' is defined by itself",
         t->definition->name ? t->definition->name : "this pattern");
  }
  span where = e->where;
  uint64_t batch = e->batch;
  e->batch = t->batch;
  t->running = true;
  t->result = run_thunk(e, t);
  t->running = false;
  e->batch = batch;
  e->where = where;
  return t->result;
}

// ---- branches --------------------------------------------------------------------------------

static value *eval_branch(elaborator *e, frame *f, const expr *x) {
  value *c = eval(e, f, x->u.branch.condition);
  if (c->kind == VALUE_SCALAR)
    return eval(e, f, c->u.scalar.bits.b ? x->u.branch.yes : x->u.branch.no);
  value *yes = eval(e, f, x->u.branch.yes), *no = eval(e, f, x->u.branch.no);
  e->where = x->u.branch.condition->where;
  return select_value(e, c, yes, no);
}

// The alternatives of an equation from number `from` on. *found: whether one applies; a dynamic
// guard chooses between its body and what follows, which then must apply.
static value *eval_right(elaborator *e, frame *f, const equation *q, uint32_t from, bool *found) {
  for (uint32_t i = from; i < q->alternative_count; i++) {
    const alternative *a = &q->alternatives[i];
    value *c = a->guard ? eval(e, f, a->guard) : NULL;
    if (c && c->kind == VALUE_SCALAR && !c->u.scalar.bits.b)
      continue;
    value *yes = eval(e, f, a->body);
    *found = true;
    if (!c || c->kind == VALUE_SCALAR)
      return yes;
    value *no = eval_right(e, f, q, i + 1, found);
    e->where = a->guard->where;
    if (!*found)
      fail_hint(e, "end with: | otherwise = ...",
                "this condition depends on data, so a guard must follow it for when it is false");
    return select_value(e, c, yes, no);
  }
  *found = false;
  return NULL;
}

// ---- comprehensions --------------------------------------------------------------------------

typedef VEC(value *) value_list;

static void run_qualifiers(elaborator *e, frame *f, const expr *x, uint32_t from, value_list *out);

static frame *copy_frame(elaborator *e, const frame *f) {
  frame *n = NEW(e->memory, frame);
  *n = *f;
  n->slots = NEW_ARRAY(e->memory, value *, f->slot_count);
  memcpy(n->slots, f->slots, f->slot_count * sizeof *n->slots);
  return n;
}

// One round of a generator, in a frame of its own, so that functions made inside keep its number.
static void run_round(elaborator *e, const frame *f, const expr *x, uint32_t i, value *v,
                      value_list *out) {
  frame *own = copy_frame(e, f);
  count_step(e);
  if (match(e, own, x->u.comprehension.qualifiers[i].target, v))
    run_qualifiers(e, own, x, i + 1, out);
}

static void run_range(elaborator *e, frame *f, const expr *x, uint32_t i, value_list *out) {
  const qualifier *q = &x->u.comprehension.qualifiers[i];
  value *first = eval(e, f, q->source), *last = eval(e, f, q->last),
        *second = q->second ? eval(e, f, q->second) : NULL;
  e->where = q->source->where;
  int64_t from = static_integer(e, first, "a range's first number"),
          to = static_integer(e, last, "a range's last number");
  int64_t step = 1, k = from;
  if (second &&
      __builtin_sub_overflow(static_integer(e, second, "a range's second number"), from, &step))
    fail(e, "the step of this range overflows i64");
  if (!step)
    fail(e, "this range counts in steps of 0");
  for (bool more = true; more && (step > 0 ? k <= to : k >= to);
       more = !__builtin_add_overflow(k, step, &k))
    run_round(e, f, x, i, make_integer(e, k), out);
}

static void run_generator(elaborator *e, frame *f, const expr *x, uint32_t i, value *list,
                          value_list *out) {
  const qualifier *q = &x->u.comprehension.qualifiers[i];
  uint64_t length = length_of(e, list);
  for (uint64_t k = 0; k < length; k++) {
    e->where = q->source->where;
    run_round(e, f, x, i, element_at(e, list, k), out);
  }
}

static void run_qualifiers(elaborator *e, frame *f, const expr *x, uint32_t from, value_list *out) {
  for (uint32_t i = from; i < x->u.comprehension.count; i++) {
    const qualifier *q = &x->u.comprehension.qualifiers[i];
    if (q->target) {
      if (q->last)
        run_range(e, f, x, i, out);
      else
        run_generator(e, f, x, i, eval(e, f, q->source), out);
      return;
    }
    value *keep = eval(e, f, q->source);
    e->where = q->source->where;
    if (keep->kind != VALUE_SCALAR)
      fail_dynamic(e, keep, "a condition in a comprehension");
    if (!keep->u.scalar.bits.b)
      return;
  }
  vec_push(e->memory, out, eval(e, f, x->u.comprehension.body));
}

typedef struct body_call {
  const frame *frame;
  const expr *comprehension;
} body_call;

static value *run_body(elaborator *e, value *element, void *with) {
  const body_call *b = with;
  const qualifier *q = b->comprehension->u.comprehension.qualifiers;
  frame *own = copy_frame(e, b->frame);
  if (!match(e, own, q->target, element)) {
    e->where = q->target->where;
    fail(e, "this pattern does not fit the elements");
  }
  return eval(e, own, b->comprehension->u.comprehension.body);
}

static value *list_of(elaborator *e, frame *f, const expr *x, value **items, size_t count) {
  if (!count)
    return empty_array(e, close_type(e, x->type, f->types)->parts[0]);
  if (count > UINT32_MAX)
    fail(e, "this list has more than 2^32 elements");
  value *v = NEW(e->memory, value);
  v->kind = VALUE_LIST;
  v->u.parts.count = (uint32_t)count;
  v->u.parts.items = items;
  return v;
}

// [body | x <- xs] over an array of data is map (\x -> body) xs.
static value *eval_comprehension(elaborator *e, frame *f, const expr *x) {
  const qualifier *q = x->u.comprehension.qualifiers;
  value_list out = {0};
  if (x->u.comprehension.count == 1 && q->target && !q->last) {
    value *list = eval(e, f, q->source);
    body_call body = {f, x};
    if (list->kind == VALUE_ARRAY)
      return map_elements(e, list, run_body, &body);
    run_generator(e, f, x, 0, list, &out);
  } else {
    run_qualifiers(e, f, x, 0, &out);
  }
  e->where = x->where;
  return list_of(e, f, x, out.items, out.count);
}

// ---- expressions -----------------------------------------------------------------------------

static value *eval_parts(elaborator *e, frame *f, const expr *x) {
  value *v = make_parts(e, VALUE_TUPLE, x->u.list.count);
  for (uint32_t i = 0; i < x->u.list.count; i++)
    v->u.parts.items[i] = eval(e, f, x->u.list.items[i]);
  return x->kind == EXPR_TUPLE ? v : list_of(e, f, x, v->u.parts.items, x->u.list.count);
}

static value *eval_index(elaborator *e, frame *f, const expr *x) {
  value *array = eval(e, f, x->u.at.array), *index = eval(e, f, x->u.at.index);
  e->where = x->u.at.index->where;
  int64_t i = static_integer(e, index, "an index");
  uint64_t length = length_of(e, array);
  if (i < 0 || (uint64_t)i >= length)
    fail(e, "index %" PRId64 " is outside of an array of %" PRIu64 " elements", i, length);
  return element_at(e, array, (uint64_t)i);
}

static value *eval_apply(elaborator *e, frame *f, const expr *x) {
  value *callee = eval(e, f, x->u.apply.function);
  value *argument = eval(e, f, x->u.apply.argument);
  e->where = x->where;
  return apply(e, callee, argument);
}

static value *eval(elaborator *e, frame *f, expr *x) {
  count_step(e);
  e->where = x->where;
  switch (x->kind) {
  case EXPR_INT:
    return integer_literal(e, literal_type(e, x->type, f->types), x->u.integer.negative,
                           x->u.integer.magnitude);
  case EXPR_FLOAT:
    return real_literal(e, literal_type(e, x->type, f->types), x->u.real);
  case EXPR_BOOL:
    return make_bool(e, x->u.boolean);
  case EXPR_NAME:
    return eval_name(e, f, x);
  case EXPR_APPLY:
    return eval_apply(e, f, x);
  case EXPR_LAMBDA: {
    value *v = new_closure(e, f, x->u.lambda);
    fill_captures(f, v);
    return v;
  }
  case EXPR_LET:
    bind_locals(e, f, x->u.let.bindings, x->u.let.count);
    return eval(e, f, x->u.let.body);
  case EXPR_IF:
    return eval_branch(e, f, x);
  case EXPR_TUPLE:
  case EXPR_LIST:
    return eval_parts(e, f, x);
  case EXPR_COMPREHENSION:
    return eval_comprehension(e, f, x);
  case EXPR_INDEX:
    return eval_index(e, f, x);
  case EXPR_PROJECT: {
    value *tuple = eval(e, f, x->u.project.tuple);
    return force(e, tuple->u.parts.items[x->u.project.field]);
  }
  case EXPR_WILD:
    break;
  }
  return NULL;
}

// ---- sizes -----------------------------------------------------------------------------------

static bool is_power_of_two(uint64_t n) { return n && !(n & (n - 1)); }

static void fail_length(elaborator *e, uint64_t length, const char *who) {
  uint64_t below = 1;
  while (2 * below < length)
    below *= 2;
  if (!length)
    fail_hint(e, "the shortest array of length 2^n has 1 element (n = 0)",
              "%s needs a length that is a power of two, but this array is empty", who);
  fail_hint(e, "padded fills up with a value of your choice: padded maxval sort xs",
            "%s needs a length that is a power of two, but this array has %" PRIu64
            " elements; the nearest are %" PRIu64 " and %" PRIu64,
            who, length, below, 2 * below);
}

uint64_t power_length(elaborator *e, uint64_t length, const char *who) {
  if (!is_power_of_two(length))
    fail_length(e, length, who);
  return (uint64_t)__builtin_ctzll(length);
}

typedef struct sizer {
  elaborator *e;
  frame *frame;
  const binding *binding;
  bool check;   // second round: all names are bound, every size is compared
  bool result;  // of the result, not an argument
} sizer;

static const char *quoted(elaborator *e, const char *name) {
  return arena_printf(e->memory, "'%s'", name);
}

static void bind_size(sizer *s, const expr *slot_name, int64_t n) {
  value **slot = &s->frame->slots[slot_name->u.name.index];
  if (!*slot)
    *slot = make_integer(s->e, n);
}

// Whether this is the 2^n that binds n; *name is the name then (also for plain m).
static bool binds(const expr *size, const expr **name, bool *power) {
  *power = size->kind == EXPR_APPLY;
  *name = *power ? size->u.apply.argument : size;
  if ((*name)->kind != EXPR_NAME || (*name)->u.name.kind != REF_SLOT || !(*name)->u.name.target ||
      !(*name)->u.name.target->is_size)
    return false;
  if (!*power)
    return true;
  const expr *head = size->u.apply.function;
  return head->kind == EXPR_APPLY && head->u.apply.function->kind == EXPR_NAME &&
         !strcmp(head->u.apply.function->u.name.text, "^") &&
         head->u.apply.argument->kind == EXPR_INT &&
         head->u.apply.argument->u.integer.magnitude == 2;
}

static void size_dimension(sizer *s, const type_expr *t, uint64_t length) {
  const expr *name;
  bool power;
  if (!s->check) {
    if (!binds(t->size, &name, &power))
      return;
    uint64_t n = power ? power_length(s->e, length, quoted(s->e, s->binding->name)) : length;
    bind_size(s, name, (int64_t)n);
    return;
  }
  span where = s->e->where;
  value *v = eval(s->e, s->frame, t->size);
  s->e->where = where;
  int64_t wanted = static_integer(s->e, v, "a size");
  if (wanted >= 0 && (uint64_t)wanted == length)
    return;
  const source *file = &s->e->d->sources.items[t->size->where.file];
  const char *const words[2][2] = {{"needs", "but this array has"}, {"must return", "but returns"}};
  fail(s->e, "'%s' %s %" PRId64 " elements ([%.*s]), %s %" PRIu64, s->binding->name,
       words[s->result][0], wanted, (int)(t->size->where.end - t->size->where.start),
       file->text + t->size->where.start, words[s->result][1], length);
}

static void size_value(sizer *s, const type_expr *t, value *v) {
  v = force(s->e, v);
  if (t->kind == TYPE_EXPR_ARRAY) {
    uint64_t length = length_of(s->e, v);
    if (t->size)
      size_dimension(s, t, length);
    if (v->kind == VALUE_ARRAY)
      size_value(s, t->parts[0], v->u.array.element);
    for (uint32_t i = 0;
         v->kind == VALUE_LIST && t->parts[0]->kind != TYPE_EXPR_NAME && i < v->u.parts.count; i++)
      size_value(s, t->parts[0], v->u.parts.items[i]);
  }
  if (t->kind == TYPE_EXPR_TUPLE)
    for (uint32_t i = 0; i < t->count; i++)
      size_value(s, t->parts[i], v->u.parts.items[i]);
}

// Binds the size names of a signature from the arguments, then compares all sizes.
static void size_arguments(elaborator *e, frame *f, const binding *b, value **arguments) {
  sizer s = {e, f, b, false, false};
  for (int round = 0; round < 2; round++) {
    s.check = round == 1;
    const type_expr *t = b->signature;
    for (uint32_t i = 0; i < b->code->call_arity && t->kind == TYPE_EXPR_FUNCTION;
         i++, t = t->parts[1])
      size_value(&s, t->parts[0], arguments[i]);
  }
  for (size_t i = 0; i < b->size_names.count; i++)
    if (!f->slots[b->first_size_slot + i])
      f->slots[b->first_size_slot + i] = make_integer(e, 0);
}

static void size_result(elaborator *e, frame *f, const binding *b, value *result) {
  const type_expr *t = b->signature;
  for (uint32_t i = 0; i < b->code->call_arity && t->kind == TYPE_EXPR_FUNCTION; i++)
    t = t->parts[1];
  if (t->kind == TYPE_EXPR_FUNCTION)
    return;
  sizer s = {e, f, b, true, true};
  size_value(&s, t, result);
}

// ---- calls -----------------------------------------------------------------------------------

static void show_argument(text *out, const value *v) {
  if (v->kind == VALUE_SCALAR && v->u.scalar.type == SCALAR_I64)
    text_printf(out, " %" PRId64, v->u.scalar.bits.i64);
  else if (v->kind == VALUE_ARRAY || v->kind == VALUE_LIST)
    text_printf(out, " [%" PRIu64 "]",
                v->kind == VALUE_LIST ? (uint64_t)v->u.parts.count : v->u.array.length);
  else if (v->kind == VALUE_SCALAR && v->u.scalar.type == SCALAR_BOOL)
    text_string(out, v->u.scalar.bits.b ? " true" : " false");
  else
    text_string(out, " _");
}

static void fail_no_equation(elaborator *e, const function *code, value **arguments) {
  text shown = {0};
  for (uint32_t i = 0; i < code->arity; i++)
    show_argument(&shown, arguments[i]);
  const char *copy = arena_copy(e->memory, shown.data ? shown.data : "", shown.length);
  text_free(&shown);
  if (!code->name)
    fail(e, "the parameters of this function do not fit its arguments:%s", copy);
  fail_hint(e, "an array is shown by its length: f [4] is a call with an array of 4 elements",
            "no equation of '%s' fits the call %s%s", code->name, code->name, copy);
}

static value *run_equations(elaborator *e, frame *f, const function *code, value **arguments) {
  for (size_t i = 0; i < code->equations.count; i++) {
    const equation *q = &code->equations.items[i];
    bool fits = true;
    for (uint32_t k = 0; fits && k < code->arity; k++)
      fits = match(e, f, q->patterns[k], arguments[k]);
    if (!fits)
      continue;
    bind_locals(e, f, q->locals, q->local_count);
    bool found;
    value *v = eval_right(e, f, q, 0, &found);
    if (found)
      return v;
  }
  fail_no_equation(e, code, arguments);
  return NULL;
}

static value *run_function(elaborator *e, const closure *c) {
  const function *code = c->code;
  const binding *b = code->binding;
  span where = e->where;
  frame *f = NEW(e->memory, frame);
  f->slot_count = code->slot_count;
  f->slots = NEW_ARRAY(e->memory, value *, code->slot_count);
  f->captures = c->captures;
  f->types = c->types;
  if (b && b->signature)
    size_arguments(e, f, b, c->arguments);
  e->where = where;
  value *v = run_equations(e, f, code, c->arguments);
  for (uint32_t i = code->arity; i < code->call_arity; i++) {
    e->where = where;
    v = apply(e, v, c->arguments[i]);
  }
  e->where = where;
  if (b && b->signature)
    size_result(e, f, b, v);
  return v;
}

static value *run_foreign(elaborator *e, const closure *c) {
  const binding *b = c->foreign;
  if (!e->allow_extern)
    fail_hint(e, "run with --allow-extern if you trust this program",
              "'%s' is a C function of the library '%s', which is not allowed", b->name,
              b->library);
  trace_extern x = {.library = b->library, .name = b->name, .arity = c->arity};
  x.parameters = NEW_ARRAY(e->memory, scalar_type, c->arity);
  type *t = b->scheme->type;
  trace_step s = {
      .op = TRACE_EXTERN, .operand_count = c->arity, .batch = 1, .number = e->out->externs.count};
  s.operands = NEW_ARRAY(e->memory, value_id, c->arity);
  for (uint32_t i = 0; i < c->arity; i++) {
    t = type_prune(t);
    x.parameters[i] = closed_scalar(t->parts[0]);
    s.operands[i] = as_leaf(e, force(e, c->arguments[i]))->u.leaf;
    uint64_t batch = e->out->steps.items[s.operands[i]].batch;
    if (!batch || (s.batch && batch > s.batch))
      s.batch = batch;
    t = t->parts[1];
  }
  x.result = closed_scalar(t);
  s.type = x.result;
  for (uint64_t i = 0; i < e->out->externs.count; i++)
    if (!strcmp(e->out->externs.items[i].name, x.name) &&
        !strcmp(e->out->externs.items[i].library, x.library))
      s.number = i;
  if (s.number == e->out->externs.count)
    vec_push(e->memory, &e->out->externs, x);
  return make_leaf(e, emit(e, s));
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

static value *call(elaborator *e, const closure *c) {
  active_call here = {.where = e->where, .outer = e->calls};
  if (c->code) {
    here.name = c->code->name;
    here.library = c->code->binding && c->code->binding->in_library;
  } else if (c->row) {
    here.name = c->row->name;
    here.library = true;
  }
  e->calls = &here;
  if (++e->depth > e->limits.depth)
    fail_limit(e, "the recursion of '%s' does not end: %u calls deep", running_name(e),
               e->limits.depth);
  span where = e->where;
  value *v = c->code  ? run_code(e, c)
             : c->row ? c->row->run(e, c->row, c->arguments, c->instance)
                      : run_foreign(e, c);
  e->depth--;
  e->calls = here.outer;
  e->where = where;
  return v;
}

value *apply(elaborator *e, value *callee, value *argument) {
  const closure *c = &callee->u.function;
  value *v = NEW(e->memory, value);
  *v = *callee;
  v->u.function.arguments = NEW_ARRAY(e->memory, value *, c->given + 1);
  if (c->given)
    memcpy(v->u.function.arguments, c->arguments, c->given * sizeof *c->arguments);
  v->u.function.arguments[v->u.function.given++] = argument;
  return v->u.function.given < c->arity ? v : force(e, call(e, &v->u.function));
}

// ---- the entry -------------------------------------------------------------------------------

typedef struct builder {
  elaborator *e;
  const leaf_shape *leaves;
  size_t count, next;
} builder;

// The value of an argument: its type's structure around the leaves that the caller gave.
static value *build_argument(builder *b, type *t, uint32_t depth) {
  t = type_prune(t);
  if (t->kind == TYPE_ARRAY) {
    uint64_t length = b->leaves[b->next].dims[depth];
    return make_array(b->e, length, build_argument(b, t->parts[0], depth + 1));
  }
  if (t->kind == TYPE_TUPLE) {
    value *v = make_parts(b->e, VALUE_TUPLE, t->count);
    for (uint32_t i = 0; i < t->count; i++)
      v->u.parts.items[i] = build_argument(b, t->parts[i], depth);
    return v;
  }
  const leaf_shape *l = &b->leaves[b->next];
  trace_step s = {
      .op = TRACE_ARGUMENT, .type = l->type, .rank = l->rank, .batch = 1, .number = b->next++};
  s.dims = NEW_ARRAY(b->e->memory, uint64_t, l->rank);
  if (l->rank)
    memcpy(s.dims, l->dims, l->rank * sizeof *s.dims);
  return make_leaf(b->e, emit(b->e, s));
}

static value_id result_leaf(elaborator *e, value_id leaf, void *with) {
  (void)with;
  vec_push(e->memory, &e->out->results, leaf);
  return (value_id)e->out->results.count - 1;
}

static value *run_entry(elaborator *e, binding *entry, type **instance, const leaf_shape *leaves,
                        size_t count) {
  value *f = new_function(e, entry->code->call_arity);
  f->u.function.code = entry->code;
  type_env *env = NEW(e->memory, type_env);
  env->of = entry->scheme->all;
  size_t variables = env->of->variables.count;
  env->instance = NEW_ARRAY(e->memory, type *, variables);
  for (size_t i = 0; i < variables; i++)
    env->instance[i] = close_type(e, instance[i], NULL);
  f->u.function.types = env;
  builder b = {e, leaves, count, 0};
  type *t = close_type(e, entry->scheme->type, env);
  e->where = entry->where;
  value *v = f->u.function.arity ? f : call(e, &f->u.function);
  for (; t->kind == TYPE_FUNCTION; t = t->parts[1]) {
    value *argument = build_argument(&b, t->parts[0], 0);
    e->where = entry->where;
    v = apply(e, v, argument);
  }
  return map_leaves(e, as_data(e, v), result_leaf, NULL);
}

static elaborator create(diagnostics *d, arena *memory, const limits *l, trace *out) {
  elaborator e = {.d = d, .memory = memory, .out = out, .limits = *l, .batch = 1};
  e.stack = __builtin_frame_address(0);
  return e;
}

bool elaborate(diagnostics *d, arena *memory, const limits *l, bool allow_extern, binding *entry,
               type **instance, const leaf_shape *leaves, size_t leaf_count, trace *out,
               value **result) {
  elaborator e = create(d, memory, l, out);
  e.allow_extern = allow_extern;
  if (setjmp(e.failure))
    return false;
  *result = run_entry(&e, entry, instance, leaves, leaf_count);
  return true;
}

// ---- shapes for check ------------------------------------------------------------------------

typedef struct shaper {
  elaborator *e;
  frame *frame;
  int64_t other;
  uint64_t dims[64];
  leaf_shapes *out;
} shaper;

static void shape_leaf(shaper *s, type *t, uint32_t depth) {
  uint64_t *dims = NEW_ARRAY(s->e->memory, uint64_t, depth);
  memcpy(dims, s->dims, depth * sizeof *dims);
  leaf_shape l = {closed_scalar(t), depth, dims};
  vec_push(s->e->memory, s->out, l);
}

// The written type and the inferred one side by side; a type name may stand for more structure.
static void shape_parameter(shaper *s, const type_expr *written, type *t, uint32_t depth) {
  if (t->kind == TYPE_ARRAY) {
    if (depth >= 16)
      fail(s->e, "arrays have at most 16 dimensions");
    const expr *size = written && written->kind == TYPE_EXPR_ARRAY ? written->size : NULL;
    int64_t length = s->other < 62 ? (int64_t)1 << s->other : s->other;
    if (size)
      length = static_integer(s->e, eval(s->e, s->frame, (expr *)size), "a size");
    if (length < 0) {
      s->e->where = size->where;
      fail(s->e, "an array cannot have %" PRId64 " elements", length);
    }
    s->dims[depth] = (uint64_t)length;
    shape_parameter(s, written && written->kind == TYPE_EXPR_ARRAY ? written->parts[0] : NULL,
                    t->parts[0], depth + 1);
  } else if (t->kind == TYPE_TUPLE) {
    bool along = written && written->kind == TYPE_EXPR_TUPLE;
    for (uint32_t i = 0; i < t->count; i++)
      shape_parameter(s, along ? written->parts[i] : NULL, t->parts[i], depth);
  } else {
    shape_leaf(s, t, depth);
  }
}

static void set_sizes(elaborator *e, frame *f, const binding *b, const char *const *names,
                      const int64_t *sizes, size_t count, int64_t other) {
  for (size_t i = 0; i < b->size_names.count; i++) {
    int64_t n = other;
    for (size_t k = 0; k < count; k++)
      if (!strcmp(names[k], b->size_names.items[i]))
        n = sizes[k];
    f->slots[b->first_size_slot + i] = make_integer(e, n);
  }
}

bool shapes_at_sizes(diagnostics *d, arena *memory, binding *entry, type **instance,
                     const char *const *names, const int64_t *sizes, size_t count, int64_t other,
                     leaf_shapes *out) {
  trace nothing = {0};
  elaborator e = create(d, memory, &default_limits, &nothing);
  if (setjmp(e.failure))
    return false;
  frame f = {.slots = NEW_ARRAY(e.memory, value *, entry->code->slot_count),
             .slot_count = entry->code->slot_count};
  type_env env = {.of = entry->scheme->all, .instance = instance};
  f.types = &env;
  if (entry->signature)
    set_sizes(&e, &f, entry, names, sizes, count, other);
  shaper s = {.e = &e, .frame = &f, .other = other, .out = out};
  const type_expr *written = entry->signature;
  for (type *t = close_type(&e, entry->scheme->type, &env); t->kind == TYPE_FUNCTION;
       t = t->parts[1]) {
    shape_parameter(&s, written ? written->parts[0] : NULL, t->parts[0], 0);
    written = written ? written->parts[1] : NULL;
  }
  return true;
}
