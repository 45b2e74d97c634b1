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
  net_id storage;
  net_map map;
  uint64_t number;   // which element of an array pattern it is
  net_id value;      // in the stage
  uint64_t element;  // which of the 2^k
  bool done;
} operand;

typedef struct operands {
  uint32_t count;
  operand *items;
} operands;

static void take(operand *o, net_id value, uint64_t element) {
  o->value = value;
  o->element = element;
  o->done = true;
}

// ---- the anchor -------------------------------------------------------------------------------

// The operands of an anchor: which ones, their f, their numbers in an array pattern, and other
// places of their elements (NULL: they have none).
typedef struct anchor {
  uint32_t count;
  uint32_t *members;
  uint64_t *origins, *numbers;
  f2_space *spreads;
} anchor;

static anchor new_anchor(lowering *l, const operands *all) {
  return (anchor){.members = NEW_ARRAY(l->memory, uint32_t, all->count),
                  .origins = NEW_ARRAY(l->memory, uint64_t, all->count),
                  .numbers = NEW_ARRAY(l->memory, uint64_t, all->count)};
}

static void add_member(anchor *a, const operands *all, uint32_t i, uint64_t origin) {
  a->members[a->count] = i;
  a->origins[a->count] = origin;
  a->numbers[a->count++] = all->items[i].number;
}

// Gives each loop of the stage an axis of its extent along which the map has the loop's stride.
static bool find_loop_axes(placement *f, const net_map *m, const net_stage *s,
                           const int64_t *strides) {
  uint64_t taken = 0;
  uint32_t loops = 0, axis_of[MAX_AXES];
  for (uint32_t i = 0; i < f->axes.count; i++)
    loops += f->axes.extents[i] != 2;
  if (loops != s->loop_count)
    return false;
  for (uint32_t k = 0; k < loops; k++) {
    uint32_t i = 0;
    while (i < f->axes.count && (f2_bit(taken, (int)i) || f->axes.extents[i] != s->extents[k] ||
                                 map_stride(m, i) != strides[k]))
      i++;
    if (i == f->axes.count)
      return false;
    taken |= f2_unit((int)i);
    axis_of[k] = i;
  }
  memcpy(f->loop_axis, axis_of, loops * sizeof *axis_of);
  return true;
}

// Whether the map of an operand that is a stage's value covers the stage's loops, and its rows are
// the bits of x in order.
static bool covers_stage(placement *f, const net_map *m, const net_stage *s, int bits) {
  int64_t strides[MAX_AXES], stride = (int64_t)1 << bits;
  bool same = !m->offset && m->row_count == (uint32_t)bits;
  for (int i = 0; i < bits && same; i++)
    same = m->rows[i].weight == (int64_t)1 << i;
  for (uint32_t k = s->loop_count; k-- > 0; stride *= (int64_t)s->extents[k])
    strides[k] = stride;
  return same && find_loop_axes(f, m, s, strides);
}

// The value of the stage that holds the elements at those addresses of the storage.
static net_id load_value(const placement *f, net_id storage_id, const net_map *map) {
  const storage *from = &f->l->storages.items[storage_id];
  net_load n = {NET_NONE, from->array, *map, from->padding_start, from->padding_value};
  return net_load_add(f->l->memory, stage_of(f->l, f->stage), from->type, n);
}

static bool is_of_stage(const lowering *l, const operand *o, uint32_t stage) {
  const storage *held = &l->storages.items[o->storage];
  return !held->in_memory && held->stage == stage;
}

static bool refuse(placement *f, net_reason why) {
  f->refused = why;
  return false;
}

