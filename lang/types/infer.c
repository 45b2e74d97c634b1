// Type inference (Hindley-Milner with levels; constraints on variables in place of classes). In:
// groups of resolved bindings, callees first. Out: a scheme per binding; types of literals and the
// instances of names.
//
// Rules: Damas and Milner, "Principal type-schemes for functional programs", POPL 1982; levels for
// generalisation: Rémy 1992. Functions are generalised, local values are not (their literals take
// the type that the uses ask for).
#include "lang/types/types.h"

typedef struct inferrer {
  diagnostics *d;
  arena *memory;
  const builtin_table *builtins;
  uint32_t level;
  type_name *names;
  const binding *signer;  // whose signature is being read
  VEC(type *) open;       // variables made in this group: those left over get their default
  type *integer, *boolean;
} inferrer;

static type *infer_expr(inferrer *in, expr *e);
static type *infer_function(inferrer *in, function *f);

static const constraint anything = {CONSTRAINT_NONE, 0};

static type *fresh_variable(inferrer *in, constraint c) {
  type *t = type_variable(in->memory, c, in->level);
  vec_push(in->memory, &in->open, t);
  return t;
}

// ---- messages --------------------------------------------------------------------------------

static const char *type_text(inferrer *in, type *t) {
  text out = {0};
  type_print(&out, t);
  return arena_text(in->memory, &out);
}

static void both_type_texts(inferrer *in, type *const types[2], const char *texts[2]) {
  text out[2] = {{0}};
  type_print_both(&out[0], types[0], &out[1], types[1]);
  for (int i = 0; i < 2; i++)
    texts[i] = arena_text(in->memory, &out[i]);
}

static bool explain_mismatch(inferrer *in, span where, type *wanted, type *found);

// Why a variable cannot become this type; false if it could.
static bool explain_variable(inferrer *in, span where, type *v, type *t) {
  if (v->rigid) {
    diag_report(in->d, DIAG_HINT, where,
                "'%s' in a signature may be any type, but this definition makes it %s", v->name,
                type_text(in, t));
    return true;
  }
  if (t->kind == TYPE_VARIABLE && t->rigid)
    return explain_variable(in, where, t, v);
  for (size_t i = 0; i < v->fields.count; i++) {
    uint32_t field = v->fields.items[i].index;
    if (t->kind == TYPE_TUPLE && field < t->count) {
      if (explain_mismatch(in, where, v->fields.items[i].type, t->parts[field]))
        return true;
      continue;
    }
    diag_report(in->d, DIAG_HINT, where, "%s has no component .%u", type_text(in, t), field);
    return true;
  }
  if (v->constraint.kind == CONSTRAINT_NONE || t->kind == TYPE_VARIABLE)
    return false;
  diag_report(in->d, DIAG_HINT, where, "%s is not %s", type_text(in, t),
              type_constraint_name(v->constraint));
  return true;
}

// Finds the place where two types that could not be made equal differ, and says why.
static bool explain_mismatch(inferrer *in, span where, type *wanted, type *found) {
  wanted = type_prune(wanted);
  found = type_prune(found);
  if (wanted == found)
    return false;
  if (wanted->kind == TYPE_VARIABLE)
    return explain_variable(in, where, wanted, found);
  if (found->kind == TYPE_VARIABLE)
    return explain_variable(in, where, found, wanted);
  if (wanted->kind != found->kind || wanted->count != found->count)
    return false;
  for (uint32_t i = 0; i < wanted->count; i++)
    if (explain_mismatch(in, where, wanted->parts[i], found->parts[i]))
      return true;
  return false;
}

// "expected a number" says it all.
static bool is_only_constrained(const type *t) {
  return t->kind == TYPE_VARIABLE && !t->rigid && !t->fields.count &&
         t->constraint.kind != CONSTRAINT_NONE;
}

