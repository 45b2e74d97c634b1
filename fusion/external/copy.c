// Copies of files in another order. See external.h.
#include "fusion/external/making.h"

const char making_needs_more[] = "a part of it needs more at one time";

net_id making_add_file(making *m, const net_array *like) {
  vec_push(m->memory, &m->out->arrays, *like);
  m->out->arrays.items[m->out->arrays.count - 1].role = NET_TEMPORARY;
  return (net_id)m->out->arrays.count - 1;
}

// Where an index bit is what the form of it needs to be 0: the form, and the map.
static void fix_in_form(net_form *f, net_form bit) {
  if (f->mask & bit.mask) {
    f->mask ^= bit.mask;
    f->constant ^= bit.constant;
  }
}

static net_map fixed_in_map(arena *a, const net_map *m, net_form bit) {
  net_map to = net_map_copy(a, m);
  for (uint32_t r = 0; r < to.row_count; r++)
    fix_in_form(&to.rows[r].form, bit);
  return to;
}

// Index bits that are fixed where the store is live are then in no map and no form: the loop over
// them has nothing to do.
static void fix_bits(arena *a, net_load *load, net_store *store) {
  net_form *live = NEW_ARRAY(a, net_form, store->live_count + 1);
  uint32_t i = 0;
  if (store->live_count)
    memcpy(live, store->live, store->live_count * sizeof *live);
  store->live = live;
  while (i < store->live_count) {
    net_form bit = live[i];
    if (f2_weight(bit.mask) != 1) {
      i++;
      continue;
    }
    live[i] = live[--store->live_count];
    for (uint32_t k = 0; k < store->live_count; k++)
      fix_in_form(&live[k], bit);
    load->map = fixed_in_map(a, &load->map, bit);
    store->map = fixed_in_map(a, &store->map, bit);
    i = 0;
  }
}

void making_add_copying(making *m, const net_stage *space, net_load load, net_store store) {
  net_stage copy = {.loop_count = space->loop_count, .extents = space->extents, .n = space->n};
  scalar_type type = m->out->arrays.items[load.array].type;
  fix_bits(m->memory, &load, &store);
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
