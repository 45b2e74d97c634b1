// What a Net in shares is predicted to take: messages and bytes by how far they go, and seconds.
//
// In: shares (shares.h), the plan of their Net, a target with its outer levels. Out: a row for each
// stage.
//
//   4 ranks, 2 on each host; each block of rank (s1 s0) goes to the rank that two bits of its place name
//
//   exchange, rho 2    of 4 messages of each rank    1 to itself, 1 to its peer, 2 over the network
//
// With the number of a block (S | J), S its rank, an exchange sends it to rank  M S ^ c ^ D J. The image of
// D, of dimension rho, is where the blocks of one rank go, from M S ^ c on. So how many of its messages
// stay on a host is the dimension of an intersection.
//
//   cost.c     exchanges, gathers, windows; seconds        routine_cost.c   routines on slabs
#ifndef PERMC_FUSION_SHARES_COST_H
#define PERMC_FUSION_SHARES_COST_H

#include "fusion/plan/plan.h"
#include "fusion/shares/shares.h"

// How far a message goes; but for the last, by the target's link of that number.
typedef enum share_distance {
  SHARE_TO_PEER = TARGET_PEER,
  SHARE_OVER_NETWORK = TARGET_NETWORK,
  SHARE_TO_ITSELF,
  SHARE_DISTANCES
} share_distance;

typedef struct share_traffic {
  uint64_t messages, bytes;
} share_traffic;

typedef struct share_cost {
  int rho;                              // EXCHANGE: a rank sends 2^rho messages
  uint64_t rounds;                      // exchanges, one after the other
  double moved;                         // bytes that a rank reads and writes to put them in order
  share_traffic all[SHARE_DISTANCES];   // of all ranks together
  share_traffic most[SHARE_DISTANCES];  // of the rank that sends the most so far; or fetches
  double seconds;
} share_cost;

// How many of the p bits of a rank number the peers of a host; the others number hosts.
int shares_peer_bits(const target *t, int p);
// What is sent in a stage, and what that takes by the target's links. Of a sort, places, a
// permutation: for keys of which each is as likely to belong to any place of its row, as an
// average.
share_cost shares_traffic_cost(const shares *s, size_t stage, const target *t);
// What 2^p GPUs of one host take for a plan whose passes they share by their blocks, on arrays that
// lie in slabs which all of them reach (peer.c).
double shares_peers_seconds(const plan *p, int bits);
// Lets passes overlap with those before them (plan/overlap.c), where that is faster.
void shares_peers_overlap(arena *a, plan *p, int bits);
// Of all stages; `p` is the plan of their Net. Then one of all of them, whose rho is 0.
share_cost *shares_costs(arena *a, const shares *s, const plan *p, const target *t);

#endif
