// The steps of a Trace, as changes of coordinates and expressions. See lower.h.
#include "fusion/lower/lowering.h"

static const trace_step *step_at(const lowering *l, value_id id) {
  return &l->trace->steps.items[id];
}
static const trace_step *operand_step(const lowering *l, const trace_step *s, uint32_t i) {
  return step_at(l, s->operands[i]);
}

static uint64_t elements_of(const trace_step *s) {
  uint64_t count = s->batch;
  for (uint32_t i = 0; i < s->rank; i++)
    count *= s->dims[i];
  return count;
}

// ---- expressions over axes --------------------------------------------------------------------

static void append_dims(axes *to, const trace_step *s) {
  for (uint32_t i = 0; i < s->rank; i++)
    axes_insert(to, to->count, s->dims[i]);
}

static lowered expression(lowering *l, const axes *s, net_id node) {
  lowered v = {LOWERED_EXPRESSION, *s, 1, NEW(l->memory, net_id)};
  v.elements[0] = node;
  return v;
}

// All of an array, row by row.
static lowered row_major(lowering *l, const axes *s, net_id storage_id) {
  net_map m = map_row_major(l->memory, s, 0, 1);
  return expression(l, s, element_node(l, storage_id, &m, 0));
}

static net_id index_node(lowering *l, const net_map *m) {
  return pool_add(l, &(net_node){.kind = NET_INDEX, .type = SCALAR_I64, .map = *m});
}

// The same expression with every map of the index changed.
typedef net_map change_map(lowering *l, const net_map *m, const void *with);

static net_id change_maps(lowering *l, net_id id, change_map *change, const void *with) {
  node_list nodes = reachable(l, 1, &id);
  for (size_t i = 0; i < nodes.count; i++) {
    net_node node = l->pool.nodes.items[nodes.items[i]];
    if (node.kind == NET_ELEMENT || node.kind == NET_INDEX)
      node.map = change(l, &node.map, with);
    if (node.operand_count)
      node = net_node_renumbered(l->memory, &node, l->converted);
    net_id to = pool_add(l, &node);  // may move l->converted
    l->converted[nodes.items[i]] = to;
  }
  return l->converted[id];
}

static lowered pack_elements(lowering *l, const axes *s, uint32_t m, const net_id *elements,
                             uint32_t at);

// One expression, not an array that waits for its place, and an element node if it depends on
// elements at all.
static lowered settle_value(lowering *l, const lowered *v, uint32_t batch_axes) {
  if (v->kind == LOWERED_PACKED)
    return pack_elements(l, &v->axes, v->element_count, v->elements, batch_axes);
  if (v->kind == LOWERED_EXPRESSION && l->reads_elements[v->elements[0]] &&
      l->pool.nodes.items[v->elements[0]].kind != NET_ELEMENT)
    return expression(l, &v->axes, place(l, &v->axes, 1, v->elements, v->axes.count));
  return *v;
}

typedef struct splitting {
  const axes *before;
  uint32_t at;
  uint64_t outer;
} splitting;

static net_map split_map(lowering *l, const net_map *m, const void *with) {
  const splitting *s = with;
  axes ignored;
  return map_split(l->memory, m, s->before, s->at, s->outer, &ignored);
}

// The elements of v in an array of their own, row by row: all maps are plain then.
static void make_plain(lowering *l, lowered *v) {
  *v = expression(l, &v->axes, store_row_major(l, &v->axes, v->elements[0]));
}

// Numbers the axes [from, ...) of a plain value anew: `count` axes of given extents.
static void renumber_axes(lowering *l, lowered *v, uint32_t from, uint32_t count,
                          const uint64_t *extents) {
  make_plain(l, v);
  net_id storage_id = l->pool.nodes.items[v->elements[0]].value;
  axes s = v->axes;
  s.count = from;
  for (uint32_t i = 0; i < count; i++)
    axes_insert(&s, s.count, extents[i]);
  *v = row_major(l, &s, storage_id);
}

// Mostly these are powers of two, and a division takes long.
static bool divides(uint64_t a, uint64_t b) {
  return (a & (a - 1)) == 0 ? (b & (a - 1)) == 0 : b % a == 0;
}

// The number of leading axes whose extents have this product. Axes are split, or numbered anew,
// until there is such a number.
static uint32_t cut_axes(lowering *l, lowered *v, uint64_t product) {
  uint32_t i = 0;
  uint64_t have = 1;
  while (have != product) {
    uint64_t extent = v->axes.extents[i];
    if (divides(have * extent, product)) {
      have *= extent;
      i++;
      continue;
    }
    uint64_t outer = product / have;
    if (product % have == 0 && extent % outer == 0) {
      splitting s = {&v->axes, i, outer};
      axes after;
      net_id node = change_maps(l, v->elements[0], split_map, &s);
      map_split(l->memory, &(net_map){0}, &v->axes, i, outer, &after);
      *v = expression(l, &after, node);
      continue;
    }
    uint64_t whole = axes_product(&v->axes, 0, v->axes.count);
    renumber_axes(l, v, 0, 2, (uint64_t[]){product, whole / product});
    i = 0;
    have = 1;
  }
  return i;
}

