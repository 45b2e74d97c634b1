// Types, and the two analyses that come before elaboration. The door of this room.
//
// In: modules (syntax/tree.h). Out: every name bound, every binding with its scheme (its type, with
// the variables that each use chooses anew), and at each use what they were chosen to be.
//
//   larger x y = if x.0 <= y then y else x.0
//
//   resolve.c   x and y are slots 0 and 1 of larger's activation; <= is a builtin
//   infer.c     x : v1, y : v2, v1 has the component 0 : v3; v3 is ordered, since <= compares it
//               with y: v2 = v3
//   type_print  larger : (t1, ...) -> t1 -> t1   (t1 is a scalar or a tuple of such)
//
// A type is a tree with shared variables. Sizes are no part of it: they are checked where they are
// concrete, in elaborate/sizes.c. A variable carries a constraint instead of type classes: which
// types it may still become. c64 is COMPLEX(f32), so that re, cis and root relate the two.
//
//   types.c     types, unification, defaults, schemes
//   resolve.c   names to what they mean; the order of inference
//   infer.c     types of bindings and uses
//   mismatch.c  messages about types that differ
//   print.c     types as text
#ifndef PERMC_LANG_TYPES_TYPES_H
#define PERMC_LANG_TYPES_TYPES_H

#include "lang/syntax/tree.h"

typedef enum type_kind {
  TYPE_SCALAR,
  TYPE_COMPLEX,
  TYPE_ARRAY,
  TYPE_TUPLE,
  TYPE_FUNCTION,
  TYPE_VARIABLE
} type_kind;

// What a variable may become, from loose to strict.
typedef enum constraint_kind {
  CONSTRAINT_NONE,   // anything
  CONSTRAINT_EACH,   // an element type allowed, or a tuple of such (comparisons are lexicographic)
  CONSTRAINT_SCALAR  // an element type allowed
} constraint_kind;

typedef struct constraint {
  constraint_kind kind;
  scalar_class allowed;
} constraint;

typedef struct quantifier quantifier;

typedef struct type_field {  // "has a component `index` of this type"
  uint32_t index;
  type *type;
} type_field;

struct type {
  type_kind kind;
  scalar_type scalar;
  type **parts;  // COMPLEX: the real type; ARRAY: element; TUPLE; FUNCTION: parameter, result
  uint32_t count;
  const expr *literal;  // SCALAR, COMPLEX, VARIABLE: whose suffix or point decides this type
  // VARIABLE
  type *link;  // what it became, or NULL
  constraint constraint;
  VEC(type_field) fields;
  uint32_t level;         // of the let that may generalise it
  bool rigid;             // named in a signature: stays a variable
  const char *name;       // rigid
  const binding *signer;  // rigid: the binding whose signature names it
  quantifier *owner;      // generalised: variable number `index` of this one
  uint32_t index;
};

// The variables that each use of a group of functions chooses anew; shared by the group's schemes.
struct quantifier {
  VEC(type *) variables;
};

struct scheme {
  type *type;
  quantifier *all;
};

typedef struct type_name {  // a type variable that a signature in scope names
  const char *name;
  type *variable;
  struct type_name *next;
} type_name;

// ---- builtins --------------------------------------------------------------------------------

struct elaborator;
struct value;
typedef struct value *builtin_run(struct elaborator *e, const builtin *row,
                                  struct value **arguments, type **instance);

struct builtin {
  const char *name;
  const char *signature;  // or NULL: made from scalar_ops
  constraint constraint;  // of the signature's variable a
  uint32_t arity;
  builtin_run *run;
  int operation;   // of scalar operations and conversions: scalar_op or scalar_type
  scheme *scheme;  // set per compilation, in a copy of the table
};
// All builtins of one compilation (elaborate/builtins.c makes them).
typedef struct builtin_table {
  builtin *rows;
  size_t count;
} builtin_table;

// ---- types -----------------------------------------------------------------------------------

type *type_prune(type *t);  // follows links
type *type_scalar(arena *a, scalar_type s);
type *type_array(arena *a, type *element);
type *type_function(arena *a, type *parameter, type *result);
type *type_tuple(arena *a, type **parts, uint32_t count);
type *type_variable(arena *a, constraint c, uint32_t level);
// What a variable becomes that nothing determines: i64, f64 or the next type that it may be; the
// smallest tuple that has the components that are asked for. Other types stay as they are.
void type_set_default(arena *a, type *t);
void type_print(text *out, type *t);  // []i32, (u32, a) -> a, "a number" for a constrained variable
// The same of two types, whose unnamed variables are numbered together.
void type_print_both(text *first, type *a, text *second, type *b);
const char *type_constraint_name(constraint c);  // "a real number"
// What is to be written where a scalar of type t is not such: "; ...", or "".
const char *type_conversion_hint(constraint c, const type *t);
// How a number becomes one of another type; inferred: it may be `length` that asks for an i64.
const char *type_scalar_hint(arena *a, scalar_type wanted, scalar_type found, bool inferred);
// Part i of a pruned type: what it is made of, or a component that a variable is known to have.
// Behind the last, NULL.
type *type_part(const type *t, size_t i);
bool type_contains(type *t, const type *v);  // v inside of t, not t itself
// The first literal of the user's that decides a type inside of t, or NULL.
const expr *type_literal(type *t);
bool type_is_first_order(type *t);  // holds no function
bool type_has_arrays(type *t);
scalar_type closed_scalar(type *t);       // SCALAR_COUNT when it is none
bool first_order_parameters(type *t);     // neither its parameters nor its result hold one
const char *hint_for_functions(type *t);  // what to do about those that it takes or returns

// ---- analyses --------------------------------------------------------------------------------

// Binds names, numbers slots and captures, of what an earlier call has not seen. groups: the
// bindings in an order in which each comes after those that it uses; each group is mutually
// recursive.
typedef VEC(binding *) binding_group;
typedef VEC(binding_group) binding_groups;
bool resolve_program(diagnostics *d, program *p, const builtin_table *t, binding_groups *groups);
// The name n of a length m or 2^n, which may bind it; NULL: the length is another expression, over
// names bound elsewhere in the signature.
const expr *size_name(const expr *size, bool *power);
// The expression whose value is that of the body: what stands behind `in`.
const expr *result_of(const expr *body);
// Types them. Both return false if errors were reported.
bool infer_program(diagnostics *d, const builtin_table *t, binding_groups *groups);
// For builtins: the scheme of a signature text; a: the constraint of the variable named a.
scheme *scheme_of_signature(diagnostics *d, type_expr *signature, constraint a);
// Makes `wanted` and the type of an entry's parameter or result equal; false if they cannot be.
bool type_unify(arena *a, type *wanted, type *found);
// Whether they seem to be: what has one name, but stands twice, is not compared.
bool type_seems_to_unify(type *a, type *b);
// A copy of the scheme's type with fresh variables; *instance: what the variables became.
type *scheme_instantiate(arena *a, scheme *s, uint32_t level, type ***instance);

#endif
