// Private to kernels/layout*.c, and to who compares their searches with the papers.
#ifndef PERMC_KERNELS_BANKS_LAYOUT_MAKING_H
#define PERMC_KERNELS_BANKS_LAYOUT_MAKING_H

#include "kernels/banks/layout.h"

// log2 of the banks, and the bits of an address, at least as many.
int bank_layout_bank_bits(const bank_layout_request *r);
int bank_layout_address_bits(const bank_layout_request *r);

// A layout with these bank bits, independent, one per bit of the bank: the other bits of a place
// are single bits of the address, each where it was if it can be.
void bank_layout_from_bank(bank_layout *out, const bank_layout_request *r, f2_matrix bank);
// "(0) (4) (1^5)", the bits of an address that sum to each bank bit, in the notation of the Hash
// paper's Table 5.
const char *bank_layout_bits_text(arena *a, f2_matrix bank);

// What a search does, about a nanosecond each: so much for an access, for each of its addresses,
// and for every two of them.
typedef struct bank_layout_work {
  uint64_t access, address, pair;
} bank_layout_work;

// What searches look at, of many accesses: every k-th of the distinct ones, in their order, at most
// BANK_LAYOUT_SEARCHED of them, and no more work than BANK_LAYOUT_WORK. Where one access alone is
// more, every k-th of its addresses. Deterministic.
enum { BANK_LAYOUT_SEARCHED = 4096, BANK_LAYOUT_WORK = 1 << 28 };
bank_trace bank_layout_thinned(arena *a, const bank_trace *distinct, bank_layout_work each);
// `parameters`, and how much the search looked at, if that was not all.
const char *bank_layout_thinned_text(arena *a, const char *parameters, const bank_trace *distinct,
                                     const bank_trace *few);

// The conflicts on accesses without duplicates, of which `bank` says the bank of each address; from
// `enough` on it may be any number above.
static inline uint64_t bank_layout_conflicts(const bank_trace *distinct, uint32_t banks,
                                             uint64_t enough,
                                             uint32_t (*bank)(const void *hash, uint64_t address),
                                             const void *hash) {
  uint32_t words[BANKS_MAX];
  uint64_t conflicts = 0;
  for (size_t i = 0; i < distinct->accesses.count && conflicts < enough; i++) {
    const bank_access *access = &distinct->accesses.items[i];
    uint32_t most = 0;
    memset(words, 0, banks * sizeof *words);
    for (uint32_t t = 0; t < access->count; t++) {
      uint32_t count = ++words[bank(hash, access->address[t])];
      most = count > most ? count : most;
    }
    conflicts += access->times * (most - 1);
  }
  return conflicts;
}

// ---- a row of the table each -------------------------------------------------------------------

typedef bool bank_layout_maker(arena *a, const bank_layout_request *r, bank_layout *out,
                               const char **wrong);
bank_layout_maker bank_layout_make_ras, bank_layout_make_1p, bank_layout_make_r1p,
    bank_layout_make_3p, bank_layout_make_w2p, bank_layout_make_1pw2r;
bank_layout_maker bank_layout_make_vector_permutation, bank_layout_make_vector_xor;
bank_layout_maker bank_layout_make_bits_givargis, bank_layout_make_bits_mih,
    bank_layout_make_xor_givargis, bank_layout_make_xor_mih;
bank_layout_maker bank_layout_make_optimal;

// ---- bit vectors (layout_hash.c; Hash paper, sections 4.2 and 5.1) -----------------------------

// bank = (address >> k1 ^ (address >> k2 & mask)) mod w
typedef struct bit_vector {
  uint32_t k1, k2, mask;
} bit_vector;

// What a search tries: k1 in a set, k2 in a range, and of masks those whose bits reach no address
// bit beyond `last`. Where k1 = k2 bits cancel, so that is left out.
typedef struct bit_vector_range {
  uint64_t k1;  // the set
  uint32_t k2_first, k2_last, last;
  bool equal;  // k1 = k2 with every mask, too
} bit_vector_range;

// All of them: (n - m + 1) n 2^m for n address bits and m bank bits, k1 = k2 among them.
bit_vector_range bit_vector_all(int n, int m);
// Pruned by the strides S = S' 2^k of the accesses: k1 among the k, k2 from the least k to the
// highest address bit that a stride reaches. False: an access is random, or no stride is seen.
bool bit_vector_pruned(const bank_trace *t, int n, int m, bit_vector_range *out);

typedef struct bit_vector_search {
  bit_vector best;
  uint64_t conflicts, combinations;  // of the best; how many were tried
} bit_vector_search;
// The first of those with the fewest conflicts on distinct accesses (bank_trace_distinct).
bit_vector_search bit_vector_find(const bank_trace *distinct, bit_vector_range range, int m);

// ---- bitwise heuristics (layout_bits.c; Hash paper, section 5.2) -------------------------------

typedef enum bits_heuristic { BITS_GIVARGIS, BITS_MIH } bits_heuristic;

// Chooses m sums of address bits, out[0] first: single bits, or with `pairs` also sums of two. Ties
// go to the one with fewer bits, then to lower ones. A sum of those chosen before is never chosen:
// it would leave banks without words.
void bits_choose(arena *a, const bank_trace *distinct, bits_heuristic heuristic, bool pairs, int n,
                 int m, uint64_t *out);

#endif
