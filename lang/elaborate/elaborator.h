// The state of an elaboration and what its files share. Private to lang/elaborate.
//
// A `value` is what an expression has while elaborating: static (a number, a list, a function) or
// dynamic (the result of a step of the trace). An array of tuples of arrays keeps its structure
// outside and one dynamic value per component inside:
//
//   [m]([k]f32, i32)   =   ARRAY m
//                            TUPLE
//                              ARRAY k
//                                DYNAMIC %7      %7 : [m][k]f32
//                              DYNAMIC %8        %8 : [m]i32
//
// so the step of every DYNAMIC has as many dimensions as ARRAYs stand around it.
//
// `batch` (trace.h) is where elaboration stands in the nest of parm, column and map: inside their
// function it is that many times larger.
#ifndef PERMC_LANG_ELABORATE_ELABORATOR_H
#define PERMC_LANG_ELABORATE_ELABORATOR_H

#include "core/hash.h"
#include "lang/elaborate/elaborate.h"

// ---- values ----------------------------------------------------------------------------------

typedef enum value_kind {
  VALUE_SCALAR,   // static
  VALUE_DYNAMIC,  // dynamic
  VALUE_ARRAY,    // see above
  VALUE_TUPLE,
  VALUE_LIST,      // an array whose elements are still separate values; see `like`
  VALUE_FUNCTION,  // waiting for arguments
  VALUE_THUNK      // a let binding that nobody has asked for yet
} value_kind;

typedef struct value value;
typedef struct activation activation;
typedef struct type_env type_env;
typedef struct branch branch;

typedef struct closure {
  function *code;  // exactly one of these three
  const builtin *row;
  const binding *foreign;
  value **captures;  // code->captures.count
  const branch *guards;
  type_env *types;  // code: what its type variables stand for
  type **instance;  // row: the same
  uint32_t arity, given;
  value **arguments;  // `given` of them
  span *places;       // row: where they stand, for messages
} closure;

typedef struct thunk {
  activation *activation;
  binding *definition;
  const pattern *part;  // (a, b) = ...: the variable that this is; NULL: the whole value
  uint64_t batch;
  const branch *guards;
  value *result;
  bool running;
  value *outer;  // while it runs: the binding that runs around it
} thunk;

