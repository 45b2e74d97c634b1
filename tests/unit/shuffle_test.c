// Whether shuffle_random looks random, as docs/library.md promises: over many seeds, by tests
// whose statistics have a mean and a spread that are known for random permutations. All seeds are
// fixed.
#include "tests/test.h"

#include "runtime/permc.h"

#include <math.h>

enum { FAR = 5 };  // standard deviations from the mean

// The shuffles of 0, 1, ..., n - 1 by so many seeds, row by row.
typedef struct sample {
  uint64_t n, count;
  permc_value **results;
  size_t result_count;
  const int64_t *places;
} sample;

static bool sample_take(sample *s, uint64_t n, uint64_t count) {
  char code[200];
  int64_t *seeds = malloc(count * sizeof *seeds);
  *s = (sample){.n = n, .count = count};
  permc_context *c = permc_context_new();
  snprintf(code, sizeof code,
           "main : [k]int -> [k][%" PRIu64 "]int\n"
           "main seeds = map (\\s -> shuffle_random s (iota %" PRIu64 ")) seeds\n",
           n, n);
  for (uint64_t i = 0; i < count; i++)
    seeds[i] = (int64_t)(n * 1000000 + i);
  permc_value *arguments[] = {permc_value_new("i64", 1, &count, seeds)};
  bool good = CHECK(permc_load_text(c, "shuffle.perm", code, strlen(code))) &&
              CHECK(permc_run(c, "main", "portable", arguments, 1, &s->results, &s->result_count));
  if (!good)
    printf("%s\n", permc_message(c));
  s->places = good ? permc_value_data(s->results[0], 0) : NULL;
  permc_value_free(arguments[0]);
  permc_context_free(c);
  free(seeds);
  return good;
}

static void sample_free(sample *s) { permc_values_free(s->results, s->result_count); }

static const int64_t *row_of(const sample *s, uint64_t i) { return s->places + i * s->n; }

static void check_far(const sample *s, const char *what, double far) {
  if (!CHECK(fabs(far) < FAR))
    printf("%s of %" PRIu64 " elements: %.1f standard deviations off\n", what, s->n, far);
}

// Of counts that are expected to be equal: chi-square, in standard deviations. `lost`: of how many
// counts one is known by the others.
static double chi_square(const uint64_t *counts, uint64_t cells, uint64_t lost) {
  double all = 0, sum = 0, freedom = (double)(cells - lost);
  for (uint64_t i = 0; i < cells; i++)
    all += (double)counts[i];
  for (uint64_t i = 0; i < cells; i++) {
    double off = (double)counts[i] - all / (double)cells;
    sum += off * off * (double)cells / all;
  }
  return (sum - freedom) / sqrt(2 * freedom);
}

static void check_permutations(const sample *s) {
  bool *taken = malloc(s->n), good = true;
  for (uint64_t k = 0; k < s->count && good; k++) {
    memset(taken, 0, s->n);
    for (uint64_t i = 0; i < s->n && good; i++) {
      uint64_t x = (uint64_t)row_of(s, k)[i];
      good = x < s->n && !taken[x];
      taken[good ? x : 0] = true;
    }
  }
  CHECK(good);
  free(taken);
}

// ---- few elements ------------------------------------------------------------------------------

// The number of a permutation of at most 5 elements, by what is less among those behind each.
static uint64_t number_of(const int64_t *row, uint64_t n) {
  uint64_t number = 0;
  for (uint64_t i = 0; i < n; i++) {
    uint64_t less = 0;
    for (uint64_t k = i + 1; k < n; k++)
      less += row[k] < row[i];
    number = number * (n - i) + less;
  }
  return number;
}

TEST(all_permutations) {
  for (uint64_t n = 2, all = 2; n <= 5; n++, all *= n) {
    sample s;
    uint64_t counts[120] = {0};
    REQUIRE(sample_take(&s, n, test_amount(6000, 24000)));
    for (uint64_t k = 0; k < s.count; k++)
      counts[number_of(row_of(&s, k), n)]++;
    check_far(&s, "permutations", chi_square(counts, all, 1));
    sample_free(&s);
  }
}

// How often each element is at each place.
static void check_positions(const sample *s) {
  uint64_t n = s->n, *counts = calloc(n * n, sizeof *counts);
  for (uint64_t k = 0; k < s->count; k++)
    for (uint64_t i = 0; i < n; i++)
      counts[i * n + (uint64_t)row_of(s, k)[i]]++;
  check_far(s, "positions", chi_square(counts, n * n, 2 * n - 1));
  free(counts);
}

// Which two elements come to two neighbouring places.
static void check_pairs(const sample *s, uint64_t at) {
  uint64_t n = s->n, cells = 0, *counts = calloc(n * n, sizeof *counts);
  for (uint64_t k = 0; k < s->count; k++) {
    uint64_t x = (uint64_t)row_of(s, k)[at], y = (uint64_t)row_of(s, k)[at + 1];
    counts[x * (n - 1) + y - (y > x)]++;
    cells = n * (n - 1);
  }
  check_far(s, "pairs", chi_square(counts, cells, 1));
  free(counts);
}

