// Each stage as stages that ranks share. See shares.h.
#include "fusion/shares/sharing.h"

// ---- the Net that is made -----------------------------------------------------------------------

static void add_stage(sharing *s, share_stage as, net_stage stage) {
  vec_push(s->memory, &s->to->stages, stage);
  vec_push(s->memory, &s->kinds, as);
}

// A stage that copies an array, element by element.
static net_stage copying_stage(sharing *s, net_id from, net_id to) {
  net_stage stage = {.loop_count = 1, .extents = NEW_ARRAY(s->memory, uint64_t, 1)};
  stage.extents[0] = s->to->arrays.items[from].count;
  net_map map = net_stage_map(s->memory, &stage, f2_affine_identity(0));
  net_id v = net_value_add(s->memory, &stage, s->to->arrays.items[from].type);
  net_load load = {.value = v, .array = from, .map = map, .padding_start = UINT64_MAX};
  net_store store = {.value = v, .array = to, .map = map, .padding_start = UINT64_MAX};
  vec_push(s->memory, &stage.loads, load);
  vec_push(s->memory, &stage.stores, store);
  return stage;
}

net_id sharing_add_array(sharing *s, scalar_type type, uint64_t count, uint64_t slab) {
  net_id id = net_array_add(s->memory, s->to, type, count, NET_TEMPORARY, 0);
  vec_push(s->memory, &s->slab, slab);
  return id;
}

// What each rank has of an array as a whole: that itself, or a copy.
static net_id whole_array(sharing *s, net_id array) {
  if (!s->slab.items[array])
    return array;
  if (s->whole[array] == NET_NONE) {
    const net_array *of = &s->to->arrays.items[array];
    net_id copy = s->whole[array] = sharing_add_array(s, of->type, of->count, 0);
    add_stage(s, (share_stage){.kind = SHARE_GATHER, .from = array, .to = copy},
              copying_stage(s, array, copy));
  }
  return s->whole[array];
}

// ---- stages that each rank executes as a whole --------------------------------------------------

static net_routine *whole_routine(sharing *s, const net_routine *of) {
  net_routine *r = NEW(s->memory, net_routine);
  *r = *of;
  r->pairs = NEW_ARRAY(s->memory, net_routine_pair, r->pair_count + 1);
  for (uint32_t i = 0; i < r->pair_count; i++) {
    r->pairs[i] = of->pairs[i];
    if (of->pairs[i].from != NET_NONE)
      r->pairs[i].from = whole_array(s, of->pairs[i].from);
  }
  if (r->ragged)
    r->offsets = whole_array(s, of->offsets);
  return r;
}

static void share_whole(sharing *s, const net_stage *from) {
  net_stage stage = {.loop_count = from->loop_count, .extents = from->extents, .n = from->n};
  if (from->routine) {
    stage.routine = whole_routine(s, from->routine);
  } else {
    net_stage_merge(s->memory, &stage, from, f2_affine_identity(from->n));
    for (size_t i = 0; i < stage.loads.count; i++)
      stage.loads.items[i].array = whole_array(s, stage.loads.items[i].array);
    for (size_t i = 0; i < stage.nodes.count; i++)
      if (stage.nodes.items[i].kind == NET_GATHER)
        stage.nodes.items[i].number = whole_array(s, (net_id)stage.nodes.items[i].number);
  }
  add_stage(s, (share_stage){.kind = SHARE_WHOLE}, stage);
}

// ---- the whole ----------------------------------------------------------------------------------

// The slab of an array of so many elements: a power of two; 0: there are too few.
static uint64_t slab_of_count(uint64_t count, int p) {
  int n = count > 1 ? f2_msb(count - 1) + 1 : 0;
  return n < p || count == 0 || p == 0 ? 0 : f2_unit(n - p);
}

const shares *shares_of_ranks(arena *a, const net *n, int p) {
  sharing s = {.memory = a, .from = n, .to = NEW(a, net), .p = p};
  *s.to = (net){.externs = n->externs};
  s.whole = NEW_ARRAY(a, net_id, n->arrays.count + 1);
  for (size_t i = 0; i < n->arrays.count; i++) {
    const net_array *array = &n->arrays.items[i];
    vec_push(a, &s.to->arrays, *array);
    vec_push(a, &s.slab, array->role == NET_ARGUMENT ? slab_of_count(array->count, p) : 0);
    s.whole[i] = NET_NONE;
  }
  for (size_t i = 0; i < n->stages.count; i++)
    share_whole(&s, &n->stages.items[i]);
  shares *made = NEW(a, shares);
  *made = (shares){s.to, p, s.kinds.items, s.slab.items};
  return made;
}
