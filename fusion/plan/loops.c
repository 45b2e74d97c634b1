// Loops in blocks of 2^k, as index bits. See plan.h.
//
// Lowering makes index bits of dimensions whose lengths are powers of two; any other dimension is a
// loop. A tile is made of index bits, so that a stage of loops alone would have tiles of one
// element:
//
//   stage 0 n=0 loops 1000 3000                   a transpose: [1000][3000] to [3000][1000]
//     v0 = load a0 at 3000*o0 + o1
//     store v0 in a1 at o0 + 1000*o1
//
//   stage 0 n=12 loops 16*8..117 47*8..367        tiles of 64 x 64, from 8*o0 and 8*o1 on
//     v0 = load a0 at 24000*o0 + 8*o1 + 3000*x0 + 6000*x1 + ... + x6 + 2*x7 + ...
//     store v0 in a1 at 8*o0 + 8000*o1 + x0 + 2*x1 + ... + 1000*x6 + 2000*x7 + ...
//
// Where the turns of the first loop are divided into shares, each block lies in one share, which
// then has fewer turns.
//
// The last block of a loop begins earlier where 2^k does not divide the length (net.h, net_pace).
// The elements that it shares with the block before it are computed twice, alike, so that no load
// and no store has a condition; but the pass must not overwrite what it reads (net_stage_overlaps).
#include "fusion/plan/planning.h"

typedef struct blocked_loop {
  uint32_t innermost;  // of the stage's loops that all maps number as this one
  uint64_t extent;
  int bits;        // of a block
  uint64_t grain;  // blocks begin at multiples of it
} blocked_loop;

typedef struct blocking {
  arena *memory;
  const net_stage *stage;
  bool overlap;  // blocks may
  uint32_t count;
  blocked_loop *loops;
  uint64_t share_turns;  // of the loop that shares have turns of, which has the stage's number
} blocking;

// ---- which loops -------------------------------------------------------------------------------

static void join_loops(blocking *b) {
  const net_stage *s = b->stage;
  b->loops = NEW_ARRAY(b->memory, blocked_loop, s->loop_count);
  b->share_turns = s->share_turns;
  for (uint32_t l = 0; l < s->loop_count; l++) {
    bool again = l > s->share_outer && net_loops_are_one(s, l - 1, l);
    blocked_loop *own = &b->loops[again ? b->count - 1 : b->count++];
    b->share_turns *= again && b->count == s->share_outer + 1 ? s->extents[l] : 1;
    *own = (blocked_loop){l, again ? own->extent * s->extents[l] : s->extents[l], 0, 1};
  }
}

// ---- how many bits -----------------------------------------------------------------------------

// The widest blocks of at most 2^bits that compute few elements twice, where they do not divide a
// loop.
static int fitting_bits(const blocking *b, const blocked_loop *l, int bits) {
  enum { FEW = 8 };  // one of so many
  for (; bits > 0; bits--) {
    uint64_t rest = l->extent % f2_unit(bits), twice = rest ? f2_unit(bits) - rest : 0;
    if (f2_unit(bits) <= l->extent && twice <= (b->overlap ? l->extent / FEW : 0))
      break;
  }
  return bits;
}

// The widest blocks of the loop, of at most 2^bits, that lie in one share each.
static int bits_in_share(const blocking *b, const blocked_loop *l, int bits) {
  uint32_t number = (uint32_t)(l - b->loops), outer = b->stage->share_outer;
  uint64_t turns = number == outer ? b->share_turns : 0;
  uint64_t last = turns ? (l->extent - 1) % turns + 1 : 0;
  if (number < outer)
    return 0;
  while (turns && bits > 0 && (turns % f2_unit(bits) || last < f2_unit(bits)))
    bits--;
  return bits;
}

// The loop whose turns go on with a line of so many elements where the move's index bits end; NULL:
// there is none.
static blocked_loop *find_line_loop(const blocking *b, const net_map *m, int64_t line) {
  int64_t next = 1;
  for (uint32_t r = 0; r < m->row_count; r++)
    next *= m->rows[r].weight == next ? 2 : 1;
  for (uint32_t i = 0; i < b->count && next < line; i++)
    if (m->strides[b->loops[i].innermost] == next)
      return &b->loops[i];
  return NULL;
}

static int block_bits(const blocking *b) {
  int bits = 0;
  for (uint32_t i = 0; i < b->count; i++)
    bits += b->loops[i].bits;
  return bits;
}

// As far as there is room.
static void widen_blocks(const blocking *b, blocked_loop *l, int bits, int most) {
  int room = most - block_bits(b) + l->bits;
  bits = smaller_of(bits, room);
  bits = fitting_bits(b, l, bits_in_share(b, l, bits));
  l->bits = bits > l->bits ? bits : l->bits;
}

// Moves along whose lines loops are made wider: all; those that have other elements at each turn of
// each loop; loads that are not direct.
typedef enum line_moves { ALL_MOVES, WHOLE_MOVES, TILE_LOADS } line_moves;

