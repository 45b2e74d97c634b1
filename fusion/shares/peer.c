// Ranks that reach each other's memory, such as GPUs of one host: arrays lie in slabs, but a store
// may go to that of any rank, and so may a load. Which stages go then:
//
//   split T, exchange T to T', split   T is stored where the exchange would have brought it: its
//                                      address goes through the map of the blocks. Blocks are whole
//                                      lines, so that links carry no more than the exchange does
//   a gather or window, from A to B    who reads B reads A
//
// Whole stages are executed once. What stays is an ordinary Net that computes the same: splits
// whose loads are a rank's own, and whose stores may be another's. A copy behind an exchange, into
// a result's slab, stays too: stored straight to their place, elements would be parts of lines.
//
//   bit reversal, 2 ranks   split: x, exchange, split: y    becomes   x to T' (over the link), T' to y
//
// Law (shares_test): the Net of all, and the one that is made, have the same results.
#include "core/number.h"
#include "fusion/shares/cost.h"
#include "fusion/shares/sharing.h"

static bool has_access_besides_stores(const net_stage *s, net_id array) {
  for (net_access at = {0}; net_access_next(s, &at);)
    if (at.array == array && at.by != NET_BY_STORE)
      return true;
  return false;
}

// Whether all stores to what is exchanged go through bits of an address, and nobody else reads it.
static bool is_of_stores(const net *n, size_t number, const share_stage *e) {
  f2_affine address;
  for (size_t i = 0; i < n->stages.count; i++) {
    const net_stage *s = &n->stages.items[i];
    if (i != number && has_access_besides_stores(s, e->from))
      return false;
    for (size_t k = 0; k < s->stores.count; k++)
      if (s->stores.items[k].array == e->from &&
          (s->loop_count ||
           !net_map_bits(&s->stores.items[k].map, s->n, e->blocks.a.rows + e->block, &address)))
        return false;
  }
  return true;
}

static void store_through(arena *a, net *n, const share_stage *e) {
  f2_affine through = sharing_exchange_map(e), address;
  for (size_t i = 0; i < n->stages.count; i++)
    for (size_t k = 0; k < n->stages.items[i].stores.count; k++) {
      net_stage *s = &n->stages.items[i];
      net_store *o = &s->stores.items[k];
      if (o->array != e->from)
        continue;
      ensure(net_map_bits(&o->map, s->n, through.a.rows, &address));
      o->map = net_stage_map(a, s, f2_affine_compose(through, address));
      o->array = e->to;
    }
}

// Whether the stage of that number is needed no more. instead: by array, the one to read.
static bool goes(arena *a, net *n, size_t number, const share_stage *as, net_id *instead) {
  bool exchanged = as->kind == SHARE_EXCHANGE, stored = exchanged && is_of_stores(n, number, as);
  bool copied = !exchanged && share_only_moves(as->kind);
  if (stored)
    store_through(a, n, as);
  if (copied)
    instead[as->to] = instead[as->from];
  return stored || copied;
}

net *shares_of_peers(arena *a, const shares *s) {
  net *all = net_copy(a, s->net), *kept = NEW(a, net);
  *kept = (net){.externs = all->externs};
  kept->arrays = all->arrays;
  bool *gone = NEW_ARRAY(a, bool, all->stages.count + 1);
  net_id *instead = NEW_ARRAY(a, net_id, all->arrays.count + 1);
  for (net_id i = 0; i < all->arrays.count; i++)
    instead[i] = i;
  for (size_t i = 0; i < all->stages.count; i++)
    gone[i] = goes(a, all, i, &s->stages[i], instead);
  for (size_t i = 0; i < all->stages.count; i++) {
    if (gone[i])
      continue;
    net_stage stage = net_stage_changed(a, &all->stages.items[i], (net_change){.arrays = instead});
    vec_push(a, &kept->stages, stage);
  }
  return kept;
}

