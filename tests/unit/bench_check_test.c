// How permc bench checks results: sorted, moved, transposed, transformed; and what is wrong by one
// element.
#include "tests/test.h"
#include "tool/bench/suites.h"

#include <math.h>

// Arrays of one part or two, as many as `count` in rows of `row`.
typedef struct parts {
  array given[2], found[2];
  size_t count;
} parts;

static parts parts_of(uint64_t count, uint64_t row) {
  parts p = {.count = 0};
  for (int i = 0; i < 2; i++)
    p.given[i] = p.found[i] = (array){.rank = 2, .dims = {count / row, row}};
  return p;
}

static void add_part(parts *p, scalar_type type, const void *given, const void *found) {
  array *g = &p->given[p->count], *f = &p->found[p->count++];
  g->type = f->type = type;
  g->data = (void *)(uintptr_t)given;
  f->data = (void *)(uintptr_t)found;
}

static bench_error rounding;  // of the last check

static bool right_parts(const bench_case *c, const parts *p) {
  text room = {0};
  const char *wrong = bench_check(c, p->given, p->found, p->count, &room, &rounding);
  text_free(&room);
  return !wrong;
}

static bool right(const bench_case *c, scalar_type type, const void *given, const void *found,
                  uint64_t count, uint64_t row) {
  parts p = parts_of(count, row);
  add_part(&p, type, given, found);
  return right_parts(c, &p);
}

TEST(sorted_is_checked) {
  const bench_case c = {.property = BENCH_SORTED};
  const uint32_t given[] = {3, 1, 2, 7, 7, 0}, found[] = {1, 2, 3, 0, 7, 7};
  const uint32_t unsorted[] = {1, 3, 2, 0, 7, 7}, other[] = {1, 2, 3, 0, 0, 7};
  const uint32_t across[] = {0, 1, 2, 3, 7, 7};
  CHECK(right(&c, SCALAR_U32, given, found, 6, 3));
  CHECK(!right(&c, SCALAR_U32, given, unsorted, 6, 3));
  CHECK(!right(&c, SCALAR_U32, given, other, 6, 3));
  CHECK(!right(&c, SCALAR_U32, given, across, 6, 3));
  CHECK(right(&c, SCALAR_U32, given, across, 6, 6));
}

// In the total order, to the bit: f32 with both zeros and two NaN.
TEST(sorted_floats_are_checked) {
  const bench_case c = {.property = BENCH_SORTED};
  const uint32_t nan = 0x7fc00001, minus_nan = 0xffc00002, zero = 0, minus_zero = 0x80000000;
  const uint32_t one = 0x3f800000, minus_two = 0xc0000000, infinity = 0x7f800000;
  const uint32_t given[] = {nan, one, zero, minus_nan, minus_zero, minus_two, infinity, one};
  const uint32_t found[] = {minus_two, minus_zero, zero, one, one, infinity, nan, minus_nan};
  uint32_t changed[8];
  CHECK(right(&c, SCALAR_F32, given, found, 8, 8));
  CHECK(!right(&c, SCALAR_U32, given, found, 8, 8));
  for (int i = 0; i < 8; i++) {
    memcpy(changed, found, sizeof changed);
    changed[i] ^= 1;
    CHECK(!right(&c, SCALAR_F32, given, changed, 8, 8));
    memcpy(changed, found, sizeof changed);
    changed[i] = found[(i + 1) % 8];
    changed[(i + 1) % 8] = found[i];
    CHECK(right(&c, SCALAR_F32, given, changed, 8, 8) == (i == 3 || i == 6));  // equal ones
  }
}

TEST(sorted_numbers_of_each_width_are_checked) {
  const bench_case c = {.property = BENCH_SORTED};
  const int8_t i8[] = {-128, -1, 0, 127};
  const uint16_t u16[] = {0, 255, 256, 65535};
  const int64_t i64[] = {INT64_MIN, -1, 0, INT64_MAX};
  const double f64[] = {-INFINITY, -1e-300, 0, NAN};
  const struct {
    scalar_type type;
    const void *sorted;
  } table[] = {{SCALAR_I8, i8}, {SCALAR_U16, u16}, {SCALAR_I64, i64}, {SCALAR_F64, f64}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    size_t size = scalar_types[table[i].type].size;
    char swapped[32];
    memcpy(swapped, table[i].sorted, 4 * size);
    memcpy(swapped, (const char *)table[i].sorted + size, size);
    memcpy(swapped + size, table[i].sorted, size);
    CHECK(right(&c, table[i].type, swapped, table[i].sorted, 4, 4));
    CHECK(!right(&c, table[i].type, swapped, swapped, 4, 4));
  }
}

// By the key alone; each key keeps its value, also where keys are equal.
TEST(sorted_pairs_are_checked) {
  const bench_case c = {.property = BENCH_SORTED};
  const uint32_t keys[] = {5, 2, 5, 1}, values[] = {10, 20, 30, 40}, sorted[] = {1, 2, 5, 5};
  static const struct {
    uint32_t values[4];
    bool right;
  } table[] = {{{40, 20, 10, 30}, true},  {{40, 20, 30, 10}, true},  {{20, 40, 10, 30}, false},
               {{10, 20, 30, 40}, false}, {{40, 20, 10, 10}, false}, {{40, 10, 20, 30}, false}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    parts p = parts_of(4, 4);
    add_part(&p, SCALAR_U32, keys, sorted);
    add_part(&p, SCALAR_U32, values, table[i].values);
    CHECK(right_parts(&c, &p) == table[i].right);
  }
  parts p = parts_of(4, 4);  // all is there, but in no order
  add_part(&p, SCALAR_U32, keys, keys);
  add_part(&p, SCALAR_U32, values, values);
  CHECK(!right_parts(&c, &p));
}

