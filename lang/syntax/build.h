// Constructors of tree nodes, for the grammar's actions. Private to lang/syntax.
#ifndef PERMC_LANG_SYNTAX_BUILD_H
#define PERMC_LANG_SYNTAX_BUILD_H

#include "lang/syntax/token.h"
#include "lang/syntax/tree.h"

typedef VEC(binding *) binding_list;
typedef VEC(alternative) alternative_list;
typedef VEC(pattern *) pattern_list;
typedef VEC(expr *) expr_list;
typedef VEC(qualifier) qualifier_list;
typedef VEC(type_expr *) type_list;

typedef struct parser {
  diagnostics *d;
  arena *memory;
  const token_list *tokens;
  size_t next, at;  // the token to read, and the one read last
  module *module;
  bool expression;     // of -e
  bool foreign;        // this definition has an error whose hint explains what follows in it, too
  binding_list items;  // one per equation or signature, in order; merged at the end
} parser;

// The variable of a range, [x | x <- first..last]. No variable of a program has a space.
#define RANGE_NUMBER "the range's number"

expr *new_expr(parser *p, expr e);
expr *new_name(parser *p, span where, const char *name);
expr *new_integer(parser *p, span where, const token *t);
expr *new_real(parser *p, span where, const token *t);
expr *new_bool(parser *p, span where, bool value);
expr *new_apply(parser *p, expr *callee, expr *argument);
expr *new_lambda(parser *p, span where, pattern_list patterns, expr *body);
expr *new_let(parser *p, span where, binding_list bindings, expr *body);
expr *new_if(parser *p, span where, expr *condition, expr *yes, expr *no);
expr *new_tuple(parser *p, span where, expr_list items);  // one item: the item
expr *new_list(parser *p, span where, expr_list items);
expr *new_range(parser *p, span where, expr_list firsts, expr *last);
expr *new_comprehension(parser *p, span where, expr *body, qualifier_list qualifiers);
expr *new_project(parser *p, span where, expr *tuple, const token *field);
expr *new_index(parser *p, span where, expr *array, expr *index);
expr *binary(parser *p, span where, const char *operator, expr * left, expr *right);
expr *negate(parser *p, span where, span minus, expr *operand);
expr *operator_value(parser *p, span where, expr *operator);
expr *left_section(parser *p, span where, const char *operator, expr * left);
expr *right_section(parser *p, span where, expr *operator, expr * right);

pattern *wild_pattern(parser *p, span where);
pattern *name_pattern(parser *p, span where, const char *name);
pattern *integer_pattern(parser *p, span where, const token *t, bool negative);
pattern *bool_pattern(parser *p, span where, bool value);
pattern *tuple_pattern(parser *p, span where, pattern_list items);
pattern *list_pattern(parser *p, span where, pattern_list items);
pattern *to_pattern(parser *p, expr *e);

binding *new_equation(parser *p, span where, span name_where, const token *name,
                      pattern_list patterns, alternative_list right, binding_list locals);
binding *new_signature(parser *p, span where, const token *name, type_expr *signature);
binding *new_pattern_binding(parser *p, span where, pattern *target, expr *value);
void add_alternative(parser *p, alternative_list *list, expr *guard, expr *body);
binding_list merge_bindings(parser *p, binding_list list);
void add_import(parser *p, span where, const token *path);
void add_extern(parser *p, span where, const token *library, const token *name,
                type_expr *signature);

type_expr *named_type(parser *p, span where, const token *name);
type_expr *tuple_type(parser *p, span where, type_list parts);
type_expr *array_type(parser *p, span where, expr *size, type_expr *element);
type_expr *function_type(parser *p, span where, type_expr *parameter, type_expr *result);

// expected, hint: or NULL.
void syntax_error(parser *p, span where, const char *found, const char *expected, const char *hint);

#endif
