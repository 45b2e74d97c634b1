// The steps by which files are worked on, from plans for a target one level further out. See external.h.
#include "fusion/shares/external.h"
#include "core/units.h"
#include "fusion/plan/plan.h"
#include "fusion/shares/sharing.h"

#include <inttypes.h>

typedef struct making {
  arena *memory;
  const net *from;
  uint64_t bytes;        // of memory
  const target *target;  // whose tile is what a share may have
  bool joins_blocks;     // short blocks are read with what is between them
  external *out;
  net *to;
  net_id *arrays;  // of the plan that is made steps of: their numbers in out->arrays
  bool wide;       // a tile that holds whole lines was too large
  const char *wrong;
} making;

// ---- arrays of a share --------------------------------------------------------------------------

static net_id add_memory(making *m, net_role role, scalar_type type, uint64_t count) {
  uint32_t number = 0;
  for (size_t i = 0; i < m->to->arrays.count; i++)
    number += m->to->arrays.items[i].role == role;
  return net_array_add(m->memory, m->to, type, count, role, number);
}

// A table is in memory as it is.
static net_id table_of(making *m, net_id array) {
  const net_array *of = &m->out->arrays.items[array];
  for (net_id i = 0; i < m->to->arrays.count; i++)
    if (m->to->arrays.items[i].table == of->table && m->to->arrays.items[i].role == NET_TABLE)
      return i;
  net_id id = add_memory(m, NET_TABLE, of->type, of->count);
  m->to->arrays.items[id].table = of->table;
  return id;
}

static bool is_table(const making *m, net_id array) {
  return m->out->arrays.items[array].role == NET_TABLE;
}

static uint64_t element_bytes(const making *m, net_id file) {
  return scalar_types[m->out->arrays.items[file].type].size;
}

// ---- moves --------------------------------------------------------------------------------------

// A load or store of a stage, and the move that it is one of.
typedef struct access {
  net_map *map;
  net_id *array;
  uint64_t *padding_start;
  external_move move;
  uint64_t elements;  // that a share has
  uint32_t group;     // the number of the move
} access;
typedef VEC(access) accesses;

// What all shares move, about: of arrays without an end.
static void add_traffic(const making *m, const external_move *move, bool writes,
                        external_traffic *to) {
  uint64_t times = move->whole ? 1 : move->shares, count = external_block_count(move);
  uint64_t bytes = times * move->elements * element_bytes(m, move->file);
  to->requests += times * count * (move->partial ? 2 : 1);
  to->reads += writes && !move->partial ? 0 : bytes;
  to->writes += writes ? bytes : 0;
}

// To read what is between blocks, too, than to make a request for each block.
static bool is_faster(const making *m, const external_move *a, const external_move *b) {
  external_traffic of_a = {0}, of_b = {0};
  add_traffic(m, a, false, &of_a);
  add_traffic(m, b, false, &of_b);
  return external_seconds(m->target, of_a, 0) < external_seconds(m->target, of_b, 0);
}

static bool has_short_blocks(const making *m, const external_move *move) {
  enum { LEAST = 4096 };
  uint64_t count = external_block_count(move);
  return count > 1 && move->elements / count * element_bytes(m, move->file) < LEAST;
}

static external_move move_of(making *m, const net_stage *s, net_id file, const net_map *map,
                             uint64_t padding_start, uint32_t live_count, const net_form *live) {
  uint64_t count = m->out->arrays.items[file].count;
  external_move bits = {.file = file,
                        .shares = net_share_count(s),
                        .end = padding_start < count ? padding_start : count};
  external_move window = bits;
  sharing_move_by_window(s, map, &window);
  if (!sharing_move_by_bits(m->memory, s, map, live_count, live, &bits))
    return window;
  return m->joins_blocks && is_faster(m, &window, &bits) ? window : bits;
}

