// Ops, stages, loads and stores. See lower.h.
//
// An op over p bit axes z, on 2^k elements each, needs a stage in which they have places:
//
//      x = F z ^ D j ^ f        F: n x p, D: n x k (the directions), [F D] of full column rank
//
// Its operands' leaves say where: those of one array with one F, whose f differ by D. That array
// (the ANCHOR) gives the stage; other operands are loaded into that place. From the inverse of [F D
// C], with C any complement, come z (for index maps and addresses), j (the op's coordinates), and
// the forms that are 0 on the image (the live indices).
#include "fusion/lower/lowering.h"
#include "fusion/net/live.h"

typedef struct place_leaf {
  net_id node, holder;
  net_id value;      // in the stage
  uint64_t element;  // which of the 2^k
  bool done;
} place_leaf;

typedef struct frame {
  lowering *l;
  axes axes;
  uint32_t stage;
  int n, p, k;
  uint32_t bit_axis[MAX_AXES];   // by bit of z, the innermost axis first
  uint8_t axis_bit[MAX_AXES];    // and back
  uint32_t loop_axis[MAX_AXES];  // by loop of the stage
  uint64_t columns[F2_MAX];      // F
  uint64_t directions[F2_MAX];   // D
  uint64_t origin;               // f
  net_form forms[F2_MAX];        // z_i, then j_i, then what is 0 where alive; of x
  bool numbered;                 // element j of an array pattern has coordinates j
} frame;

static net_stage *stage_of(const lowering *l, uint32_t stage) {
  return &l->net->stages.items[stage];
}

// ---- the pool of expressions ------------------------------------------------------------------

static void *grown(lowering *l, void *items, size_t size, size_t capacity) {
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
    has |= l->has_leaf[node->operands[i]];
  if (id >= l->capacity) {
    size_t capacity = l->capacity ? 2 * l->capacity : 256;
    l->has_leaf = grown(l, l->has_leaf, sizeof *l->has_leaf, capacity);
    l->marks = grown(l, l->marks, sizeof *l->marks, capacity);
    l->converted = grown(l, l->converted, sizeof *l->converted, capacity);
    l->capacity = capacity;
  }
  l->has_leaf[id] = has;
  return id;
}

bool pool_has_leaf(const lowering *l, net_id node) { return l->has_leaf[node]; }

net_id holder_add(lowering *l, const holder *h) {
  vec_push(l->memory, &l->holders, *h);
  return (net_id)(l->holders.count - 1);
}

net_id leaf_of(lowering *l, net_id held_by, const net_map *map, uint64_t number) {
  return pool_add(l, &(net_node){.kind = NET_ELEMENT,
                                 .type = l->holders.items[held_by].type,
                                 .value = held_by,
                                 .map = *map,
                                 .number = number});
}

static int compare_ids(const void *a, const void *b) {
  net_id x = *(const net_id *)a, y = *(const net_id *)b;
  return (x > y) - (x < y);
}

