// Ops, stages, loads and stores. See lower.h.
//
// An op over p bit axes z, on 2^k elements each, needs a stage in which they have places:
//
//      x = F z ^ D j ^ f        F: n x p, D: n x k (the directions), [F D] of full column rank
//
// Its operands say where: those of one array with one F, whose f differ by D. That array (the
// ANCHOR) gives the stage; other operands are loaded into that place. From the inverse of [F D C],
// with C any complement, come z (for index maps and addresses), j (the op's coordinates), and the
// forms that are 0 on the image (the live indices).
#include "fusion/lower/lowering.h"

typedef struct operand {  // an element node that the op reads
  net_id node, storage;
  net_id value;      // in the stage
  uint64_t element;  // which of the 2^k
  bool done;
} operand;

// ---- the anchor -------------------------------------------------------------------------------

// Whether the map of an operand that is a stage's value covers the stage's loops, one axis each
// (also sets loop_axis), and its rows are the bits of x in order.
static bool covers_stage_loops(placement *f, const net_map *m, const net_stage *s, int bits) {
  if (m->offset || m->row_count != (uint32_t)bits)
    return false;
  for (int i = 0; i < bits; i++)
    if (m->rows[i].weight != (int64_t)1 << i)
      return false;
  uint32_t loops = 0, axis_of[MAX_AXES];
  for (uint32_t i = 0; i < f->axes.count; i++)
    loops += f->axes.extents[i] != 2;
  if (loops != s->loop_count)
    return false;
  int64_t stride = (int64_t)1 << bits;
  for (uint32_t k = s->loop_count; k-- > 0; stride *= (int64_t)s->extents[k]) {
    bool found = false;
    for (uint32_t i = 0; i < f->axes.count && !found; i++)
      if (f->axes.extents[i] == s->extents[k] && i < m->loop_count && m->strides[i] == stride) {
        axis_of[k] = i;
        found = true;
      }
    if (!found)
      return false;
  }
  memcpy(f->loop_axis, axis_of, loops * sizeof *axis_of);
  return true;
}

static const net_map *map_of(const lowering *l, const operand *o) {
  return &l->pool.nodes.items[o->node].map;
}
static uint64_t number_of(const lowering *l, const operand *o) {
  return l->pool.nodes.items[o->node].number;
}

// The value of the stage that holds the elements at those addresses of the storage.
static net_id load_value(const placement *f, const storage *from, const net_map *map) {
  net_stage *s = stage_of(f->l, f->stage);
  net_load n = {NET_NONE, from->array, *map, from->padding_start, from->padding_value};
  for (size_t i = 0; i < s->loads.count; i++)
    if (net_load_equal(&s->loads.items[i], &n))
      return s->loads.items[i].value;
  n.value = net_value_add(f->l->memory, s, from->type);
  vec_push(f->l->memory, &s->loads, n);
  return n.value;
}

static bool is_of_stage(const lowering *l, const operand *o, uint32_t stage) {
  const storage *held = &l->storages.items[o->storage];
  return !held->in_memory && held->stage == stage;
}

static bool refuse(placement *f, net_reason why) {
  f->refused = why;
  return false;
}

bool placement_of_element(placement *f, net_id node, uint64_t *columns, uint64_t *origin) {
  const lowering *l = f->l;
  const net_map *m = &l->pool.nodes.items[node].map;
  const storage *held = &l->storages.items[l->pool.nodes.items[node].value];
  if (!covers_stage_loops(f, m, stage_of(l, held->stage), held->bits))
    return refuse(f, NET_REASON_SHAPE);
  if (!placement_columns(f, m, columns))
    return refuse(f, NET_REASON_SPREAD);
  *origin = map_constants(m);
  if (held->frame) {
    for (int b = 0; b < f->p; b++)
      columns[b] = f2_apply(held->frame->a, columns[b]);
    *origin = f2_affine_apply(*held->frame, *origin);
  }
  return true;
}

// D, of operands that were found in the stage. Those that lie at several places are taken where
// they need no partners, if there are such places: then `origins` change.
static bool find_directions(placement *f, uint32_t count, uint64_t *origins,
                            const f2_space *spreads, const uint64_t *numbers) {
  f->partner_count = 0;
  if (placement_find_directions(f, count, origins, numbers, f->n))
    return true;
  uint64_t *apart = NEW_ARRAY(f->l->memory, uint64_t, count);
  memcpy(apart, origins, count * sizeof *apart);
  if (placement_take_apart(f, count, apart, spreads) &&
      placement_find_directions(f, count, apart, numbers, f->n)) {
    memcpy(origins, apart, count * sizeof *apart);
    rule_fired(f->l->log, RULE_SIDE_BY_SIDE, f->l->step, 0, 0);
    return true;
  }
  return placement_find_partners(f, count, origins, numbers, f->n);
}

