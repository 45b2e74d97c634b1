// Rows of unequal length that suites are measured on. Private to bench/ and to the peers.
#ifndef PERMC_TOOL_BENCH_LENGTHS_H
#define PERMC_TOOL_BENCH_LENGTHS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BENCH_LENGTHS "uniform zipf"

// Cuts `elements` into rows: row i has elements offsets[i] ... offsets[i + 1] - 1; there are rows +
// 1 offsets. Lengths are as numbers from 0 to 1 drawn at random (uniform), or as 1, 1/2, 1/3, ...
// in an order drawn at random (zipf). The same on every machine. False: out of memory.
bool bench_offsets_write(const char *lengths, int64_t *offsets, uint64_t rows, uint64_t elements);

#ifdef __cplusplus
}
#endif

#endif