node_list reachable(lowering *l, uint32_t m, const net_id *elements) {
  node_list list = {0};
  uint32_t now = ++l->walks;
  for (uint32_t i = 0; i < m; i++)
    if (l->marks[elements[i]] != now) {
      l->marks[elements[i]] = now;
      vec_push(l->memory, &list, elements[i]);
    }
  for (size_t i = 0; i < list.count; i++) {
    const net_node *node = &l->pool.nodes.items[list.items[i]];
    for (uint32_t k = 0; k < node->operand_count; k++)
      if (l->marks[node->operands[k]] != now) {
        l->marks[node->operands[k]] = now;
        vec_push(l->memory, &list, node->operands[k]);
      }
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

static uint32_t stage_open(lowering *l, const frame *f) {
  net_stage s = {.n = f->n};
  s.extents = NEW_ARRAY(l->memory, uint64_t, f->axes.count + 1);
  for (uint32_t i = 0; i < f->axes.count; i++)
    if (f->axes.extents[i] != 2)
      s.extents[s.loop_count++] = f->axes.extents[i];
  vec_push(l->memory, &l->net->stages, s);
  vec_push(l->memory, &l->stages, (stage_state){0});
  return (uint32_t)l->stages.count - 1;
}

// Where a stage's value would lie if all of it were stored: the address of (o, x).
static net_map stage_map(lowering *l, const net_stage *s) {
  net_map m = {0, s->loop_count, (uint32_t)s->n, NEW_ARRAY(l->memory, int64_t, s->loop_count + 1),
               NEW_ARRAY(l->memory, net_row, s->n + 1)};
  int64_t stride = 1;
  for (int i = 0; i < s->n; i++, stride *= 2)
    m.rows[i] = (net_row){{f2_unit(i), false}, stride};
  for (uint32_t i = s->loop_count; i-- > 0; stride *= (int64_t)s->extents[i])
    m.strides[i] = stride;
  return m;
}

static uint64_t stage_elements(const net_stage *s) {
  uint64_t count = f2_unit(s->n);
  for (uint32_t i = 0; i < s->loop_count; i++)
    count *= s->extents[i];
  return count;
}

// A stage's value goes to memory, at the addresses that its leaves name already.
static void flush(lowering *l, net_id id) {
  holder *h = &l->holders.items[id];
  if (h->in_memory)
    return;
  net_stage *s = stage_of(l, h->stage);
  net_store store = {.value = h->value, .map = stage_map(l, s), .padding_start = UINT64_MAX};
  f2_affine back;
  if (h->frame && f2_affine_inverse(*h->frame, &back))
    for (int i = 0; i < s->n; i++)
      store.map.rows[i].form = (net_form){back.a.row[i], f2_bit(back.c, i)};
  store.array = net_array_add(l->memory, l->net, h->type, stage_elements(s), NET_TEMPORARY, 0);
  f2_space live = live_of_value(s, h->value);
  store.live_count = (uint32_t)live.dimension;
  store.live = NEW_ARRAY(l->memory, net_form, live.dimension + 1);
  live_forms(live, store.live);
  vec_push(l->memory, &s->stores, store);
  stage_close(l, h->stage);
  h->in_memory = true;
  h->array = store.array;
  h->padding_start = UINT64_MAX;
}

// ---- where a leaf lies ------------------------------------------------------------------------

static void frame_axes(frame *f, const axes *s) {
  f->axes = *s;
  f->p = 0;
  uint32_t loops = 0;
  for (uint32_t i = s->count; i-- > 0;)
    if (s->extents[i] == 2) {
      f->axis_bit[i] = (uint8_t)f->p;
      f->bit_axis[f->p++] = i;
    }
  for (uint32_t i = 0; i < s->count; i++)
    if (s->extents[i] != 2)
      f->loop_axis[loops++] = i;
}

// The bits of a mask of axes as a mask of z.
static uint64_t z_mask(const frame *f, uint64_t mask) {
  uint64_t z = 0;
  for (; mask; mask &= mask - 1)
    z |= f2_unit(f->axis_bit[f2_lsb(mask)]);
  return z;
}

// Whether vectors of so many bits are independent; those with no bit in common are.
static bool independent(int bits, int count, const uint64_t *vectors) {
  uint64_t seen = 0;
  for (int i = 0; i < count; i++) {
    if (!vectors[i] || seen & vectors[i])
      return f2_span(bits, count, vectors).dimension == count;
    seen |= vectors[i];
  }
  return true;
}

// F and f of a leaf by its map's rows; the columns have one bit for each row.
static bool leaf_columns(const frame *f, const net_map *m, uint64_t *columns, uint64_t *origin) {
  if (m->row_count > F2_MAX)
    return false;
  memset(columns, 0, sizeof *columns * (size_t)f->p);
  *origin = 0;
  for (uint32_t r = 0; r < m->row_count; r++) {
    for (uint64_t mask = m->rows[r].form.mask; mask; mask &= mask - 1)
      columns[f->axis_bit[f2_lsb(mask)]] |= f2_unit((int)r);
    *origin |= (uint64_t)m->rows[r].form.constant << r;
  }
  return independent((int)m->row_count, f->p, columns);
}

// The same of a leaf of a stage's value, in the stage's index.
static bool stage_columns(const frame *f, const holder *h, const net_map *m, uint64_t *columns,
                          uint64_t *origin) {
  bool injective = leaf_columns(f, m, columns, origin);
  if (!h->frame)
    return injective;
  for (int i = 0; i < f->p; i++)
    columns[i] = f2_apply(h->frame->a, columns[i]);
  *origin = f2_affine_apply(*h->frame, *origin);
  return injective;
}

// Whether a leaf of a stage's value covers the stage's loops, one axis each (also sets loop_axis),
// and its rows are the bits of x in order.
static bool leaf_in_stage(frame *f, const net_map *m, const net_stage *s) {
  if (m->offset || m->row_count != (uint32_t)s->n)
    return false;
  for (int i = 0; i < s->n; i++)
    if (m->rows[i].weight != (int64_t)1 << i)
      return false;
  uint32_t loops = 0;
  for (uint32_t i = 0; i < f->axes.count; i++)
    loops += f->axes.extents[i] != 2;
  if (loops != s->loop_count)
    return false;
  int64_t stride = (int64_t)1 << s->n;
  for (uint32_t k = s->loop_count; k-- > 0; stride *= (int64_t)s->extents[k]) {
    bool found = false;
    for (uint32_t i = 0; i < f->axes.count && !found; i++)
      if (f->axes.extents[i] == s->extents[k] && i < m->loop_count && m->strides[i] == stride) {
        f->loop_axis[k] = i;
        found = true;
      }
    if (!found)
      return false;
  }
  return true;
}

static const net_map *map_of(const lowering *l, const place_leaf *leaf) {
  return &l->pool.nodes.items[leaf->node].map;
}
static uint64_t number_of(const lowering *l, const place_leaf *leaf) {
  return l->pool.nodes.items[leaf->node].number;
}

// ---- the anchor -------------------------------------------------------------------------------

// The anchor's leaves: one holder (or one stage), one F. Finds D from their f. False: F differs, or
// D meets the image of F, so that the leaves have no places of their own.
static bool find_directions(frame *f, uint32_t count, const uint64_t *origins,
                            const uint64_t *numbers, int rows) {
  f2_space image = f2_span(rows, f->p, f->columns), all = image;
  uint64_t zero = origins[0];
  f->k = 0;
  f->numbered = true;
  // Directions by the bits of the pattern's numbers, if the leaves are so numbered.
  for (uint64_t bit = 1; bit < 64; bit <<= 1) {
    uint64_t direction = 0;
    for (uint32_t i = 0; i < count && !direction; i++)
      for (uint32_t j = 0; j < count && !direction; j++)
        if ((numbers[i] ^ numbers[j]) == bit)
          direction = origins[i] ^ origins[j];
    if (!direction || !f2_space_insert(&all, direction))
      break;
    f->directions[f->k++] = direction;
  }
  for (uint32_t i = 0; i < count; i++) {
    uint64_t x = origins[i];
    if (numbers[i] >> f->k)
      f->numbered = false;
    for (int b = 0; b < f->k; b++)
      x ^= f2_bit(numbers[i], b) ? f->directions[b] : 0;
    if (i == 0)
      zero = x;
    f->numbered &= x == zero;
  }
  f->origin = zero;
  if (f->numbered)
    return true;
  f->k = 0;
  f->origin = origins[0];
  all = image;
  f2_space differences = f2_space_zero(rows);
  for (uint32_t i = 1; i < count; i++) {
    uint64_t x = origins[i] ^ origins[0];
    if (f2_space_has(differences, x))
      continue;
    if (!f2_space_insert(&all, x))
      return false;
    f2_space_insert(&differences, x);
    f->directions[f->k++] = x;
  }
  return true;
}

static uint64_t coordinates_of(const frame *f, uint64_t origin) {
  uint64_t j = 0;
  bool found = f2_coordinates(f->k, f->directions, origin ^ f->origin, &j);
  assert(found);
  (void)found;
  return j;
}

// z, j and the live forms as forms of x.
static void find_forms(frame *f) {
  uint64_t columns[F2_MAX];
  int count = 0;
  for (int i = 0; i < f->p; i++)
    columns[count++] = f->columns[i];
  for (int i = 0; i < f->k; i++)
    columns[count++] = f->directions[i];
  f2_space image = f2_span(f->n, count, columns);
  f2_space rest = f2_space_complement(image, f2_space_full(f->n));
  for (int i = 0; i < rest.dimension; i++)
    columns[count++] = rest.basis[i];
  assert(count == f->n);
  f2_matrix inverse;
  bool good = f2_inverse(f2_from_columns(f->n, f->n, columns), &inverse);
  assert(good);
  (void)good;
  for (int i = 0; i < f->n; i++)
    f->forms[i] = (net_form){inverse.row[i], f2_dot(inverse.row[i], f->origin)};
}

// A map by axes as a map of the stage's (o, x). `deltas[i]`: the rows that differ when coordinate i
// of the op's element does (NULL: none).
static net_map to_stage(const frame *f, const net_map *m, const uint64_t *deltas) {
  arena *a = f->l->memory;
  uint32_t loops = stage_of(f->l, f->stage)->loop_count;
  net_map r = {m->offset, loops, 0, NEW_ARRAY(a, int64_t, loops + 1),
               NEW_ARRAY(a, net_row, m->row_count + 1)};
  for (uint32_t k = 0; k < loops; k++)
    r.strides[k] = f->loop_axis[k] < m->loop_count ? m->strides[f->loop_axis[k]] : 0;
  for (uint32_t i = 0; i < m->row_count; i++) {
    net_form form = {0, m->rows[i].form.constant};
    for (uint64_t z = z_mask(f, m->rows[i].form.mask); z; z &= z - 1) {
      form.mask ^= f->forms[f2_lsb(z)].mask;
      form.constant ^= f->forms[f2_lsb(z)].constant;
    }
    for (int k = 0; deltas && k < f->k; k++)
      if (f2_bit(deltas[k], (int)i)) {
        form.mask ^= f->forms[f->p + k].mask;
        form.constant ^= f->forms[f->p + k].constant;
      }
    if (form.mask == 0)
      r.offset += form.constant ? m->rows[i].weight : 0;
    else
      r.rows[r.row_count++] = (net_row){form, m->rows[i].weight};
  }
  return r;
}

static net_id load(const frame *f, const holder *h, const net_map *map) {
  net_stage *s = stage_of(f->l, f->stage);
  for (size_t i = 0; i < s->loads.count; i++) {
    const net_load *o = &s->loads.items[i];
    if (o->array == h->array && o->padding_start == h->padding_start &&
        net_map_equal(&o->map, map) &&
        !memcmp(&o->padding_value, &h->padding_value, sizeof o->padding_value))
      return o->value;
  }
  net_load n = {net_value_add(f->l->memory, s, h->type), h->array, *map, h->padding_start,
                h->padding_value};
  vec_push(f->l->memory, &s->loads, n);
  return n.value;
}

static bool is_of_stage(const lowering *l, const place_leaf *leaf, uint32_t stage) {
  const holder *h = &l->holders.items[leaf->holder];
  return !h->in_memory && h->stage == stage;
}

// The places of the leaves of one stage: same F, and D. origins[i] is the f of leaf i.
static bool frame_in_stage(frame *f, uint32_t stage, const place_leaf *leaves, uint32_t count,
                           uint64_t *origins) {
  lowering *l = f->l;
  uint64_t columns[MAX_AXES], *of_leaf = NEW_ARRAY(l->memory, uint64_t, count);
  uint64_t *numbers = NEW_ARRAY(l->memory, uint64_t, count);
  uint32_t found = 0;
  const net_stage *s = stage_of(l, stage);
  for (uint32_t i = 0; i < count; i++) {
    if (!is_of_stage(l, &leaves[i], stage))
      continue;
    const holder *h = &l->holders.items[leaves[i].holder];
    const net_map *m = map_of(l, &leaves[i]);
    if (!leaf_in_stage(f, m, s) ||
        !stage_columns(f, h, m, found ? columns : f->columns, &of_leaf[found]))
      return false;
    if (found && f->p && memcmp(columns, f->columns, sizeof *columns * (size_t)f->p))
      return false;
    origins[i] = of_leaf[found];
    numbers[found++] = number_of(l, &leaves[i]);
  }
  f->n = s->n;
  f->stage = stage;
  return found && find_directions(f, found, of_leaf, numbers, f->n);
}

static void take_leaves(const frame *f, place_leaf *leaves, uint32_t count,
                        const uint64_t *origins) {
  for (uint32_t i = 0; i < count; i++)
    if (is_of_stage(f->l, &leaves[i], f->stage) && !leaves[i].done) {
      leaves[i].value = f->l->holders.items[leaves[i].holder].value;
      leaves[i].element = coordinates_of(f, origins[i]);
      leaves[i].done = true;
    }
}

static bool anchor_in_stage(frame *f, uint32_t stage, place_leaf *leaves, uint32_t count) {
  uint64_t *origins = NEW_ARRAY(f->l->memory, uint64_t, count);
  if (!frame_in_stage(f, stage, leaves, count, origins))
    return false;
  find_forms(f);
  take_leaves(f, leaves, count, origins);
  return true;
}

// [F D C] of a frame as a matrix, C a complement of the rest.
static f2_matrix frame_basis(const frame *f, int k) {
  uint64_t columns[F2_MAX];
  int count = 0;
  for (int i = 0; i < f->p; i++)
    columns[count++] = f->columns[i];
  for (int i = 0; i < k; i++)
    columns[count++] = f->directions[i];
  f2_space rest = f2_space_complement(f2_span(f->n, count, columns), f2_space_full(f->n));
  for (int i = 0; i < rest.dimension; i++)
    columns[count++] = rest.basis[i];
  return f2_from_columns(f->n, f->n, columns);
}

// Merges an open stage into the frame's, if its leaves' places can be renamed to those of the
// frame.
static bool anchor_merged(frame *f, uint32_t stage, place_leaf *leaves, uint32_t count) {
  lowering *l = f->l;
  const net_stage *s = stage_of(l, f->stage), *other = stage_of(l, stage);
  if (s->n != other->n || s->loop_count != other->loop_count ||
      (s->loop_count && memcmp(s->extents, other->extents, s->loop_count * sizeof *s->extents)))
    return false;
  frame g = {.l = l};
  uint64_t *origins = NEW_ARRAY(l->memory, uint64_t, count);
  frame_axes(&g, &f->axes);
  if (!frame_in_stage(&g, stage, leaves, count, origins) || g.k > f->k ||
      (g.k && !(g.numbered && f->numbered)))
    return false;
  for (uint32_t i = 0; i < s->loop_count; i++)
    if (f->loop_axis[i] != g.loop_axis[i])
      return false;
  f2_matrix inverse;
  f2_inverse(frame_basis(&g, g.k), &inverse);
  f2_affine change = {f2_multiply(frame_basis(f, g.k), inverse), 0};
  change.c = f->origin ^ f2_apply(change.a, g.origin);
  merge_stages(l, f->stage, stage, change);
  for (uint32_t i = 0; i < count; i++)
    origins[i] = f2_affine_apply(change, origins[i]);
  take_leaves(f, leaves, count, origins);
  return true;
}

// The leaves with the holder and F of leaf `first` as anchor of a new stage. x numbers the elements
// of the array that they span: of the whole array it is the address's bits.
static bool anchor_in_memory(frame *f, place_leaf *leaves, uint32_t count, uint32_t first) {
  lowering *l = f->l;
  uint64_t *origins = NEW_ARRAY(l->memory, uint64_t, count), columns[MAX_AXES];
  uint64_t *numbers = NEW_ARRAY(l->memory, uint64_t, count);
  bool *mine = NEW_ARRAY(l->memory, bool, count);
  const net_map *m = map_of(l, &leaves[first]);
  if (!leaf_columns(f, m, f->columns, &origins[0]))
    return false;
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; i++) {
    const net_map *other = map_of(l, &leaves[i]);
    if (leaves[i].holder != leaves[first].holder || other->offset != m->offset ||
        other->row_count != m->row_count || !leaf_columns(f, other, columns, &origins[found]) ||
        (f->p && memcmp(columns, f->columns, sizeof *columns * (size_t)f->p)))
      continue;
    bool same = true;
    for (uint32_t r = 0; r < m->row_count; r++)
      same &= other->rows[r].weight == m->rows[r].weight;
    for (uint32_t k = 0; k < f->axes.count; k++)
      same &= (k < m->loop_count ? m->strides[k] : 0) ==
              (k < other->loop_count ? other->strides[k] : 0);
    if (!same)
      continue;
    mine[i] = true;
    numbers[found++] = number_of(l, &leaves[i]);
  }
  int rows = (int)m->row_count;
  if (!find_directions(f, found, origins, numbers, rows)) {
    memset(mine, 0, count);
    mine[first] = true;
    leaf_columns(f, m, f->columns, &origins[0]);
    numbers[0] = 0;
    find_directions(f, 1, origins, numbers, rows);
  }
  // U = F + D, its coordinates are x.
  uint64_t spanning[2 * F2_MAX];
  int vectors = 0;
  for (int i = 0; i < f->p; i++)
    spanning[vectors++] = f->columns[i];
  for (int i = 0; i < f->k; i++)
    spanning[vectors++] = f->directions[i];
  f2_space u = f2_span(rows, vectors, spanning);
  uint64_t base = f2_space_reduce(u, f->origin);
  for (int i = 0; i < f->p; i++)
    f->columns[i] = f2_space_coordinates(u, f->columns[i]);
  for (int i = 0; i < f->k; i++)
    f->directions[i] = f2_space_coordinates(u, f->directions[i]);
  f->origin = f2_space_coordinates(u, f->origin ^ base);
  f->n = u.dimension;
  f->stage = stage_open(l, f);
  find_forms(f);
  net_map map = {m->offset, 0, m->row_count, NULL, NEW_ARRAY(l->memory, net_row, m->row_count + 1)};
  for (int r = 0; r < rows; r++) {
    net_form form = {0, f2_bit(base, r)};
    for (int i = 0; i < u.dimension; i++)
      form.mask |= (uint64_t)f2_bit(u.basis[i], r) << i;
    map.rows[r] = (net_row){form, m->rows[r].weight};
  }
  uint32_t kept = 0;
  map.loop_count = stage_of(l, f->stage)->loop_count;
  map.strides = NEW_ARRAY(l->memory, int64_t, map.loop_count + 1);
  for (uint32_t k = 0; k < map.loop_count; k++)
    map.strides[k] = f->loop_axis[k] < m->loop_count ? m->strides[f->loop_axis[k]] : 0;
  for (uint32_t r = 0; r < map.row_count; r++)
    if (map.rows[r].form.mask)
      map.rows[kept++] = map.rows[r];
    else
      map.offset += map.rows[r].form.constant ? map.rows[r].weight : 0;
  map.row_count = kept;
  net_id value = load(f, &l->holders.items[leaves[first].holder], &map);
  found = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!mine[i])
      continue;
    uint64_t origin;
    leaf_columns(f, map_of(l, &leaves[i]), columns, &origin);
    leaves[i].value = value;
    leaves[i].element = coordinates_of(f, f2_space_coordinates(u, origin ^ base));
    leaves[i].done = true;
  }
  return true;
}

