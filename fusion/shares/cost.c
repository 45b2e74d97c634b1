// What a Net in shares is predicted to take. See cost.h.
#include "fusion/shares/traffic.h"

#include <math.h>

int shares_peer_bits(const target *t, int p) {
  int bits = f2_msb(t->peers);
  return bits < p ? bits : p;
}

// ---- seconds ------------------------------------------------------------------------------------

// Of exchanges, as the rank that sends the most sees them: one level after the other.
static double seconds_of_traffic(const share_cost *c, const target *t) {
  double own = 2 * (double)c->most[SHARE_TO_ITSELF].bytes + c->moved;
  double seconds = own / t->memory_bytes_per_second;
  for (int d = 0; d < SHARE_TO_ITSELF; d++) {
    double messages = (double)c->most[d].messages, bytes = (double)c->most[d].bytes;
    if (messages > 0)
      seconds += target_link_seconds(&t->links[d], (double)c->rounds, bytes, messages);
  }
  return seconds;
}

// ---- exchanges ----------------------------------------------------------------------------------

// Where the blocks of rank S go: to S ^ away(S) and all ranks that differ from it by `spread`.
typedef struct rank_map {
  f2_affine away;
  f2_space spread;
} rank_map;

static rank_map rank_map_of(const share_stage *e, int p) {
  int places = e->blocks.a.rows - p;  // bits of a block's place
  f2_matrix spread = f2_zero(p, places);
  rank_map m = {.away = {f2_zero(p, p), e->blocks.c >> places}};
  for (int i = 0; i < p; i++) {
    uint64_t row = e->blocks.a.row[places + i];
    m.away.a.row[i] = row >> places ^ f2_unit(i);
    spread.row[i] = row & f2_mask(places);
  }
  m.spread = f2_space_image(spread, f2_space_full(places));
  return m;
}

static share_cost cost_of_exchange(const shares *s, const share_stage *e, int peer_bits) {
  rank_map m = rank_map_of(e, s->p);
  f2_space peers = f2_space_units(s->p, f2_mask(peer_bits));
  f2_space hosts = f2_space_sum(m.spread, peers);
  uint64_t of_host = f2_unit(f2_space_intersection(m.spread, peers).dimension);
  uint64_t fan = f2_unit(m.spread.dimension);
  uint64_t bytes = s->slab[e->from] * scalar_types[s->net->arrays.items[e->from].type].size / fan;
  share_cost c = {.rho = m.spread.dimension, .rounds = 1};
  for (uint64_t rank = 0; rank < f2_unit(s->p); rank++) {
    uint64_t away = f2_affine_apply(m.away, rank), own = f2_space_has(m.spread, away);
    uint64_t near = f2_space_has(hosts, away) ? of_host : 0;
    uint64_t messages[SHARE_DISTANCES] = {
        [SHARE_TO_PEER] = near - own, [SHARE_OVER_NETWORK] = fan - near, [SHARE_TO_ITSELF] = own};
    share_traffic sent[SHARE_DISTANCES];
    for (int d = 0; d < SHARE_DISTANCES; d++)
      sent[d] = (share_traffic){messages[d], messages[d] * bytes};
    share_cost_add_rank(&c, sent);
  }
  return c;
}

// ---- gathers and windows ------------------------------------------------------------------------

// What a rank gets of the slabs of others, and of its own: its window, or all.
static share_cost cost_of_fetch(const shares *s, const share_stage *as, int peer_bits) {
  const share_window *w = s->window[as->to];
  const net_array *array = &s->net->arrays.items[as->from];
  int64_t count = (int64_t)array->count;
  share_cost c = {.rounds = 1};
  for (uint64_t rank = 0; rank < f2_unit(s->p); rank++) {
    int64_t first = w ? w->first + (int64_t)rank * w->step : 0;
    int64_t end = w ? first + (int64_t)w->length : count;
    share_traffic got[SHARE_DISTANCES] = {{0}};
    first = first < 0 ? 0 : first;
    end = end < first ? first : end < count ? end : count;
    share_owners from =
        share_owners_of((uint64_t)first, (uint64_t)end, s->slab[as->from], rank, peer_bits);
    for (int d = 0; d < SHARE_DISTANCES; d++)
      got[d] = (share_traffic){from.ranks[d], from.numbers[d] * scalar_types[array->type].size};
    share_cost_add_rank(&c, got);
  }
  return c;
}

// ---- a stage ------------------------------------------------------------------------------------

share_cost shares_traffic_cost(const shares *s, size_t stage, const target *t) {
  const share_stage *as = &s->stages[stage];
  int peer_bits = shares_peer_bits(t, s->p);
  share_cost c = {0};
  if (as->kind == SHARE_EXCHANGE)
    c = cost_of_exchange(s, as, peer_bits);
  else if (share_only_moves(as->kind))
    c = cost_of_fetch(s, as, peer_bits);
  else if (as->kind == SHARE_ROUTINE)
    c = share_cost_of_routine(s, s->net->stages.items[stage].routine, peer_bits);
  c.seconds = seconds_of_traffic(&c, t);
  return c;
}

// ---- the whole ----------------------------------------------------------------------------------

// The part of what a plan predicts for a pass that the rank with the most has of it: of a stage in
// shares that is for one of them.
static double part_of_pass(const shares *s, const plan_pass *pass) {
  if (s->stages[pass->stage].kind != SHARE_ROUTINE)
    return 1;
  const net_routine *r = s->net->stages.items[pass->stage].routine;
  double slab = (double)shares_routine_slab(s->net, r, s->slab, f2_unit(s->p));
  return fmin(1, slab / ((double)r->rows * (double)r->length));
}

// What a rank takes for a pass: a start is not shared.
static double seconds_of_pass(const shares *s, const plan *p, const plan_pass *pass) {
  double start = p->target->pass_seconds < pass->seconds ? p->target->pass_seconds : pass->seconds;
  return start + (pass->seconds - start) * part_of_pass(s, pass);
}

share_cost *shares_costs(arena *a, const shares *s, const plan *p, const target *t) {
  size_t count = s->net->stages.count;
  share_cost *costs = NEW_ARRAY(a, share_cost, count + 1);
  for (size_t i = 0; i < count; i++)
    costs[i] = shares_traffic_cost(s, i, t);
  for (size_t i = 0; i < p->passes.count; i++) {
    const plan_pass *pass = &p->passes.items[i];
    if (!share_only_moves(s->stages[pass->stage].kind))
      costs[pass->stage].seconds += seconds_of_pass(s, p, pass);
  }
  costs[count] = (share_cost){0};
  for (size_t i = 0; i < count; i++)
    share_cost_add(&costs[count], &costs[i]);
  return costs;
}
