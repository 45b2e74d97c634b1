#include "kernels/ops/op.h"
#include "kernels/ops/fold.h"
#include "kernels/ops/roll.h"
#include "kernels/ops/root.h"

#include "core/number.h"

c_phase c_phase_of(c_writer *w, const plan_pass *pass, const net_stage *stage,
                   const c_space *space) {
  size_t nodes = stage->nodes.count + 1, values = stage->values.count + 1;
  if (!pass) {
    plan_pass *own = NEW(w->memory, plan_pass);
    own->slot_count = (uint32_t)stage->values.count;
    own->slot_of = NEW_ARRAY(w->memory, uint32_t, values);
    for (net_id v = 0; v < stage->values.count; v++)
      own->slot_of[v] = v;
    pass = own;
  }
  return (c_phase){.w = w,
                   .pass = pass,
                   .stage = stage,
                   .space = space,
                   .slots = NEW_ARRAY(w->memory, c_registers, pass->slot_count + 1),
                   .values = NEW_ARRAY(w->memory, c_value, nodes),
                   .bounds = NEW_ARRAY(w->memory, const c_bound *, nodes),
                   .roots = NEW_ARRAY(w->memory, const struct c_root_access *, nodes),
                   .nodes = NEW_ARRAY(w->memory, net_id, nodes + values),
                   .live = live_all(stage->n)};
}

c_registers c_registers_of(c_writer *w, const c_space *space, scalar_type type) {
  size_t count = (size_t)scalar_parts(type) << space->r;
  c_registers s = {type, NEW_ARRAY(w->memory, uint32_t, count)};
  memset(s.id, 0xff, count * sizeof *s.id);
  return s;
}

// A value that depends on the index alone: node `id`, of the coset at `first`, where the rows of
// its index have these bits.
typedef struct known_index {
  net_id id;
  uint64_t first, bits;
  c_value value;
} known_index;

// One op as its phase sees it.
typedef struct op_view {
  c_phase *phase;
  const net_op *op;
  xor_sum coordinates;  // row i is coordinate i
  uint64_t *direction;  // by direction, as register numbers
  c_value *flipped;     // by coordinate: whether blocks, threads or lanes flip it
  bool flips;
  const net_id *turns;         // by node (net_turns_of); NULL: there are none
  uint32_t lanes, node_count;  // node_count: 0 where there are loops
  c_value **elements;  // by value of the stage: its elements in the coset, as far as they are read
  c_registers *outputs;    // by output
  VEC(known_index) known;  // of all cosets
} op_view;

// ---- values of registers ---------------------------------------------------------------------

static c_value register_value(c_phase *f, c_registers *s, uint64_t number) {
  uint32_t lanes = 1U << f->space->l, bytes = scalar_part_bytes(s->type);
  c_value v = {.level = C_VECTOR, .type = s->type};
  for (uint32_t part = 0; part < scalar_parts(s->type); part++) {
    uint32_t *id = &s->id[number + ((uint64_t)part << f->space->r)];
    if (*id == UINT32_MAX)  // never written: nothing that matters
      *id = c_let(f->w, c_vector(f->w, bytes, lanes), "%s", c_zero(lanes));
    v.id[part] = *id;
  }
  return v;
}

static void set_register(c_phase *f, c_registers *s, uint64_t number, const c_value *v) {
  for (uint32_t part = 0; part < scalar_parts(s->type); part++)
    s->id[number + ((uint64_t)part << f->space->r)] = c_as_vector(f->w, v, part, 1U << f->space->l);
}

// ---- where elements are ----------------------------------------------------------------------

