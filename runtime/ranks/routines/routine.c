// The table of routines over ranks. See routine.h.
#include "runtime/ranks/routines/routine.h"

#include "runtime/ranks/routines/ranked.h"
#include "runtime/routines/routine.h"
#include <stdlib.h>

static bool (*const routines[NET_ROUTINE_KINDS])(const ranked_routine *) = {
    [NET_SORT] = run_ranked_sort,   [NET_PLACES] = run_ranked_places,
    [NET_COUNT] = run_ranked_count, [NET_PERMUTE] = run_ranked_permute,
    [NET_WRONG] = run_ranked_wrong,
};

// ---- whole rows ---------------------------------------------------------------------------------

// Whether each rank has whole rows of keys, which it sorts for itself.
static bool has_rows(const ranked_routine *c) {
  const net_routine *r = c->routine;
  uint64_t size = ranked_slab_size(c);
  return (r->kind == NET_SORT || r->kind == NET_PLACES) &&
         (size % r->length == 0 || size >= ranked_elements(c));
}

// The routine of this rank's rows: arrays of so many elements, at their places.
static bool run_rows(const ranked_routine *c) {
  const team *t = c->team;
  slab own = ranked_slab(c);
  size_t count = c->net->arrays.count;
  net_routine r = *c->routine;
  plan p = {.net = c->net};
  p.arrays.items = malloc((count + 1) * sizeof *p.arrays.items);
  FREED void **data = calloc(count + 1, sizeof *data);
  bool good = p.arrays.items && data;
  r.rows = own.count / r.length;
  for (uint32_t i = 0; i < 2 * r.pair_count && good; i++) {
    net_id id = i % 2 ? r.pairs[i / 2].to : r.pairs[i / 2].from;
    if (id == NET_NONE)
      continue;
    p.arrays.items[id] = *ranked_array(c, id);
    p.arrays.items[id].count = p.arrays.items[id].count / ranked_elements(c) * own.count;
    data[id] = ranked_at(c, id, own.first);
  }
  good = good && (r.rows == 0 || routine_run(&p, &r, data, t->threads, t->interrupted));
  free(p.arrays.items);
  return good || team_stop(t);
}

// ---- the whole ----------------------------------------------------------------------------------

static bool run(const ranked_routine *c) {
  return has_rows(c) ? run_rows(c) : routines[c->routine->kind](c);
}

static bool run_counting(const ranked_routine *c) {
  net_routine rest, count;
  ranked_routine of_rest = *c, of_count = *c;
  net_routine_split(c->routine, &rest, &count);
  of_rest.routine = &rest;
  of_count.routine = &count;
  return run(&of_count) && run(&of_rest);
}

bool routine_run_ranked(const ranked_routine *c) {
  return c->routine->counts ? run_counting(c) : run(c);
}
