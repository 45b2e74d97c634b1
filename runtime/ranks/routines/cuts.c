// Radix selection of all cuts at once. See cuts.h.
#include "runtime/ranks/routines/cuts.h"

#include "core/sizes.h"
#include "runtime/system/pool.h"
#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, CHUNK = 1 << 16 };

// Cuts of one row whose keys begin alike, and this rank's keys that begin so: items first, ...,
// first + count - 1 of the source.
typedef struct group {
  uint32_t cut, cut_count;
  uint64_t first, count;
} group;

// What rank r, to which the cut before its slab belongs, says to each rank.
typedef struct choice {
  uint64_t digit;
  uint64_t equal;  // of the last digit: see cut
} choice;

typedef struct search {
  const team *team;
  ranked_keys source;  // in groups: at first this rank's keys, then those that are left, as ranks
  uint64_t *left;      // its memory, or NULL
  uint32_t group_count;
  group *groups;
  uint64_t (*counts)[DIGITS];    // by group: this rank's keys
  uint64_t (*received)[DIGITS];  // by rank: its keys at this rank's cut
  choice *choices, *chosen;      // to all; by cut
  uint64_t wanted;               // how many keys that begin as this rank's cut stand before it
  bool owns;                     // whether it has to search for one
  uint32_t shift;                // of the digit
} search;

void find_ranks(const ranked_keys *k, uint64_t first, uint64_t last, uint64_t *ranks) {
  const key_order o = k->order;
  const char *keys = k->keys;
  uint64_t all = UINT64_MAX >> (64 - o.bits);
  bool plain = !o.code.negative;  // so no NaN either
#define FIND(U)                                                                                    \
  if (plain)                                                                                       \
    for (uint64_t i = first; i < last; i++)                                                        \
      ranks[i - first] = (load_key(keys, i, (U)) ^ o.code.all) & all;                              \
  else                                                                                             \
    for (uint64_t i = first; i < last; i++)                                                        \
      ranks[i - first] = key_rank(&o, load_key(keys, i, (U))) & all;
  FOR_ELEMENT_SIZE(o.size, FIND)
#undef FIND
}

// ---- counting -----------------------------------------------------------------------------------

typedef struct chunk_counts {
  const search *search;
  const group *group;
  uint64_t (*counts)[DIGITS];  // by worker
} chunk_counts;

static bool count_digits(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const chunk_counts *c = with;
  uint32_t shift = c->search->shift;
  uint64_t *counts = c->counts[worker], ranks[RANKED_KEYS];
  first += c->group->first;
  last += c->group->first;
  for (uint64_t end; first < last; first = end) {
    end = ranked_block_end(first, last);
    find_ranks(&c->search->source, first, end, ranks);
    for (uint64_t i = 0; i < end - first; i++)
      counts[ranks[i] >> shift & (DIGITS - 1)]++;
  }
  return true;
}

static bool count_group(const search *s, const group *g, uint64_t *counts) {
  const team *t = s->team;
  chunk_counts c = {s, g, calloc(t->threads, sizeof *c.counts)};
  bool good = c.counts && pool_run(t->threads, g->count, CHUNK, count_digits, &c, t->interrupted);
  memset(counts, 0, sizeof *c.counts);
  for (unsigned w = 0; good && w < t->threads; w++)
    for (uint32_t d = 0; d < DIGITS; d++)
      counts[d] += c.counts[w][d];
  free(c.counts);
  return good || team_stop(t);
}

// ---- choosing -----------------------------------------------------------------------------------

// The digit of this rank's cut; of the keys with that digit, those before the cut are dealt to the
// ranks in their order.
static void choose(search *s) {
  uint32_t ranks = s->team->transport->ranks;
  uint64_t digit = 0, sum = 0;
  for (; digit < DIGITS - 1; digit++) {
    sum = 0;
    for (uint32_t r = 0; r < ranks; r++)
      sum += s->received[r][digit];
    if (sum > s->wanted)
      break;
    s->wanted -= sum;
  }
  for (uint64_t r = 0, left = s->wanted; r < ranks; r++) {
    uint64_t has = s->received[r][digit], equal = has < left ? has : left;
    s->choices[r] = (choice){digit, equal};
    left -= equal;
  }
}

// Every rank's counts come to the ranks of the cuts; or what these have chosen goes to all.
static bool exchange_at_cuts(const search *s, bool counts) {
  const team *t = s->team;
  uint32_t ranks = t->transport->ranks, own = s->owns ? ranks : 0, cuts = 0;
  size_t bytes = counts ? sizeof *s->counts : sizeof *s->choices;
  FREED transport_message *of_cuts = calloc(2 * (size_t)ranks, sizeof *of_cuts);
  transport_message *of_ranks = of_cuts + ranks;
  if (!of_cuts)
    return team_stop(t);
  for (uint32_t g = 0; g < s->group_count; g++)
    for (uint32_t i = 0, c = s->groups[g].cut; i < s->groups[g].cut_count; i++, c++)
      of_cuts[cuts++] =
          (transport_message){c, counts ? (void *)s->counts[g] : (void *)&s->chosen[c], bytes};
  for (uint32_t r = 0; r < ranks; r++)
    of_ranks[r] =
        (transport_message){r, counts ? (void *)s->received[r] : (void *)&s->choices[r], bytes};
  return counts ? transport_exchange(t->transport, of_cuts, cuts, of_ranks, own, t->failure)
                : transport_exchange(t->transport, of_ranks, own, of_cuts, cuts, t->failure);
}

// ---- going on -----------------------------------------------------------------------------------

