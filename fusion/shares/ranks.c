// Each stage as stages that ranks share. See shares.h.
#include "fusion/shares/sharing.h"

// ---- stages that each rank executes as a whole --------------------------------------------------

static void share_whole(sharing *s, const net_stage *from) {
  net_id *arrays = NEW_ARRAY(s->memory, net_id, s->from->arrays.count + 1);
  for (net_access at = {0}; net_access_next(from, &at);)
    arrays[at.array] = at.writes ? at.array : sharing_whole_array(s, at.array);
  net_stage stage = net_stage_changed(s->memory, from, (net_change){.arrays = arrays});
  sharing_add_stage(s, (share_stage){.kind = SHARE_WHOLE}, stage);
}

// ---- the whole ----------------------------------------------------------------------------------

static void note_writes(sharing *s, const net_stage *stage) {
  for (net_access at = {0}; net_access_next(stage, &at);) {
    s->writes[at.array] += at.writes;
    if (at.writes)
      s->by_bits[at.array] &= at.by == NET_BY_STORE &&
                              sharing_stores_by_bits(s, stage, &stage->stores.items[at.number]);
  }
}

static const shares *share(arena *a, const net *n, int p, bool routines) {
  size_t arrays = n->arrays.count;
  sharing s = {.memory = a, .from = n, .to = NEW(a, net), .p = p};
  *s.to = (net){.externs = n->externs};
  s.writes = NEW_ARRAY(a, uint32_t, arrays + 1);
  s.by_bits = NEW_ARRAY(a, bool, arrays + 1);
  for (size_t i = 0; i < arrays; i++)
    s.by_bits[i] = true;
  for (size_t i = 0; i < n->stages.count; i++)
    note_writes(&s, &n->stages.items[i]);
  for (size_t i = 0; i < arrays; i++) {
    s.by_bits[i] &= s.writes[i] > 0;
    // Arguments lie in slabs, if they are long enough; so does what all stages that write to it store
    // by bits.
    bool given = n->arrays.items[i].role == NET_ARGUMENT, slabs = given || s.by_bits[i];
    sharing_copy_array(&s, &n->arrays.items[i],
                       slabs ? sharing_slab(n->arrays.items[i].count, p) : 0, !given);
  }
  for (size_t i = 0; i < n->stages.count; i++)
    if (!sharing_by_bits(&s, &n->stages.items[i]) && !sharing_by_turns(&s, &n->stages.items[i]) &&
        !(routines && sharing_by_keys(&s, &n->stages.items[i])))
      share_whole(&s, &n->stages.items[i]);
  shares *made = NEW(a, shares);
  *made = (shares){s.to, p, s.kinds.items, s.slab.items, s.window.items};
  return made;
}

const shares *shares_of_ranks(arena *a, const net *n, int p) { return share(a, n, p, true); }

const shares *shares_for_peers(arena *a, const net *n, int p) { return share(a, n, p, false); }
