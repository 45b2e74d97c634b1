// Permutations by strategies: their kernels, compiled for the host with counters, compute what they
// are to, and ask of memory and of the banks what the HMM paper proves.
#include "tests/test.h"

#ifndef __clang__  // gcc does not see that what is stored has been loaded, by the same condition
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#define PERMC_COUNT "tests/unit/touches.h"
#include "kernels/routines/permute/permute.h"
#include "kernels/routines/permute/permute_mix.h"
#include "kernels/text/cuda_host.h"
#include "tests/unit/permute_kernels.h"

#include "core/random.h"

typedef struct two_words {
  uint64_t bits[2];
} two_words;

// As permute_text writes it, by the bytes of an element.
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-value"
#define PERMUTE_BLOCKS 1
#define PERMUTE_DIRECT 4
#define PERMUTE_ROWS 64
#define PERMUTE_WIDTH 128

#define PERMUTE_CASE 1
typedef uint8_t permute_element;
typedef uint32_t permute_word;
#define PERMUTE_TILE 32768
#define PERMUTE_THREADS 1024
#include "kernels/routines/permute/permute_text.h"
#undef PERMUTE_CASE
#define PERMUTE_CASE 2
typedef uint16_t permute_element;
typedef uint32_t permute_word;
#include "kernels/routines/permute/permute_text.h"
#undef PERMUTE_CASE
#undef PERMUTE_TILE
#undef PERMUTE_THREADS
#define PERMUTE_THREADS 512

#define PERMUTE_CASE 4
typedef uint32_t permute_element, permute_word;
#define PERMUTE_TILE 16384
#include "kernels/routines/permute/permute_text.h"
#undef PERMUTE_CASE
#undef PERMUTE_TILE
#define PERMUTE_CASE 8
typedef uint64_t permute_element, permute_word;
#define PERMUTE_TILE 8192
#include "kernels/routines/permute/permute_text.h"
#undef PERMUTE_CASE
#undef PERMUTE_TILE
#define PERMUTE_CASE 16
typedef two_words permute_element, permute_word;
#define PERMUTE_TILE 4096
#include "kernels/routines/permute/permute_text.h"

// Without tiles and without a matrix, as it is for direct strategies.
#undef PERMUTE_CASE
#undef PERMUTE_TILE
#undef PERMUTE_THREADS
#undef PERMUTE_ROWS
#undef PERMUTE_WIDTH
#define PERMUTE_CASE 0
typedef uint32_t permute_element, permute_word;
#define PERMUTE_TILE 0
#define PERMUTE_THREADS 0
#define PERMUTE_ROWS 0
#define PERMUTE_WIDTH 0
#include "kernels/routines/permute/permute_text.h"
PERMC_COUNTERS

#undef permute_element
#undef permute_word
static const uint32_t widths[] = {1, 2, 4, 8, 16};
static const uint32_t tiles[] = {32768, 32768, 16384, 8192, 4096};
enum { WIDTHS = 5 };

// ---- launches ----------------------------------------------------------------------------------

typedef struct call {
  char *scratch;
  uint64_t item;
  void *array[LAUNCH_MOST_ARRAYS];
  const uint64_t *number;
} call;