static void hint_mismatch(inferrer *in, span where, type *wanted, type *found) {
  bool numbers = wanted->kind == TYPE_SCALAR && found->kind == TYPE_SCALAR &&
                 wanted->scalar != SCALAR_BOOL && found->scalar != SCALAR_BOOL;
  if (numbers)
    diag_report(in->d, DIAG_HINT, where, "no conversion is implicit: write %s (...)",
                scalar_types[wanted->scalar].name);
  else if (found->kind == TYPE_FUNCTION && wanted->kind != TYPE_FUNCTION)
    diag_report(in->d, DIAG_HINT, where, "an argument may be missing");
  else if (!is_only_constrained(wanted) && !is_only_constrained(found))
    explain_mismatch(in, where, wanted, found);
}

// Makes both types equal or says that this expression has the wrong one.
static bool expect_type(inferrer *in, span where, type *wanted, type *found) {
  wanted = type_prune(wanted);
  found = type_prune(found);
  if (wanted == found)
    return true;
  // Shown as they were before a unification that fails half-way.
  bool compound = wanted->kind != TYPE_VARIABLE && found->kind != TYPE_VARIABLE &&
                  (wanted->count || found->count);
  type *const both[2] = {wanted, found};
  const char *names[2];
  if (compound)
    both_type_texts(in, both, names);
  if (type_unify(in->memory, wanted, found))
    return true;
  if (!compound)
    both_type_texts(in, both, names);
  bool named = wanted->rigid || found->rigid;
  if (!named && (type_contains(wanted, found) || type_contains(found, wanted))) {
    diag_report(in->d, DIAG_ERROR, where, "this needs a type that contains itself: %s",
                names[wanted->kind == TYPE_VARIABLE]);
    return false;
  }
  diag_report(in->d, DIAG_ERROR, where, "expected %s, found %s", names[0], names[1]);
  hint_mismatch(in, where, wanted, found);
  return false;
}

// Nodes of a type, counted up to the limit: types with shared parts can be exponentially large.
static unsigned type_size(type *t, unsigned limit) {
  unsigned size = 1;
  t = type_prune(t);
  for (uint32_t i = 0; i < t->count && size < limit; i++)
    size += type_size(t->parts[i], limit - size);
  for (size_t i = 0; i < t->fields.count && size < limit; i++)
    size += type_size(t->fields.items[i].type, limit - size);
  return size;
}

static bool is_too_large(inferrer *in, span where, const char *what, type *t) {
  enum { LARGEST_TYPE = 4096 };
  if (type_size(t, LARGEST_TYPE) < LARGEST_TYPE)
    return false;
  diag_report(in->d, DIAG_ERROR, where, "the type of %s is too large", what);
  return true;
}

// ---- types as written ------------------------------------------------------------------------

static type *named_variable(inferrer *in, const char *name) {
  for (const type_name *n = in->names; n; n = n->next)
    if (!strcmp(n->name, name))
      return n->variable;
  type_name *n = NEW(in->memory, type_name);
  n->name = name;
  n->variable = type_variable(in->memory, anything, in->level);
  n->variable->rigid = true;
  n->variable->name = name;
  n->variable->signer = in->signer;
  n->next = in->names;
  in->names = n;
  return n->variable;
}

// Any other word in small letters is a type variable, but what other languages call a type is taken
// for a mistake.
static bool is_foreign_type(const char *name) {
  static const char *const words[] = {"float",   "double",  "complex",   "integer",   "boolean",
                                      "int8",    "int16",   "int32",     "int64",     "uint",
                                      "uint8",   "uint16",  "uint32",    "uint64",    "float16",
                                      "float32", "float64", "complex64", "complex128"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(name, words[i]))
      return true;
  return name[0] >= 'A' && name[0] <= 'Z';
}

