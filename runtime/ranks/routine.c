// The table of routines over ranks. See routine.h.
#include "runtime/ranks/routine.h"

#include "runtime/ranks/ranked.h"

static bool (*const routines[NET_ROUTINE_KINDS])(const ranked_routine *) = {
    [NET_SORT] = run_ranked_sort,   [NET_PLACES] = run_ranked_places,
    [NET_COUNT] = run_ranked_count, [NET_PERMUTE] = run_ranked_permute,
    [NET_WRONG] = run_ranked_wrong,
};

// The same without its counts; and these.
static bool run_counting(const ranked_routine *c) {
  net_routine rest = *c->routine, count = rest;
  ranked_routine of_rest = *c, of_count = *c;
  rest.counts = count.counts = false;
  rest.pair_count--;
  count.kind = NET_COUNT;
  count.pairs += count.pair_count - 1;
  count.pair_count = 1;
  of_rest.routine = &rest;
  of_count.routine = &count;
  return routines[NET_COUNT](&of_count) && routines[rest.kind](&of_rest);
}

bool routine_run_ranked(const ranked_routine *c) {
  return c->routine->counts ? run_counting(c) : routines[c->routine->kind](c);
}