static bool join(external_move *into, const external_move *m) {
  return into->file == m->file && into->end == m->end &&
         !memcmp(&into->padding, &m->padding, sizeof m->padding) &&
         (sharing_join_by_bits(into, m) || sharing_join_windows(into, m));
}

// Accesses to one array that are one move: `all` has the moves. Of stores, what they store together is all of
// it, or its blocks are short otherwise.
static void join_accesses(making *m, accesses *of, external_moves *all, bool writes) {
  VEC(uint64_t) stored = {0};
  for (size_t i = 0; i < of->count; i++) {
    access *p = &of->items[i];
    p->group = NET_NONE;
    for (uint32_t k = 0; k < all->count && p->group == NET_NONE; k++) {
      external_move joined = all->items[k];
      if (!join(&joined, &p->move))
        continue;
      bool covers = stored.items[k] + p->elements >= joined.elements;
      if (writes && !covers && joined.by_bits && !has_short_blocks(m, &p->move))
        continue;
      p->group = k;
      all->items[k] = joined;
      stored.items[k] += p->elements;
    }
    if (p->group != NET_NONE)
      continue;
    p->group = (uint32_t)all->count;
    vec_push(m->memory, all, p->move);
    vec_push(m->memory, &stored, p->elements);
  }
  for (size_t k = 0; k < all->count; k++) {
    external_move *move = &all->items[k];
    const share_window *w = &move->window;
    bool one = move->by_bits ? f2_rank(move->bases.a) == 0 && !move->live_count : w->step == 0;
    move->whole = one && !(writes && move->by_bits);
    move->partial = writes && stored.items[k] < move->elements;
  }
}

// Joined moves may have grown until two are one.
static void place_accesses(making *m, const net_stage *s, accesses *of, external_moves *all,
                           bool writes) {
  for (size_t k = 0; k < all->count; k++) {
    external_move *move = &all->items[k];
    const net_array *file = &m->out->arrays.items[move->file];
    uint64_t count =
        move->by_bits ? move->elements * (move->whole ? 1 : move->shares) : file->count;
    move->memory = add_memory(m, writes ? NET_TEMPORARY : NET_ARGUMENT, file->type, count);
  }
  for (size_t i = 0; i < of->count; i++) {
    access *p = &of->items[i];
    const external_move *move = &all->items[p->group];
    *p->array = move->memory;
    if (move->by_bits) {
      *p->map = sharing_place_map(m->memory, s, p->map, move);
      *p->padding_start = UINT64_MAX;
    }
  }
}

static void add_reads(making *m, net_stage *s, external_step *step) {
  accesses of = {0};
  for (size_t i = 0; i < s->loads.count; i++) {
    net_load *l = &s->loads.items[i];
    if (is_table(m, l->array)) {
      l->array = table_of(m, l->array);
      continue;
    }
    access p = {&l->map, &l->array, &l->padding_start, .elements = 0};
    p.move = move_of(m, s, l->array, &l->map, l->padding_start, 0, NULL);
    p.move.padding = l->padding_value;
    vec_push(m->memory, &of, p);
  }
  join_accesses(m, &of, &step->reads, false);
  place_accesses(m, s, &of, &step->reads, false);
}

// How many elements a share stores, where it stores any.
static uint64_t stored_elements(const net_stage *s, const net_store *o) {
  f2_space forms = f2_space_zero(s->n);
  uint64_t count = s->share_turns ? s->share_turns : 1;
  for (uint32_t i = 0; i < o->live_count; i++)
    f2_space_insert(&forms, o->live[i].mask & f2_mask(net_share_bits(s)));
  for (uint32_t l = 1; l < s->loop_count; l++)
    count *= s->extents[l];
  return count << (net_share_bits(s) - forms.dimension);
}