static type *type_of_written(inferrer *in, const type_expr *t) {
  switch (t->kind) {
  case TYPE_EXPR_NAME: {
    scalar_type s = scalar_named(t->name, strlen(t->name));
    if (s != SCALAR_COUNT)
      return type_scalar(in->memory, s);
    if (is_foreign_type(t->name)) {
      diag_report(in->d, DIAG_ERROR, t->where, "'%s' is not a type", t->name);
      diag_report(in->d, DIAG_HINT, t->where,
                  "types are int, bool, i8 ... i64, u8 ... u64, f16, f32, f64, c64, c128; names "
                  "that stand for any type begin with a small letter");
      return fresh_variable(in, anything);
    }
    return named_variable(in, t->name);
  }
  case TYPE_EXPR_ARRAY:
    return type_array(in->memory, type_of_written(in, t->parts[0]));
  case TYPE_EXPR_FUNCTION: {
    type *parameter = type_of_written(in, t->parts[0]);
    return type_function(in->memory, parameter, type_of_written(in, t->parts[1]));
  }
  case TYPE_EXPR_TUPLE:
    break;
  }
  type **parts = NEW_ARRAY(in->memory, type *, t->count);
  for (uint32_t i = 0; i < t->count; i++)
    parts[i] = type_of_written(in, t->parts[i]);
  return type_tuple(in->memory, parts, t->count);
}

static void infer_sizes(inferrer *in, const type_expr *t) {
  if (t->kind == TYPE_EXPR_ARRAY && t->size)
    expect_type(in, t->size->where, in->integer, infer_expr(in, t->size));
  for (uint32_t i = 0; i < t->count; i++)
    infer_sizes(in, t->parts[i]);
}

// ---- generalisation --------------------------------------------------------------------------

static void quantify_variables(inferrer *in, quantifier *all, type *t) {
  t = type_prune(t);
  if (t->kind == TYPE_VARIABLE) {
    if (t->level <= in->level || t->owner)
      return;
    t->owner = all;
    t->index = (uint32_t)all->variables.count;
    vec_push(in->memory, &all->variables, t);
    for (size_t i = 0; i < t->fields.count; i++)
      quantify_variables(in, all, t->fields.items[i].type);
    return;
  }
  for (uint32_t i = 0; i < t->count; i++)
    quantify_variables(in, all, t->parts[i]);
}

static scheme *generalise(inferrer *in, quantifier *all, type *t) {
  scheme *s = NEW(in->memory, scheme);
  s->type = t;
  s->all = all;
  quantify_variables(in, all, t);
  return s;
}

// Variables of this group that nothing decides get their default; those that belong to an enclosing
// function are left to it.
static void set_defaults(inferrer *in, const binding *b, size_t from) {
  size_t kept = from;
  for (size_t i = from; i < in->open.count && !in->d->errors; i++) {
    type *t = type_prune(in->open.items[i]);
    if (t->kind != TYPE_VARIABLE || t->owner || is_too_large(in, b->where, "this definition", t))
      continue;
    if (t->level > in->level)
      type_set_default(in->memory, t);
    else
      in->open.items[kept++] = t;
  }
  in->open.count = kept;
}

// ---- patterns --------------------------------------------------------------------------------

static const constraint number = {CONSTRAINT_SCALAR, CLASS_NUM};

static type *literal_type(inferrer *in, scalar_type suffix, scalar_class allowed) {
  return suffix != SCALAR_COUNT ? type_scalar(in->memory, suffix)
                                : fresh_variable(in, (constraint){CONSTRAINT_SCALAR, allowed});
}

static type *infer_pattern(inferrer *in, pattern *p) {
  switch (p->kind) {
  case PATTERN_INT:
    return p->type = literal_type(in, p->suffix, number.allowed);
  case PATTERN_BOOL:
    return in->boolean;
  case PATTERN_WILD:
    return fresh_variable(in, anything);
  case PATTERN_NAME:
    return p->definition->monotype = fresh_variable(in, anything);
  case PATTERN_LIST: {
    type *element = fresh_variable(in, anything);
    for (uint32_t i = 0; i < p->count; i++)
      expect_type(in, p->items[i]->where, element, infer_pattern(in, p->items[i]));
    return type_array(in->memory, element);
  }
  case PATTERN_TUPLE:
    break;
  }
  type **parts = NEW_ARRAY(in->memory, type *, p->count);
  for (uint32_t i = 0; i < p->count; i++)
    parts[i] = infer_pattern(in, p->items[i]);
  return type_tuple(in->memory, parts, p->count);
}

