// What the parts of this room say to other ranks: equal messages, ranges of arrays, a failure.
// Private to this room.
//
//   rank 0 has  a b b c     sent 0 1 3 4: a goes to rank 0, b b to rank 1, c to rank 2
//   rank 1 has  a a c c     sent 0 2 2 4
//   rank 2 has  b c c c     sent 0 0 1 4
//
//   rank 1 gets b b b       received 0 2 2 3: two of rank 0, none of rank 1, one of rank 2
#ifndef PERMC_RUNTIME_RANKS_ROUTINES_TEAM_H
#define PERMC_RUNTIME_RANKS_ROUTINES_TEAM_H

#include "runtime/transport/transport.h"
#include <stdatomic.h>

// The ranks, as one of them sees them.
typedef struct team {
  transport *transport;
  unsigned threads;                // of this rank, at least 1
  const atomic_bool *interrupted;  // may be NULL
  error *failure;
} team;

// Tells all ranks why the work of this one has ended: interrupted, or without memory. Returns false.
bool team_stop(const team *t);

// Which elements of arrays go to which rank.
typedef struct trade {
  uint64_t *sent;      // elements sent[r] ... sent[r + 1] - 1 go to rank r
  uint64_t *received;  // and those of rank r become received[r] ... received[r + 1] - 1
} trade;

// Room for both; then `sent` is filled in, and trade_agree finds `received`.
bool trade_make(const team *t, trade *d);
bool trade_agree(const team *t, const trade *d);
void trade_free(trade *d);
// Elements of `unit` bytes; or back, from what was received to where it was sent from.
bool trade_run(const team *t, const trade *d, const void *from, void *to, size_t unit);
bool trade_back(const team *t, const trade *d, const void *from, void *to, size_t unit);

#endif
