// The rule `dead`. A value is WANTED on a live set: the hull of where stores and the ops that make
// wanted values read it. Ops are narrowed to the cosets of what is wanted of their outputs, and
// whatever is wanted nowhere goes.
#include "fusion/rules/rewriting.h"

typedef struct wants {
  rewriter *r;
  f2_space *sets;      // by value
  bool *any;           // by value: whether it is wanted; if not, its set means nothing
  const bool *arrays;  // by array: whether it is wanted
} wants;

static void want_value(wants *w, net_id value, f2_space set) {
  if (live_is_empty(set) || (w->any[value] && live_within(set, w->sets[value])))
    return;
  w->sets[value] = w->any[value] ? live_hull(w->sets[value], set) : set;
  w->any[value] = true;
}

// ---- ops -------------------------------------------------------------------------------------

// Scalar operations of an op on all its cosets.
static uint64_t work_of(wants *w, const net_op *op) {
  rewriter_at(w->r, op);
  return rewriter_count_operations(w->r, op) * w->r->times;
}

static bool drop_outputs(wants *w, net_op *op) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < op->output_count; i++)
    if (w->any[op->outputs[i].value])
      op->outputs[kept++] = op->outputs[i];
  bool dropped = kept < op->output_count;
  op->output_count = kept;
  return dropped;
}

// To the cosets where some output is wanted. If that is nowhere where the op is alive, somebody
// reads what is not made, and does not use it: the op stays as it is.
static bool narrow_live(wants *w, net_op *op) {
  f2_space live = live_of_op(w->r->stage, op), cosets = live_empty(w->r->stage->n);
  for (uint32_t i = 0; i < op->output_count; i++)
    cosets = live_hull(cosets, live_cosets(w->sets[op->outputs[i].value], op->k, op->directions));
  if (live_within(live, cosets))
    return false;
  live = f2_space_sum(live, cosets);
  if (live_is_empty(live))
    return false;
  op->live = live_forms(w->r->memory, live, &op->live_count);
  return true;
}

static bool is_element_wanted(const net_op *op, f2_space set, uint64_t j) {
  return !live_is_empty(live_element(set, op->k, op->coordinates, j));
}

static bool drop_elements(wants *w, net_op *op) {
  f2_space live = live_of_op(w->r->stage, op);
  bool dropped = false;
  for (uint32_t i = 0; i < op->output_count; i++) {
    f2_space set = f2_space_sum(live, w->sets[op->outputs[i].value]);
    net_id *elements = op->outputs[i].elements;
    uint32_t kept = 0;
    if (set.dimension == live.dimension)
      continue;
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++)
      kept += elements[j] != NET_NONE && is_element_wanted(op, set, j);
    for (uint64_t j = 0; j < UINT64_C(1) << op->k && kept > 0; j++)
      if (elements[j] != NET_NONE && !is_element_wanted(op, set, j)) {
        elements[j] = NET_NONE;
        dropped = true;
      }
  }
  return dropped;
}

// ---- what an op wants ------------------------------------------------------------------------

static void want_operands(wants *w, const net_op *op) {
  f2_space live = live_of_op(w->r->stage, op);
  for (uint32_t i = rewriter_walk(w->r, op); i-- > 0;) {
    const net_node *node = node_at(w->r, w->r->nodes[i]);
    if (node->kind == NET_ELEMENT)
      want_value(w, node->value, live_element(live, op->k, op->coordinates, node->number));
  }
}

// What it scatters into arrays that are wanted.
static void want_scattered(wants *w, const net_op *op) {
  const net_stage *s = w->r->stage;
  for (uint32_t i = 0; i < op->output_count; i++)
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++) {
      net_id id = op->outputs[i].elements[j];
      if (id != NET_NONE && net_node_scatters(s->nodes.items[id].kind) &&
          w->arrays[s->nodes.items[id].number] && w->r->loops > 0)
        want_value(w, op->outputs[i].value, live_of_op(s, op));
    }
}

// Whether anything is left of the op.
static bool drop_dead_in_op(wants *w, net_op *op) {
  uint64_t before = work_of(w, op);
  want_scattered(w, op);
  bool dropped = drop_outputs(w, op);
  if (op->output_count > 0)
    dropped |= narrow_live(w, op);
  if (op->output_count > 0)
    dropped |= drop_elements(w, op);
  if (dropped)
    rewriter_fired(w->r, RULE_DEAD, 0, before - (op->output_count ? work_of(w, op) : 0));
  if (op->output_count == 0)
    return false;
  want_operands(w, op);
  return true;
}

// ---- stages ----------------------------------------------------------------------------------

