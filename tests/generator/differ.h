// Running a random program in two ways, comparing what comes out, and making a program that differs
// smaller.
//
// In: a program (program.h), and a rival of interp, the oracle: another backend, or whatever spoils
// the results. Out: the first difference, in words.
//
//   permc_context *c = random_program_context();
//   rival cpu = {.backend = "cpu"};
//   difference d = try_program(c, p, &cpu, &failed);
//   if (d.kind)
//     p = shrink_program(c, p, seed, &options, &cpu, d.kind), puts(d.text), puts(p->text);
//
//   run.c      running, and saying which program it was when that crashes or does not end
//   compare.c  comparing
//   shrink.c   making smaller
#ifndef PERMC_TESTS_GENERATOR_DIFFER_H
#define PERMC_TESTS_GENERATOR_DIFFER_H

#include "tests/generator/program.h"

// ---- running ---------------------------------------------------------------------------------

// What a run came to.
typedef struct result {
  permc_value **values;
  size_t count;
  char *message;  // NULL: it succeeded
} result;

// consume: by permc_run_consume.
result run_program(permc_context *c, const random_program *p, const char *backend, bool consume);
result load_and_run(permc_context *c, const random_program *p, const char *backend);
void free_result(result *r);

// From here on a crash prints the program that was watched last, and so does a run of more than
// `seconds`. NULL: the program is done with.
void watch_programs(unsigned seconds);
void watch_program(const random_program *p, uint64_t seed);

// ---- comparing -------------------------------------------------------------------------------

// BEYOND_LIMITS: interp runs it, and the other says that it needs more memory than it may have, or
// operations that it lacks (functions of complex numbers, on a GPU).
typedef enum difference_kind {
  NO_DIFFERENCE,
  BEYOND_LIMITS,
  STATUS,
  SHAPES,
  ELEMENTS
} difference_kind;

typedef struct difference {
  difference_kind kind;
  char text[600];
} difference;

// Both must fail, or both give the same values, of the shapes that the generator foresaw.
difference compare_results(const random_program *p, const result *oracle, const result *other);

// Whether two elements of a type and origin may stand for each other (origin, program.h).
bool equal_elements(const void *a, const void *b, const shape *scalar);

enum { LEAVES = 64, LEAF_RANK = 16 };

// One component of a result: an array of scalars.
typedef struct leaf {
  const shape *scalar;
  uint32_t rank;
  uint64_t dims[LEAF_RANK];
} leaf;

typedef struct leaf_list {
  leaf items[LEAVES];
  size_t count;
} leaf_list;

leaf_list result_leaves(const shape *s);
uint64_t component_size(const permc_value *v, size_t component);  // elements

// Where the second result comes from: a backend, or a fault that a test makes.
typedef struct rival {
  const char *backend;
  void (*spoil)(const random_program *p, result *r);  // or NULL
  uint32_t ranks;                                     // threads that share arrays; 0: none
  const char *folder;                                 // not NULL: arrays are in files there
  permc_context *rank;  // NULL, or this process's, of several that are ranks: rank 0 compares
} rival;

// *failed: whether it fails on interp.
difference try_program(permc_context *c, const random_program *p, const rival *other, bool *failed);

// ---- making it smaller -----------------------------------------------------------------------

// A small program that differs in the same way. Takes over p; the result is the caller's.
random_program *shrink_program(permc_context *c, random_program *p, uint64_t seed,
                               const program_options *o, const rival *other, difference_kind kind);

#endif
