// Concatenations that wait: arrays one after the other, until somebody needs them as one.
//
//   concat (concat a b) c      three pieces, however it was bracketed
//   drop 3 (concat a b)        a piece of b alone, if a has three elements
//
// Pieces that are alike are put side by side in their stage. Of others that lie in memory, each
// element is chosen by its number where it is needed:
//
//   concat (drop 1 xs) (take 1 xs)    if i < 7 then xs[i + 1] else xs[i - 7]      8 elements
//
// Addresses outside of an array are not read. The rest passes through an array.
#include "fusion/lower/lowering.h"

static uint64_t elements_in_instance(const trace_step *s) { return trace_step_count(s) / s->batch; }

static lowered value_of_piece(lowering *l, const piece *p) {
  lowered v = expression(l, &p->axes, p->element);
  v.computed = p->computed;
  return v;
}

lowered value_of_pieces(lowering *l, const trace_step *s, uint32_t count, piece *pieces) {
  if (count > 1)
    return (lowered){.kind = LOWERED_PIECES, .element_count = count, .pieces = pieces};
  lowered v = value_of_piece(l, pieces);
  if (pieces->batch == s->batch)
    return v;
  return repeat_value(l, &v, cut_axes(l, &v, pieces->batch), s->batch / pieces->batch);
}

