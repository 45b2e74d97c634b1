// NCCL's all-to-all among the GPUs of this machine, `row` elements of 4 bytes on each of count / row of
// them; or with --algorithm permutes what is usual where elements also change their order: a transpose of
// each GPU's elements, the all-to-all, a transpose. One process, ten runs between two waits.
//
// NCCL is loaded when this runs: libnccl.so.2, or the file that PERMC_NCCL names (PyTorch's wheel has one).
#include "gpu.cuh"
#include "peer.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

namespace {

// ---- NCCL, as its header nccl.h has it -----------------------------------------------------------

struct communicator;
enum { NCCL_UINT32 = 3 };

int (*init_all)(communicator **all, int count, const int *devices);
int (*group_start)(), (*group_end)();
int (*send)(const void *from, size_t count, int type, int peer, communicator *c, cudaStream_t s);
int (*receive)(void *to, size_t count, int type, int peer, communicator *c, cudaStream_t s);
const char *(*error_text)(int status);

bool good(int status, const char *call) {
  if (status)
    snprintf(gpu::message, sizeof gpu::message, "%s: %s", call, error_text(status));
  return status == 0;
}

template <typename T> bool find(void *library, const char *name, T *function) {
  *function = reinterpret_cast<T>(dlsym(library, name));
  if (!*function)
    snprintf(gpu::message, sizeof gpu::message, "NCCL has no %s", name);
  return *function != nullptr;
}

bool load() {
  const char *path = getenv("PERMC_NCCL");
  void *library = dlopen(path && *path ? path : "libnccl.so.2", RTLD_NOW);
  if (!library)
    snprintf(gpu::message, sizeof gpu::message, "%s", dlerror());
  return library && find(library, "ncclCommInitAll", &init_all) &&
         find(library, "ncclGroupStart", &group_start) &&
         find(library, "ncclGroupEnd", &group_end) && find(library, "ncclSend", &send) &&
         find(library, "ncclRecv", &receive) && find(library, "ncclGetErrorString", &error_text);
}

// ---- GPUs ----------------------------------------------------------------------------------------

const int most = 16, side = 32;  // GPUs; of a block of a transpose

struct rank {
  communicator *c;
  cudaStream_t stream;
  uint32_t *from, *to, *between;
} ranks[most];

int count;
uint64_t each;  // elements of a GPU
unsigned rows;  // of the matrices that are transposed
bool permutes;
std::vector<uint32_t> data;  // of all

__global__ void transpose(uint32_t *to, const uint32_t *from, unsigned rows, unsigned columns) {
  __shared__ uint32_t tile[side][side + 1];
  unsigned x = blockIdx.x * side + threadIdx.x, y = blockIdx.y * side + threadIdx.y;
#pragma unroll
  for (unsigned k = 0; k < side; k += 8)
    tile[threadIdx.y + k][threadIdx.x] = from[static_cast<uint64_t>(y + k) * columns + x];
  __syncthreads();
  x = blockIdx.y * side + threadIdx.x;
  y = blockIdx.x * side + threadIdx.y;
#pragma unroll
  for (unsigned k = 0; k < side; k += 8)
    to[static_cast<uint64_t>(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k];
}

bool transpose_all(uint32_t *rank::*to, uint32_t *rank::*from) {
  unsigned columns = static_cast<unsigned>(each / rows);
  for (int i = 0; i < count; i++) {
    if (!gpu::good(cudaSetDevice(i), "cudaSetDevice"))
      return false;
    transpose<<<dim3(columns / side, rows / side), dim3(side, 8), 0, ranks[i].stream>>>(
        ranks[i].*to, ranks[i].*from, rows, columns);
    if (!gpu::good(cudaPeekAtLastError(), "a transpose"))
      return false;
  }
  return true;
}

bool exchange_all(uint32_t *rank::*to, uint32_t *rank::*from) {
  uint64_t some = each / static_cast<uint64_t>(count);
  bool done = good(group_start(), "ncclGroupStart");
  for (int i = 0; i < count && done; i++)
    for (int k = 0; k < count && done; k++) {
      const rank &r = ranks[i];
      uint64_t at = some * static_cast<uint64_t>(k);
      done = good(send(r.*from + at, some, NCCL_UINT32, k, r.c, r.stream), "ncclSend") &&
             good(receive(r.*to + at, some, NCCL_UINT32, k, r.c, r.stream), "ncclRecv");
    }
  return good(group_end(), "ncclGroupEnd") && done;
}

bool run() {
  return permutes ? transpose_all(&rank::to, &rank::from) &&
                        exchange_all(&rank::between, &rank::to) &&
                        transpose_all(&rank::to, &rank::between)
                  : exchange_all(&rank::to, &rank::from);
}

bool wait() {
  bool done = true;
  for (int i = 0; i < count && done; i++)
    done = gpu::good(cudaStreamSynchronize(ranks[i].stream), "cudaStreamSynchronize");
  return done;
}

bool turn(double *seconds) {
  bool done = run() && wait();
  double start = peer_now();
  for (int i = 0; i < gpu::runs && done; i++)
    done = run();
  done = done && wait();
  *seconds = (peer_now() - start) / gpu::runs;
  if (!done)
    fprintf(stderr, "%s: %s\n", this_peer.name, gpu::wrong());
  return done;
}

// ---- what is not measured ------------------------------------------------------------------------

bool open_rank(int i) {
  rank &r = ranks[i];
  return gpu::good(cudaSetDevice(i), "cudaSetDevice") &&
         gpu::good(cudaStreamCreate(&r.stream), "cudaStreamCreate") &&
         gpu::allocate(&r.from, each) && gpu::allocate(&r.to, each) &&
         (!permutes || gpu::allocate(&r.between, each)) &&
         gpu::upload(r.from, data.data() + each * static_cast<uint64_t>(i), each);
}

const char *prepare(const peer_options *o) {
  static char room[100];
  int here = 0, devices[most];
  communicator *all[most];
  permutes = o->algorithm && strncmp(o->algorithm, "permutes", 8) == 0;
  each = o->row;
  count = static_cast<int>(o->count / each);
  rows = 1;
  while (static_cast<uint64_t>(rows) * rows < each)
    rows *= 2;
  if (count < 1 || count > most || each % (static_cast<uint64_t>(rows) * side) ||
      each % static_cast<uint64_t>(count))
    return "there are no such rows";
  if (!gpu::good(cudaGetDeviceCount(&here), "cudaGetDeviceCount"))
    return gpu::wrong();
  if (count > here)
    return snprintf(room, sizeof room, "it is for %d GPUs, this machine has %d", count, here), room;
  data.resize(o->count);
  peer_random(data.data(), o->count * sizeof data[0]);
  bool ready = load();
  for (int i = 0; i < count && ready; i++) {
    devices[i] = i;
    ready = open_rank(i);
  }
  ready = ready && good(init_all(all, count, devices), "ncclCommInitAll");
  for (int i = 0; i < count && ready; i++)
    ranks[i].c = all[i];
  return ready ? nullptr : gpu::wrong();
}

std::vector<uint32_t> transposed(const std::vector<uint32_t> &x) {
  std::vector<uint32_t> y(x.size());
  uint64_t columns = each / rows;
  for (uint64_t start = 0; start < x.size(); start += each)
    for (uint64_t i = 0; i < each; i++)
      y[start + i % columns * rows + i / columns] = x[start + i];
  return y;
}

std::vector<uint32_t> exchanged(const std::vector<uint32_t> &x) {
  std::vector<uint32_t> y(x.size());
  uint64_t some = each / static_cast<uint64_t>(count);
  for (uint64_t i = 0; i < x.size(); i++) {
    uint64_t of = i / each, to = i % each / some;
    y[to * each + of * some + i % some] = x[i];
  }
  return y;
}

const char *check() {
  std::vector<uint32_t> found(data.size());
  std::vector<uint32_t> expected =
      permutes ? transposed(exchanged(transposed(data))) : exchanged(data);
  for (int i = 0; i < count; i++)
    if (!gpu::good(cudaSetDevice(i), "cudaSetDevice") ||
        !gpu::download(found.data() + each * static_cast<uint64_t>(i), ranks[i].to, each))
      return gpu::wrong();
  return found == expected ? nullptr : "the elements are not where they go";
}

const char *chosen() { return permutes ? "transposes and an all-to-all" : "all-to-all"; }

}  // namespace

extern "C" const peer this_peer;
const peer this_peer = {"nccl", 1, prepare, turn, check, "alltoall permutes", nullptr, chosen};
