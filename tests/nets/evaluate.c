// What a Net computes, one scalar at a time.
#include "tests/nets/nets.h"

typedef struct evaluator {
  arena *memory;
  const net *net;
  const net_stage *stage;
  const uint64_t *o;
  element **values;  // of one iteration of the loops: by value, by index
  element *nodes;
  evaluation *result;
} evaluator;

static element evaluate_scalar(const net_node *node, const element *operands, scalar_type from) {
  element out = {.defined = true};
  int64_t order;
  switch (node->kind) {
  case NET_SCALAR:
    scalar_apply(node->scalar, from, 1, &operands[0].bits, &operands[1].bits, &out.bits);
    break;
  case NET_MIN:
  case NET_MAX: {
    bool le = false;
    scalar_apply(OP_LE, from, 1, &operands[0].bits, &operands[1].bits, &le);
    out.bits = operands[le == (node->kind == NET_MIN) ? 0 : 1].bits;
    break;
  }
  case NET_SELECT:
    out.bits = operands[operands[0].bits.b ? 1 : 2].bits;
    break;
  case NET_CONVERT:
    scalar_convert(from, node->type, 1, &operands[0].bits, &out.bits);
    break;
  case NET_ROOT:
    order = (int64_t)node->number;
    out.bits = scalar_root(node->type, operands[0].bits.i64, order);
    break;
  case NET_EXTERN:
    out.bits.f32 = operands[0].bits.f32 * 2 + (float)operands[1].bits.i32;
    break;
  case NET_ELEMENT:
  case NET_INDEX:
  case NET_CONSTANT:
  case NET_GATHER:
  case NET_SCATTER:
  case NET_GROUP:
  case NET_TURN:
  case NET_FOLD:
    break;
  }
  return out;
}

// An element of an array, or its writing.
static element evaluate_access(evaluator *e, const net_node *node, const element *operands) {
  uint64_t address = (uint64_t)operands[0].bits.i64;
  bool inside = address < e->net->arrays.items[node->number].count;
  element *of = inside ? &e->result->arrays[node->number][address] : NULL;
  if (node->kind == NET_GATHER)
    return of ? *of : (element){.defined = true};
  if (of && node->kind == NET_GROUP)
    scalar_fold(node->scalar, e->net->arrays.items[node->number].type, &of->bits,
                &operands[1].bits);
  else if (of)
    *of = operands[1];
  return (element){.defined = true};
}

// At the coset of x: base is the index of element 0.
static element evaluate_node(evaluator *e, const net_op *op, uint64_t base, const net_node *node) {
  element operands[3] = {{.defined = true}};
  bool defined = true;
  if (node->kind == NET_ELEMENT) {
    for (uint32_t i = 0; i < op->k; i++)
      base ^= node->number >> i & 1 ? op->directions[i] : 0;
    return e->values[node->value][base];
  }
  if (node->kind == NET_CONSTANT)
    return (element){node->constant, true};
  if (node->kind == NET_INDEX)
    return (element){{.i64 = net_map_at(&node->map, e->o, base)}, true};
  for (uint32_t i = 0; i < node->operand_count; i++) {
    operands[i] = e->nodes[node->operands[i]];
    bool chosen = node->kind != NET_SELECT || i == 0 || i == (operands[0].bits.b ? 1U : 2U);
    defined = defined && (operands[i].defined || !chosen);
  }
  if (!defined)
    return (element){.defined = false};
  if (net_node_has_array(node->kind))
    return evaluate_access(e, node, operands);
  return evaluate_scalar(node, operands, e->stage->nodes.items[node->operands[0]].type);
}

bool all_zero(uint32_t count, const net_form *forms, uint64_t x) {
  bool zero = true;
  for (uint32_t i = 0; i < count; i++)
    zero = zero && !net_form_at(forms[i], x);
  return zero;
}

