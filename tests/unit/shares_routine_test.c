// Routines over ranks (runtime/ranks/routines/routine.h): for any number of ranks, slabs, keys and
// rows what routine_run makes of whole arrays, to the byte; and they send what is predicted
// (fusion/shares/cost.h).
#include "tests/test.h"

#include "core/random.h"
#include "fusion/shares/cost.h"
#include "runtime/ranks/routines/routine.h"
#include "runtime/routines/routine.h"
#include <pthread.h>

enum { MOST_ARRAYS = 12, MOST_PAIRS = 5, MOST_RANKS = 32, TIMEOUT = 60 };

static uint64_t state = 17;

// ---- cases --------------------------------------------------------------------------------------

typedef enum shape { RANDOM, EQUAL, FEW, UP, DOWN, SPECIAL, SHAPES } shape;

typedef struct trial {
  net net;
  net_array arrays[MOST_ARRAYS];
  net_routine routine;
  net_routine_pair pairs[MOST_PAIRS];
  uint64_t slab[MOST_ARRAYS];
  void *whole[MOST_ARRAYS];  // by array: all of it
  void *expected[MOST_ARRAYS];
  uint32_t ranks, threads, peers;
  share_traffic sent[SHARE_DISTANCES];  // by all ranks
} trial;

static size_t bytes_of(const trial *t, net_id id) {
  return t->arrays[id].count * scalar_types[t->arrays[id].type].size;
}

static net_id add_array(trial *t, scalar_type type, uint64_t count, uint64_t slab) {
  net_id id = (net_id)t->net.arrays.count++;
  t->arrays[id] = (net_array){.type = type, .count = count, .role = NET_TEMPORARY};
  t->slab[id] = slab;
  t->whole[id] = malloc(bytes_of(t, id) + 1);
  t->expected[id] = calloc(bytes_of(t, id) + 1, 1);
  return id;
}

static void fill(trial *t, net_id id) {
  unsigned char *bytes = t->whole[id];
  for (size_t i = 0; i < bytes_of(t, id); i++)
    bytes[i] = (unsigned char)draw_word(&state);
}

// Numbers of the type; of `limit` below it.
static void fill_keys(trial *t, net_id id, shape s, uint64_t limit) {
  scalar_type type = t->arrays[id].type;
  size_t size = scalar_types[type].size;
  uint64_t count = t->arrays[id].count;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t x = s == EQUAL  ? 7
                 : s == FEW  ? draw_below(&state, 5)
                 : s == UP   ? i
                 : s == DOWN ? count - i
                             : draw_word(&state);
    int64_t number = (int64_t)(limit ? x % limit : type == SCALAR_BOOL ? x % 2 : x % 100);
    char *at = (char *)t->whole[id] + i * size;
    scalar_convert(SCALAR_I64, type, 1, &number, at);
    if (!limit && type != SCALAR_BOOL && s == RANDOM)
      memcpy(at, &x, size);
    if (!limit && s == SPECIAL && CLASS_OF(type) & CLASS_FLOAT) {
      const double some[] = {0.0, -0.0, 1.0, -1.0, 1e30};
      scalar_convert(SCALAR_F64, type, 1, &some[x % 5], at);
      if (x / 8 % 4 == 0)
        memset(at, 0xff - (int)(x / 64 % 2), size);  // NaN of two kinds
    }
  }
}

static trial start(net_routine_kind kind, uint32_t ranks, uint64_t rows, uint64_t length) {
  trial t = {.ranks = ranks, .threads = 1 + draw_below(&state, 2)};
  t.peers = 1U << draw_below(&state, 3);
  t.routine = (net_routine){.kind = kind, .rows = rows, .length = length, .offsets = NET_NONE};
  return t;
}

static void add_pair(trial *t, net_id from, net_id to) {
  t->pairs[t->routine.pair_count++] = (net_routine_pair){from, to};
}

static void finish(trial *t) {
  for (size_t i = 0; i < t->net.arrays.count; i++) {
    free(t->whole[i]);
    free(t->expected[i]);
  }
}

// ---- runs ---------------------------------------------------------------------------------------

typedef struct rank {
  trial *trial;
  transport_options options;
  error failure;
  pthread_t thread;
  share_traffic sent[SHARE_DISTANCES];
  bool good;
} rank;

