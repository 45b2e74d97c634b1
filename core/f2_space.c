// Subspaces of F_2^n. See f2.h.
// Requires and keeps: every f2_space is in canonical form (f2_space_problem returns NULL).
#include "core/f2.h"

#include <stddef.h>

// ---- construction ----------------------------------------------------------------------------

const char *f2_space_problem(f2_space v) {
  if (v.n < 0 || v.n > F2_MAX)
    return "the number of coordinates is out of range";
  if (v.dimension < 0 || v.dimension > v.n)
    return "the dimension is out of range";
  for (int i = 0; i < v.dimension; i++) {
    if (v.basis[i] == 0)
      return "a basis vector is zero";
    if (v.basis[i] & ~f2_mask(v.n))
      return "a basis vector has a bit beyond the last coordinate";
    if (i > 0 && f2_msb(v.basis[i]) <= f2_msb(v.basis[i - 1]))
      return "the leading bits are not sorted upwards";
  }
  for (int i = 0; i < v.dimension; i++)
    if (v.basis[i] & f2_space_leading(v) & ~f2_unit(f2_msb(v.basis[i])))
      return "a basis vector contains the leading bit of another";
  for (int i = v.dimension; i < F2_MAX; i++)
    if (v.basis[i] != 0)
      return "a basis vector beyond the dimension is not zero";
  return NULL;
}

f2_space f2_space_zero(int n) {
  assert(n >= 0 && n <= F2_MAX);
  return (f2_space){.n = n};
}

f2_space f2_space_full(int n) { return f2_space_units(n, f2_mask(n)); }

f2_space f2_space_units(int n, uint64_t mask) {
  assert((mask & ~f2_mask(n)) == 0);
  f2_space v = f2_space_zero(n);
  for (; mask != 0; mask &= mask - 1)
    v.basis[v.dimension++] = f2_unit(f2_lsb(mask));
  return v;
}

f2_space f2_span(int n, int count, const uint64_t *vectors) {
  f2_space v = f2_space_zero(n);
  for (int i = 0; i < count; i++)
    f2_space_insert(&v, vectors[i]);
  return v;
}

bool f2_space_insert(f2_space *v, uint64_t x) {
  assert((x & ~f2_mask(v->n)) == 0);
  x = f2_space_reduce(*v, x);
  if (x == 0)
    return false;
  // x is free of the old leading bits; free the old vectors of the new one, and put x in its place.
  int leading = f2_msb(x), place = v->dimension++;
  for (int i = 0; i < v->dimension - 1; i++)
    if (f2_bit(v->basis[i], leading))
      v->basis[i] ^= x;
  for (; place > 0 && v->basis[place - 1] > x; place--)
    v->basis[place] = v->basis[place - 1];
  v->basis[place] = x;
  return true;
}

// ---- questions -------------------------------------------------------------------------------

bool f2_space_equal(f2_space v, f2_space w) {
  if (v.n != w.n || v.dimension != w.dimension)
    return false;
  for (int i = 0; i < v.dimension; i++)
    if (v.basis[i] != w.basis[i])
      return false;
  return true;
}

bool f2_space_has(f2_space v, uint64_t x) { return f2_space_reduce(v, x) == 0; }

bool f2_space_contains(f2_space v, f2_space w) {
  assert(v.n == w.n);
  for (int i = 0; i < w.dimension; i++)
    if (!f2_space_has(v, w.basis[i]))
      return false;
  return true;
}

uint64_t f2_space_leading(f2_space v) {
  uint64_t leading = 0;
  for (int i = 0; i < v.dimension; i++)
    leading |= f2_unit(f2_msb(v.basis[i]));
  return leading;
}

uint64_t f2_space_reduce(f2_space v, uint64_t x) {
  for (int i = 0; i < v.dimension; i++)
    if (f2_bit(x, f2_msb(v.basis[i])))
      x ^= v.basis[i];
  return x;
}

uint64_t f2_space_element(f2_space v, uint64_t k) {
  assert((k & ~f2_mask(v.dimension)) == 0);
  return f2_combine(v.dimension, v.basis, k);
}

uint64_t f2_space_coordinates(f2_space v, uint64_t x) {
  assert(f2_space_has(v, x));
  return f2_extract(f2_space_leading(v), x);
}

// ---- new subspaces from old ------------------------------------------------------------------

f2_space f2_space_sum(f2_space v, f2_space w) {
  assert(v.n == w.n);
  for (int i = 0; i < w.dimension; i++)
    f2_space_insert(&v, w.basis[i]);
  return v;
}

// Zassenhaus: when a sum of vectors of w cancels against vectors of v, that sum lies in both. Its
// tag is exactly the part from w.
f2_space f2_space_intersection(f2_space v, f2_space w) {
  assert(v.n == w.n);
  f2_echelon e = {0};
  f2_space both = f2_space_zero(v.n);
  for (int i = 0; i < v.dimension; i++)
    f2_echelon_insert(&e, v.basis[i], 0, NULL);
  for (int i = 0; i < w.dimension; i++) {
    uint64_t common = 0;
    if (!f2_echelon_insert(&e, w.basis[i], w.basis[i], &common))
      f2_space_insert(&both, common);
  }
  return both;
}

f2_space f2_space_complement(f2_space w, f2_space v) {
  assert(v.n == w.n);
  f2_space k = f2_space_zero(v.n);
  for (int i = 0; i < v.dimension; i++)
    if (f2_space_insert(&w, v.basis[i]))
      f2_space_insert(&k, v.basis[i]);
  return k;
}

bool f2_space_common_complement(f2_space p, f2_space q, f2_space v, f2_space *out) {
  assert(f2_space_contains(v, p) && f2_space_contains(v, q));
  if (p.dimension != q.dimension)
    return false;
  f2_space both = f2_space_intersection(p, q);
  f2_space only_p = f2_space_complement(both, p), only_q = f2_space_complement(both, q);
  f2_space k = f2_space_complement(f2_space_sum(p, q), v);
  for (int j = 0; j < only_p.dimension; j++)
    f2_space_insert(&k, only_p.basis[j] ^ only_q.basis[j]);
  *out = k;
  return true;
}

f2_space f2_space_orthogonal(f2_space v) {
  return f2_kernel(f2_from_rows(v.dimension, v.n, v.basis));
}

// A relation between columns, written as the mask of those that sum to zero, is a vector that the
// matrix sends to zero. Each dependent column gives one, and no other of them contains that column.
f2_space f2_kernel(f2_matrix a) {
  f2_matrix columns = f2_transpose(a);
  f2_echelon e = {0};
  f2_space kernel = f2_space_zero(a.columns);
  for (int j = 0; j < columns.rows; j++) {
    uint64_t relation = 0;
    if (!f2_echelon_insert(&e, columns.row[j], f2_unit(j), &relation))
      f2_space_insert(&kernel, relation);
  }
  return kernel;
}

f2_space f2_space_image(f2_matrix a, f2_space v) {
  assert(v.n == a.columns);
  f2_space image = f2_space_zero(a.rows);
  for (int i = 0; i < v.dimension; i++)
    f2_space_insert(&image, f2_apply(a, v.basis[i]));
  return image;
}
