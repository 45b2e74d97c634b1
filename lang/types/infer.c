// Type inference (Hindley-Milner with levels; constraints on variables in place of classes). In:
// groups of resolved bindings, callees first. Out: a scheme per binding; types of literals and the
// instances of names.
//
// Rules: Damas and Milner, "Principal type-schemes for functional programs", POPL 1982; levels for
// generalisation: Rémy 1992. Functions are generalised, local values are not (their literals take
// the type that the uses ask for).
#include "lang/syntax/hints.h"
#include "lang/types/mismatch.h"

// Functions with lambdas that are arguments of a call: they are typed after its other arguments, by
// which the parameters of the lambdas are known, so that a mistake is found where it stands.
typedef struct late_argument {
  expr *call;    // f x of the application f x y
  type *callee;  // of the type of f
} late_argument;
typedef VEC(late_argument) late_arguments;

typedef struct inferrer {
  diagnostics *d;
  arena *memory;
  const builtin_table *builtins;
  uint32_t level;
  type_name *names;
  const binding *signer;  // whose signature is being read
  VEC(type *) open;       // variables made in this group: those left over get their default
  type *integer, *boolean;
  call_notes calls;
  late_arguments *late;  // of the application whose beginning is being typed
} inferrer;

static type *infer_expr(inferrer *in, expr *e);
static type *infer_for(inferrer *in, expr *e, type *wanted);
static type *infer_function(inferrer *in, function *f, type *wanted);

static const constraint anything = {CONSTRAINT_NONE, 0};

static type *fresh_variable(inferrer *in, constraint c) {
  type *t = type_variable(in->memory, c, in->level);
  vec_push(in->memory, &in->open, t);
  return t;
}

static bool expect(inferrer *in, span where, type *wanted, type *found) {
  return expect_type(in->d, &in->calls, NULL, where, wanted, found);
}

