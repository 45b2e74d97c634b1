// A barrier of GPUs: each waits until all have come. One small kernel a GPU; a launch and 2 us, where events
// that cross GPUs take 10 us each within a graph.
//
//   gpu_barrier_launch(b)     what a GPU is given after it sees what all were given before it
//
// All GPUs come to all barriers, in the same order. Their streams begin behind the first one's
// (cuda_peers_fork): graphs launch all kernels or none.
#ifndef PERMC_RUNTIME_GPU_BARRIER_H
#define PERMC_RUNTIME_GPU_BARRIER_H

#include "runtime/cuda/code.h"
#include "runtime/cuda/peers.h"

#include "core/error.h"

typedef struct gpu_barrier gpu_barrier;

bool gpu_barrier_new(gpu_barrier **out, cuda_peers *p, const cuda_code_source *s, error *failure);
void gpu_barrier_free(gpu_barrier *b);  // NULL is allowed
bool gpu_barrier_launch(const gpu_barrier *b);

#endif