#define CALL(kernel, ...)                                                                          \
  if (!strcmp(name, #kernel)) {                                                                    \
    switch (bytes) {                                                                               \
    case 1:                                                                                        \
      PERMUTE_JOINED(kernel, 1)(c->scratch, c->item, __VA_ARGS__);                                 \
      return;                                                                                      \
    case 2:                                                                                        \
      PERMUTE_JOINED(kernel, 2)(c->scratch, c->item, __VA_ARGS__);                                 \
      return;                                                                                      \
    case 4:                                                                                        \
      PERMUTE_JOINED(kernel, 4)(c->scratch, c->item, __VA_ARGS__);                                 \
      return;                                                                                      \
    case 8:                                                                                        \
      PERMUTE_JOINED(kernel, 8)(c->scratch, c->item, __VA_ARGS__);                                 \
      return;                                                                                      \
    default:                                                                                       \
      PERMUTE_JOINED(kernel, 16)(c->scratch, c->item, __VA_ARGS__);                                \
      return;                                                                                      \
    }                                                                                              \
  }

static void run_block(const char *name, uint32_t bytes, const call *c) {
  void *const *a = c->array;
  CALL(d_designated, a[0], a[1], a[2], c->number[0])
  CALL(s_designated, a[0], a[1], a[2], c->number[0])
  CALL(rows, a[0], a[1], a[2], a[3])
  CALL(columns, a[0], a[1], a[2], a[3])
  CALL(transpose, a[0], a[1])
  CALL(transpose_back, a[0], a[1])
  CALL(put, a[0], a[1], a[2], c->number[0])
  CALL(collect, a[0], a[1], a[2], a[3], a[4], c->number[0], c->number[1])
  CHECK(false);
}

// Sums over the accesses of full warps.
typedef struct sums {
  uint64_t warps, lines[2], turns[2], least_turns[2];
} sums;

static sums take_counts(void) {
  sums out = {0};
  permc_count_rest();
  for (uint32_t i = 0; i < permc_access_count; i++) {
    const permc_access *a = &permc_accesses[i];
    if (a->kind <= PERMC_STORES)
      out.lines[a->kind] += a->lines;
    else {
      out.turns[a->kind - PERMC_GETS] += a->turns;
      out.least_turns[a->kind - PERMC_GETS] += a->least_turns;
    }
  }
  memset(permc_accesses, 0, permc_access_count * sizeof *permc_accesses);
  return out;
}

typedef struct subject {
  permute_shape shape;
  permute_tables tables;
  uint32_t *p;
  char *arrays[3], *scratch;
} subject;

static uint64_t byte_of(uint64_t i) { return i * UINT64_C(0x9E3779B97F4A7C15) >> 56; }

static void subject_make_for(subject *s, permute_strategy strategy, uint64_t n, uint32_t bytes,
                             const permute_spread *spread) {
  *s = (subject){.p = malloc((n + 1) * sizeof(uint32_t)), .scratch = aligned_alloc(128, 1 << 18)};
  CHECK_STR(permute_shape_of(strategy, n, bytes, spread, &s->shape), NULL);
  s->tables = permute_tables_of(&s->shape);
  for (int i = 0; i < PERMUTE_TABLES; i++)
    s->tables.data[i] = aligned_alloc(128, (s->tables.bytes[i] + 128) / 128 * 128);
  for (int i = 0; i < 3; i++)
    s->arrays[i] = aligned_alloc(128, (n * bytes + 256) / 128 * 128);
  for (uint64_t i = 0; i < n * bytes; i++)
    s->arrays[0][i] = (char)byte_of(i);
}

static void subject_make(subject *s, permute_strategy strategy, uint64_t n, uint32_t bytes) {
  subject_make_for(s, strategy, n, bytes, NULL);
}

static void subject_free(subject *s) {
  for (int i = 0; i < PERMUTE_TABLES; i++)
    free(s->tables.data[i]);
  for (int i = 0; i < 3; i++)
    free(s->arrays[i]);
  free(s->p);
  free(s->scratch);
}

// Makes the schedule of s->p, runs its kernels, and compares. counts: by launch, or NULL.
static void subject_run(subject *s, sums *counts) {
  routine_launch launches[PERMUTE_LAUNCHES];
  uint64_t n = s->shape.n, wrong = 0;
  uint32_t bytes = s->shape.bytes, count = permute_launches(&s->shape, launches);
  schedule_means means = {.threads = 1};
  CHECK(permute_tables_make(&s->shape, &(place_list){s->p, 4, s->shape.n}, &means, &s->tables));
  memset(s->arrays[1], 0xee, n * bytes);
  for (uint32_t k = 0; k < count; k++) {
    const routine_launch *l = &launches[k];
    call c = {.scratch = s->scratch, .number = l->numbers};
    for (uint32_t i = 0; i < l->array_count; i++)
      c.array[i] = l->arrays[i] < PERMUTE_TABLE ? (void *)s->arrays[l->arrays[i]]
                                                : s->tables.data[l->arrays[i] - PERMUTE_TABLE];
    for (c.item = 0; c.item < l->blocks; c.item++)
      run_block(l->kernel, bytes, &c);
    sums found = take_counts();
    if (counts)
      counts[k] = found;
  }
  for (uint64_t i = 0; i < n; i++)
    wrong += memcmp(s->arrays[1] + s->p[i] * (uint64_t)bytes, s->arrays[0] + i * bytes, bytes) != 0;
  CHECK_EQ_U64(wrong, 0);
}

static void shuffle(uint32_t *p, uint64_t n, uint64_t seed) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t k = draw_below(&seed, i + 1);
    p[i] = p[k];
    p[k] = i;
  }
}

// i by its bits: in reverse order; rotated, so that a matrix is transposed.
static uint32_t image_of(int kind, uint32_t i, uint32_t bits) {
  uint32_t reversed = 0, half = bits / 2;
  for (uint32_t k = 0; k < bits; k++)
    reversed |= (i >> k & 1) << (bits - 1 - k);
  return kind == 0   ? i
         : kind == 1 ? reversed
                     : (i << half | i >> (bits - half)) & ((1U << bits) - 1);
}