static void add_writes(making *m, net_stage *s, external_step *step) {
  accesses of = {0};
  for (size_t i = 0; i < s->stores.count; i++) {
    net_store *o = &s->stores.items[i];
    access p = {&o->map, &o->array, &o->padding_start, .elements = stored_elements(s, o)};
    p.move = move_of(m, s, o->array, &o->map, o->padding_start, o->live_count, o->live);
    vec_push(m->memory, &of, p);
  }
  join_accesses(m, &of, &step->writes, true);
  place_accesses(m, s, &of, &step->writes, true);
  for (size_t k = 0; k < step->writes.count; k++) {
    const external_move *w = &step->writes.items[k];
    int64_t distance = w->window.step < 0 ? -w->window.step : w->window.step;
    step->serial = step->serial || (w->partial && !w->by_bits && !w->whole &&
                                    (uint64_t)distance < w->window.length);
  }
}

// An array that ops take elements of, or put some to, at any places: all of it.
static net_id add_all_of(making *m, external_moves *moves, net_id file, uint64_t share_count,
                         bool writes) {
  const net_array *of = &m->out->arrays.items[file];
  for (size_t i = 0; i < moves->count; i++)
    if (moves->items[i].file == file && moves->items[i].whole &&
        moves->items[i].elements == of->count && !moves->items[i].by_bits)
      return moves->items[i].memory;
  external_move all = {.file = file,
                       .elements = of->count,
                       .shares = share_count,
                       .end = of->count,
                       .whole = true,
                       .partial = writes,
                       .window = {0, 0, of->count},
                       .last = {0, 0, of->count}};
  all.memory = add_memory(m, writes ? NET_TEMPORARY : NET_ARGUMENT, of->type, of->count);
  vec_push(m->memory, moves, all);
  return all.memory;
}

static void add_places(making *m, net_stage *s, external_step *step) {
  for (size_t i = 0; i < s->nodes.count; i++) {
    net_node *node = &s->nodes.items[i];
    if (!net_node_has_array(node->kind))
      continue;
    net_id file = (net_id)node->number;
    bool writes = node->kind == NET_SCATTER;
    node->number =
        !writes && is_table(m, file)
            ? table_of(m, file)
            : add_all_of(m, writes ? &step->writes : &step->reads, file, step->shares, writes);
  }
}

// ---- steps --------------------------------------------------------------------------------------

static void turn_map(arena *a, net_map *m) {
  m->loop_count = 1;
  m->strides = NEW_ARRAY(a, int64_t, 1);
}

// One share of all: a loop of one turn, so that the stage stays apart from others.
static void add_turn(arena *a, net_stage *s) {
  s->loop_count = 1;
  s->extents = NEW_ARRAY(a, uint64_t, 1);
  s->extents[0] = s->share_turns = 1;
  for (size_t i = 0; i < s->loads.count; i++)
    turn_map(a, &s->loads.items[i].map);
  for (size_t i = 0; i < s->stores.count; i++)
    turn_map(a, &s->stores.items[i].map);
  for (size_t i = 0; i < s->nodes.count; i++)
    if (s->nodes.items[i].kind == NET_INDEX)
      turn_map(a, &s->nodes.items[i].map);
}

// The stage after its nodes were changed: they are found by what they are.
static net_stage with_new_nodes(arena *a, const net_stage *s) {
  net_stage to = {.loop_count = s->loop_count,
                  .extents = s->extents,
                  .n = s->n,
                  .shares = s->shares,
                  .share_turns = s->share_turns};
  net_stage_merge(a, &to, s, f2_affine_identity(s->n));
  return to;
}

// Of moves that differ by share, or of those that are the same for all.
static uint64_t moved_bytes(const external *e, const external_moves *moves, bool whole) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < moves->count; i++)
    if (moves->items[i].whole == whole)
      bytes +=
          moves->items[i].elements * scalar_types[e->arrays.items[moves->items[i].file].type].size;
  return bytes;
}

