// Nets in shares (fusion/shares/shares.h): that of a random Net computes what the Net does, for any
// number of ranks, and each stage keeps to what its kind says.
#define RANDOM_NET_BITS 8
#include "tests/unit/memory.h"
#include "tests/unit/net_random.h"

#include "fusion/shares/cost.h"
#include "tests/readers/readers.h"

static size_t kinds[SHARE_WHOLE + 1];  // how many stages of each kind there were

static void show(const net *t, const shares *s) {
  text out = {0};
  net_print(&out, t);
  shares_print(&out, s);
  printf("%s\n", out.data);
  text_free(&out);
}

// Those that reach each other's memory need no stages that only move elements between them.
static bool check_peers(const net *t, const shares *s, uint64_t seed) {
  const net *n = shares_of_peers(&memory, s);
  const char *problem = net_verify(&memory, n);
  size_t exchanged = 0;
  for (size_t i = 0; i < s->net->stages.count; i++)
    exchanged += share_only_moves(s->stages[i].kind);
  return CHECK_STR(problem ? problem : "", "") &&
         CHECK_EQ_U64(n->stages.count, s->net->stages.count - exchanged) &&
         CHECK(same_results(t, net_evaluate(&memory, t, seed), n, net_evaluate(&memory, n, seed)));
}

static bool check_shares(const net *t, int p, uint64_t seed) {
  const shares *s = shares_of_ranks(&memory, t, p);
  const char *problem = shares_verify(&memory, s);
  bool good = CHECK_STR(problem ? problem : "", "") &&
              CHECK(same_results(t, net_evaluate(&memory, t, seed), s->net,
                                 net_evaluate(&memory, s->net, seed)));
  for (size_t i = 0; i < s->net->stages.count; i++)
    kinds[s->stages[i].kind]++;
  good = good && check_peers(t, s, seed);
  if (!good)
    show(t, s);
  return good;
}

static bool check_seed(uint64_t seed) {
  START();
  random_state r = {seed};
  const net *t = random_net_of(&memory, &r, seed % 4 == 0);
  for (int p = 0; p < 5; p++)
    if (!check_shares(t, p, seed)) {
      printf("seed %" PRIu64 ", %d bits of ranks\n", seed, p);
      return false;
    }
  return true;
}

TEST(random_nets) {
  uint64_t programs = test_all() ? 20000 : 400, seed = 0;
  while (seed < programs && check_seed(seed))
    seed++;
  for (size_t k = 0; k < SHARE_ROUTINE; k++)
    CHECK(kinds[k] > programs / 10);
}

// Bits of an address that are complements of each other are one row of its map. Shares keep to their
// slabs all the same.
TEST(complements) {
  START();
  const char *wrong = NULL;
  const net *t = net_read(&memory,
                          "array a0 u32 4 argument 0\narray a1 u32 8 result 0\nstage 0 n=2\n"
                          "  v0 = load a0 at x0 + 2*x1\n  store v0 in a1 at x0 + 2*x1 + 2\n"
                          "  store v0 in a1 at x0 + 6*x1\n",
                          &wrong);
  CHECK_STR(wrong, NULL);
  CHECK_EQ_U64(shares_of_ranks(&memory, t, 1)->net->stages.count, 1);
  CHECK(check_shares(t, 1, 1));
}

TEST(numbers_of_ranks) {
  CHECK_EQ_I64(shares_bits(1), 0);
  CHECK_EQ_I64(shares_bits(16), 4);
  CHECK_EQ_I64(shares_bits(0), -1);
  CHECK_EQ_I64(shares_bits(12), -1);
  CHECK_EQ_I64(shares_bits(UINT64_C(1) << 40), -1);
}

TEST_MAIN()
