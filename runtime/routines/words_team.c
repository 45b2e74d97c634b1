// Sorting of words by several threads. Each splits a chunk of them by the same splitters, as quicksort
// would with these pivots; then each bucket is copied together and sorted by one thread.
#include "runtime/routines/words_team.h"
#include "runtime/routines/words.h"
#include "runtime/system/pool.h"
#include "runtime/values/value.h"

#include <stdlib.h>
#include <string.h>

enum {
  TEAM_LEAST = 1 << 16,  // words that are worth a second thread
  BUCKETS_A_THREAD = 8,
  SAMPLES = 32,  // for each bucket
};

typedef struct team {
  const word_task *task;
  char *spare;    // as many words as there are
  char *scratch;  // WORD_SCRATCH words for each worker
  uint32_t buckets;
  uint64_t *splitters;  // bucket b has the words splitters[b] ... splitters[b + 1] - 1
  uint64_t chunk;       // words; chunk c has bucket b at starts[c][b] ... starts[c][b + 1] - 1
  uint64_t *starts;
} team;

static uint64_t *starts_of(const team *m, uint64_t chunk) {
  return m->starts + chunk * (m->buckets + 1);
}

// Words first, ..., first + count - 1 are of buckets low ... high - 1. They are in spare, or still
// among the keys.
static void split(const team *m, uint64_t chunk, bool in_spare, uint64_t first, uint64_t count,
                  uint32_t low, uint32_t high) {
  starts_of(m, chunk)[low] = first;
  if (high - low == 1)
    return;
  const word_task *t = m->task;
  uint32_t middle = (low + high) / 2;
  char *to = m->spare + first * t->sorter->size;
  const char *from = in_spare ? to : (const char *)t->keys + first * t->sorter->size;
  word_code in = in_spare ? (word_code){0, 0} : t->in;
  uint64_t left = t->sorter->partition(from, in, m->splitters[middle] - 1, to, count);
  split(m, chunk, true, first, left, low, middle);
  split(m, chunk, true, first + left, count - left, middle, high);
}

static bool split_chunks(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const team *m = with;
  (void)worker;
  split(m, first / m->chunk, false, first, last - first, 0, m->buckets);
  starts_of(m, first / m->chunk)[m->buckets] = last;
  return true;
}

static bool sort_buckets(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const team *m = with;
  const word_task *t = m->task;
  uint64_t chunks = (t->count + m->chunk - 1) / m->chunk;
  word_job j = {
      {0, 0},        t->out, t->to, t->to, m->scratch + worker * WORD_SCRATCH * t->sorter->size,
      t->interrupted};
  for (uint64_t b = first; b < last; b++) {
    uint64_t start = 0, at;
    for (uint64_t c = 0; c < chunks; c++)
      start += starts_of(m, c)[b] - starts_of(m, c)[0];
    at = start;
    for (uint64_t c = 0; c < chunks; c++) {
      uint64_t from = starts_of(m, c)[b], count = starts_of(m, c)[b + 1] - from;
      memcpy((char *)t->to + at * t->sorter->size, m->spare + from * t->sorter->size,
             count * t->sorter->size);
      at += count;
    }
    if (!t->sorter->sort(&j, start, at - start, m->splitters[b]))
      return false;
  }
  return true;
}

static uint64_t word_at(const void *words, size_t size, uint64_t i) {
  return size == 4 ? ((const uint32_t *)words)[i] : ((const uint64_t *)words)[i];
}

// Quantiles of a sample. A word that is more than one of them has a bucket of its own.
static bool choose_splitters(const team *m) {
  const word_task *t = m->task;
  uint64_t count = (uint64_t)m->buckets * SAMPLES, step = t->count / count, random = t->count;
  char *sample = malloc(count * t->sorter->size);
  if (!sample)
    return false;
  for (uint64_t i = 0; i < count; i++) {
    random = random * 0x5851f42d4c957f2d + 0x14057b7ef767814f;
    const char *key = (const char *)t->keys + (i * step + (random >> 33) % step) * t->sorter->size;
    memcpy(sample + i * t->sorter->size, key, t->sorter->size);
  }
  word_job j = {t->in, {0, 0}, sample, sample, m->scratch, NULL};
  t->sorter->sort(&j, 0, count, 0);
  m->splitters[0] = 0;
  for (uint32_t b = 1; b < m->buckets; b++) {
    uint64_t quantile = word_at(sample, t->sorter->size, (uint64_t)b * SAMPLES),
             before = m->splitters[b - 1];
    m->splitters[b] = quantile > before ? quantile : before + 1;
    if (m->splitters[b] > UINT64_MAX >> (64 - 8 * t->sorter->size) || m->splitters[b] == 0)
      m->splitters[b] = before;
  }
  free(sample);
  return true;
}

static bool sort_together(team *m, unsigned threads) {
  const word_task *t = m->task;
  m->buckets = threads * BUCKETS_A_THREAD;
  m->chunk = (t->count + threads - 1) / threads;
  m->spare = array_memory(t->count * t->sorter->size);
  m->scratch = malloc(threads * WORD_SCRATCH * t->sorter->size);
  m->splitters = calloc(m->buckets, sizeof *m->splitters);
  m->starts = calloc((size_t)threads * (m->buckets + 1), sizeof *m->starts);
  bool good = m->spare && m->scratch && m->splitters && m->starts && choose_splitters(m) &&
              pool_run(threads, t->count, m->chunk, split_chunks, m, t->interrupted) &&
              pool_run(threads, m->buckets, 1, sort_buckets, m, t->interrupted);
  free(m->spare);
  free(m->scratch);
  free(m->splitters);
  free(m->starts);
  return good;
}

bool word_sort(const word_task *t) {
  team m = {.task = t};
  uint64_t worth = t->count / TEAM_LEAST;
  if (worth > 1 && t->threads > 1)
    return sort_together(&m, worth < t->threads ? (unsigned)worth : t->threads);
  word_job j = {t->in, t->out, t->keys, t->to, t->scratch, t->interrupted};
  return t->sorter->sort(&j, 0, t->count, 0);
}
