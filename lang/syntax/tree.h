// The syntax of the language: from the text of a program to a tree. The door of this room.
//
// In: sources (core/error.h). Out: the program as a tree, which types/ binds and types and
// elaborate/ runs.
//
//   merge n xs = let ys = vcolumn n xs        is one binding `merge` with one equation
//                in parm (2^(n-1)) (merge (n-1)) ys
//
//   binding merge                             as an indented text
//     equation n xs
//       let
//         binding ys = (vcolumn n xs)
//       in (parm (^ 2 (- n 1)) (merge (- n 1)) ys)
//
// Operators are applied names: `a + b` is APPLY(APPLY(NAME +, a), b). `a && b` is `if a then b else
// false`, `a || b` is `if a then true else b`; `x |> f` is `f x`; `-1` is the literal.
// Everything lives in the compilation's arena; nothing is ever freed singly.
//
// Variables after types/resolve.c: every function (a global binding, a local one with parameters, a
// lambda) has numbered slots for its parameters, pattern variables and let bindings; what it uses
// from enclosing functions is copied into its closure (`captures`).
//
//   token.h    tokens, and the two steps that make them (private to this room)
//   lexer.l    text to tokens
//   offside.c  indentation to the tokens that open, separate and close blocks
//   parser.y   the grammar
//   build.c    constructors of nodes for its actions; equations to bindings (build.h, private)
//   parse.c    the steps above, in their order
//   hints.c    hints for what is written by habit of another language (hints.h)
//   format.c   the formatter, on tokens
#ifndef PERMC_LANG_SYNTAX_TREE_H
#define PERMC_LANG_SYNTAX_TREE_H

#include "core/error.h"
#include "core/scalar/scalar.h"

typedef struct expr expr;
typedef struct pattern pattern;
typedef struct binding binding;
typedef struct function function;
typedef struct type type;
typedef struct scheme scheme;
typedef struct builtin builtin;

// ---- types as written ------------------------------------------------------------------------

typedef enum type_expr_kind {
  TYPE_EXPR_NAME,
  TYPE_EXPR_ARRAY,
  TYPE_EXPR_TUPLE,
  TYPE_EXPR_FUNCTION
} type_expr_kind;

typedef struct type_expr {
  type_expr_kind kind;
  span where;
  const char *name;          // NAME: a scalar type or a type variable
  expr *size;                // ARRAY: its length, or NULL for any
  struct type_expr **parts;  // ARRAY: element; TUPLE: components; FUNCTION: parameter, result
  uint32_t count;
} type_expr;

// ---- expressions -----------------------------------------------------------------------------

typedef enum expr_kind {
  EXPR_INT,
  EXPR_FLOAT,
  EXPR_BOOL,
  EXPR_NAME,
  EXPR_APPLY,
  EXPR_LAMBDA,
  EXPR_LET,
  EXPR_IF,
  EXPR_TUPLE,
  EXPR_LIST,
  EXPR_COMPREHENSION,
  EXPR_INDEX,
  EXPR_PROJECT,
  EXPR_WILD  // `_` where a pattern was expected; anything else is an error in resolve.c
} expr_kind;

// Where a name's value is found.
typedef enum reference_kind { REF_GLOBAL, REF_BUILTIN, REF_SLOT, REF_CAPTURE } reference_kind;

typedef struct qualifier {  // of a comprehension: a generator, or (pattern NULL) a filter
  pattern *target;
  expr *source;  // the list, the range's first number, or the filter
  expr *second;  // of a range first, second .. last; else NULL
  expr *last;    // a range's last number, else NULL
} qualifier;

// A variable that a part of a function's text uses: of the function's slots or, where it is itself
// one of those that the function uses, of its captures.
typedef struct capture {
  bool from_capture;
  uint32_t index;
} capture;
typedef VEC(capture) capture_list;

struct expr {
  expr_kind kind;
  span where;
  scalar_type suffix;  // INT, FLOAT: 1i32; SCALAR_COUNT when there is none
  type *type;          // of literals and lists, set by infer.c
  union {
    struct {
      bool negative;
      uint64_t magnitude;
    } integer;
    real_number real;
    bool boolean;
    struct {
      const char *text;
      reference_kind kind;
      uint32_t index;      // slot or capture
      binding *target;     // GLOBAL, and local functions (for types)
      const builtin *row;  // BUILTIN
      type **instance;     // the types that its scheme's variables stand for here
      uint32_t instance_count;
    } name;
    struct {
      expr *function, *argument;
      bool has_lambda;  // in this argument or one before it: map (\x -> x + 1) xs
    } apply;
    function *lambda;
    struct {
      binding **bindings;
      uint32_t count;
      expr *body;
    } let;
    struct {
      expr *condition, *yes, *no;
    } branch;
    struct {
      expr **items;
      uint32_t count;
    } list;  // TUPLE and LIST
    struct {
      expr *body;
      qualifier *qualifiers;
      uint32_t count;
      capture_list variables;  // from outside of it
    } comprehension;
    struct {
      expr *array, *index;
      bool inside;  // the library's own: not checked
    } at;
    struct {
      expr *tuple;
      uint32_t field;
    } project;
  } u;
};

