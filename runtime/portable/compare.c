// Compare-exchange over a tile, in vectors of GCC's and clang's extension: for the processor that
// the library is compiled for, and on x86-64 for AVX2 and AVX-512, chosen when the program runs.
#include "runtime/portable/pass.h"

static void find_lanes(const compare *c, int type_bits, int lane_bits, compare_lanes *l) {
  uint64_t low = f2_mask(lane_bits), coordinate = c->coordinate & low;
  l->direction = c->direction >> lane_bits;
  l->coordinate = c->coordinate >> lane_bits;
  l->within = c->direction & low;
  l->mixed = coordinate != 0;
  l->bytes = (uint32_t)l->within << type_bits;
  for (uint32_t i = 0; i < 64; i++)
    l->odd[i] = f2_dot(coordinate, (i >> type_bits) & low) ? 0xff : 0;
  for (uint32_t i = 0; i < 16; i++)
    l->words[i] = i ^ (l->bytes >> 2);
  l->top = l->run = 0;
  if (l->direction == 0)
    return;
  l->top = f2_msb(l->direction);
  uint64_t breaks = l->direction | (l->coordinate & ~f2_unit(l->top));
  l->run = f2_lsb(breaks);
}

// The first vector of the k-th run of those whose bit `top` is 0.
static inline uint64_t pair_start(const compare_lanes *l, uint64_t k) {
  uint64_t at = k << l->run, below = at & f2_mask(l->top);
  return (at ^ below) << 1 | below;
}

#define PASTE_3(a, b, c) a##_##b##_##c
#define PASTE(a, b, c) PASTE_3(a, b, c)
#define PASTE__(a, b) a##_##b
#define PASTE_2(a, b) PASTE__(a, b)

#define VECTOR_BITS 4
#define TARGET
#define WIDTH 16
#include "runtime/portable/vectors.inc"

#if defined(__x86_64__)
#define VECTOR_BITS 5
#define TARGET __attribute__((target("avx2")))
#define WIDTH 32
#include "runtime/portable/vectors.inc"

#define VECTOR_BITS 6
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define WIDTH 64
#include "runtime/portable/vectors.inc"
#endif

const compare_kernels *compare_kernels_find(uint32_t most) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool any = most == 0;
  if ((any || most >= 64) && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return &kernels_64;
  if ((any || most >= 32) && __builtin_cpu_supports("avx2"))
    return &kernels_32;
#endif
  (void)most;
  return &kernels_16;
}

// ---- which ops are compare-exchanges ------------------------------------------------------------

uint32_t compare_kind_of(scalar_type type) {
  if (type == SCALAR_BOOL)
    return SCALAR_U8 - SCALAR_I8;
  return CLASS_OF(type) & CLASS_INTEGER ? (uint32_t)type - SCALAR_I8 : COMPARE_KINDS;
}

typedef struct pair_pattern {
  const net_stage *stage;
  net_id value;  // of the leaves
} pair_pattern;

static const net_node *node_at(const net_stage *s, net_id id) { return &s->nodes.items[id]; }

// Whether the node is element 0 or 1 of the pattern's value; *element is which.
static bool is_leaf(pair_pattern p, net_id id, bool *element) {
  const net_node *node = node_at(p.stage, id);
  *element = node->number == 1;
  return node->kind == NET_ELEMENT && node->value == p.value;
}

// Whether operands first, first + 1 are both elements; *swapped if the first is element 1.
static bool both_leaves(pair_pattern p, const net_node *node, uint32_t first, bool *swapped) {
  bool other = false;
  return is_leaf(p, node->operands[first], swapped) &&
         is_leaf(p, node->operands[first + 1], &other) && *swapped != other;
}

static bool match_choice(pair_pattern p, const net_node *zero, const net_node *one, compare *out) {
  bool swapped = false;
  if (!((zero->kind == NET_MIN && one->kind == NET_MAX) ||
        (zero->kind == NET_MAX && one->kind == NET_MIN)) ||
      !both_leaves(p, zero, 0, &swapped) || !both_leaves(p, one, 0, &swapped))
    return false;
  out->descending = zero->kind == NET_MAX;
  out->kind = compare_kind_of(zero->type);
  return true;
}

