// A stage whose arrays are files, as a step: what shares read and write, and the stage that works
// on memory. See external.h.
#include "core/number.h"
#include "fusion/external/making.h"

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

void making_add_traffic(const making *m, const external_move *move, external_traffic *to) {
  uint64_t times = move->whole ? 1 : move->shares, count = external_block_count(move);
  uint64_t bytes = times * move->elements * making_element_bytes(m, move->file);
  to->requests += times * count * (move->partial ? 2 : 1);
  to->reads += move->writes && !move->partial ? 0 : bytes;
  to->writes += move->writes ? bytes : 0;
}

// To read what is between blocks, too, than to make a request for each block.
static bool is_faster(const making *m, const external_move *a, const external_move *b) {
  external_traffic of_a = {0}, of_b = {0};
  making_add_traffic(m, a, &of_a);
  making_add_traffic(m, b, &of_b);
  return external_seconds(m->target, of_a, 0) < external_seconds(m->target, of_b, 0);
}

static bool has_short_blocks(const making *m, const external_move *move) {
  enum { LEAST = 4096 };
  uint64_t count = external_block_count(move);
  return count > 1 && move->elements / count * making_element_bytes(m, move->file) < LEAST;
}

// Elements between runs that are moved rather than to make a request for each run.
static uint64_t gap_of(const making *m, net_id file) {
  double bytes = m->joins_blocks ? m->target->links[TARGET_DISK].half_bytes : 0;
  return (uint64_t)bytes / making_element_bytes(m, file);
}

bool making_find_move(making *m, const net_stage *s, const share_blocks *blocks,
                      const net_load *load, const net_store *store, external_move *out) {
  net_id file = load ? load->array : store->array;
  const net_map *map = load ? &load->map : &store->map;
  uint64_t padding_start = load ? load->padding_start : store->padding_start;
  uint64_t count = m->out->arrays.items[file].count;
  external_move bits = {.file = file,
                        .writes = store,
                        .shares = blocks ? blocks->shares : net_share_count(s),
                        .end = padding_start < count ? padding_start : count};
  if (load)
    bits.padding = load->padding_value;
  external_move box = bits;
  box.by_address = blocks && making_has_effects(s);
  uint64_t gap = box.by_address ? UINT64_MAX : gap_of(m, file);
  bool exact = share_box_of_map(m->memory, s, blocks, map, gap, &box.box);
  box.elements = box.box.elements;
  bool by_bits = !blocks && making_move_by_bits(m->memory, s, map, store ? store->live_count : 0,
                                                store ? store->live : NULL, &bits);
  *out = by_bits && !(m->joins_blocks && is_faster(m, &box, &bits)) ? bits : box;
  return load || exact || out->by_bits || out->by_address;
}

static bool join(arena *a, external_move *into, const external_move *m) {
  if (into->file != m->file || into->end != m->end || into->writes != m->writes ||
      into->by_bits != m->by_bits || memcmp(&into->padding, &m->padding, sizeof m->padding) != 0)
    return false;
  if (into->by_bits)
    return making_join_by_bits(into, m);
  bool joined = share_boxes_join(a, &into->box, &m->box);
  into->elements = into->box.elements;
  return joined;
}

