// Which ops share a pass: strategies to cut a stage into tiles. See plan.h.
//
//   greedy   every tile holds the lines of the stage's index; each pass takes ops while they fit
//   free     between passes the array may lie in any layout whose lines are in both tiles:
//            the fewest passes, by dynamic programming over runs of ops (docs/algebra.md,
//            section 3)
//
// Between two passes with spaces S and S' a line of t dimensions must lie in both tiles. dim(S &
// S') of them do; the rest, vectors of S', are put into the first tile, or vectors of S into the
// second, as far as there is room: the SPARE dimensions d - dim of each.
#include "fusion/plan/planning.h"

// ---- runs -------------------------------------------------------------------------------------

// How many elements of a run's tile share one element of room in a slot: dead ones have none, but
// where lanes are threads those less than a bank wide (kernels/schedule/).
static double elements_in_place(const planning *p, const run *r, uint32_t slot) {
  f2_space live = p->slot_live[slot];
  bool warps = p->target->lane_bytes == 0;
  if ((warps && p->slot_bytes[slot] < 4) || live.dimension == live.n)
    return 1;
  int alive = f2_space_intersection(live, r->space).dimension;
  return (double)f2_unit(r->space.dimension - alive);
}

// The most dimensions of a tile for the slots of a run.
int plan_room(const planning *p, const run *r) {
  double bytes = r->first == 0 ? p->moved_bytes : 0;
  for (uint32_t i = 0; i < p->slot_count; i++)
    if (p->slot_count > 64 || r->slots >> i & 1)
      bytes += p->slot_bytes[i] / elements_in_place(p, r, i);
  uint64_t elements = (uint64_t)((double)p->target->tile_bytes / (bytes > 0 ? bytes : 1));
  int d = elements ? f2_msb(elements) : 0;
  return smaller_of(d, net_share_bits(p->stage));
}

// Adds as many vectors of `part` as make one part of a line of what is loaded directly.
static void insert_part(f2_space *space, f2_space part) {
  enum { FEW = 3 };
  int held = f2_space_intersection(*space, part).dimension;
  for (int i = 0; i < part.dimension && held < FEW; i++)
    held += f2_space_insert(space, part.basis[i]);
}

// The run with its next op as well.
static run with_next_op(const planning *p, run r) {
  uint32_t i = r.end++;
  const net_op *op = &p->stage->ops.items[i];
  for (uint32_t k = 0; k < op->k; k++)
    f2_space_insert(&r.space, op->directions[k]);
  if (p->op_lines[i])
    r.space = f2_space_sum(r.space, *p->op_lines[i]);
  if (p->op_parts[i])
    insert_part(&r.space, *p->op_parts[i]);
  r.slots |= p->op_slots[i];
  return r;
}

static bool fits_in_tile(const planning *p, const run *r) {
  return r->space.dimension <= plan_room(p, r);
}

// The empty run from op `first`; the first of all holds what is stored as it was loaded.
static run empty_run(const planning *p, uint32_t first) {
  return (run){first, first, first ? f2_space_zero(p->stage->n) : p->moved_lines, 0};
}

run plan_run_of(const planning *p, uint32_t first, uint32_t last) {
  run r = empty_run(p, first);
  while (r.end <= last)
    r = with_next_op(p, r);
  return r;
}

// The run with ops while they fit into a tile, but at least to op `end`.
static run longest_run(const planning *p, run r, uint32_t end) {
  while (r.end < p->stage->ops.count) {
    run wider = with_next_op(p, r);
    if (!fits_in_tile(p, &wider) && r.end >= end)
      break;
    r = wider;
  }
  return r;
}

run plan_longest_run(const planning *p, uint32_t first, uint32_t end) {
  return longest_run(p, empty_run(p, first), end);
}

static pass_tiles *new_tiles(planning *p, uint32_t count) {
  pass_tiles *t = NEW(p->memory, pass_tiles);
  t->runs = NEW_ARRAY(p->memory, run, count);
  return t;
}

// ---- greedy -----------------------------------------------------------------------------------

pass_tiles *plan_in_index_layout(planning *p) {
  uint32_t ops = (uint32_t)p->stage->ops.count, end = 0;
  pass_tiles *t = new_tiles(p, ops + 1);
  do {
    run r = empty_run(p, end);
    r.space = f2_space_sum(r.space, f2_space_units(p->stage->n, f2_mask(p->t)));
    t->runs[t->count] = longest_run(p, r, end + 1);
    end = t->runs[t->count++].end;
  } while (end < ops);
  return t;
}

