// Scalar code where only a part of what it reads is known. See net.h.
#include "fusion/net/net.h"

static bool same_bits(scalar_type type, scalar_bits a, scalar_bits b) {
  return !memcmp(a.bytes, b.bytes, scalar_types[type].size);
}

static bool is_greatest(scalar_type type, const net_known *k) {
  return k->is && CLASS_OF(type) & CLASS_ORD && same_bits(type, k->value, scalar_maxval(type));
}

static bool is_least(scalar_type type, const net_known *k) {
  return k->is && CLASS_OF(type) & CLASS_ORD && scalar_types[type].kind != KIND_FLOAT &&
         same_bits(type, k->value, scalar_minval(type));
}

static net_known known_bool(bool value) {
  net_known k = {.is = true};
  k.value.b = value;
  return k;
}

// What one side alone decides: comparisons with the ends of an order, and, or.
static net_known known_comparison(scalar_op op, scalar_type type, const net_known *a,
                                  const net_known *b) {
  bool exact = scalar_types[type].kind != KIND_FLOAT;
  bool a_first = is_greatest(type, b) || is_least(type, a);  // a <= b
  bool b_first = is_greatest(type, a) || is_least(type, b);
  if ((a->below && is_greatest(type, b)) || (b->below && is_greatest(type, a)))
    switch (op) {
    case OP_EQ:
    case OP_NE:
      return known_bool(op == OP_NE);
    case OP_LT:
    case OP_LE:
    case OP_TOTAL_LE:
      return known_bool(a->below);
    case OP_GT:
    case OP_GE:
      return known_bool(b->below);
    default:
      break;
    }
  if (a_first && (op == OP_TOTAL_LE || (exact && op == OP_LE)))
    return known_bool(true);
  if (a_first && exact && op == OP_GT)
    return known_bool(false);
  if (b_first && exact && (op == OP_GE || op == OP_LT))
    return known_bool(op == OP_GE);
  if (type == SCALAR_BOOL && op == OP_OR && ((a->is && a->value.b) || (b->is && b->value.b)))
    return known_bool(true);
  if (type == SCALAR_BOOL && op == OP_AND && ((a->is && !a->value.b) || (b->is && !b->value.b)))
    return known_bool(false);
  return (net_known){0};
}

static net_known known_scalar(const net_node *node, scalar_type from, const net_known *a,
                              const net_known *b) {
  if (!a->is || !b->is)
    return known_comparison(node->scalar, from, a, b);
  net_known k = {.is = true};
  scalar_apply(node->scalar, from, 1, &a->value, &b->value, &k.value);
  return k;
}

static net_known known_choice(const net_node *node, const net_known *a, const net_known *b) {
  bool max = node->kind == NET_MAX, less;
  if (max ? is_greatest(node->type, a) : is_least(node->type, a))
    return *a;
  if (max ? is_greatest(node->type, b) : is_least(node->type, b))
    return *b;
  if (!a->is || !b->is)
    return (net_known){0};
  scalar_apply(OP_LE, node->type, 1, &a->value, &b->value, &less);
  return less == max ? *b : *a;
}

net_known net_known_of(const net_node *node, scalar_type from, const net_known *known) {
  net_known made = {0}, unknown = {0};
  const net_known *of[3] = {&unknown, &unknown, &unknown};
  for (uint32_t i = 0; i < node->operand_count; i++) {
    of[i < 2 ? i : 2] = &known[node->operands[i]];
    unknown.any |= known[node->operands[i]].any;
  }
  switch (node->kind) {
  case NET_CONSTANT:
    return (net_known){.is = true, .value = node->constant};
  case NET_SCALAR:
    made = known_scalar(node, from, of[0], of[node->operand_count - 1]);
    break;
  case NET_MIN:
  case NET_MAX:
    made = known_choice(node, of[0], of[1]);
    break;
  case NET_SELECT:
    if (of[0]->is)
      return *of[of[0]->value.b ? 1 : 2];
    if (of[1]->is && of[2]->is && same_bits(node->type, of[1]->value, of[2]->value))
      made = *of[1];
    break;
  case NET_CONVERT:
    made.is = of[0]->is;
    if (made.is)
      scalar_convert(from, node->type, 1, &of[0]->value, &made.value);
    break;
  case NET_ROOT:
    made.is = of[0]->is;
    if (made.is)
      made.value = scalar_root(node->type, of[0]->value.i64, (int64_t)node->number);
    break;
  case NET_ELEMENT:
  case NET_INDEX:
  case NET_EXTERN:
  case NET_GATHER:
  case NET_SCATTER:
  case NET_GROUP:
  case NET_TURN:
  case NET_FOLD:
    break;
  }
  return made.is ? made : unknown;
}
