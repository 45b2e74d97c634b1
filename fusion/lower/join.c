// Values of one stage that lie side by side, as one: which of them an element is of follows from
// its index. Nothing moves, so the op that chooses has no direction.
//
//   v1 at F z ^ f, v2 at F z ^ f ^ d        v3[0] = select (index t < 1) v1[0] v2[0]   at F z ^ d t ^ f
//
// An op whose outputs are fewer than its elements makes each of them in all of its directions, so
// that it may be taken where it suits: of  concat (zip_with f low high) (zip_with g low high)  the
// first lies where low was, and the second where high was.
#include "fusion/lower/lowering.h"

enum { MOST_JOINED = 16 };

// Where an element node lies: at F z ^ f, for each f of a coset.
typedef struct lying {
  uint64_t origin;
  f2_space spread;
} lying;

// Where all of them lie, if that is one stage, still open, with one F.
static bool find_lying(placement *f, uint32_t m, const net_id *elements, lying *found) {
  lowering *l = f->l;
  uint64_t columns[MAX_AXES];
  for (uint32_t j = 0; j < m; j++) {
    const net_node *node = &l->pool.nodes.items[elements[j]];
    if (node->kind != NET_ELEMENT)
      return false;
    const storage *held = &l->storages.items[node->value];
    if (held->in_memory || l->stages.items[held->stage].closed || (j && held->stage != f->stage))
      return false;
    f->stage = held->stage;
    f->n = stage_of(l, f->stage)->n;
    if (!placement_of_element(f, node->value, &node->map, j ? columns : f->columns,
                              &found[j].origin) ||
        (j && f->p && memcmp(columns, f->columns, sizeof *columns * (size_t)f->p)))
      return false;
    found[j].spread = placement_spread(f, held);
  }
  return true;
}

// A place of e off the space, which gets the way there as its new vector.
static bool find_direction(const lying *e, uint64_t origin, f2_space *used, uint64_t *direction) {
  uint64_t d = e->origin ^ origin;
  for (int i = -1; i < e->spread.dimension; i++) {
    *direction = i < 0 ? d : d ^ e->spread.basis[i];
    if (f2_space_insert(used, *direction))
      return true;
  }
  return false;
}

// Directions, such that element j lies at the origin and the sum of those of the bits of j.
static bool find_joined_directions(placement *f, uint32_t m, const lying *found) {
  f2_space used = f2_span(f->n, f->p, f->columns);
  f->k = 0;
  for (uint32_t b = 1; b < m; b *= 2, f->k++)
    if (!find_direction(&found[b], f->origin, &used, &f->directions[f->k]))
      return false;
  for (uint32_t j = 0; j < m; j++) {
    uint64_t origin = f->origin ^ f2_combine(f->k, f->directions, j);
    if (!f2_space_has(found[j].spread, found[j].origin ^ origin))
      return false;
  }
  return true;
}

bool join_in_stage(lowering *l, const axes *s, uint32_t m, const net_id *elements, uint32_t at,
                   net_id *joined) {
  lying found[MOST_JOINED];
  placement f = {.l = l};
  placement_set_axes(&f, s);
  if (m < 2 || m > MOST_JOINED || (m & (m - 1)) || !find_lying(&f, m, elements, found))
    return false;
  bool good = false;
  for (int i = -1; i < found[0].spread.dimension && !good; i++) {
    f.origin = i < 0 ? found[0].origin : found[0].origin ^ found[0].spread.basis[i];
    good = find_joined_directions(&f, m, found);
  }
  if (!good)
    return false;
  net_id nodes[MOST_JOINED];
  scalar_type type = l->pool.nodes.items[elements[0]].type;
  for (uint32_t j = 0; j < m; j++) {
    net_id value = l->storages.items[l->pool.nodes.items[elements[j]].value].value;
    nodes[j] = element_in_placement(&f, type, value, (uint32_t)f.k, at);
  }
  rule_fired(l->log, RULE_SIDE_BY_SIDE, l->step, 0, 0);
  axes after = *s;
  axes_insert(&after, at, m);
  for (int b = 0; b < f.k; b++) {
    axis_range bit = {at + (uint32_t)(f.k - 1 - b), 1};
    for (uint32_t j = 0; j < m >> (b + 1); j++)
      nodes[j] = pool_choice_below(l, &after, bit, 1, nodes[2 * j], nodes[2 * j + 1]);
  }
  *joined = place(l, &after, 1, nodes, after.count);
  return true;
}
