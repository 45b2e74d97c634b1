// Matrices and affine maps over F_2, the factorisations of the BMMC paper, and parm. See f2.h.
// Only f2_factor_ulp eliminates by itself: the rest stands on f2_echelon.c.
#include "core/f2.h"

#include <stddef.h>

// ---- vectors ---------------------------------------------------------------------------------

uint64_t f2_extract(uint64_t mask, uint64_t x) {
  uint64_t k = 0;
  for (int i = 0; mask != 0; mask &= mask - 1, i++)
    if (f2_bit(x, f2_lsb(mask)))
      k |= f2_unit(i);
  return k;
}

uint64_t f2_deposit(uint64_t mask, uint64_t k) {
  uint64_t x = 0;
  for (; mask != 0; mask &= mask - 1, k >>= 1)
    if (k & 1)
      x |= f2_unit(f2_lsb(mask));
  return x;
}

// ---- matrices --------------------------------------------------------------------------------

const char *f2_matrix_problem(f2_matrix a) {
  if (a.rows < 0 || a.rows > F2_MAX)
    return "the number of rows is out of range";
  if (a.columns < 0 || a.columns > F2_MAX)
    return "the number of columns is out of range";
  for (int i = 0; i < a.rows; i++)
    if (a.row[i] & ~f2_mask(a.columns))
      return "a row has a bit beyond the last column";
  for (int i = a.rows; i < F2_MAX; i++)
    if (a.row[i] != 0)
      return "a row beyond the last is not zero";
  return NULL;
}

f2_matrix f2_zero(int rows, int columns) {
  assert(rows >= 0 && rows <= F2_MAX && columns >= 0 && columns <= F2_MAX);
  return (f2_matrix){.rows = rows, .columns = columns};
}

f2_matrix f2_identity(int n) {
  f2_matrix a = f2_zero(n, n);
  for (int i = 0; i < n; i++)
    a.row[i] = f2_unit(i);
  return a;
}

f2_matrix f2_bit_reversal(int n) {
  f2_matrix a = f2_zero(n, n);
  for (int i = 0; i < n; i++)
    a.row[i] = f2_unit(n - 1 - i);
  return a;
}

f2_matrix f2_permutation(int n, const int *source) {
  f2_matrix a = f2_zero(n, n);
  for (int i = 0; i < n; i++)
    a.row[i] = f2_unit(source[i]);
  assert(f2_is_permutation(a));
  return a;
}

f2_matrix f2_from_rows(int rows, int columns, const uint64_t *row) {
  f2_matrix a = f2_zero(rows, columns);
  for (int i = 0; i < rows; i++)
    a.row[i] = row[i];
  assert(f2_matrix_problem(a) == NULL);
  return a;
}

f2_matrix f2_from_columns(int rows, int columns, const uint64_t *column) {
  return f2_transpose(f2_from_rows(columns, rows, column));
}

uint64_t f2_column(f2_matrix a, int j) {
  assert(j >= 0 && j < a.columns);
  uint64_t column = 0;
  for (int i = 0; i < a.rows; i++)
    column |= (uint64_t)f2_bit(a.row[i], j) << i;
  return column;
}

bool f2_equal(f2_matrix a, f2_matrix b) {
  if (a.rows != b.rows || a.columns != b.columns)
    return false;
  for (int i = 0; i < a.rows; i++)
    if (a.row[i] != b.row[i])
      return false;
  return true;
}

uint64_t f2_apply(f2_matrix a, uint64_t x) {
  assert((x & ~f2_mask(a.columns)) == 0);
  uint64_t y = 0;
  for (int i = 0; i < a.rows; i++)
    y |= (uint64_t)f2_dot(a.row[i], x) << i;
  return y;
}

f2_matrix f2_multiply(f2_matrix a, f2_matrix b) {
  assert(a.columns == b.rows);
  f2_matrix product = f2_zero(a.rows, b.columns);
  for (int i = 0; i < a.rows; i++)
    for (uint64_t terms = a.row[i]; terms != 0; terms &= terms - 1)
      product.row[i] ^= b.row[f2_lsb(terms)];
  return product;
}

f2_matrix f2_transpose(f2_matrix a) {
  f2_matrix t = f2_zero(a.columns, a.rows);
  for (int i = 0; i < a.rows; i++)
    for (uint64_t ones = a.row[i]; ones != 0; ones &= ones - 1)
      t.row[f2_lsb(ones)] |= f2_unit(i);
  return t;
}

int f2_rank(f2_matrix a) {
  f2_echelon e = {0};
  int rank = 0;
  for (int i = 0; i < a.rows; i++)
    rank += f2_echelon_insert(&e, a.row[i], 0, NULL);
  return rank;
}

bool f2_inverse(f2_matrix a, f2_matrix *out) {
  f2_echelon e = {0};
  if (a.rows != a.columns)
    return false;
  for (int i = 0; i < a.rows; i++)
    if (!f2_echelon_insert(&e, a.row[i], f2_unit(i), NULL))
      return false;
  // Row i of the inverse names the rows of a that sum to row i of the identity.
  f2_matrix inverse = f2_zero(a.rows, a.rows);
  for (int i = 0; i < a.rows; i++)
    f2_echelon_reduce(&e, f2_unit(i), &inverse.row[i]);
  *out = inverse;
  return true;
}

