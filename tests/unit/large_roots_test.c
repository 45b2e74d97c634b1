// Roots of unity without a table (kernels/text/root_text.h) have the bits of scalar_root.
#include "tests/test.h"

#include "core/random.h"
#include "core/scalar/loops.h"
#include "core/scalar/scalar.h"

#include <math.h>

#include "core/scalar/root.inc"
#include "kernels/text/root_text.h"

static double *highs, *lows;

static void root_at(uint64_t k, uint64_t m, double *re, double *im) {
  scalar_bits root = scalar_root(SCALAR_C128, (int64_t)k, (int64_t)m);
  memcpy(re, root.bytes, sizeof *re);
  memcpy(im, root.bytes + sizeof *re, sizeof *im);
}

static void make_tables(unsigned bits, unsigned low) {
  uint64_t high_count = UINT64_C(1) << (bits - low), low_count = UINT64_C(1) << low;
  highs = realloc(highs, 2 * high_count * sizeof *highs);
  lows = realloc(lows, 2 * low_count * sizeof *lows);
  for (uint64_t h = 0; h < high_count; h++)
    root_at(h, high_count, &highs[2 * h], &highs[2 * h + 1]);
  for (uint64_t l = 0; l < low_count; l++)
    root_at(l, UINT64_C(1) << bits, &lows[l], &lows[l + low_count]);
}

static bool check_root(uint64_t k, uint64_t m, unsigned low) {
  complex_f32 found = root_of_two(highs, lows, low, k, m);
  scalar_bits expected = scalar_root(SCALAR_C64, (int64_t)k, (int64_t)m);
  return CHECK(memcmp(&found, expected.bytes, sizeof found) == 0);
}

TEST(products) {
  uint64_t state = 1;
  for (unsigned bits = 12; bits <= 40; bits += 4) {
    unsigned low = bits / 2;
    uint64_t m = UINT64_C(1) << bits, count = test_amount(20000, 4000000);
    bool good = true;
    make_tables(bits, low);
    for (uint64_t i = 0; i < 64 && good; i++)  // around the axes and the diagonals
      good = check_root((i % 8 * (m / 8) + i / 8 - 4) & (m - 1), m, low);
    for (uint64_t i = 0; i < count && good; i++)
      good = check_root(draw_word(&state) & (m - 1), m, low);
  }
  free(highs);
  free(lows);
}

// Most are certain, so that few are computed.
TEST(doubts) {
  uint64_t state = 2;
  size_t certain = 0;
  for (int i = 0; i < 100000; i++) {
    float x;
    certain += root_is_certain((double)(draw_word(&state) >> 11) * 0x1p-53, &x) != 0;
  }
  CHECK(certain > 99900);
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
