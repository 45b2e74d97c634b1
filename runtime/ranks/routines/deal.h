// Elements that go to ranks by their classes, and come back. Private to this room.
//
//   deal_make       classes of this rank's elements, in their order (runtime/routines/classes.h)
//   trade.sent      is set: which of them, in that order, go to which rank
//   trade_agree     what comes
//   deal_send       an array's elements to where they go; deal_return what has come, to where it was
#ifndef PERMC_RUNTIME_RANKS_ROUTINES_DEAL_H
#define PERMC_RUNTIME_RANKS_ROUTINES_DEAL_H

#include "runtime/ranks/routines/team.h"
#include "runtime/routines/classes.h"

typedef struct deal {
  const team *team;
  class_order order;
  trade trade;
} deal;

// {0} at first; it is freed on failure, too. False: the team has failed.
bool deal_make(deal *d, const team *t, uint64_t count, uint32_t class_count,
               classify_elements *classify, const void *with);
// The same, where class r goes to rank r, and the last class nowhere; and what comes is agreed on.
bool deal_to_ranks(deal *d, const team *t, uint64_t count, classify_elements *classify,
                   const void *with);
void deal_free(deal *d);
// Elements of `unit` bytes; `room` has room for this rank's.
bool deal_send(const deal *d, const void *from, void *room, void *to, size_t unit);
bool deal_return(const deal *d, const void *from, void *room, void *to, size_t unit);

#endif
