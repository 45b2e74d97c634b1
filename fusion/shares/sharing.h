// Private to fusion/shares: a Net in shares while it is being made.
#ifndef PERMC_FUSION_SHARES_SHARING_H
#define PERMC_FUSION_SHARES_SHARING_H

#include "fusion/shares/shares.h"

typedef struct sharing {
  arena *memory;
  const net *from;
  net *to;
  int p;
  VEC(share_stage) kinds;  // of the stages of `to`
  VEC(uint64_t) slab;      // of its arrays
  net_id *whole;  // by array of `from` that lies in slabs: a copy that each rank has, or NET_NONE
} sharing;

// Another array between stages.
net_id sharing_add_array(sharing *s, scalar_type type, uint64_t count, uint64_t slab);

#endif
