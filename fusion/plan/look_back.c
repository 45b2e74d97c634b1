// Passes that go up a tree and down again as one, whose blocks look back. See plan.h.
#include "fusion/plan/planning.h"

// ---- the tree --------------------------------------------------------------------------------

typedef struct tree {
  arena *memory;
  const net_stage *stage;
  plan_look_back *l;
  net_uses uses;
  bool *spoilt;  // by value: whether its element at index 0 may be made of later ones
} tree;

static uint32_t level_of(const net_op *op) { return (uint32_t)f2_msb(op->directions[0]); }

// Whether exactly the indices whose lowest `level` bits are 0 are in the set.
static bool is_level(f2_space live, uint32_t level) {
  bool good = live.dimension == (int)level;
  for (uint32_t i = 0; i < level && good; i++)
    good = f2_space_has(live, live_vector((net_form){f2_unit((int)i), false}));
  return good;
}

// Directions and coordinates are successive bits of the index, and those below are 0.
static bool is_regular(const net_stage *s, const net_op *op) {
  bool good = op->k > 0 && op->k <= PLAN_LOOK_BITS &&
              op->directions[0] == f2_unit(f2_msb(op->directions[0]));
  for (uint32_t i = 0; i < op->k && good; i++)
    good = op->directions[i] == op->directions[0] << i &&
           op->coordinates[i].mask == op->directions[i] && !op->coordinates[i].constant;
  return good && is_level(live_of_op(s, op), level_of(op));
}

bool plan_goes_up(const net_op *op) {
  for (uint32_t o = 0; o < op->output_count; o++)
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++)
      if ((op->outputs[o].elements[j] != NET_NONE) != (j == 0))
        return false;
  return true;
}

static bool goes_down(const net_op *op) {
  for (uint32_t o = 0; o < op->output_count; o++)
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++)
      if (op->outputs[o].elements[j] == NET_NONE)
        return false;
  return true;
}

static bool is_between(const tree *t, uint32_t op) {
  return op != NET_NONE && op - t->l->middle < t->l->middle_count;
}

// The blocks publish it: made by the ops before those between, or going up.
static bool is_published(const tree *t, net_id value) {
  uint32_t op = t->uses.values[value].maker;
  return op < t->l->middle || (is_between(t, op) && plan_goes_up(&t->stage->ops.items[op]));
}

// Whether an op between reads only what is there for it: of its level what blocks have published,
// and above it the element 0 of what comes down.
static bool reads_tree(const tree *t, const net_op *op) {
  const net_stage *s = t->stage;
  uint32_t count = net_op_nodes(s, op, s->walk);
  for (uint32_t i = 0; i < count; i++) {
    const net_node *node = &s->nodes.items[s->walk[i]];
    if (net_node_is(node->kind, NET_IMPORTS))
      return false;
    if (node->kind != NET_ELEMENT)
      continue;
    uint32_t maker = t->uses.values[node->value].maker;
    if (maker == NET_NONE)
      return false;
    if (is_published(t, node->value)) {
      if (!is_level(live_of_value(s, node->value), level_of(op)) ||
          (maker < t->l->middle && level_of(op) != t->l->tile_bits))
        return false;
    } else if (plan_goes_up(op) || node->number != 0 || !is_between(t, maker) ||
               level_of(&s->ops.items[maker]) != level_of(op) + op->k) {
      return false;
    }
  }
  return true;
}

// ---- what must not matter --------------------------------------------------------------------
//
// Element j of what comes down may be made of elements before j, which are there when a block asks
// for them, and not of others. Only at index 0, where nothing lies before, a fold may have any
// value: what is made of it is followed until something that knows its index takes another value
// instead.

// Where the coset is: that of index 0, or any other.
typedef struct coset {
  const net_op *op;
  bool first, between;
  uint64_t j;
} coset;

// Element j of the op's outputs; whether none is spoilt that must not be.
static bool follow_element(tree *t, const coset *c) {
  const net_stage *s = t->stage;
  uint32_t count = net_op_nodes(s, c->op, s->walk);
  net_known *nodes = NEW_ARRAY(t->memory, net_known, s->nodes.count + 1);
  for (uint32_t i = 0; i < count; i++) {
    const net_node *node = &s->nodes.items[s->walk[i]];
    net_known *k = &nodes[s->walk[i]];
    if (node->kind == NET_ELEMENT)
      k->any = (c->first && node->number == 0 && t->spoilt[node->value]) ||
               (c->between && is_published(t, node->value) && node->number >= c->j);
    else if (node->kind == NET_INDEX)
      *k = (net_known){.is = c->first && !node->map.loop_count,
                       .value.i64 = net_map_at(&node->map, NULL, 0)};
    else
      *k = net_known_of(node, net_operand_type(s, node), nodes);
  }
  bool good = true;
  for (uint32_t o = 0; o < c->op->output_count; o++) {
    net_id e = c->op->outputs[o].elements[c->j];
    bool spoilt = e != NET_NONE && nodes[e].any;
    if (spoilt && c->first && c->j == 0)
      t->spoilt[c->op->outputs[o].value] = true;
    else
      good &= !spoilt;
  }
  return good;
}

