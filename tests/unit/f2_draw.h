// Random vectors, matrices and spaces over F_2, and their properties by independent recomputation.
//
// Small sizes are exhaustive, and there a subset of F_2^n (n <= 6) is a SET: a uint64_t whose bit x
// says whether the vector x belongs to it. Large sizes are random with fixed seeds, and are checked
// against matrices of one bool per entry.
#ifndef PERMC_TESTS_UNIT_F2_DRAW_H
#define PERMC_TESTS_UNIT_F2_DRAW_H

#include "core/f2.h"
#include "tests/test.h"

static const int sizes[] = {0, 1, 2, 3, 5, 8, 31, 32, 33, 62, 63};
enum { SIZES = sizeof sizes / sizeof sizes[0] };
#define FOR_SIZES(n)                                                                               \
  for (int n##_at = 0, n = 0; n##_at < SIZES && (n = sizes[n##_at], true); n##_at++)
#define REPEAT(count) for (int r_ = 0; r_ < (count); r_++)

// ---- random things ---------------------------------------------------------------------------

static uint64_t state;

static inline uint64_t next(void) {  // SplitMix64
  uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static inline int below(int n) { return (int)(next() % (uint64_t)n); }

static inline uint64_t bits(int n) { return n == 0 ? 0 : next() >> (64 - n); }

static inline uint64_t nonzero_bits(int n) {
  uint64_t x = bits(n);
  return x != 0 ? x : (uint64_t)1 << below(n);
}

static inline f2_matrix random_matrix(int rows, int columns) {
  f2_matrix a = f2_zero(rows, columns);
  for (int i = 0; i < rows; i++)
    a.row[i] = bits(columns);
  return a;
}

// Row operations on the identity reach every invertible matrix.
static inline f2_matrix random_invertible(int n) {
  f2_matrix a = f2_identity(n);
  for (int k = 0; k < 4 * n && n > 1; k++)
    for (int i = 0; i < n; i++) {
      int j = below(n - 1);
      a.row[i] ^= a.row[j < i ? j : j + 1] & (0 - (next() & 1));
    }
  return a;
}

// One row becomes a sum of others (maybe of none). n >= 1.
static inline f2_matrix random_singular(int n) {
  f2_matrix a = random_invertible(n);
  int i = below(n);
  a.row[i] = 0;
  for (int j = 0; j < n; j++)
    if (j != i && below(3) == 0)
      a.row[i] ^= a.row[j];
  return a;
}

static inline void random_order(int n, int *order) {
  for (int i = 0; i < n; i++) {
    int j = below(i + 1);
    order[i] = order[j];
    order[j] = i;
  }
}

// The first `dimension` columns of a random invertible matrix.
static inline f2_space random_space(int n, int dimension) {
  f2_matrix a = random_invertible(n);
  return f2_span(n, dimension, a.row);
}

// ---- the independent side --------------------------------------------------------------------

typedef struct table {
  bool at[F2_MAX][F2_MAX];
} table;

static inline table to_table(f2_matrix a) {
  table t = {0};
  for (int i = 0; i < a.rows; i++)
    for (int j = 0; j < a.columns; j++)
      t.at[i][j] = a.row[i] / ((uint64_t)1 << j) % 2 == 1;
  return t;
}

static inline uint64_t table_apply(const table *t, int rows, int columns, uint64_t x) {
  uint64_t y = 0;
  for (int i = rows - 1; i >= 0; i--) {
    int sum = 0;
    for (int j = 0; j < columns; j++)
      sum += t->at[i][j] && x / ((uint64_t)1 << j) % 2 == 1;
    y = 2 * y + (uint64_t)(sum % 2);
  }
  return y;
}

// Elimination by columns from the left, swapping rows: not the way f2_space.c does it.
static inline int table_rank(table t, int rows, int columns) {
  int rank = 0;
  for (int j = 0; j < columns; j++) {
    int pivot = rank;
    while (pivot < rows && !t.at[pivot][j])
      pivot++;
    if (pivot == rows)
      continue;
    for (int k = 0; k < columns; k++) {
      bool swapped = t.at[pivot][k];
      t.at[pivot][k] = t.at[rank][k];
      t.at[rank][k] = swapped;
    }
    for (int i = rank + 1; i < rows; i++)
      for (int k = columns - 1; t.at[i][j] && k >= j; k--)
        t.at[i][k] ^= t.at[rank][k];
    rank++;
  }
  return rank;
}

static inline int naive_rank(f2_matrix a) { return table_rank(to_table(a), a.rows, a.columns); }

static inline bool in_set(uint64_t set, uint64_t x) { return (set >> x) & 1; }

// {x ^ c : x in set}
static inline uint64_t set_shift(uint64_t set, uint64_t c) {
  uint64_t shifted = 0;
  for (uint64_t x = 0; x < 64; x++)
    if (in_set(set, x))
      shifted |= (uint64_t)1 << (x ^ c);
  return shifted;
}

static inline uint64_t set_span(int count, const uint64_t *vectors) {
  uint64_t set = 1;
  for (int i = 0; i < count; i++)
    set |= set_shift(set, vectors[i]);
  return set;
}

static inline uint64_t set_of(f2_space v) { return set_span(v.dimension, v.basis); }

static inline uint64_t set_sum(uint64_t v, uint64_t w) {
  uint64_t sum = 0;
  for (uint64_t x = 0; x < 64; x++)
    if (in_set(w, x))
      sum |= set_shift(v, x);
  return sum;
}

static inline int set_dimension(uint64_t set) {
  int dimension = 0;
  for (int size = __builtin_popcountll(set); size > 1; size /= 2)
    dimension++;
  return dimension;
}

static inline f2_affine random_affine(int n) {
  return (f2_affine){.a = random_invertible(n), .c = bits(n)};
}

static inline f2_matrix invert(f2_matrix a) {
  f2_matrix inverse = a;
  CHECK(f2_inverse(a, &inverse));
  return inverse;
}

#endif
