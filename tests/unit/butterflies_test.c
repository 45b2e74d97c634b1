// fft, ifft and fwht of the library against direct sums in long double, for 2^0 ... 2^10, with
// bounds on the error; inverses, linearity, shifts, convolution; roots of unity that programs ask
// for.
#include "tests/unit/api.h"

#include <complex.h>
#include <float.h>
#include <math.h>

typedef long double complex wide;

// The largest n of a direct sum, 4^n terms.
static int largest(void) { return slower() < 10 ? 10 : 6; }

static const long double pi = 3.141592653589793238462643383279502884L;

// exp(2 pi i k / m), through the octant where sine and cosine are exact at the ends.
static wide root(int64_t k, int64_t m) {
  k = ((k % m) + m) % m;
  if (8 * k > m && 8 * k <= 3 * m) {
    wide r = root(4 * k - m, 4 * m);  // a quarter less
    return CMPLXL(-cimagl(r), creall(r));
  }
  if (8 * k > 3 * m && 8 * k <= 5 * m) {
    wide r = root(2 * k - m, 2 * m);
    return CMPLXL(-creall(r), -cimagl(r));
  }
  if (8 * k > 5 * m && 8 * k <= 7 * m) {
    wide r = root(4 * k - 3 * m, 4 * m);
    return CMPLXL(cimagl(r), -creall(r));
  }
  if (8 * k > 7 * m)
    k -= m;
  return CMPLXL(cosl(2 * pi * (long double)k / (long double)m),
                sinl(2 * pi * (long double)k / (long double)m));
}

// ---- vectors of c64 or c128 ------------------------------------------------------------------

typedef struct vector {
  const char *type;
  size_t count;
  wide *x;
} vector;

static vector new_vector(const char *type, size_t count) {
  return (vector){type, count, calloc(count, sizeof(wide))};
}

static double epsilon_of(const char *type) {
  return strcmp(type, "c64") == 0 ? (double)FLT_EPSILON : DBL_EPSILON;
}

// Random, and exactly what the type holds.
static vector random_vector(const char *type, size_t count) {
  vector v = new_vector(type, count);
  for (size_t i = 0; i < count; i++) {
    double re = random_f64(), im = random_f64();
    bool narrow = strcmp(type, "c64") == 0;
    v.x[i] = narrow ? CMPLXL((float)re, (float)im) : CMPLXL(re, im);
  }
  return v;
}

static permc_value *value_of(vector v) {
  double *wide_parts = malloc(2 * v.count * sizeof *wide_parts);
  float *parts = malloc(2 * v.count * sizeof *parts);
  for (size_t i = 0; i < 2 * v.count; i++) {
    long double x = i % 2 ? cimagl(v.x[i / 2]) : creall(v.x[i / 2]);
    wide_parts[i] = (double)x;
    parts[i] = (float)x;
  }
  permc_value *value =
      value_1(v.type, v.count, strcmp(v.type, "c64") == 0 ? (void *)parts : wide_parts);
  free(parts);
  free(wide_parts);
  return value;
}

// Frees the value.
static vector vector_of(permc_value *value, const char *type, size_t count) {
  vector v = new_vector(type, count);
  if (check_shape(value, 0, type, 1, (uint64_t[]){count})) {
    const float *narrow = permc_value_data(value, 0);
    const double *parts = permc_value_data(value, 0);
    for (size_t i = 0; i < count; i++)
      v.x[i] = strcmp(type, "c64") == 0 ? CMPLXL(narrow[2 * i], narrow[2 * i + 1])
                                        : CMPLXL(parts[2 * i], parts[2 * i + 1]);
  } else {
    for (size_t i = 0; i < count; i++)
      v.x[i] = NAN;
  }
  permc_value_free(value);
  return v;
}

static vector apply(permc_context *c, vector v) {
  return vector_of(run_value(c, "-e", value_of(v)), v.type, v.count);
}

static long double norm(vector v) {
  long double sum = 0;
  for (size_t i = 0; i < v.count; i++)
    sum += creall(v.x[i]) * creall(v.x[i]) + cimagl(v.x[i]) * cimagl(v.x[i]);
  return sqrtl(sum);
}

