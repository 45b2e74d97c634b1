// Messages to all ranks at once. See team.h.
#include "runtime/ranks/routines/team.h"

#include <stdlib.h>

bool team_stop(const team *t) {
  bool interrupted = t->interrupted && atomic_load(t->interrupted);
  return transport_fail(t->transport, interrupted ? "interrupted" : "out of memory", t->failure);
}

// What is at ends[r] ... ends[r + 1] - 1 goes to rank r, and comes from it.
static bool exchange(const team *t, const void *from, const uint64_t *sent, void *to,
                     const uint64_t *received, size_t unit) {
  uint32_t ranks = t->transport->ranks;
  FREED transport_message *sends = calloc(2 * (size_t)ranks, sizeof *sends);
  transport_message *receives = sends + ranks;
  if (!sends)
    return team_stop(t);
  for (uint32_t r = 0; r < ranks; r++) {
    sends[r] =
        (transport_message){r, (char *)from + sent[r] * unit, (sent[r + 1] - sent[r]) * unit};
    receives[r] = (transport_message){r, (char *)to + received[r] * unit,
                                      (received[r + 1] - received[r]) * unit};
  }
  return transport_exchange(t->transport, sends, ranks, receives, ranks, t->failure);
}

bool trade_make(const team *t, trade *d) {
  size_t ends = t->transport->ranks + (size_t)1;
  d->sent = calloc(2 * ends, sizeof *d->sent);
  d->received = d->sent + ends;
  return d->sent || team_stop(t);
}

void trade_free(trade *d) { free(d->sent); }

bool trade_agree(const team *t, const trade *d) {
  uint32_t ranks = t->transport->ranks;
  uint64_t *counts = calloc(2 * (size_t)ranks + 1, sizeof *counts), *one_each = counts + ranks;
  if (!counts)
    return team_stop(t);
  for (uint32_t r = 0; r < ranks; r++) {
    counts[r] = d->sent[r + 1] - d->sent[r];
    one_each[r + 1] = r + 1;
  }
  bool good = exchange(t, counts, one_each, d->received + 1, one_each, sizeof *counts);
  for (uint32_t r = 0; r < ranks; r++)
    d->received[r + 1] += d->received[r];
  free(counts);
  return good;
}

bool trade_run(const team *t, const trade *d, const void *from, void *to, size_t unit) {
  return exchange(t, from, d->sent, to, d->received, unit);
}

bool trade_back(const team *t, const trade *d, const void *from, void *to, size_t unit) {
  return exchange(t, from, d->received, to, d->sent, unit);
}
