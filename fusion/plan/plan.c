// Net to Plan: what is known of a stage, and the choice among strategies. See plan.h.
#include "fusion/plan/planning.h"

// ---- the stage --------------------------------------------------------------------------------

// What one op reads goes from memory to registers, and what an op makes for memory alone goes there
// from registers: neither needs room in the tile. (Where lanes are threads it may have to wait in
// the tile for the phase that has its lines.)
static void spare_short_moves(planning *p, const uint32_t *slot_of) {
  enum { LOAD = 1, STORE = 2, OTHER = 4 };  // what has been in a slot
  const net_stage *s = p->stage;
  uint8_t *held = NEW_ARRAY(p->memory, uint8_t, p->slot_count + 1);
  for (net_id v = 0; v < s->values.count; v++) {
    if (slot_of[v] == NET_NONE)
      continue;
    const net_value_uses *u = &p->uses.values[v];
    bool load = u->maker == NET_NONE && !u->stored && u->first == u->last;
    bool store = u->maker != NET_NONE && u->stored && u->first == NET_NONE;
    held[slot_of[v]] |= load ? LOAD : store ? STORE : OTHER;
  }
  for (uint32_t i = 0; i < p->slot_count; i++)
    if (held[i] == LOAD || held[i] == STORE) {
      p->slot_bytes[i] = 0;
      p->spared_loads += held[i] == LOAD;
      p->spared_stores += held[i] == STORE;
    }
}

static void set_live_directions(planning *p, const slots *all) {
  p->slot_live = NEW_ARRAY(p->memory, f2_space, all->count + 1);
  for (uint32_t i = 0; i < all->count; i++) {
    f2_space masks = f2_space_zero(p->stage->n);
    for (int k = 0; k < all->live[i].dimension; k++)
      f2_space_insert(&masks, live_form(all->live[i].basis[k]).mask);
    p->slot_live[i] = f2_space_orthogonal(masks);
  }
}

// Which slots each op touches, and the dimensions of a line between passes.
static void find_slots(planning *p) {
  const net_stage *s = p->stage;
  size_t values = s->values.count + 1;
  bool *loaded = NEW_ARRAY(p->memory, bool, values), *stored = NEW_ARRAY(p->memory, bool, values);
  uint32_t *slot_of = NEW_ARRAY(p->memory, uint32_t, values);
  slots all = new_slots(p);
  uint32_t narrowest = 16;
  for (size_t i = 0; i < s->loads.count; i++)
    loaded[s->loads.items[i].value] = true;
  for (net_id v = 0; v < s->values.count; v++) {
    stored[v] = p->uses.values[v].stored;
    narrowest = width_of(s, v) < narrowest ? width_of(s, v) : narrowest;
  }
  assign_slots(p, 0, (uint32_t)s->ops.count, loaded, stored, slot_of, &all);
  p->slot_bytes = all.bytes;
  p->slot_count = all.count;
  set_live_directions(p, &all);
  if (p->target->lane_bytes)
    spare_short_moves(p, slot_of);
  p->op_slots = NEW_ARRAY(p->memory, uint64_t, s->ops.count + 1);
  for (size_t i = 0; i < s->ops.count; i++) {
    const net_op *op = &s->ops.items[i];
    const net_reads *r = &p->uses.reads[i];
    for (uint32_t k = 0; k < r->count; k++)
      p->op_slots[i] |= UINT64_C(1) << (slot_of[r->values[k]] & 63);
    for (uint32_t k = 0; k < op->output_count; k++)
      p->op_slots[i] |= UINT64_C(1) << (slot_of[op->outputs[k].value] & 63);
    if (all.count > 64)
      p->op_slots[i] = UINT64_MAX;
  }
  for (size_t i = 0; i < s->loads.count; i++) {
    const net_value_uses *u = &p->uses.values[s->loads.items[i].value];
    if (u->stored && u->first == NET_NONE)
      p->moved_bytes += width_of(s, s->loads.items[i].value);
  }
  p->t = log2_floor(p->target->line_bytes / narrowest);
  p->t = smaller_of(p->t, net_share_bits(s));
}