static op_view view_op(c_phase *f, const net_op *op) {
  const c_space *s = f->space;
  op_view v = {.phase = f, .op = op, .lanes = 1U << s->l};
  v.turns = net_stage_has(f->stage, NET_TURN) ? net_turns_of(f->w->memory, f->stage) : NULL;
  uint32_t n = s->r + s->l + s->threads;
  v.coordinates = xor_sum_of_forms(op->k, op->coordinates, s);
  v.direction = NEW_ARRAY(f->w->memory, uint64_t, op->k);
  v.flipped = NEW_ARRAY(f->w->memory, c_value, op->k);
  for (uint32_t i = 0; i < op->k; i++) {
    bool found = f2_coordinates((int)n, s->basis, op->directions[i], &v.direction[i]);
    assert(found && v.direction[i] >> s->r == 0);
    (void)found;
  }
  uint64_t uniform = xor_sum_dynamic_rows(&v.coordinates);
  const char *bits = c_bind_bits(f->w, &v.coordinates, f2_mask((int)op->k));
  for (uint32_t i = 0; i < op->k; i++) {
    uint64_t of_lanes = 0;
    for (uint32_t j = 0; j < s->l; j++)
      of_lanes |= (uint64_t)f2_bit(v.coordinates.vector[s->r + j], (int)i) << j;
    v.flipped[i] =
        c_form_value(f->w, f2_bit(uniform, (int)i) ? bits : NULL, i, false, of_lanes, s->l);
    v.flips |= v.flipped[i].level != C_KNOWN;
  }
  return v;
}

// The register at position p of the coset whose position 0 is `first`.
static uint64_t register_at(const op_view *v, uint64_t first, uint64_t p) {
  for (uint32_t i = 0; i < v->op->k; i++)
    first ^= p >> i & 1 ? v->direction[i] : 0;
  return first;
}

// Positions to elements, and back: a coordinate that is flipped exchanges each two.
static void exchange_flipped_elements(const op_view *v, c_value *elements) {
  c_writer *w = v->phase->w;
  for (uint32_t i = 0; i < v->op->k; i++)
    for (uint64_t p = 0; p < UINT64_C(1) << v->op->k && v->flipped[i].level != C_KNOWN; p++)
      if (!(p >> i & 1)) {
        c_value a = elements[p], b = elements[p | UINT64_C(1) << i];
        elements[p] = c_select(w, &v->flipped[i], &b, &a, v->lanes);
        elements[p | UINT64_C(1) << i] = c_select(w, &v->flipped[i], &a, &b, v->lanes);
      }
}

// ---- one coset -------------------------------------------------------------------------------

static c_value element_value(op_view *v, const net_node *node, uint64_t first) {
  c_phase *f = v->phase;
  uint64_t count = UINT64_C(1) << v->op->k;
  c_registers *s = &f->slots[f->pass->slot_of[node->value]];
  if (!v->flips)
    return register_value(f, s, register_at(v, first, node->number));
  if (!v->elements[node->value]) {
    c_value *elements = NEW_ARRAY(f->w->memory, c_value, count);
    for (uint64_t p = 0; p < count; p++)
      elements[p] = register_value(f, s, register_at(v, first, p));
    exchange_flipped_elements(v, elements);
    v->elements[node->value] = elements;
  }
  return v->elements[node->value][node->number];
}

// Whether a sum of some of the map's terms may be no i64.
static bool may_wrap(const net_stage *s, const net_map *m) {
  double most = (double)magnitude_of(m->offset);
  for (uint32_t l = 0; l < m->loop_count; l++)
    most += (double)magnitude_of(m->strides[l]) *
            (double)net_loop_index(s, l, s->extents[l] ? s->extents[l] - 1 : 0);
  for (uint32_t r = 0; r < m->row_count; r++)
    most += (double)magnitude_of(m->rows[r].weight);
  return most >= 0x1p62;
}

static const c_bound *index_bound(op_view *v, net_id id) {
  c_phase *f = v->phase;
  if (!f->bounds[id]) {
    xor_sum *map = NEW(f->w->memory, xor_sum);
    c_bound *bound = NEW(f->w->memory, c_bound);
    *map = xor_sum_of(f->w->memory, &f->stage->nodes.items[id].map, f->space, 1);
    map->wraps = may_wrap(f->stage, &f->stage->nodes.items[id].map);
    *bound = c_bind(f->w, map, 0);
    f->bounds[id] = bound;
  }
  return f->bounds[id];
}

