// Schedules of permutations: any permutation p of N elements in three steps, each of which moves
// elements inside rows or inside columns of a matrix only (HMM paper, section VII).
//
// The elements lie row by row in a matrix of `rows` x `width`, width a power of two. What is behind
// the N elements, in the last row, stays where it is. Each step gathers:
//
//   step 0, in rows        a1[i][k] = a0[i][steps[0][i * width + k]]
//   step 1, in columns     a2[r][k] = a1[steps[1][k * rows + r]][k]      (stored column by column)
//   step 2, in rows        a3[r][c] = a2[r][steps[2][r * width + c]]
//
// and a3, read row by row, has at p[e] what a0 has at e. Step 0 brings the elements of each row to
// different columns, so that each column has one element for each row of the result: the columns
// are the colours of the graph whose edges go from the row of e to the row of p[e] (coloring.h).
//
//   p = 3 1 0 2,  2 x 2       a0 = 0 1   a1 = 0 1   a2 = 2 1   a3 = 2 1
//                                  2 3        2 3        0 3        3 0
//   steps[0] = {0, 1, 0, 1}   steps[1] = {1, 0, 0, 1}   steps[2] = {0, 1, 1, 0}
//
// Memory is the caller's. A schedule takes 6 bytes for each element of the matrix.
#ifndef PERMC_CORE_PERMUTATION_SCHEDULE_H
#define PERMC_CORE_PERMUTATION_SCHEDULE_H

#include "core/permutation/coloring.h"
#include "core/permutation/permutation.h"

#define SCHEDULE_LENGTH_MAX (COLORING_EDGES_MAX - COLORING_DEGREE_MAX)
enum { SCHEDULE_STEPS = 3 };

typedef struct permutation_schedule {
  uint64_t length;       // N
  uint32_t rows, width;  // rows = N / width, rounded up; both at most 2^16
  uint16_t *steps[SCHEDULE_STEPS];
} permutation_schedule;

// What the work has, besides its arguments.
typedef struct schedule_means {
  uint32_t *scratch;  // schedule_scratch numbers
  unsigned threads;
  coloring_pool *pool;             // NULL: the caller's thread alone
  const atomic_bool *interrupted;  // may be NULL
} schedule_means;

// The shape of the schedule of so many elements (at most SCHEDULE_LENGTH_MAX): about a square. It
// has no steps yet.
permutation_schedule schedule_shape(uint64_t length);
// Numbers in each of its steps.
static inline uint64_t schedule_cells(const permutation_schedule *s) {
  return (uint64_t)s->rows * s->width;
}
uint64_t schedule_scratch(const permutation_schedule *s, unsigned threads);

// Writes the steps for p, a permutation of s->length elements. False: interrupted.
bool schedule_make(permutation_schedule *s, const place_list *p, const schedule_means *m);
// Whether steps that were read are some permutation's: each gathers each element once, and nothing
// comes from behind the N elements to them. `seen`: at least SCHEDULE_SEEN numbers.
bool schedule_is_sound(const permutation_schedule *s, uint32_t *seen);
enum { SCHEDULE_SEEN = COLORING_DEGREE_MAX / 32 + 1 };

// The element that ends at place `to` of the matrix: p[e] = to.
static inline uint64_t schedule_origin(const permutation_schedule *s, uint64_t to) {
  uint64_t r = to / s->width, k = s->steps[2][to], i = s->steps[1][k * s->rows + r];
  return i * s->width + s->steps[0][i * s->width + k];
}

// ---- one row, on a memory of banks -------------------------------------------------------------

// A row of `length` elements that gathers element step[k] to place k, as copies from from[j] to
// to[j]: of `banks` neighbouring j, which are one request, `from` lie in as many banks, number mod
// banks, and `to` do (DMM/UMM paper, section 6; HMM paper, section VI). banks divides length, which
// is at most 2^16. scratch: row_copies_scratch numbers.
uint64_t row_copies_scratch(uint32_t length, uint32_t banks);
void row_copies_make(const uint16_t *step, uint32_t length, uint32_t banks, uint16_t *from,
                     uint16_t *to, uint32_t *scratch);

#endif
