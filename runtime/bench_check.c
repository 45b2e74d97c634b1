// Whether results are right, by properties that need no other sorter, permutation or transform. See
// bench_suites.h.
#include "runtime/bench_suites.h"
#include "runtime/pool.h"

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

// ---- elements -----------------------------------------------------------------------------------

// The bits of an element of at most 8 bytes.
static uint64_t bits_of(const array *a, uint64_t i) {
  const char *at = (const char *)a->data + i * scalar_types[a->type].size;
  uint8_t u8;
  uint16_t u16;
  uint32_t u32;
  uint64_t u64;
  switch (scalar_types[a->type].size) {
  case 1:
    memcpy(&u8, at, sizeof u8);
    return u8;
  case 2:
    memcpy(&u16, at, sizeof u16);
    return u16;
  case 4:
    memcpy(&u32, at, sizeof u32);
    return u32;
  default:
    memcpy(&u64, at, sizeof u64);
    return u64;
  }
}

// A number that is ordered as the elements are in the library's total order: -0.0 before 0.0, NaN
// last, all of them equal.
static uint64_t rank_of(const array *a, uint64_t i) {
  const scalar_row *type = &scalar_types[a->type];
  uint64_t bits = bits_of(a, i), sign = UINT64_C(1) << (8 * type->size - 1);
  if (type->kind == KIND_SIGNED)
    return bits ^ sign;
  if (type->kind != KIND_FLOAT)
    return bits;
  uint64_t infinity = type->size == 4 ? UINT64_C(0x7f800000) : UINT64_C(0x7ff0000000000000);
  if ((bits & (sign - 1)) > infinity)
    return UINT64_MAX;
  return bits & sign ? ~bits & (2 * sign - 1) : bits | sign;
}

// ---- sorted -------------------------------------------------------------------------------------

static uint64_t mixed(uint64_t x) {
  uint64_t z = (x + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

// Of all parts of an element, in their order: a value that has left its key changes it.
static uint64_t mixed_parts(const array *a, size_t parts, uint64_t i) {
  uint64_t hash = mixed(bits_of(&a[0], i));
  for (size_t k = 1; k < parts; k++)
    hash = mixed(hash + bits_of(&a[k], i));
  return hash;
}

typedef struct comparison {
  const bench_case *c;
  const array *given, *found;
  size_t parts;
  text *room;
} comparison;

// Sums over the elements in any order: equal sums of two rows that differ have probability 2^-64.
static const char *check_row(const comparison *w, uint64_t number, uint64_t length) {
  uint64_t before = 0, after = 0, last = 0;
  for (uint64_t k = 0; k < length; k++) {
    uint64_t i = number * length + k, rank = rank_of(w->found, i);
    before += mixed_parts(w->given, w->parts, i);
    after += mixed_parts(w->found, w->parts, i);
    if (k > 0 && last > rank)
      return say(w->room, "row %" PRIu64 " is not in order at %" PRIu64, number, k);
    last = rank;
  }
  return before == after
             ? NULL
             : say(w->room, "row %" PRIu64 " has other elements than it was given", number);
}

static const char *check_sorted(const comparison *w) {
  const array *a = w->given;
  uint64_t count = array_count(a), length = a->rank ? a->dims[a->rank - 1] : 1;
  const char *wrong = NULL;
  for (size_t k = 0; k < w->parts; k++)
    assert(scalar_types[a[k].type].size <= sizeof(uint64_t));
  for (uint64_t i = 0; length && i < count / length && !wrong; i++)
    wrong = check_row(w, i, length);
  return wrong;
}

// ---- moved --------------------------------------------------------------------------------------

// Whether elements are moved as their map says: `wrong` is one that is not, or the count.
typedef struct movement {
  const char *given, *found;
  size_t size;
  f2_affine map;
  uint64_t column[F2_MAX];
  _Atomic uint64_t wrong;
} movement;

// Walks the indices in the order of a Gray code, where each step adds one column of the matrix.
static bool check_stretch(void *with, unsigned worker, uint64_t first, uint64_t last) {
  (void)worker;
  movement *m = with;
  uint64_t x = first ^ (first >> 1), y = f2_affine_apply(m->map, x);
  for (uint64_t i = first; i < last; i++) {
    if (memcmp(m->given + x * m->size, m->found + y * m->size, m->size) != 0) {
      m->wrong = x;
      return false;
    }
    if (i + 1 < last) {
      int bit = f2_lsb(i + 1);
      x ^= f2_unit(bit);
      y ^= m->column[bit];
    }
  }
  return true;
}

static const char *check_moved(const comparison *w) {
  enum { STRETCH = 1 << 16 };
  uint64_t count = array_count(w->given);
  if (count != UINT64_C(1) << w->c->map.a.columns)
    return "it is not what the map is for";
  for (size_t k = 0; k < w->parts; k++) {
    movement m = {.given = w->given[k].data,
                  .found = w->found[k].data,
                  .size = scalar_types[w->given[k].type].size,
                  .map = w->c->map,
                  .wrong = 0};
    for (int i = 0; i < m.map.a.columns; i++)
      m.column[i] = f2_column(m.map.a, i);
    if (!pool_run(pool_processors(), count, STRETCH, check_stretch, &m, NULL))
      return say(w->room, "element %" PRIu64 " is not at %" PRIu64, (uint64_t)m.wrong,
                 f2_affine_apply(m.map, m.wrong));
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

const char *bench_check(const bench_case *c, const array *given, const array *found, size_t parts,
                        text *room) {
  comparison w = {c, given, found, parts, room};
  switch (c->property) {
  case BENCH_SORTED:
    return check_sorted(&w);
  case BENCH_MOVED:
    return check_moved(&w);
  case BENCH_FOURIER:
    assert(given->type == SCALAR_C64 && parts == 1);
    return check_fourier(given->data, found->data, array_count(given), room);
  case BENCH_INTERP:
    break;
  }
  return NULL;
}