uint64_t external_step_memory(const external *e, const external_step *s) {
  uint64_t own = moved_bytes(e, &s->reads, false) + moved_bytes(e, &s->writes, false);
  uint64_t all = moved_bytes(e, &s->reads, true) + moved_bytes(e, &s->writes, true);
  bool computes = !s->routine && e->net->stages.items[s->stage].ops.count;
  return 2 * own + all + (!computes ? 0 : s->shares > 1 ? own : own + all);
}

// What has been made so far, to go back to.
typedef struct mark {
  size_t files, steps, arrays, stages;
} mark;

static mark mark_of(const making *m) {
  return (mark){m->out->arrays.count, m->out->steps.count, m->to->arrays.count,
                m->to->stages.count};
}

static void go_back(making *m, mark to) {
  m->out->arrays.count = to.files;
  m->out->steps.count = to.steps;
  m->to->arrays.count = to.arrays;
  m->to->stages.count = to.stages;
}

// The most bytes of a step from that one on.
static uint64_t most_bytes_from(const making *m, size_t step) {
  uint64_t most = 0;
  for (; step < m->out->steps.count; step++) {
    uint64_t bytes = external_step_memory(m->out, &m->out->steps.items[step]);
    most = bytes > most ? bytes : most;
  }
  return most;
}

static void add_step_as_is(making *m, const net_stage *of) {
  net_stage stage = with_new_nodes(m->memory, of);
  external_step step = {.stage = (uint32_t)m->to->stages.count, .shares = net_share_count(&stage)};
  add_reads(m, &stage, &step);
  add_writes(m, &stage, &step);
  add_places(m, &stage, &step);
  if (!net_stage_is_shared(&stage))
    add_turn(m->memory, &stage);
  vec_push(m->memory, &m->to->stages, with_new_nodes(m->memory, &stage));
  vec_push(m->memory, &m->out->steps, step);
}

// What the disk takes for steps from that one on, about.
static double seconds_from(const making *m, size_t step) {
  double seconds = 0;
  for (; step < m->out->steps.count; step++) {
    const external_step *s = &m->out->steps.items[step];
    external_traffic t = {0};
    bool waits = s->serial, shared = false;
    for (size_t i = 0; i < s->reads.count; i++) {
      add_traffic(m, &s->reads.items[i], false, &t);
      shared = shared || !s->reads.items[i].whole;
    }
    for (size_t i = 0; i < s->writes.count; i++) {
      add_traffic(m, &s->writes.items[i], true, &t);
      shared = shared || !s->writes.items[i].whole;
      waits = waits || s->writes.items[i].partial;
    }
    seconds += external_seconds(m->target, t, shared ? s->shares : 1) * (waits ? 2 : 1);
  }
  return seconds;
}

// A stage whose arrays are files, with its shares: as a step, and a stage whose arrays are memory. Short blocks
// are read with what is between them where that is faster, and memory has room. Whether it has for the step.
static bool add_step(making *m, const net_stage *stage) {
  mark before = mark_of(m);
  double seconds[2];
  bool fits[2];
  for (int joins = 0; joins < 2; joins++) {
    go_back(m, before);
    m->joins_blocks = joins;
    add_step_as_is(m, stage);
    seconds[joins] = seconds_from(m, before.steps);
    fits[joins] = most_bytes_from(m, before.steps) <= m->bytes;
  }
  if (!fits[1] || (fits[0] && seconds[0] <= seconds[1])) {
    go_back(m, before);
    m->joins_blocks = false;
    add_step_as_is(m, stage);
  }
  return fits[0] || fits[1];
}

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

// Another file for each array that the pass loads, too, so that what has been read is still there when a
// run begins again after the half of a step; or that has had values of another type.
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

