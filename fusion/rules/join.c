// The rule in-place. A JOIN is an op that chooses between two values by its index: they lie side by
// side, and together they take the room of one, if they are one from the start.
//
//   op 0 live x1 step %1             op 0 step %1
//     v1[0] = * v0[0] v0[0]     ->     t0 = * v0[0] v0[0]
//   op 1 step %2                       t1 = < (index x1) i64:1
//     t0 = < (index x1) i64:1          v1[0] = select t1 t0 v0[0]
//     v2[0] = select t0 v1[0] v0[0]
//
// A join moves up into the op that makes the later of its two values: that op then keeps the other
// one where it has nothing to do, and reads the two of them, which are side by side as well, joined
// anew. That join moves on in the same way, until both its values are made by one op, or are one. A
// tree that keeps what each level drops (Haar in place) then has one value at each level. An op
// that makes several values (of tuples) takes a join of each in, one after the other: while it
// reads what is joined for the one, the others must not be wanted there, which their own joins say.
#include "fusion/rules/rewriting.h"

typedef struct reader {
  uint32_t op;
  struct reader *earlier;
} reader;

typedef struct use {
  uint32_t maker;  // the op, 1 + its number; 0: a load
  bool stopped;    // made by a join that stopped before that op
  bool stored;
  reader *readers;  // ops that read it, the latest first
  // The op, 1 + its number, whose output `kept_as` it is where that has nothing to do; 0: none.
  // Where two outputs are, kept_as is SEVERAL, and no other value can be read in its place.
  uint32_t kept_by, kept_as;
  // Made by an op that has something to do where the condition holds (side 0) or does not (side 1):
  net_id condition;  // or NET_NONE
  int side;
} use;

typedef struct joining {
  rewriter *r;
  VEC(use) uses;  // by value
  net_id *reads;
  f2_space **live;          // by op: where it was alive before it took joins in; NULL: it has none
  uint32_t *stopped_count;  // by op: joins that stopped before it
  VEC(net_op) stopped;
  VEC(uint32_t) stopped_at;
} joining;

// z = select c y w, or select c w y.
typedef struct join {
  net_id condition, chosen[2], value;  // chosen[0] where the condition holds
  f2_space live;
  uint32_t origin;
} join;

static bool is_of_index(const net_stage *s, net_id id) {
  const net_node *node = &s->nodes.items[id];
  bool good = node->kind == NET_INDEX || node->kind == NET_CONSTANT || node->kind == NET_SCALAR;
  for (uint32_t i = 0; i < node->operand_count && good; i++)
    good = is_of_index(s, node->operands[i]);
  return good;
}

static bool find_join(const net_stage *s, const net_op *op, const net_output *output, join *j) {
  const net_node *node = &s->nodes.items[output->elements[0]];
  if (op->k || node->kind != NET_SELECT || !is_of_index(s, node->operands[0]))
    return false;
  *j = (join){.condition = node->operands[0], .value = output->value, .origin = op->origin};
  for (int i = 0; i < 2; i++) {
    const net_node *chosen = &s->nodes.items[node->operands[1 + i]];
    if (chosen->kind != NET_ELEMENT)
      return false;
    j->chosen[i] = chosen->value;
  }
  j->live = live_of_op(s, op);
  return true;
}

static bool op_is_join(const net_stage *s, const net_op *op) {
  join ignored;
  bool all = op->k == 0 && op->output_count > 0;
  for (uint32_t i = 0; i < op->output_count && all; i++)
    all = find_join(s, op, &op->outputs[i], &ignored);
  return all;
}

// Whether the node is an element, or chooses among such by the index.
static bool is_choice(const net_stage *s, net_id id) {
  const net_node *node = &s->nodes.items[id];
  if (node->kind != NET_SELECT)
    return node->kind == NET_ELEMENT;
  return is_of_index(s, node->operands[0]) && is_choice(s, node->operands[1]) &&
         is_choice(s, node->operands[2]);
}

bool op_only_chooses(const net_stage *s, const net_op *op) {
  bool all = op->k == 0 && op->output_count > 0;
  for (uint32_t i = 0; i < op->output_count && all; i++)
    all = s->nodes.items[op->outputs[i].elements[0]].kind == NET_SELECT &&
          is_choice(s, op->outputs[i].elements[0]);
  return all;
}

// ---- who reads what --------------------------------------------------------------------------

enum { SEVERAL = -1 };

