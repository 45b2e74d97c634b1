// Why passes are apart. See plan.h.
//
// Between two passes of a stage: the ops of the earlier pass are followed until one does not fit
// into its tile; that is Y. From Y back, the first that is too many is X. No tile holds both.
#include "fusion/plan/planning.h"

const char *const plan_boundary_names[BOUNDARY_KINDS] = {"tile", "lines", "array", "other"};

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

static plan_boundary boundary_in_stage(arena *a, const plan *p, size_t number) {
  const plan_pass *before = &p->passes.items[number - 1];
  plan_boundary b = {
      BOUNDARY_LINES, (uint32_t)number - 1, NET_NONE, NET_NONE, NET_REASON_NONE, 0, 0};
  if (!before->op_count)
    return b;
  planning s = planning_of_stage(a, p, before->stage);
  const net_op *ops = s.stage->ops.items;
  uint32_t first = before->ops[0], end = first + before->op_count;
  uint32_t y = plan_longest_run(&s, first, end).end;
  b.first = ops[end - 1].origin;
  b.second = ops[end].origin;
  if (y == s.stage->ops.count)
    return b;
  uint32_t x = last_that_does_not_fit(&s, first, end, y);
  run r = plan_run_of(&s, x, y);
  b.kind = BOUNDARY_TILE;
  b.first = ops[x].origin;
  b.second = ops[y].origin;
  b.needed = r.space.dimension;
  b.held = plan_room(&s, &r);
  return b;
}

// ---- arrays between stages --------------------------------------------------------------------

// The op that made what the pass stores in that array, or NET_NONE: it was only moved.
static uint32_t maker_of(const plan *p, const plan_pass *pass, net_id array) {
  const net_stage *s = &p->net->stages.items[pass->stage];
  for (size_t i = 0; i < s->stores.count; i++) {
    if (s->stores.items[i].array != array)
      continue;
    for (uint32_t k = 0; k < pass->op_count; k++) {
      const net_op *op = &s->ops.items[pass->ops[k]];
      for (uint32_t o = 0; o < op->output_count; o++)
        if (op->outputs[o].value == s->stores.items[i].value)
          return op->origin;
    }
  }
  return NET_NONE;
}

static bool stores_to(const plan_pass *pass, net_id array) {
  for (uint32_t i = 0; i < pass->store_count; i++)
    if (pass->stores[i].array == array)
      return true;
  return false;
}

static void add_boundary(plan_boundary *list, uint32_t *count, plan_boundary b) {
  for (uint32_t i = 0; i < *count; i++)
    if (list[i].kind == b.kind && list[i].reason == b.reason && list[i].first == b.first &&
        list[i].second == b.second)
      return;
  list[(*count)++] = b;
}

static void add_array(const plan *p, size_t number, net_id array, plan_boundary *list,
                      uint32_t *count) {
  const net_array *of = &p->arrays.items[array];
  for (size_t i = number; i-- > 0;) {
    if (!stores_to(&p->passes.items[i], array))
      continue;
    add_boundary(list, count,
                 (plan_boundary){.kind = BOUNDARY_ARRAY,
                                 .before = (uint32_t)i,
                                 .first = maker_of(p, &p->passes.items[i], array),
                                 .second = of->step,
                                 .reason = of->reason});
    return;
  }
}

plan_boundary *plan_boundaries(arena *a, const plan *p, size_t number, uint32_t *count) {
  const plan_pass *pass = &p->passes.items[number];
  plan_boundary *list = NEW_ARRAY(a, plan_boundary, pass->load_count + 1);
  *count = 0;
  if (!number)
    return list;
  if (p->passes.items[number - 1].stage == pass->stage) {
    list[(*count)++] = boundary_in_stage(a, p, number);
    return list;
  }
  for (uint32_t i = 0; i < pass->load_count; i++)
    if (!net_array_is_given(&p->arrays.items[pass->loads[i].array]))
      add_array(p, number, pass->loads[i].array, list, count);
  if (!*count)
    list[(*count)++] = (plan_boundary){
        BOUNDARY_OTHER, (uint32_t)number - 1, NET_NONE, NET_NONE, NET_REASON_NONE, 0, 0};
  return list;
}

// ---- passes that only move --------------------------------------------------------------------

plan_boundary plan_permutation(const plan *p, size_t number) {
  const plan_pass *pass = &p->passes.items[number];
  plan_boundary b = {BOUNDARY_ARRAY, (uint32_t)number, NET_NONE, NET_NONE, NET_REASON_NONE, 0, 0};
  for (uint32_t i = 0; i < pass->load_count + pass->store_count; i++) {
    bool load = i < pass->load_count;
    net_id array = load ? pass->loads[i].array : pass->stores[i - pass->load_count].array;
    const net_array *of = &p->arrays.items[array];
    for (size_t k = number; load && k-- > 0 && b.first == NET_NONE;)
      if (stores_to(&p->passes.items[k], array))
        b.first = maker_of(p, &p->passes.items[k], array);
    if (of->role == NET_TEMPORARY && b.reason == NET_REASON_NONE) {
      b.reason = of->reason;
      b.second = of->step;
    }
  }
  return b;
}