// The places of the operands of one stage: same F, and D. origins[i] is the f of operand i.
static bool placement_in_stage(placement *f, uint32_t stage, const operand *operands,
                               uint32_t count, uint64_t *origins) {
  lowering *l = f->l;
  uint64_t columns[MAX_AXES], *found_origins = NEW_ARRAY(l->memory, uint64_t, count);
  uint64_t *numbers = NEW_ARRAY(l->memory, uint64_t, count);
  f2_space *spreads = NEW_ARRAY(l->memory, f2_space, count);
  uint32_t found = 0;
  f->n = stage_of(l, stage)->n;
  f->stage = stage;
  for (uint32_t i = 0; i < count; i++) {
    if (!is_of_stage(l, &operands[i], stage))
      continue;
    uint64_t *own = found ? columns : f->columns;
    if (!placement_of_element(f, operands[i].node, own, &origins[i]))
      return false;
    if (found && f->p && memcmp(columns, f->columns, sizeof *columns * (size_t)f->p))
      return refuse(f, NET_REASON_ORDER);
    found_origins[found] = origins[i];
    spreads[found] = placement_spread(f, &l->storages.items[operands[i].storage]);
    numbers[found++] = number_of(l, &operands[i]);
  }
  if (!found || !find_directions(f, found, found_origins, spreads, numbers))
    return refuse(f, NET_REASON_ORDER);
  for (uint32_t i = 0, next = 0; i < count; i++)
    if (is_of_stage(l, &operands[i], stage))
      origins[i] = found_origins[next++];
  return true;
}

static void take_operands(const placement *f, operand *operands, uint32_t count,
                          const uint64_t *origins) {
  for (uint32_t i = 0; i < count; i++)
    if (is_of_stage(f->l, &operands[i], f->stage) && !operands[i].done) {
      operands[i].value = f->l->storages.items[operands[i].storage].value;
      operands[i].element = placement_element(f, origins[i]);
      operands[i].done = true;
    }
}

static bool anchor_in_stage(placement *f, uint32_t stage, operand *operands, uint32_t count) {
  uint64_t *origins = NEW_ARRAY(f->l->memory, uint64_t, count);
  if (!placement_in_stage(f, stage, operands, count, origins))
    return false;
  placement_find_forms(f);
  take_operands(f, operands, count, origins);
  return true;
}

// Merges an open stage into that of the placement, if its operands' places can be renamed to it.
static bool anchor_merged(placement *f, uint32_t stage, operand *operands, uint32_t count) {
  lowering *l = f->l;
  const net_stage *s = stage_of(l, f->stage), *other = stage_of(l, stage);
  if (s->n != other->n || s->loop_count != other->loop_count ||
      (s->loop_count && memcmp(s->extents, other->extents, s->loop_count * sizeof *s->extents)))
    return false;
  placement g = {.l = l};
  uint64_t *origins = NEW_ARRAY(l->memory, uint64_t, count);
  placement_set_axes(&g, &f->axes);
  if (!placement_in_stage(&g, stage, operands, count, origins) || g.k > f->k || g.partner_count ||
      f->partner_count || (g.k && !placement_same_numbers(f, &g)))
    return false;
  for (uint32_t i = 0; i < s->loop_count; i++)
    if (f->loop_axis[i] != g.loop_axis[i])
      return false;
  f2_matrix inverse;
  f2_inverse(placement_basis(&g, g.k), &inverse);
  f2_affine change = {f2_multiply(placement_basis(f, g.k), inverse), 0};
  change.c = f->origin ^ f2_apply(change.a, g.origin);
  merge_stages(l, f->stage, stage, change);
  for (uint32_t i = 0; i < count; i++)
    origins[i] = f2_affine_apply(change, origins[i]);
  take_operands(f, operands, count, origins);
  return true;
}

// Whether their addresses differ in the constants of rows only.
static bool differ_in_constants(const placement *f, const operand *a, const operand *b) {
  const net_map *m = map_of(f->l, a), *other = map_of(f->l, b);
  return other->offset == m->offset && map_parallel(m, other, f->axes.count);
}

// Whether operand i reads the storage that operand `first` reads, at such addresses.
static bool lie_alike(const placement *f, const operand *operands, uint32_t i, uint32_t first) {
  return operands[i].storage == operands[first].storage &&
         differ_in_constants(f, &operands[i], &operands[first]);
}

// Whether both are arrays of one length, in memory and without padding.
static bool are_beside(const lowering *l, const operand *a, const operand *b) {
  const storage *x = &l->storages.items[a->storage], *y = &l->storages.items[b->storage];
  return x->in_memory && y->in_memory && x->padding_start == UINT64_MAX &&
         y->padding_start == UINT64_MAX &&
         l->net->arrays.items[x->array].count == l->net->arrays.items[y->array].count;
}

