// Parts of an array change ranks. See parts.h.
#include "runtime/ranks/parts.h"

bool parts_are_whole(const extent *all, uint32_t ranks, uint64_t count) {
  uint64_t next = 0;
  for (uint32_t r = 0; r < ranks; r++) {
    if (all[r].count && all[r].first != next)
      return false;
    next += all[r].count;
  }
  return next == count;
}

// What is in both, in memory that begins at data with the first element of `at`.
static transport_message overlap(uint32_t peer, extent a, extent b, extent at, const void *data,
                                 uint64_t size) {
  uint64_t first = a.first > b.first ? a.first : b.first;
  uint64_t end = a.first + a.count, other = b.first + b.count;
  end = end < other ? end : other;
  if (first >= end)
    return (transport_message){peer, NULL, 0};
  return (transport_message){peer, (char *)data + (first - at.first) * size, (end - first) * size};
}

bool parts_exchange(transport *t, const extent *has, const void *from, const extent *wants,
                    void *to, uint64_t size, error *failure) {
  extent mine = has[t->rank], wanted = wants[t->rank];
  FREED transport_message *sends = calloc(2 * (size_t)t->ranks, sizeof *sends);
  transport_message *receives = sends + t->ranks;
  uint32_t sent = 0, received = 0;
  if (!sends)
    return transport_fail(t, "out of memory", failure);
  for (uint32_t r = 0; r < t->ranks; r++) {
    sends[sent] = overlap(r, wants[r], mine, mine, from, size);
    receives[received] = overlap(r, wanted, has[r], wanted, to, size);
    sent += sends[sent].bytes > 0;
    received += receives[received].bytes > 0;
  }
  return transport_exchange(t, sends, sent, receives, received, failure);
}