// The same for several products, each a divisor of the next. Numbering anew for one may take the
// others' places away, but operands axes that only need to be split: the second round finds all.
static void cut_axes_at_all(lowering *l, lowered *v, uint32_t count, const uint64_t *products,
                            uint32_t *at) {
  for (int round = 0; round < 3; round++)
    for (uint32_t i = 0; i < count; i++)
      at[i] = cut_axes(l, v, products[i]);
}

typedef struct cuts {
  uint32_t outer, inner;
} cuts;

static cuts cut_axes_twice(lowering *l, lowered *v, uint64_t outer, uint64_t inner) {
  uint32_t at[2];
  cut_axes_at_all(l, v, 2, (uint64_t[]){outer, inner}, at);
  return (cuts){at[0], at[1]};
}

// ---- operands ---------------------------------------------------------------------------------

// A step's operand, as one expression; its batch is the first *batch axes.
static lowered array_operand(lowering *l, const trace_step *s, uint32_t i, uint32_t *batch) {
  const trace_step *o = operand_step(l, s, i);
  const lowered *v = &l->values[s->operands[i]];
  uint32_t batch_axes = 0;
  if (v->kind == LOWERED_PACKED)  // its axes are the batch's
    batch_axes = v->axes.count;
  lowered r = settle_value(l, v, batch_axes);
  *batch = r.kind == LOWERED_EMPTY ? 0 : cut_axes(l, &r, o->batch);
  return r;
}

// The axes of a batch of `count` that starts with those of some value.
static axes batch_axes_after(const axes *given, uint64_t count) {
  axes s = *given;
  axes_insert(&s, s.count, count / axes_product(given, 0, given->count));
  return s;
}

// ---- moves ------------------------------------------------------------------------------------

typedef struct substitution {
  uint32_t at;
  f2_affine x_of_y;
} substitution;

static net_map substitute_map(lowering *l, const net_map *m, const void *with) {
  const substitution *s = with;
  return map_substituted(l->memory, m, s->at, s->x_of_y);
}

static lowered substitute_bits(lowering *l, const lowered *v, uint32_t at, f2_affine x_of_y) {
  substitution s = {at, x_of_y};
  return expression(l, &v->axes, change_maps(l, v->elements[0], substitute_map, &s));
}

static int log2_of(uint64_t size) { return f2_msb(size); }

// x of y for `pair`: y = (x', e) with e the lowest bit; x = x' with a 0 at the mask's highest bit,
// xor the mask if e.
static f2_affine index_of_pair(int k, uint64_t mask) {
  uint64_t columns[F2_MAX], high = f2_unit(f2_msb(mask));
  columns[0] = mask;
  for (int i = 1; i < k; i++)
    columns[i] = f2_deposit(f2_mask(k) & ~high, f2_unit(i - 1));
  return (f2_affine){f2_from_columns(k, k, columns), 0};
}

static f2_affine inverse_of(f2_affine f) {
  bool good = f2_affine_inverse(f, &f);
  assert(good);
  (void)good;
  return f;
}

// The matrix of a move on k bits, as the old index of the new.
static f2_affine old_index(const trace_step *s, int k) {
  f2_affine bmmc;
  switch (s->op) {
  case TRACE_SPLIT:
    return (f2_affine){f2_parm_inverse(k, s->number), 0};
  case TRACE_STITCH:
    return (f2_affine){f2_parm(k, s->number), 0};
  case TRACE_PAIR:
    return index_of_pair(k, s->number);
  case TRACE_UNPAIR:
    return inverse_of(index_of_pair(k, s->number));
  default:
    bmmc = (f2_affine){f2_from_rows(k, k, s->rows), s->number};
    return inverse_of(bmmc);
  }
}

// split, stitch, pair, unpair, bmmc: the bits of the outermost dimension, and for stitch and unpair
// those of the batch that they take back.
static lowered lower_matrix(lowering *l, const trace_step *s) {
  uint32_t batch;
  log_movement(l, s);
  lowered v = array_operand(l, s, 0, &batch);
  const trace_step *o = operand_step(l, s, 0);
  bool joins = s->op == TRACE_STITCH || s->op == TRACE_UNPAIR;
  uint64_t outer = joins ? s->batch : o->batch, size = joins ? s->dims[0] : o->dims[0];
  cuts at = cut_axes_twice(l, &v, outer, outer * size);
  return substitute_bits(l, &v, at.outer, old_index(s, log2_of(size)));
}