// Whether operand i belongs to an anchor that operand `first` does.
static bool anchors_with(const placement *f, const operand *operands, uint32_t i, uint32_t first) {
  return lie_alike(f, operands, i, first) ||
         (f->beside && are_beside(f->l, &operands[i], &operands[first]) &&
          differ_in_constants(f, &operands[i], &operands[first]));
}

// The map of the whole anchor: u is the space of its elements, `base` the least of them.
static net_map anchor_map(const placement *f, const net_map *m, f2_space u, uint64_t base) {
  uint32_t loops = stage_of(f->l, f->stage)->loop_count;
  net_map map = net_map_new(f->l->memory, loops, m->row_count);
  map.offset = m->offset;
  for (uint32_t k = 0; k < loops; k++)
    map.strides[k] = map_stride(m, f->loop_axis[k]);
  for (uint32_t r = 0; r < m->row_count; r++) {
    map.rows[r] = (net_row){{0, f2_bit(base, (int)r)}, m->rows[r].weight};
    for (int i = 0; i < u.dimension; i++)
      map.rows[r].form.mask |= (uint64_t)f2_bit(u.basis[i], (int)r) << i;
  }
  net_map_normalise(&map);
  return map;
}

// The operands that have the storage and F of operand `first`, as they lie by the rows of its map:
// F, D and f. False if F is not injective.
static bool find_memory_anchor(placement *f, const operand *operands, uint32_t count,
                               uint32_t first, bool *in_anchor) {
  lowering *l = f->l;
  uint64_t *origins = NEW_ARRAY(l->memory, uint64_t, count);
  uint64_t *numbers = NEW_ARRAY(l->memory, uint64_t, count);
  const net_map *m = map_of(l, &operands[first]);
  if (!placement_columns(f, m, f->columns))
    return false;
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; i++) {
    in_anchor[i] = anchors_with(f, operands, i, first);
    if (!in_anchor[i])
      continue;
    origins[found] = map_constants(map_of(l, &operands[i]));
    numbers[found++] = number_of(l, &operands[i]);
  }
  int rows = (int)m->row_count;
  f->partner_count = 0;
  if (!placement_find_directions(f, found, origins, numbers, rows) &&
      !placement_find_partners(f, found, origins, numbers, rows)) {
    memset(in_anchor, 0, count);
    in_anchor[first] = true;
    placement_find_directions(f, 1, (uint64_t[]){map_constants(m)}, (uint64_t[]){0}, rows);
  }
  return true;
}

// Operand i of the anchor, which is at index x of the loads with that map.
static void take_loaded(const placement *f, operand *o, const net_map *map, uint64_t x) {
  o->value = load_value(f, &f->l->storages.items[o->storage], map);
  o->element = placement_element(f, x);
  o->done = true;
}

// The anchor's elements are those of loads with that map, at x = x_of_rows(rows of their maps).
static void take_anchor(const placement *f, operand *operands, uint32_t count,
                        const bool *in_anchor, const net_map *map, f2_affine x_of_rows) {
  for (uint32_t i = 0; i < count; i++)
    if (in_anchor[i])
      take_loaded(f, &operands[i], map,
                  f2_affine_apply(x_of_rows, map_constants(map_of(f->l, &operands[i]))));
}

static void place_by(placement *f, f2_affine x_of_rows) {
  for (int i = 0; i < f->p; i++)
    f->columns[i] = f2_apply(x_of_rows.a, f->columns[i]);
  for (int i = 0; i < f->k; i++)
    f->directions[i] = f2_apply(x_of_rows.a, f->directions[i]);
  for (int i = 0; i < f->partner_count; i++)
    f->partners[i] = f2_apply(x_of_rows.a, f->partners[i]);
  f->origin = f2_affine_apply(x_of_rows, f->origin);
  f->n = x_of_rows.a.rows;
}

// Whether a load of all of an array with as many loops has the strides that the axes have (also
// sets loop_axis then).
static bool covers_load_loops(placement *f, const net_map *m, const net_stage *s,
                              const net_map *load) {
  uint64_t taken = 0;
  uint32_t loops = 0, axis_of[MAX_AXES];
  for (uint32_t i = 0; i < f->axes.count; i++)
    loops += f->axes.extents[i] != 2;
  if (loops != s->loop_count)
    return false;
  for (uint32_t k = 0; k < s->loop_count; k++) {
    uint32_t i = 0;
    while (i < f->axes.count && (taken >> i & 1 || f->axes.extents[i] != s->extents[k] ||
                                 map_stride(m, i) != load->strides[k]))
      i++;
    if (i == f->axes.count)
      return false;
    taken |= UINT64_C(1) << i;
    axis_of[k] = i;
  }
  memcpy(f->loop_axis, axis_of, loops * sizeof *axis_of);
  return true;
}