// The rows of comparisons; > and >= are < and <= of the operands swapped.
static const struct {
  bool known, swapped;
  uint32_t f16, f32, f64;
} comparisons[SCALAR_OP_COUNT] = {
    [OP_LT] = {true, false, COMPARE_F16_LT, COMPARE_F32_LT, COMPARE_F64_LT},
    [OP_LE] = {true, false, COMPARE_F16_LE, COMPARE_F32_LE, COMPARE_F64_LE},
    [OP_GT] = {true, true, COMPARE_F16_LT, COMPARE_F32_LT, COMPARE_F64_LT},
    [OP_GE] = {true, true, COMPARE_F16_LE, COMPARE_F32_LE, COMPARE_F64_LE},
    [OP_TOTAL_LE] = {true, false, COMPARE_F16_TOTAL, COMPARE_F32_TOTAL, COMPARE_F64_TOTAL},
};

static bool match_select(pair_pattern p, const net_node *zero, const net_node *one, compare *out) {
  bool order0 = false, order1 = false, order = false;
  if (zero->kind != NET_SELECT || one->kind != NET_SELECT ||
      zero->operands[0] != one->operands[0] || !both_leaves(p, zero, 1, &order0) ||
      !both_leaves(p, one, 1, &order1) || order0 == order1)
    return false;
  const net_node *condition = node_at(p.stage, zero->operands[0]);
  if (condition->kind != NET_SCALAR || !comparisons[condition->scalar].known ||
      !both_leaves(p, condition, 0, &order))
    return false;
  out->swapped = comparisons[condition->scalar].swapped ^ order;
  out->descending = order0;
  out->kind = zero->type == SCALAR_F16   ? comparisons[condition->scalar].f16
              : zero->type == SCALAR_F32 ? comparisons[condition->scalar].f32
              : zero->type == SCALAR_F64 ? comparisons[condition->scalar].f64
                                         : compare_kind_of(zero->type);
  if (out->kind < COMPARE_F16_LT) {  // equal integers are the same
    out->descending ^= out->swapped;
    out->swapped = false;
  }
  return out->kind < COMPARE_KINDS;
}

// Aligned as an arena's memory need not be.
static const compare_lanes *new_lanes(const op_context *c, const compare *of, int size_bits) {
  size_t align = _Alignof(compare_lanes);
  uintptr_t at = (uintptr_t)arena_alloc(c->memory, sizeof(compare_lanes) + align);
  compare_lanes *l = (compare_lanes *)((at + align - 1) / align * align);
  int vector_bits = f2_lsb(c->executor->kernels->vector_bytes);
  find_lanes(of, size_bits, vector_bits - size_bits, l);
  return l;
}

bool compare_match(const net_stage *stage, const net_op *op, compare *out, net_id *value) {
  if (op->k != 1 || op->output_count != 1 || op->outputs[0].elements[0] == NET_NONE ||
      op->outputs[0].elements[1] == NET_NONE)
    return false;
  const net_node *zero = node_at(stage, op->outputs[0].elements[0]);
  const net_node *one = node_at(stage, op->outputs[0].elements[1]);
  uint32_t leaf = zero->kind == NET_SELECT ? 1 : 0;
  if (zero->operand_count <= leaf)
    return false;
  pair_pattern p = {stage, node_at(stage, zero->operands[leaf])->value};
  *value = p.value;
  return match_choice(p, zero, one, out) || match_select(p, zero, one, out);
}

bool tile_compare_prepare(const op_context *c, const net_op *op, tile_op *out) {
  net_id value = 0, made = op->outputs[0].value;
  if (!compare_match(c->tile->stage, op, &out->compare, &value))
    return false;
  out->compare.direction = tile_position(c->tile, op->directions[0]);
  out->compare.coordinate = tile_position_mask(c->tile, op->coordinates[0].mask);
  out->turn = op->coordinates[0];
  out->size_bits = (uint32_t)f2_lsb(scalar_types[c->tile->stage->values.items[made]].size);
  out->compare.lanes = new_lanes(c, &out->compare, (int)out->size_bits);
  out->in = c->slots[c->plan->slot_of[value]];
  out->out = c->slots[c->plan->slot_of[made]];
  return true;
}
