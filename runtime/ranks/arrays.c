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
array_part rank_part_of(const rank *r, net_id a, uint32_t of) {
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

// Of a slab there is memory for elements, too, that do not exist: tiles are whole.
uint64_t rank_memory_bytes(const rank *r, net_id a) {
  uint64_t slab = window_of(r, a) ? 0 : r->slab[a];
  uint64_t count = slab ? slab : rank_part_of(r, a, r->transport->rank).count;
  return count * rank_element_bytes(r, a) + rank_memory_line(&r->memory);
}

// Element 0 lies, or would lie, at a multiple of a line, as in whole arrays.
bool rank_allocate(rank *r, net_id a) {
  uint64_t slab = window_of(r, a) ? 0 : r->slab[a], before;
  array_part *part = &r->parts[a];
  *part = rank_part_of(r, a, r->transport->rank);
  before = (slab ? r->transport->rank * slab : part->first) * rank_element_bytes(r, a);
  part->memory = rank_memory_new(&r->memory, rank_memory_bytes(r, a));
  if (!part->memory)
    return rank_device_failed(r, &r->memory);
  part->data = (char *)part->memory + before % rank_memory_line(&r->memory);
  r->data[a] = (void *)((uintptr_t)part->data - before);
  return true;
}

void rank_free_part(rank *r, net_id a) {
  rank_memory_free(&r->memory, r->parts[a].memory, rank_memory_bytes(r, a));
  r->parts[a] = (array_part){0};
  r->data[a] = NULL;
}

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
  extent *wants = rank_list_extents(r, a);
  if (!wants)
    return error_no_memory(r->failure);
  extent *has = parts_gather(t, extent_of(own), r->failure);
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
  free(wants);
  free(has);
  return good;
}

// Elements of an argument, by way of memory of the host that has `room` bytes.
static bool upload_pieces(rank *r, net_id a, const array *given, void *memory, uint64_t room) {
  const array_part *part = &r->parts[a];
  uint64_t size = rank_element_bytes(r, a), most = room / size;
  bool good = true;
  for (uint64_t i = 0, count; i < part->count && good; i += count) {
    count = part->count - i < most ? part->count - i : most;
    good = array_fetch(given, part->first + i, count, memory, r->failure) &&
           (rank_memory_write(&r->memory, (char *)part->data + i * size, memory, count * size) ||
            rank_device_failed(r, &r->memory));
  }
  return good;
}

// What this rank's GPU needs of an argument or table. data: all of it, or NULL.
static bool upload_given(rank *r, net_id a, const array *given, const void *data) {
  enum { PIECE = 1 << 26 };
  const array_part *part = &r->parts[a];
  uint64_t size = rank_element_bytes(r, a), bytes = part->count * size;
  if (data && !net_array_has_bytes(&r->run->plan->arrays.items[a]))
    return rank_memory_write(&r->memory, part->data, (const char *)data + part->first * size,
                             bytes) ||
           rank_device_failed(r, &r->memory);
  bool in_parts = array_device(given) == ARRAY_IN_PART;
  uint64_t room = in_parts || bytes < PIECE ? bytes : PIECE;
  void *memory = array_memory(room + 1);
  bool good = memory ? true : error_no_memory(r->failure);
  if (good && in_parts)
    good = take_parts(r, a, given, memory) &&
           (rank_memory_write(&r->memory, part->data, memory, bytes) ||
            rank_device_failed(r, &r->memory));
  else if (good)
    good = upload_pieces(r, a, given, memory, room);
  free(memory);
  return good;
}

// An argument that each rank has as a whole stays where it is, if it is in memory.
bool rank_take_given(rank *r, net_id a) {
  const net_array *of = &r->run->plan->arrays.items[a];
  const array *given = of->number < r->run->argument_count ? &r->run->arguments[of->number] : NULL;
  void *data = NULL;
  if (of->role == NET_TABLE || array_device(given) == ARRAY_HOST) {
    if (!cpu_find_given(of, r->run->arguments, r->run->argument_count, &data, r->failure))
      return false;
    if (!r->slab[a] && !r->memory.device) {
      r->data[a] = data;
      return true;
    }
  }
  if (r->memory.device)
    return rank_allocate(r, a) && upload_given(r, a, given, data);
  if (array_device(given) == ARRAY_IN_PART)
    return rank_allocate(r, a) && take_parts(r, a, given, r->parts[a].data);
  return rank_allocate(r, a) &&
         array_fetch(given, r->parts[a].first, r->parts[a].count, r->parts[a].data, r->failure);
}

bool rank_take_arrays(rank *r, uint32_t number) {
  const plan *p = r->run->plan;
  bool good = true;
  for (net_id a = 0; good && a < p->arrays.count; a++)
    if (r->first[a] == number)
      good = net_array_is_given(&p->arrays.items[a]) ? rank_take_given(r, a) : rank_allocate(r, a);
  return good;
}

void rank_free_arrays(rank *r, uint32_t number) {
  for (net_id a = 0; a < r->run->plan->arrays.count; a++)
    if (r->first[a] != NEVER && r->last[a] == number)
      rank_free_part(r, a);
}

// ---- results ------------------------------------------------------------------------------------

// Results in memory of the GPU come to that of the host, where all else is done with them.
bool rank_bring_home(rank *r) {
  const plan *p = r->run->plan;
  rank_memory device = r->memory;
  bool good = !device.device || cuda_wait(device.device, r->run->interrupted) ||
              rank_device_failed(r, &device);
  if (!device.device || !good)
    return good;
  for (net_id a = 0; a < p->arrays.count; a++) {
    array_part there = r->parts[a];
    r->memory = device;
    uint64_t bytes = rank_memory_bytes(r, a);
    r->memory = (rank_memory){0};
    r->parts[a] = (array_part){0};
    if (!there.memory)
      continue;
    good = good && rank_allocate(r, a) &&
           (rank_memory_read(&device, r->parts[a].data, there.data,
                             there.count * rank_element_bytes(r, a)) ||
            rank_device_failed(r, &device));
    rank_memory_free(&device, there.memory, bytes);
  }
  rank_memory_end(&device);
  return good;
}
