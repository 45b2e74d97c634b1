// The steps of a Trace, as changes of coordinates and expressions. See lower.h.
#include "fusion/lower/lowering.h"
#include "fusion/lower/retrace.h"

// ---- operands ---------------------------------------------------------------------------------

// Room for the operands of a step, until the next one asks for it.
static lowered *room_for_operands(lowering *l, uint32_t count) {
  if (count > l->operand_room) {
    l->operand_room = 2 * count;
    l->operands = NEW_ARRAY(l->memory, lowered, l->operand_room);
  }
  return l->operands;
}

// ---- moves ------------------------------------------------------------------------------------

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
  ensure(f2_affine_inverse(f, &f));
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
static void move_bits(lowering *l, const trace_step *s, lowered *v) {
  const trace_step *o = operand_step(l, s, 0);
  bool joins = s->op == TRACE_STITCH || s->op == TRACE_UNPAIR;
  uint64_t outer = joins ? s->batch : o->batch, size = joins ? s->dims[0] : o->dims[0];
  axis_range range = cut_axis_range(l, v, outer, outer * size);
  axes_change c = axes_substituted(v->axes, range.at, old_index(s, f2_msb(size)));
  change_axes(l, v, &c);
}

static lowered lower_matrix(lowering *l, const trace_step *s) {
  log_movement(l, s);
  lowered v = lower_operand(l, s, 0);
  move_bits(l, s, &v);
  v.is_part = true;
  return v;
}

// Repeated behind its batch.
static lowered lower_repeated(lowering *l, const trace_step *s) {
  lowered v = lower_operand(l, s, 0);
  uint64_t times = s->op == TRACE_REPLICATE ? s->dims[0] : s->batch / v.batch;
  repeat_value(l, &v, cut_axes(l, &v, v.batch), times);
  return v;
}

// An expression of elements of memory, that is not yet in an array.
static bool is_unsettled(const lowering *l, const lowered *v) {
  return v->kind == LOWERED_EXPRESSION && l->reads_elements[v->node] &&
         l->pool.nodes.items[v->node].kind != NET_ELEMENT;
}

// Windows are computed where they are needed, also by a map.
static lowered lower_reshape(lowering *l, const trace_step *s) {
  lowered *v = &l->values[s->operands[0]];
  log_movement(l, s);
  const trace_step *o = operand_step(l, s, 0);
  bool lists = v->kind == LOWERED_PIECES || (v->kind == LOWERED_PACKED && s->bound);
  if (lists && o->batch == s->batch)
    return *v;
  if (v->kind == LOWERED_PIECES)
    join_parts(l, o, v, false);
  if (o->rank == 0 || !is_unsettled(l, v) || !is_computed(l, v->node))
    return lower_operand(l, s, 0);
  lowered r = *v;
  cut_axes(l, &r, r.batch);
  return r;
}

static lowered lower_element(lowering *l, const trace_step *s) {
  const trace_step *o = operand_step(l, s, 0);
  const lowered *whole = &l->values[s->operands[0]];
  if (whole->kind == LOWERED_PACKED)
    return whole->parts[s->number];
  if (whole->kind == LOWERED_PIECES)
    return slice_pieces(l, s, o, whole, s->number, 1);
  lowered v = lower_operand(l, s, 0);
  axis_range range = cut_axis_range(l, &v, v.batch, v.batch * o->dims[0]);
  if (l->pool.nodes.items[v.node].kind == NET_ELEMENT)
    fix_pattern(l, &v, range, o->dims[0], s->number);
  else
    fix_axes(l, &v, range, s->number);
  v.is_part = true;
  return v;
}

static lowered lower_transpose(lowering *l, const trace_step *s) {
  const trace_step *o = operand_step(l, s, 0);
  lowered v = lower_operand(l, s, 0);
  uint64_t rows = o->batch * o->dims[0], all = rows * o->dims[1];
  uint32_t at[3];
  cut_axes_at_all(l, &v, 3, (uint64_t[]){o->batch, rows, all}, at);
  axes_change c = axes_exchanged(v.axes, at[0], at[1], at[2]);
  change_axes(l, &v, &c);
  return v;
}

// ---- packs, slices, concatenations ------------------------------------------------------------

