// Loads and stores of a phase as text: a tile's elements between memory (or scratch memory) and
// registers.
//
//   address.c    addresses and other integers of the index as expressions
//   relayout.c   shuffles between register layouts
//   transfer.c   loads and stores
//
// Vectors are loaded and stored in the layout that they have in memory, by whole vectors, chunks or
// elements (kernels/schedule/access.h), and shuffled to and from the phase's own (relayout.h):
//
//   n = 4, u32, R = <1, 2>, L = <4, 8>, address = x:     chunk 2: elements x, x^1, x^2, x^3
//
//      const u32x4 v0 = *(const u32x4m *)(p + 0);         registers <4, 8>, lanes <1, 2>
//      const u32x4 v1 = *(const u32x4m *)(p + 4); ...
//      const u32x4 v4 = shuffle_u32x4(v0, v1, 0, 4, 2, 6); ...
#ifndef PERMC_KERNELS_TRANSFER_TRANSFER_H
#define PERMC_KERNELS_TRANSFER_TRANSFER_H

#include "kernels/transfer/relayout.h"

// Registers of the phase: variables by number, 2^(r + parts - 1) of them; the part is the highest
// bit.
void c_load(c_writer *w, const xor_sum *map, const c_space *space, scalar_type type,
            const c_place *from, uint32_t *registers);
void c_store(c_writer *w, const xor_sum *map, const c_space *space, scalar_type type,
             const c_place *to, const uint32_t *registers);

// Begins a block for threads whose first element, and with it all that differ from it in forms of
// blocks and threads alone, is where these forms are 0.
void c_begin_live(c_writer *w, uint32_t count, const net_form *live, const c_space *space);

#endif
