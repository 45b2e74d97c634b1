// Elements go to the ranks that have their places, or come from them. See routine.h.
#include "runtime/ranks/routines/ranked.h"

#include "core/permutation/permutation.h"
#include "core/sizes.h"
#include "runtime/ranks/routines/deal.h"
#include "runtime/system/pool.h"
#include "runtime/values/value.h"
#include <stdlib.h>
#include <string.h>

// Places that this rank has, and those that come to it: they are places of its slab.
typedef struct placing {
  const ranked_routine *call;
  slab slab;
  place_list places, come;
  deal deal;  // what is no place goes nowhere
} placing;

static void classify_places(const void *with, uint64_t first, uint64_t last, void *classes) {
  uint16_t *of_rank = classes;
  const placing *p = with;
  const ranked_routine *c = p->call;
  uint64_t size = ranked_slab_size(c), length = c->routine->length;
  uint32_t ranks = c->team->transport->ranks;
  for (uint64_t i = first; i < last; i++) {
    uint64_t place = place_at(&p->places, i);
    of_rank[i - first] = (uint16_t)(place < length ? place / size : ranks);
  }
}

// Places come to the ranks whose slabs they are in. `room`: for those of a slab.
static bool send_places(placing *p, void *room) {
  const team *t = p->call->team;
  size_t size = p->places.size;
  if (!deal_to_ranks(&p->deal, t, p->slab.count, classify_places, p))
    return false;
  uint64_t count = p->deal.trade.received[t->transport->ranks];
  void *come = array_memory(count * size + 1);
  p->come = (place_list){come, size, count};
  return come ? deal_send(&p->deal, p->places.places, room, come, size) : team_stop(t);
}

// Units to the places that have come, or from there.
typedef struct moving {
  const placing *placing;
  char *whole;  // at place 0
  char *units;  // in the order in which the places came
  size_t unit;
} moving;

static bool move_units(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const moving *m = with;
  const place_list come = m->placing->come;
  bool back = m->placing->call->routine->back;
  uint64_t least = m->placing->slab.first;
  (void)worker;
#define MOVE(U)                                                                                    \
  for (uint64_t i = first; i < last; i++) {                                                        \
    char *at = m->whole + (place_at(&come, i) - least) * (U), *unit = m->units + i * (U);          \
    memcpy(back ? unit : at, back ? at : unit, (U));                                               \
  }
  FOR_UNIT_SIZE(m->unit, MOVE)
#undef MOVE
  return true;
}

// Pair i of the routine. `room` and `units`: for what this rank has, and for what comes to it.
static bool permute_pair(const placing *p, uint32_t i, void *room, void *units) {
  enum { CHUNK = 1 << 14 };
  const ranked_routine *c = p->call;
  const team *t = c->team;
  net_routine_pair pair = c->routine->pairs[i];
  size_t unit = ranked_unit(c, pair.to);
  bool back = c->routine->back;
  char *from = ranked_at(c, pair.from, p->slab.first), *to = ranked_at(c, pair.to, p->slab.first);
  moving m = {p, back ? from : to, units, unit};
  if (!back && !deal_send(&p->deal, from, room, units, unit))
    return false;
  if (!pool_run(t->threads, p->come.count, CHUNK, move_units, &m, t->interrupted))
    return team_stop(t);
  return !back || deal_return(&p->deal, units, room, to, unit);
}

bool run_ranked_permute(const ranked_routine *c) {
  const net_routine *r = c->routine;
  net_id keys = r->pairs[0].from;
  placing p = {.call = c, .slab = ranked_slab(c)};
  p.places = (place_list){ranked_at(c, keys, p.slab.first), ranked_unit(c, keys), p.slab.count};
  size_t unit = ranked_largest_unit(c);
  FREED void *room = array_memory(p.slab.count * unit + 1), *units = NULL;
  bool good = room ? send_places(&p, room) : team_stop(c->team);
  if (good)
    good = (units = array_memory(p.come.count * unit + 1)) || team_stop(c->team);
  for (uint32_t i = 1; i < r->pair_count && good; i++)
    good = permute_pair(&p, i, room, units);
  deal_free(&p.deal);
  free((void *)p.come.places);
  return good;
}
