// Drawing a plan, and the bounds on its passes: see hidden.h.
#include "tests/generator/hidden.h"

#include <string.h>

const char *const hidden_way_names[HIDDEN_WAYS] = {
    "columns", "parm",     "recursion", "take, drop", "split, join", "comprehension",
    "moves",   "partners", "weights",   "switches",   "bits",        "paired",
    "parts",   "neutral",  "one side",  "by index",   "halves",      "windows",
    "rows",    "shrink",   "grow",      "mixed"};

// splitmix64 (Steele, Lea and Flood 2014).
uint64_t hidden_random(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

uint32_t hidden_below(uint64_t *state, uint32_t bound) {
  return (uint32_t)(hidden_random(state) >> 32) % bound;
}

// ---- sizes ---------------------------------------------------------------------------------------

static int floor_log2(uint64_t x) { return x ? f2_msb(x) : -1; }

static uint32_t state_bytes(const hidden_program *p) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < p->part_count; i++)
    bytes += scalar_types[p->types[i]].size;
  return (uint32_t)bytes;
}

static int line_bits(scalar_type t) { return floor_log2(HIDDEN_LINE_BYTES / scalar_types[t].size); }

static int state_line_bits(const hidden_program *p) {
  int bits = 0;
  for (uint32_t i = 0; i < p->part_count; i++)
    bits = line_bits(p->types[i]) > bits ? line_bits(p->types[i]) : bits;
  return bits < p->n ? bits : p->n;
}

scalar_type hidden_second_type(const hidden_op *op) {
  switch (op->kind) {
  case PAIR_WEIGHT:
  case PAIR_BITS:
  case PAIR_PAIRED_WEIGHT:
    return SCALAR_U32;
  case PAIR_SWITCH:
  case PAIR_PAIRED_SWITCH:
    return SCALAR_U8;
  default:
    return SCALAR_COUNT;
  }
}

bool hidden_is_paired(const hidden_op *op) {
  return op->kind == PAIR_PAIRED_SWITCH || op->kind == PAIR_PAIRED_WEIGHT;
}

// The bytes that a pass has in its tile for an index, and the lines of second arrays.
static uint64_t run_bytes(const hidden_program *p, uint32_t run, const hidden_op *ops,
                          int *second_lines) {
  uint64_t bytes = state_bytes(p) * (run == 0 ? p->window : 1);
  bool bits = false;
  *second_lines = 0;
  for (uint32_t i = 0; i < p->runs[run].op_count; i++) {
    scalar_type second = hidden_second_type(&ops[i]);
    if (second == SCALAR_COUNT)
      continue;
    // The index of a pair lacks a bit, which may be one of those within a line.
    int lines = line_bits(second) + hidden_is_paired(&ops[i]);
    *second_lines = lines > *second_lines ? lines : *second_lines;
    bytes += ops[i].kind == PAIR_BITS && bits ? 0 : scalar_types[second].size;
    bits |= ops[i].kind == PAIR_BITS;
  }
  return bytes;
}

static int run_room(const hidden_program *p, uint32_t run, const hidden_op *ops) {
  int lines, room = floor_log2(p->tile_bytes / run_bytes(p, run, ops, &lines));
  return room < p->n ? room : p->n;
}

// The lines of what the pass of a run loads and stores, but for arrays between passes.
static f2_space run_lines(const hidden_program *p, uint32_t run, const hidden_op *ops) {
  int second;
  run_bytes(p, run, ops, &second);
  f2_space lines = f2_space_units(p->n, f2_mask(second < p->n ? second : p->n));
  f2_space state = f2_space_units(p->n, f2_mask(state_line_bits(p)));
  f2_affine back;
  if (run == 0)
    lines = f2_space_sum(lines, f2_space_image(p->first.a, state));
  if (run == p->run_count - 1 && f2_affine_inverse(p->last, &back))
    lines = f2_space_sum(lines, f2_space_image(back.a, state));
  return lines;
}

// ---- bounds --------------------------------------------------------------------------------------

static uint32_t tree_passes(const hidden_program *p) {
  int d = floor_log2(p->tile_bytes / state_bytes(p)), t = state_line_bits(p);
  uint32_t passes = 1;
  for (int left = p->levels, n = p->n; n > d && left > d - t; left -= d - t, n -= d - t)
    passes++;
  return passes;
}

