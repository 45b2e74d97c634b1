// Private to kernels/banks: what the makers of layouts share.
#ifndef PERMC_KERNELS_BANKS_MAKING_H
#define PERMC_KERNELS_BANKS_MAKING_H

#include "kernels/banks/search.h"

// log2 of the banks, and the bits of an address, at least as many.
int bank_layout_bank_bits(const bank_layout_request *r);
int bank_layout_address_bits(const bank_layout_request *r);

// ---- rows of the table -------------------------------------------------------------------------

bank_layout_maker bank_make_rotated, bank_make_bit_vector, bank_make_bit_vector_xor,
    bank_make_single_bits;

// Variants of bank_make_rotated.
enum {
  BANK_ROTATE_RAS,
  BANK_ROTATE_1P,
  BANK_ROTATE_R1P,
  BANK_ROTATE_3P,
  BANK_ROTATE_W2P,
  BANK_ROTATE_1PW2R
};

// What the search of optimal.c finds.
typedef struct bank_choice {
  f2_matrix bank;
  uint64_t conflicts;   // UINT64_MAX: nothing was found
  const char *how;      // a remark for people, "" or "; ..."
  bank_trace searched;  // what it looked at
} bank_choice;
bank_choice bank_search_optimal(arena *a, const bank_layout_request *r);

// ---- searching ---------------------------------------------------------------------------------

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

// The same of a linear layout with these bank bits.
uint64_t bank_conflicts_of_matrix(const bank_trace *distinct, const f2_matrix *bank);

#endif
