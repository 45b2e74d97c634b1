// See deal.h.
#include "runtime/ranks/routines/deal.h"

#include "runtime/values/value.h"
#include <stdlib.h>
#include <string.h>

bool deal_make(deal *d, const team *t, uint64_t count, uint32_t class_count,
               classify_elements *classify, const void *with) {
  d->team = t;
  d->order =
      (class_order){.crew = {.threads = t->threads, .interrupted = t->interrupted},
                    .count = count,
                    .class_count = class_count,
                    .class_bytes = sizeof(uint16_t),
                    .classes = array_memory((count + 1) * sizeof(uint16_t)),
                    .starts = array_memory(class_order_starts(count, class_count, t->threads) *
                                           sizeof *d->order.starts)};
  return d->order.classes && d->order.starts && class_order_find(&d->order, classify, with)
             ? trade_make(t, &d->trade)
             : team_stop(t);
}

bool deal_to_ranks(deal *d, const team *t, uint64_t count, classify_elements *classify,
                   const void *with) {
  uint32_t ranks = t->transport->ranks;
  if (!deal_make(d, t, count, ranks + 1, classify, with))
    return false;
  memcpy(d->trade.sent, d->order.starts, (ranks + (size_t)1) * sizeof *d->trade.sent);
  return trade_agree(t, &d->trade);
}

void deal_free(deal *d) {
  free(d->order.classes);
  free(d->order.starts);
  trade_free(&d->trade);
}

bool deal_send(const deal *d, const void *from, void *room, void *to, size_t unit) {
  return class_order_move(&d->order, from, room, unit, false)
             ? trade_run(d->team, &d->trade, room, to, unit)
             : team_stop(d->team);
}

bool deal_return(const deal *d, const void *from, void *room, void *to, size_t unit) {
  return trade_back(d->team, &d->trade, from, room, unit) &&
         (class_order_move(&d->order, room, to, unit, true) || team_stop(d->team));
}
