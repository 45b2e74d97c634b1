// A second door of kernels/banks, for code that compares the searches with the Hash paper
// (tool/papers/hash.c, tests): what each search tries, and layouts with given bank bits.
#ifndef PERMC_KERNELS_BANKS_SEARCH_H
#define PERMC_KERNELS_BANKS_SEARCH_H

#include "kernels/banks/banks.h"

// A layout with these bank bits, independent, one per bit of the bank: the other bits of a place
// are single bits of the address, each where it was if it can be.
void bank_layout_from_bank(bank_layout *out, const bank_layout_request *r, f2_matrix bank);
// "(0) (4) (1^5)", the bits of an address that sum to each bank bit, in the notation of the Hash
// paper's Table 5.
const char *bank_layout_bits_text(arena *a, f2_matrix bank);

// ---- many accesses (thinning.c) ----------------------------------------------------------------

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

// ---- bit vectors (bit_vectors.c; Hash paper, sections 4.2 and 5.1) -----------------------------

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

// ---- bitwise heuristics (single_bits.c; Hash paper, section 5.2) -------------------------------

enum { BITS_GIVARGIS = 0, BITS_MIH = 1, BITS_PAIRS = 2 };  // pairs: sums of two bits, too

// Chooses m sums of address bits by a heuristic, out[0] first: single bits, or also sums of two.
// Ties go to the one with fewer bits, then to lower ones. A sum of those chosen before is never
// chosen: it would leave banks without words.
void bits_choose(arena *a, const bank_trace *distinct, uint32_t how, int n, int m, uint64_t *out);

#endif
