// Places for the arrays of a plan, by their lifetimes. See layout.h.
#include "runtime/cpu/layout.h"
#include "core/number.h"
#include "runtime/cpu/cpu.h"

#define NEVER UINT32_MAX

// Memory that holds one array at a time: a result's, or a part of the workspace.
typedef struct room {
  uint64_t bytes;
  net_id result;  // the array that has it from its first pass on; NET_NONE: workspace
  bool taken;
} room;

typedef struct placing {
  const plan *plan;
  const layout_pass *passes;
  size_t returned;
  uint32_t *first, *last;  // by array: as in cpu_array_lifetimes
  uint32_t *room_of;       // by array, or NEVER
  room *rooms;
  uint32_t room_count;
} placing;

static const net_array *array_of(const placing *s, net_id id) { return &s->plan->arrays.items[id]; }

static bool is_returned(const placing *s, net_id id) {
  return array_of(s, id)->role == NET_RESULT && array_of(s, id)->number < s->returned;
}

// Whether the pass, the last to use array `loaded`, may store `stored` where that lies.
static bool may_replace(const placing *s, uint32_t number, net_id loaded, net_id stored) {
  const plan_pass *pass = &s->plan->passes.items[number];
  if (!s->passes[number].in_place || s->last[loaded] != number ||
      net_stage_overlaps(&s->plan->net->stages.items[pass->stage]))
    return false;
  for (uint32_t i = 0; i < pass->load_count; i++)
    if (pass->loads[i].array == loaded)
      return cpu_loads_where_stored(s->plan, pass, i, stored);
  return false;
}

// Whether the array can be in the room until it is dead: a result needs its own from its first pass
// on.
static bool may_stay(const placing *s, const room *r, net_id id) {
  if (r->bytes < cpu_array_bytes(array_of(s, id)))
    return false;
  if (r->result == NET_NONE || r->result == id)
    return true;
  uint32_t wanted = s->first[r->result];
  return array_of(s, id)->role == NET_TEMPORARY && wanted != NEVER &&
         (s->last[id] < s->passes[wanted].first || may_replace(s, wanted, id, r->result));
}

// Results' rooms are asked first. One in the workspace may be too large by an eighth.
static uint32_t take_room(placing *s, net_id id) {
  uint64_t bytes = cpu_array_bytes(array_of(s, id));
  uint32_t i = 0;
  for (; i < s->room_count; i++) {
    const room *r = &s->rooms[i];
    bool wasteful = r->result == NET_NONE && r->bytes - bytes > bytes / 8;
    if (!r->taken && may_stay(s, r, id) && !wasteful)
      break;
  }
  if (i == s->room_count)
    s->rooms[s->room_count++] = (room){bytes, NET_NONE, true};
  s->rooms[i].taken = true;
  return i;
}

// Whether the pass stores to the room.
static bool is_stored(const placing *s, const plan_pass *pass, uint32_t r) {
  for (uint32_t i = 0; i < pass->store_count; i++)
    if (s->room_of[pass->stores[i].array] == r)
      return true;
  return false;
}

// The room of an array that the pass loads for the last time, and may store this one to; else
// NEVER.
static uint32_t find_replaced(const placing *s, uint32_t number, net_id id) {
  const plan_pass *pass = &s->plan->passes.items[number];
  for (uint32_t i = 0; i < pass->load_count; i++) {
    net_id a = pass->loads[i].array;
    if (array_of(s, a)->role == NET_TEMPORARY && may_replace(s, number, a, id) &&
        may_stay(s, &s->rooms[s->room_of[a]], id) && !is_stored(s, pass, s->room_of[a]))
      return s->room_of[a];
  }
  return NEVER;
}

// That of a result is free by then, or holds what the pass replaces.
static uint32_t take_own_room(placing *s, net_id id) {
  uint32_t i = 0;
  while (s->rooms[i].result != id)
    i++;
  s->rooms[i].taken = true;
  return i;
}

static void place_array(placing *s, uint32_t number, net_id id, bool is_store) {
  if (s->room_of[id] != NEVER || net_array_is_given(array_of(s, id)))
    return;
  uint32_t found = is_store && !is_returned(s, id) ? find_replaced(s, number, id) : NEVER;
  s->room_of[id] = found != NEVER       ? found
                   : is_returned(s, id) ? take_own_room(s, id)
                                        : take_room(s, id);
}

