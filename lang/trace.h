// The Trace: what is left of a program at one size. All that is static (recursion, masks,
// functions, names) is gone; what remains is a straight line of first-order steps on arrays, each
// step making one value. elaborate/ writes it, runtime/interp/ executes it literally, and fusion/
// makes a network of it. The door of the floor for fusion/; its room holds trace.c, which checks
// and prints, alike.c, ranges.c and bits.c.
//
// A value is a batch of equal arrays: `batch` instances, each of shape dims[0] x ... x
// dims[rank-1]. At the outermost level batch = 1. Entering `parm m f` splits every instance in two,
// so that f is elaborated once, on a batch twice as large; leaving stitches the halves back.
//
//   permc explain -e 'parm 1 sort' --arguments '[4]i32' --dump trace      (values added by hand)
//
//   step  operation           batch  type     value
//   %0    argument 0              1  [4]i32   x0 x1 x2 x3
//   %1    split %0 m=1            2  [2]i32   x0 x2 | x1 x3      2 instances, the halves of %0
//   %2    pair %1 m=1             2  [2]i32   x0 x2 | x1 x3      the pairs of each half: one each
//   %3    element %2 [0]          2  i32      x0 | x1
//   %4    element %2 [1]          2  i32      x2 | x3
//   %5    scalar total_le %3 %4   2  bool     x0 <= x2 | x1 <= x3
//   %6    select %5 %3 %4         2  i32      the smaller of each pair
//   %7    select %5 %4 %3         2  i32      the larger
//   %8    pack %6 %7              2  [2]i32   both
//   %9    unpair %8 m=1           2  [2]i32   the halves, each sorted
//   %10   stitch %9 m=1           1  [4]i32   one array again
//   results %10
//
// Batch levels nest: the instances of an inner level are numbered outer * factor + inner. An
// operand may come from an outer level: then its batch divides the step's batch, and instance i of
// the step reads instance i / (batch / operand's batch).
//
// Invariants (trace_verify): operands precede the step; types, ranks and sizes are as the table
// below says; masks are in range; matrices are invertible.
#ifndef PERMC_LANG_TRACE_H
#define PERMC_LANG_TRACE_H

#include "core/check.h"
#include "core/error.h"
#include "core/networks.h"
#include "core/permutation/recognise.h"
#include "core/scalar/c_function.h"

// clang-format off
// name, and what it means. B = the step's batch; s = the trailing dimensions, unchanged.
#define TRACE_OPS(ROW)                                                                             \
  ROW(ARGUMENT, "argument")    /* number: which input array; batch 1 */                            \
  ROW(CONSTANT, "constant")    /* constant; batch 1, rank 0 */                                     \
  ROW(TABLE, "table")          /* the elements `table`, row by row; batch 1; no two have a number */\
  ROW(SCALAR, "scalar")        /* scalar_op of 1 or 2 rank-0 operands, by instance */              \
  ROW(SELECT, "select")        /* operands: bool, a, b; rank 0 */                                  \
  ROW(CONVERT, "convert")      /* to the step's type; rank 0 */                                    \
  ROW(ROOT, "root")            /* operand k (i64): scalar_root(type, k, number); rank 0 */          \
  ROW(EXTERN, "extern")        /* number: which foreign function; rank-0 operands */               \
  ROW(INSTANCE, "instance")    /* no operand: i64, rank 0: instance mod number (index bits) */     \
  ROW(BROADCAST, "broadcast")  /* operand of a smaller batch, repeated to B */                     \
  ROW(RESHAPE, "reshape")      /* same elements in the same order; batch and dims change */        \
  ROW(SPLIT, "split")          /* [2^k]s, mask=number -> batch 2B', [2^(k-1)]s; B' operand's batch */ \
  ROW(STITCH, "stitch")        /* its inverse: batch 2B, [2^(k-1)]s -> B, [2^k]s */                \
  ROW(PAIR, "pair")            /* [2^k]s, mask=number -> batch B' 2^(k-1), [2]s: x and x xor mask */ \
  ROW(UNPAIR, "unpair")        /* its inverse */                                                   \
  ROW(BMMC, "bmmc")            /* [2^n]s: out[A x + c] = in[x]; rows = A, number = c */            \
  ROW(ELEMENT, "element")      /* [m]s -> s: element `number` of each instance */                  \
  ROW(PACK, "pack")            /* m operands of shape s -> [m]s (m may be 0: dims says the shape) */ \
  ROW(TRANSPOSE, "transpose")  /* [m][k]s -> [k][m]s */                                            \
  ROW(SLICE, "slice")          /* [m]s -> [l]s: elements number ... number + l - 1 */              \
  ROW(CONCAT, "concat")        /* [m]s, [k]s -> [m+k]s */                                          \
  ROW(IOTA, "iota")            /* no operand: [m]i64: 0, 1, ..., m-1; batch 1 */                   \
  ROW(REPLICATE, "replicate")  /* s -> [m]s */                                                     \
  ROW(GATHER, "gather")        /* [k] places, [m]s -> [k]s: the elements at these places */        \
  ROW(SCATTER, "scatter")      /* [k] places, [k]s, [m]s -> [m]s: the second with the first's there */ \
  ROW(GROUP, "group")          /* [k] places, [k] xs, [m] base -> [m]: the third, each element of which \
                                  becomes `scalar` of itself and those xs, in their order */       \
  ROW(FOLD, "fold")            /* begin, end (i64), start: rank 0, [m] xs: `scalar` of start and xs_i, \
                                  begin <= i < end, in their order */                               \
  ROW(PLACES, "places")        /* [m] keys -> [m]i64: each one's place among them in order, from 0 on; \
                                  or [m] keys, [r]i64 offsets: in its row */                       \
  ROW(COUNT, "count")          /* [m] keys -> [number]i64: how many of each of 0 ... number - 1 */ \
  ROW(WRONG, "wrong")          /* [k] places -> [2]i64 of batch 1: the first wrong one, what it is */