typedef struct window {
  const axes *before;
  uint32_t at, count;
  uint64_t number;
} window;

static net_map insert_map(lowering *l, const net_map *m, const void *with) {
  const window *w = with;
  return map_inserted(l->memory, m, w->at, w->count);
}

static net_map fix_map(lowering *l, const net_map *m, const void *with) {
  const window *w = with;
  return map_fixed(l->memory, m, w->before, w->at, w->count, w->number);
}

// Axes that v does not depend on, of `count` elements, at `at`.
static lowered repeat_value(lowering *l, const lowered *v, uint32_t at, uint64_t count) {
  axes s = v->axes;
  axes_insert(&s, at, count);
  window w = {NULL, at, s.count - v->axes.count, 0};
  return expression(l, &s, change_maps(l, v->elements[0], insert_map, &w));
}

// v's batch, its first `have` axes, becomes that of `shared`, which begins with them.
static lowered extend_batch(lowering *l, const lowered *v, uint32_t have, const axes *shared) {
  axes s = v->axes;
  for (uint32_t i = have; i < shared->count; i++)
    axes_insert(&s, i, shared->extents[i]);
  window w = {NULL, have, shared->count - have, 0};
  return expression(l, &s, change_maps(l, v->elements[0], insert_map, &w));
}

// The axes [at, at + count) at one index.
static lowered fix_axes(lowering *l, const lowered *v, uint32_t at, uint32_t count,
                        uint64_t number) {
  axes s = v->axes;
  memmove(s.extents + at, s.extents + at + count, (s.count - at - count) * sizeof *s.extents);
  s.count -= count;
  window w = {&v->axes, at, count, number};
  return expression(l, &s, change_maps(l, v->elements[0], fix_map, &w));
}

static lowered lower_broadcast(lowering *l, const trace_step *s) {
  uint32_t batch;
  lowered v = array_operand(l, s, 0, &batch);
  return repeat_value(l, &v, batch, s->batch / operand_step(l, s, 0)->batch);
}

static lowered lower_replicate(lowering *l, const trace_step *s) {
  uint32_t batch;
  lowered v = array_operand(l, s, 0, &batch);
  return repeat_value(l, &v, batch, s->dims[0]);
}

static lowered lower_reshape(lowering *l, const trace_step *s) {
  uint32_t batch;
  log_movement(l, s);
  return array_operand(l, s, 0, &batch);
}

// Remembers in an element node which element of an array pattern it is.
static net_id number_element(lowering *l, net_id id, uint64_t count, uint64_t number) {
  net_node node = l->pool.nodes.items[id];
  if (node.kind != NET_ELEMENT || count > UINT64_C(1) << 16 || node.number > UINT64_C(1) << 32)
    return id;
  node.number = node.number * count + number;
  return pool_add(l, &node);
}

static lowered lower_element(lowering *l, const trace_step *s) {
  const trace_step *o = operand_step(l, s, 0);
  const lowered *packed = &l->values[s->operands[0]];
  if (packed->kind == LOWERED_PACKED && o->rank == 1)
    return expression(l, &packed->axes, packed->elements[s->number]);
  uint32_t batch;
  lowered v = array_operand(l, s, 0, &batch);
  cuts at = cut_axes_twice(l, &v, o->batch, o->batch * o->dims[0]);
  lowered r = fix_axes(l, &v, at.outer, at.inner - at.outer, s->number);
  if (o->rank == 1)
    r.elements[0] = number_element(l, r.elements[0], o->dims[0], s->number);
  return r;
}

typedef struct permutation {
  uint32_t count, order[MAX_AXES];
} permutation;

static net_map permute_map(lowering *l, const net_map *m, const void *with) {
  const permutation *p = with;
  return map_permuted(l->memory, m, p->order, p->count);
}

static lowered lower_transpose(lowering *l, const trace_step *s) {
  const trace_step *o = operand_step(l, s, 0);
  uint32_t batch;
  lowered v = array_operand(l, s, 0, &batch);
  uint64_t rows = o->batch * o->dims[0], all = rows * o->dims[1];
  uint32_t at[3];
  cut_axes_at_all(l, &v, 3, (uint64_t[]){o->batch, rows, all}, at);
  uint32_t middle = at[1], end = at[2];
  batch = at[0];
  permutation p = {.count = 0};
  for (uint32_t i = 0; i < batch; i++)
    p.order[p.count++] = i;
  for (uint32_t i = middle; i < end; i++)
    p.order[p.count++] = i;
  for (uint32_t i = batch; i < middle; i++)
    p.order[p.count++] = i;
  for (uint32_t i = end; i < v.axes.count; i++)
    p.order[p.count++] = i;
  axes after = v.axes;
  for (uint32_t i = 0; i < p.count; i++)
    after.extents[i] = v.axes.extents[p.order[i]];
  return expression(l, &after, change_maps(l, v.elements[0], permute_map, &p));
}

