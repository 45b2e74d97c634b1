// Rules on scalar code: constant, identity, minmax. A node is looked at when it is made, so its
// operands are as simple as they get.
#include "fusion/rewriting.h"

static const net_node *node_at(const rewriter *r, net_id id) { return &r->stage->nodes.items[id]; }

static const net_node *operand(const rewriter *r, const net_node *node, uint32_t i) {
  return node_at(r, node->operands[i]);
}

static net_id add_constant(rewriter *r, scalar_type type, scalar_bits bits) {
  return net_node_add(r->memory, r->stage,
                      &(net_node){.kind = NET_CONSTANT, .type = type, .constant = bits});
}

bool node_is_operation(const net_node *node) {
  return node->kind != NET_LEAF && node->kind != NET_CONSTANT;
}

// A rule spared the node.
static net_id fired(rewriter *r, rule_id rule, net_id instead) {
  rewriter_fired(r, rule, 0, r->times);
  return instead;
}

// ---- constant --------------------------------------------------------------------------------

static bool is_constant(const net_node *node) { return node->kind == NET_CONSTANT; }

static bool all_constant(const rewriter *r, const net_node *node) {
  for (uint32_t i = 0; i < node->operand_count; i++)
    if (!is_constant(operand(r, node, i)))
      return false;
  return node->operand_count > 0 && node->kind != NET_EXTERN;
}

static scalar_bits evaluate(const rewriter *r, const net_node *node) {
  scalar_bits out = {{0}}, in[3] = {{{0}}};
  for (uint32_t i = 0; i < node->operand_count; i++)
    in[i] = operand(r, node, i)->constant;
  scalar_type from = operand(r, node, 0)->type;
  bool le = false;
  switch (node->kind) {
  case NET_SCALAR:
    scalar_apply(node->scalar, from, 1, &in[0], &in[1], &out);
    break;
  case NET_MIN:
  case NET_MAX:
    scalar_apply(OP_LE, from, 1, &in[0], &in[1], &le);
    return in[le == (node->kind == NET_MIN) ? 0 : 1];
  case NET_SELECT:
    return in[in[0].b ? 1 : 2];
  case NET_CONVERT:
    scalar_convert(from, node->type, 1, &in[0], &out);
    break;
  default:
    assert(node->kind == NET_ROOT);
    return scalar_root(node->type, in[0].i64, (int64_t)node->number);
  }
  return out;
}

// An index without the rows that are the same everywhere.
static net_map map_simplified(arena *a, const net_map *map) {
  net_map result = *map;
  result.row_count = 0;
  result.rows = NEW_ARRAY(a, net_row, map->row_count);
  for (uint32_t i = 0; i < map->row_count; i++) {
    const net_row *row = &map->rows[i];
    if (row->form.mask != 0 && row->weight != 0)
      result.rows[result.row_count++] = *row;
    else if (row->form.constant)
      result.offset = (int64_t)((uint64_t)result.offset + (uint64_t)row->weight);
  }
  return result;
}

static net_id simplified_index(rewriter *r, const net_node *node) {
  net_node copy = *node;
  copy.map = map_simplified(r->memory, &node->map);
  bool constant = copy.map.row_count == 0;
  for (uint32_t l = 0; l < copy.map.loop_count; l++)
    constant = constant && copy.map.strides[l] == 0;
  if (!constant)
    return net_node_add(r->memory, r->stage, &copy);
  scalar_bits value = scalar_from_i64(SCALAR_I64, copy.map.offset);
  return fired(r, RULE_CONSTANT, add_constant(r, SCALAR_I64, value));
}

// ---- identity --------------------------------------------------------------------------------

enum { LEFT = 1, RIGHT = 2, EITHER = 3, BOTH_EQUAL = 4 };  // which operand is the constant

