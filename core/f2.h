// Linear algebra over F_2, the field {0, 1} with addition XOR and multiplication AND.
//
// Everything the engine knows about moving data is said in this vocabulary. An index into an array
// of 2^n elements is a VECTOR x of n coordinates, kept in a uint64_t: bit i is coordinate x_i, bit
// 0 the least significant. Adding two indices is `x ^ y`. A movement of data such as transposing,
// reversing or shuffling sends the element at x to A x ^ c for a MATRIX A and a constant c: an
// AFFINE MAP. The elements that one thread, one tile or one memory line holds form a coset of a
// SUBSPACE. Questions about speed (is this coalesced? do these lanes collide in a bank?) become
// questions about ranks.
//
// A filled-in example: n = 3 and `parm 0b110 f`, which splits an array of 8 elements in two by the
// parity of x & 0b110 and applies f to each part (BMMC paper, section 7.2 and Figure 14).
//
//      x          0  1  2  3  4  5  6  7
//      sub-array  0  0  1  1  1  1  0  0     the parity of x & 0b110
//      sub-index  0  1  0  1  2  3  2  3     x without its bit 1 (the lowest bit of the mask)
//      y = P x    0  1  4  5  6  7  2  3     sub-index, and the sub-array as the new top bit
//
// P places one sub-array in each half of the result. As equations, as a matrix, and in memory:
//
//                          x_0 x_1 x_2
//      y_0 = x_0          [ 1   0   0 ]      row[0] = 0b001
//      y_1 = x_2          [ 0   0   1 ]      row[1] = 0b100
//      y_2 = x_1 + x_2    [ 0   1   1 ]      row[2] = 0b110
//
// Row i of a matrix is the mask of the input bits that sum to output bit i. On paper coordinate 0
// is the LEFTMOST column and the TOP row; in a binary literal bit 0 is the RIGHTMOST digit, so a
// row reads mirrored. The list of a program's `bmmc [0b001, 0b100, 0b110] 0` is `row` as it is.
//
//      f2_matrix P = f2_parm(3, 6);                    // the matrix above
//      f2_apply(P, 2);                                 // 4 = 0b100: sub-array 1, sub-index 0
//      f2_multiply(f2_parm_inverse(3, 6), P);          // f2_identity(3)
//      f2_from_columns(3, 3, (uint64_t[]){1, 4, 6});   // P again (it is symmetric): columns P e_j
//
// Direction of composition: as functions are composed, f2_multiply(A, B) and
// f2_affine_compose(A, B) apply B first. An array goes through `bmmc A c` by
// out[A x ^ c] = in[x], hence bmmc A c . bmmc B d = bmmc (A B) (A d ^ c).
//
// Subspaces are kept in one canonical form, so equal subspaces are equal structs: a basis in which
// each vector has a leading (highest) bit that no other basis vector contains, sorted upwards. The
// subspace {000, 011, 101, 110} is
//
//      dimension = 2    basis[0] = 0b011    basis[1] = 0b101    leading bits = 0b110
//
// It follows that element k, the sum of the basis vectors named by the bits of k, grows with k;
// that the coordinates of an element are its leading bits, gathered; and that the least index of
// every coset is the one whose leading bits are 0, so cosets are numbered by a deposit of bits.
//
// All types have a fixed size and are passed by value. Nothing here allocates or fails for want of
// anything; a function whose answer may not exist returns false and leaves *out as it was. Shapes
// are preconditions, asserted. Sizes go from 0 to F2_MAX.
//
// Files: f2_echelon.c (the one elimination that all rests on), f2.c (vectors, matrices, affine
// maps, factorisations, parm), f2_space.c (subspaces).
#ifndef PERMC_CORE_F2_H
#define PERMC_CORE_F2_H

#include "core/ensure.h"
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum { F2_MAX = 63 };  // the most coordinates: 2^63 elements, whose count still fits a uint64_t

// ---- vectors ---------------------------------------------------------------------------------

// The unit vector e_i. 0 <= i < 64.
static inline uint64_t f2_unit(int i) {
  assert(i >= 0 && i < 64);
  return UINT64_C(1) << i;
}

