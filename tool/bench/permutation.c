// See permutation.h.
#include "tool/bench/permutation.h"
#include "core/f2.h"
#include "core/random.h"
#include "kernels/hmm/algorithm.h"
#include "runtime/system/pool.h"

#include <stdlib.h>

enum { STRETCH = 1 << 16, BUCKETS = 256 };

typedef struct writing {
  uint32_t *places;
  uint64_t count, seed;
  uint64_t (*at)(uint64_t i, uint32_t bits);
  uint64_t *starts;  // random: of each bucket in each stretch
} writing;

static bool write_images(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const writing *w = with;
  (void)worker;
  for (uint64_t i = first; i < last; i++)
    w->places[i] = (uint32_t)w->at(i, (uint32_t)f2_msb(w->count));
  return true;
}

// ---- random ------------------------------------------------------------------------------------

// Each element goes to a bucket by a die of its own, and each bucket is shuffled: all permutations
// are equally likely (Rao 1961; Sandelius 1962), and a bucket is small enough for a cache.
static uint64_t state_of(const writing *w, uint64_t number) {
  uint64_t state = w->seed + number * UINT64_C(0xd1342543de82ef95);
  return draw_word(&state);
}

// Numbers each element's bucket, or has each element go to it.
static void throw_stretch(const writing *w, uint64_t stretch, bool goes) {
  uint64_t *starts = w->starts + stretch * BUCKETS, state = state_of(w, stretch), dice = 0;
  for (uint64_t i = stretch * STRETCH; i < w->count && i < (stretch + 1) * STRETCH; i++) {
    dice = i % 8 ? dice >> 8 : draw_word(&state);
    uint64_t place = starts[dice % BUCKETS]++;
    if (goes)
      w->places[place] = (uint32_t)i;
  }
}

static bool count_buckets(void *with, unsigned worker, uint64_t first, uint64_t last) {
  (void)worker;
  for (uint64_t s = first; s < last; s++)
    throw_stretch(with, s, false);
  return true;
}

static bool fill_buckets(void *with, unsigned worker, uint64_t first, uint64_t last) {
  (void)worker;
  for (uint64_t s = first; s < last; s++)
    throw_stretch(with, s, true);
  return true;
}

// Counts become where they begin, by bucket and then by stretch.
static void sum_buckets(const writing *w, uint64_t stretches, uint64_t *begins) {
  uint64_t sum = 0;
  for (uint64_t b = 0; b < BUCKETS; b++) {
    begins[b] = sum;
    for (uint64_t s = 0; s < stretches; s++) {
      uint64_t count = w->starts[s * BUCKETS + b];
      w->starts[s * BUCKETS + b] = sum;
      sum += count;
    }
  }
  begins[BUCKETS] = sum;
}

typedef struct shuffling {
  const writing *writing;
  uint64_t begins[BUCKETS + 1];
} shuffling;

static bool shuffle_buckets(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const shuffling *s = with;
  (void)worker;
  for (uint64_t b = first; b < last; b++) {
    uint32_t *bucket = s->writing->places + s->begins[b];
    uint64_t state = state_of(s->writing, b | UINT64_C(1) << 63);
    for (uint32_t i = (uint32_t)(s->begins[b + 1] - s->begins[b]); i > 1; i--) {
      uint32_t k = draw_below(&state, i), swap = bucket[i - 1];
      bucket[i - 1] = bucket[k];
      bucket[k] = swap;
    }
  }
  return true;
}

static bool write_random(writing *w) {
  uint64_t stretches = (w->count + STRETCH - 1) / STRETCH;
  unsigned threads = pool_processors();
  shuffling s = {.writing = w};
  w->starts = calloc(stretches * BUCKETS + 1, sizeof *w->starts);
  if (!w->starts)
    return false;
  pool_run(threads, stretches, 1, count_buckets, w, NULL);
  sum_buckets(w, stretches, s.begins);
  pool_run(threads, stretches, 1, fill_buckets, w, NULL);
  pool_run(threads, BUCKETS, 1, shuffle_buckets, &s, NULL);
  free(w->starts);
  return true;
}

bool bench_permutation_write(const char *name, uint64_t seed, uint32_t *places, uint64_t count) {
  writing w = {places, count, seed, hmm_permutation_named(name)->at, NULL};
  return w.at ? pool_run(pool_processors(), count, STRETCH, write_images, &w, NULL)
              : write_random(&w);
}
