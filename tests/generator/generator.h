// What is inside of the generator of programs: for tests/generator only.
//
// In: a stream of choices. Out: terms, which are pieces of text with their shapes.
//
//   base.c       choices, costs, shapes, scopes and what is in them
//   static.c     numbers that are known before the program runs: masks, matrices, sizes
//   scalar.c     an expression of a given scalar type
//   value.c      an expression of a given shape; functions
//   step.c       one combinator more: the table of what can be done to an array, first part
//   library.c    ... second part: functions of the library
//   places.c     ... third part: movement that depends on data
//   recursive.c  recursive functions
//   data.c       the data of arguments
//   program.c    the entry point
//   context.c    what runs programs
//
// Shapes are concrete: the generator knows every length, since a program is made for its data. It
// keeps a program well typed by asking for shapes (scalar, value) or by following them (steps).
// What a program costs to run is counted while it is made: an operation costs the number of
// instances that it is done for.
#ifndef PERMC_TESTS_GENERATOR_GENERATOR_H
#define PERMC_TESTS_GENERATOR_GENERATOR_H

#include "core/text.h"
#include "tests/generator/program.h"

enum { SCOPE_VARIABLES = 20, SCOPE_SIZES = 4, PARAMETERS = 4 };

typedef struct term {
  const char *text;  // NULL: there is none
  const shape *shape;
  bool atom;   // needs no parentheses as an argument
  bool fixed;  // known before the program runs
} term;

typedef struct variable {
  const char *name;
  const shape *shape;
  bool fixed;
  unsigned level;  // of the scope that it belongs to
  bool *used;      // whether it occurs
} variable;

typedef struct named_size {
  const char *name;
  int64_t value;
} named_size;

typedef struct scope {
  variable variables[SCOPE_VARIABLES];
  size_t variable_count;
  named_size sizes[SCOPE_SIZES];
  size_t size_count;
  uint64_t instances;  // how often what stands here is executed
  unsigned level;      // functions around it
} scope;

// A function at the top of the program.
typedef struct definition {
  const char *name;
  const shape *parameters[PARAMETERS];
  uint32_t parameter_count;
  const shape *result;
  uint64_t cost;  // of one call
} definition;

typedef struct generator {
  arena *memory;
  const program_options *options;
  uint64_t random;        // the state of the source of choices
  const uint32_t *given;  // choices to repeat instead
  size_t given_count, given_next;
  bool replay;
  unsigned missing;       // open spans that the given choices do not have
  VEC(uint32_t) choices;  // made so far
  VEC(const char *) marks;
  VEC(definition) definitions;
  text text;             // of the definitions
  scalar_type types[4];  // that this program prefers
  size_t type_count;
  uint32_t swarm;           // which steps it does without
  int bits;                 // log2 of its usual length
  unsigned names;           // given so far
  int budget;               // expressions left to make
  int scalars;              // scalar expressions left to make
  int scalar_budget;        // and in the one that is being made
  unsigned scalar_depth;    // how deep in it
  uint64_t dynamic_places;  // how many variables were used that are not static
  uint64_t cost;            // operations on elements left
  unsigned repeated;        // functions around that are applied repeatedly
  unsigned exact;           // what is made must not be rough
  bool fault;               // a mistake is still to be made
} generator;

// ---- base.c: choices -------------------------------------------------------------------------

// Around the choices of one part. When choices are repeated, those of a span stay in it: where it
// needs more than there are, they are 0, and what it does not need is skipped.
void open_span(generator *g);
void close_span(generator *g);
uint64_t random_bits(uint64_t *state);
uint32_t draw_below(generator *g, uint32_t bound);  // 0 ... bound - 1
bool draw_chance(generator *g, uint32_t percent);   // false is the simpler
size_t draw_weighted(generator *g, const uint32_t *weights, size_t count);
void mark_used(generator *g, const char *name);  // a constant string: this occurs
const char *write_code(generator *g, const char *format, ...) PRINTF_LIKE(2, 3);
const char *fresh_name(generator *g, const char *prefix);
scalar_type draw_type(generator *g, scalar_class among);  // not 0
// Whether to make a mistake here.
bool draw_fault(generator *g, const char *name, uint32_t percent);
// Whether an operation on so many elements in each instance is affordable; it is then paid for.
bool pay_for(generator *g, const scope *s, uint64_t elements);

// ---- base.c: shapes --------------------------------------------------------------------------

const shape *scalar_shape(generator *g, scalar_type t, origin o);
const shape *array_shape(generator *g, uint64_t length, const shape *element);
const shape *pair_shape(generator *g, const shape *first, const shape *second);
bool shapes_agree(const shape *a, const shape *b);    // origins do not matter
bool all_scalars(const shape *s);                     // a scalar, or a tuple of such
uint64_t shape_size(const shape *s);                  // scalars in it
unsigned shape_rank(const shape *s);                  // the deepest nest of arrays
scalar_class shape_classes(const shape *s);           // the types in it
const char *type_code(generator *g, const shape *s);  // "[3][4](u8, f32)"
origin shape_origin(const shape *s);                  // the roughest in it
const shape *with_origin(generator *g, const shape *s, origin o);
const shape *at_least(generator *g, const shape *s, origin o);
int length_bits(uint64_t length);  // -1: no power of two

// ---- base.c: scopes and terms ----------------------------------------------------------------

