// Values over axes: expressions, and what steps do to them. See lowering.h.
#include "fusion/lower/lowering.h"

// ---- expressions over axes --------------------------------------------------------------------

// Axes that stay: most values have few, and many have the same.
static const axes *kept_axes(lowering *l, const axes *s) {
  enum { LATEST = sizeof l->latest / sizeof *l->latest };
  const axes *kept = NULL;
  uint32_t i = 0;
  for (; i < LATEST && l->latest[i] && !kept; i++)
    if (l->latest[i] == s || axes_equal(l->latest[i], s))
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

static void set_expression(lowering *l, lowered *v, const axes *s, net_id node) {
  v->kind = LOWERED_EXPRESSION;
  v->axes = kept_axes(l, s);
  v->node = node;
  v->computed = NET_NONE;
}

lowered expression(lowering *l, const axes *s, net_id node) {
  lowered v = {0};
  set_expression(l, &v, s, node);
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

static void set_row_major(lowering *l, lowered *v, const axes *s, net_id storage_id) {
  net_map m = map_row_major(l->memory, s, 0, 1);
  set_expression(l, v, s, element_node(l, storage_id, &m, 0));
}

lowered row_major(lowering *l, const axes *s, net_id storage_id) {
  lowered v = {0};
  set_row_major(l, &v, s, storage_id);
  return v;
}

// Changes a copy of a node, whose operands are still the old ones; or gives another one for it.
typedef net_id rewrite_node(lowering *l, net_node *node, const void *with);

// The same expression, all of its nodes rewritten.
static net_id rewritten(lowering *l, net_id id, rewrite_node *rewrite, const void *with) {
  node_list nodes = reachable(l, 1, &id);
  for (size_t i = 0; i < nodes.count; i++) {
    net_node node = l->pool.nodes.items[nodes.items[i]];
    net_id to = rewrite(l, &node, with);
    if (to == NET_NONE) {
      if (node.operand_count)
        node = net_node_renumbered(l->memory, &node, l->converted);
      to = pool_add(l, &node);  // may move l->converted
    }
    l->converted[nodes.items[i]] = to;
  }
  return l->converted[id];
}

bool is_computed(lowering *l, net_id node) {
  enum { MOST_NODES = 64 };
  node_list nodes = reachable(l, 1, &node);
  for (size_t i = 0; i < nodes.count; i++) {
    const net_node *n = &l->pool.nodes.items[nodes.items[i]];
    if (n->kind == NET_GATHER || is_in_stage(l, nodes.items[i]))
      return false;
  }
  return nodes.count <= MOST_NODES;
}

// Of the index alone, too, if it is large: moves write it down again (sum of iota would double it
// at every level).
void settle(lowering *l, lowered *v) {
  enum { LARGE = 64 };  // nodes
  if (v->kind != LOWERED_EXPRESSION || l->pool.nodes.items[v->node].kind == NET_ELEMENT ||
      (!l->reads_elements[v->node] && reachable(l, 1, &v->node).count <= LARGE))
    return;
  lowered as_given = *v;
  v->node = place(l, v->axes, 1, &v->node, v->axes->count);  // may put operands in memory
  v->computed = is_computed(l, as_given.node) ? as_given.node : as_given.computed;
}

void make_plain(lowering *l, lowered *v, net_reason why) {
  uint64_t count = axes_product(v->axes, 0, v->axes->count);
  set_expression(l, v, v->axes, store_prefix(l, v->axes, v->node, count, why));
}

// ---- axes that change -------------------------------------------------------------------------

static net_id change_node(lowering *l, net_node *node, const void *with) {
  if (node->kind == NET_ELEMENT || node->kind == NET_INDEX)
    node->map = map_changed(l->memory, &node->map, with);
  return NET_NONE;
}

void change_axes(lowering *l, lowered *v, const axes_change *c) {
  net_id again = v->computed == NET_NONE ? NET_NONE : rewritten(l, v->computed, change_node, c);
  set_expression(l, v, &c->after, rewritten(l, v->node, change_node, c));
  v->computed = again;
}

// Mostly these are powers of two, and a division takes long.
static bool divides(uint64_t a, uint64_t b) {
  return (a & (a - 1)) == 0 ? (b & (a - 1)) == 0 : b % a == 0;
}

uint32_t cut_axes(lowering *l, lowered *v, uint64_t product) {
  uint32_t i = 0;
  uint64_t have = 1;
  while (have != product) {
    uint64_t extent = v->axes->extents[i];
    if (divides(have * extent, product)) {
      have *= extent;
      i++;
    } else if (product % have == 0 && extent % (product / have) == 0) {
      axes_change c = axes_split(v->axes, i, product / have);
      change_axes(l, v, &c);
    } else {
      uint64_t whole = axes_product(v->axes, 0, v->axes->count);
      axis_range all = {0, v->axes->count};
      renumber_axes(l, v, all, 2, (uint64_t[]){product, whole / product});
      i = 0;
      have = 1;
    }
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

void repeat_value(lowering *l, lowered *v, uint32_t at, uint64_t count) {
  axes_change c = axes_inserted(v->axes, at, count);
  change_axes(l, v, &c);
}

void extend_batch(lowering *l, lowered *v, const axes *shared) {
  uint32_t have = cut_axes(l, v, v->batch), more = shared->count - have;
  axes_change c = axes_replaced(v->axes, have, 0, more, shared->extents + have);
  if (more)
    change_axes(l, v, &c);
}

void fix_axes(lowering *l, lowered *v, axis_range range, uint64_t number) {
  axes_change c = axes_fixed(v->axes, range.at, range.count, number);
  change_axes(l, v, &c);
}

void fix_pattern(lowering *l, lowered *v, axis_range range, uint64_t count, uint64_t number) {
  uint64_t of = l->pool.nodes.items[v->node].number;
  fix_axes(l, v, range, number);
  net_node node = l->pool.nodes.items[v->node];
  node.number = of;
  if (count <= UINT64_C(1) << 16 && of <= UINT64_C(1) << 32)
    node.number = of * count + number;
  v->node = pool_add(l, &node);
}

address_range map_range(const net_map *m, const axes *s) {
  __extension__ typedef __int128 wide;
  wide low = m->offset, high = low;
  for (uint32_t i = 0; i < s->count; i++) {
    wide most = (wide)map_stride(m, i) * (wide)(s->extents[i] - 1);
    *(most < 0 ? &low : &high) += most;
  }
  for (uint32_t k = 0; k < m->row_count; k++)
    *(m->rows[k].weight < 0 ? &low : &high) += m->rows[k].weight;
  return (address_range){low < INT64_MIN ? INT64_MIN : (int64_t)low,
                         high > INT64_MAX ? INT64_MAX : (int64_t)high};
}

// A choice by an index below a number, which on these axes it always is, or never, is what was
// chosen.
static net_id decide_node(lowering *l, net_node *node, const void *with) {
  const net_node *nodes = l->pool.nodes.items;
  const net_node *c = node->kind == NET_SELECT ? &nodes[node->operands[0]] : node;
  if (c->kind != NET_SCALAR || c->scalar != OP_LT || c == node ||
      nodes[c->operands[0]].kind != NET_INDEX || nodes[c->operands[1]].kind != NET_CONSTANT)
    return NET_NONE;
  address_range r = map_range(&nodes[c->operands[0]].map, with);
  int64_t limit = nodes[c->operands[1]].constant.i64;
  return r.high < limit || r.low >= limit ? l->converted[node->operands[r.high < limit ? 1 : 2]]
                                          : NET_NONE;
}

typedef struct slicing {
  const axes *before;
  axis_range range;  // of them
  axes_change change;
  uint32_t count;  // of new axes there
  uint64_t number;
} slicing;

// Without those axes, then with new ones of the same stride.
static net_id slice_node(lowering *l, net_node *node, const void *with) {
  const slicing *w = with;
  int64_t stride = 0;
  if (node->kind != NET_ELEMENT && node->kind != NET_INDEX)
    return NET_NONE;
  map_plain(&node->map, w->before, w->range.at, w->range.count, &stride);
  net_map wide = map_changed(l->memory, &node->map, &w->change);
  wide.offset += (int64_t)w->number * stride;
  node->map = map_numbered(l->memory, &wide, &w->change.after, w->range.at, w->count, stride);
  return NET_NONE;
}

// Whether its maps are plain there.
static bool is_sliceable(lowering *l, const lowered *v, axis_range range) {
  node_list nodes = reachable(l, 1, &v->node);
  int64_t stride;
  for (size_t i = 0; i < nodes.count; i++) {
    const net_node *node = &l->pool.nodes.items[nodes.items[i]];
    if ((node->kind == NET_ELEMENT || node->kind == NET_INDEX) &&
        (is_in_stage(l, nodes.items[i]) ||
         !map_plain(&node->map, v->axes, range.at, range.count, &stride)))
      return false;
  }
  return true;
}

// The axes of the range become others, which count from `number` on.
static void renumber_range(lowering *l, lowered *v, axis_range range, const axes *to,
                           uint64_t number, net_reason why) {
  if (!is_sliceable(l, v, range))
    make_plain(l, v, why);
  slicing w = {.before = v->axes, .range = range, .count = to->count, .number = number};
  w.change = axes_replaced(v->axes, range.at, range.count, to->count, to->extents);
  set_expression(l, v, &w.change.after, rewritten(l, v->node, slice_node, &w));
}

void renumber_axes(lowering *l, lowered *v, axis_range range, uint32_t count,
                   const uint64_t *extents) {
  axes to = {0};
  for (uint32_t i = 0; i < count; i++)
    axes_insert(&to, to.count, extents[i]);
  renumber_range(l, v, range, &to, 0, NET_REASON_ROWS);
}

void slice_axes(lowering *l, lowered *v, axis_range range, uint64_t number, uint64_t length) {
  axes to = {0};
  axes_insert(&to, 0, length);
  renumber_range(l, v, range, &to, number, NET_REASON_PART);
  v->node = rewritten(l, v->node, decide_node, v->axes);
}

// ---- beyond the ends --------------------------------------------------------------------------

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

// Loads over these axes stay in their arrays.
static net_id guard_node(lowering *l, net_node *node, const void *with) {
  if (node->kind != NET_ELEMENT || l->storages.items[node->value].padding_start != UINT64_MAX)
    return NET_NONE;
  net_id array = l->storages.items[node->value].array;
  address_range r = map_range(&node->map, with);
  if (r.low < 0 || (uint64_t)r.high >= l->net->arrays.items[array].count)
    node->value = guarded_storage(l, node->value, &(scalar_bits){{0}});
  return NET_NONE;
}

bool is_extensible(lowering *l, const lowered *v, axis_range range) {
  enum { MOST_NODES = 64 };
  return is_sliceable(l, v, range) && reachable(l, 1, &v->node).count <= MOST_NODES;
}

void extend_axes(lowering *l, lowered *v, axis_range range, uint64_t start, uint64_t length) {
  slice_axes(l, v, range, -start, length);
  v->node = rewritten(l, v->node, guard_node, v->axes);
}

// What passes through a stage, or what is in memory.
static void slice_placed(lowering *l, lowered *v, uint64_t whole, uint64_t number,
                         uint64_t length) {
  if (length == whole)
    return;
  if (whole % length == 0 && number % length == 0) {
    axis_range range = cut_axis_range(l, v, v->batch, v->batch * (whole / length));
    fix_axes(l, v, range, number / length);
    return;
  }
  if (v->batch == 1 && number == 0 && is_in_stage(l, v->node)) {
    uint64_t rest = axes_product(v->axes, 0, v->axes->count) / whole;
    net_id prefix = store_prefix(l, v->axes, v->node, length * rest, NET_REASON_PART);
    uint32_t dims = cut_axes(l, v, whole);
    axes after = {0};
    axes_insert(&after, 0, length);
    memcpy(after.extents + after.count, v->axes->extents + dims,
           (v->axes->count - dims) * sizeof *after.extents);
    after.count += v->axes->count - dims;
    set_row_major(l, v, &after, l->pool.nodes.items[prefix].value);
    return;
  }
  slice_axes(l, v, cut_axis_range(l, v, v->batch, v->batch * whole), number, length);
}

void slice_value(lowering *l, lowered *v, uint64_t whole, uint64_t number, uint64_t length) {
  lowered again = *v;
  again.node = v->computed;
  again.computed = NET_NONE;
  if (v->computed == NET_NONE ||
      !is_extensible(l, &again, cut_axis_range(l, &again, v->batch, v->batch * whole))) {
    slice_placed(l, v, whole, number, length);
    return;
  }
  slice_placed(l, &again, whole, number, length);
  rule_fired(l->log, RULE_COMPUTED_AGAIN, l->step, 0, 0);
  if (whole % length || number % length) {
    *v = again;
    return;
  }
  slice_placed(l, v, whole, number, length);
  v->computed = axes_equal(v->axes, again.axes) ? again.node : NET_NONE;
}

// ---- several values ---------------------------------------------------------------------------

// Constant rows of larger weights than all others become part of the offset. Those below stay: there
// are elements between those of the map.
static void drop_outer_rows(net_map *m) {
  int64_t most = 0;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < m->row_count; i++)
    most = m->rows[i].form.mask && m->rows[i].weight > most ? m->rows[i].weight : most;
  for (uint32_t i = 0; i < m->row_count; i++)
    if (m->rows[i].form.mask || m->rows[i].weight < most)
      m->rows[kept++] = m->rows[i];
    else
      m->offset += m->rows[i].form.constant ? m->rows[i].weight : 0;
  m->row_count = kept;
}

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
  axes_change c = axes_inserted(s, at, m);
  uint32_t inserted = c.after.count - s->count;
  net_map wide = map_changed(l->memory, &first->map, &c);
  for (uint32_t b = 0; bits && b < inserted; b++) {
    uint64_t delta = base ^ map_constants(&nodes[elements[1u << b]].map);
    for (uint32_t i = 0; i < wide.row_count; i++)
      wide.rows[i].form.mask |= f2_bit(delta, (int)i) ? f2_unit((int)(at + inserted - 1 - b)) : 0;
  }
  net_map r = step ? map_numbered(l->memory, &wide, &c.after, at, inserted, step) : wide;
  if (!step && l->storages.items[first->value].in_memory)
    drop_outer_rows(&r);
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

axes agree_on_batch(lowering *l, lowered *v, uint32_t count, uint64_t batch) {
  lowered *base = v;
  if (!count)
    return batch_axes_after(&(axes){0}, batch);
  for (uint32_t i = 1; i < count; i++) {
    bool deeper =
        v[i].batch == base->batch && l->reads_elements[v[i].node] && !l->reads_elements[base->node];
    if (v[i].batch > base->batch || deeper)
      base = &v[i];
  }
  for (uint32_t i = 0; i < count; i++)
    cut_axes(l, base, v[i].batch);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t prefix = cut_axes(l, &v[i], v[i].batch), wanted = cut_axes(l, base, v[i].batch);
    if (prefix == wanted &&
        !memcmp(v[i].axes->extents, base->axes->extents, prefix * sizeof *base->axes->extents))
      continue;
    renumber_axes(l, &v[i], (axis_range){0, prefix}, wanted, base->axes->extents);
  }
  axes s = *base->axes;
  s.count = cut_axes(l, base, base->batch);
  return batch_axes_after(&s, batch);
}

axes extend_to_batch(lowering *l, lowered *v, uint32_t count, uint64_t batch) {
  axes shared = agree_on_batch(l, v, count, batch);
  for (uint32_t i = 0; i < count; i++) {
    extend_batch(l, &v[i], &shared);
    v[i].batch = batch;
  }
  return shared;
}