// ---- expressions -----------------------------------------------------------------------------

static type *infer_name(inferrer *in, expr *e) {
  scheme *s = NULL;
  if (e->u.name.kind != REF_BUILTIN && e->u.name.target->is_size)
    return in->integer;
  if (e->u.name.kind == REF_BUILTIN) {
    if (!e->u.name.row)
      return fresh_variable(in, anything);  // reported by resolve.c
    s = e->u.name.row->scheme;
  } else if (e->u.name.target->scheme) {
    s = e->u.name.target->scheme;
  } else {
    type *t = e->u.name.target->monotype;
    return t ? t : fresh_variable(in, anything);
  }
  type *t = scheme_instantiate(in->memory, s, in->level, &e->u.name.instance);
  e->u.name.instance_count = (uint32_t)s->all->variables.count;
  for (uint32_t i = 0; i < e->u.name.instance_count; i++)
    vec_push(in->memory, &in->open, e->u.name.instance[i]);
  return t;
}

static const expr *callee_of(const expr *e, uint32_t *arguments) {
  *arguments = 0;
  for (; e->kind == EXPR_APPLY; e = e->u.apply.function)
    ++*arguments;
  return e;
}

static void report_not_function(inferrer *in, const expr *e, type *t) {
  uint32_t given;
  const expr *callee = callee_of(e, &given);
  if (callee->kind == EXPR_NAME && given > 1)
    diag_report(in->d, DIAG_ERROR, e->where, "'%s' takes %u argument%s, but is given %u",
                callee->u.name.text, given - 1, given == 2 ? "" : "s", given);
  else
    diag_report(in->d, DIAG_ERROR, e->u.apply.function->where,
                "this is applied to an argument, but it is %s, not a function", type_text(in, t));
}

static type *infer_apply(inferrer *in, expr *e) {
  type *callee = type_prune(infer_expr(in, e->u.apply.function));
  if (callee->kind == TYPE_VARIABLE) {
    type *f = type_function(in->memory, fresh_variable(in, anything), fresh_variable(in, anything));
    if (type_unify(in->memory, callee, f))
      callee = f;
  }
  type *argument = infer_expr(in, e->u.apply.argument);
  if (callee->kind != TYPE_FUNCTION) {
    report_not_function(in, e, callee);
    return fresh_variable(in, anything);
  }
  // After a mismatch nothing is known of the result: one mistake, one message.
  bool good = expect_type(in, e->u.apply.argument->where, callee->parts[0], argument);
  return good ? callee->parts[1] : fresh_variable(in, anything);
}

static void infer_bindings(inferrer *in, binding **bindings, uint32_t count);

static type *infer_list(inferrer *in, expr *e) {
  if (e->kind == EXPR_LIST) {
    type *element = fresh_variable(in, anything);
    for (uint32_t i = 0; i < e->u.list.count; i++)
      expect_type(in, e->u.list.items[i]->where, element, infer_expr(in, e->u.list.items[i]));
    return e->type = type_array(in->memory, element);
  }
  type **parts = NEW_ARRAY(in->memory, type *, e->u.list.count);
  for (uint32_t i = 0; i < e->u.list.count; i++)
    parts[i] = infer_expr(in, e->u.list.items[i]);
  return type_tuple(in->memory, parts, e->u.list.count);
}