// clang-format on
typedef enum trace_op {
#define ROW(id, name) TRACE_##id,
  TRACE_OPS(ROW)
#undef ROW
      TRACE_OP_COUNT
} trace_op;
extern const char *const trace_op_names[TRACE_OP_COUNT];

// Precisely, for the moves (index arithmetic within one instance; bit i of x is coordinate i):
//
//   split m: element x of instance i goes to instance 2i + parity(x & m), to the place that x has
//            when bit lsb(m) is taken out
//
//   pair m:  let h be the highest bit of m, x an index whose bit h is 0, and x' that index without
//            bit h (0 <= x' < 2^(k-1)): instance i 2^(k-1) + x' holds the elements x and x xor m
//
// (BMMC paper, section 7.2, for the sub-array and sub-index of split.)
//
//   gather:  places are of any integer type; what is at a place outside of the array is all 0 bits
//   scatter: a place outside of the array is passed over; which element has a place that occurs
//            twice is open
//
//   places:  of keys of an ordered type in the order total_le, from low to high (`scalar` is OP_LE) or
//            from high to low (OP_GE); equal keys stay in their order. So the places are a permutation.
//            number: not 0: the keys are integers below it; where others are among them, places are open
//            offsets: keys o_i, ..., o_(i+1) - 1 are a row, put in order for itself; keys of no row stay.
//            Where offsets decrease, or are not from 0 to m, places are open
//   count:   integers; keys that are not below `number` are passed over
//   wrong:   of all instances one after the other, the position of the first that is not below `number` or
//            (`scalar` is OP_NE, not OP_LT) that another one of its instance is equal to; and that place.
//            INT64_MAX and 0: there is none
//
//   group:   by scalar_fold; a place outside of the array is passed over
//   fold:    by scalar_fold; numbers outside of the array are passed over
//
// (That no place or key is wrong is what the checks of places find out: lang/elaborate/places.c.)

typedef uint32_t value_id;  // the number of the step that makes the value
#define NO_STEP UINT32_MAX

// What is known of an argument of integers as places: it has each of 0 ... dims[0] - 1 once; and
// what it does to elements that go there, which is found out while elaborating where it is used so.
typedef struct trace_places {
  bool is_permutation;
  bool is_recognised;    // `moves` has been found out
  const void *elements;  // of the argument, which are looked at; NULL: they are not there
  movement moves;
} trace_places;

typedef struct trace_step {
  trace_op op;
  scalar_type type;  // of the result's elements
  scalar_op
      scalar;  // TRACE_SCALAR; TRACE_GROUP; TRACE_FOLD; TRACE_PLACES: in which order; TRACE_WRONG: what places must be
  uint32_t rank;  // of the result, per instance
  uint32_t operand_count;
  bool shadow;             // for checks only
  bool fixed;              // while elaborating: it depends on no argument and on no batch
  bool known;              // while elaborating: it depends on no argument
  bool of_int;             // while elaborating: on an int that can be static for a run
  bool trusted;            // TRACE_RESHAPE: the program promises that these places are right
  span where;              // the source that asked for the step
  span caller;             // the same in the program's own text, where the library was called
  uint64_t batch;          // instances of the result
  uint64_t number;         // see the table
  value_id *operands;      // operand_count of them
  uint64_t *dims;          // rank of them
  union {                  // a program may have millions of steps
    uint64_t *rows;        // TRACE_BMMC: log2(dims[0]) masks
    const void *table;     // TRACE_TABLE
    scalar_bits constant;  // TRACE_CONSTANT
    trace_places *places;  // TRACE_ARGUMENT: what is known of it; NULL: nothing
    uint64_t bound;        // TRACE_RESHAPE: its integers have to be from 0 to bound - 1; 0: any
                           // (`scalar` is OP_LT: they are called keys)
  };
} trace_step;

// A result that says whether the run was good (core/check.h).
typedef struct trace_check {
  check_kind kind;
  value_id shadow, guarded;  // while elaborating
  value_id found;            // what finds the first that is wrong, if a step reads that
  uint64_t length, inner;    // of the arrays whose elements are checked, and of each element;
                             //   of the arrays that places are of, and of each list of places
  bool is_unsigned;          // places: their type
  span where;                // the call of padded; of what has the places
} trace_check;

