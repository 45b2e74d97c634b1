// Small random programs, and an evaluator that takes every combinator at its word: parm copies two
// halves out, works on one after the other and copies them back, map is a loop, let evaluates at
// once.
//
//   uint64_t random = seed;
//   literal_program *p = literal_program_new(&random, 10);   // functions of about 10 nodes
//   permc_load_text(c, "test", literal_program_text(p), ...);
//   int64_t *out = literal_program_run(p, s, xs, 8, &work);  // what g3 s xs is; to be freed
//   literal_program_free(p);
//
// A program is a list of functions g0, g1, ... : int -> [2^n]int -> [2^n]int, each of which may
// call those before it, and entries that call the last one outside and inside of map:
//
//   alone : int -> [2^n]int -> [2^n]int
//   rows : int -> [m][2^n]int -> ([m][2^n]int, [m][2^n]int)
//   both : int -> [2^n]int -> [m][2^n]int -> ([2^n]int, [m][2^n]int, [m][2^n]int)
//
//   tree.h      what a program is made of, for this folder only
//   make.c      random trees
//   text.c      their text: a table of what each kind of node looks like
//   evaluate.c  their results
#ifndef PERMC_TESTS_LITERAL_LITERAL_H
#define PERMC_TESTS_LITERAL_LITERAL_H

#include <stddef.h>
#include <stdint.h>

typedef struct literal_program literal_program;

// The same for a state of the source of random numbers, which moves on. NULL: no memory.
literal_program *literal_program_new(uint64_t *random, int size);
const char *literal_program_text(const literal_program *p);
void literal_program_free(literal_program *p);

// The last function, of xs with 2^n elements; *work grows by the nodes that were evaluated.
int64_t *literal_program_run(const literal_program *p, int64_t s, const int64_t *xs, size_t count,
                             size_t *work);

// Integers as the language has them.
static inline int64_t literal_add(int64_t x, int64_t y) {
  return (int64_t)((uint64_t)x + (uint64_t)y);
}
static inline int64_t literal_subtract(int64_t x, int64_t y) {
  return (int64_t)((uint64_t)x - (uint64_t)y);
}

#endif