struct value {
  value_kind kind;
  // If not 0: part of a result that serves as it is wherever its call stands, and which of the calls
  // that have finished that was (memo.c).
  uint32_t fixed;
  union {
    struct {
      scalar_type type;
      scalar_bits bits;
    } scalar;
    value_id step;
    struct {
      uint64_t length;
      value *element;
      bool listed;  // it is a list of the program that was elaborated at once (counted.c)
    } array;
    struct {
      uint32_t count;
      value **items;
      bool repeats;  // a LIST that replicate has made, if only of one element
      // Of a LIST without elements: their type, and what one would look like, where that is known:
      // the rows of take 0 [[1, 2], [3, 4]] have 2 elements, those of [] any number.
      type *element;
      value *like;
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

struct activation {
  const function *code;
  value **slots;
  size_t slot_count;
  value **captures;
  type_env *types;
};

typedef struct active_call {  // for messages: who called whom
  span where;
  const char *name;
  bool library;  // the called function belongs to the library
  const closure *closure;
  struct active_call *outer;
} active_call;

struct branch {  // of a dynamic condition: what is computed in it counts where that is `taken`
  const expr *condition;
  value *value;
  bool taken;
  uint32_t number;  // of those outside of it
  const branch *outer;
};

// ---- the elaborator --------------------------------------------------------------------------

typedef struct written_length {  // a signature's expression for a length, and an array's length
  expr *size;
  uint64_t length;
  bool of_row;        // not the outermost array of its parameter
  uint32_t argument;  // number of its parameter, from 1
} written_length;

typedef struct memo_table memo_table;

typedef struct type_table {
  VEC(type *) types;
  hash_table table;
} type_table;

// An attempt to evaluate something for an element that there is not, to learn its lengths.
typedef struct trial {
  jmp_buf failed;
  const void *what;  // the code that is tried: not tried again inside; NULL: any
  bool counted;      // of counted.c: whatever fails, there is another way
  struct trial *outer;
} trial;

// A function of map, parm or column is being elaborated for the elements that these steps make.
typedef struct open_level {
  value_id first, last;  // from first on, before last
  uint64_t batch;        // around it
  struct open_level *outer;
} open_level;

// What is noted while elaborating, wherever that stands.
typedef struct ledger {
  uint64_t steps;
  uint64_t tables;                // in the trace
  VEC(const closure *) promised;  // operators whose law is in the trace
  VEC(value_id) law_results;
  jmp_buf failure;
  uint64_t kept;  // how many bindings and calls have been evaluated, which others find again
  memo_table *memo;
  VEC(written_length) lengths;  // of arrays whose signature is being checked (sizes.c)
  type_table closed;            // interned types
  VEC(value_id) unknown;        // those that are not known before a level ends
  VEC(const void *) known;      // the data of steps that were executed, by their numbers (known.c)
  VEC(number_range) ranges;     // of the first `ranges_found` steps
  size_t ranges_found;
  uint32_t counted_in_vain;  // how often a limit was reached
} ledger;

// Where elaboration stands: what a call, a binding or a branch changes is put back by its caller.
typedef struct elaborator {
  diagnostics *d;
  arena *memory;
  trace *out;
  ledger *ledger;
  limits limits;
  bool allow_extern;
  char *stack;  // where the C stack stood at the start
  value *(*together)(struct elaborator *e, activation *act, expr *x);  // eval_together
  value *(*comprehension)(struct elaborator *e, activation *act, const expr *x);
  uint64_t depth;
  uint64_t batch;
  active_call *calls;
  const branch *branches;  // that are being computed
  const branch
      *guards;         // those around the text of what is being computed, as far as it has indices
  span where;          // of the application being evaluated
  span caller;         // of the innermost one in the program's own text
  const span *places;  // of the arguments of the builtin that runs
  trial *trial;        // innermost, or NULL
  value *running;      // binding that is evaluated, innermost
  value_id memo_from;  // calls are copied from steps from here on: padded knows what it has made
  bool padding;        // inside of a function that padded calls, with padding
  bool asks_for_matrix;         // fail_dynamic: it is not about single elements
  struct memo_call *recording;  // innermost
  value_id own_from;            // its steps: those from here on
  open_level *levels;           // innermost
  uint64_t counted;  // how many elements of lists it stands for, in a trial of counted.c; else 0
} elaborator;

// ---- fail.c ------------------------------------------------------------------------------------

// These report an error at e->where (or where the program called into the library) and jump to
// e->failure. fail_limit: the limit of that name is reached; `needed`: what would do (0: unknown;
// UINT64_MAX: no limit would, for a list of so many numbers).
NORETURN void fail_hint(elaborator *e, const char *hint, const char *format, ...) PRINTF_LIKE(3, 4);
NORETURN void fail_limit(elaborator *e, const char *limit, uint64_t needed, const char *format, ...)
    PRINTF_LIKE(4, 5);
#define fail(e, ...) fail_hint((e), NULL, __VA_ARGS__)
NORETURN void fail_dynamic(elaborator *e, value *v, const char *what);
// The operand of a step that makes it dynamic: the first that is no constant.
const trace_step *dynamic_operand(const elaborator *e, const trace_step *s);
// The last guard, whose value v is dynamic, leaves a case over.
NORETURN void fail_uncovered(elaborator *e, const value *v);
NORETURN void fail_no_equation(elaborator *e, const function *code, value **arguments);
void count_step(elaborator *e);  // fails at the limits
const char *running_name(const elaborator *e);
// Whether the innermost function of the program is called from itself.
bool is_recursive(const elaborator *e);

// ---- entry.c -----------------------------------------------------------------------------------

elaborator elaborator_create(diagnostics *d, arena *memory, const limits *l, trace *out);

// ---- elaborate.c -------------------------------------------------------------------------------

value *eval_expr(elaborator *e, activation *act, expr *x);
value *eval_apply(elaborator *e, activation *act, const expr *x);
bool match_pattern(elaborator *e, activation *act, const pattern *p, value *v);
value *make_list(elaborator *e, activation *act, const expr *x, value **items, size_t count);
// Most applications are of builtins, to all their arguments: those write no closure down.
enum { MOST_AT_ONCE = 4 };  // arguments, and type variables
// The name of the builtin that x applies to all its arguments, or NULL; and the call with values.
const expr *applied_builtin(const expr *x);
value *call_builtin(elaborator *e, activation *act, const expr *x, const expr *name,
                    value **values);
// The arguments of an application of `count` of them.
void find_arguments(const expr *x, uint32_t count, expr **arguments);
value *call_function(elaborator *e, const closure *c);  // all arguments are given
// A call of a function of the program whose body others evaluate, in the state `inside`.
typedef struct opened_call {
  elaborator outside, inside;
  const closure *closure;
  activation *act;
  expr *body;
} opened_call;
bool open_call(elaborator *e, const closure *c, opened_call *o);  // false: data choose the body
value *close_call(elaborator *e, const opened_call *o, value *result);
value *apply(elaborator *e, value *f, value *argument);
// f waiting for one argument less, or for none; place: where the argument stands.
value *with_argument(elaborator *e, value *f, value *argument, span place);

// ---- comprehensions.c --------------------------------------------------------------------------

value *eval_comprehension(elaborator *e, activation *act, const expr *x);

// ---- counted.c ---------------------------------------------------------------------------------

// What a comprehension, or map, takes its elements from: a list or an array; NULL: numbers.
typedef struct generator {
  value *list;
  int64_t first, step;
  uint64_t count;
  scalar_type type;
} generator;
generator generator_of(value *list);
value *generated(elaborator *e, const generator *g, uint64_t k);  // element k
// The elements of an array (no list) under a function, elaborated once for all of them.
typedef value *element_function(elaborator *e, value *element, void *with);
// The array of what f makes of each element, elaborated once. map_counted: NULL where it cannot be.
value *map_generator(elaborator *e, const generator *g, element_function *f, void *with);
value *map_counted(elaborator *e, const generator *g, element_function *f, void *with);
value *as_listed(elaborator *e, value *array);
const number_range *find_ranges(elaborator *e);  // of all steps, by their numbers
bool is_list(const value *v);                    // of the program, elaborated at once or not

// ---- batching.c --------------------------------------------------------------------------------

// x, an application, tuple or list: equal calls that stand in it beside each other are elaborated
// together.
value *eval_together(elaborator *e, activation *act, expr *x);

// ---- groups.c ----------------------------------------------------------------------------------

// Calls a function for each of some closures that have all their arguments.
void call_each(elaborator *e, uint32_t count, const closure *const *calls, value **results);

// ---- indices.c ---------------------------------------------------------------------------------

// What follows is computed in that branch of the condition, whose value is c.
void enter_branch(elaborator *e, const expr *condition, value *c, bool taken);
const branch *guards_of_both(elaborator *e, const branch *first, const branch *second);
// Those whose conditions are of no deeper level than what has so many instances.
const branch *guards_at(elaborator *e, const branch *g, uint64_t batch);
// An array and an index into it that each run looks at, unless it is inside; or an element, if that
// is NULL.
typedef struct indexed {
  value *array, *index;
  bool inside;
} indexed;
// Into the element that is there so far: xs[i][j] is element i * m + j of all rows of m elements,
// one after the other.
indexed index_into(elaborator *e, indexed at, value *index);
value *indexed_element(elaborator *e, indexed at);

// ---- foreign.c ---------------------------------------------------------------------------------

value *run_foreign(elaborator *e, const closure *c);  // all arguments are given

// ---- laws.c ------------------------------------------------------------------------------------

// The operator is promised to be associative on elements such as those of the array. Where laws are
// wanted, the Trace gets their results.
void promise_associative(elaborator *e, value *operator, value * elements);
void add_laws(elaborator *e);  // to the results of the trace

// ---- padding.c ---------------------------------------------------------------------------------

// Adds checks that the first `kept` elements of the result, which a function has made of the padded
// array, are no padding. first: the first step of the padded array.
void check_padding(elaborator *e, value_id first, value *padded, value *result, uint64_t kept);
void add_checks(elaborator *e);  // once the trace has its results

// ---- needs.c -----------------------------------------------------------------------------------

// Lists of places of an array of `length` elements, or of keys below that.
typedef struct checked_places {
  value_id places;
  uint64_t length;
  bool distinct;
  check_kind kind;  // CHECK_PLACES, CHECK_KEYS, CHECK_OFFSETS
} checked_places;

// What a step needs to be right: places, or keys. False: nothing.
bool places_of_step(const elaborator *e, const trace_step *s, checked_places *l);
trace_step wrong_step(const checked_places *l);  // which finds the first wrong one: its operation
// The same with all that it is; false: all are right.
bool find_place_check(const elaborator *e, const trace_step *s, trace_step *check);

// ---- places.c ----------------------------------------------------------------------------------

value *run_gather(elaborator *e, const builtin *row, value **a, type **instance);
// The element at an index that is data, which need not be checked, if it is `inside`; and such an
// index, which each run finds to be below `bound`.
value *element_at_data(elaborator *e, value *array, value *index, bool inside);
value *bounded_index(elaborator *e, value *index, uint64_t bound);
value *run_scatter(elaborator *e, const builtin *row, value **a, type **instance);
value *run_trusted(elaborator *e, const builtin *row, value **a, type **instance);
value *run_ragged_places(elaborator *e, const builtin *row, value **a, type **instance);
value *run_sorted_places(elaborator *e, const builtin *row, value **a, type **instance);
value *run_bucket_places(elaborator *e, const builtin *row, value **a, type **instance);
value *run_checked_power(elaborator *e, const builtin *row, value **a, type **instance);
value *run_checked_rows(elaborator *e, const builtin *row, value **a, type **instance);
value *run_is_foldable(elaborator *e, const builtin *row, value **a, type **instance);
value *run_checked_keys(elaborator *e, const builtin *row, value **a, type **instance);
value *run_grouped(elaborator *e, const builtin *row, value **a, type **instance);
value *run_groups_by_steps(elaborator *e, const builtin *row, value **a, type **instance);
value *run_fold_range(elaborator *e, const builtin *row, value **a, type **instance);
value *run_count_keys(elaborator *e, const builtin *row, value **a, type **instance);
void add_place_checks(elaborator *e);                          // once the trace has its results
value_id emit_row_check(elaborator *e, const trace_check *c);  // its result

// ---- shared.c ----------------------------------------------------------------------------------

void share_work(elaborator *e);  // once the trace has its results: equal places are computed once

// ---- levels.c ----------------------------------------------------------------------------------

// The batch where a call, or a comprehension over an array, is made: that of what it is made of.
uint64_t batch_of_call(const elaborator *e, const closure *c);
uint64_t batch_of_comprehension(const elaborator *e, const activation *act, const expr *x,
                                const value *list);

// ---- closed.c ----------------------------------------------------------------------------------

// The type at this size; equal closed types are one pointer.
type *close_type(elaborator *e, type *t, const type_env *env);

// ---- sizes.c -----------------------------------------------------------------------------------

// The lengths of the arguments of a call of b, or of its result, that its signature has expressions
// for are appended to e->lengths; the number of the first is returned.
size_t argument_lengths(elaborator *e, const binding *b, value **arguments);
size_t result_lengths(elaborator *e, const binding *b, const value *result);
const type_expr *written_result(const binding *b);  // a function, where equations give one
// Binds the size names of b's signature from the lengths from `first` on.
void bind_size_names(elaborator *e, activation *act, const binding *b, size_t first);
NORETURN void fail_size(elaborator *e, const binding *b, written_length l, int64_t wanted,
                        bool result);
// log2 of a length; an error with the nearest powers of two if there is none. who: for the message.
uint64_t power_length(elaborator *e, uint64_t length, const char *who);

// ---- known.c -----------------------------------------------------------------------------------

// Of at most so many static scalars in lists what is built in makes lists again. Longer ones become
// data, so that what is done to a table is written once.
enum { MOST_STATIC = 64 };
// A scalar, static where that can be found out.
value *static_scalar(elaborator *e, value *v);
// The value of a static int, or an error that says what needs it and where it became dynamic.
int64_t static_integer(elaborator *e, value *v, const char *what);
value *run_builtin(elaborator *e, const closure *c);  // all arguments are given
// The steps from `first` on are written anew: nobody has them; tables: how many there were before.
void forget_steps(elaborator *e, size_t first, uint64_t tables);
// The data of a step that depends on no argument. NULL: there is too much to do, a place is wrong,
// or, unless `inside`, it belongs to one of many elements.
const void *known_data(elaborator *e, value_id id, bool inside);
// Whether the places, or keys, of the step are wrong, whose data are known.
bool has_wrong_places(elaborator *e, const trace_step *s);
// The elements of a `listed` array as a list, static as far as they are known; other values as they are.
value *as_list(elaborator *e, value *v);

// ---- values.c ----------------------------------------------------------------------------------

value *make_value(elaborator *e, value_kind kind);  // of that kind for good
value *copy_of_value(elaborator *e, const value *v);
value *make_function(elaborator *e, uint32_t arity);
value *make_scalar(elaborator *e, scalar_type type, scalar_bits bits);
// Of a scalar type, or a tuple of such: these bits of each.
value *make_scalars(elaborator *e, type *t, scalar_bits (*bits)(scalar_type));
value *make_integer(elaborator *e, int64_t i);
value *make_bool(elaborator *e, bool b);
value *make_parts(elaborator *e, value_kind kind, uint32_t count);  // TUPLE or LIST, items NULL
value *make_empty(elaborator *e, type *element, value *like);       // a LIST of nothing
// What an element of an empty list would look like; NULL: it has lengths that nobody knows.
value *absent_element(elaborator *e, const value *list);
value *make_array(elaborator *e, uint64_t length, value *element);
value *make_dynamic(elaborator *e, value_id id);
value *as_dynamic(elaborator *e, value *v);  // a scalar becomes a constant step
value *as_array(elaborator *e, value *v);    // a list becomes an ARRAY (packed)
value *as_data(elaborator *e, value *v);     // all lists inside packed, no functions; else fails
typedef value *trial_function(elaborator *e, void *with);
// f(e, with) as data; NULL, and no message, where it fails or is no data.
value *attempt(elaborator *e, trial *here, trial_function *f, void *with);
// Whether they are static scalars, or tuples and lists of such.
bool are_static(value *const *items, uint32_t count);
// A LIST of nothing, whose elements, if they have lengths, look like f(e, with) for no instances.
value *make_empty_like(elaborator *e, type *element, const void *what, trial_function *f,
                       void *with);
bool same_structure(const value *a, const value *b);
// Whether it has but static scalars inside; *left: so many more may be there.
bool is_static(const value *v, uint32_t *left);
bool is_data(const value *v, bool with_static);  // all of it; without: dynamic
// What is inside of an array (its element), a tuple or a list; nothing of another value.
value *const *value_parts(const value *v, size_t *count);
// A copy of one of these, whose parts the caller sets.
value *copy_with_parts(elaborator *e, const value *v, value ***parts);
// A copy of a data value with the step of every DYNAMIC replaced.
typedef value_id step_map(elaborator *e, value_id id, void *with);
value *map_steps(elaborator *e, value *v, step_map *f, void *with);
uint64_t length_of(const value *array);

// The step for all arrays inside of a value.
value *move_value(elaborator *e, value *v, trace_step s);
value *move_element(elaborator *e, value *array, trace_step s);  // the array's element, moved
// The same, lifted, for a function that is elaborated next, `times` the batch, until leave_level.
value *enter_level(elaborator *e, value *array, trace_step s, uint64_t times, open_level *level);
void leave_level(elaborator *e);
value *lift(elaborator *e, value *v);  // every step broadcast to the current batch
value *replicate_value(elaborator *e, uint64_t n, value *x);
value *element_at(elaborator *e, value *array, uint64_t index);
value *as_rows(elaborator *e, value *list);    // an ARRAY of ARRAYs
value *join_rows(elaborator *e, value *list);  // all their elements
value *map_elements(elaborator *e, value *array, element_function *f, void *with);

// ---- steps.c -----------------------------------------------------------------------------------

enum { MOST_DIMENSIONS = 16 };
#define OWN_BATCH UINT64_MAX

// Writes a step down. The operation and its operands say what the result is; only this is given:
//
//   type       ARGUMENT, CONSTANT, TABLE, CONVERT, ROOT, EXTERN, PACK of nothing
//   batch      INSTANCE, BROADCAST; RESHAPE: or OWN_BATCH, that of its operand
//   rank, dims ARGUMENT, TABLE, PACK of nothing; RESHAPE: those that replace the outer `number`
//              dimensions of its operand
//   dims[0]    IOTA, REPLICATE, SLICE, UNPAIR
//   scalar, number, rows, constant, table, places: as in trace.h
//
//   emit(e, (trace_step){.op = TRACE_SPLIT, .number = 1}, 1, &id)         1 [4]i32  ->  2 [2]i32
//   emit(e, (trace_step){.op = TRACE_RESHAPE, .batch = 6, .number = 1},   2 [3][5]i32  ->  6 [5]i32
//        1, &id)
value_id emit(elaborator *e, trace_step s, uint32_t count, const value_id *operands);
// All elements of a step in another shape.
value_id emit_elements(elaborator *e, value_id id, uint64_t batch, uint32_t rank,
                       const uint64_t *dims);
// The step that emit would write; and the writing of a step of which all is there.
void derive_step(elaborator *e, trace_step *s, uint32_t count, const value_id *operands);
value_id append_step(elaborator *e, trace_step *s);
// x and y, one after the other; the whole that they are the parts of, if there is one.
value_id emit_concat(elaborator *e, value_id x, value_id y);
// Steps of equal shapes, at the batch where elaboration stands, as the instances of a batch that
// many times as large; step i is instance i of each.
value_id batch_of_rows(elaborator *e, const value_id *rows, uint32_t count);
// The place in the program's own text that evaluation has come from.
span own_place(const elaborator *e);
const trace_step *step_at(const elaborator *e, value_id id);
value_id *copy_operands(elaborator *e, uint32_t count, const value_id *ids);

// A move: a step of one operand; a step_map.
value_id move_step(elaborator *e, value_id id, void *step);
uint64_t times_batch(elaborator *e, uint64_t factor);  // batch * factor, checked

// ---- scalars.c ---------------------------------------------------------------------------------

value *integer_literal(elaborator *e, scalar_type t, bool negative, uint64_t magnitude);
value *real_literal(elaborator *e, scalar_type t, real_number real);
value *scalar_operation(elaborator *e, scalar_op op, value *a, value *b);
value *convert(elaborator *e, scalar_type to, value *a);
value *compare(elaborator *e, scalar_op op, value *a, value *b);  // tuples: lexicographic
// The elements of a list as keys of scalars in an order of their own; of a complex number a tuple.
value *ordered_keys(elaborator *e, value *list);
value *select_value(elaborator *e, value *condition, value *yes, value *no);

#endif
