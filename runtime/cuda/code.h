// Machine code of CUDA text: from the cache, or compiled and added to it.
//
//   cuda_code code = {0};
//   if (cuda_code_make(&code, &text, &source, false))      // source: for what, by which options
//     m = cuda_module_load(device, code.cubin, code.size);
//   cuda_code_free(&code);
#ifndef PERMC_RUNTIME_CUDA_CODE_H
#define PERMC_RUNTIME_CUDA_CODE_H

#include "core/error.h"
#include "core/text.h"
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/system/cache.h"

// NVRTC's options beside the architecture, by whether products and sums of floats may be fused.
enum { CUDA_CODE_OPTIONS = 3 };
extern const char *const cuda_code_options[2][CUDA_CODE_OPTIONS];

typedef struct cuda_code_source {
  const cache *cache;
  const char *const *options;  // CUDA_CODE_OPTIONS of them
  int architecture;
} cuda_code_source;

typedef struct cuda_code {
  void *cubin;
  size_t size;
  bool cached;  // it was in the cache
  char message[NVRTC_WHY];
} cuda_code;

// `anew`: not from the cache. False: the message says why.
bool cuda_code_make(cuda_code *out, const text *t, const cuda_code_source *s, bool anew);
void cuda_code_free(cuda_code *c);

// The text as a module of the device, by *code, which is made unless it is there. What the cache has
// and the device does not load is compiled again. False: *failure, or if that has none the device's
// message, says why.
bool cuda_code_load(cuda_module **out, cuda_device *d, cuda_code *code, const text *t,
                    const cuda_code_source *s, error *failure);

#endif