static bool scatters(const net_stage *s) {
  bool any = false;
  for (size_t i = 0; i < s->nodes.count; i++)
    any = any || s->nodes.items[i].kind == NET_SCATTER;
  return any;
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

// A stage whose arrays are files as two, each with some of the stores: tiles that hold the lines of fewer
// are smaller.
static void add_halves(making *m, const net_stage *s) {
  size_t half = s->stores.count / 2;
  for (int i = 0; i < 2 && !m->wrong; i++) {
    net *part = NEW(m->memory, net);
    making inner = *m;
    part->externs.items = m->from->externs.items;
    part->externs.count = m->from->externs.count;
    for (size_t a = 0; a < m->out->arrays.count; a++)
      vec_push(m->memory, &part->arrays, m->out->arrays.items[a]);
    vec_push(m->memory, &part->stages,
             stage_of_stores(m, s, i ? half : 0, i ? s->stores.count : half));
    inner.from = part;
    add_stages(&inner, 0, 1);
    m->wide = m->wide || inner.wide;
    m->wrong = inner.wrong;
  }
}

// Whether the tile is larger than those of the target, as it holds whole lines.
static bool is_wide(const making *m, const plan_pass *pass) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < pass->slot_count; i++)
    bytes += pass->slot_bytes[i];
  return bytes << pass->tile.dimension > m->target->tile_bytes;
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
  net_stage_merge(m->memory, &to, &stage, sharing_coordinates(sharing_number(v, none)));
  mark before = mark_of(m);
  if (add_step(m, &to) || !is_wide(m, pass))
    return;
  if (stage.stores.count > 1 && !scatters(&stage)) {
    go_back(m, before);
    add_halves(m, &stage);
  } else {
    m->wide = true;
  }
}

// ---- stages with loops --------------------------------------------------------------------------

// Bytes that so many turns of the first loop touch, by windows.
static double bytes_of_turns(const making *m, const net_stage *s, uint64_t turns) {
  net_stage some = *s;
  double bytes = 0;
  some.share_turns = turns;
  for (size_t i = 0; i < s->loads.count; i++) {
    external_move w;
    sharing_move_by_window(&some, &s->loads.items[i].map, &w);
    bytes += (double)w.elements * (double)element_bytes(m, s->loads.items[i].array);
  }
  for (size_t i = 0; i < s->stores.count; i++) {
    external_move w;
    sharing_move_by_window(&some, &s->stores.items[i].map, &w);
    bytes += (double)w.elements * (double)element_bytes(m, s->stores.items[i].array);
  }
  return bytes;
}

// The turns of a share, for which memory has room; 0: not for one.
static uint64_t turns_of_share(const making *m, const net_stage *s) {
  double room = 2 * (double)m->target->tile_bytes;  // what is read, and what is written
  uint64_t turns = s->extents[0];
  while (turns && bytes_of_turns(m, s, turns) > room)
    turns = turns > 1 ? (turns + 1) / 2 : 0;
  int bits = turns ? f2_msb(turns) : 0;
  return turns == s->extents[0] || !turns ? turns : turns >> (bits / 2) << (bits / 2);
}

static uint64_t turns_of_stage(const making *m, const net_stage *s) {
  return !s->routine && s->loop_count && s->extents[0] ? turns_of_share(m, s) : 0;
}

// The stage by so many turns of its first loop at a time.
static void add_turns(making *m, const net_stage *s, uint64_t turns) {
  net_stage to = {.loop_count = s->loop_count, .extents = s->extents, .n = s->n};
  to.share_turns = turns;
  net_stage_merge(m->memory, &to, s, f2_affine_identity(s->n));
  add_step(m, &to);
}

// A loop as the highest bits of the index: of its turns that are none, no element is in memory.
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