// The arrays that the passes of one kernel make; then those that they were the last to use are
// gone.
static void place_passes(placing *s, uint32_t first, uint32_t end) {
  for (uint32_t k = first; k < end; k++) {
    const plan_pass *pass = &s->plan->passes.items[k];
    for (uint32_t i = 0; i < pass->access_count; i++)
      place_array(s, k, pass->accesses[i].array, false);
    for (uint32_t i = 0; i < pass->store_count; i++)
      place_array(s, k, pass->stores[i].array, true);
  }
  for (net_id a = 0; a < s->plan->arrays.count; a++) {
    uint32_t r = s->room_of[a], last = s->last[a];
    bool dead = array_of(s, a)->role == NET_TEMPORARY && r != NEVER && last >= first && last < end;
    if (dead && !(s->first[a] < first && is_stored(s, &s->plan->passes.items[last], r)))
      s->rooms[r].taken = false;
  }
}

static void place_all(placing *s) {
  size_t count = s->plan->arrays.count;
  cpu_array_lifetimes(s->plan, s->first, s->last);
  for (net_id a = 0; a < count; a++) {
    s->room_of[a] = NEVER;
    if (is_returned(s, a))
      s->rooms[s->room_count++] = (room){cpu_array_bytes(array_of(s, a)), a, false};
  }
  for (uint32_t i = 0, end; i < s->plan->passes.count; i = end) {
    for (end = i + 1; end < s->plan->passes.count && s->passes[end].first == i; end++)
      ;
    place_passes(s, i, end);
  }
}

// Offsets for the rooms in the workspace, and what was found, by array.
static bool list_places(const placing *s, array_layout *out) {
  uint64_t *offsets = calloc(s->room_count + 1, sizeof *offsets);
  *out = (array_layout){calloc(s->plan->arrays.count + 1, sizeof *out->places), 0, 0};
  if (!offsets || !out->places) {
    free(offsets);
    free(out->places);
    *out = (array_layout){0};
    return false;
  }
  for (uint32_t i = 0; i < s->room_count; i++)
    if (s->rooms[i].result == NET_NONE) {
      offsets[i] = out->workspace_bytes;
      out->workspace_bytes += divide_up(s->rooms[i].bytes, LAYOUT_ALIGNMENT) * LAYOUT_ALIGNMENT;
    }
  uint64_t most = 0;
  for (size_t i = 0; i < s->plan->passes.count; i++)
    most = s->passes[i].bytes > most ? s->passes[i].bytes : most;
  out->temporaries_at = out->workspace_bytes;
  out->workspace_bytes += divide_up(most, LAYOUT_ALIGNMENT) * LAYOUT_ALIGNMENT;
  for (net_id a = 0; a < s->plan->arrays.count; a++) {
    const net_array *of = array_of(s, a);
    const room *r = s->room_of[a] == NEVER ? NULL : &s->rooms[s->room_of[a]];
    if (of->role == NET_ARGUMENT)
      out->places[a] = (array_place){HOME_ARGUMENT, of->number};
    else if (of->role == NET_TABLE)
      out->places[a] = (array_place){HOME_TABLE, of->number};
    else if (r && r->result != NET_NONE)
      out->places[a] = (array_place){HOME_RESULT, array_of(s, r->result)->number};
    else if (r)
      out->places[a] = (array_place){HOME_WORKSPACE, offsets[s->room_of[a]]};
  }
  free(offsets);
  return true;
}

bool array_layout_make(const plan *p, const layout_pass *passes, size_t returned,
                       array_layout *out) {
  size_t count = p->arrays.count;
  placing s = {.plan = p, .passes = passes, .returned = returned};
  s.first = calloc(3 * count + 1, sizeof *s.first);
  s.rooms = calloc(count + 1, sizeof *s.rooms);
  bool good = s.first && s.rooms;
  if (good) {
    s.last = s.first + count;
    s.room_of = s.last + count;
    place_all(&s);
    good = list_places(&s, out);
  }
  free(s.first);
  free(s.rooms);
  return good;
}
