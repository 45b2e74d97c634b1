// Random Nets that net_verify accepts, and what they compute.
//
// Test programs include tests/unit/net_random.h, which says how large the Nets are.
//
//   node.c      numbers, and nodes of ops
//   op.c        ops: random ones, and those that rules look for
//   stage.c     stages, routines, Nets
//   evaluate.c  the elements of all arrays
//
// The evaluator is literal: every op on every coset, one scalar at a time. It knows of each element
// whether it is defined: what an op makes where it is not alive is not, nor what is computed from
// that. Results must be equal wherever they are defined.
#ifndef PERMC_TESTS_NETS_NETS_H
#define PERMC_TESTS_NETS_NETS_H

#include "fusion/net/net.h"

#include <string.h>

// ---- numbers ---------------------------------------------------------------------------------

typedef struct random_state {
  uint64_t seed;
} random_state;

// splitmix64 (Steele, Lea and Flood, 2014).
static inline uint64_t random_word(random_state *r) {
  uint64_t x = r->seed += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}
static inline uint32_t random_below(random_state *r, uint32_t bound) {
  return (uint32_t)(random_word(r) >> 33) % bound;
}
static inline bool random_chance(random_state *r, uint32_t one_in) {
  return random_below(r, one_in) == 0;
}

f2_matrix random_matrix(random_state *r, int n);  // invertible
// Small numbers mostly, so that equal ones and overflows are met.
scalar_bits random_element(random_state *r, scalar_type type);
scalar_type random_type(random_state *r);

// ---- parts of a Net --------------------------------------------------------------------------

typedef struct random_frame {
  f2_matrix vectors, inverse;  // directions are the first columns, coordinates the first rows
} random_frame;

random_frame random_directions(random_state *r, int n);
// With a mask's bits in the forms; and one that takes each element of an array of all points once.
net_map random_map(arena *a, random_state *r, const net_stage *s, uint64_t mask);
net_map random_address(arena *a, random_state *r, const net_stage *s);
uint64_t stage_points(const net_stage *s);  // indices of its loops and bits
// Loads from the arrays of t, ops, and stores: of results if it is the last.
void random_stage(arena *a, random_state *r, net *t, net_stage *s, bool last);

// ---- Nets ------------------------------------------------------------------------------------

// Its stages have fewer index bits than `bits`. An attempt may be wrong, or store what is
// undefined.
net *random_attempt_within(arena *a, random_state *r, uint32_t bits, bool routines);
net *random_net_within(arena *a, random_state *r, uint32_t bits, bool routines);

// ---- evaluation ------------------------------------------------------------------------------

typedef struct element {
  scalar_bits bits;
  bool defined;
} element;

typedef struct evaluation {
  element **arrays;  // by array, by element
  bool garbage;      // something undefined was stored
} evaluation;

// The elements of the arguments are random, by the seed.
evaluation *net_evaluate(arena *a, const net *t, uint64_t seed);
// Of one stage, on the arrays that are there; and the three kinds of routines.
void evaluate_stage(arena *a, const net *t, const net_stage *s, evaluation *result);
void evaluate_routine(const net *t, const net_routine *r, evaluation *result);
void evaluate_transpose(const net_routine *r, evaluation *result);
void evaluate_wrong(const net *t, const net_routine *r, evaluation *result);
bool all_zero(uint32_t count, const net_form *forms, uint64_t x);
// Whether `found`, of net u, has every element of the results that `expected`, of t, defines.
bool same_results(const net *t, const evaluation *expected, const net *u, const evaluation *found);

#endif