static use new_use(void) { return (use){.condition = NET_NONE}; }

static use *use_of(joining *j, net_id value) { return &j->uses.items[value]; }

static void push_reader(joining *j, net_id value, uint32_t op) {
  reader *first = NEW(j->r->memory, reader);
  *first = (reader){op, use_of(j, value)->readers};
  use_of(j, value)->readers = first;
}

// Whether that was its latest reader, which is taken off.
static bool pop_reader(joining *j, net_id value, uint32_t op) {
  use *u = use_of(j, value);
  if (!u->readers || u->readers->op != op)
    return false;
  u->readers = u->readers->earlier;
  return true;
}

static bool is_read_after(joining *j, net_id value, uint32_t op) {
  const use *u = use_of(j, value);
  return u->stored || (u->readers && u->readers->op > op);
}

// A join reads for each of its outputs.
static void push_reads(joining *j, uint32_t number, const net_op *op) {
  const net_stage *s = j->r->stage;
  join n;
  if (!op_is_join(s, op))
    for (uint32_t k = net_op_reads(s, op, j->reads); k-- > 0;)
      push_reader(j, j->reads[k], number);
  else
    for (uint32_t k = 0; k < op->output_count; k++)
      for (int i = 0; i < 2 && find_join(s, op, &op->outputs[k], &n); i++)
        push_reader(j, n.chosen[i], number);
}

static void find_uses(joining *j) {
  const net_stage *s = j->r->stage;
  for (size_t v = 0; v < s->values.count; v++)
    vec_push(j->r->memory, &j->uses, new_use());
  for (uint32_t i = 0; i < s->ops.count; i++) {
    push_reads(j, i, &s->ops.items[i]);
    for (uint32_t k = 0; k < s->ops.items[i].output_count; k++)
      use_of(j, s->ops.items[i].outputs[k].value)->maker = i + 1;
  }
  for (size_t i = 0; i < s->stores.count; i++)
    use_of(j, s->stores.items[i].value)->stored = true;
}

// ---- nodes -----------------------------------------------------------------------------------

// A node of the index alone, for element e of the op's cosets.
static net_id condition_at(rewriter *r, const net_op *op, uint64_t e, net_id id) {
  net_node node = *node_at(r, id);
  net_id operands[2];
  if (node.kind == NET_INDEX)
    node.map = net_map_at_element(r->memory, &node.map, op->k, op->directions, op->coordinates, e);
  for (uint32_t i = 0; i < node.operand_count; i++)
    operands[i] = condition_at(r, op, e, node.operands[i]);
  node.operands = operands;
  return node_simplified(r, &node);
}

// Whether it is the same for all elements of a coset.
static bool is_same_in_coset(const rewriter *r, const net_op *op, net_id id) {
  const net_node *node = node_at(r, id);
  bool same = true;
  for (uint32_t i = 0; node->kind == NET_INDEX && i < node->map.row_count; i++)
    for (uint32_t k = 0; k < op->k; k++)
      same = same && !f2_dot(node->map.rows[i].form.mask, op->directions[k]);
  for (uint32_t i = 0; i < node->operand_count; i++)
    same = same && is_same_in_coset(r, op, node->operands[i]);
  return same;
}

// Whether it is the same wherever `live` says.
static bool is_same_on(rewriter *r, f2_space live, net_id id) {
  const net_node *node = node_at(r, id);
  bool same = true;
  for (uint32_t l = 0; node->kind == NET_INDEX && l < node->map.loop_count; l++)
    same = same && node->map.strides[l] == 0;
  for (uint32_t i = 0; node->kind == NET_INDEX && i < node->map.row_count; i++)
    same = same && live_reduced(live, node->map.rows[i].form).mask == 0;
  for (uint32_t i = 0; i < node->operand_count; i++)
    same = same && is_same_on(r, live, node->operands[i]);
  return same;
}

static net_id element_node(rewriter *r, net_id value, uint64_t e) {
  net_node node = {
      .kind = NET_ELEMENT, .type = r->stage->values.items[value], .value = value, .number = e};
  return net_node_add(r->memory, r->stage, &node);
}

