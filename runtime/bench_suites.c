// The table of suites and its expansion into cases. See bench_suites.h.
#include "runtime/bench_suites.h"

#include <inttypes.h>
#include <stdio.h>

// ---- suites -------------------------------------------------------------------------------------

static const bench_suite suites[] = {
    {"sort", "sorting u32 keys", "keys", BENCH_ELEMENTS_PER_SECOND},
    {"rows", "sorting the rows of 2^24 u32 keys", "keys in a row", BENCH_ELEMENTS_PER_SECOND},
    {"bmmc", "permutations that are affine in the index bits", "elements", BENCH_BYTES_PER_SECOND},
    {"fft", "Fourier transforms of c64", "elements", BENCH_ELEMENTS_PER_SECOND},
    {"padded", "sorting numbers of keys that are no powers of two", "keys",
     BENCH_ELEMENTS_PER_SECOND},
    {"scaling", "time per element and column of a sorting network", "keys",
     BENCH_SECONDS_PER_OPERATION},
};

const bench_suite *bench_suite_at(size_t index) {
  return index < sizeof suites / sizeof *suites ? &suites[index] : NULL;
}

const bench_suite *bench_suite_named(const char *name) {
  for (size_t i = 0; bench_suite_at(i); i++)
    if (strcmp(suites[i].name, name) == 0)
      return &suites[i];
  return NULL;
}

// ---- rows ---------------------------------------------------------------------------------------

typedef enum map_kind {
  NO_MAP,
  BIT_REVERSAL,
  TRANSPOSE,
  RANDOM_BPC,   // bit-permute/complement: a permutation of the index bits, some of them flipped
  RANDOM_BMMC,  // bit-matrix-multiply/complement: any invertible matrix
  GRAY_CODE
} map_kind;

// In texts $n is n, $N 2^n, $R 2^(24-n), $H and $L 2^ceil(n/2) and 2^floor(n/2). An expression that
// is NULL is the map's.
typedef struct suite_row {
  const char *suite, *series, *name, *expression, *types;
  int first, last, step;
  map_kind map;
  bench_property property;
  unsigned threads;
  const char *beside, *beside_types, *peer, *peer_arguments;
  const char *device_peer;  // on a GPU: another peer, with the same arguments
  int device_last;          // ... and larger sizes (0: the same)
} suite_row;

#define MAP(series, kind, expression, type, width, first, last, device_last)                       \
  {                                                                                                \
    "bmmc", series " " type, series " " type " 2^$n", expression, "[$N]" type, first, last, 2,     \
        kind, BENCH_MOVED, 0, NULL, NULL, "memcpy", "--count $N --width " width, NULL, device_last \
  }
#define PADDED(name, types)                                                                        \
  {                                                                                                \
    "padded", "padded sort", name, "padded maxval sort", types, 20, 20, 1, NO_MAP, BENCH_SORTED,   \
        0, "sort", "[1048576]u32", NULL, NULL, NULL, 0                                             \
  }