// |found - expected| <= bound roundings of |expected|.
static void check_near(vector found, vector expected, double bound) {
  vector d = new_vector(found.type, found.count);
  for (size_t i = 0; i < found.count; i++)
    d.x[i] = found.x[i] - expected.x[i];
  if (!CHECK(norm(d) <= (long double)(bound * epsilon_of(found.type)) * norm(expected)))
    printf("%s, %zu elements: off by %Lg of %Lg\n", found.type, found.count, norm(d),
           norm(expected));
  free(d.x);
}

static vector dft(vector v, int sign) {
  vector y = new_vector(v.type, v.count);
  wide *w = malloc(v.count * sizeof *w);
  for (size_t k = 0; k < v.count; k++)
    w[k] = root(sign * (int64_t)k, (int64_t)v.count);
  for (size_t k = 0; k < v.count; k++)
    for (size_t j = 0; j < v.count; j++)
      y.x[k] += v.x[j] * w[j * k & (v.count - 1)];
  free(w);
  return y;
}

static const char *const complex_types[] = {"c64", "c128"};
#define EACH_SIZE_AND_TYPE                                                                         \
  for (int t = 0; t < 2; t++)                                                                      \
    for (int n = 0; n <= largest(); n++)

// ---- fft -------------------------------------------------------------------------------------

TEST(fft_is_the_sum) {
  permc_context *c = load_expression("fft");
  EACH_SIZE_AND_TYPE {
    vector x = random_vector(complex_types[t], (size_t)1 << n);
    vector found = apply(c, x), expected = dft(x, -1);
    check_near(found, expected, n + 1);
    free(x.x);
    free(found.x);
    free(expected.x);
  }
  permc_context_free(c);
}

TEST(ifft_is_the_sum) {
  permc_context *c = load_expression("ifft");
  EACH_SIZE_AND_TYPE {
    vector x = random_vector(complex_types[t], (size_t)1 << n);
    vector found = apply(c, x), expected = dft(x, 1);
    for (size_t i = 0; i < x.count; i++)
      expected.x[i] /= (long double)x.count;
    check_near(found, expected, n + 1);
    free(x.x);
    free(found.x);
    free(expected.x);
  }
  permc_context_free(c);
}

TEST(fft_there_and_back) {
  static const char *const expressions[] = {"ifft . fft", "fft . ifft", "\\xs -> ifft (fft xs)"};
  for (int k = 0; k < 3; k++) {
    permc_context *c = load_expression(expressions[k]);
    for (int t = 0; t < 2; t++)
      for (int n = 0; n <= (slower() == 1 ? 16 : 9); n++) {
        vector x = random_vector(complex_types[t], (size_t)1 << n), back = apply(c, x);
        check_near(back, x, 2 * (n + 1));
        free(x.x);
        free(back.x);
      }
    permc_context_free(c);
  }
}

TEST(fft_is_linear) {
  permc_context *c =
      load_expression("\\xs ys -> zip_with (-) (fft (zip_with (\\x y -> 2 * x - y) xs ys)) "
                      "(zip_with (\\x y -> 2 * x - y) (fft xs) (fft ys))");
  EACH_SIZE_AND_TYPE {
    vector x = random_vector(complex_types[t], (size_t)1 << n);
    vector y = random_vector(complex_types[t], x.count);
    outcome out = run_values(c, "-e", (permc_value *[]){value_of(x), value_of(y)}, 2);
    if (out.count == 1) {
      vector difference = vector_of(out.values[0], x.type, x.count);
      CHECK(norm(difference) <= (long double)((n + 1) * 4 * epsilon_of(x.type)) *
                                    (norm(x) + norm(y)) * sqrtl((long double)x.count));
      free(difference.x);
    }
    free(out.values);
    free(x.x);
    free(y.x);
  }
  permc_context_free(c);
}