static bool follow_op(tree *t, const net_op *op, bool between) {
  bool good = true, top = op->k && (int)(level_of(op) + op->k) == t->stage->n;
  for (uint64_t j = 0; j < UINT64_C(1) << op->k && good; j++)
    for (int first = 0; first < 2 && good; first++)
      if (first || !top)
        good = follow_element(t, &(coset){op, first, between, j});
  return good;
}

// ---- recognising -----------------------------------------------------------------------------

static bool lies_in_tile(const net_op *op, uint32_t d) {
  bool inside = true;
  for (uint32_t i = 0; i < op->k; i++)
    inside &= op->directions[i] >> d == 0;
  return inside;
}

// The ops whose directions do not lie in tiles of 2^d, with all between them.
static bool split_ops(const tree *t, uint32_t d) {
  const net_stage *s = t->stage;
  uint32_t first = 0, end = (uint32_t)s->ops.count;
  while (first < end && lies_in_tile(&s->ops.items[first], d))
    first++;
  while (end > first && lies_in_tile(&s->ops.items[end - 1], d))
    end--;
  t->l->middle = first;
  t->l->middle_count = end - first;
  t->l->tile_bits = d;
  return first > 0 && end > first && end < s->ops.count;
}

static bool is_tree(tree *t) {
  const net_stage *s = t->stage;
  for (uint32_t i = 0; i < s->ops.count; i++) {
    const net_op *op = &s->ops.items[i];
    bool up = plan_goes_up(op);
    if (is_between(t, i) && !(is_regular(s, op) && level_of(op) >= t->l->tile_bits &&
                              (up || goes_down(op)) && reads_tree(t, op)))
      return false;
    if (i >= t->l->middle && !(is_between(t, i) && up) && !follow_op(t, op, is_between(t, i)))
      return false;
  }
  for (net_id v = 0; v < s->values.count; v++)
    if (t->uses.values[v].stored && (t->spoilt[v] || is_between(t, t->uses.values[v].maker)))
      return false;
  return true;
}

// ---- upright ---------------------------------------------------------------------------------

// The stage with its indices numbered anew, x as x ^ flip, so that element 0 of each op comes first:
// a tree from the end becomes one from the start.
static net_stage upright_stage(arena *a, const net_stage *s) {
  net_stage upright = net_stage_like(s);
  f2_affine flip = f2_affine_identity(s->n);
  for (size_t i = 0; i < s->ops.count; i++)
    for (uint32_t k = 0; k < s->ops.items[i].k; k++)
      if (s->ops.items[i].coordinates[k].constant)
        flip.c |= s->ops.items[i].coordinates[k].mask;
  net_stage_merge(a, &upright, s, flip);
  return upright;
}

// ---- the one pass ----------------------------------------------------------------------------

// The values that cross into the ops between, or out of them.
static uint32_t crossing_values(const tree *t, bool out, net_id *values) {
  const net_stage *s = t->stage;
  uint32_t count = 0;
  bool *read = NEW_ARRAY(t->memory, bool, s->values.count + 1);
  for (uint32_t i = 0; i < s->ops.count; i++) {
    const net_reads *r = &t->uses.reads[i];
    for (uint32_t k = 0; k < r->count; k++)
      read[r->values[k]] |= out ? i >= t->l->middle + t->l->middle_count : is_between(t, i);
  }
  for (net_id v = 0; v < s->values.count; v++)
    if (read[v] && is_between(t, t->uses.values[v].maker) == out &&
        (out || t->uses.values[v].maker < t->l->middle))
      values[count++] = v;
  return count;
}

// Stands for the ops between: it reads what goes in, and makes what comes out. What it computes is
// said elsewhere; here each result is one of its operands, for there is no other node of the type.
static bool stand_in(tree *t, net_stage *s, net_op *op) {
  plan_look_back *l = t->l;
  *op = (net_op){.outputs = NEW_ARRAY(t->memory, net_output, l->in_count + l->out_count)};
  op->live = NEW_ARRAY(t->memory, net_form, l->tile_bits + 1);
  for (op->live_count = 0; op->live_count < l->tile_bits; op->live_count++)
    op->live[op->live_count] = (net_form){f2_unit((int)op->live_count), false};
  for (uint32_t i = 0; i < l->in_count; i++) {
    scalar_type type = s->values.items[l->in[i]];
    net_output *o = &op->outputs[op->output_count++];
    o->value = NET_NONE;
    for (uint32_t k = 0; k < l->out_count && o->value == NET_NONE; k++) {
      bool taken = s->values.items[l->out[k]] != type;
      for (uint32_t m = 0; m + 1 < op->output_count; m++)
        taken |= op->outputs[m].value == l->out[k];
      o->value = taken ? NET_NONE : l->out[k];
    }
    if (o->value == NET_NONE)
      o->value = net_value_add(t->memory, s, type);
    o->elements = NEW_ARRAY(t->memory, net_id, 1);
    o->elements[0] = net_node_add(
        t->memory, s, &(net_node){.kind = NET_ELEMENT, .type = type, .value = l->in[i]});
  }
  uint32_t made = 0;
  for (uint32_t k = 0; k < l->out_count; k++)
    for (uint32_t m = 0; m < op->output_count; m++)
      made += op->outputs[m].value == l->out[k];
  return made == l->out_count;
}

