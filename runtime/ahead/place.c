// Where the arrays of a program are in a call, and when its checks are looked at. See making.h.
#include "core/number.h"
#include "runtime/ahead/making.h"
#include "runtime/cpu/cpu.h"

#include <stdlib.h>

uint64_t ahead_aligned(uint64_t bytes) {
  return divide_up(bytes, LAYOUT_ALIGNMENT) * LAYOUT_ALIGNMENT;
}

net_id ahead_array_of_result(const plan *p, size_t result) {
  for (net_id a = 0; a < p->arrays.count; a++)
    if (p->arrays.items[a].role == NET_RESULT && p->arrays.items[a].number == result)
      return a;
  return NET_NONE;
}

// Passes up to the last that makes something to be checked, and those that are of one kernel with
// it.
static uint32_t find_checked_after(const plan *p, const trace *t, const storage_pass *passes,
                                   const storage_item *items) {
  uint32_t after = 0;
  for (size_t i = 0; i < t->checks.count; i++) {
    net_id a = ahead_array_of_result(p, trace_returned(t) + i);
    if (a != NET_NONE && items[a].last + 1 > after)
      after = items[a].last + 1;
  }
  while (after && after < p->passes.count && passes[after].earlier)
    after++;
  return after;
}

// Whether a pass before the checks writes to memory of the caller.
static bool writes_before_checks(const ahead_plan *s, const storage_item *items) {
  for (size_t a = 0; a < s->plan->arrays.count; a++)
    if (s->layout.places[a].home == HOME_RESULT && items[a].first < s->checked_after)
      return true;
  return false;
}

static bool make_layout(ahead_plan *s, const storage_pass *passes, const storage_item *items) {
  size_t returned = trace_returned(s->trace);
  if (!array_layout_make(s->plan, passes, returned, &s->layout))
    return false;
  s->copies = writes_before_checks(s, items);
  if (!s->copies)
    return true;
  free(s->layout.places);
  return array_layout_make(s->plan, passes, 0, &s->layout);
}

bool ahead_place_arrays(ahead_plan *s, const storage_pass *passes) {
  FREED storage_item *items = calloc(s->plan->arrays.count + 1, sizeof *items);
  if (!items)
    return false;
  storage_lifetimes(s->plan, items);
  s->checked_after = find_checked_after(s->plan, s->trace, passes, items);
  return make_layout(s, passes, items);
}

bool ahead_place_roots(ahead_plan *s, uint64_t *at) {
  const permc_root_table *roots = s->code->roots;
  while (roots[s->root_count].m)
    s->root_count++;
  s->roots_at = calloc(s->root_count + 1, sizeof *s->roots_at);
  for (uint32_t i = 0; i < s->root_count && s->roots_at; i++) {
    s->roots_at[i] = *at;
    *at += permc_root_room(&roots[i]);
  }
  return s->roots_at != NULL;
}
