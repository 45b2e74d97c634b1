// Each stage as stages that ranks share. See shares.h.
#include "fusion/shares/sharing.h"

// ---- stages that each rank executes as a whole --------------------------------------------------

static net_routine *whole_routine(sharing *s, const net_routine *of) {
  net_routine *r = NEW(s->memory, net_routine);
  *r = *of;
  r->pairs = NEW_ARRAY(s->memory, net_routine_pair, r->pair_count + 1);
  for (uint32_t i = 0; i < r->pair_count; i++) {
    r->pairs[i] = of->pairs[i];
    if (of->pairs[i].from != NET_NONE)
      r->pairs[i].from = sharing_whole_array(s, of->pairs[i].from);
  }
  if (r->ragged)
    r->offsets = sharing_whole_array(s, of->offsets);
  return r;
}

static void share_whole(sharing *s, const net_stage *from) {
  net_stage stage = {.loop_count = from->loop_count, .extents = from->extents, .n = from->n};
  if (from->routine) {
    stage.routine = whole_routine(s, from->routine);
  } else {
    net_stage_merge(s->memory, &stage, from, f2_affine_identity(from->n));
    for (size_t i = 0; i < stage.loads.count; i++)
      stage.loads.items[i].array = sharing_whole_array(s, stage.loads.items[i].array);
    for (size_t i = 0; i < stage.nodes.count; i++)
      if (stage.nodes.items[i].kind == NET_GATHER)
        stage.nodes.items[i].number = sharing_whole_array(s, (net_id)stage.nodes.items[i].number);
  }
  sharing_add_stage(s, (share_stage){.kind = SHARE_WHOLE}, stage);
}

// ---- the whole ----------------------------------------------------------------------------------

static void note_writes(sharing *s, const net_stage *stage) {
  const net_routine *r = stage->routine;
  for (uint32_t i = 0; r && i < r->pair_count; i++)
    if (r->pairs[i].to != NET_NONE) {
      s->writes[r->pairs[i].to]++;
      s->by_bits[r->pairs[i].to] = false;
    }
  for (size_t i = 0; i < stage->stores.count; i++) {
    const net_store *o = &stage->stores.items[i];
    s->writes[o->array]++;
    s->by_bits[o->array] &= sharing_stores_by_bits(s, stage, o);
  }
  for (size_t i = 0; i < stage->nodes.count; i++)
    if (stage->nodes.items[i].kind == NET_SCATTER) {
      s->writes[stage->nodes.items[i].number]++;
      s->by_bits[stage->nodes.items[i].number] = false;
    }
}

// Arguments lie in slabs, if they are long enough; so does what all stages that write to it store
// by bits.
static void add_array(sharing *s, const net_array *array, bool by_bits) {
  bool given = array->role == NET_ARGUMENT;
  vec_push(s->memory, &s->to->arrays, *array);
  vec_push(s->memory, &s->slab, given || by_bits ? sharing_slab(array->count, s->p) : 0);
  vec_push(s->memory, &s->whole, NET_NONE);
  vec_push(s->memory, &s->window, NULL);
  vec_push(s->memory, &s->fixed, !given);
}

static const shares *share(arena *a, const net *n, int p, bool routines) {
  size_t arrays = n->arrays.count;
  sharing s = {.memory = a, .from = n, .to = NEW(a, net), .p = p};
  *s.to = (net){.externs = n->externs};
  s.writes = NEW_ARRAY(a, uint32_t, arrays + 1);
  s.by_bits = NEW_ARRAY(a, bool, arrays + 1);
  for (size_t i = 0; i < arrays; i++)
    s.by_bits[i] = true;
  for (size_t i = 0; i < n->stages.count; i++)
    note_writes(&s, &n->stages.items[i]);
  for (size_t i = 0; i < arrays; i++) {
    s.by_bits[i] &= s.writes[i] > 0;
    add_array(&s, &n->arrays.items[i], s.by_bits[i]);
  }
  for (size_t i = 0; i < n->stages.count; i++)
    if (!sharing_by_bits(&s, &n->stages.items[i]) && !sharing_by_turns(&s, &n->stages.items[i]) &&
        !(routines && sharing_by_keys(&s, &n->stages.items[i])))
      share_whole(&s, &n->stages.items[i]);
  shares *made = NEW(a, shares);
  *made = (shares){s.to, p, s.kinds.items, s.slab.items, s.window.items};
  return made;
}

const shares *shares_of_ranks(arena *a, const net *n, int p) { return share(a, n, p, true); }

const shares *shares_for_peers(arena *a, const net *n, int p) { return share(a, n, p, false); }
