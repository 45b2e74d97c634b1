// Rules on ops: one walk over a stage in its order builds the list of its ops anew. Each op is
// rewritten for what became of the values that it reads, and then joins an op of the list if it can
// (map-map, same-pair), or ends the list.
//
// Which op may it join? A has the place of the last op that makes something B reads: then all of
// B's operands are there, and whatever lies between does not depend on B. If A makes none
// of them, it must come after that one, and read something that B reads, too: components of a tuple
// that compare the same keys. (Ops on unrelated arrays stay apart: a pass that holds both needs
// twice the fast memory.)
//
// The cosets of the smaller span are parts of those of the larger one. Its op is repeated in each
// part, which is no more work than before, and written for the larger one's numbering of elements.
#include "fusion/rules/rewriting.h"

// What is made of one load by a few operations and read by several ops is written again in each,
// which is less than to store it for a later pass (a choice between an array and what extends it,
// in scan).
enum {
  MOST_OPERATIONS = 1024,  // of a merged op: code is compiled, and values held in registers
  MOST_REPEATED = 256,     // operations of an op of a smaller span, in all its parts
  FEW_OPERATIONS = 4,      // of what is written again
  READERS = 4              // ops remembered for each value
};

typedef struct group {
  net_op op;  // but for the outputs
  VEC(net_output) outputs;
  f2_space live;
  size_t operations;
} group;

// What became of a value.
typedef struct merged_value {
  uint32_t group, output;     // that make it: 1 + the group's number, or 0: a load
  net_id instead;             // is read for it ...
  bool partly;                // ... and is it only where it is alive
  bool mixed;                 // it stands for others, which are made otherwise where they are alive
  net_id again;               // the node that is written again where it is read, or NET_NONE: it is
                              //   all of the output, so that who changes the output resets it
  uint64_t read_by;           // the same number for the same ops; 0: it is stored
  bool read_once;             // by one op at most
  uint32_t readers[READERS];  // the latest groups that read it, as 1 + their numbers
} merged_value;

// An op that other ones may be as well, on other parts of the index space.
typedef struct part {
  net_op op;
  f2_space live;
  uint64_t covered;  // indices, of those of all such ops
} part;

typedef struct merging {
  rewriter *r;
  VEC(group) groups;
  VEC(part) parts;
  hash_table part_table;
  merged_value *values;
  net_reads reads;  // of the op being merged
} merging;

// ---- rewriting nodes -------------------------------------------------------------------------

// The node with its operands as they are in the memo.
static net_id rebuilt_node(merging *m, const net_node *node) {
  net_node copy = net_node_renumbered(m->r->memory, node, m->r->memo);
  return node_simplified(m->r, &copy);
}

static net_map map_at_element(rewriter *r, const net_op *op, uint64_t j, const net_map *map) {
  return net_map_at_element(r->memory, map, op->k, op->directions, op->coordinates, j);
}

// A node of an op without directions, for element j of an op's coset.
static net_id node_at_element(merging *m, const net_op *op, uint64_t j, net_id id) {
  net_node node = *node_at(m->r, id);
  net_id operands[8];
  if (node.kind == NET_ELEMENT)
    node.number = j;
  if (node.kind == NET_INDEX)
    node.map = map_at_element(m->r, op, j, &node.map);
  for (uint32_t i = 0; i < node.operand_count; i++)
    operands[i] = node_at_element(m, op, j, node.operands[i]);
  node.operands = operands;
  return node_simplified(m->r, &node);
}

// The op with simple nodes, which read what became of its values.
static net_op simplified_op(merging *m, const net_op *op) {
  uint32_t count = rewriter_walk(m->r, op);
  for (uint32_t i = 0; i < count; i++) {
    net_node node = *node_at(m->r, m->r->nodes[i]);
    if (node.kind == NET_ELEMENT)
      node.value = m->values[node.value].instead;
    net_id again = node.kind == NET_ELEMENT ? m->values[node.value].again : NET_NONE;
    m->r->memo[m->r->nodes[i]] =
        again == NET_NONE ? rebuilt_node(m, &node) : node_at_element(m, op, node.number, again);
  }
  return rewriter_take_memo(m->r, op, count);
}