// ---- what that takes -----------------------------------------------------------------------------

// The forms of an index that number the GPU which executes it: the last blocks vectors of a pass
// are the highest bits of the number of a block. Fewer than `bits`: the others are bits of loops.
static f2_affine number_of_gpu(const plan *p, const plan_pass *pass, int bits) {
  int n = plan_stage_of(p, pass)->n, tile = pass->tile.dimension;
  int count = n - tile < bits ? n - tile : bits;
  uint64_t basis[F2_MAX];
  for (int i = 0; i < n; i++)
    basis[i] = i < tile ? pass->tile.basis[i] : pass->blocks[i - tile];
  f2_affine number = {f2_zero(count, n), 0};
  f2_matrix coordinates;
  if (count && f2_inverse(f2_from_columns(n, n, basis), &coordinates))
    memcpy(number.a.row, coordinates.row + n - count, (size_t)count * sizeof *coordinates.row);
  return number;
}

// The part of a pass's elements that lie with another GPU than the one that moves them.
static double far_part(const plan *p, const plan_pass *pass, const plan_move *m, int bits) {
  const net_stage *s = plan_stage_of(p, pass);
  uint64_t count = p->arrays.items[m->array].count;
  f2_affine address, gpu = number_of_gpu(p, pass, bits);
  double most = 1 - 1.0 / (double)f2_unit(bits);
  if (s->loop_count || gpu.a.rows < bits || !is_power_of_two(count) || f2_msb(count) < bits ||
      !net_map_bits(&m->map, s->n, f2_msb(count), &address))
    return most;
  f2_matrix differ = f2_zero(bits, s->n);
  for (int i = 0; i < bits; i++)
    differ.row[i] = gpu.a.row[i] ^ address.a.row[address.a.rows - bits + i];
  return f2_rank(differ) ? 1 - 1.0 / (double)f2_unit(f2_rank(differ))
                         : address.c >> (address.a.rows - bits) != 0;
}

// Bytes that a GPU sends, of a pass that moves as many to each as from each.
static double far_bytes(const plan *p, const plan_pass *pass, const plan_move *m, int bits) {
  double elements = (double)net_stage_elements(plan_stage_of(p, pass));
  double size = (double)scalar_types[p->arrays.items[m->array].type].size;
  return far_part(p, pass, m, bits) * elements * size / (double)f2_unit(bits);
}

// Pairs of sorted slabs are merged to one, and pairs of these.
static double merging_seconds(const plan *p, const net_routine *r, int bits) {
  const target_link *link = &p->target->links[TARGET_PEER];
  double bytes = 0, seconds = 0;
  for (uint32_t i = 0; i < r->pair_count; i++) {
    const net_array *a =
        &p->arrays.items[r->pairs[i].to == NET_NONE ? r->pairs[i].from : r->pairs[i].to];
    bytes += (double)a->count * (double)scalar_types[a->type].size / (double)f2_unit(bits);
  }
  for (int level = 0; level < bits; level++) {
    double far = bytes * (1 - 1 / (double)f2_unit(level + 1)) / link->bytes_per_second;
    double near = 2 * bytes / p->target->memory_bytes_per_second;
    seconds += 2 * link->latency + (far > near ? far : near);
  }
  return seconds;
}

// A routine of many rows is shared by rows, each within a slab, and a sort of one by shares;
// another the first GPU executes, with what each of its digits reads and writes.
static double routine_seconds(const plan *p, const plan_pass *pass, int bits) {
  const net_routine *r = plan_routine_of(p, pass);
  double ranks = (double)f2_unit(bits), far = 0;
  if (r->rows % f2_unit(bits) == 0)
    return pass->seconds / ranks;
  if (plan_routine_has_shares(r, 1U << bits))
    return pass->seconds / ranks + merging_seconds(p, r, bits);
  for (uint32_t i = 0; i < pass->access_count; i++) {
    const net_array *a = &p->arrays.items[pass->accesses[i].array];
    far += (1 - 1 / ranks) * (double)a->count * (double)scalar_types[a->type].size;
  }
  far *= plan_routine_digits(p, r) / p->target->links[TARGET_PEER].bytes_per_second;
  return pass->seconds > far ? pass->seconds : far;
}