// Whether the op asks no more of the index than if it is below numbers up to `least`.
static bool is_index_below(const op_view *v, net_id id, int64_t least) {
  const net_stage *s = v->phase->stage;
  int64_t low, high;
  bool below =
      v->node_count > 0 && live_map_range(v->phase->w->memory, &s->nodes.items[id].map, s->extents,
                                          live_all(s->n), &low, &high);  // no sum leaves i64
  for (uint32_t i = 0; i < v->node_count && below; i++) {
    const net_node *node = &s->nodes.items[v->phase->nodes[i]];
    for (uint32_t k = 0; k < node->operand_count && below; k++)
      below =
          node->operands[k] != id || (node->kind == NET_SCALAR && node->scalar == OP_LT && k == 0 &&
                                      s->nodes.items[node->operands[1]].kind == NET_CONSTANT &&
                                      s->nodes.items[node->operands[1]].constant.i64 <= least);
  }
  for (uint32_t o = 0; o < v->op->output_count && below; o++)
    for (uint64_t j = 0; j < UINT64_C(1) << v->op->k && below; j++)
      below = v->op->outputs[o].elements[j] != id;
  return below;
}

// Where the registers and lanes decide that a domain is left (net/domain.c), any such index does.
static c_value index_value(op_view *v, net_id id, uint64_t first, scalar_type type) {
  c_phase *f = v->phase;
  const net_map *map = &f->stage->nodes.items[id].map;
  const c_bound *bound = index_bound(v, id);
  uint64_t lane[F2_MAX];
  int64_t least = INT64_MAX, at;  // what all else adds to it is not negative
  for (uint32_t i = 0; i < f->space->l; i++)
    lane[i] = f2_unit((int)(f->space->r + i));
  for (uint64_t j = 0; j < UINT64_C(1) << f->space->l; j++) {
    c_bound_constant(bound, first ^ j << f->space->r, &at);
    least = at < least ? at : least;
  }
  for (uint32_t l = 0; l < map->loop_count; l++)
    least = map->strides[l] < 0 ? 0 : least;
  if (least > 0 && is_index_below(v, id, least))
    return c_known(SCALAR_I64, scalar_from_i64(SCALAR_I64, least));
  return c_index_value(f->w, bound, first, f->space->l, lane, type);
}

// The index that the node is, of which it is a root, or that it compares with a constant; or
// NET_NONE.
static net_id only_index(const net_stage *s, net_id id) {
  const net_node *node = &s->nodes.items[id];
  if (node->kind == NET_INDEX)
    return id;
  if (node->kind == NET_ROOT && s->nodes.items[node->operands[0]].kind == NET_INDEX)
    return node->operands[0];
  return net_index_test_of(s, node).index;
}

// The value of such a node, if another coset with the same bits of the index has had it.
static c_value *find_known(op_view *v, net_id id, uint64_t bits) {
  for (size_t i = 0; i < v->known.count; i++)
    if (v->known.items[i].id == id && v->known.items[i].bits == bits)
      return &v->known.items[i].value;
  return NULL;
}

// Whether k is as many quarters of m more at one coset than at the other, modulo m, in all lanes.
// (It is not where a row has bits of both registers and lanes: 4*(x0^x2) is 4 more, or 4 less.)
static bool is_turned(const c_phase *f, const c_bound *k, uint64_t m, uint64_t from, uint64_t to,
                      unsigned *quarters) {
  uint64_t turn = 0;
  for (uint64_t j = 0; j < UINT64_C(1) << f->space->l; j++) {
    int64_t less, more;
    uint64_t lane = j << f->space->r;
    if (!c_bound_constant(k, from ^ lane, &less) || !c_bound_constant(k, to ^ lane, &more))
      return false;
    uint64_t by = (uint64_t)(((more - less) % (int64_t)m + (int64_t)m) % (int64_t)m);
    if (j > 0 && by != turn)
      return false;
    turn = by;
  }
  *quarters = (unsigned)(turn / (m / 4));
  return turn % (m / 4) == 0;
}

// Of a root: exp(2 pi i k / m) i^q from the value at another coset, where k is q m/4 less.
static bool turn_known_root(op_view *v, const net_node *root, net_id id, uint64_t first,
                            c_value *out) {
  const c_bound *k = index_bound(v, root->operands[0]);
  unsigned quarters;
  for (size_t i = 0; root->number % 4 == 0 && i < v->known.count; i++) {
    const known_index *known = &v->known.items[i];
    if (known->id == id && is_turned(v->phase, k, root->number, known->first, first, &quarters))
      return *out = c_turned_root(v->phase->w, &known->value, quarters, v->lanes), true;
  }
  return false;
}

