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

static bool fits(const making *m, size_t step) {
  return !m->wrong && making_most_bytes(m, step) <= m->bytes;
}

void making_add_loops(making *m, const net_stage *s) {
  mark before = making_mark(m);
  making_add_stage(m, s);
  double seconds = making_seconds(m, before.steps);
  bool passes = fits(m, before.steps);
  making_go_back(m, before);
  bool blocks = making_add_blocks(m, s);
  m->wrong = NULL;
  if (blocks && (!passes || making_seconds(m, before.steps) <= seconds))
    return;
  making_go_back(m, before);
  making_add_stage(m, s);
  if (passes || !m->copies || making_has_effects(s))
    return;
  const char *wrong = m->wrong;
  making_go_back(m, before);
  m->wrong = NULL;
  add_in_order(m, s);
  if (!fits(m, before.steps) && wrong)
    m->wrong = wrong;
}
