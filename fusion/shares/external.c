// The steps by which files are worked on, from plans for a target one level further out. See
// external.h.
#include "core/units.h"
#include "fusion/plan/plan.h"
#include "fusion/shares/making.h"

#include <inttypes.h>

static const char NEEDS_MORE[] = "a part of it needs more at one time";

// ---- a pass as a step ---------------------------------------------------------------------------

// The tile with index bits besides, the lowest first, as many as memory has room for.
static f2_space widened_tile(const making *m, const plan_pass *pass, int n) {
  f2_space tile = pass->tile;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < pass->slot_count; i++)
    bytes += pass->slot_bytes[i];
  for (int i = 0; i < n; i++)
    if (bytes << (tile.dimension + 1) <= m->target->tile_bytes)
      f2_space_insert(&tile, f2_unit(i));
  return tile;
}

// The value that a slot holds before, or after, the pass's ops.
static net_id value_in_slot(arena *a, const net_stage *s, const plan_pass *pass, uint32_t slot,
                            bool after) {
  net_id found = NET_NONE;
  bool *made = NEW_ARRAY(a, bool, s->values.count + 1);
  for (uint32_t i = 0; i < pass->op_count; i++) {
    const net_op *op = &s->ops.items[pass->ops[i]];
    for (uint32_t o = 0; o < op->output_count; o++) {
      net_id v = op->outputs[o].value;
      made[v] = true;
      found = after && pass->slot_of[v] == slot ? v : found;
    }
  }
  for (net_id v = 0; found == NET_NONE && v < s->values.count; v++)
    found = !made[v] && pass->slot_of[v] == slot ? v : NET_NONE;
  return found;
}

static net_id number_of(making *m, net_stage *to, const net_stage *from, net_id *numbers,
                        net_id v) {
  if (numbers[v] == NET_NONE)
    numbers[v] = net_value_add(m->memory, to, from->values.items[v]);
  return numbers[v];
}

static net_id add_file(making *m, const net_array *like) {
  vec_push(m->memory, &m->out->arrays, *like);
  m->out->arrays.items[m->out->arrays.count - 1].role = NET_TEMPORARY;
  return (net_id)m->out->arrays.count - 1;
}

// Another file for each array that the pass loads, too, so that what has been read is still there
// when a run begins again after the half of a step; or that has had values of another type.
static void renew_stored(making *m, const plan *p, const plan_pass *pass) {
  const net_stage *s = &p->net->stages.items[pass->stage];
  for (uint32_t i = 0; i < pass->store_count; i++) {
    net_id array = pass->stores[i].array;
    net_array like = p->arrays.items[array];
    like.type = s->values.items[value_in_slot(m->memory, s, pass, pass->stores[i].slot, true)];
    bool other = like.type != m->out->arrays.items[m->arrays[array]].type;
    for (uint32_t k = 0; k < pass->load_count; k++)
      other = other || pass->loads[k].array == array;
    if (other)
      m->arrays[array] = add_file(m, &like);
  }
}

// A value between passes, only where it has elements.
static void store_where_made(arena *a, const net_stage *s, net_store *o) {
  f2_space live = live_of_value(s, o->value);
  for (uint32_t i = 0; i < o->live_count; i++)
    live = live_and(live, o->live[i]);
  o->live = live_forms(a, live, &o->live_count);
}

