// Ops of a phase that repeat.
//
// `iter 6400 (column 1 f . column 2 g)` makes 12,800 ops: merging does not make one of ops in
// different directions. On slots, f is the same op each time; a period of such ops becomes a loop
// in the text, whose variables are the registers of the slots that it writes.
#ifndef PERMC_KERNELS_OPS_REPEAT_H
#define PERMC_KERNELS_OPS_REPEAT_H

#include "kernels/ops/op.h"

// The ops of a phase, in order. write_op: the text of one.
typedef void c_write_op(void *with, const net_op *op);
void c_write_repeated(c_phase *f, uint32_t count, const net_op *const *ops, c_write_op *write_op,
                      void *with);

#endif