scope inner_scope(const scope *s, uint64_t factor);
scope closed_scope(const scope *s, uint64_t factor);  // without variables
void add_variable(generator *g, scope *s, const char *name, const shape *shape);
term make_term(const char *code, const shape *shape);
term make_atom(const char *code, const shape *shape);
const char *atom_text(generator *g, term t);  // in parentheses where it needs them
// `function argument`, or argument |> function
term call_term(generator *g, const char *function, term argument, const shape *result);

// A variable, a component or an element of one: x, x.0, xs[3].1
typedef struct place {
  const variable *of;
  int path[4];  // components; of arrays anything
  int depth;
  const shape *shape;
} place;
enum { PLACES = 48 };
typedef bool place_test(const shape *s, const void *with);
size_t find_places(const generator *g, const scope *s, place_test *test, const void *with,
                   place *found);
bool allows_rough(const generator *g);
term place_term(generator *g, const scope *s, const place *p);
term pick_place(generator *g, const scope *s, place *found, size_t count);  // changes their order
// One of this shape (or with this test), text NULL if there is none.
term any_place(generator *g, const scope *s, const shape *wanted);
term any_place_with(generator *g, const scope *s, place_test *test, const void *with);
term any_array(generator *g, const scope *s);

// ---- static.c --------------------------------------------------------------------------------

const char *static_text(generator *g, const scope *s, int64_t value);  // an atom
const char *mask_text(generator *g, const scope *s, int bits);         // 1 ... 2^bits - 1
const char *matrix_text(generator *g, int bits);
const char *index_text(generator *g, const scope *s, uint64_t length);
// An atom; typed: the context says what type it has.
const char *literal_text(generator *g, scalar_type t, bool typed);

// ---- scalar.c --------------------------------------------------------------------------------

enum {
  DYNAMIC = 1,  // not to be known before the program runs, if that can be
  TYPED = 2,    // the context says what type it has
  ROUGH = 4     // sin and its kin are allowed
};
term scalar_term(generator *g, const scope *s, scalar_type t, unsigned flags);
term scalar_leaf(generator *g, const scope *s, scalar_type t, unsigned flags);
scalar_type type_at_hand(generator *g, const scope *s, scalar_class among);

// ---- value.c ---------------------------------------------------------------------------------

typedef enum keep { KEEP_NOTHING, KEEP_LENGTH, KEEP_SHAPE } keep;

term value_term(generator *g, const scope *s, const shape *wanted, unsigned flags);
term any_term(generator *g, const scope *s, unsigned depth);
const shape *draw_shape(generator *g, const scope *s, const shape *like);  // of an element

// A function to make.
typedef struct request {
  const shape *parameters[PARAMETERS];
  uint32_t parameter_count;
  const shape *wanted;  // its result; NULL: what comes out of steps on the last parameter
  keep keep;            // ... that keep this of it
  uint64_t factor;      // how often it is applied for each instance of the scope
  bool repeated;        // to its own results
  bool closed;          // without variables of the scope
} request;

// An atom that stands for the function; shape: of its result.
term function_term(generator *g, const scope *s, const request *r);
// ... of two elements, to be applied to its own results.
term operator_on(generator *g, const scope *s, const shape *e, uint64_t factor);
const char *pattern_text(generator *g, scope *s, const shape *of);
// Adds a definition at the top: `name parameters = body`.
const definition *define_function(generator *g, const scope *s, const request *r);
// What an origin stands for outside of a function that was applied repeatedly to `argument`.
const shape *resolve_origin(generator *g, const shape *result, origin argument);

// ---- step.c, library.c, places.c -------------------------------------------------------------------

term apply_steps(generator *g, const scope *s, term xs, unsigned count, keep k);
term apply_step(generator *g, const scope *s, term xs, keep k);
term reduction_term(generator *g, const scope *s, const shape *wanted);  // of some array in scope

enum {                // what a step may need of its array
  POWER = 1 << 0,     // 2^n elements
  HALVES = 1 << 1,    // n >= 1
  QUARTERS = 1 << 2,  // n >= 2
  FILLED = 1 << 3,    // not empty
  SHORT = 1 << 4,     // at most 16
  ROWS = 1 << 5,      // elements are arrays
  SQUARE = 1 << 6,    // rows and columns are powers of two
  SCALARS = 1 << 7,   // elements are scalars or tuples of them
  PAIRS = 1 << 8,
  ORDERED = 1 << 9,
  NUMBERS = 1 << 10,
  FLOATS = 1 << 11,
  COMPLEXES = 1 << 12,
  BOOLS = 1 << 13,
  EXACT = 1 << 14,   // nothing rough
  SINGLE = 1 << 15,  // elements are scalars
  PARTS = 1 << 16    // elements are parts of complex numbers
};
unsigned features_of(const shape *s);

typedef struct step step;
typedef term step_maker(generator *g, const scope *s, term xs, keep k, const step *row);
struct step {
  const char *name;
  uint32_t weight;
  unsigned needs;
  keep keeps;
  uint64_t cost;  // operations on each element
  int levels;     // that many times over: 0 once, 1 for each index bit, 2 for n^2
  step_maker *make;
};
extern const step library_steps[];
extern const size_t library_step_count;
extern const step place_steps[];  // where programs have places
extern const size_t place_step_count;
const shape *integer_shape(generator *g);
term step_recursive(generator *g, const scope *s, term xs, keep k, const step *row);
// A function of the elements of xs that gives what they are sorted by.
term sort_key(generator *g, const scope *s, const shape *xs, uint64_t factor);
term step_named(generator *g, const scope *s, term xs, keep k, const step *row);

// ---- data.c ----------------------------------------------------------------------------------

permc_value *draw_data(generator *g, const shape *s, uint64_t *random);

#endif
