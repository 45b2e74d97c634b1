// A pass from its tile: loads and stores, slots, blocks, and the arrays between passes. See plan.h.
#include "fusion/plan/planning.h"

// ---- slots ------------------------------------------------------------------------------------

// Preferably a slot that then has room for no more; else the last one that is free.
static uint32_t claim_slot(arena *a, slots *s, uint32_t bytes, f2_space live) {
  size_t i = s->bytes.count;
  bool holds = false;
  for (size_t k = 0; k < s->bytes.count && !holds; k++)
    if (!s->taken.items[k] && s->bytes.items[k] == bytes) {
      holds = live_within(live, s->live.items[k]);
      i = k;
    }
  if (i == s->bytes.count) {
    vec_push(a, &s->bytes, bytes);
    vec_push(a, &s->taken, true);
    vec_push(a, &s->live, live);
  }
  s->live.items[i] = live_hull(s->live.items[i], live);
  s->taken.items[i] = true;
  return (uint32_t)i;
}

void assign_slots(const planning *p, uint32_t first, uint32_t end, const bool *loaded,
                  const bool *stored, uint32_t *slot_of, slots *all) {
  const net_stage *s = p->stage;
  uint32_t *last = NEW_ARRAY(p->memory, uint32_t, s->values.count + 1);  // of these ops
  for (uint32_t i = first; i < end; i++)
    for (uint32_t k = 0; k < p->uses.reads[i].count; k++)
      last[p->uses.reads[i].values[k]] = i;
  for (net_id v = 0; v < s->values.count; v++) {
    slot_of[v] = NET_NONE;
    if (loaded[v] && !p->direct[v])
      slot_of[v] = claim_slot(p->memory, all, width_of(s, v), plan_live_of_value(p, v));
  }
  for (uint32_t i = first; i < end; i++) {
    const net_op *op = &s->ops.items[i];
    const net_reads *r = &p->uses.reads[i];
    for (uint32_t k = 0; k < r->count; k++)
      if (loaded[r->values[k]] && p->direct[r->values[k]])
        slot_of[r->values[k]] = claim_slot(p->memory, all, width_of(s, r->values[k]),
                                           plan_live_of_value(p, r->values[k]));
    for (uint32_t k = 0; k < r->count; k++)
      if (last[r->values[k]] == i && !stored[r->values[k]])
        all->taken.items[slot_of[r->values[k]]] = false;
    for (int unread = 0; unread < 2; unread++)  // what is read again first: over what the op reads
      for (uint32_t o = 0; o < op->output_count; o++)
        if ((p->uses.values[op->outputs[o].value].first == NET_NONE) == unread)
          slot_of[op->outputs[o].value] =
              claim_slot(p->memory, all, width_of(s, op->outputs[o].value),
                         live_of_output(s, op, &op->outputs[o]));
    for (uint32_t o = 0; o < op->output_count; o++) {
      net_id v = op->outputs[o].value;
      if (p->uses.values[v].first == NET_NONE && !stored[v])
        all->taken.items[slot_of[v]] = false;
    }
  }
}

bool plan_access_next(const plan_pass *pass, plan_access *at) {
  uint32_t i = at->next, moves = pass->load_count + pass->store_count;
  if (i == moves + pass->access_count)
    return false;
  const plan_move *m = i < moves ? plan_move_at(pass, i) : NULL;
  *at = m ? (plan_access){m->array, i >= pass->load_count, m, 0} : pass->accesses[i - moves];
  at->next = i + 1;
  return true;
}

bool plan_pass_touches(const plan_pass *pass, net_id array) {
  for (plan_access at = {0}; plan_access_next(pass, &at);)
    if (at.array == array)
      return true;
  return false;
}

net_id *plan_pass_arrays(arena *a, const plan_pass *pass, uint32_t *count) {
  net_id *arrays =
      NEW_ARRAY(a, net_id, pass->load_count + pass->store_count + pass->access_count + 1);
  *count = 0;
  for (plan_access at = {0}; plan_access_next(pass, &at);) {
    uint32_t k = 0;
    while (k < *count && arrays[k] != at.array)
      k++;
    arrays[k] = at.array;
    *count += k == *count;
  }
  return arrays;
}

const plan_move *plan_find_move(const plan_move *moves, uint32_t count, net_id array) {
  for (uint32_t i = 0; i < count; i++)
    if (moves[i].array == array)
      return &moves[i];
  return NULL;
}

// ---- array layouts: those between passes --------------------------------------------------------

