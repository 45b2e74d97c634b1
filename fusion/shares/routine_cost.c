// What routines on slabs send, message by message as runtime/ranks does: see cost.h.
//
//   a sort of 10 keys, 4 ranks       slabs of 4: ranks have 4 4 2 0 keys
//   cuts      for each digit         256 counts of each rank to those whose slab begins inside of a row (here
//                                    1 and 2), which say 16 bytes to each: 2 exchanges
//   numbers   of what will come      8 bytes of each rank to each: 1 exchange
//   elements  of each array          rank 0 sends 4 * 4/10 of its elements to rank 1: 1 exchange
//
// Which elements go where depends on the keys. Here each is as likely to belong to any place of its
// row, as random keys, or places of a random permutation. All else does not depend on them.
#include "core/number.h"
#include "fusion/shares/traffic.h"

enum { DIGIT = 8, COUNTS = 8 << DIGIT, CHOICE = 16, NUMBER = 8, FOUND = 16, CLASS = 2 };

typedef struct routine_cost {
  const shares *shares;
  const net_routine *routine;
  int peer_bits;
  uint64_t ranks, keys, slab;
  uint64_t row, range;      // numbers that elements of a row may go to; those of a rank
  uint64_t digits, owners;  // of cuts; ranks that find one
  uint64_t swaps,
      swapped;  // exchanges of each rank with each that do not depend on keys; their bytes
  uint64_t trades, traded;  // exchanges of elements; bytes for each element
  uint64_t looks;  // bytes of each element that say where it goes, as often as they are read
} routine_cost;

static uint64_t lesser(uint64_t a, uint64_t b) { return a < b ? a : b; }

// What an array has for each key.
static uint64_t unit_of(const routine_cost *c, net_id id) {
  const net_array *a = &c->shares->net->arrays.items[id];
  return a->count / c->keys * scalar_types[a->type].size;
}

// ---- elements -----------------------------------------------------------------------------------

// `count` elements of a rank, from rows first ... end - 1.
static void spread(const routine_cost *c, uint64_t rank, double count, uint64_t first, uint64_t end,
                   double *to) {
  share_owners o = share_owners_of(first * c->row, end * c->row, c->range, rank, c->peer_bits);
  for (int d = 0; d < SHARE_DISTANCES; d++)
    to[d] += count * (double)o.numbers[d] / (double)((end - first) * c->row);
}

// The elements of a rank: whole rows together, and a part of one before and behind.
static void spread_slab(const routine_cost *c, uint64_t rank, double *to) {
  uint64_t length = c->routine->length;
  uint64_t at = lesser(rank * c->slab, c->keys), last = lesser(at + c->slab, c->keys);
  for (uint64_t end; at < last; at = end) {
    uint64_t row = at / length, rows = at % length ? 0 : (last - at) / length;
    end = rows ? at + rows * length : lesser(last, (row + 1) * length);
    spread(c, rank, (double)(end - at), row, row + (rows ? rows : 1), to);
  }
}

// ---- ranks --------------------------------------------------------------------------------------

// Whether the slab of a rank begins inside of a row: it finds out by which key.
static bool owns_cut(const routine_cost *c, uint64_t rank) {
  return lesser(rank * c->slab, c->keys) % c->routine->length > 0;
}

static void send(share_traffic *to, uint64_t messages, uint64_t bytes_of_each) {
  to->messages += messages;
  to->bytes += messages * bytes_of_each;
}

// `times` messages of a rank to each.
static void send_to_all(const routine_cost *c, share_traffic *sent, uint64_t times,
                        uint64_t bytes) {
  send(&sent[SHARE_TO_ITSELF], times, bytes);
  send(&sent[SHARE_TO_PEER], times * f2_mask(c->peer_bits), bytes);
  send(&sent[SHARE_OVER_NETWORK], times * (c->ranks - f2_unit(c->peer_bits)), bytes);
}

// Those of a host's ranks: so many.
static uint64_t owners_of_host(const routine_cost *c, uint64_t host) {
  uint64_t owners = 0;
  for (uint64_t i = 0; i < f2_unit(c->peer_bits); i++)
    owners += owns_cut(c, (host << c->peer_bits) + i);
  return owners;
}

static void send_cuts(const routine_cost *c, uint64_t rank, uint64_t near, share_traffic *sent) {
  uint64_t own = owns_cut(c, rank);
  send(&sent[SHARE_TO_ITSELF], c->digits * own, COUNTS);
  send(&sent[SHARE_TO_PEER], c->digits * (near - own), COUNTS);
  send(&sent[SHARE_OVER_NETWORK], c->digits * (c->owners - near), COUNTS);
  send_to_all(c, sent, c->digits * own, CHOICE);
}

static void send_elements(const routine_cost *c, uint64_t rank, share_traffic *sent) {
  double to[SHARE_DISTANCES] = {0};
  send_to_all(c, sent, c->trades, 0);
  spread_slab(c, rank, to);
  for (int d = 0; d < SHARE_DISTANCES; d++)
    sent[d].bytes += (uint64_t)(to[d] * (double)c->traded + 0.5);
}

static share_cost cost_of_ranks(const routine_cost *c) {
  share_cost cost = {.rounds = 2 * c->digits + c->swaps + c->trades};
  uint64_t near = 0;
  for (uint64_t rank = 0; rank < c->ranks; rank++) {
    share_traffic sent[SHARE_DISTANCES] = {{0}};
    if (c->digits && rank % f2_unit(c->peer_bits) == 0)
      near = owners_of_host(c, rank >> c->peer_bits);
    send_cuts(c, rank, near, sent);
    for (uint64_t i = 0; i < c->swaps; i++)
      send_to_all(c, sent, 1, i ? 0 : c->swapped);
    send_elements(c, rank, sent);
    share_cost_add_rank(&cost, sent);
  }
  uint64_t each = c->looks + 2 * c->traded + (c->trades + (c->looks > 0)) * CLASS;
  cost.moved = (double)each * (double)lesser(c->slab, c->keys);
  return cost;
}