// The vector of n ones, the mask of all n coordinates. 0 <= n <= 64.
static inline uint64_t f2_mask(int n) {
  assert(n >= 0 && n <= 64);
  return n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

// Coordinate i of x. 0 <= i < 64.
static inline bool f2_bit(uint64_t x, int i) {
  assert(i >= 0 && i < 64);
  return (x >> i) & 1;
}

// The number of ones in x.
static inline int f2_weight(uint64_t x) { return __builtin_popcountll(x); }

// The sum of all coordinates of x.
static inline bool f2_parity(uint64_t x) { return __builtin_parityll(x); }

// The scalar product x . y, the sum of x_i y_i.
static inline bool f2_dot(uint64_t x, uint64_t y) { return f2_parity(x & y); }

// The position of the lowest and of the highest one of x. x is not 0.
static inline int f2_lsb(uint64_t x) {
  assert(x != 0);
  return __builtin_ctzll(x);
}
static inline int f2_msb(uint64_t x) {
  assert(x != 0);
  return 63 - __builtin_clzll(x);
}

// The bits of x at the ones of mask, gathered into the low bits: f2_extract(0b110, 0b101) = 0b10.
uint64_t f2_extract(uint64_t mask, uint64_t x);

// The low bits of k scattered to the ones of mask, the rest 0: f2_deposit(0b110, 0b10) = 0b100.
// Undoes f2_extract on the bits of mask. Bits of k beyond f2_weight(mask) are ignored.
uint64_t f2_deposit(uint64_t mask, uint64_t k);

// ---- matrices --------------------------------------------------------------------------------

// A map from F_2^columns to F_2^rows. Rows beyond `rows`, and bits beyond `columns`, are 0.
typedef struct f2_matrix {
  int rows, columns;
  uint64_t row[F2_MAX];  // row[i]: the mask of the input bits that sum to output bit i
} f2_matrix;

// NULL if `a` keeps the invariants above, else a sentence that says which one it breaks.
const char *f2_matrix_problem(f2_matrix a);

f2_matrix f2_zero(int rows, int columns);

// n x n: the map that changes nothing.
f2_matrix f2_identity(int n);

// n x n: output bit i is input bit n-1-i. The paper's R; its own inverse.
f2_matrix f2_bit_reversal(int n);

// n x n: output bit i is input bit source[i]. `source` holds each of 0 .. n-1 once.
f2_matrix f2_permutation(int n, const int *source);

// rows x columns, from its rows (`rows` masks) or from its columns (`columns` masks).
f2_matrix f2_from_rows(int rows, int columns, const uint64_t *row);
f2_matrix f2_from_columns(int rows, int columns, const uint64_t *column);

// Column j of a, the image of e_j: bit i is row i's bit j.
uint64_t f2_column(f2_matrix a, int j);

bool f2_equal(f2_matrix a, f2_matrix b);  // false when the shapes differ

// A x. x has no bit beyond a.columns; the result none beyond a.rows.
uint64_t f2_apply(f2_matrix a, uint64_t x);

// a b: apply b, then a. (p x q) (q x r) = p x r.
f2_matrix f2_multiply(f2_matrix a, f2_matrix b);

// columns x rows. Row j of the result is column j of a.
f2_matrix f2_transpose(f2_matrix a);

// The number of independent rows, which is the number of independent columns.
int f2_rank(f2_matrix a);

// *out = the inverse of a. False when a is not square or is singular.
bool f2_inverse(f2_matrix a, f2_matrix *out);

// *out = some x with a x = b. False when there is none. All solutions: x + f2_kernel(a).
bool f2_solve(f2_matrix a, uint64_t b, uint64_t *out);

// A mask of rows that sum to zero, none of whose proper subsets does; 0 when all rows are
// independent. It explains why a matrix has no inverse ("rows 0, 2 and 3 sum to zero"). Of several
// such masks it is the one with the lowest highest row.
uint64_t f2_dependent_rows(f2_matrix a);

// Whether a is square with a single one in each row and each column: a permutation of index bits,
// the paper's BPC. Then output bit i is input bit f2_lsb(a.row[i]).
bool f2_is_permutation(f2_matrix a);

// ---- affine maps -----------------------------------------------------------------------------

// x goes to a x ^ c. c has no bit beyond a.rows.
typedef struct f2_affine {
  f2_matrix a;
  uint64_t c;
} f2_affine;

f2_affine f2_affine_identity(int n);
uint64_t f2_affine_apply(f2_affine f, uint64_t x);
bool f2_affine_equal(f2_affine f, f2_affine g);

// g . f: apply f, then g. For g = (A, c), f = (B, d) that is (A B, A d ^ c).
f2_affine f2_affine_compose(f2_affine g, f2_affine f);

// *out = the map that undoes f: A^-1 x ^ A^-1 c. False when f.a has no inverse.
bool f2_affine_inverse(f2_affine f, f2_affine *out);

// ---- factorisations (BMMC paper, sections 5.1 and 5.2) ---------------------------------------

// a = u l p: u upper triangular, l lower triangular, p a permutation; u and l with ones on the
// diagonal. For example
//
//      [ 0 1 ]   [ 1 0 ] [ 1 0 ] [ 0 1 ]         [ 0 1 ]   [ 1 1 ] [ 1 0 ] [ 1 0 ]
//      [ 1 0 ] = [ 0 1 ] [ 0 1 ] [ 1 0 ]   and   [ 1 1 ] = [ 0 1 ] [ 1 1 ] [ 0 1 ]
typedef struct f2_ulp {
  f2_matrix u, l, p;
} f2_ulp;

// Such factors of an invertible matrix. They are not unique; p = I whenever some factorisation
// a = u l exists. False when a is not square or singular.
bool f2_factor_ulp(f2_matrix a, f2_ulp *out);

// a = second first, each of them tiled for every tile size: first = R l p and second = u R, with R
// the bit reversal. `bmmc a c` is `bmmc first 0`, then `bmmc second c`. False when a is not square
// or singular.
bool f2_factor_tiled(f2_matrix a, f2_matrix *first, f2_matrix *second);

// Whether the n x n invertible matrix a is tiled for tiles of 2^tile x 2^tile elements: there are
// `tile` columns that are zero in rows tile .. n-1 (and so independent in the rows above). Then
// *columns is their mask: the input bits that vary along an output line. 0 <= tile <= n.
bool f2_tile_columns(f2_matrix a, int tile, uint64_t *columns);

// ---- parm (BMMC paper, section 7.2) ----------------------------------------------------------

// `parm mask` puts element x in sub-array mask . x, at position sub-index: x without the lowest bit
// of mask. n x n: the matrix P with y = P x, y's low n-1 bits the sub-index of x and bit n-1 its
// sub-array,
//
//      parm mask f  =  bmmc P^-1 0  .  two f  .  bmmc P 0,
//
// and its inverse. 1 <= n, 0 < mask < 2^n.
f2_matrix f2_parm(int n, uint64_t mask);
f2_matrix f2_parm_inverse(int n, uint64_t mask);

// ---- subspaces -------------------------------------------------------------------------------

// A subspace of F_2^n in the canonical form described at the top. Vectors past `dimension` are 0.
typedef struct f2_space {
  int n, dimension;
  uint64_t basis[F2_MAX];
} f2_space;

// NULL if `v` is in canonical form, else a sentence that says what is wrong.
const char *f2_space_problem(f2_space v);

f2_space f2_space_zero(int n);  // {0}
f2_space f2_space_full(int n);  // F_2^n; its basis is the unit vectors

// The span of the unit vectors at the ones of mask. E_t, a memory line of 2^t elements, is
// f2_space_units(n, f2_mask(t)).
f2_space f2_space_units(int n, uint64_t mask);

// The span of any `count` vectors, dependent or not.
f2_space f2_span(int n, int count, const uint64_t *vectors);

// Adds x to the span *v. Whether the dimension grew, that is, x was not in *v before.
bool f2_space_insert(f2_space *v, uint64_t x);

bool f2_space_equal(f2_space v, f2_space w);
bool f2_space_has(f2_space v, uint64_t x);
bool f2_space_contains(f2_space v, f2_space w);  // w is a subspace of v

// The mask of the leading bits of v's basis. The unit vectors at the other bits span a complement.
uint64_t f2_space_leading(f2_space v);

// The least index of the coset x + v: x with its leading bits cleared. 0 exactly when x is in v,
// and equal for x and y exactly when they are in one coset.
uint64_t f2_space_reduce(f2_space v, uint64_t x);

// Element k of v in increasing order, 0 <= k < 2^dimension, and the k of an element x of v.
uint64_t f2_space_element(f2_space v, uint64_t k);
uint64_t f2_space_coordinates(f2_space v, uint64_t x);

// The sum of v and w, and their true intersection (not that of two sets of basis vectors).
f2_space f2_space_sum(f2_space v, f2_space w);
f2_space f2_space_intersection(f2_space v, f2_space w);

// Some k inside v with k + w = v + w and k, w meeting in 0 only. For w inside v that is a
// complement of w in v; in general one of the intersection. Of v's basis vectors it takes the first
// that serve, so a complement in the full space is spanned by unit vectors.
f2_space f2_space_complement(f2_space w, f2_space v);

// *out = some k with v = p + k = q + k, both sums direct, for p and q inside v. A memory whose
// banks are the cosets of k in v can be written by lanes p and read by lanes q without conflict.
// With i = the intersection of p and q, p = i + <p_j> and q = i + <q_j>: k is spanned by the
// p_j ^ q_j and a complement of p + q in v. (If a sum of some p_j ^ q_j lies in p, its q_j
// part lies in i, so it is empty.) False when the dimensions of p and q differ: there is none.
bool f2_space_common_complement(f2_space p, f2_space q, f2_space v, f2_space *out);

// All f with f . x = 0 for every x in v. Of dimension n - v.dimension; its own inverse.
f2_space f2_space_orthogonal(f2_space v);

f2_space f2_kernel(f2_matrix a);                   // all x with a x = 0; in F_2^columns
f2_space f2_space_image(f2_matrix a, f2_space v);  // all a x for x in v; v.n = a.columns

// The sum of the vectors whose number is in the mask, of which bits from `count` on do not count.
static inline uint64_t f2_combine(int count, const uint64_t *vectors, uint64_t mask) {
  uint64_t sum = 0;
  for (mask &= f2_mask(count); mask != 0; mask &= mask - 1)
    sum ^= vectors[f2_lsb(mask)];
  return sum;
}

// *out = the mask of the vectors of an ordered basis that sum to x. False when x is not in their
// span. 0 <= count <= 64; of dependent vectors the later ones are not used.
bool f2_coordinates(int count, const uint64_t *basis, uint64_t x, uint64_t *out);

// ---- elimination -----------------------------------------------------------------------------

// Gaussian elimination, one vector at a time. Each vector comes with a tag, and whatever is added
// to a vector is added to its tag. What the tag means is the caller's choice: with tag e_i for the
// i-th vector, tags record which vectors were summed (inverse, solve, dependent rows, kernel); with
// tag 0 for those of v and x for those x of w, the tag of a relation lies in both (intersection).
typedef struct f2_echelon {
  uint64_t vector[64], tag[64];  // vector[i]: 0, or one whose leading bit is i
} f2_echelon;

// What is left of x after adding the vectors of e wherever they cancel its leading bit: 0 exactly
// when x is in their span. *tag gets the tags of the vectors used added to it.
uint64_t f2_echelon_reduce(const f2_echelon *e, uint64_t x, uint64_t *tag);

// Adds x to e. Returns true if x was independent; else *relation (may be NULL) is `tag` plus the
// tags of the vectors that sum to x, and e stays as it was. An empty e is all zeros.
bool f2_echelon_insert(f2_echelon *e, uint64_t x, uint64_t tag, uint64_t *relation);

#endif
