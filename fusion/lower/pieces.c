// Values of several parts: packs and concatenations wait until somebody needs them as one array.
//
//   [a, b, c]                  three parts; element 1 of it is b
//   concat (concat a b) c      three parts, however it was bracketed
//   drop 3 (concat a b)        a part of b alone, if a has three elements
//
// Parts that are alike are put side by side in their stage. Of others that lie in memory, each
// element is chosen by its number where it is needed:
//
//   concat (drop 1 xs) (take 1 xs)    if i < 7 then xs[i + 1] else xs[i - 7]      8 elements
//
// Addresses outside of an array are not read. The rest passes through an array.
#include "fusion/lower/lowering.h"

lowered value_of_parts(lowering *l, const trace_step *s, uint32_t count, const lowered *parts) {
  if (count > 1)
    return (lowered){.kind = LOWERED_PIECES, .part_count = count, .parts = parts};
  lowered v = *parts;
  if (v.batch != s->batch) {
    uint32_t at = cut_axes(l, &v, v.batch);
    repeat_value(l, &v, at, s->batch / v.batch);
  }
  return v;
}

lowered slice_pieces(lowering *l, const trace_step *s, const trace_step *o, const lowered *v,
                     uint64_t number, uint64_t length) {
  uint64_t row = v->count / o->dims[0];
  uint64_t start = number * row, end = start + length * row, at = 0;
  lowered *cut = NEW_ARRAY(l->memory, lowered, v->part_count);
  uint32_t count = 0;
  for (uint32_t i = 0; i < v->part_count; at += v->parts[i++].count) {
    lowered p = v->parts[i];
    if (end <= at || start >= at + p.count)
      continue;
    uint64_t from = start > at ? start - at : 0, to = end < at + p.count ? end - at : p.count;
    uint64_t unit = from % row || to % row || p.count % row ? 1 : row;
    slice_value(l, &p, p.count / unit, from / unit, (to - from) / unit);
    p.count = to - from;
    cut[count++] = p;
  }
  rule_fired(l->log, RULE_PIECES, l->step, 0, 0);
  return value_of_parts(l, s, count, cut);
}

// ---- by choice --------------------------------------------------------------------------------

// Part i is the elements from start[i] to start[i + 1], of the numbers that `range` of the axes
// counts; the last start is their number.
enum { MOST_PARTS = 8 };
typedef struct choice {
  uint32_t count;
  lowered parts[MOST_PARTS];
  uint64_t start[MOST_PARTS + 1];
  axis_range range;
} choice;

// What is computed in a stage passes through an array, if not all is.
static bool extend_parts(lowering *l, choice *c, bool to_store) {
  axis_range range[MOST_PARTS];
  bool good[MOST_PARTS], any = false, all = true;
  for (uint32_t i = 0; i < c->count; i++) {
    uint64_t length = c->start[i + 1] - c->start[i];
    range[i] = cut_axis_range(l, &c->parts[i], c->parts[i].batch, c->parts[i].batch * length);
    good[i] = is_extensible(l, &c->parts[i], range[i]);
    any |= good[i];
    all &= good[i];
  }
  if (!any || (to_store && !all))
    return false;
  for (uint32_t i = 0; i < c->count; i++) {
    lowered *part = &c->parts[i];
    if (!good[i])
      make_plain(l, part, NET_REASON_PIECES);
    extend_axes(l, part, range[i], c->start[i], c->start[c->count]);
  }
  return true;
}

// Whether elements of the part are all that there is of its array at its own numbers, and none
// elsewhere.
static bool lies_alone(lowering *l, const choice *c, uint32_t i) {
  const net_node *node = &l->pool.nodes.items[c->parts[i].node];
  if (node->kind != NET_ELEMENT)
    return false;
  net_id array = l->storages.items[node->value].array;
  int64_t count = (int64_t)l->net->arrays.items[array].count;
  const uint64_t ends[] = {0, c->start[i], c->start[i + 1], c->start[c->count]};
  for (int k = 0; k < 3; k++) {
    if (ends[k] == ends[k + 1])
      continue;
    lowered part = c->parts[i];
    slice_axes(l, &part, c->range, ends[k], ends[k + 1] - ends[k]);
    address_range r = map_range(&l->pool.nodes.items[part.node].map, part.axes);
    if (k == 1 ? r.low < 0 || r.high >= count : r.high >= 0 && r.low < count)
      return false;
  }
  return true;
}

// Around one part there is one constant, and outside of its array: its loads give that.
static bool find_fill(lowering *l, const choice *c, net_id *filled) {
  net_id constant = NET_NONE;
  uint32_t only = c->count;
  for (uint32_t i = 0; i < c->count; i++) {
    net_id id = c->parts[i].node;
    if (l->pool.nodes.items[id].kind != NET_CONSTANT && only == c->count)
      only = i;
    else if (l->pool.nodes.items[id].kind == NET_CONSTANT &&
             (constant == NET_NONE || constant == id))
      constant = id;
    else
      return false;
  }
  if (only == c->count || constant == NET_NONE || !lies_alone(l, c, only))
    return false;
  const scalar_bits fill = l->pool.nodes.items[constant].constant;
  *filled = fill_outside(l, c->parts[only].node, &fill);
  rule_fired(l->log, RULE_REPEATED_PADDING, l->step, 0, 0);
  return true;
}

