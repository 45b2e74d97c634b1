// Constructors of tree nodes, and merging of equations into bindings.
#include "lang/syntax/build.h"
#include "core/hash.h"

// ---- expressions -----------------------------------------------------------------------------

expr *new_expr(parser *p, expr e) {
  expr *made = NEW(p->memory, expr);
  *made = e;
  return made;
}

expr *new_name(parser *p, span where, const char *name) {
  return new_expr(p, (expr){.kind = EXPR_NAME, .where = where, .u.name.text = name});
}

// 1i32 is the literal 1 of type i32.
static scalar_type suffix_type(const token *t) {
  return t->suffix ? scalar_named(t->suffix, strlen(t->suffix)) : SCALAR_COUNT;
}

expr *new_integer(parser *p, span where, const token *t) {
  return new_expr(p, (expr){.kind = EXPR_INT,
                            .where = where,
                            .suffix = suffix_type(t),
                            .u.integer.magnitude = t->integer});
}

expr *new_real(parser *p, span where, const token *t) {
  if (t->suffix && (t->suffix[0] == 'i' || t->suffix[0] == 'u'))
    diag_report(p->d, DIAG_ERROR, where, "a number with a point cannot have the integer type %s",
                t->suffix);
  return new_expr(
      p, (expr){.kind = EXPR_FLOAT, .where = where, .suffix = suffix_type(t), .u.real = t->real});
}

expr *new_bool(parser *p, span where, bool value) {
  return new_expr(p, (expr){.kind = EXPR_BOOL, .where = where, .u.boolean = value});
}

expr *new_apply(parser *p, expr *callee, expr *argument) {
  bool piped = argument->where.start < callee->where.start;
  return new_expr(
      p, (expr){.kind = EXPR_APPLY,
                .where = piped ? span_join(argument->where, callee->where)
                               : span_join(callee->where, argument->where),
                .u.apply = {callee, argument, has_lambda(callee) || has_lambda(argument)}});
}

// A function of one equation.
static function *new_function(parser *p, const char *name, span where, equation q,
                              pattern_list patterns, alternative_list right) {
  function *f = NEW(p->memory, function);
  f->name = name;
  f->where = where;
  f->arity = (uint32_t)patterns.count;
  q.patterns = patterns.items;
  q.alternatives = right.items;
  q.alternative_count = (uint32_t)right.count;
  vec_push(p->memory, &f->equations, q);
  return f;
}

expr *new_lambda(parser *p, span where, pattern_list patterns, expr *body) {
  alternative_list right = {0};
  if (!patterns.count) {
    diag_report(p->d, DIAG_ERROR, where, "a lambda needs at least one parameter: \\x -> ...");
    return body;
  }
  add_alternative(p, &right, NULL, body);
  function *f = new_function(p, NULL, where, (equation){.where = where}, patterns, right);
  return new_expr(p, (expr){.kind = EXPR_LAMBDA, .where = where, .u.lambda = f});
}

expr *new_let(parser *p, span where, binding_list bindings, expr *body) {
  return new_expr(p, (expr){.kind = EXPR_LET,
                            .where = where,
                            .u.let = {bindings.items, (uint32_t)bindings.count, body}});
}

expr *new_if(parser *p, span where, expr *condition, expr *yes, expr *no) {
  return new_expr(p, (expr){.kind = EXPR_IF, .where = where, .u.branch = {condition, yes, no}});
}

static expr *new_sequence(parser *p, expr_kind kind, span where, expr_list items) {
  return new_expr(
      p, (expr){.kind = kind, .where = where, .u.list = {items.items, (uint32_t)items.count}});
}

expr *new_tuple(parser *p, span where, expr_list items) {
  if (items.count == 1) {
    // Parentheses: the same node with a wider span, so that carets cover them.
    items.items[0]->where = where;
    return items.items[0];
  }
  return new_sequence(p, EXPR_TUPLE, where, items);
}

expr *new_list(parser *p, span where, expr_list items) {
  return new_sequence(p, EXPR_LIST, where, items);
}

expr *new_comprehension(parser *p, span where, expr *body, qualifier_list qualifiers) {
  return new_expr(
      p, (expr){.kind = EXPR_COMPREHENSION,
                .where = where,
                .u.comprehension = {body, qualifiers.items, (uint32_t)qualifiers.count, {0}}});
}

// [a..b] is [x | x <- a..b], and [a, b..c] counts in steps of b - a.
expr *new_range(parser *p, span where, expr_list firsts, expr *last) {
  if (firsts.count > 2)
    diag_report(
        p->d, DIAG_ERROR, where,
        "a range has one or two numbers before '..': [first..last] or [first, second..last]");
  qualifier q = {name_pattern(p, where, RANGE_NUMBER), firsts.items[0],
                 firsts.count > 1 ? firsts.items[1] : NULL, last};
  qualifier_list list = {0};
  vec_push(p->memory, &list, q);
  return new_comprehension(p, where, new_name(p, where, RANGE_NUMBER), list);
}

expr *new_project(parser *p, span where, expr *tuple, const token *field) {
  uint32_t number = field->integer > 1000 ? 1000 : (uint32_t)field->integer;
  return new_expr(p, (expr){.kind = EXPR_PROJECT, .where = where, .u.project = {tuple, number}});
}

