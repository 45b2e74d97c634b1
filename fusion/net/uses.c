// Who makes and who reads the values of a stage. See net.h.
#include "core/number.h"
#include "fusion/net/net.h"

net_reads net_op_reads(arena *a, const net_stage *s, const net_op *op) {
  uint32_t nodes = net_op_nodes(s, op, s->walk), count = 0;
  for (uint32_t i = 0; i < nodes; i++) {
    const net_node *node = &s->nodes.items[s->walk[i]];
    if (node->kind == NET_ELEMENT && (!count || s->walk[count - 1] != node->value))
      s->walk[count++] = node->value;  // most ops read few values
  }
  if (count > 1)
    qsort(s->walk, count, sizeof *s->walk, compare_u32);
  net_reads reads = {0, NEW_ARRAY(a, net_id, count + 1)};
  for (uint32_t i = 0; i < count; i++)
    if (i == 0 || s->walk[i] != s->walk[i - 1])
      reads.values[reads.count++] = s->walk[i];
  return reads;
}

net_uses net_uses_of(arena *a, const net_stage *s) {
  net_uses u = {NEW_ARRAY(a, net_value_uses, s->values.count + 1),
                NEW_ARRAY(a, net_reads, s->ops.count + 1)};
  for (size_t v = 0; v < s->values.count; v++)
    u.values[v] = (net_value_uses){.maker = NET_NONE, .first = NET_NONE, .last = NET_NONE};
  for (uint32_t i = 0; i < s->ops.count; i++) {
    const net_op *op = &s->ops.items[i];
    u.reads[i] = net_op_reads(a, s, op);
    for (uint32_t k = 0; k < u.reads[i].count; k++) {
      net_value_uses *of = &u.values[u.reads[i].values[k]];
      of->first = of->first == NET_NONE ? i : of->first;
      of->last = i;
    }
    for (uint32_t o = 0; o < op->output_count; o++)
      u.values[op->outputs[o].value].maker = i, u.values[op->outputs[o].value].output = o;
  }
  for (size_t i = 0; i < s->stores.count; i++)
    u.values[s->stores.items[i].value].stored = true;
  return u;
}

const net_load *net_load_of(const net_stage *s, net_id value) {
  for (size_t i = 0; i < s->loads.count; i++)
    if (s->loads.items[i].value == value)
      return &s->loads.items[i];
  return NULL;
}

// Array k of a routine: what pairs read and write in turn, then the offsets.
static net_access access_of_routine(const net_routine *r, size_t k) {
  net_access at = {.by = NET_BY_ROUTINE, .number = k, .array = NET_NONE, .writes = k % 2};
  if (k < 2 * (size_t)r->pair_count)
    at.array = at.writes ? r->pairs[k / 2].to : r->pairs[k / 2].from;
  else if (r->ragged)
    at.array = r->offsets;
  return at;
}

bool net_access_next(const net_stage *s, net_access *at) {
  size_t nodes = s->loads.count, stores = nodes + s->nodes.count, arrays = stores + s->stores.count;
  size_t end = arrays + (s->routine ? 2 * (size_t)s->routine->pair_count + 1 : 0), i = at->next;
  at->array = NET_NONE;
  for (; i < end && at->array == NET_NONE; i++) {
    const net_node *node = i >= nodes && i < stores ? &s->nodes.items[i - nodes] : NULL;
    if (i < nodes)
      *at = (net_access){NET_BY_LOAD, i, s->loads.items[i].array, false, 0};
    else if (node && net_node_has_array(node->kind))
      *at = (net_access){NET_BY_NODE, i - nodes, (net_id)node->number,
                         net_node_scatters(node->kind), 0};
    else if (!node && i < arrays)
      *at = (net_access){NET_BY_STORE, i - stores, s->stores.items[i - stores].array, true, 0};
    else if (!node)
      *at = access_of_routine(s->routine, i - arrays);
  }
  at->next = i;
  return at->array != NET_NONE;
}

bool net_loops_are_one(const net_stage *s, uint32_t outer, uint32_t inner) {
  const net_map *m;
  for (size_t at = 0; (m = net_next_map(s, &at));)
    if (m->strides[outer] != (int64_t)((uint64_t)m->strides[inner] * s->extents[inner]))
      return false;
  return true;
}
