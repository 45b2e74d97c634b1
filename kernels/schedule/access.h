// Private to kernels/schedule/ (door: schedule.h): which registers of a phase one load or
// store moves.
//
// A REGISTER LAYOUT says which element of W lies in lane j of register i: the one with coordinates
// origin ^ (sum of the registers' vectors at the bits of i) ^ (the lanes' at the bits of j).
//
// An access finds the vectors of W whose elements are neighbours in memory, its CHUNK, and makes
// these the lanes; kernels/transfer/relayout.h changes between this layout and the phase's own.
// Where the neighbours do not lie in one thread, or there are none (rows of 3 elements), the chunk
// is shorter than a vector, in the end one element: correct, and slow.
//
//   n = 4, u32, R = <1, 2>, L = <4, 8>, address = x:     the chunk has 2 bits: x, x^1, x^2, x^3
//
//                 registers    lanes        register 0    register 1    ...
//      home       <1, 2>       <4, 8>       0 4 8 12      1 5 9 13
//      memory     <4, 8>       <1, 2>       0 1 2 3       4 5 6 7
//
// Where blocks or threads decide which lane an element has (an address bit of a line is a sum with
// bits of the block), vectors are XOR-PERMUTED: lane j goes to lane j ^ d, with a d of the thread.
//
// Where lanes are threads, a register has one lane. Then neighbours among registers, up to 16
// bytes, make one WIDE access.
#ifndef PERMC_KERNELS_SCHEDULE_ACCESS_H
#define PERMC_KERNELS_SCHEDULE_ACCESS_H

#include "kernels/schedule/xor_sum.h"

typedef struct register_layout {
  uint32_t registers, lanes;            // bits
  uint64_t origin, vector[F2_MAX + 1];  // the registers' vectors, then the lanes'
} register_layout;

// The coordinates of lane `lane` of register `number`.
uint64_t register_layout_at(const register_layout *y, uint64_t number, uint64_t lane);

enum { C_CHUNK = 6 };  // at most 2^6 lanes

typedef struct c_access {
  xor_sum map;
  uint32_t bytes;               // of a part
  uint32_t chunk;               // vectors of 2^chunk neighbours
  uint32_t chunk_row[C_CHUNK];  // the row of address bit i
  bool whole_lines;             // a thread has whole lines of 64 bytes
  uint32_t wide;                // 2^wide registers are one access
  bool xor_permuted;
  register_layout memory, home;  // the vectors as they are loaded, and as the phase has them
} c_access;

// `longest`: the most bits of neighbours among lanes that it may use, `widest`: among registers.
c_access c_access_of(const xor_sum *map, const c_space *space, scalar_type type, uint32_t longest,
                     uint32_t widest);

// Memory, or scratch memory, as a load or store of a slot sees it.
typedef struct c_place {
  uint64_t padding_start;  // addresses from here on are padding, in elements; UINT64_MAX: none
  scalar_bits padding_value;
  uint32_t live_count;
  const net_form *live;
  bool scratch;         // not memory
  uint64_t base;        // of the slot in scratch, in bytes
  const bool *padding;  // by register, where lanes are threads: not loaded (it gets 0), and not
                        // stored in memory. NULL: none is
  // For the text (kernels/transfer/transfer.h):
  const char *array;   // an expression: a pointer to void
  const char *stream;  // a variable: whether stores may bypass the caches; NULL: they may not
  bool bytes;          // of bools of the caller: loads make 0 or 1 of them
  bool ahead;          // loads ask for what lies behind, which is loaded next
  bool near;           // others load the same: the first cache of a GPU keeps it
} c_place;

// The most bits of registers that one access of the place may have.
uint32_t c_access_widest(bool warps, const c_place *place);

// Whether stores of this map are whole lines at aligned addresses, if the array is aligned.
bool c_access_streams(const c_access *a);

// Of a map for lanes that are threads: the bits of neighbours in registers that one access of 16
// bytes has at most, and for each the row and the coordinates of W. Returns how many.
uint32_t c_wide_vectors(const xor_sum *m, uint32_t bytes, uint32_t row[C_CHUNK],
                        uint64_t x[C_CHUNK]);

#endif
