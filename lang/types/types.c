// Types: construction, unification, defaults, schemes.
#include "lang/types/types.h"

type *type_prune(type *t) {
  type *root = t;
  while (root->kind == TYPE_VARIABLE && root->link)
    root = root->link;
  // Later searches are short: a long sum links a variable per term.
  while (t != root) {
    type *next = t->link;
    t->link = root;
    t = next;
  }
  return root;
}

static type *new_type(arena *a, type_kind kind, uint32_t count) {
  type *t = NEW(a, type);
  t->kind = kind;
  t->count = count;
  if (count)
    t->parts = NEW_ARRAY(a, type *, count);
  return t;
}

// Complex types are COMPLEX(real), so that a function can relate both.
type *type_scalar(arena *a, scalar_type s) {
  bool complex = scalar_types[s].kind == KIND_COMPLEX;
  type *t = new_type(a, complex ? TYPE_COMPLEX : TYPE_SCALAR, complex ? 1 : 0);
  t->scalar = s;
  if (complex)
    t->parts[0] = type_scalar(a, scalar_real_of(s));
  return t;
}

type *type_array(arena *a, type *element) {
  type *t = new_type(a, TYPE_ARRAY, 1);
  t->parts[0] = element;
  return t;
}

type *type_function(arena *a, type *parameter, type *result) {
  type *t = new_type(a, TYPE_FUNCTION, 2);
  t->parts[0] = parameter;
  t->parts[1] = result;
  return t;
}

type *type_tuple(arena *a, type **parts, uint32_t count) {
  type *t = new_type(a, TYPE_TUPLE, count);
  memcpy(t->parts, parts, count * sizeof *parts);
  return t;
}

type *type_variable(arena *a, constraint c, uint32_t level) {
  type *t = new_type(a, TYPE_VARIABLE, 0);
  t->constraint = c;
  t->level = level;
  return t;
}

type *type_part(const type *t, size_t i) {
  if (i < t->count)
    return t->parts[i];
  i -= t->count;
  return i < t->fields.count ? t->fields.items[i].type : NULL;
}

static bool holds(type *t, type_kind kind) {
  t = type_prune(t);
  type *part;
  bool found = t->kind == kind;
  for (size_t i = 0; !found && (part = type_part(t, i)); i++)
    found = holds(part, kind);
  return found;
}

bool type_is_first_order(type *t) { return !holds(t, TYPE_FUNCTION); }

bool type_has_arrays(type *t) { return holds(t, TYPE_ARRAY); }

scalar_type closed_scalar(type *t) {
  t = type_prune(t);
  if (t->kind == TYPE_SCALAR)
    return t->scalar;
  if (t->kind != TYPE_COMPLEX)
    return SCALAR_COUNT;
  scalar_type real = closed_scalar(t->parts[0]);
  return real == SCALAR_COUNT ? SCALAR_COUNT : scalar_complex_of(real);
}

bool type_contains(type *t, const type *v) {
  t = type_prune(t);
  type *part;
  for (size_t i = 0; (part = type_part(t, i)); i++)
    if (type_prune(part) == v || type_contains(part, v))
      return true;
  return false;
}

const expr *type_literal(type *t) {
  t = type_prune(t);
  const expr *found = t->literal;
  type *part;
  for (size_t i = 0; !found && (part = type_part(t, i)); i++)
    found = type_literal(part);
  return found;
}

bool first_order_parameters(type *t) {
  for (t = type_prune(t); t->kind == TYPE_FUNCTION; t = type_prune(t->parts[1]))
    if (!type_is_first_order(t->parts[0]))
      return false;
  return type_is_first_order(t);
}

// Of \xs -> xs [0] the parameter seems to be a function of a list.
const char *hint_for_functions(type *t) {
  for (t = type_prune(t); t->kind == TYPE_FUNCTION; t = type_prune(t->parts[1])) {
    const type *p = type_prune(t->parts[0]);
    const type *list = p->kind == TYPE_FUNCTION ? type_prune(p->parts[0]) : p;
    const type *item = list != p && list->kind == TYPE_ARRAY ? type_prune(list->parts[0]) : NULL;
    if (item && item->kind == TYPE_VARIABLE && item->constraint.kind == CONSTRAINT_SCALAR)
      return "xs [0] is a function xs of the list [0]; an element is xs[0], without a blank";
  }
  return "give each function all arguments but the data: padded maxval sort, map f";
}

