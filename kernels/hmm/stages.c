// Congestion of one warp's request, in time proportional to its lanes. See hmm/hmm.h.
#include "kernels/hmm/execution.h"

stage_table stage_table_of(arena *a, uint32_t width) {
  stage_table t = {.width = width, .shift = 64, .slots = 8};
  if ((width & (width - 1)) == 0)
    t.shift = (uint32_t)__builtin_ctz(width);
  while (t.slots < 8 * (uint64_t)width)
    t.slots *= 2;
  t.seen = NEW_ARRAY(a, stage_entry, t.slots);
  t.banks = NEW_ARRAY(a, uint32_t, width);
  return t;
}

stage_request stage_request_of(const uint64_t *address, uint32_t width) {
  stage_request r = {.address = address, .rises = true};
  uint64_t before = address[0];
  for (uint32_t i = 0; i < width; i++) {
    bool asks = address[i] != HMM_IDLE;
    uint64_t at = asks ? address[i] : 0;
    r.active += asks;
    r.differs |= address[i] ^ address[0];
    r.highest = at > r.highest ? at : r.highest;
    r.rises &= i == 0 || address[i] > before;
    before = address[i];
  }
  r.rises &= r.active == width;
  return r;
}

// Whether the key is new in this request; from now on it is not. Open addressing, at most an eighth
// full; Fibonacci hashing (Knuth, The Art of Computer Programming 3, section 6.4).
static bool is_new(stage_table *t, uint64_t key) {
  uint64_t at = (key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (t->slots - 1);
  for (; t->seen[at].serial == t->serial; at = (at + 1) & (t->slots - 1))
    if (t->seen[at].key == key)
      return false;
  t->seen[at] = (stage_entry){t->serial, key};
  return true;
}

// The usual case at little cost: all lanes in banks of their own.
static bool is_free(const stage_table *t, const stage_request *r) {
  uint64_t taken = 0, mask = t->width - 1;
  for (uint32_t i = 0; i < t->width; i++)
    taken |= (uint64_t)(r->address[i] != HMM_IDLE) << (r->address[i] & mask);
  return (uint32_t)__builtin_popcountll(taken) == r->active;
}

static uint64_t bank_of(const stage_table *t, uint64_t address) {
  return t->shift < 64 ? address & (t->width - 1) : address % t->width;
}

uint32_t stages_of_banks(stage_table *t, const stage_request *r) {
  if (t->width <= 64 && t->shift < 64 && is_free(t, r))
    return 1;
  uint32_t most = 0;
  t->serial++;
  memset(t->banks, 0, t->width * sizeof *t->banks);
  for (uint32_t i = 0; i < t->width; i++) {
    uint64_t at = r->address[i];
    if (!r->rises && (at == HMM_IDLE || !is_new(t, at)))
      continue;
    uint32_t count = ++t->banks[bank_of(t, at)];
    most = count > most ? count : most;
  }
  return most;
}

uint32_t stages_of_groups(stage_table *t, const stage_request *r) {
  if (t->shift < 64 && r->active == t->width && r->differs >> t->shift == 0)
    return 1;
  uint32_t count = 0;
  uint64_t last = HMM_IDLE;
  t->serial++;
  for (uint32_t i = 0; i < t->width; i++) {
    if (r->address[i] == HMM_IDLE)
      continue;
    uint64_t group = t->shift < 64 ? r->address[i] >> t->shift : r->address[i] / t->width;
    count += group != last && (r->rises || is_new(t, group));
    last = group;
  }
  return count;
}