// Each row by itself; elements of no row are not looked at.
TEST(ragged_is_checked) {
  const bench_case c = {.property = BENCH_RAGGED};
  int64_t offsets[] = {1, 1, 4, 6};
  uint32_t keys[] = {9, 3, 1, 2, 7, 0, 5}, good[] = {9, 1, 2, 3, 0, 7, 5};
  uint32_t unsorted[] = {9, 1, 3, 2, 0, 7, 5}, across[] = {9, 0, 1, 2, 3, 7, 5};
  const array given[] = {{.type = SCALAR_I64, .rank = 1, .dims = {4}, .data = offsets},
                         {.type = SCALAR_U32, .rank = 1, .dims = {7}, .data = keys}};
  const struct {
    uint32_t *keys;
    bool right;
  } table[] = {{good, true}, {unsorted, false}, {across, false}, {keys, false}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const array found = {.type = SCALAR_U32, .rank = 1, .dims = {7}, .data = table[i].keys};
    text room = {0};
    bench_error none;
    CHECK((bench_check(&c, given, &found, 1, &room, &none) == NULL) == table[i].right);
    text_free(&room);
  }
}

TEST(moved_is_checked) {
  bench_case c = {.property = BENCH_MOVED, .map = {f2_bit_reversal(3), 1}};
  uint16_t given[8], found[8];
  for (uint16_t i = 0; i < 8; i++)
    given[i] = (uint16_t)(100 + i);
  for (uint64_t i = 0; i < 8; i++)
    found[f2_affine_apply(c.map, i)] = given[i];
  CHECK(right(&c, SCALAR_U16, given, found, 8, 8));
  for (int i = 0; i < 8; i++) {
    found[i]++;
    CHECK(!right(&c, SCALAR_U16, given, found, 8, 8));
    found[i]--;
  }
  CHECK(!right(&c, SCALAR_U16, given, found, 4, 4));
}

TEST(transposed_is_checked) {
  const bench_case c = {.property = BENCH_TRANSPOSED};
  const uint16_t given[] = {0, 1, 2, 3, 4, 5}, found[] = {0, 3, 1, 4, 2, 5};
  CHECK(right(&c, SCALAR_U16, given, found, 6, 3));
  CHECK(!right(&c, SCALAR_U16, given, given, 6, 3));
  CHECK(!right(&c, SCALAR_U16, given, found, 6, 2));
}

// More elements than one thread takes at once; pairs, whose floats are NaN with a payload.
TEST(moved_pairs_are_checked) {
  enum { BITS = 18, COUNT = 1 << BITS };
  bench_case c = {.property = BENCH_MOVED, .map = {f2_bit_reversal(BITS), 12345}};
  uint32_t *words = malloc(4 * COUNT * sizeof *words);
  REQUIRE(words != NULL);
  uint32_t *given = words, *found = words + COUNT, *nans = words + 2 * COUNT;
  uint32_t *found_nans = words + 3 * COUNT;
  for (uint32_t i = 0; i < COUNT; i++) {
    given[i] = i * 2654435761u;
    nans[i] = 0x7fc00000 | i;
    uint64_t to = f2_affine_apply(c.map, i);
    found[to] = given[i];
    found_nans[to] = nans[i];
  }
  parts p = parts_of(COUNT, COUNT);
  add_part(&p, SCALAR_U32, given, found);
  add_part(&p, SCALAR_F32, nans, found_nans);
  CHECK(right_parts(&c, &p));
  static const uint32_t places[] = {0, 1, 65535, 65536, 200000, COUNT - 1};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    found_nans[places[i]] ^= 1;
    CHECK(!right_parts(&c, &p));
    found_nans[places[i]] ^= 1;
    found[places[i]]++;
    CHECK(!right_parts(&c, &p));
    found[places[i]]--;
  }
  CHECK(right_parts(&c, &p));
  free(words);
}

TEST(transformed_is_checked) {
  const bench_case c = {.property = BENCH_FOURIER};
  enum { N = 16 };
  float given[2 * N], found[2 * N] = {0};
  for (int i = 0; i < 2 * N; i++)
    given[i] = (float)((i * 7 + 3) % 11) / 11;
  for (int k = 0; k < N; k++)
    for (int j = 0; j < N; j++) {
      double angle = -2 * acos(-1) * j * k / N, re = (double)given[2 * j];
      double im = (double)given[2 * j + 1];
      found[2 * k] += (float)(re * cos(angle) - im * sin(angle));
      found[2 * k + 1] += (float)(re * sin(angle) + im * cos(angle));
    }
  CHECK(right(&c, SCALAR_C64, given, found, N, N));
  CHECK(rounding.mean > 0 && rounding.mean < 5e-7);  // sums in f32
  CHECK(rounding.largest > 0 && rounding.largest < 5e-7);
  for (int k = 0; k < 2 * N; k++) {
    float before = found[k];
    found[k] += 0.01f;
    CHECK(!right(&c, SCALAR_C64, given, found, N, N));
    CHECK(rounding.mean > 1e-4 && rounding.largest > 1e-4);
    found[k] = before;
  }
}

TEST_MAIN()
