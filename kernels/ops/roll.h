// Private to kernels/ops/: repetition, found on the Net before there is text.
//
// `iter 4000 f`, a recursion, a fold over coefficients: elaboration writes f's nodes down 4,000
// times in one op. `iter 6400 (column 1 f . column 2 g)` makes 12,800 ops: merging does not make
// one of ops in different directions. Either is a row of ITEMS, and items that repeat with a period
// become a loop again:
//
//   item  node           key          operands               text
//   0     x1 = x0 * 3    *, i32, i32  leaf; leaf             x = x0 * 3;
//   1     p1 = x1 + 5    +, i32, i32  item 0; constant       for (i = 0; i < 2; i++) {
//   2     x2 = p1 * 3    *, i32, i32  item 1; leaf             p = x + c[i];
//   3     p2 = x2 + 7    +, i32, i32  item 2; constant         x = p * 3;
//   4     x3 = p2 * 3    *, i32, i32  item 3; leaf           }
//   5     p3 = x3 + 9    +, i32, i32  item 4; constant       p3 = x + 9;
//
// The segments are item 0, items 1 ... 4 (period 2, 2 rounds, which carry x), and item 5. In every
// round an operand is the same leaf or earlier item, or a constant of its own, or the item at one
// distance: of this round or of the one before.
#ifndef PERMC_KERNELS_OPS_ROLL_H
#define PERMC_KERNELS_OPS_ROLL_H

#include "kernels/ops/op.h"

enum { C_ROLL_OPERANDS = 3 };  // nodes of more operands are in no loop

typedef struct c_segment {
  uint32_t first;           // item
  uint32_t period, rounds;  // rounds == 1: `period` items once
  uint32_t carried_count;   // what the next round reads, or what follows the loop:
  uint32_t *carried;        //   offsets in a round
  bool *is_read;            // by number in `carried`: the next round reads it
} c_segment;

typedef struct c_rolled {
  uint32_t leaf_count, line_count, segment_count, loop_count;
  net_id *leaves, *line;  // of nodes: constants, elements, indices, roots of indices; the items
  c_segment *segments;
} c_rolled;

// The nodes of an op as net_op_nodes gives them. Few of them are not looked at: no segments.
c_rolled c_roll_nodes(arena *a, const net_stage *s, const net_op *op, uint32_t count,
                      const net_id *nodes);
// Ops of a phase, which read and write slots: no operands. Equal ones do the same with the slots.
c_rolled c_roll_ops(const c_phase *f, uint32_t count, const net_op *const *ops);

#endif
