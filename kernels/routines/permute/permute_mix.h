// Where a tile of a permutation has its elements (kernels/routines/permute/permute.h): this text
// stands in generated files as it is here.
#ifndef PERMC_KERNELS_ROUTINES_PERMUTE_PERMUTE_MIX_H
#define PERMC_KERNELS_ROUTINES_PERMUTE_PERMUTE_MIX_H

// By what the words of a row of 128 bytes are XORed, less than there are words in a row (a power of
// two): bits from the middle of a product by the golden ratio, as of a hash.
static inline uint32_t permute_mix(uint32_t row, uint32_t words) {
  return ((row * UINT32_C(0x9E3779B1)) >> 20) & (words - 1);
}

#endif