// The parts, which have the same batch: of outermost rows if they consist of these, else of
// elements.
static bool choose_parts(lowering *l, const trace_step *s, const lowered *v, const lowered *parts,
                         bool to_store, lowered *result) {
  choice c = {.count = v->part_count};
  uint64_t row = v->count / s->dims[0];
  if (c.count > MOST_PARTS)
    return false;
  for (uint32_t i = 0; i < c.count; i++)
    row = v->parts[i].count % row ? 1 : row;
  for (uint32_t i = 0; i < c.count; i++) {
    c.start[i + 1] = c.start[i] + v->parts[i].count / row;
    c.parts[i] = parts[i];
  }
  if (s->shadow && c.count == 2)  // padding begins where an array of false ends (plan/padding.h)
    make_plain(l, &c.parts[0], NET_REASON_PADDING);
  if (!extend_parts(l, &c, to_store))
    return false;
  const axes *all = c.parts->axes;
  for (uint32_t i = 1; i < c.count; i++)
    if (!axes_equal(all, c.parts[i].axes))
      return false;
  c.range = cut_axis_range(l, &c.parts[0], s->batch, s->batch * c.start[c.count]);
  net_id chosen = c.parts[c.count - 1].node;
  if (!find_fill(l, &c, &chosen))
    for (uint32_t i = c.count - 1; i-- > 0;)
      if (c.parts[i].node != chosen)
        chosen = pool_choice_below(l, all, c.range, c.start[i + 1], c.parts[i].node, chosen);
  *result = expression(l, all, chosen);
  rule_fired(l->log, RULE_CHOSEN_PIECE, l->step, 0, 0);
  return true;
}

// ---- as one array -----------------------------------------------------------------------------

static lowered joined_parts(lowering *l, const trace_step *s, const lowered *v, bool to_store) {
  uint32_t count = v->part_count;
  lowered *parts = NEW_ARRAY(l->memory, lowered, count), *again = NULL, joined;
  net_id *elements = NEW_ARRAY(l->memory, net_id, count);
  bool alike = true;
  memcpy(parts, v->parts, count * sizeof *parts);
  axes shared = extend_to_batch(l, parts, count, s->batch);
  for (uint32_t i = 0; i < count; i++) {
    elements[i] = parts[i].node;
    alike = alike && axes_equal(parts[i].axes, parts->axes);
    if (v->parts[i].computed != NET_NONE && !again)
      again = NEW_ARRAY(l->memory, lowered, count);
  }
  if (alike)
    return pack_elements(l, parts->axes, count, elements, shared.count);
  for (uint32_t i = 0; i < count && again; i++) {
    again[i] = v->parts[i];
    again[i].node = again[i].computed != NET_NONE ? again[i].computed : again[i].node;
  }
  if (again)
    extend_to_batch(l, again, count, s->batch);
  if (choose_parts(l, s, v, again ? again : parts, to_store, &joined))
    return joined;
  axes all = shared;
  axes_append_dims(&all, s);
  joined = expression(
      l, &all, temporary_row_major(l, &all, s->type, trace_step_count(s), NET_REASON_PIECES));
  uint64_t start = 0;
  for (uint32_t i = 0; i < count; start += v->parts[i++].count) {
    // In an array whose instances of the batch have so many elements, the part from `start` on.
    net_map inner = map_row_major(l->memory, parts[i].axes, shared.count, 1);
    inner.offset = (int64_t)start;
    net_map target =
        map_numbered(l->memory, &inner, parts[i].axes, 0, shared.count, (int64_t)v->count);
    store_into(l, parts[i].axes, elements[i], array_of_element(l, joined.node), &target);
  }
  return joined;
}

void join_parts(lowering *l, const trace_step *s, lowered *v, bool to_store) {
  lowered one = joined_parts(l, s, v, to_store);
  one.batch = v->batch;
  one.count = v->count;
  *v = one;
}

lowered lower_operand(lowering *l, const trace_step *s, uint32_t i) {
  const lowered v = l->values[s->operands[i]];
  lowered r = v;
  if (v.kind == LOWERED_EMPTY)
    return v;
  if (v.kind != LOWERED_EXPRESSION)
    join_parts(l, operand_step(l, s, i), &r, false);
  settle(l, &r);
  // The elements of a packed value may still be read one by one.
  if (v.kind == LOWERED_PIECES || (r.computed != NET_NONE && r.computed != v.computed))
    l->values[s->operands[i]] = r;
  cut_axes(l, &r, r.batch);
  return r;
}
