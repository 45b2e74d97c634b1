// The rule `turned-half`: an op that does on one half of the indices what it does on the other one
// with its elements in another order has no need to choose: it numbers them so there.
//
//   op 0 directions 0b001 coordinates x0          op 0 directions 0b001 coordinates x0^x2
//     t0 = < (index x2) i64:1                       v1[0] = min v0[0] v0[1]
//     t1 = min v0[0] v0[1]                  ->      v1[1] = max v0[0] v0[1]
//     t2 = max v0[0] v0[1]
//     v1[0] = select t0 t1 t2
//     v1[1] = select t0 t2 t1
//
// Let h be a form that is the same on a coset. With A(j) what the op makes of element j where h = 0,
// and B(j) where h = 1: if B(j) is A(j ^ c) that reads elements i ^ c for i, the op is A in
// coordinates C x ^ c h(x). Comparators whose order depends on the index have one order so.
#include "fusion/rules/rewriting.h"

enum { MOST_FORMS = 8, MOST_DIRECTIONS = 3 };

// The masks of forms that the op's indices are made of, if it selects.
static uint32_t masks_of_op(rewriter *r, const net_op *op, uint64_t *masks) {
  uint32_t count = 0;
  bool selects = false;
  for (uint32_t n = rewriter_walk(r, op); n-- > 0;) {
    const net_node *node = node_at(r, r->nodes[n]);
    selects |= node->kind == NET_SELECT;
    for (uint32_t i = 0; node->kind == NET_INDEX && i < node->map.row_count; i++) {
      uint64_t mask = node->map.rows[i].form.mask;
      uint32_t k = 0;
      while (k < count && masks[k] != mask)
        k++;
      if (k == count && count < MOST_FORMS)
        masks[count++] = mask;
    }
  }
  return selects ? count : 0;
}

// The map where the index's bits in the mask have this sum.
static net_map map_where(arena *a, const net_map *map, uint64_t mask, bool sum) {
  net_map m = net_map_copy(a, map);
  for (uint32_t i = 0; i < m.row_count; i++)
    if (m.rows[i].form.mask == mask) {
      if (m.rows[i].form.constant != sum)
        m.offset = (int64_t)((uint64_t)m.offset + (uint64_t)m.rows[i].weight);
      m.rows[i].weight = 0;
    }
  net_map_normalise(&m);
  return m;
}

// The op where the index's bits in the mask have this sum, with its elements numbered by i ^ turn.
static net_op op_where(rewriter *r, const net_op *op, uint64_t mask, bool sum, uint64_t turn) {
  uint32_t count = rewriter_walk(r, op);
  for (uint32_t i = 0; i < count; i++) {
    net_node node = net_node_renumbered(r->memory, node_at(r, r->nodes[i]), r->memo);
    if (node.kind == NET_ELEMENT)
      node.number ^= (uint32_t)turn;
    if (node.kind == NET_INDEX)
      node.map = map_where(r->memory, &node.map, mask, sum);
    r->memo[r->nodes[i]] = node_simplified(r, &node);
  }
  return rewriter_take_memo(r, op, count);
}

static bool is_turned(const net_op *a, const net_op *b, uint64_t turn) {
  for (uint32_t i = 0; i < a->output_count; i++)
    for (uint64_t j = 0; j < UINT64_C(1) << a->k; j++)
      if (a->outputs[i].elements[j ^ turn] != b->outputs[i].elements[j])
        return false;
  return true;
}

static bool turn_by(rewriter *r, net_op *op, uint64_t mask) {
  for (uint32_t i = 0; i < op->k; i++)
    if (f2_dot(mask, op->directions[i]))
      return false;
  net_op a = op_where(r, op, mask, false, 0);
  for (uint64_t turn = 1; turn < UINT64_C(1) << op->k; turn++) {
    net_op b = op_where(r, op, mask, true, turn);
    if (!is_turned(&a, &b, turn))
      continue;
    net_form *coordinates = NEW_ARRAY(r->memory, net_form, op->k);
    for (uint32_t i = 0; i < op->k; i++)
      coordinates[i] =
          net_form_sum(op->coordinates[i], (net_form){f2_bit(turn, (int)i) ? mask : 0, false});
    op->coordinates = coordinates;
    op->outputs = a.outputs;
    return true;
  }
  return false;
}

static bool turn_half(rewriter *r, net_op *op) {
  uint64_t masks[MOST_FORMS];
  if (op->k == 0 || op->k > MOST_DIRECTIONS || op_has_effect(r, op))
    return false;
  uint32_t count = masks_of_op(r, op, masks);
  bool turned = false;
  rewriter before = trial_begins(r);
  for (uint32_t i = 0; i < count && !turned; i++)
    turned = turn_by(r, op, masks[i]);
  trial_ends(r, &before);
  return turned;
}

void stage_turn_halves(rewriter *r) {
  for (size_t i = 0; i < r->stage->ops.count; i++) {
    net_op *op = &r->stage->ops.items[i];
    rewriter_at(r, op);
    while (turn_half(r, op))
      rewriter_fired(r, RULE_TURNED_HALF, 0, 0);
  }
}