static bool is_among(const planning *p, line_moves which, const net_map *m, net_id v, bool load) {
  bool among = which != TILE_LOADS || (load && !p->direct[v]);
  for (uint32_t l = 0; l < m->loop_count && which == WHOLE_MOVES; l++)
    among = among && m->strides[l];
  return among;
}

// Loops along lines get an equal share each of what there is room for.
static void widen_lines(const blocking *b, const planning *p, line_moves which, int bits,
                        int most) {
  const net_stage *s = b->stage;
  for (size_t i = 0; i < s->loads.count + s->stores.count; i++) {
    bool load = i < s->loads.count;
    const net_map *m = load ? &s->loads.items[i].map : &s->stores.items[i - s->loads.count].map;
    net_id v = load ? s->loads.items[i].value : s->stores.items[i - s->loads.count].value;
    blocked_loop *l = find_line_loop(b, m, p->target->line_bytes / width_of(s, v));
    if (l && is_among(p, which, m, v, load))
      widen_blocks(b, l, bits, most);
  }
}

// A tile of a stage that computes is the whole index space, so that there is one pass. Of one that
// only moves it has whole lines, whatever else there is; where lanes are of vectors, also of long
// rows that are computed across: sums of columns.
static void choose_bits(blocking *b, const planning *p) {
  enum {
    MOVES = 14,
    OPS = 10,
    MOVES_OF_WARPS = 15,
    OPS_OF_WARPS = 11
  };  // moves of warps: in bytes
  bool moves = p->stage->ops.count == 0, warps = p->target->lane_bytes == 0;
  double bytes = 1;
  for (uint32_t i = 0; i < p->slot_count; i++)
    bytes += p->slot_bytes[i];
  int enough = !warps                                ? (moves ? MOVES : OPS)
               : moves                               ? MOVES_OF_WARPS - log2_floor(p->moved_bytes)
               : net_stage_has(p->stage, NET_GATHER) ? PLAN_GATHERED_BITS
                                                     : OPS_OF_WARPS;
  int room = log2_floor((uint64_t)((double)p->target->tile_bytes / bytes));
  enough = smaller_of(enough, room);
  int most = enough - p->stage->n;
  for (int bits = 1; bits <= enough / 2 && moves; bits++)
    widen_lines(b, p, ALL_MOVES, bits, enough);
  for (int bits = 1; bits <= most && !moves; bits++)
    widen_lines(b, p, WHOLE_MOVES, bits, most);
  for (int bits = 1; bits <= most; bits++)
    widen_lines(b, p, ALL_MOVES, bits, most);
  int lanes = smaller_of(p->t, log2_floor(p->target->lane_bytes));
  int across = room - p->stage->n > lanes ? room - p->stage->n : lanes;
  for (int bits = 1; bits <= p->t && !warps; bits++)
    widen_lines(b, p, TILE_LOADS, bits, across);
  for (uint32_t i = b->count; i-- > 0;)
    widen_blocks(b, &b->loops[i], most, most);
}

// ---- the stage with them -----------------------------------------------------------------------

static net_map map_in_blocks(const void *with, const net_map *m) {
  const blocking *b = with;
  uint32_t rows = m->row_count + (uint32_t)block_bits(b);
  net_map c = net_map_new(b->memory, b->count, rows);
  c.offset = m->offset;
  c.row_count = m->row_count;
  if (m->row_count)
    memcpy(c.rows, m->rows, m->row_count * sizeof *c.rows);
  int next = b->stage->n;
  for (uint32_t i = b->count; i-- > 0;) {
    uint64_t stride = (uint64_t)m->strides[b->loops[i].innermost];
    c.strides[i] = (int64_t)(stride * b->loops[i].grain);
    for (int k = 0; k < b->loops[i].bits; k++, next++)
      if (stride)
        c.rows[c.row_count++] = (net_row){{f2_unit(next), false}, (int64_t)(stride << k)};
  }
  net_map_normalise(&c);
  return c;
}

bool plan_stage_in_blocks(const planning *p, bool overlap, net_stage *out) {
  const net_stage *s = p->stage;
  blocking b = {.memory = p->memory, .stage = s, .overlap = overlap};
  if (net_stage_has(s, NET_EXTERN) || net_stage_has(s, NET_GROUP) || !net_stage_elements(s))
    return false;
  join_loops(&b);
  choose_bits(&b, p);
  if (!block_bits(&b))
    return false;
  net_pace *paces = NEW_ARRAY(b.memory, net_pace, b.count + 1);
  uint64_t *extents = NEW_ARRAY(b.memory, uint64_t, b.count + 1);
  for (uint32_t i = 0; i < b.count; i++) {
    blocked_loop *l = &b.loops[i];
    uint64_t block = f2_unit(l->bits), last = l->extent - block;
    l->grain = f2_unit(f2_lsb(block | last));
    extents[i] = (l->extent + block - 1) / block;
    paces[i] = (net_pace){block / l->grain, last / l->grain};
  }
  *out = net_stage_with_maps(b.memory, s, map_in_blocks, &b);
  out->loop_count = b.count;
  out->extents = extents;
  out->paces = paces;
  out->n += block_bits(&b);
  out->share_turns = b.share_turns >> b.loops[s->share_outer].bits;
  return true;
}