// ---- packs, slices, concatenations ------------------------------------------------------------

// m element nodes as one, if they lie regularly in one array: [b, a] of an [a, b], rows of a matrix.
static bool find_packed_view(lowering *l, const axes *s, uint32_t m, const net_id *elements,
                             uint32_t at, net_id *view) {
  const net_node *nodes = l->pool.nodes.items, *first = &nodes[elements[0]];
  if (first->kind != NET_ELEMENT || first->map.row_count > F2_MAX || m < 2)
    return false;
  bool bits = (m & (m - 1)) == 0;
  int64_t step = nodes[elements[1]].map.offset - first->map.offset;
  uint64_t base = map_constants(&first->map);
  for (uint32_t j = 0; j < m; j++) {
    const net_node *node = &nodes[elements[j]];
    if (node->kind != NET_ELEMENT || node->value != first->value ||
        !map_parallel(&node->map, &first->map, s->count) ||
        node->map.offset != first->map.offset + (int64_t)j * step)
      return false;
    uint64_t expected = base;
    for (uint32_t b = 1; b <= j && bits; b *= 2)
      expected ^= j & b ? base ^ map_constants(&nodes[elements[b]].map) : 0;
    if (map_constants(&node->map) != expected)
      return false;
  }
  axes after = *s;
  axes_insert(&after, at, m);
  uint32_t inserted = after.count - s->count;
  net_map wide = map_inserted(l->memory, &first->map, at, inserted);
  net_map r = {wide.offset, after.count, wide.row_count,
               NEW_ARRAY(l->memory, int64_t, after.count + 1),
               NEW_ARRAY(l->memory, net_row, wide.row_count + inserted + 1)};
  for (uint32_t i = 0; i < wide.loop_count; i++)
    r.strides[i] = wide.strides[i];
  for (uint32_t i = 0; i < wide.row_count; i++)
    r.rows[i] = wide.rows[i];
  for (uint32_t b = 0; bits && b < inserted; b++) {
    uint64_t delta = base ^ map_constants(&nodes[elements[1u << b]].map);
    uint64_t axis = f2_unit((int)(at + inserted - 1 - b));
    for (uint32_t i = 0; i < wide.row_count; i++)
      r.rows[i].form.mask |= f2_bit(delta, (int)i) ? axis : 0;
    if (step)
      r.rows[r.row_count++] = (net_row){{axis, false}, step * ((int64_t)1 << b)};
  }
  if (!bits)
    r.strides[at] = step;
  *view = element_node(l, first->value, &r, 0);
  return true;
}

// The expressions, all over the axes s, as an array with a new dimension at `at`.
static lowered pack_elements(lowering *l, const axes *s, uint32_t m, const net_id *elements,
                             uint32_t at) {
  net_id array;
  if (m == 1 && l->pool.nodes.items[elements[0]].kind == NET_ELEMENT)
    return expression(l, s, elements[0]);
  if (!find_packed_view(l, s, m, elements, at, &array))
    array = place(l, s, m, elements, at);
  axes after = *s;
  axes_insert(&after, at, m);
  return expression(l, &after, array);
}

// Makes values that go together agree in the first axes of their batches, `batch` at most. Those
// axes are the result.
static axes agree_on_batch(lowering *l, lowered *v, const uint64_t *batches, uint32_t count,
                           uint64_t batch) {
  uint32_t base = 0;
  for (uint32_t i = 1; i < count; i++) {
    bool deeper = batches[i] == batches[base] && l->reads_elements[v[i].elements[0]] &&
                  !l->reads_elements[v[base].elements[0]];
    if (batches[i] > batches[base] || deeper)
      base = i;
  }
  axes s = {0};
  if (!count)
    return batch_axes_after(&s, batch);
  for (uint32_t i = 0; i < count; i++)
    cut_axes(l, &v[base], batches[i]);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t prefix = cut_axes(l, &v[i], batches[i]), wanted = cut_axes(l, &v[base], batches[i]);
    bool same = prefix == wanted && !memcmp(v[i].axes.extents, v[base].axes.extents,
                                            prefix * sizeof *v[i].axes.extents);
    if (same)
      continue;
    axes extents = v[base].axes;
    uint32_t rest = v[i].axes.count - prefix;
    memcpy(extents.extents + wanted, v[i].axes.extents + prefix, rest * sizeof *extents.extents);
    renumber_axes(l, &v[i], 0, wanted + rest, extents.extents);
  }
  s = v[base].axes;
  s.count = cut_axes(l, &v[base], batches[base]);
  return batch_axes_after(&s, batch);
}

