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

// The mask with `count` zero bits inserted at `at`, or removed there.
static uint64_t insert_zero_bits(uint64_t mask, uint32_t at, uint32_t count) {
  uint64_t low = mask & f2_mask((int)at);
  return low | (at + count >= 64 ? 0 : (mask >> at) << (at + count));
}
static uint64_t remove_bits(uint64_t mask, uint32_t at, uint32_t count) {
  uint64_t low = mask & f2_mask((int)at);
  return low | (at + count >= 64 ? 0 : (mask >> (at + count)) << at);
}

net_map map_inserted(arena *a, const net_map *m, uint32_t at, uint32_t count) {
  net_map r = net_map_new(a, m->loop_count + count, m->row_count);
  r.offset = m->offset;
  r.loop_count = m->loop_count > at ? m->loop_count + count : m->loop_count;
  for (uint32_t i = 0; i < m->loop_count; i++)
    r.strides[i < at ? i : i + count] = m->strides[i];
  for (uint32_t i = 0; i < m->row_count; i++) {
    r.rows[i] = m->rows[i];
    r.rows[i].form.mask = insert_zero_bits(m->rows[i].form.mask, at, count);
  }
  return r;
}

net_map map_fixed(arena *a, const net_map *m, const axes *s, uint32_t at, uint32_t count,
                  uint64_t number) {
  uint32_t loops = m->loop_count > at + count ? m->loop_count - count
                   : m->loop_count > at       ? at
                                              : m->loop_count;
  net_map r = net_map_new(a, loops, m->row_count);
  uint64_t bits = 0;
  r.offset = m->offset;
  for (uint32_t i = at + count; i-- > at; number /= s->extents[i]) {
    uint64_t index = number % s->extents[i];
    if (s->extents[i] == 2)
      bits |= index << i;
    else if (i < m->loop_count)
      r.offset += (int64_t)index * m->strides[i];
  }
  for (uint32_t i = 0; i < r.loop_count; i++)
    r.strides[i] = m->strides[i < at ? i : i + count];
  for (uint32_t i = 0; i < m->row_count; i++) {
    r.rows[i] = m->rows[i];
    r.rows[i].form.constant ^= f2_dot(m->rows[i].form.mask, bits);
    r.rows[i].form.mask = remove_bits(m->rows[i].form.mask, at, count);
  }
  return r;
}

// Bit i of an index of k bits is axis at + k-1-i: the mirror image.
static uint64_t mirrored_bits(uint64_t mask, uint32_t at, int k) {
  static const uint64_t swapped[] = {UINT64_C(0x5555555555555555), UINT64_C(0x3333333333333333),
                                     UINT64_C(0x0f0f0f0f0f0f0f0f)};
  uint64_t x = k ? mask >> at << (64 - k) : 0;  // then its 64 bits are mirrored
  for (int i = 0; i < 3; i++)
    x = (x >> (1 << i) & swapped[i]) | (x & swapped[i]) << (1 << i);
  return __builtin_bswap64(x);
}

net_map map_substituted(arena *a, const net_map *m, uint32_t at, f2_affine x_of_y) {
  int k = x_of_y.a.columns;
  net_map r = net_map_copy(a, m);
  for (uint32_t i = 0; i < m->row_count; i++) {
    uint64_t of_x = mirrored_bits(m->rows[i].form.mask, at, k);
    uint64_t of_y = f2_combine(x_of_y.a.rows, x_of_y.a.row, of_x);
    r.rows[i].form.constant ^= f2_dot(of_x, x_of_y.c);
    r.rows[i].form.mask &= ~(f2_mask(k) << at);
    r.rows[i].form.mask |= mirrored_bits(of_y << at, at, k) << at;
  }
  return r;
}

net_map map_permuted(arena *a, const net_map *m, const uint32_t *order, uint32_t count) {
  net_map r = net_map_new(a, count, m->row_count);
  r.offset = m->offset;
  for (uint32_t i = 0; i < count; i++)
    r.strides[i] = map_stride(m, order[i]);
  for (uint32_t k = 0; k < m->row_count; k++) {
    r.rows[k] = m->rows[k];
    r.rows[k].form.mask = 0;
    for (uint32_t i = 0; i < count; i++)
      r.rows[k].form.mask |= (uint64_t)f2_bit(m->rows[k].form.mask, (int)order[i]) << i;
  }
  return r;
}

net_map map_split(arena *a, const net_map *m, const axes *s, uint32_t at, uint64_t outer,
                  axes *new_axes) {
  *new_axes = *s;
  memmove(new_axes->extents + at, new_axes->extents + at + 1,
          (s->count - at - 1) * sizeof *s->extents);
  new_axes->count--;
  uint64_t inner = s->extents[at] / outer;
  axes_insert(new_axes, at, inner);
  axes_insert(new_axes, at, outer);
  uint32_t grown = new_axes->count - s->count;
  net_map r = map_inserted(a, m, at + 1, grown);
  int64_t stride = map_stride(m, at);
  return stride ? map_numbered(a, &r, new_axes, at, grown + 1, stride) : r;
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
