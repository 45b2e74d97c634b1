#include "kernels/ops/roll.h"

#include "core/hash.h"
#include "core/number.h"

enum {
  LEAST_NODES = 192,      // nodes of a loop, all rounds together: fewer stay as they are
  LEAST_OP_NODES = 4096,  // of a loop of ops, written for all registers
  LEAST_ROUNDS = 4,
  MOST_CANDIDATES = 64,  // periods that are tried at a place
  EFFORT = 256,          // comparisons for each item: where there are more, nothing is rolled
};
#define NO_ITEM UINT32_MAX

typedef struct operand {
  net_id id;      // equal: the same node
  uint32_t at;    // which item it is, or NO_ITEM: a leaf
  bool constant;  // it may be another one in each round
} operand;

typedef struct item {
  const void *key;  // equal for items that do the same with their operands; NULL: it is in no loop
  size_t key_length;
  uint64_t weight;
  uint32_t last_reader;  // NO_ITEM: behind all items
  uint32_t operand_count;
  operand operands[C_ROLL_OPERANDS];
} item;

// ---- loops in a row of items -----------------------------------------------------------------

typedef struct finder {
  arena *memory;
  const item *items;
  uint32_t count;
  uint64_t least;       // weight of a loop
  uint32_t *kind;       // equal for items with equal keys
  uint32_t *next_like;  // the next item of the same kind, or `count`
  uint64_t effort;
} finder;

static bool same_key(const item *a, const item *b) {
  return a->key_length == b->key_length && memcmp(a->key, b->key, a->key_length) == 0;
}

static void find_kinds(finder *f) {
  uint32_t slots = 1;
  while (slots < 2 * f->count)
    slots *= 2;
  uint32_t *latest = NEW_ARRAY(f->memory, uint32_t, slots);  // an item, plus 1
  for (uint32_t i = f->count; i-- > 0;) {
    const item *own = &f->items[i];
    f->kind[i] = i;
    f->next_like[i] = f->count;
    if (!own->key)
      continue;
    uint32_t slot = (uint32_t)hash_bytes(own->key, own->key_length) & (slots - 1);
    while (latest[slot] && !same_key(&f->items[latest[slot] - 1], own))
      slot = (slot + 1) & (slots - 1);
    if (latest[slot]) {
      f->next_like[i] = latest[slot] - 1;
      f->kind[i] = f->kind[latest[slot] - 1];
    }
    latest[slot] = i + 1;
  }
}

// Whether item i does what the item a period before does, with operands as a loop that begins at
// `first` has them. (An operand that is so in one way stays so in that way.)
static bool repeats(finder *f, uint32_t first, uint32_t i, uint32_t period) {
  bool same = f->kind[i] == f->kind[i - period];
  f->effort++;
  for (uint32_t k = 0; k < f->items[i].operand_count && same; k++) {
    operand o = f->items[i].operands[k], before = f->items[i - period].operands[k];
    bool relative = o.at != NO_ITEM && before.at != NO_ITEM && o.at - before.at == period &&
                    i - o.at <= (i - first) % period + period;
    same = relative || (o.constant && before.constant) ||
           (o.id == before.id && (o.at == NO_ITEM || o.at < first));
  }
  return same;
}

// The rounds of that period from `first` on, none of which but the last is read behind them.
static uint32_t count_rounds(finder *f, uint32_t first, uint32_t period) {
  uint32_t end = first + period;
  while (end < f->count && repeats(f, first, end, period))
    end++;
  uint32_t rounds = (end - first) / period;
  for (uint32_t i = first; i + period < first + rounds * period; i++)
    if (f->items[i].last_reader >= first + rounds * period)
      rounds = (i - first) / period + 1;
  return rounds;
}

static void find_carried(const finder *f, c_segment *s) {
  uint32_t end = s->first + s->period * s->rounds;
  s->carried = NEW_ARRAY(f->memory, uint32_t, s->period);
  s->is_read = NEW_ARRAY(f->memory, bool, s->period);
  bool *read = NEW_ARRAY(f->memory, bool, s->period);
  for (uint32_t i = s->first + s->period; i < s->first + 2 * s->period; i++)
    for (uint32_t k = 0; k < f->items[i].operand_count; k++) {
      uint32_t at = f->items[i].operands[k].at;
      if (at != NO_ITEM && at >= s->first && at < s->first + s->period)
        read[at - s->first] = true;
    }
  for (uint32_t p = 0; p < s->period; p++)
    if (read[p] || f->items[end - s->period + p].last_reader >= end) {
      s->is_read[s->carried_count] = read[p];
      s->carried[s->carried_count++] = p;
    }
}

