// Private to fusion/shares: what stages send, for cost.h (traffic.c; routine_cost.c).
#ifndef PERMC_FUSION_SHARES_TRAFFIC_H
#define PERMC_FUSION_SHARES_TRAFFIC_H

#include "fusion/shares/cost.h"

// Adds what one rank sends (of windows: gets), by how far.
void share_cost_add_rank(share_cost *c, const share_traffic *its);
// Of numbers first ... end - 1, of which ranks own `each`, those that are a rank's, its peers' and
// others': how many, and of how many ranks.
typedef struct share_owners {
  uint64_t numbers[SHARE_DISTANCES], ranks[SHARE_DISTANCES];
} share_owners;
share_owners share_owners_of(uint64_t first, uint64_t end, uint64_t each, uint64_t rank,
                             int peer_bits);
// Adds what comes behind, but for rho.
void share_cost_add(share_cost *to, const share_cost *from);
// Of a routine on slabs, without seconds (routine_cost.c).
share_cost share_cost_of_routine(const shares *s, const net_routine *r, int peer_bits);

#endif