// Elements of a list, over one batch. Equal ones beside each other that are computed of the index
// alone are one part.
static lowered list_of(lowering *l, const trace_step *s, const axes *shared, lowered *v) {
  uint32_t runs = 0;
  for (uint32_t i = 0; i < s->operand_count; i++)
    if (runs && v[i].node == v[runs - 1].node && !l->reads_elements[v[i].node]) {
      v[runs - 1].count++;
    } else {
      net_id again = v[i].computed;
      v[runs] = expression(l, shared, v[i].node);
      v[runs].computed = again;
      v[runs].batch = s->batch;
      v[runs++].count = 1;
    }
  if (runs == s->operand_count)
    return (lowered){.kind = LOWERED_PACKED, .part_count = runs, .parts = v};
  for (uint32_t i = 0; i < runs; i++)
    repeat_value(l, &v[i], v[i].axes->count, v[i].count);
  return value_of_parts(l, s, runs, v);
}

static lowered lower_pack(lowering *l, const trace_step *s) {
  uint32_t m = s->operand_count;
  bool scalars = s->rank == 1;
  lowered *v = scalars ? NEW_ARRAY(l->memory, lowered, m) : room_for_operands(l, m);
  for (uint32_t i = 0; i < m; i++)
    v[i] = scalars ? l->values[s->operands[i]] : lower_operand(l, s, i);
  axes shared = agree_on_batch(l, v, m, s->batch);
  if (scalars)
    return list_of(l, s, &shared, v);
  // Of arrays the rest of the axes must agree, too, and batches be whole.
  net_id *elements = NEW_ARRAY(l->memory, net_id, m);
  axes all = {0};
  for (uint32_t i = 0; i < m; i++) {
    extend_batch(l, &v[i], &shared);
    if (i == 0)
      all = *v->axes;
    if (!axes_equal(v[i].axes, &all))
      renumber_axes(l, &v[i], (axis_range){0, v[i].axes->count}, all.count, all.extents);
    elements[i] = v[i].node;
  }
  return pack_elements(l, &all, m, elements, shared.count);
}

// Whether the value is stored for its windows, which otherwise compute it again. Counted are
// operations and loads, each as one:
//
//   again    what the value shifted by the window has and the value itself has not, for a window on
//            either side. A step of a heat equation shares all but one of its loads with itself
//            shifted; sums along one axis share none with themselves shifted along another.
//   stored   a store and a load, whose bytes pass through memory, and the start of a pass
static bool is_stored_for_windows(lowering *l, const trace_step *s, lowered v) {
  enum { WINDOWS = 2, MOVE = 2, BYTE = 2, PASS = 1 << 16 };
  uint64_t whole = operand_step(l, s, 0)->dims[0], length = s->dims[0], count = v.batch * v.count;
  if (v.node == NET_NONE || l->uses[s->operands[0]] < 2)
    return false;
  v.computed = NET_NONE;
  axis_range range = cut_axis_range(l, &v, v.batch, v.batch * whole);
  if (!is_extensible(l, &v, range))
    return false;
  lowered shifted = v;  // a first part is shifted back by what it leaves out
  slice_axes(l, &v, range, 0, whole);
  slice_axes(l, &shifted, range, s->number ? s->number : length - whole, whole);
  size_t both = reachable(l, 2, (net_id[]){v.node, shifted.node}).count;
  size_t more = both - reachable(l, 1, &v.node).count;
  size_t bytes = scalar_types[l->pool.nodes.items[v.node].type].size;
  double again = WINDOWS * (double)more, moved = MOVE + BYTE * (double)bytes;
  return (again - moved) * (double)count > PASS;
}

// The operand of a slice: in memory, if its windows should not compute it again.
static lowered operand_of_window(lowering *l, const trace_step *s, bool aligned) {
  value_id i = s->operands[0];
  lowered v = l->values[i];
  bool unsettled = is_unsettled(l, &v) && is_computed(l, v.node);
  if (!unsettled)
    v = lower_operand(l, s, 0);
  lowered again = v;
  again.node = unsettled ? v.node : v.computed;
  if (aligned || !is_stored_for_windows(l, s, again))
    return v;
  if (unsettled)
    v = lower_operand(l, s, 0);
  if (is_in_stage(l, v.node))
    make_plain(l, &v, NET_REASON_PART);
  v.computed = NET_NONE;
  return l->values[i] = v;
}