// The value of a node that takes one of two elements where the op's node number i takes the other:
// selects by one condition, or choices by order. NULL: none.
static const c_value *find_other_half(const c_phase *f, uint32_t i) {
  enum { NEAR = 256 };  // the halves of a comparator are neighbours
  const net_node *node = &f->stage->nodes.items[f->nodes[i]];
  net_extremum own = net_extremum_of(f->stage, node);
  for (uint32_t k = i < NEAR ? 0 : i - NEAR; k < i; k++) {
    const net_node *other = &f->stage->nodes.items[f->nodes[k]];
    const net_id *a = node->operands, *b = other->operands;
    net_extremum choice = net_extremum_of(f->stage, other);
    bool turned = node->kind == NET_SELECT && other->kind == NET_SELECT && a[0] == b[0] &&
                  a[1] == b[2] && a[2] == b[1];
    if ((turned || net_extrema_are_complementary(f->stage, &own, &choice)) &&
        f->values[f->nodes[k]].level == C_VECTOR)
      return &f->values[f->nodes[k]];
  }
  return NULL;
}

static c_value operation_value(op_view *v, uint32_t i, const net_node *node,
                               const c_value *operands) {
  c_phase *f = v->phase;
  net_extremum c = net_extremum_of(f->stage, node);
  if (v->lanes > 1 && net_is_extremum(&c) && c.order == OP_TOTAL_LE &&
      (node->type == SCALAR_F32 || node->type == SCALAR_F64) && operands[0].level == C_VECTOR) {
    uint32_t a = c_as_vector(f->w, &f->values[c.operands[0]], 0, v->lanes),
             b = c_as_vector(f->w, &f->values[c.operands[1]], 0, v->lanes);
    c_value out = {.level = C_VECTOR, .type = node->type};
    out.id[0] = c_let(f->w, c_vector(f->w, scalar_part_bytes(out.type), v->lanes), "%s(v%u, v%u)",
                      c_total_extremum(f->w, c.kind == NET_MAX, out.type, v->lanes), a, b);
    return out;
  }
  const c_value *one = f->w->sums && i < v->node_count ? find_other_half(f, i) : NULL;
  if (one && c_by_sum(f->w, node->type, v->lanes))
    return c_other(f->w, &operands[node->operand_count - 2], &operands[node->operand_count - 1],
                   one, v->lanes);
  return c_node_value(f->w, node, operands, v->lanes);
}

// The width of the elements that the op chooses by a condition, or by what it makes of that and
// others, if it does nothing else with it; or 0.
static uint32_t width_chosen(const op_view *v, net_id condition, int depth) {
  enum { DEEP = 4 };  // conditions of conditions
  const c_phase *f = v->phase;
  uint32_t width = 0;
  for (uint32_t i = 0; i < v->node_count && depth < DEEP; i++) {
    const net_node *node = &f->stage->nodes.items[f->nodes[i]];
    for (uint32_t k = 0; k < node->operand_count; k++) {
      if (node->operands[k] != condition)
        continue;
      bool logic =
          node->type == SCALAR_BOOL && (node->kind == NET_SCALAR || node->kind == NET_SELECT);
      uint32_t bytes = logic ? width_chosen(v, f->nodes[i], depth + 1)
                       : node->kind == NET_SELECT && k == 0 ? scalar_part_bytes(node->type)
                                                            : 0;
      if (bytes == 0 || (width && width != bytes))
        return 0;
      width = bytes;
    }
  }
  for (uint32_t o = 0; o < v->op->output_count; o++)
    for (uint64_t j = 0; j < UINT64_C(1) << v->op->k; j++)
      if (v->op->outputs[o].elements[j] == condition)
        return 0;
  return width;
}

// A comparison of an index with a constant, if its lanes differ: in elements of the width that it
// chooses.
static bool compare_index(op_view *v, net_id id, net_id index, uint64_t first, c_value *out) {
  const c_phase *f = v->phase;
  const net_node *node = &f->stage->nodes.items[id];
  const net_index_test test = net_index_test_of(f->stage, node);
  uint64_t lane[F2_MAX];
  uint32_t width = width_chosen(v, id, 0);
  for (uint32_t i = 0; i < f->space->l; i++)
    lane[i] = f2_unit((int)(f->space->r + i));
  return test.index == index && c_gives_mask(node->scalar) && f->values[index].level == C_VECTOR &&
         c_compare_index(f->w, node->scalar, index_bound(v, index), first, &test, f->space->l, lane,
                         width ? width : 1, out);
}