// The rows of a load's map, of the weights that m has, and x are one another's images.
static bool load_is_bijective(const net_load *load, const net_map *m, int n, f2_affine *x_of_rows) {
  if (load->map.offset != m->offset || load->map.row_count != m->row_count ||
      m->row_count != (uint32_t)n)
    return false;
  f2_affine rows = {f2_zero(n, n), 0};
  uint64_t taken = 0;
  for (uint32_t i = 0; i < m->row_count; i++) {
    int k = 0;
    while (k < n && (f2_bit(taken, k) || load->map.rows[k].weight != m->rows[i].weight))
      k++;
    if (k == n)
      return false;
    taken |= f2_unit(k);
    rows.a.row[i] = load->map.rows[k].form.mask;
    rows.c |= (uint64_t)load->map.rows[k].form.constant << i;
  }
  return f2_affine_inverse(rows, x_of_rows);
}

// In an open stage that has loaded that array.
static bool anchor_at_load(placement *f, operand *operands, uint32_t count, uint32_t first,
                           const bool *in_anchor) {
  enum { LATEST = 8 };  // stages that are looked at
  lowering *l = f->l;
  const storage *held = &l->storages.items[operands[first].storage];
  const net_map *m = map_of(l, &operands[first]);
  for (size_t i = l->stages.count, looked = 0; i-- > 0 && looked < LATEST;) {
    if (l->stages.items[i].closed)
      continue;
    looked++;
    const net_stage *s = stage_of(l, (uint32_t)i);
    for (size_t k = 0; k < s->loads.count; k++) {
      const net_load *load = &s->loads.items[k];
      f2_affine x_of_rows;
      if (load->array != held->array || load->padding_start != held->padding_start ||
          memcmp(&load->padding_value, &held->padding_value, sizeof load->padding_value) ||
          !load_is_bijective(load, m, s->n, &x_of_rows) || !covers_load_loops(f, m, s, &load->map))
        continue;
      f->stage = (uint32_t)i;
      place_by(f, x_of_rows);
      placement_find_forms(f);
      net_map map = load->map;
      take_anchor(f, operands, count, in_anchor, &map, x_of_rows);
      rule_fired(l->log, RULE_SAME_LOAD, l->step, 0, 0);
      return true;
    }
  }
  return false;
}

// The operand whose storage and F make an anchor with the most directions, or `count`. *most: how
// many these are.
static uint32_t best_anchor(placement *f, const operand *operands, uint32_t count, int *most) {
  bool *in_anchor = NEW_ARRAY(f->l->memory, bool, count + 1);
  bool *seen = NEW_ARRAY(f->l->memory, bool, count + 1);
  uint32_t best = count;
  *most = -1;
  for (uint32_t i = 0; i < count; i++) {
    if (seen[i] || !find_memory_anchor(f, operands, count, i, in_anchor))
      continue;
    for (uint32_t k = i; k < count; k++)
      seen[k] |= in_anchor[k];
    if (f->k + f->partner_count > *most) {
      *most = f->k + f->partner_count;
      best = i;
    }
  }
  return best;
}

// The same for so many directions: where each of an array's elements is another of a pattern's,
// arrays beside each other make one anchor (components of tuples, of which not all depend on all).
static uint32_t best_memory_anchor(placement *f, const operand *operands, uint32_t count,
                                   int directions) {
  int most, with_others;
  uint32_t best = best_anchor(f, operands, count, &most);
  if (best == count || most >= directions)
    return best;
  f->beside = true;
  uint32_t other = best_anchor(f, operands, count, &with_others);
  f->beside = with_others > most;
  if (f->beside)
    rule_fired(f->l->log, RULE_LIKE_ELEMENTS, f->l->step, 0, 0);
  return f->beside ? other : best;
}

// The space of a new stage for an anchor in memory. What is used of an array elsewhere later, rows
// by their numbers, should be in the same stage: so it is that of all addresses, of which the rules
// drop what stays dead, unless the op leaves most of them dead.
static f2_space anchor_space(const placement *f, uint64_t elements, int rows) {
  enum { MOST_DEAD = 6 };  // log2: what passes through memory has room for them
  f2_space u = f2_span(rows, f->p, f->columns);
  for (int i = 0; i < f->k; i++)
    f2_space_insert(&u, f->directions[i]);
  uint64_t instances = axes_product(&f->axes, 0, f->axes.count) >> f->p;
  bool many = rows - u.dimension > MOST_DEAD || instances > elements >> rows;
  return many ? u : f2_space_full(rows);
}

