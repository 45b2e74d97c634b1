// The Net in shares while it is being made: its stages and arrays. See sharing.h.
#include "fusion/shares/sharing.h"

void sharing_add_stage(sharing *s, share_stage as, net_stage stage) {
  vec_push(s->memory, &s->to->stages, stage);
  vec_push(s->memory, &s->kinds, as);
}

net_stage sharing_copying_stage(sharing *s, net_id from, net_id to) {
  net_stage stage = {.loop_count = 1, .extents = NEW_ARRAY(s->memory, uint64_t, 1)};
  stage.extents[0] = s->to->arrays.items[from].count;
  net_map map = net_stage_map(s->memory, &stage, f2_affine_identity(0));
  net_id v = net_value_add(s->memory, &stage, s->to->arrays.items[from].type);
  net_load load = {.value = v, .array = from, .map = map, .padding_start = UINT64_MAX};
  net_store store = {.value = v, .array = to, .map = map, .padding_start = UINT64_MAX};
  vec_push(s->memory, &stage.loads, load);
  vec_push(s->memory, &stage.stores, store);
  return stage;
}

net_id sharing_add_array(sharing *s, scalar_type type, uint64_t count, uint64_t slab) {
  net_id id = net_array_add(s->memory, s->to, type, count, NET_TEMPORARY, 0);
  s->to->arrays.items[id].reason = NET_REASON_SHARES;
  vec_push(s->memory, &s->slab, slab);
  vec_push(s->memory, &s->whole, NET_NONE);
  vec_push(s->memory, &s->window, NULL);
  vec_push(s->memory, &s->fixed, true);
  return id;
}

net_id sharing_whole_array(sharing *s, net_id array) {
  if (!s->slab.items[array])
    return array;
  if (s->whole.items[array] == NET_NONE) {
    const net_array *of = &s->to->arrays.items[array];
    net_id copy = sharing_add_array(s, of->type, of->count, 0);
    s->whole.items[array] = copy;
    net_stage stage = sharing_copying_stage(s, array, copy);
    stage.share_turns = s->slab.items[array];  // each share copies its slab to all
    sharing_add_stage(s, (share_stage){.kind = SHARE_GATHER, .from = array, .to = copy}, stage);
  }
  return s->whole.items[array];
}

// An output whose nodes have these numbers. Of a value that is kept no element is dead: one that
// nobody reads is what another is.
static net_output output_of_nodes(arena *a, const net_output *of, size_t count, const net_id *nodes,
                                  bool kept) {
  net_output o = {.elements = NEW_ARRAY(a, net_id, count)};
  net_id some = NET_NONE;
  for (size_t j = 0; j < count && some == NET_NONE; j++)
    some = of->elements[j];
  for (size_t j = 0; j < count; j++) {
    net_id node = of->elements[j] == NET_NONE && kept ? some : of->elements[j];
    o.elements[j] = node == NET_NONE ? NET_NONE : nodes[node];
  }
  return o;
}

static void add_nodes_of_op(arena *a, net_stage *to, const net_stage *from, const net_op *op,
                            const net_id *values, net_id *nodes, net_id *found) {
  for (uint32_t r = net_op_nodes(from, op, found), j = 0; j < r; j++) {
    if (nodes[found[j]] != NET_NONE)
      continue;
    net_node node = from->nodes.items[found[j]];
    if (node.kind == NET_ELEMENT)
      node.value = values[node.value];
    node = net_node_renumbered(a, &node, nodes);
    nodes[found[j]] = net_node_add_owned(a, to, &node);
  }
}

net_stage sharing_stage_of_ops(arena *a, const net_stage *from, const uint32_t *ops, uint32_t count,
                               const bool *kept, net_id *numbers) {
  net_stage to = {
      .loop_count = from->loop_count, .extents = from->extents, .paces = from->paces, .n = from->n};
  net_id *nodes = NEW_ARRAY(a, net_id, from->nodes.count + 1);
  net_id *found = NEW_ARRAY(a, net_id, from->nodes.count + from->values.count + 1);
  for (net_id v = 0; v < from->values.count; v++)
    numbers[v] = NET_NONE;
  for (size_t i = 0; i < from->nodes.count; i++)
    nodes[i] = NET_NONE;
  for (uint32_t i = 0; i < count; i++) {
    const net_op *of = &from->ops.items[ops[i]];
    net_op op = *of;
    for (uint32_t r = net_op_reads(from, of, found), j = 0; j < r; j++)
      if (numbers[found[j]] == NET_NONE)
        numbers[found[j]] = net_value_add(a, &to, from->values.items[found[j]]);
    add_nodes_of_op(a, &to, from, of, numbers, nodes, found);
    op.outputs = NEW_ARRAY(a, net_output, op.output_count + 1);
    for (uint32_t o = 0; o < op.output_count; o++) {
      net_id v = of->outputs[o].value;
      numbers[v] = net_value_add(a, &to, from->values.items[v]);
      op.outputs[o] = output_of_nodes(a, &of->outputs[o], (size_t)1 << op.k, nodes, kept[v]);
      op.outputs[o].value = numbers[v];
    }
    vec_push(a, &to.ops, op);
  }
  return to;
}
