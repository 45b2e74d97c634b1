#include "core/hash.h"

// Every bit of the result depends on every bit of x (the finaliser of MurmurHash3).
static uint64_t hash_mix(uint64_t x) {
  x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
  x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
  return x ^ x >> 33;
}

uint64_t hash_bytes(const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  uint64_t hash = count * UINT64_C(0x9e3779b97f4a7c15);
  for (; count >= 8; at += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    hash = hash_mix(hash ^ word) + UINT64_C(0x9e3779b97f4a7c15);
  }
  uint64_t rest = 0;
  if (count)
    memcpy(&rest, at, count);
  return hash_mix(hash ^ rest);
}

uint32_t hash_next(const hash_table *t, uint64_t hash, size_t *tried) {
  while (t->size) {
    const hash_slot *s = &t->slots[(hash + (*tried)++) & (t->size - 1)];
    if (!s->number || s->hash == (uint32_t)hash)
      return s->number - 1;
  }
  return HASH_NONE;
}

static void put_in_slot(hash_table *t, hash_slot s) {
  size_t at = s.hash;
  while (t->slots[at & (t->size - 1)].number)
    at++;
  t->slots[at & (t->size - 1)] = s;
}

void hash_add(arena *a, hash_table *t, uint64_t hash, uint32_t number) {
  const hash_table old = *t;
  if (2 * (old.count + 1) > old.size) {
    t->size = old.size ? 2 * old.size : 64;
    t->slots = NEW_ARRAY(a, hash_slot, t->size);
    for (size_t i = 0; i < old.size; i++)
      if (old.slots[i].number)
        put_in_slot(t, old.slots[i]);
  }
  put_in_slot(t, (hash_slot){(uint32_t)hash, number + 1});
  t->count++;
}
