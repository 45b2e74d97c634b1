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