// Operands in memory as anchor, of a new stage if need be. There x numbers the elements of the
// anchor's space: of the whole array it is the address's bits.
static bool anchor_in_memory(placement *f, operand *operands, uint32_t count, int directions) {
  lowering *l = f->l;
  bool *in_anchor = NEW_ARRAY(l->memory, bool, count + 1);
  uint32_t first = best_memory_anchor(f, operands, count, directions);
  if (first == count)
    return false;
  find_memory_anchor(f, operands, count, first, in_anchor);
  if (anchor_at_load(f, operands, count, first, in_anchor))
    return true;
  const storage *held = &l->storages.items[operands[first].storage];
  const net_map *m = map_of(l, &operands[first]);
  f2_space u = anchor_space(f, l->net->arrays.items[held->array].count, (int)m->row_count);
  uint64_t base = f2_space_reduce(u, f->origin);
  for (int i = 0; i < f->p; i++)
    f->columns[i] = f2_space_coordinates(u, f->columns[i]);
  for (int i = 0; i < f->k; i++)
    f->directions[i] = f2_space_coordinates(u, f->directions[i]);
  for (int i = 0; i < f->partner_count; i++)
    f->partners[i] = f2_space_coordinates(u, f->partners[i]);
  f->origin = f2_space_coordinates(u, f->origin ^ base);
  f->n = u.dimension;
  f->stage = stage_open(l, &f->axes, f->n);
  placement_find_forms(f);
  net_map map = anchor_map(f, m, u, base);
  for (uint32_t i = 0; i < count; i++)
    if (in_anchor[i])
      take_loaded(f, &operands[i], &map,
                  f2_space_coordinates(u, map_constants(map_of(l, &operands[i])) ^ base));
  return true;
}

// Nothing to anchor at: x is z.
static void anchor_nowhere(placement *f) {
  f->n = f->p;
  f->k = f->partner_count = 0;
  f->origin = 0;
  f->numbered = true;
  for (int i = 0; i < f->p; i++)
    f->columns[i] = f2_unit(i);
  f->stage = stage_open(f->l, &f->axes, f->n);
  placement_find_forms(f);
}

// ---- other operands ---------------------------------------------------------------------------

// The operands of one array that lie as the anchor's elements do, `least` of them or more, become
// one value: operand number q is the element that the anchor has for number q.
static bool load_together(const placement *f, operand *operands, uint32_t count, uint32_t first,
                          uint32_t least) {
  lowering *l = f->l;
  uint32_t members = 0;
  const net_map *m = map_of(l, &operands[first]);
  uint64_t deltas[F2_MAX] = {0}, first_number = number_of(l, &operands[first]);
  f2_echelon relations = {0};
  if (!f->numbered || m->row_count > F2_MAX || first_number >> f->k)
    return false;
  for (uint32_t i = first; i < count; i++) {
    if (operands[i].done || !lie_alike(f, operands, i, first))
      continue;
    uint64_t number = number_of(l, &operands[i]), relation = 0;
    members++;
    if (number >> f->k)
      return false;
    uint64_t moved = map_constants(map_of(l, &operands[i])) ^ map_constants(m);
    if (!f2_echelon_insert(&relations, number ^ first_number, moved, &relation) && relation)
      return false;
  }
  if (members < least)
    return false;
  // A linear map with the values found, 0 on the unit vectors that are free.
  for (int i = 0; i < f->k; i++) {
    if (!relations.vector[i])
      continue;
    deltas[i] = relations.tag[i] ^ f2_combine(f->k, deltas, relations.vector[i] ^ f2_unit(i));
  }
  net_map at_zero = net_map_copy(l->memory, m);
  for (uint32_t r = 0; r < m->row_count; r++) {
    bool delta = false;
    for (int i = 0; i < f->k; i++)
      delta ^= f2_bit(first_number, i) && f2_bit(deltas[i], (int)r);
    at_zero.rows[r].form.constant ^= delta;
  }
  net_map map = placement_map(f, &at_zero, deltas);
  net_id value = load_value(f, &l->storages.items[operands[first].storage], &map);
  for (uint32_t i = first; i < count; i++)
    if (!operands[i].done && lie_alike(f, operands, i, first)) {
      operands[i].value = value;
      operands[i].element = number_of(l, &operands[i]) << f->partner_count;
      operands[i].done = true;
    }
  return true;
}

