// Addresses, and other integers that depend on the index, as generated code computes them.
//
// An index of a pass is x = base(block) ^ a(thread) ^ w: w, a vector of W = R + L, says which
// register and which lane. A map (net.h) is an integer sum of rows, each a bit that is linear in
// x. A row that only w decides is a constant at compile time, one that w does not touch is shared
// by all registers and lanes, and one that both decide is an XOR of the two:
//
//      n = 4, R = <1>, L = <2>, T = <4>, blocks <8>;  the address  x0 + 2 (x1 ^ x3) + 4 x2
//
//      const uint64_t g2 = (b << 1);             rows of a block and w:  w's part comes by XOR
//      const int64_t u1 = 0;                     rows of blocks alone (here none)
//      const uint32_t *p3 = a0 + u1 + (t << 2);  and of threads alone
//      p3[(g2 ^ 2) + 1]                          the element of w = (1, 1)
//
// Rows are kept as bits of a word: `vector[i]` is the word of the rows that basis vector i of W
// turns over. Coordinates of W: bits 0 ... r-1 are R's, then L's l, and where an element is two
// parts (complex numbers) bit r + l chooses the part.
#ifndef PERMC_KERNELS_TEXT_ADDRESS_H
#define PERMC_KERNELS_TEXT_ADDRESS_H

#include "kernels/text/writer.h"

// The spaces of one phase: what an index is made of.
typedef struct c_space {
  uint32_t blocks, threads, r, l;  // dimensions
  const uint64_t *block, *basis;   // basis: R's vectors, L's, T's
  const uint64_t *shift;           // by block vector: how it differs from the pass's, a vector of V
                                   // (NULL: not at all)
} c_space;

enum { C_ROWS = 64 };

typedef struct c_map {
  uint32_t rows, blocks, threads, vectors;
  bool scratch;  // it is of scratch memory, whose addresses are small and not negative
  bool bytes;    // they are counted in bytes, not in elements: one instruction less
  const struct c_swizzle *swizzle;  // scratch whose addresses go through a function, or NULL
  uint64_t offset, weight[C_ROWS];  // weights are positive; sums wrap
  uint32_t loops;
  const int64_t *strides;
  uint64_t constant;  // the rows that are 1 at index 0
  uint64_t block[F2_MAX], thread[F2_MAX], vector[F2_MAX + 1];
} c_map;

// Whether its rows have few enough masks.
bool c_map_fits(const net_map *map);
// The map in units of one part; parts > 1 adds the row of the part.
c_map c_map_of(c_writer *w, const net_map *map, const c_space *space, uint32_t parts);
// Row i is form i; weights mean nothing.
c_map c_map_of_forms(uint32_t count, const net_form *forms, const c_space *space);
// Scratch memory: address bit i is coordinate i in the basis `exchange` of V, the part is the
// highest bit.
c_map c_map_of_scratch(const uint64_t *exchange, const c_space *space, uint32_t parts);
// The same for lanes that are threads, of elements that are less than a bank wide: the lanes'
// coordinates, the first `lanes`, come after those of the `shared` ones that lie in one bank.
void c_map_share_banks(c_map *m, uint32_t lanes, uint32_t shared);

// Scratch in bytes, of elements that have so many.
void c_map_in_bytes(c_map *m, uint32_t bytes);

// The rows that blocks, threads, vectors (of the mask `which`) touch.
uint64_t c_map_rows_of_blocks(const c_map *m);
uint64_t c_map_rows_of_threads(const c_map *m);
uint64_t c_map_rows_of(const c_map *m, uint64_t which);
// The rows at coordinates x of W, block 0 and thread 0.
uint64_t c_map_bits(const c_map *m, uint64_t x);
// The sum of the weights of these rows.
uint64_t c_map_sum(const c_map *m, uint64_t rows);

// A map in the code: variables that hold what the threads' registers share.
typedef struct c_group {
  uint64_t odd;   // weights are odd * 2^i
  uint64_t rows;  // these rows; the row of weight odd * 2^i is bit i of the variable
  char name[16];
} c_group;
typedef struct c_bound {
  const c_map *map;
  uint64_t mixed;    // rows that both w and blocks or threads touch: those of the groups
  uint64_t uniform;  // rows that blocks or threads touch, and not w: those of the sum
  uint32_t group_count;
  c_group group[C_ROWS];
  char sum[16];  // the int64_t with all rows that w does not touch, or "0"
} c_bound;

// Splits the rows into groups of one odd factor each, within which no two weights are equal:
// returns how many.
uint32_t c_map_groups(const c_map *m, uint64_t rows, c_group *groups);
// The rows of a group that are among `bits`, each at its place.
uint64_t c_map_packed(const c_map *m, uint64_t rows, uint64_t bits);

// Writes the variables. Rows of `without` are left out (as if 0).
c_bound c_bind(c_writer *w, const c_map *m, uint64_t without);
// The rest of the value, at coordinates x: an expression, an int64_t, to which b->sum is to be
// added. Rows that are left out are 0 at x.
const char *c_bound_rest(c_writer *w, const c_bound *b, uint64_t x);
// Whether the expression is a constant, and which.
bool c_bound_constant(const c_bound *b, uint64_t x, int64_t *out);

// The thread's number as an operand of what may be an index or an address of memory.
const char *c_thread(const c_writer *w);

// The variable with the bits of `rows` that blocks and threads decide (row rows[i] is bit i), or
// NULL if they decide none.
const char *c_bind_bits(c_writer *w, const c_map *m, uint32_t count, const uint32_t *rows);

#endif