// Of an array, what this rank has: bytes from *first on.
static size_t part_of(const trial *t, net_id id, uint32_t number, size_t *first) {
  size_t all = bytes_of(t, id), slab = t->slab[id] * scalar_types[t->arrays[id].type].size;
  *first = slab && number * slab < all ? number * slab : slab ? all : 0;
  return slab && slab < all - *first ? slab : all - *first;
}

static void count_sent(rank *r, const transport *t) {
  uint32_t peers = r->trial->peers;
  for (uint32_t to = 0; to < t->ranks; to++) {
    share_distance d = to == t->rank                   ? SHARE_TO_ITSELF
                       : to / peers == t->rank / peers ? SHARE_TO_PEER
                                                       : SHARE_OVER_NETWORK;
    r->sent[d].messages += t->sent[to].messages;
    r->sent[d].bytes += t->sent[to].bytes;
  }
}

// The memory of a rank is to the byte what it has.
static void *run_rank(void *with) {
  rank *r = with;
  trial *t = r->trial;
  void *parts[MOST_ARRAYS], *data[MOST_ARRAYS];
  size_t first;
  for (net_id id = 0; id < t->net.arrays.count; id++) {
    size_t bytes = part_of(t, id, r->options.rank, &first);
    parts[id] = malloc(bytes + !bytes);
    memcpy(parts[id], (char *)t->whole[id] + first, bytes);
    data[id] = (void *)((uintptr_t)parts[id] - first);
  }
  transport *open = transport_open(&r->options, &r->failure);
  team all = {open, t->threads, NULL, &r->failure};
  ranked_routine c = {&all, &t->net, &t->routine, t->slab, data};
  r->good = open && routine_run_ranked(&c);
  if (open)
    count_sent(r, open);
  transport_close(open);
  for (uint32_t p = 0; p < t->routine.pair_count; p++) {
    net_id id = t->pairs[p].to;
    if (id != NET_NONE) {
      size_t bytes = part_of(t, id, r->options.rank, &first);
      if (t->slab[id] || r->options.rank == t->ranks - 1)
        memcpy((char *)t->whole[id] + first, parts[id], bytes);
    }
  }
  for (net_id id = 0; id < t->net.arrays.count; id++)
    free(parts[id]);
  return NULL;
}

static bool run_ranks(trial *t) {
  transport_group *group = transport_group_make(t->ranks);
  rank ranks[MOST_RANKS];
  bool good = true;
  for (uint32_t i = 0; i < t->ranks; i++) {
    ranks[i] = (rank){.trial = t,
                      .options = {.kind = &transport_threads,
                                  .rank = i,
                                  .ranks = t->ranks,
                                  .timeout = TIMEOUT,
                                  .group = group}};
    pthread_create(&ranks[i].thread, NULL, run_rank, &ranks[i]);
  }
  for (uint32_t i = 0; i < t->ranks; i++) {
    pthread_join(ranks[i].thread, NULL);
    good = CHECK_STR(ranks[i].failure.message, "") && ranks[i].good && good;
    for (int d = 0; d < SHARE_DISTANCES; d++) {
      t->sent[d].messages += ranks[i].sent[d].messages;
      t->sent[d].bytes += ranks[i].sent[d].bytes;
    }
  }
  transport_group_free(group);
  return good;
}

// ---- what is sent -------------------------------------------------------------------------------

static share_cost predicted(const trial *t) {
  static const share_window *no_window[MOST_ARRAYS];
  const share_stage stage = {.kind = SHARE_ROUTINE};
  net_stage of = {.routine = (net_routine *)&t->routine};
  net n = t->net;
  n.stages.items = &of;
  n.stages.count = 1;
  target machine = *target_named("gpu");
  machine.peers = t->peers;
  shares s = {&n, shares_bits(t->ranks), (share_stage *)&stage, (uint64_t *)t->slab, no_window};
  return shares_traffic_cost(&s, 0, &machine);
}

