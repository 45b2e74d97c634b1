// Rules on scalar code: constant, identity, minmax, and the calls of index. A node is looked at
// when it is made, so its operands are as simple as they get.
#include "fusion/rules/rewriting.h"

#include <ctype.h>

uint32_t rewriter_walk(rewriter *r, const net_op *op) {
  if (r->stage->nodes.count > r->capacity) {
    r->capacity = 2 * r->stage->nodes.count;
    r->nodes = NEW_ARRAY(r->memory, net_id, r->capacity);
    r->memo = NEW_ARRAY(r->memory, net_id, r->capacity);
    memset(r->memo, 0xff, r->capacity * sizeof *r->memo);
  }
  return net_op_nodes(r->stage, op, r->nodes);
}

size_t rewriter_count_operations(rewriter *r, const net_op *op) {
  size_t operations = 0;
  for (uint32_t i = rewriter_walk(r, op); i-- > 0;)
    operations += !net_node_is(node_at(r, r->nodes[i])->kind, NET_IS_LEAF);
  return operations;
}

bool op_has_effect(rewriter *r, const net_op *op) {
  for (uint32_t i = rewriter_walk(r, op); i-- > 0;)
    if (net_node_is(node_at(r, r->nodes[i])->kind, NET_HAS_EFFECT))
      return true;
  return false;
}

void rewriter_forget(rewriter *r, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    r->memo[r->nodes[i]] = NET_NONE;
}

net_output *dead_outputs(arena *a, const net_op *op, uint32_t k) {
  net_output *outputs = NEW_ARRAY(a, net_output, op->output_count);
  for (uint32_t i = 0; i < op->output_count; i++) {
    outputs[i] = (net_output){op->outputs[i].value, NEW_ARRAY(a, net_id, UINT64_C(1) << k)};
    memset(outputs[i].elements, 0xff, sizeof(net_id) << k);
  }
  return outputs;
}

net_op rewriter_take_memo(rewriter *r, const net_op *op, uint32_t count) {
  net_op result = *op;
  result.outputs = dead_outputs(r->memory, op, op->k);
  for (uint32_t i = 0; i < op->output_count; i++)
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++)
      if (op->outputs[i].elements[j] != NET_NONE)
        result.outputs[i].elements[j] = r->memo[op->outputs[i].elements[j]];
  rewriter_forget(r, count);
  return result;
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
  *out = k.value;
  return k.is;
}

// ---- identity --------------------------------------------------------------------------------

// Laws of scalar code, in the notation of Nets: a node like the left side is what the right side
// says. A letter stands for one node, a number for a constant; x has one of the types. Floats have
// -0 and NaN: of them no number is computed in another way, and no order is reversed. x occurs on the
// left. A law holds for one order of operands: the other one is a law of its own.
//
//   t0 = < v0[0] v0[1]           "~ (< x y) = >= x y"
//   t1 = ~ t0             ->     t1 = >= v0[0] v0[1]
enum { MOST_LAWS = 40, LETTERS = 4 };  // of a class; w, x, y, z
static const struct {
  scalar_class types;
  const char *laws[MOST_LAWS];
} classes[] = {
    // clang-format off
    {CLASS_INTEGER, {
        "+ x 0 = x", "+ 0 x = x", "- x 0 = x", "- x x = 0",
        "* x 1 = x", "* 1 x = x", "* x 0 = 0", "* 0 x = 0",
        "/ x 1 = x", "/ 0 x = 0", "% x 1 = 0", "% 0 x = 0",
        "^ x 1 = x", "^ x 0 = 1", "<< x 0 = x", ">> x 0 = x"}},
    {CLASS_BITS, {
        "& x 0 = 0", "& 0 x = 0", "& x -1 = x", "& -1 x = x", "& x x = x",
        "| x 0 = x", "| 0 x = x", "| x -1 = -1", "| -1 x = -1", "| x x = x",
        "xor x 0 = x", "xor 0 x = x", "xor x x = 0", "~ (~ x) = x",
        "== x x = 1", "!= x x = 0", "< x x = 0", "<= x x = 1", "> x x = 0", ">= x x = 1",
        "~ (< x y) = >= x y", "~ (>= x y) = < x y", "~ (<= x y) = > x y", "~ (> x y) = <= x y",
        "~ (total_le x y) = > x y",
        // What the order of tuples makes of the order of their components.
        "& (<= x y) (<= y x) = == x y", "& (<= x y) (total_le y x) = == x y",
        "& (total_le x y) (<= y x) = == x y", "& (total_le x y) (total_le y x) = == x y",
        // A compare-exchange repeated.
        "min (min x y) (max x y) = min x y", "min (max x y) (min x y) = min x y",
        "max (min x y) (max x y) = max x y", "max (max x y) (min x y) = max x y",
        "min x x = x", "max x x = x"}},
    {CLASS_ORD, {"total_le x x = 1"}},
    {CLASS_ANY, {
        "~ (== x y) = != x y", "~ (!= x y) = == x y",
        "select z x x = x", "select (~ z) x y = select z y x",
        "select (!= x y) z w = select (== x y) w z"}},
    // clang-format on
};
enum { CLASSES = sizeof classes / sizeof *classes };

