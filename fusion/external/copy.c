// Copies of files in another order. See external.h.
#include "fusion/external/making.h"

const char making_needs_more[] = "a part of it needs more at one time";

net_id making_add_file(making *m, const net_array *like) {
  vec_push(m->memory, &m->out->arrays, *like);
  m->out->arrays.items[m->out->arrays.count - 1].role = NET_TEMPORARY;
  return (net_id)m->out->arrays.count - 1;
}

// The map where an index bit is what the form needs to be 0.
static net_map map_where_fixed(arena *a, const net_map *m, net_form bit) {
  net_map to = net_map_copy(a, m);
  for (uint32_t r = 0; r < to.row_count; r++)
    if (to.rows[r].form.mask & bit.mask) {
      to.rows[r].form.mask ^= bit.mask;
      to.rows[r].form.constant ^= bit.constant;
    }
  return to;
}

// A step from a file to another one. Bits of the index that are fixed where the store is live are
// in no map: the loop over them has nothing to do.
void making_add_copying(making *m, const net_stage *space, net_load load, net_store store) {
  net_stage copy = {.loop_count = space->loop_count, .extents = space->extents, .n = space->n};
  scalar_type type = m->out->arrays.items[load.array].type;
  net_form *live = NEW_ARRAY(m->memory, net_form, store.live_count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < store.live_count; i++) {
    net_form f = store.live[i];
    if (f2_weight(f.mask) != 1) {
      live[count++] = f;
      continue;
    }
    load.map = map_where_fixed(m->memory, &load.map, f);
    store.map = map_where_fixed(m->memory, &store.map, f);
  }
  store.live = live;
  store.live_count = count;
  load.value = store.value = net_value_add(m->memory, &copy, type);
  vec_push(m->memory, &copy.loads, load);
  vec_push(m->memory, &copy.stores, store);
  if (!making_add_blocks(m, &copy))
    m->wrong = making_needs_more;
}

net_id making_add_file_in_order(making *m, const net_stage *space, net_id like, net_map *map) {
  net_array file = m->out->arrays.items[like];
  file.count = net_stage_elements(space);
  *map = net_stage_map(m->memory, space, f2_affine_identity(space->n));
  return making_add_file(m, &file);
}

void making_add_copy(making *m, const net_stage *space, net_load *l) {
  net_store store = {.padding_start = UINT64_MAX};
  net_load from = *l;
  store.array = l->array = making_add_file_in_order(m, space, l->array, &l->map);
  store.map = l->map;
  l->padding_start = UINT64_MAX;
  making_add_copying(m, space, from, store);
}
