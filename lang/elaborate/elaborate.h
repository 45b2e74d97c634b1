// Elaboration: running the static part of a program at one size, which leaves a Trace.
//
//   sort n xs, n = 3, xs = the argument      parm, merge, vcolumn are called with static n; what
//                                            they do to xs is written down as steps (trace.h)
//
// A `value` is what an expression has while elaborating: static (a number, a list, a function) or
// dynamic (a LEAF: a step of the trace). An array of tuples of arrays keeps its structure outside
// and one leaf per component inside:
//
//   [m]([k]f32, i32)   =   ARRAY m (TUPLE (ARRAY k (LEAF %7)) (LEAF %8))     %7 : [m][k]f32, %8 :
//   [m]i32
//
// so every leaf's step has as many dimensions as ARRAYs stand around it.
//
// `batch` (trace.h) is where elaboration stands in the nest of parm, column and map: inside their
// function it is that many times larger.
#ifndef PERMC_LANG_ELABORATE_ELABORATE_H
#define PERMC_LANG_ELABORATE_ELABORATE_H

#include "lang/trace.h"
#include "lang/types/types.h"
#include <stdatomic.h>

typedef enum value_kind {
  VALUE_SCALAR,  // static
  VALUE_LEAF,    // dynamic
  VALUE_ARRAY,   // see above
  VALUE_TUPLE,
  VALUE_LIST,      // an array whose elements are still separate values
  VALUE_FUNCTION,  // waiting for arguments
  VALUE_THUNK      // a let binding that nobody has asked for yet
} value_kind;

typedef struct value value;
typedef struct frame frame;
typedef struct type_env type_env;

typedef struct closure {
  function *code;  // exactly one of these three
  const builtin *row;
  const binding *foreign;
  value **captures;  // code->captures.count
  type_env *types;   // code: what its type variables stand for
  type **instance;   // row: the same
  uint32_t arity, given;
  value **arguments;  // `given` of them
  span *places;       // row: where they stand, for messages
} closure;

typedef struct thunk {
  frame *frame;
  binding *definition;
  const pattern *part;  // (a, b) = ...: the variable that this is; NULL: the whole value
  uint64_t batch;
  value *result;
  bool running;
} thunk;

struct value {
  value_kind kind;
  union {
    struct {
      scalar_type type;
      scalar_bits bits;
    } scalar;
    value_id leaf;
    struct {
      uint64_t length;
      value *element;
    } array;
    struct {
      uint32_t count;
      value **items;
      type *element;  // of a LIST: the type of its elements, if there are none
    } parts;
    closure function;
    thunk thunk;
  } u;
};

// What the type variables of a generalised group stand for, innermost first.
struct type_env {
  const quantifier *of;
  type **instance;  // closed types
  type_env *outer;
};

struct frame {
  value **slots;
  size_t slot_count;
  value **captures;
  type_env *types;
};

typedef struct active_call {  // for messages: who called whom
  span where;
  const char *name;
  bool library;  // the called function belongs to the library
  struct active_call *outer;
} active_call;

typedef struct limits {
  uint64_t steps;  // expressions evaluated
  uint32_t depth;  // nested calls
  uint64_t trace_steps;
  size_t memory;                   // bytes
  size_t stack;                    // bytes of C stack
  const atomic_bool *interrupted;  // or NULL: looked at now and then
} limits;
extern const limits default_limits;

typedef struct memo_table memo_table;

typedef struct type_table {
  type **slots;
  size_t size, count;
} type_table;

typedef struct elaborator {
  diagnostics *d;
  arena *memory;
  trace *out;
  limits limits;
  uint64_t steps;
  uint32_t depth;
  char *stack;  // where the C stack stood at the start
  uint64_t batch;
  active_call *calls;
  span where;          // of the application being evaluated
  const span *places;  // of the arguments of the builtin that runs
  jmp_buf failure;
  memo_table *memo;
  type_table closed;  // interned types
  bool allow_extern;
  bool asks_for_matrix;  // fail_dynamic: it is not about single elements
} elaborator;

// ---- the entry -------------------------------------------------------------------------------

// One argument as the outside gives it: the leaves of its type, in order.
typedef struct leaf_shape {
  scalar_type type;
  uint32_t rank;
  const uint64_t *dims;
  const void *data;  // its elements, if they shall be static; else NULL
} leaf_shape;

// Elaborates `entry` for arguments of these shapes, and of these elements where they shall be
// static (all leaves of all parameters, in order). The arguments' types must fit the entry's
// (context.c unifies them first): `instance` says what its type variables are. On failure the
// diagnostics hold the error and false is returned. *result: the structure of the result, with
// leaves numbered into out->results. All of it lies in `memory`, whose owner handles its running
// out.
bool elaborate(diagnostics *d, arena *memory, const limits *l, bool allow_extern, binding *entry,
               type **instance, const leaf_shape *leaves, size_t leaf_count, trace *out,
               value **result);