static bool is_index_as_integer(const net_stage *s, const net_node *node) {
  return node->kind == NET_CONVERT && s->nodes.items[node->operands[0]].kind == NET_INDEX &&
         CLASS_OF(node->type) & CLASS_INTEGER;
}

static c_value node_value(op_view *v, net_id id, uint32_t i, net_id index, uint64_t first) {
  c_phase *f = v->phase;
  const net_node *node = &f->stage->nodes.items[id];
  c_value root, *operands = NEW_ARRAY(f->w->memory, c_value, node->operand_count);
  bool of_index =
      node->kind == NET_ROOT && f->stage->nodes.items[node->operands[0]].kind == NET_INDEX;
  if (of_index && ((index != NET_NONE && turn_known_root(v, node, id, first, &root)) ||
                   c_root_of_index(f, node, node->operands[0], first, &root)))
    return root;  // of one that is known, or of a table
  if (index != NET_NONE && id != index && compare_index(v, id, index, first, &root))
    return root;
  for (uint32_t k = 0; k < node->operand_count; k++)
    operands[k] = f->values[node->operands[k]];
  return node->kind == NET_ELEMENT ? element_value(v, node, first)
         : node->kind == NET_INDEX ? index_value(v, id, first, SCALAR_I64)
         : is_index_as_integer(f->stage, node)
             ? index_value(v, node->operands[0], first, node->type)
             : operation_value(v, i, node, operands);
}

// Node `id` of the coset at `first`; i: its number in the op, or UINT32_MAX.
static void evaluate_node(op_view *v, net_id id, uint32_t i, uint64_t first) {
  enum { MOST_KNOWN = 64 };
  c_phase *f = v->phase;
  if (v->turns && v->turns[id] != NET_NONE)
    return;  // by its folds
  if (f->stage->nodes.items[id].kind == NET_FOLD) {
    f->values[id] = c_fold_value(f, v->turns, id);
    return;
  }
  net_id index = i < v->node_count ? only_index(f->stage, id) : NET_NONE;
  uint64_t bits = index == NET_NONE ? 0 : xor_sum_rows_at(index_bound(v, index)->map, first);
  const c_value *known = index == NET_NONE ? NULL : find_known(v, id, bits);
  f->values[id] = known ? *known : node_value(v, id, i, index, first);
  if (known || index == NET_NONE || v->known.count == MOST_KNOWN)
    return;
  uint32_t width = f->values[id].mask ? width_chosen(v, id, 0) : 0;
  if (width)
    c_set_mask_width(f->w, &f->values[id], width, v->lanes);
  vec_push(f->w->memory, &v->known, ((known_index){id, first, bits, f->values[id]}));
}

// Elements that the op does not define stay as they were where that is simple.
static void set_output_elements(op_view *v, uint32_t output, uint64_t first) {
  c_phase *f = v->phase;
  const net_output *o = &v->op->outputs[output];
  uint64_t count = UINT64_C(1) << v->op->k;
  c_value *elements = NEW_ARRAY(f->w->memory, c_value, count);
  for (uint64_t j = 0; j < count; j++)
    elements[j] = o->elements[j] == NET_NONE
                      ? register_value(f, &v->outputs[output], register_at(v, first, j))
                      : f->values[o->elements[j]];
  exchange_flipped_elements(v, elements);
  for (uint64_t p = 0; p < count; p++)
    if (v->flips || o->elements[p] != NET_NONE)
      set_register(f, &v->outputs[output], register_at(v, first, p), &elements[p]);
}

// ---- cosets ----------------------------------------------------------------------------------

// Some cosets side by side.
typedef struct coset_group {
  op_view *view;
  const c_rolled *rolled;
  uint32_t count;
  const uint64_t *first;  // by coset
  c_value **values;       // by coset: those of all nodes
} coset_group;

static void enter_coset(const coset_group *g, uint32_t coset) {
  g->view->phase->values = g->values[coset];
  c_end_line(g->view->phase->w);
}