// An element of what the stage has loaded already, if the operand is one.
static bool take_loaded_element(const placement *f, operand *o) {
  enum { MOST_ELEMENTS = 64 };
  const storage *held = &f->l->storages.items[o->storage];
  const net_stage *s = stage_of(f->l, f->stage);
  net_map wanted = placement_map(f, map_of(f->l, o), NULL);
  for (size_t i = 0; i < s->loads.count; i++) {
    const net_load *load = &s->loads.items[i];
    net_load as_wanted = {load->value, held->array, load->map, held->padding_start,
                          held->padding_value};
    if (!net_load_equal(load, &as_wanted))
      continue;
    for (uint64_t j = 0; j < UINT64_C(1) << f->k && j < MOST_ELEMENTS; j++) {
      net_map map = net_map_at_element(f->l->memory, &load->map, (uint32_t)f->k, f->directions,
                                       f->forms + f->p, j);
      if (!net_map_equal(&map, &wanted))
        continue;
      o->value = load->value;
      o->element = j << f->partner_count;
      o->done = true;
      return true;
    }
  }
  return false;
}

// Whether the operands read the same elements of arrays that are beside each other.
static bool read_alike(const lowering *l, const operand *a, const operand *b) {
  return are_beside(l, a, b) && net_map_equal(map_of(l, a), map_of(l, b));
}

// The operand as the same element of its array as one that has been loaded is of another: the
// components of tuples lie alike.
static bool load_beside(const placement *f, const operand *operands, uint32_t count, operand *o) {
  const net_stage *s = stage_of(f->l, f->stage);
  for (uint32_t i = 0; i < count; i++) {
    if (!operands[i].done || !read_alike(f->l, &operands[i], o))
      continue;
    for (size_t k = 0; k < s->loads.count; k++)
      if (s->loads.items[k].value == operands[i].value) {
        net_map map = s->loads.items[k].map;
        o->value = load_value(f, &f->l->storages.items[o->storage], &map);
        o->element = operands[i].element;
        o->done = true;
        rule_fired(f->l->log, RULE_LIKE_ELEMENTS, f->l->step, 0, 0);
        return true;
      }
  }
  return false;
}

static void load_others(const placement *f, operand *operands, uint32_t count) {
  enum { MANY = 256 };  // operands: each is compared with all
  for (uint32_t i = 0; i < count && count <= MANY; i++)
    if (!operands[i].done)
      load_beside(f, operands, count, &operands[i]);
  for (uint32_t i = 0; i < count; i++)
    if (!operands[i].done)
      load_together(f, operands, count, i, 2);
  for (uint32_t i = 0; i < count; i++) {
    if (operands[i].done || take_loaded_element(f, &operands[i]) ||
        load_together(f, operands, count, i, 1))
      continue;
    net_map map = placement_map(f, map_of(f->l, &operands[i]), NULL);
    operands[i].value = load_value(f, &f->l->storages.items[operands[i].storage], &map);
    operands[i].element = 0;
    operands[i].done = true;
  }
}

// Whether k directions can be had in a stage that has computed something already. (Of one that has
// not, elements are as well stored where they are to go.)
static bool has_room_in_stage(const placement *f, int k) {
  enum { MOST_BITS = 48 };  // of a stage that grows
  const net_stage *s = stage_of(f->l, f->stage);
  return s->ops.count && f->p + k <= MOST_BITS;
}

// Finds the operands' stage, or makes one, with so many directions if it has room for them. All
// operands then have a value and an element of it.
static void find_placement(lowering *l, placement *f, const axes *s, operand *operands,
                           uint32_t count, int directions) {
  *f = (placement){.l = l};
  placement_set_axes(f, s);
  bool anchored = false;
  for (uint32_t i = 0; i < count; i++) {
    const storage *held = &l->storages.items[operands[i].storage];
    if (held->in_memory || operands[i].done)
      continue;
    uint32_t stage = held->stage;
    bool open = !l->stages.items[stage].closed, placed = false;
    if (open)
      placed = anchored ? anchor_merged(f, stage, operands, count)
                        : anchor_in_stage(f, stage, operands, count);
    if (placed && anchored)
      rule_fired(l->log, RULE_ZIP_MAP, l->step, 0, 0);
    anchored |= placed;
    net_reason why = !open ? NET_REASON_ENDED : anchored ? NET_REASON_APART : f->refused;
    for (uint32_t k = i; k < count && !placed; k++)
      if (is_of_stage(l, &operands[k], stage))
        storage_to_memory(l, operands[k].storage, why);
  }
  if (!anchored)
    placement_set_axes(f, s);  // as it was before the attempts
  if (!anchored && !anchor_in_memory(f, operands, count, directions))
    anchor_nowhere(f);
  if (f->k < directions && has_room_in_stage(f, directions)) {
    placement_add_directions(f, directions);
    rule_fired(l->log, RULE_GROWN_INDEX, l->step, 0, 0);
  }
  load_others(f, operands, count);
}

// ---- ops --------------------------------------------------------------------------------------

