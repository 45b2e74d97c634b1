// An xor_sum is a map (net.h) on the indices of a pass, as numbers: a sum of XORs, the one form of
// an address. Its readers are kernels/transfer/address.h, which writes it as text, the schedule,
// memory machines, matrices that come as data, and the executor without a compiler
// (runtime/portable/).
//
// An index of a pass is x = base(block) ^ a(thread) ^ w: w, a vector of W = R + L, says which
// register and which lane. A map (net.h) is an integer sum of rows, each a bit that is linear in
// x. Here each vector of a basis (block, thread, W) becomes the set of the rows that it flips:
//
//      n = 4, R = <1>, L = <2>, T = <4>, blocks <8>;  the address  x0 + 2 (x1 ^ x3) + 4 x2
//
//      row      0       1          2
//      weight   1       2          4
//      form     x0      x1 ^ x3    x2
//
//      vector[0] = 0b001   (register bit 0 is x0)      thread[0] = 0b100   (x2)
//      vector[1] = 0b010   (lane bit 0 is x1)          block[0]  = 0b010   (x3)
//
//      block 1, thread 0, w = (1, 1):   0b010 ^ 0b001 ^ 0b010 = 0b001: the address is 1
//
// To be evaluated, rows of weights odd * 2^i become one WORD: here, where all weights are powers of
// two, the address is one word, the XOR of columns: block 2, thread 4, vectors 1 and 2.
//
// Coordinates of W: bits 0 ... r-1 are R's, then L's l, and where an element is two parts (complex
// numbers) bit r + l chooses the part.
#ifndef PERMC_KERNELS_SCHEDULE_XOR_SUM_H
#define PERMC_KERNELS_SCHEDULE_XOR_SUM_H

#include "fusion/plan/plan.h"

// The coordinates of x, which lies in the span, in a basis of `dimension` vectors.
static inline uint64_t c_coordinates(uint32_t dimension, const uint64_t *basis, uint64_t x) {
  uint64_t bits = 0;
  ensure(f2_coordinates((int)dimension, basis, x, &bits));
  return bits;
}

// The spaces of one phase: what an index is made of.
typedef struct c_space {
  uint32_t blocks, threads, r, l;  // dimensions
  const uint64_t *block, *basis;   // basis: R's vectors, L's, T's
  const uint64_t *shift;           // by block vector: how it differs from the pass's, a vector of V
                                   // (NULL: not at all)
} c_space;

enum { C_ROWS = 64 };

typedef struct xor_sum {
  uint32_t rows, blocks, threads, vectors;
  bool scratch;  // it is of scratch memory, whose addresses are small and not negative
  bool bytes;    // they are counted in bytes, not in elements: one instruction less
  bool wraps;    // it is a number that may leave i64 on the way: it is summed without signs
  const struct c_swizzle *swizzle;  // scratch whose addresses go through a function, or NULL
  uint64_t offset, weight[C_ROWS];  // weights are positive; sums wrap
  uint32_t loops;
  const int64_t *strides;
  uint64_t constant;  // the rows that are 1 at index 0
  uint64_t block[F2_MAX], thread[F2_MAX], vector[F2_MAX + 1];
} xor_sum;

// Whether there is room for its rows, and for the part's.
static inline bool xor_sum_fits(const net_map *map) { return map->row_count < C_ROWS; }
// The map in units of one part; parts > 1 adds the row of the part.
xor_sum xor_sum_of(arena *memory, const net_map *map, const c_space *space, uint32_t parts);
// Row i, of weight 2^i, is form i: all are one word.
xor_sum xor_sum_of_forms(uint32_t count, const net_form *forms, const c_space *space);
// Scratch memory: address bit i is coordinate i in the basis `exchange` of V, the part is the
// highest bit.
xor_sum xor_sum_of_scratch(const uint64_t *exchange, const c_space *space, uint32_t parts);
// The same for lanes that are threads, of elements that are less than a bank wide: the lanes'
// coordinates, the first `lanes`, come after those of the `shared` ones that lie in one bank.
void xor_sum_share_banks(xor_sum *m, uint32_t lanes, uint32_t shared);
// Scratch without the rows that others tell where these forms are 0, and the lowest of those first:
// such elements alone, close together. `exchange`, of `dimension` vectors, as above.
void xor_sum_keep_live(xor_sum *m, uint32_t dimension, const uint64_t *exchange, uint32_t count,
                       const net_form *live);
// Scratch in bytes, of elements that have so many.
void xor_sum_in_bytes(xor_sum *m, uint32_t bytes);

// The rows that blocks, threads, vectors (of the mask `which`) flip.
uint64_t xor_sum_rows_of_blocks(const xor_sum *m);
uint64_t xor_sum_rows_of_threads(const xor_sum *m);
uint64_t xor_sum_rows_of(const xor_sum *m, uint64_t which);
// Those of blocks and threads: what they are is known only while the code runs.
static inline uint64_t xor_sum_dynamic_rows(const xor_sum *m) {
  return xor_sum_rows_of_blocks(m) | xor_sum_rows_of_threads(m);
}
// The rows at coordinates x of W, block 0 and thread 0.
uint64_t xor_sum_rows_at(const xor_sum *m, uint64_t x);
// The sum of the weights of these rows.
uint64_t xor_sum_weight(const xor_sum *m, uint64_t rows);

// Rows whose weights are odd * 2^i, all different: their sum is odd * (one word, of which the row of
// weight odd * 2^i is bit i), and the word is the XOR of the constant and of columns, one for each
// basis vector of the blocks, then of the threads, then of W.
typedef struct xor_word {
  uint64_t odd, constant, *column;
} xor_word;

// Splits the rows into words, at most one for each; returns how many.
uint32_t xor_sum_words(arena *memory, const xor_sum *m, uint64_t rows, xor_word *words);
// A word at coordinates x of W, block 0 and thread 0.
static inline uint64_t xor_word_at(const xor_sum *m, const xor_word *word, uint64_t x) {
  return word->constant ^ f2_combine((int)m->vectors, word->column + m->blocks + m->threads, x);
}

#endif