// Operand `operand` of the nodes at an offset of the rounds, if it is a constant that differs from
// round to round: in a table, by the number of the round. NULL: it does not.
static const c_value *constant_of_round(const coset_group *g, const c_segment *s, uint32_t offset,
                                        uint32_t operand) {
  c_writer *w = g->view->phase->w;
  const net_node *nodes = g->view->phase->stage->nodes.items;
  const net_id *line = g->rolled->line + s->first + offset;
  const net_node *first = &nodes[nodes[line[0]].operands[operand]];
  bool differs = false;
  for (uint32_t i = 1; i < s->rounds && first->kind == NET_CONSTANT && !differs; i++)
    differs = &nodes[nodes[line[(size_t)i * s->period]].operands[operand]] != first;
  if (!differs)
    return NULL;
  c_value *out = NEW(w->memory, c_value);
  *out = (c_value){.level = C_UNIFORM, .type = first->type};
  uint32_t bytes = scalar_part_bytes(first->type);
  uint64_t *entries = NEW_ARRAY(w->memory, uint64_t, s->rounds);
  for (uint32_t part = 0; part < scalar_parts(first->type); part++) {
    for (uint32_t i = 0; i < s->rounds; i++)
      memcpy(&entries[i],
             nodes[nodes[line[(size_t)i * s->period]].operands[operand]].constant.bytes +
                 part * bytes,
             bytes);
    out->id[part] = c_let(w, c_vector(w, bytes, 1), "%s[i]", c_table(w, bytes, s->rounds, entries));
  }
  return out;
}

// What is carried: variables that each round reads and sets.
static void declare_carried(const coset_group *g, const c_segment *s) {
  const c_phase *f = g->view->phase;
  c_writer *w = f->w;
  for (uint32_t i = 0; i < s->carried_count; i++) {
    uint32_t at = s->first + s->carried[i], lanes = g->view->lanes;
    net_id id = g->rolled->line[at];
    c_value carried = {.level = C_VECTOR, .type = f->stage->nodes.items[id].type};
    for (uint32_t part = 0; part < scalar_parts(carried.type); part++) {
      const char *start = c_zero(lanes);
      if (s->is_read[i])
        start = c_format(w, "v%u",
                         c_as_vector(w, &f->values[g->rolled->line[at - s->period]], part, lanes));
      carried.id[part] =
          c_declare(w, c_vector(w, scalar_part_bytes(carried.type), lanes), start).id;
    }
    f->values[id] = carried;
  }
}

// A round: the nodes of the second one, which read what they carry from the first. `constants`: by
// offset and operand.
static void evaluate_round(const coset_group *g, const c_segment *s, const c_value **constants) {
  c_phase *f = g->view->phase;
  for (uint32_t i = 0; i < s->period; i++) {
    net_id id = g->rolled->line[s->first + s->period + i];
    const net_node *node = &f->stage->nodes.items[id];
    c_value operands[C_ROLL_OPERANDS];
    for (uint32_t k = 0; k < node->operand_count; k++) {
      const c_value *constant = constants[(size_t)i * C_ROLL_OPERANDS + k];
      operands[k] = constant ? *constant : f->values[node->operands[k]];
    }
    f->values[id] = operation_value(g->view, UINT32_MAX, node, operands);
  }
}

static void set_carried(const coset_group *g, const c_segment *s) {
  const c_phase *f = g->view->phase;
  c_writer *w = f->w;
  const net_id *line = g->rolled->line + s->first;
  VEC(c_variable) all = {0};
  for (uint32_t i = 0; i < s->carried_count; i++) {
    const c_value *carried = &f->values[line[s->carried[i]]],
                  *result = &f->values[line[s->period + s->carried[i]]];
    for (uint32_t part = 0; part < scalar_parts(carried->type); part++) {
      const char *type = c_vector(w, scalar_part_bytes(carried->type), g->view->lanes);
      uint32_t next = c_as_vector(w, result, part, g->view->lanes);
      vec_push(w->memory, &all, ((c_variable){type, carried->id[part], next}));
    }
    f->values[line[(size_t)(s->rounds - 1) * s->period + s->carried[i]]] = *carried;
  }
  c_set(w, all.count, all.items);
}

// What was noted from step `first` on is in a loop.
static void record_rounds(c_writer *w, size_t first, uint32_t rounds) {
  size_t end = w->record ? w->record->steps.count : 0;
  for (uint32_t i = 1; i < rounds; i++)
    for (size_t k = first; k < end; k++)
      vec_push(w->memory, &w->record->steps, w->record->steps.items[k]);
}