// Whether the node is as the pattern says, which is passed over. bound: what letters stand for.
static bool is_like(const rewriter *r, const net_node *node, const char **pattern, net_id *bound) {
  const char *name = net_node_name(node);
  size_t length = strlen(name);
  bool like = !strncmp(*pattern, name, length) && (*pattern)[length] == ' ';
  *pattern += like ? length : 0;
  for (uint32_t i = 0; i < node->operand_count && like; i++) {
    const net_node *of = operand(r, node, i);
    char token = *++*pattern;
    if (token == '(') {
      ++*pattern;
      like = is_like(r, of, pattern, bound);
      ++*pattern;
    } else if (token >= 'w') {
      net_id *letter = &bound[token - 'w'];
      like = *letter == NET_NONE || *letter == node->operands[i];
      *letter = node->operands[i];
      ++*pattern;
    } else {
      scalar_bits bits = scalar_from_i64(of->type, strtol(*pattern, (char **)pattern, 10));
      like = is_constant(of) && !memcmp(&of->constant, &bits, sizeof bits);
    }
  }
  return like;
}

// What the right side of a law is, which is passed over, as a node of that type.
static net_id node_of_law(rewriter *r, scalar_type type, const char **to, const net_id *bound) {
  const char *from = *to += **to == '(';
  size_t length = strcspn(from, " )");
  *to += length;
  if (length == 1 && *from >= 'w' && *from <= 'z')
    return bound[*from - 'w'];
  if (isdigit((unsigned char)from[length - 1]))
    return add_constant(r, type, scalar_from_i64(type, strtol(from, NULL, 10)));
  net_id operands[LETTERS];
  net_node node = {.kind = NET_SCALAR, .type = type, .operands = operands};
  for (int i = 0; i < NET_NODE_KINDS + SCALAR_OP_COUNT; i++) {
    node.kind = i < SCALAR_OP_COUNT ? NET_SCALAR : (net_node_kind)(i - SCALAR_OP_COUNT);
    node.scalar = i < SCALAR_OP_COUNT ? (scalar_op)i : OP_ADD;
    const char *name = net_node_name(&node);
    if (strlen(name) == length && !strncmp(name, from, length))
      break;
  }
  if (node.kind == NET_SCALAR && scalar_ops[node.scalar].result == RESULT_BOOL)
    node.type = SCALAR_BOOL;
  while (**to == ' ') {
    ++*to;
    operands[node.operand_count++] = node_of_law(r, type, to, bound);
  }
  *to += **to == ')';
  return node_simplified(r, &node);
}

static net_id apply_laws(rewriter *r, const net_node *node) {
  char first = *net_node_name(node);
  for (int i = 0; i < CLASSES; i++)
    for (int k = 0; k < MOST_LAWS && classes[i].laws[k]; k++) {
      const char *at = classes[i].laws[k];
      net_id bound[LETTERS];
      memset(bound, 0xff, sizeof bound);
      if (*at == first && is_like(r, node, &at, bound) &&
          classes[i].types & CLASS_OF(node_at(r, bound['x' - 'w'])->type)) {
        at += strlen(" = ");
        return node_of_law(r, node->type, &at, bound);
      }
    }
  return NET_NONE;
}

// ---- absorption ------------------------------------------------------------------------------

static bool is_scalar(const net_node *node, scalar_op op) {
  return node->kind == NET_SCALAR && node->scalar == op;
}

static bool is_negation(const rewriter *r, net_id a, net_id b) {
  const net_node *x = node_at(r, a), *y = node_at(r, b);
  return (is_scalar(x, OP_COMPLEMENT) && x->operands[0] == b) ||
         (is_scalar(y, OP_COMPLEMENT) && y->operands[0] == a);
}

// The node with `instead` as operand i.
static net_id node_with_operand(rewriter *r, const net_node *node, uint32_t i, net_id instead) {
  net_id operands[2] = {node->operands[0], node->operands[1]};
  net_node changed = *node;
  operands[i] = instead;
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
    if (is_negation(r, node->operands[i], p))
      return node->operands[1 - i];
    net_id part = without_negation(r, node->operands[i], op, p, depth + 1);
    if (part != NET_NONE)
      return node_with_operand(r, node, i, part);
  }
  return NET_NONE;
}