uint32_t hidden_drawn_passes(const hidden_program *p) {
  return p->tree != TREE_NONE ? tree_passes(p) : p->run_count;
}

// Of an element of the state, what every op needs at once: where a second array says what is
// exchanged, components may be exchanged one after the other.
static uint32_t bound_bytes(const hidden_program *p) {
  uint32_t widest = 0;
  bool apart = false;
  for (uint32_t i = 0; i < p->op_count; i++)
    apart |= p->ops[i].kind == PAIR_SWITCH || p->ops[i].kind == PAIR_BITS ||
             p->ops[i].kind == PAIR_PAIRED_SWITCH;
  for (uint32_t i = 0; i < p->part_count; i++)
    if (scalar_types[p->types[i]].size > widest)
      widest = (uint32_t)scalar_types[p->types[i]].size;
  return apart ? widest : state_bytes(p);
}

uint32_t hidden_least_passes(const hidden_program *p) {
  int d = floor_log2(p->tile_bytes / bound_bytes(p));
  if (p->tree != TREE_NONE)
    return (uint32_t)((p->levels + d - 1) / d);
  uint32_t passes = 1;
  f2_space span = f2_space_zero(p->n);
  for (uint32_t i = 0; i < p->op_count; i++) {
    const hidden_op *op = &p->ops[i];
    if (op->kind == PAIR_CONSTANT)
      return 1;
    if (op->kind >= PAIR_FIRST_LOOSE)
      continue;
    f2_space_insert(&span, op->mask);
    if (span.dimension > d) {
      passes++;
      span = f2_span(p->n, 1, &op->mask);
    }
  }
  return passes;
}

// Of the parts of PAIR_HALVES and PAIR_QUARTERS.
static uint64_t part_size(const hidden_program *p, hidden_kind kind) {
  return (UINT64_C(1) << p->n) >> (kind == PAIR_HALVES ? 1 : 2);
}

// The directions that an op needs in its tile.
static f2_space op_directions(const hidden_program *p, const hidden_op *op) {
  f2_space v = f2_space_zero(p->n);
  bool free = op->kind == PAIR_NEUTRAL || op->kind == PAIR_RAGGED;
  if (!free)
    f2_space_insert(&v, op->mask & f2_mask(p->n));
  if (op->kind == PAIR_PARTS || op->kind == PAIR_HALVES || op->kind == PAIR_QUARTERS)
    f2_space_insert(&v, op->other & f2_mask(p->n));
  return v;
}

static bool is_vector(const hidden_program *p, uint64_t x) { return x != 0 && x <= f2_mask(p->n); }

static const char *op_problem(const hidden_program *p, f2_space tile, const hidden_op *op) {
  bool halves = op->kind == PAIR_HALVES || op->kind == PAIR_QUARTERS, two = halves;
  two |= op->kind == PAIR_PARTS || op->kind == PAIR_RAGGED || op->kind == PAIR_BY_INDEX;
  if (!is_vector(p, op->mask) || (two && !is_vector(p, op->other)))
    return "a direction is none";
  if (!f2_space_contains(tile, op_directions(p, op)))
    return "a direction is outside of the tile";
  if ((op->kind == PAIR_PARTS || op->kind == PAIR_CROSS) && p->part_count < 2)
    return "there is one component";
  if (halves && (op->mask | op->other) >= part_size(p, op->kind))
    return "a direction leaves its part";
  if (hidden_is_paired(op) && f2_weight(op->mask) != 1)
    return "pairs are no rows";
  if (op->kind == PAIR_BY_INDEX && f2_dot(op->mask, op->other))
    return "a pair has different forms";
  return NULL;
}

void hidden_fit_tiles(hidden_program *p) {
  const hidden_op *op = p->ops;
  for (uint32_t run = 0; run < p->run_count; run++) {
    f2_space tile = run_lines(p, run, op), before = run ? p->runs[run - 1].tile : tile;
    for (uint32_t i = 0; i < p->runs[run].op_count; i++)
      tile = f2_space_sum(tile, op_directions(p, op++));
    for (int i = 0; i < before.dimension; i++)
      if (f2_space_intersection(tile, before).dimension < state_line_bits(p))
        f2_space_insert(&tile, before.basis[i]);
    p->runs[run].tile = tile;
  }
}