// ---- tests -------------------------------------------------------------------------------------

TEST(random_permutations) {
  static const permute_strategy any[] = {PERMUTE_D_DESIGNATED, PERMUTE_S_DESIGNATED, PERMUTE_TILED};
  for (uint32_t w = 0; w < WIDTHS; w++)
    for (uint32_t k = 0; k < 3; k++) {
      const uint64_t sizes[] = {0, 1, 31, tiles[w] - 1, tiles[w] + 1, 3 * tiles[w] + 1009};
      for (uint32_t i = any[k] == PERMUTE_TILED ? 0 : 1; i < (any[k] == PERMUTE_TILED ? 6 : 3);
           i++) {
        subject s;
        subject_make(&s, any[k], sizes[i], widths[w]);
        shuffle(s.p, sizes[i], 77 + i);
        subject_run(&s, NULL);
        if (any[k] == PERMUTE_TILED)
          CHECK_EQ_U64(s.shape.tile, tiles[w]);
        subject_free(&s);
      }
    }
}

// Lines of memory are as few as a copy has, whatever p is, but where segments are collected; turns
// at the banks are as of random addresses also where neighbours are all of one bank.
TEST(tiles) {
  enum { BITS = 16, N = 1 << BITS };
  for (int kind = 0; kind < 3; kind++) {
    subject s;
    sums counts[PERMUTE_LAUNCHES];
    subject_make(&s, PERMUTE_TILED, N, 4);
    for (uint32_t i = 0; i < N; i++)
      s.p[i] = image_of(kind, i, BITS);
    subject_run(&s, counts);
    CHECK_EQ_U64(counts[0].lines[PERMC_LOADS], N / 32 + N / 64);
    CHECK_EQ_U64(counts[0].lines[PERMC_STORES], N / 32);
    CHECK_EQ_U64(counts[1].lines[PERMC_STORES], N / 32);
    for (int k = 0; k < 2; k++) {
      CHECK_EQ_U64(counts[k].turns[0], counts[k].least_turns[0]);
      CHECK(counts[k].turns[1] < 5 * counts[k].least_turns[1]);
    }
    subject_free(&s);
  }
}

// Rows of 64.
TEST(in_rows) {
  enum { LENGTH = 64 };
  for (uint32_t w = 0; w < WIDTHS; w++) {
    uint64_t n = 2 * tiles[w] + 640;
    permute_spread spread = {.rows = LENGTH}, found;
    schedule_means means = {.threads = 1};
    sums counts[PERMUTE_LAUNCHES];
    subject s;
    subject_make_for(&s, PERMUTE_IN_ROWS, n, widths[w], &spread);
    CHECK_EQ_U64(s.shape.tile, tiles[w]);
    for (uint64_t i = 0; i < n; i++) {
      uint64_t k = i % LENGTH, j = byte_of(n + i) % (k + 1);
      s.p[i] = s.p[i - k + j];
      s.p[i - k + j] = (uint32_t)i;
    }
    CHECK(permute_spread_of(n, widths[w], &(place_list){s.p, 4, n}, &means, &found));
    CHECK(found.rows == LENGTH);
    subject_run(&s, counts);
    CHECK(counts[0].lines[PERMC_STORES] <= (n * widths[w] + 127) / 128);
    subject_free(&s);
  }
}

// Table I of the HMM paper: row-wise permutations have 3 coalesced reads, 1 coalesced write, 2
// reads and 2 writes without conflicts; transposes 1 of each. Together 11, 5, 8 and 8.
TEST(scheduled) {
  enum { N = 64 * 128 };
  for (uint32_t w = 2; w < WIDTHS; w++) {
    subject s;
    sums counts[PERMUTE_LAUNCHES];
    uint64_t lines = N * widths[w] / 128, turns = 0;
    subject_make(&s, PERMUTE_SCHEDULED, N, widths[w]);
    CHECK_EQ_U64(s.shape.rows, 64);
    CHECK_EQ_U64(s.shape.width, 128);
    shuffle(s.p, N, 5);
    subject_run(&s, counts);
    for (uint32_t k = 0; k < PERMUTE_LAUNCHES; k++) {
      CHECK_EQ_U64(counts[k].lines[PERMC_LOADS], lines + (k % 2 ? 0 : 2 * N / 32));
      CHECK_EQ_U64(counts[k].lines[PERMC_STORES], lines);
      turns += counts[k].turns[0] + counts[k].turns[1];
      for (int i = 0; i < 2; i++)
        CHECK_EQ_U64(counts[k].turns[i], counts[k].least_turns[i]);
    }
    CHECK_EQ_U64(turns, (8 + 8) * lines);
    subject_free(&s);
  }
}

