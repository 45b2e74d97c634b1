// Arrays permuted by the three steps of a schedule: elements of every size, any length, in place, by
// several threads. With PERMC_ALL, beside a direct gather and scatter, how long it takes.
#include "core/clock.h"
#include "core/random.h"
#include "runtime/routines/permute.h"
#include "runtime/system/pool.h"
#include "runtime/values/value.h"
#include "tests/test.h"

static uint32_t *permutation_new(uint64_t length) {
  uint32_t *p = array_memory((length + 1) * sizeof *p);
  uint64_t state = length;
  for (uint64_t i = 0; i < length; i++) {
    uint64_t k = draw_below(&state, (uint32_t)i + 1);
    p[i] = p[k];
    p[k] = (uint32_t)i;
  }
  return p;
}

static permutation_schedule schedule_new(const uint32_t *p, uint64_t length, unsigned threads) {
  permutation_schedule s = schedule_shape(length);
  schedule_means m = {.threads = threads, .pool = pool_run};
  for (int i = 0; i < SCHEDULE_STEPS; i++)
    s.steps[i] = array_memory(schedule_cells(&s) * sizeof **s.steps);
  m.scratch = array_memory(schedule_scratch(&s, threads) * sizeof *m.scratch);
  CHECK(schedule_make(&s, &(place_list){p, sizeof *p, length}, &m));
  free(m.scratch);
  return s;
}

static void schedule_free(permutation_schedule *s) {
  for (int i = 0; i < SCHEDULE_STEPS; i++)
    free(s->steps[i]);
}

static char *bytes_new(uint64_t count) {
  char *bytes = array_memory(count + 1);
  uint64_t state = count;
  for (uint64_t i = 0; i < count; i++)
    bytes[i] = (char)draw_word(&state);
  return bytes;
}

// Of an array at `shift` bytes behind a line, into another one or in place.
static void check(const permutation_schedule *s, const uint32_t *p, size_t size, size_t shift,
                  bool in_place) {
  uint64_t bytes = s->length * size;
  char *from = bytes_new(bytes), *to = bytes_new(bytes + shift), *expected = malloc(bytes + 1);
  for (uint64_t i = 0; i < s->length; i++)
    memcpy(expected + p[i] * size, from + i * size, size);
  if (in_place)
    memcpy(to + shift, from, bytes);
  permute_task t = {.schedule = s,
                    .size = size,
                    .from = in_place ? to + shift : from,
                    .to = to + shift,
                    .threads = 1 + (unsigned)size % 3};
  CHECK(routine_permute(&t));
  CHECK(memcmp(to + shift, expected, bytes) == 0);
  free(from);
  free(to);
  free(expected);
}

TEST(any_length_and_size) {
  static const uint64_t lengths[] = {0, 1, 2, 63, 1000, 1024, 4095, 4097, 16384, 65537, 70000};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    uint32_t *p = permutation_new(lengths[i]);
    permutation_schedule s = schedule_new(p, lengths[i], 2);
    for (size_t size = 1; size <= 16; size *= 2) {
      check(&s, p, size, 0, false);
      check(&s, p, size, 16, true);
      check(&s, p, size, size == 16 ? 0 : size, true);
    }
    schedule_free(&s);
    free(p);
  }
}

TEST(interruption) {
  uint32_t *p = permutation_new(4096);
  permutation_schedule s = schedule_new(p, 4096, 1);
  atomic_bool interrupted = true;
  char *from = bytes_new(8 * 4096), *to = bytes_new(8 * 4096);
  CHECK(!routine_permute(&(permute_task){&s, 8, from, to, 1, &interrupted}));
  free(from);
  free(to);
  schedule_free(&s);
  free(p);
}

// ---- speed -----------------------------------------------------------------------------------

typedef struct direct {
  const uint32_t *list;
  const char *from;
  char *to;
  size_t size;
} direct;

#define DIRECT(name, to_place, from_place)                                                         \
  static bool name(void *with, unsigned worker, uint64_t first, uint64_t last) {                   \
    const direct *d = with;                                                                        \
    (void)worker;                                                                                  \
    for (uint64_t i = first; i < last && d->size == 4; i++)                                        \
      ((uint32_t *)(void *)d->to)[to_place] =                                                      \
          ((const uint32_t *)(const void *)d->from)[from_place];                                   \
    for (uint64_t i = first; i < last && d->size == 8; i++)                                        \
      ((uint64_t *)(void *)d->to)[to_place] =                                                      \
          ((const uint64_t *)(const void *)d->from)[from_place];                                   \
    return true;                                                                                   \
  }
DIRECT(gather, i, d->list[i])
DIRECT(scatter, d->list[i], i)

static double least(double a, double b) { return a < b ? a : b; }

static void measure(const permutation_schedule *s, const uint32_t *p, const uint32_t *q,
                    size_t size) {
  enum { ROUNDS = 9 };
  unsigned threads = pool_processors();
  uint64_t n = s->length, bytes = n * size;
  char *from = bytes_new(bytes), *to = bytes_new(bytes), *other = bytes_new(bytes);
  double times[3] = {1e9, 1e9, 1e9};
  for (int round = 0; round < ROUNDS; round++) {
    double start = clock_seconds();
    routine_permute(&(permute_task){s, size, from, to, threads, NULL});
    times[0] = least(times[0], clock_seconds() - start);
    start = clock_seconds();
    pool_run(threads, n, 1 << 14, gather, &(direct){q, from, other, size}, NULL);
    times[1] = least(times[1], clock_seconds() - start);
    CHECK(memcmp(to, other, bytes) == 0);
    start = clock_seconds();
    pool_run(threads, n, 1 << 14, scatter, &(direct){p, from, other, size}, NULL);
    times[2] = least(times[2], clock_seconds() - start);
  }
  printf("%10" PRIu64
         " of %zu bytes: steps %9.3f ms, gather %9.3f ms, scatter %9.3f ms; %.2f times\n",
         n, size, 1e3 * times[0], 1e3 * times[1], 1e3 * times[2], times[1] / times[0]);
  free(from);
  free(to);
  free(other);
}

TEST(speed) {
  if (!test_all())
    SKIP("PERMC_ALL measures");
  for (int bits = 16; bits <= 26; bits += 2) {
    uint64_t n = UINT64_C(1) << bits;
    uint32_t *p = permutation_new(n), *q = array_memory(n * sizeof *q);
    for (uint64_t i = 0; i < n; i++)
      q[p[i]] = (uint32_t)i;
    double start = clock_seconds();
    permutation_schedule s = schedule_new(p, n, pool_processors());
    printf("%10" PRIu64 " scheduled in %.3f s by %u threads\n", n, clock_seconds() - start,
           pool_processors());
    for (size_t size = 4; size <= 8; size *= 2)
      measure(&s, p, q, size);
    schedule_free(&s);
    free(p);
    free(q);
  }
}

TEST_MAIN()
