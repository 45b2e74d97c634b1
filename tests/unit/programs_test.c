// The programs of the language's design page, as they stand in tests/programs/, at sizes 2^0 ...
// 2^16 (and 0, 1, 3, 1000 where any length is allowed), each result checked by C code that knows
// nothing of networks: qsort, loops, sums. To the bit, the FFT within error bounds.
#include "tests/unit/api.h"

#include <complex.h>
#include <float.h>
#include <math.h>

// The largest n; smaller with sanitizers and under valgrind.
static int largest(void) { return slower() == 1 ? 16 : slower() < 10 ? 13 : 7; }

// ---- sorting ---------------------------------------------------------------------------------

static int by_i32(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static int by_u64(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

// The kinds of input that every sorter gets.
typedef enum fill { RANDOM, FEW, EQUAL, LARGEST_KEY, SMALLEST_KEY, RISING, FALLING, FILLS } fill;

static int32_t fill_i32(fill f, size_t i, size_t count) {
  switch (f) {
  case FEW:
    return (int32_t)random_below(3) - 1;
  case EQUAL:
    return -7;
  case LARGEST_KEY:
    return INT32_MAX;
  case SMALLEST_KEY:
    return INT32_MIN;
  case RISING:
    return (int32_t)i;
  case FALLING:
    return (int32_t)(count - i);
  default:
    return (int32_t)random_u64();
  }
}

static void check_paper_sort(permc_context *c, size_t count, fill f) {
  int32_t *keys = malloc(count * sizeof *keys);
  for (size_t i = 0; i < count; i++)
    keys[i] = fill_i32(f, i, count);
  permc_value *out = run_value(c, "main", value_1("i32", count, keys));
  qsort(keys, count, sizeof *keys, by_i32);
  check_1(out, 0, "i32", count, keys);
  permc_value_free(out);
  free(keys);
}

TEST(paper_sort) {
  permc_context *c = load_file("tests/programs/paper_sort.perm");
  for (int n = 0; n <= largest(); n++)
    for (fill f = RANDOM; f < FILLS; f++)
      check_paper_sort(c, (size_t)1 << n, f);
  permc_context_free(c);
}

TEST(paper_sort_refuses_other_lengths) {
  permc_context *c = load_file("tests/programs/paper_sort.perm");
  int32_t keys[1000] = {0};
  check_run_fails(c, "main", value_1("i32", 0, keys), "empty");
  check_run_fails(c, "main", value_1("i32", 3, keys), "3 elements; the nearest are 2 and 4");
  check_run_fails(c, "main", value_1("i32", 1000, keys), "the nearest are 512 and 1024");
  check_run_fails(c, "main", value_1("i32", 1000, keys), "padded");
  check_run_fails(c, "main", value_1("f32", 4, keys), "i32");
  permc_context_free(c);
}

// ---- bitonic sort of rows --------------------------------------------------------------------

// The program's network on one row, comparator by comparator: where <= orders nothing, as with NaN,
// this is what the result is. Its V-shaped columns are the library's and compare by total_le, the
// others by the program's <=.
typedef struct orders {
  bool (*le)(const void *data, uint32_t i, uint32_t j);  // of elements number i and j
  bool (*total_le)(const void *data, uint32_t i, uint32_t j);
} orders;

static void exchange(bool ordered, uint32_t *order, size_t i, size_t j) {
  uint32_t x = order[i];
  if (!ordered) {
    order[i] = order[j];
    order[j] = x;
  }
}

static void bitonic(const void *data, orders by, uint32_t *order, size_t count) {
  if (count == 1)
    return;
  bitonic(data, by, order, count / 2);
  bitonic(data, by, order + count / 2, count / 2);
  for (size_t i = 0; i < count / 2; i++)
    exchange(by.total_le(data, order[i], order[count - 1 - i]), order, i, count - 1 - i);
  for (size_t distance = count / 4; distance > 0; distance /= 2)
    for (size_t i = 0; i < count; i++)
      if ((i & distance) == 0)
        exchange(by.le(data, order[i], order[i + distance]), order, i, i + distance);
}

// Element numbers of all rows, sorted.
static uint32_t *bitonic_rows(const void *data, orders by, size_t rows, size_t columns) {
  uint32_t *order = malloc((rows * columns + 1) * sizeof *order);
  for (size_t i = 0; i < rows * columns; i++)
    order[i] = (uint32_t)i;
  for (size_t i = 0; i < rows; i++)
    bitonic(data, by, order + i * columns, columns);
  return order;
}

static void check_bitonic(permc_context *c, const char *type, orders by, size_t rows,
                          size_t columns, const void *data) {
  size_t size = size_of_type(type);
  uint32_t *order = bitonic_rows(data, by, rows, columns);
  char *expected = malloc(rows * columns * size + 1);
  for (size_t i = 0; i < rows * columns; i++)
    memcpy(expected + i * size, (const char *)data + order[i] * size, size);
  permc_value *out = run_value(c, "main", value_2(type, rows, columns, data));
  check_2(out, 0, type, rows, columns, expected);
  permc_value_free(out);
  free(expected);
  free(order);
}

static bool le_i32(const void *data, uint32_t i, uint32_t j) {
  return ((const int32_t *)data)[i] <= ((const int32_t *)data)[j];
}

static bool le_u8(const void *data, uint32_t i, uint32_t j) {
  return ((const uint8_t *)data)[i] <= ((const uint8_t *)data)[j];
}

static bool le_f64(const void *data, uint32_t i, uint32_t j) {
  return ((const double *)data)[i] <= ((const double *)data)[j];
}

// -0.0 before 0.0, NaN last and all alike.
static bool total_le_f64(const void *data, uint32_t i, uint32_t j) {
  double x = ((const double *)data)[i], y = ((const double *)data)[j];
  if (isnan(x) || isnan(y))
    return isnan(y);
  return x < y || (x == y && (signbit(x) || !signbit(y)));
}

static const orders by_le_i32 = {le_i32, le_i32}, by_le_u8 = {le_u8, le_u8},
                    by_le_f64 = {le_f64, total_le_f64};

static const size_t row_counts[] = {0, 1, 3};
#define EACH_ROW_COUNT(m)                                                                          \
  size_t k = 0, m;                                                                                 \
  k < 3 && (m = row_counts[k], true);                                                              \
  k++

TEST(bitonic_rows_of_i32) {
  permc_context *c = load_file("tests/programs/bitonic_rows.perm");
  for (int n = 0; n <= largest(); n++)
    for (EACH_ROW_COUNT(m)) {
      size_t count = m << n;
      int32_t *keys = malloc((count + 1) * sizeof *keys);
      for (fill f = RANDOM; f < FILLS; f++) {
        for (size_t i = 0; i < count; i++)
          keys[i] = fill_i32(f, i, count);
        check_bitonic(c, "i32", by_le_i32, m, (size_t)1 << n, keys);
      }
      free(keys);
    }
  permc_context_free(c);
}

TEST(bitonic_rows_of_u8) {
  permc_context *c = load_file("tests/programs/bitonic_rows.perm");
  for (int n = 0; n <= largest(); n++)
    for (EACH_ROW_COUNT(m)) {
      size_t count = m << n;
      uint8_t *keys = malloc(count + 1);
      for (size_t i = 0; i < count; i++)
        keys[i] = (uint8_t)random_u64();
      check_bitonic(c, "u8", by_le_u8, m, (size_t)1 << n, keys);
      free(keys);
    }
  permc_context_free(c);
}

// A double of some bits: many NaN with payloads of their own, both zeros, both infinities.
static double awkward_f64(size_t i) {
  switch (random_below(6)) {
  case 0:
    return double_of_bits(UINT64_C(0x7ff8000000000000) + i);
  case 1:
    return double_of_bits(UINT64_C(0xfff8000000000000) + i);
  case 2:
    return random_below(2) ? 0.0 : -0.0;
  case 3:
    return random_below(2) ? INFINITY : -INFINITY;
  default:
    return random_f64();
  }
}

// NaN stay where the comparators leave them, and keep their payloads.
TEST(bitonic_rows_of_nan) {
  permc_context *c = load_file("tests/programs/bitonic_rows.perm");
  for (int n = 0; n <= largest(); n++)
    for (EACH_ROW_COUNT(m)) {
      size_t count = m << n;
      double *keys = malloc((count + 1) * sizeof *keys);
      for (size_t i = 0; i < count; i++)
        keys[i] = awkward_f64(i);
      check_bitonic(c, "f64", by_le_f64, m, (size_t)1 << n, keys);
      for (size_t i = 0; i < count; i++)
        keys[i] = double_of_bits(UINT64_C(0x7ff8000000000000) + i);
      check_bitonic(c, "f64", by_le_f64, m, (size_t)1 << n, keys);
      free(keys);
    }
  permc_context_free(c);
}

// Rows of pairs, in lexicographic order.
typedef struct columns {
  float *keys;
  uint16_t *marks;
} columns;

static bool le_columns(const void *data, uint32_t i, uint32_t j) {
  const columns *d = data;
  if (d->keys[i] < d->keys[j])
    return true;
  return d->keys[i] == d->keys[j] && d->marks[i] <= d->marks[j];
}

// No zeros among the keys.
static bool total_le_columns(const void *data, uint32_t i, uint32_t j) {
  const columns *d = data;
  bool first = isnan(d->keys[i]), second = isnan(d->keys[j]);
  if (first != second)
    return second;
  return first ? d->marks[i] <= d->marks[j] : le_columns(data, i, j);
}

static const orders by_columns = {le_columns, total_le_columns};

static void check_rows_of_pairs(permc_context *c, size_t rows, size_t length) {
  size_t count = rows * length;
  columns in = {malloc((count + 1) * sizeof(float)), malloc((count + 1) * sizeof(uint16_t))};
  for (size_t i = 0; i < count; i++) {
    in.keys[i] = random_below(5) == 0 ? float_of_bits(0x7fc00000u + (uint32_t)i)
                                      : (float)random_below(4) - 1.5f;
    in.marks[i] = (uint16_t)random_u64();
  }
  uint32_t *order = bitonic_rows(&in, by_columns, rows, length);
  columns sorted = {malloc((count + 1) * sizeof(float)), malloc((count + 1) * sizeof(uint16_t))};
  for (size_t i = 0; i < count; i++) {
    sorted.keys[i] = in.keys[order[i]];
    sorted.marks[i] = in.marks[order[i]];
  }
  permc_value *out = run_value(
      c, "main",
      value_pair(value_2("f32", rows, length, in.keys), value_2("u16", rows, length, in.marks)));
  check_2(out, 0, "f32", rows, length, sorted.keys);
  check_2(out, 1, "u16", rows, length, sorted.marks);
  permc_value_free(out);
  free(order);
  free(in.keys);
  free(in.marks);
  free(sorted.keys);
  free(sorted.marks);
}

TEST(bitonic_rows_of_pairs) {
  permc_context *c = load_file("tests/programs/bitonic_rows.perm");
  for (int n = 0; n <= largest(); n++)
    for (EACH_ROW_COUNT(m))
      check_rows_of_pairs(c, m, (size_t)1 << n);
  permc_context_free(c);
}

// ---- keys that carry values ------------------------------------------------------------------

typedef enum keys { KEYS_RANDOM, KEYS_FEW, KEYS_EQUAL, KEYS_LARGEST, KEYS_KINDS } keys;

static uint32_t pair_key(keys kind) {
  switch (kind) {
  case KEYS_FEW:
    return (uint32_t)random_below(4);
  case KEYS_EQUAL:
    return 5;
  case KEYS_LARGEST:
    return UINT32_MAX;
  default:
    return (uint32_t)random_u64();
  }
}

// Sorted by key, and the same pairs as before: keys in order, and all pairs equal once both sides
// are sorted as wholes.
static void check_pairs(const permc_value *out, size_t count, const uint32_t *in_keys,
                        const uint32_t *in_marks) {
  if (!check_shape(out, 0, "u32", 1, (uint64_t[]){count}) ||
      !check_shape(out, 1, "u32", 1, (uint64_t[]){count}))
    return;
  const uint32_t *out_keys = permc_value_data(out, 0), *out_marks = permc_value_data(out, 1);
  uint64_t *before = malloc(count * sizeof *before), *after = malloc(count * sizeof *after);
  for (size_t i = 0; i < count; i++) {
    before[i] = (uint64_t)in_keys[i] << 32 | in_marks[i];
    after[i] = (uint64_t)out_keys[i] << 32 | out_marks[i];
    CHECK(i == 0 || out_keys[i - 1] <= out_keys[i]);
  }
  qsort(before, count, sizeof *before, by_u64);
  qsort(after, count, sizeof *after, by_u64);
  CHECK(memcmp(before, after, count * sizeof *before) == 0);
  free(before);
  free(after);
}

static void check_sort_pairs(permc_context *c, size_t count, keys kind) {
  uint32_t *in = malloc(count * sizeof *in), *marks = malloc(count * sizeof *marks);
  for (size_t i = 0; i < count; i++) {
    in[i] = pair_key(kind);
    marks[i] = (uint32_t)(i * UINT32_C(2654435761));
  }
  permc_value *out =
      run_value(c, "main", value_pair(value_1("u32", count, in), value_1("u32", count, marks)));
  check_pairs(out, count, in, marks);
  // A comparator leaves a pair in order as it is, so equal keys all stay.
  if (kind == KEYS_EQUAL || kind == KEYS_LARGEST)
    check_1(out, 1, "u32", count, marks);
  permc_value_free(out);
  free(in);
  free(marks);
}

TEST(sort_pairs) {
  permc_context *c = load_file("tests/programs/sort_pairs.perm");
  for (int n = 0; n <= largest(); n++)
    for (keys kind = KEYS_RANDOM; kind < KEYS_KINDS; kind++)
      check_sort_pairs(c, (size_t)1 << n, kind);
  permc_context_free(c);
}

// ---- any number of keys ----------------------------------------------------------------------

// Monotone in the library's order: -0.0 before 0.0, NaN last and all the same.
static uint32_t rank_of_float(float x) {
  uint32_t bits = bits_of_float(x);
  if (isnan(x))
    return UINT32_MAX;
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

static int by_rank(const void *a, const void *b) {
  uint32_t x = rank_of_float(*(const float *)a), y = rank_of_float(*(const float *)b);
  return (x > y) - (x < y);
}

static int by_bits(const void *a, const void *b) {
  uint32_t x = bits_of_float(*(const float *)a), y = bits_of_float(*(const float *)b);
  return (x > y) - (x < y);
}

// The numbers are right to the bit; the NaN behind them are those of the input, in some order.
static void check_floats(const permc_value *out, size_t count, float *in) {
  if (!check_shape(out, 0, "f32", 1, (uint64_t[]){count}))
    return;
  float *found = malloc((count + 1) * sizeof *found);
  if (count > 0)
    memcpy(found, permc_value_data(out, 0), count * sizeof *found);
  qsort(in, count, sizeof *in, by_rank);
  size_t numbers = 0;
  while (numbers < count && !isnan(in[numbers]))
    numbers++;
  CHECK(memcmp(found, in, numbers * sizeof *found) == 0);
  qsort(found + numbers, count - numbers, sizeof *found, by_bits);
  qsort(in + numbers, count - numbers, sizeof *in, by_bits);
  CHECK(memcmp(found, in, count * sizeof *found) == 0);
  free(found);
}

typedef enum floats { NUMBERS, MIXED, ALL_EQUAL, ALL_NAN, ALL_MAXVAL, ZEROS, FLOATS_KINDS } floats;

static float some_float(floats kind, size_t i) {
  float nan = float_of_bits((i % 2 ? 0xffc00000u : 0x7fc00000u) + (uint32_t)i);
  switch (kind) {
  case MIXED:
    return random_below(3) == 0 ? nan : (float)random_below(5) * (random_below(2) ? -1.0f : 1.0f);
  case ALL_EQUAL:
    return 2.5f;
  case ALL_NAN:
    return nan;
  case ALL_MAXVAL:
    return INFINITY;
  case ZEROS:
    return random_below(2) ? -0.0f : 0.0f;
  default:
    return (float)random_f64();
  }
}

static void check_padded_sort(permc_context *c, size_t count, floats kind) {
  float *in = malloc((count + 1) * sizeof *in);
  for (size_t i = 0; i < count; i++)
    in[i] = some_float(kind, i);
  permc_value *out = run_value(c, "main", value_1("f32", count, in));
  // Equal keys never move, not even past the fill, which is equal to NaN.
  if (kind == ALL_NAN)
    check_1(out, 0, "f32", count, in);
  check_floats(out, count, in);
  permc_value_free(out);
  free(in);
}

TEST(padded_sort) {
  permc_context *c = load_file("tests/programs/padded_sort.perm");
  static const size_t counts[] = {0, 3, 5, 70, 1000};
  for (floats kind = NUMBERS; kind < FLOATS_KINDS; kind++) {
    for (int n = 0; n <= largest(); n++)
      check_padded_sort(c, (size_t)1 << n, kind);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
      check_padded_sort(c, counts[i], kind);
  }
  permc_context_free(c);
}

// ---- a matrix written out --------------------------------------------------------------------

TEST(flip2) {
  permc_context *c = load_file("tests/programs/flip2.perm");
  for (int n = 0; n <= largest(); n++) {
    size_t count = (size_t)1 << n, half = count / 2;
    uint8_t *in = malloc(count), *flipped = malloc(count);
    for (size_t i = 0; i < count; i++)
      in[i] = (uint8_t)random_u64();
    for (size_t i = 0; i < count; i++)
      flipped[i] = n > 0 && i >= half ? in[count - 1 - (i - half)] : in[i];
    permc_value *out = run_value(c, "main", value_1("u8", count, in));
    check_1(out, 0, "u8", count, in);
    permc_value_free(out);
    out = run_value(c, "once", value_1("u8", count, in));
    check_1(out, 0, "u8", count, flipped);
    permc_value_free(out);
    free(in);
    free(flipped);
  }
  permc_context_free(c);
}

// ---- FFT -------------------------------------------------------------------------------------

// All powers of exp(-2 pi i / count).
static double complex *roots_of_unity(size_t count) {
  double complex *w = malloc(count * sizeof *w);
  for (size_t i = 0; i < count; i++) {
    double angle = -2 * acos(-1) * (double)i / (double)count;
    w[i] = CMPLX(cos(angle), sin(angle));
  }
  return w;
}

static void sum_directly(size_t count, const double complex *w, const double complex *x,
                         double complex *y) {
  for (size_t k = 0; k < count; k++) {
    y[k] = 0;
    for (size_t j = 0; j < count; j++)
      y[k] += x[j] * w[j * k & (count - 1)];
  }
}

// For larger sizes: decimation in frequency, out of place, another algorithm than the program's.
static void sum_by_halves(size_t count, size_t stride, const double complex *w, double complex *x,
                          double complex *scratch, double complex *y, size_t spacing) {
  if (count == 1) {
    y[0] = x[0];
    return;
  }
  size_t half = count / 2;
  for (size_t i = 0; i < half; i++) {
    scratch[i] = x[i] + x[i + half];
    scratch[i + half] = (x[i] - x[i + half]) * w[i * stride];
  }
  sum_by_halves(half, 2 * stride, w, scratch, x, y, 2 * spacing);
  sum_by_halves(half, 2 * stride, w, scratch + half, x + half, y + spacing, 2 * spacing);
}

static double energy(size_t count, const double complex *x) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += creal(x[i]) * creal(x[i]) + cimag(x[i]) * cimag(x[i]);
  return sum;
}

static void widen(size_t count, const float *in, double complex *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = CMPLX((double)in[2 * i], (double)in[2 * i + 1]);
}

// The root mean square error relative to that of the transform, at most n+1 roundings' worth.
static void check_fft(permc_context *c, int n) {
  size_t count = (size_t)1 << n;
  float *in = malloc(2 * count * sizeof *in);
  for (size_t i = 0; i < 2 * count; i++)
    in[i] = (float)random_f64();
  double complex *x = malloc(count * sizeof *x), *y = malloc(count * sizeof *y);
  double complex *found = malloc(count * sizeof *found), *scratch = malloc(count * sizeof *x);
  widen(count, in, x);
  double before = energy(count, x);
  double complex *w = roots_of_unity(count);
  if (n <= 11)
    sum_directly(count, w, x, y);
  else
    sum_by_halves(count, 1, w, x, scratch, y, 1);
  permc_value *out = run_value(c, "main", value_1("c64", count, in));
  if (check_shape(out, 0, "c64", 1, (uint64_t[]){count})) {
    widen(count, permc_value_data(out, 0), found);
    double after = energy(count, found);
    for (size_t i = 0; i < count; i++)
      x[i] = found[i] - y[i];
    CHECK(sqrt(energy(count, x)) <= (n + 1) * (double)FLT_EPSILON * sqrt(after));
    CHECK(fabs(after / (double)count - before) <= (n + 1) * 2 * (double)FLT_EPSILON * before);
  }
  permc_value_free(out);
  free(in);
  free(x);
  free(y);
  free(found);
  free(scratch);
  free(w);
}

TEST(fft_against_sums) {
  permc_context *c = load_file("tests/programs/fft.perm");
  for (int n = 0; n <= largest(); n++)
    check_fft(c, n);
  permc_context_free(c);
}

TEST(fft_and_back) {
  permc_context *c = load_file("tests/programs/fft.perm");
  if (c != NULL)
    CHECK(permc_define(c, "\\xs -> ifft (main xs)"));
  for (int n = 0; n <= largest(); n++) {
    size_t count = (size_t)1 << n;
    float *in = malloc(2 * count * sizeof *in);
    for (size_t i = 0; i < 2 * count; i++)
      in[i] = (float)random_f64();
    permc_value *out = run_value(c, "-e", value_1("c64", count, in));
    if (check_shape(out, 0, "c64", 1, (uint64_t[]){count})) {
      const float *back = permc_value_data(out, 0);
      double worst = 0;
      for (size_t i = 0; i < 2 * count; i++)
        worst = fmax(worst, fabs((double)back[i] - (double)in[i]));
      CHECK(worst <= (n + 1) * 4 * (double)FLT_EPSILON);
    }
    permc_value_free(out);
    free(in);
  }
  permc_context_free(c);
}

// A constant has one coefficient, and an impulse has equal ones; all arithmetic is exact.
TEST(fft_exact) {
  permc_context *c = load_file("tests/programs/fft.perm");
  for (int n = 0; n <= largest(); n++) {
    size_t count = (size_t)1 << n;
    float *flat = calloc(2 * count, sizeof *flat), *impulse = calloc(2 * count, sizeof *impulse);
    for (size_t i = 0; i < count; i++)
      flat[2 * i] = 1;
    impulse[0] = 1;
    permc_value *out = run_value(c, "main", value_1("c64", count, impulse));
    if (check_shape(out, 0, "c64", 1, (uint64_t[]){count}))
      for (size_t i = 0; i < 2 * count; i++)
        CHECK(((const float *)permc_value_data(out, 0))[i] == flat[i]);
    permc_value_free(out);
    impulse[0] = (float)count;
    out = run_value(c, "main", value_1("c64", count, flat));
    if (check_shape(out, 0, "c64", 1, (uint64_t[]){count}))
      for (size_t i = 0; i < 2 * count; i++)
        CHECK(((const float *)permc_value_data(out, 0))[i] == impulse[i]);
    permc_value_free(out);
    free(flat);
    free(impulse);
  }
  permc_context_free(c);
}

TEST_MAIN()