static void find_lines(planning *p) {
  const net_stage *s = p->stage;
  uint32_t line = p->target->line_bytes;
  p->load_lines = NEW_ARRAY(p->memory, f2_space, s->loads.count + 1);
  p->store_lines = NEW_ARRAY(p->memory, f2_space, s->stores.count + 1);
  for (size_t i = 0; i < s->loads.count; i++)
    p->load_lines[i] =
        lines_in_share(p, &s->loads.items[i].map, line / width_of(s, s->loads.items[i].value));
  for (size_t i = 0; i < s->stores.count; i++)
    p->store_lines[i] =
        lines_in_share(p, &s->stores.items[i].map, line / width_of(s, s->stores.items[i].value));
}

// What crosses a boundary between passes: the longest lines of the values that are made before an
// op and read from it on.
static void find_lines_between(planning *p) {
  const net_stage *s = p->stage;
  size_t ops = s->ops.count + 2;
  int *begin = NEW_ARRAY(p->memory, int, ops *((size_t)p->t + 1));
  p->lines_before = NEW_ARRAY(p->memory, int, ops);
  for (net_id v = 0; v < s->values.count; v++) {
    const net_value_uses *u = &p->uses.values[v];
    if (u->maker == NET_NONE || u->last == NET_NONE)
      continue;
    int *crossing = begin + ops * (size_t)plan_lines_of_value(p, v);
    crossing[u->maker + 1]++;
    crossing[u->last + 1]--;
  }
  for (int t = 1; t <= p->t; t++)
    for (size_t i = 0, open = 0; i < ops; i++) {
      open += (size_t)begin[ops * (size_t)t + i];
      p->lines_before[i] = open ? t : p->lines_before[i];
    }
}

// ---- choosing ---------------------------------------------------------------------------------

static double seconds_of(const plan *p) {
  double seconds = 0;
  for (size_t i = 0; i < p->passes.count; i++)
    seconds += p->passes.items[i].seconds;
  return seconds;
}

// Takes what was added to a plan off it again.
static plan take_off_tail(arena *a, plan *p, size_t arrays, size_t passes) {
  plan tail = {0};
  for (size_t i = arrays; i < p->arrays.count; i++)
    vec_push(a, &tail.arrays, p->arrays.items[i]);
  for (size_t i = passes; i < p->passes.count; i++)
    vec_push(a, &tail.passes, p->passes.items[i]);
  p->arrays.count = arrays;
  p->passes.count = passes;
  return tail;
}

static void find_padding(planning *s, plan *p) {
  s->padding = padding_find(s->memory, s->net, s->stage);
  plan_padding *kind = &p->padding[s->stage_number];
  if (s->padding.start == UINT64_MAX)
    for (size_t i = 0; i < s->stage->loads.count && !*kind; i++)
      *kind = s->stage->loads.items[i].padding_start != UINT64_MAX ? PADDING_STORED : PADDING_NONE;
  else
    *kind = s->padding.first_op == NET_NONE ? PADDING_FREE : PADDING_STORED;
  // Padding stays at the end of memory where blocks of some size stay: at most a part of 2^-5
  // of the array is stored in vain.
  enum { VAIN = 5 };
  s->movable = net_share_bits(s->stage);
  if (*kind == PADDING_FREE) {
    p->padding_values[s->stage_number] = s->padding.values;
    int bits = log2_floor(s->padding.start) - VAIN;
    s->movable = bits < 0 ? 0 : smaller_of(bits, s->movable);
  }
}

// The elements of a share that there is something to do for: of padded arrays those in memory.
static uint64_t busy_elements(const net_stage *s) {
  uint64_t start = 0;
  for (size_t i = 0; i < s->loads.count; i++)
    start = s->loads.items[i].padding_start > start ? s->loads.items[i].padding_start : start;
  bool padded = s->loads.count > 0 && s->loop_count == 0 && start < f2_unit(s->n);
  return (padded ? start : net_stage_elements(s)) / net_share_count(s);
}