// Whether the lines of a layout (address = M x) lie in both tiles.
static bool array_layout_suits(f2_matrix layout, int t, f2_space a, f2_space b) {
  f2_matrix inverse;
  bool good = f2_inverse(layout, &inverse);
  for (int i = 0; i < t && good; i++) {
    uint64_t x = f2_column(inverse, i);
    good = f2_space_has(a, x) && f2_space_has(b, x);
  }
  return good;
}

// A layout for what a pass with tile a writes and a pass with tile b reads: all that the tiles
// share in the lowest address bits, as far as it may move, then other vectors that may, then unit
// vectors. The index itself, if it is such a layout, or if they share less than the `lines`
// dimensions of a line.
static f2_matrix find_array_layout(const planning *p, f2_space a, f2_space b, int lines) {
  int n = p->stage->n, straight = 0;
  f2_matrix layout;
  f2_space low = f2_space_units(n, f2_mask(p->movable));
  f2_space both = f2_space_intersection(f2_space_intersection(a, b), low);
  while (straight < both.dimension && f2_space_has(both, f2_unit(straight)))
    straight++;
  if (straight == both.dimension || both.dimension < lines)
    return f2_identity(n);
  f2_space rest = f2_space_complement(both, low);
  uint64_t columns[F2_MAX];
  int count = 0;
  for (int i = 0; i < both.dimension; i++)
    columns[count++] = both.basis[i];
  for (int i = 0; i < rest.dimension; i++)
    columns[count++] = rest.basis[i];
  while (count < n) {
    columns[count] = f2_unit(count);
    count++;
  }
  ensure(f2_inverse(f2_from_columns(n, n, columns), &layout));
  return layout;
}

// Where the padding begins in a layout that moves the lowest bits of the index: the other bits are
// the same in index and address, so a whole number of 2^movable elements goes before it.
static uint64_t array_layout_padding_start(const planning *p, f2_matrix layout) {
  uint64_t start = p->padding.start, unit = f2_unit(p->movable);
  return f2_equal(layout, f2_identity(p->stage->n)) ? start : (start + unit - 1) / unit * unit;
}

// The layout of an array that holds live elements only: of a layout's rows those that tell them
// apart, the lowest first.
//
//   n = 4, address = x, live where x0 = x1 = 0: address = x2 + 2 x3, a quarter of the elements
//
// The rows that number shares stay the highest: what each share has of the array is together.
static f2_matrix live_layout(f2_matrix layout, f2_space live, int shares) {
  f2_matrix rows = f2_zero(0, layout.columns);
  f2_space known = f2_space_zero(layout.columns);
  int share = layout.rows - shares;
  for (int i = 0; i < live.dimension; i++)
    f2_space_insert(&known, live_form(live.basis[i]).mask);
  for (int i = share; i < layout.rows; i++)
    f2_space_insert(&known, layout.row[i]);
  for (int i = 0; i < layout.rows; i++)
    if (i >= share || f2_space_insert(&known, layout.row[i]))
      rows.row[rows.rows++] = layout.row[i];
  return rows;
}

// A value that lives on after its pass: how later passes load it, from the array that holds it.
typedef struct spill {
  plan_move move;  // its array is NET_NONE where there is none
  f2_matrix layout;
} spill;

// ---- building passes --------------------------------------------------------------------------

typedef struct building {
  const planning *p;
  const pass_tiles *tiles;
  spill *spills;  // by value
  stage_passes made;
} building;

static uint32_t pass_of_op(const pass_tiles *t, uint32_t op) {
  for (uint32_t i = 0; i < t->count; i++)
    if (op < t->runs[i].end)
      return i;
  return t->count - 1;
}

// The pass that makes a value available: of a load that is never read, the first.
static uint32_t pass_of_value(const building *b, net_id v) {
  const net_value_uses *u = &b->p->uses.values[v];
  uint32_t op = u->maker != NET_NONE ? u->maker : u->first;
  return op == NET_NONE ? 0 : pass_of_op(b->tiles, op);
}

// Adds a load or store of value v.
typedef VEC(plan_move) move_list;
static void add_move(const planning *p, move_list *moves, f2_space tile, net_id v, plan_move m) {
  m.value = v;
  m.coalesced =
      !missing_dimensions(tile, &m.map, p->plan->target->line_bytes, width_of(p->stage, v));
  vec_push(p->memory, moves, m);
}