// Nothing to anchor at: x is z.
static void anchor_nowhere(frame *f) {
  f->n = f->p;
  f->k = 0;
  f->origin = 0;
  f->numbered = true;
  for (int i = 0; i < f->p; i++)
    f->columns[i] = f2_unit(i);
  f->stage = stage_open(f->l, f);
  find_forms(f);
}

// ---- other operands ---------------------------------------------------------------------------

// The leaves of one array that lie as the anchor's elements do become one value: leaf number q is
// the element that the anchor has for number q.
static bool load_together(const frame *f, place_leaf *leaves, uint32_t count, uint32_t first) {
  lowering *l = f->l;
  const net_map *m = map_of(l, &leaves[first]);
  uint64_t deltas[F2_MAX] = {0}, columns[MAX_AXES], own[MAX_AXES], base, origin;
  f2_echelon relations = {0};
  if (!f->numbered || m->row_count > F2_MAX || number_of(l, &leaves[first]) >> f->k)
    return false;
  leaf_columns(f, m, own, &base);
  for (uint32_t i = first; i < count; i++) {
    const net_map *other = map_of(l, &leaves[i]);
    if (leaves[i].holder != leaves[first].holder || leaves[i].done)
      continue;
    uint64_t number = number_of(l, &leaves[i]), relation = 0;
    if (other->offset != m->offset || other->row_count != m->row_count || number >> f->k)
      return false;
    leaf_columns(f, other, columns, &origin);
    if (f->p && memcmp(columns, own, sizeof *own * (size_t)f->p))
      return false;
    for (uint32_t r = 0; r < m->row_count; r++)
      if (other->rows[r].weight != m->rows[r].weight)
        return false;
    for (uint32_t k = 0; k < f->axes.count; k++)
      if ((k < m->loop_count ? m->strides[k] : 0) !=
          (k < other->loop_count ? other->strides[k] : 0))
        return false;
    if (!f2_echelon_insert(&relations, number ^ number_of(l, &leaves[first]), origin ^ base,
                           &relation) &&
        relation)
      return false;
  }
  // A linear map with the values found, 0 on the unit vectors that are free.
  for (int i = 0; i < f->k; i++) {
    if (!relations.vector[i])
      continue;
    deltas[i] = relations.tag[i];
    for (uint64_t rest = relations.vector[i] ^ f2_unit(i); rest; rest &= rest - 1)
      deltas[i] ^= deltas[f2_lsb(rest)];
  }
  net_map at_zero = map_copy(l->memory, m);
  uint64_t first_number = number_of(l, &leaves[first]);
  for (uint32_t r = 0; r < m->row_count; r++) {
    bool delta = false;
    for (int i = 0; i < f->k; i++)
      delta ^= f2_bit(first_number, i) && f2_bit(deltas[i], (int)r);
    at_zero.rows[r].form.constant ^= delta;
  }
  net_map map = to_stage(f, &at_zero, deltas);
  net_id value = load(f, &l->holders.items[leaves[first].holder], &map);
  for (uint32_t i = first; i < count; i++)
    if (leaves[i].holder == leaves[first].holder && !leaves[i].done) {
      leaves[i].value = value;
      leaves[i].element = number_of(l, &leaves[i]);
      leaves[i].done = true;
    }
  return true;
}