static lowered lower_slice(lowering *l, const trace_step *s) {
  const trace_step *o = operand_step(l, s, 0);
  lowered v = l->values[s->operands[0]];
  if (v.kind == LOWERED_PIECES)
    return slice_pieces(l, s, o, &v, s->number, s->dims[0]);
  bool aligned = o->dims[0] % s->dims[0] == 0 && s->number % s->dims[0] == 0;
  v = operand_of_window(l, s, aligned);
  if (!aligned && s->number && v.computed == NET_NONE && l->uses[s->operands[0]] > 1 &&
      is_in_stage(l, v.node)) {
    make_plain(l, &v, NET_REASON_PART);  // once for all slices
    l->values[s->operands[0]] = v;
  }
  slice_value(l, &v, o->dims[0], s->number, s->dims[0]);
  v.is_part |= aligned && s->dims[0] < o->dims[0];
  return v;
}

// Whether they are parts of what is joined: those of a concatenation, or the elements of a list, one
// by one, if these lie in no stage, where they may lie side by side.
static bool has_parts(lowering *l, const lowered *v) {
  bool single = v->kind == LOWERED_PACKED;
  for (uint32_t i = 0; single && v->part_count > 1 && i < v->part_count; i++)
    single = !l->reads_elements[v->parts[i].node] || is_computed(l, v->parts[i].node);
  return single || v->kind == LOWERED_PIECES;
}

static lowered lower_concat(lowering *l, const trace_step *s) {
  lowered v[2];
  uint32_t count = 0;
  for (uint32_t i = 0; i < 2; i++) {
    v[i] = l->values[s->operands[i]];
    if (!has_parts(l, &v[i]) && !is_unsettled(l, &v[i]))
      v[i] = lower_operand(l, s, i);
    count += has_parts(l, &v[i]) ? v[i].part_count : v[i].kind != LOWERED_EMPTY;
  }
  lowered *parts = NEW_ARRAY(l->memory, lowered, count), *next = parts;
  for (uint32_t i = 0; i < 2; i++)
    if (has_parts(l, &v[i])) {
      rule_fired(l->log, RULE_PIECES, l->step, 0, 0);
      memcpy(next, v[i].parts, v[i].part_count * sizeof *next);
      next += v[i].part_count;
    } else if (v[i].kind != LOWERED_EMPTY) {
      *next++ = v[i];
    }
  return value_of_parts(l, s, count, parts);
}

// ---- arguments and scalar code -------------------------------------------------------------------

static lowered lower_given(lowering *l, const trace_step *s) {
  axes all = axes_of_step(s);
  net_role role = s->op == TRACE_TABLE ? NET_TABLE : NET_ARGUMENT;
  net_id id = storage_add_array(l, s->type, trace_step_count(s), role, (uint32_t)s->number);
  if (role == NET_TABLE)
    l->net->arrays.items[l->storages.items[id].array].table = s->table;
  return row_major(l, &all, id);
}

static lowered lower_constant(lowering *l, const trace_step *s) {
  axes none = {0};
  net_node node = {.kind = NET_CONSTANT, .type = s->type, .constant = s->constant};
  return expression(l, &none, pool_add(l, &node));
}

static lowered lower_iota(lowering *l, const trace_step *s) {
  axes all = axes_of_step(s);
  net_map m = map_row_major(l->memory, &all, 0, 1);
  return expression(l, &all, pool_index(l, &m));
}

// The axes that the latest value with this batch has for it.
static axes *axes_of_batch(lowering *l, uint64_t batch) {
  size_t i = 0;
  while (i < l->batches.count && l->batches.items[i].batch != batch)
    i++;
  if (i == l->batches.count)
    vec_push(l->memory, &l->batches, ((known_batch){batch, batch_axes_after(&(axes){0}, batch)}));
  return &l->batches.items[i].axes;
}

static void remember_batch(lowering *l, const trace_step *s, lowered *v) {
  if (v->kind != LOWERED_EXPRESSION || !l->reads_elements[v->node])
    return;
  uint32_t count = s->rank ? cut_axes(l, v, s->batch) : v->axes->count;
  axes *latest = axes_of_batch(l, s->batch);
  *latest = *v->axes;
  latest->count = count;
}

