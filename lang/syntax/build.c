// Constructors of tree nodes, and merging of equations into bindings.
#include "lang/syntax/build.h"
#include "core/hash.h"

// ---- expressions -----------------------------------------------------------------------------

expr *new_expr(parser *p, expr_kind kind, span where) {
  expr *e = NEW(p->memory, expr);
  e->kind = kind;
  e->where = where;
  return e;
}

expr *new_name(parser *p, span where, const char *name) {
  expr *e = new_expr(p, EXPR_NAME, where);
  e->u.name.text = name;
  return e;
}

// 1i32 is the literal 1 of type i32.
static scalar_type suffix_type(const token *t) {
  return t->suffix ? scalar_named(t->suffix, strlen(t->suffix)) : SCALAR_COUNT;
}

expr *new_integer(parser *p, span where, const token *t) {
  expr *e = new_expr(p, EXPR_INT, where);
  e->u.integer.magnitude = t->integer;
  e->suffix = suffix_type(t);
  return e;
}

expr *new_real(parser *p, span where, const token *t) {
  expr *e = new_expr(p, EXPR_FLOAT, where);
  e->u.real = t->real;
  e->suffix = suffix_type(t);
  if (t->suffix && (t->suffix[0] == 'i' || t->suffix[0] == 'u'))
    diag_report(p->d, DIAG_ERROR, where, "a number with a point cannot have the integer type %s",
                t->suffix);
  return e;
}

expr *new_bool(parser *p, span where, bool value) {
  expr *e = new_expr(p, EXPR_BOOL, where);
  e->u.boolean = value;
  return e;
}

expr *new_apply(parser *p, expr *callee, expr *argument) {
  expr *e = new_expr(p, EXPR_APPLY, span_join(callee->where, argument->where));
  if (argument->where.start < callee->where.start)
    e->where = span_join(argument->where, callee->where);
  e->u.apply.function = callee;
  e->u.apply.argument = argument;
  e->u.apply.has_lambda = has_lambda(callee) || has_lambda(argument);
  return e;
}

expr *new_lambda(parser *p, span where, pattern_list patterns, expr *body) {
  expr *e = new_expr(p, EXPR_LAMBDA, where);
  if (!patterns.count) {
    diag_report(p->d, DIAG_ERROR, where, "a lambda needs at least one parameter: \\x -> ...");
    return body;
  }
  function *f = NEW(p->memory, function);
  f->where = where;
  f->arity = (uint32_t)patterns.count;
  alternative_list right = {0};
  add_alternative(p, &right, NULL, body);
  equation q = {.where = where,
                .patterns = patterns.items,
                .alternatives = right.items,
                .alternative_count = 1};
  vec_push(p->memory, &f->equations, q);
  e->u.lambda = f;
  return e;
}

expr *new_let(parser *p, span where, binding_list bindings, expr *body) {
  expr *e = new_expr(p, EXPR_LET, where);
  e->u.let.bindings = bindings.items;
  e->u.let.count = (uint32_t)bindings.count;
  e->u.let.body = body;
  return e;
}

expr *new_if(parser *p, span where, expr *condition, expr *yes, expr *no) {
  expr *e = new_expr(p, EXPR_IF, where);
  e->u.branch.condition = condition;
  e->u.branch.yes = yes;
  e->u.branch.no = no;
  return e;
}

expr *new_tuple(parser *p, span where, expr_list items) {
  if (items.count == 1) {
    // Parentheses: the same node with a wider span, so that carets cover them.
    items.items[0]->where = where;
    return items.items[0];
  }
  expr *e = new_list(p, where, items);
  e->kind = EXPR_TUPLE;
  return e;
}

expr *new_list(parser *p, span where, expr_list items) {
  expr *e = new_expr(p, EXPR_LIST, where);
  e->u.list.items = items.items;
  e->u.list.count = (uint32_t)items.count;
  return e;
}

expr *new_comprehension(parser *p, span where, expr *body, qualifier_list qualifiers) {
  expr *e = new_expr(p, EXPR_COMPREHENSION, where);
  e->u.comprehension.body = body;
  e->u.comprehension.qualifiers = qualifiers.items;
  e->u.comprehension.count = (uint32_t)qualifiers.count;
  return e;
}

// [a..b] is [x | x <- a..b], and [a, b..c] counts in steps of b - a.
expr *new_range(parser *p, span where, expr_list firsts, expr *last) {
  if (firsts.count > 2)
    diag_report(
        p->d, DIAG_ERROR, where,
        "a range has one or two numbers before '..': [first..last] or [first, second..last]");
  pattern *x = new_pattern(p, PATTERN_NAME, where);
  x->name = RANGE_NUMBER;
  qualifier q = {x, firsts.items[0], firsts.count > 1 ? firsts.items[1] : NULL, last};
  qualifier_list list = {0};
  vec_push(p->memory, &list, q);
  return new_comprehension(p, where, new_name(p, where, x->name), list);
}