bool f2_solve(f2_matrix a, uint64_t b, uint64_t *out) {
  assert((b & ~f2_mask(a.rows)) == 0);
  f2_matrix columns = f2_transpose(a);
  return f2_coordinates(columns.rows, columns.row, b, out);
}

uint64_t f2_dependent_rows(f2_matrix a) {
  // The first row that depends on those above it does so in one way only, for they are independent:
  // hence the relation is minimal.
  f2_echelon e = {0};
  uint64_t relation = 0;
  for (int i = 0; i < a.rows; i++)
    if (!f2_echelon_insert(&e, a.row[i], f2_unit(i), &relation))
      return relation;
  return 0;
}

bool f2_is_permutation(f2_matrix a) {
  uint64_t used = 0;
  for (int i = 0; i < a.rows; i++) {
    if (f2_weight(a.row[i]) != 1)
      return false;
    used |= a.row[i];
  }
  return a.rows == a.columns && used == f2_mask(a.columns);
}

// ---- affine maps -----------------------------------------------------------------------------

f2_affine f2_affine_identity(int n) { return (f2_affine){.a = f2_identity(n), .c = 0}; }

uint64_t f2_affine_apply(f2_affine f, uint64_t x) { return f2_apply(f.a, x) ^ f.c; }

bool f2_affine_equal(f2_affine f, f2_affine g) { return f.c == g.c && f2_equal(f.a, g.a); }

f2_affine f2_affine_compose(f2_affine g, f2_affine f) {
  return (f2_affine){.a = f2_multiply(g.a, f.a), .c = f2_affine_apply(g, f.c)};
}

bool f2_affine_inverse(f2_affine f, f2_affine *out) {
  f2_matrix inverse;
  if (!f2_inverse(f.a, &inverse))
    return false;
  *out = (f2_affine){.a = inverse, .c = f2_apply(inverse, f.c)};
  return true;
}

// ---- factorisations --------------------------------------------------------------------------

// Elimination from the last row upwards. Step k picks a column for row k (its pivot) and clears it
// in the rows above, noting the additions as ones of u. In the m that is left, row k has its own
// pivot and none of a later row. So m = l p, where p brings the pivot of row k to column k.
bool f2_factor_ulp(f2_matrix a, f2_ulp *out) {
  if (a.rows != a.columns)
    return false;
  int n = a.rows;
  f2_matrix m = a, u = f2_identity(n), p = f2_zero(n, n);
  for (int k = n - 1; k >= 0; k--) {
    if (m.row[k] == 0)
      return false;
    int pivot = f2_msb(m.row[k]);
    p.row[k] = f2_unit(pivot);
    for (int i = 0; i < k; i++)
      if (f2_bit(m.row[i], pivot)) {
        m.row[i] ^= m.row[k];
        u.row[i] |= f2_unit(k);
      }
  }
  *out = (f2_ulp){.u = u, .l = f2_multiply(m, f2_transpose(p)), .p = p};
  return true;
}

bool f2_factor_tiled(f2_matrix a, f2_matrix *first, f2_matrix *second) {
  f2_ulp factors;
  if (!f2_factor_ulp(a, &factors))
    return false;
  f2_matrix reversal = f2_bit_reversal(a.rows);
  *first = f2_multiply(reversal, f2_multiply(factors.l, factors.p));
  *second = f2_multiply(factors.u, reversal);
  return true;
}

bool f2_tile_columns(f2_matrix a, int tile, uint64_t *columns) {
  assert(a.rows == a.columns && tile >= 0 && tile <= a.rows);
  uint64_t busy = 0;
  for (int i = tile; i < a.rows; i++)
    busy |= a.row[i];
  // The columns of an invertible matrix are independent, so at most `tile` can be idle.
  uint64_t idle = f2_mask(a.columns) & ~busy;
  if (f2_weight(idle) != tile)
    return false;
  *columns = idle;
  return true;
}

// ---- parm ------------------------------------------------------------------------------------

f2_matrix f2_parm(int n, uint64_t mask) {
  assert(mask != 0 && (mask & ~f2_mask(n)) == 0);
  f2_matrix p = f2_zero(n, n);
  int lowest = f2_lsb(mask);
  for (int i = 0; i < n - 1; i++)
    p.row[i] = f2_unit(i < lowest ? i : i + 1);
  p.row[n - 1] = mask;
  return p;
}

f2_matrix f2_parm_inverse(int n, uint64_t mask) {
  assert(mask != 0 && (mask & ~f2_mask(n)) == 0);
  f2_matrix p = f2_zero(n, n);
  int lowest = f2_lsb(mask);
  for (int i = 0; i < n; i++)
    if (i != lowest)
      p.row[i] = f2_unit(i < lowest ? i : i - 1);
  // x_lowest = y_{n-1} plus the other coordinates that the mask names, which moved down by one.
  p.row[lowest] = f2_unit(n - 1) | ((mask & (mask - 1)) >> 1);
  return p;
}