// A fold, whose turn's nodes are evaluated for each number.
static element evaluate_fold(evaluator *e, const net_op *op, uint64_t base, const net_node *fold,
                             const net_id *turns) {
  const net_id *ends = e->stage->nodes.items[fold->operands[0]].operands;
  element out = e->nodes[fold->operands[1]];
  for (int64_t i = e->nodes[ends[0]].bits.i64; i < e->nodes[ends[1]].bits.i64; i++) {
    e->nodes[fold->operands[0]] = (element){{.i64 = i}, true};
    for (net_id id = fold->operands[0] + 1; id <= fold->operands[2]; id++)
      if (turns[id] == fold->operands[0])
        e->nodes[id] = evaluate_node(e, op, base, &e->stage->nodes.items[id]);
    scalar_fold(fold->scalar, fold->type, &out.bits, &e->nodes[fold->operands[2]].bits);
    out.defined = out.defined && e->nodes[fold->operands[2]].defined;
  }
  return out;
}

static void evaluate_coset(evaluator *e, const net_op *op, uint64_t base, uint32_t nodes,
                           const net_id *order) {
  const net_id *turns =
      net_stage_has(e->stage, NET_TURN) ? net_turns_of(e->memory, e->stage) : NULL;
  for (uint32_t i = 0; i < nodes; i++) {
    const net_node *node = &e->stage->nodes.items[order[i]];
    if (node->kind == NET_FOLD)
      e->nodes[order[i]] = evaluate_fold(e, op, base, node, turns);
    else if (!turns || turns[order[i]] == NET_NONE)
      e->nodes[order[i]] = evaluate_node(e, op, base, node);
  }
  for (uint32_t i = 0; i < op->output_count; i++)
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++) {
      uint64_t x = base;
      for (uint32_t d = 0; d < op->k; d++)
        x ^= j >> d & 1 ? op->directions[d] : 0;
      net_id id = op->outputs[i].elements[j];
      if (id != NET_NONE)
        e->values[op->outputs[i].value][x] = e->nodes[id];
    }
}

static void evaluate_op(evaluator *e, const net_op *op, net_id *order) {
  uint32_t nodes = net_op_nodes(e->stage, op, order);
  for (uint64_t x = 0; x < UINT64_C(1) << e->stage->n; x++)
    if (all_zero(op->k, op->coordinates, x) && all_zero(op->live_count, op->live, x))
      evaluate_coset(e, op, x, nodes, order);
}

static void evaluate_iteration(evaluator *e, evaluation *result) {
  const net_stage *s = e->stage;
  uint64_t size = UINT64_C(1) << s->n;
  net_id *order = NEW_ARRAY(e->memory, net_id, s->nodes.count);
  for (size_t v = 0; v < s->values.count; v++)
    e->values[v] = NEW_ARRAY(e->memory, element, size);
  for (size_t i = 0; i < s->loads.count; i++)
    for (uint64_t x = 0; x < size; x++) {
      const net_load *load = &s->loads.items[i];
      uint64_t address = (uint64_t)net_map_at(&load->map, e->o, x);
      e->values[load->value][x] = address < load->padding_start
                                      ? result->arrays[load->array][address]
                                      : (element){load->padding_value, true};
    }
  for (size_t i = 0; i < s->ops.count; i++)
    evaluate_op(e, &s->ops.items[i], order);
  for (size_t i = 0; i < s->stores.count; i++)
    for (uint64_t x = 0; x < size; x++) {
      const net_store *store = &s->stores.items[i];
      uint64_t address = (uint64_t)net_map_at(&store->map, e->o, x);
      if (address >= store->padding_start || !all_zero(store->live_count, store->live, x))
        continue;
      result->arrays[store->array][address] = e->values[store->value][x];
      result->garbage = result->garbage || !e->values[store->value][x].defined;
    }
}