// Casual writes touch a line for each address group: D_w (p) of section IV.
TEST(direct) {
  enum { BITS = 12, N = 1 << BITS };
  subject s;
  sums counts[PERMUTE_LAUNCHES];
  subject_make(&s, PERMUTE_D_DESIGNATED, N, 4);
  for (uint32_t i = 0; i < N; i++)
    s.p[i] = image_of(1, i, BITS);
  subject_run(&s, counts);
  CHECK_EQ_U64(counts[0].lines[PERMC_LOADS], 2 * N / 32);
  CHECK_EQ_U64(counts[0].lines[PERMC_STORES], N);
  subject_free(&s);
}

// The direct strategies are chosen while the second cache holds the array, or where p keeps
// neighbours together.
TEST(choice) {
  enum { BITS = 18, N = 1 << BITS };
  schedule_means means = {.threads = 1};
  uint32_t *p = malloc(N * sizeof *p);
  permute_shape s;
  permute_spread spread;
  for (int kind = 0; kind < 2; kind++) {
    for (uint32_t i = 0; i < N; i++)
      p[i] = image_of(kind, i, BITS);
    CHECK(permute_spread_of(N, 4, &(place_list){p, 4, N}, &means, &spread));
    CHECK(kind ? spread.reads.window > 0.4 && spread.reads.warp == 1
               : spread.reads.window == 0.125 && spread.writes.warp == 0.125);
    CHECK_EQ_I64(permute_choose(UINT64_C(1) << 28, 4, &spread, &s),
                 kind ? PERMUTE_TILED : PERMUTE_S_DESIGNATED);
  }
  for (uint32_t i = 0; i < N; i++)  // in rows of 4096: neighbours of a warp are apart
    p[i] = i / 4096 * 4096 + image_of(1, i % 4096, 12);
  p[0] = 1, p[2048] = 0;
  CHECK(permute_spread_of(N, 4, &(place_list){p, 4, N}, &means, &spread));
  CHECK(spread.rows == 4096 && spread.reads.warp > 0.9 && spread.reads.window < 0.2);
  CHECK_EQ_I64(permute_choose(N, 4, &spread, &s), PERMUTE_IN_ROWS);
  free(p);
  CHECK_EQ_I64(permute_choose(UINT64_C(1) << 20, 4, NULL, &s), PERMUTE_S_DESIGNATED);
  CHECK_EQ_I64(permute_choose(UINT64_C(1) << 23, 4, NULL, &s), PERMUTE_TILED);
  CHECK_EQ_I64(permute_choose(UINT64_C(1) << 30, 16, NULL, &s), PERMUTE_S_DESIGNATED);
}

TEST(shapes) {
  permute_shape s;
  CHECK_STR(permute_shape_of(PERMUTE_SCHEDULED, 1000, 4, NULL, &s),
            "the array is no matrix whose rows and columns are multiples of 32");
  CHECK_STR(permute_shape_of(PERMUTE_SCHEDULED, UINT64_C(1) << 28, 16, NULL, &s),
            "a row has no room in fast memory");
  CHECK_STR(permute_shape_of(PERMUTE_SCHEDULED, UINT64_C(1) << 28, 8, NULL, &s), NULL);
  CHECK_STR(permute_shape_of(PERMUTE_TILED, UINT64_C(1) << 31, 4, NULL, &s),
            "it has more than 2^31 elements");
  CHECK_STR(permute_shape_of(PERMUTE_TILED, UINT64_C(1) << 28, 4, NULL, &s), NULL);
  CHECK_EQ_U64(s.tile, 32768);
  permute_spread spread = {.rows = 1000};
  CHECK_STR(permute_shape_of(PERMUTE_IN_ROWS, 1 << 24, 4, &spread, &s), NULL);
  CHECK(s.tile == 32000 && s.threads == 800);
  CHECK_STR(permute_shape_of(PERMUTE_IN_ROWS, 1 << 24, 4, NULL, &s),
            "elements do not stay in rows");
  spread = (permute_spread){.rows = 997};
  CHECK_STR(permute_shape_of(PERMUTE_IN_ROWS, 1 << 24, 4, &spread, &s),
            "rows have no room in fast memory");
}

TEST_MAIN()
