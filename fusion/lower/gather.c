// Movement that depends on data: gathers and scatters. See lower.h.
//
// A gather is an expression of its place, in scalar code as any other: a node that reads an array
// in memory at an address that the op computes. So it shares an op with what makes its places and
// with what is done to its elements; its array must be complete before the op's stage begins.
//
//   gather p xs, xs of 5 rows of 3            t0 = convert u64 p; inside = t0 < 5
//     element j of row i of the result        gather a0 (select inside (p * 3 + j) -1)
//
// Where its places are sums of multiples of the axes, and inside, it is a load: xs[2 * i + j].
//
// A scatter is an op that writes into an array: the one that it changes, copied, or a new one where
// the places are as many as its elements, so that each is written. Elsewhere than where the op is
// alive, and for places outside, the address is -1: nothing is written. Of a group the elements are
// taken in the order of the stage's index. For floats, whose sums depend on it, that is theirs: they
// are read in memory, in axes that count them.
#include "fusion/lower/lowering.h"

static net_id add_convert(lowering *l, scalar_type to, net_id x) {
  net_node node = {.kind = NET_CONVERT, .type = to};
  return l->pool.nodes.items[x].type == to ? x : pool_operation(l, node, 1, &x);
}

net_id add_address(lowering *l, net_id place, uint64_t length, int64_t stride, const net_map *base,
                   bool whole) {
  net_id address = add_convert(l, SCALAR_I64, place);
  if (whole)
    return address;
  net_id inside = pool_scalar(l, OP_LT, SCALAR_BOOL, add_convert(l, SCALAR_U64, address),
                              pool_constant(l, SCALAR_U64, (int64_t)length));
  if (stride != 1)
    address = pool_scalar(l, OP_MUL, SCALAR_I64, address, pool_constant(l, SCALAR_I64, stride));
  address = pool_scalar(l, OP_ADD, SCALAR_I64, address, pool_index(l, base));
  return pool_select(l, inside, address, pool_constant(l, SCALAR_I64, -1));
}

// v does not depend on the axes that follow its own.
static void append_axes(lowering *l, lowered *v, const axes *all) {
  uint32_t have = v->axes->count;
  axes_change c = axes_replaced(v->axes, have, 0, all->count - have, all->extents + have);
  change_axes(l, v, &c);
}

// ---- gather ------------------------------------------------------------------------------------

static bool is_gatherable(lowering *l, lowered *v, const trace_step *of, gathered *g) {
  g->range = cut_axis_range(l, v, v->batch, v->batch * of->dims[0]);
  const net_node *node = &l->pool.nodes.items[v->node];
  const storage *held = node->kind == NET_ELEMENT ? &l->storages.items[node->value] : NULL;
  if (!held || !held->in_memory || held->padding_start != UINT64_MAX)
    return false;
  g->array = held->array;
  return map_plain(&node->map, v->axes, g->range.at, g->range.count, &g->stride);
}

gathered make_gatherable(lowering *l, lowered *v, const trace_step *of) {
  gathered g = {0};
  if (!is_gatherable(l, v, of, &g)) {
    make_plain(l, v, NET_REASON_PLACED);
    ensure(is_gatherable(l, v, of, &g));
  }
  return g;
}

// Whether the node is a sum of multiples of indices, and constants: an index.
static bool find_index(lowering *l, net_id id, net_map *out) {
  const net_node node = l->pool.nodes.items[id];
  net_map x, y;
  *out = node.map;
  if (node.kind == NET_INDEX)
    return true;
  if (node.type != SCALAR_I64 || (node.kind != NET_CONSTANT && node.kind != NET_SCALAR))
    return false;
  *out = (net_map){.offset = node.constant.i64};
  return node.kind == NET_CONSTANT || (find_index(l, node.operands[0], &x) &&
                                       find_index(l, node.operands[node.operand_count - 1], &y) &&
                                       net_map_apply(l->memory, node.scalar, &x, &y, out));
}

// The step's places, as an index where they are one.
static lowered lower_places(lowering *l, const trace_step *s) {
  const lowered *v = &l->values[s->operands[0]];
  net_map index;
  if (v->kind == LOWERED_PACKED && v->part_count == 1)
    v = v->parts;
  if (v->kind != LOWERED_EXPRESSION || !find_index(l, v->node, &index))
    return lower_operand(l, s, 0);
  net_map none = net_map_new(l->memory, v->axes->count, 0);
  index = net_map_sum(l->memory, &none, 1, &index);  // of all axes
  lowered r = *v;
  r.node = pool_index(l, &index);
  cut_axes(l, &r, r.batch);
  return r;
}