// The pass's ops as a stage, with its loads and stores: of the plan's stage, index and arrays.
static net_stage stage_of_pass(making *m, const plan *p, const plan_pass *pass) {
  const net_stage *from = &p->net->stages.items[pass->stage];
  net_id *numbers = NEW_ARRAY(m->memory, net_id, from->values.count + 1);
  bool *kept = NEW_ARRAY(m->memory, bool, from->values.count + 1);
  for (uint32_t i = 0; i < pass->store_count; i++)
    if (pass->stores[i].array >= m->from->arrays.count)
      kept[value_in_slot(m->memory, from, pass, pass->stores[i].slot, true)] = true;
  net_stage to = sharing_stage_of_ops(m->memory, from, pass->ops, pass->op_count, kept, numbers);
  for (uint32_t i = 0; i < pass->load_count; i++) {
    const plan_move *l = &pass->loads[i];
    net_id v = value_in_slot(m->memory, from, pass, l->slot, false);
    net_load load = {number_of(m, &to, from, numbers, v), m->arrays[l->array], l->map,
                     l->padding_start, l->padding_value};
    vec_push(m->memory, &to.loads, load);
  }
  renew_stored(m, p, pass);
  for (uint32_t i = 0; i < pass->store_count; i++) {
    const plan_move *o = &pass->stores[i];
    net_id v = value_in_slot(m->memory, from, pass, o->slot, true);
    net_store store = {number_of(m, &to, from, numbers, v),
                       m->arrays[o->array],
                       o->map,
                       o->padding_start,
                       o->live_count,
                       o->live};
    if (o->array >= m->from->arrays.count)
      store_where_made(m->memory, &to, &store);
    vec_push(m->memory, &to.stores, store);
  }
  for (size_t i = 0; i < to.nodes.count; i++)
    if (net_node_has_array(to.nodes.items[i].kind))
      to.nodes.items[i].number = m->arrays[to.nodes.items[i].number];
  return to;
}

static void add_routine(making *m, const net_routine *of) {
  net_routine *r = NEW(m->memory, net_routine);
  *r = *of;
  r->pairs = NEW_ARRAY(m->memory, net_routine_pair, r->pair_count + 1);
  for (uint32_t i = 0; i < r->pair_count; i++) {
    r->pairs[i] = of->pairs[i];
    r->pairs[i].from = of->pairs[i].from == NET_NONE ? NET_NONE : m->arrays[of->pairs[i].from];
    r->pairs[i].to = of->pairs[i].to == NET_NONE ? NET_NONE : m->arrays[of->pairs[i].to];
  }
  if (r->ragged)
    r->offsets = m->arrays[of->offsets];
  external_step step = {.routine = r, .shares = 1};
  vec_push(m->memory, &m->out->steps, step);
}

// The stage with stores first, ..., end - 1 alone, and what these need.
static net_stage stage_of_stores(making *m, const net_stage *of, size_t first, size_t end) {
  size_t values = of->values.count + 1;
  net_id *numbers = NEW_ARRAY(m->memory, net_id, values),
         *reads = NEW_ARRAY(m->memory, net_id, values);
  bool *needed = NEW_ARRAY(m->memory, bool, values), *kept = NEW_ARRAY(m->memory, bool, values);
  uint32_t count = (uint32_t)of->ops.count, last = count;
  uint32_t *ops = NEW_ARRAY(m->memory, uint32_t, count + 1);
  for (size_t i = first; i < end; i++)
    needed[of->stores.items[i].value] = true;
  while (count-- > 0) {
    const net_op *op = &of->ops.items[count];
    bool wanted = false;
    for (uint32_t k = 0; k < op->output_count; k++)
      wanted = wanted || needed[op->outputs[k].value];
    for (uint32_t k = wanted ? net_op_reads(of, op, reads) : 0; k-- > 0;)
      needed[reads[k]] = true;
    if (wanted)
      ops[--last] = count;
  }
  net_stage to = sharing_stage_of_ops(m->memory, of, ops + last, (uint32_t)of->ops.count - last,
                                      kept, numbers);
  for (size_t i = 0; i < of->loads.count; i++) {
    net_load load = of->loads.items[i];
    if (!needed[load.value])
      continue;
    load.value = number_of(m, &to, of, numbers, load.value);
    vec_push(m->memory, &to.loads, load);
  }
  for (size_t i = first; i < end; i++) {
    net_store store = of->stores.items[i];
    store.value = number_of(m, &to, of, numbers, store.value);
    vec_push(m->memory, &to.stores, store);
  }
  return to;
}

static void add_stages(making *m, size_t first, size_t end);

// Steps of a stage whose arrays are files.
static void add_stage_of_files(making *m, const net_stage *s) {
  net *part = NEW(m->memory, net);
  making inner = *m;
  part->externs.items = m->from->externs.items;
  part->externs.count = m->from->externs.count;
  for (size_t a = 0; a < m->out->arrays.count; a++)
    vec_push(m->memory, &part->arrays, m->out->arrays.items[a]);
  vec_push(m->memory, &part->stages, *s);
  inner.from = part;
  add_stages(&inner, 0, 1);
  m->wide = m->wide || inner.wide;
  m->wrong = inner.wrong;
}

