// A driver of CUDA for one library made ahead of time (ahead.sh): its memory is the host's, and a
// launch executes the kernels' text, TEXT, as C. Between the halves of a launch's blocks it calls
// `between`, once, if that is not NULL.
#include <stdlib.h>
#include <string.h>
#include TEXT

typedef struct config {
  unsigned blocks[3], threads[3], shared_bytes;
} config;
typedef void kernel(char *scratch, uint64_t item, void **p);

#define KERNEL(number, count, ...)                                                                 \
  static void run_##number(char *scratch, uint64_t item, void **p) {                               \
    permc_kernel_##number(scratch, item, __VA_ARGS__);                                             \
  }
#include "kernels.inc"
#undef KERNEL

static const struct {
  const char *name;
  kernel *run;
} kernels[] = {
#define KERNEL(number, count, ...) {"permc_pass_" #number, run_##number},
#include "kernels.inc"
    {NULL, NULL}};

void (*between)(void);
static void call_between(void) {
  void (*call)(void) = between;
  between = NULL;
  if (call)
    call();
}

int cuLaunchKernelEx(const config *c, void *function, void **parameters, void **extra) {
  uint64_t first = *(const uint64_t *)parameters[0];
  char *scratch = aligned_alloc(256, (c->shared_bytes + 511) / 256 * 256);
  (void)extra;
  for (unsigned i = 0; i < c->blocks[0]; i++) {
    if (i == c->blocks[0] / 2)
      call_between();
    kernels[(size_t)function - 1].run(scratch, first + i, parameters);
  }
  free(scratch);
  return 0;
}

// A kernel that this text has not is one of another size.
int cuModuleGetFunction(void **function, void *module, const char *name) {
  size_t i = 0;
  (void)module;
  while (kernels[i].name && strcmp(kernels[i].name, name) != 0)
    i++;
  *function = (void *)(i + 1);
  return 0;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  *address = (uint64_t)(uintptr_t)aligned_alloc(256, (bytes + 511) / 256 * 256);
  return *address ? 0 : 2;
}
int cuMemFree_v2(uint64_t address) {
  free((void *)(uintptr_t)address);
  return 0;
}
int cuMemAllocAsync(uint64_t *address, size_t bytes, void *stream) {
  (void)stream;
  return cuMemAlloc_v2(address, bytes);
}
int cuMemFreeAsync(uint64_t address, void *stream) {
  (void)stream;
  return cuMemFree_v2(address);
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
  memcpy((void *)(uintptr_t)to, from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
  (void)stream;
  memcpy(to, (const void *)(uintptr_t)from, bytes);
  return 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
  (void)stream;
  memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
  return 0;
}
int cuMemsetD8Async(uint64_t address, unsigned char byte, size_t count, void *stream) {
  (void)stream;
  memset((void *)(uintptr_t)address, byte, count);
  return 0;
}
int cuCtxGetDevice(int *device) { return *device = 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 75 ? 9 : 0;
  return device;
}
int cuDriverGetVersion(int *version) {
  *version = 12040;
  return 0;
}
int cuGetErrorName(int status, const char **name) {
  *name = "CUDA_ERROR";
  return status == 0;
}
int cuModuleLoadData(void **module, const void *image) {
  *module = (void *)(uintptr_t)image;
  return 0;
}
int cuModuleUnload(void *module) { return module == NULL; }
int cuFuncSetAttribute(void *function, int attribute, int value) {
  (void)value;
  return function == NULL || attribute != 8;
}
int cuStreamSynchronize(void *stream) {
  (void)stream;
  return 0;
}
