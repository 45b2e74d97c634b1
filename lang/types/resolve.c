// Names to meanings. In: modules. Out: every EXPR_NAME bound (syntax/tree.h, reference_kind), slots
// and captures numbered, and the groups of mutually recursive bindings, callees first.
//
// A name means, innermost first: a local variable; a definition of the program; a definition of the
// library; a builtin. The library's own code sees only the library and the builtins.
#include "core/hash.h"
#include "lang/syntax/hints.h"
#include "lang/types/types.h"
#include <ctype.h>

typedef struct local {
  const char *name;
  function *owner;
  uint32_t slot;
  binding *definition;
  uint32_t number;      // of those in scope when it came
  struct local *next;   // the one before it
  struct local *below;  // the one before it in its bucket
} local;

typedef struct name_table {
  binding **slots;
  size_t size;
} name_table;

enum { BUCKETS = 1 << 10 };

typedef struct open_comprehension {  // one that is being walked
  expr *of;
  function *function;    // in which it stands
  const local *outside;  // the innermost in scope before it
  struct open_comprehension *outer;
} open_comprehension;

typedef struct reference {  // the code of a function names a global one
  function *from;
  const binding *to;
} reference;

typedef struct resolver {
  diagnostics *d;
  arena *memory;
  const builtin_table *builtins;
  name_table user, library;
  local *locals;            // in scope, innermost first
  local *buckets[BUCKETS];  // the same by their names
  function *function;       // the one whose body is being walked
  binding *global;          // the global binding it belongs to
  binding_group open;       // the local functions around it, innermost last
  open_comprehension *comprehension;
  VEC(reference) references;
  uint32_t blocks;   // of local bindings, so far
  bool in_sizes;     // of a signature
  uint32_t depth;    // of the C stack, in expressions and definitions
  bool too_deep;     // reported
  uint32_t counter;  // strongly connected components
  binding_group stack;
  binding_groups *groups;
} resolver;

static void resolve_expr(resolver *r, expr *e);
static void resolve_function(resolver *r, function *f);

// ---- global names ----------------------------------------------------------------------------

static binding *table_find(const name_table *t, const char *name) {
  return t->size ? *binding_slot(t->slots, t->size, name) : NULL;
}

static name_table table_create(resolver *r, const program *p, bool library) {
  name_table t = {0};
  size_t count = 0;
  for (size_t m = 0; m < p->modules.count; m++)
    if (p->modules.items[m]->library == library)
      count += p->modules.items[m]->bindings.count;
  t.size = 2 * count + 1;
  t.slots = NEW_ARRAY(r->memory, binding *, t.size);
  for (size_t m = 0; m < p->modules.count; m++) {
    const module *mod = p->modules.items[m];
    if (mod->library != library)
      continue;
    for (size_t i = 0; i < mod->bindings.count; i++) {
      binding *b = mod->bindings.items[i], **slot = binding_slot(t.slots, t.size, b->name);
      if (*slot) {
        diag_report(r->d, DIAG_ERROR, b->where, "'%s' is defined twice", b->name);
        diag_report(r->d, DIAG_NOTE, (*slot)->where, "the first definition is here");
        diag_report(r->d, DIAG_HINT, b->where,
                    "all files of a program share their names: give one "
                    "of the two another");
      } else {
        *slot = b;
      }
    }
  }
  return t;
}

// ---- unknown names ---------------------------------------------------------------------------

// Whether it is written as a record's field in other languages: p.price, .price.
static bool follows_point(const resolver *r, span where) {
  const char *start = r->d->sources.items[where.file].text, *at = start + where.start;
  return at - start > 1 && at[-1] == '.' && at[-2] != '.';
}

static local *find_local(resolver *r, const char *name);

// Whether this is the first parameter of a function `rec`: let rec go i = ... in go n.
static bool is_meant_by_rec(resolver *r, const char *name) {
  const local *l = find_local(r, "rec");
  const function *f = l && l->definition ? l->definition->code : NULL;
  const pattern *first = f && f->arity ? f->equations.items[0].patterns[0] : NULL;
  return first && first->kind == PATTERN_NAME && !strcmp(first->name, name);
}