static void evaluate_loop(const coset_group *g, const c_segment *s) {
  c_writer *w = g->view->phase->w;
  size_t recorded = w->record ? w->record->steps.count : 0;
  const c_value **constants =
      NEW_ARRAY(w->memory, const c_value *, (size_t)s->period *C_ROLL_OPERANDS);
  for (uint32_t coset = 0; coset < g->count; coset++) {
    enter_coset(g, coset);
    declare_carried(g, s);
  }
  c_line(w, "for (uint32_t i = 0; i < %u; i++) {", s->rounds);
  for (uint32_t i = 0; i < s->period; i++) {
    const net_node *node = &g->view->phase->stage->nodes.items[g->rolled->line[s->first + i]];
    for (uint32_t k = 0; k < node->operand_count; k++)
      constants[(size_t)i * C_ROLL_OPERANDS + k] = constant_of_round(g, s, i, k);
  }
  for (uint32_t coset = 0; coset < g->count; coset++) {
    enter_coset(g, coset);
    evaluate_round(g, s, constants);
    set_carried(g, s);
  }
  record_rounds(w, recorded, s->rounds);
  c_line(w, "}");
}

// Nodes once. gcc's combiner takes time quadratic in a basic block: long ones are cut.
static void evaluate_line(const coset_group *g, uint32_t coset, const c_segment *s) {
  enum { LONGEST_BLOCK = 256 };  // nodes
  c_writer *w = g->view->phase->w;
  enter_coset(g, coset);
  for (uint32_t i = s->first; i < s->first + s->period; i++) {
    evaluate_node(g->view, g->rolled->line[i], i, g->first[coset]);
    if (!w->warps && g->rolled->loop_count == 0 && (i + 1) % LONGEST_BLOCK == 0)
      c_line(w, "PERMC_CUT(%u)", w->cuts++);
  }
}

static void execute_group(const coset_group *g) {
  op_view *v = g->view;
  for (uint32_t i = 0; i < g->count; i++) {
    v->elements =
        v->flips ? NEW_ARRAY(v->phase->w->memory, c_value *, v->phase->stage->values.count) : NULL;
    enter_coset(g, i);
    for (uint32_t k = 0; k < g->rolled->leaf_count; k++)
      evaluate_node(v, g->rolled->leaves[k], UINT32_MAX, g->first[i]);
  }
  for (uint32_t i = 0; i < g->rolled->segment_count; i++) {
    const c_segment *s = &g->rolled->segments[i];
    if (s->rounds > 1)
      evaluate_loop(g, s);
    for (uint32_t k = 0; k < g->count && s->rounds == 1; k++)
      evaluate_line(g, k, s);
  }
  for (uint32_t i = 0; i < g->count; i++) {
    enter_coset(g, i);
    for (uint32_t k = 0; k < v->op->output_count; k++)
      if (v->outputs[k].id)
        set_output_elements(v, k, g->first[i]);
  }
}

// ---- an op -----------------------------------------------------------------------------------

// Cosets in which the op matters for some block, thread or lane: their registers at position 0.
static uint32_t list_cosets(const op_view *v, uint64_t *out) {
  const c_space *s = v->phase->space;
  uint32_t count = 0;
  xor_sum m = xor_sum_of_forms(v->op->live_count, v->op->live, s);
  uint64_t dynamic = xor_sum_dynamic_rows(&m) | xor_sum_rows_of(&m, f2_mask((int)s->l) << s->r);
  for (uint64_t i = 0; i < UINT64_C(1) << s->r; i++)
    if (xor_sum_rows_at(&v->coordinates, i) == 0 && (xor_sum_rows_at(&m, i) & ~dynamic) == 0)
      out[count++] = i;
  return count;
}

// By node of the op how many gathers it waits for, one after the other. The scatters wait for all.
static uint32_t *waits_of(const op_view *v, uint32_t count, uint32_t *most) {
  const c_phase *f = v->phase;
  uint32_t *waits = NEW_ARRAY(f->w->memory, uint32_t, f->stage->nodes.count + 1);
  *most = 0;
  for (uint32_t i = 0; i < count; i++) {
    const net_node *node = &f->stage->nodes.items[f->nodes[i]];
    uint32_t *own = &waits[f->nodes[i]];
    for (uint32_t k = 0; k < node->operand_count; k++)
      *own = waits[node->operands[k]] > *own ? waits[node->operands[k]] : *own;
    *own += node->kind == NET_GATHER && !f->w->warps && !v->flips;
    *most = *own > *most ? *own : *most;
  }
  for (uint32_t i = 0; i < count; i++)
    if (net_node_scatters(f->stage->nodes.items[f->nodes[i]].kind))
      waits[f->nodes[i]] = *most + 1;
  return waits;
}

