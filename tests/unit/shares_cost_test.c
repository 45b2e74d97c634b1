// What shares are predicted to send (fusion/shares/cost.h): beside a count of all blocks, one by
// one, of random exchanges; and beside what threads count that exchange them.
#include "tests/unit/memory.h"
#include "tests/unit/net_random.h"

#include "fusion/shares/cost.h"
#include "runtime/transport/transport.h"

#include <pthread.h>

enum { BLOCK_ELEMENTS = 4, RANKS = 16 };  // at most

// ---- exchanges -----------------------------------------------------------------------------------

typedef struct trial {
  shares shares;
  share_stage stage;
  net net;
  uint64_t slab[2];
  const share_window *window[2];
  target target;
} trial;

// Elements of 4 bytes. Often few bits of the number of the rank change.
static f2_affine random_blocks(random_state *r, int n) {
  f2_affine map = {f2_identity(n), random_chance(r, 2) ? random_word(r) & f2_mask(n) : 0};
  if (random_chance(r, 2))
    map.a = random_matrix(r, n);
  else if (n > 1)
    for (int k = 0; k < 3; k++) {
      int i = (int)random_below(r, (uint32_t)n), j = (int)random_below(r, (uint32_t)n);
      uint64_t row = map.a.row[i];
      map.a.row[i] = map.a.row[j];
      map.a.row[j] = row;
    }
  return map;
}

static void make_trial(arena *a, random_state *r, trial *t) {
  int p = (int)random_below(r, 5), places = (int)random_below(r, 5);
  *t = (trial){.target = *target_named("gpu")};
  t->target.peers = 1u << random_below(r, 4);
  t->stage = (share_stage){SHARE_EXCHANGE, 0, 1, 2, random_blocks(r, p + places)};
  for (int i = 0; i < 2; i++) {
    net_array_add(a, &t->net, SCALAR_U32, f2_unit(p + places + 2), NET_TEMPORARY, 0);
    t->slab[i] = f2_unit(places + 2);
  }
  t->shares = (shares){&t->net, p, &t->stage, t->slab, t->window};
}

// ---- counts --------------------------------------------------------------------------------------

typedef struct counts {
  share_traffic all[SHARE_DISTANCES], most[SHARE_DISTANCES];
  uint64_t messages;  // of a rank, all alike
} counts;

static share_distance distance(uint64_t from, uint64_t to, uint32_t peers) {
  return from == to                   ? SHARE_TO_ITSELF
         : from / peers == to / peers ? SHARE_TO_PEER
                                      : SHARE_OVER_NETWORK;
}

static void count_rank(const trial *t, uint64_t rank, counts *c) {
  const f2_affine *map = &t->stage.blocks;
  int places = map->a.rows - t->shares.p;
  uint64_t blocks[RANKS] = {0};
  share_traffic own[SHARE_DISTANCES] = {0};
  for (uint64_t place = 0; place < f2_unit(places); place++)
    blocks[f2_affine_apply(*map, rank << places | place) >> places]++;
  c->messages = 0;
  for (uint64_t to = 0; to < f2_unit(t->shares.p); to++) {
    share_traffic *sent = &own[distance(rank, to, t->target.peers)];
    sent->messages += blocks[to] > 0;
    sent->bytes += blocks[to] * BLOCK_ELEMENTS * sizeof(uint32_t);
    c->messages += blocks[to] > 0;
  }
  for (int d = 0; d < SHARE_DISTANCES; d++) {
    c->all[d].messages += own[d].messages;
    c->all[d].bytes += own[d].bytes;
    if (own[d].bytes > c->most[d].bytes)
      c->most[d] = own[d];
  }
}

static void check_counts(random_state *random) {
  START();
  trial t;
  counts c = {0};
  make_trial(&memory, random, &t);
  share_cost cost = shares_traffic_cost(&t.shares, 0, &t.target);
  for (uint64_t rank = 0; rank < f2_unit(t.shares.p); rank++) {
    count_rank(&t, rank, &c);
    CHECK_EQ_U64(c.messages, f2_unit(cost.rho));
  }
  for (int d = 0; d < SHARE_DISTANCES; d++) {
    CHECK_EQ_U64(cost.all[d].messages, c.all[d].messages);
    CHECK_EQ_U64(cost.all[d].bytes, c.all[d].bytes);
    CHECK_EQ_U64(cost.most[d].messages, c.most[d].messages);
    CHECK_EQ_U64(cost.most[d].bytes, c.most[d].bytes);
  }
  arena_free(&memory);
}

