// A stage whose arrays are files, as a step: what shares read and write, and the stage that works
// on memory. See external.h.
#include "fusion/shares/making.h"

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

uint64_t making_element_bytes(const making *m, net_id file) {
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
  uint64_t bytes = times * move->elements * making_element_bytes(m, move->file);
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
  return count > 1 && move->elements / count * making_element_bytes(m, move->file) < LEAST;
}

static external_move move_of(making *m, const net_stage *s, net_id file, const net_map *map,
                             uint64_t padding_start, uint32_t live_count, const net_form *live) {
  uint64_t count = m->out->arrays.items[file].count;
  external_move bits = {.file = file,
                        .before = file,
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

// Accesses to one array that are one move: `all` has the moves. Of stores, what they store together
// is all of it, or its blocks are short otherwise.
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
                       .before = file,
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

net_stage making_new_nodes(arena *a, const net_stage *s) {
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

mark making_mark(const making *m) {
  return (mark){m->out->arrays.count, m->out->steps.count, m->to->arrays.count,
                m->to->stages.count};
}

void making_go_back(making *m, mark to) {
  m->out->arrays.count = to.files;
  m->out->steps.count = to.steps;
  m->to->arrays.count = to.arrays;
  m->to->stages.count = to.stages;
}

uint64_t making_most_bytes(const making *m, size_t step) {
  uint64_t most = 0;
  for (; step < m->out->steps.count; step++) {
    uint64_t bytes = external_step_memory(m->out, &m->out->steps.items[step]);
    most = bytes > most ? bytes : most;
  }
  return most;
}

// A stage whose values nothing needs, which is possible after plans in parts, is no step.
static void add_step_as_is(making *m, const net_stage *of) {
  net_stage stage = making_new_nodes(m->memory, of);
  external_step step = {.stage = (uint32_t)m->to->stages.count, .shares = net_share_count(&stage)};
  add_reads(m, &stage, &step);
  add_writes(m, &stage, &step);
  add_places(m, &stage, &step);
  if (!step.writes.count)
    return;
  if (!net_stage_is_shared(&stage))
    add_turn(m->memory, &stage);
  vec_push(m->memory, &m->to->stages, making_new_nodes(m->memory, &stage));
  vec_push(m->memory, &m->out->steps, step);
}

double making_seconds(const making *m, size_t step) {
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

bool making_add_step(making *m, const net_stage *stage) {
  mark before = making_mark(m);
  double seconds[2];
  bool fits[2];
  for (int joins = 0; joins < 2; joins++) {
    making_go_back(m, before);
    m->joins_blocks = joins;
    add_step_as_is(m, stage);
    seconds[joins] = making_seconds(m, before.steps);
    fits[joins] = making_most_bytes(m, before.steps) <= m->bytes;
  }
  if (!fits[1] || (fits[0] && seconds[0] <= seconds[1])) {
    making_go_back(m, before);
    m->joins_blocks = false;
    add_step_as_is(m, stage);
  }
  return fits[0] || fits[1];
}