TEST(fft_of_rows) {
  permc_context *c = load_expression("map fft"), *one = load_expression("fft");
  for (int t = 0; t < 2; t++)
    for (int n = 0; n <= 6; n++)
      for (uint64_t rows = 0; rows <= 3; rows++) {
        vector x = random_vector(complex_types[t], (size_t)(rows << n));
        size_t size = size_of_type(x.type), length = (size_t)1 << n;
        permc_value *flat = value_of(x);
        const char *data = permc_value_data(flat, 0);
        char *expected = malloc((rows << n) * size + 1);
        for (size_t i = 0; i < rows; i++) {
          size_t place = i * length * size;
          permc_value *row = run_value(one, "-e", value_1(x.type, length, data + place));
          if (row != NULL)
            memcpy(expected + place, permc_value_data(row, 0), length * size);
          permc_value_free(row);
        }
        permc_value *out = run_value(c, "-e", value_2(x.type, rows, length, data));
        check_2(out, 0, x.type, rows, length, expected);
        permc_value_free(out);
        permc_value_free(flat);
        free(expected);
        free(x.x);
      }
  permc_context_free(c);
  permc_context_free(one);
}

// exp(2 pi i f j / 2^n) has one coefficient, number f.
TEST(fft_of_a_wave) {
  permc_context *c = load_text("main : int -> [2^n]c128 -> [2^n]c128\n"
                               "main f xs = fft (mapi (\\j x -> x * root (j * f) (2^n)) xs)\n");
  for (int n = 0; n <= largest(); n++)
    for (int round = 0; round < 4; round++) {
      vector x = new_vector("c128", (size_t)1 << n), expected = new_vector("c128", x.count);
      int64_t f = (int64_t)random_below(3 * x.count) - (int64_t)x.count;
      for (size_t i = 0; i < x.count; i++)
        x.x[i] = 1;
      expected.x[(size_t)f & (x.count - 1)] = (long double)x.count;
      outcome out = run_values(c, "main", (permc_value *[]){value_0("i64", &f), value_of(x)}, 2);
      if (out.count == 1) {
        vector found = vector_of(out.values[0], "c128", x.count);
        check_near(found, expected, n + 1);
        free(found.x);
      }
      free(out.values);
      free(x.x);
      free(expected.x);
    }
  permc_context_free(c);
}

// ---- what is made of it ----------------------------------------------------------------------

static vector product(vector x, vector y, bool correlation) {
  vector z = new_vector(x.type, x.count);
  size_t last = x.count - 1;
  for (size_t k = 0; k < x.count; k++)
    for (size_t j = 0; j < x.count; j++)
      z.x[k] += correlation ? conjl(x.x[j]) * y.x[(j + k) & last] : x.x[j] * y.x[(k - j) & last];
  return z;
}

static void check_product(const char *expression, bool correlation) {
  permc_context *c = load_expression(expression);
  EACH_SIZE_AND_TYPE {
    vector x = random_vector(complex_types[t], (size_t)1 << n);
    vector y = random_vector(complex_types[t], x.count), expected = product(x, y, correlation);
    outcome out = run_values(c, "-e", (permc_value *[]){value_of(x), value_of(y)}, 2);
    if (out.count == 1) {
      vector found = vector_of(out.values[0], x.type, x.count), d = new_vector(x.type, x.count);
      for (size_t i = 0; i < x.count; i++)
        d.x[i] = found.x[i] - expected.x[i];
      CHECK(norm(d) <= (long double)(4 * (n + 1) * epsilon_of(x.type)) * norm(x) * norm(y));
      free(found.x);
      free(d.x);
    }
    free(out.values);
    free(x.x);
    free(y.x);
    free(expected.x);
  }
  permc_context_free(c);
}

TEST(convolution_and_correlation) {
  check_product("convolve", false);
  check_product("correlate", true);
}

static void check_fft2(permc_context *c, const char *type, int a, int b) {
  size_t rows = (size_t)1 << a, columns = (size_t)1 << b;
  vector x = random_vector(type, rows * columns), y = new_vector(type, x.count);
  for (size_t k = 0; k < x.count; k++)
    for (size_t j = 0; j < x.count; j++)
      y.x[k] += x.x[j] * root(-(int64_t)((j / columns) * (k / columns)), (int64_t)rows) *
                root(-(int64_t)((j % columns) * (k % columns)), (int64_t)columns);
  permc_value *flat = value_of(x);
  permc_value *out = run_value(c, "-e", value_2(type, rows, columns, permc_value_data(flat, 0)));
  if (check_shape(out, 0, type, 2, (uint64_t[]){rows, columns})) {
    vector found = vector_of(value_1(type, x.count, permc_value_data(out, 0)), type, x.count);
    check_near(found, y, a + b + 1);
    free(found.x);
  }
  permc_value_free(out);
  permc_value_free(flat);
  free(x.x);
  free(y.x);
}

