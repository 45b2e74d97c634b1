// A barrier of GPUs: each waits until all have come. One small kernel a GPU; a launch and 2 us,
// where events that cross GPUs take 10 us each within a graph.
//
//   gpu_barrier_launch(b)     what a GPU is given after it sees what all were given before it
//
// All GPUs come to all barriers, in the same order. Their streams begin behind the first one's
// (cuda_peers_fork): graphs launch all kernels or none. A GPU that waits for another needs the
// kernels of both to be under way at once. So programs of one process take turns
// (gpu_barrier_begin), for the driver may put what two have been given into one queue; and where a
// tool executes one kernel at a time, as debuggers and profilers of kernels do,
// PERMC_BARRIER=events makes GPUs wait by events.
#ifndef PERMC_RUNTIME_GPU_BARRIER_H
#define PERMC_RUNTIME_GPU_BARRIER_H

#include "runtime/cuda/code.h"
#include "runtime/cuda/peers.h"

#include "core/error.h"

typedef struct gpu_barrier gpu_barrier;

// *out NULL, and true: GPUs are to wait by events.
bool gpu_barrier_new(gpu_barrier **out, cuda_peers *p, const cuda_code_source *s, error *failure);
void gpu_barrier_free(gpu_barrier *b);  // NULL is allowed
bool gpu_barrier_launch(const gpu_barrier *b);
// Around the launch of graphs that have barriers, and the wait for them. NULL is allowed: nothing
// is done.
void gpu_barrier_begin(const gpu_barrier *b);
void gpu_barrier_end(const gpu_barrier *b);
// A GPU has failed and will not come: the others wait no more, now and later.
void gpu_barrier_give_up(const gpu_barrier *b);

#endif