void evaluate_stage(arena *a, const net *t, const net_stage *s, evaluation *result) {
  uint64_t loops = stage_points(s) >> s->n, *o = NEW_ARRAY(a, uint64_t, s->loop_count);
  evaluator e = {a,
                 t,
                 s,
                 o,
                 NEW_ARRAY(a, element *, s->values.count),
                 NEW_ARRAY(a, element, s->nodes.count),
                 result};
  for (uint64_t i = 0; i < loops; i++) {
    net_loop_indices(s, i, o);
    evaluate_iteration(&e, result);
  }
}

// Whether i and j are of one row, of those that the offsets cut a row into.
static bool in_one_row(const element *offsets, uint64_t count, uint64_t i, uint64_t j) {
  for (uint64_t k = 0; k + 1 < count; k++) {
    uint64_t begin = (uint64_t)offsets[k].bits.i64, end = (uint64_t)offsets[k + 1].bits.i64;
    if (i >= begin && i < end)
      return j >= begin && j < end;
  }
  return false;
}

// Whether key i of a row goes before key j.
static bool goes_before(const net_routine *r, scalar_type type, const element *keys, uint64_t i,
                        uint64_t j) {
  uint8_t up, down;
  scalar_apply(OP_TOTAL_LE, type, 1, &keys[i].bits, &keys[j].bits, &up);
  scalar_apply(OP_TOTAL_LE, type, 1, &keys[j].bits, &keys[i].bits, &down);
  return up && down ? i < j : r->descending ? !up : up;
}

// Whether a place is outside of an array, or another one is equal to it.
static bool is_wrong_place(const net_routine *r, scalar_type type, const element *places,
                           uint64_t i) {
  uint64_t place, other, equal = 0;
  scalar_convert(type, SCALAR_U64, 1, &places[i].bits, &place);
  for (uint64_t j = 0; j < r->length && r->distinct; j++) {
    scalar_convert(type, SCALAR_U64, 1, &places[j].bits, &other);
    equal += other == place;
  }
  return place >= r->limit || equal > 1;
}

void evaluate_wrong(const net *t, const net_routine *r, evaluation *result) {
  const element *places = result->arrays[r->pairs[0].from];
  scalar_type type = t->arrays.items[r->pairs[0].from].type;
  element *to = result->arrays[r->pairs[0].to];
  uint64_t i = 0, count = r->rows * r->length;
  while (i < count && !is_wrong_place(r, type, places + i / r->length * r->length, i % r->length))
    i++;
  to[0] = (element){{.i64 = i < count ? (int64_t)i : INT64_MAX}, true};
  to[1] = (element){{{0}}, true};
  if (i < count)
    scalar_convert(type, SCALAR_I64, 1, &places[i].bits, &to[1].bits);
}

void evaluate_transpose(const net_routine *r, evaluation *result) {
  for (uint64_t i = 0; i < r->length; i++) {
    uint64_t rest = i, from = 0, to = 0;
    for (uint32_t d = 0; d < r->dimension_count; d++) {
      from += rest % r->dimensions[d].extent * r->dimensions[d].from;
      to += rest % r->dimensions[d].extent * r->dimensions[d].to;
      rest /= r->dimensions[d].extent;
    }
    result->arrays[r->pairs[0].to][to] = result->arrays[r->pairs[0].from][from];
  }
}

