// Tables of roots of unity for generated code and for the portable executor.
//
//   in    rows that say which roots (kernels/text/host.h, permc_root_table)
//   out   a table for each row
//
//   permc_root_table rows[] = {{.m = 4, .part_bytes = 4}, {0}};
//   size_t count;
//   void **tables = roots_make(rows, &count, threads);    // count = 1
//
//   (float *)tables[0]    1 0   0 1   -1 0   0 -1         exp(2 pi i k / 4), k = 0, 1, 2, 3
#ifndef PERMC_RUNTIME_CPU_ROOTS_H
#define PERMC_RUNTIME_CPU_ROOTS_H

#include "kernels/text/host.h"

// The tables of `rows`, up to the first with m = 0; *count is how many. NULL: out of memory. Every
// entry has the bits of scalar_root. At most so many threads work on it.
void **roots_make(const permc_root_table *rows, size_t *count, unsigned threads);
void roots_free(void **tables, size_t count);

#endif