// ---- cosets in cosets ------------------------------------------------------------------------

// How the elements of an op's cosets are numbered in those of a larger span.
typedef struct embedding {
  const net_op *small, *large;
  uint64_t steps[F2_MAX];  // the small directions, as large numbers
  f2_affine own;           // of a large number: the small one
  bool *dead;              // by large number: the small op is not alive there; NULL: nowhere
} embedding;

static bool find_embedding(const net_op *small, const net_op *large, embedding *e) {
  *e = (embedding){small, large, .own.a = f2_zero((int)small->k, (int)large->k)};
  for (uint32_t i = 0; i < small->k; i++) {
    uint64_t rest = small->directions[i];
    net_form form = small->coordinates[i];
    for (uint32_t l = 0; l < large->k; l++) {
      if (f2_dot(large->coordinates[l].mask, small->directions[i])) {
        e->steps[i] |= f2_unit((int)l);
        rest ^= large->directions[l];
      }
      if (f2_dot(small->coordinates[i].mask, large->directions[l])) {
        e->own.a.row[i] |= f2_unit((int)l);
        form = net_form_sum(form, large->coordinates[l]);
      }
    }
    if (rest != 0 || form.mask != 0)
      return false;
    e->own.c |= (uint64_t)form.constant << i;
  }
  return true;
}

// The large number of element `number` of the part whose element 0 has large number j.
static uint64_t large_number(const embedding *e, uint64_t j, uint64_t number) {
  return j ^ f2_combine((int)e->small->k, e->steps, number);
}

// Whether a part begins at large number j: the small op is alive there.
static bool begins_part(const embedding *e, uint64_t j) {
  return f2_affine_apply(e->own, j) == 0 && !(e->dead && e->dead[j]);
}

// Whether the small op is alive in the same cosets of the large span as `live` says, and there in
// whole elements.
static bool embed_live(rewriter *r, embedding *e, f2_space small, f2_space live) {
  const net_op *large = e->large;
  f2_space cosets = live_cosets(small, large->k, large->directions);
  if (!f2_space_equal(cosets, live))
    return false;
  if (f2_space_equal(cosets, small))
    return true;
  e->dead = NEW_ARRAY(r->memory, bool, UINT64_C(1) << large->k);
  for (uint64_t j = 0; j < UINT64_C(1) << large->k; j++) {
    f2_space element = live_element(cosets, large->k, large->coordinates, j);
    f2_space alive = live_element(small, large->k, large->coordinates, j);
    e->dead[j] = live_is_empty(alive);
    if (!e->dead[j] && !f2_space_equal(alive, element))
      return false;
  }
  return true;
}

// ---- an op in the terms of another -----------------------------------------------------------

// `within`: 1 + the number of a group whose outputs stand for its values; 0: none.
static net_id element_in_part(merging *m, const embedding *e, uint64_t j, const net_node *element,
                              uint32_t within) {
  uint64_t number = large_number(e, j, element->number);
  const merged_value *by = &m->values[element->value];
  if (within && by->group == within)
    return m->groups.items[within - 1].outputs.items[by->output].elements[number];
  net_node copy = *element;
  copy.number = number;
  return net_node_add(m->r->memory, m->r->stage, &copy);
}

// m->r->nodes, in the part with element 0 at number j, into the memo. False: something is read that
// is not made.
static bool nodes_in_part(merging *m, const embedding *e, uint64_t j, uint32_t count,
                          uint32_t within) {
  for (uint32_t i = 0; i < count; i++) {
    net_node node = *node_at(m->r, m->r->nodes[i]);
    net_id *to = &m->r->memo[m->r->nodes[i]];
    if (node.kind == NET_INDEX)
      node.map = map_at_element(m->r, e->large, j, &node.map);
    *to =
        node.kind == NET_ELEMENT ? element_in_part(m, e, j, &node, within) : rebuilt_node(m, &node);
    if (*to == NET_NONE)
      return false;
  }
  return true;
}