static const char *hint_for_unbound(resolver *r, span where, const char *name) {
  if (r->in_sizes)
    return arena_printf(r->memory, "a size name is bound by [%s] or [2^%s] in a parameter", name,
                        name);
  const char *hint = hint_for(HINT_NAME, is_meant_by_rec(r, name) ? "rec" : name);
  if (hint)
    return hint;
  size_t length = strlen(name);
  const char *plain = arena_copy(r->memory, name, length - 1);
  if (length > 1 && name[length - 1] == '\'' && find_local(r, plain))
    return arena_printf(r->memory,
                        "a name may end in ', so this is another name than %s; a matrix is "
                        "transposed by transpose %s",
                        plain, plain);
  text_closest closest = {.word = name};
  for (const local *l = r->locals; l; l = l->next)
    text_consider(&closest, l->name);
  const name_table *tables[] = {&r->user, &r->library};
  for (int t = 0; t < 2; t++)
    for (size_t i = 0; i < tables[t]->size; i++)
      if (tables[t]->slots[i])
        text_consider(&closest, tables[t]->slots[i]->name);
  for (size_t i = 0; i < r->builtins->count; i++)
    text_consider(&closest, r->builtins->rows[i].name);
  return closest.name ? arena_printf(r->memory, "did you mean '%s'?", closest.name)
         : !strcmp(r->d->sources.items[where.file].name, "-e")
             ? "arguments have no names in -e: give a function, such as -e sort, or -e '\\xs -> "
               "sort xs'"
         : follows_point(r, where) ? "components have numbers, not names: p.0 is the first"
                                   : "a name comes from a definition, a parameter, let or where; a "
                                     "size from [n] in the signature";
}

static void report_unbound(resolver *r, span where, const char *name) {
  diag_report(r->d, DIAG_ERROR, where, "'%s' is not defined", name);
  if (!diag_is_full(r->d))
    diag_report(r->d, DIAG_HINT, where, "%s", hint_for_unbound(r, where, name));
}

// ---- local names -----------------------------------------------------------------------------

static local **bucket(resolver *r, const char *name) {
  return &r->buckets[hash_bytes(name, strlen(name)) % BUCKETS];
}

static local *find_local(resolver *r, const char *name) {
  local *l = *bucket(r, name);
  while (l && strcmp(l->name, name))
    l = l->below;
  return l;
}

// Whether a name was added since `before` was the innermost one.
static bool is_bound_since(resolver *r, const char *name, const local *before) {
  const local *l = find_local(r, name);
  return l && (!before || l->number > before->number);
}

static void leave_scope(resolver *r, local *outside) {
  for (; r->locals != outside; r->locals = r->locals->next)
    *bucket(r, r->locals->name) = r->locals->below;
}

static binding *add_local(resolver *r, const char *name, span where, binding *definition) {
  local *l = NEW(r->memory, local), **same = bucket(r, name);
  l->name = name;
  l->number = r->locals ? r->locals->number + 1 : 0;
  l->below = *same;
  *same = l;
  l->owner = r->function;
  l->slot = r->function->slot_count++;
  l->next = r->locals;
  if (!definition) {
    definition = NEW(r->memory, binding);
    definition->kind = BINDING_VARIABLE;
    definition->name = name;
    definition->where = where;
  }
  definition->slot = l->slot;
  l->definition = definition;
  r->locals = l;
  return definition;
}

// The number of a capture in the list; added where it is missing.
static uint32_t number_of_capture(resolver *r, capture_list *list, capture c) {
  for (uint32_t i = 0; i < list->count; i++)
    if (list->items[i].from_capture == c.from_capture && list->items[i].index == c.index)
      return i;
  vec_push(r->memory, list, c);
  return (uint32_t)list->count - 1;
}

// The number of the capture in f that holds `slot` of `owner`; added where it is missing, in every
// function between.
static uint32_t capture_index(resolver *r, function *f, const function *owner, uint32_t slot) {
  capture c = {false, slot};
  if (f->outer != owner)
    c = (capture){true, capture_index(r, f->outer, owner, slot)};
  return number_of_capture(r, &f->captures, c);
}