// The shapes that a signature has at given sizes, for `check`: leaves are appended. False (with a
// diagnostic) when an expression of the signature fails there.
typedef VEC(leaf_shape) leaf_shapes;
bool shapes_at_sizes(diagnostics *d, arena *memory, const limits *l, binding *entry,
                     type **instance, const char *const *names, const int64_t *sizes, size_t count,
                     int64_t other, leaf_shapes *out);

// ---- fail.c ------------------------------------------------------------------------------------

// These report an error at e->where (or where the program called into the library) and jump to
// e->failure.
NORETURN void fail(elaborator *e, const char *format, ...) PRINTF_LIKE(2, 3);
NORETURN void fail_limit(elaborator *e, const char *format, ...)
    PRINTF_LIKE(2, 3);  // a limit is reached
NORETURN void fail_hint(elaborator *e, const char *hint, const char *format, ...) PRINTF_LIKE(3, 4);
// The value of a static int, or an error that says what needs it and where it became dynamic.
int64_t static_integer(elaborator *e, value *v, const char *what);
NORETURN void fail_dynamic(elaborator *e, value *v, const char *what);
void count_step(elaborator *e);  // fails at the limits
const char *running_name(const elaborator *e);

// ---- elaborate.c -------------------------------------------------------------------------------

elaborator elaborator_create(diagnostics *d, arena *memory, const limits *l, trace *out);
value *eval_expr(elaborator *e, frame *f, expr *x);
value *call_function(elaborator *e, const closure *c);  // all arguments are given
value *apply(elaborator *e, value *f, value *argument);
value *force(elaborator *e, value *v);  // a thunk's result
type *close_type(elaborator *e, type *t, type_env *env);
scalar_type closed_scalar(type *t);  // SCALAR_COUNT when it is none

// ---- sizes.c -----------------------------------------------------------------------------------

// Binds the size names of b's signature from the arguments of a call and compares all its sizes.
void size_arguments(elaborator *e, frame *f, const binding *b, value **arguments);
void size_result(elaborator *e, frame *f, const binding *b, value *result);
// log2 of a length; an error with the nearest powers of two if there is none. who: for the message.
uint64_t power_length(elaborator *e, uint64_t length, const char *who);

// ---- elaborate/steps.c: values
// ----------------------------------------------------------------------------

value *make_function(elaborator *e, uint32_t arity);
value *make_scalar(elaborator *e, scalar_type type, scalar_bits bits);
value *make_integer(elaborator *e, int64_t i);
value *make_bool(elaborator *e, bool b);
value *make_parts(elaborator *e, value_kind kind, uint32_t count);  // TUPLE or LIST, items NULL
value *make_empty(elaborator *e, type *element);                    // a LIST of nothing
value *make_array(elaborator *e, uint64_t length, value *element);
// The elements of an array (no list) under a function, elaborated once for all of them.
typedef value *element_function(elaborator *e, value *element, void *with);
value *map_elements(elaborator *e, value *array, element_function *f, void *with);

// ---- elaborate/steps.c: steps
// -----------------------------------------------------------------------------

value_id emit(elaborator *e, trace_step s);
const trace_step *step_of(const elaborator *e, const value *leaf);
value *make_leaf(elaborator *e, value_id id);
value *as_leaf(elaborator *e, value *v);   // a scalar becomes a constant step
value *as_array(elaborator *e, value *v);  // a list becomes an ARRAY (packed)
value *as_data(elaborator *e, value *v);   // all lists inside packed, no functions; else fails
bool same_structure(elaborator *e, const value *a, const value *b);
// A copy of a data value with every leaf replaced.
typedef value_id leaf_map(elaborator *e, value_id leaf, void *with);
value *map_leaves(elaborator *e, value *v, leaf_map *f, void *with);
value *lift(elaborator *e, value *v);  // every leaf broadcast to the current batch
value *scalar_operation(elaborator *e, scalar_op op, value *a, value *b);  // folds, or emits
value *convert(elaborator *e, scalar_type to, value *a);
value *compare(elaborator *e, scalar_op op, value *a, value *b);  // tuples: lexicographic
value *select_value(elaborator *e, value *condition, value *yes, value *no);
value *element_at(elaborator *e, value *array, uint64_t index);
uint64_t length_of(elaborator *e, value *array);
uint64_t times_batch(elaborator *e, uint64_t factor);  // batch * factor, checked

#endif
