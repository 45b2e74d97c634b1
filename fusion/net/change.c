// Stages with another index or other numbers: appended to a stage, or part of one. See net.h.
#include "fusion/net/net.h"

net_change net_change_of_index(const f2_affine *new_of_old, f2_affine *back) {
  ensure(f2_affine_inverse(*new_of_old, back));
  return (net_change){.old_of_new = back, .new_of_old = &new_of_old->a};
}

static net_form form_changed(const net_change *c, net_form f) {
  if (!c->old_of_new)
    return f;
  f2_matrix a = c->old_of_new->a;
  return (net_form){f2_combine(a.rows, a.row, f.mask), net_form_at(f, c->old_of_new->c)};
}

net_map net_map_changed(arena *a, const net_change *c, const net_map *m) {
  if (!c->old_of_new)
    return *m;
  net_map to = net_map_copy(a, m);
  for (uint32_t i = 0; i < m->row_count; i++)
    to.rows[i].form = form_changed(c, m->rows[i].form);
  net_map_normalise(&to);
  return to;
}

net_form *net_forms_changed(arena *a, const net_change *c, const net_form *forms, uint32_t *count) {
  net_form *to = NEW_ARRAY(a, net_form, *count + 1);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < *count; i++) {
    net_form f = form_changed(c, forms[i]);
    uint32_t k = 0;
    while (k < kept && (to[k].mask != f.mask || to[k].constant != f.constant))
      k++;
    if (k == kept && (f.mask || f.constant))
      to[kept++] = f;
  }
  *count = kept;
  return to;
}

static net_id changed(const net_id *numbers, net_id old) {
  return numbers && old != NET_NONE ? numbers[old] : old;
}

net_node net_node_changed(arena *a, const net_change *c, const net_node *node) {
  net_node to = c->nodes ? net_node_renumbered(a, node, c->nodes) : *node;
  if (node->kind == NET_ELEMENT)
    to.value = changed(c->values, node->value);
  if (node->kind == NET_INDEX)
    to.map = net_map_changed(a, c, &node->map);
  if (net_node_has_array(node->kind))
    to.number = changed(c->arrays, (net_id)node->number);
  return to;
}

net_op net_op_changed(arena *a, const net_change *c, const net_op *op) {
  net_op to = *op;
  if (c->old_of_new) {
    to.directions = NEW_ARRAY(a, uint64_t, op->k + 1);
    to.coordinates = NEW_ARRAY(a, net_form, op->k + 1);
    for (uint32_t i = 0; i < op->k; i++) {
      to.directions[i] = f2_apply(*c->new_of_old, op->directions[i]);
      to.coordinates[i] = form_changed(c, op->coordinates[i]);
    }
    to.live = net_forms_changed(a, c, op->live, &to.live_count);
  }
  to.outputs = NEW_ARRAY(a, net_output, op->output_count + 1);
  for (uint32_t i = 0; i < op->output_count; i++) {
    to.outputs[i].value = changed(c->values, op->outputs[i].value);
    to.outputs[i].elements = NEW_ARRAY(a, net_id, UINT64_C(1) << op->k);
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++)
      to.outputs[i].elements[j] = changed(c->nodes, op->outputs[i].elements[j]);
  }
  return to;
}

net_store net_store_changed(arena *a, const net_change *c, const net_store *store) {
  net_store to = *store;
  to.value = changed(c->values, store->value);
  to.array = changed(c->arrays, store->array);
  to.map = net_map_changed(a, c, &store->map);
  if (c->old_of_new)
    to.live = net_forms_changed(a, c, store->live, &to.live_count);
  return to;
}

net_routine *net_routine_changed(arena *a, const net_change *c, const net_routine *r) {
  net_routine *to = NEW(a, net_routine);
  *to = *r;
  to->pairs = NEW_ARRAY(a, net_routine_pair, r->pair_count + 1);
  for (uint32_t i = 0; i < r->pair_count; i++)
    to->pairs[i] = (net_routine_pair){changed(c->arrays, r->pairs[i].from),
                                      changed(c->arrays, r->pairs[i].to)};
  if (r->ragged)
    to->offsets = changed(c->arrays, r->offsets);
  return to;
}

// ---- appending -------------------------------------------------------------------------------

net_stage net_stage_like(const net_stage *s) {
  return (net_stage){.loop_count = s->loop_count,
                     .extents = s->extents,
                     .paces = s->paces,
                     .n = s->n,
                     .shares = s->shares,
                     .share_turns = s->share_turns,
                     .share_outer = s->share_outer};
}

net_id net_value_number(arena *a, net_stage *into, const net_stage *from, net_id *numbers,
                        net_id value) {
  if (numbers[value] == NET_NONE)
    numbers[value] = net_value_add(a, into, from->values.items[value]);
  return numbers[value];
}

