// The ops of a phase as text: which register holds which element of an op's cosets, and what is
// computed of them.
//
// The directions of an op lie in R, so the elements of a coset are registers, and which of them is
// element j the op's coordinates say. Where they vanish on lanes, threads and blocks that is known
// when the code is written, and costs nothing. Otherwise bit i of j is flipped by a bit of the
// block and thread (one choice for all lanes) or of the lane (a mask): inputs and outputs change
// places by selections. A minimum and a maximum of x and x ^ 1, R = <1>, L = <2, 4>:
//
//      const u32x4 v2 = min(v0, v1);       register 0 of the slot is element 0 of the coset
//      const u32x4 v3 = max(v0, v1);       register 1 is element 1
//
//   op.c         ops on registers                 node.c    their nodes as statements
//   exchange.c   sorting networks of floats       roll.c    nodes, and ops, that repeat
//   root.c       roots of unity                    fold.c    folds, as loops
#ifndef PERMC_KERNELS_OPS_OP_H
#define PERMC_KERNELS_OPS_OP_H

#include "kernels/ops/node.h"

// What a slot holds in a phase: variables by register number (r bits, and the part highest).
typedef struct c_registers {
  scalar_type type;
  uint32_t *id;  // UINT32_MAX: nothing yet
} c_registers;

typedef struct c_phase {
  c_writer *w;
  const plan_pass *pass;
  const net_stage *stage;
  uint32_t number, first_op;  // of the phase; of the pass
  const c_space *space;
  c_registers *slots;
  // By node of the stage:
  c_value *values;
  const c_bound **bounds;              // of index nodes that the phase has met
  const struct c_root_access **roots;  // of root nodes
  net_id *nodes;                       // room for all
  const bool *padding;                 // by register: what it holds is padding; NULL: none does
  bool open;                           // a block is open for threads that have something to do
  f2_space live;                       // where indices of these threads are (net.h)
} c_phase;

// A phase without ops yet, of which all blocks and threads matter. pass == NULL: each value of the
// stage has a slot of its own.
c_phase c_phase_of(c_writer *w, const plan_pass *pass, const net_stage *stage,
                   const c_space *space);
c_registers c_registers_of(c_writer *w, const c_space *space, scalar_type type);
void c_execute(c_phase *f, const net_op *op);

#endif