static inline bool has_lambda(const expr *e) {
  return e->kind == EXPR_LAMBDA || (e->kind == EXPR_APPLY && e->u.apply.has_lambda);
}

// ---- patterns --------------------------------------------------------------------------------

typedef enum pattern_kind {
  PATTERN_INT,
  PATTERN_BOOL,
  PATTERN_NAME,
  PATTERN_WILD,
  PATTERN_TUPLE,
  PATTERN_LIST
} pattern_kind;
enum { PATTERN_LIST_MAX = 64 };

struct pattern {
  pattern_kind kind;
  span where;
  const char *name;
  uint32_t slot;        // NAME
  binding *definition;  // NAME: for its type
  bool negative;        // INT
  uint64_t magnitude;
  bool boolean;
  scalar_type suffix;  // INT
  type *type;          // of INT, set by infer.c
  pattern **items;
  uint32_t count;
};

// ---- functions and bindings ------------------------------------------------------------------

typedef struct alternative {
  expr *guard;  // NULL: always
  expr *body;
} alternative;

typedef struct equation {
  span where;
  pattern **patterns;
  alternative *alternatives;
  binding **locals;  // where
  uint32_t alternative_count, local_count;
} equation;

struct function {
  const char *name;  // NULL: a lambda
  span where;
  uint32_t arity;       // patterns per equation
  uint32_t call_arity;  // arguments that a call waits for: more than arity where the signature
                        // has sizes (main : [2^n]a -> [2^n]a; main = sort n)
  binding *binding;     // NULL: a lambda
  VEC(equation) equations;
  uint32_t slot_count;
  bool repeats;  // its own code names some function twice, or two that it is recursive with
  bool indexes;  // xs[i] stands in it, or in a function that it names
  capture_list captures;
  function *outer;
};

typedef enum binding_kind {
  BINDING_FUNCTION,  // a name with parameters, or a global without (arity 0)
  BINDING_VALUE,     // a local name without parameters
  BINDING_PATTERN,   // (a, b) = ...
  BINDING_EXTERN,    // a foreign function
  BINDING_VARIABLE   // a parameter or a pattern's variable: no definition of its own
} binding_kind;

struct binding {
  binding_kind kind;
  const char *name;
  span where;  // the name
  function *code;
  pattern *target;       // PATTERN
  type_expr *signature;  // or NULL
  uint32_t signature_arrows;
  VEC(const char *) size_names;  // of the signature, in order of appearance; ...
  uint32_t first_size_slot;  // ... they live in consecutive slots of the function's own activation
  uint32_t slot;             // of a local
  const char *library;       // EXTERN
  const struct c_callback *callback;  // instead of the library's; NULL: there is none
  bool in_library;                    // part of the standard library
  const function *user;               // resolve.c: the last one whose code names this function
  bool global;
  bool is_size;  // a size name of a signature
  // infer.c
  scheme *scheme;
  type *monotype;  // while its group is being inferred; of variables and local values, for good
  struct type_name *type_names;  // in scope of its signature
  // strongly connected components, resolve.c
  VEC(binding *) uses;  // of a global: other globals; of a local function: those beside it
  uint32_t block;       // of a local: number of the let or where
  uint32_t group;       // of a local function: number of its group, in the order of inference
  uint32_t order, low;
  bool on_stack;
};

// Where the binding of that name is in a table (open addressing, larger than what it holds), or
// where it would be put.
binding **binding_slot(binding **table, size_t size, const char *name);

typedef struct import {
  span where;
  const char *path;
} import;

typedef struct module {  // one source file
  uint32_t file;
  bool library;
  VEC(binding *) bindings;
  VEC(import) imports;
} module;

typedef struct program {
  VEC(module *) modules;
  VEC(binding *) entries;  // user bindings with a signature, and main
} program;

// ---- functions -------------------------------------------------------------------------------

// Parses source `file` into a module; bindings are merged (all equations of a name in one). Errors
// are reported; the module holds what could be parsed.
module *parse_module(diagnostics *d, uint32_t file);
// Of the sources first, first + 1, ...
void parse_modules(diagnostics *d, uint32_t first, uint32_t count, module **modules);
// Parses source `file`, one expression, as the body of a binding named `name` without parameters.
module *parse_expression(diagnostics *d, uint32_t file, const char *name);
// Signatures without equations, one binding each: how builtins are declared.
module *parse_signatures(diagnostics *d, uint32_t file);

// Appends the canonical text of source `file` to out. False (reported) if it has syntax errors.
// Idempotent; comments and line breaks stay, indentation keeps its meaning.
bool format_source(diagnostics *d, uint32_t file, text *out);

#endif