// The cuts of a group as groups of those with equal digits: their keys will lie one after the
// other.
static uint32_t split_group(const search *s, const group *g, const uint64_t *counts, uint64_t *at,
                            group *into) {
  uint32_t made = 0;
  for (uint32_t i = 0; i < g->cut_count; i++) {
    uint64_t digit = s->chosen[g->cut + i].digit;
    if (i > 0 && s->chosen[g->cut + i - 1].digit == digit) {
      into[made - 1].cut_count++;
      continue;
    }
    into[made++] = (group){g->cut + i, 1, *at, counts[digit]};
    *at += counts[digit];
  }
  return made;
}

// Its keys that have the digit of one of these, as ranks.
static void keep_keys(const search *s, const group *g, const group *into, uint32_t made,
                      uint64_t *kept) {
  uint64_t *next[DIGITS] = {NULL}, ranks[RANKED_KEYS], last = g->first + g->count;
  uint32_t shift = s->shift;
  for (uint32_t i = 0; i < made; i++)
    next[s->chosen[into[i].cut].digit] = kept + into[i].first;
  for (uint64_t first = g->first, end; first < last; first = end) {
    end = ranked_block_end(first, last);
    find_ranks(&s->source, first, end, ranks);
    for (uint64_t i = 0; i < end - first; i++) {
      uint64_t **at = &next[ranks[i] >> shift & (DIGITS - 1)];
      if (*at)
        *(*at)++ = ranks[i];
    }
  }
}

// The source becomes the keys that begin as a cut's, with this digit.
static bool go_on(search *s) {
  uint32_t count = 0, cut_count = 0, *made = calloc(s->group_count + 1, sizeof *made);
  for (uint32_t g = 0; g < s->group_count; g++)
    cut_count += s->groups[g].cut_count;
  group *groups = calloc(cut_count + 1, sizeof *groups);
  uint64_t kept_count = 0, *kept = NULL;
  for (uint32_t g = 0; g < s->group_count && made && groups; g++)
    count += made[g] = split_group(s, &s->groups[g], s->counts[g], &kept_count, groups + count);
  if (made && groups)
    kept = malloc((kept_count + 1) * sizeof *kept);
  for (uint32_t g = 0, first = 0; g < s->group_count && kept; first += made[g++])
    keep_keys(s, &s->groups[g], groups + first, made[g], kept);
  free(made);
  if (!kept) {
    free(groups);
    return team_stop(s->team);
  }
  free(s->groups);
  free(s->left);
  s->groups = groups;
  s->group_count = count;
  s->left = kept;
  s->source.keys = (const char *)kept;
  s->source.order = key_order_of(SCALAR_U64, false, 0);
  return true;
}

static bool find_digit(search *s, cut *cuts) {
  for (uint32_t g = 0; g < s->group_count; g++)
    if (!count_group(s, &s->groups[g], s->counts[g]))
      return false;
  if (!exchange_at_cuts(s, true))
    return false;
  if (s->owns)
    choose(s);
  if (!exchange_at_cuts(s, false))
    return false;
  for (uint32_t g = 0; g < s->group_count; g++)
    for (uint32_t i = 0, c = s->groups[g].cut; i < s->groups[g].cut_count; i++, c++) {
      cuts[c].key |= s->chosen[c].digit << s->shift;
      cuts[c].equal = s->chosen[c].equal;
    }
  return s->shift == 0 || go_on(s);
}

// ---- the whole ----------------------------------------------------------------------------------

// Cuts between rows are known; those within the same row are a group.
static void group_cuts(search *s, uint64_t slab, uint64_t count, cut *cuts) {
  const ranked_keys *k = &s->source;
  for (uint32_t r = 0; r < s->team->transport->ranks; r++) {
    uint64_t at = r * slab < count ? r * slab : count, row = at / k->length;
    cuts[r] = (cut){.row = row};
    if (at % k->length == 0)
      continue;
    if (r == s->team->transport->rank)
      s->owns = true, s->wanted = at % k->length;
    if (s->group_count && cuts[s->groups[s->group_count - 1].cut].row == row) {
      s->groups[s->group_count - 1].cut_count++;
      continue;
    }
    uint64_t first = row * k->length, last = first + k->length;
    first = first > k->first ? first - k->first : 0;
    last = last > k->first ? last - k->first : 0;
    last = last < k->count ? last : k->count;
    s->groups[s->group_count++] = (group){r, 1, first, first < last ? last - first : 0};
  }
}

bool find_cuts(const team *t, const ranked_keys *k, uint64_t slab, uint64_t count, cut *cuts) {
  size_t ranks = t->transport->ranks;
  search s = {.team = t,
              .source = *k,
              .groups = calloc(ranks, sizeof *s.groups),
              .counts = calloc(ranks, sizeof *s.counts),
              .received = calloc(ranks, sizeof *s.received),
              .choices = calloc(ranks, sizeof *s.choices),
              .chosen = calloc(ranks, sizeof *s.chosen)};
  bool good = s.groups && s.counts && s.received && s.choices && s.chosen;
  if (good)
    group_cuts(&s, slab, count, cuts);
  else
    team_stop(t);
  uint32_t digits = (k->order.bits + DIGIT_BITS - 1) / DIGIT_BITS;
  for (uint32_t d = digits; d > 0 && good && s.group_count; d--) {
    s.shift = (d - 1) * DIGIT_BITS;
    good = find_digit(&s, cuts);
  }
  free(s.groups);
  free(s.left);
  free(s.counts);
  free(s.received);
  free(s.choices);
  free(s.chosen);
  return good;
}
