// Counts, sums, and moves. See deal.h.
#include "runtime/ranks/routines/deal.h"

#include "core/sizes.h"
#include "runtime/system/pool.h"
#include "runtime/values/value.h"
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 };

static uint64_t chunks_of(const deal *d) { return (d->count + CHUNK - 1) / CHUNK; }

static uint64_t chunk_end(const deal *d, uint64_t chunk) {
  uint64_t end = (chunk + 1) * CHUNK;
  return end < d->count ? end : d->count;
}

typedef struct counting {
  const deal *deal;
  deal_classify *classify;
  const void *with;
} counting;

static bool count_chunks(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const counting *c = with;
  const deal *d = c->deal;
  (void)worker;
  for (uint64_t chunk = first; chunk < last; chunk++) {
    uint64_t *counts = d->starts + chunk * d->class_count, end = chunk_end(d, chunk);
    c->classify(c->with, chunk * CHUNK, end, d->classes + chunk * CHUNK);
    for (uint64_t i = chunk * CHUNK; i < end; i++)
      counts[d->classes[i]]++;
  }
  return true;
}

static void sum_counts(const deal *d) {
  uint64_t sum = 0;
  for (uint32_t k = 0; k < d->class_count; k++) {
    d->first[k] = sum;
    for (uint64_t chunk = 0; chunk < chunks_of(d); chunk++) {
      uint64_t *start = &d->starts[chunk * d->class_count + k], count = *start;
      *start = sum;
      sum += count;
    }
  }
  d->first[d->class_count] = sum;
}

bool deal_make(deal *d, deal_classify *classify, const void *with) {
  counting c = {d, classify, with};
  const team *t = d->team;
  d->classes = array_memory((d->count + 1) * sizeof *d->classes);
  d->starts = calloc(chunks_of(d) * d->class_count + 1, sizeof *d->starts);
  d->first = malloc((d->class_count + (size_t)1) * sizeof *d->first);
  if (!d->classes || !d->starts || !d->first ||
      !pool_run(t->threads, chunks_of(d), 1, count_chunks, &c, t->interrupted))
    return team_stop(t);
  sum_counts(d);
  return true;
}

void deal_free(deal *d) {
  free(d->classes);
  free(d->starts);
  free(d->first);
}

typedef struct moving {
  const deal *deal;
  const char *from;
  char *to;
  size_t unit;
  bool back;
  uint64_t *next;  // by worker and class
} moving;

static bool move_chunks(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const moving *m = with;
  const deal *d = m->deal;
  const uint16_t *classes = d->classes;
  uint64_t *next = m->next + (uint64_t)worker * d->class_count;
  for (uint64_t chunk = first; chunk < last; chunk++) {
    uint64_t end = chunk_end(d, chunk);
    memcpy(next, d->starts + chunk * d->class_count, d->class_count * sizeof *next);
#define MOVE(U)                                                                                    \
  if (m->back)                                                                                     \
    for (uint64_t i = chunk * CHUNK; i < end; i++)                                                 \
      memcpy(m->to + i * (U), m->from + next[classes[i]]++ * (U), (U));                            \
  else                                                                                             \
    for (uint64_t i = chunk * CHUNK; i < end; i++)                                                 \
      memcpy(m->to + next[classes[i]]++ * (U), m->from + i * (U), (U));
    FOR_UNIT_SIZE(m->unit, MOVE)
#undef MOVE
  }
  return true;
}

static bool move(const deal *d, const void *from, void *to, size_t unit, bool back) {
  const team *t = d->team;
  moving m = {d, from, to, unit, back, malloc(t->threads * d->class_count * sizeof *m.next)};
  bool good = m.next && pool_run(t->threads, chunks_of(d), 1, move_chunks, &m, t->interrupted);
  free(m.next);
  return good || team_stop(t);
}

bool deal_out(const deal *d, const void *from, void *to, size_t unit) {
  return move(d, from, to, unit, false);
}

bool deal_back(const deal *d, const void *from, void *to, size_t unit) {
  return move(d, from, to, unit, true);
}
