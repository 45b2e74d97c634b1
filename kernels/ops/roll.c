#include "kernels/ops/roll.h"

#include "core/hash.h"
#include "core/number.h"

enum {
  LEAST_ROLLED = 192,  // nodes of a loop, all rounds together: fewer stay as they are
  LEAST_ROUNDS = 4,
  MOST_CANDIDATES = 64,  // periods that are tried at a place
  EFFORT = 256,          // comparisons for each node: where there are more, nothing is rolled
};
#define LEAF UINT32_MAX  // instead of a position

typedef enum operand_mode { MODE_SAME, MODE_CONSTANT, MODE_RELATIVE, MODE_NONE } operand_mode;

typedef struct finder {
  arena *memory;
  const net_stage *stage;
  const net_id *line;
  uint32_t count;
  uint32_t *operands;   // C_ROLL_OPERANDS by position: positions, or LEAF
  uint32_t *next_like;  // the next position with a node of the same kind, or `count`
  uint32_t *last_user;  // the last position that reads it; LEAF: the op's outputs do
  operand_mode *modes;  // of a round
  uint64_t effort;
} finder;

static const net_node *node_at(const finder *f, uint32_t position) {
  return &f->stage->nodes.items[f->line[position]];
}

static bool is_leaf(const net_stage *s, const net_node *node) {
  return node->kind == NET_ELEMENT || node->kind == NET_INDEX || node->kind == NET_CONSTANT ||
         (node->kind == NET_ROOT && s->nodes.items[node->operands[0]].kind == NET_INDEX);
}

static uint32_t position_of(const finder *f, net_id id) {
  const net_id *found = bsearch(&id, f->line, f->count, sizeof id, compare_u32);
  return found ? (uint32_t)(found - f->line) : LEAF;
}

static uint64_t hash_of_kind(const finder *f, uint32_t position) {
  const net_node *node = node_at(f, position);
  uint64_t parts[5] = {node->kind, node->type, node->scalar, node->number, node->operand_count};
  return hash_bytes(parts, sizeof parts);
}

static void find_next_like(finder *f) {
  uint32_t slots = 1;
  while (slots < 2 * f->count)
    slots *= 2;
  uint64_t *keys = NEW_ARRAY(f->memory, uint64_t, slots);
  uint32_t *last = NEW_ARRAY(f->memory, uint32_t, slots);
  for (uint32_t i = f->count; i-- > 0;) {
    uint64_t key = hash_of_kind(f, i) | 1;
    uint32_t slot = (uint32_t)(key >> 8) & (slots - 1);
    while (keys[slot] && keys[slot] != key)
      slot = (slot + 1) & (slots - 1);
    f->next_like[i] = keys[slot] ? last[slot] : f->count;
    keys[slot] = key;
    last[slot] = i;
  }
}

static void find_users(finder *f, const net_op *op) {
  for (uint32_t i = 0; i < f->count; i++)
    for (uint32_t k = 0; k < node_at(f, i)->operand_count; k++) {
      uint32_t at = position_of(f, node_at(f, i)->operands[k]);
      if (k < C_ROLL_OPERANDS)
        f->operands[i * C_ROLL_OPERANDS + k] = at;
      if (at != LEAF)
        f->last_user[at] = i;
    }
  for (uint32_t o = 0; o < op->output_count; o++)
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++) {
      net_id id = op->outputs[o].elements[j];
      uint32_t at = id == NET_NONE ? LEAF : position_of(f, id);
      if (at != LEAF)
        f->last_user[at] = LEAF;
    }
}

// How operand k at position i comes from that a period before; the loop begins at `first`.
static operand_mode mode_of(const finder *f, uint32_t first, uint32_t i, uint32_t period,
                            uint32_t k) {
  const net_node *nodes = f->stage->nodes.items;
  net_id id = node_at(f, i)->operands[k], before = node_at(f, i - period)->operands[k];
  uint32_t at = f->operands[i * C_ROLL_OPERANDS + k],
           at_before = f->operands[(i - period) * C_ROLL_OPERANDS + k];
  if (nodes[id].type != nodes[before].type)
    return MODE_NONE;
  if (nodes[id].kind == NET_CONSTANT && nodes[before].kind == NET_CONSTANT)
    return MODE_CONSTANT;
  if (id == before && (at == LEAF || at < first))
    return MODE_SAME;
  bool relative = at != LEAF && at_before != LEAF && at - at_before == period &&
                  i - at <= (i - first) % period + period;
  return relative ? MODE_RELATIVE : MODE_NONE;
}