static bool loop_is_bits(making *m, const net_stage *s, net_stage *out) {
  if (s->routine || s->loop_count != 1 || s->extents[0] < 2)
    return false;
  uint64_t turns = s->extents[0];
  int bits = f2_msb(turns - 1) + 1;
  net_stage loop = {.loop_count = 1, .extents = s->extents, .n = s->n};
  net_stage_merge(m->memory, &loop, s, f2_affine_identity(s->n));
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
  for (size_t i = 0; i < loop.nodes.count; i++)
    if (loop.nodes.items[i].kind == NET_INDEX)
      loop.nodes.items[i].map = without_loop(m->memory, s, &loop.nodes.items[i].map, bits);
  loop.n += bits;
  loop.loop_count = 0;
  if (good)
    *out = with_new_nodes(m->memory, &loop);
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
    if (s->routine || !loop_is_bits(m, s, &copy)) {
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
  while (good && end < n->stages.count &&
         (end == first || !turns_of_stage(m, &n->stages.items[end]))) {
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

// The largest blocks of which a tile has as many as each has elements, for elements of the least size: then
// any permutation by index bits is one pass.
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

// A stage by turns of its loop, or as passes: what fits, and is faster.
static void add_turns_or_passes(making *m, size_t stage, uint64_t turns) {
  const net_stage *s = &m->from->stages.items[stage];
  mark before = mark_of(m);
  add_stages(m, stage, stage + 1);
  double seconds = seconds_from(m, before.steps);
  bool passes = !m->wrong && most_bytes_from(m, before.steps) <= m->bytes;
  go_back(m, before);
  m->wrong = NULL;
  add_turns(m, s, turns);
  if (passes &&
      (most_bytes_from(m, before.steps) > m->bytes || seconds < seconds_from(m, before.steps))) {
    go_back(m, before);
    add_stages(m, stage, stage + 1);
  }
}

// The steps of the first stages from `first` on, by such a tile and such lines. Returns where the next
// begin.
static size_t add_group(making *m, size_t first, uint64_t tile, uint64_t line, const target *t) {
  size_t end = first + 1;
  m->target = outer_target(m->memory, t, tile, line);
  m->wide = false;
  m->wrong = NULL;
  uint64_t turns = turns_of_stage(m, &m->from->stages.items[first]);
  if (turns)
    add_turns_or_passes(m, first, turns);
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

// The same by the largest tiles that do: the smallest is no small part of the memory, so that shares are
// not many times as many as they would be by a little more. Where all lines of a pass are too much for a
// tile, by shorter ones. False: there are none.
static bool add_fitting_group(making *m, const target *t, size_t *first) {
  uint64_t least = tile_of(m->bytes, LEAST_TILE_PART), need = 0;
  mark before = mark_of(m);
  size_t end = *first;
  for (uint64_t tile = tile_of(m->bytes, TILE_PART); tile >= least; tile /= 2) {
    uint64_t line = 2 * line_of(m->from, t, tile);
    do {
      go_back(m, before);
      end = add_group(m, *first, tile, line /= 2, t);
      need = m->wrong ? 0 : most_bytes_from(m, before.steps);
    } while (!m->wrong && need > m->bytes && m->wide && line > LEAST_LINE);
    if (!m->wrong && need <= m->bytes) {
      *first = end;
      return true;
    }
  }
  *first = end;
  return false;
}

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
  for (size_t i = 0; i < n->stages.count && (good || !m.wrong);)
    good = add_fitting_group(&m, t, &i) && good;
  *wrong = m.wrong;
  return good ? m.out : NULL;
}

static const uint64_t MOST_MEMORY = UINT64_C(1) << 46;

const external *external_make(arena *a, const net *n, const target *t, uint64_t memory,
                              const char **wrong) {
  char bytes[NUMBER_SPACE];
  if (memory < TILE_PART * LEAST_TILE) {
    *wrong = arena_printf(a, "at least %d bytes of memory are needed", TILE_PART * LEAST_TILE);
    return NULL;
  }
  const external *e = make(a, n, t, memory, wrong);
  if (e)
    return e;
  if (!*wrong)
    *wrong = "a part of it needs more at one time";
  for (uint64_t enough = f2_unit(f2_msb(memory)); !e && enough < MOST_MEMORY;) {
    const char *why;
    e = make(a, n, t, enough *= 2, &why);
    if (e)
      *wrong = arena_printf(a, "%s; %s would do", *wrong, show_bytes(bytes, enough));
  }
  return NULL;
}