static const char *run_problem(const hidden_program *p, uint32_t run, const hidden_op *ops,
                               const f2_space *before) {
  f2_space tile = p->runs[run].tile;
  if (tile.n != p->n || tile.dimension > run_room(p, run, ops))
    return "a tile has no room";
  if (p->runs[run].op_count == 0)
    return "a run is empty";
  if (!f2_space_contains(tile, run_lines(p, run, ops)))
    return "a tile lacks lines";
  if (before && f2_space_intersection(tile, *before).dimension < state_line_bits(p))
    return "two tiles share no line";
  for (uint32_t i = 0; i < p->runs[run].op_count; i++) {
    const char *problem = op_problem(p, tile, &ops[i]);
    if (problem)
      return problem;
  }
  return NULL;
}

const char *hidden_problem(const hidden_program *p) {
  if (p->tree != TREE_NONE) {
    int d = floor_log2(p->tile_bytes / state_bytes(p));
    return p->levels < 1 || p->levels > p->n || d <= state_line_bits(p) ? "no tree" : NULL;
  }
  if (p->window > 1 && p->n < 4)
    return "a window is too wide";
  uint32_t done = 0;
  const f2_space *before = NULL;
  for (uint32_t i = 0; i < p->run_count; i++) {
    const char *problem = run_problem(p, i, p->ops + done, before);
    if (problem)
      return problem;
    before = &p->runs[i].tile;
    done += p->runs[i].op_count;
  }
  return done == p->op_count && done > 0 ? NULL : "there are other ops, or none";
}

// ---- drawing -------------------------------------------------------------------------------------

typedef struct drawing {
  hidden_program *p;
  uint64_t random;
} drawing;

static uint32_t below(drawing *d, uint32_t bound) { return hidden_below(&d->random, bound); }

static uint64_t draw_vector(drawing *d) {
  int n = d->p->n;
  if (d->p->units)
    return f2_unit((int)below(d, (uint32_t)n));
  return 1 + hidden_random(&d->random) % f2_mask(n);
}

// A vector of the space, not 0.
static uint64_t draw_within(drawing *d, f2_space v) {
  if (d->p->units)
    return v.basis[below(d, (uint32_t)v.dimension)];
  return f2_space_element(v, 1 + hidden_random(&d->random) % f2_mask(v.dimension));
}

static f2_affine draw_move(drawing *d) {
  int n = d->p->n;
  f2_affine move = f2_affine_identity(n);
  do
    for (int i = 0; i < n; i++)
      move.a.row[i] = draw_vector(d);
  while (f2_rank(move.a) < n);
  move.c = hidden_random(&d->random) & f2_mask(n);
  return move;
}

static bool has_second_arrays(const hidden_program *p) {
  return p->way >= HIDDEN_WEIGHTS && p->way <= HIDDEN_PAIRED;
}

static hidden_kind draw_kind(drawing *d) {
  static const hidden_kind second[] = {PAIR_WEIGHT, PAIR_SWITCH, PAIR_BITS, PAIR_PAIRED_SWITCH,
                                       PAIR_PAIRED_WEIGHT};
  hidden_way way = d->p->way;
  if (has_second_arrays(d->p))
    return second[way - HIDDEN_WEIGHTS + (way == HIDDEN_PAIRED ? below(d, 2) : 0)];
  if (way == HIDDEN_MIXED && below(d, 4) == 0)
    return second[1 + below(d, d->p->units ? 3 : 2)];
  if (way == HIDDEN_PARTS && d->p->noise % 2 && below(d, 4))
    return PAIR_CROSS;  // many of them, one behind the other
  return below(d, 3) == 0 ? PAIR_COMPARE : PAIR_FULL;
}

