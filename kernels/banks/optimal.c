// The layout whose banks are the cosets of a subspace K of F_2^n, of dimension n - m: two addresses
// collide exactly when their sum lies in K, so K has to avoid the sums of every two addresses of an
// access. Conflict-free are
//
//   one or two lane subspaces  always: of two subspaces of dimension m there is a common complement
//                              (f2_space_common_complement), and smaller ones lie in such
//   others                     if the search below finds a K that no sum is in, or another linear
//                              layout of the table has none; else it is the one with the fewest
//
//   n = 4, m = 2, rows <e_0 e_1> and columns <e_2 e_3>:  K = <e_0 + e_2, e_1 + e_3>,
//   bank bits a_0 + a_2 and a_1 + a_3, which is fixed-xor
//
// The search counts, for each vector d, how many pairs of addresses have the sum d. What K costs is
// the count of its vectors. K grows by one vector v at a time, a cheapest one; then F_2^n is FOLDED
// along v: cosets of <v> become the vectors, their counts added, and the next vector is looked for
// in a space of half the size. Equal choices are made at random, from a fixed seed, in some rounds.
#include "core/random.h"
#include "kernels/banks/making.h"

enum {
  FOLD_BITS = 22,
  ROUNDS = 64,
  PASSES = 8,  // over all sums in a round, about: the first fold and halves of it, and the searches
};

// ---- lane subspaces ----------------------------------------------------------------------------

// Larger of two nested subspaces is enough. False: there are more than two to serve, or an access
// is no subspace.
static bool two_subspaces(const bank_trace *distinct, int n, f2_space out[2]) {
  int count = 0;
  out[0] = out[1] = f2_space_zero(n);
  for (size_t i = distinct->accesses.count; i-- > 0;) {  // the largest first
    const bank_access *access = &distinct->accesses.items[i];
    f2_space own = f2_space_zero(n);
    int in = 0;
    for (uint32_t t = 0; t < access->count; t++)
      f2_space_insert(&own, access->address[t]);
    if (own.dimension >= 32 || access->count != f2_unit(own.dimension))
      return false;
    while (in < count && !f2_space_contains(out[in], own))
      in++;
    if (in == 2)
      return false;
    if (in == count)
      out[count++] = own;
  }
  return true;
}

static bool widen_space(f2_space *v, int m) {
  for (int i = 0; i < v->n && v->dimension < m; i++)
    f2_space_insert(v, f2_unit(i));
  return v->dimension == m;
}

// Rows that vanish on k alone: the bank bits.
static f2_matrix bank_of(f2_space k) {
  f2_space rows = f2_space_orthogonal(k);
  return f2_from_rows(rows.dimension, rows.n, rows.basis);
}

static bool find_complement(const bank_trace *distinct, int n, int m, f2_matrix *bank) {
  f2_space lanes[2], k;
  if (!two_subspaces(distinct, n, lanes) || !widen_space(&lanes[0], m) ||
      !widen_space(&lanes[1], m) ||
      !f2_space_common_complement(lanes[0], lanes[1], f2_space_full(n), &k))
    return false;
  *bank = bank_of(k);
  return true;
}

// ---- folding -----------------------------------------------------------------------------------

typedef struct folding {
  f2_space sums;            // the span of all addresses
  uint64_t *pairs;          // by coordinates in it: so many pairs have that sum
  uint64_t *counts;         // of cosets, as far as it is folded
  int dimension;            // ... to so many coordinates
  uint64_t vector[F2_MAX];  // the vector of each
} folding;

// A cheapest vector other than 0, looking from `start` on.
static uint64_t cheapest_vector(const folding *f, uint64_t start) {
  uint64_t last = f2_mask(f->dimension), best = 0;
  for (uint64_t i = 0; i < last; i++) {
    uint64_t v = (start + i) % last + 1;
    if (best == 0 || f->counts[v] < f->counts[best])
      best = v;
    if (f->counts[best] == 0)
      break;
  }
  return best;
}

// Cosets of <v> are numbered by their elements without v's highest bit. Every entry is read before
// another takes its place: a block of 2^(p+1) moves to its lower half's place or further down.
static void fold_along(folding *f, uint64_t v) {
  int p = f2_msb(v);
  uint64_t low = f2_mask(p), half = f2_unit(f->dimension - 1);
  for (uint64_t y = 0; y < half; y++) {
    uint64_t x = (y & low) | (y & ~low) << 1;
    f->counts[y] = f->counts[x] + f->counts[x ^ v];
  }
  f->dimension--;
  memmove(f->vector + p, f->vector + p + 1, (size_t)(f->dimension - p) * sizeof *f->vector);
}

