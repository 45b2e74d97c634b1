// Properties of vectors, matrices and maps of core/f2.h, against independent recomputation.
#include "tests/unit/f2_draw.h"
#include "tests/unit/f2_more.h"

#include <string.h>

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

TEST_MAIN()