static void load_others(const frame *f, place_leaf *leaves, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (leaves[i].done || load_together(f, leaves, count, i))
      continue;
    net_map map = to_stage(f, map_of(f->l, &leaves[i]), NULL);
    leaves[i].value = load(f, &f->l->holders.items[leaves[i].holder], &map);
    leaves[i].element = 0;
    leaves[i].done = true;
  }
}

// Finds the leaves' stage, or makes one. All leaves then have a value and an element of it.
static void frame_for(lowering *l, frame *f, const axes *s, place_leaf *leaves, uint32_t count) {
  *f = (frame){.l = l};
  frame_axes(f, s);
  bool anchored = false;
  for (uint32_t i = 0; i < count; i++) {
    const holder *h = &l->holders.items[leaves[i].holder];
    if (h->in_memory || leaves[i].done)
      continue;
    uint32_t stage = h->stage;
    bool open = !l->stages.items[stage].closed, placed = false;
    if (open)
      placed = anchored ? anchor_merged(f, stage, leaves, count)
                        : anchor_in_stage(f, stage, leaves, count);
    anchored |= placed;
    for (uint32_t k = i; k < count && !placed; k++)
      if (is_of_stage(l, &leaves[k], stage))
        flush(l, leaves[k].holder);
  }
  if (!anchored)
    frame_axes(f, s);  // as it was before the attempts
  for (uint32_t i = 0; i < count && !anchored; i++)
    anchored = anchor_in_memory(f, leaves, count, i);
  if (!anchored)
    anchor_nowhere(f);
  load_others(f, leaves, count);
}