// The op's nodes with elements of `to` for those of two values.
static void replace_reads(rewriter *r, net_op *op, const net_id *from, net_id to) {
  rewriter_grow_scratch(r);
  uint32_t count = net_op_nodes(r->stage, op, r->nodes);
  for (uint32_t i = 0; i < count; i++) {
    net_node node = *node_at(r, r->nodes[i]);
    if (node.kind == NET_ELEMENT && (node.value == from[0] || node.value == from[1]))
      node.value = to;
    node = net_node_renumbered(r->memory, &node, r->memo);
    r->memo[r->nodes[i]] = node_simplified(r, &node);
  }
  for (uint32_t i = 0; i < op->output_count; i++)
    for (uint64_t e = 0; e < UINT64_C(1) << op->k; e++)
      if (op->outputs[i].elements[e] != NET_NONE)
        op->outputs[i].elements[e] = r->memo[op->outputs[i].elements[e]];
  for (uint32_t i = 0; i < count; i++)
    r->memo[r->nodes[i]] = NET_NONE;
}

// ---- a join in the op that makes the later value ---------------------------------------------

static uint32_t output_of(const net_op *op, net_id value) {
  uint32_t i = 0;
  while (i < op->output_count && op->outputs[i].value != value)
    i++;
  return i;
}

// The elements of the joined value, `last` of which chosen[side] is; `kept`: what is kept beside
// it.
// False: one that is needed is not made.
static bool joined_elements(rewriter *r, const net_op *op, const join *n, int side, net_id kept,
                            net_id *elements) {
  const net_output *last = &op->outputs[output_of(op, n->chosen[side])];
  uint32_t at = output_of(op, kept);
  scalar_type type = r->stage->values.items[n->value];
  f2_space cosets = live_cosets(n->live, op->k, op->directions);
  for (uint64_t e = 0; e < UINT64_C(1) << op->k; e++) {
    elements[e] = NET_NONE;
    if (live_is_empty(live_element(f2_space_sum(cosets, n->live), op->k, op->coordinates, e)))
      continue;
    net_id nodes[3] = {condition_at(r, op, e, n->condition)};
    nodes[1 + side] = last->elements[e];
    nodes[2 - side] =
        at < op->output_count ? op->outputs[at].elements[e] : element_node(r, kept, e);
    const net_node *condition = node_at(r, nodes[0]);
    if (is_constant(condition))
      elements[e] = nodes[condition->constant.b ? 1 : 2];
    else if (nodes[1] != NET_NONE && nodes[2] != NET_NONE)
      elements[e] = node_simplified(
          r, &(net_node){.kind = NET_SELECT, .type = type, .operand_count = 3, .operands = nodes});
    if (elements[e] == NET_NONE)
      return false;
  }
  return true;
}

static bool has_foreign(rewriter *r, const net_op *op) {
  rewriter_grow_scratch(r);
  for (uint32_t i = net_op_nodes(r->stage, op, r->nodes); i-- > 0;)
    if (node_at(r, r->nodes[i])->kind == NET_EXTERN || node_at(r, r->nodes[i])->kind == NET_SCATTER)
      return true;
  return false;
}

// The value that the op reads in the place of chosen[side], which it makes, and which nobody reads
// afterwards: `beside` itself, if it reads that, or one that an op has made, rather than a load.
static net_id find_predecessor(joining *j, uint32_t number, const join *n, int side) {
  const net_stage *s = j->r->stage;
  net_id beside = n->chosen[1 - side], found = NET_NONE;
  uint32_t output = output_of(&s->ops.items[number], n->chosen[side]);
  uint32_t count = net_op_reads(s, &s->ops.items[number], j->reads);
  for (uint32_t i = 0; i < count; i++) {
    net_id v = j->reads[i];
    const use *u = use_of(j, v);
    if (v == beside)
      return v;
    if (s->values.items[v] == s->values.items[n->value] && !is_read_after(j, v, number) &&
        (u->kept_by != number + 1 || u->kept_as == output) &&
        (found == NET_NONE || u->maker > use_of(j, found)->maker))
      found = v;
  }
  return found;
}

// Whether the join's outputs choose the value on that side of the condition only.
static bool chooses_on_side(const net_stage *s, const net_op *op, net_id value, net_id condition,
                            int side) {
  bool found = false;
  join n;
  for (uint32_t k = 0; k < op->output_count; k++) {
    if (!find_join(s, op, &op->outputs[k], &n))
      return false;
    for (int i = 0; i < 2; i++)
      if (n.chosen[i] == value && (n.condition != condition || i != side))
        return false;
    found |= n.chosen[side] == value;
  }
  return found;
}

