// Rooms for the arrays of a plan, by their lifetimes. See storage.h.
#include "runtime/cpu/storage.h"
#include "core/number.h"
#include "runtime/values/value.h"

#include <stdlib.h>

#define NEVER STORAGE_NEVER

static bool has_memory(const storage *s, net_id id) {
  const net_array *a = &s->plan->arrays.items[id];
  return a->role == NET_ARGUMENT || (a->role == NET_RESULT && a->number < s->returned);
}

uint64_t cpu_array_bytes(const net_array *a) { return a->count * scalar_types[a->type].size; }

// ---- which arrays meet ---------------------------------------------------------------------------

// With conditions, a tile may load what another tile stores: an element for which they do not hold.
bool cpu_loads_where_stored(const plan *p, const plan_pass *pass, uint32_t load, net_id stored) {
  const plan_move *from = &pass->loads[load];
  const plan_move *to = plan_find_move(pass->stores, pass->store_count, stored);
  for (plan_access at = {0}; plan_access_next(pass, &at);) {
    net_id whole = NET_WHOLE_OF(p->arrays.items, at.array);
    if (at.move != from && at.move != to && (whole == from->array || whole == stored))
      return false;
  }
  return to && to->live_count == 0 && pass->live_count == 0 &&
         p->arrays.items[from->array].type == p->arrays.items[stored].type &&
         net_map_equal(&from->map, &to->map);
}

static uint32_t kernel_begin(const storage *s, uint32_t pass) {
  return s->passes ? pass - s->passes[pass].earlier : pass;
}

static bool is_kernel(const storage *s, uint32_t pass) {
  return kernel_begin(s, pass) == pass &&
         (pass + 1 == s->plan->passes.count || kernel_begin(s, pass + 1) == pass + 1);
}

// Whether the last pass that needs the earlier array stores the later one where that lies.
static bool replaces(const storage *s, net_id later, net_id earlier) {
  uint32_t number = s->items[later].first;
  const plan_pass *pass = &s->plan->passes.items[number];
  if (s->items[earlier].last != number || !s->passes || !s->passes[number].in_place ||
      !is_kernel(s, number) || net_stage_overlaps(plan_stage_of(s->plan, pass)))
    return false;
  for (uint32_t i = 0; i < pass->load_count; i++)
    if (pass->loads[i].array == earlier)
      return cpu_loads_where_stored(s->plan, pass, i, later);
  return false;
}

static bool follows(const storage *s, net_id later, net_id earlier) {
  return s->items[earlier].last < kernel_begin(s, s->items[later].first) ||
         replaces(s, later, earlier);
}

// ---- rooms ---------------------------------------------------------------------------------------

// Whether there is no pass between the room's arrays and the other.
static bool is_busy(const storage_room *r, const storage_item *other) {
  return (r->last == NEVER || other->first <= r->last + 1) &&
         (other->last == NEVER || other->last + 1 >= r->first);
}

// Whether the room's memory serves for so many bytes, and is not much more than they need.
static bool is_suited(const storage_room *r, uint64_t bytes) {
  uint64_t memory = r->owner == NET_NONE ? array_reserved_bytes(r->bytes) : r->bytes;
  return memory >= bytes && memory <= array_reserved_bytes(bytes);
}

// Whether the array meets none of the room's. *in_place: a pass loads one of the two, and stores the
// other there.
static bool fits(const storage *s, const storage_room *r, net_id id, bool *in_place) {
  *in_place = false;
  uint64_t bytes = s->items[id].bytes;
  if ((r->owner != NET_NONE && r->bytes < bytes) ||
      (s->transient && (!is_busy(r, &s->items[id]) || !is_suited(r, bytes))))
    return false;
  for (net_id a = r->array; a != NET_NONE; a = s->items[a].next) {
    if (!follows(s, id, a) && !follows(s, a, id))
      return false;
    *in_place = *in_place || s->items[a].last == s->items[id].first ||
                s->items[id].last == s->items[a].first;
  }
  return true;
}

static storage_room *find_room(storage *s, net_id id) {
  storage_room *found = NULL;
  for (uint32_t i = 0; i < s->room_count; i++) {
    bool in_place;
    if (!fits(s, &s->rooms[i], id, &in_place))
      continue;
    if (in_place)
      return &s->rooms[i];
    found = found ? found : &s->rooms[i];
  }
  return found;
}

static void place_array(storage *s, net_id id) {
  storage_item *item = &s->items[id];
  bool owner = has_memory(s, id);
  storage_room *r = owner ? NULL : find_room(s, id);
  if (!r) {
    r = &s->rooms[s->room_count++];
    *r = (storage_room){item->bytes, NEVER, 0, owner ? id : NET_NONE, NET_NONE, NULL};
  }
  r->bytes = item->bytes > r->bytes ? item->bytes : r->bytes;
  r->first = item->first < r->first ? item->first : r->first;
  r->last = item->last > r->last ? item->last : r->last;
  item->room = (uint32_t)(r - s->rooms);
  item->next = r->array;
  r->array = id;
}

