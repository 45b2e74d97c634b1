// Schedules of permutations: three steps that gather inside rows and columns come to the
// permutation; steps that were damaged are found. With PERMC_ALL, how long making them takes.
#include "core/clock.h"
#include "core/permutation/schedule.h"
#include "core/random.h"
#include "runtime/system/pool.h"
#include "runtime/values/value.h"
#include "tests/test.h"

static permutation_schedule schedule_new(uint64_t length) {
  permutation_schedule s = schedule_shape(length);
  for (int i = 0; i < SCHEDULE_STEPS; i++)
    s.steps[i] = malloc(schedule_cells(&s) * sizeof **s.steps + 1);
  return s;
}

static void schedule_free(permutation_schedule *s) {
  for (int i = 0; i < SCHEDULE_STEPS; i++)
    free(s->steps[i]);
}

static bool make(permutation_schedule *s, const uint32_t *images, unsigned threads) {
  schedule_means m = {.threads = threads, .pool = pool_run};
  m.scratch = malloc(schedule_scratch(s, threads) * sizeof *m.scratch);
  bool good = schedule_make(s, &(place_list){images, sizeof *images, s->length}, &m);
  free(m.scratch);
  return good;
}

// Elements that are not where they are to be.
static uint64_t strays(const permutation_schedule *s, const uint32_t *images) {
  uint64_t wrong = 0;
  for (uint64_t to = 0; to < s->length; to++) {
    uint64_t from = schedule_origin(s, to);
    wrong += from >= s->length || images[from] != to;
  }
  return wrong;
}

// A permutation of its kind: at random, reversed, turned, or the identity.
static uint32_t *permutation_new(uint64_t length, int kind) {
  uint32_t *images = malloc((length + 1) * sizeof *images);
  uint64_t state = length;
  for (uint64_t i = 0; i < length; i++)
    images[i] = (uint32_t)(kind == 1 ? length - 1 - i : kind == 2 ? (i + length / 3) % length : i);
  for (uint64_t i = kind == 0 ? length : 0; i > 1; i--) {
    uint64_t k = draw_below(&state, (uint32_t)i);
    uint32_t kept = images[i - 1];
    images[i - 1] = images[k];
    images[k] = kept;
  }
  return images;
}

TEST(the_example_of_the_header) {
  permutation_schedule s = schedule_new(4);
  CHECK(make(&s, (uint32_t[]){3, 1, 0, 2}, 1));
  CHECK(memcmp(s.steps[0], (uint16_t[]){0, 1, 0, 1}, 8) == 0);
  CHECK(memcmp(s.steps[1], (uint16_t[]){1, 0, 0, 1}, 8) == 0);
  CHECK(memcmp(s.steps[2], (uint16_t[]){0, 1, 1, 0}, 8) == 0);
  schedule_free(&s);
}

TEST(any_length) {
  static const uint64_t lengths[] = {0,    1,    2,    3,    4,     5,     7,     16,    17,
                                     63,   64,   65,   255,  257,   1000,  1021,  4095,  4096,
                                     4097, 8191, 8192, 8193, 65521, 65537, 99999, 131071};
  uint32_t *seen = malloc(SCHEDULE_SEEN * sizeof *seen);
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    for (int kind = 0; kind < 4; kind++) {
      permutation_schedule s = schedule_new(lengths[i]);
      uint32_t *images = permutation_new(lengths[i], kind);
      CHECK(make(&s, images, kind == 0 ? 2 : 1));
      CHECK_EQ_U64(strays(&s, images), 0);
      CHECK(schedule_is_sound(&s, seen));
      free(images);
      schedule_free(&s);
    }
  free(seen);
}

// Of every size of images.
TEST(sizes_of_images) {
  uint8_t bytes[256];
  uint16_t shorts[256];
  uint64_t longs[256];
  uint32_t seen[256 / 32 + 1];
  uint64_t position;
  for (uint64_t i = 0; i < 256; i++)
    bytes[i] = (uint8_t)(shorts[i] = (uint16_t)(longs[i] = i * 77 % 256));
  place_list all[] = {{bytes, 1, 256}, {shorts, 2, 256}, {longs, 8, 256}};
  for (int k = 0; k < 3; k++) {
    permutation_schedule s = schedule_new(256);
    schedule_means m = {.threads = 1};
    m.scratch = malloc(schedule_scratch(&s, 1) * sizeof *m.scratch);
    CHECK(permutation_check(&all[k], seen, &position) == PERMUTATION_OK);
    CHECK(schedule_make(&s, &all[k], &m));
    for (uint64_t to = 0; to < 256; to++)
      CHECK_EQ_U64(longs[schedule_origin(&s, to)], to);
    free(m.scratch);
    schedule_free(&s);
  }
}

