#include "fusion/lower/lowering.h"

// ---- expressions over axes --------------------------------------------------------------------

lowered expression(lowering *l, const axes *s, net_id node) {
  lowered v = {.kind = LOWERED_EXPRESSION, .axes = *s, .element_count = 1};
  v.elements = NEW(l->memory, net_id);
  v.elements[0] = node;
  return v;
}

lowered zeros_of_step(lowering *l, const trace_step *s) {
  axes all = axes_of_step(s);
  return expression(l, &all, pool_add(l, &(net_node){.kind = NET_CONSTANT, .type = s->type}));
}

lowered new_array_of_step(lowering *l, const trace_step *s, net_reason why) {
  axes all = axes_of_step(s);
  return expression(l, &all, temporary_row_major(l, &all, s->type, trace_step_count(s), why));
}

lowered row_major(lowering *l, const axes *s, net_id storage_id) {
  net_map m = map_row_major(l->memory, s, 0, 1);
  return expression(l, s, element_node(l, storage_id, &m, 0));
}

typedef net_map change_map(lowering *l, const net_map *m, const void *with);

// The same expression with every map of the index changed.
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

bool is_computed(lowering *l, net_id node) {
  enum { MOST_NODES = 64 };
  node_list nodes = reachable(l, 1, &node);
  for (size_t i = 0; i < nodes.count; i++) {
    const net_node *n = &l->pool.nodes.items[nodes.items[i]];
    if (n->kind == NET_GATHER || (n->kind == NET_ELEMENT && !l->storages.items[n->value].in_memory))
      return false;
  }
  return nodes.count <= MOST_NODES;
}

// Of the index alone, too, if it is large: moves write it down again (sum of iota would double it
// at every level).
lowered settle_value(lowering *l, const lowered *v, uint32_t batch_axes) {
  enum { LARGE = 64 };  // nodes
  if (v->kind == LOWERED_PACKED)
    return pack_elements(l, &v->axes, v->element_count, v->elements, batch_axes);
  if (v->kind == LOWERED_EXPRESSION && l->pool.nodes.items[v->elements[0]].kind != NET_ELEMENT &&
      (l->reads_elements[v->elements[0]] || reachable(l, 1, v->elements).count > LARGE)) {
    bool again = is_computed(l, v->elements[0]);
    lowered r = expression(l, &v->axes, place(l, &v->axes, 1, v->elements, v->axes.count));
    r.computed = again ? v->elements : NULL;
    return r;
  }
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

void make_plain(lowering *l, lowered *v) {
  uint64_t count = axes_product(&v->axes, 0, v->axes.count);
  *v = expression(l, &v->axes, store_prefix(l, &v->axes, v->elements[0], count));
}

void renumber_axes(lowering *l, lowered *v, uint32_t count, const uint64_t *extents) {
  make_plain(l, v);
  net_id storage_id = l->pool.nodes.items[v->elements[0]].value;
  axes s = {0};
  for (uint32_t i = 0; i < count; i++)
    axes_insert(&s, s.count, extents[i]);
  *v = row_major(l, &s, storage_id);
}

// Mostly these are powers of two, and a division takes long.
static bool divides(uint64_t a, uint64_t b) {
  return (a & (a - 1)) == 0 ? (b & (a - 1)) == 0 : b % a == 0;
}

uint32_t cut_axes(lowering *l, lowered *v, uint64_t product) {
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
    renumber_axes(l, v, 2, (uint64_t[]){product, whole / product});
    i = 0;
    have = 1;
  }
  return i;
}

// Numbering anew for one product may take the others' places away, but leaves axes that only need
// to be split: the second round finds all.
void cut_axes_at_all(lowering *l, lowered *v, uint32_t count, const uint64_t *products,
                     uint32_t *at) {
  for (int round = 0; round < 3; round++)
    for (uint32_t i = 0; i < count; i++)
      at[i] = cut_axes(l, v, products[i]);
}

axis_range cut_axis_range(lowering *l, lowered *v, uint64_t outer, uint64_t inner) {
  uint32_t at[2];
  cut_axes_at_all(l, v, 2, (uint64_t[]){outer, inner}, at);
  return (axis_range){at[0], at[1] - at[0]};
}

