// Movement that depends on data: gathers and scatters. See lower.h.
//
// A gather is an expression of its place, in scalar code as any other: a node that reads an array
// in memory at an address that the op computes. So it shares an op with what makes its places and
// with what is done to its elements; its array must be complete before the op's stage begins.
//
//   gather p xs, xs of 5 rows of 3            t0 = convert u64 p; inside = t0 < 5
//     element j of row i of the result        gather a0 (select inside (p * 3 + j) -1)
//
// Where its places are sums of multiples of the axes, it is a load: xs[2 * i + j]. Where conditions say
// which of a few such sums they are, as in stencils, it is a choice of loads:
//
//   xs[max 0 (i - 1)]        select (0 <= i - 1) xs[i - 1] xs[0]
//   xs[(i + 1) % 8]          select (i + 1 < 8) xs[i + 1] xs[i - 7]
//
// A scatter is an op that writes into an array: the one that it changes, copied, or a new one where
// the places are as many as its elements, so that each is written. Elsewhere than where the op is
// alive, and for places outside, the address is -1: nothing is written. Of a group the elements are
// taken in the order of the stage's index. For floats, whose sums depend on it, that is theirs: they
// are read in memory, in axes that count them.
#include "fusion/lower/lowering.h"

static net_id add_convert(lowering *l, scalar_type to, net_id x) {
  net_node node = {.kind = NET_CONVERT, .type = to};
  return l->pool.nodes.items[x].type == to ? x : pool_operation(l, node, 1, &x);
}

net_id add_address(lowering *l, net_id place, uint64_t length, int64_t stride, const net_map *base,
                   bool whole) {
  net_id address = add_convert(l, SCALAR_I64, place);
  if (whole)
    return address;
  net_id inside = pool_scalar(l, OP_LT, SCALAR_BOOL, add_convert(l, SCALAR_U64, address),
                              pool_constant(l, SCALAR_U64, (int64_t)length));
  if (stride != 1)
    address = pool_scalar(l, OP_MUL, SCALAR_I64, address, pool_constant(l, SCALAR_I64, stride));
  address = pool_scalar(l, OP_ADD, SCALAR_I64, address, pool_index(l, base));
  return pool_select(l, inside, address, pool_constant(l, SCALAR_I64, -1));
}

// v does not depend on the axes that follow its own.
static void append_axes(lowering *l, lowered *v, const axes *all) {
  uint32_t have = v->axes->count;
  axes_change c = axes_replaced(v->axes, have, 0, all->count - have, all->extents + have);
  change_axes(l, v, &c);
}

// ---- gather ------------------------------------------------------------------------------------

static bool is_gatherable(lowering *l, lowered *v, const trace_step *of, gathered *g) {
  g->range = cut_axis_range(l, v, v->batch, v->batch * of->dims[0]);
  const net_node *node = &l->pool.nodes.items[v->node];
  const storage *held = node->kind == NET_ELEMENT ? &l->storages.items[node->value] : NULL;
  if (!held || !held->in_memory || held->padding_start != UINT64_MAX)
    return false;
  g->array = held->array;
  return map_plain(&node->map, v->axes, g->range.at, g->range.count, &g->stride);
}

gathered make_gatherable(lowering *l, lowered *v, const trace_step *of) {
  gathered g = {0};
  if (!is_gatherable(l, v, of, &g)) {
    make_plain(l, v, NET_REASON_PLACED);
    ensure(is_gatherable(l, v, of, &g));
  }
  return g;
}

// ---- places that are sums of indices -------------------------------------------------------------

// Conditions that hold, or do not.
typedef struct decided {
  net_id condition;
  bool holds;
  const struct decided *others;
} decided;

// A place where these are decided: `open`, of one that is no sum yet, is a condition that has to be, too,
// or NET_NONE.
typedef struct placed {
  lowering *l;
  const axes *axes;
  const decided *by;
  net_id open;
} placed;

static bool find_index(placed *p, net_id id, net_map *out);

static bool is_small(address_range r) { return r.low > INT64_MIN / 2 && r.high < INT64_MAX / 2; }

// What a comparison of two sums compares with 0.
static bool find_difference(const placed *p, const net_node *c, net_map *out) {
  placed own = *p;
  net_map x, y;
  if (c->kind != NET_SCALAR || c->operand_count != 2 ||
      p->l->pool.nodes.items[c->operands[0]].type != SCALAR_I64 ||
      !find_index(&own, c->operands[0], &x) || !find_index(&own, c->operands[1], &y) ||
      !is_small(map_range(&x, p->axes)) || !is_small(map_range(&y, p->axes)))
    return false;
  *out = net_map_sum(p->l->memory, &x, -1, &y);
  return true;
}

