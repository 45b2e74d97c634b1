// The rule `index`: affine functions of the index (NET_INDEX) stay such under sums, and where their
// bits are affine forms under operations on bits; they compare alike everywhere if they are far
// enough apart.
//
//   root c64 8 (negate (index x2 + index x1 * 2))  ->  root c64 8 (index -x2 - 2*x1)
//   (index x0 + 2*x1 + 4*x2) xor i64:5             ->  index (x0^1) + 2*x1 + 4*(x2^1)
#include "core/permutation/index_bits.h"
#include "fusion/rules/rewriting.h"

bool node_is_index(const rewriter *r, const net_node *node, net_map *map) {
  *map = node->map;
  if (node->kind == NET_INDEX)
    return true;
  if (node->kind != NET_CONSTANT || node->type != SCALAR_I64)
    return false;
  *map = net_map_new(r->memory, r->stage->loop_count, 0);
  map->offset = node->constant.i64;
  return true;
}

net_id add_index(rewriter *r, const net_map *map) {
  if (net_map_is_constant(map))
    return add_constant(r, SCALAR_I64, scalar_from_i64(SCALAR_I64, map->offset));
  return net_node_add(r->memory, r->stage,
                      &(net_node){.kind = NET_INDEX, .type = SCALAR_I64, .map = *map});
}

// Sums, differences and multiples of indices.
static net_id index_arithmetic(rewriter *r, const net_node *node) {
  net_map x, y, result;
  if (node->kind != NET_SCALAR || node->type != SCALAR_I64 ||
      !node_is_index(r, operand(r, node, 0), &x) ||
      !node_is_index(r, operand(r, node, node->operand_count - 1), &y))
    return NET_NONE;
  return net_map_apply(r->memory, node->scalar, &x, &y, &result) ? add_index(r, &result) : NET_NONE;
}

static bool bits_of_index(const rewriter *r, const net_node *node, index_bits *bits) {
  net_map map;
  if (!node_is_index(r, node, &map))
    return false;
  for (uint32_t l = 0; l < map.loop_count; l++)
    if (map.strides[l])
      return false;
  return net_map_bits(&map, r->stage->n, F2_MAX, bits);
}

// Operations on bits: what is an index afterwards.
static net_id index_bitwise(rewriter *r, const net_node *node) {
  index_bits x, y, z;
  if (node->kind != NET_SCALAR || node->type != SCALAR_I64 || node->operand_count != 2 ||
      scalar_ops[node->scalar].result != RESULT_SAME ||
      !bits_of_index(r, operand(r, node, 0), &x) || !bits_of_index(r, operand(r, node, 1), &y) ||
      !index_bits_apply(node->scalar, &x, &y, &z))
    return NET_NONE;
  net_map map = net_map_new(r->memory, r->stage->loop_count, F2_MAX);
  for (int i = 0; i < F2_MAX; i++)
    map.rows[i] = (net_row){{z.a.row[i], f2_bit(z.c, i)}, INT64_C(1) << i};
  net_map_normalise(&map);
  return add_index(r, &map);
}

// Whether differences of such maps keep far from overflow, but for what the loops contribute.
static bool is_small(const net_map *m) {
  const int64_t most = INT64_C(1) << 56;
  bool small = m->offset <= most && m->offset >= -most && m->row_count <= 32;
  for (uint32_t l = 0; l < m->loop_count; l++)
    small = small && m->strides[l] <= most && m->strides[l] >= -most;
  for (uint32_t i = 0; i < m->row_count; i++)
    small = small && m->rows[i].weight <= most && m->rows[i].weight >= -most;
  return small;
}

// Comparisons that hold everywhere or nowhere.
static net_id index_comparison(rewriter *r, const net_node *node) {
  net_map x, y;
  int64_t low, high;
  if (node->kind != NET_SCALAR || scalar_ops[node->scalar].result != RESULT_BOOL ||
      node->operand_count != 2 || !node_is_index(r, operand(r, node, 0), &x) ||
      !node_is_index(r, operand(r, node, 1), &y) || !is_small(&x) || !is_small(&y))
    return NET_NONE;
  f2_space all = live_all(r->stage->n);
  const uint64_t *extents = r->stage->extents;
  net_map difference = net_map_sum(r->memory, &x, -1, &y);
  if (!live_map_range(r->memory, &x, extents, all, &low, &high) ||
      !live_map_range(r->memory, &y, extents, all, &low, &high) ||
      !live_map_range(r->memory, &difference, extents, all, &low, &high))
    return NET_NONE;
  // Whether x op y at the least and at the largest difference; in between it changes at most once,
  // but for == and !=.
  scalar_bits ends[2] = {{.i64 = low}, {.i64 = high}}, zero = {.i64 = 0};
  bool holds[2] = {false, false};
  for (int i = 0; i < 2; i++)
    scalar_apply(node->scalar, SCALAR_I64, 1, &ends[i], &zero, &holds[i]);
  bool equality = node->scalar == OP_EQ || node->scalar == OP_NE;
  if (holds[0] != holds[1] || (equality && low < 0 && high > 0))
    return NET_NONE;
  return add_constant(r, SCALAR_BOOL, (scalar_bits){.b = holds[0]});
}

