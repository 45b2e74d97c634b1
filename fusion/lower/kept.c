// Values of steps that have been lowered, as they are kept for later ones. See lowering.h.
#include "fusion/lower/lowering.h"

static const axes *kept_axes(lowering *l, const axes *s) {
  enum { LATEST = sizeof l->latest / sizeof *l->latest };
  const axes *kept = NULL;
  uint32_t i = 0;
  for (; i < LATEST && l->latest[i] && !kept; i++)
    if (l->latest[i]->count == s->count &&
        !memcmp(l->latest[i]->extents, s->extents, s->count * sizeof *s->extents))
      kept = l->latest[i];
  if (!kept) {
    axes *copy = NEW(l->memory, axes);
    *copy = *s;
    kept = copy;
    i += i < LATEST;
  }
  memmove(l->latest + 1, l->latest, (i - 1) * sizeof *l->latest);
  return l->latest[0] = kept;
}

void keep_value(lowering *l, value_id id, const lowered *v) {
  l->values[id] = (kept_value){v->kind,     v->element_count, kept_axes(l, &v->axes),
                               v->elements, v->computed,      v->pieces};
}

lowered value_at(const lowering *l, value_id id) {
  const kept_value *v = &l->values[id];
  return (lowered){v->kind, *v->axes, v->element_count, v->elements, v->pieces, v->computed};
}

lowered lower_operand(lowering *l, const trace_step *s, uint32_t i, uint32_t *batch) {
  const trace_step *o = &l->trace->steps.items[s->operands[i]];
  lowered v = value_at(l, s->operands[i]);
  bool packed = v.kind == LOWERED_PACKED, joined = v.kind == LOWERED_PIECES;
  if (joined)
    v = join_pieces(l, o, &v, false);
  // The axes of a packed value are the batch's.
  lowered r = settle_value(l, &v, packed ? v.axes.count : 0);
  if (joined || (r.computed && r.computed != v.computed))
    keep_value(l, s->operands[i], &r);
  *batch = r.kind == LOWERED_EMPTY ? 0 : cut_axes(l, &r, o->batch);
  return r;
}