// What a GPU gives to a stage: few elements are shared by more threads and more blocks, with less
// in registers and smaller tiles, so that all of it has something to do. Measured for sorting
// networks on an H200: with 2^14 to 2^18 keys up to 1.9 times as fast as large tiles.
const target *plan_stage_target(arena *a, const target *t, const net_stage *s) {
  static const struct {
    int elements, tile, registers;  // log2: at most, of 4-byte elements, of a thread
  } rows[] = {{10, 10, 3}, {12, 12, 5}, {14, 10, 3}, {16, 11, 3},
              {19, 12, 4}, {23, 13, 5}, {64, 14, 5}};
  if (!t->adapts || s->ops.count == 0)
    return t;
  size_t i = 0;
  while (log2_floor(busy_elements(s)) > rows[i].elements)
    i++;
  target *own = NEW(a, target);
  *own = *t;
  if (own->register_bytes > UINT32_C(4) << rows[i].registers)
    own->register_bytes = UINT32_C(4) << rows[i].registers;
  if (own->tile_bytes > UINT64_C(4) << rows[i].tile)
    own->tile_bytes = UINT64_C(4) << rows[i].tile;
  return own;
}

static f2_space share_of(const net_stage *s) {
  return f2_space_units(s->n, f2_mask(net_share_bits(s)));
}

// Whether one of the net's stages is executed in shares: who does so knows stages by number.
static bool has_shares(const net *t) {
  bool any = false;
  for (size_t i = 0; i < t->stages.count; i++) {
    const net_stage *s = &t->stages.items[i];
    any |= net_stage_is_shared(s) || (s->routine && s->routine->shared);
  }
  return any;
}

planning planning_of_stage(arena *a, const plan *p, uint32_t number) {
  planning s = {.memory = a,
                .net = p->net,
                .target = plan_stage_target(a, p->target, &p->net->stages.items[number]),
                .stage_number = number,
                .stage = &p->net->stages.items[number],
                .share = share_of(&p->net->stages.items[number]),
                .alone = NET_NONE};
  s.uses = net_uses_of(s.memory, s.stage);
  find_slots(&s);
  find_lines(&s);
  find_lines_between(&s);
  return s;
}

static int largest_tile(const plan *p) {
  int largest = 0;
  for (size_t i = 0; i < p->passes.count; i++)
    if (p->passes.items[i].tile.dimension > largest)
      largest = p->passes.items[i].tile.dimension;
  return largest;
}

// Of two that cost about the same, that with the smaller tiles has more blocks to share.
static bool is_better(const plan *a, const plan *b) {
  double x = seconds_of(a), y = seconds_of(b), alike = 0.02 * y;
  return x < y - alike || (x < y + alike && largest_tile(a) < largest_tile(b)) ||
         (x < y && largest_tile(a) == largest_tile(b));
}

// The cheapest of the strategies' passes for one stage; of the one that is asked for, if it
// applies.
static void plan_stage(arena *a, plan *p, uint32_t number, const strategy_row *asked) {
  planning s = planning_of_stage(a, p, number);
  find_padding(&s, p);
  size_t arrays = p->arrays.count, passes = p->passes.count;
  bool moves = s.stage->ops.count == 0;
  plan best = {0};
  for (size_t i = 0; plan_strategy_at(i); i++) {
    const strategy_row *row = strategy_row_of(plan_strategy_at(i)->name);
    if (row->shown.moves != moves || (asked ? row != asked : !row->automatic))
      continue;
    s.strategy = row;
    const pass_tiles *tiles = row->cut(&s);
    if (!tiles || (p->strategy[number] && tiles->count > best.passes.count))
      continue;
    build_passes(&s, p, tiles);
    plan candidate = take_off_tail(a, p, arrays, passes);
    if (p->strategy[number] && !is_better(&candidate, &best))
      continue;
    best = candidate;
    p->strategy[number] = row->shown.name;
  }
  if (!p->strategy[number] && asked) {
    plan_stage(a, p, number, NULL);
    return;
  }
  assert(p->strategy[number]);
  p->short_loads += s.spared_loads;
  p->short_stores += s.spared_stores;
  for (size_t i = 0; i < best.arrays.count; i++)
    vec_push(a, &p->arrays, best.arrays.items[i]);
  for (size_t i = 0; i < best.passes.count; i++)
    vec_push(a, &p->passes, best.passes.items[i]);
}

