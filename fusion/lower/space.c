// Axes and maps. See lowering.h.
#include "fusion/lower/lowering.h"

#include "core/number.h"

uint64_t axes_product(const axes *s, uint32_t first, uint32_t count) {
  return product_of(s->extents + first, count);
}

static void insert_axis(axes *s, uint32_t at, uint64_t extent) {
  assert(s->count < MAX_AXES);
  memmove(s->extents + at + 1, s->extents + at, (s->count - at) * sizeof *s->extents);
  s->extents[at] = extent;
  s->count++;
}

void axes_insert(axes *s, uint32_t at, uint64_t extent) {
  if (extent > 1 && (extent & (extent - 1)))
    insert_axis(s, at, extent);
  else
    for (; extent > 1; extent /= 2)
      insert_axis(s, at, 2);
}

void axes_append_dims(axes *s, const trace_step *step) {
  for (uint32_t i = 0; i < step->rank; i++)
    axes_insert(s, s->count, step->dims[i]);
}

axes axes_of_step(const trace_step *step) {
  axes s = {0};
  axes_insert(&s, 0, step->batch);
  axes_append_dims(&s, step);
  return s;
}

// ---- maps -------------------------------------------------------------------------------------

net_map map_numbered(arena *a, const net_map *m, const axes *s, uint32_t at, uint32_t count,
                     int64_t stride) {
  net_map r = net_map_new(a, s->count, m->row_count + count);
  r.offset = m->offset;
  r.row_count = 0;
  for (uint32_t i = 0; i < m->loop_count; i++)
    r.strides[i] = m->strides[i];
  for (uint32_t i = 0; i < m->row_count; i++)
    if (m->rows[i].form.mask)
      r.rows[r.row_count++] = m->rows[i];
    else
      r.offset += m->rows[i].form.constant ? m->rows[i].weight : 0;
  for (uint32_t i = at + count; i-- > at; stride *= (int64_t)s->extents[i]) {
    bool bit = s->extents[i] == 2;
    r.strides[i] = bit ? 0 : stride;
    if (bit && stride)  // -x = (1 - x) - 1
      r.rows[r.row_count++] =
          (net_row){{f2_unit((int)i), stride < 0}, stride < 0 ? -stride : stride};
    r.offset += bit && stride < 0 ? stride : 0;
  }
  return r;
}

net_map map_row_major(arena *a, const axes *s, uint32_t first, int64_t stride) {
  return map_numbered(a, &(net_map){0}, s, first, s->count - first, stride);
}

int64_t map_stride(const net_map *m, uint32_t axis) {
  return axis < m->loop_count ? m->strides[axis] : 0;
}

bool map_parallel(const net_map *a, const net_map *b, uint32_t axis_count) {
  bool same = a->row_count == b->row_count;
  for (uint32_t i = 0; same && i < axis_count; i++)
    same = map_stride(a, i) == map_stride(b, i);
  for (uint32_t i = 0; same && i < a->row_count; i++)
    same = a->rows[i].form.mask == b->rows[i].form.mask && a->rows[i].weight == b->rows[i].weight;
  return same;
}

uint64_t map_constants(const net_map *m) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < m->row_count; i++)
    bits |= (uint64_t)m->rows[i].form.constant << i;
  return bits;
}

// ---- changes of axes ----------------------------------------------------------------------------

// An old axis is an axis of the new ones.
static void keep_axis(axes_change *c, uint32_t old, uint32_t at) {
  c->old[old] = (old_axis){{f2_unit((int)at), false}, at, 1, 0};
}

axes_change axes_replaced(const axes *before, uint32_t at, uint32_t gone, uint32_t count,
                          const uint64_t *extents) {
  axes_change c;
  uint32_t rest = before->count - at - gone;
  assert(at + count + rest <= MAX_AXES);
  c.at = at;
  c.gone = gone;
  c.come = count;
  c.after.count = at + count + rest;
  memcpy(c.after.extents, before->extents, at * sizeof *extents);
  if (count)
    memcpy(c.after.extents + at, extents, count * sizeof *extents);
  memcpy(c.after.extents + at + count, before->extents + at + gone, rest * sizeof *extents);
  for (uint32_t i = 0; i < before->count; i++)
    if (i < at || i >= at + gone)
      keep_axis(&c, i, i < at ? i : i - gone + count);
    else
      c.old[i] = (old_axis){0};
  return c;
}

