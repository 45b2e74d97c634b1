// What a Net in shares is predicted to take. See cost.h.
#include "fusion/shares/cost.h"

int shares_peer_bits(const target *t, int p) {
  int bits = f2_msb(t->peers);
  return bits < p ? bits : p;
}

// ---- seconds ------------------------------------------------------------------------------------

// Of an exchange, as the rank that sends the most sees it: one level after the other.
static double seconds_of_traffic(const share_traffic *most, const target *t) {
  double seconds = 2 * (double)most[SHARE_TO_ITSELF].bytes / t->memory_bytes_per_second;
  for (int d = 0; d < SHARE_TO_ITSELF; d++) {
    const target_link *link = &t->links[d];
    double messages = (double)most[d].messages, bytes = (double)most[d].bytes;
    if (messages > 0)
      seconds += link->latency + (bytes + messages * link->half_bytes) / link->bytes_per_second;
  }
  return seconds;
}

// ---- exchanges ----------------------------------------------------------------------------------

// Where the blocks of rank S go: to S ^ away(S) and all ranks that differ from it by `spread`.
typedef struct rank_map {
  f2_affine away;
  f2_space spread;
} rank_map;

static rank_map rank_map_of(const share_exchange *e, int p) {
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

// How many ranks S have away(S) in the space.
static uint64_t ranks_within(f2_affine away, f2_space space) {
  int p = away.a.rows;
  f2_space forms = f2_space_orthogonal(space);
  net_form zeros[F2_MAX];
  for (int i = 0; i < forms.dimension; i++)
    zeros[i] =
        (net_form){f2_combine(p, away.a.row, forms.basis[i]), f2_dot(forms.basis[i], away.c)};
  f2_space live = live_set(p, (uint32_t)forms.dimension, zeros);
  return live_is_empty(live) ? 0 : f2_unit(p - live.dimension);
}

static share_traffic traffic(uint64_t messages, uint64_t bytes_of_one) {
  return (share_traffic){messages, messages * bytes_of_one};
}

static share_cost cost_of_exchange(const shares *s, const share_exchange *e, int peer_bits) {
  rank_map m = rank_map_of(e, s->p);
  f2_space peers = f2_space_units(s->p, f2_mask(peer_bits));
  uint64_t ranks = f2_unit(s->p), fan = f2_unit(m.spread.dimension);
  uint64_t near = f2_unit(f2_space_intersection(m.spread, peers).dimension);
  uint64_t send_near = ranks_within(m.away, f2_space_sum(m.spread, peers));
  uint64_t send_own = ranks_within(m.away, m.spread);
  uint64_t bytes = s->slab[e->from] * scalar_types[s->net->arrays.items[e->from].type].size / fan;
  share_cost c = {.rho = m.spread.dimension};
  c.all[SHARE_TO_ITSELF] = traffic(send_own, bytes);
  c.all[SHARE_TO_PEER] = traffic(send_near * near - send_own, bytes);
  c.all[SHARE_OVER_NETWORK] = traffic(ranks * fan - send_near * near, bytes);
  c.most[SHARE_TO_ITSELF] = traffic(send_own > 0, bytes);
  c.most[SHARE_TO_PEER] = traffic(send_near ? near - (send_own == send_near) : 0, bytes);
  c.most[SHARE_OVER_NETWORK] = traffic(fan - (send_near == ranks ? near : 0), bytes);
  return c;
}

// Each rank sends its slab to all others; the last slabs may be shorter, or empty.
static share_cost cost_of_gather(const shares *s, net_id from, int peer_bits) {
  const net_array *array = &s->net->arrays.items[from];
  uint64_t size = scalar_types[array->type].size, ranks = f2_unit(s->p);
  uint64_t to[SHARE_DISTANCES] = {[SHARE_TO_PEER] = f2_mask(peer_bits),
                                  [SHARE_OVER_NETWORK] = ranks - f2_unit(peer_bits),
                                  [SHARE_TO_ITSELF] = 1};
  share_cost c = {0};
  for (int d = 0; d < SHARE_DISTANCES; d++) {
    c.all[d] = (share_traffic){ranks * to[d], array->count * size * to[d]};
    c.most[d] = traffic(to[d], s->slab[from] * size);
  }
  return c;
}

share_cost shares_traffic_cost(const shares *s, size_t stage, const target *t) {
  const share_stage *as = &s->stages[stage];
  int peer_bits = shares_peer_bits(t, s->p);
  share_cost c = {0};
  if (as->kind == SHARE_EXCHANGE)
    c = cost_of_exchange(s, &as->exchange, peer_bits);
  else if (as->kind == SHARE_GATHER)
    c = cost_of_gather(s, as->from, peer_bits);
  c.seconds = seconds_of_traffic(c.most, t);
  return c;
}

// ---- the whole ----------------------------------------------------------------------------------

// What a rank takes for a pass, of which it executes its share: a start is not shared.
static double seconds_of_pass(const shares *s, const plan *p, const plan_pass *pass) {
  double start = p->target->pass_seconds < pass->seconds ? p->target->pass_seconds : pass->seconds;
  bool split = s->stages[pass->stage].kind == SHARE_SPLIT;
  return split ? start + (pass->seconds - start) / (double)f2_unit(s->p) : pass->seconds;
}

static void add_traffic(share_traffic *to, const share_traffic *from) {
  for (int d = 0; d < SHARE_DISTANCES; d++) {
    to[d].messages += from[d].messages;
    to[d].bytes += from[d].bytes;
  }
}

share_cost *shares_costs(arena *a, const shares *s, const plan *p, const target *t) {
  size_t count = s->net->stages.count;
  share_cost *costs = NEW_ARRAY(a, share_cost, count + 1);
  for (size_t i = 0; i < count; i++)
    costs[i] = shares_traffic_cost(s, i, t);
  for (size_t i = 0; i < p->passes.count; i++) {
    const plan_pass *pass = &p->passes.items[i];
    share_kind kind = s->stages[pass->stage].kind;
    if (kind == SHARE_SPLIT || kind == SHARE_WHOLE)
      costs[pass->stage].seconds += seconds_of_pass(s, p, pass);
  }
  costs[count] = (share_cost){0};
  for (size_t i = 0; i < count; i++) {
    add_traffic(costs[count].all, costs[i].all);
    add_traffic(costs[count].most, costs[i].most);
    costs[count].seconds += costs[i].seconds;
  }
  return costs;
}