static lowered lower_pack(lowering *l, const trace_step *s) {
  uint32_t m = s->operand_count, batch;
  uint64_t *batches = NEW_ARRAY(l->memory, uint64_t, m);
  lowered *v = NEW_ARRAY(l->memory, lowered, m);
  net_id *elements = NEW_ARRAY(l->memory, net_id, m);
  bool scalars = s->rank == 1;
  for (uint32_t i = 0; i < m; i++) {
    batches[i] = operand_step(l, s, i)->batch;
    v[i] = scalars ? l->values[s->operands[i]] : array_operand(l, s, i, &batch);
  }
  axes shared = agree_on_batch(l, v, batches, m, s->batch);
  if (scalars) {
    for (uint32_t i = 0; i < m; i++)
      elements[i] = v[i].elements[0];
    return (lowered){LOWERED_PACKED, shared, m, elements};
  }
  // Arrays: the rest of the axes must agree, too, and batches be whole.
  batch = shared.count;
  axes all = shared;
  for (uint32_t i = 0; i < m; i++) {
    uint32_t have = cut_axes(l, &v[i], batches[i]);
    v[i] = extend_batch(l, &v[i], have, &shared);
    if (i == 0)
      all = v[0].axes;
    if (v[i].axes.count != all.count ||
        memcmp(v[i].axes.extents, all.extents, all.count * sizeof *all.extents))
      renumber_axes(l, &v[i], 0, all.count, all.extents);
    elements[i] = v[i].elements[0];
  }
  return pack_elements(l, &all, m, elements, batch);
}

// The axes [at, at + count) of a value whose maps are plain there, reduced to elements number, ...,
// number + length - 1.
typedef struct slicing {
  const axes *before, *after;
  uint32_t at, count, new_count;
  uint64_t number;
} slicing;

static net_map slice_map(lowering *l, const net_map *m, const void *with) {
  const slicing *w = with;
  int64_t stride = 0;
  map_plain(m, w->before, w->at, w->count, &stride);
  // Without those axes, then with new ones of the same stride.
  net_map none = map_fixed(l->memory, m, w->before, w->at, w->count, 0);
  net_map wide = map_inserted(l->memory, &none, w->at, w->new_count);
  net_map r = {wide.offset + (int64_t)w->number * stride, w->after->count, 0,
               NEW_ARRAY(l->memory, int64_t, w->after->count + 1),
               NEW_ARRAY(l->memory, net_row, wide.row_count + w->new_count + 1)};
  for (uint32_t i = 0; i < wide.loop_count; i++)
    r.strides[i] = wide.strides[i];
  for (uint32_t i = 0; i < wide.row_count; i++)
    if (wide.rows[i].form.mask || wide.rows[i].form.constant)
      r.rows[r.row_count++] = wide.rows[i];
  for (uint32_t i = w->at + w->new_count; i-- > w->at; stride *= (int64_t)w->after->extents[i])
    if (w->after->extents[i] == 2)
      r.rows[r.row_count++] = (net_row){{f2_unit((int)i), false}, stride};
    else
      r.strides[i] = stride;
  return r;
}

static bool is_sliceable(lowering *l, const lowered *v, uint32_t at, uint32_t count) {
  node_list nodes = reachable(l, 1, v->elements);
  int64_t stride;
  for (size_t i = 0; i < nodes.count; i++) {
    const net_node *node = &l->pool.nodes.items[nodes.items[i]];
    bool in_stage = node->kind == NET_ELEMENT && !l->storages.items[node->value].in_memory;
    if ((node->kind == NET_ELEMENT || node->kind == NET_INDEX) &&
        (in_stage || !map_plain(&node->map, &v->axes, at, count, &stride)))
      return false;
  }
  return true;
}

