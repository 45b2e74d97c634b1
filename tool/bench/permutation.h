// The permutations that suites are measured on: those of the HMM paper (section IV), and others at
// random. Private to bench/.
#ifndef PERMC_TOOL_BENCH_PERMUTATION_H
#define PERMC_TOOL_BENCH_PERMUTATION_H

#include <stdbool.h>
#include <stdint.h>

// Writes where each of `count` elements goes: by a name of kernels/hmm/algorithm.h, whose count is
// 2^n unless it is random; else of a seed. By all threads. False: out of memory.
bool bench_permutation_write(const char *name, uint64_t seed, uint32_t *places, uint64_t count);

#endif