// Whether it is the same at all indices.
static bool is_always(const placed *p, const net_node *c, bool *holds) {
  net_map apart;
  if (!find_difference(p, c, &apart))
    return false;
  address_range r = map_range(&apart, p->axes);
  bool below = r.high < 0;
  bool above = r.low > 0;
  bool same = r.low == 0 && r.high == 0;
  switch (c->scalar) {
  case OP_LT:
  case OP_GE:
    *holds = below == (c->scalar == OP_LT);
    return below || r.low >= 0;
  case OP_LE:
  case OP_GT:
    *holds = above == (c->scalar == OP_GT);
    return above || r.high <= 0;
  case OP_EQ:
  case OP_NE:
    *holds = same == (c->scalar == OP_EQ);
    return same || below || above;
  default:
    return false;
  }
}

static bool is_decided(placed *p, net_id condition, bool *holds) {
  const net_node c = p->l->pool.nodes.items[condition];
  *holds = c.constant.b;
  if (c.kind == NET_CONSTANT)
    return true;
  for (const decided *d = p->by; d; d = d->others)
    if (d->condition == condition) {
      *holds = d->holds;
      return true;
    }
  if (is_always(p, &c, holds))
    return true;
  p->open = condition;
  return false;
}

// x mod n, of few multiples of n apart.
static bool find_rest(placed *p, const net_node *node, net_map *out) {
  const net_node *with = &p->l->pool.nodes.items[node->operands[1]];
  int64_t n = with->kind == NET_CONSTANT ? with->constant.i64 : 0;
  net_map x, none = net_map_new(p->l->memory, p->axes->count, 0);
  if (n <= 0 || !find_index(p, node->operands[0], &x))
    return false;
  address_range r = map_range(&x, p->axes);
  if (!is_small(r) || n > INT64_MAX / 4)
    return false;
  int64_t first = r.low / n - (r.low % n < 0);
  none.offset = 1;
  *out = net_map_sum(p->l->memory, &x, -first * n, &none);
  if (r.high - first * n < n)
    return true;
  bool below;
  net_id end = pool_constant(p->l, SCALAR_I64, (first + 1) * n);
  if (r.high - first * n >= 2 * n ||
      !is_decided(p, pool_scalar(p->l, OP_LT, SCALAR_BOOL, node->operands[0], end), &below))
    return false;
  *out = net_map_sum(p->l->memory, out, below ? 0 : -n, &none);
  return true;
}

// Whether the node is a sum of multiples of indices, and constants: an index.
static bool find_index(placed *p, net_id id, net_map *out) {
  const net_node node = p->l->pool.nodes.items[id];
  net_map x, y;
  bool holds;
  *out = node.map;
  if (node.kind == NET_INDEX)
    return true;
  if (node.type != SCALAR_I64)
    return false;
  if (node.kind == NET_SELECT)
    return is_decided(p, node.operands[0], &holds) &&
           find_index(p, node.operands[holds ? 1 : 2], out);
  if (node.kind == NET_SCALAR && node.scalar == OP_MOD)
    return find_rest(p, &node, out);
  *out = (net_map){.offset = node.constant.i64};
  return node.kind == NET_CONSTANT ||
         (node.kind == NET_SCALAR && find_index(p, node.operands[0], &x) &&
          find_index(p, node.operands[node.operand_count - 1], &y) &&
          net_map_apply(p->l->memory, node.scalar, &x, &y, out));
}

// The step's places, as an index where they are one, or conditions say that they are.
static lowered lower_places(lowering *l, const trace_step *s) {
  const lowered *v = &l->values[s->operands[0]];
  net_map index;
  if (v->kind == LOWERED_PACKED && v->part_count == 1)
    v = v->parts;
  placed p = {.l = l, .axes = v->axes, .open = NET_NONE};
  if (v->kind != LOWERED_EXPRESSION || l->reads_elements[v->node])
    return lower_operand(l, s, 0);
  lowered r = *v;
  net_map none = net_map_new(l->memory, v->axes->count, 0);
  if (find_index(&p, v->node, &index)) {
    index = net_map_sum(l->memory, &none, 1, &index);  // of all axes
    r.node = pool_index(l, &index);
  } else if (p.open == NET_NONE) {
    return lower_operand(l, s, 0);
  }
  cut_axes(l, &r, r.batch);
  return r;
}

// Rows of `length` elements, of which places are gathered; `base`: where a row begins.
typedef struct loading {
  const gathered *from;
  net_id storage;
  net_map base;
  uint64_t length;
  uint32_t loads;
} loading;