// Accesses to one array that are one move: `all` has the moves. Of stores, what they store together
// is all of it, or its blocks are short otherwise.
static void join_accesses(making *m, accesses *of, external_moves *all) {
  VEC(uint64_t) stored = {0};
  for (size_t i = 0; i < of->count; i++) {
    access *p = &of->items[i];
    p->group = NET_NONE;
    for (uint32_t k = 0; k < all->count && p->group == NET_NONE; k++) {
      external_move joined = all->items[k];
      if (!join(m->memory, &joined, &p->move))
        continue;
      bool covers = stored.items[k] + p->elements >= joined.elements;
      if (joined.writes && !covers && joined.by_bits && !has_short_blocks(m, &p->move))
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
    bool one = move->by_bits ? f2_rank(move->bases.a) == 0 && !move->live_count
                             : move->box.digit_count == 0;
    move->whole = one && !(move->writes && move->by_bits);
    move->partial = move->writes && stored.items[k] < move->elements;
  }
}

// Memory of shares that is apart by whole pages, and begins at the same bytes of a page as in the
// file, as far as that can be.
static void place_move(const making *m, external_move *move) {
  enum { PAGE = 4096 };
  uint64_t page = PAGE / making_element_bytes(m, move->file);
  move->apart = move->elements;
  if (move->by_bits)
    return;
  if (move->elements >= page)
    move->apart = divide_up(move->elements, page) * page;
  move->origin = (uint64_t)move->box.first % page;
}

// Joined moves may have grown until two are one.
static void place_accesses(making *m, const net_stage *s, const share_blocks *blocks, accesses *of,
                           external_moves *all) {
  for (size_t k = 0; k < all->count; k++) {
    external_move *move = &all->items[k];
    const net_array *file = &m->out->arrays.items[move->file];
    place_move(m, move);
    uint64_t count = move->by_address ? file->count
                     : move->whole    ? move->origin + move->elements
                                      : move->origin + move->apart * move->shares;
    move->memory = add_memory(m, move->writes ? NET_TEMPORARY : NET_ARGUMENT, file->type, count);
  }
  for (size_t i = 0; i < of->count; i++) {
    access *p = &of->items[i];
    const external_move *move = &all->items[p->group];
    *p->array = move->memory;
    if (move->by_address)
      continue;
    *p->map = move->by_bits ? making_bits_map(m->memory, s, p->map, move)
                            : making_box_map(m->memory, s, blocks, p->map, p->move.box.first, move);
    *p->padding_start = UINT64_MAX;
  }
}

// How many elements a share stores; 0: some store none, and the move does not say which.
static uint64_t stored_elements(const net_stage *s, const share_blocks *blocks, const net_store *o,
                                const external_move *move) {
  f2_space all = f2_space_zero(s->n), own = all;
  uint64_t count = s->loop_count ? product_of(blocks->turns, s->loop_count) : 1;
  for (uint32_t i = 0; i < o->live_count; i++) {
    f2_space_insert(&all, o->live[i].mask);
    f2_space_insert(&own, o->live[i].mask & f2_mask(net_share_bits(s)));
  }
  return own.dimension < all.dimension && !move->by_bits
             ? 0
             : count << (net_share_bits(s) - own.dimension);
}

// What the stage loads and stores. False: a share would write what is another's.
static bool add_moves(making *m, net_stage *s, const share_blocks *blocks, external_step *step) {
  accesses of = {0};
  bool good = true;
  for (size_t i = 0; i < s->loads.count; i++) {
    net_load *l = &s->loads.items[i];
    if (is_table(m, l->array)) {
      l->array = table_of(m, l->array);
      continue;
    }
    access p = {&l->map, &l->array, &l->padding_start, .elements = 0};
    making_find_move(m, s, blocks, l, NULL, &p.move);
    vec_push(m->memory, &of, p);
  }
  for (size_t i = 0; i < s->stores.count; i++) {
    net_store *o = &s->stores.items[i];
    access p = {&o->map, &o->array, &o->padding_start, .elements = 0};
    good = making_find_move(m, s, blocks, NULL, o, &p.move) && good;
    p.elements = stored_elements(s, blocks, o, &p.move);
    vec_push(m->memory, &of, p);
  }
  join_accesses(m, &of, &step->moves);
  place_accesses(m, s, blocks, &of, &step->moves);
  return good;
}

// An array that ops take elements of, or put some to, at any places: all of it.
static net_id add_all_of(making *m, external_moves *moves, net_id file, uint64_t share_count,
                         bool writes) {
  const net_array *of = &m->out->arrays.items[file];
  for (size_t i = 0; i < moves->count; i++)
    if (moves->items[i].file == file && moves->items[i].writes == writes && moves->items[i].whole &&
        moves->items[i].elements == of->count && !moves->items[i].by_bits)
      return moves->items[i].memory;
  external_move all = {.file = file,
                       .elements = of->count,
                       .shares = share_count,
                       .end = of->count,
                       .writes = writes,
                       .whole = true,
                       .partial = writes,
                       .box = {.run = of->count, .elements = of->count, .side_count = 1}};
  all.box.sides = NEW_ARRAY(m->memory, share_side, 1);
  all.box.sides[0] = (share_side){1, 1, 1};
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
    bool writes = net_node_scatters(node->kind);
    node->number = !writes && is_table(m, file)
                       ? table_of(m, file)
                       : add_all_of(m, &step->moves, file, step->shares, writes);
  }
}