// Whether nobody needs the op's value but on that side of the condition.
static bool is_wanted_on_side(joining *j, net_id value, net_id condition, int side) {
  const use *u = use_of(j, value);
  if (u->condition == condition && u->side == side)
    return true;
  bool good = !u->stored;
  for (const reader *at = u->readers; at && good; at = at->earlier)
    good = chooses_on_side(j->r->stage, &j->r->stage->ops.items[at->op], value, condition, side);
  return good;
}

// Whether the op may read something else where it had nothing to do: where the condition is not
// that under which chosen[side] is.
static bool is_guarded(joining *j, uint32_t number, const join *n, int side) {
  rewriter *r = j->r;
  net_op *op = &r->stage->ops.items[number];
  f2_space live = j->live[number] ? *j->live[number] : live_of_op(r->stage, op);
  if (!is_same_in_coset(r, op, n->condition) || has_foreign(r, op))
    return false;
  bool good = true;
  for (uint32_t i = 0; i < op->output_count && good; i++)
    good = op->outputs[i].value == n->chosen[side] ||
           is_wanted_on_side(j, op->outputs[i].value, n->condition, side);
  return good || is_same_on(r, live, n->condition);
}

static void set_output(joining *j, uint32_t number, net_id old, const join *n, net_id *elements) {
  rewriter *r = j->r;
  net_op *op = &r->stage->ops.items[number];
  f2_space live = live_of_op(r->stage, op);
  if (!j->live[number]) {
    j->live[number] = NEW(r->memory, f2_space);
    *j->live[number] = live;
  }
  net_output *outputs = NEW_ARRAY(r->memory, net_output, op->output_count + 1);
  memcpy(outputs, op->outputs, op->output_count * sizeof *outputs);
  outputs[output_of(op, old)] = (net_output){n->value, elements};
  op->outputs = outputs;
  live = live_hull(live, live_cosets(n->live, op->k, op->directions));
  op->live = live_forms(r->memory, live, &op->live_count);
  use_of(j, n->value)->maker = number + 1;
}

// The two, which op `number` reads, as one value, which it reads instead.
static net_id join_operands(joining *j, uint32_t number, const net_id *of) {
  rewriter *r = j->r;
  net_id value = net_value_add(r->memory, r->stage, r->stage->values.items[of[0]]);
  vec_push(r->memory, &j->uses, new_use());
  for (int i = 0; i < 2; i++)
    pop_reader(j, of[i], number);
  push_reader(j, value, number);
  replace_reads(r, &r->stage->ops.items[number], of, value);
  return value;
}

// The op's output is the value where it has nothing to do.
static void keep_as(use *u, uint32_t number, uint32_t output) {
  bool other = u->kept_by == number + 1 && u->kept_as != output;
  u->kept_by = number + 1;
  u->kept_as = other ? (uint32_t)SEVERAL : output;
}

// Moves a join, which no longer counts as a reader, into the op that makes the later of its values.
// *more: that leaves a join before the op, *next. False: it has to stay.
static bool hoist_join(joining *j, const join *n, join *next, bool *more) {
  rewriter *r = j->r;
  uint32_t makers[2] = {use_of(j, n->chosen[0])->maker, use_of(j, n->chosen[1])->maker};
  int side = makers[1] > makers[0];
  uint32_t number = makers[side] - 1;
  net_id last = n->chosen[side], beside = n->chosen[1 - side], before = beside;
  const use *of_last = use_of(j, last);
  if (makers[side] == 0 || last == beside || of_last->readers || of_last->stored ||
      of_last->stopped)
    return false;
  net_op *op = &r->stage->ops.items[number];
  if (output_of(op, beside) == op->output_count)
    before = find_predecessor(j, number, n, side);
  *more = before != beside;
  if (before == NET_NONE ||
      (*more && (is_read_after(j, beside, number) || !is_guarded(j, number, n, side))))
    return false;
  net_id *elements = NEW_ARRAY(r->memory, net_id, UINT64_C(1) << op->k);
  if (!joined_elements(r, op, n, side, beside, elements))
    return false;
  rewriter_at(r, op);
  rewriter_fired(r, RULE_IN_PLACE, 0, 0);
  *next = *n;
  if (*more) {
    net_id of[2] = {before, beside};
    next->chosen[side] = before;
    next->value = join_operands(j, number, of);
    use_of(j, n->value)->condition = n->condition;
    use_of(j, n->value)->side = side;
    ensure(joined_elements(r, op, n, side, next->value, elements));
  }
  if (output_of(op, beside) == op->output_count)
    keep_as(use_of(j, *more ? next->value : beside), number, output_of(op, last));
  set_output(j, number, last, n, elements);
  next->live = live_of_op(r->stage, op);
  return true;
}

