// Private to kernels/ops/: repetition in the scalar code of an op.
//
// `iter 4000 f`, a recursion, a fold over coefficients: elaboration writes f's nodes down 4,000
// times. Nodes that repeat with a period become a loop in the text again:
//
//   x1 = x0 * 3     p1 = x1 + 5       x1, p1; then from position 1 on, of period 2:
//   x2 = p1 * 3     p2 = x2 + 7         for (i = 0; i < 2; i++) { x = p * 3; p = x + c[i]; }
//   x3 = p2 * 3     p3 = x3 + 9
//
// The LINE of an op is its nodes without the leaves: constants, elements, indices and roots of
// indices. An operand in a loop is the same node in every round, or a constant for each round, or a
// node of the line at the same distance in every round: of this round or of the one before.
#ifndef PERMC_KERNELS_OPS_ROLL_H
#define PERMC_KERNELS_OPS_ROLL_H

#include "kernels/schedule/schedule.h"

enum { C_ROLL_OPERANDS = 3 };  // nodes of more operands are in no loop

typedef struct c_segment {
  uint32_t first;           // position in the line
  uint32_t period, rounds;  // rounds == 1: `period` nodes once
  uint32_t carried_count;   // what the next round reads, or what follows the loop:
  uint32_t *carried;        //   offsets in a round
  bool *is_read;            // by number in `carried`: the next round reads it
} c_segment;

typedef struct c_rolled {
  uint32_t leaf_count, line_count, segment_count;
  net_id *leaves, *line;
  c_segment *segments;
} c_rolled;

// Whether there is a loop among the nodes of the op: `nodes` as net_op_nodes gives them.
bool c_roll(arena *a, const net_stage *s, const net_op *op, uint32_t count, const net_id *nodes,
            c_rolled *out);

#endif
