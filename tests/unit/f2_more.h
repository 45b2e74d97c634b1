// Algebra over F_2 that only tests need, in the style of core/f2.h.
#ifndef PERMC_TESTS_UNIT_F2_MORE_H
#define PERMC_TESTS_UNIT_F2_MORE_H

#include "core/f2.h"

// a + b, of one shape.
static inline f2_matrix f2_add(f2_matrix a, f2_matrix b) {
  assert(a.rows == b.rows && a.columns == b.columns);
  for (int i = 0; i < a.rows; i++)
    a.row[i] ^= b.row[i];
  return a;
}

// diag(low, high): `low` acts on the low coordinates, `high` on those above, independently.
// (p x q), (r x s) -> (p+r) x (q+s). diag(P, I) is how a parm on k bits acts on an array of more.
static inline f2_matrix f2_block_diagonal(f2_matrix low, f2_matrix high) {
  f2_matrix a = f2_zero(low.rows + high.rows, low.columns + high.columns);
  for (int i = 0; i < low.rows; i++)
    a.row[i] = low.row[i];
  for (int i = 0; i < high.rows; i++)
    a.row[low.rows + i] = high.row[i] << low.columns;
  return a;
}

// No one below the diagonal: row i has no bit < i.
static inline bool f2_is_upper_triangular(f2_matrix a) {
  for (int i = 0; i < a.rows; i++)
    if (a.row[i] & f2_mask(i))
      return false;
  return true;
}

// No one above the diagonal: row i has no bit > i.
static inline bool f2_is_lower_triangular(f2_matrix a) {
  for (int i = 0; i < a.rows; i++)
    if (a.row[i] & ~f2_mask(i + 1))
      return false;
  return true;
}

// Where element x of an array goes when `parm mask` splits it: to position f2_sub_index of
// sub-array f2_sub_array. The order of elements within a sub-array stays. mask is not 0.
static inline bool f2_sub_array(uint64_t mask, uint64_t x) {
  assert(mask != 0);
  return f2_dot(mask, x);
}

static inline uint64_t f2_sub_index(uint64_t mask, uint64_t x) {
  uint64_t below = f2_mask(f2_lsb(mask));
  return (x & below) | ((x >> 1) & ~below);
}

// The x with that sub-array and sub-index: it undoes the two functions above.
static inline uint64_t f2_parm_index(uint64_t mask, bool sub_array, uint64_t sub_index) {
  uint64_t below = f2_mask(f2_lsb(mask));
  uint64_t x = (sub_index & below) | ((sub_index & ~below) << 1);
  // The bit that was removed is the one that gives x the right parity.
  return sub_array == f2_dot(mask, x) ? x : x | (below + 1);
}

// All a x: the span of the columns; in F_2^rows.
static inline f2_space f2_image(f2_matrix a) {
  f2_matrix columns = f2_transpose(a);
  return f2_span(a.rows, columns.rows, columns.row);
}

#endif
