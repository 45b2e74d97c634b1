// core/permutation/recognise.h: permutations of each kind, made at random, are recognised; with two
// elements exchanged they are not, or as another kind that is true as well.
#include "core/number.h"
#include "core/permutation/index_bits.h"
#include "core/permutation/recognise.h"
#include "tests/test.h"
#include "tests/unit/splitmix.h"

#include <stdlib.h>

enum { MOST = 5000 };
static uint64_t below(uint64_t n) { return random_u64() % n; }

typedef struct permutation {
  uint64_t count, place[MOST];
} permutation;

// The same as places of `size` bytes.
static movement recognise(const permutation *p, size_t size) {
  static uint64_t room[MOST];
  unsigned char *bytes = (unsigned char *)room;
  for (uint64_t i = 0; i < p->count; i++)
    memcpy(bytes + i * size, &p->place[i], size);
  return recognise_movement(&(place_list){bytes, size, p->count});
}

static size_t any_size(const permutation *p) {
  static const size_t sizes[] = {2, 4, 8, 1};
  return sizes[below(p->count <= 256 ? 4 : 3)];
}

static void swap_places(permutation *p, uint64_t i, uint64_t k) {
  uint64_t place = p->place[i];
  p->place[i] = p->place[k];
  p->place[k] = place;
}

static void shuffle_places(permutation *p, uint64_t first, uint64_t count, uint64_t step) {
  for (uint64_t i = count; i > 1; i--)
    swap_places(p, first + (i - 1) * step, first + below(i) * step);
}

static permutation identity(uint64_t count) {
  permutation p = {.count = count};
  for (uint64_t i = 0; i < count; i++)
    p.place[i] = i;
  return p;
}

static uint64_t exchanged(const uint64_t *d, uint64_t i) {
  uint64_t c = i / d[3] % d[2], b = i / d[3] / d[2] % d[1];
  return ((i / d[3] / d[2] / d[1] * d[2] + c) * d[1] + b) * d[3] + i % d[3];
}

// What it is said to do is what it does.
static bool is_true(const permutation *p, const movement *m) {
  const uint64_t *d = m->dims;
  bool good = m->kind != MOVES_BY_EXCHANGE || product_of(d, 4) == p->count;
  for (uint64_t i = 0; i < p->count && good; i++) {
    uint64_t to = p->place[i];
    switch (m->kind) {
    case MOVES_BY_ROTATION:
      good = to == (i + m->by) % p->count;
      break;
    case MOVES_BY_AFFINE_MAP:
      good = to == f2_affine_apply(m->map, i);
      break;
    case MOVES_BY_EXCHANGE:
      good = to == exchanged(d, i);
      break;
    case MOVES_IN_ROWS:
      good = to / m->width == i / m->width;
      break;
    case MOVES_IN_COLUMNS:
      good = to % m->width == i % m->width;
      break;
    case MOVES_ANYHOW:
      break;
    }
  }
  return good;
}

// A simple movement holds of its places, in any parts, and of no others; its inverse takes elements
// back.
static void check_simple(const permutation *p, const movement *m) {
  permutation other = *p;
  movement back = movement_inverse(m, p->count);
  place_list list = {p->place, sizeof *p->place, p->count};
  uint64_t cut = below(p->count + 1), one = p->count ? below(p->count) : 0;
  CHECK(movement_holds(m, &list, 0, cut) && movement_holds(m, &list, cut, p->count));
  for (uint64_t i = 0; i < p->count; i++)
    REQUIRE(movement_place(&back, p->count, p->place[i]) == i);
  if (p->count == 0)
    return;
  other.place[one] = (other.place[one] + 1) % p->count + (p->count == 1);
  list.places = other.place;
  CHECK(!movement_holds(m, &list, 0, cut) || !movement_holds(m, &list, cut, p->count));
}

// Recognised as that kind or one that is tried before it; and what is said is true.
static movement check_kind(const permutation *p, movement_kind kind) {
  movement m = recognise(p, any_size(p));
  CHECK(m.kind <= kind);
  CHECK(is_true(p, &m));
  if (movement_is_simple(&m))
    check_simple(p, &m);
  return m;
}

static void check_damaged(permutation *p) {
  if (p->count > 1)
    swap_places(p, below(p->count), below(p->count));
  check_kind(p, MOVES_ANYHOW);
}

TEST(rotations) {
  static const uint64_t counts[] = {0, 1, 2, 3, 7, 64, 127, 129, 1000, 4096};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    permutation p = identity(counts[k]);
    uint64_t by = p.count ? below(p.count) : 0;
    for (uint64_t i = 0; i < p.count; i++)
      p.place[i] = (i + by) % p.count;
    movement m = check_kind(&p, MOVES_BY_ROTATION);
    CHECK_EQ_U64(m.by, by);
    check_damaged(&p);
  }
}

// Places in a row that begin behind the array's end are no places of it.
TEST(rows_of_places_outside) {
  static const uint64_t counts[] = {1, 2, 3, 4, 64, 1000},
                        firsts[] = {1, 5, 1000, UINT64_C(1) << 40};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
    for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++) {
      permutation p = identity(counts[k]);
      for (uint64_t i = 0; i < p.count; i++)
        p.place[i] = counts[k] + firsts[f] - 1 + i;
      CHECK_EQ_U64(recognise(&p, sizeof(uint64_t)).kind, MOVES_ANYHOW);
    }
}

