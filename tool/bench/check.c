// Whether results are right, by properties that need no other sorter, permutation or transform. See
// bench/suites.h.
#include "runtime/system/pool.h"
#include "tool/bench/suites.h"
#include "tool/testing/compare.h"

#include <inttypes.h>
#include <math.h>

const char *bench_property_name(bench_property p) {
  static const char *const names[] = {"equal to interp",
                                      "sorted, same elements",
                                      "each element in its place",
                                      "coefficients",
                                      "sums",
                                      "maximum",
                                      "each element in its place",
                                      "each element in its place",
                                      "sorted, same elements"};
  return names[p];
}

static const char *format_message(text *room, const char *format, ...) PRINTF_LIKE(2, 3);

static const char *format_message(text *room, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  text_vprintf(room, format, arguments);
  va_end(arguments);
  return room->data ? room->data : "wrong";
}

// ---- sorted -------------------------------------------------------------------------------------

static uint64_t mix_bits(uint64_t x) {
  uint64_t z = (x + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

// Of all parts of an element, in their order: a value that has left its key changes it.
static uint64_t mix_parts(const array *a, size_t parts, uint64_t i) {
  uint64_t hash = mix_bits(array_bits(&a[0], i));
  for (size_t k = 1; k < parts; k++)
    hash = mix_bits(hash + array_bits(&a[k], i));
  return hash;
}

typedef struct comparison {
  const bench_case *c;
  const array *given, *found;
  size_t parts;
  text *room;
} comparison;

// Sums over the elements in any order: equal sums of two rows that differ have probability 2^-64.
static const char *check_row(const comparison *w, uint64_t number, uint64_t first,
                             uint64_t length) {
  uint64_t before = 0, after = 0, last = 0;
  for (uint64_t k = 0; k < length; k++) {
    uint64_t i = first + k, rank = array_order_key(w->found, i);
    before += mix_parts(w->given, w->parts, i);
    after += mix_parts(w->found, w->parts, i);
    if (k > 0 && last > rank)
      return format_message(w->room, "row %" PRIu64 " is not in order at %" PRIu64, number, k);
    last = rank;
  }
  return before == after
             ? NULL
             : format_message(w->room, "row %" PRIu64 " has other elements than it was given",
                              number);
}

static const char *check_sorted(const comparison *w) {
  const array *a = w->given;
  uint64_t count = array_count(a), length = a->rank ? a->dims[a->rank - 1] : 1;
  const char *wrong = NULL;
  for (size_t k = 0; k < w->parts; k++)
    assert(scalar_types[a[k].type].size <= sizeof(uint64_t));
  for (uint64_t i = 0; length && i < count / length && !wrong; i++)
    wrong = check_row(w, i, i * length, length);
  return wrong;
}

// Of the rows that the first array given cuts the others into.
static const char *check_ragged(const comparison *w) {
  const int64_t *offsets = w->given->data;
  uint64_t rows = array_count(w->given) - 1;
  comparison own = {w->c, w->given + 1, w->found, w->parts, w->room};
  const char *wrong = NULL;
  for (uint64_t i = 0; i < rows && !wrong; i++)
    wrong = check_row(&own, i, (uint64_t)offsets[i], (uint64_t)(offsets[i + 1] - offsets[i]));
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
      return format_message(w->room, "element %" PRIu64 " is not at %" PRIu64, (uint64_t)m.wrong,
                            f2_affine_apply(m.map, m.wrong));
  }
  return NULL;
}

// ---- transformed --------------------------------------------------------------------------------

typedef struct complex_number {
  double re, im;
} complex_number;

// The transform of x[0], x[step], x[2 step], ..., `count` of them, in double: Cooley and Tukey's,
// decimation in time. root[j]: exp(-2 pi i j / (count step)).
static void transform(const float *x, uint64_t step, uint64_t count, const complex_number *root,
                      complex_number *y) {
  uint64_t half = count / 2;
  if (count == 1) {
    *y = (complex_number){(double)x[0], (double)x[1]};
    return;
  }
  transform(x, 2 * step, half, root, y);
  transform(x + 2 * step, 2 * step, half, root, y + half);
  for (uint64_t k = 0; k < half; k++) {
    complex_number w = root[k * step], a = y[k], b = y[half + k];
    complex_number t = {w.re * b.re - w.im * b.im, w.re * b.im + w.im * b.re};
    y[k] = (complex_number){a.re + t.re, a.im + t.im};
    y[half + k] = (complex_number){a.re - t.re, a.im - t.im};
  }
}

// Rounding errors of a transform in f32 are some 2e-7 of the coefficients, as root mean squares.
static const char *check_coefficients(const float *found, const complex_number *y, uint64_t count,
                                      text *room, bench_error *rounding) {
  const double tolerance = 1e-6;
  double sum = 0, errors = 0, most = 0, largest = 0;
  for (uint64_t k = 0; k < count; k++) {
    double re = (double)found[2 * k] - y[k].re, im = (double)found[2 * k + 1] - y[k].im;
    double square = y[k].re * y[k].re + y[k].im * y[k].im, wrong = re * re + im * im;
    sum += square;
    errors += wrong;
    most = fmax(most, square);
    largest = fmax(largest, wrong);
  }
  *rounding = (bench_error){sqrt(errors / sum), sqrt(largest / most)};
  return rounding->mean <= tolerance
             ? NULL
             : format_message(room, "the error of coefficients is %g", rounding->mean);
}

static const char *check_fourier(const float *given, const float *found, uint64_t count, text *room,
                                 bench_error *rounding) {
  assert(count && !(count & (count - 1)));
  complex_number *y = malloc(count * sizeof *y), *root = malloc((count / 2 + 1) * sizeof *root);
  const double turn = -2 * 3.14159265358979323846 / (double)count;
  const char *wrong = "there is no memory for a transform to compare it with";
  if (y && root) {
    for (uint64_t j = 0; j < count / 2; j++)
      root[j] = (complex_number){cos(turn * (double)j), sin(turn * (double)j)};
    transform(given, 1, count, root, y);
    wrong = check_coefficients(found, y, count, room, rounding);
  }
  free(y);
  free(root);
  return wrong;
}

// ---- folded -------------------------------------------------------------------------------------

static bool is_float(const array *a) { return scalar_types[a->type].kind == KIND_FLOAT; }

static double element_as_double(const array *a, uint64_t i) {
  double x;
  size_t size = scalar_types[a->type].size;
  scalar_convert(a->type, SCALAR_F64, 1, (const char *)a->data + i * size, &x);
  return x;
}

// Whether element i of a is this sum: of integers modulo 2^bits; of floats but for rounding, where
// `absolute` is the sum of absolute values.
static bool is_sum(const array *a, uint64_t i, uint64_t sum, double real, double absolute) {
  if (is_float(a))
    return fabs(element_as_double(a, i) - real) <= 1e-5 * absolute;
  return ((array_bits(a, i) ^ sum) & f2_mask(8 * (int)scalar_types[a->type].size)) == 0;
}

// Of one element: of the sum of all.
static const char *check_sums(const comparison *w) {
  const array *given = w->given, *found = w->found;
  uint64_t count = array_count(given), sum = 0, last = array_count(found);
  uint64_t length = last > 1 ? given->dims[given->rank - 1] : count;
  double real = 0, absolute = 0;
  for (uint64_t i = 0; i < count; i++) {
    bool first = i % length == 0, floats = is_float(given);
    double x = floats ? element_as_double(given, i) : 0;
    sum = (first ? 0 : sum) + (floats ? 0 : array_bits(given, i));
    real = (first ? 0 : real) + x;
    absolute = (first ? 0 : absolute) + fabs(x);
    if (last > 1 && !is_sum(found, i, sum, real, absolute))
      return format_message(w->room, "element %" PRIu64 " is not the sum up to it", i);
  }
  return last > 1 || is_sum(found, 0, sum, real, absolute) ? NULL : "it is not the sum";
}

static const char *check_maximum(const comparison *w) {
  uint64_t greatest = 0;
  for (uint64_t i = 0; i < array_count(w->given); i++) {
    uint64_t key = array_order_key(w->given, i);
    greatest = key > greatest ? key : greatest;
  }
  return array_order_key(w->found, 0) == greatest ? NULL : "it is not the greatest element";
}

// ---- permuted -----------------------------------------------------------------------------------

static bool check_places(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const comparison *w = with;
  const uint32_t *places = w->given[0].data;
  const char *given = w->given[1].data, *found = w->found->data;
  size_t size = scalar_types[w->found->type].size;
  bool good = true;
  (void)worker;
  for (uint64_t i = first; i < last && good; i++)
    good = memcmp(found + places[i] * size, given + i * size, size) == 0;
  return good;
}

static const char *check_permuted(comparison *w) {
  enum { PART = 1 << 16 };
  uint64_t count = array_count(w->found);
  return pool_run(pool_processors(), count, PART, check_places, w, NULL)
             ? NULL
             : "an element is not in its place";
}

// ---- transposed ---------------------------------------------------------------------------------

static bool check_rows(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const comparison *w = with;
  const char *given = w->given->data, *found = w->found->data;
  size_t size = scalar_types[w->found->type].size;
  uint64_t rows = w->given->dims[0], columns = w->given->dims[1];
  bool good = true;
  (void)worker;
  for (uint64_t i = first; i < last && good; i++)
    good = memcmp(found + (i % columns * rows + i / columns) * size, given + i * size, size) == 0;
  return good;
}

static const char *check_transposed(comparison *w) {
  enum { PART = 1 << 16 };
  return pool_run(pool_processors(), array_count(w->found), PART, check_rows, w, NULL)
             ? NULL
             : "an element is not in its place";
}

// ---- the whole ----------------------------------------------------------------------------------

const char *bench_check(const bench_case *c, const array *given, const array *found, size_t parts,
                        text *room, bench_error *rounding) {
  comparison w = {c, given, found, parts, room};
  *rounding = (bench_error){0, 0};
  switch (c->property) {
  case BENCH_SORTED:
    return check_sorted(&w);
  case BENCH_MOVED:
    return check_moved(&w);
  case BENCH_FOURIER:
    assert(given->type == SCALAR_C64 && parts == 1);
    return check_fourier(given->data, found->data, array_count(given), room, rounding);
  case BENCH_SUMS:
    return check_sums(&w);
  case BENCH_MAXIMUM:
    return check_maximum(&w);
  case BENCH_PERMUTED:
    return check_permuted(&w);
  case BENCH_TRANSPOSED:
    return check_transposed(&w);
  case BENCH_RAGGED:
    return check_ragged(&w);
  case BENCH_INTERP:
    break;
  }
  return NULL;
}