static lowered lower_instance(lowering *l, const trace_step *s) {
  lowered v = expression(l, axes_of_batch(l, s->batch), pool_index(l, &(net_map){0}));
  uint32_t outer = cut_axes(l, &v, s->batch / s->number);
  net_map m = map_row_major(l->memory, v.axes, outer, 1);
  v.node = pool_index(l, &m);
  return v;
}

// The operation on operands that are computed again, where those in stages may be, in few nodes.
static net_id computed_of(lowering *l, net_node node, const lowered *v) {
  bool any = false;
  for (uint32_t i = 0; i < node.operand_count; i++) {
    any |= v[i].computed != NET_NONE;
    node.operands[i] = v[i].computed != NET_NONE ? v[i].computed : v[i].node;
  }
  net_id id = any ? pool_add(l, &node) : NET_NONE;
  return any && is_computed(l, id) ? id : NET_NONE;
}

static lowered lower_scalar(lowering *l, const trace_step *s) {
  static const net_node_kind kinds[TRACE_OP_COUNT] = {[TRACE_SCALAR] = NET_SCALAR,
                                                      [TRACE_SELECT] = NET_SELECT,
                                                      [TRACE_CONVERT] = NET_CONVERT,
                                                      [TRACE_ROOT] = NET_ROOT,
                                                      [TRACE_EXTERN] = NET_EXTERN};
  uint32_t count = s->operand_count;
  lowered *v = room_for_operands(l, count + 1);
  net_node node = {.kind = kinds[s->op],
                   .type = s->type,
                   .scalar = s->scalar,
                   .number = s->number,
                   .operand_count = count,
                   .operands = NEW_ARRAY(l->memory, net_id, count + 1)};
  for (uint32_t i = 0; i < count; i++)
    v[i] = l->values[s->operands[i]];
  axes shared = agree_on_batch(l, v, count, s->batch);
  for (uint32_t i = 0; i < count; i++)
    node.operands[i] = v[i].node;
  lowered r = expression(l, &shared, pool_add(l, &node));
  if (s->op == TRACE_EXTERN)  // called once
    r.node = place(l, &shared, 1, &r.node, shared.count);
  for (uint32_t i = 0; i < count; i++)
    r.is_part |= v[i].is_part;
  if (s->op != TRACE_EXTERN && !r.is_part)
    r.computed = computed_of(l, node, v);
  return r;
}

// ---- the whole --------------------------------------------------------------------------------

typedef lowered lower_step(lowering *l, const trace_step *s);

static lower_step *const rows[TRACE_OP_COUNT] = {
    [TRACE_ARGUMENT] = lower_given,      [TRACE_CONSTANT] = lower_constant,
    [TRACE_TABLE] = lower_given,         [TRACE_SCALAR] = lower_scalar,
    [TRACE_SELECT] = lower_scalar,       [TRACE_CONVERT] = lower_scalar,
    [TRACE_ROOT] = lower_scalar,         [TRACE_EXTERN] = lower_scalar,
    [TRACE_INSTANCE] = lower_instance,   [TRACE_BROADCAST] = lower_repeated,
    [TRACE_RESHAPE] = lower_reshape,     [TRACE_SPLIT] = lower_matrix,
    [TRACE_STITCH] = lower_matrix,       [TRACE_PAIR] = lower_matrix,
    [TRACE_UNPAIR] = lower_matrix,       [TRACE_BMMC] = lower_matrix,
    [TRACE_ELEMENT] = lower_element,     [TRACE_PACK] = lower_pack,
    [TRACE_TRANSPOSE] = lower_transpose, [TRACE_SLICE] = lower_slice,
    [TRACE_CONCAT] = lower_concat,       [TRACE_IOTA] = lower_iota,
    [TRACE_REPLICATE] = lower_repeated,  [TRACE_GATHER] = lower_gather,
    [TRACE_SCATTER] = lower_scatter,     [TRACE_PLACES] = lower_key_routine,
    [TRACE_COUNT] = lower_key_routine,   [TRACE_WRONG] = lower_key_routine,
    [TRACE_GROUP] = lower_scatter,       [TRACE_FOLD] = lower_fold};

// Whether an element of the step's value reads one element of each operand, at most.
static bool reads_single_elements(const trace_step *s) {
  return s->op != TRACE_SCATTER && s->op != TRACE_PLACES && s->op != TRACE_COUNT &&
         s->op != TRACE_WRONG && s->op != TRACE_GROUP && s->op != TRACE_FOLD;
}

