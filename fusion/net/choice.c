// Nodes that choose by order, and ops that are comparators. See net.h.
#include "fusion/net/net.h"

net_extremum net_extremum_of(const net_stage *s, const net_node *node) {
  const net_id *of = node->operands;
  net_extremum none = {node->kind, OP_LE, {NET_NONE, NET_NONE}};
  if (node->kind == NET_MIN || node->kind == NET_MAX)
    return (net_extremum){node->kind, OP_LE, {of[0], of[1]}};
  if (node->kind != NET_SELECT || s->nodes.items[of[0]].kind != NET_SCALAR)
    return none;
  const net_node *condition = &s->nodes.items[of[0]];
  scalar_op op = condition->scalar;
  bool greater = op == OP_GT || op == OP_GE;
  if (!greater && op != OP_LT && op != OP_LE && op != OP_TOTAL_LE)
    return none;
  net_id a = condition->operands[greater], b = condition->operands[!greater];
  bool first = of[1] == a && of[2] == b;
  if (!first && (of[1] != b || of[2] != a))
    return none;
  scalar_op order = op == OP_GT ? OP_LT : op == OP_GE ? OP_LE : op;
  return (net_extremum){first ? NET_MIN : NET_MAX, order, {a, b}};
}

static bool is_of_index(const net_stage *s, const net_node *node) {
  return node->kind == NET_SCALAR && node->operand_count == 2 &&
         s->nodes.items[node->operands[0]].kind == NET_INDEX &&
         s->nodes.items[node->operands[1]].kind == NET_CONSTANT;
}

bool net_masks_index(const net_stage *s, const net_node *node) {
  int64_t mask = is_of_index(s, node) ? s->nodes.items[node->operands[1]].constant.i64 : -1;
  return mask >= 0 && mask <= INT32_MAX && node->scalar == OP_AND;
}

net_index_test net_index_test_of(const net_stage *s, const net_node *node) {
  net_index_test test = {NET_NONE, -1, 0};
  if (node->kind != NET_SCALAR || node->operand_count != 2 ||
      s->nodes.items[node->operands[1]].kind != NET_CONSTANT)
    return test;
  const net_node *bits = &s->nodes.items[node->operands[0]];
  int64_t with = s->nodes.items[node->operands[1]].constant.i64;
  if (is_of_index(s, node))
    return (net_index_test){node->operands[0], -1, with};
  int64_t mask = net_masks_index(s, bits) ? s->nodes.items[bits->operands[1]].constant.i64 : -1;
  return with >= 0 && with <= mask ? (net_index_test){bits->operands[0], mask, with} : test;
}

bool net_extrema_are_complementary(const net_stage *s, const net_extremum *x,
                                   const net_extremum *y) {
  if (!net_is_extremum(x) || !net_is_extremum(y) || x->kind == y->kind)
    return false;
  bool same = x->operands[0] == y->operands[0] && x->operands[1] == y->operands[1];
  bool swapped = x->operands[0] == y->operands[1] && x->operands[1] == y->operands[0];
  // Equal elements of other types than floats are alike, whichever is taken.
  bool exact = scalar_types[s->nodes.items[x->operands[0]].type].kind != KIND_FLOAT;
  return exact ? same || swapped : same && x->order == y->order;
}

bool net_op_comparator(const net_stage *s, const net_op *op, net_comparator *out) {
  const net_node *nodes = s->nodes.items;
  if (op->k != 1 || op->output_count != 1)
    return false;
  const net_id *e = op->outputs[0].elements;
  if (e[0] == NET_NONE || e[1] == NET_NONE)
    return false;
  net_extremum zero = net_extremum_of(s, &nodes[e[0]]), one = net_extremum_of(s, &nodes[e[1]]);
  if (!net_extrema_are_complementary(s, &zero, &one))
    return false;
  const net_node *a = &nodes[zero.operands[0]], *b = &nodes[zero.operands[1]];
  if (a->kind != NET_ELEMENT || b->kind != NET_ELEMENT || a->value != b->value ||
      a->number == b->number)
    return false;
  *out = (net_comparator){a->value, zero.kind, zero.order, a->number == 1};
  return true;
}
