// Random Plans of a Net, for tests of executors: the ops of each stage are cut anywhere, and each
// pass has a tile that contains its directions and, by chance, more. Values that are needed later
// lie between the passes in random layouts. What an executor may not look at (lines, predicted
// seconds) is not filled in.
//
//   plan *p = random_plan(&memory, &random, t);     // t: random_net, or made by hand
#ifndef PERMC_TESTS_UNIT_PLAN_RANDOM_H
#define PERMC_TESTS_UNIT_PLAN_RANDOM_H

#include "tests/unit/net_random.h"

#include "fusion/plan/plan.h"

typedef struct plan_maker {
  arena *memory;
  random_state *random;
  plan *plan;
  const net_stage *stage;
  uint32_t stage_number;
  uint32_t *pass_of;  // by op
  uint32_t pass_count;
  uint32_t *defined;    // by value: the pass that defines it; 0 for loads
  uint32_t *last_read;  // by value: the last pass that reads it, stores aside
  plan_move *kept;      // by value: its layout between passes; array NET_NONE if in none
} plan_maker;

// A value is made by an op, or loaded.
static inline bool is_loaded(const plan_maker *m, net_id value) {
  for (size_t i = 0; i < m->stage->loads.count; i++)
    if (m->stage->loads.items[i].value == value)
      return true;
  return false;
}

static inline void find_uses(plan_maker *m) {
  const net_stage *s = m->stage;
  for (uint32_t i = 0; i < s->ops.count; i++) {
    net_reads reads = net_op_reads(m->memory, s, &s->ops.items[i]);
    for (uint32_t k = 0; k < reads.count; k++)
      m->last_read[reads.values[k]] = m->pass_of[i];
    for (uint32_t k = 0; k < s->ops.items[i].output_count; k++)
      m->defined[s->ops.items[i].outputs[k].value] = m->pass_of[i];
  }
}

static inline bool op_reads(const plan_maker *m, uint32_t op, net_id value) {
  net_reads reads = net_op_reads(m->memory, m->stage, &m->stage->ops.items[op]);
  bool found = false;
  for (uint32_t k = 0; k < reads.count; k++)
    found |= reads.values[k] == value;
  return found;
}

static inline bool pass_reads(const plan_maker *m, uint32_t pass, net_id value) {
  bool found = false;
  for (uint32_t i = 0; i < m->stage->ops.count && !found; i++)
    found = m->pass_of[i] == pass && op_reads(m, i, value);
  return found;
}

// Stores of loaded values are the last pass's, others those of the pass that makes the value.
static inline uint32_t store_pass(const plan_maker *m, const net_store *store) {
  return is_loaded(m, store->value) ? m->pass_count - 1 : m->defined[store->value];
}

static inline f2_space random_tile(plan_maker *m, uint32_t pass) {
  f2_space v = f2_space_zero(m->stage->n);
  for (uint32_t i = 0; i < m->stage->ops.count; i++)
    for (uint32_t k = 0; m->pass_of[i] == pass && k < m->stage->ops.items[i].k; k++)
      f2_space_insert(&v, m->stage->ops.items[i].directions[k]);
  uint32_t more = random_below(m->random, (uint32_t)m->stage->n + 2);
  for (uint32_t i = 0; i < more; i++) {
    uint64_t any = random_chance(m->random, 2) ? f2_unit((int)random_below(m->random, 63))
                                               : random_word(m->random);
    f2_space_insert(&v, any & f2_mask(m->stage->n));
  }
  return v;
}

static inline uint64_t *random_blocks(plan_maker *m, f2_space tile) {
  f2_space all = tile;
  uint64_t *blocks = NEW_ARRAY(m->memory, uint64_t, m->stage->n + 1);
  for (int count = 0; all.dimension < m->stage->n;) {
    uint64_t vector = random_word(m->random) & f2_mask(m->stage->n);
    if (f2_space_insert(&all, vector))
      blocks[count++] = vector;
  }
  return blocks;
}

// ---- slots -----------------------------------------------------------------------------------

typedef struct slot_maker {
  plan_pass *pass;
  bool *free;
} slot_maker;

