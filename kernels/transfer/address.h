// Addresses, and other integers that depend on the index, as generated
// code computes them.
//
// Of a map (kernels/schedule/xor_sum.h), a row that only w decides is a constant at compile time, one
// that w does not touch is shared by all registers and lanes, and one that both decide is an XOR of
// the two:
//
//      n = 4, R = <1>, L = <2>, T = <4>, blocks <8>;  the address  x0 + 2 (x1 ^ x3) + 4 x2
//
//      const uint64_t g2 = (b << 1);             rows of a block and w:  w's part comes by XOR
//      const int64_t u1 = 0;                     rows of blocks alone (here none)
//      const uint32_t *p3 = a0 + u1 + (t << 2);  and of threads alone
//      p3[(g2 ^ 2) + 1]                          the element of w = (1, 1)
#ifndef PERMC_KERNELS_TRANSFER_ADDRESS_H
#define PERMC_KERNELS_TRANSFER_ADDRESS_H

#include "kernels/schedule/schedule.h"
#include "kernels/text/text.h"

// A map in the code: variables that hold what the threads' registers share.
typedef struct c_bound {
  const xor_sum *map;
  uint64_t mixed;    // rows that both w and blocks or threads flip: those of the words
  uint64_t uniform;  // rows that blocks or threads flip, and not w: those of the sum
  uint32_t word_count;
  xor_word word[C_ROWS];
  const char *name[C_ROWS];  // of the variable with the word at w = 0, but for its constant
  const char *sum;           // the int64_t with all rows that w does not flip, or "0"
} c_bound;

// Writes the variables. Rows of `without` are left out (as if 0).
c_bound c_bind(c_writer *w, const xor_sum *m, uint64_t without);
// The rest of the value, at coordinates x: an expression, an int64_t, to which b->sum is to be
// added. Rows that are left out are 0 at x.
const char *c_bound_rest(c_writer *w, const c_bound *b, uint64_t x);
// Whether the expression is a constant, and which.
bool c_bound_constant(const c_bound *b, uint64_t x, int64_t *out);

// The thread's number as an operand of what may be an index or an address of memory.
const char *c_thread(const c_writer *w);

// The variable with what blocks and threads decide of these rows, which make one word, or NULL if
// they decide nothing.
const char *c_bind_bits(c_writer *w, const xor_sum *m, uint64_t rows);

#endif
