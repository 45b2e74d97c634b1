// The bank is m neighbouring bits of the address (a bit vector), or the XOR of two such runs of
// bits, the second under a mask; the search tries all that may serve (Hash paper, sections 4.1, 4.2
// and 5.1). See search.h.
//
//   m = 5, k1 = 2, k2 = 8, mask = 7
//   bank bits  a2 + a8,  a3 + a9,  a4 + a10,  a5,  a6
#include "kernels/banks/making.h"

#include <inttypes.h>

// ---- what is tried -----------------------------------------------------------------------------

bit_vector_range bit_vector_all(int n, int m) {
  return (bit_vector_range){.k1 = f2_mask(n - m + 1),
                            .k2_last = (uint32_t)(n ? n - 1 : 0),
                            .last = UINT32_MAX,
                            .equal = true};
}

// A stride between `count` neighbours: the lowest bit in which two differ, and the highest.
static void add_stride(bit_vector_range *range, int64_t stride, uint32_t count) {
  uint64_t s = stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
  if (s == 0 || count < 2)
    return;
  uint32_t k = (uint32_t)f2_lsb(s), last = (uint32_t)f2_msb((count - 1) * s);
  range->k1 |= f2_unit((int)k);
  range->last = last > range->last ? last : range->last;
}

bool bit_vector_pruned(const bank_trace *t, int n, int m, bit_vector_range *out) {
  bit_vector_range range = {0};
  for (size_t i = 0; i < t->accesses.count; i++) {
    const bank_access *access = &t->accesses.items[i];
    bank_pattern p = pattern_of(access->count, access->address);
    if (p.class == PATTERN_RANDOM)
      return false;
    add_stride(&range, p.stride, p.width);
    if (p.class == PATTERN_BLOCK)
      add_stride(&range, p.rows, (access->count + p.width - 1) / p.width);
  }
  range.k1 &= f2_mask(n - m + 1);
  if (range.k1 == 0)
    return false;
  range.k2_first = (uint32_t)f2_lsb(range.k1);
  range.last = range.last < (uint32_t)n ? range.last : (uint32_t)n - 1;
  range.k2_last = range.last;
  *out = range;
  return true;
}

// ---- the search --------------------------------------------------------------------------------

typedef struct bit_vector_hash {
  bit_vector vector;
  uint32_t mask;  // banks - 1
} bit_vector_hash;

static uint32_t bank_by(const void *hash, uint64_t x) {
  const bit_vector_hash *h = hash;
  return (uint32_t)((x >> h->vector.k1) ^ (x >> h->vector.k2 & h->vector.mask)) & h->mask;
}

static void try_vector(bit_vector_search *s, const bank_trace *distinct, bit_vector h,
                       uint32_t banks) {
  s->combinations++;
  bit_vector_hash hash = {h, banks - 1};
  uint64_t conflicts = bank_layout_conflicts(distinct, banks, s->conflicts, bank_by, &hash);
  if (conflicts < s->conflicts) {
    s->conflicts = conflicts;
    s->best = h;
  }
}

bit_vector_search bit_vector_find(const bank_trace *distinct, bit_vector_range range, int m) {
  bit_vector_search s = {.conflicts = UINT64_MAX};
  uint32_t banks = UINT32_C(1) << m;
  for (uint64_t rest = range.k1; rest; rest &= rest - 1)
    for (uint32_t k1 = (uint32_t)f2_lsb(rest), k2 = range.k2_first; k2 <= range.k2_last; k2++) {
      uint64_t useful = range.last == UINT32_MAX ? (uint64_t)m : range.last - k2 + 1;
      uint32_t masks = useful < (uint64_t)m ? UINT32_C(1) << useful : banks;
      for (uint32_t mask = 0; mask < masks; mask++)
        if (k1 != k2 || range.equal)
          try_vector(&s, distinct, (bit_vector){k1, k2, mask}, banks);
    }
  return s;
}

// ---- layouts -----------------------------------------------------------------------------------

// So many combinations are tried on each address, after clearing the banks.
static bank_layout_work work_of(int m, uint64_t combinations) {
  return (bank_layout_work){.access = combinations * (8 + f2_unit(m) / 16),
                            .address = combinations};
}

static void set_bank(bank_layout *out, const bank_layout_request *r, bit_vector h) {
  f2_matrix bank = f2_zero(bank_layout_bank_bits(r), bank_layout_address_bits(r));
  for (int i = 0; i < bank.rows; i++) {
    bank.row[i] = f2_unit((int)h.k1 + i);
    if (f2_bit(h.mask, i) && (int)h.k2 + i < bank.columns)
      bank.row[i] ^= f2_unit((int)h.k2 + i);
  }
  bank_layout_from_bank(out, r, bank);
}

const char *bank_make_bit_vector(arena *a, const bank_layout_request *r, bank_layout *out) {
  int n = bank_layout_address_bits(r), m = bank_layout_bank_bits(r);
  bank_trace few = bank_layout_thinned(a, r->distinct, work_of(m, (uint64_t)(n - m + 1)));
  bit_vector_range range = {f2_mask(n - m + 1), 1, 1, 0, true};  // mask 0 only: k2 is beyond last
  bit_vector h = bit_vector_find(&few, range, m).best;
  set_bank(out, r, h);
  out->parameters =
      bank_layout_thinned_text(a, arena_printf(a, "k = %" PRIu32, h.k1), r->distinct, &few);
  return NULL;
}

// The pruned search, and all combinations where that leaves conflicts.
const char *bank_make_bit_vector_xor(arena *a, const bank_layout_request *r, bank_layout *out) {
  int n = bank_layout_address_bits(r), m = bank_layout_bank_bits(r);
  uint64_t combinations = (uint64_t)(n - m + 1) * (uint64_t)(n ? n : 1) << m;
  bank_trace few = bank_layout_thinned(a, r->distinct, work_of(m, combinations));
  bit_vector_search s = {.conflicts = UINT64_MAX};
  bit_vector_range range;
  if (bit_vector_pruned(r->accesses, n, m, &range))
    s = bit_vector_find(&few, range, m);
  if (s.conflicts > 0) {
    uint64_t before = s.combinations;
    bit_vector_search all;
    range = bit_vector_all(n, m);
    range.equal = false;
    all = bit_vector_find(&few, range, m);
    s = all.conflicts < s.conflicts ? all : s;
    s.combinations = before + all.combinations;
  }
  set_bank(out, r, s.best);
  out->parameters = arena_printf(
      a, "k1 = %" PRIu32 ", k2 = %" PRIu32 ", mask = %" PRIu32 "; of %" PRIu64 " tried", s.best.k1,
      s.best.k2, s.best.mask, s.combinations);
  out->parameters = bank_layout_thinned_text(a, out->parameters, r->distinct, &few);
  return NULL;
}
