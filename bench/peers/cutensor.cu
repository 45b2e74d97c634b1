// cuTENSOR's permutation of the two dimensions of a matrix of --count elements in rows of --row, of 2,
// 4, 8 or 16 bytes (--width), which are floats to it. For the times see gpu.cuh.
#include "gpu.cuh"
#include "peer.h"

#include <cutensor.h>

#include <cstdlib>
#include <vector>

namespace {

const uint32_t alignment = 256;  // of cudaMalloc

uint64_t rows, columns, width;
std::vector<char> given;
char *from, *to;
cutensorHandle_t handle;
cutensorPlan_t plan;

bool good(cutensorStatus_t status, const char *call) {
  if (status != CUTENSOR_STATUS_SUCCESS)
    snprintf(gpu::message, sizeof gpu::message, "%s: %s", call, cutensorGetErrorString(status));
  return status == CUTENSOR_STATUS_SUCCESS;
}

struct element {
  uint64_t width;
  cutensorDataType_t type;
  const cutensorComputeDescriptor_t *compute;
};
const element elements[] = {{2, CUTENSOR_R_16F, &CUTENSOR_COMPUTE_DESC_32F},
                            {4, CUTENSOR_R_32F, &CUTENSOR_COMPUTE_DESC_32F},
                            {8, CUTENSOR_R_64F, &CUTENSOR_COMPUTE_DESC_64F},
                            {16, CUTENSOR_C_64F, &CUTENSOR_COMPUTE_DESC_64F}};

// Its dimensions are listed from the innermost on.
bool make_plan(const element *e) {
  const int64_t before[] = {static_cast<int64_t>(columns), static_cast<int64_t>(rows)},
                after[] = {before[1], before[0]};
  const int32_t modes[] = {'c', 'r'}, exchanged[] = {'r', 'c'};
  cutensorTensorDescriptor_t a, b;
  cutensorOperationDescriptor_t operation;
  cutensorPlanPreference_t preference;
  return good(cutensorCreate(&handle), "cutensorCreate") &&
         good(cutensorCreateTensorDescriptor(handle, &a, 2, before, nullptr, e->type, alignment),
              "cutensorCreateTensorDescriptor") &&
         good(cutensorCreateTensorDescriptor(handle, &b, 2, after, nullptr, e->type, alignment),
              "cutensorCreateTensorDescriptor") &&
         good(cutensorCreatePermutation(handle, &operation, a, modes, CUTENSOR_OP_IDENTITY, b,
                                        exchanged, *e->compute),
              "cutensorCreatePermutation") &&
         good(cutensorCreatePlanPreference(handle, &preference, CUTENSOR_ALGO_DEFAULT,
                                           CUTENSOR_JIT_MODE_NONE),
              "cutensorCreatePlanPreference") &&
         good(cutensorCreatePlan(handle, &plan, operation, preference, 0), "cutensorCreatePlan");
}

cudaError_t permute(void *temporary, size_t *needed, cudaStream_t s) {
  const float one[4] = {1, 0, 0, 0};
  const double one_of_64[2] = {1, 0};
  const void *alpha = width < 8 ? static_cast<const void *>(one) : one_of_64;
  *needed = 0;
  if (!temporary)
    return cudaSuccess;
  return good(cutensorPermute(handle, plan, alpha, from, to, s), "cutensorPermute")
             ? cudaSuccess
             : cudaErrorUnknown;
}

const gpu::method methods[] = {{"permute", "cutensorPermute", true, permute}};

// Floats that no product with 1 changes: none is a NaN or subnormal.
void make_floats() {
  uint64_t part = width == 16 ? 8 : width;
  for (uint64_t i = 0; i < given.size(); i += part) {
    char *high = &given[i + part - 1];
    *high = static_cast<char>((*high & 0x8f) | 0x30);
  }
}

const char *prepare(const peer_options *o) {
  columns = o->row;
  rows = o->count / o->row;
  width = o->width;
  const element *is = nullptr;
  for (const element &e : elements)
    is = e.width == width ? &e : is;
  if (!is || rows * columns != o->count)
    return "the rows do not fill the input, or there are no such elements";
  given.resize(o->count * width);
  peer_random(given.data(), given.size());
  make_floats();
  bool ready = gpu::open() && gpu::allocate(&from, given.size()) &&
               gpu::allocate(&to, given.size()) && gpu::upload(from, given.data(), given.size()) &&
               make_plan(is) && gpu::choose(methods, 1, "best") &&
               gpu::good(cudaMemset(to, 0xa5, given.size()), "cudaMemset") &&
               gpu::good(cudaDeviceSynchronize(), "cudaMemset");
  return ready ? nullptr : gpu::wrong();
}

const char *check() {
  std::vector<char> found(given.size());
  if (!gpu::download(found.data(), to, found.size()))
    return gpu::wrong();
  for (uint64_t r = 0; r < rows; r++)
    for (uint64_t c = 0; c < columns; c++)
      if (memcmp(&found[(c * rows + r) * width], &given[(r * columns + c) * width], width) != 0)
        return "an element is elsewhere";
  return nullptr;
}

}  // namespace

extern "C" const peer this_peer;
const peer this_peer = {"cutensor", 1,       prepare, gpu::turn,
                        check,      nullptr, nullptr, gpu::chosen_name};
