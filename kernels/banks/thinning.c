// What a search looks at when the accesses of a trace are more than it can try in good time. See
// making.h.
#include "kernels/banks/making.h"

static const bank_access *kept_access(const bank_trace *t, size_t i, size_t kept) {
  return &t->accesses.items[i * t->accesses.count / kept];
}

// The work of so many of the accesses, evenly spread.
static uint64_t work_of(const bank_trace *t, size_t kept, bank_layout_work each) {
  uint64_t work = 0;
  for (size_t i = 0; i < kept; i++) {
    uint64_t count = kept_access(t, i, kept)->count;
    work += each.access + count * each.address + count * (count - 1) / 2 * each.pair;
  }
  return work;
}

// An access whose own work is too much: addresses evenly spread, the first among them.
static bank_access thin_access(arena *a, const bank_access *from, bank_layout_work each) {
  bank_access out = {.times = from->times, .count = from->count};
  uint64_t per_address = each.address + from->count / 2 * each.pair,
           room =
               each.access < BANK_LAYOUT_WORK ? (BANK_LAYOUT_WORK - each.access) / per_address : 0;
  out.count = room < 2 ? 2 : room < from->count ? (uint32_t)room : from->count;
  uint64_t *address = NEW_ARRAY(a, uint64_t, out.count);
  for (uint32_t i = 0; i < out.count; i++)
    address[i] = from->address[(uint64_t)i * from->count / out.count];
  out.address = address;
  return out;
}

bank_trace bank_layout_thinned(arena *a, const bank_trace *distinct, bank_layout_work each) {
  size_t count = distinct->accesses.count,
         kept = count < BANK_LAYOUT_SEARCHED ? count : BANK_LAYOUT_SEARCHED;
  uint64_t work = work_of(distinct, kept, each);
  while (work > BANK_LAYOUT_WORK && kept > 1) {  // `kept` falls, since work > BANK_LAYOUT_WORK
    kept = (size_t)((double)kept * BANK_LAYOUT_WORK / (double)work);
    kept = kept ? kept : 1;
    work = work_of(distinct, kept, each);
  }
  if (kept == count && work <= BANK_LAYOUT_WORK)
    return *distinct;
  bank_trace out = {.words = distinct->words, .lanes = distinct->lanes};
  for (size_t i = 0; i < kept; i++) {
    bank_access one = *kept_access(distinct, i, kept);
    if (work > BANK_LAYOUT_WORK && one.count > 2)
      one = thin_access(a, &one, each);
    vec_push(a, &out.accesses, one);
  }
  return out;
}

const char *bank_layout_thinned_text(arena *a, const char *parameters, const bank_trace *distinct,
                                     const bank_trace *few) {
  size_t all = distinct->accesses.count, kept = few->accesses.count;
  bool in_part = kept == 1 && few->accesses.items[0].count < distinct->accesses.items[0].count;
  if (kept == all && !in_part)
    return parameters;
  return arena_printf(a, "%s; searched %s%zu of %zu different accesses", parameters,
                      in_part ? "a part of " : "", kept, all);
}
