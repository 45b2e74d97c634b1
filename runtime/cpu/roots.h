// Tables of roots of unity for generated code (kernels/text/host.h, permc_root_table).
#ifndef PERMC_RUNTIME_CPU_ROOTS_H
#define PERMC_RUNTIME_CPU_ROOTS_H

#include "kernels/text/host.h"

// The tables of `rows`, up to the first with m = 0; *count is how many. Each is malloc'ed, and so
// is the list. NULL: memory is out. Every entry has the bits of scalar_root. `threads` may work on
// it.
void **roots_make(const permc_root_table *rows, size_t *count, unsigned threads);
// The bytes of a table that generated code may read.
uint64_t roots_bytes(const permc_root_table *row);
void roots_free(void **tables, size_t count);

#endif