static void infer_qualifier(inferrer *in, qualifier *q) {
  type *found = infer_expr(in, q->source);
  if (!q->target) {
    expect_type(in, q->source->where, in->boolean, found);
    return;
  }
  type *element = fresh_variable(in, anything);
  if (q->last) {
    expect_type(in, q->source->where, in->integer, found);
    if (q->second)
      expect_type(in, q->second->where, in->integer, infer_expr(in, q->second));
    expect_type(in, q->last->where, in->integer, infer_expr(in, q->last));
    element = in->integer;
  } else {
    expect_type(in, q->source->where, type_array(in->memory, element), found);
  }
  expect_type(in, q->target->where, element, infer_pattern(in, q->target));
}

static type *infer_project(inferrer *in, expr *e) {
  type *tuple = type_prune(infer_expr(in, e->u.project.tuple));
  uint32_t field = e->u.project.field;
  if (tuple->kind == TYPE_TUPLE && field < tuple->count)
    return tuple->parts[field];
  if (tuple->kind == TYPE_TUPLE) {
    diag_report(in->d, DIAG_ERROR, e->where, "this tuple has %u components, .0 to .%u",
                tuple->count, tuple->count - 1);
    return fresh_variable(in, anything);
  }
  type *part = fresh_variable(in, anything), *holder = fresh_variable(in, anything);
  type_field f = {field, part};
  vec_push(in->memory, &holder->fields, f);
  if (!type_unify(in->memory, tuple, holder))
    diag_report(in->d, DIAG_ERROR, e->u.project.tuple->where,
                "expected a tuple with a component .%u, found %s", field, type_text(in, tuple));
  return part;
}

static type *infer_branch(inferrer *in, expr *e) {
  expect_type(in, e->u.branch.condition->where, in->boolean, infer_expr(in, e->u.branch.condition));
  type *yes = infer_expr(in, e->u.branch.yes);
  expect_type(in, e->u.branch.no->where, yes, infer_expr(in, e->u.branch.no));
  return yes;
}

static type *infer_by_kind(inferrer *in, expr *e) {
  switch (e->kind) {
  case EXPR_INT:
    return e->type = literal_type(in, e->suffix, CLASS_NUM);
  case EXPR_FLOAT:
    return e->type = literal_type(in, e->suffix, CLASS_FRAC);
  case EXPR_BOOL:
    return in->boolean;
  case EXPR_WILD:
    return fresh_variable(in, anything);
  case EXPR_NAME:
    return infer_name(in, e);
  case EXPR_APPLY:
    return infer_apply(in, e);
  case EXPR_LAMBDA:
    return infer_function(in, e->u.lambda);
  case EXPR_LET:
    infer_bindings(in, e->u.let.bindings, e->u.let.count);
    return infer_expr(in, e->u.let.body);
  case EXPR_IF:
    return infer_branch(in, e);
  case EXPR_TUPLE:
  case EXPR_LIST:
    return infer_list(in, e);
  case EXPR_COMPREHENSION:
    for (uint32_t i = 0; i < e->u.comprehension.count; i++)
      infer_qualifier(in, &e->u.comprehension.qualifiers[i]);
    return e->type = type_array(in->memory, infer_expr(in, e->u.comprehension.body));
  case EXPR_INDEX: {
    type *element = fresh_variable(in, anything);
    expect_type(in, e->u.at.array->where, type_array(in->memory, element),
                infer_expr(in, e->u.at.array));
    expect_type(in, e->u.at.index->where, in->integer, infer_expr(in, e->u.at.index));
    return element;
  }
  case EXPR_PROJECT:
    return infer_project(in, e);
  }
  return NULL;
}

static type *infer_expr(inferrer *in, expr *e) {
  type *t = infer_by_kind(in, e);
  return is_too_large(in, e->where, "this expression", t) ? fresh_variable(in, anything) : t;
}

// ---- functions and bindings ------------------------------------------------------------------