// The small op's outputs on the large span's cosets, or NULL.
static net_output *outputs_on_larger(merging *m, const embedding *e, uint32_t within) {
  const net_op *op = e->small;
  net_output *outputs = dead_outputs(m->r->memory, op, e->large->k);
  uint32_t count = rewriter_walk(m->r, op);
  bool good = true;
  // The memo and m->r->nodes must not move while nodes are added: only old numbers are used in
  // them.
  for (uint64_t j = 0; j < UINT64_C(1) << e->large->k && good; j++) {
    if (!begins_part(e, j))
      continue;
    good = nodes_in_part(m, e, j, count, within);
    for (uint32_t i = 0; i < op->output_count && good; i++)
      for (uint64_t own = 0; own < UINT64_C(1) << op->k; own++)
        if (op->outputs[i].elements[own] != NET_NONE)
          outputs[i].elements[large_number(e, j, own)] = m->r->memo[op->outputs[i].elements[own]];
  }
  rewriter_forget(m->r, count);
  return good ? outputs : NULL;
}

static net_output *try_on_larger(merging *m, const embedding *e) {
  rewriter before = trial_begins(m->r);
  net_output *outputs = outputs_on_larger(m, e, 0);
  trial_ends(m->r, &before);
  return outputs;
}

// Whether some part would read an element of the group's values that is dead.
static bool reads_dead(merging *m, const embedding *e, uint32_t within) {
  uint32_t count = rewriter_walk(m->r, e->small);
  for (uint32_t i = 0; i < count; i++) {
    const net_node *node = node_at(m->r, m->r->nodes[i]);
    const merged_value *by = &m->values[node->value];
    if (node->kind != NET_ELEMENT || by->group != within)
      continue;
    const net_id *elements = m->groups.items[within - 1].outputs.items[by->output].elements;
    for (uint64_t j = 0; j < UINT64_C(1) << e->large->k; j++)
      if (begins_part(e, j) && elements[large_number(e, j, node->number)] == NET_NONE)
        return true;
  }
  return false;
}

// ---- outputs ---------------------------------------------------------------------------------

// The value of which the output is a copy, or NET_NONE.
static net_id copied_value(const merging *m, const net_output *output, uint32_t k) {
  net_id value = NET_NONE;
  for (uint64_t j = 0; j < UINT64_C(1) << k; j++) {
    if (output->elements[j] == NET_NONE)
      continue;
    const net_node *node = node_at(m->r, output->elements[j]);
    if (node->kind != NET_ELEMENT || node->number != j ||
        (value != NET_NONE && value != node->value))
      return NET_NONE;
    value = node->value;
  }
  return value;
}

static bool same_where_alive(const net_output *output, const net_output *other, uint32_t k) {
  for (uint64_t j = 0; j < UINT64_C(1) << k; j++)
    if (output->elements[j] != NET_NONE && output->elements[j] != other->elements[j])
      return false;
  return true;
}

static bool made_apart(const net_output *output, const net_output *other, uint32_t k) {
  for (uint64_t j = 0; j < UINT64_C(1) << k; j++)
    if (output->elements[j] != NET_NONE && other->elements[j] != NET_NONE)
      return false;
  return true;
}

// The output of the group that is made of other elements, and has room for those of this one; or
// NULL.
static net_output *find_beside(const merging *m, const group *g, const net_output *output) {
  const net_stage *s = m->r->stage;
  for (size_t i = 0; i < g->outputs.count; i++) {
    net_output *other = &g->outputs.items[i];
    uint64_t read_by = m->values[output->value].read_by;
    if (read_by && read_by == m->values[other->value].read_by &&
        s->values.items[output->value] == s->values.items[other->value] &&
        made_apart(output, other, g->op.k))
      return other;
  }
  return NULL;
}

static void put_beside(merging *m, const group *g, const net_output *output, net_output *beside) {
  net_id *elements = NEW_ARRAY(m->r->memory, net_id, UINT64_C(1) << g->op.k);
  for (uint64_t j = 0; j < UINT64_C(1) << g->op.k; j++)
    elements[j] = output->elements[j] == NET_NONE ? beside->elements[j] : output->elements[j];
  beside->elements = elements;
  m->values[beside->value].mixed = true;
  m->values[output->value].instead = beside->value;
  rewriter_fired(m->r, RULE_ONE_OUTPUT, 0, 0);
}