// It as two, each with some of the stores: tiles that hold the lines of fewer are smaller.
static void add_halves(making *m, const net_stage *s) {
  size_t half = s->stores.count / 2;
  for (int i = 0; i < 2 && !m->wrong; i++) {
    net_stage part = stage_of_stores(m, s, i ? half : 0, i ? s->stores.count : half);
    add_stage_of_files(m, &part);
  }
}

// Whether the tile is larger than those of the target, as it holds whole lines.
static bool is_wide(const making *m, const plan_pass *pass) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < pass->slot_count; i++)
    bytes += pass->slot_bytes[i];
  return bytes << pass->tile.dimension > m->target->tile_bytes;
}

// The map where an index bit is what the form needs to be 0.
static net_map map_where_fixed(arena *a, const net_map *m, net_form bit) {
  net_map to = net_map_copy(a, m);
  for (uint32_t r = 0; r < to.row_count; r++)
    if (to.rows[r].form.mask & bit.mask) {
      to.rows[r].form.mask ^= bit.mask;
      to.rows[r].form.constant ^= bit.constant;
    }
  return to;
}

// A step from a file to another one. Bits of the index that are fixed where the store is live are
// in no map: the loop over them has nothing to do.
static void add_copying(making *m, const net_stage *space, net_load load, net_store store) {
  net_stage copy = {.loop_count = space->loop_count, .extents = space->extents, .n = space->n};
  scalar_type type = m->out->arrays.items[load.array].type;
  net_form *live = NEW_ARRAY(m->memory, net_form, store.live_count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < store.live_count; i++) {
    net_form f = store.live[i];
    if (f2_weight(f.mask) != 1) {
      live[count++] = f;
      continue;
    }
    load.map = map_where_fixed(m->memory, &load.map, f);
    store.map = map_where_fixed(m->memory, &store.map, f);
  }
  store.live = live;
  store.live_count = count;
  load.value = store.value = net_value_add(m->memory, &copy, type);
  vec_push(m->memory, &copy.loads, load);
  vec_push(m->memory, &copy.stores, store);
  if (!making_add_blocks(m, &copy))
    m->wrong = NEEDS_MORE;
}

// Another file, for an element at each index, and the map of these.
static net_id add_file_in_order(making *m, const net_stage *space, net_id like, net_map *map) {
  net_array file = m->out->arrays.items[like];
  file.count = net_stage_elements(space);
  *map = net_stage_map(m->memory, space, f2_affine_identity(space->n));
  return add_file(m, &file);
}

// What the load reads, in the order of the index: a file of its own, and a step that makes it.
static void add_copy(making *m, const net_stage *space, net_load *l) {
  net_store store = {.padding_start = UINT64_MAX};
  net_load from = *l;
  store.array = l->array = add_file_in_order(m, space, l->array, &l->map);
  store.map = l->map;
  l->padding_start = UINT64_MAX;
  add_copying(m, space, from, store);
}

// Copies of all that the stage, whose shares are those of `shared`, does not read by index bits: a
// share would have a window of them that is nearly all.
static void add_copies(making *m, net_stage *stage, const net_stage *shared) {
  for (size_t i = 0; i < stage->loads.count; i++) {
    external_move by_bits;
    net_load *l = &stage->loads.items[i];
    if (m->out->arrays.items[l->array].role != NET_TABLE &&
        !making_move_by_bits(m->memory, shared, &shared->loads.items[i].map, 0, NULL, &by_bits))
      add_copy(m, stage, l);
  }
}

static void add_pass(making *m, const plan *p, const plan_pass *pass) {
  const net_stage *of = &p->net->stages.items[pass->stage];
  if (of->routine) {
    add_routine(m, of->routine);
    return;
  }
  if (of->loop_count) {
    m->wrong = "an array is worked on by rows, and memory has not room for one of them";
    return;
  }
  f2_space v = widened_tile(m, pass, of->n);
  net_stage stage = stage_of_pass(m, p, pass), to = {.n = of->n, .shares = of->n - v.dimension};
  f2_affine none = {f2_zero(to.shares, of->n), 0};
  f2_affine coordinates = sharing_coordinates(sharing_number(v, none));
  net_stage_merge(m->memory, &to, &stage, coordinates);
  mark before = making_mark(m);
  bool fits = making_add_step(m, &to);
  if (!fits && m->copies) {
    making_go_back(m, before);
    add_copies(m, &stage, &to);
    if (m->wrong)
      return;
    before = making_mark(m);
    to = (net_stage){.n = to.n, .shares = to.shares};
    net_stage_merge(m->memory, &to, &stage, coordinates);
    fits = making_add_step(m, &to);
  }
  if (fits || !is_wide(m, pass))
    return;
  if (stage.stores.count > 1 && !making_has_effects(&stage)) {
    making_go_back(m, before);
    add_halves(m, &stage);
  } else {
    m->wide = true;
  }
}

