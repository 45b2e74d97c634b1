// Net to Plan: what is known of a stage, and the choice among strategies. See plan.h.
#include "fusion/plan/planning.h"

// ---- the stage --------------------------------------------------------------------------------

// The op that does the load itself (plan.h), or NET_NONE.
static uint32_t direct_reader(const planning *p, const net_load *l) {
  const net_stage *s = p->stage;
  const net_value_uses *u = &p->uses.values[l->value];
  if (u->stored || u->first == NET_NONE || u->first != u->last || l->padding_start != UINT64_MAX)
    return NET_NONE;
  for (size_t i = 0; i < s->stores.count; i++)
    if (s->stores.items[i].array == l->array)
      return NET_NONE;
  const net_op *op = &s->ops.items[u->first];
  f2_space same = part_space(&l->map, s->n, 1);
  for (uint32_t k = 0; k < op->k; k++)
    if (f2_space_has(same, op->directions[k]))
      return u->first;
  return NET_NONE;
}

// Memory moves at least so many bytes: a tile has as much of what it loads directly together, or
// uses one element as often.
static void find_direct_loads(planning *p) {
  enum { PART = 32 };
  const net_stage *s = p->stage;
  p->direct = NEW_ARRAY(p->memory, bool, s->values.count + 1);
  p->op_parts = NEW_ARRAY(p->memory, f2_space *, s->ops.count + 1);
  for (size_t i = 0; i < s->loads.count; i++) {
    const net_load *l = &s->loads.items[i];
    uint32_t op = direct_reader(p, l);
    if (op == NET_NONE)
      continue;
    p->direct[l->value] = true;
    f2_space part = part_space(&l->map, s->n, PART / width_of(s, l->value));
    part = f2_space_intersection(part, p->share);
    if (p->op_parts[op])
      part = f2_space_intersection(part, *p->op_parts[op]);
    else
      p->op_parts[op] = NEW(p->memory, f2_space);
    *p->op_parts[op] = part;
  }
}

// What one op reads goes from memory to registers, and what an op makes for memory alone goes there
// from registers: neither needs room in the tile. (Where lanes are threads it may have to wait in
// the tile for the phase that has its lines, unless it is loaded directly.)
static void spare_short_moves(planning *p, const uint32_t *slot_of) {
  enum { LOAD = 1, STORE = 2, OTHER = 4 };  // what has been in a slot
  const net_stage *s = p->stage;
  uint8_t *held = NEW_ARRAY(p->memory, uint8_t, p->slot_count + 1);
  for (net_id v = 0; v < s->values.count; v++) {
    if (slot_of[v] == NET_NONE)
      continue;
    const net_value_uses *u = &p->uses.values[v];
    bool waits = p->target->lane_bytes == 0;
    bool load =
        u->maker == NET_NONE && !u->stored && u->first == u->last && (!waits || p->direct[v]);
    bool store = u->maker != NET_NONE && u->stored && u->first == NET_NONE && !waits;
    held[slot_of[v]] |= load ? LOAD : store ? STORE : OTHER;
  }
  for (uint32_t i = 0; i < p->slot_count; i++)
    if (held[i] == LOAD || held[i] == STORE) {
      p->slot_bytes[i] = 0;
      p->spared_loads += held[i] == LOAD;
      p->spared_stores += held[i] == STORE;
    }
}

