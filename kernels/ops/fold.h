// Folds (fusion/net/net.h) as loops, lane by lane:
//
//   u64x4 v7 = {0};
//   for (int lane = 0; lane < 4; lane++) {
//     u64x1 v9 = v3[lane];
//     for (u64x1 v8 = v1[lane]; (int64_t)v8 < (int64_t)v2[lane]; v8++) {
//       const u64x1 v10 = ...: an element, by v8;
//       const u64x1 v11 = ...: v9 + v10
//       v9 = v11;
//     }
//     v7[lane] = v9;
//   }
#ifndef PERMC_KERNELS_OPS_FOLD_H
#define PERMC_KERNELS_OPS_FOLD_H

#include "kernels/ops/op.h"

// The value of the fold `id`, whose operands outside of its turn have values. turns: net_turns_of.
c_value c_fold_value(c_phase *f, const net_id *turns, net_id id, uint32_t lanes);

#endif
