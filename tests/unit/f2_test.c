// Properties of core/f2.h, against independent recomputation.
//
// Small sizes are exhaustive, and there a subset of F_2^n (n <= 6) is a SET: a uint64_t whose bit x
// says whether the vector x belongs to it. Large sizes are random with fixed seeds, and are checked
// against matrices of one bool per entry.
#include "tests/test.h"
#include "tests/unit/f2_more.h"

#include <string.h>

static const int sizes[] = {0, 1, 2, 3, 5, 8, 31, 32, 33, 62, 63};
enum { SIZES = sizeof sizes / sizeof sizes[0] };
#define FOR_SIZES(n)                                                                               \
  for (int n##_at = 0, n = 0; n##_at < SIZES && (n = sizes[n##_at], true); n##_at++)
#define REPEAT(count) for (int r_ = 0; r_ < (count); r_++)

// ---- random things ---------------------------------------------------------------------------

static uint64_t state;

static uint64_t next(void) {  // SplitMix64
  uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static int below(int n) { return (int)(next() % (uint64_t)n); }

static uint64_t bits(int n) { return n == 0 ? 0 : next() >> (64 - n); }

static uint64_t nonzero_bits(int n) {
  uint64_t x = bits(n);
  return x != 0 ? x : (uint64_t)1 << below(n);
}

static f2_matrix random_matrix(int rows, int columns) {
  f2_matrix a = f2_zero(rows, columns);
  for (int i = 0; i < rows; i++)
    a.row[i] = bits(columns);
  return a;
}

// Row operations on the identity reach every invertible matrix.
static f2_matrix random_invertible(int n) {
  f2_matrix a = f2_identity(n);
  for (int k = 0; k < 4 * n && n > 1; k++)
    for (int i = 0; i < n; i++) {
      int j = below(n - 1);
      a.row[i] ^= a.row[j < i ? j : j + 1] & (0 - (next() & 1));
    }
  return a;
}

// One row becomes a sum of others (maybe of none). n >= 1.
static f2_matrix random_singular(int n) {
  f2_matrix a = random_invertible(n);
  int i = below(n);
  a.row[i] = 0;
  for (int j = 0; j < n; j++)
    if (j != i && below(3) == 0)
      a.row[i] ^= a.row[j];
  return a;
}

static void random_order(int n, int *order) {
  for (int i = 0; i < n; i++) {
    int j = below(i + 1);
    order[i] = order[j];
    order[j] = i;
  }
}

// The first `dimension` columns of a random invertible matrix.
static f2_space random_space(int n, int dimension) {
  f2_matrix a = random_invertible(n);
  return f2_span(n, dimension, a.row);
}

// ---- the independent side --------------------------------------------------------------------

typedef struct table {
  bool at[F2_MAX][F2_MAX];
} table;

static table to_table(f2_matrix a) {
  table t = {0};
  for (int i = 0; i < a.rows; i++)
    for (int j = 0; j < a.columns; j++)
      t.at[i][j] = a.row[i] / ((uint64_t)1 << j) % 2 == 1;
  return t;
}

static uint64_t table_apply(const table *t, int rows, int columns, uint64_t x) {
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
static int table_rank(table t, int rows, int columns) {
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

static int naive_rank(f2_matrix a) { return table_rank(to_table(a), a.rows, a.columns); }

static bool in_set(uint64_t set, uint64_t x) { return (set >> x) & 1; }

// {x ^ c : x in set}
static uint64_t set_shift(uint64_t set, uint64_t c) {
  uint64_t shifted = 0;
  for (uint64_t x = 0; x < 64; x++)
    if (in_set(set, x))
      shifted |= (uint64_t)1 << (x ^ c);
  return shifted;
}

static uint64_t set_span(int count, const uint64_t *vectors) {
  uint64_t set = 1;
  for (int i = 0; i < count; i++)
    set |= set_shift(set, vectors[i]);
  return set;
}

static uint64_t set_of(f2_space v) { return set_span(v.dimension, v.basis); }

static uint64_t set_sum(uint64_t v, uint64_t w) {
  uint64_t sum = 0;
  for (uint64_t x = 0; x < 64; x++)
    if (in_set(w, x))
      sum |= set_shift(v, x);
  return sum;
}

static int set_dimension(uint64_t set) {
  int dimension = 0;
  for (int size = __builtin_popcountll(set); size > 1; size /= 2)
    dimension++;
  return dimension;
}

// All subspaces of F_2^n, n <= 5, each once, found by adding vectors to smaller ones.
enum { MOST_SPACES = 400 };
static f2_space spaces[MOST_SPACES];

static int find_spaces(int n) {
  int count = 1;
  spaces[0] = f2_space_zero(n);
  for (int i = 0; i < count; i++)
    for (uint64_t x = 0; x < (uint64_t)1 << n; x++) {
      f2_space v = spaces[i];
      f2_space_insert(&v, x);
      int j = 0;
      while (j < count && set_of(spaces[j]) != set_of(v))
        j++;
      if (j == count)
        spaces[count++] = v;
    }
  return count;
}

// ---- vectors ---------------------------------------------------------------------------------

TEST(vectors) {
  state = 1;
  CHECK_EQ_U64(f2_mask(0), 0);
  CHECK_EQ_U64(f2_mask(63), UINT64_MAX >> 1);
  CHECK_EQ_U64(f2_mask(64), UINT64_MAX);
  for (int i = 0; i < 64; i++) {
    CHECK(f2_lsb(f2_unit(i)) == i && f2_msb(f2_unit(i)) == i);
    CHECK(f2_lsb(UINT64_MAX << i) == i && f2_msb(UINT64_MAX >> i) == 63 - i);
    CHECK_EQ_U64(f2_mask(i), f2_unit(i) - 1);
  }
  REPEAT(200) {
    uint64_t x = next(), y = next();
    int weight = 0, common = 0;
    for (int i = 0; i < 64; i++) {
      weight += f2_bit(x, i);
      common += f2_bit(x, i) && f2_bit(y, i);
    }
    CHECK(f2_weight(x) == weight && f2_parity(x) == weight % 2 && f2_dot(x, y) == common % 2);
  }
}

TEST(extract_and_deposit) {
  state = 2;
  CHECK_EQ_U64(f2_extract(6, 5), 2);
  CHECK_EQ_U64(f2_deposit(6, 2), 4);
  CHECK_EQ_U64(f2_deposit(6, 7), 6);
  CHECK_EQ_U64(f2_extract(0, UINT64_MAX) | f2_deposit(0, UINT64_MAX), 0);
  CHECK_EQ_U64(f2_extract(UINT64_MAX, UINT64_MAX) & f2_deposit(UINT64_MAX, UINT64_MAX), UINT64_MAX);
  REPEAT(200) {
    uint64_t mask = next() & next(), x = next(), gathered = 0;
    for (int i = 63; i >= 0; i--)
      if (f2_bit(mask, i))
        gathered = 2 * gathered + f2_bit(x, i);
    CHECK_EQ_U64(f2_extract(mask, x), gathered);
    CHECK_EQ_U64(f2_deposit(mask, gathered), x & mask);
    CHECK_EQ_U64(f2_deposit(mask, next()) & ~mask, 0);
  }
}

// ---- matrices --------------------------------------------------------------------------------

TEST(matrix_invariants) {
  FOR_SIZES(n) {
    CHECK(f2_matrix_problem(f2_identity(n)) == NULL);
    CHECK(f2_matrix_problem(f2_bit_reversal(n)) == NULL);
    f2_matrix a = f2_zero(n, n);
    if (n < F2_MAX) {
      a.row[n] = 1;
      CHECK(f2_matrix_problem(a) != NULL);
    }
    a = f2_zero(n, n);
    if (n > 0) {
      a.row[0] = f2_unit(n);
      CHECK(f2_matrix_problem(a) != NULL);
    }
  }
  CHECK(f2_matrix_problem((f2_matrix){.rows = -1}) != NULL);
  CHECK(f2_matrix_problem((f2_matrix){.rows = F2_MAX + 1}) != NULL);
  CHECK(f2_matrix_problem((f2_matrix){.columns = -1}) != NULL);
  CHECK(f2_matrix_problem((f2_matrix){.columns = F2_MAX + 1}) != NULL);
}

TEST(apply_rows_and_columns) {
  state = 3;
  FOR_SIZES(n) FOR_SIZES(m) {
    f2_matrix a = random_matrix(n, m);
    table t = to_table(a);
    uint64_t x = bits(m), y = bits(m), by_columns = 0, column[F2_MAX];
    CHECK_EQ_U64(f2_apply(a, x), table_apply(&t, n, m, x));
    CHECK_EQ_U64(f2_apply(a, x ^ y), f2_apply(a, x) ^ f2_apply(a, y));
    for (int j = 0; j < m; j++) {
      column[j] = f2_column(a, j);
      CHECK_EQ_U64(column[j], f2_apply(a, f2_unit(j)));
      by_columns ^= f2_bit(x, j) ? column[j] : 0;
    }
    CHECK_EQ_U64(f2_apply(a, x), by_columns);
    CHECK(f2_equal(f2_from_columns(n, m, column), a));
    CHECK(f2_equal(f2_from_rows(n, m, a.row), a));
    f2_matrix transposed = f2_transpose(a);
    CHECK(f2_matrix_problem(transposed) == NULL);
    CHECK(transposed.rows == m && transposed.columns == n);
    CHECK(f2_equal(f2_transpose(transposed), a));
    for (int j = 0; j < m; j++)
      CHECK_EQ_U64(transposed.row[j], column[j]);
  }
}

TEST(multiply_and_add) {
  state = 4;
  FOR_SIZES(n) REPEAT(8) {
    int p = below(F2_MAX + 1), q = below(F2_MAX + 1);
    f2_matrix a = random_matrix(p, n), b = random_matrix(n, q), c = random_matrix(q, p);
    f2_matrix ab = f2_multiply(a, b), other = random_matrix(n, q);
    uint64_t x = bits(q);
    CHECK(f2_matrix_problem(ab) == NULL && ab.rows == p && ab.columns == q);
    CHECK_EQ_U64(f2_apply(ab, x), f2_apply(a, f2_apply(b, x)));
    CHECK(f2_equal(f2_multiply(ab, c), f2_multiply(a, f2_multiply(b, c))));
    CHECK(f2_equal(f2_transpose(ab), f2_multiply(f2_transpose(b), f2_transpose(a))));
    CHECK(f2_equal(f2_multiply(f2_identity(p), a), a) &&
          f2_equal(f2_multiply(a, f2_identity(n)), a));
    CHECK(f2_equal(f2_multiply(a, f2_add(b, other)), f2_add(ab, f2_multiply(a, other))));
    CHECK(f2_equal(f2_add(a, a), f2_zero(p, n)));
    CHECK(f2_equal(a, b) == (p == n && n == q && memcmp(a.row, b.row, sizeof a.row) == 0));
  }
}

TEST(block_diagonal) {
  state = 5;
  FOR_SIZES(n) REPEAT(8) {
    int p = below(n + 1), q = below(F2_MAX + 1), r = below(F2_MAX - q + 1);
    f2_matrix low = random_matrix(q, p), high = random_matrix(r, n - p);
    f2_matrix both = f2_block_diagonal(low, high);
    uint64_t x = bits(p), y = bits(n - p);
    CHECK(f2_matrix_problem(both) == NULL && both.rows == q + r && both.columns == n);
    CHECK_EQ_U64(f2_apply(both, x | (y << p)), f2_apply(low, x) | (f2_apply(high, y) << q));
  }
}

TEST(permutations_of_bits) {
  state = 6;
  FOR_SIZES(n) REPEAT(8) {
    int source[F2_MAX];
    random_order(n, source);
    f2_matrix p = f2_permutation(n, source), r = f2_bit_reversal(n);
    uint64_t x = bits(n), y = f2_apply(p, x), reversed = f2_apply(r, x);
    CHECK(f2_is_permutation(p) && f2_is_permutation(r) && f2_is_permutation(f2_identity(n)));
    for (int i = 0; i < n; i++) {
      CHECK(f2_bit(y, i) == f2_bit(x, source[i]) && f2_lsb(p.row[i]) == source[i]);
      CHECK(f2_bit(reversed, i) == f2_bit(x, n - 1 - i));
    }
    CHECK(f2_equal(f2_multiply(p, f2_transpose(p)), f2_identity(n)));
    CHECK(f2_equal(f2_multiply(r, r), f2_identity(n)));
    if (n > 1) {
      p.row[0] = p.row[1];
      CHECK(!f2_is_permutation(p));
      p.row[0] |= ~p.row[1] & f2_mask(n);
      CHECK(!f2_is_permutation(p));
    }
  }
  CHECK(!f2_is_permutation(f2_zero(1, 1)));
  CHECK(!f2_is_permutation(f2_from_rows(1, 2, (uint64_t[]){1})));
  CHECK(!f2_is_permutation(f2_from_rows(2, 1, (uint64_t[]){1, 1})));
}

// A mask of rows is a minimal relation when it sums to zero and leaving out any one row (enough,
// for the highest) leaves independent rows.
static void check_relation(f2_matrix a, uint64_t rows) {
  uint64_t sum = 0;
  f2_matrix rest = f2_zero(a.rows, a.columns), above = a;
  int highest = f2_msb(rows);
  for (int i = 0; i < a.rows; i++)
    if (f2_bit(rows, i)) {
      sum ^= a.row[i];
      rest.row[i] = i == highest ? 0 : a.row[i];
    }
  CHECK_EQ_U64(sum, 0);
  CHECK(naive_rank(rest) == f2_weight(rows) - 1);
  for (int i = highest; i < a.rows; i++)
    above.row[i] = 0;
  CHECK(naive_rank(above) == highest);
}

// Everything that elimination answers about one square matrix.
static void check_square(f2_matrix a) {
  int n = a.rows, rank = naive_rank(a);
  f2_matrix kept = f2_add(f2_identity(n), f2_bit_reversal(n)), inverse = kept;
  CHECK(f2_rank(a) == rank && f2_rank(f2_transpose(a)) == rank);
  bool invertible = f2_inverse(a, &inverse);
  uint64_t rows = f2_dependent_rows(a);
  CHECK(invertible == (rank == n) && (rows == 0) == invertible);
  if (invertible) {
    CHECK(f2_matrix_problem(inverse) == NULL);
    CHECK(f2_equal(f2_multiply(a, inverse), f2_identity(n)));
    CHECK(f2_equal(f2_multiply(inverse, a), f2_identity(n)));
  } else {
    CHECK(f2_equal(inverse, kept));
    check_relation(a, rows);
  }
}

TEST(inverse_rank_and_dependent_rows) {
  state = 7;
  FOR_SIZES(n) {
    check_square(f2_identity(n));
    check_square(f2_zero(n, n));
    REPEAT(12) {
      check_square(random_matrix(n, n));
      check_square(random_invertible(n));
      if (n > 0)
        check_square(random_singular(n));
    }
  }
  f2_matrix inverse;
  CHECK(!f2_inverse(f2_from_rows(2, 3, (uint64_t[]){1, 2}), &inverse));
  CHECK_EQ_U64(f2_dependent_rows(f2_from_rows(4, 4, (uint64_t[]){3, 4, 5, 6})), 13);
  CHECK_EQ_U64(f2_dependent_rows(f2_from_rows(3, 3, (uint64_t[]){1, 0, 1})), 2);
}

// The numbers of invertible matrices are the product of 2^n - 2^i.
TEST(all_small_square_matrices) {
  const int invertible[] = {1, 1, 6, 168, 20160}, permutations[] = {1, 1, 2, 6, 24};
  for (int n = 0; n <= 4; n++) {
    int found = 0, found_permutations = 0;
    for (uint64_t code = 0; code < (uint64_t)1 << (n * n); code++) {
      f2_matrix a = f2_zero(n, n), inverse;
      for (int i = 0; i < n; i++)
        a.row[i] = (code >> (n * i)) & f2_mask(n);
      if (n < 4 || code % 8 == 3)
        check_square(a);
      CHECK(f2_rank(a) == set_dimension(set_span(n, a.row)));
      found += f2_inverse(a, &inverse);
      found_permutations += f2_is_permutation(a);
    }
    CHECK(found == invertible[n] && found_permutations == permutations[n]);
  }
}

TEST(solve_and_kernel) {
  state = 8;
  FOR_SIZES(n) FOR_SIZES(m) REPEAT(3) {
    int middle = below(m + 1);
    f2_matrix a = f2_multiply(random_matrix(n, middle), random_matrix(middle, m));
    f2_space kernel = f2_kernel(a), image = f2_image(a);
    int rank = naive_rank(a);
    CHECK(f2_space_problem(kernel) == NULL && f2_space_problem(image) == NULL);
    CHECK(kernel.n == m && kernel.dimension == m - rank && image.n == n && image.dimension == rank);
    for (int i = 0; i < kernel.dimension; i++)
      CHECK_EQ_U64(f2_apply(a, kernel.basis[i]), 0);
    uint64_t x = 0, b = f2_apply(a, bits(m));
    CHECK(f2_solve(a, b, &x) && f2_apply(a, x) == b && f2_space_has(image, b));
    b = bits(n);
    f2_matrix widened = f2_transpose(a);  // b is in the image iff one more column adds no rank
    if (m < F2_MAX) {
      widened = (f2_matrix){.rows = m + 1, .columns = n};
      memcpy(widened.row, f2_transpose(a).row, sizeof widened.row);
      widened.row[m] = b;
      bool solvable = naive_rank(widened) == rank;
      x = 77;
      CHECK(f2_solve(a, b, &x) == solvable && f2_space_has(image, b) == solvable);
      CHECK(solvable ? f2_apply(a, x) == b : x == 77);
    }
  }
}

TEST(all_small_systems) {
  for (int rows = 0; rows <= 3; rows++)
    for (int columns = 0; columns <= 4; columns++)
      for (uint64_t code = 0; code < (uint64_t)1 << (rows * columns); code++) {
        f2_matrix a = f2_zero(rows, columns);
        for (int i = 0; i < rows; i++)
          a.row[i] = (code >> (columns * i)) & f2_mask(columns);
        uint64_t kernel = 0, image = 0, x = 0;
        for (uint64_t y = 0; y < (uint64_t)1 << columns; y++) {
          kernel |= f2_apply(a, y) == 0 ? (uint64_t)1 << y : 0;
          image |= (uint64_t)1 << f2_apply(a, y);
        }
        CHECK_EQ_U64(set_of(f2_kernel(a)), kernel);
        CHECK_EQ_U64(set_of(f2_image(a)), image);
        for (uint64_t b = 0; b < (uint64_t)1 << rows; b++) {
          CHECK(f2_solve(a, b, &x) == in_set(image, b));
          CHECK(!in_set(image, b) || f2_apply(a, x) == b);
        }
      }
}

// ---- affine maps -----------------------------------------------------------------------------

static f2_affine random_affine(int n) {
  return (f2_affine){.a = random_invertible(n), .c = bits(n)};
}

static f2_affine inverse_of(f2_affine f) {
  f2_affine inverse = f2_affine_identity(f.a.rows);
  CHECK(f2_affine_inverse(f, &inverse));
  return inverse;
}

TEST(affine_maps) {
  state = 9;
  FOR_SIZES(n) REPEAT(8) {
    f2_affine f = random_affine(n), g = random_affine(n), h = random_affine(n);
    f2_affine gf = f2_affine_compose(g, f), inverse = inverse_of(f);
    uint64_t x = bits(n);
    CHECK_EQ_U64(f2_affine_apply(f, x), f2_apply(f.a, x) ^ f.c);
    CHECK_EQ_U64(f2_affine_apply(gf, x), f2_affine_apply(g, f2_affine_apply(f, x)));
    CHECK_EQ_U64(f2_affine_apply(inverse, f2_affine_apply(f, x)), x);
    CHECK(f2_equal(gf.a, f2_multiply(g.a, f.a)) && gf.c == (f2_apply(g.a, f.c) ^ g.c));
    CHECK(f2_affine_equal(f2_affine_compose(inverse, f), f2_affine_identity(n)));
    CHECK(f2_affine_equal(f2_affine_compose(f, inverse), f2_affine_identity(n)));
    CHECK(f2_affine_equal(inverse_of(gf), f2_affine_compose(inverse, inverse_of(g))));
    CHECK(f2_affine_equal(f2_affine_compose(h, gf), f2_affine_compose(f2_affine_compose(h, g), f)));
    if (n > 0) {
      f2_affine shifted = f, singular = {.a = random_singular(n), .c = 0};
      shifted.c ^= 1;
      CHECK(!f2_affine_equal(f, shifted) && f2_affine_equal(f, f));
      CHECK(!f2_affine_inverse(singular, &shifted));
    }
  }
}

// ---- arrays, literally -----------------------------------------------------------------------

enum { MOST_BITS = 8 };
typedef struct array {
  int value[1 << MOST_BITS];
} array;

// out[A x ^ c] = in[x], on each of the 2^(n-k) chunks of 2^k elements.
static array bmmc(f2_affine f, int n, array in) {
  array out = {{0}};
  int k = f.a.rows;
  for (uint64_t x = 0; x < (uint64_t)1 << n; x++)
    out.value[(x >> k << k) | f2_affine_apply(f, x & f2_mask(k))] = in.value[x];
  return out;
}

static bool same(int n, array a, array b) {
  return memcmp(a.value, b.value, sizeof(int) << n) == 0;
}

static array random_array(int n) {
  array a = {{0}};
  for (int x = 0; x < 1 << n; x++)
    a.value[x] = below(1000);
  return a;
}

TEST(bmmc_laws_on_arrays) {
  state = 10;
  for (int n = 0; n <= MOST_BITS; n++)
    REPEAT(4) {
      f2_affine f = random_affine(n), g = random_affine(n);
      array in = random_array(n);
      CHECK(same(n, bmmc(g, n, bmmc(f, n, in)), bmmc(f2_affine_compose(g, f), n, in)));
      CHECK(same(n, bmmc(inverse_of(f), n, bmmc(f, n, in)), in));
    }
}

// Some function of 2^k elements that no permutation or symmetry leaves alone.
static void scramble(int k, int *values) {
  int sum = 1;
  for (int i = 0; i < 1 << k; i++)
    values[i] = sum = (sum * 31 + values[i] * (i + 7)) % 10007;
}

// `parm mask scramble` by its definition: split, apply, stitch.
static array parm_literally(int n, uint64_t mask, array in) {
  int part[2][1 << MOST_BITS], count[2] = {0, 0};
  for (uint64_t x = 0; x < (uint64_t)1 << n; x++) {
    int which = __builtin_popcountll(x & mask) % 2;
    part[which][count[which]++] = in.value[x];
  }
  scramble(n - 1, part[0]);
  scramble(n - 1, part[1]);
  array out = {{0}};
  count[0] = count[1] = 0;
  for (uint64_t x = 0; x < (uint64_t)1 << n; x++) {
    int which = __builtin_popcountll(x & mask) % 2;
    out.value[x] = part[which][count[which]++];
  }
  return out;
}

// Figure 14 of the BMMC paper.
TEST(parm_figure_14) {
  const uint64_t array_of[] = {0, 0, 1, 1, 1, 1, 0, 0}, index_of[] = {0, 1, 0, 1, 2, 3, 2, 3};
  f2_matrix p = f2_parm(3, 6);
  CHECK(f2_equal(p, f2_from_rows(3, 3, (uint64_t[]){1, 4, 6})));
  CHECK(f2_equal(p, f2_from_columns(3, 3, (uint64_t[]){1, 4, 6})));
  CHECK(f2_equal(f2_parm_inverse(3, 6), f2_from_rows(3, 3, (uint64_t[]){1, 6, 2})));
  CHECK_EQ_U64(f2_apply(p, 2), 4);
  for (uint64_t x = 0; x < 8; x++) {
    CHECK(f2_sub_array(6, x) == array_of[x]);
    CHECK_EQ_U64(f2_sub_index(6, x), index_of[x]);
    CHECK_EQ_U64(f2_apply(p, x), index_of[x] | (array_of[x] << 2));
  }
}

TEST(parm_every_small_mask) {
  state = 11;
  for (int n = 1; n <= MOST_BITS; n++)
    for (uint64_t mask = 1; mask < (uint64_t)1 << n; mask++) {
      f2_matrix p = f2_parm(n, mask), undo = f2_parm_inverse(n, mask);
      uint64_t rank[2] = {0, 0};
      for (uint64_t x = 0; x < (uint64_t)1 << n; x++) {
        uint64_t which = (uint64_t)(__builtin_popcountll(x & mask) % 2), index = rank[which]++;
        CHECK(f2_sub_array(mask, x) == which && f2_sub_index(mask, x) == index);
        CHECK(f2_apply(p, x) == (index | (which << (n - 1))) &&
              f2_apply(undo, f2_apply(p, x)) == x);
        CHECK(f2_parm_index(mask, which, index) == x);
      }
      array in = random_array(n), out = bmmc((f2_affine){.a = p, .c = 0}, n, in);
      scramble(n - 1, out.value);
      scramble(n - 1, out.value + (1 << (n - 1)));
      out = bmmc((f2_affine){.a = undo, .c = 0}, n, out);
      CHECK(same(n, out, parm_literally(n, mask, in)));
    }
}

TEST(parm_any_size) {
  state = 12;
  FOR_SIZES(n) for (int r = 0; n > 0 && r < 40; r++) {
    uint64_t mask = r < n ? f2_unit(r) : nonzero_bits(n), x = bits(n);
    f2_matrix p = f2_parm(n, mask), undo = f2_parm_inverse(n, mask);
    uint64_t y = f2_sub_index(mask, x) | ((uint64_t)f2_sub_array(mask, x) << (n - 1));
    CHECK(f2_matrix_problem(p) == NULL && f2_matrix_problem(undo) == NULL);
    CHECK(f2_apply(p, x) == y && f2_apply(undo, y) == x);
    CHECK(f2_parm_index(mask, f2_sub_array(mask, x), f2_sub_index(mask, x)) == x);
    CHECK(f2_equal(f2_multiply(p, undo), f2_identity(n)));
    int lowest = f2_lsb(mask);
    for (int i = 0; i < n - 1; i++)
      CHECK(f2_bit(y, i) == f2_bit(x, i < lowest ? i : i + 1));
    CHECK(f2_bit(y, n - 1) == f2_parity(x & mask));
  }
  FOR_SIZES(n) if (n > 0) {
    CHECK(f2_equal(f2_parm(n, f2_unit(n - 1)), f2_identity(n)));  // two
    for (int i = 0; i < n; i++)                                   // ilv: a rotation of bits
      CHECK_EQ_U64(f2_parm(n, 1).row[i], f2_unit((i + 1) % n));
  }
}

// ---- frames: permutations that move nothing --------------------------------------------------

// One random program on 2^k-element chunks of an array of 2^n: bmmc steps, and parms down to pairs,
// which a compare-exchange sorts. It is run twice: literally on `plain`, whose chunks are where the
// language says, and on `framed`, where nothing moves and the element with logical index y is at
// (A y) ^ c of the frame.
typedef struct two_runs {
  int n;
  f2_affine frame;
  array plain, framed;
} two_runs;

static f2_matrix on_low_bits(f2_matrix a, int n) {
  return f2_block_diagonal(a, f2_identity(n - a.rows));
}

static f2_matrix invert(f2_matrix a) {
  f2_matrix inverse = a;
  CHECK(f2_inverse(a, &inverse));
  return inverse;
}

static void run_bmmc(two_runs *run, f2_affine f) {
  run->plain = bmmc(f, run->n, run->plain);
  f2_matrix fa = f2_multiply(run->frame.a, on_low_bits(invert(f.a), run->n));
  run->frame = (f2_affine){.a = fa, .c = run->frame.c ^ f2_apply(fa, f.c)};
}

static void order(int *low, int *high) {
  if (*low > *high) {
    int kept = *low;
    *low = *high;
    *high = kept;
  }
}

static void run_compare_exchange(two_runs *run) {
  for (int x = 0; x < 1 << run->n; x += 2)
    order(&run->plain.value[x], &run->plain.value[x + 1]);
  f2_matrix back = invert(run->frame.a);
  uint64_t direction = f2_column(run->frame.a, 0), form = back.row[0];
  for (int i = 0; i < run->n; i++)
    for (int j = 0; j < run->n; j++)
      CHECK(f2_dot(back.row[i], f2_column(run->frame.a, j)) == (i == j));
  for (uint64_t x = 0; x < (uint64_t)1 << run->n; x++)
    if (!f2_dot(form, x ^ run->frame.c))
      order(&run->framed.value[x], &run->framed.value[x ^ direction]);
}

static void run_program(two_runs *run, int k) {
  if (below(2) == 0)
    run_bmmc(run, random_affine(k));
  if (k == 1) {
    run_compare_exchange(run);
    return;
  }
  for (int times = 1 + (below(3) == 0); times > 0; times--) {
    uint64_t mask = nonzero_bits(k);
    f2_affine split = {.a = f2_parm(k, mask), .c = 0}, stitch = inverse_of(split);
    f2_matrix fa = run->frame.a;
    run->plain = bmmc(split, run->n, run->plain);
    run->frame.a = f2_multiply(fa, on_low_bits(f2_parm_inverse(k, mask), run->n));
    run_program(run, k - 1);
    run->plain = bmmc(stitch, run->n, run->plain);
    run->frame.a = f2_multiply(run->frame.a, on_low_bits(f2_parm(k, mask), run->n));
  }
}

TEST(frames) {
  state = 13;
  for (int n = 1; n <= 7; n++)
    REPEAT(6) {
      two_runs run = {.n = n, .frame = f2_affine_identity(n), .plain = random_array(n)};
      run.framed = run.plain;
      run_program(&run, n);
      for (uint64_t y = 0; y < (uint64_t)1 << n; y++)
        CHECK(run.plain.value[y] == run.framed.value[f2_affine_apply(run.frame, y)]);
      // The residual map is the inverse of the frame.
      CHECK(same(n, run.plain, bmmc(inverse_of(run.frame), n, run.framed)));
    }
}

// Index bits that a program names stay valid as affine forms of the physical index.
TEST(frames_keep_index_bits) {
  state = 14;
  FOR_SIZES(n) for (int r = 0; n > 0 && r < 6; r++) {
    f2_affine frame = random_affine(n);
    uint64_t y = bits(n), x = f2_affine_apply(frame, y);
    int bit = below(n);
    f2_affine back = inverse_of(frame);
    CHECK(f2_bit(y, bit) == (f2_dot(back.a.row[bit], x) ^ f2_bit(back.c, bit)));
    CHECK(f2_bit(back.c, bit) == f2_dot(back.a.row[bit], frame.c));
  }
}

// ---- factorisations --------------------------------------------------------------------------

// The paper's definition, section 5.1: some `tile` columns, zero from row `tile` on, invertible
// above it.
static bool tiled_by_definition(f2_matrix a, int tile, uint64_t columns) {
  f2_matrix square = f2_zero(tile, tile);
  for (int i = 0; i < a.rows; i++) {
    if (i < tile)
      square.row[i] = f2_extract(columns, a.row[i]);
    else if (a.row[i] & columns)
      return false;
  }
  return f2_weight(columns) == tile && naive_rank(square) == tile;
}

static void check_factors(f2_matrix a) {
  int n = a.rows;
  f2_ulp f = {.u = f2_zero(n, n)};
  f2_matrix first = f2_zero(n, n), second = f2_zero(n, n), r = f2_bit_reversal(n);
  bool invertible = naive_rank(a) == n;
  CHECK(f2_factor_ulp(a, &f) == invertible && f2_factor_tiled(a, &first, &second) == invertible);
  if (!invertible) {
    CHECK(f2_equal(f.u, f2_zero(n, n)) && f2_equal(first, second));
    return;
  }
  CHECK(f2_equal(f2_multiply(f2_multiply(f.u, f.l), f.p), a));
  CHECK(f2_is_upper_triangular(f.u) && f2_is_lower_triangular(f.l) && f2_is_permutation(f.p));
  CHECK(f2_matrix_problem(f.u) == NULL && f2_matrix_problem(f.l) == NULL);
  for (int i = 0; i < n; i++)
    CHECK(f2_bit(f.u.row[i], i) && f2_bit(f.l.row[i], i));
  CHECK(f2_equal(f2_multiply(second, first), a));
  CHECK(f2_equal(first, f2_multiply(f2_multiply(r, f.l), f.p)));
  CHECK(f2_equal(second, f2_multiply(f.u, r)));
  for (int tile = 0; tile <= n; tile++) {
    uint64_t columns = 0, named = 0;
    CHECK(f2_tile_columns(second, tile, &columns));
    CHECK_EQ_U64(columns, f2_mask(n) & ~f2_mask(n - tile));  // n-tile .. n-1
    CHECK(tiled_by_definition(second, tile, columns));
    for (int j = n - tile; j < n; j++)
      named |= f.p.row[j];  // p(n-tile) .. p(n-1)
    CHECK(f2_tile_columns(first, tile, &columns) && columns == named);
    CHECK(tiled_by_definition(first, tile, columns));
  }
}

TEST(factors_of_small_matrices) {
  for (int n = 0; n <= 4; n++)
    for (uint64_t code = 0; code < (uint64_t)1 << (n * n); code += n == 4 ? 5 : 1) {
      f2_matrix a = f2_zero(n, n);
      for (int i = 0; i < n; i++)
        a.row[i] = (code >> (n * i)) & f2_mask(n);
      check_factors(a);
    }
}

TEST(factors_of_any_size) {
  state = 15;
  f2_ulp f;
  f2_matrix first, second;
  FOR_SIZES(n) {
    check_factors(f2_identity(n));
    check_factors(f2_bit_reversal(n));
    REPEAT(3) {
      int source[F2_MAX];
      random_order(n, source);
      check_factors(random_matrix(n, n));
      check_factors(random_invertible(n));
      check_factors(f2_permutation(n, source));
      if (n > 0)
        check_factors(random_singular(n));
    }
    // A product u l needs no permutation.
    f2_matrix u = f2_identity(n), l = f2_identity(n);
    for (int i = 0; i < n; i++) {
      l.row[i] |= bits(i);
      u.row[i] |= bits(n) & ~f2_mask(i);
    }
    CHECK(f2_factor_ulp(f2_multiply(u, l), &f) && f2_equal(f.p, f2_identity(n)));
    CHECK(f2_equal(f.u, u) && f2_equal(f.l, l));
  }
  CHECK(!f2_factor_ulp(f2_zero(2, 3), &f) && !f2_factor_tiled(f2_zero(3, 2), &first, &second));
}

// `bmmc A c` is two tiled permutations; the constant goes with the second.
TEST(factors_move_arrays) {
  state = 16;
  for (int n = 0; n <= MOST_BITS; n++) {
    f2_affine f = random_affine(n), first = f2_affine_identity(n), second = {.c = f.c};
    CHECK(f2_factor_tiled(f.a, &first.a, &second.a));
    array in = random_array(n);
    CHECK(same(n, bmmc(second, n, bmmc(first, n, in)), bmmc(f, n, in)));
  }
}

TEST(tile_columns) {
  for (uint64_t code = 0; code < 512; code++) {
    f2_matrix a = f2_zero(3, 3);
    for (int i = 0; i < 3; i++)
      a.row[i] = (code >> (3 * i)) & 7;
    for (int tile = 0; naive_rank(a) == 3 && tile <= 3; tile++) {
      uint64_t found = 0;
      int ways = 0;
      for (uint64_t columns = 0; columns < 8; columns++)
        if (tiled_by_definition(a, tile, columns)) {
          found = columns;
          ways++;
        }
      uint64_t columns = 99;
      CHECK(ways <= 1 && f2_tile_columns(a, tile, &columns) == (ways == 1));
      CHECK_EQ_U64(columns, ways == 1 ? found : 99);
    }
  }
}

// ---- subspaces -------------------------------------------------------------------------------

TEST(space_invariants) {
  f2_space v = f2_span(3, 2, (uint64_t[]){6, 5});
  CHECK(f2_space_problem(v) == NULL && v.dimension == 2 && v.basis[0] == 3 && v.basis[1] == 5);
  CHECK_EQ_U64(f2_space_leading(v), 6);
  const f2_space wrong[] = {
      {.n = -1},
      {.n = F2_MAX + 1},
      {.n = 2, .dimension = 3, .basis = {1, 2, 4}},
      {.n = 2, .dimension = 1},
      {.n = 2, .dimension = 1, .basis = {4}},
      {.n = 3, .dimension = 2, .basis = {4, 2}},
      {.n = 3, .dimension = 2, .basis = {2, 6}},
      {.n = 3, .dimension = 2, .basis = {2, 3}},
      {.n = 3, .dimension = 1, .basis = {2, 4}},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    CHECK(f2_space_problem(wrong[i]) != NULL);
}

static bool naive_contains(uint64_t v, uint64_t w) { return (w & ~v) == 0; }

// Elements, cosets and coordinates of one subspace of F_2^n, n <= 6.
static void check_space(f2_space v) {
  uint64_t set = set_of(v), free = f2_mask(v.n) & ~f2_space_leading(v), previous = 0;
  CHECK(f2_space_problem(v) == NULL);
  CHECK(__builtin_popcountll(set) == 1 << v.dimension);
  for (uint64_t x = 0; x < (uint64_t)1 << v.n; x++) {
    uint64_t coset = set_shift(set, x), least = f2_space_reduce(v, x);
    CHECK(f2_space_has(v, x) == in_set(set, x));
    CHECK_EQ_U64(least, (uint64_t)f2_lsb(coset));
    CHECK_EQ_U64(f2_deposit(free, f2_extract(free, least)), least);
  }
  for (uint64_t k = 0; k < (uint64_t)1 << v.dimension; k++) {
    uint64_t x = f2_space_element(v, k), chosen = 0;
    CHECK(in_set(set, x) && (k == 0 ? x == 0 : x > previous));
    CHECK_EQ_U64(f2_space_coordinates(v, x), k);
    CHECK(f2_coordinates(v.dimension, v.basis, x, &chosen) && chosen == k);
    previous = x;
  }
  uint64_t orthogonal = 0;
  for (uint64_t f = 0; f < (uint64_t)1 << v.n; f++) {
    bool zero = true;
    for (uint64_t x = 0; x < (uint64_t)1 << v.n; x++)
      zero = zero && !(in_set(set, x) && f2_parity(f & x));
    orthogonal |= zero ? (uint64_t)1 << f : 0;
  }
  CHECK_EQ_U64(set_of(f2_space_orthogonal(v)), orthogonal);
}

// What two subspaces have to do with one another; all by sets.
static void check_pair(f2_space v, f2_space w) {
  uint64_t vs = set_of(v), ws = set_of(w);
  f2_space both = f2_space_intersection(v, w), sum = f2_space_sum(v, w);
  f2_space rest = f2_space_complement(w, v);
  uint64_t rs = set_of(rest);
  CHECK(set_of(both) == (vs & ws) && set_of(sum) == set_sum(vs, ws));
  CHECK(f2_space_problem(both) == NULL && f2_space_problem(sum) == NULL);
  CHECK(f2_space_problem(rest) == NULL);
  CHECK(f2_space_contains(v, w) == naive_contains(vs, ws));
  CHECK(f2_space_equal(v, w) == (vs == ws));
  CHECK(naive_contains(vs, rs) && (rs & ws) == 1 && set_sum(rs, ws) == set_sum(vs, ws));
}

// v = p + k = q + k, directly: that k exists exactly when the dimensions agree, and that the memory
// whose banks are v / k sees p and q without conflict.
static void check_common_complement(f2_space p, f2_space q, f2_space v) {
  f2_space kept = f2_space_units(v.n, 0), k = kept;
  bool exists = f2_space_common_complement(p, q, v, &k);
  CHECK(exists == (p.dimension == q.dimension));
  if (!exists) {
    CHECK(f2_space_equal(k, kept));
    return;
  }
  CHECK(f2_space_problem(k) == NULL && f2_space_contains(v, k));
  CHECK(k.dimension + p.dimension == v.dimension);
  CHECK(f2_space_intersection(k, p).dimension == 0 && f2_space_intersection(k, q).dimension == 0);
  CHECK(f2_space_equal(f2_space_sum(k, p), v) && f2_space_equal(f2_space_sum(k, q), v));
  f2_space forms = f2_space_orthogonal(k);
  f2_matrix bank = f2_from_rows(forms.dimension, v.n, forms.basis);
  CHECK(naive_rank(f2_multiply(bank, f2_from_columns(v.n, p.dimension, p.basis))) == p.dimension);
  CHECK(naive_rank(f2_multiply(bank, f2_from_columns(v.n, q.dimension, q.basis))) == q.dimension);
}

// There are 1, 2, 5, 16, 67, 374 subspaces (Galois numbers).
TEST(all_small_spaces) {
  const int galois[] = {1, 2, 5, 16, 67, 374};
  for (int n = 0; n <= 5; n++) {
    int count = find_spaces(n);
    CHECK(count == galois[n]);
    for (int i = 0; i < count; i++)
      check_space(spaces[i]);
    for (int i = 0; i < count; i++)
      for (int j = n == 5 ? i % 5 : 0; j < count; j += n == 5 ? 5 : 1)
        check_pair(spaces[i], spaces[j]);
    for (int h = 0; h < count && n <= 4; h++)
      for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
          if (naive_contains(set_of(spaces[h]), set_of(spaces[i])) &&
              naive_contains(set_of(spaces[h]), set_of(spaces[j])))
            check_common_complement(spaces[i], spaces[j], spaces[h]);
  }
}

TEST(random_spaces_of_six_bits) {
  state = 17;
  REPEAT(300) {
    uint64_t vectors[8];
    int count = below(9);
    for (int i = 0; i < count; i++)
      vectors[i] = bits(6) & bits(6);
    f2_space v = f2_span(6, count, vectors);
    CHECK_EQ_U64(set_of(v), set_span(count, vectors));
    check_space(v);
    check_pair(v, random_space(6, below(7)));
    f2_matrix a = random_matrix(below(7), 6);
    uint64_t image = 0;
    for (uint64_t x = 0; x < 64; x++)
      image |= in_set(set_of(v), x) ? (uint64_t)1 << f2_apply(a, x) : 0;
    CHECK_EQ_U64(set_of(f2_space_image(a, v)), image);
  }
}

TEST(canonical_form_is_canonical) {
  state = 18;
  FOR_SIZES(n) REPEAT(6) {
    int dimension = below(n + 1);
    f2_space v = random_space(n, dimension), again = f2_space_zero(n);
    CHECK(v.dimension == dimension && f2_space_problem(v) == NULL);
    f2_matrix mix = random_invertible(dimension);
    f2_matrix other = f2_multiply(mix, f2_from_rows(dimension, n, v.basis));
    for (int i = 0; i < dimension; i++)
      CHECK(f2_space_insert(&again, other.row[i]));
    for (int i = 0; i < dimension; i++)
      CHECK(!f2_space_insert(&again, other.row[i]));
    CHECK(f2_space_equal(v, again) && memcmp(&v, &again, sizeof v) == 0);
    uint64_t x = bits(n), y = bits(n), k = bits(dimension), chosen = 0;
    uint64_t element = f2_space_element(v, k);
    CHECK(f2_space_coordinates(v, element) == k);
    CHECK(f2_coordinates(dimension, other.row, element, &chosen));
    uint64_t sum = 0;
    for (int i = 0; i < dimension; i++)
      sum ^= f2_bit(chosen, i) ? other.row[i] : 0;
    CHECK_EQ_U64(sum, element);
    CHECK(f2_space_reduce(v, x ^ element) == f2_space_reduce(v, x));
    CHECK((f2_space_reduce(v, x) == f2_space_reduce(v, y)) == f2_space_has(v, x ^ y));
    chosen = 5;
    CHECK(f2_coordinates(dimension, other.row, x, &chosen) == f2_space_has(v, x));
    CHECK(f2_space_has(v, x) || chosen == 5);
    // A complement in the full space is spanned by unit vectors.
    f2_space units = f2_space_complement(v, f2_space_full(n));
    CHECK(units.dimension == n - dimension && f2_space_sum(v, units).dimension == n);
    CHECK(f2_space_equal(units, f2_space_units(n, f2_space_leading(units))));
  }
}

TEST(coordinates_in_a_dependent_list) {
  uint64_t chosen = 0;
  CHECK(f2_coordinates(4, (uint64_t[]){3, 5, 6, 8}, 14, &chosen) && chosen == 11);
  CHECK(!f2_coordinates(4, (uint64_t[]){3, 5, 6, 8}, 1, &chosen) && chosen == 11);
  CHECK(f2_coordinates(0, NULL, 0, &chosen) && chosen == 0);
  CHECK(!f2_coordinates(0, NULL, 1, &chosen));
}

TEST(lattice_of_large_spaces) {
  state = 19;
  FOR_SIZES(n) REPEAT(6) {
    // Two spaces that share a random part.
    f2_matrix a = random_invertible(n);
    int shared = below(n + 1), left = below(n - shared + 1), right = below(n - shared - left + 1);
    f2_space common = f2_span(n, shared, a.row);
    f2_space v = f2_span(n, shared + left, a.row);
    f2_space w = f2_space_sum(common, f2_span(n, right, a.row + shared + left));
    f2_space sum = f2_space_sum(v, w), rest = f2_space_complement(w, v);
    CHECK(f2_space_equal(f2_space_intersection(v, w), common));
    CHECK(f2_space_equal(sum, f2_span(n, shared + left + right, a.row)));
    CHECK(f2_space_contains(sum, v) && f2_space_contains(v, common));
    CHECK(f2_space_contains(v, w) == (right == 0));
    CHECK(rest.dimension == left && f2_space_contains(v, rest));
    CHECK(f2_space_equal(f2_space_sum(rest, w), sum));
    // Orthogonals swap sum and intersection.
    f2_space not_v = f2_space_orthogonal(v), not_w = f2_space_orthogonal(w);
    CHECK(not_v.dimension == n - v.dimension && f2_space_equal(f2_space_orthogonal(not_v), v));
    CHECK(f2_space_equal(f2_space_orthogonal(sum), f2_space_intersection(not_v, not_w)));
    CHECK(f2_space_equal(f2_space_orthogonal(common), f2_space_sum(not_v, not_w)));
    // Images under an invertible map keep everything.
    f2_matrix m = random_invertible(n);
    CHECK(f2_space_equal(f2_space_intersection(f2_space_image(m, v), f2_space_image(m, w)),
                         f2_space_image(m, common)));
    CHECK(f2_space_equal(f2_space_image(f2_identity(n), v), v));
    CHECK(f2_space_equal(f2_space_image(m, f2_space_full(n)), f2_image(m)));
  }
}

// ---- lanes, banks, lines and tiles -----------------------------------------------------------

TEST(common_complements_of_large_spaces) {
  state = 20;
  FOR_SIZES(n) REPEAT(10) {
    f2_matrix a = random_invertible(n);
    int d = below(n + 1), size = below(d + 1), shared = below(size + 1);
    f2_space v = f2_span(n, d, a.row), p = f2_span(n, shared, a.row), q = p;
    while (p.dimension < size)
      f2_space_insert(&p, f2_space_element(v, bits(d)));
    while (q.dimension < size)
      f2_space_insert(&q, f2_space_element(v, bits(d)));
    check_common_complement(p, q, v);
    check_common_complement(p, p, v);
    if (size < d) {
      while (q.dimension == size)
        f2_space_insert(&q, f2_space_element(v, bits(d)));
      check_common_complement(p, q, v);
    }
  }
  // A transpose of a 32 x 32 tile: rows written, columns read.
  check_common_complement(f2_space_units(10, 0x1f), f2_space_units(10, 0x3e0), f2_space_full(10));
}

// Any bmmc is one coalesced pass when the tile holds E_t + A^-1 E_t, of dimension at most 2 t: then
// the images of a tile's coset are whole lines.
TEST(one_pass_theorem) {
  state = 21;
  FOR_SIZES(n) for (int t = 0; t <= n && t <= 6; t++) {
    f2_affine f = random_affine(n);
    f2_space line = f2_space_units(n, f2_mask(t));
    f2_space tile = f2_space_sum(line, f2_space_image(invert(f.a), line));
    CHECK(tile.dimension <= 2 * t);
    CHECK(f2_space_contains(f2_space_image(f.a, tile), line));
    if (n > 8)
      continue;
    bool stored[1 << 8] = {false};
    for (uint64_t k = 0; k < (uint64_t)1 << tile.dimension; k++)
      stored[f2_affine_apply(f, f2_space_element(tile, k))] = true;
    for (uint64_t x = 0; x < (uint64_t)1 << n; x++)
      CHECK(stored[x] == stored[x >> t << t]);
  }
}

// A complement of the tile on which given forms vanish exists iff their rank on the tile is their
// rank; then f2_space_complement finds it.
TEST(complement_where_forms_vanish) {
  state = 22;
  FOR_SIZES(n) REPEAT(6) {
    f2_space tile = random_space(n, below(n + 1));
    f2_matrix forms = random_matrix(below(tile.dimension + 2 < n ? tile.dimension + 2 : n + 1), n);
    f2_matrix on_tile = f2_multiply(forms, f2_from_columns(n, tile.dimension, tile.basis));
    f2_space kernel = f2_kernel(forms), rest = f2_space_complement(tile, kernel);
    bool expected = naive_rank(on_tile) == naive_rank(forms);
    CHECK(expected == (tile.dimension + rest.dimension == n));
    CHECK(f2_space_contains(kernel, rest) && f2_space_intersection(rest, tile).dimension == 0);
  }
}

TEST(echelon_relations) {
  state = 23;
  f2_echelon e = {0};
  uint64_t vectors[64], relation = 9;
  for (int i = 0; i < 64; i++) {
    vectors[i] = next() & next() & next();
    if (f2_echelon_insert(&e, vectors[i], f2_unit(i), &relation))
      continue;
    uint64_t sum = 0;
    for (int j = 0; j < 64; j++)
      sum ^= f2_bit(relation, j) ? vectors[j] : 0;
    CHECK(sum == 0 && f2_msb(relation) == i);
  }
  for (int i = 0; i < 64; i++)
    CHECK(e.vector[i] == 0 || f2_msb(e.vector[i]) == i);
  CHECK(!f2_echelon_insert(&e, vectors[0] ^ vectors[1], 0, NULL));
}

TEST_MAIN()
