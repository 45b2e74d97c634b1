// What exchanges in pieces take (pieces.c): which passes go on meanwhile, and seconds.
#include "fusion/shares/pieces.h"

static bool is_split(const shares *s, const plan *p, uint32_t pass) {
  return s->stages[p->passes.items[pass].stage].kind == SHARE_SPLIT;
}

bool shares_find_neighbours(const shares *s, const plan *p, size_t stage, share_neighbours *out) {
  uint32_t first = 0, end, count = (uint32_t)p->passes.count;
  if (s->stages[stage].kind != SHARE_EXCHANGE || p->net->stages.count != s->net->stages.count)
    return false;
  while (first < count && p->passes.items[first].stage != stage)
    first++;
  for (end = first; end < count && p->passes.items[end].stage == stage; end++)
    ;
  *out = (share_neighbours){first - 1, end};
  return first > 0 && end < count && is_split(s, p, first - 1) && is_split(s, p, end);
}

static double larger(double a, double b) { return a > b ? a : b; }

double shares_seconds_in_pieces(const target *t, double passes, double exchange, int bits) {
  double pieces = (double)f2_unit(bits);
  return larger(exchange, passes) + passes / pieces + (pieces - 1) * t->links[TARGET_PEER].latency;
}

void shares_cost_pieces(const shares *s, const plan *p, const target *t, share_cost *costs) {
  for (size_t i = 0; i < s->net->stages.count; i++) {
    share_neighbours n;
    int bits = s->stages[i].exchange.pieces;
    if (!bits || !shares_find_neighbours(s, p, i, &n))
      continue;
    const plan_pass *before = &p->passes.items[n.before], *after = &p->passes.items[n.after];
    double hidden = 1 - 1 / (double)f2_unit(bits), passes = before->seconds + after->seconds;
    costs[i].seconds =
        shares_seconds_in_pieces(t, passes, costs[i].seconds, bits) - passes * (1 - hidden);
    costs[before->stage].seconds -= before->seconds * hidden;
    costs[after->stage].seconds -= after->seconds * hidden;
  }
}
