// Concatenations that wait: arrays one after the other, until somebody needs them as one.
//
//   concat (concat a b) c      three pieces, however it was bracketed
//   drop 3 (concat a b)        a piece of b alone, if a has three elements
//
// A result is stored piece by piece, each from where it lies. Elsewhere pieces that are alike are
// put side by side in their stage, and others pass through an array.
#include "fusion/lower/lowering.h"

static uint64_t elements_in_instance(const trace_step *s) { return trace_step_count(s) / s->batch; }

lowered value_of_pieces(lowering *l, const trace_step *s, uint32_t count, piece *pieces) {
  if (count > 1)
    return (lowered){.kind = LOWERED_PIECES, .element_count = count, .pieces = pieces};
  lowered v = expression(l, &pieces->axes, pieces->element);
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
    lowered part = slice_value(l, expression(l, &p.axes, p.element), p.batch, p.count / unit,
                               from / unit, (to - from) / unit);
    cut[count++] = (piece){part.axes, part.elements[0], p.batch, to - from};
  }
  rule_fired(l->log, RULE_PIECES, l->step, 0, 0);
  return value_of_pieces(l, s, count, cut);
}

lowered join_pieces(lowering *l, const trace_step *s, const lowered *v) {
  uint32_t count = v->element_count;
  lowered *parts = NEW_ARRAY(l->memory, lowered, count);
  uint64_t *batches = NEW_ARRAY(l->memory, uint64_t, count), start = 0;
  net_id *elements = NEW_ARRAY(l->memory, net_id, count);
  for (uint32_t i = 0; i < count; i++) {
    parts[i] = expression(l, &v->pieces[i].axes, v->pieces[i].element);
    batches[i] = v->pieces[i].batch;
  }
  axes shared = agree_on_batch(l, parts, batches, count, s->batch), *first = &parts->axes;
  bool alike = true;
  for (uint32_t i = 0; i < count; i++) {
    parts[i] = extend_batch(l, &parts[i], cut_axes(l, &parts[i], batches[i]), &shared);
    elements[i] = parts[i].elements[0];
    alike = alike && parts[i].axes.count == first->count &&
            !memcmp(parts[i].axes.extents, first->extents, first->count * sizeof *first->extents);
  }
  if (alike)
    return pack_elements(l, first, count, elements, shared.count);
  net_id whole = storage_add_array(l, s->type, trace_step_count(s), NET_TEMPORARY, 0);
  int64_t size = (int64_t)elements_in_instance(s);
  for (uint32_t i = 0; i < count; start += v->pieces[i++].count) {
    // In an array whose instances of the batch have `size` elements, the part from `start` on.
    net_map inner = map_row_major(l->memory, &parts[i].axes, shared.count, 1);
    inner.offset = (int64_t)start;
    net_map target = map_numbered(l->memory, &inner, &parts[i].axes, 0, shared.count, size);
    store_into(l, &parts[i].axes, elements[i], l->storages.items[whole].array, &target);
  }
  for (uint32_t i = 0; i < s->rank; i++)
    axes_insert(&shared, shared.count, s->dims[i]);
  lowered joined = row_major(l, &shared, whole);
  explain_array(l, joined.elements[0], NET_REASON_PIECES);
  return joined;
}