// ---- ops --------------------------------------------------------------------------------------

static net_id *convert(const frame *f, const node_list *nodes, const place_leaf *leaves) {
  lowering *l = f->l;
  net_stage *s = stage_of(l, f->stage);
  net_id *to = l->converted;
  for (size_t i = 0, leaf = 0; i < nodes->count; i++) {
    net_node node = l->pool.nodes.items[nodes->items[i]];
    if (node.kind == NET_ELEMENT) {
      node.value = leaves[leaf].value;
      node.number = leaves[leaf++].element;
      node.map = (net_map){0};
    } else if (node.kind == NET_INDEX) {
      node.map = to_stage(f, &node.map, NULL);
    } else if (node.operand_count) {
      net_id *operands = NEW_ARRAY(l->memory, net_id, node.operand_count);
      for (uint32_t k = 0; k < node.operand_count; k++)
        operands[k] = to[node.operands[k]];
      node.operands = operands;
    }
    to[nodes->items[i]] = net_node_add(l->memory, s, &node);
  }
  return to;
}

static place_leaf *leaves_of(lowering *l, const node_list *nodes, uint32_t *count) {
  place_leaf *leaves = NEW_ARRAY(l->memory, place_leaf, nodes->count + 1);
  *count = 0;
  for (size_t i = 0; i < nodes->count; i++) {
    const net_node *node = &l->pool.nodes.items[nodes->items[i]];
    if (node->kind == NET_ELEMENT)
      leaves[(*count)++] = (place_leaf){.node = nodes->items[i], .holder = node->value};
  }
  return leaves;
}