typedef struct candidate {
  uint64_t size;
  uint32_t order;
  net_id array;
} candidate;

// Sizes that differ by less than an eighth may be equal, as those of an array with padding and of one
// without it.
static uint64_t rounded_size(uint64_t bytes) {
  uint64_t unit = 1;
  while (bytes / unit > 8)
    unit *= 2;
  return divide_up(bytes, unit) * unit;
}

static int compare_candidates(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  return x->size != y->size     ? (x->size > y->size ? -1 : 1)
         : x->order != y->order ? (x->order > y->order ? -1 : 1)
                                : (x->array > y->array) - (x->array < y->array);
}

void storage_note_use(storage_item *item, uint32_t pass) {
  item->first = pass < item->first ? pass : item->first;
  item->last = pass;
}

void storage_lifetimes(const plan *p, storage_item *items) {
  for (net_id a = 0; a < p->arrays.count; a++)
    items[a] = (storage_item){.bytes = cpu_array_bytes(&p->arrays.items[a]), .first = NEVER};
  for (uint32_t i = 0; i < p->passes.count; i++)
    for (plan_access at = {0}; plan_access_next(&p->passes.items[i], &at);)
      storage_note_use(&items[NET_WHOLE_OF(p->arrays.items, at.array)], i);
}

bool storage_begin(storage *s, const plan *p, const storage_pass *passes) {
  *s = (storage){.plan = p, .passes = passes};
  s->items = calloc(p->arrays.count + 1, sizeof *s->items);
  s->rooms = calloc(p->arrays.count + 1, sizeof *s->rooms);
  if (!s->items || !s->rooms)
    return false;
  storage_lifetimes(p, s->items);
  for (net_id a = 0; a < p->arrays.count; a++) {
    if (net_array_is_given(&p->arrays.items[a]))
      s->items[a].first = NEVER;
    if (p->arrays.items[a].role == NET_RESULT)
      s->items[a].last = NEVER;
  }
  return true;
}

bool storage_place(storage *s) {
  FREED candidate *all = calloc(s->plan->arrays.count + 1, sizeof *all);
  size_t count = 0;
  for (net_id a = 0; all && a < s->plan->arrays.count; a++)
    if (s->items[a].first != NEVER)
      all[count++] = (candidate){has_memory(s, a) ? UINT64_MAX : rounded_size(s->items[a].bytes),
                                 s->transient ? NEVER - s->items[a].first : s->items[a].last, a};
  if (all)
    qsort(all, count, sizeof *all, compare_candidates);
  for (size_t i = 0; i < count; i++)
    place_array(s, all[i].array);
  return all != NULL;
}

void storage_free_after(storage *s, uint32_t pass) {
  for (uint32_t i = 0; i < s->room_count && s->transient; i++)
    if (s->rooms[i].last == pass) {
      free(s->rooms[i].memory);
      s->rooms[i].memory = NULL;
    }
}

void storage_end(storage *s) {
  for (uint32_t i = 0; i < s->room_count; i++)
    free(s->rooms[i].memory);
  free(s->items);
  free(s->rooms);
  *s = (storage){0};
}

// ---- in the caller's memory ----------------------------------------------------------------------

static uint64_t aligned(uint64_t bytes) {
  return divide_up(bytes, LAYOUT_ALIGNMENT) * LAYOUT_ALIGNMENT;
}

static void list_places(const storage *s, array_layout *out) {
  uint64_t most = 0;
  for (net_id a = 0; a < s->plan->arrays.count; a++) {
    const net_array *of = &s->plan->arrays.items[a];
    if (net_array_is_given(of))
      out->places[a] =
          (array_place){of->role == NET_TABLE ? HOME_TABLE : HOME_ARGUMENT, of->number};
  }
  for (uint32_t i = 0; i < s->room_count; i++) {
    const storage_room *r = &s->rooms[i];
    array_place place = {HOME_WORKSPACE, out->workspace_bytes};
    if (r->owner == NET_NONE)
      out->workspace_bytes += aligned(r->bytes);
    else
      place = (array_place){HOME_RESULT, s->plan->arrays.items[r->owner].number};
    for (net_id a = r->array; a != NET_NONE; a = s->items[a].next)
      out->places[a] = place;
  }
  for (size_t i = 0; i < s->plan->passes.count; i++)
    most = s->passes[i].bytes > most ? s->passes[i].bytes : most;
  out->temporaries_at = out->workspace_bytes;
  out->workspace_bytes += aligned(most);
}

bool array_layout_make(const plan *p, const storage_pass *passes, size_t returned,
                       array_layout *out) {
  storage s = {0};
  *out = (array_layout){calloc(p->arrays.count + 1, sizeof *out->places), 0, 0};
  bool good = out->places && storage_begin(&s, p, passes);
  s.returned = returned;
  good = good && storage_place(&s);
  if (good)
    list_places(&s, out);
  storage_end(&s);
  if (good)
    return true;
  free(out->places);
  *out = (array_layout){0};
  return false;
}