// The function beside `used` whose definition is being resolved uses it.
static void note_use(resolver *r, binding *used) {
  for (size_t i = r->open.count; used->kind == BINDING_FUNCTION && i-- > 0;)
    if (r->open.items[i]->block == used->block) {
      vec_push(r->memory, &r->open.items[i]->uses, used);
      return;
    }
}

// The function whose code is being walked names b.
static void note_user(resolver *r, binding *b) {
  if (b->user == r->function)
    r->function->repeats = true;
  b->user = r->function;
}

static void note_index(function *f) {
  for (; f && !f->indexes; f = f->outer)
    f->indexes = true;
}

// The library's own indices are inside, except where a function gives the element that its caller
// asks for: head xs = xs[0].
static bool is_inside(const resolver *r, const expr *index) {
  const function *f = r->function;
  return r->global->in_library && (f->outer || f->equations.items[0].alternatives[0].body != index);
}

// A function that names one with an index reaches that.
static void find_reached_indexes(resolver *r) {
  for (bool more = true; more;) {
    more = false;
    for (size_t i = r->references.count; i-- > 0;) {  // callees are last, as a rule
      const reference *u = &r->references.items[i];
      if (u->to->code && u->to->code->indexes && !u->from->indexes) {
        note_index(u->from);
        more = true;
      }
    }
  }
}

// The comprehensions around a use of a local use it, unless it is their own.
static void note_variable(resolver *r, const local *l) {
  for (open_comprehension *c = r->comprehension; c; c = c->outer) {
    if (!c->outside || l->number > c->outside->number)
      continue;
    capture v = {false, l->slot};
    if (c->function != l->owner)
      v = (capture){true, capture_index(r, c->function, l->owner, l->slot)};
    number_of_capture(r, &c->of->u.comprehension.variables, v);
  }
}

static bool bind_local(resolver *r, expr *e) {
  const local *l = find_local(r, e->u.name.text);
  if (!l)
    return false;
  e->u.name.target = l->definition;
  note_use(r, l->definition);
  note_variable(r, l);
  if (l->definition->kind == BINDING_FUNCTION)
    note_user(r, l->definition);
  bool own = l->owner == r->function;
  e->u.name.kind = own ? REF_SLOT : REF_CAPTURE;
  e->u.name.index = own ? l->slot : capture_index(r, r->function, l->owner, l->slot);
  return true;
}

static const builtin *find_builtin(const builtin_table *t, const char *name) {
  for (size_t i = 0; i < t->count; i++)
    if (!strcmp(t->rows[i].name, name))
      return &t->rows[i];
  return NULL;
}

static void resolve_name(resolver *r, expr *e) {
  const char *name = e->u.name.text;
  if (bind_local(r, e))
    return;
  binding *b = r->global->in_library ? NULL : table_find(&r->user, name);
  if (!b)
    b = table_find(&r->library, name);
  if (b) {
    e->u.name.kind = REF_GLOBAL;
    e->u.name.target = b;
    vec_push(r->memory, &r->global->uses, b);
    if (!r->global->in_library)
      vec_push(r->memory, &r->references, ((reference){r->function, b}));
    note_user(r, b);
    return;
  }
  e->u.name.kind = REF_BUILTIN;
  e->u.name.row = find_builtin(r->builtins, name);
  if (!e->u.name.row)
    report_unbound(r, e->where, name);
}

static pattern *make_pattern_slots(resolver *r, pattern *p, const local *before) {
  if (p->kind == PATTERN_NAME) {
    if (is_bound_since(r, p->name, before)) {
      diag_report(r->d, DIAG_ERROR, p->where, "'%s' appears twice in these patterns", p->name);
      diag_report(r->d, DIAG_HINT, p->where,
                  "name one of them differently, or _; whether both are equal is asked by ==");
    }
    p->slot = add_local(r, p->name, p->where, NULL)->slot;
    p->definition = r->locals->definition;
  }
  for (uint32_t i = 0; i < p->count; i++)
    make_pattern_slots(r, p->items[i], before);
  return p;
}

// ---- expressions -----------------------------------------------------------------------------

static void resolve_bindings(resolver *r, binding **bindings, uint32_t count);
static void group_functions(resolver *r, binding **bindings, uint32_t count);