TEST(two_dimensions) {
  permc_context *c = load_expression("fft2"), *back = load_expression("ifft2 . fft2");
  for (int a = 0; a <= 3; a++)
    for (int b = 0; b <= 3; b++)
      for (int t = 0; t < 2; t++)
        check_fft2(c, complex_types[t], a, b);
  for (int a = 0; a <= 5; a++) {
    uint64_t rows = (uint64_t)1 << a, columns = 8;
    vector x = random_vector("c128", rows * columns);
    permc_value *flat = value_of(x);
    permc_value *out =
        run_value(back, "-e", value_2("c128", rows, columns, permc_value_data(flat, 0)));
    if (check_shape(out, 0, "c128", 2, (uint64_t[]){rows, columns})) {
      vector found = vector_of(value_1("c128", x.count, permc_value_data(out, 0)), "c128", x.count);
      check_near(found, x, 2 * (a + 4));
      free(found.x);
    }
    permc_value_free(out);
    permc_value_free(flat);
    free(x.x);
  }
  permc_context_free(c);
  permc_context_free(back);
}

// Real samples: fft_real is fft of them, and power_spectrum its squares.
TEST(real_samples) {
  permc_context *c = load_expression("\\xs -> (fft_real xs, power_spectrum xs)");
  for (int wide_type = 0; wide_type < 2; wide_type++)
    for (int n = 0; n <= largest(); n++) {
      size_t count = (size_t)1 << n, half = count / 2 + 1;
      const char *type = wide_type ? "f64" : "f32", *complex_type = complex_types[wide_type];
      double *x = malloc(count * sizeof *x);
      float *narrow = malloc(count * sizeof *narrow);
      vector v = new_vector(complex_type, count);
      for (size_t i = 0; i < count; i++) {
        narrow[i] = (float)random_f64();
        x[i] = (double)narrow[i];
        v.x[i] = x[i];
      }
      vector expected = dft(v, -1);
      permc_value *in = value_1(type, count, wide_type ? (void *)x : narrow);
      outcome out = run_values(c, "-e", &in, 1);
      if (CHECK_EQ_U64(out.count, 2)) {
        if (check_shape(out.values[1], 0, type, 1, (uint64_t[]){half}))
          for (size_t k = 0; k < half; k++) {
            const void *data = permc_value_data(out.values[1], 0);
            double found = wide_type ? ((const double *)data)[k] : ((const float *)data)[k];
            long double power = cabsl(expected.x[k]) * cabsl(expected.x[k]);
            CHECK(fabsl(found - power) <= (long double)(4 * (n + 1) * epsilon_of(complex_type)) *
                                              norm(expected) * norm(expected));
          }
        permc_value_free(out.values[1]);
        vector found = vector_of(out.values[0], complex_type, count);
        check_near(found, expected, n + 1);
        free(found.x);
      }
      free(out.values);
      free(x);
      free(narrow);
      free(v.x);
      free(expected.x);
    }
  permc_context_free(c);
}

// ---- Walsh-Hadamard --------------------------------------------------------------------------

// All arithmetic wraps, so integers agree to the bit.
TEST(fwht_of_integers) {
  permc_context *c = load_expression("fwht");
  for (int n = 0; n <= largest(); n++) {
    size_t count = (size_t)1 << n;
    uint64_t *x = malloc(count * sizeof *x), *y = calloc(count, sizeof *y);
    uint8_t *small = malloc(count), *small_y = calloc(count, 1);
    for (size_t i = 0; i < count; i++) {
      x[i] = random_u64();
      small[i] = (uint8_t)x[i];
    }
    for (size_t k = 0; k < count; k++)
      for (size_t i = 0; i < count; i++) {
        y[k] += __builtin_parityll(k & i) ? -x[i] : x[i];
        small_y[k] = (uint8_t)y[k];
      }
    permc_value *out = run_value(c, "-e", value_1("i64", count, x));
    check_1(out, 0, "i64", count, y);
    permc_value_free(out);
    out = run_value(c, "-e", value_1("u64", count, x));
    check_1(out, 0, "u64", count, y);
    permc_value_free(out);
    out = run_value(c, "-e", value_1("i8", count, small));
    check_1(out, 0, "i8", count, small_y);
    permc_value_free(out);
    free(x);
    free(y);
    free(small);
    free(small_y);
  }
  permc_context_free(c);
}

