#include "runtime/gpu/barrier.h"
#include "kernels/routines/barrier/barrier.h"
#include "runtime/cuda/device.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { STRIDE_BYTES = 1 << 21 };  // a slab, which is a GPU's own memory

struct gpu_barrier {
  cuda_peers *peers;
  cuda_address flags;
  cuda_module *modules[CUDA_MOST_PEERS];
  cuda_kernel kernels[CUDA_MOST_PEERS];
  cuda_stream *apart[CUDA_MOST_PEERS];  // does not wait for what the GPU waits in
};

static bool is_by_events(void) {
  const char *how = getenv("PERMC_BARRIER");
  return how && strcmp(how, "events") == 0;
}

static bool open_devices(gpu_barrier *b, const cuda_code_source *s, error *failure) {
  FREED_BY(cuda_code_free) cuda_code code = {0};
  FREED_BY(text_free) text t = {0};
  bool good = true;
  barrier_kernel_write(&t);
  for (unsigned i = 0; i < cuda_peers_count(b->peers) && good; i++) {
    cuda_device *d = cuda_peer(b->peers, i);
    good = (cuda_code_load(&b->modules[i], d, &code, &t, s, failure) &&
            cuda_kernel_find(d, b->modules[i], "permc_pass_barrier", 0, &b->kernels[i]) &&
            CUDA_CALL(d, stream_create, (&b->apart[i], CUDA_STREAM_NON_BLOCKING), "the %s",
                      d->facts.name)) ||
           cuda_peers_refuse(b->peers, i);
  }
  return good;
}

bool gpu_barrier_new(gpu_barrier **out, cuda_peers *p, const cuda_code_source *s, error *failure) {
  uint64_t bytes = cuda_peers_count(p) * (uint64_t)STRIDE_BYTES;
  cuda_device *d = cuda_peer(p, 0);
  *out = NULL;
  if (is_by_events())
    return true;
  gpu_barrier *b = *out = calloc(1, sizeof *b);
  if (!b)
    return error_no_memory(failure);
  b->peers = p;
  return (open_devices(b, s, failure) && (b->flags = cuda_peers_memory_new(p, bytes)) &&
          cuda_clear(d, b->flags, bytes) && cuda_wait(d, NULL)) ||
         cuda_fail(d, failure);
}

void gpu_barrier_free(gpu_barrier *b) {
  if (!b)
    return;
  cuda_peers_memory_free(b->peers, b->flags);  // which waits for them
  for (unsigned i = 0; i < cuda_peers_count(b->peers); i++) {
    cuda_device *d = cuda_peer(b->peers, i);
    cuda_module_free(d, b->modules[i]);
    if (b->apart[i] && cuda_enter_to_free(d)) {
      d->api->stream_destroy(b->apart[i]);
      cuda_leave(d, true);
    }
  }
  free(b);
}

bool gpu_barrier_launch(const gpu_barrier *b) {
  uint64_t first = 0, stride = STRIDE_BYTES / sizeof(uint64_t), count = cuda_peers_count(b->peers);
  cuda_address flags = b->flags;
  bool good = true;
  for (uint64_t rank = 0; rank < count && good; rank++) {
    void *parameters[] = {&first, &flags, &stride, &rank, &count};
    cuda_grid grid = {.blocks = 1, .threads = BARRIER_THREADS};
    good = cuda_launch(cuda_peer(b->peers, (unsigned)rank), &b->kernels[rank], grid, parameters) ||
           cuda_peers_refuse(b->peers, (unsigned)rank);
  }
  return good;
}

// ---- turns, and ends -----------------------------------------------------------------------------

static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;  // of all programs of the process

void gpu_barrier_begin(const gpu_barrier *b) {
  if (b)
    pthread_mutex_lock(&turns);
}

void gpu_barrier_end(const gpu_barrier *b) {
  if (b)
    pthread_mutex_unlock(&turns);
}

// To each GPU all have come, to the last round there is (barrier_text.h).
void gpu_barrier_give_up(const gpu_barrier *b) {
  unsigned count = cuda_peers_count(b->peers);
  for (unsigned i = 0; i < count; i++) {
    cuda_device *d = cuda_peer(b->peers, i);
    if (!cuda_enter_to_free(d))
      continue;
    d->api->memset_8(b->flags + i * (uint64_t)STRIDE_BYTES, 0xFF, count * sizeof(uint64_t),
                     b->apart[i]);
    cuda_leave(d, true);
  }
}