// What a plan holds of one stage.
typedef struct stage_plan {
  const net *net;
  const char *strategy;
  plan_padding padding;
  scalar_bits *padding_values;
  uint32_t short_loads, short_stores;
  plan tail;  // arrays and passes
} stage_plan;

static stage_plan take_off_stage(arena *a, plan *p, uint32_t number, const plan *before) {
  stage_plan s = {p->net,
                  p->strategy[number],
                  p->padding[number],
                  p->padding_values[number],
                  p->short_loads - before->short_loads,
                  p->short_stores - before->short_stores,
                  take_off_tail(a, p, before->arrays.count, before->passes.count)};
  p->strategy[number] = NULL;
  p->padding[number] = PADDING_NONE;
  p->padding_values[number] = NULL;
  p->short_loads = before->short_loads;
  p->short_stores = before->short_stores;
  return s;
}

static void put_stage(arena *a, plan *p, uint32_t number, const stage_plan *s) {
  p->net = s->net;
  p->strategy[number] = s->strategy;
  p->padding[number] = s->padding;
  p->padding_values[number] = s->padding_values;
  p->short_loads += s->short_loads;
  p->short_stores += s->short_stores;
  for (size_t i = 0; i < s->tail.arrays.count; i++)
    vec_push(a, &p->arrays, s->tail.arrays.items[i]);
  for (size_t i = 0; i < s->tail.passes.count; i++)
    vec_push(a, &p->passes, s->tail.passes.items[i]);
}

// A stage, whose ops may be in another order if that takes fewer passes, and not much more work.
static void plan_stage_in_any_order(arena *a, plan *p, uint32_t number, const strategy_row *asked) {
  enum { FEW = 2 };           // passes
  const double much = 1.125;  // what the parts of ops may cost more
  const plan before = *p;
  if (p->net->stages.items[number].routine) {
    plan_routine(a, p, number, asked);
    return;
  }
  plan_stage(a, p, number, asked);
  uint32_t passes = (uint32_t)(p->passes.count - before.passes.count), parts = 0;
  if (passes <= FEW || p->target->keeps_order)
    return;
  planning s = planning_of_stage(a, p, number);
  const net *other = plan_commuted(&s, passes, &parts);
  if (!other)
    return;
  stage_plan in_order = take_off_stage(a, p, number, &before);
  p->net = other;
  plan_stage(a, p, number, asked);
  stage_plan commuted = take_off_stage(a, p, number, &before);
  bool better = commuted.tail.passes.count < passes &&
                seconds_of(&commuted.tail) <= much * seconds_of(&in_order.tail);
  put_stage(a, p, number, better ? &commuted : &in_order);
  p->disjoint_ops += better ? parts : 0;
}

static plan *new_plan(arena *a, const net *n, const target *t) {
  plan *p = NEW(a, plan);
  *p = (plan){.net = n, .target = t};
  p->strategy = NEW_ARRAY(a, const char *, n->stages.count + 1);
  p->padding = NEW_ARRAY(a, plan_padding, n->stages.count + 1);
  p->padding_values = NEW_ARRAY(a, scalar_bits *, n->stages.count + 1);
  for (size_t i = 0; i < n->arrays.count; i++)
    vec_push(a, &p->arrays, n->arrays.items[i]);
  return p;
}

