// Traces of accesses, and the congestion of an access. See banks.h.
#include "kernels/banks/banks.h"
#include "core/number.h"

#include <assert.h>

// ---- traces ------------------------------------------------------------------------------------

static void add_access(arena *a, bank_trace *t, bank_access access) {
  vec_push(a, &t->accesses, access);
  for (uint32_t i = 0; i < access.count; i++)
    if (access.address[i] >= t->words)
      t->words = access.address[i] + 1;
  if (access.count > t->lanes)
    t->lanes = access.count;
}

void bank_trace_add(arena *a, bank_trace *t, uint32_t count, const uint64_t *address) {
  assert(count >= 1 && count <= BANK_LANES_MAX);
  uint64_t *own = NEW_ARRAY(a, uint64_t, count);
  memcpy(own, address, count * sizeof *own);
  add_access(a, t, (bank_access){1, count, own});
}

void bank_trace_add_vectors(arena *a, bank_trace *t, uint64_t offset, int count,
                            const uint64_t *vectors) {
  uint64_t address[BANK_LANES_MAX] = {offset};
  uint32_t threads = 1;
  assert(count >= 0 && 1 << count <= BANK_LANES_MAX);
  for (int i = 0; i < count; i++, threads *= 2)
    for (uint32_t k = 0; k < threads; k++)
      address[threads + k] = address[k] ^ vectors[i];
  bank_trace_add(a, t, threads, address);
}

static int compare_accesses(const void *x, const void *y) {
  const bank_access *a = x, *b = y;
  if (a->count != b->count)
    return a->count < b->count ? -1 : 1;
  return memcmp(a->address, b->address, a->count * sizeof *a->address);
}

// The access sorted and without duplicates, after moving (by XOR) its least address to 0.
static bank_access normal_form(arena *a, const bank_access *from) {
  uint64_t *own = NEW_ARRAY(a, uint64_t, from->count), least = from->address[0];
  uint32_t count = 0;
  for (uint32_t i = 1; i < from->count; i++)
    least = from->address[i] < least ? from->address[i] : least;
  for (uint32_t i = 0; i < from->count; i++)
    own[i] = from->address[i] ^ least;
  qsort(own, from->count, sizeof *own, compare_u64);
  for (uint32_t i = 0; i < from->count; i++)
    if (count == 0 || own[i] != own[count - 1])
      own[count++] = own[i];
  return (bank_access){from->times, count, own};
}

bank_trace bank_trace_distinct(arena *a, const bank_trace *t) {
  bank_trace out = {0};
  size_t count = t->accesses.count;
  bank_access *all = NEW_ARRAY(a, bank_access, count + 1);
  for (size_t i = 0; i < count; i++)
    all[i] = normal_form(a, &t->accesses.items[i]);
  qsort(all, count, sizeof *all, compare_accesses);
  for (size_t i = 0; i < count; i++) {
    size_t have = out.accesses.count;
    if (have && compare_accesses(&out.accesses.items[have - 1], &all[i]) == 0)
      out.accesses.items[have - 1].times += all[i].times;
    else
      add_access(a, &out, all[i]);
  }
  return out;
}

// ---- congestion --------------------------------------------------------------------------------

struct bank_counter {
  uint32_t banks, shift;  // shift: log2 of the banks, or 64 where they are no power of two
  uint32_t slots;         // a power of two, at least 8 times the lanes
  uint64_t round;         // of the count at hand: entries of another round do not count
  struct bank_entry {
    uint64_t round, key;
  } * seen;         // [slots]: places, or address groups
  uint32_t *words;  // [banks]: different words in each
};

bank_counter *bank_counter_new(arena *a, uint32_t banks, uint32_t lanes) {
  bank_counter *c = NEW(a, bank_counter);
  *c = (bank_counter){.banks = banks, .shift = 64, .slots = 8};
  if ((banks & (banks - 1)) == 0)
    c->shift = (uint32_t)__builtin_ctz(banks);
  while (c->slots < 8 * (uint64_t)lanes)
    c->slots *= 2;
  c->seen = NEW_ARRAY(a, struct bank_entry, c->slots);
  c->words = NEW_ARRAY(a, uint32_t, banks);
  return c;
}

// Whether the key is new in this round; from now on it is not. Open addressing, at most an eighth
// full; Fibonacci hashing (Knuth, The Art of Computer Programming 3, section 6.4).
static inline bool add_key(bank_counter *c, uint64_t key) {
  uint64_t at = (key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (c->slots - 1);
  for (; c->seen[at].round == c->round; at = (at + 1) & (c->slots - 1))
    if (c->seen[at].key == key)
      return false;
  c->seen[at] = (struct bank_entry){c->round, key};
  return true;
}

bank_request bank_request_of(uint32_t count, const uint64_t *place) {
  bank_request r = {.count = count, .place = place, .rises = true};
  uint64_t before = place[0];
  for (uint32_t i = 0; i < count; i++) {
    bool asks = place[i] != BANK_IDLE;
    uint64_t at = asks ? place[i] : 0;
    r.active += asks;
    r.differs |= place[i] ^ place[0];
    r.highest = at > r.highest ? at : r.highest;
    r.rises &= i == 0 || place[i] > before;
    before = place[i];
  }
  r.rises &= r.active == count;
  return r;
}

// The usual case at little cost, of at most 64 banks: each place in a bank of its own.
static bool banks_differ(const bank_counter *c, const bank_request *r) {
  uint64_t taken = 0, mask = c->banks - 1;
  for (uint32_t i = 0; i < r->count; i++)
    taken |= (uint64_t)(r->place[i] != BANK_IDLE) << (r->place[i] & mask);
  return (uint32_t)__builtin_popcountll(taken) == r->active;
}

uint32_t bank_request_congestion(bank_counter *c, const bank_request *r) {
  if (c->shift <= 6 && banks_differ(c, r))
    return 1;
  uint32_t most = 0;
  c->round++;
  memset(c->words, 0, c->banks * sizeof *c->words);
  for (uint32_t i = 0; i < r->count; i++) {
    uint64_t at = r->place[i];
    if (!r->rises && (at == BANK_IDLE || !add_key(c, at)))
      continue;
    uint32_t words = ++c->words[c->shift < 64 ? at & (c->banks - 1) : at % c->banks];
    most = words > most ? words : most;
  }
  return most;
}

uint32_t bank_request_groups(bank_counter *c, const bank_request *r) {
  if (c->shift < 64 && r->active == r->count && r->differs >> c->shift == 0)
    return 1;
  uint32_t groups = 0;
  uint64_t last = BANK_IDLE;
  c->round++;
  for (uint32_t i = 0; i < r->count; i++) {
    uint64_t at = r->place[i];
    if (at == BANK_IDLE)
      continue;
    uint64_t group = c->shift < 64 ? at >> c->shift : at / c->banks;
    groups += group != last && (r->rises || add_key(c, group));
    last = group;
  }
  return groups;
}