axes batch_axes_after(const axes *given, uint64_t count) {
  axes s = *given;
  axes_insert(&s, s.count, count / axes_product(given, 0, given->count));
  return s;
}

// ---- axes that change -------------------------------------------------------------------------

typedef struct substitution {
  uint32_t at;
  f2_affine x_of_y;
} substitution;

static net_map substitute_map(lowering *l, const net_map *m, const void *with) {
  const substitution *s = with;
  return map_substituted(l->memory, m, s->at, s->x_of_y);
}

lowered substitute_bits(lowering *l, const lowered *v, uint32_t at, f2_affine x_of_y) {
  substitution s = {at, x_of_y};
  return expression(l, &v->axes, change_maps(l, v->elements[0], substitute_map, &s));
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

lowered repeat_value(lowering *l, const lowered *v, uint32_t at, uint64_t count) {
  axes s = v->axes;
  axes_insert(&s, at, count);
  window w = {NULL, at, s.count - v->axes.count, 0};
  return expression(l, &s, change_maps(l, v->elements[0], insert_map, &w));
}

lowered extend_batch(lowering *l, const lowered *v, uint32_t have, const axes *shared) {
  axes s = v->axes;
  for (uint32_t i = have; i < shared->count; i++)
    axes_insert(&s, i, shared->extents[i]);
  window w = {NULL, have, shared->count - have, 0};
  return expression(l, &s, change_maps(l, v->elements[0], insert_map, &w));
}

static axes axes_without(const axes *s, axis_range range) {
  axes r = *s;
  r.count -= range.count;
  memmove(r.extents + range.at, s->extents + range.at + range.count,
          (r.count - range.at) * sizeof *r.extents);
  return r;
}

lowered fix_axes(lowering *l, const lowered *v, axis_range range, uint64_t number) {
  axes s = axes_without(&v->axes, range);
  window w = {&v->axes, range.at, range.count, number};
  return expression(l, &s, change_maps(l, v->elements[0], fix_map, &w));
}

lowered fix_pattern(lowering *l, const lowered *v, axis_range range, uint64_t count,
                    uint64_t number) {
  net_node node = l->pool.nodes.items[v->elements[0]];
  axes s = axes_without(&v->axes, range);
  node.map = map_fixed(l->memory, &node.map, &v->axes, range.at, range.count, number);
  if (count <= UINT64_C(1) << 16 && node.number <= UINT64_C(1) << 32)
    node.number = node.number * count + number;
  return expression(l, &s, pool_add(l, &node));
}

typedef struct permutation {
  uint32_t count, order[MAX_AXES];
} permutation;

static net_map permute_map(lowering *l, const net_map *m, const void *with) {
  const permutation *p = with;
  return map_permuted(l->memory, m, p->order, p->count);
}

lowered exchange_axes(lowering *l, const lowered *v, uint32_t at, uint32_t middle, uint32_t end) {
  permutation p = {.count = v->axes.count};
  axes after = v->axes;
  for (uint32_t i = 0; i < p.count; i++) {
    bool outside = i < at || i >= end;
    p.order[i] = outside ? i : at + (i - at + middle - at) % (end - at);
    after.extents[i] = v->axes.extents[p.order[i]];
  }
  return expression(l, &after, change_maps(l, v->elements[0], permute_map, &p));
}

// Whether a condition is that the index is below a number, which on these axes is always true, or
// never.
static bool is_decided(const lowering *l, const axes *s, net_id condition, bool *yes) {
  const net_node *nodes = l->pool.nodes.items, *c = &nodes[condition];
  if (c->kind != NET_SCALAR || c->scalar != OP_LT || nodes[c->operands[0]].kind != NET_INDEX ||
      nodes[c->operands[1]].kind != NET_CONSTANT)
    return false;
  address_range r = map_range(&nodes[c->operands[0]].map, s);
  int64_t limit = nodes[c->operands[1]].constant.i64;
  *yes = r.high < limit;
  return r.high < limit || r.low >= limit;
}

// The expression without choices that are decided.
static net_id decided(lowering *l, const axes *s, net_id id) {
  node_list nodes = reachable(l, 1, &id);
  for (size_t i = 0; i < nodes.count; i++) {
    net_node node = l->pool.nodes.items[nodes.items[i]];
    bool yes;
    net_id to;
    if (node.kind == NET_SELECT && is_decided(l, s, node.operands[0], &yes)) {
      to = l->converted[node.operands[yes ? 1 : 2]];
    } else {
      if (node.operand_count)
        node = net_node_renumbered(l->memory, &node, l->converted);
      to = pool_add(l, &node);  // may move l->converted
    }
    l->converted[nodes.items[i]] = to;
  }
  return l->converted[id];
}

typedef struct slicing {
  const axes *before, *after;
  axis_range range;
  uint32_t new_count;
  uint64_t number;
} slicing;

static net_map slice_map(lowering *l, const net_map *m, const void *with) {
  const slicing *w = with;
  int64_t stride = 0;
  map_plain(m, w->before, w->range.at, w->range.count, &stride);
  // Without those axes, then with new ones of the same stride.
  net_map none = map_fixed(l->memory, m, w->before, w->range.at, w->range.count, 0);
  net_map wide = map_inserted(l->memory, &none, w->range.at, w->new_count);
  wide.offset += (int64_t)w->number * stride;
  return map_numbered(l->memory, &wide, w->after, w->range.at, w->new_count, stride);
}

// Whether its maps are plain there.
static bool is_sliceable(lowering *l, const lowered *v, axis_range range) {
  node_list nodes = reachable(l, 1, v->elements);
  int64_t stride;
  for (size_t i = 0; i < nodes.count; i++) {
    const net_node *node = &l->pool.nodes.items[nodes.items[i]];
    bool in_stage = node->kind == NET_ELEMENT && !l->storages.items[node->value].in_memory;
    if ((node->kind == NET_ELEMENT || node->kind == NET_INDEX) &&
        (in_stage || !map_plain(&node->map, &v->axes, range.at, range.count, &stride)))
      return false;
  }
  return true;
}

lowered slice_axes(lowering *l, lowered *v, axis_range range, uint64_t number, uint64_t length) {
  if (!is_sliceable(l, v, range)) {
    make_plain(l, v);
    explain_array(l, v->elements[0], NET_REASON_PART);
  }
  axes after = axes_without(&v->axes, range);
  uint32_t rest = after.count;
  axes_insert(&after, range.at, length);
  slicing w = {&v->axes, &after, range, after.count - rest, number};
  return expression(l, &after, decided(l, &after, change_maps(l, v->elements[0], slice_map, &w)));
}

// ---- beyond the ends --------------------------------------------------------------------------

address_range map_range(const net_map *m, const axes *s) {
  address_range r = {m->offset, m->offset};
  for (uint32_t i = 0; i < s->count; i++) {
    int64_t most = map_stride(m, i) * (int64_t)(s->extents[i] - 1);
    *(most < 0 ? &r.low : &r.high) += most;
  }
  for (uint32_t k = 0; k < m->row_count; k++)
    *(m->rows[k].weight < 0 ? &r.low : &r.high) += m->rows[k].weight;
  return r;
}

// The storage with `fill` at all addresses outside of the array.
static net_id guarded_storage(lowering *l, net_id id, const scalar_bits *fill) {
  while (l->storages.items[id].guarded) {
    id = l->storages.items[id].guarded;
    if (!memcmp(&l->storages.items[id].padding_value, fill, sizeof *fill))
      return id;
  }
  storage twin = l->storages.items[id];
  twin.padding_start = l->net->arrays.items[twin.array].count;
  twin.padding_value = *fill;
  l->storages.items[id].guarded = (net_id)l->storages.count;
  return storage_add(l, &twin);
}

net_id fill_outside(lowering *l, net_id id, const scalar_bits *fill) {
  net_node node = l->pool.nodes.items[id];
  node.value = guarded_storage(l, node.value, fill);
  return pool_add(l, &node);
}

// The expression, whose loads stay in their arrays.
static net_id guard_elements(lowering *l, const axes *s, net_id id) {
  node_list nodes = reachable(l, 1, &id);
  for (size_t i = 0; i < nodes.count; i++) {
    net_node node = l->pool.nodes.items[nodes.items[i]];
    const storage *held = &l->storages.items[node.value];
    if (node.kind == NET_ELEMENT && held->padding_start == UINT64_MAX) {
      address_range r = map_range(&node.map, s);
      if (r.low < 0 || (uint64_t)r.high >= l->net->arrays.items[held->array].count)
        node.value = guarded_storage(l, node.value, &(scalar_bits){{0}});
    }
    if (node.operand_count)
      node = net_node_renumbered(l->memory, &node, l->converted);
    net_id to = pool_add(l, &node);  // may move l->converted
    l->converted[nodes.items[i]] = to;
  }
  return l->converted[id];
}

bool is_extensible(lowering *l, const lowered *v, axis_range range) {
  enum { MOST_NODES = 64 };
  return is_sliceable(l, v, range) && reachable(l, 1, v->elements).count <= MOST_NODES;
}

lowered extend_axes(lowering *l, lowered *v, axis_range range, uint64_t start, uint64_t length) {
  lowered r = slice_axes(l, v, range, -start, length);
  r.elements[0] = guard_elements(l, &r.axes, r.elements[0]);
  return r;
}

static lowered slice_value(lowering *l, lowered v, uint64_t batch, uint64_t whole, uint64_t number,
                           uint64_t length) {
  if (length == whole)
    return v;
  if (whole % length == 0 && number % length == 0) {
    axis_range range = cut_axis_range(l, &v, batch, batch * (whole / length));
    return fix_axes(l, &v, range, number / length);
  }
  const net_node *node = &l->pool.nodes.items[v.elements[0]];
  uint64_t rest = axes_product(&v.axes, 0, v.axes.count) / batch / whole;
  if (batch == 1 && number == 0 && node->kind == NET_ELEMENT &&
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
  axis_range range = cut_axis_range(l, &v, batch, batch * whole);
  return slice_axes(l, &v, range, number, length);
}

lowered slice_computed(lowering *l, const lowered *v, uint64_t batch, uint64_t whole,
                       uint64_t number, uint64_t length) {
  bool aligned = whole % length == 0 && number % length == 0;
  if (!v->computed)
    return slice_value(l, *v, batch, whole, number, length);
  lowered again = expression(l, &v->axes, *v->computed);
  axis_range range = cut_axis_range(l, &again, batch, batch * whole);
  if (!is_extensible(l, &again, range))
    return slice_value(l, *v, batch, whole, number, length);
  again = slice_value(l, again, batch, whole, number, length);
  rule_fired(l->log, RULE_COMPUTED_AGAIN, l->step, 0, 0);
  if (!aligned)
    return again;
  lowered r = slice_value(l, *v, batch, whole, number, length);
  r.computed = axes_equal(&r.axes, &again.axes) ? again.elements : NULL;
  return r;
}

// ---- several values ---------------------------------------------------------------------------

// m element nodes as one, if they lie regularly in one array: [b, a] of an [a, b], rows of a
// matrix.
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
  for (uint32_t b = 0; bits && b < inserted; b++) {
    uint64_t delta = base ^ map_constants(&nodes[elements[1u << b]].map);
    for (uint32_t i = 0; i < wide.row_count; i++)
      wide.rows[i].form.mask |= f2_bit(delta, (int)i) ? f2_unit((int)(at + inserted - 1 - b)) : 0;
  }
  bool rows = step == 0 && !l->storages.items[first->value].in_memory;  // which all stay
  net_map r = rows ? wide : map_numbered(l->memory, &wide, &after, at, inserted, step);
  *view = element_node(l, first->value, &r, 0);
  rule_fired(l->log, RULE_PACKED_VIEW, l->step, 0, 0);
  return true;
}

lowered pack_elements(lowering *l, const axes *s, uint32_t m, const net_id *elements, uint32_t at) {
  net_id array;
  if (m == 1 && l->pool.nodes.items[elements[0]].kind == NET_ELEMENT)
    return expression(l, s, elements[0]);
  if (!find_packed_view(l, s, m, elements, at, &array) &&
      !join_in_stage(l, s, m, elements, at, &array))
    array = place(l, s, m, elements, at);
  axes after = *s;
  axes_insert(&after, at, m);
  return expression(l, &after, array);
}

axes agree_on_batch(lowering *l, lowered *v, const uint64_t *batches, uint32_t count,
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
    renumber_axes(l, &v[i], wanted + rest, extents.extents);
  }
  s = v[base].axes;
  s.count = cut_axes(l, &v[base], batches[base]);
  return batch_axes_after(&s, batch);
}