// ---- free layouts -----------------------------------------------------------------------------

// A pass that ends a chain of passes: its run, and the dimensions that are left in its tile.
typedef struct chain {
  uint32_t run, before;  // before: the chain it continues, or NET_NONE
  int spare, borrowed;   // borrowed: vectors that the pass before has for this boundary
} chain;

typedef struct search {
  planning *p;
  VEC(run) runs;
  uint32_t *runs_of;  // by first op: the first of its runs, or NET_NONE; they are consecutive
  VEC(chain) chains;
} search;

// The runs from op `first`: for each dimension near the most the longest run that has it.
static uint32_t find_runs(search *s, uint32_t first) {
  planning *p = s->p;
  if (s->runs_of[first] != NET_NONE)
    return s->runs_of[first];
  uint32_t ops = (uint32_t)p->stage->ops.count;
  s->runs_of[first] = (uint32_t)s->runs.count;
  run r = empty_run(p, first);
  while (r.end < ops) {
    run wider = with_next_op(p, r);
    bool last = !fits_in_tile(p, &wider) && r.end > first;
    bool grows = wider.space.dimension > r.space.dimension || wider.slots != r.slots;
    if (last || (r.end > first && grows && r.space.dimension >= plan_room(p, &r) - p->t))
      vec_push(p->memory, &s->runs, r);
    if (last)
      return s->runs_of[first];
    r = wider;
  }
  vec_push(p->memory, &s->runs, r);
  return s->runs_of[first];
}

static uint32_t runs_end(const search *s, uint32_t start) {
  uint32_t end = start;
  while (end < s->runs.count && s->runs.items[end].first == s->runs.items[start].first)
    end++;
  return end;
}

// The part of a tile in which lines between passes may lie.
static f2_space movable_part(const planning *p, f2_space tile) {
  return p->movable == p->stage->n
             ? tile
             : f2_space_intersection(tile, f2_space_units(p->stage->n, f2_mask(p->movable)));
}

// Continues chain c with run r, if that leaves more spare dimensions than *best.
static void continue_chain(search *s, uint32_t c, uint32_t r, chain *best) {
  const planning *p = s->p;
  const run *a = &s->runs.items[s->chains.items[c].run], *b = &s->runs.items[r];
  f2_space lines_a = movable_part(p, a->space), lines_b = movable_part(p, b->space);
  int shared = f2_space_intersection(lines_a, lines_b).dimension;
  int lines = p->lines_before[b->first], spare = plan_room(p, b) - b->space.dimension;
  int need = lines - (shared < lines ? shared : lines);
  // What is borrowed from the pass before costs dimensions that nobody else wants: as much as can
  // be.
  int most = s->chains.items[c].spare < need ? s->chains.items[c].spare : need;
  if (most > lines_b.dimension - shared)
    most = lines_b.dimension - shared;
  int own = need - most;
  if (own <= lines_a.dimension - shared && spare - own > best->spare)
    *best = (chain){r, c, spare - own, most};
}

// Vectors of `from` into *to until `count` have been added that lie in both.
static void insert_shared(f2_space *to, f2_space from, int count) {
  for (int i = 0; i < from.dimension && count > 0; i++)
    count -= f2_space_insert(to, from.basis[i]);
}

static bool tiles_hold_lines(const planning *p, const pass_tiles *t) {
  for (uint32_t i = 0; i < t->count; i++) {
    if (!fits_in_tile(p, &t->runs[i]))
      return false;
    f2_space before = movable_part(p, i ? t->runs[i - 1].space : t->runs[i].space);
    int lines = p->lines_before[t->runs[i].first];
    if (i && f2_space_intersection(before, t->runs[i].space).dimension < lines)
      return false;
  }
  return true;
}

