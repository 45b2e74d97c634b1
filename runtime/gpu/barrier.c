#include "runtime/gpu/barrier.h"
#include "kernels/routines/barrier/barrier.h"

#include <stdlib.h>

enum { STRIDE_BYTES = 1 << 21 };  // a slab, which is a GPU's own memory

struct gpu_barrier {
  cuda_peers *peers;
  cuda_address flags;
  cuda_module *modules[CUDA_MOST_PEERS];
  cuda_kernel kernels[CUDA_MOST_PEERS];
};

static bool find_kernels(gpu_barrier *b, const cuda_code_source *s, error *failure) {
  text t = {0};
  bool good = true;
  barrier_kernel_write(&t);
  for (unsigned i = 0; i < cuda_peers_count(b->peers) && good; i++) {
    cuda_device *d = cuda_peer(b->peers, i);
    good = cuda_code_load(&b->modules[i], d, &t, s, failure) &&
           (cuda_kernel_find(d, b->modules[i], "permc_pass_barrier", 0, &b->kernels[i]) ||
            (cuda_peers_refuse(b->peers, i),
             error_set(failure, SPAN_NONE, "%s", cuda_message(cuda_peer(b->peers, 0)))));
  }
  text_free(&t);
  return good;
}

bool gpu_barrier_new(gpu_barrier **out, cuda_peers *p, const cuda_code_source *s, error *failure) {
  uint64_t bytes = cuda_peers_count(p) * (uint64_t)STRIDE_BYTES;
  cuda_device *d = cuda_peer(p, 0);
  gpu_barrier *b = *out = calloc(1, sizeof *b);
  if (!b)
    return error_set(failure, SPAN_NONE, "out of memory");
  b->peers = p;
  return find_kernels(b, s, failure) && (((b->flags = cuda_peers_memory_new(p, bytes)) &&
                                          cuda_clear(d, b->flags, bytes) && cuda_wait(d, NULL)) ||
                                         error_set(failure, SPAN_NONE, "%s", cuda_message(d)));
}

void gpu_barrier_free(gpu_barrier *b) {
  if (!b)
    return;
  cuda_peers_memory_free(b->peers, b->flags);  // which waits for them
  for (unsigned i = 0; i < cuda_peers_count(b->peers); i++)
    cuda_module_free(cuda_peer(b->peers, i), b->modules[i]);
  free(b);
}

bool gpu_barrier_launch(const gpu_barrier *b) {
  uint64_t first = 0, stride = STRIDE_BYTES / sizeof(uint64_t), count = cuda_peers_count(b->peers);
  cuda_address flags = b->flags;
  bool good = true;
  for (uint64_t rank = 0; rank < count && good; rank++) {
    void *parameters[] = {&first, &flags, &stride, &rank, &count};
    cuda_grid grid = {.x = 1, .threads = BARRIER_THREADS};
    good = cuda_launch(cuda_peer(b->peers, (unsigned)rank), &b->kernels[rank], grid, parameters) ||
           cuda_peers_refuse(b->peers, (unsigned)rank);
  }
  return good;
}
