// Elements that go to places which are data: as a sort. See external.h.
//
// A scatter needs all of its array in memory. Where its places are checked to be a permutation, as
// those of `permute` are, the elements in the order of their places are the array:
//
//   stage 0      v0 = load a0 at o0; v1 = load a1 at o0; scatter a2 v0 v1
//   stage 1      routine check length 1000 below 1000 distinct, from a0
//
//   stage 0      routine sort length 1000, keys a0, payload from a1 to a2
//
// If they are none, the sort has another array in some order, and the check ends the program.
#include "fusion/external/making.h"

static bool is_in_order(arena *a, const net *n, const net_stage *s, net_id array, const net_map *m,
                        uint64_t padding_start) {
  net_map order = net_stage_map(a, s, f2_affine_identity(s->n));
  const net_array *of = &n->arrays.items[array];
  return of->role != NET_TABLE && of->count == net_stage_elements(s) &&
         padding_start >= of->count && net_map_equal(m, &order);
}

// Whether an op stores the node as the value, for each index.
static bool is_value_of(const net_stage *s, net_id value, net_id node) {
  bool is = false;
  for (size_t i = 0; i < s->ops.count; i++)
    for (uint32_t o = 0; s->ops.items[i].k == 0 && o < s->ops.items[i].output_count; o++)
      is = is || (s->ops.items[i].outputs[o].value == value &&
                  s->ops.items[i].outputs[o].elements[0] == node);
  return is;
}

// The array that has the node, or gets it, in the order of the index; NET_NONE: there is none.
static net_id array_in_order(arena *a, const net *n, const net_stage *s, net_id id) {
  const net_node *node = &s->nodes.items[id];
  for (size_t i = 0; i < s->loads.count && node->kind == NET_ELEMENT; i++) {
    const net_load *l = &s->loads.items[i];
    if (l->value == node->value && is_in_order(a, n, s, l->array, &l->map, l->padding_start))
      return l->array;
  }
  for (size_t i = 0; i < s->stores.count; i++) {
    const net_store *o = &s->stores.items[i];
    if (!o->live_count && is_value_of(s, o->value, id) &&
        is_in_order(a, n, s, o->array, &o->map, o->padding_start))
      return o->array;
  }
  return NET_NONE;
}

// ---- places that are checked --------------------------------------------------------------------

static bool is_same_space(const net_stage *s, const net_stage *t) {
  bool same = s->n == t->n && s->loop_count == t->loop_count;
  for (uint32_t l = 0; l < s->loop_count && same; l++)
    same = s->extents[l] == t->extents[l];
  return same;
}

// Whether nodes of two stages of one space, of ops without directions, are the same at each index.
static bool is_same_node(const net_stage *s, net_id of_s, const net_stage *t, net_id of_t) {
  const net_node *a = &s->nodes.items[of_s], *b = &t->nodes.items[of_t];
  if (a->kind != b->kind || a->type != b->type || a->operand_count != b->operand_count)
    return false;
  if (a->kind == NET_ELEMENT) {
    const net_load *x = net_load_of(s, a->value), *y = net_load_of(t, b->value);
    return x && y && net_load_equal(x, y);
  }
  bool same = !net_node_is(a->kind, NET_HAS_ARRAY | NET_HAS_EFFECT) && a->scalar == b->scalar &&
              a->number == b->number && !memcmp(&a->constant, &b->constant, sizeof a->constant) &&
              (a->kind != NET_INDEX || net_map_equal(&a->map, &b->map));
  for (uint32_t i = 0; i < a->operand_count && same; i++)
    same = is_same_node(s, a->operands[i], t, b->operands[i]);
  return same;
}

// Whether some stage stores what the node is, in the order of the index, to that array.
static bool is_stored_as(arena *a, const net *n, const net_stage *s, net_id node, net_id array) {
  for (size_t i = 0; i < n->stages.count; i++) {
    const net_stage *t = &n->stages.items[i];
    for (size_t k = 0; k < t->stores.count && is_same_space(s, t); k++) {
      const net_store *o = &t->stores.items[k];
      if (o->array != array || o->live_count ||
          !is_in_order(a, n, t, array, &o->map, o->padding_start))
        continue;
      for (net_id id = 0; id < t->nodes.count; id++)
        if (is_value_of(t, o->value, id) && is_same_node(s, node, t, id))
          return true;
    }
  }
  return false;
}

// Whether the places, which the node is in the stage, are checked to be a permutation of so many.
// `array`: what has them, or NET_NONE.
static bool are_checked(arena *a, const net *n, const net_stage *s, net_id node, net_id array,
                        uint64_t count) {
  for (size_t i = 0; i < n->stages.count; i++) {
    const net_routine *r = n->stages.items[i].routine;
    if (r && r->kind == NET_WRONG && r->distinct && r->rows == 1 && r->length == count &&
        r->limit == count &&
        (r->pairs[0].from == array || is_stored_as(a, n, s, node, r->pairs[0].from)))
      return true;
  }
  return false;
}

