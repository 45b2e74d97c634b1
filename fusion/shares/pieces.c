// Exchanges in pieces: a pass stores the blocks of an exchange piece by piece, and a pass reads
// them so; the piece before is exchanged meanwhile, by ranks whose transport does that beside
// passes.
//
//   main = bitrev : [2^n]i32 -> [2^n]i32      n = 4, 2 ranks, S = x3: rank 0 has elements 0 ... 7
//
//   pass A     stores T at (x3 | x0 | x2 x1), tiles V = <1, 2>      two turns, numbered by x2
//   exchange   T to T', (S | J | rest) = (x3 | x0 | x2 x1) to (x0 | x3 | x2 x1)
//   pass C     loads T' there, tiles W = <2, 8>                     the same two turns
//
//   rank 0     A 0: T is 0 2 . . | 1 3 . .    A 1: T is 0 2 4 6 | 1 3 5 7      C 0: reads 0 2 . . | 8 10 . .
//   links                                     piece 0: 1 3, and 8 10 come      piece 1: 5 7, and 12 14 come
//
// A piece is numbered by forms of `rest`, the address within a block: they are 0 on what tiles of A
// store and tiles of C load (plan/overlap.c). The highest bits of `rest` become these forms, in T
// and T' alike, so that a piece is one stretch of each block. The exchange itself stays what it
// was: who executes it as a whole has the same results.
//
// There are as many pieces as make the three together fastest. With x the seconds of the exchange,
// a and c those of the passes, l of a piece's start:
//
//   in 2^k pieces    max(x, a + c) + (a + c) / 2^k + (2^k - 1) l        as a whole    a + x + c
#include "fusion/shares/pieces.h"
#include "fusion/shares/sharing.h"

// Whether nothing but these two passes and the exchange touches what is exchanged.
static bool is_between(const plan *p, const share_exchange *e, const share_neighbours *n,
                       size_t stage) {
  bool good = true;
  for (uint32_t i = 0; i < p->passes.count && good; i++) {
    const plan_pass *pass = &p->passes.items[i];
    for (uint32_t k = 0; k < pass->load_count; k++)
      good = good && (pass->loads[k].array != e->from || pass->stage == stage) &&
             (pass->loads[k].array != e->to || i == n->after);
    for (uint32_t k = 0; k < pass->store_count; k++)
      good = good && (pass->stores[k].array != e->from || i == n->before) &&
             (pass->stores[k].array != e->to || pass->stage == stage);
    for (uint32_t k = 0; k < pass->access_count; k++)
      good = good && pass->accesses[k].array != e->from && pass->accesses[k].array != e->to;
  }
  return good;
}

// By which bits of their numbers: 0: as a whole. Over a network each message costs more than it may
// save.
static int best_pieces(const shares *s, const plan *p, const target *t, size_t stage,
                       const share_neighbours *n, int most) {
  share_cost x = shares_traffic_cost(s, stage, t);
  double passes = p->passes.items[n->before].seconds + p->passes.items[n->after].seconds;
  double least = passes + x.seconds;
  int best = 0;
  if (x.all[SHARE_OVER_NETWORK].messages || !x.all[SHARE_TO_PEER].messages)
    return 0;
  for (int k = 1; k <= most; k++) {
    double seconds = shares_seconds_in_pieces(t, passes, x.seconds, k);
    best = seconds < least ? k : best;
    least = seconds < least ? seconds : least;
  }
  return best;
}

// ---- where elements lie -------------------------------------------------------------------------

// The address for an address, of which the bits below 2^block become others, and these forms the
// highest.
static f2_affine laid_out(int n, int block, const uint64_t *forms, int count) {
  f2_affine to = f2_affine_identity(n);
  f2_space known = f2_span(n, count, forms);
  int next = 0;
  for (int i = 0; i < block; i++)
    if (f2_space_insert(&known, f2_unit(i)))
      to.a.row[next++] = f2_unit(i);
  for (int i = 0; i < count; i++)
    to.a.row[next++] = forms[i];
  return to;
}

static bool map_through(arena *a, const net_stage *s, net_map *m, f2_affine through) {
  f2_affine address;
  int shift;
  if (s->loop_count || m->offset || !net_map_affine(m, s->n, &address, &shift) || shift ||
      address.a.rows != through.a.rows)
    return false;
  *m = net_stage_map(a, s, f2_affine_compose(through, address));
  return true;
}

// Both arrays of an exchange, of which nothing but two passes, each of one stage, knows where
// elements lie.
static bool lay_out(arena *a, net *n, size_t exchange, const share_exchange *e, f2_affine through) {
  bool good = true;
  for (size_t i = 0; i < n->stages.count && good; i++) {
    net_stage *s = &n->stages.items[i];
    for (size_t k = 0; k < s->stores.count && good && i != exchange; k++)
      if (s->stores.items[k].array == e->from)
        good = map_through(a, s, &s->stores.items[k].map, through);
    for (size_t k = 0; k < s->loads.count && good && i != exchange; k++)
      if (s->loads.items[k].array == e->to)
        good = map_through(a, s, &s->loads.items[k].map, through);
  }
  return good;
}

// ---- the whole ----------------------------------------------------------------------------------

const shares *shares_in_pieces(arena *a, const shares *s, const plan *p, const target *t,
                               uint32_t *count) {
  shares *made = NEW(a, shares);
  net *n = net_copy(a, s->net);
  size_t stages = s->net->stages.count;
  uint32_t used = UINT32_MAX;  // the last pass of those around an exchange
  *made = *s;
  made->net = n;
  made->stages = NEW_ARRAY(a, share_stage, stages + 1);
  *count = 0;
  for (size_t i = 0; i < stages; i++) {
    share_stage *as = &made->stages[i];
    share_neighbours around;
    plan_overlap o;
    *as = s->stages[i];
    if (!shares_find_neighbours(s, p, i, &around) || !is_between(p, &as->exchange, &around, i) ||
        around.before == used)
      continue;
    plan_way way = {as->exchange.from, as->exchange.to, f2_mask(as->exchange.block)};
    int bits = plan_overlap_bits(a, p, around.before, around.after, &way, s->p, &o);
    bits = best_pieces(s, p, t, i, &around, bits);
    if (!bits)
      continue;
    f2_affine through = laid_out(s->net->stages.items[i].n, as->exchange.block, o.forms, bits);
    net *before = net_copy(a, n);
    if (!lay_out(a, n, i, &as->exchange, through)) {
      made->net = n = before;
      continue;
    }
    as->exchange.pieces = bits;
    used = around.after;
    ++*count;
  }
  return *count ? made : s;
}

void shares_plan_pieces(arena *a, const shares *s, plan *p) {
  for (size_t i = 0; i < s->net->stages.count; i++) {
    share_exchange *e = &s->stages[i].exchange;
    share_neighbours n;
    plan_overlap o;
    if (!e->pieces)
      continue;
    plan_way way = {e->from, e->to, f2_mask(e->pieces) << (e->block - e->pieces)};
    if (shares_find_neighbours(s, p, i, &n) &&
        plan_overlap_bits(a, p, n.before, n.after, &way, s->p, &o) == e->pieces)
      plan_overlap_passes(a, p, n.before, n.after, s->p, &o, e->pieces);
    else
      e->pieces = 0;
  }
}
