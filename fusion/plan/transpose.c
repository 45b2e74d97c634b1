// Stages that only put the dimensions of an array in another order, as routines. See planning.h.
//
//   stage 0 n=6 loops 1000                        [64][1000] to [1000][64]
//     v0 = load a0 at o0 + 1000*x0 + 2000*x1 + ... + 32000*x5
//     store v0 in a1 at 64*o0 + x0 + 2*x1 + ... + 32*x5
//
//   stage 0 n=0 routine transpose rows 1 length 64000 dimensions 1000:1:64 64:1000:1
//     from a0 to a1
//
// Where all lengths are powers of two, tiles of index bits serve as well.
#include "fusion/plan/planning.h"

typedef VEC(net_dimension) dimension_list;

// What index bit i weighs, if it weighs the same in all places; 0: it does not.
static uint64_t bit_weight(const net_map *m, int i) {
  const net_row *row = net_map_row(m, f2_unit(i));
  for (uint32_t r = 0; r < m->row_count; r++)
    if (f2_bit(m->rows[r].form.mask, i) && &m->rows[r] != row)
      return 0;
  return row && !row->form.constant ? (uint64_t)row->weight : 0;
}

// In the order of distances in the first array, the nearest first. False: there are too many.
static bool insert_dimension(arena *a, dimension_list *list, net_dimension d) {
  enum { MOST = 64 };
  if (d.extent < 2)
    return true;
  vec_push(a, list, d);
  size_t k = list->count - 1;
  for (; k > 0 && list->items[k - 1].from > d.from; k--)
    list->items[k] = list->items[k - 1];
  list->items[k] = d;
  return list->count <= MOST;
}

static bool find_dimensions(arena *a, const net_stage *s, dimension_list *list) {
  const net_map *from = &s->loads.items[0].map, *to = &s->stores.items[0].map;
  bool good = from->offset == 0 && to->offset == 0;
  for (uint32_t l = 0; l < s->loop_count && good; l++)
    good = from->strides[l] >= 0 && to->strides[l] >= 0 &&
           insert_dimension(a, list,
                            (net_dimension){s->extents[l], (uint64_t)from->strides[l],
                                            (uint64_t)to->strides[l]});
  for (int i = 0; i < s->n && good; i++)
    good = insert_dimension(a, list, (net_dimension){2, bit_weight(from, i), bit_weight(to, i)});
  return good;
}

// Neighbours that are one dimension in both arrays.
static void join_dimensions(dimension_list *list) {
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++) {
    net_dimension d = list->items[i], *last = kept ? &list->items[kept - 1] : NULL;
    if (last && d.from == last->from * last->extent && d.to == last->to * last->extent)
      last->extent *= d.extent;
    else
      list->items[kept++] = d;
  }
  list->count = kept;
}

static bool only_moves(const net *t, const net_stage *s) {
  return !s->routine && !s->paces && s->ops.count == 0 && s->nodes.count == 0 &&
         s->loads.count == 1 && s->stores.count == 1 &&
         !net_array_has_bytes(&t->arrays.items[s->loads.items[0].array]) &&
         s->loads.items[0].padding_start == UINT64_MAX &&
         s->stores.items[0].padding_start == UINT64_MAX && s->stores.items[0].live_count == 0;
}

// The stage as a routine, or NULL.
static net_routine *transpose_of(arena *a, const net *t, const net_stage *s) {
  dimension_list list = {0};
  if (!only_moves(t, s) || !find_dimensions(a, s, &list))
    return NULL;
  join_dimensions(&list);
  bool powers = true;
  for (size_t i = 0; i < list.count; i++)
    powers = powers && f2_weight(list.items[i].extent) == 1;
  if (powers || list.count < 2 || list.count > NET_DIMENSIONS)
    return NULL;
  net_routine *r = NEW(a, net_routine);
  *r = (net_routine){.kind = NET_TRANSPOSE,
                     .rows = 1,
                     .length = net_stage_elements(s),
                     .pair_count = 1,
                     .pairs = NEW(a, net_routine_pair),
                     .dimension_count = (uint32_t)list.count,
                     .dimensions = list.items,
                     .origin = NET_NONE};
  r->pairs[0] = (net_routine_pair){s->loads.items[0].array, s->stores.items[0].array};
  return net_routine_problem(a, t, &(net_stage){.routine = r}) ? NULL : r;
}

bool plan_rewrite_transpose(const rewriting *r, net *to) {
  net_routine *routine = r->asked ? NULL : transpose_of(r->memory, r->net, r->stage);
  if (routine)
    vec_push(r->memory, &to->stages, (net_stage){.routine = routine});
  return routine != NULL;
}