expr *new_project(parser *p, span where, expr *tuple, const token *field) {
  expr *e = new_expr(p, EXPR_PROJECT, where);
  e->u.project.tuple = tuple;
  e->u.project.field = field->integer > 1000 ? 1000 : (uint32_t)field->integer;
  return e;
}

expr *new_index(parser *p, span where, expr *array, expr *index) {
  expr *e = new_expr(p, EXPR_INDEX, where);
  e->u.at.array = array;
  e->u.at.index = index;
  return e;
}

expr *binary(parser *p, span where, const char *operator, expr * left, expr *right) {
  span both = span_join(left->where, right->where);
  if (!strcmp(operator, "&&"))
    return new_if(p, both, left, right, new_bool(p, where, false));
  if (!strcmp(operator, "||"))
    return new_if(p, both, left, new_bool(p, where, true), right);
  expr *e = new_apply(p, new_apply(p, new_name(p, where, operator), left), right);
  e->where = both;
  return e;
}

expr *negate(parser *p, span where, span minus, expr *operand) {
  if (operand->kind == EXPR_INT && !operand->u.integer.negative) {
    operand->u.integer.negative = true;
  } else if (operand->kind == EXPR_FLOAT) {
    const real_number *r = &operand->u.real;
    operand->u.real = (real_number){-r->f64, -r->f32, r->f16 ^ 0x8000};
  } else {
    operand = new_apply(p, new_name(p, minus, "negate"), operand);
  }
  operand->where = where;
  return operand;
}

expr *new_pipe(parser *p, expr *argument, expr *callee) { return new_apply(p, callee, argument); }

// \x -> body; the variable stands in `body`.
static expr *section(parser *p, span where, const char *variable, expr *body) {
  pattern *x = new_pattern(p, PATTERN_NAME, where);
  x->name = variable;
  pattern_list patterns = {0};
  vec_push(p->memory, &patterns, x);
  body->where = where;
  return new_lambda(p, where, patterns, body);
}

static const char first_operand[] = "the operator's first operand",
                  second_operand[] = "the section's operand";

static bool is_lazy(const char *operator) {
  return !strcmp(operator, "&&") || !strcmp(operator, "||");
}

expr *left_section(parser *p, span where, const char *operator, expr * left) {
  if (!is_lazy(operator))
    return new_apply(p, new_name(p, where, operator), left);
  return section(p, where, second_operand,
                 binary(p, where, operator, left, new_name(p, where, second_operand)));
}

expr *right_section(parser *p, span where, expr *operator, expr * right) {
  return section(
      p, where, second_operand,
      binary(p, operator->where, operator->u.name.text, new_name(p, where, second_operand), right));
}

expr *operator_value(parser *p, span where, expr *operator) {
  if (!is_lazy(operator->u.name.text))
    return operator;
  return section(p, where, first_operand,
                 left_section(p, where, operator->u.name.text, new_name(p, where, first_operand)));
}

// ---- patterns --------------------------------------------------------------------------------

pattern *new_pattern(parser *p, pattern_kind kind, span where) {
  pattern *n = NEW(p->memory, pattern);
  n->kind = kind;
  n->where = where;
  return n;
}

pattern *name_pattern(parser *p, span where, const token *t) {
  pattern *n = new_pattern(p, PATTERN_NAME, where);
  n->name = t->text;
  return n;
}

pattern *integer_pattern(parser *p, span where, const token *t, bool negative) {
  pattern *n = new_pattern(p, PATTERN_INT, where);
  n->magnitude = t->integer;
  n->negative = negative;
  n->suffix = suffix_type(t);
  return n;
}

pattern *bool_pattern(parser *p, span where, bool value) {
  pattern *n = new_pattern(p, PATTERN_BOOL, where);
  n->boolean = value;
  return n;
}

pattern *tuple_pattern(parser *p, span where, pattern_list items) {
  if (items.count == 1)
    return items.items[0];
  pattern *n = new_pattern(p, PATTERN_TUPLE, where);
  n->items = items.items;
  n->count = (uint32_t)items.count;
  return n;
}

