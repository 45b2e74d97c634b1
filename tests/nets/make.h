// How ops and their nodes are made: for tests/nets only.
#ifndef PERMC_TESTS_NETS_MAKE_H
#define PERMC_TESTS_NETS_MAKE_H

#include "tests/nets/nets.h"

typedef struct random_op {
  arena *memory;
  random_state *random;
  net *net;
  net_stage *stage;
  size_t defined;  // values below this number may be read
  uint32_t k;
  bool first;  // only element 0 is read
  const uint64_t *directions;
  f2_matrix inverse;  // rows k ...: forms that do not change in a coset
} random_op;

// Nodes of a type: up to so many levels; a leaf; one with these operands.
net_id random_node(random_op *o, scalar_type type, int depth);
net_id random_leaf(random_op *o, scalar_type type);
net_id random_inner(random_op *o, net_node node, uint32_t count, const net_id *operands);

// The same span of the first two directions, numbered otherwise.
void random_basis(random_state *r, random_frame *f);
// Ops in a frame: any; on a part of the indices (the rule in-place); on both halves of one
// (two-parts); of two sides (one-output).
void random_op_add(random_op *o, const random_frame *f);
void random_part(random_op *o, const random_frame *f);
void random_halves(random_op *o, const random_frame *f);
void random_turned(random_op *o, const random_frame *f);
void random_sides(random_op *o, const random_frame *f);

#endif