static lowered lower_slice(lowering *l, const trace_step *s) {
  const trace_step *o = operand_step(l, s, 0);
  uint64_t length = s->dims[0], whole = o->dims[0];
  uint32_t batch;
  lowered v = array_operand(l, s, 0, &batch);
  if (length == whole)
    return v;
  if (whole % length == 0 && s->number % length == 0) {
    cuts at = cut_axes_twice(l, &v, o->batch, o->batch * (whole / length));
    return fix_axes(l, &v, at.outer, at.inner - at.outer, s->number / length);
  }
  const net_node *node = &l->pool.nodes.items[v.elements[0]];
  uint64_t rest = elements_of(s) / length;
  if (o->batch == 1 && s->number == 0 && node->kind == NET_ELEMENT &&
      !l->storages.items[node->value].in_memory) {
    net_id prefix = store_prefix(l, &v.axes, v.elements[0], length * rest);
    uint32_t dims = cut_axes(l, &v, whole);
    axes after = {0};
    axes_insert(&after, 0, length);
    memcpy(after.extents + after.count, v.axes.extents + dims,
           (v.axes.count - dims) * sizeof *after.extents);
    after.count += v.axes.count - dims;
    return row_major(l, &after, l->pool.nodes.items[prefix].value);
  }
  cuts at = cut_axes_twice(l, &v, o->batch, o->batch * whole);
  uint32_t end = at.inner;
  batch = at.outer;
  if (!is_sliceable(l, &v, batch, end - batch))
    make_plain(l, &v);
  slicing w = {&v.axes, NULL, batch, end - batch, 0, s->number};
  axes after = v.axes;
  memmove(after.extents + batch, after.extents + end, (v.axes.count - end) * sizeof *after.extents);
  after.count -= end - batch;
  uint32_t before_count = after.count;
  axes_insert(&after, batch, length);
  w.after = &after;
  w.new_count = after.count - before_count;
  return expression(l, &after, change_maps(l, v.elements[0], slice_map, &w));
}

// The address, in an array whose instances of the batch have `size` elements, of the parts of them
// that start at `start`.
static net_map part_map(lowering *l, const axes *s, uint32_t batch, uint64_t size, uint64_t start) {
  net_map inner = map_row_major(l->memory, s, batch, 1);
  axes outer = *s;
  outer.count = batch;
  net_map out = map_row_major(l->memory, &outer, 0, (int64_t)size);
  net_map r = {(int64_t)start, s->count, inner.row_count + out.row_count,
               NEW_ARRAY(l->memory, int64_t, s->count + 1),
               NEW_ARRAY(l->memory, net_row, inner.row_count + out.row_count + 1)};
  for (uint32_t i = 0; i < s->count; i++)
    r.strides[i] = i < batch ? out.strides[i] : inner.strides[i];
  memcpy(r.rows, inner.rows, inner.row_count * sizeof *r.rows);
  memcpy(r.rows + inner.row_count, out.rows, out.row_count * sizeof *r.rows);
  return r;
}

// xs and a constant after it, up to a power of two: nothing is stored, loads know where xs ends.
static bool pad_with_constant(lowering *l, const trace_step *s, const lowered *xs,
                              const lowered *value, lowered *result) {
  const net_node *constant = &l->pool.nodes.items[value->elements[0]];
  if (s->batch != 1 || constant->kind != NET_CONSTANT || (s->dims[0] & (s->dims[0] - 1)))
    return false;
  net_id plain = store_row_major_once(l, &xs->axes, xs->elements[0]);
  storage padded_array = l->storages.items[l->pool.nodes.items[plain].value];
  if (padded_array.padding_start != UINT64_MAX)
    return false;
  padded_array.padding_start = axes_product(&xs->axes, 0, xs->axes.count);
  padded_array.padding_value = constant->constant;
  axes all = {0};
  append_dims(&all, s);
  *result = row_major(l, &all, storage_add(l, &padded_array));
  return true;
}

static lowered lower_concat(lowering *l, const trace_step *s) {
  const trace_step *o[2] = {operand_step(l, s, 0), operand_step(l, s, 1)};
  lowered v[2];
  uint32_t batch;
  for (uint32_t i = 0; i < 2; i++)
    v[i] = array_operand(l, s, i, &batch);
  if (v[0].kind == LOWERED_EMPTY || v[1].kind == LOWERED_EMPTY)
    return v[v[0].kind == LOWERED_EMPTY];
  lowered whole;
  if (pad_with_constant(l, s, &v[0], &v[1], &whole))
    return whole;
  axes shared = agree_on_batch(l, v, (uint64_t[]){o[0]->batch, o[1]->batch}, 2, s->batch);
  for (uint32_t i = 0; i < 2; i++)
    v[i] = extend_batch(l, &v[i], cut_axes(l, &v[i], o[i]->batch), &shared);
  bool alike =
      v[0].axes.count == v[1].axes.count &&
      !memcmp(v[0].axes.extents, v[1].axes.extents, v[0].axes.count * sizeof *v[0].axes.extents);
  if (o[0]->dims[0] == o[1]->dims[0] && alike)
    return pack_elements(l, &v[0].axes, 2, (net_id[]){v[0].elements[0], v[1].elements[0]},
                         shared.count);
  uint64_t size = elements_of(s) / s->batch, start = 0;
  net_id whole_storage = storage_add_array(l, s->type, elements_of(s), NET_TEMPORARY, 0);
  for (uint32_t i = 0; i < 2; i++) {
    net_map target = part_map(l, &v[i].axes, shared.count, size, start);
    store_into(l, &v[i].axes, v[i].elements[0], l->storages.items[whole_storage].array, &target);
    start += elements_of(o[i]) / o[i]->batch;
  }
  axes all = shared;
  append_dims(&all, s);
  return row_major(l, &all, whole_storage);
}

