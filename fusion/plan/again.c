// Stages that are like earlier ones: the same passes, on other arrays. See planning.h.
#include "fusion/plan/planning.h"

typedef struct mapping {
  arena *memory;
  const net_id *arrays;  // by array of the earlier stage
} mapping;

static plan_move *moves_on(const mapping *m, const plan_move *moves, uint32_t count) {
  plan_move *own = NEW_ARRAY(m->memory, plan_move, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    own[i] = moves[i];
    own[i].array = m->arrays[moves[i].array];
  }
  return own;
}

static plan_pass pass_on(const mapping *m, const plan_pass *pass) {
  plan_pass own = *pass;
  own.loads = moves_on(m, pass->loads, pass->load_count);
  own.stores = moves_on(m, pass->stores, pass->store_count);
  own.accesses = NEW_ARRAY(m->memory, plan_access, pass->access_count + 1);
  for (uint32_t i = 0; i < pass->access_count; i++) {
    own.accesses[i] = pass->accesses[i];
    own.accesses[i].array = m->arrays[pass->accesses[i].array];
  }
  return own;
}

// By array of the earlier stage, and of those between its passes: the arrays of this one.
static const net_id *map_arrays(planned_stages *known, plan *p, const planned_stage *like) {
  size_t needed = p->arrays.count + 1;
  if (known->room < needed) {
    known->room = 2 * needed;
    known->arrays = NEW_ARRAY(known->memory, net_id, known->room);
  }
  for (size_t i = 0; i < known->pairs.count; i++)
    known->arrays[known->pairs.items[i].of] = known->pairs.items[i].with;
  for (uint32_t i = like->first_array; i < like->end_array; i++) {
    known->arrays[i] = (net_id)p->arrays.count;
    vec_push(known->memory, &p->arrays, p->arrays.items[i]);
  }
  return known->arrays;
}

bool plan_stage_again(planned_stages *known, plan *p, uint32_t number) {
  const planned_stage *like = NULL;
  const net_stage *stages = known->net->stages.items;
  for (size_t i = 0; i < known->stages.count && !like; i++)
    if (net_stages_are_alike(known->memory, known->net, &stages[known->stages.items[i].stage],
                             &stages[number], &known->pairs))
      like = &known->stages.items[i];
  if (!like)
    return false;
  mapping m = {known->memory, map_arrays(known, p, like)};
  p->strategy[number] = p->strategy[like->stage];
  p->padding[number] = p->padding[like->stage];
  p->padding_values[number] = p->padding_values[like->stage];
  if (like->reordered) {
    if (p->net != known->own)
      p->net = known->own = net_with_stage(known->memory, p->net, number, stages[number]);
    known->own->stages.items[number] =
        net_stage_on(known->memory, &p->net->stages.items[like->stage], m.arrays);
  }
  for (uint32_t i = like->first_pass; i < like->end_pass; i++) {
    plan_pass own = pass_on(&m, &p->passes.items[i]);
    own.stage = number;
    own.repeats = i + 1;
    vec_push(known->memory, &p->passes, own);
  }
  return true;
}

// The rounds of a loop have equal codes, in turn.
void plan_find_loops(arena *a, plan *p) {
  enum { LEAST_ROUNDS = 4 };
  uint32_t count = (uint32_t)p->passes.count;
  uint32_t *code = NEW_ARRAY(a, uint32_t, count + 1), *last = NEW_ARRAY(a, uint32_t, count + 1),
           *next = NEW_ARRAY(a, uint32_t, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t repeats = p->passes.items[i].repeats;
    code[i] = repeats ? repeats - 1 : i;
    if (repeats)
      next[last[code[i]]] = i;
    last[code[i]] = i;
  }
  for (uint32_t i = 0, end; i < count; i = end) {
    uint32_t period = next[i] > i ? next[i] - i : count;
    for (end = i + period; end < count && code[end] == code[end - period];)
      end++;
    plan_loop l = {i, period, end > count ? 0 : (end - i) / period};
    end = i + 1;
    if (l.rounds < LEAST_ROUNDS)
      continue;
    vec_push(a, &p->loops, l);
    end = l.first + l.rounds * l.count;
  }
}
