// Loads and stores of a phase: a tile's elements between memory (or scratch memory) and registers.
//
// An access finds the vectors of W whose elements are neighbours in memory, loads or stores those
// by whole vectors, and changes between their layout and the phase's own (emit/relayout.h). Where
// the neighbours do not lie in one thread, or there are none (rows of 3 elements), it goes by
// shorter chunks, in the end element by element: correct, and slow.
//
//   n = 4, u32, R = <1, 2>, L = <4, 8>, address = x:     chunk 2: elements x, x^1, x^2, x^3
//      const u32x4 v0 = *(const u32x4m *)(p + 0);         registers <4, 8>, lanes <1, 2>
//      const u32x4 v1 = *(const u32x4m *)(p + 4); ...
//      const u32x4 v4 = shuffle_u32x4(v0, v1, 0, 4, 2, 6); ...
//
// Where blocks or threads decide which lane an element has (an address bit of a line that is a sum
// with bits of the block), vectors are TURNED: lane j goes to lane j ^ d with a d of the thread.
#ifndef PERMC_KERNELS_EMIT_ACCESS_H
#define PERMC_KERNELS_EMIT_ACCESS_H

#include "kernels/emit/relayout.h"
#include "kernels/text/address.h"

enum { C_CHUNK = 6 };  // at most 2^6 lanes

typedef struct c_access {
  c_map map;
  uint32_t bytes;               // of a part
  uint32_t chunk;               // vectors of 2^chunk neighbours
  uint32_t chunk_row[C_CHUNK];  // the row of address bit i
  bool whole_lines;             // a thread has whole lines of 64 bytes
  uint32_t wide;  // of lanes that are threads: 2^wide registers are neighbours, one access
  bool turned;
  c_layout memory, home;  // the vectors as they are loaded, and as the phase has them
} c_access;

// `longest`: the most bits of neighbours among lanes that it may use, `widest`: among registers.
c_access c_access_of(const c_map *map, const c_space *space, uint32_t bytes, uint32_t parts,
                     uint32_t longest, uint32_t widest);

typedef struct c_place {
  const char *array;  // an expression: a pointer to void
  uint64_t limit;     // in elements; UINT64_MAX: none
  scalar_bits fill;
  uint32_t live_count;
  const net_form *live;
  bool scratch;        // not memory
  const bool *dead;    // by register, where lanes are threads: not loaded (it gets 0), and not
                       // stored in memory. NULL: none is
  const char *stream;  // a variable: whether stores may bypass the caches; NULL: they may not
} c_place;

// The most bits of registers that one access of the place may have.
uint32_t c_access_widest(const c_writer *w, const c_place *place);

// Registers of the phase: variables by number, 2^(r + parts - 1) of them; the part is the highest
// bit.
void c_load(c_writer *w, const c_map *map, const c_space *space, uint32_t bytes, uint32_t parts,
            const c_place *from, uint32_t *registers);
void c_store(c_writer *w, const c_map *map, const c_space *space, uint32_t bytes, uint32_t parts,
             const c_place *to, const uint32_t *registers);

// Whether stores of this map are whole lines at aligned addresses, if the array is aligned.
bool c_access_streams(const c_access *a);

// Of a map for lanes that are threads: the bits of neighbours in registers that one access of 16
// bytes has at most, and for each the row and the coordinates of W. Returns how many.
uint32_t c_wide_vectors(const c_map *m, uint32_t bytes, uint32_t row[C_CHUNK], uint64_t x[C_CHUNK]);

#endif