static net_op new_op(const frame *f, uint32_t outputs) {
  arena *a = f->l->memory;
  net_op op = {.k = (uint32_t)f->k, .output_count = outputs, .origin = f->l->step};
  op.directions = NEW_ARRAY(a, uint64_t, f->k + 1);
  op.coordinates = NEW_ARRAY(a, net_form, f->k + 1);
  op.live = NEW_ARRAY(a, net_form, f->n + 1);
  op.outputs = NEW_ARRAY(a, net_output, outputs + 1);
  memcpy(op.directions, f->directions, (size_t)f->k * sizeof *op.directions);
  memcpy(op.coordinates, f->forms + f->p, (size_t)f->k * sizeof *op.coordinates);
  for (int i = f->p + f->k; i < f->n; i++)
    op.live[op.live_count++] = f->forms[i];
  for (uint32_t i = 0; i < outputs; i++) {
    op.outputs[i].elements = NEW_ARRAY(a, net_id, (size_t)1 << f->k);
    for (size_t j = 0; j < (size_t)1 << f->k; j++)
      op.outputs[i].elements[j] = NET_NONE;
  }
  return op;
}

// The leaf of a value of the frame's stage over the frame's axes, with `bits` pattern bits at `at`.
static net_id leaf_in_frame(const frame *f, scalar_type type, net_id value, uint32_t bits,
                            uint32_t at) {
  lowering *l = f->l;
  net_stage *s = stage_of(l, f->stage);
  net_map of_x = stage_map(l, s);
  net_map m = {0, f->axes.count, (uint32_t)f->n, NEW_ARRAY(l->memory, int64_t, f->axes.count + 1),
               NEW_ARRAY(l->memory, net_row, f->n + 1)};
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
  holder h = {.type = type, .stage = f->stage, .value = value, .padding_start = UINT64_MAX};
  return leaf_of(l, holder_add(l, &h), &m, 0);
}