// ---- unification -----------------------------------------------------------------------------

static bool occurs(const type *v, type *t, uint32_t level) {
  t = type_prune(t);
  if (t == v)
    return true;
  if (t->kind == TYPE_VARIABLE && t->level > level)
    t->level = level;
  type *part;
  for (size_t i = 0; (part = type_part(t, i)); i++)
    if (occurs(v, part, level))
      return true;
  return false;
}

static bool constrain_type(arena *a, type *t, constraint c) {
  t = type_prune(t);
  if (c.kind == CONSTRAINT_NONE)
    return true;
  switch (t->kind) {
  case TYPE_SCALAR:
    return (c.allowed & CLASS_OF(t->scalar)) != 0;
  case TYPE_COMPLEX: {
    constraint real = {CONSTRAINT_SCALAR, 0};
    if (c.allowed & CLASS_OF(SCALAR_C64))
      real.allowed |= CLASS_OF(SCALAR_F32);
    if (c.allowed & CLASS_OF(SCALAR_C128))
      real.allowed |= CLASS_OF(SCALAR_F64);
    return constrain_type(a, t->parts[0], real);
  }
  case TYPE_TUPLE:
    if (c.kind != CONSTRAINT_EACH)
      return false;
    for (uint32_t i = 0; i < t->count; i++)
      if (!constrain_type(a, t->parts[i], c))
        return false;
    return true;
  case TYPE_VARIABLE: {
    constraint was = t->constraint;
    if (was.kind == CONSTRAINT_NONE)
      was.allowed = CLASS_ANY;
    constraint both = {was.kind > c.kind ? was.kind : c.kind, was.allowed & c.allowed};
    if (!both.allowed || (both.kind == CONSTRAINT_SCALAR && t->fields.count))
      return false;
    t->constraint = both;
    for (size_t i = 0; i < t->fields.count; i++)
      if (!constrain_type(a, t->fields.items[i].type, c))
        return false;
    return true;
  }
  default:
    return false;
  }
}

// The field of a variable that will be a tuple; a new one when it was not known yet.
static bool unify_field(arena *a, type *v, type_field f) {
  if (v->constraint.kind == CONSTRAINT_SCALAR)
    return false;
  for (size_t i = 0; i < v->fields.count; i++)
    if (v->fields.items[i].index == f.index)
      return type_unify(a, v->fields.items[i].type, f.type);
  vec_push(a, &v->fields, f);
  return constrain_type(a, f.type, v->constraint);
}

static bool link_variable(arena *a, type *v, type *t) {
  if (v->rigid && t->kind != TYPE_VARIABLE)
    return false;
  // Signatures of one group of functions that call each other may name the same type twice: even :
  // a -> int, odd : b -> int. That one signature's names stay apart is checked at the end.
  if (v->rigid && t->rigid && (v->level != t->level || v->signer == t->signer))
    return false;
  if (v->rigid) {
    type *swap = v;
    v = t;
    t = swap;
  }
  if (occurs(v, t, v->level))
    return false;
  if (t->rigid && v->fields.count)
    return false;
  constraint before = t->kind == TYPE_VARIABLE ? t->constraint : (constraint){0};
  if (!constrain_type(a, t, v->constraint)) {
    if (t->kind == TYPE_VARIABLE)
      t->constraint = before;
    return false;
  }
  for (size_t i = 0; i < v->fields.count; i++) {
    type_field f = v->fields.items[i];
    if (t->kind == TYPE_VARIABLE) {
      if (occurs(t, f.type, t->level) || !unify_field(a, t, f))
        return false;
    } else if (t->kind != TYPE_TUPLE || f.index >= t->count ||
               !type_unify(a, t->parts[f.index], f.type)) {
      return false;
    }
  }
  if (t->kind == TYPE_VARIABLE && !t->rigid && v->literal &&
      (!t->literal || v->literal->where.start < t->literal->where.start))
    t->literal = v->literal;
  v->link = t;
  return true;
}

