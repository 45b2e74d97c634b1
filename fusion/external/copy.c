// Copies of files in another order. See external.h.
#include "fusion/external/making.h"

const char making_needs_more[] = "a part of it needs more at one time";

net_id making_add_file(making *m, const net_array *like) {
  vec_push(m->memory, &m->out->arrays, *like);
  m->out->arrays.items[m->out->arrays.count - 1].role = NET_TEMPORARY;
  return (net_id)m->out->arrays.count - 1;
}

// Index bits that are fixed where the store is live are then in no map and no form: the loop over
// them has nothing to do.
static void fix_bits(arena *a, int n, net_load *load, net_store *store) {
  for (uint32_t i = 0; i < store->live_count; i++) {
    net_form bit = store->live[i];
    if (f2_weight(bit.mask) != 1)
      continue;
    f2_affine fixed = f2_affine_identity(n);
    net_change c = {.old_of_new = &fixed};
    fixed.a.row[f2_lsb(bit.mask)] = 0;
    fixed.c = bit.constant ? bit.mask : 0;
    store->live = net_forms_changed(a, &c, store->live, &store->live_count);
    load->map = net_map_changed(a, &c, &load->map);
    store->map = net_map_changed(a, &c, &store->map);
    i = UINT32_MAX;  // others may have become such
  }
}

void making_add_copying(making *m, const net_stage *space, net_load load, net_store store) {
  net_stage copy = {.loop_count = space->loop_count, .extents = space->extents, .n = space->n};
  scalar_type type = m->out->arrays.items[load.array].type;
  fix_bits(m->memory, space->n, &load, &store);
  net_move_add(m->memory, &copy, type, load, store);
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
