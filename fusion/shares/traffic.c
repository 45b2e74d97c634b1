// What ranks send, added up. See traffic.h.
#include "fusion/shares/traffic.h"

void share_cost_add_rank(share_cost *c, const share_traffic *its) {
  for (int d = 0; d < SHARE_DISTANCES; d++) {
    c->all[d].messages += its[d].messages;
    c->all[d].bytes += its[d].bytes;
    if (its[d].bytes > c->most[d].bytes)
      c->most[d] = its[d];
  }
}

// Those of ranks low ... high - 1.
static void count_owned(uint64_t first, uint64_t end, uint64_t each, uint64_t low, uint64_t high,
                        uint64_t *numbers, uint64_t *ranks) {
  first = first > low * each ? first : low * each;
  end = end < high * each ? end : high * each;
  *numbers = first < end ? end - first : 0;
  *ranks = first < end ? (end - 1) / each - first / each + 1 : 0;
}

share_owners share_owners_of(uint64_t first, uint64_t end, uint64_t each, uint64_t rank,
                             int peer_bits) {
  share_owners o;
  uint64_t host = rank >> peer_bits << peer_bits, all = (end + each - 1) / each;
  count_owned(first, end, each, rank, rank + 1, &o.numbers[SHARE_TO_ITSELF],
              &o.ranks[SHARE_TO_ITSELF]);
  count_owned(first, end, each, host, host + f2_unit(peer_bits), &o.numbers[SHARE_TO_PEER],
              &o.ranks[SHARE_TO_PEER]);
  count_owned(first, end, each, 0, all, &o.numbers[SHARE_OVER_NETWORK],
              &o.ranks[SHARE_OVER_NETWORK]);
  o.numbers[SHARE_OVER_NETWORK] -= o.numbers[SHARE_TO_PEER];
  o.ranks[SHARE_OVER_NETWORK] -= o.ranks[SHARE_TO_PEER];
  o.numbers[SHARE_TO_PEER] -= o.numbers[SHARE_TO_ITSELF];
  o.ranks[SHARE_TO_PEER] -= o.ranks[SHARE_TO_ITSELF];
  return o;
}

void share_cost_add(share_cost *to, const share_cost *from) {
  for (int d = 0; d < SHARE_DISTANCES; d++) {
    to->all[d].messages += from->all[d].messages;
    to->all[d].bytes += from->all[d].bytes;
    to->most[d].messages += from->most[d].messages;
    to->most[d].bytes += from->most[d].bytes;
  }
  to->rounds += from->rounds;
  to->moved += from->moved;
  to->seconds += from->seconds;
}
