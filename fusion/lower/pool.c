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
  net_id id = net_node_add(l->memory, &l->pool, node);
  if (id < before)
    return id;
  bool has = node->kind == NET_ELEMENT;
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

static int compare_ids(const void *a, const void *b) {
  net_id x = *(const net_id *)a, y = *(const net_id *)b;
  return (x > y) - (x < y);
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
  if (list.count)
    qsort(list.items, list.count, sizeof *list.items, compare_ids);
  return list;
}

// ---- stages -----------------------------------------------------------------------------------

void stage_close(lowering *l, uint32_t stage) {
  stage_state *s = &l->stages.items[stage];
  if (!s->closed)
    *s = (stage_state){true, l->closings++};
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

void storage_to_memory(lowering *l, net_id id) {
  storage *held = &l->storages.items[id];
  if (held->in_memory)
    return;
  net_stage *s = stage_of(l, held->stage);
  f2_affine address = f2_affine_identity(s->n);
  if (held->frame)
    f2_affine_inverse(*held->frame, &address);
  net_store store = {.value = held->value,
                     .map = net_stage_map(l->memory, s, address),
                     .padding_start = UINT64_MAX};
  store.array =
      net_array_add(l->memory, l->net, held->type, net_stage_elements(s), NET_TEMPORARY, 0);
  store.live = live_forms(l->memory, live_of_value(s, held->value), &store.live_count);
  vec_push(l->memory, &s->stores, store);
  stage_close(l, held->stage);
  held->in_memory = true;
  held->array = store.array;
  held->padding_start = UINT64_MAX;
}
