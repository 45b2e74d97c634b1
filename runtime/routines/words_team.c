// Sorting of words by several threads. Each splits a chunk of them by the same splitters, as
// quicksort would with these pivots; then each bucket is copied together and sorted by one thread.
#include "runtime/routines/words_team.h"
#include "runtime/routines/words.h"

#include <stdlib.h>
#include <string.h>

enum {
  TEAM_LEAST = 1 << 16,  // words that are worth a second thread
  BUCKETS_A_THREAD = 8,
  SAMPLES = 32,  // for each bucket
};

typedef struct team {
  const word_task *task;
  char *spare;  // in the scratch: all words, after WORD_SCRATCH words for each worker
  uint32_t buckets;
  uint64_t *splitters;  // bucket b has the words splitters[b] ... splitters[b + 1] - 1
  uint64_t chunk;       // words; chunk c has bucket b at starts[c][b] ... starts[c][b + 1] - 1
  uint64_t *starts;
} team;

// Threads that so many words are worth.
static unsigned team_size(uint64_t count, unsigned threads) {
  uint64_t worth = count / TEAM_LEAST;
  return worth < 2 ? 1 : worth < threads ? (unsigned)worth : threads;
}

uint64_t word_task_scratch(uint64_t count, unsigned threads) {
  threads = team_size(count, threads);
  return threads > 1 ? threads * (uint64_t)WORD_SCRATCH + count : word_scratch(count);
}

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
  const char *from = in_spare ? to : (const char *)t->job.keys + first * t->sorter->size;
  word_code in = in_spare ? (word_code){0, 0} : t->job.in;
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
  word_job j = t->job;
  j.in = (word_code){0, 0};
  j.keys = j.to;
  j.scratch = (char *)j.scratch + worker * WORD_SCRATCH * t->sorter->size;
  for (uint64_t b = first; b < last; b++) {
    uint64_t start = 0, at;
    for (uint64_t c = 0; c < chunks; c++)
      start += starts_of(m, c)[b] - starts_of(m, c)[0];
    at = start;
    for (uint64_t c = 0; c < chunks; c++) {
      uint64_t from = starts_of(m, c)[b], count = starts_of(m, c)[b + 1] - from;
      memcpy((char *)t->job.to + at * t->sorter->size, m->spare + from * t->sorter->size,
             count * t->sorter->size);
      at += count;
    }
    if (!t->sorter->sort(&j, start, at - start, m->splitters[b]))
      return false;
  }
  return true;
}

// Quantiles of a sample. A word that is more than one of them has a bucket of its own.
static void choose_splitters(const team *m) {
  const word_task *t = m->task;
  uint64_t count = (uint64_t)m->buckets * SAMPLES, step = t->count / count, random = t->count;
  size_t size = t->sorter->size;
  char *sample = m->spare;
  for (uint64_t i = 0; i < count; i++) {
    random = random * 0x5851f42d4c957f2d + 0x14057b7ef767814f;
    uint64_t at = i * step + (random >> 33) % step;
    memcpy(sample + i * size, (const char *)t->job.keys + at * size, size);
  }
  word_job j = {t->job.in, {0, 0}, sample, sample, t->job.scratch, NULL};
  t->sorter->sort(&j, 0, count, 0);
  for (uint32_t b = 1; b < m->buckets; b++) {
    uint64_t quantile = load_key(sample, (uint64_t)b * SAMPLES, size), before = m->splitters[b - 1];
    m->splitters[b] = quantile > before ? quantile : before + 1;
    if (m->splitters[b] > UINT64_MAX >> (64 - 8 * size) || m->splitters[b] == 0)
      m->splitters[b] = before;
  }
}

static bool sort_together(const word_task *t, unsigned threads) {
  team m = {.task = t,
            .spare = (char *)t->job.scratch + threads * WORD_SCRATCH * t->sorter->size,
            .buckets = threads * BUCKETS_A_THREAD,
            .chunk = (t->count + threads - 1) / threads};
  m.splitters = calloc(m.buckets + (size_t)threads * (m.buckets + 1), sizeof *m.splitters);
  if (!m.splitters)
    return false;
  m.starts = m.splitters + m.buckets;
  crew c = t->crew;
  c.threads = threads;
  choose_splitters(&m);
  bool good = crew_run(&c, t->count, m.chunk, split_chunks, &m) &&
              crew_run(&c, m.buckets, 1, sort_buckets, &m);
  free(m.splitters);
  return good;
}

bool word_sort(const word_task *t) {
  unsigned threads = team_size(t->count, t->crew.threads);
  return threads > 1 ? sort_together(t, threads) : t->sorter->sort(&t->job, 0, t->count, 0);
}