// Walsh order: row k changes its sign k times.
TEST(walsh_counts_sign_changes) {
  permc_context *c = load_expression("walsh");
  for (int n = 0; n <= (slower() < 10 ? 8 : 5); n++) {
    size_t count = (size_t)1 << n;
    int64_t *matrix = calloc(count * count, sizeof *matrix), *unit = calloc(count, sizeof *unit);
    for (size_t i = 0; i < count; i++) {
      unit[i] = 1;
      permc_value *out = run_value(c, "-e", value_1("i64", count, unit));
      unit[i] = 0;
      for (size_t k = 0; out != NULL && k < count; k++)
        matrix[k * count + i] = ((const int64_t *)permc_value_data(out, 0))[k];
      permc_value_free(out);
    }
    for (size_t k = 0; k < count; k++) {
      size_t changes = 0;
      for (size_t i = 1; i < count; i++)
        changes += matrix[k * count + i] != matrix[k * count + i - 1];
      CHECK_EQ_U64(changes, k);
      CHECK_EQ_I64(matrix[k * count], 1);
    }
    free(matrix);
    free(unit);
  }
  permc_context_free(c);
}

static void check_unchanged(const char *expression, const char *type, size_t count,
                            const void *data) {
  permc_context *c = load_expression(expression);
  permc_value *out = run_value(c, "-e", value_1(type, count, data));
  check_1(out, 0, type, count, data);
  permc_value_free(out);
  permc_context_free(c);
}

// On small integers, also as floats, everything is exact.
TEST(fwht_there_and_back) {
  for (int n = 0; n <= (slower() == 1 ? 14 : 8); n++) {
    size_t count = (size_t)1 << n;
    int64_t *x = malloc(count * sizeof *x);
    float *f = malloc(count * sizeof *f);
    double *z = malloc(2 * count * sizeof *z);
    for (size_t i = 0; i < count; i++) {
      x[i] = (int64_t)random_below(200) - 100;
      f[i] = (float)x[i] + 0.0f;
      z[2 * i] = (double)x[i] + 0.0;
      z[2 * i + 1] = (double)random_below(100) + 1;
    }
    check_unchanged("ifwht . fwht", "i64", count, x);
    check_unchanged("iwalsh . walsh", "i64", count, x);
    check_unchanged("ifwht . fwht", "f32", count, f);
    check_unchanged("iwalsh . walsh", "c128", count, z);
    free(x);
    free(f);
    free(z);
  }
}

// ---- roots of unity --------------------------------------------------------------------------

static void check_root(double re, double im, int64_t k, int64_t m, double epsilon) {
  wide w = root(k, m);
  if (slower() > 10)
    epsilon *= 8;  // under valgrind a long double is a double
  bool good = fabsl((long double)re - creall(w)) <= (long double)epsilon * fabsl(creall(w)) &&
              fabsl((long double)im - cimagl(w)) <= (long double)epsilon * fabsl(cimagl(w));
  if (!CHECK(good))
    printf("root %" PRId64 " %" PRId64 ": %.17g %.17g, expected %.17Lg %.17Lg\n", k, m, re, im,
           creall(w), cimagl(w));
}