static void infer_right(inferrer *in, equation *q, type *result) {
  infer_bindings(in, q->locals, q->local_count);
  for (uint32_t i = 0; i < q->alternative_count; i++) {
    alternative *a = &q->alternatives[i];
    if (a->guard)
      expect_type(in, a->guard->where, in->boolean, infer_expr(in, a->guard));
    expect_type(in, a->body->where, result, infer_expr(in, a->body));
  }
}

// With a signature, `wanted` is its type: parameters are known before the bodies are looked at.
static void infer_equations(inferrer *in, function *f, type *wanted) {
  for (size_t i = 0; i < f->equations.count; i++) {
    equation *q = &f->equations.items[i];
    type *t = type_prune(wanted);
    for (uint32_t k = 0; k < f->arity; k++) {
      if (t->kind == TYPE_VARIABLE) {
        type *made =
            type_function(in->memory, fresh_variable(in, anything), fresh_variable(in, anything));
        if (type_unify(in->memory, t, made))
          t = made;
      }
      if (t->kind != TYPE_FUNCTION) {
        diag_report(in->d, DIAG_ERROR, q->patterns[k]->where,
                    "too many parameters: the signature of '%s' has %u", f->name, k);
        return;
      }
      expect_type(in, q->patterns[k]->where, t->parts[0], infer_pattern(in, q->patterns[k]));
      t = type_prune(t->parts[1]);
    }
    infer_right(in, q, t);
  }
}

static type *infer_function(inferrer *in, function *f) {
  type *t = fresh_variable(in, anything);
  infer_equations(in, f, t);
  return t;
}

static bool is_half(const type *t) { return t->kind == TYPE_SCALAR && t->scalar == SCALAR_F16; }

static void check_extern(inferrer *in, const binding *b) {
  const type *t = type_prune(b->monotype);
  bool good = t->kind == TYPE_FUNCTION, half = false;
  for (; t->kind == TYPE_FUNCTION; t = type_prune(t->parts[1])) {
    type_kind k = type_prune(t->parts[0])->kind;
    good = good && (k == TYPE_SCALAR || k == TYPE_COMPLEX);
    half |= is_half(type_prune(t->parts[0]));
  }
  good = good && (t->kind == TYPE_SCALAR || t->kind == TYPE_COMPLEX);
  half |= is_half(t);
  if (!good || half)
    diag_report(in->d, DIAG_ERROR, b->signature->where,
                good ? "a foreign function cannot take or return f16: C has no such type"
                     : "a foreign function takes and returns scalars, such as f32 -> f32");
}

static void infer_body(inferrer *in, binding *b) {
  if (b->kind == BINDING_EXTERN) {
    check_extern(in, b);
    return;
  }
  if (!b->code)
    return;  // reported by merge_bindings
  if (b->signature)
    infer_sizes(in, b->signature);
  infer_equations(in, b->code, b->monotype);
}

// Each signature has type names of its own, besides those of the enclosing ones.
static type *type_of_signature(inferrer *in, binding *b) {
  type_name *outer = in->names;
  in->signer = b;
  type *t = type_of_written(in, b->signature);
  b->type_names = in->names;
  in->names = outer;
  return t;
}

// The names of a signature stand for any types: not for one of the enclosing function, nor two of
// them for one.
static void check_names(inferrer *in, const binding *b) {
  for (const type_name *n = b->type_names; n != in->names; n = n->next) {
    const type *t = type_prune(n->variable);
    if (t->level <= in->level)
      diag_report(in->d, DIAG_ERROR, b->signature->where,
                  "'%s' in a signature may be any type, but here it is a type of the definition "
                  "around it",
                  n->name);
    for (const type_name *m = n->next; m != in->names; m = m->next)
      if (type_prune(m->variable) == t)
        diag_report(in->d, DIAG_ERROR, b->signature->where,
                    "'%s' and '%s' must be one type here: use one name in the signature", m->name,
                    n->name);
  }
}