// Operations on integers that need not be done. BOTH_EQUAL: the operands are one node.
static const struct {
  scalar_op op;
  int side;
  scalar_class types;
  int8_t constant;  // of the operand at `side`, as its type
  bool gives_other;
  int8_t gives;  // else this, as the result's type
} identities[] = {
    {OP_ADD, EITHER, CLASS_INTEGER, 0, true, 0},
    {OP_SUB, RIGHT, CLASS_INTEGER, 0, true, 0},
    {OP_SUB, BOTH_EQUAL, CLASS_INTEGER, 0, false, 0},
    {OP_MUL, EITHER, CLASS_INTEGER, 1, true, 0},
    {OP_MUL, EITHER, CLASS_INTEGER, 0, false, 0},
    {OP_DIV, RIGHT, CLASS_INTEGER, 1, true, 0},
    {OP_DIV, LEFT, CLASS_INTEGER, 0, false, 0},
    {OP_MOD, RIGHT, CLASS_INTEGER, 1, false, 0},
    {OP_MOD, LEFT, CLASS_INTEGER, 0, false, 0},
    {OP_POWI, RIGHT, CLASS_INTEGER, 1, true, 0},
    {OP_POWI, RIGHT, CLASS_INTEGER, 0, false, 1},
    {OP_AND, EITHER, CLASS_BITS, 0, false, 0},
    {OP_AND, EITHER, CLASS_BITS, -1, true, 0},
    {OP_AND, BOTH_EQUAL, CLASS_BITS, 0, true, 0},
    {OP_OR, EITHER, CLASS_BITS, 0, true, 0},
    {OP_OR, EITHER, CLASS_BITS, -1, false, -1},
    {OP_OR, BOTH_EQUAL, CLASS_BITS, 0, true, 0},
    {OP_XOR, EITHER, CLASS_BITS, 0, true, 0},
    {OP_XOR, BOTH_EQUAL, CLASS_BITS, 0, false, 0},
    {OP_SHL, RIGHT, CLASS_INTEGER, 0, true, 0},
    {OP_SHR, RIGHT, CLASS_INTEGER, 0, true, 0},
    {OP_EQ, BOTH_EQUAL, CLASS_BITS, 0, false, 1},
    {OP_NE, BOTH_EQUAL, CLASS_BITS, 0, false, 0},
    {OP_LT, BOTH_EQUAL, CLASS_BITS, 0, false, 0},
    {OP_LE, BOTH_EQUAL, CLASS_BITS, 0, false, 1},
    {OP_GT, BOTH_EQUAL, CLASS_BITS, 0, false, 0},
    {OP_GE, BOTH_EQUAL, CLASS_BITS, 0, false, 1},
    {OP_TOTAL_LE, BOTH_EQUAL, CLASS_ORD, 0, false, 1},
};
enum { IDENTITIES = sizeof identities / sizeof *identities };

static bool is_number(const net_node *node, int64_t value) {
  scalar_bits bits = scalar_from_i64(node->type, value);
  return is_constant(node) && memcmp(&node->constant, &bits, sizeof bits) == 0;
}

// The operand that row i of the table leaves, or of which it knows all; -1: the row does not apply.
static int identity_operand(const rewriter *r, const net_node *node, int i) {
  const net_node *left = operand(r, node, 0), *right = operand(r, node, 1);
  if (identities[i].op != node->scalar || !(identities[i].types & CLASS_OF(left->type)))
    return -1;
  if (identities[i].side == BOTH_EQUAL)
    return node->operands[0] == node->operands[1] ? 0 : -1;
  if ((identities[i].side & RIGHT) && is_number(right, identities[i].constant))
    return 0;
  if ((identities[i].side & LEFT) && is_number(left, identities[i].constant))
    return 1;
  return -1;
}

static bool is_complement(const net_node *node) {
  return node->kind == NET_SCALAR && node->scalar == OP_COMPLEMENT;
}

static net_id identity(rewriter *r, const net_node *node) {
  if (node->kind == NET_CONVERT && operand(r, node, 0)->type == node->type &&
      (CLASS_OF(node->type) & CLASS_BITS))
    return node->operands[0];
  if (is_complement(node) && is_complement(operand(r, node, 0)))
    return operand(r, node, 0)->operands[0];
  if (node->kind != NET_SCALAR || node->operand_count != 2)
    return NET_NONE;
  for (int i = 0; i < IDENTITIES; i++) {
    int other = identity_operand(r, node, i);
    if (other >= 0 && identities[i].gives_other)
      return node->operands[other];
    if (other >= 0)
      return add_constant(r, node->type, scalar_from_i64(node->type, identities[i].gives));
  }
  return NET_NONE;
}

// ---- minmax ----------------------------------------------------------------------------------