// An output of the group, unless it is a copy of something.
static void add_output(merging *m, uint32_t number, const net_output *output) {
  group *g = &m->groups.items[number];
  merged_value *of = &m->values[output->value];
  for (uint64_t j = 0; j < UINT64_C(1) << g->op.k; j++)
    of->partly |= output->elements[j] == NET_NONE;
  net_id value = copied_value(m, output, g->op.k);
  if (value != NET_NONE) {
    of->instead = value;
    rewriter_fired(m->r, RULE_MAP_ID, 2 * rewriter_bytes(m->r, value, 0), 0);
    return;
  }
  for (size_t i = 0; i < g->outputs.count; i++)
    if (same_where_alive(output, &g->outputs.items[i], g->op.k)) {
      of->instead = g->outputs.items[i].value;
      rewriter_fired(m->r, RULE_COMMON_SUBEXPRESSION, 2 * rewriter_bytes(m->r, output->value, 0),
                     0);
      return;
    }
  net_output *beside = find_beside(m, g, output);
  if (beside) {
    put_beside(m, g, output, beside);
    return;
  }
  of->group = number + 1;
  of->output = (uint32_t)g->outputs.count;
  vec_push(m->r->memory, &g->outputs, *output);
}

static net_op op_of_group(const group *g) {
  net_op op = g->op;
  op.output_count = (uint32_t)g->outputs.count;
  op.outputs = g->outputs.items;
  return op;
}

// ---- merging ---------------------------------------------------------------------------------

static void log_merge(merging *m, uint32_t number, const net_op *op, uint32_t smaller_k,
                      bool reads_it, size_t operations_before) {
  rewriter *r = m->r;
  group *g = &m->groups.items[number];
  uint64_t bytes = 0;  // that a value of its own would have been written and read
  for (uint32_t i = 0; i < m->reads.count; i++)
    if (m->values[m->reads.values[i]].group == number + 1)
      bytes += 2 * rewriter_bytes(r, m->reads.values[i], 0);
  rewriter_fired(r, g->op.k == 0 ? RULE_MAP_MAP : RULE_SAME_PAIR, bytes, 0);
  net_op whole = op_of_group(g);
  size_t repeated = rewriter_count_operations(m->r, op) << (g->op.k - smaller_k);
  g->operations = rewriter_count_operations(m->r, &whole);
  if (!reads_it && operations_before + repeated > g->operations)
    rewriter_fired(r, RULE_COMMON_SUBEXPRESSION, 0,
                   (operations_before + repeated - g->operations) * r->times);
}

// The group on the larger cosets of op.
static bool enlarge_group(merging *m, uint32_t number, const net_op *op, const embedding *e) {
  group *g = &m->groups.items[number];
  net_output *outputs = try_on_larger(m, e);
  if (!outputs)
    return false;
  g->outputs.items = outputs;
  g->outputs.capacity = g->outputs.count;
  g->op.k = op->k;
  g->op.directions = op->directions;
  g->op.coordinates = op->coordinates;
  g->op.live = op->live;
  g->op.live_count = op->live_count;
  g->live = live_of_op(m->r->stage, op);
  return true;
}

// Whether the sizes allow it: `operations` of the smaller span.
static bool is_affordable(size_t smaller, uint32_t difference, size_t larger) {
  return difference < 16 && (difference == 0 || smaller << difference <= MOST_REPEATED) &&
         (smaller << difference) + larger <= MOST_OPERATIONS;
}

// Whether op is a join of values of the group.
static bool chooses_within(const merging *m, const net_op *op, uint32_t number) {
  bool all = op_only_chooses(m->r->stage, op);
  for (uint32_t i = 0; i < m->reads.count; i++)
    all = all && m->values[m->reads.values[i]].group == number + 1;
  return all;
}

