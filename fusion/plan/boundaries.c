// Why passes are apart. See plan.h.
//
// Between two passes of a stage: Y is the first op that no longer fits into the tile of the earlier
// pass, beside its ops. X is the last of these from which on the ops up to Y do not fit: no tile
// holds both.
#include "fusion/plan/planning.h"

// ---- within a stage ---------------------------------------------------------------------------

// The last op from which on those to `last` do not fit, of [first, end).
static uint32_t last_that_does_not_fit(const planning *p, uint32_t first, uint32_t end,
                                       uint32_t last) {
  while (first + 1 < end) {  // `first` does not fit, `end` is the first op that is not asked
    uint32_t middle = first + (end - first) / 2;
    run r = plan_run_of(p, middle, last);
    if (r.space.dimension > plan_room(p, &r))
      first = middle;
    else
      end = middle;
  }
  return first;
}

// The way through the passes of a plan.
typedef struct walk {
  arena *memory;
  const plan *plan;
  planning stage;   // of the stage of the pass
  uint32_t *maker;  // by array: the pass that stored it last so far, or NET_NONE
  uint32_t pass;    // in hand
  uint32_t first;   // boundary of the pass
  VEC(plan_boundary) boundaries;
} walk;

static void add_boundary(walk *w, plan_boundary b) {
  for (size_t i = w->first; i < w->boundaries.count; i++) {
    const plan_boundary *other = &w->boundaries.items[i];
    if (other->reason == b.reason && other->first == b.first && other->second == b.second &&
        other->permutation == b.permutation)
      return;
  }
  b.pass = w->pass;
  vec_push(w->memory, &w->boundaries, b);
}

// Between the pass and the one before it, of the same stage.
static void add_boundary_in_stage(walk *w) {
  planning *s = &w->stage;
  const plan_pass *before = &w->plan->passes.items[w->pass - 1];
  const net_op *ops = s->stage->ops.items;
  plan_boundary b = {
      .before = w->pass - 1, .first = NET_NONE, .second = NET_NONE, .reason = NET_REASON_LINES};
  uint32_t first = before->op_count ? before->ops[0] : 0, end = first + before->op_count;
  uint32_t y = end > first ? plan_longest_run(s, first, end).end : 0;
  if (end > first) {
    b.first = ops[end - 1].origin;
    b.second = ops[end].origin;
  }
  if (end > first && y < s->stage->ops.count) {
    uint32_t x = last_that_does_not_fit(s, first, end, y);
    run r = plan_run_of(s, x, y);
    b.reason = NET_REASON_TILE;
    b.first = ops[x].origin;
    b.second = ops[y].origin;
    b.needed = r.space.dimension;
    b.held = plan_room(s, &r);
  }
  add_boundary(w, b);
}

// ---- arrays between stages --------------------------------------------------------------------

// The op that made what the pass stores in that array, or NET_NONE: it was only moved.
static uint32_t maker_of(const plan *p, const plan_pass *pass, net_id array) {
  const net_stage *s = plan_stage_of(p, pass);
  const plan_move *to = plan_find_move(pass->stores, pass->store_count, array);
  if (s->routine)
    return s->routine->origin;
  for (uint32_t k = 0; k < pass->op_count && to; k++) {
    const net_op *op = &s->ops.items[pass->ops[k]];
    for (uint32_t o = 0; o < op->output_count; o++)
      if (op->outputs[o].value == to->value)
        return op->origin;
  }
  return NET_NONE;
}

static void add_array(walk *w, net_id array) {
  const net_array *of = &w->plan->arrays.items[array];
  uint32_t maker = w->maker[array];
  if (maker != NET_NONE)
    add_boundary(w,
                 (plan_boundary){.before = maker,
                                 .first = maker_of(w->plan, &w->plan->passes.items[maker], array),
                                 .second = of->step,
                                 .reason = of->reason});
}

static void add_arrays(walk *w) {
  const plan_pass *pass = &w->plan->passes.items[w->pass];
  for (plan_access at = {0}; plan_access_next(pass, &at);)
    if (!(at.move && at.writes) && !net_array_is_given(&w->plan->arrays.items[at.array]))
      add_array(w, at.array);
  if (w->boundaries.count == w->first)
    add_boundary(w, (plan_boundary){.before = w->pass - 1,
                                    .first = NET_NONE,
                                    .second = NET_NONE,
                                    .reason = NET_REASON_OTHER});
}

// ---- passes that only move --------------------------------------------------------------------

static void add_permutation(walk *w) {
  const plan_pass *pass = &w->plan->passes.items[w->pass];
  plan_boundary b = {.permutation = true,
                     .before = w->pass,
                     .first = NET_NONE,
                     .second = NET_NONE,
                     .reason = NET_REASON_ASKED};
  for (plan_access at = {0}; plan_access_next(pass, &at);) {
    const net_array *of = &w->plan->arrays.items[at.array];
    uint32_t maker = at.writes ? NET_NONE : w->maker[at.array];
    if (b.first == NET_NONE && maker != NET_NONE)
      b.first = maker_of(w->plan, &w->plan->passes.items[maker], at.array);
    if (of->reason != NET_REASON_NONE && b.reason == NET_REASON_ASKED) {
      b.reason = of->reason;
      b.second = of->step;
    }
  }
  add_boundary(w, b);
}

// ---- the whole --------------------------------------------------------------------------------

static void walk_pass(walk *w) {
  const plan *p = w->plan;
  const plan_pass *pass = &p->passes.items[w->pass], *before = pass - (w->pass > 0);
  w->first = (uint32_t)w->boundaries.count;
  if (!plan_routine_of(p, pass) && (w->pass == 0 || before->stage != pass->stage))
    w->stage = planning_of_stage(w->memory, p, pass->stage);
  if (w->pass > 0 && before->stage == pass->stage)
    add_boundary_in_stage(w);
  else if (w->pass > 0)
    add_arrays(w);
  if (plan_pass_facts_of(p, w->pass).kind == PLAN_MOVE)
    add_permutation(w);
  for (plan_access at = {0}; plan_access_next(pass, &at);)
    if (at.writes)
      w->maker[at.array] = w->pass;
}

plan_boundary *plan_boundaries(arena *a, const plan *p, uint32_t *count) {
  walk w = {.memory = a, .plan = p, .maker = NEW_ARRAY(a, uint32_t, p->arrays.count + 1)};
  for (size_t i = 0; i < p->arrays.count; i++)
    w.maker[i] = NET_NONE;
  for (; w.pass < p->passes.count; w.pass++)
    walk_pass(&w);
  *count = (uint32_t)w.boundaries.count;
  return w.boundaries.items;
}