// ---- all joins of a stage --------------------------------------------------------------------

// A join that stays where it got to: before the op that reads it.
static void stop_join(joining *j, const join *n) {
  rewriter *r = j->r;
  uint32_t number = use_of(j, n->value)->readers->op;
  net_op op = {.output_count = 1, .origin = n->origin};
  op.live = live_forms(r->memory, n->live, &op.live_count);
  net_id operands[3] = {n->condition, element_node(r, n->chosen[0], 0),
                        element_node(r, n->chosen[1], 0)};
  net_node select = {.kind = NET_SELECT,
                     .type = r->stage->values.items[n->value],
                     .operand_count = 3,
                     .operands = operands};
  op.outputs = NEW(r->memory, net_output);
  op.outputs->value = n->value;
  op.outputs->elements = NEW(r->memory, net_id);
  op.outputs->elements[0] = node_simplified(r, &select);
  for (int i = 0; i < 2; i++)
    push_reader(j, n->chosen[i], number);
  *use_of(j, n->value) = (use){.maker = number + 1,
                               .stopped = true,
                               .readers = use_of(j, n->value)->readers,
                               .kept_by = use_of(j, n->value)->kept_by,
                               .kept_as = use_of(j, n->value)->kept_as,
                               .condition = NET_NONE};
  vec_push(r->memory, &j->stopped, op);
  vec_push(r->memory, &j->stopped_at, number);
  j->stopped_count[number]++;
}

// Whether output i of op `number` has gone into another op.
static bool hoist_output(joining *j, uint32_t number, uint32_t i) {
  const net_op *op = &j->r->stage->ops.items[number];
  join n, next;
  bool more;
  if (!find_join(j->r->stage, op, &op->outputs[i], &n))
    return false;
  bool popped[2] = {pop_reader(j, n.chosen[0], number), pop_reader(j, n.chosen[1], number)};
  if (popped[0] && popped[1] && hoist_join(j, &n, &next, &more)) {
    while (more) {
      n = next;
      if (!hoist_join(j, &n, &next, &more)) {
        stop_join(j, &n);
        break;
      }
    }
    return true;
  }
  for (int k = 0; k < 2; k++)
    if (popped[k])
      push_reader(j, n.chosen[k], number);
  return false;
}

// The stage's ops, each behind the joins that stopped before it, without those that are gone.
static void rebuild_ops(joining *j) {
  net_stage *s = j->r->stage;
  size_t count = s->ops.count, *next = NEW_ARRAY(j->r->memory, size_t, count + 1), at = 0;
  net_op *ops = NEW_ARRAY(j->r->memory, net_op, count + j->stopped.count + 1);
  for (size_t i = 0; i < count; i++) {
    next[i] = at;
    at += j->stopped_count[i];
    if (s->ops.items[i].output_count)
      ops[at++] = s->ops.items[i];
  }
  for (size_t i = 0; i < j->stopped.count; i++)
    ops[next[j->stopped_at.items[i]]++] = j->stopped.items[i];
  s->ops.items = ops;
  s->ops.count = at;
  s->ops.capacity = count + j->stopped.count + 1;
}

void stage_hoist_joins(rewriter *r) {
  net_stage *s = r->stage;
  size_t count = s->ops.count;
  bool any = false;
  for (size_t i = 0; i < count && !any; i++)
    any = op_is_join(s, &s->ops.items[i]);
  if (!any)
    return;
  joining j = {.r = r};
  j.reads = NEW_ARRAY(r->memory, net_id, s->values.count + 1);
  j.live = NEW_ARRAY(r->memory, f2_space *, count);
  j.stopped_count = NEW_ARRAY(r->memory, uint32_t, count);
  find_uses(&j);
  for (uint32_t i = 0; i < count; i++) {
    net_op *op = &s->ops.items[i];
    if (!op_is_join(s, op))
      continue;
    uint32_t kept = 0;
    for (uint32_t k = 0; k < op->output_count; k++)
      if (!hoist_output(&j, i, k))
        op->outputs[kept++] = op->outputs[k];
    op->output_count = kept;
  }
  rebuild_ops(&j);
}
