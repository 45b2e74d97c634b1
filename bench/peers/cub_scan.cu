// CUB's inclusive sum, sum and maximum on a GPU (--algorithm), of i32, i64 or f32 (--type). For the
// times see gpu.cuh.
#include "gpu.cuh"
#include "peer.h"

#include <cub/cub.cuh>

#include <cmath>
#include <vector>

namespace {

uint64_t count;

// Its methods and its check for one type.
template <typename T> struct folds {
  static inline T *given, *found;
  static inline std::vector<T> host;

  static cudaError_t scan(void *t, size_t *bytes, cudaStream_t s) {
    return cub::DeviceScan::InclusiveSum(t, *bytes, given, found, static_cast<int>(count), s);
  }
  static cudaError_t sum(void *t, size_t *bytes, cudaStream_t s) {
    return cub::DeviceReduce::Sum(t, *bytes, given, found, static_cast<int>(count), s);
  }
  static cudaError_t maximum(void *t, size_t *bytes, cudaStream_t s) {
    return cub::DeviceReduce::Max(t, *bytes, given, found, static_cast<int>(count), s);
  }

  static bool choose(const char *algorithm) {
    static const gpu::method methods[] = {{"scan", "DeviceScan::InclusiveSum", true, scan},
                                          {"sum", "DeviceReduce::Sum", false, sum},
                                          {"maximum", "DeviceReduce::Max", false, maximum}};
    return gpu::choose(methods, 3, algorithm);
  }

  static bool prepare() {
    std::vector<uint32_t> words(count);
    peer_random(words.data(), count * 4);
    host.resize(count);
    for (uint64_t i = 0; i < count; i++)
      host[i] = std::is_floating_point<T>::value ? static_cast<T>((words[i] >> 8) * 0x1p-24)
                                                 : static_cast<T>(static_cast<int32_t>(words[i]));
    return gpu::allocate(&given, count) && gpu::allocate(&found, count) &&
           gpu::upload(given, host.data(), count);
  }

  static bool overwrite() {
    return gpu::good(cudaMemset(found, 0xa5, count * sizeof(T)), "cudaMemset") &&
           gpu::good(cudaDeviceSynchronize(), "cudaMemset");
  }

  // Integers modulo 2^bits, floats but for rounding.
  static bool same(T x, uint64_t integer, double real) {
    if (std::is_floating_point<T>::value)
      return std::fabs(static_cast<double>(x) - real) <= 1e-4 * real + 1e-3;
    return x == static_cast<T>(integer);
  }

  static const char *check() {
    bool scans = strcmp(gpu::chosen.m->word, "scan") == 0;
    bool sums = strcmp(gpu::chosen.m->word, "maximum") != 0;
    std::vector<T> results(scans ? count : 1);
    if (!gpu::download(results.data(), found, results.size()))
      return gpu::wrong();
    uint64_t integer = 0;
    double real = 0;
    T greatest = host[0];
    for (uint64_t i = 0; i < count; i++) {
      integer += static_cast<uint64_t>(static_cast<int64_t>(host[i]));
      real += static_cast<double>(host[i]);
      greatest = host[i] > greatest ? host[i] : greatest;
      if (scans && !same(results[i], integer, real))
        return "an element is not the sum up to it";
    }
    bool right = sums ? scans || same(results[0], integer, real) : results[0] == greatest;
    return right ? nullptr : "it is not the sum or the maximum";
  }
};

struct element_type {
  const char *word;
  bool (*prepare)(), (*choose)(const char *algorithm), (*overwrite)();
  const char *(*check)();
};

template <typename T> element_type row_of(const char *word) {
  return {word, folds<T>::prepare, folds<T>::choose, folds<T>::overwrite, folds<T>::check};
}

const element_type types[] = {row_of<int32_t>("i32"), row_of<int64_t>("i64"), row_of<float>("f32")};
const element_type *type = types;

const char *prepare(const peer_options *o) {
  count = o->count;
  if (count > INT32_MAX)
    return "it is too large";
  for (const element_type &t : types)
    if (o->type && strcmp(t.word, o->type) == 0)
      type = &t;
  bool ready = gpu::open() && type->prepare() &&
               type->choose(o->algorithm ? o->algorithm : "best") && type->overwrite();
  return ready ? nullptr : gpu::wrong();
}

const char *check() { return type->check(); }

}  // namespace

extern "C" const peer this_peer;
const peer this_peer = {
    "cub_scan",      1, prepare, gpu::turn, check, "best scan sum maximum", "i32 i64 f32",
    gpu::chosen_name};
