// The rule `real-pairs`, of arrays: where all that reads or writes an array of reals does so by
// complex numbers, each of two neighbours, it is an array of half as many complex numbers.
//
//   array a0 f32 8 argument 0                     array a0 c64 4 argument 0
//   v0 = load a0 at x0 + 2*x1 + 4*x2              v0 = load a0 at x1 + 2*x2
//   op 0 directions 0b001 coordinates x0    ->    op 0 directions 0b001 coordinates x0
//     v1[0] = complex v0[0] v0[1]                   v1[0] = v0[0]
//
// and the same of v1[0] = re v0[0], v1[1] = im v0[0] that are stored. The direction then goes by
// other rules.
#include "fusion/rules/rewriting.h"

typedef struct pairing {
  rewriter *r;
  net_uses uses;    // of the stage
  net_id values;    // of the stage, before there were numbers for pairs
  bool *apart;      // by array: it stays one of reals
  bool *paired;     // by array: something of it is a pair
  net_load *loads;  // of the stage as it was, by value; array NET_NONE: no load
} pairing;

// Half the map, if it is even everywhere, and the other one is 1 more.
static bool half_of_even(arena *a, const net_map *even, const net_map *odd, net_map *half) {
  net_map step = net_map_sum(a, odd, -1, even);
  bool good = net_map_is_constant(&step) && step.offset == 1 && even->offset % 2 == 0;
  *half = net_map_copy(a, even);
  half->offset /= 2;
  for (uint32_t i = 0; i < even->loop_count; i++) {
    good = good && even->strides[i] % 2 == 0;
    half->strides[i] /= 2;
  }
  for (uint32_t i = 0; i < even->row_count; i++) {
    good = good && even->rows[i].weight % 2 == 0;
    half->rows[i].weight /= 2;
  }
  return good && net_map_normalise(half);
}

// ---- loads -------------------------------------------------------------------------------------

static const net_load *load_of(const pairing *p, const net_node *node) {
  const net_load *l = node->kind == NET_ELEMENT ? &p->loads[node->value] : NULL;
  return l && l->array != NET_NONE ? l : NULL;
}

// Whether the node is a complex number that lies in memory; at *half, as one.
static bool is_loaded_pair(const pairing *p, const net_op *op, const net_node *node,
                           net_map *half) {
  net_map at[2];
  const net_load *load[2];
  if (node->kind != NET_SCALAR || node->scalar != OP_COMPLEX)
    return false;
  for (uint32_t i = 0; i < 2; i++) {
    const net_node *part = operand(p->r, node, i);
    if (!(load[i] = load_of(p, part)) || load[i]->padding_start != UINT64_MAX)
      return false;
    at[i] = net_map_at_element(p->r->memory, &load[i]->map, op->k, op->directions, op->coordinates,
                               part->number);
  }
  return load[0]->array == load[1]->array && half_of_even(p->r->memory, &at[0], &at[1], half);
}

// Arrays of which the op reads something else stay apart.
static void find_reads_apart(pairing *p, const net_op *op) {
  const net_load *l;
  net_map half;
  for (uint32_t i = rewriter_walk(p->r, op); i-- > 0;) {
    const net_node *node = node_at(p->r, p->r->nodes[i]);
    if (is_loaded_pair(p, op, node, &half))
      continue;
    for (uint32_t k = 0; k < node->operand_count; k++)
      if ((l = load_of(p, operand(p->r, node, k))))
        p->apart[l->array] = true;
  }
  for (uint32_t i = 0; i < op->output_count; i++)
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++) {
      net_id id = op->outputs[i].elements[j];
      if (id != NET_NONE && (l = load_of(p, node_at(p->r, id))))
        p->apart[l->array] = true;
    }
}

static void load_pairs(pairing *p, net_op *op) {
  rewriter *r = p->r;
  uint32_t count = rewriter_walk(r, op);
  for (uint32_t i = 0; i < count; i++) {
    net_node node = net_node_renumbered(r->memory, node_at(r, r->nodes[i]), r->memo);
    const net_node *old = node_at(r, r->nodes[i]);
    net_map half;
    if (is_loaded_pair(p, op, old, &half) && !p->apart[load_of(p, operand(r, old, 0))->array]) {
      net_load load = *load_of(p, operand(r, old, 0));
      load.map = half;
      node =
          (net_node){.kind = NET_ELEMENT, .type = old->type, .number = operand(r, old, 0)->number};
      node.value = net_load_add(r->memory, r->stage, old->type, load);
      p->paired[load.array] = true;
      rewriter_fired(r, RULE_REAL_PAIRS, 0, 0);
    }
    r->memo[r->nodes[i]] = net_node_add(r->memory, r->stage, &node);
  }
  *op = rewriter_take_memo(r, op, count);
}