// Key by key: its place is how many go before it.
void evaluate_routine(const net *t, const net_routine *r, evaluation *result) {
  const element *keys = result->arrays[r->pairs[0].from];
  scalar_type type = t->arrays.items[r->pairs[0].from].type;
  net_id last = r->pairs[r->pair_count - 1].to;  // of counts
  element *counts = last == NET_NONE ? NULL : result->arrays[last];
  uint64_t cuts = r->ragged ? t->arrays.items[r->offsets].count / r->rows : 0;
  for (uint64_t row = 0; row < r->rows; row++, keys += r->length)
    for (uint64_t i = 0; i < r->length; i++) {
      const element *offsets = cuts ? result->arrays[r->offsets] + row * cuts : NULL;
      uint64_t place = 0, key = 0;
      for (uint64_t j = 0; j < r->length; j++)
        place +=
            j != i &&
            (cuts && !in_one_row(offsets, cuts, i, j) ? j < i : goes_before(r, type, keys, j, i));
      if (r->kind == NET_COUNT || r->counts)
        scalar_convert(type, SCALAR_U64, 1, &keys[i].bits, &key);
      if ((r->kind == NET_COUNT || r->counts) && key < r->limit)
        counts[row * r->limit + key].bits.i64++;
      for (uint32_t k = 0; k < r->pair_count - r->counts; k++) {
        net_routine_pair p = r->pairs[k];
        if (p.to == NET_NONE)
          continue;
        element *to = result->arrays[p.to];
        uint64_t width = t->arrays.items[p.to].count / (r->rows * r->length);
        element number = {scalar_from_i64(t->arrays.items[p.to].type,
                                          (int64_t)(r->kind == NET_PLACES ? place : i)),
                          keys[i].defined};
        if (r->kind == NET_PLACES)
          to[row * r->length + i] = number;
        bool moves = r->kind == NET_SORT || r->kind == NET_PERMUTE;
        uint64_t at = r->back ? i : place, of = r->back ? place : i;
        for (uint64_t x = 0; moves && x < width; x++)
          to[(row * r->length + at) * width + x] =
              p.from == NET_NONE ? number
                                 : result->arrays[p.from][(row * r->length + of) * width + x];
      }
    }
  for (uint64_t k = 0; (r->kind == NET_COUNT || r->counts) && k < r->rows * r->limit; k++)
    counts[k].defined = true;
}

evaluation *net_evaluate(arena *a, const net *t, uint64_t seed) {
  evaluation *result = NEW(a, evaluation);
  random_state r = {seed};
  result->arrays = NEW_ARRAY(a, element *, t->arrays.count);
  for (size_t i = 0; i < t->arrays.count; i++) {
    const net_array *given = &t->arrays.items[i];
    result->arrays[i] = given->part_of ? result->arrays[given->part_of - 1] + given->part_at
                                       : NEW_ARRAY(a, element, given->count);
    for (uint64_t x = 0; x < given->count && given->role == NET_ARGUMENT; x++)
      result->arrays[i][x] = (element){random_element(&r, given->type), true};
    size_t size = scalar_types[given->type].size;
    for (uint64_t x = 0; x < given->count && given->role == NET_TABLE; x++) {
      result->arrays[i][x].defined = true;
      memcpy(&result->arrays[i][x].bits, (const char *)given->table + x * size, size);
    }
  }
  for (size_t i = 0; i < t->stages.count; i++)
    if (t->stages.items[i].routine && t->stages.items[i].routine->kind == NET_WRONG)
      evaluate_wrong(t, t->stages.items[i].routine, result);
    else if (t->stages.items[i].routine && t->stages.items[i].routine->kind == NET_TRANSPOSE)
      evaluate_transpose(t->stages.items[i].routine, result);
    else if (t->stages.items[i].routine)
      evaluate_routine(t, t->stages.items[i].routine, result);
    else
      evaluate_stage(a, t, &t->stages.items[i], result);
  return result;
}

// ---- comparing -------------------------------------------------------------------------------

static size_t array_with(const net *t, net_role role, uint32_t number) {
  size_t i = 0;
  while (t->arrays.items[i].role != role || t->arrays.items[i].number != number)
    i++;
  return i;
}

static bool same_element(const element *expected, const element *found) {
  return !expected->defined ||
         (found->defined && memcmp(&expected->bits, &found->bits, sizeof found->bits) == 0);
}

bool same_results(const net *t, const evaluation *expected, const net *u, const evaluation *found) {
  for (size_t i = 0; i < t->arrays.count; i++) {
    const net_array *result = &t->arrays.items[i];
    if (result->role != NET_RESULT)
      continue;
    const element *other = found->arrays[array_with(u, NET_RESULT, result->number)];
    for (uint64_t x = 0; x < result->count; x++)
      if (!same_element(&expected->arrays[i][x], &other[x]))
        return false;
  }
  return true;
}