// Messages are those that were sent. Bytes are, too, if no element's way depends on its key; of
// those that go somewhere all together are.
static bool check_sent(const trial *t) {
  const net_routine *r = &t->routine;
  share_cost cost = predicted(t);
  bool good = true, fixed = r->kind == NET_COUNT || (r->kind == NET_WRONG && !r->distinct);
  uint64_t found = 0, all = 0;
  for (int d = 0; d < SHARE_DISTANCES; d++) {
    good = CHECK_EQ_U64(cost.all[d].messages, t->sent[d].messages) && good;
    good = (!fixed || CHECK_EQ_U64(cost.all[d].bytes, t->sent[d].bytes)) && good;
    found += t->sent[d].bytes;
    all += cost.all[d].bytes;
  }
  uint64_t rounding = 2 * t->ranks, off = found < all ? all - found : found - all;
  bool none = r->kind == NET_WRONG && r->distinct;  // what is no place goes nowhere
  return CHECK(none ? found <= all + rounding : off <= rounding) && good;
}

static void check(trial *t) {
  net *n = &t->net;
  n->arrays.items = t->arrays;
  t->routine.pairs = t->pairs;
  void *data[MOST_ARRAYS];
  for (size_t i = 0; i < n->arrays.count; i++)
    data[i] = t->whole[i];
  for (uint32_t p = 0; p < t->routine.pair_count; p++)
    if (t->pairs[p].to != NET_NONE)
      data[t->pairs[p].to] = t->expected[t->pairs[p].to];
  plan p = {.net = n};
  p.arrays.items = t->arrays;
  p.arrays.count = n->arrays.count;
  CHECK(shares_routine_slab(n, &t->routine, t->slab, t->ranks) > 0);
  bool good = CHECK(routine_run(&p, &t->routine, data, 1, NULL)) && run_ranks(t);
  for (uint32_t i = 0; i < t->routine.pair_count && good; i++) {
    net_id id = t->pairs[i].to;
    good = id == NET_NONE || CHECK(!memcmp(t->whole[id], t->expected[id], bytes_of(t, id)));
  }
  good = good && check_sent(t);
  if (!good)
    printf("%s of %s, %" PRIu64 " rows of %" PRIu64 ", %u ranks, slab %" PRIu64 "\n",
           net_routine_names[t->routine.kind], scalar_types[t->arrays[t->pairs[0].from].type].name,
           t->routine.rows, t->routine.length, t->ranks, t->slab[t->pairs[0].from]);
  finish(t);
}

// ---- sizes --------------------------------------------------------------------------------------

typedef struct extent {
  uint32_t ranks;
  uint64_t rows, length, slab;
} extent;

// One long row, short rows, rows that end where slabs do; slabs that are equal, and some that end
// early.
static extent draw_extent(void) {
  extent e = {.ranks = 1U << draw_below(&state, slower() > 1 ? 3 : 6)};
  uint32_t how = draw_below(&state, 4);
  e.rows = how == 0 ? 1 + draw_below(&state, 40) : how == 1 ? e.ranks : 1;
  e.length = 1 + draw_below(&state, how < 2 ? 70 : 2000);
  uint64_t count = e.rows * e.length;
  e.slab = (count + e.ranks - 1) / e.ranks;
  for (uint64_t power = 1; draw_below(&state, 2) && e.slab != power;)
    if ((power *= 2) >= e.slab)
      e.slab = power;
  return e;
}

static uint64_t keys_slab(uint64_t slab) { return draw_below(&state, 5) ? slab : 0; }

static const scalar_type types[] = {SCALAR_BOOL, SCALAR_I8,  SCALAR_I16, SCALAR_I32, SCALAR_I64,
                                    SCALAR_U8,   SCALAR_U16, SCALAR_U32, SCALAR_U64, SCALAR_F16,
                                    SCALAR_BF16, SCALAR_F32, SCALAR_F64};
enum { TYPES = sizeof types / sizeof *types };

// ---- routines -----------------------------------------------------------------------------------

static void check_sort(scalar_type type, shape s) {
  extent e = draw_extent();
  uint64_t count = e.rows * e.length;
  trial t = start(NET_SORT, e.ranks, e.rows, e.length);
  t.routine.descending = draw_below(&state, 2);
  bool integer = CLASS_OF(type) & CLASS_INTEGER, few = integer && draw_below(&state, 3) == 0;
  t.routine.limit = few ? 1 + draw_below(&state, 100) : 0;
  net_id keys = add_array(&t, type, count, keys_slab(e.slab));
  fill_keys(&t, keys, s, t.routine.limit);
  bool wanted = draw_below(&state, 3) > 0;
  add_pair(&t, keys, wanted ? add_array(&t, type, count, e.slab) : NET_NONE);
  if (!wanted || draw_below(&state, 2)) {
    uint64_t each = 1 + draw_below(&state, 3);
    scalar_type of = types[draw_below(&state, TYPES)];
    net_id from = add_array(&t, of, count * each, each * keys_slab(e.slab));
    fill(&t, from);
    add_pair(&t, from, add_array(&t, of, count * each, each * e.slab));
  }
  if (draw_below(&state, 2))
    add_pair(&t, NET_NONE,
             add_array(&t, draw_below(&state, 2) ? SCALAR_I64 : SCALAR_U32, count, e.slab));
  if (t.routine.limit && t.routine.limit <= NET_MOST_COUNTED) {
    t.routine.counts = true;
    add_pair(&t, keys, add_array(&t, SCALAR_I64, e.rows * t.routine.limit, 0));
  }
  check(&t);
}