// What the pass's ops read and did not make, and what is stored as it was loaded. Direct loads come
// last.
static void add_loads(building *b, uint32_t number, plan_pass *pass, bool *loaded) {
  const planning *p = b->p;
  const net_stage *s = p->stage;
  const run *r = &b->tiles->runs[number];
  for (uint32_t i = r->first; i < r->end; i++)
    for (uint32_t k = 0; k < p->uses.reads[i].count; k++) {
      net_id v = p->uses.reads[i].values[k];
      loaded[v] |= p->uses.values[v].maker == NET_NONE || p->uses.values[v].maker < r->first;
    }
  for (size_t i = 0; i < s->stores.count; i++) {
    net_id v = s->stores.items[i].value;
    if (p->uses.values[v].maker == NET_NONE && pass_of_value(b, v) == number)
      loaded[v] = true;
  }
  move_list loads = {0};
  for (int direct = 0; direct < 2; direct++) {
    for (size_t i = 0; i < s->loads.count; i++) {
      const net_load *l = &s->loads.items[i];
      if (loaded[l->value] && b->spills[l->value].move.array == NET_NONE &&
          p->direct[l->value] == direct)
        add_move(p, &loads, r->space, l->value,
                 (plan_move){.array = l->array,
                             .map = l->map,
                             .padding_start = l->padding_start,
                             .padding_value = l->padding_value,
                             .direct = direct ? p->uses.values[l->value].first - r->first + 1 : 0});
    }
    for (net_id v = 0; v < s->values.count && !direct; v++)
      if (loaded[v] && b->spills[v].move.array != NET_NONE)
        add_move(p, &loads, r->space, v, b->spills[v].move);
  }
  pass->loads = loads.items;
  pass->load_count = (uint32_t)loads.count;
}

// The next pass after `number` that reads the value.
static uint32_t next_reader(const building *b, uint32_t number, net_id v) {
  const planning *p = b->p;
  for (uint32_t i = b->tiles->runs[number].end; i < p->stage->ops.count; i++)
    for (uint32_t k = 0; k < p->uses.reads[i].count; k++)
      if (p->uses.reads[i].values[k] == v)
        return pass_of_op(b->tiles, i);
  return number + 1;
}

// Where a value may be stored over what this pass loaded in the same layout and nobody reads again;
// NULL: nowhere.
static const spill *find_overwritten(const building *b, uint32_t number, uint32_t reader,
                                     const plan_pass *pass, const move_list *stores, net_id v) {
  const planning *p = b->p;
  const run *from = &b->tiles->runs[number], *to = &b->tiles->runs[reader];
  for (uint32_t i = 0; i < pass->load_count; i++) {
    net_id u = pass->loads[i].value;
    const spill *o = &b->spills[u];
    bool good = o->move.array != NET_NONE && width_of(p->stage, u) == width_of(p->stage, v) &&
                p->uses.values[u].last < from->end && !o->move.live_count &&
                array_layout_suits(o->layout, p->t, from->space, to->space);
    if (good && !plan_find_move(stores->items, (uint32_t)stores->count, o->move.array))
      return o;
  }
  return NULL;
}

// Stores a value for the later passes that read it, if need be in a new array.
static void spill_value(building *b, uint32_t number, const plan_pass *pass, move_list *stores,
                        net_id v) {
  const planning *p = b->p;
  const net_stage *s = p->stage;
  bool free = p->padding_kind == PADDING_FREE;  // what is spilled ends where its padding begins
  uint32_t reader = next_reader(b, number, v);
  f2_space from = b->tiles->runs[number].space, to = b->tiles->runs[reader].space;
  f2_space live = plan_live_of_value(p, v);
  const spill *over = live.dimension ? NULL : find_overwritten(b, number, reader, pass, stores, v);
  spill *k = &b->spills[v];
  k->layout = over ? over->layout : find_array_layout(p, from, to, plan_line_bits_of_value(p, v));
  if (!free)
    k->layout = live_layout(k->layout, live, s->shares);
  k->move.map = net_stage_map(p->memory, s, (f2_affine){k->layout, 0});
  k->move.padding_start = free ? array_layout_padding_start(p, k->layout) : UINT64_MAX;
  k->move.padding_value = free ? p->padding.values[v] : (scalar_bits){{0}};
  k->move.live = live_forms(p->memory, live, &k->move.live_count);
  k->move.array = over ? over->move.array : (net_id)(p->plan->arrays.count + b->made.arrays.count);
  uint64_t count = f2_unit(k->layout.rows);
  for (uint32_t i = 0; i < s->loop_count; i++)
    count *= net_loop_indices_end(s, i);
  net_array array = {.type = s->values.items[v],
                     .count = free ? k->move.padding_start : count,
                     .role = NET_TEMPORARY};
  if (!over)
    vec_push(p->memory, &b->made.arrays, array);
  add_move(p, stores, from, v, k->move);
}

