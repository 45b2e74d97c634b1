// Stages that do the same on other arrays, whichever steps they are of. See net.h.
#include "fusion/net/net.h"

typedef struct pairing {
  arena *memory;
  const net *net;
  net_pairs *pairs;
} pairing;

// Whether the one array may stand for the other, wherever it does.
static bool pair_arrays(pairing *p, net_id x, net_id y) {
  if (x == NET_NONE || y == NET_NONE)
    return x == y;
  for (size_t i = 0; i < p->pairs->count; i++) {
    net_pair known = p->pairs->items[i];
    if (known.of == x || known.with == y)
      return known.of == x && known.with == y;
  }
  const net_array *a = &p->net->arrays.items[x], *b = &p->net->arrays.items[y];
  vec_push(p->memory, p->pairs, ((net_pair){x, y}));
  return a->type == b->type && a->count == b->count &&
         net_array_has_bytes(a) == net_array_has_bytes(b);
}

static bool are_numbers_equal(size_t count, const void *x, const void *y, size_t size) {
  return !count || !memcmp(x, y, count * size);
}

static bool are_loads_alike(pairing *p, const net_stage *s, const net_load *x, const net_load *y) {
  net_load own = *y;
  own.array = x->array;
  // What is proven of padded bools depends on who writes them (plan/padding.h).
  bool padded = x->padding_start != UINT64_MAX && s->values.items[x->value] == SCALAR_BOOL;
  return x->value == y->value && !padded && net_load_equal(x, &own) &&
         pair_arrays(p, x->array, y->array);
}

static bool are_nodes_alike(pairing *p, const net_node *x, const net_node *y) {
  net_node own = *y;
  if (!net_node_has_array(x->kind))
    return net_node_equal(x, y);
  own.number = x->number;
  return net_node_equal(x, &own) && pair_arrays(p, (net_id)x->number, (net_id)y->number);
}

static bool are_ops_equal(const net_op *x, const net_op *y) {
  bool equal = x->k == y->k && x->output_count == y->output_count &&
               are_numbers_equal(x->k, x->directions, y->directions, sizeof *x->directions) &&
               net_forms_equal(x->k, x->coordinates, y->k, y->coordinates) &&
               net_forms_equal(x->live_count, x->live, y->live_count, y->live);
  for (uint32_t i = 0; i < x->output_count && equal; i++)
    equal = x->outputs[i].value == y->outputs[i].value &&
            are_numbers_equal((size_t)1 << x->k, x->outputs[i].elements, y->outputs[i].elements,
                              sizeof(net_id));
  return equal;
}

static bool are_routines_alike(pairing *p, const net_routine *x, const net_routine *y) {
  if (!x || !y)
    return x == y;
  bool alike =
      x->kind == y->kind && x->descending == y->descending && x->distinct == y->distinct &&
      x->back == y->back && x->counts == y->counts && x->shared == y->shared &&
      x->ragged == y->ragged && x->rows == y->rows && x->length == y->length &&
      x->limit == y->limit && x->pair_count == y->pair_count &&
      x->dimension_count == y->dimension_count &&
      are_numbers_equal(x->dimension_count, x->dimensions, y->dimensions, sizeof *x->dimensions) &&
      (!x->ragged || pair_arrays(p, x->offsets, y->offsets));
  for (uint32_t i = 0; i < x->pair_count && alike; i++)
    alike = pair_arrays(p, x->pairs[i].from, y->pairs[i].from) &&
            pair_arrays(p, x->pairs[i].to, y->pairs[i].to);
  return alike;
}

static bool have_one_space(const net_stage *x, const net_stage *y) {
  return x->n == y->n && x->loop_count == y->loop_count && !x->paces == !y->paces &&
         x->shares == y->shares && x->share_turns == y->share_turns &&
         x->share_outer == y->share_outer &&
         are_numbers_equal(x->loop_count, x->extents, y->extents, sizeof *x->extents) &&
         (!x->paces || are_numbers_equal(x->loop_count, x->paces, y->paces, sizeof *x->paces));
}

bool net_stages_are_alike(arena *a, const net *n, const net_stage *x, const net_stage *y,
                          net_pairs *pairs) {
  pairing p = {a, n, pairs};
  pairs->count = 0;
  if (!have_one_space(x, y) || x->values.count != y->values.count ||
      x->nodes.count != y->nodes.count || x->loads.count != y->loads.count ||
      x->ops.count != y->ops.count || x->stores.count != y->stores.count)
    return false;
  bool alike = are_numbers_equal(x->values.count, x->values.items, y->values.items,
                                 sizeof *x->values.items) &&
               are_routines_alike(&p, x->routine, y->routine);
  for (size_t i = 0; i < x->loads.count && alike; i++)
    alike = are_loads_alike(&p, x, &x->loads.items[i], &y->loads.items[i]);
  for (size_t i = 0; i < x->nodes.count && alike; i++)
    alike = are_nodes_alike(&p, &x->nodes.items[i], &y->nodes.items[i]);
  for (size_t i = 0; i < x->ops.count && alike; i++)
    alike = are_ops_equal(&x->ops.items[i], &y->ops.items[i]);
  for (size_t i = 0; i < x->stores.count && alike; i++)
    alike = net_store_equal(&x->stores.items[i], &y->stores.items[i]) &&
            pair_arrays(&p, x->stores.items[i].array, y->stores.items[i].array);
  return alike;
}
