// The proof of plan/padding.h.
#include "fusion/plan/padding.h"

// ---- ops --------------------------------------------------------------------------------------

typedef struct proof {
  const net_stage *stage;
  padding *found;
  net_known *nodes;
  net_id *list;
} proof;

// The rank of element j within its coset, in order of indices; false if that is not the same
// everywhere.
static bool rank_elements(const net_op *op, uint32_t *rank_of) {
  uint32_t order[8];
  if (op->k > 4)
    return false;
  for (uint32_t i = 0; i < op->k; i++) {
    int high = f2_msb(op->directions[i]);
    if (op->coordinates[i].mask != f2_unit(high) || op->coordinates[i].constant)
      return false;
    order[i] = 0;
    for (uint32_t j = 0; j < op->k; j++)
      order[i] += f2_msb(op->directions[j]) < high;
  }
  for (uint32_t j = 0; j < 1u << op->k; j++) {
    rank_of[j] = 0;
    for (uint32_t i = 0; i < op->k; i++)
      rank_of[j] |= (j >> i & 1) << order[i];
  }
  return true;
}

// Unknown elements are either the greatest value of their type or below it: both are tried, for the
// first few that an op reads. (Not of floats: their greatest value, NaN, has many forms.)
enum { MOST_SPLIT = 4 };
typedef struct split {
  uint32_t count;
  net_id element[MOST_SPLIT];
} split;

static bool in_padding(const proof *p, const net_node *element, const uint32_t *rank_of,
                       uint32_t first) {
  return p->found->holds[element->value] && rank_of[element->number] >= first;
}

static split find_split(const proof *p, uint32_t count, const uint32_t *rank_of, uint32_t first) {
  split all = {0};
  for (uint32_t i = 0; i < count && all.count < MOST_SPLIT; i++) {
    const net_node *node = &p->stage->nodes.items[p->list[i]];
    bool ordered_exactly = CLASS_OF(node->type) & CLASS_ORD &&
                           scalar_types[node->type].kind != KIND_FLOAT &&
                           !(node->kind == NET_ELEMENT && p->found->shadow[node->value]);
    if (node->kind == NET_ELEMENT && ordered_exactly && !in_padding(p, node, rank_of, first))
      all.element[all.count++] = p->list[i];
  }
  return all;
}

// What is known of an element that is read: the padding, or by the case (bit i: element i of the
// split is the greatest).
static net_known known_element(const proof *p, net_id id, const uint32_t *rank_of, uint32_t first,
                               const split *all, uint32_t which) {
  const net_node *node = &p->stage->nodes.items[id];
  if (in_padding(p, node, rank_of, first))
    return (net_known){.is = true, .value = p->found->values[node->value]};
  if (p->found->shadow[node->value])
    return (net_known){.is = true};
  for (uint32_t i = 0; i < all->count; i++)
    if (all->element[i] == id)
      return which >> i & 1 ? (net_known){.is = true, .value = scalar_maxval(node->type)}
                            : (net_known){.below = true};
  return (net_known){0};
}

// Whether the op's elements that are padding are constants, the same as in earlier cases
// (*known_before).
static bool outputs_hold(proof *p, const net_op *op, const uint32_t *rank_of, uint32_t first,
                         bool *known_before) {
  for (uint32_t o = 0; o < op->output_count; o++)
    for (uint32_t j = 0; j < 1u << op->k; j++) {
      net_id value = op->outputs[o].value, node = op->outputs[o].elements[j];
      if (rank_of[j] < first || node == NET_NONE)
        continue;
      net_known k = p->nodes[node];
      scalar_bits *constant = &p->found->values[value];
      size_t size = scalar_types[p->stage->values.items[value]].size;
      if (!k.is || (known_before[o] && memcmp(k.value.bytes, constant->bytes, size) != 0))
        return false;
      *constant = k.value;
      known_before[o] = true;
    }
  return true;
}

// Shadows are false where there is no padding.
static void keep_shadows(proof *p, const net_op *op, const uint32_t *rank_of, uint32_t first) {
  for (uint32_t o = 0; o < op->output_count; o++)
    for (uint32_t j = 0; j < 1u << op->k; j++) {
      const net_id node = op->outputs[o].elements[j];
      const net_known *k = node == NET_NONE ? NULL : &p->nodes[node];
      bool *shadow = &p->found->shadow[op->outputs[o].value];  // true: the value is a bool
      if (k && *shadow && rank_of[j] < first && !(k->is && !k->value.b))
        *shadow = false;
    }
}

