// What the devices of a program do as one: their memory, what they wait for, and messages.
#include "runtime/gpu/state.h"

bool program_fail(const cuda_program *g, error *failure) { return cuda_fail(g->device, failure); }

bool program_fail_of(const cuda_program *g, const program_part *part, error *failure) {
  if (!g->peers)
    return cuda_fail(part->device, failure);
  cuda_peers_refuse(g->peers, (unsigned)(part - g->parts));
  return program_fail(g, failure);
}

cuda_address program_memory_new(const cuda_program *g, uint64_t bytes) {
  return g->peers ? cuda_peers_memory_new(g->peers, bytes) : cuda_memory_new(g->device, bytes);
}

void program_memory_free(const cuda_program *g, cuda_address a) {
  if (g->peers)
    cuda_peers_memory_free(g->peers, a);
  else
    cuda_memory_free(g->device, a);
}

bool program_wait(const cuda_program *g) {
  bool good =
      g->peers ? cuda_peers_wait(g->peers, g->interrupted) : cuda_wait(g->device, g->interrupted);
  if (!good && g->barrier)
    gpu_barrier_give_up(g->barrier);
  return good;
}