// ---- arguments and scalar code -------------------------------------------------------------------

static lowered lower_argument(lowering *l, const trace_step *s) {
  axes all = {0};
  append_dims(&all, s);
  uint32_t number = (uint32_t)s->number;
  return row_major(l, &all, storage_add_array(l, s->type, elements_of(s), NET_ARGUMENT, number));
}

static lowered lower_constant(lowering *l, const trace_step *s) {
  axes none = {0};
  net_node node = {.kind = NET_CONSTANT, .type = s->type, .constant = s->constant};
  return expression(l, &none, pool_add(l, &node));
}

static lowered lower_iota(lowering *l, const trace_step *s) {
  axes all = {0};
  axes_insert(&all, 0, s->dims[0]);
  net_map m = map_row_major(l->memory, &all, 0, 1);
  return expression(l, &all, index_node(l, &m));
}

// The axes that the latest value with this batch has for it.
static axes axes_of_batch(lowering *l, uint64_t batch) {
  for (size_t i = 0; i < l->batches.count; i++)
    if (l->batches.items[i].batch == batch)
      return l->batches.items[i].axes;
  return batch_axes_after(&(axes){0}, batch);
}

static void remember_batch(lowering *l, const trace_step *s, lowered *v) {
  if (v->kind != LOWERED_EXPRESSION || !l->reads_elements[v->elements[0]])
    return;
  uint32_t count = s->rank ? cut_axes(l, v, s->batch) : v->axes.count;
  known_batch b = {s->batch, v->axes};
  b.axes.count = count;
  for (size_t i = 0; i < l->batches.count; i++)
    if (l->batches.items[i].batch == s->batch) {
      l->batches.items[i] = b;
      return;
    }
  vec_push(l->memory, &l->batches, b);
}

static lowered lower_instance(lowering *l, const trace_step *s) {
  lowered v = {LOWERED_EXPRESSION, axes_of_batch(l, s->batch), 1, NEW(l->memory, net_id)};
  v.elements[0] = index_node(l, &(net_map){0});
  uint32_t outer = cut_axes(l, &v, s->batch / s->number);
  net_map m = map_row_major(l->memory, &v.axes, outer, 1);
  v.elements[0] = index_node(l, &m);
  return v;
}

static lowered lower_scalar(lowering *l, const trace_step *s) {
  static const net_node_kind kinds[TRACE_OP_COUNT] = {[TRACE_SCALAR] = NET_SCALAR,
                                                      [TRACE_SELECT] = NET_SELECT,
                                                      [TRACE_CONVERT] = NET_CONVERT,
                                                      [TRACE_ROOT] = NET_ROOT,
                                                      [TRACE_EXTERN] = NET_EXTERN};
  uint32_t count = s->operand_count;
  uint64_t *batches = NEW_ARRAY(l->memory, uint64_t, count + 1);
  lowered *v = NEW_ARRAY(l->memory, lowered, count + 1);
  net_node node = {.kind = kinds[s->op],
                   .type = s->type,
                   .scalar = s->scalar,
                   .number = s->number,
                   .operand_count = count,
                   .operands = NEW_ARRAY(l->memory, net_id, count + 1)};
  for (uint32_t i = 0; i < count; i++) {
    batches[i] = operand_step(l, s, i)->batch;
    v[i] = l->values[s->operands[i]];
  }
  axes shared = agree_on_batch(l, v, batches, count, s->batch);
  for (uint32_t i = 0; i < count; i++)
    node.operands[i] = v[i].elements[0];
  net_id e = pool_add(l, &node);
  if (s->op == TRACE_EXTERN)  // called once
    e = place(l, &shared, 1, &e, shared.count);
  return expression(l, &shared, e);
}

// ---- the whole --------------------------------------------------------------------------------

typedef lowered lower_step(lowering *l, const trace_step *s);