// ---- what kinds of routines send ----------------------------------------------------------------

static uint64_t digits_of(const routine_cost *c) {
  const net_routine *r = c->routine;
  uint64_t width = 8 * scalar_types[c->shares->net->arrays.items[r->pairs[0].from].type].size;
  uint64_t bits = bits_below(r->limit);
  return ((bits ? bits : width) + DIGIT - 1) / DIGIT;
}

// How many elements come, and these: keys or places, then the other pairs, payloads or numbers of
// elements, in one exchange each. Each key is read so often to know where it goes.
static void trade_elements(routine_cost *c, uint64_t reads) {
  const net_routine *r = c->routine;
  uint64_t key = unit_of(c, r->pairs[0].from);
  c->swaps = 1;
  c->swapped = NUMBER;
  c->looks = reads * key;
  c->trades = r->pair_count;
  c->traded = key;
  for (uint32_t i = 1; i < r->pair_count; i++)
    c->traded += unit_of(c, r->pairs[i].to);
}

// Cuts, how many elements come, and these; places go back (runtime/ranks/routines/sort.c).
static share_cost cost_of_sort(routine_cost *c) {
  if (c->slab % c->routine->length == 0 || c->slab >= c->keys)
    return (share_cost){0};  // rows of a rank are its own
  for (uint64_t rank = 0; rank < c->ranks; rank++)
    c->owners += owns_cut(c, rank);
  c->digits = c->owners ? digits_of(c) : 0;
  trade_elements(c, 2);
  if (c->routine->kind == NET_PLACES) {
    c->trades++;
    c->traded += NUMBER;
  }
  return cost_of_ranks(c);
}

// How many places come, these, and an exchange for each pair (permute.c).
static share_cost cost_of_permute(routine_cost *c) {
  trade_elements(c, 1);
  return cost_of_ranks(c);
}

// The earliest that is wrong; before, equal places meet: how many, these, and one that is there
// twice (wrong.c).
static share_cost cost_of_wrong(routine_cost *c) {
  c->swaps = 1;
  c->swapped = FOUND;
  if (c->routine->distinct) {
    c->swaps = 3;
    c->swapped += 2 * NUMBER;
    c->trades = 1;
    c->traded = NUMBER;
    c->looks = unit_of(c, c->routine->pairs[0].from);
    c->row = c->routine->limit;
    c->range = c->routine->rows * c->row / c->ranks + 1;
  }
  return cost_of_ranks(c);
}

// ---- counts -------------------------------------------------------------------------------------

// A rank's counts, of rows that it has keys of, to those that add them up, `each` a rank.
static void send_counts(const routine_cost *c, uint64_t rank, uint64_t each, share_traffic *sent) {
  uint64_t length = c->routine->length, limit = c->routine->limit;
  uint64_t at = lesser(rank * c->slab, c->keys), last = lesser(at + c->slab, c->keys);
  uint64_t first = at / length * limit, end = (last + length - 1) / length * limit;
  share_owners to = share_owners_of(first, at == last ? first : end, each, rank, c->peer_bits);
  send_to_all(c, sent, 1, 0);
  for (int d = 0; d < SHARE_DISTANCES; d++)
    sent[d].bytes += to.numbers[d] * NUMBER;
}

// Then all get the sums, unless they are wanted in slabs (count.c).
static share_cost cost_of_count(const routine_cost *c) {
  uint64_t all = c->routine->rows * c->routine->limit;
  uint64_t slab = c->shares->slab[c->routine->pairs[0].to];
  uint64_t each = slab ? slab : (all + c->ranks - 1) / c->ranks;
  share_cost cost = {.rounds = slab ? 1 : 2};
  for (uint64_t rank = 0; rank < c->ranks; rank++) {
    share_traffic sent[SHARE_DISTANCES] = {{0}};
    send_counts(c, rank, each, sent);
    if (!slab)
      send_to_all(c, sent, 1,
                  NUMBER * share_owners_of(0, all, each, rank, 0).numbers[SHARE_TO_ITSELF]);
    share_cost_add_rank(&cost, sent);
  }
  return cost;
}

// ---- the whole ----------------------------------------------------------------------------------

// What counts the keys as well is two routines, each by its own slabs (runtime/ranks/routines).
static share_cost cost_of_counting(const shares *s, const net_routine *r, int peer_bits) {
  net_routine rest, count;
  net_routine_split(r, &rest, &count);
  share_cost cost = share_cost_of_routine(s, &rest, peer_bits),
             counts = share_cost_of_routine(s, &count, peer_bits);
  share_cost_add(&cost, &counts);
  return cost;
}

share_cost share_cost_of_routine(const shares *s, const net_routine *r, int peer_bits) {
  routine_cost c = {.shares = s,
                    .routine = r,
                    .peer_bits = peer_bits,
                    .ranks = f2_unit(s->p),
                    .keys = r->rows * r->length,
                    .row = r->length};
  if (r->counts)
    return cost_of_counting(s, r, peer_bits);
  c.slab = c.range = shares_routine_slab(s->net, r, s->slab, c.ranks);
  return r->kind == NET_COUNT     ? cost_of_count(&c)
         : r->kind == NET_WRONG   ? cost_of_wrong(&c)
         : r->kind == NET_PERMUTE ? cost_of_permute(&c)
                                  : cost_of_sort(&c);
}