// How many steps read each step that is needed, or return it, and how many of its elements.
static void count_uses(lowering *l) {
  const trace *t = l->trace;
  l->uses = NEW_ARRAY(l->memory, uint32_t, t->steps.count + 1);
  l->read = NEW_ARRAY(l->memory, uint64_t, t->steps.count + 1);
  for (size_t i = 0; i < t->results.count; i++) {
    l->uses[t->results.items[i]]++;
    l->read[t->results.items[i]] = trace_step_count(&t->steps.items[t->results.items[i]]);
  }
  for (size_t i = t->steps.count; i-- > 0;) {
    const trace_step *s = &t->steps.items[i];
    for (uint32_t k = 0; l->uses[i] && k < s->operand_count; k++) {
      uint64_t *read = &l->read[s->operands[k]], all = trace_step_count(operand_step(l, s, k));
      uint64_t more = reads_single_elements(s) ? l->read[i] : all;
      *read = more < all - *read ? *read + more : all;
      l->uses[s->operands[k]]++;
    }
  }
}

// If the value of step i is all of an array in memory: how much of that is read.
static void note_reads(lowering *l, uint32_t i, const lowered *v) {
  if (v->kind != LOWERED_EXPRESSION || l->pool.nodes.items[v->node].kind != NET_ELEMENT)
    return;
  storage *held = &l->storages.items[l->pool.nodes.items[v->node].value];
  if (held->in_memory && !held->read &&
      l->net->arrays.items[held->array].count == v->count * v->batch)
    held->read = l->read[i];
}

// A temporary that is exactly the result becomes the result.
static bool rename_result(lowering *l, const lowered *v, uint32_t number) {
  if (!is_whole_array(l, v))
    return false;
  net_id held = l->pool.nodes.items[v->node].value;
  net_array *a = &l->net->arrays.items[l->storages.items[held].array];
  if (a->role != NET_TEMPORARY)
    return false;
  a->role = NET_RESULT;
  a->number = number;
  rule_fired(l->log, RULE_RESULT_IN_PLACE, l->step, 0, 0);
  return true;
}

static void lower_result(lowering *l, uint32_t number) {
  value_id id = l->trace->results.items[number];
  const trace_step *s = &l->trace->steps.items[id];
  lowered v = l->values[id];
  l->step = l->origins ? l->origins[id] : id;
  if (v.kind == LOWERED_EMPTY) {
    net_array_add(l->memory, l->net, s->type, 0, NET_RESULT, number);
    return;
  }
  if (v.kind != LOWERED_EXPRESSION)
    join_parts(l, s, &v, true);
  settle(l, &v);
  if (rename_result(l, &v, number))
    return;
  net_id array = net_array_add(l->memory, l->net, s->type, trace_step_count(s), NET_RESULT, number);
  net_map target = map_row_major(l->memory, v.axes, 0, 1);
  store_into(l, v.axes, v.node, array, &target);
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
    if (net_stage_acts(&ordered[i]))
      l->net->stages.items[next++] = ordered[i];
  l->net->stages.count = next;
}

net *lower(arena *a, const trace *t, rule_log *log) {
  lowering l = {.memory = a, .net = NEW(a, net), .log = log};
  t = trace_without_known_places(a, t, log, &l.origins);
  l.trace = t = trace_on_wholes(a, t, log, &l.origins);
  l.values = NEW_ARRAY(a, lowered, t->steps.count + 1);
  for (size_t i = 0; i < t->externs.count; i++)
    vec_push(a, &l.net->externs, t->externs.items[i]);
  count_uses(&l);
  for (uint32_t i = 0; i < t->steps.count; i++) {
    const trace_step *s = &t->steps.items[i];
    if (!l.uses[i])
      continue;
    l.step = l.origins ? l.origins[i] : i;
    if (!trace_step_count(s))  // LOWERED_EMPTY
      continue;
    lowered v = rows[s->op](&l, s);
    remember_batch(&l, s, &v);
    v.batch = s->batch;
    v.count = trace_step_count(s) / s->batch;
    l.values[i] = v;
    note_reads(&l, i, &v);
  }
  for (uint32_t i = 0; i < t->results.count; i++)
    lower_result(&l, i);
  order_stages(&l);
  return l.net;
}