axes_change axes_inserted(const axes *before, uint32_t at, uint64_t extent) {
  axes more = {0};
  axes_insert(&more, 0, extent);
  return axes_replaced(before, at, 0, more.count, more.extents);
}

axes_change axes_fixed(const axes *before, uint32_t at, uint32_t count, uint64_t number) {
  axes_change c = axes_replaced(before, at, count, 0, NULL);
  for (uint32_t i = at + count; i-- > at; number /= before->extents[i]) {
    c.old[i].number = number % before->extents[i];
    c.old[i].bit.constant = c.old[i].number;
  }
  return c;
}

// Bit i of an index of k bits is axis at + k-1-i: the mirror image.
axes_change axes_substituted(const axes *before, uint32_t at, f2_affine x_of_y) {
  uint32_t k = (uint32_t)x_of_y.a.columns, last = at + k - 1;
  axes_change c = axes_replaced(before, at, 0, 0, NULL);
  for (uint32_t i = 0; i < k; i++) {
    net_form *x = &c.old[last - i].bit;
    *x = (net_form){0, f2_bit(x_of_y.c, (int)i)};
    for (uint64_t y = x_of_y.a.row[i]; y; y &= y - 1)
      x->mask |= f2_unit((int)last - f2_lsb(y));
  }
  return c;
}

axes_change axes_exchanged(const axes *before, uint32_t at, uint32_t middle, uint32_t end) {
  axes_change c = axes_replaced(before, at, end - at, end - at, before->extents + at);
  for (uint32_t i = at; i < end; i++) {
    uint32_t to = i < middle ? i + end - middle : i - (middle - at);
    c.after.extents[to] = before->extents[i];
    keep_axis(&c, i, to);
  }
  return c;
}

axes_change axes_split(const axes *before, uint32_t at, uint64_t outer) {
  axes parts = {0};
  axes_insert(&parts, 0, before->extents[at] / outer);
  axes_insert(&parts, 0, outer);
  axes_change c = axes_replaced(before, at, 1, parts.count, parts.extents);
  c.old[at].at = at;
  c.old[at].count = parts.count;
  return c;
}

net_map map_changed(arena *a, const net_map *m, const axes_change *c) {
  uint32_t loops = m->loop_count, end = c->at + c->gone;  // the first axes, which have strides
  if (loops > c->at)
    loops = c->come + (loops < end ? c->at : loops - c->gone);
  net_map r = net_map_new(a, loops, m->row_count);
  r.offset = m->offset;
  for (uint32_t i = 0; i < m->loop_count; i++) {
    r.offset += (int64_t)c->old[i].number * m->strides[i];
    if (m->strides[i] && c->old[i].count == 1)
      r.strides[c->old[i].at] = m->strides[i];
  }
  for (uint32_t i = 0; i < m->row_count; i++) {
    r.rows[i] = (net_row){{0, m->rows[i].form.constant}, m->rows[i].weight};
    for (uint64_t mask = m->rows[i].form.mask; mask; mask &= mask - 1)
      r.rows[i].form = net_form_sum(r.rows[i].form, c->old[f2_lsb(mask)].bit);
  }
  for (uint32_t i = 0; i < m->loop_count; i++)
    if (m->strides[i] && c->old[i].count > 1)
      r = map_numbered(a, &r, &c->after, c->old[i].at, c->old[i].count, m->strides[i]);
  return r;
}

bool map_plain(const net_map *m, const axes *s, uint32_t at, uint32_t count, int64_t *stride) {
  int64_t expected = 0;
  for (uint32_t i = at + count; i-- > at;) {
    int64_t found = 0;
    if (s->extents[i] != 2) {
      found = map_stride(m, i);
    } else {
      for (uint32_t r = 0; r < m->row_count; r++)
        if (f2_bit(m->rows[r].form.mask, (int)i)) {
          if (found || m->rows[r].form.mask != f2_unit((int)i))
            return false;
          found = m->rows[r].form.constant ? -m->rows[r].weight : m->rows[r].weight;
        }
    }
    if (i == at + count - 1)
      expected = *stride = found;
    if (found != expected)
      return false;
    expected *= (int64_t)s->extents[i];
  }
  return true;
}
