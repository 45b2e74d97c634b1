// Plans one after the other, on arrays of their own each time. See plan.h.
#include "fusion/plan/planning.h"

typedef struct appending {
  arena *memory;
  plan *to;
  net *net;
  const plan *from;
  const net_id *arrays;   // by array of `from`
  size_t stages, passes;  // that were there
} appending;

static net_routine *routine_on(const appending *p, const net_routine *r) {
  net_routine *own = NEW(p->memory, net_routine);
  *own = *r;
  own->pairs = NEW_ARRAY(p->memory, net_routine_pair, r->pair_count + 1);
  for (uint32_t i = 0; i < r->pair_count; i++) {
    net_id from = r->pairs[i].from, to = r->pairs[i].to;
    own->pairs[i].from = from == NET_NONE ? NET_NONE : p->arrays[from];
    own->pairs[i].to = to == NET_NONE ? NET_NONE : p->arrays[to];
  }
  if (r->ragged)
    own->offsets = p->arrays[r->offsets];
  return own;
}

static net_stage stage_on(const appending *p, const net_stage *s) {
  net_stage own = *s;
  own.loads.items = NEW_ARRAY(p->memory, net_load, s->loads.count + 1);
  own.stores.items = NEW_ARRAY(p->memory, net_store, s->stores.count + 1);
  for (size_t i = 0; i < s->loads.count; i++) {
    own.loads.items[i] = s->loads.items[i];
    own.loads.items[i].array = p->arrays[s->loads.items[i].array];
  }
  for (size_t i = 0; i < s->stores.count; i++) {
    own.stores.items[i] = s->stores.items[i];
    own.stores.items[i].array = p->arrays[s->stores.items[i].array];
  }
  if (s->routine)
    own.routine = routine_on(p, s->routine);
  if (!net_stage_has(s, NET_GATHER) && !net_stage_has(s, NET_SCATTER))
    return own;
  own.nodes.items = NEW_ARRAY(p->memory, net_node, s->nodes.count + 1);
  memcpy(own.nodes.items, s->nodes.items, s->nodes.count * sizeof *s->nodes.items);
  for (size_t i = 0; i < s->nodes.count; i++)
    if (net_node_has_array(own.nodes.items[i].kind))
      own.nodes.items[i].number = p->arrays[own.nodes.items[i].number];
  return own;
}

static plan_move *moves_on(const appending *p, const plan_move *moves, uint32_t count) {
  plan_move *own = NEW_ARRAY(p->memory, plan_move, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    own[i] = moves[i];
    own[i].array = p->arrays[moves[i].array];
  }
  return own;
}

static plan_pass pass_on(const appending *p, const plan_pass *pass) {
  plan_pass own = *pass;
  own.stage += (uint32_t)p->stages;
  own.loads = moves_on(p, pass->loads, pass->load_count);
  own.stores = moves_on(p, pass->stores, pass->store_count);
  own.accesses = NEW_ARRAY(p->memory, plan_access, pass->access_count + 1);
  for (uint32_t i = 0; i < pass->access_count; i++) {
    own.accesses[i] = pass->accesses[i];
    own.accesses[i].array = p->arrays[pass->accesses[i].array];
  }
  own.keys_from += pass->keys_from ? (uint32_t)p->passes : 0;
  own.keys_for += pass->keys_for ? (uint32_t)p->passes : 0;
  return own;
}

// Whether code for the one serves for the other: arrays that differ, or hold bytes, do in both.
static bool have_one_code(const plan *p, const plan_pass *a, const plan_pass *b) {
  plan_access x = {0}, y = {0};
  bool same = true;
  while (same && plan_access_next(a, &x) && plan_access_next(b, &y)) {
    same = net_array_has_bytes(&p->arrays.items[x.array]) ==
           net_array_has_bytes(&p->arrays.items[y.array]);
    plan_access u = {0}, v = {0};
    while (same && plan_access_next(a, &u) && plan_access_next(b, &v))
      same = (u.array == x.array) == (v.array == y.array);
  }
  return same;
}

static void append_round(appending *p, size_t first, size_t second) {
  const plan *from = p->from;
  plan *to = p->to;
  p->stages = p->net->stages.count;
  p->passes = to->passes.count;
  for (size_t i = 0; i < from->net->stages.count; i++)
    vec_push(p->memory, &p->net->stages, stage_on(p, &from->net->stages.items[i]));
  for (size_t i = 0; i < from->passes.count; i++) {
    plan_pass own = pass_on(p, &from->passes.items[i]);
    const plan_pass *like[] = {first == p->passes ? NULL : &to->passes.items[first + i],
                               second >= p->passes ? NULL : &to->passes.items[second + i]};
    for (int k = 0; k < 2 && !own.repeats; k++)
      if (like[k] && have_one_code(to, like[k], &own))
        own.repeats = (uint32_t)(like[k] - to->passes.items) + 1;
    vec_push(p->memory, &to->passes, own);
  }
}

// By stage, which plans have one behind the other.
static void append_stages(appending *p, uint32_t rounds) {
  const plan *from = p->from;
  plan *to = p->to;
  size_t before = p->net->stages.count, own = from->net->stages.count, all = before + rounds * own;
  plan grown = *to;
  grown.strategy = NEW_ARRAY(p->memory, const char *, all + 1);
  grown.padding = NEW_ARRAY(p->memory, plan_padding, all + 1);
  grown.padding_values = NEW_ARRAY(p->memory, scalar_bits *, all + 1);
  for (size_t i = 0; i < all; i++) {
    const plan *of = i < before ? to : from;
    size_t k = i < before ? i : (i - before) % own;
    grown.strategy[i] = of->strategy[k];
    grown.padding[i] = of->padding[k];
    grown.padding_values[i] = of->padding_values[k];
  }
  for (int i = 0; i < RULE_COUNT; i++)
    grown.fired[i] += from->fired[i];
  *to = grown;
}

void plan_append(arena *a, plan *to, net *n, const plan *from, uint32_t rounds, net_id **arrays) {
  appending p = {.memory = a, .to = to, .net = n, .from = from};
  size_t first = to->passes.count, second = first + from->passes.count;
  append_stages(&p, rounds);
  if (rounds > 1 && from->passes.count)
    vec_push(a, &to->loops, ((plan_loop){(uint32_t)first, (uint32_t)from->passes.count, rounds}));
  for (uint32_t r = 0; r < rounds; r++) {
    p.arrays = arrays[r];
    for (size_t i = from->net->arrays.count; i < from->arrays.count; i++) {
      arrays[r][i] = (net_id)to->arrays.count;
      vec_push(a, &to->arrays, from->arrays.items[i]);
    }
    append_round(&p, first, second);
  }
}