static double link_seconds(const plan *p, const plan_pass *pass, int bits) {
  double far = 0;
  for (uint32_t k = 0; k < pass->load_count + pass->store_count; k++)
    far += far_bytes(p, pass, plan_move_at(pass, k), bits);
  return far > 0 ? target_link_seconds(&p->target->links[TARGET_PEER], 1, far, 0) : 0;
}

// What a pass takes: to be started, of memory, and of links.
typedef struct peer_cost {
  double start, memory, links;
} peer_cost;

static peer_cost cost_of(const plan *p, const plan_pass *pass, int bits) {
  if (plan_routine_of(p, pass))
    return (peer_cost){.memory = routine_seconds(p, pass, bits)};
  double start = pass->seconds < p->target->pass_seconds ? pass->seconds : p->target->pass_seconds;
  bool shared = net_stage_is_shared(plan_stage_of(p, pass));  // then they are of one share
  double memory = (pass->seconds - start) / (shared ? 1 : (double)f2_unit(bits));
  return (peer_cost){start, memory, link_seconds(p, pass, bits)};
}

static double larger(double a, double b) { return a > b ? a : b; }

static double alone(peer_cost c) { return c.start + larger(c.memory, c.links); }

// Of two passes in so many turns: those of the shorter cost no time, but for one, as far as one
// waits for links while the other waits for memory.
static double overlapping_seconds(peer_cost a, peer_cost b, int turn_bits) {
  double turns = (double)f2_unit(turn_bits), x = alone(a), y = alone(b);
  double together = larger(larger(x, y), larger(a.memory + b.memory, a.links + b.links));
  return together + (x < y ? x : y) / turns + 2 * turns * larger(a.start, b.start);
}

double shares_peers_seconds(const plan *p, int bits) {
  double seconds = 0;
  for (size_t i = 0; i < p->passes.count; i++) {
    peer_cost own = cost_of(p, &p->passes.items[i], bits);
    int turns = (int)p->passes.items[i].turn_bits;
    seconds += turns ? overlapping_seconds(own, cost_of(p, &p->passes.items[++i], bits), turns)
                     : alone(own);
  }
  return seconds;
}

// Whether it would take twice as long with half of the multiprocessors.
static bool needs_all(const plan *p, uint32_t pass) {
  return plan_pass_facts_of(p, pass).bound == PLAN_BY_WORK;
}

void shares_peers_overlap(arena *a, plan *p, int bits) {
  for (uint32_t i = 0; i + 1 < p->passes.count; i++) {
    plan_pass *first = &p->passes.items[i], *second = first + 1;
    peer_cost first_cost = cost_of(p, first, bits), second_cost = cost_of(p, second, bits);
    double least = alone(first_cost) + alone(second_cost);
    plan_overlap o;
    int most = plan_overlap_bits(a, p, i, i + 1, bits, &o), best = 0;
    most = needs_all(p, i) || needs_all(p, i + 1) ? 0 : most;
    for (int k = 1; k <= most; k++) {
      double seconds = overlapping_seconds(first_cost, second_cost, k);
      best = seconds < least ? k : best;
      least = seconds < least ? seconds : least;
    }
    if (best) {
      first->waits_for_links = first_cost.links > second_cost.links;
      second->waits_for_links = !first->waits_for_links;
      plan_overlap_passes(a, p, i, i + 1, bits, &o, best);
      i++;
    }
  }
  for (uint32_t i = 0; i < p->passes.count; i++)
    if (cost_of(p, &p->passes.items[i], bits).links > 0)
      plan_alternate_blocks(a, p, i, bits);
}