bool type_unify(arena *a, type *wanted, type *found) {
  wanted = type_prune(wanted);
  found = type_prune(found);
  if (wanted == found)
    return true;
  if (wanted->kind == TYPE_VARIABLE)
    return link_variable(a, wanted, found);
  if (found->kind == TYPE_VARIABLE)
    return link_variable(a, found, wanted);
  if (wanted->kind != found->kind || wanted->count != found->count)
    return false;
  if (wanted->kind == TYPE_SCALAR)
    return wanted->scalar == found->scalar;
  for (uint32_t i = 0; i < wanted->count; i++)
    if (!type_unify(a, wanted->parts[i], found->parts[i]))
      return false;
  return true;
}

bool type_seems_to_unify(type *a, type *b) {
  a = type_prune(a);
  b = type_prune(b);
  if (a->kind != TYPE_VARIABLE && b->kind == TYPE_VARIABLE)
    return type_seems_to_unify(b, a);
  if (a == b || (a->kind == TYPE_VARIABLE && b->kind == TYPE_VARIABLE))
    return a == b || !a->rigid || !b->rigid;
  if (a->kind == TYPE_VARIABLE)
    return !a->rigid && (a->constraint.kind == CONSTRAINT_NONE ||
                         (b->kind != TYPE_ARRAY && b->kind != TYPE_FUNCTION));
  if (a->kind != b->kind || a->count != b->count || a->scalar != b->scalar)
    return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (!type_seems_to_unify(a->parts[i], b->parts[i]))
      return false;
  return true;
}

// ---- defaults --------------------------------------------------------------------------------

static void set_default_tuple(arena *a, type *t) {
  uint32_t count = 2;
  for (size_t i = 0; i < t->fields.count; i++)
    if (t->fields.items[i].index >= count)
      count = t->fields.items[i].index + 1;
  type **parts = NEW_ARRAY(a, type *, count);
  for (uint32_t i = 0; i < count; i++)
    parts[i] = type_variable(a, t->constraint, t->level);
  type_unify(a, t, type_tuple(a, parts, count));
  for (uint32_t i = 0; i < count; i++)
    type_set_default(a, parts[i]);
}

void type_set_default(arena *a, type *t) {
  static const scalar_type order[] = {SCALAR_I64,  SCALAR_F64, SCALAR_C128,
                                      SCALAR_BOOL, SCALAR_F32, SCALAR_C64};
  t = type_prune(t);
  if (t->kind != TYPE_VARIABLE || t->rigid)
    return;
  if (t->fields.count) {
    set_default_tuple(a, t);
    return;
  }
  scalar_class allowed = t->constraint.kind == CONSTRAINT_NONE ? CLASS_ANY : t->constraint.allowed;
  scalar_type s = 0;
  while (!(allowed & CLASS_OF(s)))
    s++;
  for (size_t i = sizeof order / sizeof *order; i-- > 0;)
    if (allowed & CLASS_OF(order[i]))
      s = order[i];
  type_unify(a, t, type_scalar(a, s));
}

// ---- schemes ---------------------------------------------------------------------------------

typedef struct copier {
  arena *memory;
  const quantifier *from;
  type **instance;
  uint32_t level;
} copier;

static type *copy_type(copier *c, type *t);

static type *copy_variable(copier *c, type *t) {
  if (t->owner != c->from)
    return t;
  type **at = &c->instance[t->index];
  if (*at)
    return *at;
  *at = type_variable(c->memory, t->constraint, c->level);
  (*at)->literal = t->literal;
  for (size_t i = 0; i < t->fields.count; i++) {
    type_field f = {t->fields.items[i].index, copy_type(c, t->fields.items[i].type)};
    vec_push(c->memory, &(*at)->fields, f);
  }
  return *at;
}

static type *copy_type(copier *c, type *t) {
  t = type_prune(t);
  if (t->kind == TYPE_VARIABLE)
    return copy_variable(c, t);
  if (!t->count)
    return t;
  type *n = new_type(c->memory, t->kind, t->count);
  n->scalar = t->scalar;
  n->literal = t->literal;
  for (uint32_t i = 0; i < t->count; i++)
    n->parts[i] = copy_type(c, t->parts[i]);
  return n;
}

type *scheme_instantiate(arena *a, scheme *s, uint32_t level, type ***instance) {
  *instance = NULL;
  size_t count = s->all->variables.count;
  if (!count)
    return s->type;
  copier c = {a, s->all, NEW_ARRAY(a, type *, count), level};
  type *t = copy_type(&c, s->type);
  for (size_t i = 0; i < count; i++)
    copy_variable(&c, s->all->variables.items[i]);
  *instance = c.instance;
  return t;
}
