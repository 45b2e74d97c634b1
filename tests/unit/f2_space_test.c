// Properties of subspaces of core/f2.h, against sets of vectors and independent recomputation.
#include "tests/unit/f2_draw.h"
#include "tests/unit/f2_more.h"

#include <string.h>

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