// Elements that have no place of their own go to an array of their own.
static net_id place_in_memory(const frame *f, uint32_t m, const net_id *nodes, uint32_t at) {
  lowering *l = f->l;
  net_stage *s = stage_of(l, f->stage);
  scalar_type type = s->nodes.items[nodes[0]].type;
  axes whole = f->axes;
  axes_insert(&whole, at, m);
  uint32_t inserted = whole.count - f->axes.count;
  net_map target = map_row_major(l->memory, &whole, 0, 1);
  holder h = {.type = type, .in_memory = true, .padding_start = UINT64_MAX};
  h.array = net_array_add(l->memory, l->net, type, axes_product(&whole, 0, whole.count),
                          NET_TEMPORARY, 0);
  net_op op = new_op(f, m);
  for (uint32_t j = 0; j < m; j++) {
    op.outputs[j].value = net_value_add(l->memory, s, type);
    op.outputs[j].elements[0] = nodes[j];
    net_map fixed = map_fixed(l->memory, &target, &whole, at, inserted, j);
    net_store store = {op.outputs[j].value, h.array, to_stage(f, &fixed, NULL),
                       UINT64_MAX,          0,       NULL};
    store.live = NEW_ARRAY(l->memory, net_form, f->n + 1);
    for (int i = f->p; i < f->n; i++)
      store.live[store.live_count++] = f->forms[i];
    vec_push(l->memory, &s->stores, store);
  }
  vec_push(l->memory, &s->ops, op);
  stage_close(l, f->stage);
  return leaf_of(l, holder_add(l, &h), &target, 0);
}