// ---- stores ------------------------------------------------------------------------------------

// Complex numbers that are stored as reals: by one store in a direction of the op, or by two.
typedef struct stored_pair {
  const net_op *op;
  net_output *output;  // the real parts
  net_store *other;    // of the imaginary ones; NULL: the same
  net_id *whole;       // by element: the number
  net_map half;
  net_form live;  // where it is 0; of one store
} stored_pair;

static net_id part_of(const rewriter *r, net_id id, scalar_op part) {
  const net_node *node = id == NET_NONE ? NULL : node_at(r, id);
  return node && node->kind == NET_SCALAR && node->scalar == part ? node->operands[0] : NET_NONE;
}

// Whether the output's elements j are real parts, where j has `first` of `bit`, and the other one's
// elements j ^ turn their imaginary parts.
static bool are_parts(const rewriter *r, stored_pair *f, const net_output *other, uint64_t turn,
                      uint64_t bit, uint64_t first) {
  for (uint64_t j = 0; j < UINT64_C(1) << f->op->k; j++) {
    f->whole[j] = NET_NONE;
    if ((j & bit) != first)
      continue;
    f->whole[j] = part_of(r, f->output->elements[j], OP_RE);
    if (f->whole[j] == NET_NONE || part_of(r, other->elements[j ^ turn], OP_IM) != f->whole[j])
      return false;
  }
  return true;
}

// By one store, in direction i of the op.
static bool is_pair_in_direction(const rewriter *r, const net_store *store, uint32_t i,
                                 stored_pair *f) {
  const net_op *op = f->op;
  for (uint32_t k = 0; k < store->live_count; k++)
    if (f2_dot(store->live[k].mask, op->directions[i]))
      return false;
  for (uint64_t first = 0; first < 2; first++) {
    net_map at[2];
    for (uint64_t b = 0; b < 2; b++)
      at[b] = net_map_at_element(r->memory, &store->map, 1, &op->directions[i], &op->coordinates[i],
                                 first ^ b);
    f->live = net_form_sum(op->coordinates[i], (net_form){0, first});
    uint64_t bit = f2_unit((int)i);
    if (half_of_even(r->memory, &at[0], &at[1], &f->half) &&
        are_parts(r, f, f->output, bit, bit, first << i))
      return true;
  }
  return false;
}

// The output that is stored there and nowhere else, and nobody reads; or NULL.
static net_output *output_of(const pairing *p, const net_store *store) {
  const net_stage *s = p->r->stage;
  const net_value_uses *u = &p->uses.values[store->value];
  uint32_t stores = 0;
  for (size_t i = 0; i < s->stores.count; i++)
    stores += s->stores.items[i].value == store->value;
  if (u->maker == NET_NONE || u->first != NET_NONE || stores != 1 ||
      store->padding_start != UINT64_MAX)
    return NULL;
  net_output *of = s->ops.items[u->maker].outputs;
  while (of->value != store->value)
    of++;
  return of;
}

static bool find_stored_pair(const pairing *p, const net_store *store, stored_pair *f) {
  net_stage *s = p->r->stage;
  uint32_t maker = p->uses.values[store->value].maker;
  *f = (stored_pair){.output = output_of(p, store)};
  if (!f->output)
    return false;
  if (part_of(p->r, f->output->elements[0], OP_RE) == NET_NONE &&
      part_of(p->r, f->output->elements[0], OP_IM) == NET_NONE)
    return false;
  f->op = &s->ops.items[maker];
  f->whole = NEW_ARRAY(p->r->memory, net_id, UINT64_C(1) << f->op->k);
  for (uint32_t i = 0; i < f->op->k; i++)
    if (is_pair_in_direction(p->r, store, i, f))
      return true;
  for (size_t i = 0; i < s->stores.count; i++) {
    f->other = &s->stores.items[i];
    if (f->other != store && f->other->array == store->array && f->other->value < p->values &&
        p->uses.values[f->other->value].maker == maker && output_of(p, f->other) &&
        net_forms_equal(store->live_count, store->live, f->other->live_count, f->other->live) &&
        half_of_even(p->r->memory, &store->map, &f->other->map, &f->half) &&
        are_parts(p->r, f, output_of(p, f->other), 0, 0, 0))
      return true;
  }
  return false;
}

// Whether it is the one or the other of two such stores, or all of one.
static bool is_of_pair(const pairing *p, const net_store *store) {
  stored_pair f;
  if (find_stored_pair(p, store, &f))
    return true;
  const net_stage *s = p->r->stage;
  for (size_t i = 0; i < s->stores.count; i++)
    if (s->stores.items[i].array == store->array && find_stored_pair(p, &s->stores.items[i], &f) &&
        f.other == store)
      return true;
  return false;
}