// Which slots each op touches, and the dimensions of a line between passes.
static void find_slots(planning *p) {
  const net_stage *s = p->stage;
  size_t values = s->values.count + 1;
  bool *loaded = NEW_ARRAY(p->memory, bool, values), *stored = NEW_ARRAY(p->memory, bool, values);
  uint32_t *slot_of = NEW_ARRAY(p->memory, uint32_t, values);
  slots all = {0};
  uint32_t narrowest = 16;
  for (size_t i = 0; i < s->loads.count; i++)
    loaded[s->loads.items[i].value] = true;
  for (net_id v = 0; v < s->values.count; v++) {
    stored[v] = p->uses.values[v].stored;
    narrowest = width_of(s, v) < narrowest ? width_of(s, v) : narrowest;
  }
  assign_slots(p, 0, (uint32_t)s->ops.count, loaded, stored, slot_of, &all);
  p->slot_bytes = all.bytes.items;
  p->slot_count = (uint32_t)all.bytes.count;
  p->slot_live = all.live.items;
  for (uint32_t i = 0; i < p->slot_count; i++)
    p->slot_live[i] = live_directions(p->slot_live[i]);
  spare_short_moves(p, slot_of);
  p->op_slots = NEW_ARRAY(p->memory, uint64_t, s->ops.count + 1);
  p->depth = NEW_ARRAY(p->memory, uint32_t, s->nodes.count + 1);
  for (size_t i = 0; i < s->ops.count; i++) {
    const net_op *op = &s->ops.items[i];
    const net_reads *r = &p->uses.reads[i];
    for (uint32_t k = 0; k < r->count; k++)
      p->op_slots[i] |= UINT64_C(1) << (slot_of[r->values[k]] & 63);
    for (uint32_t k = 0; k < op->output_count; k++)
      p->op_slots[i] |= UINT64_C(1) << (slot_of[op->outputs[k].value] & 63);
    if (p->slot_count > 64)
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

// The lines of a load or store of value v are needed by an op, or by the first pass.
static void add_lines(planning *p, uint32_t op, const net_map *map, net_id v) {
  f2_space *to = op == NET_NONE ? &p->moved_lines : p->op_lines[op];
  if (!to) {
    to = p->op_lines[op] = NEW(p->memory, f2_space);
    *to = f2_space_zero(p->stage->n);
  }
  *to = f2_space_sum(*to, lines_of_value(p, map, v));
}

// A store of few elements, such as a sum of each row, asks for no lines: a pass for them would take
// longer than parts of lines do.
static void find_lines(planning *p) {
  enum { FEW = 6 };  // 2^-6 of the elements
  const net_stage *s = p->stage;
  p->op_lines = NEW_ARRAY(p->memory, f2_space *, s->ops.count + 1);
  p->moved_lines = f2_space_zero(s->n);
  for (size_t i = 0; i < s->loads.count; i++) {
    const net_load *l = &s->loads.items[i];
    const net_value_uses *u = &p->uses.values[l->value];
    if (u->first != NET_NONE && !p->direct[l->value])
      add_lines(p, u->first, &l->map, l->value);
    if (u->stored)
      add_lines(p, NET_NONE, &l->map, l->value);
  }
  for (size_t i = 0; i < s->stores.count; i++) {
    net_id v = s->stores.items[i].value;
    if (s->stores.items[i].live_count < FEW)
      add_lines(p, p->uses.values[v].maker, &s->stores.items[i].map, v);
  }
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
    int *crossing = begin + ops * (size_t)plan_line_bits_of_value(p, v);
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

static void find_padding(planning *s) {
  s->padding = padding_find(s->memory, s->net, s->stage);
  if (s->padding.start == UINT64_MAX)
    for (size_t i = 0; i < s->stage->loads.count && !s->padding_kind; i++)
      s->padding_kind =
          s->stage->loads.items[i].padding_start != UINT64_MAX ? PADDING_STORED : PADDING_NONE;
  else
    s->padding_kind = s->padding.first_op == NET_NONE ? PADDING_FREE : PADDING_STORED;
  // Padding stays at the end of memory where blocks of some size stay: at most a part of 2^-5
  // of the array is stored in vain.
  enum { VAIN = 5 };
  s->movable = net_share_bits(s->stage);
  if (s->padding_kind == PADDING_FREE) {
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

// Of what only moves. Lines of 128 bytes of 2 bytes each are 64 rows, in as many pages and banks, and
// many elements move faster in longer ones. On an EPYC, 2^26 u16: bit reversal 41 ms, with lines of
// 512 bytes 27 ms; transposition 17.5 and 14.6 ms. (Of bytes 27 and 23 ms, 8.7 and 8.2 ms; but
// uncompiled twice as long.)
static const target *moving_target(arena *a, const target *t, const net_stage *s, uint32_t widest) {
  enum { NARROW = 2, LINE = 512, LARGE = 1 << 23 };
  if (!t->lane_bytes || widest != NARROW || busy_elements(s) * NARROW < LARGE)
    return t;
  target *own = NEW(a, target);
  *own = *t;
  own->line_bytes = LINE;
  return own;
}

static const target *stage_target(arena *a, const target *t, const net_stage *s,
                                  target_choice choice) {
  uint32_t widest = 1;
  for (net_id v = 0; v < s->values.count; v++)
    widest = width_of(s, v) > widest ? width_of(s, v) : widest;
  if (s->ops.count)
    return target_for(a, t, busy_elements(s), widest, choice);
  return choice ? NULL : moving_target(a, t, s, widest);
}

const target *plan_stage_target(arena *a, const target *t, const net_stage *s) {
  return stage_target(a, t, s, TARGET_USUAL);
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

static planning planning_for(arena *a, const plan *p, uint32_t number, const target *t) {
  const net_stage *stage = &p->net->stages.items[number];
  planning s = {.memory = a,
                .plan = p,
                .net = p->net,
                .target = t,
                .stage_number = number,
                .stage = stage,
                .share = f2_space_units(stage->n, f2_mask(net_share_bits(stage))),
                .alone = NET_NONE};
  s.uses = net_uses_of(s.memory, s.stage);
  find_direct_loads(&s);
  find_slots(&s);
  find_lines(&s);
  find_lines_between(&s);
  return s;
}

planning planning_of_stage(arena *a, const plan *p, uint32_t number) {
  const net_stage *stage = &p->net->stages.items[number];
  return planning_for(a, p, number, plan_stage_target(a, p->target, stage));
}

// A stage's passes as it is planned, before they are those of the plan.
typedef struct stage_plan {
  const net *net;  // with the stage's ops in this order
  const char *strategy;
  planning of;
  stage_passes made;
  uint32_t waiting;  // parts of ops that wait for a later pass
} stage_plan;

// Of two that cost about the same, that with the smaller tiles has more blocks to share.
static bool is_better(const stage_passes *a, const stage_passes *b) {
  double alike = 0.02 * b->seconds;
  return a->seconds < b->seconds - alike ||
         (a->seconds < b->seconds + alike && a->largest_tile < b->largest_tile) ||
         (a->seconds < b->seconds && a->largest_tile == b->largest_tile);
}

// The cheapest of the strategies' passes for one stage and that target; of the one that is asked
// for, if it applies.
static stage_plan plan_stage_for(arena *a, const plan *p, uint32_t number, const target *t,
                                 const strategy_row *asked) {
  stage_plan best = {.net = p->net, .of = planning_for(a, p, number, t)};
  planning *s = &best.of;
  find_padding(s);
  bool moves = s->stage->ops.count == 0;
  for (size_t i = 0; plan_strategy_at(i); i++) {
    const strategy_row *row = s->strategy = strategy_row_of(plan_strategy_at(i)->name);
    if (row->shown.moves != moves || (asked ? row != asked : !row->automatic))
      continue;
    const pass_tiles *tiles = row->cut(s);
    if (!tiles || (best.strategy && tiles->count > best.made.passes.count))
      continue;
    stage_passes made = build_passes(s, tiles);
    if (best.strategy && !is_better(&made, &best.made))
      continue;
    best.made = made;
    best.strategy = row->shown.name;
  }
  assert(best.strategy || asked);
  return best.strategy ? best : plan_stage_for(a, p, number, t, NULL);
}

static uint32_t phases_of_stage(const stage_plan *s) {
  uint32_t phases = 0;
  for (size_t i = 0; i < s->made.passes.count; i++)
    phases += s->made.passes.items[i].phase_count;
  return phases;
}

static uint64_t array_bytes(const net_array *a) { return a->count * scalar_types[a->type].size; }

// Bytes of what the stage reads, writes, and has between its passes.
static uint64_t bytes_of_stage(const stage_plan *of) {
  const net_stage *s = of->of.stage;
  uint64_t bytes = 0;
  for (size_t i = 0, first; i < s->loads.count; i++) {
    for (first = 0; s->loads.items[first].array != s->loads.items[i].array; first++)
      ;
    bytes += first == i ? array_bytes(&of->net->arrays.items[s->loads.items[i].array]) : 0;
  }
  for (size_t i = 0; i < s->stores.count; i++)
    bytes += net_stage_elements(s) * width_of(s, s->stores.items[i].value) >>
             s->stores.items[i].live_count;
  for (size_t i = 0; i < of->made.arrays.count; i++)
    bytes += array_bytes(&of->made.arrays.items[i]);
  return bytes;
}

// Whether a tile of another size is the better one. Half of the usual one is, where neither passes
// nor phases are more: there are more blocks. The largest leaves room for one block, which waits
// for itself: its passes may take 7/5 of the time (a sorting network of 2^24 keys, 13 passes for 16:
// 850 us for 733; fwht of 2^24, 2 passes for 3: 78 us for 110). Those with half lines may take 6/5,
// where it is memory that takes the time; with the largest tile only of what stays in a cache of 50
// MB (fft of 2^21 c64, 2 passes for 3: 26 us for 29, of 2^22 61 for 57; convolve of 2^21, 4 for 5:
// 78 for 76).
static bool is_better_tile(target_choice choice, const stage_plan *one, const stage_plan *than) {
  enum { CACHED = 50 << 20 };
  size_t passes = one->made.passes.count, others = than->made.passes.count;
  if (choice == TARGET_WHOLE_TILE)
    return 7 * passes < 5 * others;
  if (choice == TARGET_WHOLE_TILE_HALF_LINES && bytes_of_stage(one) > CACHED)
    return false;
  if (target_has_half_lines(choice))
    return 6 * passes < 5 * others && one->made.seconds < 0.85 * than->made.seconds;
  return passes < others || (passes == others && phases_of_stage(one) <= phases_of_stage(than));
}

static stage_plan plan_stage(arena *a, const plan *p, uint32_t number, const strategy_row *asked) {
  const net_stage *stage = &p->net->stages.items[number];
  const target *t = plan_stage_target(a, p->target, stage);
  stage_plan best = plan_stage_for(a, p, number, t, asked);
  for (target_choice i = TARGET_USUAL + 1; i < TARGET_CHOICES; i++) {
    if (best.made.passes.count < 2 || !(t = stage_target(a, p->target, stage, i)))
      continue;
    stage_plan other = plan_stage_for(a, p, number, t, asked);
    if (is_better_tile(i, &other, &best))
      best = other;
  }
  return best;
}

static stage_plan plan_routine(arena *a, const plan *p, uint32_t number,
                               const strategy_row *asked) {
  const net_stage *s = &p->net->stages.items[number];
  bool named = s->routine->kind == NET_PERMUTE && asked && plan_strategy_permutes(&asked->shown);
  plan_pass pass = {.stage = number,
                    .tile = f2_space_zero(0),
                    .slot_of = NEW(a, uint32_t),
                    .padding_start = UINT64_MAX};
  plan_find_accesses(a, s, &pass);
  pass.seconds = pass_seconds(p, &pass);
  stage_plan own = {.net = p->net,
                    .strategy = named ? asked->shown.name : "routine",
                    .made.seconds = pass.seconds};
  vec_push(a, &own.made.passes, pass);
  return own;
}

// Where chains of ops meet, their last levels may go in lockstep: as many as make one pass of them.
// Of plans that are about as fast that with fewer phases is taken. (One H200, convolutions of c64:
// 2^24 with 6, 8 and 10 levels 671, 643 and 732 us, in order 727; 2^20 40, 40 and 33.)
static stage_plan plan_in_step(arena *a, const plan *p, uint32_t number, const strategy_row *asked,
                               const stage_plan *in_order) {
  enum { LEAST = 6, MOST = 10 };
  const double alike = 0.01;
  stage_plan best = *in_order;
  for (uint32_t levels = LEAST; levels <= MOST; levels += 2) {
    plan *other = NEW(a, plan);
    *other = *p;
    if (!(other->net = plan_in_lockstep(&in_order->of, levels)))
      break;
    stage_plan found = plan_stage(a, other, number, asked);
    double less = best.made.seconds - found.made.seconds, same = alike * best.made.seconds;
    if (found.made.passes.count <= best.made.passes.count &&
        (less > same || (less > -same && phases_of_stage(&found) < phases_of_stage(&best))))
      best = found;
  }
  return best;
}

// A stage, whose ops may be in another order if that takes fewer passes, and not much more work.
static stage_plan plan_stage_in_any_order(arena *a, const plan *p, uint32_t number,
                                          const strategy_row *asked) {
  enum { FEW = 2 };           // passes
  const double much = 1.125;  // what the parts of ops may cost more
  if (p->net->stages.items[number].routine)
    return plan_routine(a, p, number, asked);
  stage_plan best = plan_stage(a, p, number, asked);
  if (best.made.passes.count <= FEW || p->target->keeps_order)
    return best;
  best = plan_in_step(a, p, number, asked, &best);
  uint32_t passes = (uint32_t)best.made.passes.count, parts = 0;
  plan *other = NEW(a, plan);
  *other = *p;
  if (!(other->net = plan_commuted(&best.of, passes, &parts)))
    return best;
  stage_plan commuted = plan_stage(a, other, number, asked);
  commuted.waiting = parts;
  return commuted.made.passes.count < passes && commuted.made.seconds <= much * best.made.seconds
             ? commuted
             : best;
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

static void add_stage(arena *a, plan *p, uint32_t number, const stage_plan *own) {
  const planning *s = &own->of;
  p->net = own->net;
  p->strategy[number] = own->strategy;
  p->padding[number] = s->padding_kind;
  p->padding_values[number] = s->padding_kind == PADDING_FREE ? s->padding.values : NULL;
  p->fired[RULE_SHORT_LOADS] += s->spared_loads;
  p->fired[RULE_SHORT_STORES] += s->spared_stores;
  p->fired[RULE_DISJOINT_OPS] += own->waiting;
  for (size_t i = 0; i < own->made.arrays.count; i++)
    vec_push(a, &p->arrays, own->made.arrays.items[i]);
  for (size_t i = 0; i < own->made.passes.count; i++)
    vec_push(a, &p->passes, own->made.passes.items[i]);
}

plan *plan_one_tile(arena *a, const net *n, const target *t, int d, uint32_t alone) {
  plan *p = new_plan(a, n, t);
  stage_plan own = {.net = n, .strategy = "free", .of = planning_of_stage(a, p, 0)};
  planning *s = &own.of;
  s->strategy = strategy_row_of(own.strategy);
  s->alone = alone;
  find_padding(s);
  run r = plan_run_of(s, 0, (uint32_t)s->stage->ops.count - 1);
  for (int i = 0; i < d; i++)
    f2_space_insert(&r.space, f2_unit(i));
  own.made = build_passes(s, &(pass_tiles){1, &r});
  add_stage(a, p, 0, &own);
  const plan_pass *pass = &p->passes.items[0];
  bool good = f2_space_equal(pass->tile, f2_space_units(s->stage->n, f2_mask(d)));
  for (int i = d; i < s->stage->n && good; i++)
    good = pass->blocks[i - d] == f2_unit(i);
  return good ? p : NULL;
}

static plan *plan_stages(arena *a, const net *n, const target *t, const strategy_row *asked) {
  plan *p = new_plan(a, n, t);
  planned_stages known = {.memory = a, .net = n};
  for (uint32_t i = 0; i < n->stages.count; i++) {
    if (plan_stage_again(&known, p, i))
      continue;
    planned_stage made = {i, (uint32_t)p->passes.count, 0, (uint32_t)p->arrays.count, 0, false};
    stage_plan own = plan_stage_in_any_order(a, p, i, asked);
    made.reordered = own.net != p->net;
    add_stage(a, p, i, &own);
    made.end_pass = (uint32_t)p->passes.count;
    made.end_array = (uint32_t)p->arrays.count;
    vec_push(a, &known.stages, made);
  }
  return p;
}

// ---- the net as it is planned -------------------------------------------------------------------

// Whether passes of the stage, whose blocks overlap, have arrays between them that are too large, or
// lie in shares: such an array has room for a block at each index of a loop.
static bool needs_large_arrays(const rewriting *r, net_stage blocked) {
  plan p = {.net = net_with_stage(r->memory, r->net, r->number, blocked), .target = r->target};
  const stage_passes made = plan_stage_in_any_order(r->memory, &p, r->number, r->asked).made;
  bool large = false;
  for (size_t i = 0; i < made.arrays.count; i++)
    large |=
        net_stage_is_shared(&blocked) || made.arrays.items[i].count > net_stage_elements(&blocked);
  return large;
}

static bool rewrite_in_blocks(const rewriting *r, net *to) {
  net_stage blocked;
  plan p = {.net = r->net, .target = r->target};
  if (!r->stage->loop_count)
    return false;
  planning own = planning_of_stage(r->memory, &p, r->number);
  bool changes = plan_stage_in_blocks(&own, true, &blocked);
  if (changes && net_stage_overlaps(&blocked) && needs_large_arrays(r, blocked))
    changes = plan_stage_in_blocks(&own, false, &blocked);
  if (changes)
    vec_push(r->memory, &to->stages, blocked);
  return changes;
}

// What may become of each stage, in turn.
static const struct {
  net_rewrite *apply;
  bool renumbers;  // stages, or what routines there are: not of stages in shares, known by number
} rewrites[] = {{plan_rewrite_columns, true},
                {plan_rewrite_moves, true},
                {plan_rewrite_transpose, true},
                {rewrite_in_blocks, false}};
enum { COLUMNS, MOVES, TRANSPOSES, BLOCKS, REWRITES };

// What has become of a stage.
typedef struct rewritten_stage {
  uint32_t number;
  bool changed;
  size_t first, end;  // stages of the new net
} rewritten_stage;
typedef VEC(rewritten_stage) rewritten_stages;

// The same for a stage that is like an earlier one. NULL: there is none.
static const rewritten_stage *rewrite_again(const rewriting *r, net *to, net_id *arrays,
                                            const rewritten_stages *known) {
  const rewritten_stage *like = NULL;
  net_pairs pairs = {0};
  for (size_t i = 0; i < known->count && !like; i++)
    if (net_stages_are_alike(r->memory, r->net, &r->net->stages.items[known->items[i].number],
                             r->stage, &pairs))
      like = &known->items[i];
  if (!like || !like->changed)
    return like;
  for (size_t i = 0; i < pairs.count; i++)
    arrays[pairs.items[i].of] = pairs.items[i].with;
  for (size_t i = like->first; i < like->end; i++)
    vec_push(r->memory, &to->stages, net_stage_on(r->memory, &to->stages.items[i], arrays));
  return like;
}

// The net with others for the stages that one of the rewrites has others for; *count: so many.
static const net *rewrite_stages(rewriting r, net_rewrite *apply, uint32_t *count) {
  net *to = NEW(r.memory, net);
  net_id *arrays = NEW_ARRAY(r.memory, net_id, r.net->arrays.count + 1);
  rewritten_stages known = {0};
  *to = (net){.externs = r.net->externs};
  for (size_t i = 0; i < r.net->arrays.count; i++)
    vec_push(r.memory, &to->arrays, r.net->arrays.items[i]);
  for (; r.number < r.net->stages.count; r.number++) {
    r.stage = &r.net->stages.items[r.number];
    rewritten_stage made = {.number = r.number, .first = to->stages.count};
    const rewritten_stage *like = rewrite_again(&r, to, arrays, &known);
    size_t before = to->arrays.count;
    made.changed = like ? like->changed : apply(&r, to);
    if (!made.changed)
      vec_push(r.memory, &to->stages, *r.stage);
    made.end = to->stages.count;
    if (!like && to->arrays.count == before)  // others have arrays of their own
      vec_push(r.memory, &known, made);
    *count += made.changed;
  }
  return *count ? to : r.net;
}

static double cost_of_net(arena *a, const net *n, const target *t) {
  const plan *p = plan_stages(a, n, t, NULL);
  double seconds = 0;
  for (size_t i = 0; i < p->passes.count; i++)
    seconds += p->passes.items[i].seconds;
  return seconds;
}

plan *plan_make(arena *a, const net *n, const target *t, const plan_strategy *strategy) {
  const strategy_row *asked = strategy ? strategy_row_of(strategy->name) : NULL;
  bool shared = has_shares(n);
  uint32_t changed[REWRITES] = {0};
  uint32_t pairs = 0;
  n = shared || t->keeps_order ? n : net_pair_reals(a, n, &pairs);
  const net *together = shared ? n : plan_together(a, n, t, cost_of_net), *last = together;
  for (int i = 0; i < REWRITES; i++)
    if (!shared || !rewrites[i].renumbers)
      last = rewrite_stages((rewriting){.memory = a, .net = last, .target = t, .asked = asked},
                            rewrites[i].apply, &changed[i]);
  plan *p = plan_stages(a, last, t, asked);
  p->fired[RULE_REAL_PAIRS] = pairs;
  p->fired[RULE_TOGETHER] = (uint32_t)(n->stages.count - together->stages.count);
  p->fired[RULE_TRANSPOSE] = changed[TRANSPOSES];
  p->fired[RULE_BLOCKED_LOOPS] = changed[BLOCKS];
  p->fired[RULE_KEYS_OF_ELEMENTS] = shared ? 0 : plan_keys_of_elements(a, p);
  plan_find_loops(a, p);
  return p;
}