net_id place(lowering *l, const axes *s, uint32_t m, const net_id *elements, uint32_t at) {
  node_list nodes = reachable(l, m, elements);
  uint32_t leaf_count, bits = 0;
  place_leaf *leaves = leaves_of(l, &nodes, &leaf_count);
  frame f;
  frame_for(l, &f, s, leaves, leaf_count);
  bool copy = m == 1 && l->pool.nodes.items[elements[0]].kind == NET_ELEMENT;
  if (copy && f.k == 0)
    return leaf_in_frame(&f, l->pool.nodes.items[elements[0]].type, leaves[0].value, 0, at);
  net_id *to = convert(&f, &nodes, leaves);
  net_id *placed = NEW_ARRAY(l->memory, net_id, m);
  for (uint32_t j = 0; j < m; j++)
    placed[j] = to[elements[j]];
  while ((uint32_t)1 << bits < m)
    bits++;
  if (m != (uint32_t)1 << bits || (int)bits > f.k)
    return place_in_memory(&f, m, placed, at);
  net_stage *stage = stage_of(l, f.stage);
  net_op op = new_op(&f, 1);
  scalar_type type = stage->nodes.items[placed[0]].type;
  op.outputs[0].value = net_value_add(l->memory, stage, type);
  memcpy(op.outputs[0].elements, placed, m * sizeof *placed);
  vec_push(l->memory, &stage->ops, op);
  return leaf_in_frame(&f, type, op.outputs[0].value, bits, at);
}

static void store_padded(lowering *l, const axes *s, net_id e, net_id array, const net_map *target,
                         uint64_t start) {
  if (l->pool.nodes.items[e].kind != NET_ELEMENT)
    e = place(l, s, 1, &e, s->count);
  place_leaf leaf = {.node = e, .holder = l->pool.nodes.items[e].value};
  const holder *h = &l->holders.items[leaf.holder];
  frame f = {.l = l};
  frame_axes(&f, s);
  // A closed stage still takes stores.
  if (h->in_memory || !anchor_in_stage(&f, h->stage, &leaf, 1))
    frame_for(l, &f, s, &leaf, 1);
  net_store store = {leaf.value, array, to_stage(&f, target, NULL), start, 0, NULL};
  store.live = NEW_ARRAY(l->memory, net_form, f.n + 1);
  for (int i = f.p; i < f.n; i++)
    store.live[store.live_count++] = f.forms[i];
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
  holder h = {.type = l->pool.nodes.items[e].type, .in_memory = true, .padding_start = UINT64_MAX};
  h.array = net_array_add(l->memory, l->net, h.type, count, NET_TEMPORARY, 0);
  store_padded(l, s, e, h.array, &target, count < whole ? count : UINT64_MAX);
  return leaf_of(l, holder_add(l, &h), &target, 0);
}

net_id store_row_major(lowering *l, const axes *s, net_id e) {
  return store_prefix(l, s, e, axes_product(s, 0, s->count));
}

net_id store_row_major_once(lowering *l, const axes *s, net_id e) {
  const net_node *node = &l->pool.nodes.items[e];
  net_map whole = map_row_major(l->memory, s, 0, 1);
  int64_t stride = 1;
  if (node->kind == NET_ELEMENT) {
    const holder *h = &l->holders.items[node->value];
    if (h->in_memory && h->padding_start == UINT64_MAX && !node->map.offset &&
        l->net->arrays.items[h->array].count == axes_product(s, 0, s->count) &&
        node->map.row_count == whole.row_count && map_plain(&node->map, s, 0, s->count, &stride) &&
        stride == 1)
      return e;
  }
  return store_row_major(l, s, e);
}