lowered slice_pieces(lowering *l, const trace_step *s, const trace_step *o, const lowered *v,
                     uint64_t number, uint64_t length) {
  uint64_t row = elements_in_instance(o) / o->dims[0];
  uint64_t start = number * row, end = start + length * row, at = 0;
  piece *cut = NEW_ARRAY(l->memory, piece, v->element_count);
  uint32_t count = 0;
  for (uint32_t i = 0; i < v->element_count; at += v->pieces[i++].count) {
    piece p = v->pieces[i];
    if (end <= at || start >= at + p.count)
      continue;
    uint64_t from = start > at ? start - at : 0, to = end < at + p.count ? end - at : p.count;
    uint64_t unit = from % row || to % row || p.count % row ? 1 : row;
    lowered all = value_of_piece(l, &p), part;
    part = slice_computed(l, &all, p.batch, p.count / unit, from / unit, (to - from) / unit);
    cut[count++] = (piece){part.axes, part.elements[0], part.computed, p.batch, to - from};
  }
  rule_fired(l->log, RULE_PIECES, l->step, 0, 0);
  return value_of_pieces(l, s, count, cut);
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

static net_id choose_below(lowering *l, const choice *c, uint64_t end, net_id below, net_id other) {
  const axes *all = &c->parts->axes;
  net_map m = map_numbered(l->memory, &(net_map){0}, all, c->range.at, c->range.count, 1);
  net_id index = pool_index(l, &m), limit = pool_constant(l, SCALAR_I64, (int64_t)end);
  return pool_select(l, pool_scalar(l, OP_LT, SCALAR_BOOL, index, limit), below, other);
}

// What is computed in a stage passes through an array, if not all is.
static bool extend_parts(lowering *l, choice *c, uint64_t batch, bool to_store) {
  axis_range range[MOST_PARTS];
  bool good[MOST_PARTS], any = false, all = true;
  for (uint32_t i = 0; i < c->count; i++) {
    uint64_t length = c->start[i + 1] - c->start[i];
    range[i] = cut_axis_range(l, &c->parts[i], batch, batch * length);
    good[i] = is_extensible(l, &c->parts[i], range[i]);
    any |= good[i];
    all &= good[i];
  }
  if (!any || (to_store && !all))
    return false;
  for (uint32_t i = 0; i < c->count; i++) {
    lowered *part = &c->parts[i];
    if (!good[i]) {
      make_plain(l, part);
      explain_array(l, part->elements[0], NET_REASON_PIECES);
    }
    *part = extend_axes(l, part, range[i], c->start[i], c->start[c->count]);
  }
  return true;
}

// The addresses of the part's elements of numbers from `first` to `end`.
static address_range addresses_of(lowering *l, const choice *c, lowered part, uint64_t first,
                                  uint64_t end) {
  part = slice_axes(l, &part, c->range, first, end - first);
  return map_range(&l->pool.nodes.items[part.elements[0]].map, &part.axes);
}

// Whether elements of the part are all that there is of its array at its own numbers, and none
// elsewhere.
static bool lies_alone(lowering *l, const choice *c, uint32_t i) {
  const net_node *node = &l->pool.nodes.items[c->parts[i].elements[0]];
  if (node->kind != NET_ELEMENT)
    return false;
  net_id array = l->storages.items[node->value].array;
  int64_t count = (int64_t)l->net->arrays.items[array].count;
  const uint64_t ends[] = {0, c->start[i], c->start[i + 1], c->start[c->count]};
  for (int k = 0; k < 3; k++) {
    if (ends[k] == ends[k + 1])
      continue;
    address_range r = addresses_of(l, c, c->parts[i], ends[k], ends[k + 1]);
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
    net_id id = c->parts[i].elements[0];
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
  *filled = fill_outside(l, c->parts[only].elements[0], &fill);
  rule_fired(l->log, RULE_REPEATED_PADDING, l->step, 0, 0);
  return true;
}

// The parts, which have the same batch: of outermost rows if they consist of these, else of
// elements.
static bool choose_parts(lowering *l, const trace_step *s, const lowered *v, const lowered *parts,
                         bool to_store, lowered *result) {
  choice c = {.count = v->element_count};
  uint64_t row = elements_in_instance(s) / s->dims[0];
  if (c.count > MOST_PARTS)
    return false;
  for (uint32_t i = 0; i < c.count; i++)
    row = v->pieces[i].count % row ? 1 : row;
  for (uint32_t i = 0; i < c.count; i++) {
    c.start[i + 1] = c.start[i] + v->pieces[i].count / row;
    c.parts[i] = parts[i];
  }
  if (s->shadow && c.count == 2) {  // padding begins where an array of false ends (plan/padding.h)
    make_plain(l, &c.parts[0]);
    explain_array(l, c.parts[0].elements[0], NET_REASON_PADDING);
  }
  if (!extend_parts(l, &c, s->batch, to_store))
    return false;
  const axes *all = &c.parts->axes;
  for (uint32_t i = 1; i < c.count; i++)
    if (!axes_equal(all, &c.parts[i].axes))
      return false;
  c.range = cut_axis_range(l, &c.parts[0], s->batch, s->batch * c.start[c.count]);
  net_id chosen = c.parts[c.count - 1].elements[0];
  if (!find_fill(l, &c, &chosen))
    for (uint32_t i = c.count - 1; i-- > 0;)
      chosen = choose_below(l, &c, c.start[i + 1], c.parts[i].elements[0], chosen);
  *result = expression(l, all, chosen);
  rule_fired(l->log, RULE_CHOSEN_PIECE, l->step, 0, 0);
  return true;
}

// ---- as one array -----------------------------------------------------------------------------

// The pieces, with one batch; of those that are computed again as they were, or as they will be.
static axes agree_on_parts(lowering *l, const trace_step *s, const lowered *v, bool again,
                           lowered *parts) {
  uint32_t count = v->element_count;
  uint64_t *batches = NEW_ARRAY(l->memory, uint64_t, count);
  for (uint32_t i = 0; i < count; i++) {
    const piece *p = &v->pieces[i];
    parts[i] = expression(l, &p->axes, again && p->computed ? *p->computed : p->element);
    batches[i] = p->batch;
  }
  axes shared = agree_on_batch(l, parts, batches, count, s->batch);
  for (uint32_t i = 0; i < count; i++)
    parts[i] = extend_batch(l, &parts[i], cut_axes(l, &parts[i], batches[i]), &shared);
  return shared;
}

lowered join_pieces(lowering *l, const trace_step *s, const lowered *v, bool to_store) {
  uint32_t count = v->element_count;
  lowered *parts = NEW_ARRAY(l->memory, lowered, count), *again = parts;
  net_id *elements = NEW_ARRAY(l->memory, net_id, count);
  axes shared = agree_on_parts(l, s, v, false, parts), *first = &parts->axes;
  bool alike = true;
  uint64_t start = 0;
  for (uint32_t i = 0; i < count; i++) {
    elements[i] = parts[i].elements[0];
    alike = alike && axes_equal(&parts[i].axes, first);
    if (v->pieces[i].computed && again == parts)
      again = NEW_ARRAY(l->memory, lowered, count);
  }
  if (alike)
    return pack_elements(l, first, count, elements, shared.count);
  lowered chosen;
  if (again != parts)
    agree_on_parts(l, s, v, true, again);
  if (choose_parts(l, s, v, again, to_store, &chosen))
    return chosen;
  axes all = shared;
  axes_append_dims(&all, s);
  net_id joined = temporary_row_major(l, &all, s->type, trace_step_count(s), NET_REASON_PIECES);
  int64_t size = (int64_t)elements_in_instance(s);
  for (uint32_t i = 0; i < count; start += v->pieces[i++].count) {
    // In an array whose instances of the batch have `size` elements, the part from `start` on.
    net_map inner = map_row_major(l->memory, &parts[i].axes, shared.count, 1);
    inner.offset = (int64_t)start;
    net_map target = map_numbered(l->memory, &inner, &parts[i].axes, 0, shared.count, size);
    store_into(l, &parts[i].axes, elements[i], array_of_element(l, joined), &target);
  }
  return expression(l, &all, joined);
}