// p | (~p & q) = p | q and p & (~p | q) = p & q.
static net_id apply_absorption(rewriter *r, const net_node *node) {
  if (node->type != SCALAR_BOOL || !(is_scalar(node, OP_OR) || is_scalar(node, OP_AND)))
    return NET_NONE;
  scalar_op inner = node->scalar == OP_OR ? OP_AND : OP_OR;
  for (uint32_t i = 0; i < 2; i++) {
    net_id rest = without_negation(r, node->operands[1 - i], inner, node->operands[i], 0);
    if (rest != NET_NONE)
      return node_with_operand(r, node, 1 - i, rest);
  }
  return NET_NONE;
}

// ---- decided choices -------------------------------------------------------------------------

// A node in a branch of a select, where its condition holds or does not: choices among choices, which
// cost little where others need the node as it was.
//   select c (min (select c x y) z) w  ->  select c (min x z) w
static net_id decided(rewriter *r, net_id id, net_id condition, bool holds, int depth) {
  enum { MOST_CHOICES = 4 };
  const net_node node = *node_at(r, id);
  bool chooses = node.kind == NET_SELECT;
  if (chooses && node.operands[0] == condition)
    return decided(r, node.operands[holds ? 1 : 2], condition, holds, depth);
  if (depth == MOST_CHOICES || !(chooses || node.kind == NET_MIN || node.kind == NET_MAX))
    return id;
  net_id operands[3] = {node.operands[0]};
  net_node changed = node;
  changed.operands = operands;
  for (uint32_t i = chooses; i < node.operand_count; i++)
    operands[i] = decided(r, node.operands[i], condition, holds, depth + 1);
  bool same = !memcmp(operands, node.operands, node.operand_count * sizeof *operands);
  return same ? id : node_simplified(r, &changed);
}

static net_id apply_decided(rewriter *r, const net_node *node) {
  net_id c = node->operands[0], operands[3] = {c, decided(r, node->operands[1], c, true, 0),
                                               decided(r, node->operands[2], c, false, 0)};
  net_node changed = *node;
  changed.operands = operands;
  bool same = operands[1] == node->operands[1] && operands[2] == node->operands[2];
  return same ? NET_NONE : node_simplified(r, &changed);
}

// ---- minmax ----------------------------------------------------------------------------------

// Equal operands may change places: the order of their numbers makes equal nodes of them.
static net_id add_choice(rewriter *r, net_node_kind kind, scalar_type type, net_id x, net_id y) {
  net_id operands[2] = {x < y ? x : y, x < y ? y : x};
  net_node node = {.kind = kind, .type = type, .operand_count = 2, .operands = operands};
  return node_simplified(r, &node);
}

static net_id apply_minmax(rewriter *r, const net_node *node) {
  net_extremum c = net_extremum_of(r->stage, node);
  if (!net_is_extremum(&c) || !(CLASS_OF(node->type) & CLASS_BITS))
    return NET_NONE;
  return add_choice(r, c.kind, node->type, c.operands[0], c.operands[1]);
}

// ---- all of them -----------------------------------------------------------------------------

net_id node_simplified(rewriter *r, const net_node *node) {
  net_id instead = NET_NONE;
  scalar_bits value;
  if (constant_value(r, node, &value))
    return spared(r, RULE_CONSTANT, add_constant(r, node->type, value));
  if (node->kind == NET_SELECT && is_constant(operand(r, node, 0)))
    return spared(r, RULE_CONSTANT, node->operands[operand(r, node, 0)->constant.b ? 1 : 2]);
  if (node->kind == NET_INDEX) {
    instead = add_index(r, &node->map);
    return is_constant(node_at(r, instead)) ? spared(r, RULE_CONSTANT, instead) : instead;
  }
  if ((node->kind == NET_MIN || node->kind == NET_MAX) && node->operands[0] > node->operands[1])
    return add_choice(r, node->kind, node->type, node->operands[0], node->operands[1]);
  instead = index_simplified(r, node);
  if (instead != NET_NONE)
    return spared(r, RULE_INDEX, instead);
  instead = apply_laws(r, node);
  if (instead == NET_NONE && node->kind == NET_CONVERT && CLASS_OF(node->type) & CLASS_BITS &&
      operand(r, node, 0)->type == node->type)
    instead = node->operands[0];
  if (instead == NET_NONE)
    instead = apply_absorption(r, node);
  if (instead == NET_NONE && node->kind == NET_SELECT)
    instead = apply_decided(r, node);
  if (instead != NET_NONE)
    return spared(r, RULE_IDENTITY, instead);
  instead = node->kind == NET_SELECT ? apply_minmax(r, node) : NET_NONE;
  if (instead != NET_NONE)
    return spared(r, RULE_MINMAX, instead);
  return net_node_add(r->memory, r->stage, node);
}
