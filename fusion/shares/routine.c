// Routines whose arrays ranks have in slabs. See shares.h.
#include "fusion/shares/sharing.h"

enum {
  MOST_RANKS = 1 << 14
};  // twice as many and one are classes of 16 bits (runtime/ranks/routines/deal.h)

static bool is_counted(const net_routine *r, uint32_t pair) {
  return r->kind == NET_COUNT || r->kind == NET_WRONG || (r->counts && pair == r->pair_count - 1);
}

// Array k of the routine: of pairs what is read, then what is written. NET_NONE: none of one
// element or more for each key.
static net_id array_of_keys(const net_routine *r, uint32_t k) {
  if (k % 2 && is_counted(r, k / 2))
    return NET_NONE;
  return k % 2 ? r->pairs[k / 2].to : r->pairs[k / 2].from;
}

static bool has_ranked_form(const net_routine *r, uint64_t ranks) {
  uint64_t numbers;  // of places in rows, which are apart
  return r->kind != NET_TRANSPOSE && !r->ragged && ranks <= MOST_RANKS &&
         !(r->kind == NET_WRONG && r->distinct &&
           __builtin_mul_overflow(r->rows, r->limit, &numbers));
}

uint64_t shares_routine_slab(const net *n, const net_routine *r, const uint64_t *slab,
                             uint64_t ranks) {
  uint64_t found = 0, keys = r->rows * r->length;
  if (!has_ranked_form(r, ranks))
    return 0;
  for (uint32_t k = 0; k < 2 * r->pair_count; k++) {
    net_id id = array_of_keys(r, k);
    if (id == NET_NONE || (k % 2 == 0 && !slab[id]))
      continue;
    uint64_t each = n->arrays.items[id].count / keys, its = slab[id] / each;
    if (its == 0 || slab[id] % each || (found && its != found))
      return 0;
    found = its;
  }
  return found ? found : (keys + ranks - 1) / ranks;
}

// Whether only the routine writes to what it writes for each key.
static bool has_own_results(const sharing *s, const net_routine *r) {
  bool own = true;
  for (uint32_t k = 1; k < 2 * r->pair_count; k += 2)
    own = own && (array_of_keys(r, k) == NET_NONE || s->writes[array_of_keys(r, k)] == 1);
  return own;
}

// How many keys a rank is to have: as others rely on, if they do. 0: too few.
static uint64_t keys_of_rank(const sharing *s, const net_routine *r) {
  uint64_t keys = r->rows * r->length;
  for (uint32_t i = 0; i < r->pair_count; i++) {
    net_id id = r->pairs[i].from;
    uint64_t each = id == NET_NONE ? 1 : s->to->arrays.items[id].count / keys;
    if (id != NET_NONE && s->fixed.items[id] && s->slab.items[id] % each == 0 && s->slab.items[id])
      return s->slab.items[id] / each;
  }
  return sharing_slab(keys, s->p);
}

// An array that is read, in such a slab; or a copy.
static net_id read_in_slabs(sharing *s, net_id id, uint64_t slab) {
  if (s->slab.items[id] && !s->fixed.items[id])
    s->slab.items[id] = slab;
  if (s->slab.items[id] != slab)
    return sharing_whole_array(s, id);
  s->fixed.items[id] = true;
  return id;
}

bool sharing_by_keys(sharing *s, const net_stage *stage) {
  const net_routine *of = stage->routine;
  uint64_t keys = of ? of->rows * of->length : 0, size = of ? keys_of_rank(s, of) : 0;
  if (!size || !has_ranked_form(of, f2_unit(s->p)) || !has_own_results(s, of))
    return false;
  net_routine *r = net_routine_changed(s->memory, &(net_change){0}, of);
  r->shared = true;
  for (uint32_t i = 0; i < r->pair_count; i++) {
    net_id from = of->pairs[i].from, to = array_of_keys(of, 2 * i + 1);
    if (from != NET_NONE)
      r->pairs[i].from = read_in_slabs(s, from, s->to->arrays.items[from].count / keys * size);
    if (to != NET_NONE)
      s->slab.items[to] = s->to->arrays.items[to].count / keys * size;
  }
  sharing_add_stage(s, (share_stage){.kind = SHARE_ROUTINE}, (net_stage){.routine = r});
  return true;
}
