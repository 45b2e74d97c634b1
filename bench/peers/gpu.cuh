// What the peers on a GPU share: methods for one task, of which one is chosen, recorded and timed.
//
//   const gpu::method methods[] = {{"memcpy", "cudaMemcpyAsync", true, copy_memory}, ...};
//   if (!gpu::open() || !gpu::choose(methods, 2, "best"))
//     return gpu::wrong();                       // "cudaMalloc: out of memory"
//   gpu::turn(&seconds);                         // seconds of one run of the chosen one
//
// Times are the device's: ten runs, from one array to another, recorded as one graph unless they
// ask the host in between, after as many that are not counted.
#ifndef PERMC_BENCH_GPU_CUH
#define PERMC_BENCH_GPU_CUH

#include "peer.h"

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace gpu {

const int runs = 10;   // in a graph
const int trials = 3;  // of each method, to find the fastest

struct method {
  const char *word, *name;  // of --algorithm; in full
  bool candidate;           // for "best"
  // As CUB's functions: without temporary memory, sets how many bytes of it there are to be.
  cudaError_t (*run)(void *temporary, size_t *bytes, cudaStream_t stream);
};

// A method with its temporary memory, and recorded if it can be.
struct prepared {
  const method *m;
  void *temporary;
  size_t bytes;
  cudaGraphExec_t graph;
};

inline cudaStream_t stream;
inline cudaEvent_t first, last;
inline prepared chosen;
inline char message[256];

// What failed last, as "CALL: TEXT".
inline const char *wrong() { return message; }

inline bool good(cudaError_t e, const char *call) {
  if (e != cudaSuccess) {
    snprintf(message, sizeof message, "%s: %s", call, cudaGetErrorString(e));
    cudaGetLastError();
  }
  return e == cudaSuccess;
}

inline bool open() {
  return good(cudaStreamCreate(&stream), "cudaStreamCreate") &&
         good(cudaEventCreate(&first), "cudaEventCreate") &&
         good(cudaEventCreate(&last), "cudaEventCreate");
}

template <typename T> bool allocate(T **memory, uint64_t count) {
  return good(cudaMalloc(memory, count * sizeof(T) + 16), "cudaMalloc");
}

template <typename T> bool upload(T *to, const T *from, uint64_t count) {
  return good(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
}

template <typename T> bool download(T *to, const T *from, uint64_t count) {
  return good(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
}

// ---- timing -------------------------------------------------------------------------------------

inline bool run_ten(prepared &p) {
  bool done = true;
  for (int i = 0; i < runs && done; i++)
    done = good(p.m->run(p.temporary, &p.bytes, stream), p.m->name);
  return done;
}

inline bool run_all(prepared &p) {
  return p.graph ? good(cudaGraphLaunch(p.graph, stream), "cudaGraphLaunch") : run_ten(p);
}

// Seconds of one run; negative: it failed.
inline double time_of(prepared &p) {
  float milliseconds = 0;
  bool done = run_all(p) && good(cudaEventRecord(first, stream), "cudaEventRecord") && run_all(p) &&
              good(cudaEventRecord(last, stream), "cudaEventRecord") &&
              good(cudaEventSynchronize(last), p.m->name) &&
              good(cudaEventElapsedTime(&milliseconds, first, last), "cudaEventElapsedTime");
  return done && milliseconds > 0 ? milliseconds / 1e3 / runs : -1;
}

inline bool turn(double *seconds) {
  *seconds = time_of(chosen);
  if (*seconds <= 0)
    fprintf(stderr, "%s: %s\n", this_peer.name, message);
  return *seconds > 0;
}

// ---- choosing -----------------------------------------------------------------------------------

// What asks the host in between cannot be recorded; it is then launched call by call.
inline void record(prepared &p) {
  cudaGraph_t recorded = nullptr;
  if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess)
    return;
  bool done = run_ten(p);
  done = cudaStreamEndCapture(stream, &recorded) == cudaSuccess && done && recorded;
  if (done && cudaGraphInstantiate(&p.graph, recorded, 0) != cudaSuccess)
    p.graph = nullptr;
  if (recorded)
    cudaGraphDestroy(recorded);
  cudaGetLastError();
}

inline bool prepare_method(prepared &p) {
  if (!good(p.m->run(nullptr, &p.bytes, stream), p.m->name) ||
      !good(cudaMalloc(&p.temporary, p.bytes + 1), "cudaMalloc of temporary memory") ||
      !good(p.m->run(p.temporary, &p.bytes, stream), p.m->name) ||
      !good(cudaStreamSynchronize(stream), p.m->name))
    return false;
  record(p);
  return true;
}

inline void release(prepared &p) {
  if (p.graph)
    cudaGraphExecDestroy(p.graph);
  cudaFree(p.temporary);
  p = {};
}

// The least of some times; negative: it does not run.
inline double try_method(prepared &p) {
  double least = prepare_method(p) ? time_of(p) : -1;
  for (int i = 1; i < trials && least > 0; i++) {
    double seconds = time_of(p);
    least = seconds < least ? seconds : least;
  }
  return least;
}

// The method of that name, or with "best" the fastest of the candidates. False: see wrong().
inline bool choose(const method *methods, int count, const char *algorithm) {
  bool any = strcmp(algorithm, "best") == 0;
  double best = 0;
  snprintf(message, sizeof message, "there is no '%s' here", algorithm);
  for (int i = 0; i < count; i++) {
    if (any ? !methods[i].candidate : strcmp(methods[i].word, algorithm) != 0)
      continue;
    prepared p = {&methods[i], nullptr, 0, nullptr};
    double seconds = try_method(p);
    if (seconds > 0 && (!chosen.m || seconds < best)) {
      release(chosen);
      chosen = p;
      best = seconds;
    } else {
      release(p);
    }
  }
  return chosen.m != nullptr;
}

inline const char *chosen_name() { return chosen.m ? chosen.m->name : ""; }

}  // namespace gpu

#endif