// ---- stages with loops --------------------------------------------------------------------------

// A loop as the highest bits of the index: of its turns that are none, no element is in memory. (A
// scatter would write in these, too.)
static bool has_turns_as_bits(const making *m, const net_map *map, uint64_t turns, net_id array,
                              uint64_t *padding_start) {
  uint64_t count = m->out->arrays.items[array].count, lowest = (uint64_t)map->offset;
  for (uint32_t r = 0; r < map->row_count; r++)
    lowest += map->rows[r].weight < 0 ? (uint64_t)map->rows[r].weight : 0;
  *padding_start = count < *padding_start ? count : *padding_start;
  return map->strides[0] > 0 && (int64_t)lowest >= 0 &&
         lowest + turns * (uint64_t)map->strides[0] >= *padding_start;
}

static net_map without_loop(arena *a, const net_stage *s, const net_map *m, int bits) {
  net_map to = net_map_copy(a, m);
  to.loop_count = 0;
  to.rows = NEW_ARRAY(a, net_row, m->row_count + (uint32_t)bits + 1);
  memcpy(to.rows, m->rows, m->row_count * sizeof *m->rows);
  for (int i = 0; i < bits && m->loop_count && m->strides[0]; i++)
    to.rows[to.row_count++] =
        (net_row){{f2_unit(s->n + i), false}, m->strides[0] * (int64_t)f2_unit(i)};
  return to;
}

// The stage with bits of the index for its loop. False: it has several, or one that cannot be bits.
static bool loop_is_bits(making *m, const net_stage *s, net_stage *out) {
  net_stage loop = making_join_loops(m->memory, s, false);
  if (loop.loop_count == 0) {
    *out = loop;
    return true;
  }
  if (loop.loop_count != 1 || loop.extents[0] < 2)
    return false;
  uint64_t turns = loop.extents[0];
  int bits = f2_msb(turns - 1) + 1;
  bool good = s->n + bits < LIVE_MAX;
  for (size_t i = 0; i < loop.loads.count; i++) {
    net_load *l = &loop.loads.items[i];
    good = good && (l->map.strides[0] == 0 ||
                    has_turns_as_bits(m, &l->map, turns, l->array, &l->padding_start));
    l->map = without_loop(m->memory, s, &l->map, bits);
  }
  for (size_t i = 0; i < loop.stores.count; i++) {
    net_store *o = &loop.stores.items[i];
    good = good && has_turns_as_bits(m, &o->map, turns, o->array, &o->padding_start);
    o->map = without_loop(m->memory, s, &o->map, bits);
  }
  for (size_t i = 0; i < loop.nodes.count; i++) {
    net_node *node = &loop.nodes.items[i];
    good = good && node->kind != NET_SCATTER;
    if (node->kind == NET_INDEX)
      node->map = without_loop(m->memory, s, &node->map, bits);
  }
  loop.n += bits;
  loop.loop_count = 0;
  if (good)
    *out = making_new_nodes(m->memory, &loop);
  return good;
}

// ---- outer plans --------------------------------------------------------------------------------

static bool writes_array(const net_stage *s, net_id array) {
  bool writes = false;
  for (size_t i = 0; i < s->stores.count; i++)
    writes = writes || s->stores.items[i].array == array;
  for (size_t i = 0; i < s->nodes.count; i++)
    writes = writes || (s->nodes.items[i].kind == NET_SCATTER && s->nodes.items[i].number == array);
  for (uint32_t i = 0; s->routine && i < s->routine->pair_count; i++)
    writes = writes || s->routine->pairs[i].to == array;
  return writes;
}

