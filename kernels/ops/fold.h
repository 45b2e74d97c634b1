// Folds (fusion/net/net.h) as loops, for an element at a time (phase_shape_of):
//
//   u64x1 v9 = v3;
//   for (u64x1 v8 = v1; (int64_t)v8 < (int64_t)v2; v8++) {
//     const u64x1 v10 = ...: an element, by v8;
//     const u64x1 v11 = ...: v9 + v10
//     v9 = v11;
//   }
#ifndef PERMC_KERNELS_OPS_FOLD_H
#define PERMC_KERNELS_OPS_FOLD_H

#include "kernels/ops/op.h"

// The value of the fold `id`, whose operands outside of its turn have values. turns: net_turns_of.
c_value c_fold_value(c_phase *f, const net_id *turns, net_id id);

#endif