static inline void take_slot(plan_maker *m, slot_maker *s, net_id value) {
  uint32_t bytes = (uint32_t)scalar_types[m->stage->values.items[value]].size;
  uint32_t slot = 0;
  if (s->pass->slot_of[value] != NET_NONE)
    return;
  while (slot < s->pass->slot_count && !(s->free[slot] && s->pass->slot_bytes[slot] == bytes))
    slot++;
  if (slot == s->pass->slot_count)
    s->pass->slot_bytes[s->pass->slot_count++] = bytes;
  s->free[slot] = false;
  s->pass->slot_of[value] = slot;
}

static inline bool is_stored(const plan_maker *m, uint32_t pass, net_id value) {
  for (size_t i = 0; i < m->stage->stores.count; i++)
    if (m->stage->stores.items[i].value == value &&
        store_pass(m, &m->stage->stores.items[i]) == pass)
      return true;
  return false;
}

// What is read by no op from `next` on, and is not to be stored, leaves its slot to others.
static inline void free_slots(plan_maker *m, slot_maker *s, uint32_t number, uint32_t next) {
  for (net_id v = 0; v < m->stage->values.count; v++) {
    bool used = s->pass->slot_of[v] == NET_NONE || is_stored(m, number, v) ||
                (m->last_read[v] != UINT32_MAX && m->last_read[v] > number);
    for (uint32_t i = next; i < m->stage->ops.count && !used; i++)
      used = m->pass_of[i] == number && op_reads(m, i, v);
    bool again = false;  // its slot is another's by now
    for (net_id w = 0; w < m->stage->values.count; w++)
      again |= w > v && s->pass->slot_of[w] == s->pass->slot_of[v];
    if (!used && !again)
      s->free[s->pass->slot_of[v]] = true;
  }
}

// ---- passes ----------------------------------------------------------------------------------

static inline void add_move(plan_move *moves, uint32_t *count, plan_move move, net_id value) {
  move.value = value;
  moves[(*count)++] = move;
}

static inline void add_pass_loads(plan_maker *m, uint32_t number, plan_pass *pass) {
  const net_stage *s = m->stage;
  for (net_id v = 0; v < s->values.count; v++) {
    bool stored = is_stored(m, number, v) && (is_loaded(m, v) || m->defined[v] != number);
    if (!stored && (!pass_reads(m, number, v) || (!is_loaded(m, v) && m->defined[v] == number)))
      continue;
    if (m->kept[v].array != NET_NONE) {
      add_move(pass->loads, &pass->load_count, m->kept[v], v);
      continue;
    }
    for (size_t i = 0; i < s->loads.count; i++)
      if (s->loads.items[i].value == v)
        add_move(pass->loads, &pass->load_count,
                 (plan_move){.array = s->loads.items[i].array,
                             .map = s->loads.items[i].map,
                             .padding_start = s->loads.items[i].padding_start,
                             .padding_value = s->loads.items[i].padding_value},
                 v);
  }
}

static inline void add_pass_stores(plan_maker *m, uint32_t number, plan_pass *pass) {
  const net_stage *s = m->stage;
  for (size_t i = 0; i < s->stores.count; i++)
    if (store_pass(m, &s->stores.items[i]) == number)
      add_move(pass->stores, &pass->store_count,
               (plan_move){.array = s->stores.items[i].array,
                           .map = s->stores.items[i].map,
                           .padding_start = s->stores.items[i].padding_start,
                           .live_count = s->stores.items[i].live_count,
                           .live = s->stores.items[i].live},
               s->stores.items[i].value);
}

static inline void keep_values(plan_maker *m, uint32_t number, plan_pass *pass) {
  const net_stage *s = m->stage;
  for (net_id v = 0; v < s->values.count; v++) {
    if (is_loaded(m, v) || m->defined[v] != number || m->last_read[v] == UINT32_MAX ||
        m->last_read[v] <= number)
      continue;
    m->kept[v] = (plan_move){.array = (net_id)m->plan->arrays.count,
                             .padding_start = UINT64_MAX,
                             .map = random_address(m->memory, m->random, s)};
    vec_push(
        m->memory, &m->plan->arrays,
        ((net_array){.type = s->values.items[v], .count = stage_points(s), .role = NET_TEMPORARY}));
    add_move(pass->stores, &pass->store_count, m->kept[v], v);
  }
}