TEST(bytes_and_messages_of_exchanges) {
  random_state random = {17};
  for (int k = 0; k < 3000; k++)
    check_counts(&random);
}

// ---- beside the transport -------------------------------------------------------------------------

typedef struct sender {
  const trial *trial;
  transport_options options;
  share_traffic sent[SHARE_DISTANCES];
  bool good;
} sender;

static void *exchange(void *with) {
  sender *s = with;
  const share_stage *e = &s->trial->stage;
  transport_blocks blocks = {e->blocks, sizeof(uint32_t) << e->block};
  uint64_t bytes = s->trial->slab[0] * sizeof(uint32_t);
  char *from = calloc(bytes, 2);
  error why;
  transport *t = transport_open(&s->options, &why);
  s->good = from && t && transport_exchange_blocks(t, &blocks, from, from + bytes, &why);
  for (uint32_t to = 0; s->good && to < t->ranks; to++) {
    share_traffic *sent = &s->sent[distance(t->rank, to, s->trial->target.peers)];
    sent->messages += t->sent[to].messages;
    sent->bytes += t->sent[to].bytes;
  }
  transport_close(t);
  free(from);
  return NULL;
}

static void check_transport(const trial *t) {
  sender senders[RANKS];
  pthread_t threads[RANKS];
  uint32_t ranks = 1u << t->shares.p;
  transport_group *group = transport_group_make(ranks);
  share_cost cost = shares_traffic_cost(&t->shares, 0, &t->target);
  for (uint32_t i = 0; i < ranks; i++) {
    transport_options o = {
        .kind = &transport_threads, .rank = i, .ranks = ranks, .timeout = 10, .group = group};
    senders[i] = (sender){t, o, {{0}}, false};
    pthread_create(&threads[i], NULL, exchange, &senders[i]);
  }
  for (uint32_t i = 0; i < ranks; i++) {
    pthread_join(threads[i], NULL);
    CHECK(senders[i].good);
    for (int d = 0; d < SHARE_DISTANCES; d++) {
      cost.all[d].messages -= senders[i].sent[d].messages;
      cost.all[d].bytes -= senders[i].sent[d].bytes;
    }
  }
  transport_group_free(group);
  for (int d = 0; d < SHARE_DISTANCES; d++)
    CHECK(cost.all[d].messages == 0 && cost.all[d].bytes == 0);
}

static void check_some_transport(random_state *random) {
  START();
  trial t;
  make_trial(&memory, random, &t);
  check_transport(&t);
  arena_free(&memory);
}

TEST(what_threads_send) {
  random_state random = {4};
  for (int k = 0; k < (test_all() ? 3000 : 100); k++)
    check_some_transport(&random);
}

// 16 MiB of each of four GPUs of a host: 3 messages of 4 MiB to peers, in 0.119 ms as NCCL was
// measured.
TEST(an_exchange_among_peers) {
  START();
  trial t = {.target = *target_named("gpu"), .slab = {1 << 22, 1 << 22}};
  t.stage = (share_stage){SHARE_EXCHANGE, 0, 1, 20, {f2_permutation(4, (int[]){2, 3, 0, 1}), 0}};
  for (int i = 0; i < 2; i++)
    net_array_add(&memory, &t.net, SCALAR_U32, 1 << 24, NET_TEMPORARY, 0);
  t.shares = (shares){&t.net, 2, &t.stage, t.slab, t.window};
  share_cost cost = shares_traffic_cost(&t.shares, 0, &t.target);
  CHECK_EQ_U64((uint64_t)cost.rho, 2);
  CHECK_EQ_U64(cost.most[SHARE_TO_PEER].messages, 3);
  CHECK_EQ_U64(cost.most[SHARE_TO_PEER].bytes, 3 << 22);
  CHECK_EQ_U64(cost.most[SHARE_OVER_NETWORK].messages, 0);
  CHECK(cost.seconds > 0.115e-3 && cost.seconds < 0.125e-3);
  arena_free(&memory);
}

TEST_MAIN()