static void add_stores(building *b, uint32_t number, plan_pass *pass, bool *stored) {
  const planning *p = b->p;
  const net_stage *s = p->stage;
  const run *r = &b->tiles->runs[number];
  move_list stores = {0};
  for (size_t i = 0; i < s->stores.count; i++) {
    const net_store *o = &s->stores.items[i];
    if (pass_of_value(b, o->value) != number)
      continue;
    stored[o->value] = true;
    add_move(p, &stores, r->space, o->value,
             (plan_move){.array = o->array,
                         .map = o->map,
                         .padding_start = o->padding_start,
                         .live_count = o->live_count,
                         .live = o->live});
  }
  for (net_id v = 0; v < s->values.count; v++) {
    const net_value_uses *u = &p->uses.values[v];
    if (u->maker == NET_NONE || u->maker < r->first || u->maker >= r->end || u->last == NET_NONE ||
        u->last < r->end)
      continue;
    stored[v] = true;
    spill_value(b, number, pass, &stores, v);
  }
  pass->stores = stores.items;
  pass->store_count = (uint32_t)stores.count;
}

void plan_add_access(plan_pass *pass, net_id array, bool writes) {
  for (uint32_t i = 0; i < pass->access_count; i++)
    if (pass->accesses[i].array == array && pass->accesses[i].writes == writes)
      return;
  pass->accesses[pass->access_count++] = (plan_access){.array = array, .writes = writes};
}

void plan_find_accesses(arena *a, const net_stage *s, plan_pass *pass) {
  uint32_t most = 0;
  for (net_access at = {0}; net_access_next(s, &at);)
    most += at.by == NET_BY_NODE || at.by == NET_BY_ROUTINE;
  pass->accesses = NEW_ARRAY(a, plan_access, most + 1);
  for (net_access at = {0}; s->routine && net_access_next(s, &at);)
    plan_add_access(pass, at.array, at.writes);
  for (uint32_t i = 0; i < pass->op_count && most; i++)
    for (uint32_t k = net_op_nodes(s, &s->ops.items[pass->ops[i]], s->walk); k-- > 0;) {
      const net_node *node = &s->nodes.items[s->walk[k]];
      if (net_node_has_array(node->kind))
        plan_add_access(pass, (net_id)node->number, net_node_scatters(node->kind));
    }
}

static void add_blocks(plan_pass *pass, uint32_t *count, f2_space from, f2_space *held) {
  take_vectors(pass->blocks, count, F2_MAX, from.dimension, from.basis, held);
}

// A complement of the tile in a share for a pass that only moves: blocks one after the other write
// lines one after the other (on a GPU a few per cent faster than if they read so).
static uint32_t blocks_by_lines(const planning *p, plan_pass *pass) {
  f2_space held = pass->tile;
  uint32_t count = 0;
  for (int i = 0; i < 31 && i < p->stage->n; i++)
    add_blocks(pass, &count, lines_in_share(p, &pass->stores[0].map, UINT32_C(2) << i), &held);
  add_blocks(pass, &count, p->share, &held);
  return count;
}

// A complement of the tile in a share, inside the kernels of the ops' coordinates as far as
// possible.
static uint32_t blocks_in_kernel(const planning *p, plan_pass *pass, f2_space kernel) {
  f2_space held = pass->tile, own = f2_space_intersection(kernel, p->share);
  uint32_t count = 0;
  add_blocks(pass, &count, f2_space_complement(held, own), &held);
  add_blocks(pass, &count, f2_space_complement(held, p->share), &held);
  return count;
}

// The vectors along which blocks stay where something is alive come first.
static void put_live_blocks_first(const planning *p, plan_pass *pass, uint32_t count) {
  uint32_t next = 0;
  uint64_t *sorted = NEW_ARRAY(p->memory, uint64_t, count + 1);
  f2_space alive = live_directions(live_set(p->stage->n, pass->live_count, pass->live));
  for (int dead = 0; dead < 2; dead++)
    for (uint32_t i = 0; i < count; i++)
      if (f2_space_has(alive, pass->blocks[i]) != dead)
        sorted[next++] = pass->blocks[i];
  memcpy(pass->blocks, sorted, count * sizeof *sorted);
}