// ---- the sort -----------------------------------------------------------------------------------

static net_output *scatter_of(const net_stage *s, const net_op *op) {
  for (uint32_t o = 0; o < op->output_count; o++)
    if (net_output_scatters(s, op, &op->outputs[o]))
      return &op->outputs[o];
  return NULL;
}

// The op without directions that has the only scatter of the stage; NULL: there is none such.
static net_op *find_scatter(const net_stage *s) {
  net_op *found = NULL;
  size_t scatters = 0;
  for (size_t i = 0; i < s->nodes.count; i++)
    scatters += s->nodes.items[i].kind == NET_SCATTER;
  for (size_t i = 0; i < s->ops.count && scatters == 1; i++) {
    net_op *op = &s->ops.items[i];
    if (!op->k && !op->live_count && scatter_of(s, op))
      found = op;
  }
  return found;
}

static void add_store(arena *a, net_stage *s, net_output *output, net_id node, net_id array) {
  output->value = net_value_add(a, s, s->nodes.items[node].type);
  output->elements = NEW(a, net_id);
  output->elements[0] = node;
  net_store store = {output->value, array, net_stage_map(a, s, f2_affine_identity(s->n)),
                     UINT64_MAX,    0,     NULL};
  vec_push(a, &s->stores, store);
}

// The stage, which then stores what it scattered, and its places, in the order of the index.
static net_stage storing_stage(arena *a, const net_stage *s, net_id elements, net_id places) {
  net_stage to = making_new_nodes(a, s);
  net_op *op = find_scatter(&to);
  net_output *outputs = NEW_ARRAY(a, net_output, op->output_count + 1);
  memcpy(outputs, op->outputs, op->output_count * sizeof *outputs);
  op->outputs = outputs;
  net_output *scatter = scatter_of(&to, op);
  const net_node *node = &to.nodes.items[scatter->elements[0]];
  net_id place = node->operands[0], element = node->operands[1];
  add_store(a, &to, scatter, element, elements);
  if (places != NET_NONE)
    add_store(a, &to, &outputs[op->output_count++], place, places);
  return making_stage_of_stores(a, &to, 0, to.stores.count);
}

static net_stage sorting_stage(arena *a, uint64_t count, net_id places, net_id from, net_id to) {
  net_routine *r = NEW(a, net_routine);
  *r = (net_routine){.kind = NET_SORT,
                     .rows = 1,
                     .length = count,
                     .pair_count = 2,
                     .offsets = NET_NONE,
                     .origin = NET_NONE};
  r->pairs = NEW_ARRAY(a, net_routine_pair, 2);
  r->pairs[0] = (net_routine_pair){places, NET_NONE};
  r->pairs[1] = (net_routine_pair){from, to};
  return (net_stage){.routine = r};
}

// Stage `number` of `n` with a sort for its scatter. False: it has no such scatter.
static bool add_sort(arena *a, const net *n, uint32_t number, net *to) {
  const net_stage *s = &n->stages.items[number];
  const net_op *op = s->routine ? NULL : find_scatter(s);
  bool written;
  if (!op)
    return false;
  const net_node *scatter = &s->nodes.items[scatter_of(s, op)->elements[0]];
  net_id array = (net_id)scatter->number, place = scatter->operands[0];
  net_id places = array_in_order(a, n, s, place);
  net_id from = array_in_order(a, n, s, scatter->operands[1]);
  scalar_type type = s->nodes.items[scatter->operands[1]].type;
  uint64_t count = net_stage_elements(s);
  if (n->arrays.items[array].count != count || n->arrays.items[array].type != type ||
      !are_checked(a, n, s, place, places, count) ||
      !making_is_written_in(n, number, number + 1, array, &written))
    return false;
  if (from == NET_NONE || places == NET_NONE || s->stores.count) {
    bool own = places == NET_NONE;
    from = net_array_add(a, to, type, count, NET_TEMPORARY, 0);
    places = own ? net_array_add(a, to, SCALAR_I64, count, NET_TEMPORARY, 0) : places;
    vec_push(a, &to->stages, storing_stage(a, s, from, own ? places : NET_NONE));
  }
  vec_push(a, &to->stages, sorting_stage(a, count, places, from, array));
  return true;
}

const net *making_sorts_of_places(arena *a, const net *n) {
  net *to = NEW(a, net);
  bool any = false;
  to->externs.items = n->externs.items;
  to->externs.count = n->externs.count;
  for (size_t i = 0; i < n->arrays.count; i++)
    vec_push(a, &to->arrays, n->arrays.items[i]);
  for (uint32_t i = 0; i < n->stages.count; i++)
    if (add_sort(a, n, i, to))
      any = true;
    else
      vec_push(a, &to->stages, n->stages.items[i]);
  return any ? to : NULL;
}