static lower_step *const rows[TRACE_OP_COUNT] = {
    [TRACE_ARGUMENT] = lower_argument,   [TRACE_CONSTANT] = lower_constant,
    [TRACE_SCALAR] = lower_scalar,       [TRACE_SELECT] = lower_scalar,
    [TRACE_CONVERT] = lower_scalar,      [TRACE_ROOT] = lower_scalar,
    [TRACE_EXTERN] = lower_scalar,       [TRACE_INSTANCE] = lower_instance,
    [TRACE_BROADCAST] = lower_broadcast, [TRACE_RESHAPE] = lower_reshape,
    [TRACE_SPLIT] = lower_matrix,        [TRACE_STITCH] = lower_matrix,
    [TRACE_PAIR] = lower_matrix,         [TRACE_UNPAIR] = lower_matrix,
    [TRACE_BMMC] = lower_matrix,         [TRACE_ELEMENT] = lower_element,
    [TRACE_PACK] = lower_pack,           [TRACE_TRANSPOSE] = lower_transpose,
    [TRACE_SLICE] = lower_slice,         [TRACE_CONCAT] = lower_concat,
    [TRACE_IOTA] = lower_iota,           [TRACE_REPLICATE] = lower_replicate};

static bool *needed_steps(lowering *l) {
  const trace *t = l->trace;
  bool *needed = NEW_ARRAY(l->memory, bool, t->steps.count + 1);
  for (size_t i = 0; i < t->results.count; i++)
    needed[t->results.items[i]] = true;
  for (size_t i = t->steps.count; i-- > 0;)
    for (uint32_t k = 0; needed[i] && k < t->steps.items[i].operand_count; k++)
      needed[t->steps.items[i].operands[k]] = true;
  return needed;
}

// A temporary that is exactly the result becomes the result.
static bool rename_result(lowering *l, const lowered *v, uint32_t number) {
  const net_node *node = &l->pool.nodes.items[v->elements[0]];
  if (node->kind != NET_ELEMENT)
    return false;
  const storage *h = &l->storages.items[node->value];
  if (!h->in_memory || h->padding_start != UINT64_MAX)
    return false;
  net_array *a = &l->net->arrays.items[h->array];
  net_map whole = map_row_major(l->memory, &v->axes, 0, 1);
  int64_t stride;
  if (a->role != NET_TEMPORARY || a->count != axes_product(&v->axes, 0, v->axes.count) ||
      node->map.offset || !map_plain(&node->map, &v->axes, 0, v->axes.count, &stride) ||
      (v->axes.count && stride != 1) || node->map.row_count != whole.row_count)
    return false;
  a->role = NET_RESULT;
  a->number = number;
  return true;
}

static void lower_result(lowering *l, uint32_t number) {
  value_id id = l->trace->results.items[number];
  const trace_step *s = step_at(l, id);
  lowered v = l->values[id];
  if (v.kind == LOWERED_EMPTY) {
    net_array_add(l->memory, l->net, s->type, 0, NET_RESULT, number);
    return;
  }
  v = settle_value(l, &v, v.kind == LOWERED_PACKED ? v.axes.count : 0);
  if (rename_result(l, &v, number))
    return;
  net_id array = net_array_add(l->memory, l->net, s->type, elements_of(s), NET_RESULT, number);
  net_map target = map_row_major(l->memory, &v.axes, 0, 1);
  store_into(l, &v.axes, v.elements[0], array, &target);
}

// Stages in the order in which they were closed: what one reads, closed stages have written.
static void order_stages(lowering *l) {
  size_t count = l->stages.count;
  net_stage *ordered = NEW_ARRAY(l->memory, net_stage, count + 1);
  size_t next = 0;
  for (uint32_t i = 0; i < count; i++)
    stage_close(l, i);
  for (size_t i = 0; i < count; i++)
    ordered[l->stages.items[i].order] = l->net->stages.items[i];
  for (size_t i = 0; i < count; i++)
    if (ordered[i].stores.count)
      l->net->stages.items[next++] = ordered[i];
  l->net->stages.count = next;
}

net *lower(arena *a, const trace *t, rule_log *log) {
  lowering l = {.memory = a, .trace = t, .net = NEW(a, net), .log = log};
  l.values = NEW_ARRAY(a, lowered, t->steps.count + 1);
  for (size_t i = 0; i < t->externs.count; i++) {
    const trace_extern *e = &t->externs.items[i];
    net_extern n = {e->library, e->name, e->arity, e->parameters, e->result};
    vec_push(a, &l.net->externs, n);
  }
  bool *needed = needed_steps(&l);
  for (uint32_t i = 0; i < t->steps.count; i++) {
    const trace_step *s = &t->steps.items[i];
    if (!needed[i])
      continue;
    l.step = i;
    l.values[i] = elements_of(s) ? rows[s->op](&l, s) : (lowered){.kind = LOWERED_EMPTY};
    if (elements_of(s))
      remember_batch(&l, s, &l.values[i]);
  }
  for (uint32_t i = 0; i < t->results.count; i++)
    lower_result(&l, i);
  order_stages(&l);
  return l.net;
}