// A kind of op that does not bind; PAIR_FULL: none.
static hidden_kind draw_loose_kind(drawing *d) {
  bool two = below(d, 2);
  switch (d->p->way) {
  case HIDDEN_PARTS:
    return two ? PAIR_PARTS : PAIR_CROSS;
  case HIDDEN_NEUTRAL:
    return PAIR_NEUTRAL;
  case HIDDEN_ONE_SIDE:
    return below(d, 8) == 0 ? PAIR_CONSTANT : PAIR_ONE_SIDE;
  case HIDDEN_BY_INDEX:
    return PAIR_BY_INDEX;
  case HIDDEN_HALVES:
    return two ? PAIR_HALVES : below(d, 2) ? PAIR_QUARTERS : PAIR_RAGGED;
  case HIDDEN_MIXED: {
    static const hidden_kind all[] = {PAIR_NEUTRAL, PAIR_ONE_SIDE, PAIR_BY_INDEX,
                                      PAIR_HALVES,  PAIR_QUARTERS, PAIR_RAGGED};
    return two ? all[below(d, 6)] : PAIR_FULL;
  }
  default:
    return PAIR_FULL;
  }
}

static hidden_way draw_spelling(drawing *d) {
  static const hidden_way easy[] = {HIDDEN_COLUMNS, HIDDEN_COLUMNS, HIDDEN_COLUMNS,
                                    HIDDEN_PARM,    HIDDEN_MOVES,   HIDDEN_SPLIT_JOIN};
  hidden_way way = d->p->way;
  if (way == HIDDEN_MIXED) {
    hidden_way drawn = (hidden_way)below(d, HIDDEN_PARTNERS + 1);
    return drawn == HIDDEN_RECURSION ? HIDDEN_COLUMNS : drawn;
  }
  if (has_second_arrays(d->p) || way == HIDDEN_ROWS)
    return easy[below(d, 6)];
  return way <= HIDDEN_PARTNERS && way != HIDDEN_RECURSION && below(d, 5) ? way : HIDDEN_COLUMNS;
}

static void add_op(drawing *d, f2_space tile, hidden_kind kind, uint64_t mask) {
  hidden_program *p = d->p;
  hidden_op op = {kind, draw_spelling(d), mask, 0, p->op_count % 32, hidden_random(&d->random)};
  switch (kind) {
  case PAIR_PARTS:
    op.other = draw_within(d, tile);
    break;
  case PAIR_RAGGED:
    op.other = 1 + hidden_random(&d->random) % f2_mask(p->n);
    break;
  case PAIR_NEUTRAL:
    op.mask = draw_vector(d);
    break;
  case PAIR_BY_INDEX:
    do
      op.other = p->units ? f2_unit((int)below(d, (uint32_t)p->n)) : draw_vector(d);
    while (f2_dot(op.other, op.mask));
    break;
  case PAIR_HALVES:
  case PAIR_QUARTERS: {
    f2_space part = f2_space_intersection(tile, f2_space_units(p->n, part_size(p, kind) - 1));
    if (part.dimension == 0)
      return;
    op.mask = draw_within(d, part);
    op.other = draw_within(d, part);
    break;
  }
  default:
    break;
  }
  p->ops[p->op_count++] = op;
}

// A tile for the ops whose kinds are there; false: there is no room.
static bool draw_tile(drawing *d, uint32_t run, const hidden_op *kinds) {
  hidden_program *p = d->p;
  int room = run_room(p, run, kinds);
  f2_space tile = run_lines(p, run, kinds), before = tile;
  for (int tries = 0; run > 0 && tries < 200; tries++) {
    before = p->runs[run - 1].tile;
    if (f2_space_intersection(tile, before).dimension >= state_line_bits(p))
      break;
    f2_space_insert(&tile, draw_within(d, before));
  }
  if (tile.dimension > room)
    return false;
  while (tile.dimension < room)
    f2_space_insert(&tile, draw_vector(d));
  p->runs[run].tile = tile;
  return run == 0 || !f2_space_contains(before, tile);
}

// Ops on a basis of the tile, the first of them outside of the tile before, then some more.
static void draw_ops(drawing *d, uint32_t run, uint32_t count, const hidden_op *kinds) {
  hidden_program *p = d->p;
  f2_space tile = p->runs[run].tile, span = f2_space_zero(p->n);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t mask;
    do
      mask = draw_within(d, tile);
    while ((span.dimension < tile.dimension && f2_space_has(span, mask)) ||
           (i == 0 && run > 0 && f2_space_has(p->runs[run - 1].tile, mask)));
    f2_space_insert(&span, mask);
    add_op(d, tile, kinds[i].kind, mask);
    hidden_kind loose = draw_loose_kind(d);
    if (loose != PAIR_FULL && below(d, 3))
      add_op(d, tile, loose, draw_within(d, tile));
  }
}