// op's cosets are the group's, or parts of them.
static bool join_group(merging *m, uint32_t number, const net_op *op, bool reads_it) {
  group *g = &m->groups.items[number];
  embedding e;
  size_t before = g->operations;
  f2_space live = live_of_op(m->r->stage, op);
  if (live_within(live, g->live) && chooses_within(m, op, number))
    live = g->live;  // which is no work
  if (!find_embedding(op, &g->op, &e) || !embed_live(m->r, &e, live, g->live) ||
      (reads_it && reads_dead(m, &e, number + 1)))
    return false;
  net_output *outputs = op->outputs;
  rewriter_at(m->r, &g->op);
  if (reads_it || e.dead || !f2_affine_equal(e.own, f2_affine_identity((int)op->k)))
    outputs = outputs_on_larger(m, &e, number + 1);
  assert(outputs);
  for (uint32_t i = 0; i < op->output_count; i++)
    add_output(m, number, &outputs[i]);
  log_merge(m, number, op, op->k, reads_it, before);
  return true;
}

// The group's cosets are parts of op's: the group is enlarged, then op joins.
static bool join_enlarged(merging *m, uint32_t number, const net_op *op) {
  group *g = &m->groups.items[number];
  net_op before = op_of_group(g);
  embedding e;
  if (!find_embedding(&before, op, &e) ||
      !embed_live(m->r, &e, g->live, live_of_op(m->r->stage, op)))
    return false;
  group saved = *g;
  rewriter_at(m->r, op);
  if (!enlarge_group(m, number, op, &e))
    return false;
  if (join_group(m, number, op, true))
    return true;
  m->groups.items[number] = saved;
  return false;
}

// Whether the group is a join, or op is one of values that do not all come from the group: then it
// is an op of its own until joins have gone (rules/join.c).
static bool stays_apart(merging *m, const net_op *op, uint32_t number) {
  const net_stage *s = m->r->stage;
  bool apart = m->r->joins_apart && (op_only_chooses(s, &m->groups.items[number].op) ||
                                     (op_only_chooses(s, op) && !chooses_within(m, op, number)));
  m->r->held_apart |= apart;
  return apart;
}

static bool try_join(merging *m, uint32_t number, const net_op *op, size_t operations,
                     bool reads_it) {
  const group *g = &m->groups.items[number];
  uint32_t k = op->k, of = g->op.k;
  if (stays_apart(m, op, number))
    return false;
  if (k == of || (k < of && reads_it))
    return is_affordable(operations, of - k, g->operations) && join_group(m, number, op, reads_it);
  return reads_it && is_affordable(g->operations, k - of, operations) &&
         join_enlarged(m, number, op);
}

// ---- one op on several parts of the index space ------------------------------------------------

static uint64_t part_hash(const net_op *op) {
  uint64_t hash = hash_word(op->k, op->output_count);
  for (uint32_t i = 0; i < op->k; i++)
    hash = hash_word(hash_word(hash, op->directions[i]), live_vector(op->coordinates[i]));
  for (uint32_t i = 0; i < op->output_count; i++)
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++)
      hash = hash_word(hash, op->outputs[i].elements[j]);
  return hash;
}

static bool is_same_op(const net_op *a, const net_op *b) {
  bool same = a->k == b->k && a->output_count == b->output_count;
  for (uint32_t i = 0; same && i < a->k; i++)
    same = a->directions[i] == b->directions[i] &&
           live_vector(a->coordinates[i]) == live_vector(b->coordinates[i]);
  for (uint32_t i = 0; same && i < a->output_count; i++)
    same = !memcmp(a->outputs[i].elements, b->outputs[i].elements, sizeof(net_id) << a->k);
  return same;
}

// Whether what became of an output of the part can be made where `live` says, too.
static bool is_makeable(const merging *m, const part *p, net_id value, f2_space live) {
  net_id instead = m->values[value].instead;
  const merged_value *by = &m->values[instead];
  if (instead != value && m->values[value].partly)
    return false;
  if (by->group == 0)
    return true;
  if (by->mixed && !live_within(live, p->live))
    return false;
  const group *g = &m->groups.items[by->group - 1];
  f2_space cosets = live_cosets(live, g->op.k, g->op.directions);
  for (uint64_t j = 0; j < UINT64_C(1) << g->op.k; j++)
    if (g->outputs.items[by->output].elements[j] == NET_NONE &&
        !live_is_empty(live_element(f2_space_sum(cosets, live), g->op.k, g->op.coordinates, j)))
      return false;
  return true;
}