static bool repeats(finder *f, uint32_t first, uint32_t i, uint32_t period) {
  const net_node *a = node_at(f, i), *b = node_at(f, i - period);
  operand_mode *modes = f->modes + (size_t)((i - first) % period) * C_ROLL_OPERANDS;
  f->effort++;
  if (a->kind != b->kind || a->type != b->type || a->scalar != b->scalar ||
      a->number != b->number || a->operand_count != b->operand_count ||
      a->operand_count > C_ROLL_OPERANDS)
    return false;
  for (uint32_t k = 0; k < a->operand_count; k++) {
    operand_mode mode = mode_of(f, first, i, period, k);
    if (mode == MODE_NONE || (i - first >= 2 * period && modes[k] != mode))
      return false;
    modes[k] = mode;
  }
  return true;
}

// The rounds of that period from `first` on, none of which but the last is read behind them.
static uint32_t count_rounds(finder *f, uint32_t first, uint32_t period) {
  uint32_t end = first + period;
  while (end < f->count && repeats(f, first, end, period))
    end++;
  uint32_t rounds = (end - first) / period;
  for (uint32_t i = first; i + period < first + rounds * period; i++)
    if (f->last_user[i] >= first + rounds * period)
      rounds = (i - first) / period + 1;
  return rounds;
}

static void find_carried(finder *f, c_segment *s) {
  uint32_t end = s->first + s->period * s->rounds;
  s->carried = NEW_ARRAY(f->memory, uint32_t, s->period);
  s->is_read = NEW_ARRAY(f->memory, bool, s->period);
  bool *read = NEW_ARRAY(f->memory, bool, s->period);
  for (uint32_t i = s->first + s->period; i < s->first + 2 * s->period; i++)
    for (uint32_t k = 0; k < node_at(f, i)->operand_count; k++) {
      uint32_t at = f->operands[i * C_ROLL_OPERANDS + k];
      if (at != LEAF && at >= s->first && at < s->first + s->period)
        read[at - s->first] = true;
    }
  for (uint32_t p = 0; p < s->period; p++)
    if (read[p] || f->last_user[end - s->period + p] >= end) {
      s->is_read[s->carried_count] = read[p];
      s->carried[s->carried_count++] = p;
    }
}

// A loop that begins at `first`, if there is one.
static bool find_loop(finder *f, uint32_t first, c_segment *out) {
  uint32_t at = f->next_like[first];
  for (uint32_t i = 0; i < MOST_CANDIDATES && at < f->count; i++, at = f->next_like[at]) {
    uint32_t period = at - first, rounds;
    if (period > (f->count - first) / LEAST_ROUNDS || f->effort > EFFORT * (uint64_t)f->count)
      return false;
    rounds = count_rounds(f, first, period);
    if (rounds < LEAST_ROUNDS || (uint64_t)rounds * period < LEAST_ROLLED)
      continue;
    *out = (c_segment){.first = first, .period = period, .rounds = rounds};
    find_carried(f, out);
    return true;
  }
  return false;
}

static void add_segment(c_rolled *out, c_segment s) {
  if (s.period)
    out->segments[out->segment_count++] = s;
}

bool c_roll(arena *a, const net_stage *s, const net_op *op, uint32_t count, const net_id *nodes,
            c_rolled *out) {
  *out = (c_rolled){0};
  if (count < LEAST_ROLLED)
    return false;
  out->leaves = NEW_ARRAY(a, net_id, count);
  out->line = NEW_ARRAY(a, net_id, count);
  for (uint32_t i = 0; i < count; i++)
    if (is_leaf(s, &s->nodes.items[nodes[i]]))
      out->leaves[out->leaf_count++] = nodes[i];
    else
      out->line[out->line_count++] = nodes[i];
  finder f = {.memory = a, .stage = s, .line = out->line, .count = out->line_count};
  f.operands = NEW_ARRAY(a, uint32_t, (size_t)f.count * C_ROLL_OPERANDS);
  f.next_like = NEW_ARRAY(a, uint32_t, f.count);
  f.last_user = NEW_ARRAY(a, uint32_t, f.count);
  f.modes = NEW_ARRAY(a, operand_mode, (size_t)f.count * C_ROLL_OPERANDS);
  find_users(&f, op);
  find_next_like(&f);
  out->segments = NEW_ARRAY(a, c_segment, f.count + 1);
  uint32_t next = 0;
  bool any = false;
  for (uint32_t i = 0; i < f.count;) {
    c_segment loop;
    if (!find_loop(&f, i, &loop)) {
      i++;
      continue;
    }
    add_segment(out, (c_segment){.first = next, .period = i - next, .rounds = 1});
    add_segment(out, loop);
    next = i += loop.period * loop.rounds;
    any = true;
  }
  add_segment(out, (c_segment){.first = next, .period = f.count - next, .rounds = 1});
  return any;
}