// Nodes of a type, counted up to the limit: types with shared parts can be exponentially large.
static unsigned type_size(type *t, unsigned limit) {
  unsigned size = 1;
  t = type_prune(t);
  type *part;
  for (size_t i = 0; size < limit && (part = type_part(t, i)); i++)
    size += type_size(part, limit - size);
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

static type *type_of_written(inferrer *in, const type_expr *t) {
  switch (t->kind) {
  case TYPE_EXPR_NAME: {
    scalar_type s = scalar_named(t->name, strlen(t->name));
    if (s != SCALAR_COUNT)
      return type_scalar(in->memory, s);
    // Any other word in small letters is a type variable, but what other languages call a type, or
    // what looks like a type of numbers (i23), is taken for a mistake; the library has none.
    bool library = in->d->sources.items[t->where.file].library;
    const char *hint = library ? NULL : hint_for(HINT_TYPE, t->name);
    bool of_numbers = strchr("iufc", t->name[0]) && strspn(t->name + 1, "0123456789") > 0 &&
                      !t->name[1 + strspn(t->name + 1, "0123456789")];
    if (hint || of_numbers || (t->name[0] >= 'A' && t->name[0] <= 'Z')) {
      diag_report(in->d, DIAG_ERROR, t->where, "'%s' is not a type", t->name);
      diag_report(in->d, DIAG_HINT, t->where, "%s",
                  hint ? hint
                       : "types are int, bool, i8 ... i64, u8 ... u64, f16, bf16, f32, f64, c64, "
                         "c128; a name that stands for any type begins with a small letter");
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
    expect(in, t->size->where, in->integer, infer_expr(in, t->size));
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
  }
  type *part;
  for (size_t i = 0; (part = type_part(t, i)); i++)
    quantify_variables(in, all, part);
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

static type *infer_literal(inferrer *in, expr *e, scalar_class allowed) {
  e->type = literal_type(in, e->suffix, allowed);
  bool decides = e->suffix != SCALAR_COUNT || allowed != CLASS_NUM;
  if (decides && !in->d->sources.items[e->where.file].library)
    e->type->literal = e;
  return e->type;
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
      expect(in, p->items[i]->where, element, infer_pattern(in, p->items[i]));
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

// Compares the argument of a call, of the type that is found, with what the callee takes. The result
// is that of the call: after a mismatch nothing is known of it, so that one mistake has one message.
static type *pass_argument(inferrer *in, const expr *whole, expr *call, type *callee, type *found) {
  in->calls.whole = whole;
  bool good = expect_argument(in->d, &in->calls, call, callee, found);
  in->calls.whole = NULL;
  return good ? callee->parts[1] : fresh_variable(in, anything);
}

// Whether the lambda takes as many arguments as the type wanted, and tuples and arrays where those
// are. If not, the mistake is the lambda, and nothing inside of it.
static bool lambda_seems_to_fit(const function *f, const type *wanted) {
  wanted = type_prune((type *)wanted);
  for (uint32_t i = 0; i < f->arity && wanted->kind == TYPE_FUNCTION; i++) {
    const pattern *p = f->equations.items[0].patterns[i];
    type_kind given = type_prune(wanted->parts[0])->kind;
    bool compound = p->kind == PATTERN_TUPLE || p->kind == PATTERN_LIST;
    if (compound && given != TYPE_VARIABLE &&
        given != (p->kind == PATTERN_TUPLE ? TYPE_TUPLE : TYPE_ARRAY))
      return false;
    wanted = type_prune(wanted->parts[1]);
    if (i + 1 < f->arity && wanted->kind == TYPE_VARIABLE)
      return true;
    if ((i + 1 < f->arity) != (wanted->kind == TYPE_FUNCTION))
      return false;
  }
  return true;
}

// The function of a loop's round, for what is said where it gives another type than it takes.
static void note_round(inferrer *in, const expr *call, const expr *argument) {
  static const char *const loops[] = {"iter", "iteri", "fold"};
  const expr *callee = call;
  while (callee->kind == EXPR_APPLY)
    callee = callee->u.apply.function;
  in->calls.loop = NULL;
  if (callee->kind != EXPR_NAME || argument->kind != EXPR_LAMBDA)
    return;
  const binding *own = callee->u.name.kind == REF_BUILTIN ? NULL : callee->u.name.target;
  if (own && !in->d->sources.items[own->where.file].library)
    return;
  for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
    if (!strcmp(callee->u.name.text, loops[i])) {
      in->calls.loop = loops[i];
      in->calls.round = argument->u.lambda->equations.items[0].alternatives[0].body->where;
    }
}

static type *infer_late_arguments(inferrer *in, const expr *whole, const late_arguments *late,
                                  type *result, type *wanted) {
  if (late->count && wanted && type_seems_to_unify(wanted, result))
    type_unify(in->memory, wanted, result);
  for (size_t i = 0; i < late->count; i++) {
    expr *call = late->items[i].call;
    type *callee = late->items[i].callee;
    unsigned errors = in->d->errors;
    expr *x = call->u.apply.argument;
    bool fits = x->kind != EXPR_LAMBDA || lambda_seems_to_fit(x->u.lambda, callee->parts[0]);
    call_notes outer = in->calls;
    note_round(in, call, x);
    type *argument = infer_for(in, x, fits ? callee->parts[0] : NULL);
    in->calls.loop = outer.loop;
    in->calls.round = outer.round;
    // The argument is of the type wanted, but for the mistakes that were found in it.
    if (in->d->errors > errors ||
        pass_argument(in, whole, call, callee, argument) != callee->parts[1])
      result = fresh_variable(in, anything);
  }
  return result;
}

static type *infer_call(inferrer *in, expr *e, const expr *whole, late_arguments *late) {
  bool inner = e->u.apply.function->kind == EXPR_APPLY;
  in->calls.whole = inner ? whole : NULL;
  in->late = inner ? late : NULL;
  type *callee = type_prune(infer_expr(in, e->u.apply.function));
  in->calls.whole = NULL;
  in->late = NULL;
  if (call_is_misread(&in->calls, e))
    return fresh_variable(in, anything);
  if (callee->kind == TYPE_VARIABLE) {
    type *f = type_function(in->memory, fresh_variable(in, anything), fresh_variable(in, anything));
    if (type_unify(in->memory, callee, f))
      callee = f;
  }
  bool callable = callee->kind == TYPE_FUNCTION;
  if (callable && has_lambda(e->u.apply.argument) &&
      type_prune(callee->parts[0])->kind == TYPE_FUNCTION) {
    vec_push(in->memory, late, ((late_argument){e, callee}));
    return callee->parts[1];
  }
  type *argument = infer_expr(in, e->u.apply.argument);
  if (call_is_misread(&in->calls, e))
    return fresh_variable(in, anything);
  if (callable)
    return pass_argument(in, whole, e, callee, argument);
  report_not_function(in->d, e, callee);
  late->count = 0;
  return fresh_variable(in, anything);
}

static type *infer_apply(inferrer *in, expr *e, type *wanted) {
  if (in->calls.whole)
    return infer_call(in, e, in->calls.whole, in->late);
  late_arguments late = {0};
  type *result = infer_call(in, e, e, &late);
  bool misread = call_is_misread(&in->calls, e);
  return misread ? result : infer_late_arguments(in, e, &late, result, wanted);
}

static void infer_bindings(inferrer *in, binding **bindings, uint32_t count);

static type *infer_list(inferrer *in, expr *e) {
  if (e->kind == EXPR_LIST) {
    type *element = fresh_variable(in, anything);
    for (uint32_t i = 0; i < e->u.list.count; i++)
      expect(in, e->u.list.items[i]->where, element, infer_expr(in, e->u.list.items[i]));
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
    expect(in, q->source->where, in->boolean, found);
    return;
  }
  type *element = fresh_variable(in, anything);
  if (q->last) {
    element = fresh_variable(in, (constraint){CONSTRAINT_SCALAR, CLASS_REAL});
    expect(in, q->source->where, element, found);
    if (q->second)
      expect(in, q->second->where, element, infer_expr(in, q->second));
    expect(in, q->last->where, element, infer_expr(in, q->last));
  } else {
    expect(in, q->source->where, type_array(in->memory, element), found);
  }
  expect(in, q->target->where, element, infer_pattern(in, q->target));
}

static type *infer_index(inferrer *in, expr *e) {
  type *element = fresh_variable(in, anything);
  unsigned errors = in->d->errors;
  expect(in, e->u.at.array->where, type_array(in->memory, element), infer_expr(in, e->u.at.array));
  type *index = type_prune(infer_expr(in, e->u.at.index));
  bool array = index->kind == TYPE_ARRAY;
  if (array) {
    diag_report(in->d, DIAG_ERROR, e->u.at.index->where, "an index is an i64, but this is %s",
                type_text(in->memory, index));
    diag_report(in->d, DIAG_HINT, e->u.at.index->where, "%s", hint_for(HINT_ARGUMENT, "xs[is]"));
  } else {
    expect(in, e->u.at.index->where, in->integer, index);
  }
  // After a mismatch nothing is known of the result, as of a call.
  return in->d->errors == errors ? element : fresh_variable(in, anything);
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
  if (type_unify(in->memory, tuple, holder))
    return part;
  diag_report(in->d, DIAG_ERROR, e->u.project.tuple->where,
              "expected a tuple with a component .%u, found %s", field,
              type_text(in->memory, tuple));
  diag_report(in->d, DIAG_HINT, e->where, "%s",
              tuple->kind == TYPE_ARRAY
                  ? hint_for(HINT_ARGUMENT, ".0")
                  : "only a tuple has components: (x, y).0 is x; element 0 of an array is xs[0]");
  return part;
}

static type *infer_branch(inferrer *in, expr *e, type *wanted) {
  type *condition = infer_expr(in, e->u.branch.condition);
  if (report_misread_condition(in->d, e, type_prune(condition)))
    return fresh_variable(in, anything);
  expect(in, e->u.branch.condition->where, in->boolean, condition);
  // (x && y is a condition, too.)
  bool open = !wanted || type_prune(wanted)->kind == TYPE_VARIABLE;
  if (open && (e->u.branch.yes->kind == EXPR_BOOL || e->u.branch.no->kind == EXPR_BOOL))
    wanted = in->boolean;
  type *yes = infer_for(in, e->u.branch.yes, wanted);
  if (wanted)
    expect(in, e->u.branch.yes->where, wanted, yes);
  yes = wanted ? wanted : yes;
  expect(in, e->u.branch.no->where, yes, infer_for(in, e->u.branch.no, yes));
  return yes;
}

static type *infer_by_kind(inferrer *in, expr *e, type *wanted) {
  switch (e->kind) {
  case EXPR_INT:
    return infer_literal(in, e, CLASS_NUM);
  case EXPR_FLOAT:
    return infer_literal(in, e, CLASS_FRAC);
  case EXPR_BOOL:
    return in->boolean;
  case EXPR_WILD:
    return fresh_variable(in, anything);
  case EXPR_NAME:
    return infer_name(in, e);
  case EXPR_APPLY:
    return infer_apply(in, e, wanted);
  case EXPR_LAMBDA:
    return infer_function(in, e->u.lambda, wanted);
  case EXPR_LET:
    infer_bindings(in, e->u.let.bindings, e->u.let.count);
    return infer_for(in, e->u.let.body, wanted);
  case EXPR_IF:
    return infer_branch(in, e, wanted);
  case EXPR_TUPLE:
  case EXPR_LIST:
    return infer_list(in, e);
  case EXPR_COMPREHENSION:
    for (uint32_t i = 0; i < e->u.comprehension.count; i++)
      infer_qualifier(in, &e->u.comprehension.qualifiers[i]);
    return e->type = type_array(in->memory, infer_expr(in, e->u.comprehension.body));
  case EXPR_INDEX:
    return infer_index(in, e);
  case EXPR_PROJECT:
    return infer_project(in, e);
  }
  return NULL;
}

static type *infer_expr(inferrer *in, expr *e) { return infer_for(in, e, NULL); }

// wanted: what the type is going to be compared with by the caller, or NULL. Lambdas know their
// parameters and results by it; a branch is compared with it here.
static type *infer_for(inferrer *in, expr *e, type *wanted) {
  type *t = infer_by_kind(in, e, wanted);
  return is_too_large(in, e->where, "this expression", t) ? fresh_variable(in, anything) : t;
}

// ---- functions and bindings ------------------------------------------------------------------

static void infer_right(inferrer *in, equation *q, type *result) {
  infer_bindings(in, q->locals, q->local_count);
  for (uint32_t i = 0; i < q->alternative_count; i++) {
    alternative *a = &q->alternatives[i];
    if (a->guard)
      expect(in, a->guard->where, in->boolean, infer_expr(in, a->guard));
    expect(in, result_of(a->body)->where, result, infer_for(in, a->body, result));
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
      expect(in, q->patterns[k]->where, t->parts[0], infer_pattern(in, q->patterns[k]));
      t = type_prune(t->parts[1]);
    }
    infer_right(in, q, t);
  }
}

// The type wanted, as far as it has as many parameters.
static type *type_for_lambda(inferrer *in, type *wanted, uint32_t arity) {
  wanted = wanted ? type_prune(wanted) : NULL;
  if (!wanted || (arity && wanted->kind != TYPE_FUNCTION))
    return fresh_variable(in, anything);
  if (!arity)
    return wanted;
  type *result = type_for_lambda(in, wanted->parts[1], arity - 1);
  return type_function(in->memory, wanted->parts[0], result);
}

static type *infer_function(inferrer *in, function *f, type *wanted) {
  type *t = type_for_lambda(in, wanted, f->arity);
  infer_equations(in, f, t);
  return t;
}

static bool is_small_float(const type *t) {
  return t->kind == TYPE_SCALAR && CLASS_OF(t->scalar) & CLASS_SMALL;
}

static void check_extern(inferrer *in, const binding *b) {
  const type *t = type_prune(b->monotype);
  bool good = t->kind == TYPE_FUNCTION;
  const type *small = NULL;
  for (; t->kind == TYPE_FUNCTION; t = type_prune(t->parts[1])) {
    type_kind k = type_prune(t->parts[0])->kind;
    good = good && (k == TYPE_SCALAR || k == TYPE_COMPLEX);
    small = is_small_float(type_prune(t->parts[0])) ? type_prune(t->parts[0]) : small;
  }
  good = good && (t->kind == TYPE_SCALAR || t->kind == TYPE_COMPLEX);
  small = is_small_float(t) ? t : small;
  if (!good || small)
    diag_report(in->d, DIAG_ERROR, b->signature->where,
                good ? "a foreign function cannot take or return %s: C has no such type"
                     : "a foreign function takes and returns scalars, such as f32 -> f32",
                good ? scalar_types[small->scalar].name : "");
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
