// CUB's sorts of u32 keys on a GPU: the faster of radix and merge sort; row by row (--row), of the
// segmented sort and the segmented radix sort. Times are the device's: ten sorts, from one array to
// another, recorded as one graph unless they ask the host in between, after as many that are not
// counted.
#include "peer.h"

#include <cub/cub.cuh>
#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

namespace {

const int runs = 10;

struct method {
  const char *name;
  bool rows;
  cudaError_t (*sort)(void *temporary, size_t *bytes, cudaStream_t stream);
};

uint64_t count, row;
uint32_t *given, *sorted;
int *starts;
cudaStream_t stream;
cudaEvent_t first, last;

cudaError_t radix(void *t, size_t *bytes, cudaStream_t s) {
  return cub::DeviceRadixSort::SortKeys(t, *bytes, given, sorted, count, 0, 32, s);
}

struct less {
  __device__ bool operator()(uint32_t a, uint32_t b) const { return a < b; }
};

cudaError_t merge(void *t, size_t *bytes, cudaStream_t s) {
  return cub::DeviceMergeSort::SortKeysCopy(t, *bytes, given, sorted, count, less(), s);
}

cudaError_t segmented(void *t, size_t *bytes, cudaStream_t s) {
  return cub::DeviceSegmentedSort::SortKeys(t, *bytes, given, sorted, (int)count,
                                            (int)(count / row), starts, starts + 1, s);
}

cudaError_t segmented_radix(void *t, size_t *bytes, cudaStream_t s) {
  return cub::DeviceSegmentedRadixSort::SortKeys(t, *bytes, given, sorted, (int)count,
                                                 (int)(count / row), starts, starts + 1, 0, 32, s);
}

const method methods[] = {{"radix sort", false, radix},
                          {"merge sort", false, merge},
                          {"segmented sort", true, segmented},
                          {"segmented radix sort", true, segmented_radix}};

bool good(cudaError_t e) { return e == cudaSuccess; }

// A method with its temporary memory, and recorded if it can be.
struct prepared {
  const method *m;
  void *temporary;
  size_t bytes;
  cudaGraphExec_t graph;
} chosen;

bool run_all(prepared &p) {
  if (p.graph)
    return good(cudaGraphLaunch(p.graph, stream));
  bool done = true;
  for (int i = 0; i < runs && done; i++)
    done = good(p.m->sort(p.temporary, &p.bytes, stream));
  return done;
}

// Seconds of one sort; negative: it failed.
double time_of(prepared &p) {
  float milliseconds = 0;
  bool done = run_all(p) && good(cudaEventRecord(first, stream)) && run_all(p) &&
              good(cudaEventRecord(last, stream)) && good(cudaEventSynchronize(last)) &&
              good(cudaEventElapsedTime(&milliseconds, first, last));
  return done ? milliseconds / 1e3 / runs : -1;
}

bool prepare_method(prepared &p) {
  cudaGraph_t recorded = nullptr;
  if (!good(p.m->sort(nullptr, &p.bytes, stream)) ||
      !good(cudaMalloc(&p.temporary, p.bytes + 1)))
    return false;
  bool done = good(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < runs && done; i++)
    done = good(p.m->sort(p.temporary, &p.bytes, stream));
  if (good(cudaStreamEndCapture(stream, &recorded)) && done)
    cudaGraphInstantiate(&p.graph, recorded, 0);
  cudaGetLastError();
  return true;
}

const char *prepare(const peer_options *o) {
  count = o->count;
  row = o->row;
  if (count % row || count > INT32_MAX)
    return "the rows do not fill the input, or it is too large";
  std::vector<uint32_t> keys(count + 2);
  std::vector<int> offsets(count / row + 1);
  peer_random(keys.data(), count * sizeof keys[0] + 4);
  for (uint64_t i = 0; i <= count / row; i++)
    offsets[i] = (int)(i * row);
  if (!good(cudaMalloc(&given, count * 4)) || !good(cudaMalloc(&sorted, count * 4)) ||
      !good(cudaMalloc(&starts, offsets.size() * sizeof(int))) ||
      !good(cudaMemcpy(given, keys.data(), count * 4, cudaMemcpyHostToDevice)) ||
      !good(cudaMemcpy(starts, offsets.data(), offsets.size() * sizeof(int),
                       cudaMemcpyHostToDevice)) ||
      !good(cudaStreamCreate(&stream)) || !good(cudaEventCreate(&first)) ||
      !good(cudaEventCreate(&last)))
    return "there is no GPU, or not enough of its memory";
  double best = 0;
  for (const method &m : methods) {
    if (m.rows != (row < count))
      continue;
    prepared p = {&m, nullptr, 0, nullptr};
    double seconds = prepare_method(p) ? time_of(p) : -1;
    if (seconds > 0 && (!chosen.m || seconds < best)) {
      chosen = p;
      best = seconds;
    }
  }
  return chosen.m ? nullptr : "none of the sorts runs";
}

bool turn(double *seconds) {
  *seconds = time_of(chosen);
  return *seconds > 0;
}

const char *check() {
  std::vector<uint32_t> keys(count);
  if (!good(cudaMemcpy(keys.data(), sorted, count * 4, cudaMemcpyDeviceToHost)))
    return "the result cannot be read";
  for (uint64_t i = 0; i < count; i += row)
    if (!std::is_sorted(keys.begin() + i, keys.begin() + i + row))
      return "a row is not sorted";
  return nullptr;
}

}  // namespace

extern "C" const peer this_peer;
const peer this_peer = {"cub", 1, prepare, turn, check};