static void check_places(scalar_type type, shape s) {
  extent e = draw_extent();
  uint64_t count = e.rows * e.length;
  trial t = start(NET_PLACES, e.ranks, e.rows, e.length);
  t.routine.descending = draw_below(&state, 2);
  net_id keys = add_array(&t, type, count, keys_slab(e.slab));
  fill_keys(&t, keys, s, 0);
  add_pair(&t, keys, add_array(&t, SCALAR_I64, count, e.slab));
  check(&t);
}

static uint32_t trials(void) { return test_all() ? 200 : slower() > 1 ? 1 : 4; }
static uint32_t few(uint32_t count) { return slower() > 1 ? count / 4 : count * trials(); }

TEST(sorts) {
  for (uint32_t i = 0; i < trials(); i++)
    for (uint32_t s = 0; s < SHAPES; s++)
      for (uint32_t k = slower() > 1 ? s % 4 : 0; k<TYPES; k += slower()> 1 ? 4 : 1)
        check_sort(types[k], s);
}

// Keys that each rank has all of are counted by equal parts, whatever the slabs of what is sorted.
TEST(sort_that_counts_whole_keys) {
  trial t = start(NET_SORT, 16, 14, 63);
  t.routine.limit = 10;
  t.routine.counts = true;
  net_id keys = add_array(&t, SCALAR_U32, 14 * 63, 0);
  fill_keys(&t, keys, RANDOM, t.routine.limit);
  add_pair(&t, keys, add_array(&t, SCALAR_U32, 14 * 63, 64));
  add_pair(&t, keys, add_array(&t, SCALAR_I64, 14 * t.routine.limit, 0));
  check(&t);
}

TEST(places) {
  for (uint32_t i = 0; i < trials(); i++)
    for (uint32_t s = 0; s < SHAPES; s++)
      for (uint32_t k = (i + s) % 4; k < TYPES; k += 4)
        check_places(types[k], s);
}

TEST(counts) {
  for (uint32_t i = 0; i < few(30); i++) {
    extent e = draw_extent();
    scalar_type type = types[1 + draw_below(&state, 8)];
    trial t = start(NET_COUNT, e.ranks, e.rows, e.length);
    t.routine.limit = 1 + draw_below(&state, 120);
    net_id keys = add_array(&t, type, e.rows * e.length, keys_slab(e.slab));
    fill_keys(&t, keys, i % SHAPES, i % 2 ? t.routine.limit : 0);
    uint64_t all = e.rows * t.routine.limit;
    uint64_t slab = draw_below(&state, 2) ? (all + e.ranks - 1) / e.ranks : 0;
    add_pair(&t, keys, add_array(&t, SCALAR_I64, all, slab));
    check(&t);
  }
}

// Row by row 0 ... length - 1 in any order.
static void fill_places(trial *t, net_id id) {
  uint16_t order[2048];
  for (uint64_t row = 0; row < t->routine.rows; row++) {
    draw_permutation(&state, (uint32_t)t->routine.length, order);
    for (uint64_t i = 0; i < t->routine.length; i++)
      scalar_convert(SCALAR_U16, t->arrays[id].type, 1, &order[i],
                     (char *)t->whole[id] +
                         (row * t->routine.length + i) * scalar_types[t->arrays[id].type].size);
  }
}

