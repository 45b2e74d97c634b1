// Stages by loops: by blocks, as passes, or as passes on files that are in order. See external.h.
#include "fusion/external/making.h"

// A stage by loops as passes, from copies of what it reads in the order of the index, and to such
// files: of these, a loop is bits of the index.
static void add_in_order(making *m, const net_stage *of) {
  net_stage s = making_join_loops(m->memory, of, false);
  net_store *stores = NEW_ARRAY(m->memory, net_store, s.stores.count + 1);
  for (size_t i = 0; i < s.loads.count && !m->wrong; i++)
    if (m->out->arrays.items[s.loads.items[i].array].role != NET_TABLE)
      making_add_copy(m, &s, &s.loads.items[i]);
  for (size_t i = 0; i < s.stores.count; i++) {
    net_store *o = &s.stores.items[i];
    stores[i] = *o;
    o->padding_start = UINT64_MAX;
    o->array = making_add_file_in_order(m, &s, stores[i].array, &o->map);
  }
  if (!m->wrong)
    making_add_stage(m, &s);
  for (size_t i = 0; i < s.stores.count && !m->wrong; i++) {
    net_load load = {.array = s.stores.items[i].array,
                     .map = s.stores.items[i].map,
                     .padding_start = UINT64_MAX};
    making_add_copying(m, &s, load, stores[i]);
  }
}

static bool add_blocks_or_passes(making *m, const void *stage, int passes) {
  if (!passes)
    return making_add_blocks(m, stage);
  making_add_stage(m, stage);
  return true;
}

void making_add_loops(making *m, const net_stage *s) {
  mark before = making_mark(m);
  if (making_add_faster(m, add_blocks_or_passes, s))
    return;
  making_add_stage(m, s);
  if (!m->copies || making_has_effects(s))
    return;
  const char *wrong = m->wrong;
  making_go_back(m, before);
  m->wrong = NULL;
  add_in_order(m, s);
  if (wrong && (m->wrong || making_most_bytes(m, before.steps) > m->bytes))
    m->wrong = wrong;
}