static void drop_stores(wants *w, const bool *wanted) {
  net_stage *s = w->r->stage;
  size_t kept = 0;
  for (size_t i = 0; i < s->stores.count; i++) {
    net_store *store = &s->stores.items[i];
    f2_space live = live_set(s->n, store->live_count, store->live);
    if (wanted[store->array] && !live_is_empty(live) && w->r->loops > 0) {
      want_value(w, store->value, live);
      s->stores.items[kept++] = *store;
      continue;
    }
    rewriter_fired(w->r, RULE_DEAD,
                   live_is_empty(live) ? 0 : rewriter_bytes(w->r, store->value, live.dimension), 0);
  }
  s->stores.count = kept;
}

static void drop_loads(wants *w) {
  net_stage *s = w->r->stage;
  size_t kept = 0;
  for (size_t i = 0; i < s->loads.count; i++)
    if (w->any[s->loads.items[i].value])
      s->loads.items[kept++] = s->loads.items[i];
    else
      rewriter_fired(w->r, RULE_DEAD, rewriter_bytes(w->r, s->loads.items[i].value, 0), 0);
  s->loads.count = kept;
}

// Payloads that nobody wants, the keys in order, and counts; or all of the routine.
static void drop_pairs(rewriter *r, const bool *wanted) {
  net_routine *of = r->stage->routine;
  uint32_t kept = 1, dropped = 0;
  bool acts = false;
  net_id counts = of->counts ? of->pairs[of->pair_count - 1].to : NET_NONE;
  for (uint32_t i = 0; i < of->pair_count; i++) {
    net_routine_pair p = of->pairs[i];
    bool want = p.to != NET_NONE && wanted[p.to];
    acts = acts || want;
    dropped += !want && p.to != NET_NONE;
    if (i == 0)
      of->pairs[0].to = want ? p.to : NET_NONE;
    else if (want)
      of->pairs[kept++] = p;
  }
  of->pair_count = kept;
  of->counts = counts != NET_NONE && wanted[counts];
  if (of->counts && kept == 2 && of->pairs[0].to == NET_NONE) {  // it only counts
    of->kind = NET_COUNT;
    of->counts = of->descending = false;
    of->pairs[0] = of->pairs[1];
    of->pair_count = 1;
  }
  for (uint32_t i = 0; i < dropped; i++)
    rewriter_fired(r, RULE_DEAD, 0, 0);
  if (!acts)
    r->stage->routine = NULL;
}

void stage_drop_dead(rewriter *r, const bool *wanted) {
  net_stage *s = r->stage;
  if (s->routine) {
    drop_pairs(r, wanted);
    return;
  }
  wants w = {r, NEW_ARRAY(r->memory, f2_space, s->values.count),
             NEW_ARRAY(r->memory, bool, s->values.count), wanted};
  r->step = NET_NONE;
  drop_stores(&w, wanted);
  size_t kept = s->ops.count;
  for (size_t i = s->ops.count; i-- > 0;)
    if (drop_dead_in_op(&w, &s->ops.items[i]))
      s->ops.items[--kept] = s->ops.items[i];
  if (kept > 0)
    memmove(s->ops.items, s->ops.items + kept, (s->ops.count - kept) * sizeof *s->ops.items);
  s->ops.count -= kept;
  r->step = NET_NONE;
  drop_loads(&w);
  stage_join_loads(r, w.sets);
}

// Nodes that no op has any more gather nothing.
void stage_want_reads(rewriter *r, bool *wanted) {
  for (net_access at = {0}; net_access_next(r->stage, &at);)
    wanted[at.array] |= !at.writes && at.by != NET_BY_NODE;
  for (size_t i = 0; i < r->stage->ops.count; i++)
    for (uint32_t k = rewriter_walk(r, &r->stage->ops.items[i]); k-- > 0;)
      if (node_at(r, r->nodes[k])->kind == NET_GATHER)
        wanted[node_at(r, r->nodes[k])->number] = true;
}

// ---- new numbers -----------------------------------------------------------------------------

void net_compact(arena *a, net *t) {
  bool *used = NEW_ARRAY(a, bool, t->arrays.count);
  for (size_t i = 0; i < t->stages.count; i++)
    for (net_access at = {0}; net_access_next(&t->stages.items[i], &at);)
      used[at.array] = true;
  net_id *arrays = NEW_ARRAY(a, net_id, t->arrays.count + 1), kept = 0;
  size_t stages = 0;
  for (size_t i = 0; i < t->arrays.count; i++)
    if (used[i] || t->arrays.items[i].role == NET_ARGUMENT ||
        t->arrays.items[i].role == NET_RESULT) {
      t->arrays.items[kept] = t->arrays.items[i];
      arrays[i] = kept++;
    }
  t->arrays.count = kept;
  for (size_t i = 0; i < t->stages.count; i++)
    if (net_stage_acts(&t->stages.items[i])) {
      net_stage s = net_stage_like(&t->stages.items[i]);
      net_stage_append(a, &s, &t->stages.items[i], (net_change){.arrays = arrays});
      t->stages.items[stages++] = s;
    }
  t->stages.count = stages;
}