// The vector that leads from share to share along bit i of their number; inside the kernel, if one
// is.
static uint64_t share_block(const planning *p, f2_space kernel, int i) {
  uint64_t bit = f2_unit(net_share_bits(p->stage) + i);
  f2_space wider = p->share;
  f2_space_insert(&wider, bit);
  f2_space beyond = f2_space_complement(p->share, f2_space_intersection(kernel, wider));
  return beyond.dimension ? beyond.basis[0] : bit;
}

// A basis of a complement of the tile: first in a share, then from share to share.
static void find_block_basis(const planning *p, plan_pass *pass) {
  const net_stage *s = p->stage;
  f2_space kernel = f2_space_orthogonal(coordinate_forms(s, pass, 0, pass->op_count));
  bool moves = pass->op_count == 0 && pass->store_count && p->target->lane_bytes == 0;
  pass->blocks = NEW_ARRAY(p->memory, uint64_t, s->n - pass->tile.dimension + 1);
  uint32_t count =
      moves && !p->strategy->plain ? blocks_by_lines(p, pass) : blocks_in_kernel(p, pass, kernel);
  put_live_blocks_first(p, pass, count);
  for (int i = 0; i < s->shares; i++)
    pass->blocks[count++] = share_block(p, kernel, i);
}

// Blocks in which all that the pass stores is dead.
static void find_pass_live(const planning *p, plan_pass *pass) {
  pass->live = NEW_ARRAY(p->memory, net_form, p->stage->n + 1);
  bool scatters = false;
  for (uint32_t i = 0; i < pass->access_count; i++)
    scatters |= pass->accesses[i].writes;
  if (!pass->store_count || scatters)
    return;
  for (uint32_t i = 0; i < pass->stores[0].live_count; i++) {
    net_form f = pass->stores[0].live[i];
    bool common = vanishes_on(f.mask, (uint32_t)pass->tile.dimension, pass->tile.basis);
    for (uint32_t o = 1; o < pass->store_count; o++) {
      bool found = false;
      for (uint32_t k = 0; k < pass->stores[o].live_count; k++)
        found |= pass->stores[o].live[k].mask == f.mask &&
                 pass->stores[o].live[k].constant == f.constant;
      common &= found;
    }
    if (common && pass->live_count < (uint32_t)p->stage->n)
      pass->live[pass->live_count++] = f;
  }
}

// Whether the indices from `start` on are those whose addresses are: the map permutes the lowest j
// bits only, and a whole number of 2^j elements lies before `start`.
static bool keeps_padding(const net_map *m, int n, uint64_t start) {
  f2_affine bits;
  int j = n;
  if (!net_map_bits(m, n, n, &bits) || bits.c)
    return false;
  while (j > 0 && bits.a.row[j - 1] == f2_unit(j - 1))
    j--;
  for (int i = 0; i < j; i++)
    if (bits.a.row[i] & ~f2_mask(j))
      return false;
  return (start & f2_mask(j)) == 0;
}

// The index from which on all is padding and a pass stores nothing. (It may store less: `take`.)
static void find_padding_start(const planning *p, plan_pass *pass) {
  bool free = pass->store_count && p->padding_kind == PADDING_FREE;
  uint64_t start = free ? p->padding.start : UINT64_MAX;
  for (uint32_t i = 0; i < pass->store_count && start != UINT64_MAX; i++) {
    const plan_move *m = &pass->stores[i];
    if (!keeps_padding(&m->map, p->stage->n, m->padding_start))
      start = UINT64_MAX;
    else if (m->padding_start > start)
      start = m->padding_start;
  }
  pass->padding_start = start;
}

// Longer lines: vectors that step on from the lines of what is loaded and stored, in turn.
static void lengthen_lines(const planning *p, run *r, bool loads, bool stores, int most) {
  const net_stage *s = p->stage;
  for (int i = 0; i < s->n && i < 31; i++)
    for (size_t m = 0; m < s->loads.count + s->stores.count; m++) {
      bool load = m < s->loads.count;
      if (load && p->direct[s->loads.items[m].value])
        continue;
      const net_map *map = load ? &s->loads.items[m].map : &s->stores.items[m - s->loads.count].map;
      f2_space line = lines_in_share(p, map, UINT32_C(2) << i);
      for (int k = 0; k < line.dimension && (load ? loads : stores); k++)
        if (r->space.dimension < most)
          f2_space_insert(&r->space, line.basis[k]);
    }
}

