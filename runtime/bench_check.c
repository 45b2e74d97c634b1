// Whether results are right, by properties that need no other sorter, permutation or transform. See
// bench_suites.h.
#include "runtime/bench_suites.h"

#include <inttypes.h>
#include <math.h>

const char *bench_property_name(bench_property p) {
  static const char *const names[] = {"equal to interp", "sorted, same elements",
                                      "each element in its place", "coefficients and energy"};
  return names[p];
}

static const char *say(text *room, const char *format, ...) PRINTF_LIKE(2, 3);

static const char *say(text *room, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  text_vprintf(room, format, arguments);
  va_end(arguments);
  return room->data ? room->data : "wrong";
}

// ---- sorted -------------------------------------------------------------------------------------

// A sum over the elements in any order: equal sums of two rows that differ have probability 2^-64.
static uint64_t mixed(uint32_t x) {
  uint64_t z = (x + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static const char *check_sorted(const uint32_t *given, const uint32_t *found, uint64_t count,
                                uint64_t row, text *room) {
  for (uint64_t start = 0; start < count; start += row) {
    uint64_t before = 0, after = 0;
    for (uint64_t i = start; i < start + row; i++) {
      before += mixed(given[i]);
      after += mixed(found[i]);
      if (i > start && found[i - 1] > found[i])
        return say(room, "row %" PRIu64 " is not in order at %" PRIu64, start / row, i - start);
    }
    if (before != after)
      return say(room, "row %" PRIu64 " has other elements than it was given", start / row);
  }
  return NULL;
}

// ---- moved --------------------------------------------------------------------------------------

// Walks the indices in the order of a Gray code, where each step adds one column of the matrix.
static const char *check_moved(f2_affine map, const char *given, const char *found, uint64_t count,
                               size_t size, text *room) {
  uint64_t column[F2_MAX + 1] = {0}, x = 0, y = map.c;
  for (int i = 0; i < map.a.columns; i++)
    column[i] = f2_column(map.a, i);
  for (uint64_t i = 1; i <= count; i++) {
    if (memcmp(given + x * size, found + y * size, size) != 0)
      return say(room, "element %" PRIu64 " is not at %" PRIu64, x, y);
    int bit = f2_lsb(i);
    x ^= f2_unit(bit);
    y ^= column[bit];
  }
  return NULL;
}

// ---- transformed --------------------------------------------------------------------------------

typedef struct complex_sum {
  double re, im;
} complex_sum;

// The sum over j of x_j exp(-2 pi i j k / count). The root is set anew every so often, so that its
// error does not grow.
static complex_sum coefficient(const float *x, uint64_t count, uint64_t k) {
  enum { STRETCH = 64 };
  const double turn = -2 * 3.14159265358979323846 / (double)count;
  double step_re = cos(turn * (double)k), step_im = sin(turn * (double)k), re = 1, im = 0;
  complex_sum sum = {0, 0};
  for (uint64_t j = 0; j < count; j++) {
    if (j % STRETCH == 0) {
      double angle = turn * (double)(j * k % count);
      re = cos(angle);
      im = sin(angle);
    }
    double x_re = (double)x[2 * j], x_im = (double)x[2 * j + 1], next = re * step_re - im * step_im;
    sum.re += x_re * re - x_im * im;
    sum.im += x_re * im + x_im * re;
    im = re * step_im + im * step_re;
    re = next;
  }
  return sum;
}

static double energy(const float *x, uint64_t count) {
  double sum = 0;
  for (uint64_t i = 0; i < 2 * count; i++)
    sum += (double)x[i] * (double)x[i];
  return sum;
}

// A transform in f32 has errors of some 1e-7 of the root mean square of all coefficients, which is
// sqrt(energy of the input), and of the coefficient itself.
static const char *check_fourier(const float *given, const float *found, uint64_t count,
                                 text *room) {
  const double tolerance = 1e-5, rounding = 1e-6;
  double before = energy(given, count), after = energy(found, count) / (double)count;
  if (!(fabs(before - after) <= tolerance * before))
    return say(room, "the energy is %g, expected %g", after, before);
  uint64_t asked[] = {0, 1 % count, count / 3, count - 1};
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    uint64_t k = asked[i];
    complex_sum y = coefficient(given, count, k);
    double error = hypot((double)found[2 * k] - y.re, (double)found[2 * k + 1] - y.im);
    if (!(error <= tolerance * sqrt(before) + rounding * hypot(y.re, y.im)))
      return say(room, "coefficient %" PRIu64 " is wrong by %g", k, error);
  }
  return NULL;
}

// ---- the whole ----------------------------------------------------------------------------------

const char *bench_check(const bench_case *c, const void *given, const void *found, uint64_t count,
                        uint64_t row, size_t element_bytes, text *room) {
  switch (c->property) {
  case BENCH_SORTED:
    assert(element_bytes == sizeof(uint32_t));
    return check_sorted(given, found, count, row, room);
  case BENCH_MOVED:
    return check_moved(c->map, given, found, count, element_bytes, room);
  case BENCH_FOURIER:
    assert(element_bytes == 2 * sizeof(float));
    return check_fourier(given, found, count, room);
  case BENCH_INTERP:
    break;
  }
  return NULL;
}
