// A stage by a loop as one by index bits. See external.h.
#include "fusion/external/making.h"

// A loop as the highest bits of the index: of its turns that are none, no element is in memory. (A
// scatter would write in these, too.)
static bool has_turns_as_bits(const making *m, const net_map *map, uint64_t turns, net_id array,
                              uint64_t *padding_start) {
  uint64_t count = m->out->arrays.items[array].count;
  *padding_start = count < *padding_start ? count : *padding_start;
  return map->strides[0] > 0 && map->offset >= 0 &&
         (uint64_t)map->offset + turns * (uint64_t)map->strides[0] >= *padding_start;
}

static net_map without_loop(arena *a, const net_stage *s, const net_map *m, int bits) {
  net_map to = net_map_copy(a, m);
  to.loop_count = 0;
  to.rows = NEW_ARRAY(a, net_row, m->row_count + (uint32_t)bits + 1);
  memcpy(to.rows, m->rows, m->row_count * sizeof *m->rows);
  for (int i = 0; i < bits && m->loop_count && m->strides[0]; i++)
    to.rows[to.row_count++] =
        (net_row){{f2_unit(s->n + i), false}, m->strides[0] * (int64_t)f2_unit(i)};
  net_map_normalise(&to);
  return to;
}

bool making_loop_as_bits(making *m, const net_stage *s, net_stage *out) {
  net_stage loop = making_join_loops(m->memory, s, false);
  if (loop.loop_count == 0) {
    *out = loop;
    return true;
  }
  if (loop.loop_count != 1 || loop.extents[0] < 2)
    return false;
  uint64_t turns = loop.extents[0];
  int bits = f2_msb(turns - 1) + 1;
  bool good = s->n + bits < LIVE_MAX && !net_stage_scatters(&loop);
  for (size_t i = 0; i < loop.loads.count; i++) {
    net_load *l = &loop.loads.items[i];
    good = good && (l->map.strides[0] == 0 ||
                    has_turns_as_bits(m, &l->map, turns, l->array, &l->padding_start));
  }
  for (size_t i = 0; i < loop.stores.count; i++) {
    net_store *o = &loop.stores.items[i];
    good = good && has_turns_as_bits(m, &o->map, turns, o->array, &o->padding_start);
  }
  net_map *map;
  for (size_t at = 0; (map = net_next_map(&loop, &at));)
    *map = without_loop(m->memory, s, map, bits);
  loop.n += bits;
  loop.loop_count = 0;
  for (size_t i = 0; i < loop.stores.count && good; i++) {  // turns that are none take no place
    const net_store *o = &loop.stores.items[i];
    f2_space alive = live_set(loop.n, o->live_count, o->live);
    good = live_map_injective(m->memory, &o->map, NULL, alive) != LIVE_NO;
  }
  if (good)
    *out = net_stage_changed(m->memory, &loop, (net_change){0});
  return good;
}