static void resolve_comprehension(resolver *r, expr *e) {
  local *outside = r->locals;
  open_comprehension here = {e, r->function, outside, r->comprehension};
  r->comprehension = &here;
  for (uint32_t i = 0; i < e->u.comprehension.count; i++) {
    qualifier *q = &e->u.comprehension.qualifiers[i];
    resolve_expr(r, q->source);
    if (q->second)
      resolve_expr(r, q->second);
    if (q->last)
      resolve_expr(r, q->last);
    if (q->target)
      make_pattern_slots(r, q->target, r->locals);
  }
  resolve_expr(r, e->u.comprehension.body);
  r->comprehension = here.outer;
  leave_scope(r, outside);
}

static void resolve_let(resolver *r, expr *e) {
  local *outside = r->locals;
  resolve_bindings(r, e->u.let.bindings, e->u.let.count);
  resolve_expr(r, e->u.let.body);
  leave_scope(r, outside);
}

static void resolve_by_kind(resolver *r, expr *e) {
  switch (e->kind) {
  case EXPR_INT:
  case EXPR_FLOAT:
  case EXPR_BOOL:
    break;
  case EXPR_WILD:
    diag_report(r->d, DIAG_ERROR, e->where, "'_' is a pattern and has no value");
    break;
  case EXPR_NAME:
    resolve_name(r, e);
    break;
  case EXPR_APPLY:
    resolve_expr(r, e->u.apply.function);
    resolve_expr(r, e->u.apply.argument);
    break;
  case EXPR_LAMBDA:
    resolve_function(r, e->u.lambda);
    break;
  case EXPR_LET:
    resolve_let(r, e);
    break;
  case EXPR_IF:
    resolve_expr(r, e->u.branch.condition);
    resolve_expr(r, e->u.branch.yes);
    resolve_expr(r, e->u.branch.no);
    break;
  case EXPR_TUPLE:
  case EXPR_LIST:
    for (uint32_t i = 0; i < e->u.list.count; i++)
      resolve_expr(r, e->u.list.items[i]);
    break;
  case EXPR_COMPREHENSION:
    resolve_comprehension(r, e);
    break;
  case EXPR_INDEX:
    e->u.at.inside = is_inside(r, e);
    if (!e->u.at.inside)
      note_index(r->function);
    resolve_expr(r, e->u.at.array);
    resolve_expr(r, e->u.at.index);
    break;
  case EXPR_PROJECT:
    resolve_expr(r, e->u.project.tuple);
    break;
  }
}

// The parser limits what nests to the right, but a sum of a million terms nests to the left. What
// passes here fits the stack of the later stages too.
static bool enter_nested(resolver *r, span where) {
  enum { DEEPEST = 100000 };
  if (++r->depth <= DEEPEST)
    return true;
  if (!r->too_deep)
    diag_report(r->d, DIAG_ERROR, where, "this is nested too deeply");
  r->too_deep = true;
  return false;
}

static void resolve_expr(resolver *r, expr *e) {
  if (enter_nested(r, e->where))
    resolve_by_kind(r, e);
  r->depth--;
}

// ---- functions and bindings ------------------------------------------------------------------

const expr *size_name(const expr *size, bool *power) {
  *power = size->kind == EXPR_APPLY;
  if (!*power)
    return size->kind == EXPR_NAME ? size : NULL;
  const expr *head = size->u.apply.function, *n = size->u.apply.argument;
  if (head->kind != EXPR_APPLY || n->kind != EXPR_NAME)
    return NULL;
  const expr *op = head->u.apply.function, *base = head->u.apply.argument;
  bool two = base->kind == EXPR_INT && base->u.integer.magnitude == 2 && !base->u.integer.negative;
  return two && op->kind == EXPR_NAME && !strcmp(op->u.name.text, "^") ? n : NULL;
}

const expr *result_of(const expr *body) {
  while (body->kind == EXPR_LET)
    body = body->u.let.body;
  return body;
}

