// The Net in shares while it is being made: its stages and arrays. See sharing.h.
#include "fusion/shares/sharing.h"

void sharing_add_stage(sharing *s, share_stage as, net_stage stage) {
  vec_push(s->memory, &s->to->stages, stage);
  vec_push(s->memory, &s->kinds, as);
}

f2_affine sharing_exchange_map(const share_stage *e) {
  int n = e->blocks.a.rows + e->block;
  f2_affine whole = {f2_identity(n), e->blocks.c << e->block};
  for (int i = 0; i < e->blocks.a.rows; i++)
    whole.a.row[e->block + i] = e->blocks.a.row[i] << e->block;
  return whole;
}

net_stage sharing_copying_stage(sharing *s, net_id from, net_id to) {
  net_stage stage = {.loop_count = 1, .extents = NEW_ARRAY(s->memory, uint64_t, 1)};
  stage.extents[0] = s->to->arrays.items[from].count;
  net_map map = net_stage_map(s->memory, &stage, f2_affine_identity(0));
  net_load load = {.array = from, .map = map, .padding_start = UINT64_MAX};
  net_store store = {.array = to, .map = map, .padding_start = UINT64_MAX};
  net_move_add(s->memory, &stage, s->to->arrays.items[from].type, load, store);
  return stage;
}

net_id sharing_copy_array(sharing *s, const net_array *of, uint64_t slab, bool fixed) {
  vec_push(s->memory, &s->to->arrays, *of);
  vec_push(s->memory, &s->slab, slab);
  vec_push(s->memory, &s->whole, NET_NONE);
  vec_push(s->memory, &s->window, NULL);
  vec_push(s->memory, &s->fixed, fixed);
  return (net_id)s->to->arrays.count - 1;
}

net_id sharing_add_array(sharing *s, scalar_type type, uint64_t count, uint64_t slab) {
  net_array a = {type, count, NET_TEMPORARY, .reason = NET_REASON_SHARES};
  return sharing_copy_array(s, &a, slab, true);
}

net_id sharing_whole_array(sharing *s, net_id array) {
  if (!s->slab.items[array])
    return array;
  if (s->whole.items[array] == NET_NONE) {
    const net_array *of = &s->to->arrays.items[array];
    net_id copy = sharing_add_array(s, of->type, of->count, 0);
    s->whole.items[array] = copy;
    net_stage stage = sharing_copying_stage(s, array, copy);
    stage.share_turns = s->slab.items[array];  // each share copies its slab to all
    sharing_add_stage(s, (share_stage){.kind = SHARE_GATHER, .from = array, .to = copy}, stage);
  }
  return s->whole.items[array];
}

void sharing_gather_from_whole(sharing *s, net_stage *stage) {
  for (size_t i = 0; i < stage->nodes.count; i++)
    if (stage->nodes.items[i].kind == NET_GATHER)
      stage->nodes.items[i].number = sharing_whole_array(s, (net_id)stage->nodes.items[i].number);
}