static void make_on(merging *m, net_id value, f2_space live) {
  uint32_t by = m->values[m->values[value].instead].group;
  if (by == 0)
    return;
  group *g = &m->groups.items[by - 1];
  g->live = live_hull(g->live, live_cosets(live, g->op.k, g->op.directions));
  g->op.live = live_forms(m->r->memory, g->live, &g->op.live_count);
}

// An op that was met before, on another part: made on both, if that is not much more than they are.
static bool join_part(merging *m, const net_op *op) {
  enum { MOST_VAIN = 4 };  // times what is needed
  uint64_t hash = part_hash(op);
  f2_space live = live_of_op(m->r->stage, op);
  uint32_t number;
  size_t tried = 0;
  while ((number = hash_next(&m->part_table, hash, &tried)) != HASH_NONE)
    if (is_same_op(&m->parts.items[number].op, op))
      break;
  if (number == HASH_NONE) {
    hash_add(m->r->memory, &m->part_table, hash, (uint32_t)m->parts.count);
    vec_push(m->r->memory, &m->parts, ((part){*op, live, live_points(live)}));
    return false;
  }
  part *p = &m->parts.items[number];
  f2_space both = live_hull(p->live, live);
  uint64_t covered = p->covered + (live_within(live, p->live) ? 0 : live_points(live));
  bool good = live_points(both) / MOST_VAIN <= covered && !op_has_effect(m->r, op);
  for (uint32_t i = 0; i < op->output_count && good; i++)
    good = is_makeable(m, p, p->op.outputs[i].value, both);
  if (!good)
    return false;
  p->live = both;
  p->covered = covered;
  for (uint32_t i = 0; i < op->output_count; i++) {
    make_on(m, p->op.outputs[i].value, both);
    m->values[op->outputs[i].value].instead = m->values[p->op.outputs[i].value].instead;
  }
  rewriter_fired(m->r, RULE_SAME_PART, 0, 0);
  return true;
}

// ---- two ops on two parts of the index space ---------------------------------------------------

// Two ops of one span whose live sets are the halves of one are an op on both halves, which chooses:
//
//   op 0 directions 0b001 live x2           op 0 directions 0b001
//     v1[0] = min v0[0] v0[1]                 t0 = < (index x2) i64:1
//     v1[1] = max v0[0] v0[1]           ->    t1 = min v0[0] v0[1]
//   op 1 directions 0b001 live x2^1           t2 = max v0[0] v0[1]
//     v2[0] = max v0[0] v0[1]                 v1[0] = select t0 t1 t2
//     v2[1] = min v0[0] v0[1]                 v1[1] = select t0 t2 t1
//
// Only the choices are added: all that one of them computes, the other one does, too. In-place would
// make two columns of them, each of which leaves the other half as it is.

// Whether both make as many values of the same types, have no effect, and are no joins.
static bool make_alike(merging *m, const net_op *a, const net_op *b) {
  const net_stage *s = m->r->stage;
  bool alike = a->k == b->k && a->output_count == b->output_count && !op_has_effect(m->r, a) &&
               !op_has_effect(m->r, b) && !op_only_chooses(s, a) && !op_only_chooses(s, b);
  for (uint32_t i = 0; i < a->output_count && alike; i++)
    alike = s->values.items[a->outputs[i].value] == s->values.items[b->outputs[i].value];
  return alike;
}

// The halves' live sets are disjoint, and `both` is no more than they are.
static bool are_halves(f2_space a, f2_space b, f2_space both) {
  return live_is_empty(live_intersection(a, b)) && a.dimension == b.dimension &&
         both.dimension + 1 == a.dimension;
}

