// Every element goes to the rank that has its place in the sorted array; then ranks sort what they
// have got. What comes from lower ranks comes first, so all is stable. See routine.h.
#include "runtime/ranks/routines/ranked.h"

#include "core/number.h"
#include "runtime/ranks/routines/cuts.h"
#include "runtime/ranks/routines/deal.h"
#include "runtime/routines/sort.h"
#include "runtime/values/value.h"
#include <stdlib.h>
#include <string.h>

// Elements on their way. Class 2 i + 1 is what is equal to the cut of rank i + 1, class 2 i what is
// between that of rank i and it. Of cuts that are equal the first has the class.
typedef struct meeting {
  const ranked_routine *call;
  slab slab;  // of the array and, sorted, of the result
  ranked_keys keys;
  cut *cuts;          // by rank, in order, and one more
  uint64_t *offsets;  // of the rows of the slab
  uint64_t row_count;
  deal deal;
} meeting;

// ---- who goes where -----------------------------------------------------------------------------

// The class of x among those cuts of its row, which are in order. (Without branches that depend on
// x.)
static inline uint64_t class_among(const cut *s, uint64_t count, uint64_t x) {
  uint64_t below = 0;
  for (uint64_t left = count, half; left > 0; left -= half) {
    half = (left + 1) / 2;
    below += s[below + half - 1].key < x ? half : 0;
  }
  return 2 * below + ((below < count) & (s[below].key == x));
}

static void classify_keys(const void *with, uint64_t first, uint64_t last, void *classes) {
  uint16_t *of_rank = classes;
  const meeting *m = with;
  const ranked_keys k = m->keys;
  const cut *cuts = m->cuts + 1;
  uint64_t low = 0, high = 0, count = m->call->team->transport->ranks - 1, ranks[RANKED_KEYS];
  for (uint64_t i = first, end; i < last; i = end) {
    uint64_t row = (k.first + i) / k.length;
    end = (row + 1) * k.length - k.first;
    end = ranked_block_end(i, end < last ? end : last);
    find_ranks(&k, i, end, ranks);
    while (low < count && cuts[low].row < row)
      low++;
    while (high < count && cuts[high].row <= row)
      high++;
    for (uint64_t j = i; j < end; j++)
      of_rank[j - first] = (uint16_t)(2 * low + class_among(cuts + low, high - low, ranks[j - i]));
  }
}

static bool meet(meeting *m) {
  const ranked_routine *c = m->call;
  const net_routine *r = c->routine;
  const team *t = c->team;
  uint32_t ranks = t->transport->ranks;
  net_id keys = r->pairs[0].from;
  m->slab = ranked_slab(c);
  m->keys = (ranked_keys){
      .order = key_order_of(ranked_array(c, keys)->type, r->descending, bits_below(r->limit)),
      .keys = ranked_at(c, keys, m->slab.first),
      .first = m->slab.first,
      .count = m->slab.count,
      .length = r->length};
  m->cuts = calloc(ranks + (size_t)1, sizeof *m->cuts);
  if (!m->cuts)
    return team_stop(t);
  if (!find_cuts(t, &m->keys, ranked_slab_size(c), ranked_elements(c), m->cuts))
    return false;
  if (!deal_make(&m->deal, t, m->slab.count, 2 * ranks - 1, classify_keys, m))
    return false;
  uint64_t *sent = m->deal.trade.sent;
  for (uint32_t b = 1, first = 1; b < ranks; b++) {
    const cut *own = &m->cuts[b], *before = &m->cuts[first];
    first = own->row == before->row && own->key == before->key ? first : b;
    sent[b] = m->deal.order.starts[2 * first - 1] + own->equal;
  }
  sent[ranks] = m->slab.count;
  return trade_agree(t, &m->deal.trade);
}

static void free_meeting(meeting *m) {
  free(m->cuts);
  free(m->offsets);
  deal_free(&m->deal);
}

// ---- what a rank has got ------------------------------------------------------------------------

// The rows of this rank's slab, of which the first and the last may be parts of rows.
static bool find_rows(meeting *m) {
  uint64_t length = m->call->routine->length, end = m->slab.first + m->slab.count;
  m->offsets = malloc((m->slab.count / length + 3) * sizeof *m->offsets);
  if (!m->offsets)
    return team_stop(m->call->team);
  m->offsets[0] = 0;
  for (uint64_t at = m->slab.first; at < end;) {
    at += length - at % length;
    m->offsets[++m->row_count] = (at < end ? at : end) - m->slab.first;
  }
  return true;
}

