// Expressions and stages while they grow: nodes are shared in a pool, storages and open stages are
// numbered. See lowering.h.
#include "fusion/lower/lowering.h"
#include "fusion/net/net.h"

// ---- expressions ------------------------------------------------------------------------------

static void *grown_array(lowering *l, void *items, size_t size, size_t capacity) {
  void *more = arena_alloc(l->memory, size * capacity);
  if (l->capacity)
    memcpy(more, items, size * l->capacity);
  return more;
}

net_id pool_add(lowering *l, const net_node *node) {
  size_t before = l->pool.nodes.count;
  net_id id = net_node_add_owned(l->memory, &l->pool, node);
  if (id < before)
    return id;
  bool has = node->kind == NET_ELEMENT || node->kind == NET_GATHER;
  for (uint32_t i = 0; i < node->operand_count; i++)
    has |= l->reads_elements[node->operands[i]];
  if (id >= l->capacity) {
    size_t capacity = l->capacity ? 2 * l->capacity : 256;
    l->reads_elements = grown_array(l, l->reads_elements, sizeof *l->reads_elements, capacity);
    l->marks = grown_array(l, l->marks, sizeof *l->marks, capacity);
    l->converted = grown_array(l, l->converted, sizeof *l->converted, capacity);
    l->capacity = capacity;
  }
  l->reads_elements[id] = has;
  return id;
}

net_id storage_add(lowering *l, const storage *s) {
  vec_push(l->memory, &l->storages, *s);
  return (net_id)(l->storages.count - 1);
}

net_id storage_add_array(lowering *l, scalar_type type, uint64_t count, net_role role,
                         uint32_t number) {
  storage s = {.type = type, .in_memory = true, .padding_start = UINT64_MAX};
  s.array = net_array_add(l->memory, l->net, type, count, role, number);
  return storage_add(l, &s);
}

net_id element_node(lowering *l, net_id storage_id, const net_map *map, uint64_t number) {
  return pool_add(l, &(net_node){.kind = NET_ELEMENT,
                                 .type = l->storages.items[storage_id].type,
                                 .value = storage_id,
                                 .map = *map,
                                 .number = number});
}

// Why the step that is being lowered needs the array.
static void explain_array(lowering *l, net_id array, net_reason why) {
  l->net->arrays.items[array].reason = why;
  l->net->arrays.items[array].step = l->step;
}

net_id temporary_row_major(lowering *l, const axes *s, scalar_type type, uint64_t count,
                           net_reason why) {
  net_map m = map_row_major(l->memory, s, 0, 1);
  net_id id = element_node(l, storage_add_array(l, type, count, NET_TEMPORARY, 0), &m, 0);
  explain_array(l, array_of_element(l, id), why);
  return id;
}

net_id pool_operation(lowering *l, net_node node, uint32_t count, const net_id *operands) {
  node.operand_count = count;
  node.operands = NEW_ARRAY(l->memory, net_id, count + 1);
  memcpy(node.operands, operands, count * sizeof *operands);
  return pool_add(l, &node);
}

net_id pool_scalar(lowering *l, scalar_op op, scalar_type result, net_id x, net_id y) {
  net_node node = {.kind = NET_SCALAR, .type = result, .scalar = op};
  return pool_operation(l, node, 2, (net_id[]){x, y});
}

net_id pool_select(lowering *l, net_id condition, net_id x, net_id y) {
  net_node node = {.kind = NET_SELECT, .type = l->pool.nodes.items[x].type};
  return pool_operation(l, node, 3, (net_id[]){condition, x, y});
}

net_id pool_constant(lowering *l, scalar_type t, int64_t i) {
  net_node node = {.kind = NET_CONSTANT, .type = t, .constant = scalar_from_i64(t, i)};
  return pool_add(l, &node);
}

net_id pool_index(lowering *l, const net_map *m) {
  return pool_add(l, &(net_node){.kind = NET_INDEX, .type = SCALAR_I64, .map = *m});
}

net_id pool_choice_below(lowering *l, const axes *s, axis_range range, uint64_t end, net_id below,
                         net_id other) {
  net_map m = map_numbered(l->memory, &(net_map){0}, s, range.at, range.count, 1);
  net_id index = pool_index(l, &m), limit = pool_constant(l, SCALAR_I64, (int64_t)end);
  return pool_select(l, pool_scalar(l, OP_LT, SCALAR_BOOL, index, limit), below, other);
}

static void reach_node(lowering *l, node_list *list, net_id id) {
  if (l->marks[id] != l->walks) {
    l->marks[id] = l->walks;
    vec_push(l->memory, list, id);
  }
}

node_list reachable(lowering *l, uint32_t m, const net_id *elements) {
  node_list list = {0};
  l->walks++;
  for (uint32_t i = 0; i < m; i++)
    reach_node(l, &list, elements[i]);
  for (size_t i = 0; i < list.count; i++) {
    const net_node *node = &l->pool.nodes.items[list.items[i]];
    for (uint32_t k = 0; k < node->operand_count; k++)
      reach_node(l, &list, node->operands[k]);
  }
  net_order_marked(list.items, list.count, l->marks, l->walks);
  return list;
}