// An operator that is promised to be associative (lang/elaborate/laws.c), tried on `trials` of small
// values. Its results are arrays of so many elements: for each component of the values the operands
// x, y and z, then for each component of the sides (x op y) op z and x op (y op z) both, then rows of
// places: trials of which some are outside say nothing. All but operands may be longer: `trials`
// elements for each instance of a batch.
typedef struct trace_law {
  span where;        // where the program gives the operator
  const char *name;  // of the function that it is given to; NULL: none of the library
  uint32_t operands, components, sides;  // sides: the components of each side
  VEC(uint64_t) lengths;                 // of the arrays of which there are places
  uint64_t trials;
} trace_law;

typedef struct trace {
  VEC(trace_step) steps;
  VEC(c_function) externs;  // of TRACE_EXTERN
  VEC(value_id) results;    // the arrays that the entry returns, in order (batch 1); at their end,
  VEC(trace_check) checks;  //   one for each check
  size_t proven_checks;     // that are not among them, as they always hold
  bool wants_laws;          // set before elaborating: then the results are those of the laws alone
  bool wants_steps;   // set before elaborating: places are checked by steps that are no routines
  bool sorts_places;  // set before lowering: a scatter to a checked permutation is a routine
  const network_limits
      *networks;       // set before elaborating: of what it is planned for; NULL: no limits
  bool asks_networks;  // they have decided something
  VEC(trace_law) laws;
} trace;

// NULL if every invariant holds, else a sentence naming the step.
const char *trace_verify(arena *a, const trace *t);
// How many results the entry returns.
static inline size_t trace_returned(const trace *t) {
  return t->wants_laws ? 0 : t->results.count - t->checks.count;
}
// The elements of the step's value, over all instances.
uint64_t trace_step_count(const trace_step *s);
// By step: whether a result of the trace depends on it.
bool *trace_find_needed(arena *a, const trace *t);
// Whether two values have one type, rank and length of each dimension, for each instance.
bool trace_have_one_shape(const trace_step *a, const trace_step *b);
// Whether all of two steps but their operands and number is equal; a hash of that.
bool trace_steps_are_alike(const trace_step *a, const trace_step *b);
uint64_t trace_hash_step(const trace_step *s);
// The first of its operands whose elements are those of the result: the others say which.
uint32_t trace_first_moved(trace_op op);
// Whether it is a comparison in an order.
static inline bool trace_is_comparison(const trace_step *s) {
  return s->op == TRACE_SCALAR && (s->scalar == OP_LT || s->scalar == OP_LE || s->scalar == OP_GT ||
                                   s->scalar == OP_GE || s->scalar == OP_TOTAL_LE);
}
// Whether it is an argument with each of 0 ... dims[0] - 1 once.
static inline bool trace_is_permutation(const trace_step *s) {
  return s->op == TRACE_ARGUMENT && s->places && s->places->is_permutation;
}
// Whether it is a scatter of one row to places of which another step finds out whether they are a
// permutation.
bool trace_is_checked_permute(const trace *t, const trace_step *s);
// Whether it is an argument whose places do something simple, so that they may be part of the
// program.
static inline bool trace_places_are_known(const trace_step *s) {
  return s->op == TRACE_ARGUMENT && s->places && s->places->is_recognised &&
         movement_is_simple(&s->places->moves);
}
// Whether the bytes of the step's value fit an int64_t.
bool trace_size_fits(const trace_step *s);
// Of each result, where its elements come from: the argument that they are elements of, moved or
// chosen (by select), besides constants; TRACE_COMPUTED for others, constants alone among them.
// False: there is no memory.
#define TRACE_COMPUTED UINT32_MAX
bool trace_find_origins(const trace *t, uint32_t *origins);
// Of each step that makes integers, from step `first` on, bounds of them; INT64_MIN and INT64_MAX: or
// beyond (ranges.c).
typedef struct number_range {
  int64_t least, most;
} number_range;
// limits: NULL, or of each step what its integers are checked to be below, besides not negative; 0:
// they are not checked, and afterwards also: they need not be.
void trace_find_ranges(const trace *t, size_t first, uint64_t *limits, number_range *ranges);
// Whether all are from 0 to limit - 1.
bool trace_is_below(number_range r, uint64_t limit);
// Whether the places are, so many at a time, a permutation of 0 ... 2^n - 1 that is computed of their
// own numbers by operations on bits: *map, place i is A i ^ c (bits.c).
bool trace_find_permutation(const trace *t, value_id places, uint64_t length, f2_affine *map);
// Bits of an i64 that are known to be 0, to be 1.
typedef struct known_bits {
  uint64_t zeros, ones;
} known_bits;
// Adds those of step x, of numbers from 0 to `most`, that a condition tells where it holds, or does
// not: i & 4 == 0, i % 8 < 4.
void trace_find_bits(const trace *t, value_id condition, bool holds, value_id x, uint64_t most,
                     known_bits *known);
// One line per step, as in the picture above.
void trace_print(text *out, const trace *t);
extern const char trace_legend[];  // what the lines mean, as comments (#)
void trace_print_constant(text *out, scalar_type type, const scalar_bits *v);

#endif
