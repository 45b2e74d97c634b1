// Elements in the order of their classes, stably, and back. Private to this room.
//
//   classes   1 0 2 0 1        from  a b c d e        to  b d a e c
//   first     0 2 4 5          those of class k are to[first[k]] ... to[first[k + 1] - 1]
//
// Chunks of elements are counted, then moved, by all threads.
#ifndef PERMC_RUNTIME_RANKS_ROUTINES_DEAL_H
#define PERMC_RUNTIME_RANKS_ROUTINES_DEAL_H

#include "runtime/ranks/routines/team.h"

// The classes of elements first, ..., last - 1.
typedef void deal_classify(const void *with, uint64_t first, uint64_t last, uint16_t *classes);

typedef struct deal {
  const team *team;
  uint64_t count;
  uint32_t class_count;
  uint16_t *classes;  // by element
  uint64_t *starts;   // by chunk and class: where its first element goes
  uint64_t *first;    // class_count + 1
} deal;

// The team, the count and the number of classes are set. False: the team has failed.
bool deal_make(deal *d, deal_classify *classify, const void *with);
void deal_free(deal *d);
// Elements of `unit` bytes. `to` is another array.
bool deal_out(const deal *d, const void *from, void *to, size_t unit);
// From the order of classes to the one that they had.
bool deal_back(const deal *d, const void *from, void *to, size_t unit);

#endif