// The nodes as nodes of the stage, which read the operands, for element j of partners. Their
// numbers there are l->converted.
static void convert_nodes(const placement *f, const node_list *nodes, const operand *operands,
                          uint64_t j) {
  lowering *l = f->l;
  net_stage *s = stage_of(l, f->stage);
  if (!s->nodes.count)
    net_nodes_reserve(l->memory, s, nodes->count);
  for (size_t i = 0, next = 0; i < nodes->count; i++) {
    net_node node = l->pool.nodes.items[nodes->items[i]];
    if (node.kind == NET_ELEMENT) {
      node.value = operands[next].value;
      node.number = operands[next++].element ^ j;
      node.map = (net_map){0};
    } else if (node.kind == NET_INDEX) {
      net_map of_x = placement_map(f, &node.map, NULL);
      node.map = net_map_at_element(l->memory, &of_x, (uint32_t)f->partner_count, f->partners,
                                    f->partner_forms, j);
    } else if (node.operand_count) {
      node = net_node_renumbered(l->memory, &node, l->converted);
    }
    l->converted[nodes->items[i]] = net_node_add_owned(l->memory, s, &node);
  }
}

static operand *operands_of(lowering *l, const node_list *nodes, uint32_t *count) {
  operand *operands = NEW_ARRAY(l->memory, operand, nodes->count + 1);
  *count = 0;
  for (size_t i = 0; i < nodes->count; i++) {
    const net_node *node = &l->pool.nodes.items[nodes->items[i]];
    if (node->kind == NET_ELEMENT)
      operands[(*count)++] = (operand){.node = nodes->items[i], .storage = node->value};
  }
  return operands;
}

static net_op new_op(const placement *f, uint32_t outputs) {
  arena *a = f->l->memory;
  int partners = f->partner_count, k = partners + f->k;
  net_op op = {.k = (uint32_t)k, .output_count = outputs, .origin = f->l->step};
  op.directions = NEW_ARRAY(a, uint64_t, k + 1);
  op.coordinates = NEW_ARRAY(a, net_form, k + 1);
  op.outputs = NEW_ARRAY(a, net_output, outputs + 1);
  memcpy(op.directions, f->partners, (size_t)partners * sizeof *op.directions);
  memcpy(op.coordinates, f->partner_forms, (size_t)partners * sizeof *op.coordinates);
  memcpy(op.directions + partners, f->directions, (size_t)f->k * sizeof *op.directions);
  memcpy(op.coordinates + partners, f->forms + f->p, (size_t)f->k * sizeof *op.coordinates);
  op.live = placement_live(f, f->p + f->k, &op.live_count);
  for (uint32_t i = 0; i < outputs; i++) {
    op.outputs[i].elements = NEW_ARRAY(a, net_id, (size_t)1 << k);
    for (size_t j = 0; j < (size_t)1 << k; j++)
      op.outputs[i].elements[j] = NET_NONE;
  }
  return op;
}

net_id element_in_placement(const placement *f, scalar_type type, net_id value, uint32_t bits,
                            uint32_t at) {
  lowering *l = f->l;
  net_stage *s = stage_of(l, f->stage);
  net_map of_x = net_stage_map(l->memory, s, f2_affine_identity(f->n));
  net_map m = net_map_new(l->memory, f->axes.count, (uint32_t)f->n);
  for (uint32_t k = 0; k < s->loop_count; k++)
    m.strides[f->loop_axis[k]] = of_x.strides[k];
  for (int i = 0; i < f->n; i++) {
    uint64_t mask = 0;
    for (int z = 0; z < f->p; z++)
      mask |= (uint64_t)f2_bit(f->columns[z], i) << f->bit_axis[z];
    m.rows[i] = (net_row){{mask, f2_bit(f->origin, i)}, of_x.rows[i].weight};
  }
  m = map_inserted(l->memory, &m, at, bits);
  for (int i = 0; i < f->n; i++)
    for (uint32_t b = 0; b < bits; b++)
      m.rows[i].form.mask |= (uint64_t)f2_bit(f->directions[b], i) << (at + bits - 1 - b);
  storage h = {
      .type = type, .stage = f->stage, .value = value, .bits = f->n, .padding_start = UINT64_MAX};
  h.spread_count = f->k - (int)bits;
  h.spread = NEW_ARRAY(l->memory, uint64_t, h.spread_count + 1);
  memcpy(h.spread, f->directions + bits, (size_t)h.spread_count * sizeof *h.spread);
  return element_node(l, storage_add(l, &h), &m, 0);
}

