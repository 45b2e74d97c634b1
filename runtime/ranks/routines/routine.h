// Executes the routines of a Net in shares (fusion/shares) over ranks.
//
//   stage 0 routine    n=0 routine sort rows 1 length 2^24       each rank has a slab of 2^22 keys, and
//     from a0 to a1                                              gets its slab of the sorted array
//
// Data that stays on a rank is done by runtime/routines. What of an element decides where it goes
// (its key, its place) is looked at where the element is; then each array is exchanged once, a
// message for each pair of ranks.
//
//   sort       cuts (cuts.h), one exchange of each array, a sort of each slab
//   places     the same for the keys; then places go back
//   count      a count of each slab, and sums
//   wrong      the same keys meet on one rank
//   permute    places say which rank
//
//   routine.c   the table        sort.c   sort, places        deal.c   elements in order of their ranks
//   cuts.c      where the sorted array is cut                 team.c   what ranks say to each other
#ifndef PERMC_RUNTIME_RANKS_ROUTINES_ROUTINE_H
#define PERMC_RUNTIME_RANKS_ROUTINES_ROUTINE_H

#include "fusion/shares/shares.h"
#include "runtime/ranks/routines/team.h"

typedef struct ranked_routine {
  const team *team;
  const net *net;
  const net_routine *routine;
  const uint64_t *slab;  // by array of the net: see shares.h
  void *const *data;     // by array: element 0, of the whole; a rank has memory of its slab only
} ranked_routine;

// One of which shares_routine_slab says that it can be. False: the team has failed.
bool routine_run_ranked(const ranked_routine *c);

#endif
