// Stages whose arrays are the memory of shares: their loops, and maps by these. See external.h.
//
// Of loops in blocks, there are first those over blocks, which number shares, then those over the
// turns of a block:
//
//   stage n=0 loops 5 7          blocks of 2 x 4       stage n=0 turns 1 of o1 loops 3 2 2 4
//     index o0 + 10*o1                                   index 2*o0 + 40*o1 + o2 + 10*o3
#include "fusion/external/making.h"

bool making_has_effects(const net_stage *s) {
  return net_stage_scatters(s) || net_stage_has(s, NET_EXTERN);
}

// ---- one share ----------------------------------------------------------------------------------

void making_add_single_turn(arena *a, net_stage *s) {
  net_map *m;
  s->loop_count = 1;
  s->extents = NEW_ARRAY(a, uint64_t, 1);
  s->extents[0] = s->share_turns = 1;
  for (size_t at = 0; (m = net_next_map(s, &at));) {
    m->loop_count = 1;
    m->strides = NEW_ARRAY(a, int64_t, 1);
  }
}

// ---- blocks -------------------------------------------------------------------------------------

net_map making_map_in_blocks(arena *a, const share_blocks *b, const net_map *m,
                             const int64_t *by_block, const int64_t *by_turn) {
  net_map to = net_map_copy(a, m);
  to.loop_count = 0;
  to.strides = NEW_ARRAY(a, int64_t, 2 * b->count + 1);
  for (uint32_t l = 0; l < b->count; l++)
    if (b->counts[l] > 1 || b->shares == 1)
      to.strides[to.loop_count++] = b->counts[l] > 1 ? by_block[l] : 0;
  for (uint32_t l = 0; l < b->count; l++)
    if (b->turns[l] > 1)
      to.strides[to.loop_count++] = by_turn[l];
  return to;
}

// The same values, by the loops of shares and turns.
static net_map same_in_blocks(arena *a, const share_blocks *b, const net_map *m) {
  int64_t *by_block = NEW_ARRAY(a, int64_t, b->count + 1);
  for (uint32_t l = 0; l < b->count; l++)
    by_block[l] = m->strides[l] * (int64_t)b->turns[l];
  return making_map_in_blocks(a, b, m, by_block, m->strides);
}

static void set_extents(arena *a, net_stage *s, const share_blocks *b) {
  uint32_t count = 0;
  uint64_t *extents = NEW_ARRAY(a, uint64_t, 2 * b->count + 1);
  for (uint32_t l = 0; l < b->count; l++)
    if (b->counts[l] > 1 || b->shares == 1)
      extents[count++] = b->counts[l];
  s->share_outer = count - 1;
  for (uint32_t l = 0; l < b->count; l++)
    if (b->turns[l] > 1)
      extents[count++] = b->turns[l];
  s->extents = extents;
  s->loop_count = count;
  s->share_turns = 1;
}

void making_put_in_blocks(const making *m, net_stage *s, const share_blocks *b) {
  if (making_has_effects(s)) {
    s->share_turns = b->turns[0];
    return;
  }
  for (size_t i = 0; i < s->loads.count; i++) {
    net_load *l = &s->loads.items[i];
    const net_array *of = &m->to->arrays.items[l->array];
    if (of->role != NET_TABLE)
      continue;
    l->map = same_in_blocks(m->memory, b, &l->map);
    l->padding_start = of->count < l->padding_start ? of->count : l->padding_start;
  }
  for (size_t i = 0; i < s->nodes.count; i++)
    if (s->nodes.items[i].kind == NET_INDEX)
      s->nodes.items[i].map = same_in_blocks(m->memory, b, &s->nodes.items[i].map);
  set_extents(m->memory, s, b);
}