// Whether only stages first, ..., end - 1 write to the array, or none of them does.
static bool is_written_in(const net *n, size_t first, size_t end, net_id array, bool *any) {
  bool others = false;
  *any = false;
  for (size_t i = 0; i < n->stages.count; i++)
    if (writes_array(&n->stages.items[i], array))
      *(i >= first && i < end ? any : &others) = true;
  return !*any || !others;
}

// For stages first, ..., end - 1 alone: what others write is given.
static void add_arrays(making *m, net *part, size_t first, size_t end) {
  uint32_t numbers[NET_ROLES] = {0};
  for (net_id i = 0; i < m->from->arrays.count; i++) {
    net_array of = m->from->arrays.items[i];
    bool any;
    is_written_in(m->from, first, end, i, &any);
    if (of.role != NET_TABLE)
      of.role = any ? NET_TEMPORARY : NET_ARGUMENT;
    of.number = numbers[of.role]++;
    vec_push(m->memory, &part->arrays, of);
  }
}

static net *part_of_net(making *m, size_t first, size_t end) {
  net *part = NEW(m->memory, net);
  part->externs.items = m->from->externs.items;
  part->externs.count = m->from->externs.count;
  add_arrays(m, part, first, end);
  for (size_t i = first; i < end; i++) {
    const net_stage *s = &m->from->stages.items[i];
    net_stage copy;
    if (s->routine || !s->loop_count || !loop_is_bits(m, s, &copy)) {
      copy = (net_stage){
          .routine = s->routine, .loop_count = s->loop_count, .extents = s->extents, .n = s->n};
      net_stage_merge(m->memory, &copy, s, f2_affine_identity(s->n));
    }
    vec_push(m->memory, &part->stages, copy);
  }
  return part;
}

static void add_stages(making *m, size_t first, size_t end) {
  const plan *p = plan_make(m->memory, part_of_net(m, first, end), m->target, NULL);
  net_id *arrays = NEW_ARRAY(m->memory, net_id, p->arrays.count + 1);
  for (net_id i = 0; i < p->arrays.count; i++)
    arrays[i] = i < m->from->arrays.count ? i : add_file(m, &p->arrays.items[i]);
  m->arrays = arrays;
  for (size_t i = 0; i < p->passes.count && !m->wrong; i++)
    add_pass(m, p, &p->passes.items[i]);
}

// Stages that are planned together: none reads what some of them write, and others.
static size_t end_of_group(const making *m, size_t first) {
  const net *n = m->from;
  size_t end = first;
  bool good = true;
  while (good && end < n->stages.count && (end == first || !n->stages.items[end].loop_count)) {
    bool any;
    end++;
    for (net_id a = 0; a < n->arrays.count; a++)
      good = good && is_written_in(n, first, end, a, &any);
  }
  return end > first + 1 && !good ? end - 1 : end;
}

// ---- the whole ----------------------------------------------------------------------------------

static target *outer_target(arena *a, const target *t, uint64_t tile, uint64_t line) {
  const target_link *disk = &t->links[TARGET_DISK];
  target *outer = NEW(a, target);
  *outer = *t;
  outer->tile_bytes = tile;
  outer->line_bytes = (uint32_t)line;
  outer->adapts = 0;
  outer->keeps_order = true;  // so that the ops of a pass are a stage
  outer->memory_bytes_per_second = disk->bytes_per_second;
  outer->pass_seconds = disk->latency;
  return outer;
}

// The largest blocks of which a tile has as many as each has elements, for elements of the least
// size: then any permutation by index bits is one pass.
static uint64_t line_of(const net *n, const target *t, uint64_t tile) {
  uint64_t size = 16, line = t->disk_block;
  for (size_t i = 0; i < n->arrays.count; i++) {
    uint64_t own = scalar_types[n->arrays.items[i].type].size;
    size = own < size && n->arrays.items[i].count > 1 ? own : size;
  }
  while (line > size && line / size * line > tile)
    line /= 2;
  return line;
}

