// Roots of unity without a table (kernels/text/root_text.h) have the bits of scalar_root.
#include "tests/test.h"

#include "core/random.h"
#include "core/scalar/loops.h"
#include "core/scalar/scalar.h"

#include <math.h>

#include "core/scalar/root_product.inc"

#include "core/scalar/root.inc"
#include "kernels/text/root_text.h"

static double *highs, *lows;

static void root_at(uint64_t k, uint64_t m, double *re, double *im) {
  scalar_bits root = scalar_root(SCALAR_C128, (int64_t)k, (int64_t)m);
  memcpy(re, root.bytes, sizeof *re);
  memcpy(im, root.bytes + sizeof *re, sizeof *im);
}

static void make_tables(unsigned low) {
  uint64_t high_count = UINT64_C(1) << ROOT_HIGH_BITS, low_count = UINT64_C(1) << low;
  highs = realloc(highs, 2 * high_count * sizeof *highs);
  lows = realloc(lows, 2 * low_count * sizeof *lows);
  for (uint64_t h = 0; h < high_count; h++)
    root_at(h, high_count, &highs[2 * h], &highs[2 * h + 1]);
  for (uint64_t l = 0; l < low_count; l++)
    root_at(l, high_count << low, &lows[l], &lows[l + low_count]);
}

static bool check_root(uint64_t k, uint64_t m, unsigned low) {
  complex_f32 found = root_of_two(highs, lows, low, k);
  scalar_bits expected = scalar_root(SCALAR_C64, (int64_t)k, (int64_t)m);
  return CHECK(memcmp(&found, expected.bytes, sizeof found) == 0);
}

TEST(products) {
  uint64_t state = 1;
  for (unsigned low = 1; low <= 20; low += 3) {
    uint64_t m = UINT64_C(1) << (ROOT_HIGH_BITS + low), count = test_amount(20000, 4000000);
    bool good = true;
    make_tables(low);
    for (uint64_t i = 0; i < 64 && good; i++)  // around the axes and the diagonals
      good = check_root((i % 8 * (m / 8) + i / 8 - 4) & (m - 1), m, low);
    for (uint64_t i = 0; i < count && good; i++)
      good = check_root(draw_word(&state) & (m - 1), m, low);
  }
  free(highs);
  free(lows);
}

// A quarter of a turn later: parts exchanged, and signs changed; 0 - 0 is 0.
static scalar_bits turned(scalar_type type, uint64_t k, uint64_t m) {
  scalar_bits root = scalar_root(type, (int64_t)k, (int64_t)m), out = {{0}};
  if (type == SCALAR_C64) {
    float parts[2], result[2];
    memcpy(parts, root.bytes, sizeof parts);
    result[0] = 0 - parts[1];
    result[1] = parts[0];
    memcpy(out.bytes, result, sizeof result);
  } else {
    double parts[2], result[2];
    memcpy(parts, root.bytes, sizeof parts);
    result[0] = 0 - parts[1];
    result[1] = parts[0];
    memcpy(out.bytes, result, sizeof result);
  }
  return out;
}

TEST(quarters) {
  static const uint64_t orders[] = {4, 8, 12, 1 << 14, 1 << 15, 3 << 15, 1000000, 1 << 27};
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
    for (scalar_type type = SCALAR_C64; type <= SCALAR_C128; type++)
      for (uint64_t k = 0, m = orders[i]; k < m; k += 1 + m / 5003) {
        scalar_bits found = turned(type, k, m),
                    expected = scalar_root(type, (int64_t)(k + m / 4), (int64_t)m);
        if (!CHECK(memcmp(&found, &expected, scalar_types[type].size) == 0))
          return;
      }
}

// A root depends on the fraction alone.
TEST(fractions) {
  uint64_t state = 3;
  for (uint64_t i = 0; i < test_amount(20000, 1000000); i++) {
    int64_t m = 1 + (int64_t)(draw_word(&state) >> (40 + i % 20)), times = 1 + (int64_t)(i % 7),
            k = (int64_t)(draw_word(&state) % (uint64_t)m);
    m <<= i % 3 * 8;
    scalar_bits one = scalar_root(SCALAR_C64, k, m),
                other = scalar_root(SCALAR_C64, k * times, m * times);
    if (!CHECK(memcmp(&one, &other, sizeof one) == 0))
      return;
  }
}

// Parts are within half a unit of f32's last place, and a little, of those of c128.
TEST(accuracy) {
  uint64_t state = 4;
  for (uint64_t i = 0; i < test_amount(20000, 1000000); i++) {
    int64_t m = INT64_C(1) << (3 + i % 38), k = (int64_t)(draw_word(&state) & (uint64_t)(m - 1));
    float parts[2];
    double wide[2];
    scalar_bits narrow = scalar_root(SCALAR_C64, k, m);
    memcpy(parts, narrow.bytes, sizeof parts);
    root_at((uint64_t)k, (uint64_t)m, &wide[0], &wide[1]);
    for (int part = 0; part < 2; part++) {
      double unit = ldexp(1, ilogb(fabs(wide[part]) + 0x1p-100) - 23);
      if (!CHECK(fabs(parts[part] - wide[part]) <= unit / 2 + 0x1p-51))
        return;
    }
  }
}

TEST(alone) {
  uint64_t m = 3 * UINT64_C(1000000007);
  for (uint64_t k = 5; k < m; k += m / 777) {
    complex_f32 narrow = root_alone_narrow(k, m);
    complex_f64 wide = root_alone(k, m);
    scalar_bits a = scalar_root(SCALAR_C64, (int64_t)k, (int64_t)m),
                b = scalar_root(SCALAR_C128, (int64_t)k, (int64_t)m);
    CHECK(memcmp(&narrow, a.bytes, sizeof narrow) == 0 && memcmp(&wide, b.bytes, sizeof wide) == 0);
  }
}

TEST_MAIN()
