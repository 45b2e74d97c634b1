// Splitters from samples; then, in each run, the place of each. See cuts.h.
#include "runtime/external/routines/cuts.h"

#include "core/number.h"
#include "runtime/routines/sort.h"
#include <stdlib.h>

// It stands before what is greater, and equal keys of later runs and places.
typedef struct splitter {
  uint64_t rank, run, place;
} splitter;

// A stretch of a run without samples: keys first, ..., first + count - 1 of it.
typedef struct stretch {
  uint64_t first, count;
  char *keys;
} stretch;

uint64_t cuts_samples_of_run(const run_cuts *c) { return divide_up(c->run, c->step); }

static uint64_t run_length(const run_cuts *c, uint64_t run) {
  return run + 1 < c->runs ? c->run : c->count - run * c->run;
}

uint64_t cuts_samples(const run_cuts *c) {
  return (c->runs - 1) * cuts_samples_of_run(c) + divide_up(run_length(c, c->runs - 1), c->step);
}

static uint64_t stretch_room(const run_cuts *c) { return c->step * c->order.size + DISK_PAGE; }

uint64_t cuts_room(const run_cuts *c) { return c->runs * stretch_room(c); }

static uint64_t rank_at(const run_cuts *c, const char *keys, uint64_t i) {
  return key_rank(&c->order, load_key(keys, i, c->order.size)) &
         (UINT64_MAX >> (64 - c->order.bits));
}

void cuts_draw(const run_cuts *c, const char *keys, uint64_t count, uint64_t *samples) {
  for (uint64_t i = 0; i < count; i += c->step)
    *samples++ = rank_at(c, keys, i);
}

// ---- places of a splitter ----------------------------------------------------------------------

// Of keys in order, how many stand before it: `ranks`, or those that `keys` have.
static uint64_t count_before(const run_cuts *c, const splitter *s, uint64_t run,
                             const uint64_t *ranks, const char *keys, uint64_t count) {
  uint64_t before = 0;
  while (before < count) {
    uint64_t middle = before + (count - before) / 2;
    uint64_t rank = ranks ? ranks[middle] : rank_at(c, keys, middle);
    if (rank < s->rank || (rank == s->rank && run < s->run))
      before = middle + 1;
    else
      count = middle;
  }
  return before;
}

// The stretch of the run that has the splitter's place; in the splitter's own, it is known.
static stretch stretch_of(const run_cuts *c, const uint64_t *samples, const splitter *s,
                          uint64_t run) {
  if (run == s->run)
    return (stretch){s->place, 0, NULL};
  uint64_t each = cuts_samples_of_run(c), length = run_length(c, run);
  uint64_t before = count_before(c, s, run, samples + run * each, NULL, divide_up(length, c->step));
  if (before == 0)
    return (stretch){0, 0, NULL};
  uint64_t first = (before - 1) * c->step + 1, last = before * c->step;
  last = last < length ? last : length;
  external_place at = place_after(c->keys, (run * c->run + first) * c->order.size);
  char *room = c->room + run * stretch_room(c);
  room += (at.offset - (uintptr_t)room) % DISK_PAGE;
  return (stretch){first, last - first, room};
}

static bool place_splitter(const run_cuts *c, const uint64_t *samples, const splitter *s,
                           transfers *t, uint64_t *cuts, error *failure) {
  t->count = 0;
  for (uint64_t r = 0; r < c->runs; r++) {
    stretch x = stretch_of(c, samples, s, r);
    external_place at = place_after(c->keys, (r * c->run + x.first) * c->order.size);
    if (!transfers_add(t, at, x.keys, x.count * c->order.size, false))
      return error_no_memory(failure);
  }
  disk_begin(c->disk, t->parts, t->count);
  if (!disk_end(c->disk, failure))
    return false;
  for (uint64_t r = 0; r < c->runs; r++) {
    stretch x = stretch_of(c, samples, s, r);
    cuts[r] = x.first + count_before(c, s, r, NULL, x.keys, x.count);
  }
  return true;
}

// ---- the whole ---------------------------------------------------------------------------------

// Those of bucket b.
static bool place_cuts(const run_cuts *c, const uint64_t *samples, const uint64_t *order,
                       uint64_t b, transfers *t, uint64_t *cuts, error *failure) {
  uint64_t each = cuts_samples_of_run(c), per_bucket = divide_up(cuts_samples(c), c->buckets);
  uint64_t at = b * per_bucket;
  if (b > 0 && at < cuts_samples(c)) {
    splitter s = {samples[order[at]], order[at] / each, order[at] % each * c->step};
    return place_splitter(c, samples, &s, t, cuts, failure);
  }
  for (uint64_t r = 0; r < c->runs; r++)
    cuts[r] = b == 0 ? 0 : run_length(c, r);
  return true;
}

bool cuts_find(const run_cuts *c, const uint64_t *samples, uint64_t first, uint64_t *cuts,
               error *failure) {
  transfers parts = {0};
  uint64_t count = cuts_samples(c), *order = malloc(count * sizeof *order);
  sort_payload index = {NULL, order, sizeof *order};
  sort_task t = {.type = SCALAR_U64,
                 .rows = 1,
                 .length = count,
                 .keys = samples,
                 .payload_count = 1,
                 .payloads = &index,
                 .threads = c->threads,
                 .interrupted = c->interrupted};
  bool good = (order && routine_sort(&t)) || work_stopped(c->interrupted, failure);
  for (uint64_t b = first; b <= c->buckets && good; b++)
    good = place_cuts(c, samples, order, b, &parts, cuts + b * c->runs, failure) &&
           (!c->found || c->found(c->with, b, failure));
  free(parts.parts);
  free(order);
  return good;
}