// A store of the numbers. The other one becomes that of no value.
static void store_pair(pairing *p, net_store *store) {
  net_stage *s = p->r->stage;
  stored_pair f;
  if (store->value >= p->values || !find_stored_pair(p, store, &f))
    return;
  if (f.other) {
    f.other->value = NET_NONE;
  } else {
    net_form *forms = NEW_ARRAY(p->r->memory, net_form, store->live_count + 1);
    for (uint32_t k = 0; k < store->live_count; k++)
      forms[k] = store->live[k];
    forms[store->live_count] = f.live;
    store->live =
        live_forms(p->r->memory, live_set(s->n, store->live_count + 1, forms), &store->live_count);
  }
  store->map = f.half;
  store->value = f.output->value =
      net_value_add(p->r->memory, s, scalar_complex_of(s->values.items[store->value]));
  f.output->elements = f.whole;
  p->paired[store->array] = true;
  rewriter_fired(p->r, RULE_REAL_PAIRS, 0, 0);
}

// ---- stages ------------------------------------------------------------------------------------

static void begin_stage(pairing *p) {
  net_stage *s = p->r->stage;
  p->uses = net_uses_of(p->r->memory, s);
  p->values = (net_id)s->values.count;
  p->loads = NEW_ARRAY(p->r->memory, net_load, s->values.count + 1);
  for (net_id v = 0; v < s->values.count; v++)
    p->loads[v].array = NET_NONE;
  for (size_t i = 0; i < s->loads.count; i++)
    p->loads[s->loads.items[i].value] = s->loads.items[i];
}

static void find_apart(pairing *p) {
  net_stage *s = p->r->stage;
  begin_stage(p);
  for (net_access at = {0}; net_access_next(s, &at);)
    if (at.by == NET_BY_NODE || at.by == NET_BY_ROUTINE ||
        (at.by == NET_BY_STORE && !p->apart[at.array] &&
         !is_of_pair(p, &s->stores.items[at.number])) ||
        (at.by == NET_BY_LOAD && p->uses.values[s->loads.items[at.number].value].stored))
      p->apart[at.array] = true;
  for (size_t i = 0; i < s->ops.count; i++)
    find_reads_apart(p, &s->ops.items[i]);
}

static void pair_stage(pairing *p) {
  net_stage *s = p->r->stage;
  size_t kept = 0;
  begin_stage(p);
  for (size_t i = 0; i < s->loads.count; i++)
    if (p->apart[s->loads.items[i].array])
      s->loads.items[kept++] = s->loads.items[i];
  s->loads.count = kept;
  for (size_t i = 0; i < s->stores.count; i++)
    if (!p->apart[s->stores.items[i].array])
      store_pair(p, &s->stores.items[i]);
  kept = 0;
  for (size_t i = 0; i < s->stores.count; i++)
    if (s->stores.items[i].value != NET_NONE)
      s->stores.items[kept++] = s->stores.items[i];
  s->stores.count = kept;
  for (size_t i = 0; i < s->ops.count; i++)
    load_pairs(p, &s->ops.items[i]);
}

const net *net_pair_reals(arena *a, const net *t, uint32_t *times) {
  rule_log log = {.memory = a};
  net *to = net_copy(a, t);
  bool *apart = NEW_ARRAY(a, bool, t->arrays.count + 1), any = false;
  rewriter *rewriters = NEW_ARRAY(a, rewriter, t->stages.count + 1);
  pairing p = {.apart = apart, .paired = NEW_ARRAY(a, bool, t->arrays.count + 1)};
  for (size_t i = 0; i < t->arrays.count; i++) {
    const net_array *of = &t->arrays.items[i];
    apart[i] |= scalar_complex_of(of->type) == SCALAR_COUNT || of->count % 2 || of->part_of ||
                of->role == NET_TABLE;
    if (of->part_of)
      apart[of->part_of - 1] = true;
  }
  for (size_t i = 0; i < t->stages.count; i++) {
    rewriters[i] = (rewriter){.memory = a, .net = to, .stage = &to->stages.items[i], .log = &log};
    p.r = &rewriters[i];
    find_apart(&p);
  }
  for (size_t i = 0; i < t->arrays.count; i++)
    any |= !apart[i];
  for (size_t i = 0; i < t->stages.count && any; i++) {
    p.r = &rewriters[i];
    pair_stage(&p);
  }
  *times = (uint32_t)log.of[RULE_REAL_PAIRS].times;
  if (!*times)
    return t;
  for (size_t i = 0; i < t->arrays.count; i++)
    if (p.paired[i]) {
      to->arrays.items[i].type = scalar_complex_of(t->arrays.items[i].type);
      to->arrays.items[i].count /= 2;
    }
  rules_apply(a, to, NULL);
  return to;
}