static net_id add_scalar(rewriter *r, scalar_op op, scalar_type type, net_id x, net_id y) {
  net_node node = {.kind = NET_SCALAR, .scalar = op, .type = type};
  node.operand_count = 2;
  node.operands = (net_id[]){x, y};
  return net_node_add(r->memory, r->stage, &node);
}

// Of comparisons with a constant those with the index first: emitters know them (net_index_test).
static net_id index_first(rewriter *r, const net_node *node) {
  static const scalar_op turned[SCALAR_OP_COUNT] = {
      [OP_LT] = OP_GT, [OP_GT] = OP_LT, [OP_LE] = OP_GE,
      [OP_GE] = OP_LE, [OP_EQ] = OP_EQ, [OP_NE] = OP_NE};
  if (node->kind != NET_SCALAR || node->operand_count != 2 || !turned[node->scalar] ||
      !is_constant(operand(r, node, 0)) || operand(r, node, 1)->kind != NET_INDEX)
    return NET_NONE;
  return add_scalar(r, turned[node->scalar], SCALAR_BOOL, node->operands[1], node->operands[0]);
}

// Remainders by a constant m: of a power of two its low bits, of an index from -m to 2 m - 1 the index
// itself, or with m added or taken away.
static net_id index_remainder(rewriter *r, const net_node *node) {
  net_map x, y;
  int64_t low, high;
  if (node->kind != NET_SCALAR || node->scalar != OP_MOD || node->type != SCALAR_I64 ||
      !is_constant(operand(r, node, 1)) || !node_is_index(r, operand(r, node, 0), &x) ||
      !node_is_index(r, operand(r, node, 1), &y))
    return NET_NONE;
  int64_t m = y.offset;
  if (m < 1 || m > INT64_MAX / 4)
    return NET_NONE;
  bool known = is_small(&x) &&
               live_map_range(r->memory, &x, r->stage->extents, live_all(r->stage->n), &low, &high);
  if (known && low >= 0 && high < m)
    return node->operands[0];
  if ((m & (m - 1)) == 0)
    return add_scalar(r, OP_AND, SCALAR_I64, node->operands[0],
                      add_constant(r, SCALAR_I64, scalar_from_i64(SCALAR_I64, m - 1)));
  if (!known || low < -m || high >= 2 * m || (low < 0 && high >= m))
    return NET_NONE;
  net_map other = x;
  other.offset += low < 0 ? m : -m;
  net_id bound = add_constant(r, SCALAR_I64, scalar_from_i64(SCALAR_I64, low < 0 ? 0 : m));
  net_id below = add_scalar(r, OP_LT, SCALAR_BOOL, node->operands[0], bound);
  net_id own = node->operands[0], turned = add_index(r, &other);
  net_node chosen = {.kind = NET_SELECT, .type = SCALAR_I64, .operand_count = 3};
  chosen.operands = (net_id[]){below, low < 0 ? turned : own, low < 0 ? own : turned};
  return net_node_add(r->memory, r->stage, &chosen);
}

// Whether a bit of an index is 1: what is above it does not matter, and of this bit of the offset
// (as k m has it) only whether it turns the answer.
//   == (& (index o0 - 256) i64:256) i64:256     ->  == (& (index o0) i64:256) i64:0
static net_id index_bit(rewriter *r, const net_node *node) {
  const net_index_test test = net_index_test_of(r->stage, node);
  if (test.index == NET_NONE || test.mask < 1 || (test.mask & (test.mask - 1)) ||
      (test.with && test.with != test.mask) || (node->scalar != OP_EQ && node->scalar != OP_NE))
    return NET_NONE;
  net_map own = node_at(r, test.index)->map;
  bool turned = ((own.offset & test.mask) != 0) != (test.with != 0);
  int64_t rest = own.offset & (test.mask - 1);
  if (rest == own.offset && !test.with)
    return NET_NONE;
  own.offset = rest;
  net_id bit = add_scalar(r, OP_AND, SCALAR_I64, add_index(r, &own),
                          add_constant(r, SCALAR_I64, scalar_from_i64(SCALAR_I64, test.mask)));
  return add_scalar(r, turned == (node->scalar == OP_EQ) ? OP_NE : OP_EQ, SCALAR_BOOL, bit,
                    add_constant(r, SCALAR_I64, scalar_from_i64(SCALAR_I64, 0)));
}

net_id index_simplified(rewriter *r, const net_node *node) {
  net_id instead = index_arithmetic(r, node);
  if (instead == NET_NONE)
    instead = index_remainder(r, node);
  if (instead == NET_NONE)
    instead = index_bitwise(r, node);
  if (instead == NET_NONE)
    instead = index_bit(r, node);
  if (instead == NET_NONE)
    instead = index_comparison(r, node);
  return instead == NET_NONE ? index_first(r, node) : instead;
}