// The nodes with their loops. If there are none, all in one row by the gathers that they wait for,
// those that write last: their numbers in the op are those in the row.
static c_rolled order_nodes(op_view *v) {
  c_phase *f = v->phase;
  uint32_t count = net_op_nodes(f->stage, v->op, f->nodes), most;
  c_rolled r = c_roll_nodes(f->w->memory, f->stage, v->op, count, f->nodes);
  if (r.loop_count > 0 && !v->turns)
    return r;
  const uint32_t *waits = waits_of(v, count, &most);
  r = (c_rolled){.line = NEW_ARRAY(f->w->memory, net_id, count),
                 .segments = NEW_ARRAY(f->w->memory, c_segment, most + 2)};
  for (; r.segment_count < most + 2; r.segment_count++) {
    uint32_t first = r.line_count;
    for (uint32_t i = 0; i < count; i++)
      if (waits[f->nodes[i]] == r.segment_count)
        r.line[r.line_count++] = f->nodes[i];
    r.segments[r.segment_count] =
        (c_segment){.first = first, .period = r.line_count - first, .rounds = 1};
  }
  memcpy(f->nodes, r.line, count * sizeof *r.line);
  v->node_count = count;
  return r;
}

// Of loops as many as have room for what they carry in registers, and of gathers that wait for
// others: memory answers many at once. Where lanes are threads and elements are written to places
// that they compute, so many are read first, as a compiler cannot know that what is written is not
// what is read next.
static uint32_t cosets_at_once(const op_view *v, const c_rolled *r) {
  enum { MANY = 8, GATHERS = 4 };
  uint32_t carried = 1;
  for (uint32_t i = 0; i < r->segment_count; i++)
    if (r->segments[i].carried_count > carried)
      carried = r->segments[i].carried_count;
  if (r->loop_count > 0)
    return carried < MANY ? MANY / carried : 1;
  if (r->segment_count > 3)
    return GATHERS;
  return r->segments[r->segment_count - 1].period > 0 && v->phase->w->warps && !v->flips ? MANY : 1;
}

void c_execute(c_phase *f, const net_op *op) {
  op_view v = view_op(f, op);
  v.outputs = NEW_ARRAY(f->w->memory, c_registers, op->output_count);
  for (uint32_t i = 0; i < op->output_count; i++) {
    uint32_t number = f->pass->slot_of[op->outputs[i].value];
    if (number == NET_NONE)
      continue;
    // The registers of its slot, as they are where the op leaves them.
    scalar_type type = f->stage->values.items[op->outputs[i].value];
    const c_registers *slot = &f->slots[number];
    v.outputs[i] = c_registers_of(f->w, f->space, type);
    if (slot->id && scalar_parts(slot->type) == scalar_parts(type))
      memcpy(v.outputs[i].id, slot->id,
             ((size_t)scalar_parts(type) << f->space->r) * sizeof *slot->id);
  }
  uint64_t *cosets = NEW_ARRAY(f->w->memory, uint64_t, (size_t)1 << f->space->r);
  c_rolled rolled = order_nodes(&v);
  uint32_t count = list_cosets(&v, cosets), most = cosets_at_once(&v, &rolled);
  c_value *values = f->values;
  coset_group g = {&v, &rolled, most, cosets, NEW_ARRAY(f->w->memory, c_value *, most)};
  for (uint32_t i = 0; i < most; i++)
    g.values[i] = most == 1 ? values : NEW_ARRAY(f->w->memory, c_value, f->stage->nodes.count + 1);
  for (uint32_t i = 0; i < count; i += g.count, g.first += g.count) {
    g.count = count - i < most ? count - i : most;
    execute_group(&g);
  }
  f->values = values;
  for (uint32_t i = 0; i < op->output_count; i++)
    if (v.outputs[i].id)
      f->slots[f->pass->slot_of[op->outputs[i].value]] = v.outputs[i];
}