// A loop that begins at `first`, if there is one.
static bool find_loop(finder *f, uint32_t first, c_segment *out) {
  uint32_t at = f->next_like[first];
  for (uint32_t i = 0; i < MOST_CANDIDATES && at < f->count; i++, at = f->next_like[at]) {
    uint32_t period = at - first;
    uint64_t weight = 0;
    if (period > (f->count - first) / LEAST_ROUNDS || f->effort > EFFORT * (uint64_t)f->count)
      return false;
    *out = (c_segment){first, period, count_rounds(f, first, period), 0, NULL, NULL};
    for (uint32_t k = first; k < first + out->rounds * period; k++)
      weight += f->items[k].weight;
    if (out->rounds >= LEAST_ROUNDS && weight >= f->least)
      return find_carried(f, out), true;
  }
  return false;
}

static void add_segment(c_rolled *out, c_segment s) {
  if (s.period)
    out->segments[out->segment_count++] = s;
  out->loop_count += s.rounds > 1;
}

static void find_segments(arena *a, uint32_t count, const item *items, uint64_t least,
                          c_rolled *out) {
  finder f = {.memory = a, .items = items, .count = count, .least = least};
  uint32_t next = 0;  // the first item that is in no segment yet
  f.kind = NEW_ARRAY(a, uint32_t, count);
  f.next_like = NEW_ARRAY(a, uint32_t, count);
  find_kinds(&f);
  out->segments = NEW_ARRAY(a, c_segment, count + 1);
  for (uint32_t i = 0; i < count;) {
    c_segment loop;
    if (!find_loop(&f, i, &loop)) {
      i++;
      continue;
    }
    add_segment(out, (c_segment){.first = next, .period = i - next, .rounds = 1});
    add_segment(out, loop);
    next = i += loop.period * loop.rounds;
  }
  add_segment(out, (c_segment){.first = next, .period = count - next, .rounds = 1});
}

// ---- the nodes of an op ----------------------------------------------------------------------

// What the node does, but for constants: which operation, of operands of which types.
enum { NODE_WORDS = 3 + C_ROLL_OPERANDS };
static uint64_t *describe_node(const net_stage *s, const net_node *node, uint64_t *words) {
  words[0] = (uint64_t)node->kind << 32 | node->type;
  words[1] = (uint64_t)node->scalar << 32 | node->operand_count;
  words[2] = node->number;
  for (uint32_t k = 0; k < C_ROLL_OPERANDS; k++)
    words[3 + k] = k < node->operand_count ? s->nodes.items[node->operands[k]].type : 0;
  return words;
}

static bool is_leaf(const net_stage *s, const net_node *node) {
  return net_node_is(node->kind, NET_IS_LEAF) || node->kind == NET_INDEX ||
         (node->kind == NET_ROOT && s->nodes.items[node->operands[0]].kind == NET_INDEX);
}

static uint32_t position_of(const c_rolled *r, net_id id) {
  const net_id *found = bsearch(&id, r->line, r->line_count, sizeof id, compare_u32);
  return found ? (uint32_t)(found - r->line) : NO_ITEM;
}

static item item_of_node(arena *a, const net_stage *s, const c_rolled *r, uint32_t i, item *items) {
  const net_node *node = &s->nodes.items[r->line[i]];
  item out = {.weight = 1, .operand_count = node->operand_count};
  for (uint32_t k = 0; k < node->operand_count; k++) {
    net_id id = node->operands[k];
    operand o = {id, position_of(r, id), s->nodes.items[id].kind == NET_CONSTANT};
    if (o.at != NO_ITEM)
      items[o.at].last_reader = i;
    if (k < C_ROLL_OPERANDS)
      out.operands[k] = o;
  }
  if (node->operand_count <= C_ROLL_OPERANDS) {
    out.key_length = NODE_WORDS * sizeof(uint64_t);
    out.key = describe_node(s, node, arena_alloc(a, out.key_length));
  }
  return out;
}

