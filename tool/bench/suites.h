// The suites of `permc bench`: rows of one table, each a program over a range of sizes.
//
//   bench_case *cases = NULL;
//   size_t count = bench_suite_cases("bmmc", 0, &cases);   // 0: no such suite, or no memory
//   cases[0].name                                              // "bit reversal u32 2^20"
//   cases[0].expression                                        // "bitrev", as of permc run -e
//   cases[0].types                                             // "[1048576]u32", as of --random
//   bench_cases_free(cases, count);
#ifndef PERMC_TOOL_BENCH_SUITES_H
#define PERMC_TOOL_BENCH_SUITES_H

#include "core/f2.h"
#include "core/text.h"
#include "runtime/values/value.h"

// What a result is checked for.
typedef enum bench_property {
  BENCH_INTERP,   // that interp has the same result (while the data is small)
  BENCH_SORTED,   // each row in order (tuples: by their first part), and of the argument's elements
  BENCH_MOVED,    // element x of the argument is at `map` x
  BENCH_FOURIER,  // coefficients are those of a transform in double, but for small errors
  BENCH_SUMS,     // element i is the sum of the row's elements up to i; of one: of all of them
  BENCH_MAXIMUM,  // the result is the greatest element
  BENCH_PERMUTED,    // of arguments p, a permutation of u32, and x: element i of x is at p[i]
  BENCH_TRANSPOSED,  // element (i, j) of the argument, a matrix, is element (j, i)
  BENCH_RAGGED  // of arguments o, offsets, and x: as BENCH_SORTED, of the rows that o cuts x into
} bench_property;

typedef enum bench_axis {
  BENCH_BYTES_PER_SECOND,  // of arguments and results
  BENCH_ELEMENTS_PER_SECOND,
  BENCH_SECONDS_PER_OPERATION  // seconds / (elements x columns)
} bench_axis;

// A program of bench/peers, and what it is told.
typedef struct bench_peer_case {
  const char *name;  // NULL: none
  char arguments[96];
} bench_peer_case;

// The first is measured wherever peers are; the others where they are in the folder and run.
enum { BENCH_PEERS = 3 };

typedef struct bench_case {
  const char *suite, *series;
  char name[96];  // series and size
  char types[64];
  const char *program;  // a text in whose scope the expression is; NULL: the library alone
  char *expression;
  uint64_t x;  // where a plot has it
  uint64_t elements;
  uint64_t bytes;    // of the argument
  uint64_t columns;  // of comparators or butterflies, on each element; 0: not counted
  unsigned threads;  // 0: as asked for
  bench_property property;
  f2_affine map;    // BENCH_MOVED
  char beside[64];  // a program measured in the same rounds, of `beside_types`; "": none
  char beside_types[64];
  bench_peer_case peers[BENCH_PEERS];
  const char *strategy;     // that it is planned by; NULL: as asked for
  const char *layout;       // of its exchanges; NULL: as asked for
  bool gpu_only;            // the backend cpu is not to do it instead
  const char *permutation;  // BENCH_PERMUTED: its name (kernels/hmm/algorithm.h)
  const char *lengths;      // BENCH_RAGGED: of rows, by their name (lengths.h)
  unsigned
      draws;  // at most so many runs, each of another random permutation; 0: as many runs as it takes, of one
} bench_case;

typedef struct bench_suite {
  const char *name, *summary;
  const char *x_label;
  bench_axis axis;
} bench_suite;

const bench_suite *bench_suite_at(size_t index);  // NULL: no more
const bench_suite *bench_suite_named(const char *name);

// With the sizes, the strategies and the peers for so many GPUs, a power of two; 0: for processors.
size_t bench_suite_cases(const char *suite, unsigned gpus, bench_case **cases);
void bench_cases_free(bench_case *cases, size_t count);

// ---- checking results ------------------------------------------------------------------------

// Of coefficients: the root mean square of their errors, relative to that of the coefficients, and
// the largest error, relative to the largest coefficient (the norms L2 and L infinity of benchFFT,
// Frigo and Johnson, www.fftw.org/accuracy).
typedef struct bench_error {
  double mean, largest;
} bench_error;

// Whether `found` is what the case makes of `given`: as many arrays as the elements have parts, of
// one count, and of the same types (not for BENCH_INTERP). NULL, or a sentence such as "row 3 is
// not in order at 17" (static or in *room). *error: of BENCH_FOURIER; else {0, 0}.
// BENCH_PERMUTED: given[0] is p, given[1] x. BENCH_RAGGED: given[0] is o, then come the parts of x.
const char *bench_check(const bench_case *c, const array *given, const array *found, size_t parts,
                        text *room, bench_error *error);
// What is said of a result that is right: "sorted, same elements".
const char *bench_property_name(bench_property p);

#endif
