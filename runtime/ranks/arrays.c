// Where a rank's arrays are, and what is given. See state.h.
#include "runtime/ranks/state.h"

// ---- slabs --------------------------------------------------------------------------------------

void rank_find_slabs(rank *r) {
  const shares *s = r->run->shares;
  for (net_id a = 0; a < r->run->plan->arrays.count; a++)
    r->slab[a] = a < s->net->arrays.count ? s->slab[a] : plan_share_elements(r->run->plan, a);
}

static const share_window *window_of(const rank *r, net_id a) {
  const shares *s = r->run->shares;
  return a < s->net->arrays.count ? s->window[a] : NULL;
}

// What a rank has of an array, without memory: a window, a slab, or all.
static array_part rank_part_of(const rank *r, net_id a, uint32_t of) {
  int64_t all = (int64_t)r->run->plan->arrays.items[a].count, first = 0, end = all;
  const share_window *w = window_of(r, a);
  if (w)
    first = w->first + of * w->step, end = first + (int64_t)w->length;
  else if (r->slab[a])
    first = (int64_t)(of * r->slab[a]), end = first + (int64_t)r->slab[a];
  first = first < 0 ? 0 : first < all ? first : all;
  end = end < first ? first : end < all ? end : all;
  return (array_part){.first = (uint64_t)first, .count = (uint64_t)(end - first)};
}

// ---- memory -------------------------------------------------------------------------------------

enum { LINE = 256 };  // element 0 of an array lies, or would lie, at a multiple of it

// Of a slab there is memory for elements, too, that do not exist: tiles are whole.
uint64_t rank_memory_bytes(const rank *r, net_id a) {
  uint64_t slab = window_of(r, a) ? 0 : r->slab[a];
  uint64_t count = slab ? slab : rank_part_of(r, a, r->transport->rank).count;
  return count * rank_element_bytes(r, a) + LINE;
}

array_part rank_part_in(const rank *r, net_id a, void *memory, void **element_0) {
  uint64_t slab = window_of(r, a) ? 0 : r->slab[a];
  array_part part = rank_part_of(r, a, r->transport->rank);
  uint64_t before = (slab ? r->transport->rank * slab : part.first) * rank_element_bytes(r, a);
  part.memory = memory;
  part.data = (char *)memory + before % LINE;
  *element_0 = (void *)((uintptr_t)part.data - before);
  return part;
}

static const array *argument_of(const rank *r, net_id a) {
  const net_array *of = &r->run->plan->arrays.items[a];
  bool given = of->role == NET_ARGUMENT && of->number < r->run->argument_count;
  return given ? &r->run->arguments[of->number] : NULL;
}

// What is given as a whole, in memory of the host.
static bool is_on_host(const rank *r, net_id a) {
  return r->run->plan->arrays.items[a].role == NET_TABLE ||
         array_device(argument_of(r, a)) == ARRAY_HOST;
}

// What each rank has as a whole stays where it is. Of what is given for several runs each has room.
static bool find_given(rank *r) {
  const plan *p = r->run->plan;
  bool good = true;
  for (net_id a = 0; good && a < p->arrays.count; a++) {
    storage_item *item = &r->storage.items[a];
    if (!net_array_is_given(&p->arrays.items[a]) || item->first == STORAGE_NEVER)
      continue;
    if (r->run->runs) {
      item->first = 0, item->last = STORAGE_NEVER;
    } else if (!r->slab[a] && !r->device && is_on_host(r, a)) {
      item->first = STORAGE_NEVER;
      good = cpu_find_given(&p->arrays.items[a], r->run->arguments, r->run->argument_count,
                            &r->data[a], r->failure);
    }
  }
  return good;
}

// A GPU frees memory only when it is idle: its rooms stay.
bool rank_place_arrays(rank *r) {
  storage *s = &r->storage;
  for (net_id a = 0; a < r->run->plan->arrays.count; a++)
    s->items[a].bytes = rank_memory_bytes(r, a);
  s->transient = !r->device;
  return find_given(r) && (storage_place(s) || error_no_memory(r->failure));
}

bool rank_allocate(rank *r, net_id a) {
  storage_room *room = &r->storage.rooms[r->storage.items[a].room];
  if (!room->memory)
    room->memory = r->device ? (void *)(uintptr_t)cuda_memory_new(r->device, room->bytes)
                             : array_memory(room->bytes);
  if (!room->memory)
    return rank_failed(r);
  r->parts[a] = rank_part_in(r, a, room->memory, &r->data[a]);
  return true;
}

void rank_end_arrays(rank *r) {
  for (uint32_t i = 0; r->device && i < r->storage.room_count; i++) {
    cuda_memory_free(r->device, (uintptr_t)r->storage.rooms[i].memory);
    r->storage.rooms[i].memory = NULL;
  }
  storage_end(&r->storage);
}

// ---- what is given ------------------------------------------------------------------------------

// What each rank has of an array.
extent *rank_list_extents(const rank *r, net_id a) {
  extent *all = malloc(r->transport->ranks * sizeof *all);
  for (uint32_t i = 0; all && i < r->transport->ranks; i++)
    all[i] = extent_of(rank_part_of(r, a, i));
  return all;
}