static bool make_one(tree *t, const plan *p, plan_look_back *l) {
  net alone = {.arrays = p->net->arrays, .externs = p->net->externs};
  vec_push(t->memory, &alone.stages, *t->stage);
  net *n = net_copy(t->memory, &alone);
  net_stage *s = &n->stages.items[0];
  net_op stands;
  if (!stand_in(t, s, &stands))
    return false;
  net_op *at = &s->ops.items[l->middle], *rest = at + l->middle_count;
  memmove(at + 1, rest, (size_t)(s->ops.items + s->ops.count - rest) * sizeof *rest);
  *at = stands;
  s->ops.count -= l->middle_count - 1;
  l->one = plan_one_tile(t->memory, n, p->target, (int)l->tile_bits, l->middle);
  return l->one != NULL;
}

static bool suits(const plan *p, uint32_t stage) {
  const net_stage *s = &p->net->stages.items[stage];
  const strategy_row *row = strategy_row_of(p->strategy[stage]);
  return p->target->lane_bytes == 0 && row && row->exchange == EXCHANGE_FREE && !row->plain &&
         s->loop_count == 0 && !s->shares && s->ops.count > 2;
}

// What a tile of 2^d loads, but for single elements that it loads for all.
static uint64_t bytes_of_tile(const net_stage *s, uint32_t d) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < s->loads.count; i++) {
    const net_map *m = &s->loads.items[i].map;
    bool varies = false;
    for (uint32_t r = 0; r < m->row_count; r++)
      varies |= (m->rows[r].form.mask & f2_mask((int)d)) != 0;
    bytes += varies ? scalar_types[s->values.items[s->loads.items[i].value]].size << d : 0;
  }
  return bytes;
}

// What the first of the passes loads the last loads, too: its arrays are there until the end. And
// there are no others.
static bool keeps_arrays(const plan *p, const plan_look_back *l) {
  const plan_pass *last = &p->passes.items[l->last];
  for (uint32_t i = l->first; i <= l->last; i++)
    for (plan_access at = {0}; plan_access_next(&p->passes.items[i], &at);)
      if (!at.move ||  // at places that are data: its kernel has moves alone
          (!at.writes && at.array < p->net->arrays.count &&
           !plan_find_move(last->loads, last->load_count, at.array)))
        return false;
  return true;
}

bool plan_look_back_from(arena *a, const plan *p, uint32_t first, plan_look_back *l) {
  uint32_t number = p->passes.items[first].stage;
  *l = (plan_look_back){.stage_number = number, .first = first, .last = first};
  while (l->last + 1 < p->passes.count && p->passes.items[l->last + 1].stage == number)
    l->last++;
  if ((first && p->passes.items[first - 1].stage == number) || l->last < first + 2 ||
      !suits(p, number) || !keeps_arrays(p, l))
    return false;
  net_stage *s = NEW(a, net_stage);
  *s = upright_stage(a, &p->net->stages.items[number]);
  l->stage = s;
  tree t = {.memory = a, .stage = s, .l = l};
  t.uses = net_uses_of(a, s);
  for (uint32_t d = PLAN_LOOK_MOST; d >= PLAN_LOOK_LEAST; d--) {
    t.spoilt = NEW_ARRAY(a, bool, s->values.count + 1);
    if (bytes_of_tile(s, d) > PLAN_LOOK_BYTES || (int)d >= s->n || !split_ops(&t, d) ||
        !is_tree(&t))
      continue;
    l->in = NEW_ARRAY(a, net_id, s->values.count + 1);
    l->out = NEW_ARRAY(a, net_id, s->values.count + 1);
    l->in_count = crossing_values(&t, false, l->in);
    l->out_count = crossing_values(&t, true, l->out);
    bool good = l->in_count > 0 && l->out_count > 0;
    for (uint32_t i = 0; i < l->out_count; i++) {  // a block folds what comes down to it
      const net_op *op = &s->ops.items[t.uses.values[l->out[i]].maker];
      good &= level_of(op) == d && !plan_goes_up(op);
    }
    return good && make_one(&t, p, l);
  }
  return false;
}