// The bounds of a sum where the comparison holds, or does not: of i - 1 where i > 0.
static void narrow_range(const placed *p, const decided *d, const net_map *index,
                         address_range *r) {
  const net_node c = p->l->pool.nodes.items[d->condition];
  net_map apart;
  if (!find_difference(p, &c, &apart))
    return;
  bool greater = c.scalar == OP_GT || c.scalar == OP_GE, strict = c.scalar == OP_LT || greater;
  if (!greater && !strict && c.scalar != OP_LE)
    return;
  // apart <= most, or apart >= least.
  bool above = greater == d->holds;
  int64_t bound = c.scalar == OP_LT || c.scalar == OP_GE ? (above ? 0 : -1) : (above ? 1 : 0);
  for (int sign = -1; sign <= 1; sign += 2) {  // index = k - apart, k + apart
    net_map rest = net_map_sum(p->l->memory, index, -sign, &apart);
    if (!net_map_is_constant(&rest))
      continue;
    int64_t limit = rest.offset + sign * bound;
    if (above == (sign > 0))
      r->low = limit > r->low ? limit : r->low;
    else
      r->high = limit < r->high ? limit : r->high;
  }
}

// 0 where the comparison with a constant does not hold.
static net_id where_index(lowering *l, const net_map *index, scalar_op op, int64_t with,
                          net_id id) {
  net_id holds =
      pool_scalar(l, op, SCALAR_BOOL, pool_index(l, index), pool_constant(l, SCALAR_I64, with));
  net_node nothing = {.kind = NET_CONSTANT, .type = l->pool.nodes.items[id].type};
  return pool_select(l, holds, id, pool_add(l, &nothing));
}

// NET_NONE: the place may be beyond all numbers.
static net_id load_at(loading *of, const placed *p, const net_map *index) {
  lowering *l = p->l;
  uint64_t count = l->net->arrays.items[of->from->array].count;
  net_map none = net_map_new(l->memory, p->axes->count, 0);
  net_map at = net_map_sum(l->memory, &of->base, of->from->stride, index);
  net_map place = net_map_sum(l->memory, &none, 1, index);
  address_range r = map_range(&at, p->axes), inside = map_range(index, p->axes);
  if (!is_small(inside) || !is_small(r))
    return NET_NONE;
  net_id id = element_node(l, of->storage, &at, 0);
  if (r.low < 0 || (uint64_t)r.high >= count)
    id = fill_outside(l, id, &(scalar_bits){{0}});
  if (of->from->stride == 1 && net_map_is_constant(&of->base) && !of->base.offset &&
      count == of->length)
    return id;
  // Outside of a row are other rows.
  for (const decided *d = p->by; d; d = d->others)
    narrow_range(p, d, &place, &inside);
  if (inside.low < 0)
    id = where_index(l, &place, OP_GE, 0, id);
  return inside.high < (int64_t)of->length ? id
                                           : where_index(l, &place, OP_LT, (int64_t)of->length, id);
}

// The element at a place, as loads that conditions choose from; NET_NONE: it is more than a few.
static net_id load_by_conditions(loading *of, placed p, net_id place) {
  enum { FEW = 6 };
  net_map index;
  p.open = NET_NONE;
  if (find_index(&p, place, &index))
    return of->loads++ < FEW ? load_at(of, &p, &index) : NET_NONE;
  if (p.open == NET_NONE)
    return NET_NONE;
  net_id loaded[2] = {NET_NONE, NET_NONE};
  for (uint32_t i = 0; i < 2; i++) {
    placed own = p;
    own.by = &(decided){p.open, i == 0, p.by};
    loaded[i] = load_by_conditions(of, own, place);
    if (loaded[i] == NET_NONE)
      return NET_NONE;
  }
  return pool_select(p.l, p.open, loaded[0], loaded[1]);
}