// A subspace K of dimension n - m that has few sums in common with the span of all addresses.
static f2_space complement_by_folding(folding *f, int m, uint64_t start) {
  f2_space k = f2_space_complement(f->sums, f2_space_full(f->sums.n));
  memcpy(f->counts, f->pairs, f2_unit(f->sums.dimension) * sizeof *f->counts);
  memcpy(f->vector, f->sums.basis, sizeof f->vector);
  for (f->dimension = f->sums.dimension; f->dimension > m;) {
    uint64_t v = cheapest_vector(f, start);
    f2_space_insert(&k, f2_combine(f->dimension, f->vector, v));
    fold_along(f, v);
  }
  return k;
}

static uint32_t bank_at(const void *hash, uint64_t address) {
  const f2_matrix *bank = hash;
  uint32_t at = 0;
  for (int b = 0; b < bank->rows; b++)
    at |= (uint32_t)f2_dot(bank->row[b], address) << b;
  return at;
}

uint64_t bank_conflicts_of_matrix(const bank_trace *distinct, const f2_matrix *bank) {
  return bank_layout_conflicts(distinct, UINT32_C(1) << bank->rows, UINT64_MAX, bank_at, bank);
}

// Coordinates are linear: those of a sum are the sum of both.
static void count_pairs(folding *f, const bank_trace *distinct) {
  uint64_t at[BANK_LANES_MAX];
  for (size_t i = 0; i < distinct->accesses.count; i++) {
    const bank_access *access = &distinct->accesses.items[i];
    for (uint32_t t = 0; t < access->count; t++) {
      at[t] = f2_space_coordinates(f->sums, access->address[t]);
      for (uint32_t u = 0; u < t; u++)
        f->pairs[at[t] ^ at[u]] += access->times;
    }
  }
}

// As many as are no more work than a search may be: each passes over all sums some times.
static int rounds_of(int dimension) {
  uint64_t rounds = BANK_LAYOUT_WORK / (PASSES * f2_unit(dimension));
  return rounds < ROUNDS ? (int)rounds : ROUNDS;
}

static bool search_by_folding(arena *a, const bank_trace *distinct, int n, int m, f2_matrix *bank,
                              int *rounds) {
  folding f = {.sums = f2_space_zero(n)};
  uint64_t state = 1, least = UINT64_MAX;
  for (size_t i = 0; i < distinct->accesses.count; i++)
    for (uint32_t t = 0; t < distinct->accesses.items[i].count; t++)
      f2_space_insert(&f.sums, distinct->accesses.items[i].address[t]);
  for (int i = 0; i < n && f.sums.dimension < m; i++)
    f2_space_insert(&f.sums, f2_unit(i));
  if (f.sums.dimension > FOLD_BITS)
    return false;
  f.pairs = NEW_ARRAY(a, uint64_t, f2_unit(f.sums.dimension));
  f.counts = NEW_ARRAY(a, uint64_t, f2_unit(f.sums.dimension));
  count_pairs(&f, distinct);
  *rounds = rounds_of(f.sums.dimension);
  for (int round = 0; round < *rounds && least > 0; round++) {
    f2_matrix found = bank_of(complement_by_folding(&f, m, round ? draw_word(&state) >> 32 : 0));
    uint64_t own = bank_conflicts_of_matrix(distinct, &found);
    if (own < least) {
      least = own;
      *bank = found;
    }
  }
  return true;
}

// ---- the search --------------------------------------------------------------------------------

bank_choice bank_search_optimal(arena *a, const bank_layout_request *r) {
  int n = bank_layout_address_bits(r), m = bank_layout_bank_bits(r), rounds = 0;
  bank_choice best = {.how = ": a common complement", .searched = *r->distinct};
  if (find_complement(r->distinct, n, m, &best.bank)) {
    best.conflicts = bank_conflicts_of_matrix(r->distinct, &best.bank);
    return best;
  }
  // Pairs are counted all over memory; each round computes the banks once.
  bank_layout_work each = {.address = ROUNDS * (uint64_t)(m + 1), .pair = 4};
  best.searched = bank_layout_thinned(a, r->distinct, each);
  bool folded = search_by_folding(a, &best.searched, n, m, &best.bank, &rounds);
  best.conflicts = folded ? bank_conflicts_of_matrix(r->distinct, &best.bank) : UINT64_MAX;
  best.how = best.conflicts > 0 && rounds < ROUNDS
                 ? arena_printf(a, "; %d of %d rounds", rounds, ROUNDS)
                 : "";
  return best;
}
