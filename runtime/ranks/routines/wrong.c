// The first place that is wrong. Each rank looks for places outside of the limit; equal ones meet
// on one rank. See routine.h.
#include "runtime/ranks/routines/ranked.h"

#include "runtime/ranks/routines/deal.h"
#include "runtime/routines/places.h"
#include <stdlib.h>
#include <string.h>

// A place that is wrong: which element it is, INT64_MAX: none.
typedef struct wrong {
  int64_t at, place;
} wrong;

static wrong earlier(wrong a, wrong b) { return b.at < a.at ? b : a; }

// The earliest of all ranks.
static bool agree_on_wrong(const team *t, wrong *w) {
  FREED wrong *all = transport_gather_each(t->transport, w, sizeof *w, t->failure);
  for (uint32_t r = 0; all && r < t->transport->ranks; r++)
    *w = earlier(*w, all[r]);
  return all != NULL;
}

// Places of different rows are different numbers. Those of one range meet on one rank.
typedef struct numbering {
  const ranked_routine *call;
  slab slab;
  uint64_t range;  // of a rank
} numbering;

static uint64_t number_of(const numbering *n, uint64_t i) {
  const ranked_routine *c = n->call;
  net_id id = c->routine->pairs[0].from;
  uint64_t place, at = n->slab.first + i;
  scalar_convert(ranked_array(c, id)->type, SCALAR_U64, 1, ranked_at(c, id, at), &place);
  return place < c->routine->limit ? at / c->routine->length * c->routine->limit + place
                                   : UINT64_MAX;
}

// Those that are no places go nowhere.
static void classify_numbers(const void *with, uint64_t first, uint64_t last, void *classes) {
  uint16_t *of_rank = classes;
  const numbering *n = with;
  uint32_t ranks = n->call->team->transport->ranks;
  for (uint64_t i = first; i < last; i++) {
    uint64_t rank = number_of(n, i) / n->range;
    of_rank[i - first] = (uint16_t)(rank < ranks ? rank : ranks);
  }
}

// Of the numbers that come to this rank, the first that occurs twice; UINT64_MAX: there is none.
static bool find_repeated(const numbering *n, uint64_t *repeated) {
  const team *t = n->call->team;
  uint32_t ranks = t->transport->ranks;
  uint64_t least = t->transport->rank * n->range;
  FREED_BY(deal_free) deal d = {0};
  uint64_t count = 0;
  FREED uint64_t *numbers = NULL, *room = malloc((n->slab.count + 1) * sizeof *room),
                 *own = malloc((n->slab.count + 1) * sizeof *own);
  bool good = own && room ? deal_to_ranks(&d, t, n->slab.count, classify_numbers, n) : team_stop(t);
  if (good) {
    count = d.trade.received[ranks];
    good = (numbers = malloc((count + 1) * sizeof *numbers)) || team_stop(t);
  }
  for (uint64_t i = 0; i < n->slab.count && good; i++)
    own[i] = number_of(n, i);
  good = good && deal_send(&d, own, room, numbers, sizeof *own);
  int64_t found[2] = {INT64_MAX, 0};
  for (uint64_t i = 0; good && i < count; i++)
    numbers[i] -= least;
  place_check k = {.size = sizeof *numbers,
                   .distinct = true,
                   .rows = 1,
                   .length = count,
                   .limit = n->range,
                   .places = numbers,
                   .crew = {1, t->interrupted, NULL}};
  good = good && (routine_find_wrong(&k, found) || team_stop(t));
  *repeated = found[0] == INT64_MAX ? UINT64_MAX : (uint64_t)found[1] + least;
  return good;
}

// This rank's first place that is among those.
static bool find_first_of(const numbering *n, uint64_t repeated, wrong *w) {
  const team *t = n->call->team;
  FREED uint64_t *all = transport_gather_each(t->transport, &repeated, sizeof repeated, t->failure);
  for (uint32_t r = 0; all && r < t->transport->ranks; r++)
    for (uint64_t i = 0; i < n->slab.count && all[r] != UINT64_MAX; i++)
      if (number_of(n, i) == all[r]) {
        int64_t place = (int64_t)(all[r] % n->call->routine->limit);
        *w = earlier(*w, (wrong){(int64_t)(n->slab.first + i), place});
        break;
      }
  return all != NULL;
}

bool run_ranked_wrong(const ranked_routine *c) {
  const net_routine *r = c->routine;
  const team *t = c->team;
  net_id from = r->pairs[0].from, to = r->pairs[0].to;
  slab own = ranked_slab(c);
  const scalar_row *type = &scalar_types[ranked_array(c, from)->type];
  place_check k = {.size = type->size,
                   .is_signed = type->kind == KIND_SIGNED,
                   .rows = 1,
                   .length = own.count,
                   .limit = r->limit,
                   .places = ranked_at(c, from, own.first),
                   .crew = {1, t->interrupted, NULL}};
  int64_t found[2];
  if (!routine_find_wrong(&k, found))
    return team_stop(t);
  wrong w = {INT64_MAX, 0};
  if (found[0] != INT64_MAX)
    w = (wrong){found[0] + (int64_t)own.first, found[1]};
  if (r->distinct) {
    uint32_t ranks = t->transport->ranks;
    numbering n = {c, own, r->rows * r->limit / ranks + 1};
    uint64_t repeated;
    if (!find_repeated(&n, &repeated) || !find_first_of(&n, repeated, &w))
      return false;
  }
  if (!agree_on_wrong(t, &w))
    return false;
  int64_t both[2] = {w.at, w.place};
  slab wanted = c->slab[to] ? slab_of(c->slab[to], 2, t->transport->rank) : (slab){0, 2};
  memcpy((void *)((uintptr_t)c->data[to] + wanted.first * sizeof *both), both + wanted.first,
         wanted.count * sizeof *both);
  return true;
}
