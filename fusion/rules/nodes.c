// Rules on scalar code: constant, identity, minmax, and the calls of index. A node is looked at
// when it is made, so its operands are as simple as they get.
#include "fusion/rules/rewriting.h"

size_t count_operations(const net_stage *s, const net_op *op, net_id *nodes) {
  size_t operations = 0;
  for (uint32_t i = net_op_nodes(s, op, nodes); i-- > 0;) {
    net_node_kind kind = s->nodes.items[nodes[i]].kind;
    operations += !net_node_is(kind, NET_IS_LEAF);
  }
  return operations;
}

bool op_has_effect(rewriter *r, const net_op *op) {
  rewriter_grow_scratch(r);
  for (uint32_t i = net_op_nodes(r->stage, op, r->nodes); i-- > 0;)
    if (net_node_is(node_at(r, r->nodes[i])->kind, NET_HAS_EFFECT))
      return true;
  return false;
}

// `instead` spares the node, by that rule.
static net_id spared(rewriter *r, rule_id rule, net_id instead) {
  rewriter_fired(r, rule, 0, r->times);
  return instead;
}

// ---- constant --------------------------------------------------------------------------------

// Whether it is a function of constants; *out: its value.
static bool constant_value(const rewriter *r, const net_node *node, scalar_bits *out) {
  net_known of[3];
  net_node same = *node;
  if (!net_node_is(node->kind, NET_IS_FUNCTION))
    return false;
  for (uint32_t i = 0; i < node->operand_count; i++) {
    if (!is_constant(operand(r, node, i)))
      return false;
    of[i] = (net_known){.is = true, .value = operand(r, node, i)->constant};
  }
  same.operands = (net_id[]){0, 1, 2};
  net_known k = net_known_of(&same, operand(r, node, 0)->type, of);
  assert(k.is);
  *out = k.value;
  return true;
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

// ~ (x < y) = x >= y where one of the two holds: not of floats, but for == and !=.
static const struct {
  scalar_op op, opposite;
  scalar_class types;
} opposites[] = {
    {OP_EQ, OP_NE, CLASS_ANY},        {OP_NE, OP_EQ, CLASS_ANY},  {OP_LT, OP_GE, CLASS_BITS},
    {OP_GE, OP_LT, CLASS_BITS},       {OP_LE, OP_GT, CLASS_BITS}, {OP_GT, OP_LE, CLASS_BITS},
    {OP_TOTAL_LE, OP_GT, CLASS_BITS},
};
enum { OPPOSITES = sizeof opposites / sizeof *opposites };

static net_id negated_comparison(rewriter *r, const net_node *comparison) {
  if (comparison->kind != NET_SCALAR || comparison->operand_count != 2)
    return NET_NONE;
  for (int i = 0; i < OPPOSITES; i++)
    if (opposites[i].op == comparison->scalar &&
        (opposites[i].types & CLASS_OF(operand(r, comparison, 0)->type))) {
      net_node negated = *comparison;
      negated.scalar = opposites[i].opposite;
      return node_simplified(r, &negated);
    }
  return NET_NONE;
}

static bool is_complement(const net_node *node) {
  return node->kind == NET_SCALAR && node->scalar == OP_COMPLEMENT;
}

static net_id apply_identity(rewriter *r, const net_node *node) {
  if (node->kind == NET_CONVERT && operand(r, node, 0)->type == node->type &&
      (CLASS_OF(node->type) & CLASS_BITS))
    return node->operands[0];
  if (is_complement(node))
    return is_complement(operand(r, node, 0)) ? operand(r, node, 0)->operands[0]
                                              : negated_comparison(r, operand(r, node, 0));
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

// ---- and, or ---------------------------------------------------------------------------------

static bool is_scalar(const net_node *node, scalar_op op) {
  return node->kind == NET_SCALAR && node->scalar == op;
}

static bool is_le(const rewriter *r, const net_node *node) {
  return (is_scalar(node, OP_LE) || is_scalar(node, OP_TOTAL_LE)) &&
         (CLASS_OF(operand(r, node, 0)->type) & CLASS_BITS);
}

// x <= y & y <= x is x == y: what the order of tuples makes of the order of their components.
static net_id equal_of_both_le(rewriter *r, const net_node *node) {
  const net_node *a = operand(r, node, 0), *b = operand(r, node, 1);
  if (!is_scalar(node, OP_AND) || !is_le(r, a) || !is_le(r, b) ||
      a->operands[0] != b->operands[1] || a->operands[1] != b->operands[0])
    return NET_NONE;
  net_node equal = *a;
  equal.scalar = OP_EQ;
  return node_simplified(r, &equal);
}

static bool is_negation(const rewriter *r, net_id a, net_id b) {
  const net_node *x = node_at(r, a), *y = node_at(r, b);
  return (is_complement(x) && x->operands[0] == b) || (is_complement(y) && y->operands[0] == a);
}

// `node` with other operands, simplified.
static net_id node_with_operands(rewriter *r, const net_node *node, net_id a, net_id b) {
  net_id operands[2] = {a, b};
  net_node changed = *node;
  changed.operands = operands;
  return node_simplified(r, &changed);
}

// A tree of `op` without an operand that negates p: r & (~p & q) becomes r & q. NET_NONE if there
// is no such operand.
enum { MOST_DEPTH = 3 };
static net_id without_negation(rewriter *r, net_id tree, scalar_op op, net_id p, int depth) {
  const net_node *node = node_at(r, tree);
  if (!is_scalar(node, op) || depth == MOST_DEPTH)
    return NET_NONE;
  for (uint32_t i = 0; i < 2; i++) {
    net_id kept = node->operands[1 - i];
    if (is_negation(r, node->operands[i], p))
      return kept;
    net_id part = without_negation(r, node->operands[i], op, p, depth + 1);
    if (part == NET_NONE)
      continue;
    return node_with_operands(r, node, i == 0 ? part : kept, i == 0 ? kept : part);
  }
  return NET_NONE;
}

// p | (~p & q) = p | q and p & (~p | q) = p & q.
static net_id apply_absorption(rewriter *r, const net_node *node) {
  if (node->type != SCALAR_BOOL || !(is_scalar(node, OP_OR) || is_scalar(node, OP_AND)))
    return NET_NONE;
  scalar_op inner = node->scalar == OP_OR ? OP_AND : OP_OR;
  for (uint32_t i = 0; i < 2; i++) {
    net_id p = node->operands[i];
    net_id rest = without_negation(r, node->operands[1 - i], inner, p, 0);
    if (rest == NET_NONE)
      continue;
    return node_with_operands(r, node, i == 0 ? p : rest, i == 0 ? rest : p);
  }
  return NET_NONE;
}

// ---- minmax ----------------------------------------------------------------------------------

static bool same_operands(const net_node *a, const net_node *b) {
  return (a->operands[0] == b->operands[0] && a->operands[1] == b->operands[1]) ||
         (a->operands[0] == b->operands[1] && a->operands[1] == b->operands[0]);
}

// min (min x y) (max x y) = min x y: a compare-exchange repeated.
static net_id apply_lattice_law(const rewriter *r, const net_node *node) {
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

static net_id apply_minmax(rewriter *r, const net_node *node) {
  net_choice c = net_choice_of(r->stage, node);
  if (!net_is_choice(&c) || !(CLASS_OF(node->type) & CLASS_BITS))
    return NET_NONE;
  return add_choice(r, c.kind, node->type, c.operands[0], c.operands[1]);
}

// ---- select ----------------------------------------------------------------------------------

static net_id select_identity(rewriter *r, const net_node *node) {
  const net_node *c = operand(r, node, 0);
  net_id x = node->operands[1], y = node->operands[2];
  if (x == y)
    return x;
  if (is_complement(c)) {
    net_id operands[3] = {c->operands[0], y, x};
    net_node swapped = {
        .kind = NET_SELECT, .type = node->type, .operand_count = 3, .operands = operands};
    return node_simplified(r, &swapped);
  }
  return NET_NONE;
}

static net_id simplified_select(rewriter *r, const net_node *node) {
  const net_node *c = operand(r, node, 0);
  if (is_constant(c))
    return spared(r, RULE_CONSTANT, node->operands[c->constant.b ? 1 : 2]);
  net_id instead = select_identity(r, node);
  if (instead != NET_NONE)
    return spared(r, RULE_IDENTITY, instead);
  instead = apply_minmax(r, node);
  if (instead != NET_NONE)
    return spared(r, RULE_MINMAX, instead);
  return net_node_add(r->memory, r->stage, node);
}

// ---- room ------------------------------------------------------------------------------------

void rewriter_grow_scratch(rewriter *r) {
  size_t count = r->stage->nodes.count;
  if (count > r->nodes_capacity) {
    r->nodes_capacity = 2 * count;
    r->nodes = NEW_ARRAY(r->memory, net_id, r->nodes_capacity);
  }
  if (count > r->memo_count) {
    r->memo_count = 2 * count;
    r->memo = NEW_ARRAY(r->memory, net_id, r->memo_count);
    memset(r->memo, 0xff, r->memo_count * sizeof *r->memo);
  }
}

// ---- all of them -----------------------------------------------------------------------------

net_id node_simplified(rewriter *r, const net_node *node) {
  net_id instead = NET_NONE;
  scalar_bits value;
  if (constant_value(r, node, &value))
    return spared(r, RULE_CONSTANT, add_constant(r, node->type, value));
  if (node->kind == NET_INDEX) {
    instead = add_index(r, &node->map);
    return is_constant(node_at(r, instead)) ? spared(r, RULE_CONSTANT, instead) : instead;
  }
  instead = index_simplified(r, node);
  if (instead != NET_NONE)
    return spared(r, RULE_INDEX, instead);
  if (node->kind == NET_SELECT)
    return simplified_select(r, node);
  if (node->kind == NET_MIN || node->kind == NET_MAX) {
    if (node->operands[0] > node->operands[1])
      return add_choice(r, node->kind, node->type, node->operands[0], node->operands[1]);
    instead = apply_lattice_law(r, node);
  } else {
    instead = apply_identity(r, node);
    if (instead == NET_NONE && node->kind == NET_SCALAR && node->operand_count == 2)
      instead = equal_of_both_le(r, node);
    if (instead == NET_NONE && node->kind == NET_SCALAR && node->operand_count == 2)
      instead = apply_absorption(r, node);
  }
  if (instead != NET_NONE)
    return spared(r, RULE_IDENTITY, instead);
  return net_node_add(r->memory, r->stage, node);
}