static bool draw_run(drawing *d, uint32_t run) {
  hidden_program *p = d->p;
  hidden_op kinds[24] = {{0}};
  uint32_t most = p->way == HIDDEN_WEIGHTS ? 7 : p->way == HIDDEN_SWITCHES ? 12 : 8;
  uint32_t count =
      has_second_arrays(p) ? most - below(d, most / 2) : (uint32_t)run_room(p, run, kinds);
  if (run == 0 && p->window > 1)
    count++;
  for (uint32_t i = 0; i < count; i++)
    kinds[i].kind = draw_kind(d);
  p->runs[run].op_count = count;
  if (!draw_tile(d, run, kinds))
    return false;
  uint32_t from = p->op_count;
  draw_ops(d, run, count, kinds);
  p->runs[run].op_count = p->op_count - from;
  return true;
}

static bool draw_network(drawing *d) {
  hidden_program *p = d->p;
  static const uint64_t tiles[] = {1024, 4096, 512, 4096};
  uint32_t runs = 1 + below(d, HIDDEN_RUNS);
  p->tile_bytes = p->way == HIDDEN_MIXED ? 1024
                  : has_second_arrays(p) ? tiles[p->way - HIDDEN_WEIGHTS]
                                         : 256;
  p->brick = p->way == HIDDEN_WINDOWS && below(d, 3) == 0;
  p->window = p->brick ? 2 : p->way == HIDDEN_WINDOWS ? 2 + below(d, 2) : 1;
  p->units = p->way == HIDDEN_SPLIT_JOIN || p->way == HIDDEN_COMPREHENSION ||
             p->way == HIDDEN_PAIRED || below(d, 2);
  p->grouped = p->way == HIDDEN_RECURSION || (p->way == HIDDEN_MIXED && below(d, 2));
  p->rows =
      p->way == HIDDEN_ROWS || (p->way == HIDDEN_MIXED && below(d, 4) == 0) ? 1 + below(d, 5) : 0;
  int room = floor_log2(p->tile_bytes / state_bytes(p));
  p->n = room + 1 + (int)below(d, 4);
  p->first = below(d, 4) ? f2_affine_identity(p->n) : draw_move(d);
  p->last = below(d, 4) ? f2_affine_identity(p->n) : draw_move(d);
  p->run_count = runs;
  for (uint32_t run = 0; run < runs; run++)
    if (!draw_run(d, run))
      return false;
  return true;
}

static bool draw_tree(drawing *d) {
  hidden_program *p = d->p;
  static const hidden_tree shrinking[] = {TREE_HAAR, TREE_IN_PLACE, TREE_REDUCE};
  p->tree = p->way == HIDDEN_GROW ? TREE_INVERSE : shrinking[below(d, 3)];
  p->tile_bytes = 256;
  p->window = 1;
  p->n = 6 + (int)below(d, 5);
  p->levels = below(d, 2) ? p->n : 1 + (int)below(d, (uint32_t)p->n);
  p->by_halves = below(d, 2);
  p->first = p->last = f2_affine_identity(p->n);
  return true;
}

void hidden_draw(hidden_program *p, uint64_t seed, hidden_way way) {
  static const scalar_type types[][2] = {{SCALAR_U32, SCALAR_COUNT}, {SCALAR_U32, SCALAR_COUNT},
                                         {SCALAR_I64, SCALAR_COUNT}, {SCALAR_U16, SCALAR_COUNT},
                                         {SCALAR_U32, SCALAR_U32},   {SCALAR_I64, SCALAR_U32}};
  drawing d = {p, seed * 64 + way};
  for (bool drawn = false; !drawn || hidden_problem(p);) {
    uint32_t type = way == HIDDEN_PARTS ? 4 + below(&d, 2) : below(&d, 6);
    if (way == HIDDEN_WEIGHTS)
      type = 0;
    *p = (hidden_program){.way = way,
                          .part_count = type < 4 ? 1 : 2,
                          .types = {types[type][0], types[type][1]},
                          .noise = hidden_random(&d.random)};
    drawn = way == HIDDEN_SHRINK || way == HIDDEN_GROW ? draw_tree(&d) : draw_network(&d);
  }
}