// Operations of the op and of other outputs on its span; common ones count once.
static size_t operations_together(merging *m, const net_op *a, const net_output *outputs) {
  net_op both = *a;
  both.outputs = NEW_ARRAY(m->r->memory, net_output, 2 * a->output_count);
  memcpy(both.outputs, a->outputs, a->output_count * sizeof *outputs);
  memcpy(both.outputs + a->output_count, outputs, a->output_count * sizeof *outputs);
  both.output_count = 2 * a->output_count;
  return rewriter_count_operations(m->r, &both);
}

// The group's output becomes a choice, and stands for that of the other half.
static void choose_output(merging *m, group *g, net_output *to, const net_output *from,
                          f2_space both) {
  merged_value *made = &m->values[to->value], *other = &m->values[from->value];
  net_domain own = net_domain_on(g->live);
  net_id *elements = NEW_ARRAY(m->r->memory, net_id, UINT64_C(1) << g->op.k);
  for (uint64_t j = 0; j < UINT64_C(1) << g->op.k; j++) {
    net_id a = to->elements[j], b = from->elements[j];
    other->partly |= b == NET_NONE;
    elements[j] = a == NET_NONE ? b : a;
    if (a != NET_NONE && b != NET_NONE)
      elements[j] = net_domain_choose(m->r->memory, m->r->stage, &g->op, j, &own, both, a, b);
  }
  to->elements = elements;
  other->instead = to->value;
  made->again = NET_NONE;
  made->mixed = true;
  made->read_by = made->read_by && other->read_by ? hash_word(made->read_by, other->read_by) : 0;
}

static bool join_halves(merging *m, uint32_t number, const net_op *op, size_t operations) {
  group *g = &m->groups.items[number];
  net_op own = op_of_group(g);
  f2_space live = live_of_op(m->r->stage, op), both = live_hull(g->live, live);
  embedding e;
  if (!make_alike(m, &own, op) || !are_halves(g->live, live, both) || !operations ||
      !g->operations || !find_embedding(op, &own, &e))
    return false;
  const net_output *outputs = try_on_larger(m, &e);
  size_t larger = operations > g->operations ? operations : g->operations;
  if (operations_together(m, &own, outputs) > larger)
    return false;
  rewriter_at(m->r, op);
  for (uint32_t i = 0; i < op->output_count; i++)
    choose_output(m, g, &g->outputs.items[i], &outputs[i], both);
  g->live = both;
  g->op.live = live_forms(m->r->memory, both, &g->op.live_count);
  own = op_of_group(g);
  g->operations = rewriter_count_operations(m->r, &own);
  rewriter_fired(m->r, RULE_TWO_PARTS, 0, 0);
  return true;
}

// ---- the walk --------------------------------------------------------------------------------

static void remember_reader(merging *m, net_id value, uint32_t group_number) {
  uint32_t *readers = m->values[value].readers;
  for (int i = 0; i < READERS; i++)
    if (readers[i] == group_number + 1)
      return;
  memmove(readers + 1, readers, (READERS - 1) * sizeof *readers);
  readers[0] = group_number + 1;
}

// The group that takes op in, 1 + its number, or 0.
static uint32_t find_group(merging *m, const net_op *op) {
  uint32_t last = 0;  // the latest that makes something op reads
  size_t operations = rewriter_count_operations(m->r, op);
  for (uint32_t i = 0; i < m->reads.count; i++)
    if (m->values[m->reads.values[i]].group > last)
      last = m->values[m->reads.values[i]].group;
  if (last > 0 && try_join(m, last - 1, op, operations, true))
    return last;
  for (int halves = 0; halves < 2; halves++)
    for (uint32_t i = 0; i < m->reads.count; i++)
      for (int k = 0; k < READERS; k++) {
        uint32_t candidate = m->values[m->reads.values[i]].readers[k];
        if (candidate > last && (halves ? join_halves(m, candidate - 1, op, operations)
                                        : try_join(m, candidate - 1, op, operations, false)))
          return candidate;
      }
  return 0;
}