// Elements that have no place of their own go to an array of their own.
static net_id place_in_memory(const placement *f, uint32_t m, const net_op *op, uint32_t at) {
  lowering *l = f->l;
  net_stage *s = stage_of(l, f->stage);
  scalar_type type = s->values.items[op->outputs[0].value];
  axes whole = f->axes;
  axes_insert(&whole, at, m);
  uint32_t inserted = whole.count - f->axes.count;
  net_map target = map_row_major(l->memory, &whole, 0, 1);
  uint64_t count = axes_product(&whole, 0, whole.count);
  net_id stored = storage_add_array(l, type, count, NET_TEMPORARY, 0);
  for (uint32_t j = 0; j < m; j++) {
    net_map fixed = map_fixed(l->memory, &target, &whole, at, inserted, j);
    net_store store = {op->outputs[j].value,
                       l->storages.items[stored].array,
                       placement_map(f, &fixed, NULL),
                       UINT64_MAX,
                       0,
                       NULL};
    store.live = placement_live(f, f->p, &store.live_count);
    vec_push(l->memory, &s->stores, store);
  }
  stage_close(l, f->stage);
  net_id array = element_node(l, stored, &target, 0);
  explain_array(l, array, NET_REASON_PLACES);
  return array;
}

net_id place(lowering *l, const axes *s, uint32_t m, const net_id *elements, uint32_t at) {
  node_list nodes = reachable(l, m, elements);
  uint32_t operand_count, bits = 0;
  operand *operands = operands_of(l, &nodes, &operand_count);
  scalar_type type = l->pool.nodes.items[elements[0]].type;
  placement f;
  while ((uint32_t)1 << bits < m)
    bits++;
  bool whole = m == (uint32_t)1 << bits;
  find_placement(l, &f, s, operands, operand_count, whole ? (int)bits : 0);
  bool copy = m == 1 && l->pool.nodes.items[elements[0]].kind == NET_ELEMENT;
  if (copy && f.k == 0)  // one operand has no partner
    return element_in_placement(&f, type, operands[0].value, 0, at);
  // As elements of one output, or as outputs that are stored apart.
  bool apart = !whole || (int)bits > f.k;
  net_op op = new_op(&f, apart ? m : 1);
  if (f.partner_count)
    rule_fired(l->log, RULE_PARTNERS, l->step, 0, 0);
  for (uint64_t e = 0; e < UINT64_C(1) << f.partner_count; e++) {
    convert_nodes(&f, &nodes, operands, e);
    for (uint32_t j = 0; j < m && apart; j++)
      op.outputs[j].elements[e] = l->converted[elements[j]];
    for (uint64_t j = 0; j < UINT64_C(1) << f.k && !apart; j++)  // in all directions alike
      op.outputs[0].elements[e | j << f.partner_count] = l->converted[elements[j & (m - 1)]];
  }
  net_stage *stage = stage_of(l, f.stage);
  for (uint32_t i = 0; i < op.output_count; i++)
    op.outputs[i].value = net_value_add(l->memory, stage, type);
  vec_push(l->memory, &stage->ops, op);
  return apart ? place_in_memory(&f, m, &op, at)
               : element_in_placement(&f, type, op.outputs[0].value, bits, at);
}

static void store_padded(lowering *l, const axes *s, net_id e, net_id array, const net_map *target,
                         uint64_t start) {
  if (l->pool.nodes.items[e].kind != NET_ELEMENT)
    e = place(l, s, 1, &e, s->count);
  operand only = {.node = e, .storage = l->pool.nodes.items[e].value};
  const storage *held = &l->storages.items[only.storage];
  placement f = {.l = l};
  placement_set_axes(&f, s);
  // A closed stage still takes stores.
  if (held->in_memory || !anchor_in_stage(&f, held->stage, &only, 1))
    find_placement(l, &f, s, &only, 1, 0);
  net_store store = {only.value, array, placement_map(&f, target, NULL), start, 0, NULL};
  store.live = placement_live(&f, f.p, &store.live_count);
  vec_push(l->memory, &stage_of(l, f.stage)->stores, store);
  if (l->net->arrays.items[array].role == NET_TEMPORARY)
    stage_close(l, f.stage);
}

void store_into(lowering *l, const axes *s, net_id e, net_id array, const net_map *target) {
  store_padded(l, s, e, array, target, UINT64_MAX);
}

net_id store_prefix(lowering *l, const axes *s, net_id e, uint64_t count) {
  net_map target = map_row_major(l->memory, s, 0, 1);
  uint64_t whole = axes_product(s, 0, s->count);
  net_id stored = storage_add_array(l, l->pool.nodes.items[e].type, count, NET_TEMPORARY, 0);
  store_padded(l, s, e, l->storages.items[stored].array, &target,
               count < whole ? count : UINT64_MAX);
  net_id array = element_node(l, stored, &target, 0);
  explain_array(l, array, count < whole ? NET_REASON_PART : NET_REASON_ROWS);
  return array;
}

net_id store_row_major(lowering *l, const axes *s, net_id e) {
  return store_prefix(l, s, e, axes_product(s, 0, s->count));
}