// The nodes keep their order, which that of the operands of min and max follows. Nodes that none of
// the ops has are left out.
static void append_ops(arena *a, net_stage *into, const net_stage *from, const uint32_t *ops,
                       size_t count, const net_change *c, net_id *values, net_id *nodes) {
  const net_id *found = from->walk;
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    const net_op *op = &from->ops.items[ops ? ops[i] : i];
    for (uint32_t k = 0, reached = net_op_nodes(from, op, from->walk); k < reached; k++) {
      const net_node *node = &from->nodes.items[found[k]];
      kept += nodes[found[k]] == NET_NONE;
      nodes[found[k]] = found[k];  // it is needed: its new number comes below
      if (node->kind == NET_ELEMENT)
        net_value_number(a, into, from, values, node->value);
    }
    for (uint32_t k = 0; k < op->output_count; k++)
      net_value_number(a, into, from, values, op->outputs[k].value);
  }
  if (!into->node_room)
    net_nodes_reserve(a, into, kept);
  for (size_t id = 0; id < from->nodes.count; id++) {
    if (nodes[id] == NET_NONE)
      continue;
    net_node node = net_node_changed(a, c, &from->nodes.items[id]);
    nodes[id] = net_node_add_owned(a, into, &node);
  }
  for (size_t i = 0; i < count; i++)
    vec_push(a, &into->ops, net_op_changed(a, c, &from->ops.items[ops ? ops[i] : i]));
}

static net_id *no_numbers(arena *a, size_t count) {
  net_id *numbers = NEW_ARRAY(a, net_id, count + 1);
  memset(numbers, 0xff, (count + 1) * sizeof *numbers);
  return numbers;
}

net_id *net_stage_append(arena *a, net_stage *into, const net_stage *from, net_change change) {
  net_id *values = no_numbers(a, from->values.count), *nodes = no_numbers(a, from->nodes.count);
  change.values = values;
  change.nodes = nodes;
  if (from->routine)
    into->routine = net_routine_changed(a, &change, from->routine);
  for (size_t i = 0; i < from->loads.count; i++) {
    net_load load = from->loads.items[i];
    load.array = changed(change.arrays, load.array);
    load.map = net_map_changed(a, &change, &load.map);
    values[load.value] = net_load_add(a, into, from->values.items[load.value], load);
  }
  append_ops(a, into, from, NULL, from->ops.count, &change, values, nodes);
  for (size_t i = 0; i < from->stores.count; i++)
    vec_push(a, &into->stores, net_store_changed(a, &change, &from->stores.items[i]));
  return values;
}

net_stage net_stage_on(arena *a, const net_stage *s, const net_id *arrays) {
  const net_change c = {.arrays = arrays};
  net_stage own = *s;
  own.loads.items = NEW_ARRAY(a, net_load, s->loads.count + 1);
  own.stores.items = NEW_ARRAY(a, net_store, s->stores.count + 1);
  for (size_t i = 0; i < s->loads.count; i++) {
    own.loads.items[i] = s->loads.items[i];
    own.loads.items[i].array = arrays[s->loads.items[i].array];
  }
  for (size_t i = 0; i < s->stores.count; i++)
    own.stores.items[i] = net_store_changed(a, &c, &s->stores.items[i]);
  if (s->routine)
    own.routine = net_routine_changed(a, &c, s->routine);
  if (!net_stage_has(s, NET_GATHER) && !net_stage_scatters(s))
    return own;
  own.nodes.items = NEW_ARRAY(a, net_node, s->nodes.count + 1);
  for (size_t i = 0; i < s->nodes.count; i++)
    own.nodes.items[i] = net_node_changed(a, &c, &s->nodes.items[i]);
  return own;
}

net_stage net_stage_changed(arena *a, const net_stage *s, net_change change) {
  net_stage to = net_stage_like(s);
  net_stage_append(a, &to, s, change);
  return to;
}

net_id *net_stage_merge(arena *a, net_stage *into, const net_stage *from, f2_affine change) {
  f2_affine back;
  return net_stage_append(a, into, from, net_change_of_index(&change, &back));
}

// ---- parts -----------------------------------------------------------------------------------

// An element that nobody reads is what another is.
static void fill_output(net_output *output, uint64_t count) {
  net_id some = NET_NONE;
  for (uint64_t j = 0; j < count && some == NET_NONE; j++)
    some = output->elements[j];
  for (uint64_t j = 0; j < count; j++)
    if (output->elements[j] == NET_NONE)
      output->elements[j] = some;
}

net_stage net_stage_of_ops(arena *a, const net_stage *from, const uint32_t *ops, uint32_t count,
                           const bool *kept, net_id *numbers) {
  net_stage to = {
      .loop_count = from->loop_count, .extents = from->extents, .paces = from->paces, .n = from->n};
  net_id *nodes = no_numbers(a, from->nodes.count);
  net_change c = {.values = numbers, .nodes = nodes};
  memset(numbers, 0xff, from->values.count * sizeof *numbers);
  append_ops(a, &to, from, ops, count, &c, numbers, nodes);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t o = 0; o < to.ops.items[i].output_count; o++)
      if (kept[from->ops.items[ops[i]].outputs[o].value])
        fill_output(&to.ops.items[i].outputs[o], UINT64_C(1) << to.ops.items[i].k);
  return to;
}