// A stage by loops as passes, from copies of what it reads in the order of the index, and to such
// files: of these, a loop is bits of the index.
static void add_in_order(making *m, const net_stage *of) {
  net_stage s = making_join_loops(m->memory, of, false);
  net_store *stores = NEW_ARRAY(m->memory, net_store, s.stores.count + 1);
  for (size_t i = 0; i < s.loads.count && !m->wrong; i++)
    if (m->out->arrays.items[s.loads.items[i].array].role != NET_TABLE)
      add_copy(m, &s, &s.loads.items[i]);
  for (size_t i = 0; i < s.stores.count; i++) {
    net_store *o = &s.stores.items[i];
    stores[i] = *o;
    o->padding_start = UINT64_MAX;
    o->array = add_file_in_order(m, &s, stores[i].array, &o->map);
  }
  if (!m->wrong)
    add_stage_of_files(m, &s);
  for (size_t i = 0; i < s.stores.count && !m->wrong; i++) {
    net_load load = {.array = s.stores.items[i].array,
                     .map = s.stores.items[i].map,
                     .padding_start = UINT64_MAX};
    add_copying(m, &s, load, stores[i]);
  }
}

static bool fits(const making *m, size_t step) {
  return !m->wrong && making_most_bytes(m, step) <= m->bytes;
}

// A stage by blocks of its loops, or as passes: what fits, and is faster.
static void add_loops(making *m, const net_stage *s) {
  mark before = making_mark(m);
  add_stage_of_files(m, s);
  double seconds = making_seconds(m, before.steps);
  bool passes = fits(m, before.steps);
  making_go_back(m, before);
  bool blocks = making_add_blocks(m, s);
  m->wrong = NULL;
  if (blocks && (!passes || making_seconds(m, before.steps) <= seconds))
    return;
  making_go_back(m, before);
  add_stage_of_files(m, s);
  if (passes || !m->copies || making_has_effects(s))
    return;
  const char *wrong = m->wrong;
  making_go_back(m, before);
  m->wrong = NULL;
  add_in_order(m, s);
  if (!fits(m, before.steps) && wrong)
    m->wrong = wrong;
}

// The steps of the first stages from `first` on, by such a tile and such lines. Returns where the
// next begin.
static size_t add_group(making *m, size_t first, uint64_t tile, uint64_t line, const target *t) {
  size_t end = first + 1;
  m->target = outer_target(m->memory, t, tile, line);
  m->wide = false;
  m->wrong = NULL;
  if (m->from->stages.items[first].loop_count)
    add_loops(m, &m->from->stages.items[first]);
  else
    add_stages(m, first, end = end_of_group(m, first));
  return end;
}

enum { LEAST_TILE = 1 << 6, LEAST_LINE = 16, TILE_PART = 8, LEAST_TILE_PART = 128 };

static uint64_t tile_of(uint64_t memory, uint64_t part) {
  uint64_t tile = LEAST_TILE;
  while (tile < memory / part)
    tile *= 2;
  return tile;
}

// The same by the largest tiles that do: the smallest is no small part of the memory, so that
// shares are not many times as many as they would be by a little more. Where all lines of a pass
// are too much for a tile, by shorter ones. False: there are none.
static bool add_by_some_tile(making *m, const target *t, size_t *first) {
  uint64_t least = tile_of(m->bytes, LEAST_TILE_PART), need;
  mark before = making_mark(m);
  size_t end = *first;
  for (uint64_t tile = tile_of(m->bytes, TILE_PART); tile >= least; tile /= 2) {
    uint64_t line = 2 * line_of(m->from, t, tile);
    do {
      making_go_back(m, before);
      end = add_group(m, *first, tile, line /= 2, t);
      need = m->wrong ? 0 : making_most_bytes(m, before.steps);
    } while (!m->wrong && need > m->bytes && m->wide && line > LEAST_LINE);
    if (!m->wrong && need <= m->bytes) {
      *first = end;
      return true;
    }
  }
  return false;
}

static bool add_fitting_group(making *m, const target *t, size_t *first) {
  bool good = false;
  for (int copies = 0; copies < 2 && !good; copies++) {
    mark before = making_mark(m);
    m->copies = copies;
    good = add_by_some_tile(m, t, first);
    if (!good && !copies)
      making_go_back(m, before);
  }
  return good;
}

// ---- what is replaced in part --------------------------------------------------------------------

static bool is_all_of_file(const external *e, const external_move *m) {
  return m->whole && !m->by_bits && m->box.first == 0 &&
         m->elements == e->arrays.items[m->file].count;
}