c_rolled c_roll_nodes(arena *a, const net_stage *s, const net_op *op, uint32_t count,
                      const net_id *nodes) {
  c_rolled out = {0};
  if (count < LEAST_NODES)
    return out;
  out.leaves = NEW_ARRAY(a, net_id, count);
  out.line = NEW_ARRAY(a, net_id, count);
  for (uint32_t i = 0; i < count; i++)
    if (is_leaf(s, &s->nodes.items[nodes[i]]))
      out.leaves[out.leaf_count++] = nodes[i];
    else
      out.line[out.line_count++] = nodes[i];
  item *items = NEW_ARRAY(a, item, out.line_count);
  for (uint32_t i = 0; i < out.line_count; i++)
    items[i] = item_of_node(a, s, &out, i, items);
  for (uint32_t o = 0; o < op->output_count; o++)
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++) {
      net_id id = op->outputs[o].elements[j];
      uint32_t at = id == NET_NONE ? NO_ITEM : position_of(&out, id);
      if (at != NO_ITEM)
        items[at].last_reader = NO_ITEM;
    }
  find_segments(a, out.line_count, items, LEAST_NODES, &out);
  return out;
}

// ---- the ops of a phase ----------------------------------------------------------------------

static void add_number(text *key, uint64_t number) {
  text_add(key, (const char *)&number, sizeof number);
}

static void add_forms(text *key, uint32_t count, const net_form *forms) {
  add_number(key, count);
  for (uint32_t i = 0; i < count; i++) {
    add_number(key, forms[i].mask);
    add_number(key, forms[i].constant);
  }
}

// What the op does to slots, with its nodes by their place in it. Indices are bound where they are
// met first, which is in no loop: such ops have no key.
static item item_of_op(const c_phase *f, const net_op *op, uint32_t *place) {
  uint32_t count = net_op_nodes(f->stage, op, f->nodes);
  item out = {.weight = (uint64_t)count << f->space->r};
  text key = {0};
  uint64_t words[NODE_WORDS];
  for (uint32_t i = 0; i < count; i++)
    if (f->stage->nodes.items[f->nodes[i]].kind == NET_INDEX ||
        f->stage->nodes.items[f->nodes[i]].kind == NET_ROOT)
      return out;
  add_forms(&key, op->k, op->coordinates);
  add_forms(&key, op->live_count, op->live);
  text_add(&key, (const char *)op->directions, op->k * sizeof *op->directions);
  for (uint32_t i = 0; i < count; i++) {
    const net_node *node = &f->stage->nodes.items[f->nodes[i]];
    place[f->nodes[i]] = i;
    text_add(&key, (const char *)describe_node(f->stage, node, words), sizeof words);
    add_number(&key, node->kind == NET_ELEMENT ? f->pass->slot_of[node->value] : 0);
    text_add(&key, (const char *)node->constant.bytes, sizeof node->constant);
    for (uint32_t k = 0; k < node->operand_count; k++)
      add_number(&key, place[node->operands[k]]);
  }
  for (uint32_t i = 0; i < op->output_count; i++) {
    add_number(&key, f->pass->slot_of[op->outputs[i].value]);
    add_number(&key, f->stage->values.items[op->outputs[i].value]);
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++) {
      net_id id = op->outputs[i].elements[j];
      add_number(&key, id == NET_NONE ? UINT64_MAX : place[id]);
    }
  }
  out.key_length = key.length;
  out.key = arena_text(f->w->memory, &key);
  return out;
}

c_rolled c_roll_ops(const c_phase *f, uint32_t count, const net_op *const *ops) {
  arena *a = f->w->memory;
  c_rolled out = {0};
  item *items = NEW_ARRAY(a, item, count);
  uint32_t *place = NEW_ARRAY(a, uint32_t, f->stage->nodes.count);
  for (uint32_t i = 0; i < count && count >= LEAST_ROUNDS; i++)
    items[i] = item_of_op(f, ops[i], place);
  find_segments(a, count, items, LEAST_OP_NODES, &out);
  return out;
}