static bool sort_slab(const meeting *m, sort_task *task) {
  const ranked_routine *c = m->call;
  task->order = m->keys.order;
  task->rows = m->row_count;
  task->offsets = m->offsets;
  task->crew = (crew){.threads = c->team->threads, .interrupted = c->team->interrupted};
  return routine_sort(task) || team_stop(c->team);
}

// ---- sort ---------------------------------------------------------------------------------------

// The numbers of this rank's elements in their rows.
static void number_elements(const meeting *m, void *numbers, size_t size) {
  uint64_t length = m->call->routine->length;
  for (uint64_t i = 0; i < m->slab.count; i++) {
    uint64_t number = (m->slab.first + i) % length;
    uint32_t narrow = (uint32_t)number;
    memcpy((char *)numbers + i * size, size == 4 ? (void *)&narrow : (void *)&number, size);
  }
}

// Pair i: `to` is this rank's slab of it.
static bool send_pair(const meeting *m, uint32_t i, void *room, void *to) {
  const ranked_routine *c = m->call;
  net_routine_pair p = c->routine->pairs[i];
  if (p.from != NET_NONE)
    return deal_send(&m->deal, ranked_at(c, p.from, m->slab.first), room, to,
                     ranked_unit(c, p.from));
  size_t size = ranked_unit(c, p.to);
  FREED void *numbers = array_memory(m->slab.count * size + 1);
  if (!numbers)
    return team_stop(c->team);
  number_elements(m, numbers, size);
  return deal_send(&m->deal, numbers, room, to, size);
}

static bool send_and_sort(meeting *m, void *room, void *keys, sort_payload *payloads) {
  const ranked_routine *c = m->call;
  const net_routine *r = c->routine;
  if (!send_pair(m, 0, room, keys))
    return false;
  for (uint32_t i = 1; i < r->pair_count; i++) {
    void *to = ranked_at(c, r->pairs[i].to, m->slab.first);
    payloads[i - 1] = (sort_payload){to, to, ranked_unit(c, r->pairs[i].to)};
    if (!send_pair(m, i, room, to))
      return false;
  }
  sort_task task = {.keys = keys,
                    .sorted = r->pairs[0].to == NET_NONE ? NULL : keys,
                    .payload_count = r->pair_count - 1,
                    .payloads = payloads};
  return find_rows(m) && sort_slab(m, &task);
}

bool run_ranked_sort(const ranked_routine *c) {
  const net_routine *r = c->routine;
  FREED_BY(free_meeting) meeting m = {.call = c};
  uint64_t count = ranked_slab(c).count;
  bool wanted = r->pairs[0].to != NET_NONE;
  FREED void *room = array_memory(count * ranked_largest_unit(c) + 1);
  FREED void *own = wanted ? NULL : array_memory(count * ranked_unit(c, r->pairs[0].from) + 1);
  FREED sort_payload *payloads = calloc(r->pair_count, sizeof *payloads);
  void *keys = wanted ? ranked_at(c, r->pairs[0].to, ranked_slab(c).first) : own;
  return room && payloads && keys ? meet(&m) && send_and_sort(&m, room, keys, payloads)
                                  : team_stop(c->team);
}

// ---- places -------------------------------------------------------------------------------------

// In the rows that were sorted, order[i] is which of the row's keys, as they came, is in place i.
static void find_places(const meeting *m, const uint64_t *order, int64_t *places) {
  uint64_t length = m->call->routine->length;
  for (uint64_t row = 0; row < m->row_count; row++)
    for (uint64_t i = m->offsets[row]; i < m->offsets[row + 1]; i++)
      places[m->offsets[row] + order[i]] = (int64_t)((m->slab.first + i) % length);
}

bool run_ranked_places(const ranked_routine *c) {
  net_routine_pair p = c->routine->pairs[0];
  FREED_BY(free_meeting) meeting m = {.call = c};
  uint64_t count = ranked_slab(c).count;
  size_t size = ranked_unit(c, p.from);
  FREED char *room = array_memory(count * sizeof(int64_t) + 1),
             *keys = array_memory(count * sizeof(int64_t) + 1);
  FREED uint64_t *order = array_memory((count + 1) * sizeof *order);
  sort_payload index = {NULL, order, sizeof *order};
  sort_task task = {.keys = keys, .payload_count = 1, .payloads = &index};
  bool good = room && keys && order ? meet(&m) : team_stop(c->team);
  good = good && deal_send(&m.deal, m.keys.keys, room, keys, size) && find_rows(&m) &&
         sort_slab(&m, &task);
  if (good)
    find_places(&m, order, (int64_t *)(void *)keys);
  return good &&
         deal_return(&m.deal, keys, room, ranked_at(c, p.to, m.slab.first), sizeof(int64_t));
}
