// Private to runtime/gpu/: a routine of a plan (fusion/net/net.h) as launches of the kernels of
// kernels/routines/.
#ifndef PERMC_RUNTIME_GPU_ROUTINE_H
#define PERMC_RUNTIME_GPU_ROUTINE_H

#include "runtime/gpu/launch_table.h"

typedef struct routine_kernels {
  text code;              // CUDA text
  uint32_t launch_count;  // 0: it has no kernels
  routine_launch *launches;
  permc_parameter *arrays;              // by array of the launches
  uint64_t bytes;                       // of temporaries
  uint64_t shared[LAUNCH_MOST_SHARED];  // see launch_pass
  uint64_t clear_at, clear_bytes;       // what of these is to be 0 before the first launch
  bool makes_keys;                      // see launch_pass
  struct routine_kernels *next;         // what is launched behind these; it has no temporaries
} routine_kernels;

// All in `memory`. Of `parts` of its arrays, each has as many rows, or a share of the one row.
void routine_describe(routine_kernels *out, arena *memory, const cuda_machine *m, const plan *p,
                      const plan_pass *pass, uint32_t parts);

#endif
