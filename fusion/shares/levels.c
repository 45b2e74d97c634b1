// Exchanges over several levels, as one among the ranks of each host and one over the network. The
// first brings what goes to the same rank of other hosts together, so that over the network there
// is one message for each host and not one for each of its ranks.
//
//   4 ranks, (host, peer) = (s1 s0), blocks (s1 s0 | j1 j0) go to (j1 j0 | s1 s0)
//
//   at once     rank 00 sends blocks j = 01 to its peer, 10 and 11 over the network: 2 messages
//   peers       (s1 s0 | j1 j0)  to  (s1 j0 | j1 s0)     one block of two goes to the peer
//   network     (s1 j0 | j1 s0)  to  (j1 j0 | s1 s0)     one message, of two blocks
//
// A block's number before is (S_n S_l | J), its host and its peer; behind, its rank is (T_n T_l).
// Between them its rank is (S_n U): U are forms of T_l that S_n does not determine, and as many of
// S_l as there is room for. So T_l follows from the rank (S_n U): the second exchange is between
// ranks of which each has one of every host. Its blocks lie by T_n, so that messages are neighbours
// in memory. What it moves is the whole map behind the inverse of the first.
//
// Law (shares_cost_test): both do together what the one does; and no rank sends two messages to one
// host.
#include "fusion/shares/cost.h"

// ---- one exchange as two ------------------------------------------------------------------------

// Rows of an affine map that are independent.
typedef struct forms {
  f2_affine rows;
  f2_space span;
} forms;

static bool add_row(forms *f, f2_affine of, int row) {
  if (!f2_space_insert(&f->span, of.a.row[row]))
    return false;
  f->rows.c |= (uint64_t)f2_bit(of.c, row) << f->rows.a.rows;
  f->rows.a.row[f->rows.a.rows++] = of.a.row[row];
  return true;
}

static void add_rows(forms *f, f2_affine of, int from, int end, int room) {
  for (int i = from; i < end && f->rows.a.rows < room; i++)
    add_row(f, of, i);
}

// `count` rows of `from` as rows `to`, ... of *into.
static void put_rows(f2_affine *into, int to, f2_affine rows, int from, int count) {
  for (int i = 0; i < count; i++) {
    into->a.row[to + i] = rows.a.row[from + i];
    into->c |= (uint64_t)f2_bit(rows.c, from + i) << (to + i);
  }
}

f2_affine shares_peers_first(f2_affine blocks, int p, int peer_bits) {
  int n = blocks.a.rows, places = n - p, hosts = places + peer_bits, found;
  f2_affine same = f2_affine_identity(n), first = {f2_zero(n, n), 0};
  forms f = {{f2_zero(0, n), 0}, f2_space_zero(n)};
  add_rows(&f, same, hosts, n, n);         // S_n
  add_rows(&f, blocks, places, hosts, p);  // T_l
  add_rows(&f, same, places, hosts, p);    // S_l
  put_rows(&first, hosts, f.rows, 0, n - hosts);
  put_rows(&first, places, f.rows, n - hosts, peer_bits);
  add_rows(&f, blocks, hosts, n, n);  // T_n
  found = f.rows.a.rows - p;
  put_rows(&first, places - found, f.rows, p, found);
  add_rows(&f, same, 0, n, n);
  put_rows(&first, 0, f.rows, p + found, places - found);
  return first;
}

// ---- in a Net -----------------------------------------------------------------------------------

typedef struct leveling {
  arena *memory;
  const shares *from;
  const target *target;
  net *to;
  VEC(share_stage) kinds;
  VEC(uint64_t) slab;
  VEC(const share_window *) window;
} leveling;

static void keep_stage(leveling *l, share_stage as, net_stage stage) {
  vec_push(l->memory, &l->kinds, as);
  vec_push(l->memory, &l->to->stages, stage);
}

// A stage of one load and one store.
static net_stage exchanging_stage(leveling *l, const share_exchange *e) {
  int bits = e->blocks.a.rows, n = bits + e->block;
  f2_affine through = {f2_identity(n), e->blocks.c << e->block};
  for (int i = 0; i < bits; i++)
    through.a.row[e->block + i] = e->blocks.a.row[i] << e->block;
  net_stage stage = {.n = n};
  net_id v = net_value_add(l->memory, &stage, l->to->arrays.items[e->from].type);
  net_load load = {.value = v,
                   .array = e->from,
                   .map = net_stage_map(l->memory, &stage, f2_affine_identity(n)),
                   .padding_start = UINT64_MAX};
  net_store store = {.value = v,
                     .array = e->to,
                     .map = net_stage_map(l->memory, &stage, through),
                     .padding_start = UINT64_MAX};
  vec_push(l->memory, &stage.loads, load);
  vec_push(l->memory, &stage.stores, store);
  return stage;
}

static share_cost cost_of(const leveling *l, const share_exchange *e) {
  share_stage stage = {.kind = SHARE_EXCHANGE, .exchange = *e};
  shares one = *l->from;
  one.stages = &stage;
  return shares_traffic_cost(&one, 0, l->target);
}

// The two exchanges, between arrays that one is; false: they are not faster.
static bool find_levels(const leveling *l, const share_exchange *e, share_exchange *first,
                        share_exchange *second) {
  f2_affine back;
  int peer_bits = shares_peer_bits(l->target, l->from->p);
  *first = *second = *e;
  first->blocks = shares_peers_first(e->blocks, l->from->p, peer_bits);
  bool good = f2_affine_inverse(first->blocks, &back);
  assert(good);
  second->blocks = f2_affine_compose(e->blocks, back);
  return good && cost_of(l, first).seconds + cost_of(l, second).seconds < cost_of(l, e).seconds;
}

static void keep_exchange(leveling *l, share_exchange e) {
  keep_stage(l, (share_stage){.kind = SHARE_EXCHANGE, .exchange = e}, exchanging_stage(l, &e));
}

static bool add_levels(leveling *l, const share_exchange *e) {
  share_exchange first, second;
  if (!find_levels(l, e, &first, &second))
    return false;
  const net_array *of = &l->to->arrays.items[e->from];
  first.to = second.from = net_array_add(l->memory, l->to, of->type, of->count, NET_TEMPORARY, 0);
  l->to->arrays.items[first.to].reason = NET_REASON_SHARES;
  vec_push(l->memory, &l->slab, l->from->slab[e->from]);
  vec_push(l->memory, &l->window, NULL);
  keep_exchange(l, first);
  keep_exchange(l, second);
  return true;
}

const shares *shares_by_levels(arena *a, const shares *s, const target *t, uint32_t *split) {
  leveling l = {.memory = a, .from = s, .target = t, .to = NEW(a, net)};
  *split = 0;
  *l.to = (net){.externs = s->net->externs};
  for (size_t i = 0; i < s->net->arrays.count; i++) {
    vec_push(a, &l.to->arrays, s->net->arrays.items[i]);
    vec_push(a, &l.slab, s->slab[i]);
    vec_push(a, &l.window, s->window[i]);
  }
  for (size_t i = 0; i < s->net->stages.count; i++)
    if (s->stages[i].kind == SHARE_EXCHANGE && add_levels(&l, &s->stages[i].exchange))
      (*split)++;
    else
      keep_stage(&l, s->stages[i], s->net->stages.items[i]);
  shares *made = NEW(a, shares);
  *made = (shares){l.to, s->p, l.kinds.items, l.slab.items, l.window.items};
  return made;
}
