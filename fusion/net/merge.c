// Two stages as one. Both have the same loops and bits. The second's index is renamed, x' = T x ^
// c, and what both load is loaded once.
#include "fusion/net/net.h"

typedef struct renaming {
  arena *memory;
  net_stage *into;
  const net_stage *from;
  f2_affine change, back;  // new x of old x, old x of new x
  net_id *values, *nodes;  // by number in `from`: the number in `into`
} renaming;

// mask . x_old, as a form of the new x.
static net_form renamed_form(const renaming *r, net_form f) {
  net_form to = {0, f.constant};
  for (uint64_t rest = f.mask; rest; rest &= rest - 1) {
    to.mask ^= r->back.a.row[f2_lsb(rest)];
    to.constant ^= f2_bit(r->back.c, f2_lsb(rest));
  }
  return to;
}

static net_map renamed_map(const renaming *r, const net_map *m) {
  net_map to = net_map_copy(r->memory, m);
  for (uint32_t i = 0; i < to.row_count; i++)
    to.rows[i].form = renamed_form(r, to.rows[i].form);
  return to;
}

static net_form *renamed_forms(const renaming *r, uint32_t count, const net_form *forms) {
  net_form *to = NEW_ARRAY(r->memory, net_form, count + 1);
  for (uint32_t i = 0; i < count; i++)
    to[i] = renamed_form(r, forms[i]);
  return to;
}

static void move_loads(renaming *r) {
  for (size_t i = 0; i < r->from->loads.count; i++) {
    net_load o = r->from->loads.items[i];
    net_id old = o.value;
    o.map = renamed_map(r, &o.map);
    o.value = NET_NONE;
    for (size_t k = 0; k < r->into->loads.count; k++)
      if (net_load_equal(&r->into->loads.items[k], &o))
        o.value = r->into->loads.items[k].value;
    if (o.value == NET_NONE) {
      o.value = net_value_add(r->memory, r->into, r->from->values.items[old]);
      vec_push(r->memory, &r->into->loads, o);
    }
    r->values[old] = o.value;
  }
}

static void move_nodes(renaming *r) {
  for (size_t i = 0; i < r->from->nodes.count; i++) {
    net_node node = r->from->nodes.items[i];
    if (node.kind == NET_ELEMENT)
      node.value = r->values[node.value];
    if (node.kind == NET_INDEX)
      node.map = renamed_map(r, &node.map);
    node = net_node_renumbered(r->memory, &node, r->nodes);
    r->nodes[i] = net_node_add_owned(r->memory, r->into, &node);
  }
}

static void move_op(renaming *r, const net_op *from) {
  arena *a = r->memory;
  net_op op = *from;
  op.directions = NEW_ARRAY(a, uint64_t, op.k + 1);
  for (uint32_t i = 0; i < op.k; i++)
    op.directions[i] = f2_apply(r->change.a, from->directions[i]);
  op.coordinates = renamed_forms(r, op.k, from->coordinates);
  op.live = renamed_forms(r, op.live_count, from->live);
  op.outputs = NEW_ARRAY(a, net_output, op.output_count + 1);
  for (uint32_t i = 0; i < op.output_count; i++) {
    size_t count = (size_t)1 << op.k;
    op.outputs[i].value = r->values[from->outputs[i].value];
    op.outputs[i].elements = NEW_ARRAY(a, net_id, count);
    for (size_t j = 0; j < count; j++) {
      net_id node = from->outputs[i].elements[j];
      op.outputs[i].elements[j] = node == NET_NONE ? NET_NONE : r->nodes[node];
    }
  }
  vec_push(a, &r->into->ops, op);
}

static void move_stores(renaming *r) {
  for (size_t i = 0; i < r->from->stores.count; i++) {
    net_store o = r->from->stores.items[i];
    o.value = r->values[o.value];
    o.map = renamed_map(r, &o.map);
    o.live = renamed_forms(r, o.live_count, o.live);
    vec_push(r->memory, &r->into->stores, o);
  }
}

net_id *net_stage_merge(arena *a, net_stage *into, const net_stage *from, f2_affine change) {
  renaming r = {.memory = a, .into = into, .from = from, .change = change};
  bool good = f2_affine_inverse(change, &r.back);
  assert(good);
  (void)good;
  r.values = NEW_ARRAY(a, net_id, from->values.count + 1);
  r.nodes = NEW_ARRAY(a, net_id, from->nodes.count + 1);
  for (size_t i = 0; i < from->values.count; i++)
    r.values[i] = NET_NONE;
  move_loads(&r);
  for (size_t i = 0; i < from->values.count; i++)
    if (r.values[i] == NET_NONE)
      r.values[i] = net_value_add(a, into, from->values.items[i]);
  move_nodes(&r);
  for (size_t i = 0; i < from->ops.count; i++)
    move_op(&r, &from->ops.items[i]);
  move_stores(&r);
  return r.values;
}
