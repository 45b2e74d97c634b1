// Two stages become one, when an op reads values of both: zip (map f xs) (map g xs).
//
// Both have the same loops and bits, and neither reads what the other stores, since both are open.
// The second's index is renamed, x' = T x ^ c, so that its elements lie where the op needs them.
#include "fusion/lower/lowering.h"

typedef struct renaming {
  lowering *l;
  net_stage *into, *from;
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
  net_map to = net_map_copy(r->l->memory, m);
  for (uint32_t i = 0; i < to.row_count; i++)
    to.rows[i].form = renamed_form(r, to.rows[i].form);
  return to;
}

static net_form *renamed_forms(const renaming *r, uint32_t count, const net_form *forms) {
  net_form *to = NEW_ARRAY(r->l->memory, net_form, count + 1);
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
      o.value = net_value_add(r->l->memory, r->into, r->from->values.items[old]);
      vec_push(r->l->memory, &r->into->loads, o);
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
    node = net_node_renumbered(r->l->memory, &node, r->nodes);
    r->nodes[i] = net_node_add_owned(r->l->memory, r->into, &node);
  }
}

static void move_op(renaming *r, const net_op *from) {
  arena *a = r->l->memory;
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

static void move_storages(renaming *r, uint32_t into, uint32_t from) {
  for (size_t i = 0; i < r->l->storages.count; i++) {
    storage *held = &r->l->storages.items[i];
    if (held->in_memory || held->stage != from)
      continue;
    f2_affine *frame = NEW(r->l->memory, f2_affine);
    *frame = f2_affine_compose(r->change, storage_frame(r->l, held));
    held->frame = frame;
    held->stage = into;
    held->value = r->values[held->value];
  }
}

void merge_stages(lowering *l, uint32_t into, uint32_t from, f2_affine change) {
  renaming r = {.l = l,
                .into = &l->net->stages.items[into],
                .from = &l->net->stages.items[from],
                .change = change};
  bool good = f2_affine_inverse(change, &r.back);
  assert(good);
  (void)good;
  r.values = NEW_ARRAY(l->memory, net_id, r.from->values.count + 1);
  r.nodes = NEW_ARRAY(l->memory, net_id, r.from->nodes.count + 1);
  for (size_t i = 0; i < r.from->values.count; i++)
    r.values[i] = NET_NONE;
  move_loads(&r);
  for (size_t i = 0; i < r.from->values.count; i++)
    if (r.values[i] == NET_NONE)
      r.values[i] = net_value_add(l->memory, r.into, r.from->values.items[i]);
  move_nodes(&r);
  for (size_t i = 0; i < r.from->ops.count; i++)
    move_op(&r, &r.from->ops.items[i]);
  for (size_t i = 0; i < r.from->stores.count; i++) {
    net_store o = r.from->stores.items[i];
    o.value = r.values[o.value];
    o.map = renamed_map(&r, &o.map);
    o.live = renamed_forms(&r, o.live_count, o.live);
    vec_push(l->memory, &r.into->stores, o);
  }
  move_storages(&r, into, from);
  r.from->loads.count = r.from->ops.count = r.from->stores.count = 0;
  stage_close(l, from);
}
