// Private to fusion/shares: a Net in shares while it is being made.
#ifndef PERMC_FUSION_SHARES_SHARING_H
#define PERMC_FUSION_SHARES_SHARING_H

#include "fusion/shares/box.h"
#include "fusion/shares/passage.h"
#include "fusion/shares/shares.h"

typedef struct sharing {
  arena *memory;
  const net *from;
  net *to;
  int p;
  VEC(share_stage) kinds;  // of the stages of `to`
  VEC(uint64_t) slab;      // of its arrays
  VEC(net_id) whole;       // ... that lie in slabs: the copy that each rank has, or NET_NONE
  VEC(const share_window *) window;
  VEC(bool) fixed;   // ... whose slab a stage relies on
  uint32_t *writes;  // by array of `from`: how many stores, routines and scatters write to it
  bool *by_bits;     // ... that shares by bits of the index store to, all of them, in slabs
} sharing;

// ---- the Net that is made (sharing.c) ----------------------------------------------------------

// An array in such a slab (0: in none). `fixed`: it stays in that.
net_id sharing_copy_array(sharing *s, const net_array *of, uint64_t slab, bool fixed);
// Another array between stages.
net_id sharing_add_array(sharing *s, scalar_type type, uint64_t count, uint64_t slab);
void sharing_add_stage(sharing *s, share_stage as, net_stage stage);
// The map of the exchange, from address to address.
f2_affine sharing_exchange_map(const share_stage *e);
// A stage that copies an array, element by element.
net_stage sharing_copying_stage(sharing *s, net_id from, net_id to);
// What each rank has of an array as a whole: that itself, or a copy, which is gathered.
net_id sharing_whole_array(sharing *s, net_id array);
// The stage gathers from such.
void sharing_gather_from_whole(sharing *s, net_stage *stage);

// The slab of an array of so many elements: a power of two; 0: there are too few, each rank has
// all.
uint64_t sharing_slab(uint64_t count, int p);

// ---- one stage as several ------------------------------------------------------------------------

// Whether it can be shared by bits of its index (bits.c), and the store then goes to slabs.
bool sharing_stores_by_bits(const sharing *s, const net_stage *stage, const net_store *o);
// The stage in shares by bits of its index. False: it cannot be, and nothing is done.
bool sharing_by_bits(sharing *s, const net_stage *stage);
// The same by turns of its first loop (turns.c).
bool sharing_by_turns(sharing *s, const net_stage *stage);

// ---- routines (routine.c) -----------------------------------------------------------------------

// A routine on slabs of its keys. False: it cannot be, and nothing is done.
bool sharing_by_keys(sharing *s, const net_stage *stage);

// ---- windows (window.c) -------------------------------------------------------------------------

// For a stage with shares: its loads are from arrays in slabs that shares keep to, from windows, or
// from what each rank has as a whole.
void sharing_fetch_loads(sharing *s, net_stage *stage);
// Whether shares of a stage touch a window of an array by that map, and which.
bool sharing_find_window(arena *a, const net_stage *stage, const net_map *m, share_window *w);
// Whether the map, of an index of n bits, goes to slabs by bits: *number are the highest p bits of
// the address, of the slab.
bool sharing_goes_to_slabs(int p, int n, const net_map *m, uint64_t slab, f2_affine *number);
// Whether each share has the addresses of its own slab.
bool sharing_keeps_to_slab(arena *a, const net_stage *stage, const net_map *m, uint64_t slab);

#endif