static void generalise_group(inferrer *in, binding **group, size_t count) {
  quantifier *all = NEW(in->memory, quantifier);
  for (size_t i = 0; i < count; i++) {
    if (is_too_large(in, group[i]->where, "this definition", group[i]->monotype))
      group[i]->monotype = fresh_variable(in, anything);
    group[i]->scheme = generalise(in, all, group[i]->monotype);
  }
}

// One group of mutually recursive functions: inside, each has one type; outside, a scheme.
static void infer_group(inferrer *in, binding **group, size_t count) {
  size_t open = in->open.count;
  unsigned errors = in->d->errors;
  type_name *names = in->names;
  in->level++;
  for (size_t i = 0; i < count; i++)
    group[i]->monotype =
        group[i]->signature ? type_of_signature(in, group[i]) : fresh_variable(in, anything);
  for (size_t i = 0; i < count; i++) {
    if (group[i]->signature)
      in->names = group[i]->type_names;
    infer_body(in, group[i]);
    in->names = names;
  }
  in->level--;
  for (size_t i = 0; i < count && in->d->errors == errors; i++)
    if (group[i]->signature)
      check_names(in, group[i]);
  generalise_group(in, group, count);
  set_defaults(in, group[0], open);
}

// A local value is not generalised: type names that are new in its signature stand for the type
// that it has.
static type *type_of_value(inferrer *in, binding *b) {
  if (!b->signature)
    return fresh_variable(in, anything);
  type *t = type_of_signature(in, b);
  for (const type_name *n = b->type_names; n != in->names; n = n->next) {
    n->variable->rigid = false;
    vec_push(in->memory, &in->open, n->variable);
  }
  return t;
}

static void infer_value(inferrer *in, binding *b) {
  type_name *names = in->names;
  if (b->signature) {
    in->names = b->type_names;
    infer_sizes(in, b->signature);
  }
  infer_right(in, &b->code->equations.items[0], b->monotype);
  in->names = names;
}

// Local functions are generalised, group by group (resolve.c put them first); local values keep the
// one type that their uses and their definition agree on.
static void infer_bindings(inferrer *in, binding **bindings, uint32_t count) {
  uint32_t functions = 0;
  while (functions < count && bindings[functions]->kind == BINDING_FUNCTION)
    functions++;
  for (uint32_t i = functions; i < count; i++) {
    binding *b = bindings[i];
    b->monotype = b->kind == BINDING_PATTERN ? infer_pattern(in, b->target) : type_of_value(in, b);
  }
  for (uint32_t i = 0, end; i < functions; i = end) {
    for (end = i + 1; end < functions && bindings[end]->group == bindings[i]->group;)
      end++;
    infer_group(in, bindings + i, end - i);
  }
  for (uint32_t i = functions; i < count; i++)
    infer_value(in, bindings[i]);
}

static inferrer inferrer_create(diagnostics *d, const builtin_table *t) {
  inferrer in = {.d = d, .memory = d->memory, .builtins = t};
  in.integer = type_scalar(d->memory, SCALAR_I64);
  in.boolean = type_scalar(d->memory, SCALAR_BOOL);
  return in;
}

bool infer_program(diagnostics *d, const builtin_table *t, binding_groups *groups) {
  inferrer in = inferrer_create(d, t);
  for (size_t i = 0; i < groups->count; i++)
    infer_group(&in, groups->items[i].items, groups->items[i].count);
  return !d->errors;
}

scheme *scheme_of_signature(diagnostics *d, type_expr *signature, constraint a) {
  inferrer in = inferrer_create(d, NULL);
  in.level = 1;
  type *t = type_of_written(&in, signature);
  for (const type_name *n = in.names; n; n = n->next) {
    n->variable->rigid = false;
    if (!strcmp(n->name, "a"))
      n->variable->constraint = a;
  }
  in.level = 0;
  return generalise(&in, NEW(d->memory, quantifier), t);
}