TEST(no_permutation) {
  uint32_t images[] = {2, 0, 3, 1}, seen[1];
  uint64_t position;
  place_list p = {images, 4, 4};
  CHECK(permutation_check(&p, seen, &position) == PERMUTATION_OK);
  images[3] = 4;
  CHECK(permutation_check(&p, seen, &position) == PERMUTATION_OUTSIDE);
  CHECK_EQ_U64(position, 3);
  images[2] = 0;
  CHECK(permutation_check(&p, seen, &position) == PERMUTATION_TWICE);
  CHECK_EQ_U64(position, 2);
}

TEST(unsound_steps) {
  uint32_t *images = permutation_new(1000, 0), *seen = malloc(SCHEDULE_SEEN * sizeof *seen);
  permutation_schedule s = schedule_new(1000);
  CHECK(make(&s, images, 1));
  uint64_t state = 4;
  for (int i = 0; i < 300; i++) {
    uint16_t *at = &s.steps[i % 3][draw_below(&state, (uint32_t)schedule_cells(&s))], kept = *at;
    *at = (uint16_t)draw_below(&state, i % 2 ? 32 : 65536);
    CHECK(schedule_is_sound(&s, seen) == (*at == kept));
    *at = kept;
  }
  s.length = 991;  // then elements come from behind the others
  CHECK(!schedule_is_sound(&s, seen));
  free(seen);
  free(images);
  schedule_free(&s);
}

// Copies of a request that have the bank of an earlier one.
static uint64_t conflicts(const uint16_t *places, uint32_t length, uint32_t banks) {
  uint64_t count = 0;
  for (uint32_t first = 0; first < length; first += banks)
    for (uint32_t i = first; i < first + banks; i++)
      for (uint32_t k = first; k < i; k++)
        count += places[i] % banks == places[k] % banks;
  return count;
}

TEST(row_copies) {
  static const struct {
    uint32_t length, banks;
  } shapes[] = {{32, 32}, {1024, 32}, {96, 32}, {4096, 16}, {7 * 11, 7}, {60, 1}, {4095, 5}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int kind = 0; kind < 4; kind++) {
      uint32_t length = shapes[i].length, banks = shapes[i].banks;
      uint32_t *images = permutation_new(length, kind);
      uint32_t *scratch = malloc(row_copies_scratch(length, banks) * sizeof *scratch);
      uint16_t step[4096], from[4096], to[4096];
      bool there[4096] = {false};
      for (uint32_t k = 0; k < length; k++)
        step[k] = (uint16_t)images[k];
      row_copies_make(step, length, banks, from, to, scratch);
      CHECK_EQ_U64(conflicts(from, length, banks) + conflicts(to, length, banks), 0);
      for (uint32_t k = 0; k < length; k++) {
        CHECK(to[k] < length && step[to[k]] == from[k] && !there[to[k]]);
        there[to[k]] = true;
      }
      free(images);
      free(scratch);
    }
}

// How long schedules of random permutations take, and the memory beside p and the schedule.
TEST(growth) {
  if (!test_all())
    SKIP("PERMC_ALL measures");
  unsigned threads = pool_processors();
  printf("elements   seconds   ns/element   bytes/element, by %u threads\n", threads);
  for (int bits = 16; bits <= 26; bits++) {
    uint64_t n = UINT64_C(1) << bits;
    uint32_t *images = permutation_new(n, 0);
    permutation_schedule s = schedule_shape(n);
    place_list p = {images, sizeof *images, n};
    schedule_means m = {.threads = threads, .pool = pool_run};
    uint64_t scratch = schedule_scratch(&s, threads) * sizeof *m.scratch;
    for (int i = 0; i < SCHEDULE_STEPS; i++)
      s.steps[i] = array_memory(n * sizeof **s.steps);
    double start = clock_seconds();
    m.scratch = array_memory(scratch);
    CHECK(schedule_make(&s, &p, &m));
    free(m.scratch);
    double seconds = clock_seconds() - start;
    CHECK(bits > 20 || strays(&s, images) == 0);
    printf("2^%d %14.4f %12.1f %15.2f\n", bits, seconds, 1e9 * seconds / (double)n,
           (double)scratch / (double)n);
    schedule_free(&s);
    free(images);
  }
}

TEST_MAIN()