TEST(permutations) {
  for (uint32_t i = 0; i < few(30); i++) {
    extent e = draw_extent();
    uint64_t each = 1 + draw_below(&state, 2);
    trial t = start(NET_PERMUTE, e.ranks, 1, e.rows * e.length);
    if (t.routine.length > 2000) {
      finish(&t);
      continue;
    }
    const scalar_type kinds[] = {SCALAR_U16, SCALAR_I32, SCALAR_I64};
    net_id places = add_array(&t, kinds[i % 3], t.routine.length, keys_slab(e.slab));
    fill_places(&t, places);
    t.routine.back = draw_below(&state, 2);
    add_pair(&t, places, NET_NONE);
    for (uint32_t k = 0; k < 2; k++) {
      scalar_type of = types[draw_below(&state, TYPES)];
      net_id from = add_array(&t, of, t.routine.length * each, each * keys_slab(e.slab));
      fill(&t, from);
      add_pair(&t, from, add_array(&t, of, t.routine.length * each, each * e.slab));
    }
    check(&t);
  }
}

TEST(wrong_places) {
  for (uint32_t i = 0; i < few(60); i++) {
    extent e = draw_extent();
    uint64_t count = e.rows * e.length;
    trial t = start(NET_WRONG, e.ranks, e.rows, e.length);
    const scalar_type kinds[] = {SCALAR_I16, SCALAR_U32, SCALAR_I64};
    net_id places = add_array(&t, kinds[i % 3], count, keys_slab(e.slab));
    fill_places(&t, places);
    t.routine.distinct = draw_below(&state, 3) > 0;
    t.routine.limit = e.length;
    size_t size = scalar_types[kinds[i % 3]].size;
    for (uint32_t k = draw_below(&state, 3); k > 0; k--) {  // outside, or a second time
      char *at = (char *)t.whole[places] + draw_below(&state, (uint32_t)count) * size;
      int64_t place = draw_below(&state, 2) ? draw_below(&state, (uint32_t)e.length)
                                            : -(int64_t)draw_below(&state, 3);
      scalar_convert(SCALAR_I64, kinds[i % 3], 1, &place, at);
    }
    add_pair(&t, places, add_array(&t, SCALAR_I64, 2, e.ranks == 2 && i % 2 ? 1 : 0));
    check(&t);
  }
}

// ---- keys of which each is as likely to belong to any place ---------------------------------------

// Bytes over the network and to peers, beside those predicted: within 2 %.
static void check_random(trial *t) {
  check(t);
  share_cost cost = predicted(t);
  for (int d = 0; d < SHARE_DISTANCES; d++) {
    double found = (double)t->sent[d].bytes, wanted = (double)cost.all[d].bytes;
    if (!CHECK(found >= 0.98 * wanted && found <= 1.02 * wanted))
      printf("  %s, %d: %.0f bytes, predicted %.0f\n", net_routine_names[t->routine.kind], d, found,
             wanted);
  }
}

static trial start_random(net_routine_kind kind, uint64_t rows, uint64_t length, scalar_type type) {
  trial t = start(kind, 8, rows, length);
  t.peers = 2;
  add_array(&t, type, rows * length, rows * length / 8);
  add_array(&t, type, rows * length, rows * length / 8);
  fill_keys(&t, 0, RANDOM, 0);
  return t;
}

TEST(bytes_of_random_keys) {
  static const uint64_t rows[] = {1, 3};
  for (size_t i = 0; i < 2; i++) {
    uint64_t slab = 1 << 14, length = 8 * slab / rows[i];
    length -= rows[i] > 1 ? length % 8 : 0;
    trial sort = start_random(NET_SORT, rows[i], length, SCALAR_F32);
    add_pair(&sort, 0, 1);
    add_pair(&sort, NET_NONE, add_array(&sort, SCALAR_U32, rows[i] * length, sort.slab[0]));
    check_random(&sort);
    trial places = start_random(NET_PLACES, rows[i], length, SCALAR_U32);
    add_pair(&places, 0, add_array(&places, SCALAR_I64, rows[i] * length, places.slab[0]));
    check_random(&places);
  }
  for (int back = 0; back < 2; back++) {
    trial t = start_random(NET_PERMUTE, 1, 2000, SCALAR_U16);
    fill_places(&t, 0);
    t.routine.back = back;
    add_pair(&t, 0, NET_NONE);
    net_id from = add_array(&t, SCALAR_U64, 2000, 250), to = add_array(&t, SCALAR_U64, 2000, 250);
    fill(&t, from);
    add_pair(&t, from, to);
    check(&t);
  }
}

TEST_MAIN()