static inline void make_slots(plan_maker *m, uint32_t number, plan_pass *pass) {
  const net_stage *s = m->stage;
  bool share = random_chance(m->random, 2);
  slot_maker slots = {pass, NEW_ARRAY(m->memory, bool, s->values.count + 1)};
  pass->slot_bytes = NEW_ARRAY(m->memory, uint32_t, s->values.count + 1);
  pass->slot_of = NEW_ARRAY(m->memory, uint32_t, s->values.count + 1);
  for (net_id v = 0; v < s->values.count; v++)
    pass->slot_of[v] = NET_NONE;
  for (uint32_t i = 0; i < pass->load_count; i++)
    take_slot(m, &slots, pass->loads[i].value);
  for (uint32_t i = 0; i < pass->op_count; i++) {
    const net_op *op = &s->ops.items[pass->ops[i]];
    if (share)
      free_slots(m, &slots, number, pass->ops[i] + 1);
    for (uint32_t k = 0; k < op->output_count; k++)
      take_slot(m, &slots, op->outputs[k].value);
  }
  for (uint32_t i = 0; i < pass->load_count; i++)
    pass->loads[i].slot = pass->slot_of[pass->loads[i].value];
  for (uint32_t i = 0; i < pass->store_count; i++)
    pass->stores[i].slot = pass->slot_of[pass->stores[i].value];
}

static inline void make_pass(plan_maker *m, uint32_t number) {
  const net_stage *s = m->stage;
  plan_pass pass = {
      .stage = m->stage_number, .tile = random_tile(m, number), .padding_start = UINT64_MAX};
  pass.blocks = random_blocks(m, pass.tile);
  pass.ops = NEW_ARRAY(m->memory, uint32_t, s->ops.count + 1);
  for (uint32_t i = 0; i < s->ops.count; i++)
    if (m->pass_of[i] == number)
      pass.ops[pass.op_count++] = i;
  pass.loads = NEW_ARRAY(m->memory, plan_move, s->values.count + 1);
  pass.stores = NEW_ARRAY(m->memory, plan_move, s->values.count + s->stores.count + 1);
  add_pass_loads(m, number, &pass);
  add_pass_stores(m, number, &pass);
  keep_values(m, number, &pass);
  make_slots(m, number, &pass);
  vec_push(m->memory, &m->plan->passes, pass);
}

// A routine is a pass of its own.
static inline void plan_routine_stage(plan_maker *m) {
  plan_pass pass = {.stage = m->stage_number, .padding_start = UINT64_MAX};
  plan_find_accesses(m->memory, m->stage, &pass);
  vec_push(m->memory, &m->plan->passes, pass);
}

static inline void plan_stage(plan_maker *m) {
  const net_stage *s = m->stage;
  if (s->routine) {
    plan_routine_stage(m);
    return;
  }
  m->pass_of = NEW_ARRAY(m->memory, uint32_t, s->ops.count + 1);
  uint32_t longest = 1 + random_below(m->random, 8), next = longest;
  m->pass_count = 1;
  for (uint32_t i = 0; i < s->ops.count; i++) {
    if (i == next) {
      m->pass_count++;
      next = i + 1 + random_below(m->random, longest);
    }
    m->pass_of[i] = m->pass_count - 1;
  }
  m->defined = NEW_ARRAY(m->memory, uint32_t, s->values.count + 1);
  m->last_read = NEW_ARRAY(m->memory, uint32_t, s->values.count + 1);
  m->kept = NEW_ARRAY(m->memory, plan_move, s->values.count + 1);
  for (net_id v = 0; v < s->values.count; v++) {
    m->last_read[v] = UINT32_MAX;
    m->kept[v].array = NET_NONE;
  }
  find_uses(m);
  for (uint32_t i = 0; i < m->pass_count; i++)
    make_pass(m, i);
}

static inline plan *random_plan(arena *a, random_state *r, const net *t) {
  plan *p = NEW(a, plan);
  p->net = t;
  p->strategy = NEW_ARRAY(a, const char *, t->stages.count + 1);
  for (size_t i = 0; i < t->stages.count; i++)
    p->strategy[i] = "random";
  for (size_t i = 0; i < t->arrays.count; i++)
    vec_push(a, &p->arrays, t->arrays.items[i]);
  for (uint32_t i = 0; i < t->stages.count; i++)
    plan_stage(&(plan_maker){a, r, p, &t->stages.items[i], i, NULL, 0, NULL, NULL, NULL});
  return p;
}

#endif
