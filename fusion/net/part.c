// Some ops of a stage as another one. See net.h.
#include "fusion/net/net.h"

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

net_stage net_stage_of_ops(arena *a, const net_stage *from, const uint32_t *ops, uint32_t count,
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
