// Exchanges in pieces: what their making and their cost have in common. Private to this room.
#ifndef PERMC_FUSION_SHARES_PIECES_H
#define PERMC_FUSION_SHARES_PIECES_H

#include "fusion/shares/cost.h"

// The passes that work on shares right before and behind an exchange. False: it has not both.
typedef struct share_neighbours {
  uint32_t before, after;  // passes
} share_neighbours;
bool shares_find_neighbours(const shares *s, const plan *p, size_t stage, share_neighbours *out);

// What the three take in 2^bits pieces: `passes` both passes, `exchange` all of it.
double shares_seconds_in_pieces(const target *t, double passes, double exchange, int bits);

#endif