// ---- stages -----------------------------------------------------------------------------------

void stage_close(lowering *l, uint32_t stage) {
  stage_state *s = &l->stages.items[stage];
  if (!s->closed)
    *s = (stage_state){true, l->closings++};
}

// One more form.
static void add_form(arena *a, net_form **forms, uint32_t *count, net_form last) {
  net_form *more = NEW_ARRAY(a, net_form, *count + 1);
  memcpy(more, *forms, *count * sizeof *more);
  more[(*count)++] = last;
  *forms = more;
}

uint32_t stage_open(lowering *l, const axes *loops, int n) {
  net_stage s = {.n = n, .extents = NEW_ARRAY(l->memory, uint64_t, loops->count + 1)};
  for (uint32_t i = 0; i < loops->count; i++)
    if (loops->extents[i] != 2)
      s.extents[s.loop_count++] = loops->extents[i];
  vec_push(l->memory, &l->net->stages, s);
  vec_push(l->memory, &l->stages, (stage_state){0});
  return (uint32_t)l->stages.count - 1;
}

int stage_widen(lowering *l, uint32_t stage) {
  net_stage *s = stage_of(l, stage);
  net_form zero = {f2_unit(s->n), false};
  for (size_t i = 0; i < s->ops.count; i++)
    add_form(l->memory, &s->ops.items[i].live, &s->ops.items[i].live_count, zero);
  for (size_t i = 0; i < s->stores.count; i++)
    add_form(l->memory, &s->stores.items[i].live, &s->stores.items[i].live_count, zero);
  for (size_t i = 0; i < l->storages.count; i++) {
    const storage *held = &l->storages.items[i];
    if (!held->in_memory && held->stage == stage && held->frame)
      held->frame->a.row[held->frame->a.rows++] = 0;
  }
  return s->n++;
}

f2_affine storage_frame(const lowering *l, const storage *held) {
  if (held->frame)
    return *held->frame;
  f2_affine same = f2_affine_identity(held->bits);
  while (same.a.rows < stage_of(l, held->stage)->n)
    same.a.row[same.a.rows++] = 0;
  return same;
}

f2_matrix completed_basis(int n, int p, const uint64_t *first, int k, const uint64_t *second) {
  uint64_t columns[F2_MAX];
  memcpy(columns, first, (size_t)p * sizeof *columns);
  memcpy(columns + p, second, (size_t)k * sizeof *columns);
  f2_space rest = f2_space_complement(f2_span(n, p + k, columns), f2_space_full(n));
  assert(p + k + rest.dimension == n);
  memcpy(columns + p + k, rest.basis, (size_t)rest.dimension * sizeof *columns);
  return f2_from_columns(n, n, columns);
}

void merge_stages(lowering *l, uint32_t into, uint32_t from, f2_affine change) {
  net_stage *old = &l->net->stages.items[from];
  net_id *values = net_stage_merge(l->memory, &l->net->stages.items[into], old, change);
  for (size_t i = 0; i < l->storages.count; i++) {
    storage *held = &l->storages.items[i];
    if (held->in_memory || held->stage != from)
      continue;
    f2_affine *frame = NEW(l->memory, f2_affine);
    *frame = f2_affine_compose(change, storage_frame(l, held));
    held->frame = frame;
    held->stage = into;
    held->value = values[held->value];
  }
  old->loads.count = old->ops.count = old->stores.count = 0;
  stage_close(l, from);
}

// Back from the stage's index to those bits.
static f2_affine storage_address(const lowering *l, const storage *held) {
  f2_affine frame = storage_frame(l, held), back;
  int n = frame.a.rows;
  uint64_t columns[F2_MAX];
  for (int i = 0; i < held->bits; i++)
    columns[i] = f2_column(frame.a, i);
  f2_matrix basis = completed_basis(n, held->bits, columns, 0, columns);
  f2_affine_inverse((f2_affine){basis, frame.c}, &back);
  back.a.rows = held->bits;
  back.c &= f2_mask(held->bits);
  return back;
}

void storage_to_memory(lowering *l, net_id id, net_reason why) {
  storage *held = &l->storages.items[id];
  if (held->in_memory)
    return;
  net_stage *s = stage_of(l, held->stage);
  net_store store = {.value = held->value,
                     .map = net_stage_map(l->memory, s, storage_address(l, held)),
                     .padding_start = UINT64_MAX};
  uint64_t count = net_stage_elements(s) >> (s->n - held->bits);
  store.array = net_array_add(l->memory, l->net, held->type, count, NET_TEMPORARY, 0);
  store.live = live_forms(l->memory, live_of_value(s, held->value), &store.live_count);
  vec_push(l->memory, &s->stores, store);
  stage_close(l, held->stage);
  explain_array(l, store.array, why);
  held->in_memory = true;
  held->array = store.array;
  held->padding_start = UINT64_MAX;
}