// With the elements of rank >= first as padding.
static bool case_holds(proof *p, const net_op *op, const uint32_t *rank_of, uint32_t first,
                       bool *known_before) {
  const net_stage *s = p->stage;
  uint32_t count = net_op_nodes(s, op, p->list);
  split all = find_split(p, count, rank_of, first);
  for (uint32_t which = 0; which < 1u << all.count; which++) {
    for (uint32_t i = 0; i < count; i++) {
      const net_node *node = &s->nodes.items[p->list[i]];
      p->nodes[p->list[i]] = node->kind == NET_ELEMENT
                                 ? known_element(p, p->list[i], rank_of, first, &all, which)
                                 : net_known_of(node, net_operand_type(s, node), p->nodes);
    }
    if (!outputs_hold(p, op, rank_of, first, known_before))
      return false;
    keep_shadows(p, op, rank_of, first);
  }
  return true;
}

static bool op_holds(proof *p, const net_op *op) {
  uint32_t rank_of[16];
  bool known_before[64] = {false};
  if (op->output_count > 64 || !rank_elements(op, rank_of))
    return false;
  for (uint32_t o = 0; o < op->output_count; o++)
    p->found->shadow[op->outputs[o].value] =
        p->stage->values.items[op->outputs[o].value] == SCALAR_BOOL;
  for (uint32_t first = 0; first <= 1u << op->k; first++)
    if (!case_holds(p, op, rank_of, first, known_before))
      return false;
  return true;
}

// Whether the address of each index is the index.
static bool is_identity(const net_map *m, int n) {
  f2_affine bits;
  return net_map_bits(m, n, n, &bits) && f2_affine_equal(bits, f2_affine_identity(n));
}

static bool is_false_value(const net_stage *s, net_id value) {
  for (size_t i = 0; i < s->ops.count; i++)
    for (uint32_t o = 0; o < s->ops.items[i].output_count; o++) {
      const net_output *out = &s->ops.items[i].outputs[o];
      if (out->value != value || s->ops.items[i].k || out->elements[0] == NET_NONE)
        continue;
      const net_node *node = &s->nodes.items[out->elements[0]];
      return node->kind == NET_CONSTANT && node->type == SCALAR_BOOL && !node->constant.b;
    }
  return false;
}

// Whether all that is written to the array is false, as it is stored.
static bool is_false_array(const net *n, net_id array) {
  for (size_t i = 0; i < n->stages.count; i++) {
    const net_stage *s = &n->stages.items[i];
    for (net_access at = {0}; net_access_next(s, &at);)
      if (at.array == array && at.writes &&
          !(at.by == NET_BY_STORE && is_false_value(s, s->stores.items[at.number].value)))
        return false;
  }
  return n->arrays.items[array].role == NET_TEMPORARY;
}

// Loads: one start of padding, each load at the address x.
static bool find_padded_loads(const net *n, const net_stage *s, padding *f) {
  for (size_t i = 0; i < s->loads.count; i++) {
    const net_load *l = &s->loads.items[i];
    if (l->padding_start == UINT64_MAX)
      continue;
    if (f->start != UINT64_MAX && f->start != l->padding_start)
      return false;
    if (!is_identity(&l->map, s->n))
      return false;
    f->start = l->padding_start;
    f->holds[l->value] = true;
    f->values[l->value] = l->padding_value;
    f->shadow[l->value] = s->values.items[l->value] == SCALAR_BOOL && is_false_array(n, l->array);
  }
  return f->start != UINT64_MAX;
}

padding padding_find(arena *a, const net *n, const net_stage *s) {
  size_t values = s->values.count + 1;
  padding f = {UINT64_MAX, NEW_ARRAY(a, scalar_bits, values), NEW_ARRAY(a, bool, values),
               NEW_ARRAY(a, bool, values), NET_NONE};
  if (s->loop_count || !find_padded_loads(n, s, &f)) {
    f.start = UINT64_MAX;
    return f;
  }
  proof p = {s, &f, NEW_ARRAY(a, net_known, s->nodes.count + 1),
             NEW_ARRAY(a, net_id, s->nodes.count + 1)};
  for (uint32_t i = 0; i < s->ops.count; i++) {
    const net_op *op = &s->ops.items[i];
    bool holds = op_holds(&p, op);
    for (uint32_t o = 0; o < op->output_count; o++)
      f.holds[op->outputs[o].value] = holds, f.shadow[op->outputs[o].value] &= holds;
    if (!holds && f.first_op == NET_NONE)
      f.first_op = i;
  }
  return f;
}

bool plan_proves_padding(arena *a, const net *n, uint32_t result) {
  bool stored = false;
  for (size_t i = 0; i < n->stages.count; i++) {
    const net_stage *s = &n->stages.items[i];
    for (size_t k = 0; k < s->stores.count; k++) {
      const net_store *to = &s->stores.items[k];
      const net_array *array = &n->arrays.items[to->array];
      if (array->role != NET_RESULT || array->number != result)
        continue;
      padding f = padding_find(a, n, s);
      stored = f.start != UINT64_MAX && f.shadow[to->value] && to->padding_start <= f.start &&
               is_identity(&to->map, s->n);
      if (!stored)
        return false;
    }
  }
  return stored;
}
