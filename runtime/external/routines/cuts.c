// Splitters from samples; then, in each run, the place of each. See cuts.h.
#include "runtime/external/routines/cuts.h"

#include "core/number.h"
#include "runtime/routines/sort.h"
#include <stdlib.h>

// It stands before what is greater, and equal keys of later runs and places, of its segment: keys
// begin, ..., end - 1. (None are, where no other run has some of them.)
typedef struct splitter {
  uint64_t rank, run, place;
  uint64_t begin, end;
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

// ---- segments ----------------------------------------------------------------------------------

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

// Keys before the row's key `at` in the run.
static uint64_t place_in_run(const run_cuts *c, uint64_t run, uint64_t at) {
  uint64_t first = run * c->run;
  return at < first ? 0 : least(at - first, run_length(c, run));
}

// The number of the first sample that is not before the row's key `at`.
static uint64_t sample_after(const run_cuts *c, uint64_t at) {
  return at >= c->count ? cuts_samples(c)
                        : at / c->run * cuts_samples_of_run(c) + divide_up(at % c->run, c->step);
}

static splitter splitter_of(const run_cuts *c, uint64_t rank, uint64_t sample) {
  uint64_t each = cuts_samples_of_run(c), run = sample / each, place = sample % each * c->step;
  uint64_t at = run * c->run + place;
  if (!c->borders)
    return (splitter){rank, run, place, 0, c->count};
  const segment_border *b = &c->borders[run];
  b += at >= b->end;
  bool has = at >= b->begin && at < b->end;
  return (splitter){rank, run, place, has ? b->begin : at, has ? b->end : at};
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
  uint64_t begin = place_in_run(c, run, s->begin), end = place_in_run(c, run, s->end);
  uint64_t sample = divide_up(begin, c->step), count = divide_up(end, c->step) - sample;
  uint64_t before =
      count_before(c, s, run, samples + run * cuts_samples_of_run(c) + sample, NULL, count);
  uint64_t first = before ? (sample + before - 1) * c->step + 1 : begin;
  uint64_t last = least((sample + before) * c->step, end);
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
  disk_begin(c->by->disk, t->parts, t->count);
  if (!disk_end(c->by->disk, failure))
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
  uint64_t per_bucket = divide_up(cuts_samples(c), c->buckets), at = b * per_bucket;
  if (b > 0 && at < cuts_samples(c)) {
    splitter s = splitter_of(c, samples[order[at]], order[at]);
    return place_splitter(c, samples, &s, t, cuts, failure);
  }
  for (uint64_t r = 0; r < c->runs; r++)
    cuts[r] = b == 0 ? 0 : run_length(c, r);
  return true;
}

// The numbers of samples first, ..., first + count - 1 in the order of their ranks.
static bool order_samples(const run_cuts *c, const uint64_t *samples, uint64_t first,
                          uint64_t count, uint64_t *order) {
  sort_payload index = {NULL, order + first, sizeof *order};
  sort_task t = {.order = key_order_of(SCALAR_U64, false, 0),
                 .rows = 1,
                 .length = count,
                 .keys = samples + first,
                 .payload_count = 1,
                 .payloads = &index,
                 .crew = {.threads = c->by->threads, .interrupted = c->by->interrupted}};
  bool good = routine_sort(&t);
  for (uint64_t i = 0; i < count && first; i++)
    order[first + i] += first;
  return good;
}

// ... of all: in the order of their segments first.
static bool order_all(const run_cuts *c, const uint64_t *samples, uint64_t *order) {
  uint64_t count = cuts_samples(c), end = 0;
  bool good = true;
  if (!c->borders)
    return order_samples(c, samples, 0, count, order);
  for (uint64_t i = 0; i < count; i++)
    order[i] = i;
  for (uint64_t r = 1; r < c->runs && good; r++) {
    const segment_border *b = &c->borders[r];
    if (b->end <= end)
      continue;
    end = b->end;
    uint64_t first = sample_after(c, b->begin);
    good = order_samples(c, samples, first, sample_after(c, end) - first, order);
  }
  return good;
}

bool cuts_find(const run_cuts *c, const uint64_t *samples, uint64_t *cuts, error *failure) {
  transfers parts = {0};
  FREED uint64_t *order = malloc(cuts_samples(c) * sizeof *order);
  bool good = (order && order_all(c, samples, order)) || error_stopped(failure, c->by->interrupted);
  for (uint64_t b = 0; b <= c->buckets && good; b++)
    good = place_cuts(c, samples, order, b, &parts, cuts + b * c->runs, failure) &&
           (!c->found || c->found(c->with, b, failure));
  free(parts.parts);
  return good;
}