static uint32_t add_group(merging *m, const net_op *op) {
  group g = {.op = *op,
             .live = live_of_op(m->r->stage, op),
             .operations = rewriter_count_operations(m->r, op)};
  uint32_t number = (uint32_t)m->groups.count;
  vec_push(m->r->memory, &m->groups, g);
  for (uint32_t i = 0; i < op->output_count; i++)
    add_output(m, number, &op->outputs[i]);
  return number + 1;
}

// Notes which outputs are written again: of ops without directions that read one load, and elements
// that are the same for all indices.
static void note_rewritten(merging *m, const net_op *op) {
  const net_stage *s = m->r->stage;
  size_t width = 0;
  uint32_t loads = 0;
  for (uint32_t i = 0; i < m->reads.count; i++) {
    if (m->values[m->reads.values[i]].group)
      return;
    const net_load *load = net_load_of(s, m->reads.values[i]);
    if (!load || !net_map_is_constant(&load->map)) {
      width = scalar_types[s->values.items[m->reads.values[i]]].size;
      loads++;
    }
  }
  if (op->k > 0 || loads != 1 || rewriter_count_operations(m->r, op) > FEW_OPERATIONS ||
      op_has_effect(m->r, op))
    return;
  for (uint32_t i = 0; i < op->output_count; i++) {
    net_id v = op->outputs[i].value;
    if (!m->values[v].read_once && scalar_types[s->values.items[v]].size >= width)
      m->values[v].again = op->outputs[i].elements[0];
  }
}

static void add_op(merging *m, const net_op *given) {
  rewriter_at(m->r, given);
  net_op op = simplified_op(m, given);
  m->reads = net_op_reads(m->r->memory, m->r->stage, &op);
  note_rewritten(m, &op);
  if (join_part(m, &op))
    return;
  uint32_t number = find_group(m, &op);
  if (number == 0)
    number = add_group(m, &op);
  for (uint32_t i = 0; i < m->reads.count; i++)
    remember_reader(m, m->reads.values[i], number - 1);
}

static void merge_loads(merging *m) {
  rewriter *r = m->r;
  net_stage *s = r->stage;
  size_t kept = 0;
  for (size_t i = 0; i < s->loads.count; i++) {
    size_t same = 0;
    while (same < kept && !net_load_equal(&s->loads.items[same], &s->loads.items[i]))
      same++;
    if (same == kept) {
      s->loads.items[kept++] = s->loads.items[i];
      continue;
    }
    m->values[s->loads.items[i].value].instead = s->loads.items[same].value;
    rewriter_fired(r, RULE_COMMON_SUBEXPRESSION, rewriter_bytes(r, s->loads.items[i].value, 0), 0);
  }
  s->loads.count = kept;
}

static void find_readers(merging *m) {
  const net_stage *s = m->r->stage;
  net_uses uses = net_uses_of(m->r->memory, s);
  m->values = NEW_ARRAY(m->r->memory, merged_value, s->values.count + 1);
  for (net_id v = 0; v < s->values.count; v++)
    m->values[v] = (merged_value){
        .instead = v, .again = NET_NONE, .read_once = uses.values[v].first == uses.values[v].last};
  for (size_t i = 0; i < s->ops.count; i++)
    for (uint32_t k = 0; k < uses.reads[i].count; k++) {
      uint64_t *read_by = &m->values[uses.reads[i].values[k]].read_by;
      *read_by = hash_word(*read_by, i + 1);
    }
  for (size_t i = 0; i < s->stores.count; i++)
    m->values[s->stores.items[i].value].read_by = 0;
}

void stage_rewrite_ops(rewriter *r) {
  net_stage *s = r->stage;
  merging m = {.r = r};
  find_readers(&m);
  r->step = NET_NONE;
  merge_loads(&m);
  for (size_t i = 0; i < s->ops.count; i++)
    add_op(&m, &s->ops.items[i]);
  s->ops.count = 0;
  for (size_t i = 0; i < m.groups.count; i++)
    if (m.groups.items[i].outputs.count > 0)
      vec_push(r->memory, &s->ops, op_of_group(&m.groups.items[i]));
  for (size_t i = 0; i < s->stores.count; i++)
    s->stores.items[i].value = m.values[s->stores.items[i].value].instead;
}