TEST(affine_maps) {
  for (int n = 0; n <= 12; n++) {
    f2_affine map = {f2_identity(n), n ? below(f2_unit(n)) : 0};
    for (int k = 0; k < 4 * n; k++) {
      uint64_t i = below((uint64_t)n), j = below((uint64_t)n);
      map.a.row[i] ^= i == j ? 0 : map.a.row[j];
    }
    permutation p = identity(f2_unit(n));
    for (uint64_t i = 0; i < p.count; i++)
      p.place[i] = f2_affine_apply(map, i);
    check_kind(&p, MOVES_BY_AFFINE_MAP);
    check_damaged(&p);
  }
}

TEST(exchanges) {
  static const uint64_t dims[][4] = {{1, 3, 4, 1},  {1, 7, 700, 1}, {1, 700, 7, 1},
                                     {5, 3, 11, 1}, {1, 31, 33, 4}, {4, 6, 10, 15},
                                     {3, 2, 2, 1},  {1, 61, 67, 1}, {2, 13, 1, 5}};
  for (size_t k = 0; k < sizeof dims / sizeof *dims; k++) {
    const uint64_t *d = dims[k];
    permutation p = identity(product_of(d, 4));
    for (uint64_t i = 0; i < p.count; i++)
      p.place[i] =
          ((i / d[3] / d[2] / d[1] * d[2] + i / d[3] % d[2]) * d[1] + i / d[3] / d[2] % d[1]) *
              d[3] +
          i % d[3];
    movement m = check_kind(&p, MOVES_BY_EXCHANGE);
    if (d[1] > 1 && d[2] > 1 && CHECK(m.kind == MOVES_BY_EXCHANGE))
      for (int i = 0; i < 4; i++)
        CHECK_EQ_U64(m.dims[i], d[i]);
    check_damaged(&p);
  }
}

TEST(rows_and_columns) {
  static const uint64_t shapes[][2] = {{100, 10}, {2, 2500}, {625, 8}, {3, 1009}, {64, 64}};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    uint64_t rows = shapes[k][0], width = shapes[k][1];
    permutation p = identity(rows * width), q = p;
    for (uint64_t r = 0; r < rows; r++)
      shuffle_places(&p, r * width, width, 1);
    for (uint64_t c = 0; c < width; c++)
      shuffle_places(&q, c, rows, width);
    movement m = check_kind(&p, MOVES_IN_ROWS);
    CHECK_EQ_U64(m.width, width);
    m = check_kind(&q, MOVES_IN_COLUMNS);
    CHECK(m.kind != MOVES_IN_COLUMNS || m.width % width == 0);
    check_damaged(&p);
    check_damaged(&q);
  }
}

TEST(others) {
  for (int k = 0; k < 200; k++) {
    permutation p = identity(1 + below(300));
    shuffle_places(&p, 0, p.count, 1);
    check_kind(&p, MOVES_ANYHOW);
  }
  // No permutations: only rows and columns, and nothing, may be said of them.
  for (int k = 0; k < 500; k++) {
    permutation p = identity(1 + below(40));
    bool seen[64] = {false}, all = true;
    for (uint64_t i = 0; i < p.count; i++)
      p.place[i] = below(8) ? p.place[i] : below(p.count + 5);
    for (uint64_t i = 0; i < p.count; i++)
      all &= p.place[i] < p.count && !seen[p.place[i]], seen[p.place[i]] = true;
    movement m = recognise(&p, 4);
    CHECK(all || m.kind >= MOVES_IN_ROWS);
    CHECK(is_true(&p, &m) || (m.kind == MOVES_IN_ROWS && !all));
  }
}

// ---- integers whose bits are affine forms of an index ------------------------------------------

enum { BITS = 5, POOL = 12 };

static bool is_result(scalar_op op, const index_bits *x, const index_bits *y, const index_bits *z) {
  for (uint64_t i = 0; i < 1 << BITS; i++) {
    int64_t a = (int64_t)f2_affine_apply(*x, i), b = (int64_t)f2_affine_apply(*y, i), result;
    scalar_apply(op, SCALAR_I64, 1, &a, &b, &result);
    if (result != (int64_t)f2_affine_apply(*z, i))
      return false;
  }
  return true;
}

// The index, constants, and what operations make of two of the pool.
TEST(operations_on_index_bits) {
  static const scalar_op ops[] = {OP_XOR, OP_AND, OP_OR,  OP_ADD, OP_SUB,
                                  OP_MUL, OP_DIV, OP_MOD, OP_SHL, OP_SHR};
  size_t accepted[SCALAR_OP_COUNT] = {0};
  index_bits pool[POOL];
  for (int tried = 0; tried < 40000; tried++) {
    if (tried % 50 == 0)
      for (int k = 0; k < POOL; k++) {
        uint64_t bits = below(2) ? UINT64_MAX >> 1 : 0x3f, c = below(3) ? below(70) : random_u64();
        pool[k] = (index_bits){f2_zero(F2_MAX, BITS), c & bits};
        for (int i = 0; i < BITS && k < 2; i++)
          pool[k].a.row[i] = f2_unit(i);
        pool[0].c = 0;
      }
    index_bits *x = &pool[below(POOL)], *y = &pool[below(POOL)], z;
    scalar_op op = ops[below(sizeof ops / sizeof *ops)];
    if (!index_bits_apply(op, x, y, &z))
      continue;
    if (!CHECK(is_result(op, x, y, &z)))
      break;
    accepted[op]++;
    pool[1 + below(POOL - 1)] = z;
  }
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    CHECK(accepted[ops[i]] >= 20);
  CHECK(!index_bits_apply(OP_NEG, &pool[0], &pool[0], &pool[1]));
  CHECK(!index_bits_apply(OP_ADD, &pool[0], &pool[0], &pool[1]));
}

TEST_MAIN()