// Of the run's ops, the dimensions that matter least: one element in 2^... of the stage's.
static int most_dead(const planning *p, const run *r) {
  uint32_t most = 0;
  for (uint32_t i = r->first; i < r->end; i++)
    most = p->stage->ops.items[i].live_count > most ? p->stage->ops.items[i].live_count : most;
  return (int)most;
}

// A tile at least as large as what a thread holds, so that a block is worth its addresses and all
// lanes have something to do: with unit vectors, the lowest first. Larger where ops matter in few
// places, and where lanes are threads and nothing is to be computed, for long lines.
static void widen_tile(const planning *p, const pass_tiles *tiles, uint32_t number) {
  enum {
    ENOUGH = 10,
    ENOUGH_WHERE_FEW = 13,
    ENOUGH_FOR_WARPS = 11,
    LONG_LINES = 13,
    LONG_LINE_BYTES = 1 << 15
  };
  run *r = &tiles->runs[number];
  bool warps = p->target->lane_bytes == 0;
  int lines = log2_floor(LONG_LINE_BYTES / (p->moved_bytes ? p->moved_bytes : 1));
  int enough = !warps ? smaller_of(ENOUGH + most_dead(p, r), ENOUGH_WHERE_FEW)
               : net_stage_has(p->stage, NET_GATHER) ? PLAN_GATHERED_BITS
               : p->stage->ops.count                 ? ENOUGH_FOR_WARPS
               : lines > LONG_LINES                  ? lines
                                                     : LONG_LINES;
  int room = plan_room(p, r), most = room < enough ? room : enough;
  if (warps)
    lengthen_lines(p, r, number == 0, number + 1 == tiles->count, most);
  for (int i = 0; i < p->stage->n && r->space.dimension < most; i++)
    f2_space_insert(&r->space, f2_unit(i));
}

static void build_pass(building *b, uint32_t number) {
  const planning *p = b->p;
  const net_stage *s = p->stage;
  const run *r = &b->tiles->runs[number];
  size_t values = s->values.count + 1;
  bool *loaded = NEW_ARRAY(p->memory, bool, values), *stored = NEW_ARRAY(p->memory, bool, values);
  plan_pass pass = {.stage = p->stage_number, .tile = r->space, .op_count = r->end - r->first};
  pass.ops = NEW_ARRAY(p->memory, uint32_t, pass.op_count + 1);
  for (uint32_t i = 0; i < pass.op_count; i++)
    pass.ops[i] = r->first + i;
  plan_find_accesses(p->memory, s, &pass);
  add_loads(b, number, &pass, loaded);
  add_stores(b, number, &pass, stored);
  // A value that later passes load again may not be overwritten in its slot for good: slots are per
  // pass, so only what this pass stores keeps its slot.
  pass.slot_of = NEW_ARRAY(p->memory, uint32_t, values);
  slots all = {0};
  assign_slots(p, r->first, r->end, loaded, stored, pass.slot_of, &all);
  pass.slot_count = (uint32_t)all.bytes.count;
  pass.slot_bytes = all.bytes.items;
  for (uint32_t i = 0; i < pass.load_count; i++)
    pass.loads[i].slot = pass.slot_of[pass.loads[i].value];
  for (uint32_t i = 0; i < pass.store_count; i++)
    pass.stores[i].slot = pass.slot_of[pass.stores[i].value];
  find_pass_live(p, &pass);
  find_padding_start(p, &pass);
  find_block_basis(p, &pass);
  if (p->target->lane_bytes)
    plan_phases(p, &pass);
  else
    plan_warps(p, &pass);
  pass.seconds = pass_seconds(p->plan, &pass);
  b->made.seconds += pass.seconds;
  if (b->made.largest_tile < pass.tile.dimension)
    b->made.largest_tile = pass.tile.dimension;
  vec_push(p->memory, &b->made.passes, pass);
}

stage_passes build_passes(const planning *p, const pass_tiles *tiles) {
  building b = {.p = p, .tiles = tiles};
  b.spills = NEW_ARRAY(p->memory, spill, p->stage->values.count + 1);
  for (net_id v = 0; v < p->stage->values.count; v++)
    b.spills[v].move.array = NET_NONE;
  for (uint32_t i = 0; i < tiles->count && !p->strategy->plain && p->alone == NET_NONE; i++)
    widen_tile(p, tiles, i);
  for (uint32_t i = 0; i < tiles->count; i++)
    build_pass(&b, i);
  return b.made;
}