static const suite_row rows[] = {
    {"sort", "sort u32", "sort u32 2^$n", "sort", "[$N]u32", 10, 26, 2, NO_MAP, BENCH_SORTED, 0,
     NULL, NULL, "std_sort", "--count $N", "cub", 26},
    {"rows", "rows of u32", "sort rows of 2^$n u32", "map sort", "[$R][$N]u32", 5, 14, 1, NO_MAP,
     BENCH_SORTED, 0, NULL, NULL, "std_sort", "--count 16777216 --row $N", "cub", 0},
    {"bmmc", "bit reversal u32", "bit reversal u32 2^$n", "bitrev", "[$N]u32", 20, 26, 2,
     BIT_REVERSAL, BENCH_MOVED, 0, NULL, NULL, "bit_reversal", "--count $N", NULL, 28},
    {"bmmc", "transpose u32", "transpose u32 2^$n", "transpose", "[$H][$L]u32", 20, 26, 2,
     TRANSPOSE, BENCH_MOVED, 0, NULL, NULL, "memcpy", "--count $N", NULL, 28},
    MAP("random BPC", RANDOM_BPC, NULL, "u32", "4", 20, 26, 28),
    MAP("random BMMC", RANDOM_BMMC, NULL, "u32", "4", 20, 26, 28),
    MAP("Gray code", GRAY_CODE, "gray", "u32", "4", 20, 26, 28),
    MAP("bit reversal", BIT_REVERSAL, "bitrev", "u8", "1", 24, 24, 28),
    MAP("bit reversal", BIT_REVERSAL, "bitrev", "u16", "2", 24, 24, 28),
    MAP("bit reversal", BIT_REVERSAL, "bitrev", "u64", "8", 24, 24, 28),
    MAP("bit reversal", BIT_REVERSAL, "bitrev", "c128", "16", 24, 24, 28),
    MAP("random BMMC", RANDOM_BMMC, NULL, "u8", "1", 24, 24, 28),
    MAP("random BMMC", RANDOM_BMMC, NULL, "u16", "2", 24, 24, 28),
    MAP("random BMMC", RANDOM_BMMC, NULL, "u64", "8", 24, 24, 28),
    MAP("random BMMC", RANDOM_BMMC, NULL, "c128", "16", 24, 24, 28),
    {"fft", "fft c64", "fft c64 2^$n", "fft", "[$N]c64", 10, 24, 2, NO_MAP, BENCH_FOURIER, 0, NULL,
     NULL, "fftw", "--count $N", NULL, 0},
    PADDED("padded sort of 2^19 + 1", "[524289]u32"),
    PADDED("padded sort of 3 2^18", "[786432]u32"),
    PADDED("padded sort of 10^6", "[1000000]u32"),
    PADDED("padded sort of 2^20", "[1048576]u32"),
    PADDED("padded sort of 2^20 + 1", "[1048577]u32"),
    {"scaling", "1 thread", "sort u32 2^$n, 1 thread", "sort", "[$N]u32", 10, 26, 1, NO_MAP,
     BENCH_SORTED, 1, NULL, NULL, NULL, NULL, NULL, 0},
    {"scaling", "2 threads", "sort u32 2^$n, 2 threads", "sort", "[$N]u32", 10, 26, 1, NO_MAP,
     BENCH_SORTED, 2, NULL, NULL, NULL, NULL, NULL, 0},
};

// ---- maps ---------------------------------------------------------------------------------------