bool placement_of_element(placement *f, net_id storage_id, const net_map *m, uint64_t *columns,
                          uint64_t *origin) {
  const lowering *l = f->l;
  const storage *held = &l->storages.items[storage_id];
  if (!covers_stage(f, m, stage_of(l, held->stage), held->bits))
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

// D, of an anchor's operands. Those that lie at several places are taken where they need no
// partners, if there are such places: then the anchor's origins change.
static bool find_directions(placement *f, anchor *a, int rows) {
  f->partner_count = 0;
  if (placement_find_directions(f, a->count, a->origins, a->numbers, rows))
    return true;
  if (a->spreads) {
    uint64_t *apart = NEW_ARRAY(f->l->memory, uint64_t, a->count);
    memcpy(apart, a->origins, a->count * sizeof *apart);
    if (placement_take_apart(f, a->count, apart, a->spreads) &&
        placement_find_directions(f, a->count, apart, a->numbers, rows)) {
      a->origins = apart;
      rule_fired(f->l->log, RULE_SIDE_BY_SIDE, f->l->step, 0, 0);
      return true;
    }
  }
  return placement_find_partners(f, a->count, a->origins, a->numbers, rows);
}

// The places of the operands of one stage: same F, and D.
static bool find_stage_anchor(placement *f, uint32_t stage, const operands *all, anchor *a) {
  lowering *l = f->l;
  uint64_t columns[MAX_AXES], origin;
  *a = new_anchor(l, all);
  a->spreads = NEW_ARRAY(l->memory, f2_space, all->count);
  f->n = stage_of(l, stage)->n;
  f->stage = stage;
  for (uint32_t i = 0; i < all->count; i++) {
    const operand *o = &all->items[i];
    if (!is_of_stage(l, o, stage))
      continue;
    uint64_t *own = a->count ? columns : f->columns;
    if (!placement_of_element(f, o->storage, &o->map, own, &origin))
      return false;
    if (a->count && f->p && memcmp(columns, f->columns, sizeof *columns * (size_t)f->p))
      return refuse(f, NET_REASON_ORDER);
    a->spreads[a->count] = placement_spread(f, &l->storages.items[o->storage]);
    add_member(a, all, i, origin);
  }
  return (a->count && find_directions(f, a, f->n)) || refuse(f, NET_REASON_ORDER);
}

// The anchor's operands are values of the stage, at x = change(their f).
static void take_anchor_in_stage(const placement *f, operands *all, const anchor *a,
                                 f2_affine change) {
  for (uint32_t i = 0; i < a->count; i++) {
    operand *o = &all->items[a->members[i]];
    take(o, f->l->storages.items[o->storage].value,
         placement_element(f, f2_affine_apply(change, a->origins[i])));
  }
}

static bool anchor_in_stage(placement *f, uint32_t stage, operands *all) {
  anchor a;
  if (!find_stage_anchor(f, stage, all, &a))
    return false;
  placement_find_forms(f);
  take_anchor_in_stage(f, all, &a, f2_affine_identity(f->n));
  return true;
}

// Merges an open stage into that of the placement, if its operands' places can be renamed to it.
static bool anchor_merged(placement *f, uint32_t stage, operands *all) {
  lowering *l = f->l;
  const net_stage *s = stage_of(l, f->stage), *other = stage_of(l, stage);
  if (s->n != other->n || s->loop_count != other->loop_count ||
      (s->loop_count && memcmp(s->extents, other->extents, s->loop_count * sizeof *s->extents)))
    return false;
  placement g = {.l = l};
  anchor a;
  placement_set_axes(&g, &f->axes);
  if (!find_stage_anchor(&g, stage, all, &a) || g.k > f->k || g.partner_count || f->partner_count ||
      (g.k && !placement_same_numbers(f, &g)))
    return false;
  for (uint32_t i = 0; i < s->loop_count; i++)
    if (f->loop_axis[i] != g.loop_axis[i])
      return false;
  f2_matrix inverse;
  f2_inverse(placement_basis(&g, g.k), &inverse);
  f2_affine change = {f2_multiply(placement_basis(f, g.k), inverse), 0};
  change.c = f->origin ^ f2_apply(change.a, g.origin);
  merge_stages(l, f->stage, stage, change);
  take_anchor_in_stage(f, all, &a, change);
  return true;
}

// ---- an anchor in memory ------------------------------------------------------------------------

// Whether both are arrays of one length, in memory and without padding.
static bool are_beside(const lowering *l, const operand *a, const operand *b) {
  const storage *x = &l->storages.items[a->storage], *y = &l->storages.items[b->storage];
  return x->in_memory && y->in_memory && x->padding_start == UINT64_MAX &&
         y->padding_start == UINT64_MAX &&
         l->net->arrays.items[x->array].count == l->net->arrays.items[y->array].count;
}

// Whether they read one storage, or, if `beside`, storages beside each other, at addresses that
// differ in the constants of rows only.
static bool lie_alike(const placement *f, const operand *a, const operand *b, bool beside) {
  return (a->storage == b->storage || (beside && are_beside(f->l, a, b))) &&
         a->map.offset == b->map.offset && map_parallel(&a->map, &b->map, f->axes.count);
}

// The operands that lie as operand `first` does, by the rows of its map: F, D and f. False if F is
// not injective.
static bool find_memory_anchor(placement *f, const operands *all, uint32_t first, anchor *a) {
  const operand *o = &all->items[first];
  a->count = 0;
  if (!placement_columns(f, &o->map, f->columns))
    return false;
  for (uint32_t i = 0; i < all->count; i++)
    if (lie_alike(f, &all->items[i], o, f->beside))
      add_member(a, all, i, map_constants(&all->items[i].map));
  int rows = (int)o->map.row_count;
  if (!find_directions(f, a, rows)) {
    a->count = 0;
    add_member(a, all, first, map_constants(&o->map));
    placement_find_directions(f, 1, a->origins, (uint64_t[]){0}, rows);
  }
  return true;
}

// The operand whose storage and F make an anchor with the most directions, or `count`. *most: how
// many these are.
static uint32_t best_anchor(placement *f, const operands *all, int *most) {
  anchor a = new_anchor(f->l, all);
  bool *seen = NEW_ARRAY(f->l->memory, bool, all->count + 1);
  uint32_t best = all->count;
  *most = -1;
  for (uint32_t i = 0; i < all->count; i++) {
    if (seen[i] || !find_memory_anchor(f, all, i, &a))
      continue;
    for (uint32_t k = 0; k < a.count; k++)
      seen[a.members[k]] = true;
    if (f->k + f->partner_count > *most) {
      *most = f->k + f->partner_count;
      best = i;
    }
  }
  return best;
}

// The same for so many directions: where each of an array's elements is another of a pattern's,
// arrays beside each other make one anchor (components of tuples, of which not all depend on all).
static uint32_t best_memory_anchor(placement *f, const operands *all, int directions) {
  int most, with_others;
  uint32_t best = best_anchor(f, all, &most);
  if (best == all->count || most >= directions)
    return best;
  f->beside = true;
  uint32_t other = best_anchor(f, all, &with_others);
  f->beside = with_others > most;
  if (f->beside)
    rule_fired(f->l->log, RULE_LIKE_ELEMENTS, f->l->step, 0, 0);
  return f->beside ? other : best;
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

// An open stage that has loaded all of the anchor's array, with as many loops; the map of that load.
static bool find_loading_stage(placement *f, const operand *first, f2_affine *x_of_rows,
                               net_map *map) {
  enum { LATEST = 8 };  // stages that are looked at
  lowering *l = f->l;
  const storage *held = &l->storages.items[first->storage];
  for (size_t i = l->stages.count, looked = 0; i-- > 0 && looked < LATEST;) {
    if (l->stages.items[i].closed)
      continue;
    looked++;
    const net_stage *s = stage_of(l, (uint32_t)i);
    for (size_t k = 0; k < s->loads.count; k++) {
      const net_load *load = &s->loads.items[k];
      if (load->array != held->array || load->padding_start != held->padding_start ||
          memcmp(&load->padding_value, &held->padding_value, sizeof load->padding_value) ||
          !load_is_bijective(load, &first->map, s->n, x_of_rows) ||
          !find_loop_axes(f, &first->map, s, load->map.strides))
        continue;
      f->stage = (uint32_t)i;
      *map = load->map;
      rule_fired(l->log, RULE_SAME_LOAD, l->step, 0, 0);
      return true;
    }
  }
  return false;
}

// The space of a new stage for an anchor in memory. What is used of an array elsewhere later, rows
// by their numbers, should be in the same stage: so it is that of all addresses, of which the rules
// drop what stays dead, unless few of them are ever read: what is done for dead indices, and their
// room in memory, is then more than the rest.
static f2_space anchor_space(const placement *f, const storage *held, int rows) {
  enum { MOST_DEAD = 2 };  // log2: indices for each element that is read
  f2_space u = f2_span(rows, f->p, f->columns);
  for (int i = 0; i < f->k; i++)
    f2_space_insert(&u, f->directions[i]);
  uint64_t instances = axes_product(&f->axes, 0, f->axes.count) >> f->p;
  bool few_read = held->read && held->read < f2_unit(rows) >> MOST_DEAD;
  bool many = instances > f->l->net->arrays.items[held->array].count >> rows;
  return few_read || many ? u : f2_space_full(rows);
}

// A new stage: x numbers the elements of the anchor's space, `base` the least of them. Of the whole
// array it is the address's bits. The map of the anchor's load.
static net_map open_anchor_stage(placement *f, const operand *first, f2_affine *x_of_rows) {
  lowering *l = f->l;
  const net_map *m = &first->map;
  int rows = (int)m->row_count;
  f2_space u = anchor_space(f, &l->storages.items[first->storage], rows);
  uint64_t base = f2_space_reduce(u, f->origin), leading = f2_space_leading(u);
  *x_of_rows = (f2_affine){f2_zero(u.dimension, rows), 0};
  for (int i = 0; i < u.dimension; i++, leading &= leading - 1)
    x_of_rows->a.row[i] = leading & -leading;  // which are 0 in the base
  f->stage = stage_open(l, &f->axes, u.dimension);
  uint32_t loops = stage_of(l, f->stage)->loop_count;
  net_map map = net_map_new(l->memory, loops, m->row_count);
  map.offset = m->offset;
  for (uint32_t k = 0; k < loops; k++)
    map.strides[k] = map_stride(m, f->loop_axis[k]);
  f2_matrix rows_of_x = f2_from_columns(rows, u.dimension, u.basis);
  for (int r = 0; r < rows; r++)
    map.rows[r] = (net_row){{rows_of_x.row[r], f2_bit(base, r)}, m->rows[r].weight};
  net_map_normalise(&map);
  return map;
}

static void apply_to_all(f2_matrix a, int count, uint64_t *vectors) {
  for (int i = 0; i < count; i++)
    vectors[i] = f2_apply(a, vectors[i]);
}

// Operands in memory as anchor: at x = x_of_rows(rows of their maps).
static bool anchor_in_memory(placement *f, operands *all, int directions) {
  uint32_t first = best_memory_anchor(f, all, directions);
  if (first == all->count)
    return false;
  anchor a = new_anchor(f->l, all);
  find_memory_anchor(f, all, first, &a);
  f2_affine x_of_rows;
  net_map map;
  if (!find_loading_stage(f, &all->items[first], &x_of_rows, &map))
    map = open_anchor_stage(f, &all->items[first], &x_of_rows);
  apply_to_all(x_of_rows.a, f->p, f->columns);
  apply_to_all(x_of_rows.a, f->k, f->directions);
  apply_to_all(x_of_rows.a, f->partner_count, f->partners);
  f->origin = f2_affine_apply(x_of_rows, f->origin);
  f->n = x_of_rows.a.rows;
  placement_find_forms(f);
  for (uint32_t i = 0; i < a.count; i++) {
    operand *o = &all->items[a.members[i]];
    uint64_t x = f2_affine_apply(x_of_rows, map_constants(&o->map));
    take(o, load_value(f, o->storage, &map), placement_element(f, x));
  }
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
static bool load_together(const placement *f, operands *all, uint32_t first, uint32_t least) {
  lowering *l = f->l;
  uint32_t members = 0;
  const operand *o = &all->items[first];
  uint64_t deltas[F2_MAX] = {0}, constants = map_constants(&o->map);
  f2_echelon relations = {0};
  if (!f->numbered || o->map.row_count > F2_MAX || o->number >> f->k)
    return false;
  for (uint32_t i = first; i < all->count; i++) {
    const operand *other = &all->items[i];
    uint64_t relation = 0;
    if (other->done || !lie_alike(f, other, o, false))
      continue;
    members++;
    if (other->number >> f->k)
      return false;
    uint64_t moved = map_constants(&other->map) ^ constants;
    if (!f2_echelon_insert(&relations, other->number ^ o->number, moved, &relation) && relation)
      return false;
  }
  if (members < least)
    return false;
  // A linear map with the values found, 0 on the unit vectors that are free.
  for (int i = 0; i < f->k; i++)
    if (relations.vector[i])
      deltas[i] = fitted_delta(&relations, i, deltas);
  net_map at_zero = net_map_copy(l->memory, &o->map);
  uint64_t delta = f2_combine(f->k, deltas, o->number);
  for (uint32_t r = 0; r < at_zero.row_count; r++)
    at_zero.rows[r].form.constant ^= f2_bit(delta, (int)r);
  net_map map = placement_map(f, &at_zero, deltas);
  net_id value = load_value(f, o->storage, &map);
  for (uint32_t i = first; i < all->count; i++)
    if (!all->items[i].done && lie_alike(f, &all->items[i], o, false))
      take(&all->items[i], value, all->items[i].number << f->partner_count);
  return true;
}

// An element of what the stage has loaded already, if the operand is one.
static bool take_loaded_element(const placement *f, operand *o) {
  enum { MOST_ELEMENTS = 64 };
  const storage *held = &f->l->storages.items[o->storage];
  const net_stage *s = stage_of(f->l, f->stage);
  net_map wanted = placement_map(f, &o->map, NULL);
  for (size_t i = 0; i < s->loads.count; i++) {
    const net_load *load = &s->loads.items[i];
    net_load as_wanted = {load->value, held->array, load->map, held->padding_start,
                          held->padding_value};
    if (!net_load_equal(load, &as_wanted))
      continue;
    for (uint64_t j = 0; j < UINT64_C(1) << f->k && j < MOST_ELEMENTS; j++) {
      net_map map = net_map_at_element(f->l->memory, &load->map, (uint32_t)f->k, f->directions,
                                       f->forms + f->p, j);
      if (net_map_equal(&map, &wanted)) {
        take(o, load->value, j << f->partner_count);
        return true;
      }
    }
  }
  return false;
}

// The operand as the same element of its array as one that has been loaded is of another: the
// components of tuples lie alike.
static bool load_beside(const placement *f, const operands *all, operand *o) {
  for (uint32_t i = 0; i < all->count; i++) {
    const operand *other = &all->items[i];
    if (!other->done || !are_beside(f->l, other, o) || !net_map_equal(&other->map, &o->map))
      continue;
    const net_load *load = net_load_of(stage_of(f->l, f->stage), other->value);
    if (load) {
      take(o, load_value(f, o->storage, &load->map), other->element);
      rule_fired(f->l->log, RULE_LIKE_ELEMENTS, f->l->step, 0, 0);
      return true;
    }
  }
  return false;
}

static void load_others(const placement *f, operands *all) {
  enum { MANY = 256 };  // operands: each is compared with all
  for (uint32_t i = 0; i < all->count && all->count <= MANY; i++)
    if (!all->items[i].done)
      load_beside(f, all, &all->items[i]);
  for (uint32_t i = 0; i < all->count; i++)
    if (!all->items[i].done)
      load_together(f, all, i, 2);
  for (uint32_t i = 0; i < all->count; i++) {
    operand *o = &all->items[i];
    if (o->done || take_loaded_element(f, o) || load_together(f, all, i, 1))
      continue;
    net_map map = placement_map(f, &o->map, NULL);
    take(o, load_value(f, o->storage, &map), 0);
  }
}

// Whether k directions can be had in a stage that has computed something already. (Of one that has
// not, elements are as well stored where they are to go.)
static bool has_room_in_stage(const placement *f, int k) {
  enum { MOST_BITS = 48 };  // of a stage that grows
  const net_stage *s = stage_of(f->l, f->stage);
  return s->ops.count && f->p + k <= MOST_BITS;
}

// The directions in which elements of operands lie again: each was made of several elements there,
// as the mean of two is. What is made of means goes back to the places of the two.
static f2_space spread_of_operands(const placement *f, const operands *all) {
  f2_space spread = f2_space_zero(f->n);
  for (uint32_t i = 0; i < all->count; i++)
    if (is_of_stage(f->l, &all->items[i], f->stage))
      spread =
          f2_space_sum(spread, placement_spread(f, &f->l->storages.items[all->items[i].storage]));
  return spread;
}

// Finds the operands' stage, or makes one, with so many directions if it has room for them. All
// operands then have a value and an element of it. in_order: if memory would say, x is z.
static void find_placement(lowering *l, placement *f, const axes *s, operands *all, int directions,
                           bool in_order) {
  *f = (placement){.l = l};
  placement_set_axes(f, s);
  bool anchored = false;
  for (uint32_t i = 0; i < all->count; i++) {
    const storage *held = &l->storages.items[all->items[i].storage];
    if (held->in_memory || all->items[i].done)
      continue;
    uint32_t stage = held->stage;
    bool open = !l->stages.items[stage].closed;
    bool placed =
        open && (anchored ? anchor_merged(f, stage, all) : anchor_in_stage(f, stage, all));
    if (placed && anchored)
      rule_fired(l->log, RULE_ZIP_MAP, l->step, 0, 0);
    anchored |= placed;
    net_reason why = !open ? NET_REASON_ENDED : anchored ? NET_REASON_APART : f->refused;
    for (uint32_t k = i; k < all->count && !placed; k++)
      if (is_of_stage(l, &all->items[k], stage))
        storage_to_memory(l, all->items[k].storage, why);
  }
  if (!anchored) {
    placement_set_axes(f, s);  // as it was before the attempts
    if (in_order || !anchor_in_memory(f, all, directions))
      anchor_nowhere(f);
  }
  if (f->k < directions && has_room_in_stage(f, directions)) {
    placement_add_directions(f, directions, spread_of_operands(f, all));
    rule_fired(l->log, RULE_GROWN_INDEX, l->step, 0, 0);
  }
  load_others(f, all);
}

// ---- ops --------------------------------------------------------------------------------------

// The nodes as nodes of the stage, which read the operands, for element j of partners. Their
// numbers there are l->converted.
static void convert_nodes(const placement *f, const node_list *nodes, const operands *all,
                          uint64_t j) {
  lowering *l = f->l;
  net_stage *s = stage_of(l, f->stage);
  if (!s->nodes.count)
    net_nodes_reserve(l->memory, s, nodes->count);
  const operand *next = all->items;
  for (size_t i = 0; i < nodes->count; i++) {
    net_node node = l->pool.nodes.items[nodes->items[i]];
    if (node.kind == NET_ELEMENT) {
      node.value = next->value;
      node.number = next++->element ^ j;
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

static operands operands_of(lowering *l, const node_list *nodes) {
  operands all = {.items = NEW_ARRAY(l->memory, operand, nodes->count + 1)};
  for (size_t i = 0; i < nodes->count; i++) {
    const net_node *node = &l->pool.nodes.items[nodes->items[i]];
    if (node->kind == NET_ELEMENT)
      all.items[all.count++] =
          (operand){.storage = node->value, .map = node->map, .number = node->number};
  }
  return all;
}

static net_op new_op(const placement *f, uint32_t outputs, scalar_type type) {
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
    op.outputs[i].value = net_value_add(a, stage_of(f->l, f->stage), type);
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
  axes_change pattern = axes_inserted(&f->axes, at, UINT64_C(1) << bits);
  m = map_changed(l->memory, &m, &pattern);
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

// A store of the value at the addresses of the target; those from `start` on are padding.
static void add_store(const placement *f, net_id value, net_id array, const net_map *target,
                      uint64_t start) {
  net_store store = {value, array, placement_map(f, target, NULL), start, 0, NULL};
  store.live = placement_live(f, f->p, &store.live_count);
  vec_push(f->l->memory, &stage_of(f->l, f->stage)->stores, store);
}

// Elements that have no place of their own go to an array of their own.
static net_id place_in_memory(const placement *f, const net_op *op, uint32_t at) {
  lowering *l = f->l;
  axes whole = f->axes;
  axes_insert(&whole, at, op->output_count);
  scalar_type type = stage_of(l, f->stage)->values.items[op->outputs->value];
  net_id array =
      temporary_row_major(l, &whole, type, axes_product(&whole, 0, whole.count), NET_REASON_PLACES);
  const net_map target = l->pool.nodes.items[array].map;
  for (uint32_t j = 0; j < op->output_count; j++) {
    axes_change one = axes_fixed(&whole, at, whole.count - f->axes.count, j);
    net_map fixed = map_changed(l->memory, &target, &one);
    add_store(f, op->outputs[j].value, array_of_element(l, array), &fixed, UINT64_MAX);
  }
  stage_close(l, f->stage);
  return array;
}

net_id place(lowering *l, const axes *s, uint32_t m, const net_id *elements, uint32_t at) {
  node_list nodes = reachable(l, m, elements);
  operands all = operands_of(l, &nodes);
  scalar_type type = l->pool.nodes.items[elements[0]].type;
  placement f;
  int bits = 0;
  while (UINT32_C(1) << bits < m)
    bits++;
  bool whole = m == UINT32_C(1) << bits;
  find_placement(l, &f, s, &all, whole ? bits : 0,
                 l->pool.nodes.items[elements[0]].kind == NET_GROUP);
  bool copy = m == 1 && l->pool.nodes.items[elements[0]].kind == NET_ELEMENT;
  if (copy && f.k == 0)  // one operand has no partner
    return element_in_placement(&f, type, all.items->value, 0, at);
  // As elements of one output, or as outputs that are stored apart.
  bool apart = !whole || bits > f.k;
  net_op op = new_op(&f, apart ? m : 1, type);
  if (f.partner_count)
    rule_fired(l->log, RULE_PARTNERS, l->step, 0, 0);
  for (uint64_t e = 0; e < UINT64_C(1) << f.partner_count; e++) {
    convert_nodes(&f, &nodes, &all, e);
    for (uint32_t j = 0; j < m && apart; j++)
      op.outputs[j].elements[e] = l->converted[elements[j]];
    for (uint64_t j = 0; j < UINT64_C(1) << f.k && !apart; j++)  // in all directions alike
      op.outputs[0].elements[e | j << f.partner_count] = l->converted[elements[j & (m - 1)]];
  }
  vec_push(l->memory, &stage_of(l, f.stage)->ops, op);
  return apart ? place_in_memory(&f, &op, at)
               : element_in_placement(&f, type, op.outputs[0].value, (uint32_t)bits, at);
}

// The value of node e over s, stored at the addresses of `target`; those from `start` on are
// padding.
static void store_padded(lowering *l, const axes *s, net_id e, net_id array, const net_map *target,
                         uint64_t start) {
  if (l->pool.nodes.items[e].kind != NET_ELEMENT)
    e = place(l, s, 1, &e, s->count);
  operands only = operands_of(l, &(node_list){&e, 1, 1});
  const storage *held = &l->storages.items[only.items->storage];
  placement f = {.l = l};
  placement_set_axes(&f, s);
  // A closed stage still takes stores.
  if (held->in_memory || !anchor_in_stage(&f, held->stage, &only))
    find_placement(l, &f, s, &only, 0, false);
  add_store(&f, only.items->value, array, target, start);
  if (l->net->arrays.items[array].role == NET_TEMPORARY)
    stage_close(l, f.stage);
}

void store_into(lowering *l, const axes *s, net_id e, net_id array, const net_map *target) {
  store_padded(l, s, e, array, target, UINT64_MAX);
}

net_id store_prefix(lowering *l, const axes *s, net_id e, uint64_t count, net_reason why) {
  bool part = count < axes_product(s, 0, s->count);
  net_id array = temporary_row_major(l, s, l->pool.nodes.items[e].type, count, why);
  const net_map target = l->pool.nodes.items[array].map;
  store_padded(l, s, e, array_of_element(l, array), &target, part ? count : UINT64_MAX);
  return array;
}