plan *plan_one_tile(arena *a, const net *n, const target *t, int d, uint32_t alone) {
  plan *p = new_plan(a, n, t);
  planning s = planning_of_stage(a, p, 0);
  s.strategy = strategy_row_of("free");
  s.alone = alone;
  find_padding(&s, p);
  run r = plan_run_of(&s, 0, (uint32_t)s.stage->ops.count - 1);
  for (int i = 0; i < d; i++)
    f2_space_insert(&r.space, f2_unit(i));
  build_passes(&s, p, &(pass_tiles){1, &r});
  p->strategy[0] = s.strategy->shown.name;
  const plan_pass *pass = &p->passes.items[0];
  bool good = f2_space_equal(pass->tile, f2_space_units(s.stage->n, f2_mask(d)));
  for (int i = d; i < s.stage->n && good; i++)
    good = pass->blocks[i - d] == f2_unit(i);
  return good ? p : NULL;
}

static plan *plan_stages(arena *a, const net *n, const target *t, const strategy_row *asked) {
  plan *p = new_plan(a, n, t);
  for (uint32_t i = 0; i < n->stages.count; i++)
    plan_stage_in_any_order(a, p, i, asked);
  return p;
}

// Whether passes of the stage have arrays between them.
static bool has_spills(arena *a, const net *n, const target *t, uint32_t stage,
                       const strategy_row *asked) {
  plan *p = new_plan(a, n, t);
  plan_stage_in_any_order(a, p, stage, asked);
  return p->arrays.count > n->arrays.count;
}

// The net with loops in blocks. Blocks that overlap have no arrays between passes: such an array
// holds block after block, and its address would have to know the turn of a loop, where maps know
// its index.
static const net *net_in_blocks(arena *a, const net *t, const target *to, const strategy_row *asked,
                                uint32_t *blocked) {
  plan whole = {.net = t, .target = to};
  net *c = NEW(a, net);
  *c = (net){.arrays = t->arrays, .externs = t->externs};
  for (uint32_t i = 0; i < t->stages.count; i++)
    vec_push(a, &c->stages, t->stages.items[i]);
  *blocked = 0;
  for (uint32_t i = 0; i < t->stages.count; i++) {
    net_stage *s = &c->stages.items[i];
    planning p = planning_of_stage(a, &whole, i);
    bool cut = s->loop_count && plan_stage_in_blocks(&p, s);
    bool good = cut && !(net_stage_overlaps(s) && has_spills(a, c, to, i, asked));
    if (cut && !good)
      *s = t->stages.items[i];
    *blocked += good;
  }
  return c;
}

static uint32_t count_routines(const net *t) {
  uint32_t count = 0;
  for (size_t i = 0; i < t->stages.count; i++)
    count += t->stages.items[i].routine != NULL;
  return count;
}

static double cost_of_net(arena *a, const net *n, const target *t) {
  return seconds_of(plan_stages(a, n, t, NULL));
}

plan *plan_make(arena *a, const net *n, const target *t, const plan_strategy *strategy) {
  const strategy_row *asked = strategy ? strategy_row_of(strategy->name) : NULL;
  bool shared = has_shares(n);  // then stages keep their numbers
  const net *together = shared ? n : plan_together(a, n, t, cost_of_net);
  const net *moved = shared ? n : plan_rewritten(a, together, asked);
  const net *transposed = asked || shared ? moved : plan_transposed(a, moved);
  uint32_t blocked;
  plan *p = plan_stages(a, net_in_blocks(a, transposed, t, asked, &blocked), t, asked);
  p->joined_stages = (uint32_t)(n->stages.count - together->stages.count);
  p->transposed_stages = count_routines(transposed) - count_routines(moved);
  p->blocked_stages = blocked;
  p->keys_of_elements = shared ? 0 : plan_keys_of_elements(a, p);
  return p;
}

const plan_move *plan_only_move(const plan_move *moves, uint32_t count, net_id array) {
  const plan_move *found = NULL;
  for (uint32_t i = 0; i < count; i++)
    if (moves[i].array == array) {
      if (found)
        return NULL;
      found = &moves[i];
    }
  return found;
}
