// Each rank counts its slab; the rank that has a count in its slab adds up what all have of it. See
// routine.h.
#include "runtime/ranks/routines/ranked.h"

#include "runtime/routines/count.h"
#include <stdlib.h>
#include <string.h>

// The rows of which a rank has elements; all of them together have so many counts.
static slab counts_of(const ranked_routine *c, uint32_t rank) {
  const net_routine *r = c->routine;
  slab s = slab_of(ranked_slab_size(c), ranked_elements(c), rank);
  uint64_t first = s.first / r->length, last = (s.first + s.count + r->length - 1) / r->length;
  return s.count ? (slab){first * r->limit, (last - first) * r->limit} : (slab){0, 0};
}

// Those of this rank's keys, row by row.
static bool count_slab(const ranked_routine *c, int64_t *counts) {
  const net_routine *r = c->routine;
  net_id keys = r->pairs[0].from;
  slab s = ranked_slab(c);
  bool good = true;
  const scalar_row *type = &scalar_types[ranked_array(c, keys)->type];
  for (uint64_t i = s.first, end; i < s.first + s.count && good; i = end, counts += r->limit) {
    end = (i / r->length + 1) * r->length;
    end = end < s.first + s.count ? end : s.first + s.count;
    good = routine_count(&(count_task){.size = type->size,
                                       .is_signed = type->kind == KIND_SIGNED,
                                       .rows = 1,
                                       .length = end - i,
                                       .limit = r->limit,
                                       .keys = ranked_at(c, keys, i),
                                       .counts = counts,
                                       .crew = {1, c->team->interrupted, NULL}});
  }
  return good || team_stop(c->team);
}

// What of the counts of rank `of` goes to the slab of rank `to`: counts first, ..., first + count -
// 1.
static slab shared_counts(const ranked_routine *c, uint64_t slab_size, uint32_t of, uint32_t to) {
  slab has = counts_of(c, of);
  slab wants = slab_of(slab_size, c->routine->rows * c->routine->limit, to);
  uint64_t first = has.first > wants.first ? has.first : wants.first;
  uint64_t last = has.first + has.count, end = wants.first + wants.count;
  last = last < end ? last : end;
  return first < last ? (slab){first, last - first} : (slab){has.first, 0};
}

// Counts of all ranks come to those whose slabs they are in, which add them up.
static bool add_counts(const ranked_routine *c, uint64_t slab_size, const int64_t *counts,
                       int64_t *sums) {
  const team *t = c->team;
  uint32_t rank = t->transport->rank, ranks = t->transport->ranks;
  FREED_BY(trade_free) trade d = {0};
  if (!trade_make(t, &d))
    return false;
  for (uint32_t r = 0; r < ranks; r++) {
    d.sent[r + 1] = d.sent[r] + shared_counts(c, slab_size, rank, r).count;
    d.received[r + 1] = d.received[r] + shared_counts(c, slab_size, r, rank).count;
  }
  FREED int64_t *received = malloc((d.received[ranks] + 1) * sizeof *received);
  bool good = received ? trade_run(t, &d, counts, received, sizeof *counts) : team_stop(t);
  uint64_t first = slab_of(slab_size, c->routine->rows * c->routine->limit, rank).first;
  for (uint32_t r = 0; r < ranks && good; r++) {
    slab s = shared_counts(c, slab_size, r, rank);
    for (uint64_t i = 0; i < s.count; i++)
      sums[s.first - first + i] += received[d.received[r] + i];
  }
  return good;
}

// Each rank has the sums of its slab, of `slab_size`; all ranks get all.
static bool gather_sums(const ranked_routine *c, uint64_t slab_size, const int64_t *sums) {
  uint32_t ranks = c->team->transport->ranks;
  FREED uint64_t *bytes = calloc(ranks, sizeof *bytes);
  for (uint32_t r = 0; r < ranks && bytes; r++)
    bytes[r] = slab_of(slab_size, c->routine->rows * c->routine->limit, r).count * sizeof *sums;
  return bytes ? transport_gather(c->team->transport, sums, bytes, c->data[c->routine->pairs[0].to],
                                  c->team->failure)
               : team_stop(c->team);
}

bool run_ranked_count(const ranked_routine *c) {
  net_id to = c->routine->pairs[0].to;
  uint32_t rank = c->team->transport->rank, ranks = c->team->transport->ranks;
  uint64_t all = c->routine->rows * c->routine->limit;
  bool whole = c->slab[to] == 0;
  uint64_t slab_size = whole ? (all + ranks - 1) / ranks : c->slab[to];
  slab own = slab_of(slab_size, all, rank);
  FREED int64_t *counts = malloc((counts_of(c, rank).count + 1) * sizeof *counts);
  FREED int64_t *sums = calloc(own.count + 1, sizeof *sums);
  bool good = counts && sums ? count_slab(c, counts) : team_stop(c->team);
  good = good && add_counts(c, slab_size, counts, sums);
  if (good && whole)
    good = gather_sums(c, slab_size, sums);
  else if (good)
    memcpy((void *)((uintptr_t)c->data[to] + own.first * sizeof *sums), sums,
           own.count * sizeof *sums);
  return good;
}