static bool same_operands(const net_node *a, const net_node *b) {
  return (a->operands[0] == b->operands[0] && a->operands[1] == b->operands[1]) ||
         (a->operands[0] == b->operands[1] && a->operands[1] == b->operands[0]);
}

// min (min x y) (max x y) = min x y: a compare-exchange repeated.
static net_id lattice(const rewriter *r, const net_node *node) {
  if (node->operands[0] == node->operands[1])
    return node->operands[0];
  for (uint32_t i = 0; i < 2; i++) {
    const net_node *least = operand(r, node, i), *most = operand(r, node, 1 - i);
    if (least->kind == NET_MIN && most->kind == NET_MAX && same_operands(least, most))
      return node->operands[node->kind == NET_MIN ? i : 1 - i];
  }
  return NET_NONE;
}

// Equal operands may change places: the order of their numbers makes equal nodes of them.
static net_id add_choice(rewriter *r, net_node_kind kind, scalar_type type, net_id x, net_id y) {
  net_id operands[2] = {x < y ? x : y, x < y ? y : x};
  net_node node = {.kind = kind, .type = type, .operand_count = 2, .operands = operands};
  return node_simplified(r, &node);
}

// Which operand of the comparison is chosen where it holds: the smaller, the larger, or not one of
// an order.
static net_node_kind chosen_where_true(const net_node *comparison) {
  if (comparison->kind != NET_SCALAR)
    return NET_SELECT;
  switch (comparison->scalar) {
  case OP_LT:
  case OP_LE:
  case OP_TOTAL_LE:
    return NET_MIN;
  case OP_GT:
  case OP_GE:
    return NET_MAX;
  default:
    return NET_SELECT;
  }
}

static net_id minmax(rewriter *r, const net_node *node) {
  const net_node *c = operand(r, node, 0);
  net_node_kind kind = chosen_where_true(c);
  net_id x = node->operands[1], y = node->operands[2];
  if (kind == NET_SELECT || !(CLASS_OF(node->type) & CLASS_BITS))
    return NET_NONE;
  if (c->operands[0] == y && c->operands[1] == x)
    kind = kind == NET_MIN ? NET_MAX : NET_MIN;
  else if (c->operands[0] != x || c->operands[1] != y)
    return NET_NONE;
  return add_choice(r, kind, node->type, x, y);
}

// ---- select ----------------------------------------------------------------------------------

static net_id select_identity(rewriter *r, const net_node *node) {
  const net_node *c = operand(r, node, 0);
  net_id x = node->operands[1], y = node->operands[2];
  if (x == y)
    return x;
  if (is_complement(c)) {
    net_id operands[3] = {c->operands[0], y, x};
    net_node turned = {
        .kind = NET_SELECT, .type = node->type, .operand_count = 3, .operands = operands};
    return node_simplified(r, &turned);
  }
  return NET_NONE;
}

static net_id simplified_select(rewriter *r, const net_node *node) {
  const net_node *c = operand(r, node, 0);
  if (is_constant(c))
    return fired(r, RULE_CONSTANT, node->operands[c->constant.b ? 1 : 2]);
  net_id instead = select_identity(r, node);
  if (instead != NET_NONE)
    return fired(r, RULE_IDENTITY, instead);
  instead = minmax(r, node);
  if (instead != NET_NONE)
    return fired(r, RULE_MINMAX, instead);
  return net_node_add(r->memory, r->stage, node);
}

// ---- all of them -----------------------------------------------------------------------------

net_id node_simplified(rewriter *r, const net_node *node) {
  net_id instead = NET_NONE;
  if (all_constant(r, node))
    return fired(r, RULE_CONSTANT, add_constant(r, node->type, evaluate(r, node)));
  if (node->kind == NET_INDEX)
    return simplified_index(r, node);
  if (node->kind == NET_SELECT)
    return simplified_select(r, node);
  if (node->kind == NET_MIN || node->kind == NET_MAX) {
    if (node->operands[0] > node->operands[1])
      return add_choice(r, node->kind, node->type, node->operands[0], node->operands[1]);
    instead = lattice(r, node);
  } else {
    instead = identity(r, node);
  }
  if (instead != NET_NONE)
    return fired(r, RULE_IDENTITY, instead);
  return net_node_add(r->memory, r->stage, node);
}
