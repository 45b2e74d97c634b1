// Traces, and counting what their accesses cost. See banks.h.
#include "kernels/banks/banks.h"

#include <assert.h>

// ---- traces ------------------------------------------------------------------------------------

static void add(arena *a, bank_trace *t, bank_access access) {
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
  add(a, t, (bank_access){1, count, own});
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

static int compare_words(const void *x, const void *y) {
  uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return (a > b) - (a < b);
}

static int compare_accesses(const void *x, const void *y) {
  const bank_access *a = x, *b = y;
  if (a->count != b->count)
    return a->count < b->count ? -1 : 1;
  return memcmp(a->address, b->address, a->count * sizeof *a->address);
}

// Sorted and without duplicates, after moving the least address to 0.
static bank_access normal(arena *a, const bank_access *from) {
  uint64_t *own = NEW_ARRAY(a, uint64_t, from->count), least = from->address[0];
  uint32_t count = 0;
  for (uint32_t i = 1; i < from->count; i++)
    least = from->address[i] < least ? from->address[i] : least;
  for (uint32_t i = 0; i < from->count; i++)
    own[i] = from->address[i] ^ least;
  qsort(own, from->count, sizeof *own, compare_words);
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
    all[i] = normal(a, &t->accesses.items[i]);
  qsort(all, count, sizeof *all, compare_accesses);
  for (size_t i = 0; i < count; i++) {
    size_t have = out.accesses.count;
    if (have && compare_accesses(&out.accesses.items[have - 1], &all[i]) == 0)
      out.accesses.items[have - 1].times += all[i].times;
    else
      add(a, &out, all[i]);
  }
  return out;
}

// ---- congestion --------------------------------------------------------------------------------

// The words of an access in a hash table, and how many of them each bank has. What an entry holds
// counts only if its round is this one, so that nothing needs to be cleared.
enum { SLOTS = 2 * BANK_LANES_MAX };

struct bank_counter {
  uint32_t banks, round;
  bool power;  // banks are a power of two
  struct {
    uint64_t place;
    uint32_t round;
  } slot[SLOTS];
  struct {
    uint32_t round, words;
  } bank[BANKS_MAX];
};

bank_counter *bank_counter_new(arena *a, uint32_t banks) {
  assert(banks >= 1 && banks <= BANKS_MAX);
  bank_counter *c = NEW(a, bank_counter);
  c->banks = banks;
  c->power = (banks & (banks - 1)) == 0;
  return c;
}

// Whether the word was not there before. Multiplicative hashing; linear probing.
static inline bool insert(bank_counter *c, uint64_t place) {
  uint32_t at = (uint32_t)(place * UINT64_C(0x9e3779b97f4a7c15) >> 53);
  _Static_assert(SLOTS == 1 << 11, "the high 11 bits of the product are a slot");
  for (; c->slot[at].round == c->round; at = (at + 1) % SLOTS)
    if (c->slot[at].place == place)
      return false;
  c->slot[at].round = c->round;
  c->slot[at].place = place;
  return true;
}

static void next_round(bank_counter *c) {
  if (++c->round == 0) {
    memset(c->slot, 0, sizeof c->slot);
    memset(c->bank, 0, sizeof c->bank);
    c->round = 1;
  }
}

uint32_t bank_congestion(bank_counter *c, uint32_t count, const uint64_t *place) {
  assert(count >= 1 && count <= BANK_LANES_MAX);
  uint32_t most = 0;
  next_round(c);
  for (uint32_t i = 0; i < count; i++) {
    if (!insert(c, place[i]))
      continue;
    uint32_t bank = (uint32_t)(c->power ? place[i] & (c->banks - 1) : place[i] % c->banks);
    if (c->bank[bank].round != c->round) {
      c->bank[bank].round = c->round;
      c->bank[bank].words = 0;
    }
    uint32_t words = ++c->bank[bank].words;
    most = words > most ? words : most;
  }
  return most;
}
