// Elaboration: the static part of a program is run at one size, which leaves a Trace. The door of
// this room.
//
// In: a typed entry point, and the shapes of its arguments. Out: a Trace (lang/trace.h).
//
//   swap : [2^n]a -> [2^n]a          elaborate(swap, one argument i32 [4]):
//   swap xs = parm 1 id (f n xs)       n = 2 is static: f is called, recursion unfolds, names go
//                                      xs is dynamic: what is done to it becomes steps
//
//   elaborator.h  values, the state of an elaboration, prototypes by file (private to this room)
//   entry.c       arguments to values, the result to arrays
//   elaborate.c   the evaluator: names, patterns, definitions, guards, calls
//   indices.c     elements by index, and the conditions that guard indices
//   comprehensions.c  comprehensions: generators, conditions
//   counted.c     what is done to each element of a static list, elaborated once
//   levels.c      the batch where a call is made
//   closed.c      the types of a program at one size
//   sizes.c       the lengths in signatures: size names are bound, lengths collected
//   values.c      values and their structure: arrays of tuples of arrays, lists; packing, moves, map
//   known.c       static lists and scalars of steps that depend on no argument
//   steps.c       the writing of steps: what follows from their operands
//   scalars.c     literals and scalar operations, folded or written as steps
//   builtins.c    the table of what is built in: combinators, scalar operations, conversions
//   padding.c     the check that padded keeps no padding
//   needs.c       which places and keys steps need to be right
//   places.c      places that are data: gather, scatter, and the checks of them
//   shared.c      equal places, and counts, of keys are computed once
//   laws.c        operators that are promised to be associative
//   foreign.c     calls of C functions
//   memo.c        equal calls are elaborated once (memo.h, private)
//   batching.c    equal calls beside each other are elaborated together, as a batch (groups.c)
//   fail.c        errors with the place in the user's text; limits
//   shapes.c      the shapes that a signature has at given sizes
#ifndef PERMC_LANG_ELABORATE_ELABORATE_H
#define PERMC_LANG_ELABORATE_ELABORATE_H

#include "lang/trace.h"
#include "lang/types/types.h"
#include <stdatomic.h>

typedef struct limits {
  uint64_t steps;                  // expressions evaluated
  uint64_t calls;                  // nested
  uint64_t operations;             // steps of the Trace
  uint64_t memory;                 // bytes
  uint64_t stack;                  // bytes of C stack
  uint64_t results;                // bytes of the results of a run
  const atomic_bool *interrupted;  // or NULL: looked at now and then
} limits;
extern const limits default_limits;
// The limit of that name: "steps", "calls", "operations", "memory", "stack" or "results"; NULL:
// there is none.
uint64_t *limit_named(limits *l, const char *name);

// All that is built in, in the arena of d; with signatures.
builtin_table builtins_create(diagnostics *d);

// One array of an argument. An argument of a tuple type, or of an array of tuples, is several.
typedef struct array_shape {
  scalar_type type;
  uint32_t rank;
  const uint64_t *dims;
  const void *data;   // its elements, if they shall be static; else NULL
  const void *known;  // its elements, if they could be; else NULL
  bool permutation;   // it has one dimension, and each of 0 ... dims[0] - 1 once
  const void
      *places;  // its elements, if what they do as places may be a part of the program; else NULL
} array_shape;
typedef VEC(array_shape) array_shapes;

// The entry returns `count` values: the components of a tuple, or one. Value i is made of arrays[i]
// of the trace's results, in their order.
typedef struct result_parts {
  uint32_t count;
  size_t *arrays;
} result_parts;

// Elaborates `entry` for arguments of these shapes, and of these elements where they shall be
// static (all arrays of all parameters, in order). The arguments' types must fit the entry's (their
// owner unifies them first): `instance` says what its type variables are. On failure the
// diagnostics hold the error and false is returned. All that is made lies in `memory`, whose owner
// handles its running out. result: may be NULL.
bool elaborate(diagnostics *d, arena *memory, const limits *l, bool allow_extern, binding *entry,
               type **instance, const array_shape *shapes, size_t shape_count, trace *out,
               result_parts *result);

// The shapes that a signature has at given sizes (`other` for those that names does not have; where
// it has no names, arrays have 2^other elements, or ~other where that is below 0); they are
// appended. False (with a diagnostic) when an expression of the signature fails there.
bool shapes_at_sizes(diagnostics *d, arena *memory, const limits *l, binding *entry,
                     type **instance, const char *const *names, const int64_t *sizes, size_t count,
                     int64_t other, array_shapes *out);

#endif
