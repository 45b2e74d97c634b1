// A stage in shares by turns of its first loop: of rows, each rank has as many as its share of
// them. See shares.h.
//
//   10 rows of 1000 elements, 4 ranks: shares of 3, 3, 3 and 1 turns, slabs of 3000 elements
//   1000000 elements, 4 ranks: shares of 245 * 2^10 turns, but for the last one, so that blocks of 2^10
//   turns are in one share each (plan/loops.c)
#include "fusion/shares/sharing.h"

// How far apart the elements of two turns are, if those of one turn lie between; 0: they do not.
static uint64_t turn_length(arena *a, const net_stage *s, const net_map *m) {
  net_stage by_one = *s;
  share_window w;
  by_one.share_turns = 1;
  bool between = sharing_find_window(a, &by_one, m, &w) && w.first >= 0 && w.step > 0 &&
                 (uint64_t)w.first + w.length <= (uint64_t)w.step;
  return between ? (uint64_t)w.step : 0;
}

// Whether the array consists of turns of that length, all of them.
static bool consists_of_turns(const sharing *s, const net_stage *stage, net_id array,
                              uint64_t length) {
  return length && s->to->arrays.items[array].count == stage->extents[0] * length;
}

// Whether only this stage writes to an array, and one turn after the other.
static bool stores_by_turns(const sharing *s, const net_stage *stage, net_id array) {
  uint64_t length = 0;
  uint32_t writes = 0;
  for (size_t i = 0; i < stage->stores.count; i++) {
    const net_store *o = &stage->stores.items[i];
    if (o->array != array)
      continue;
    uint64_t own = turn_length(s->memory, stage, &o->map);
    if (writes++ && own != length)
      return false;
    length = own;
  }
  return writes == s->writes[array] && consists_of_turns(s, stage, array, length);
}

static bool has_turns(const sharing *s, const net_stage *stage) {
  if (stage->routine || !stage->loop_count || stage->extents[0] < 2 || s->p == 0 ||
      net_stage_scatters(stage))
    return false;
  for (size_t i = 0; i < stage->stores.count; i++)
    if (!stores_by_turns(s, stage, stage->stores.items[i].array))
      return false;
  return true;
}

// An argument that no stage relies on yet lies as this one needs it.
static void choose_slab(sharing *s, const net_stage *stage, const net_load *l, uint64_t turns) {
  uint64_t length = turn_length(s->memory, stage, &l->map);
  if (s->slab.items[l->array] && !s->fixed.items[l->array] &&
      consists_of_turns(s, stage, l->array, length))
    s->slab.items[l->array] = turns * length;
}

// The turns of a share. Of many, a multiple of a power of two: then the last share has less than
// the others, by one turn in MANY at most.
static uint64_t turns_of_share(uint64_t turns, uint64_t ranks) {
  enum { MANY = 32, MOST_BITS = 10 };
  uint64_t each = (turns + ranks - 1) / ranks, block = 1;
  for (int i = 0; i < MOST_BITS && 2 * block * ranks * MANY <= each; i++)
    block *= 2;
  return (each + block - 1) / block * block;
}

bool sharing_by_turns(sharing *s, const net_stage *from) {
  if (!has_turns(s, from))
    return false;
  net_stage stage = net_stage_changed(s->memory, from, (net_change){0});
  stage.share_turns = turns_of_share(from->extents[0], f2_unit(s->p));
  for (size_t i = 0; i < stage.loads.count; i++)
    choose_slab(s, from, &stage.loads.items[i], stage.share_turns);
  sharing_gather_from_whole(s, &stage);
  for (size_t i = 0; i < stage.stores.count; i++)
    s->slab.items[stage.stores.items[i].array] =
        stage.share_turns * (uint64_t)stage.stores.items[i].map.strides[0];
  sharing_fetch_loads(s, &stage);
  sharing_add_stage(s, (share_stage){.kind = SHARE_SPLIT}, stage);
  return true;
}