// An argument of which each rank has a part, to what each needs of it, in memory of the host.
static bool take_parts(rank *r, net_id a, const array *given, void *to) {
  transport *t = r->transport;
  array_part own = array_own(given);
  FREED extent *wants = rank_list_extents(r, a);
  if (!wants)
    return error_no_memory(r->failure);
  FREED extent *has = parts_gather(t, own, r->failure);
  bool good = has != NULL;
  if (good && !parts_are_whole(has, t->ranks, array_count(given)))
    good = error_set(
        r->failure, SPAN_NONE,
        "the parts of argument %u that the ranks have, one behind the other, are not all of it",
        (unsigned)r->run->plan->arrays.items[a].number + 1);
  good = good &&
         parts_exchange(t, has, own.data, wants, to, scalar_types[given->type].size, r->failure);
  if (good && given->type == SCALAR_BOOL)  // what is not 0 is true
    scalar_convert(SCALAR_U8, SCALAR_BOOL, r->parts[a].count, to, to);
  r->told = !good;
  return good;
}

static bool upload(rank *r, net_id a, uint64_t first, const void *from, uint64_t count) {
  uint64_t size = rank_element_bytes(r, a);
  uintptr_t to = (uintptr_t)r->parts[a].data + first * size;
  return cuda_upload(r->device, to, from, count * size) || rank_failed(r);
}

// Elements of an argument, by way of memory of the host that has `room` bytes.
static bool upload_pieces(rank *r, net_id a, const array *given, void *memory, uint64_t room) {
  const array_part *part = &r->parts[a];
  uint64_t most = room / rank_element_bytes(r, a);
  bool good = true;
  for (uint64_t i = 0, count; i < part->count && good; i += count) {
    count = part->count - i < most ? part->count - i : most;
    good = array_fetch(given, part->first + i, count, memory, r->failure) &&
           upload(r, a, i, memory, count);
  }
  return good;
}

// What this rank's GPU needs of an argument or table. data: all of it, or NULL.
static bool upload_given(rank *r, net_id a, const array *given, const void *data) {
  enum { PIECE = 1 << 26 };
  const array_part *part = &r->parts[a];
  uint64_t size = rank_element_bytes(r, a), bytes = part->count * size;
  if (data && !net_array_has_bytes(&r->run->plan->arrays.items[a]))
    return upload(r, a, 0, (const char *)data + part->first * size, part->count);
  bool in_parts = array_device(given) == ARRAY_IN_PART;
  uint64_t room = in_parts || bytes < PIECE ? bytes : PIECE;
  FREED void *memory = array_memory(room + 1);
  bool good = memory ? true : error_no_memory(r->failure);
  if (good && in_parts)
    good = take_parts(r, a, given, memory) && upload(r, a, 0, memory, part->count);
  else if (good)
    good = upload_pieces(r, a, given, memory, room);
  return good;
}

bool rank_take_given(rank *r, net_id a) {
  const array *given = argument_of(r, a);
  void *data = NULL;
  if (is_on_host(r, a) && !cpu_find_given(&r->run->plan->arrays.items[a], r->run->arguments,
                                          r->run->argument_count, &data, r->failure))
    return false;
  if (!rank_allocate(r, a))
    return false;
  if (r->device)
    return upload_given(r, a, given, data);
  if (array_device(given) == ARRAY_IN_PART)
    return take_parts(r, a, given, r->parts[a].data);
  return array_fetch(given, r->parts[a].first, r->parts[a].count, r->parts[a].data, r->failure);
}

bool rank_take_arrays(rank *r, uint32_t number) {
  const plan *p = r->run->plan;
  bool good = true;
  for (net_id a = 0; good && a < p->arrays.count; a++)
    if (r->storage.items[a].first == number)
      good = net_array_is_given(&p->arrays.items[a]) ? rank_take_given(r, a) : rank_allocate(r, a);
  return good;
}

// ---- results ------------------------------------------------------------------------------------

bool rank_fetch(rank *r, transport *t, net_id from, extent *wants, void *to) {
  FREED extent *has = rank_list_extents(r, from);
  bool good = has && wants ? true : error_no_memory(r->failure);
  if (good)
    r->told = !(good = parts_exchange(t, has, r->parts[from].data, wants, to,
                                      rank_element_bytes(r, from), r->failure));
  free(wants);
  return good;
}

// Each rank has all of it then.
static bool gather_whole(rank *r, net_id a, array_part *part) {
  uint64_t count = r->run->plan->arrays.items[a].count;
  extent *wants = malloc(r->transport->ranks * sizeof *wants);
  void *whole = array_memory(count * rank_element_bytes(r, a));
  for (uint32_t i = 0; wants && i < r->transport->ranks; i++)
    wants[i] = (extent){0, count};
  r->parts[a] = *part;
  bool good = rank_fetch(r, r->transport, a, whole ? wants : NULL, whole);
  free(whole ? NULL : wants);
  free(good ? part->memory : whole);
  if (good)
    *part = (array_part){0, count, whole, whole};
  return good;
}

// One without elements has no memory yet, as no pass stores to it.
bool rank_take_result(rank *r, net_id a, array_part *out) {
  const net_array *of = &r->run->plan->arrays.items[a];
  const array_part *made = &r->parts[a];
  if (!made->memory && !rank_allocate(r, a))
    return false;
  if (!r->device) {
    *out = *made;
    r->storage.rooms[r->storage.items[a].room].memory = NULL;
  } else {
    void *memory = array_memory(rank_memory_bytes(r, a)), *element_0;
    if (!memory)
      return error_no_memory(r->failure);
    *out = rank_part_in(r, a, memory, &element_0);
    if (!cuda_download(r->device, out->data, (uintptr_t)made->data,
                       out->count * rank_element_bytes(r, a)))
      return rank_failed(r);
  }
  return !r->slab[a] || of->number < r->run->returned || gather_whole(r, a, out);
}