// Whether some of the first `count` steps write to the file.
static bool is_written(const external *e, size_t count, net_id file) {
  bool any = false;
  for (size_t i = 0; i < count; i++) {
    const external_step *s = &e->steps.items[i];
    for (size_t k = 0; k < s->writes.count; k++)
      any = any || s->writes.items[k].file == file;
    for (uint32_t k = 0; s->routine && k < s->routine->pair_count; k++)
      any = any || s->routine->pairs[k].to == file;
  }
  return any;
}

static void rename_file(net_id *file, net_id from, net_id to) {
  *file = *file == from ? to : *file;
}

// What the first `count` steps write to the file goes to another.
static void redirect(external *e, size_t count, net_id file, net_id to) {
  for (size_t i = 0; i < count; i++) {
    external_step *s = &e->steps.items[i];
    for (size_t k = 0; k < s->writes.count; k++) {
      rename_file(&s->writes.items[k].before, file, to);
      rename_file(&s->writes.items[k].file, file, to);
    }
    for (uint32_t k = 0; s->routine && k < s->routine->pair_count; k++)
      rename_file(&s->routine->pairs[k].to, file, to);
  }
}

// Whether the parts of the array that shares have are theirs alone.
static bool has_own_parts(const external *e, size_t step, const external_move *m) {
  const external_moves *writes = &e->steps.items[step].writes;
  bool own = external_move_has_each_once(m);
  for (size_t i = 0; i < writes->count && own; i++)
    own = &writes->items[i] == m || writes->items[i].file != m->file;
  return own;
}

// A step that replaces some elements of an array, which is in memory as a whole, writes it to
// another file than the one it reads: after the half of it, what has been read is still there. What
// was not there is not read.
static void renew_replaced(making *m) {
  external *e = m->out;
  for (size_t i = 0; i < e->steps.count; i++)
    for (size_t k = 0; k < e->steps.items[i].writes.count; k++) {
      external_move *w = &e->steps.items[i].writes.items[k];
      if (!w->partial || w->before != w->file)
        continue;
      bool all = is_all_of_file(e, w), written = is_written(e, i, w->file);
      if (all && written) {
        w->before = add_file(m, &e->arrays.items[w->file]);
        redirect(e, i, w->file, w->before);
      } else if (!written && (all || has_own_parts(e, i, w))) {
        w->before = NET_NONE;
      }
    }
}

// ---- all steps ----------------------------------------------------------------------------------

// NULL: so much memory is too little, or *wrong says what else is.
static const external *make(arena *a, const net *n, const target *t, uint64_t memory,
                            const char **wrong) {
  making m = {.memory = a, .from = n, .bytes = memory, .out = NEW(a, external), .to = NEW(a, net)};
  bool good = true;
  m.out->net = m.to;
  m.to->externs.items = n->externs.items;
  m.to->externs.count = n->externs.count;
  for (size_t i = 0; i < n->arrays.count; i++)
    vec_push(a, &m.out->arrays, n->arrays.items[i]);
  for (size_t i = 0; i < n->stages.count && good;)
    good = add_fitting_group(&m, t, &i);
  *wrong = m.wrong;
  if (good)
    renew_replaced(&m);
  return good ? m.out : NULL;
}

const external *external_make(arena *a, const net *n, const target *t, uint64_t memory,
                              const char **wrong) {
  enum { HALVES = 3 };
  static const uint64_t MOST = UINT64_C(1) << 46;
  char bytes[NUMBER_SPACE];
  const char *why;
  if (memory < TILE_PART * LEAST_TILE) {
    *wrong = arena_printf(a, "at least %d bytes of memory are needed", TILE_PART * LEAST_TILE);
    return NULL;
  }
  const external *e = make(a, n, t, memory, wrong);
  // By less memory the smallest tile is smaller, which may be what fits.
  for (int i = 1; i <= HALVES && !e && memory >> i >= TILE_PART * LEAST_TILE; i++)
    e = make(a, n, t, memory >> i, &why);
  if (e)
    return e;
  if (!*wrong)
    *wrong = NEEDS_MORE;
  for (uint64_t enough = f2_unit(f2_msb(memory)); !e && enough < MOST;) {
    e = make(a, n, t, enough *= 2, &why);
    if (e)
      *wrong = arena_printf(a, "%s; %s would do", *wrong, show_bytes(bytes, enough));
  }
  return NULL;
}