// How far apart, modulo n, elements are that come to neighbouring places.
static void check_distances(const sample *s) {
  uint64_t n = s->n, *counts = calloc(n, sizeof *counts);
  for (uint64_t k = 0; k < s->count; k++)
    for (uint64_t i = 0; i + 1 < n; i++)
      counts[((uint64_t)row_of(s, k)[i + 1] + n - (uint64_t)row_of(s, k)[i]) % n]++;
  check_far(s, "distances", chi_square(counts + 1, n - 1, 1));
  free(counts);
}

// Elements that stay: their number has the mean 1 and the variance 1.
static void check_fixed_points(const sample *s) {
  double sum = 0;
  for (uint64_t k = 0; k < s->count; k++)
    for (uint64_t i = 0; i < s->n; i++)
      sum += row_of(s, k)[i] == (int64_t)i;
  check_far(s, "fixed points", (sum - (double)s->count) / sqrt((double)s->count));
}

// The correlation of element i with the one `lag` places behind it (0: with i), which has the mean
// 0 and the variance 1 / (n - 1) or almost so. Over all seeds, in standard deviations.
static double correlation(const sample *s, uint64_t lag) {
  double middle = (double)(s->n - 1) / 2, squares = 0, sum = 0;
  for (uint64_t i = 0; i < s->n; i++)
    squares += ((double)i - middle) * ((double)i - middle);
  for (uint64_t k = 0; k < s->count; k++)
    for (uint64_t i = 0; i + lag < s->n; i++)
      sum += ((double)row_of(s, k)[i] - middle) *
             ((lag ? (double)row_of(s, k)[i + lag] : (double)i) - middle);
  return sum / squares * sqrt((double)(s->n - 1) / (double)s->count);
}

TEST(few_elements) {
  static const uint64_t lengths[] = {7, 16, 31, 100};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    sample s;
    REQUIRE(sample_take(&s, lengths[i], test_amount(10000, 40000) / (1 + lengths[i] / 20)));
    check_permutations(&s);
    check_positions(&s);
    check_pairs(&s, 0);
    check_pairs(&s, lengths[i] / 2);
    check_distances(&s);
    check_fixed_points(&s);
    check_far(&s, "correlation with the index", correlation(&s, 0));
    sample_free(&s);
  }
}

TEST(some_thousand_elements) {
  sample s;
  REQUIRE(sample_take(&s, 4099, test_amount(20, 100)));
  check_permutations(&s);
  check_fixed_points(&s);
  for (uint64_t lag = 0; lag < 4; lag++)
    check_far(&s, "correlation", correlation(&s, lag));
  sample_free(&s);
}

// ---- tiles -------------------------------------------------------------------------------------

// Of which of 32 parts elements come into which: chi-square of each shuffle is about that of random
// ones.
static void check_parts(const sample *s) {
  enum { PARTS = 32 };
  double sum = 0;
  for (uint64_t k = 0; k < s->count; k++) {
    uint64_t counts[PARTS * PARTS] = {0};
    for (uint64_t i = 0; i < s->n; i++)
      counts[i * PARTS / s->n * PARTS + (uint64_t)row_of(s, k)[i] * PARTS / s->n]++;
    sum += chi_square(counts, PARTS * PARTS, 2 * PARTS - 1);
  }
  check_far(s, "parts", sum / sqrt((double)s->count));
}

// The places in lines of 32: of an element before and after, and of two neighbours.
static void check_lines(const sample *s) {
  uint64_t moved[1024] = {0}, pairs[1024] = {0};
  for (uint64_t k = 0; k < s->count; k++)
    for (uint64_t i = 0; i + 1 < s->n; i++) {
      uint64_t x = (uint64_t)row_of(s, k)[i] & 31, y = (uint64_t)row_of(s, k)[i + 1] & 31;
      moved[(i & 31) * 32 + x]++;
      pairs[x * 32 + y]++;
    }
  check_far(s, "places in lines", chi_square(moved, 1024, 63));
  check_far(s, "neighbours in lines", chi_square(pairs, 1024, 1));
}

TEST(tiles) {
  static const uint64_t lengths[] = {70001, 1 << 17};
  for (size_t i = 0; i < 2; i++) {
    sample s;
    REQUIRE(sample_take(&s, lengths[i], test_amount(4, 30)));
    check_permutations(&s);
    check_fixed_points(&s);
    check_parts(&s);
    check_lines(&s);
    for (uint64_t lag = 0; lag < 3; lag++)
      check_far(&s, "correlation", correlation(&s, lag));
    sample_free(&s);
  }
}

TEST_MAIN()