pattern *list_pattern(parser *p, span where, pattern_list items) {
  pattern *n = new_pattern(p, PATTERN_LIST, where);
  n->items = items.items;
  n->count = (uint32_t)items.count;
  if (n->count > PATTERN_LIST_MAX || (n->count & (n->count - 1))) {
    diag_report(p->d, DIAG_ERROR, where, "an array pattern has 1, 2, 4, ... or %d elements, not %u",
                PATTERN_LIST_MAX, n->count);
    diag_report(p->d, DIAG_HINT, where,
                "give the array a name, and take its elements by their numbers: \\xs -> max xs[0] "
                "(max xs[1] xs[2])");
  }
  return n;
}

static bool is_new_name(const char *name) {
  bool letter = (name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z');
  return (!letter && name[0] != '_') || !strcmp(name, "xor");
}

// The left side of `<-`, parsed as an expression: what it is becomes known at the arrow.
pattern *to_pattern(parser *p, expr *e) {
  pattern_list items = {0};
  pattern *n;
  switch (e->kind) {
  case EXPR_WILD:
    return new_pattern(p, PATTERN_WILD, e->where);
  case EXPR_BOOL:
    return bool_pattern(p, e->where, e->u.boolean);
  case EXPR_NAME:
    if (is_new_name(e->u.name.text))
      break;
    n = new_pattern(p, PATTERN_NAME, e->where);
    n->name = e->u.name.text;
    return n;
  case EXPR_TUPLE:
  case EXPR_LIST:
    for (uint32_t i = 0; i < e->u.list.count; i++)
      vec_push(p->memory, &items, to_pattern(p, e->u.list.items[i]));
    return e->kind == EXPR_TUPLE ? tuple_pattern(p, e->where, items)
                                 : list_pattern(p, e->where, items);
  default:
    break;
  }
  diag_report(p->d, DIAG_ERROR, e->where, "expected a name or a pattern to the left of '<-'");
  return new_pattern(p, PATTERN_WILD, e->where);
}

// ---- types -----------------------------------------------------------------------------------

static type_expr *new_type(parser *p, type_expr_kind kind, span where, type_list parts) {
  type_expr *t = NEW(p->memory, type_expr);
  t->kind = kind;
  t->where = where;
  t->parts = parts.items;
  t->count = (uint32_t)parts.count;
  return t;
}

type_expr *named_type(parser *p, span where, const token *name) {
  type_expr *t = new_type(p, TYPE_EXPR_NAME, where, (type_list){0});
  t->name = name->text;
  return t;
}

type_expr *tuple_type(parser *p, span where, type_list parts) {
  return parts.count == 1 ? parts.items[0] : new_type(p, TYPE_EXPR_TUPLE, where, parts);
}

type_expr *array_type(parser *p, span where, expr *size, type_expr *element) {
  type_list parts = {0};
  vec_push(p->memory, &parts, element);
  type_expr *t = new_type(p, TYPE_EXPR_ARRAY, where, parts);
  t->size = size && size->kind == EXPR_WILD ? NULL : size;
  return t;
}

type_expr *function_type(parser *p, span where, type_expr *parameter, type_expr *result) {
  type_list parts = {0};
  vec_push(p->memory, &parts, parameter);
  vec_push(p->memory, &parts, result);
  return new_type(p, TYPE_EXPR_FUNCTION, where, parts);
}

// ---- bindings --------------------------------------------------------------------------------

void add_alternative(parser *p, alternative_list *list, expr *guard, expr *body) {
  alternative a = {guard, body};
  vec_push(p->memory, list, a);
}

static binding *new_binding(parser *p, binding_kind kind, span where, const char *name) {
  binding *b = NEW(p->memory, binding);
  b->kind = kind;
  b->name = name;
  b->where = where;
  return b;
}

static void set_code(parser *p, binding *b, span where, pattern_list patterns,
                     alternative_list right, binding_list locals) {
  function *f = NEW(p->memory, function);
  f->name = b->name;
  f->where = b->where;
  f->arity = (uint32_t)patterns.count;
  equation q = {.where = where,
                .patterns = patterns.items,
                .alternatives = right.items,
                .alternative_count = (uint32_t)right.count,
                .locals = locals.items,
                .local_count = (uint32_t)locals.count};
  vec_push(p->memory, &f->equations, q);
  b->code = f;
}

binding *new_equation(parser *p, span where, span name_where, const token *name,
                      pattern_list patterns, alternative_list right, binding_list locals) {
  binding *b = new_binding(p, BINDING_FUNCTION, name_where, name->text);
  set_code(p, b, where, patterns, right, locals);
  return b;
}

binding *new_pattern_binding(parser *p, span where, pattern *target, expr *value) {
  binding *b = new_binding(p, BINDING_PATTERN, target->where, NULL);
  b->target = target;
  alternative_list right = {0};
  add_alternative(p, &right, NULL, value);
  set_code(p, b, where, (pattern_list){0}, right, (binding_list){0});
  return b;
}

static uint32_t count_arrows(const type_expr *t) {
  uint32_t count = 0;
  for (; t->kind == TYPE_EXPR_FUNCTION; t = t->parts[1])
    count++;
  return count;
}

binding *new_signature(parser *p, span where, const token *name, type_expr *signature) {
  binding *b = new_binding(p, BINDING_FUNCTION, where, name->text);
  b->signature = signature;
  b->signature_arrows = count_arrows(signature);
  return b;
}

void add_signature(parser *p, binding_list *list, span where, const token *name,
                   type_expr *signature) {
  vec_push(p->memory, list, new_signature(p, where, name, signature));
}

void add_extern(parser *p, span where, const token *library, const token *name,
                type_expr *signature) {
  binding *b = new_signature(p, where, name, signature);
  b->kind = BINDING_EXTERN;
  b->library = library->text;
  vec_push(p->memory, &p->items, b);
}

void add_import(parser *p, span where, const token *path) {
import i = {where, path->text };
  vec_push(p->memory, &p->module->imports, i);
}

static void report_twice(parser *p, const binding *first, const binding *second) {
  diag_report(p->d, DIAG_ERROR, second->where, "'%s' is defined twice", second->name);
  diag_report(p->d, DIAG_NOTE, first->where, "the first definition is here");
  diag_report(p->d, DIAG_HINT, second->where,
              "the equations of a name stand together, below its signature; another value needs "
              "another name");
}

// One more equation of `b`. Its number of patterns must agree.
static void add_equation(parser *p, binding *b, const binding *more) {
  equation q = more->code->equations.items[0];
  if (b->code->arity != more->code->arity) {
    diag_report(p->d, DIAG_ERROR, more->where,
                "this equation of '%s' has %u parameter%s, but the first has %u", b->name,
                more->code->arity, more->code->arity == 1 ? "" : "s", b->code->arity);
    diag_report(p->d, DIAG_NOTE, b->code->where, "the first equation is here");
    diag_report(p->d, DIAG_HINT, more->where,
                "all equations of a name have as many parameters; _ is one that is not used");
    return;
  }
  if (!b->code->arity) {
    report_twice(p, b, more);
    return;
  }
  vec_push(p->memory, &b->code->equations, q);
}

binding **binding_slot(binding **table, size_t size, const char *name) {
  size_t i = (size_t)hash_bytes(name, strlen(name)) % size;
  while (table[i] && strcmp(table[i]->name, name))
    i = (i + 1) % size;
  return &table[i];
}

binding_list merge_bindings(parser *p, binding_list list) {
  binding_list merged = {0};
  size_t size = 2 * list.count + 1;
  binding **table = NEW_ARRAY(p->memory, binding *, size);
  const binding *last = NULL;
  for (size_t i = 0; i < list.count; i++) {
    binding *b = list.items[i];
    if (!b->name) {
      vec_push(p->memory, &merged, b);
      last = b;
      continue;
    }
    binding **slot = binding_slot(table, size, b->name), *known = *slot;
    if (!known) {
      *slot = known = b;
      vec_push(p->memory, &merged, b);
    } else if (b->code && known->code && last == known) {
      add_equation(p, known, b);
    } else if (b->code && !known->code && known->kind != BINDING_EXTERN) {
      known->code = b->code;
    } else if (b->signature && !known->signature && b->kind != BINDING_EXTERN) {
      known->signature = b->signature;
      known->signature_arrows = b->signature_arrows;
    } else {
      report_twice(p, known, b);
    }
    last = known;
  }
  for (size_t i = 0; i < merged.count; i++) {
    const binding *b = merged.items[i];
    if (b->code || b->kind == BINDING_EXTERN || p->d->errors)
      continue;
    diag_report(p->d, DIAG_ERROR, b->where, "'%s' has a signature but no equation", b->name);
    diag_report(p->d, DIAG_HINT, b->where, "write one below it, such as %s x = x", b->name);
  }
  return merged;
}

// ---- messages --------------------------------------------------------------------------------

void syntax_error(parser *p, span where, const char *found, const char *expected,
                  const char *hint) {
  const source *s = &p->d->sources.items[where.file];
  if (where.end > where.start)
    diag_report(p->d, DIAG_ERROR, where, "unexpected '%.*s'", (int)(where.end - where.start),
                s->text + where.start);
  else
    diag_report(p->d, DIAG_ERROR, where, "%s ends too early",
                p->expression ? "the expression" : found);
  if (expected)
    diag_report(p->d, DIAG_HINT, where, "expected %s", expected);
  if (hint)
    diag_report(p->d, DIAG_HINT, where, "%s", hint);
}