// The same k static, from a list, and dynamic, from an array: equal to the bit, both parts correct
// to one rounding, and so exact where they are 0, 1/2 (nearly) or 1.
static void check_roots(int64_t m) {
  char text[300];
  snprintf(text, sizeof text,
           "main : [c]int -> ([c]c64, [c]c128)\n"
           "main ks = (map (\\k -> root k %d) ks, map (\\k -> root k %d) ks)\n"
           "fixed : ([]c64, []c128)\n"
           "fixed = ([root k %d | k <- -3..%d], [root k %d | k <- -3..%d])\n",
           (int)m, (int)m, (int)m, (int)m + 3, (int)m, (int)m + 3);
  permc_context *c = load_text(text);
  size_t count = (size_t)m + 7;
  int64_t *ks = malloc(count * sizeof *ks);
  for (size_t i = 0; i < count; i++)
    ks[i] = (int64_t)i - 3;
  permc_value *in = value_1("i64", count, ks);
  outcome out = run_values(c, "main", &in, 1), fixed = run_values(c, "fixed", NULL, 0);
  if (CHECK_EQ_U64(out.count, 2) && CHECK_EQ_U64(fixed.count, 2) &&
      check_shape(out.values[0], 0, "c64", 1, (uint64_t[]){count}) &&
      check_shape(out.values[1], 0, "c128", 1, (uint64_t[]){count})) {
    const float *narrow = permc_value_data(out.values[0], 0);
    const double *parts = permc_value_data(out.values[1], 0);
    check_1(fixed.values[0], 0, "c64", count, narrow);
    check_1(fixed.values[1], 0, "c128", count, parts);
    for (size_t i = 0; i < count; i++) {
      check_root((double)narrow[2 * i], (double)narrow[2 * i + 1], ks[i], m, FLT_EPSILON / 2);
      check_root(parts[2 * i], parts[2 * i + 1], ks[i], m, DBL_EPSILON);
    }
  }
  permc_values_free(out.values, out.count);
  permc_values_free(fixed.values, fixed.count);
  permc_context_free(c);
  free(ks);
}

TEST(roots) {
  static const int64_t orders[] = {1,  2,  3,  4,  5,  6,  7,   8,   9,    10,
                                   12, 16, 24, 32, 60, 64, 100, 360, 1000, 1024};
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
    check_roots(orders[i]);
}

// k from the whole range of i64, reduced modulo m first.
TEST(roots_of_large_numbers) {
  permc_context *c = load_text("main : int -> (c128, c128, c128)\n"
                               "main k = (root k 8, root k 7, root k (2^40))\n");
  for (int round = 0; round < 200; round++) {
    int64_t k = round == 0 ? INT64_MIN : round == 1 ? INT64_MAX : (int64_t)random_u64();
    static const int64_t orders[3] = {8, 7, INT64_C(1) << 40};
    permc_value *in = value_0("i64", &k);
    outcome out = run_values(c, "main", &in, 1);
    for (size_t i = 0; i < out.count; i++) {
      const double *z = permc_value_data(out.values[i], 0);
      check_root(z[0], z[1], k % orders[i], orders[i], DBL_EPSILON);
    }
    permc_values_free(out.values, out.count);
  }
  permc_context_free(c);
}

// Butterflies with roots of order 1, 2 and 4 have no rounding at all.
TEST(small_transforms_are_exact) {
  permc_context *c = load_expression("fft");
  for (int round = 0; round < 100; round++) {
    double x[8], y[8];
    for (int i = 0; i < 8; i++)
      x[i] = (double)random_below(1000) - 500;
    for (int k = 0; k < 4; k++) {
      y[2 * k] = y[2 * k + 1] = 0;
      for (int j = 0; j < 4; j++) {
        static const int cosine[4] = {1, 0, -1, 0}, sine[4] = {0, -1, 0, 1};
        int turn = j * k % 4;
        y[2 * k] += x[2 * j] * cosine[turn] - x[2 * j + 1] * sine[turn];
        y[2 * k + 1] += x[2 * j] * sine[turn] + x[2 * j + 1] * cosine[turn];
      }
    }
    permc_value *out = run_value(c, "-e", value_1("c128", 4, x));
    if (check_shape(out, 0, "c128", 1, (uint64_t[]){4}))
      for (int i = 0; i < 8; i++)
        CHECK(((const double *)permc_value_data(out, 0))[i] == y[i]);
    permc_value_free(out);
  }
  permc_context_free(c);
}

TEST_MAIN()