expr *new_index(parser *p, span where, expr *array, expr *index) {
  return new_expr(
      p, (expr){.kind = EXPR_INDEX, .where = where, .u.at = {.array = array, .index = index}});
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
    operand->u.real = (real_number){-r->f64, -r->odd};
  } else {
    operand = new_apply(p, new_name(p, minus, "negate"), operand);
  }
  operand->where = where;
  return operand;
}

// \x -> body; the variable stands in `body`.
static expr *section(parser *p, span where, const char *variable, expr *body) {
  pattern_list patterns = {0};
  vec_push(p->memory, &patterns, name_pattern(p, where, variable));
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

static pattern *new_pattern(parser *p, pattern n) {
  pattern *made = NEW(p->memory, pattern);
  *made = n;
  return made;
}

pattern *wild_pattern(parser *p, span where) {
  return new_pattern(p, (pattern){.kind = PATTERN_WILD, .where = where});
}

pattern *name_pattern(parser *p, span where, const char *name) {
  return new_pattern(p, (pattern){.kind = PATTERN_NAME, .where = where, .name = name});
}

pattern *integer_pattern(parser *p, span where, const token *t, bool negative) {
  return new_pattern(p, (pattern){.kind = PATTERN_INT,
                                  .where = where,
                                  .magnitude = t->integer,
                                  .negative = negative,
                                  .suffix = suffix_type(t)});
}

pattern *bool_pattern(parser *p, span where, bool value) {
  return new_pattern(p, (pattern){.kind = PATTERN_BOOL, .where = where, .boolean = value});
}

static pattern *new_parts(parser *p, pattern_kind kind, span where, pattern_list items) {
  return new_pattern(
      p, (pattern){
             .kind = kind, .where = where, .items = items.items, .count = (uint32_t)items.count});
}

pattern *tuple_pattern(parser *p, span where, pattern_list items) {
  return items.count == 1 ? items.items[0] : new_parts(p, PATTERN_TUPLE, where, items);
}

pattern *list_pattern(parser *p, span where, pattern_list items) {
  if (items.count > PATTERN_LIST_MAX || (items.count & (items.count - 1))) {
    diag_report(p->d, DIAG_ERROR, where,
                "an array pattern has 1, 2, 4, ... or %d elements, not %zu", PATTERN_LIST_MAX,
                items.count);
    diag_report(p->d, DIAG_HINT, where,
                "give the array a name, and take its elements by their numbers: \\xs -> max xs[0] "
                "(max xs[1] xs[2])");
  }
  return new_parts(p, PATTERN_LIST, where, items);
}

static bool is_new_name(const char *name) {
  bool letter = (name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z');
  return (!letter && name[0] != '_') || !strcmp(name, "xor");
}

// The left side of `<-`, parsed as an expression: what it is becomes known at the arrow.
pattern *to_pattern(parser *p, expr *e) {
  pattern_list items = {0};
  switch (e->kind) {
  case EXPR_WILD:
    return wild_pattern(p, e->where);
  case EXPR_BOOL:
    return bool_pattern(p, e->where, e->u.boolean);
  case EXPR_NAME:
    if (is_new_name(e->u.name.text))
      break;
    return name_pattern(p, e->where, e->u.name.text);
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
  return wild_pattern(p, e->where);
}

// ---- types -----------------------------------------------------------------------------------

static type_expr *new_type(parser *p, type_expr_kind kind, span where, type_list parts) {
  type_expr *t = NEW(p->memory, type_expr);
  *t = (type_expr){
      .kind = kind, .where = where, .parts = parts.items, .count = (uint32_t)parts.count};
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

static binding *new_binding(parser *p, binding b) {
  binding *made = NEW(p->memory, binding);
  *made = b;
  return made;
}

binding *new_equation(parser *p, span where, span name_where, const token *name,
                      pattern_list patterns, alternative_list right, binding_list locals) {
  equation q = {.where = where, .locals = locals.items, .local_count = (uint32_t)locals.count};
  return new_binding(
      p, (binding){.kind = BINDING_FUNCTION,
                   .name = name->text,
                   .where = name_where,
                   .code = new_function(p, name->text, name_where, q, patterns, right)});
}

binding *new_pattern_binding(parser *p, span where, pattern *target, expr *value) {
  alternative_list right = {0};
  add_alternative(p, &right, NULL, value);
  return new_binding(
      p, (binding){.kind = BINDING_PATTERN,
                   .where = target->where,
                   .target = target,
                   .code = new_function(p, NULL, target->where, (equation){.where = where},
                                        (pattern_list){0}, right)});
}

static uint32_t count_arrows(const type_expr *t) {
  uint32_t count = 0;
  for (; t->kind == TYPE_EXPR_FUNCTION; t = t->parts[1])
    count++;
  return count;
}

binding *new_signature(parser *p, span where, const token *name, type_expr *signature) {
  return new_binding(p, (binding){.kind = BINDING_FUNCTION,
                                  .name = name->text,
                                  .where = where,
                                  .signature = signature,
                                  .signature_arrows = count_arrows(signature)});
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
