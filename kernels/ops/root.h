// Roots of unity of an index, exp(2 pi i k / m) with k = a map of the index: from a table that lies
// in memory as the code reads it.
//
// k is a sum of rows, bits that are linear in the index (address.h). The table's own index is
// another linear function of those bits: its low bits are what lanes change, so that a vector of
// roots is one load (and where not all lanes differ, a shuffle), then come registers, threads and
// blocks, so that a pass reads on from line to line. Where lanes are threads, theirs are the low
// bits: a warp reads one line, not one for every few threads. Butterflies of size m use m/2 entries.
//
//   FFT, m = 8: k = -(x2 + 2 x1), lanes x1, threads x2:    table[0 ... 3] = roots 0, -2, -1, -3
//
// Real parts are followed by imaginary parts. Descriptions of the tables go into the generated text
// (permc_root_tables); the runtime computes them when it loads the code. A root that only registers
// choose is a constant.
#ifndef PERMC_KERNELS_OPS_ROOT_H
#define PERMC_KERNELS_OPS_ROOT_H

#include "kernels/ops/op.h"

// The root at the register with coordinates x and its lanes; `index` is the node of k. False: there
// is no such table, and the value is to be found by k.
bool c_root_of_index(c_phase *f, const net_node *root, net_id index, uint64_t x, c_value *out);

// The table that has root k at k, for any k: its number.
uint32_t c_root_table(c_writer *w, scalar_type type, uint64_t m);
// That of c128 with the roots 0 ... 2^bits - 1 of order m.
uint32_t c_low_root_table(c_writer *w, uint64_t m, uint32_t bits);

// The text of its address, as elements of that type.
const char *c_root_table_address(c_writer *w, const char *element, uint32_t number);

// In one piece of memory of malloc; the last has m = 0. NULL: it is out.
permc_root_table *c_root_tables_copy(const c_writer *w);
// As an array of C, of a declaration such as "static const permc_root_table roots".
void c_root_tables_write(text *out, const char *declaration, const permc_root_table *tables);

#endif