static void collect_size_names(resolver *r, binding *b, const type_expr *t) {
  bool power;
  const expr *name = t->kind == TYPE_EXPR_ARRAY && t->size ? size_name(t->size, &power) : NULL;
  bool known = !name;
  for (size_t i = 0; !known && i < b->size_names.count; i++)
    known = !strcmp(b->size_names.items[i], name->u.name.text);
  if (!known)
    vec_push(r->memory, &b->size_names, name->u.name.text);
  for (uint32_t i = 0; i < t->count; i++)
    collect_size_names(r, b, t->parts[i]);
}

static void resolve_sizes_inside(resolver *r, const type_expr *t) {
  if (t->kind == TYPE_EXPR_ARRAY && t->size)
    resolve_expr(r, t->size);
  for (uint32_t i = 0; i < t->count; i++)
    resolve_sizes_inside(r, t->parts[i]);
}

static void resolve_sizes(resolver *r, const type_expr *signature) {
  r->in_sizes = true;
  resolve_sizes_inside(r, signature);
  r->in_sizes = false;
}

// Only what a call is given can bind sizes: the parameters of the signature that are no functions.
static void bind_size_names(resolver *r, binding *b) {
  const type_expr *t = b->signature;
  for (; t->kind == TYPE_EXPR_FUNCTION; t = t->parts[1])
    if (t->parts[0]->kind != TYPE_EXPR_FUNCTION)
      collect_size_names(r, b, t->parts[0]);
  b->first_size_slot = r->function->slot_count;
  for (size_t i = 0; i < b->size_names.count; i++)
    add_local(r, b->size_names.items[i], b->where, NULL)->is_size = true;
  resolve_sizes(r, b->signature);
}

static bool has_sizes(const type_expr *t) {
  if (t->kind == TYPE_EXPR_ARRAY && t->size)
    return true;
  for (uint32_t i = 0; i < t->count; i++)
    if (has_sizes(t->parts[i]))
      return true;
  return false;
}

// Sizes are bound and checked once a call has all arguments of the signature. Without sizes too, a
// local definition f = g n is a function, not a value, when its signature says so.
static uint32_t call_arity(const function *f) {
  const binding *b = f->binding;
  if (!b || !b->signature || b->signature_arrows <= f->arity)
    return f->arity;
  bool local_name = !b->global && !f->arity;
  return local_name || has_sizes(b->signature) ? b->signature_arrows : f->arity;
}

static void resolve_right(resolver *r, equation *q) {
  local *outside = r->locals;
  resolve_bindings(r, q->locals, q->local_count);
  for (uint32_t i = 0; i < q->alternative_count; i++) {
    if (q->alternatives[i].guard)
      resolve_expr(r, q->alternatives[i].guard);
    resolve_expr(r, q->alternatives[i].body);
  }
  leave_scope(r, outside);
}

static void resolve_equation(resolver *r, equation *q) {
  local *outside = r->locals;
  for (uint32_t i = 0; i < r->function->arity; i++)
    make_pattern_slots(r, q->patterns[i], outside);
  resolve_right(r, q);
  leave_scope(r, outside);
}

static void resolve_function(resolver *r, function *f) {
  function *outer = r->function;
  local *outside = r->locals;
  f->outer = outer;
  r->function = f;
  f->call_arity = call_arity(f);
  if (f->binding && f->binding->signature)
    bind_size_names(r, f->binding);
  for (size_t i = 0; i < f->equations.count; i++)
    resolve_equation(r, &f->equations.items[i]);
  r->function = outer;
  leave_scope(r, outside);
}

// A local value is computed in the activation that it belongs to, so its expressions are resolved
// there.
static void resolve_value(resolver *r, binding *b) {
  if (b->signature)
    resolve_sizes(r, b->signature);
  resolve_right(r, &b->code->equations.items[0]);
}