static uint64_t next_random(uint64_t *state) {  // SplitMix64, Steele, Lea and Flood 2014
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static f2_matrix random_permutation(int n, uint64_t *state) {
  int source[F2_MAX];
  for (int i = 0; i < n; i++)
    source[i] = i;
  for (int i = n; i > 1; i--) {
    int k = (int)(next_random(state) % (uint64_t)i), last = source[i - 1];
    source[i - 1] = source[k];
    source[k] = last;
  }
  return f2_permutation(n, source);
}

static f2_matrix random_invertible(int n, uint64_t *state) {
  uint64_t row[F2_MAX];
  f2_matrix a, inverse;
  do {
    for (int i = 0; i < n; i++)
      row[i] = next_random(state) & f2_mask(n);
    a = f2_from_rows(n, n, row);
  } while (!f2_inverse(a, &inverse));
  return a;
}

// [2^a][2^b] to [2^b][2^a], a the larger half: the low b bits become the high ones.
static f2_matrix transposition(int n) {
  int source[F2_MAX], b = n / 2;
  for (int i = 0; i < n; i++)
    source[i] = (i + b) % n;
  return f2_permutation(n, source);
}

static f2_matrix gray_code(int n) {
  uint64_t row[F2_MAX];
  for (int i = 0; i < n; i++)
    row[i] = f2_unit(i) | (i + 1 < n ? f2_unit(i + 1) : 0);
  return f2_from_rows(n, n, row);
}

// The same on every machine: the random ones depend on n and their kind.
static f2_affine map_of(map_kind kind, int n) {
  uint64_t state = 1000 * (uint64_t)kind + (uint64_t)n;
  f2_affine map = f2_affine_identity(n);
  switch (kind) {
  case BIT_REVERSAL:
    map.a = f2_bit_reversal(n);
    break;
  case TRANSPOSE:
    map.a = transposition(n);
    break;
  case RANDOM_BPC:
    map.a = random_permutation(n, &state);
    map.c = next_random(&state) & f2_mask(n);
    break;
  case RANDOM_BMMC:
    map.a = random_invertible(n, &state);
    map.c = next_random(&state) & f2_mask(n);
    break;
  case GRAY_CODE:
    map.a = gray_code(n);
    break;
  case NO_MAP:
    break;
  }
  return map;
}

// ---- expansion ----------------------------------------------------------------------------------

static uint64_t variable(char name, int n) {
  int exponent = name == 'N' ? n : name == 'R' ? 24 - n : name == 'H' ? n - n / 2 : n / 2;
  return name == 'n' ? (uint64_t)n : UINT64_C(1) << exponent;
}

static void substitute(char *to, size_t size, const char *form, int n) {
  size_t length = 0;
  for (const char *c = form ? form : ""; *c && length + 24 < size; c++) {
    if (*c == '$')
      length += (size_t)snprintf(to + length, size - length, "%" PRIu64, variable(*++c, n));
    else
      to[length++] = *c;
  }
  to[length] = 0;
}

static char *map_expression(f2_affine map) {
  text t = {0};
  text_string(&t, "bmmc [");
  for (int i = 0; i < map.a.rows; i++)
    text_printf(&t, "%s%" PRIu64, i ? ", " : "", map.a.row[i]);
  text_printf(&t, "] %" PRIu64, map.c);
  return t.data;
}

// The product of the lengths in "[16][1024]u32".
static uint64_t count_elements(const char *types) {
  uint64_t count = 1;
  for (const char *c = strchr(types, '['); c; c = strchr(c + 1, '['))
    count *= strtoull(c + 1, NULL, 10);
  return count;
}

// Columns of the network that sorts or transforms 2^n elements.
static uint64_t count_columns(const suite_row *row, int n) {
  uint64_t stages = (uint64_t)n;
  return row->property == BENCH_SORTED    ? stages * (stages + 1) / 2
         : row->property == BENCH_FOURIER ? stages
                                          : 0;
}

static bool expand(const suite_row *row, int n, bool device, bench_case *c) {
  *c = (bench_case){.suite = row->suite,
                    .series = row->series,
                    .threads = row->threads,
                    .property = row->property,
                    .map = map_of(row->map, n),
                    .peer = device ? row->device_peer : row->peer};
  substitute(c->name, sizeof c->name, row->name, n);
  substitute(c->types, sizeof c->types, row->types, n);
  substitute(c->beside, sizeof c->beside, row->beside, n);
  substitute(c->beside_types, sizeof c->beside_types, row->beside_types, n);
  substitute(c->peer_arguments, sizeof c->peer_arguments, row->peer_arguments, n);
  c->elements = count_elements(c->types);
  c->x = row->beside ? c->elements : UINT64_C(1) << n;
  c->columns = count_columns(row, row->beside ? f2_msb(c->elements - 1) + 1 : n);
  c->expression = row->expression ? strdup(row->expression) : map_expression(c->map);
  return c->expression != NULL;
}

static int last_of(const suite_row *row, bool device) {
  return device && row->device_last ? row->device_last : row->last;
}

size_t bench_suite_cases(const char *suite, bool device, bench_case **cases) {
  size_t count = 0, next = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].suite, suite) == 0)
      count += (size_t)((last_of(&rows[i], device) - rows[i].first) / rows[i].step + 1);
  *cases = calloc(count + 1, sizeof **cases);
  for (size_t i = 0; *cases && i < sizeof rows / sizeof *rows; i++)
    for (int n = rows[i].first; n <= last_of(&rows[i], device) && !strcmp(rows[i].suite, suite);
         n += rows[i].step)
      if (!expand(&rows[i], n, device, &(*cases)[next++])) {
        bench_cases_free(*cases, next);
        *cases = NULL;
        return 0;
      }
  return *cases ? count : 0;
}

void bench_cases_free(bench_case *cases, size_t count) {
  for (size_t i = 0; cases && i < count; i++)
    free(cases[i].expression);
  free(cases);
}