lowered lower_gather(lowering *l, const trace_step *s) {
  const trace_step *of = operand_step(l, s, 1);
  lowered permuted;
  if (!trace_step_count(of))
    return zeros_of_step(l, s);
  if (lower_permute(l, s, &permuted))
    return permuted;
  lowered v[] = {lower_operand(l, s, 1), lower_places(l, s)}, *from = v, *place = v + 1;
  make_gatherable(l, from, of);
  uint32_t outer = extend_to_batch(l, v, 2, s->batch).count;
  gathered g = make_gatherable(l, from, of);
  // Over the axes of the batch, of the places, and of what is in an element.
  axes_change c = axes_replaced(from->axes, outer, g.range.count, place->axes->count - outer,
                                place->axes->extents + outer);
  net_map base = map_changed(l->memory, &l->pool.nodes.items[from->node].map, &c);
  base = map_numbered(l->memory, &base, &c.after, 0, 0, 0);  // no constant rows
  append_axes(l, place, &c.after);
  loading loads = {&g, l->pool.nodes.items[from->node].value, base, of->dims[0], 0};
  placed p = {.l = l, .axes = &c.after};
  net_id loaded = load_by_conditions(&loads, p, place->node);
  if (loaded != NET_NONE)
    return expression(l, &c.after, loaded);
  bool whole = g.stride == 1 && net_map_is_constant(&base) && !base.offset &&
               l->net->arrays.items[g.array].count == of->dims[0];
  net_id address = add_address(l, place->node, of->dims[0], g.stride, &base, whole);
  net_node gather = {.kind = NET_GATHER, .type = s->type, .number = g.array};
  return expression(l, &c.after, pool_operation(l, gather, 1, &address));
}

// ---- scatter -----------------------------------------------------------------------------------

// A new array for the step's value, with the elements of its last operand, if any of them stays.
static lowered new_target(lowering *l, const trace_step *s) {
  lowered to = new_array_of_step(l, s, NET_REASON_PLACED);
  if (operand_step(l, s, 1)->dims[0] < s->dims[0] || s->op == TRACE_GROUP) {
    lowered base = lower_operand(l, s, 2);
    extend_to_batch(l, &base, 1, s->batch);
    net_map target = map_row_major(l->memory, base.axes, 0, 1);
    store_into(l, base.axes, base.node, array_of_element(l, to.node), &target);
  }
  return to;
}

// The latest op of the stage writes only where it is alive.
static void write_where_alive(lowering *l, uint32_t stage) {
  net_stage *s = stage_of(l, stage);
  net_op *op = &s->ops.items[s->ops.count - 1];
  if (!op->live_count)
    return;
  net_domain alive = net_domain_on(live_of_op(s, op));
  net_node none = {.kind = NET_CONSTANT, .type = SCALAR_I64, .constant = {.i64 = -1}};
  for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++) {
    net_node write = s->nodes.items[op->outputs[0].elements[j]];
    net_id address = net_domain_choose(l->memory, s, op, j, &alive, live_all(s->n), *write.operands,
                                       net_node_add(l->memory, s, &none));
    write.operands = (net_id[]){address, write.operands[1]};
    op->outputs[0].elements[j] = net_node_add(l->memory, s, &write);
  }
}

lowered lower_scatter(lowering *l, const trace_step *s) {
  const trace_step *list = operand_step(l, s, 0);
  lowered sorted;
  if (s->op == TRACE_SCATTER && (lower_sort(l, s, &sorted) || lower_permute(l, s, &sorted)))
    return sorted;
  lowered result = new_target(l, s);
  uint64_t row = trace_step_count(s) / s->batch, inner = row / s->dims[0], count = list->dims[0];
  if (!count)
    return result;
  lowered v[2] = {lower_operand(l, s, 0), lower_operand(l, s, 1)};
  extend_to_batch(l, v, 2, s->batch);
  for (int i = 0; i < 2 && s->op == TRACE_GROUP && scalar_types[s->type].kind >= KIND_FLOAT; i++)
    renumber_axes(l, &v[i], cut_axis_range(l, &v[i], s->batch, s->batch * count), 1, &count);
  uint32_t at[2];
  cut_axes_at_all(l, &v[1], 2, (uint64_t[]){s->batch, s->batch * count}, at);
  const axes *all = v[1].axes;
  axes places = *all;
  places.count = at[1];
  if (!axes_equal(v[0].axes, &places))
    renumber_axes(l, &v[0], (axis_range){0, v[0].axes->count}, places.count, places.extents);
  append_axes(l, &v[0], all);
  net_map base = map_numbered(l->memory, &(net_map){0}, all, 0, at[0], (int64_t)row);
  base = map_numbered(l->memory, &base, all, at[1], all->count - at[1], 1);
  net_id operands[] = {
      add_address(l, v[0].node, s->dims[0], (int64_t)inner, &base, s->batch == 1 && inner == 1),
      v[1].node};
  net_node scatter = {.kind = s->op == TRACE_GROUP ? NET_GROUP : NET_SCATTER,
                      .type = SCALAR_BOOL,
                      .scalar = s->scalar};
  scatter.number = array_of_element(l, result.node);
  net_id written = pool_operation(l, scatter, 2, operands);
  written = place(l, all, 1, &written, all->count);
  uint32_t stage = l->storages.items[l->pool.nodes.items[written].value].stage;
  write_where_alive(l, stage);
  stage_close(l, stage);
  return result;
}