static pass_tiles *chain_tiles(search *s, uint32_t last) {
  planning *p = s->p;
  uint32_t count = 0;
  for (uint32_t c = last; c != NET_NONE; c = s->chains.items[c].before)
    count++;
  pass_tiles *t = new_tiles(p, count);
  t->count = count;
  int *borrowed = NEW_ARRAY(p->memory, int, count + 1);
  for (uint32_t c = last, i = count; c != NET_NONE; c = s->chains.items[c].before) {
    t->runs[--i] = s->runs.items[s->chains.items[c].run];
    borrowed[i] = s->chains.items[c].borrowed;
  }
  for (uint32_t i = 1; i < count; i++) {
    f2_space before = movable_part(p, t->runs[i - 1].space);
    f2_space own = movable_part(p, t->runs[i].space);
    insert_shared(&t->runs[i - 1].space, own, borrowed[i]);
    int shared = f2_space_intersection(t->runs[i - 1].space, own).dimension;
    insert_shared(&t->runs[i].space, before, p->lines_before[t->runs[i].first] - shared);
  }
  return tiles_hold_lines(p, t) ? t : NULL;
}

static uint32_t chain_end(const search *s, uint32_t c) {
  return s->runs.items[s->chains.items[c].run].end;
}

// The chains that continue those in [layer, layer_end) which end at op `end`, one for each run.
static void extend_chains(search *s, uint32_t layer, uint32_t layer_end, uint32_t end) {
  bool any = false;
  for (uint32_t c = layer; c < layer_end; c++)
    any |= chain_end(s, c) == end;
  if (!any)
    return;
  uint32_t from = find_runs(s, end), to = runs_end(s, from);
  for (uint32_t r = from; r < to; r++) {
    chain best = {.spare = -1};
    for (uint32_t c = layer; c < layer_end; c++)
      if (chain_end(s, c) == end)
        continue_chain(s, c, r, &best);
    if (best.spare >= 0)
      vec_push(s->p->memory, &s->chains, best);
  }
}

// The bytes of what crosses from an op's run to later ones.
static double bytes_between(const planning *p, uint32_t op) {
  double bytes = 0;
  for (net_id v = 0; v < p->stage->values.count; v++) {
    const net_value_uses *u = &p->uses.values[v];
    if (u->maker != NET_NONE && u->maker < op && u->last != NET_NONE && u->last >= op)
      bytes += width_of(p->stage, v) / (double)f2_unit(plan_live_of_value(p, v).dimension);
  }
  return bytes;
}

// Whether tiles leave much less to later passes than others of as many passes do. The last passes
// of a reduction have few blocks, so that a GPU has nothing else to do meanwhile.
static bool leaves_less(const planning *p, const pass_tiles *t, const pass_tiles *best) {
  enum { MUCH = 2 };
  double own = 0, others = 0;
  for (uint32_t i = 0; i < t->count && p->target->lane_bytes == 0; i++) {
    own += i ? bytes_between(p, t->runs[i].first) : 0;
    others += i ? bytes_between(p, best->runs[i].first) : 0;
  }
  return own * MUCH <= others && own < others;
}

// Chains of 1, 2, ... passes; of those with equally many, only the ones that came nearly as far as
// the farthest go on.
pass_tiles *plan_free_layouts(planning *p) {
  enum { WINDOW = 12 };
  uint32_t ops = (uint32_t)p->stage->ops.count;
  search s = {.p = p, .runs_of = NEW_ARRAY(p->memory, uint32_t, ops + 1)};
  for (uint32_t i = 0; i <= ops; i++)
    s.runs_of[i] = NET_NONE;
  uint32_t start = find_runs(&s, 0), layer = 0;
  for (uint32_t r = start; r < runs_end(&s, start); r++) {
    chain c = {r, NET_NONE, plan_room(p, &s.runs.items[r]) - s.runs.items[r].space.dimension, 0};
    if (c.spare >= 0)
      vec_push(p->memory, &s.chains, c);
  }
  while (layer < s.chains.count) {
    uint32_t layer_end = (uint32_t)s.chains.count, farthest = 0;
    pass_tiles *best = NULL;
    for (uint32_t c = layer; c < layer_end; c++) {
      pass_tiles *t = chain_end(&s, c) == ops ? chain_tiles(&s, c) : NULL;
      if (t && (!best || leaves_less(p, t, best)))
        best = t;
      if (chain_end(&s, c) < ops && chain_end(&s, c) > farthest)
        farthest = chain_end(&s, c);
    }
    if (best)
      return best;
    for (uint32_t end = farthest > WINDOW ? farthest - WINDOW : 0; end <= farthest; end++)
      extend_chains(&s, layer, layer_end, end);
    layer = layer_end;
  }
  return NULL;
}
