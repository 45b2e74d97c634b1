// Random Nets that net_verify accepts, for tests, and what they compute (tests/nets/nets.h).
//
//   random_state random = {seed};
//   net *t = random_net(&memory, &random);              // or random_net_of: with routines, too
//   evaluation *e = net_evaluate(&memory, t, seed);     // the elements of all arrays
#ifndef PERMC_TESTS_UNIT_NET_RANDOM_H
#define PERMC_TESTS_UNIT_NET_RANDOM_H

#include "tests/nets/nets.h"
#include "tests/test.h"

#ifndef RANDOM_NET_BITS
#define RANDOM_NET_BITS 5  // stages have fewer index bits than that
#endif

// It may be wrong, or store what is undefined.
static inline net *random_attempt(arena *a, random_state *r, bool routines) {
  return random_attempt_within(a, r, RANDOM_NET_BITS, routines);
}

static inline net *random_net_of(arena *a, random_state *r, bool routines) {
  return random_net_within(a, r, RANDOM_NET_BITS, routines);
}

static inline net *random_net(arena *a, random_state *r) { return random_net_of(a, r, false); }

#endif