static void resolve_bindings(resolver *r, binding **bindings, uint32_t count) {
  const local *before = r->locals;
  uint32_t block = ++r->blocks;
  for (uint32_t i = 0; i < count; i++) {
    binding *b = bindings[i];
    b->block = block;
    if (b->kind == BINDING_PATTERN) {
      b->slot = r->function->slot_count++;
      make_pattern_slots(r, b->target, before);
      continue;
    }
    b->kind = b->code->arity || b->signature_arrows ? BINDING_FUNCTION : BINDING_VALUE;
    if (is_bound_since(r, b->name, before))
      diag_report(r->d, DIAG_ERROR, b->where, "'%s' is defined twice", b->name);
    add_local(r, b->name, b->where, b);
  }
  for (uint32_t i = 0; i < count; i++) {
    binding *b = bindings[i];
    if (b->kind != BINDING_FUNCTION) {
      resolve_value(r, b);
      continue;
    }
    b->code->binding = b;
    vec_push(r->memory, &r->open, b);
    resolve_function(r, b->code);
    r->open.count--;
  }
  group_functions(r, bindings, count);
}

// ---- groups (Tarjan's strongly connected components) -----------------------------------------

static void visit_binding(resolver *r, binding *b);

// No local name is in scope here: a definition is resolved before those that it uses are visited.
static void resolve_global(resolver *r, binding *b) {
  r->global = b;
  if (!b->code)
    return;
  b->code->binding = b;
  resolve_function(r, b->code);
}

// up xs = ... (up a) ... (down b), each of which calls the other: `up` calls itself twice.
static void note_repeats(binding *b) {
  size_t count = 0;
  for (size_t i = 0; i < b->uses.count; i++)
    count += b->uses.items[i]->low == b->low;
  if (b->code && count > 1)
    b->code->repeats = true;
}

static void pop_group(resolver *r, binding *root) {
  binding_group g = {0};
  binding *b;
  do {
    b = r->stack.items[--r->stack.count];
    b->on_stack = false;
    b->low = root->order;  // of its group alone
    vec_push(r->memory, &g, b);
  } while (b != root);
  for (size_t i = 0; i < g.count; i++)
    note_repeats(g.items[i]);
  vec_push(r->memory, r->groups, g);
}

static void visit_binding(resolver *r, binding *b) {
  b->order = b->low = ++r->counter;
  b->on_stack = true;
  vec_push(r->memory, &r->stack, b);
  if (b->global)
    resolve_global(r, b);
  for (size_t i = 0; i < b->uses.count; i++) {
    binding *u = b->uses.items[i];
    if (!u->order) {
      if (enter_nested(r, u->where))
        visit_binding(r, u);
      r->depth--;
    }
    if (u->on_stack && u->low < b->low)
      b->low = u->low;
  }
  if (b->low == b->order)
    pop_group(r, b);
}

// Puts the functions of a block first, in the order of inference.
static void group_functions(resolver *r, binding **bindings, uint32_t count) {
  binding_groups groups = {0}, *outer = r->groups;
  binding_group values = {0};
  r->groups = &groups;
  for (uint32_t i = 0; i < count; i++) {
    if (bindings[i]->kind != BINDING_FUNCTION)
      vec_push(r->memory, &values, bindings[i]);
    else if (!bindings[i]->order)
      visit_binding(r, bindings[i]);
  }
  r->groups = outer;
  size_t next = 0;
  for (size_t g = 0; g < groups.count; g++)
    for (size_t i = 0; i < groups.items[g].count; i++) {
      groups.items[g].items[i]->group = (uint32_t)g;
      bindings[next++] = groups.items[g].items[i];
    }
  for (size_t i = 0; i < values.count; i++)
    bindings[next++] = values.items[i];
}

// Those of the library may have been used by a program that is gone, and another function is in its
// place.
static void forget_users(const program *p) {
  for (size_t m = 0; m < p->modules.count; m++)
    for (size_t i = 0; i < p->modules.items[m]->bindings.count; i++)
      p->modules.items[m]->bindings.items[i]->user = NULL;
}

bool resolve_program(diagnostics *d, program *p, const builtin_table *t, binding_groups *groups) {
  resolver r = {.d = d, .memory = d->memory, .builtins = t, .groups = groups};
  r.user = table_create(&r, p, false);
  r.library = table_create(&r, p, true);
  forget_users(p);
  for (size_t m = 0; m < p->modules.count; m++) {
    const module *mod = p->modules.items[m];
    for (size_t i = 0; i < mod->bindings.count; i++)
      if (!mod->bindings.items[i]->order)
        visit_binding(&r, mod->bindings.items[i]);
  }
  find_reached_indexes(&r);
  return !d->errors;
}