lowered lower_gather(lowering *l, const trace_step *s) {
  const trace_step *of = operand_step(l, s, 1);
  lowered permuted;
  if (!trace_step_count(of))
    return zeros_of_step(l, s);
  if (lower_permute(l, s, &permuted))
    return permuted;
  lowered v[] = {lower_operand(l, s, 1), lower_places(l, s)}, *from = v, *place = v + 1;
  make_gatherable(l, from, of);
  uint32_t outer = extend_to_batch(l, v, 2, s->batch).count;
  gathered g = make_gatherable(l, from, of);
  // Over the axes of the batch, of the places, and of what is in an element.
  axes_change c = axes_replaced(from->axes, outer, g.range.count, place->axes->count - outer,
                                place->axes->extents + outer);
  net_map index, base = map_changed(l->memory, &l->pool.nodes.items[from->node].map, &c);
  base = map_numbered(l->memory, &base, &c.after, 0, 0, 0);  // no constant rows
  append_axes(l, place, &c.after);
  const net_stage over = {.loop_count = c.after.count, .extents = c.after.extents};
  if (find_index(l, place->node, &index) && net_map_lies_within(&over, &index, of->dims[0])) {
    index = net_map_sum(l->memory, &base, g.stride, &index);
    return expression(l, &c.after,
                      element_node(l, l->pool.nodes.items[from->node].value, &index, 0));
  }
  bool whole = g.stride == 1 && net_map_is_constant(&base) && !base.offset &&
               l->net->arrays.items[g.array].count == of->dims[0];
  net_id address = add_address(l, place->node, of->dims[0], g.stride, &base, whole);
  net_node gather = {.kind = NET_GATHER, .type = s->type, .number = g.array};
  return expression(l, &c.after, pool_operation(l, gather, 1, &address));
}

// ---- scatter -----------------------------------------------------------------------------------

// A new array for the step's value, with the elements of its last operand, if any of them stays.
static lowered new_target(lowering *l, const trace_step *s) {
  lowered to = new_array_of_step(l, s, NET_REASON_PLACED);
  if (operand_step(l, s, 1)->dims[0] < s->dims[0] || s->op == TRACE_GROUP) {
    lowered base = lower_operand(l, s, 2);
    extend_to_batch(l, &base, 1, s->batch);
    net_map target = map_row_major(l->memory, base.axes, 0, 1);
    store_into(l, base.axes, base.node, array_of_element(l, to.node), &target);
  }
  return to;
}

// The latest op of the stage writes only where it is alive.
static void write_where_alive(lowering *l, uint32_t stage) {
  net_stage *s = stage_of(l, stage);
  net_op *op = &s->ops.items[s->ops.count - 1];
  if (!op->live_count)
    return;
  net_domain alive = net_domain_on(live_of_op(s, op));
  net_node none = {.kind = NET_CONSTANT, .type = SCALAR_I64, .constant = {.i64 = -1}};
  for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++) {
    net_node write = s->nodes.items[op->outputs[0].elements[j]];
    net_id address = net_domain_choose(l->memory, s, op, j, &alive, live_all(s->n), *write.operands,
                                       net_node_add(l->memory, s, &none));
    write.operands = (net_id[]){address, write.operands[1]};
    op->outputs[0].elements[j] = net_node_add(l->memory, s, &write);
  }
}

lowered lower_scatter(lowering *l, const trace_step *s) {
  const trace_step *list = operand_step(l, s, 0);
  lowered sorted;
  if (s->op == TRACE_SCATTER && (lower_sort(l, s, &sorted) || lower_permute(l, s, &sorted)))
    return sorted;
  lowered result = new_target(l, s);
  uint64_t row = trace_step_count(s) / s->batch, inner = row / s->dims[0], count = list->dims[0];
  if (!count)
    return result;
  lowered v[2] = {lower_operand(l, s, 0), lower_operand(l, s, 1)};
  extend_to_batch(l, v, 2, s->batch);
  for (int i = 0; i < 2 && s->op == TRACE_GROUP && scalar_types[s->type].kind >= KIND_FLOAT; i++)
    renumber_axes(l, &v[i], cut_axis_range(l, &v[i], s->batch, s->batch * count), 1, &count);
  uint32_t at[2];
  cut_axes_at_all(l, &v[1], 2, (uint64_t[]){s->batch, s->batch * count}, at);
  const axes *all = v[1].axes;
  axes places = *all;
  places.count = at[1];
  if (!axes_equal(v[0].axes, &places))
    renumber_axes(l, &v[0], (axis_range){0, v[0].axes->count}, places.count, places.extents);
  append_axes(l, &v[0], all);
  net_map base = map_numbered(l->memory, &(net_map){0}, all, 0, at[0], (int64_t)row);
  base = map_numbered(l->memory, &base, all, at[1], all->count - at[1], 1);
  net_id operands[] = {
      add_address(l, v[0].node, s->dims[0], (int64_t)inner, &base, s->batch == 1 && inner == 1),
      v[1].node};
  net_node scatter = {.kind = s->op == TRACE_GROUP ? NET_GROUP : NET_SCATTER,
                      .type = SCALAR_BOOL,
                      .scalar = s->scalar};
  scatter.number = array_of_element(l, result.node);
  net_id written = pool_operation(l, scatter, 2, operands);
  written = place(l, all, 1, &written, all->count);
  uint32_t stage = l->storages.items[l->pool.nodes.items[written].value].stage;
  write_where_alive(l, stage);
  stage_close(l, stage);
  return result;
}