// ---- steps --------------------------------------------------------------------------------------

uint64_t external_step_memory(const external *e, const external_step *s) {
  uint64_t own = 0, all = 0;  // of moves that differ by share, and that are the same for all
  bool computes = !s->routine && e->net->stages.items[s->stage].ops.count;
  for (size_t i = 0; i < s->moves.count; i++) {
    const external_move *m = &s->moves.items[i];
    *(m->whole ? &all : &own) += m->elements * scalar_types[e->arrays.items[m->file].type].size;
  }
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
bool making_add_as_is(making *m, const net_stage *of, const share_blocks *blocks) {
  net_stage stage = net_stage_changed(m->memory, of, (net_change){0});
  external_step step = {.stage = (uint32_t)m->to->stages.count,
                        .shares = blocks ? blocks->shares : net_share_count(&stage)};
  bool good = add_moves(m, &stage, blocks, &step), writes = false;
  add_places(m, &stage, &step);
  for (size_t i = 0; i < step.moves.count; i++)
    writes = writes || step.moves.items[i].writes;
  if (!writes)
    return good;
  if (blocks)
    making_put_in_blocks(m, &stage, blocks);
  else if (!net_stage_is_shared(&stage))
    making_add_single_turn(m->memory, &stage);
  vec_push(m->memory, &m->to->stages, net_stage_changed(m->memory, &stage, (net_change){0}));
  vec_push(m->memory, &m->out->steps, step);
  return good;
}

// Of the steps from that one on: what the disk takes for all, about.
static double making_seconds(const making *m, size_t step) {
  double seconds = 0;
  for (; step < m->out->steps.count; step++) {
    const external_step *s = &m->out->steps.items[step];
    external_traffic t = {0};
    bool waits = false, shared = false;
    for (size_t i = 0; i < s->moves.count; i++) {
      const external_move *move = &s->moves.items[i];
      making_add_traffic(m, move, &t);
      shared = shared || !move->whole;
      waits = waits || move->partial;
    }
    seconds += external_seconds(m->target, t, shared ? s->shares : 1) * (waits ? 2 : 1);
  }
  return seconds;
}

bool making_add_faster(making *m, making_way *add, const void *stage) {
  enum { WAYS = 2 };
  mark before = making_mark(m);
  int best = WAYS;
  double least = 0;
  for (int way = 0; way < WAYS; way++) {
    m->wrong = NULL;
    bool fits = add(m, stage, way) && !m->wrong && making_most_bytes(m, before.steps) <= m->bytes;
    double seconds = making_seconds(m, before.steps);
    if (fits && (best == WAYS || seconds < least)) {
      best = way;
      least = seconds;
    }
    making_go_back(m, before);
  }
  m->wrong = NULL;
  return best < WAYS && add(m, stage, best);
}

static bool add_joining(making *m, const void *stage, int joins) {
  m->joins_blocks = joins;
  making_add_as_is(m, stage, NULL);
  return true;
}

bool making_add_step(making *m, const net_stage *stage) {
  return making_add_faster(m, add_joining, stage) || (add_joining(m, stage, 0), false);
}
