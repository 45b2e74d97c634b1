// A copy within a GPU's memory: the faster of cudaMemcpyAsync and a kernel that moves 16 bytes at a
// time, or the one that --algorithm names. For the times see gpu.cuh.
#include "gpu.cuh"
#include "peer.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace {

const int threads = 256, each = 4;  // vectors that a thread loads before it stores the first

uint64_t bytes, vectors;
uint4 *from, *to;

__global__ void copy_vectors(uint4 *to, const uint4 *from, uint64_t count) {
  uint64_t first = static_cast<uint64_t>(blockIdx.x) * (threads * each) + threadIdx.x;
  uint4 held[each];
#pragma unroll
  for (int k = 0; k < each; k++)
    if (first + k * threads < count)
      held[k] = from[first + k * threads];
#pragma unroll
  for (int k = 0; k < each; k++)
    if (first + k * threads < count)
      to[first + k * threads] = held[k];
}

cudaError_t by_memcpy(void *temporary, size_t *needed, cudaStream_t s) {
  *needed = 0;
  return temporary ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, s) : cudaSuccess;
}

cudaError_t by_kernel(void *temporary, size_t *needed, cudaStream_t s) {
  *needed = 0;
  if (!temporary)
    return cudaSuccess;
  uint64_t blocks = (vectors + threads * each - 1) / (threads * each);
  copy_vectors<<<static_cast<unsigned>(blocks), threads, 0, s>>>(to, from, vectors);
  return cudaPeekAtLastError();
}

const gpu::method methods[] = {{"memcpy", "cudaMemcpyAsync", true, by_memcpy},
                               {"kernel", "a kernel with vectors of 16 bytes", true, by_kernel}};

const char *prepare(const peer_options *o) {
  bytes = o->count * o->width;
  vectors = (bytes + 15) / 16;
  if (o->count > UINT64_C(1) << 40 || o->width > 1024 || vectors >> 40)
    return "too large";
  bool ready = gpu::open() && gpu::allocate(&from, vectors) && gpu::allocate(&to, vectors);
  if (!ready)
    return gpu::wrong();
  uint4 *data = static_cast<uint4 *>(peer_memory(vectors * sizeof *data));
  if (!data)
    return "out of memory";
  peer_random(data, vectors * sizeof *data);
  ready = gpu::upload(from, data, vectors) &&
          gpu::choose(methods, 2, o->algorithm ? o->algorithm : "best") &&
          gpu::good(cudaMemset(to, 0xa5, bytes), "cudaMemset") &&
          gpu::good(cudaDeviceSynchronize(), "cudaMemset");
  free(data);
  return ready ? nullptr : gpu::wrong();
}

const char *check() {
  const uint64_t part = UINT64_C(1) << 26;
  const char *a = reinterpret_cast<const char *>(from), *b = reinterpret_cast<const char *>(to);
  std::vector<char> before(std::min(part, bytes)), after(before.size());
  for (uint64_t start = 0; start < bytes; start += part) {
    uint64_t some = std::min(part, bytes - start);
    if (!gpu::download(before.data(), a + start, some) ||
        !gpu::download(after.data(), b + start, some))
      return gpu::wrong();
    if (memcmp(before.data(), after.data(), some) != 0)
      return "the copy differs";
  }
  return nullptr;
}

}  // namespace

extern "C" const peer this_peer;
const peer this_peer = {"cuda_memcpy",        1,       prepare,         gpu::turn, check,
                        "best memcpy kernel", nullptr, gpu::chosen_name};
