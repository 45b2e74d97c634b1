// The GPU of a context, opened when first asked for; it stays open as long as the context.
//
//   char why[CUDA_WHY];
//   if (!cuda_open_for(c, why, sizeof why))       // no driver, or no device
//     context_error(c, "no GPU: %s", why);
#ifndef PERMC_RUNTIME_GPU_CONTEXT_H
#define PERMC_RUNTIME_GPU_CONTEXT_H

#include "runtime/context/context.h"

// False: there is no GPU, and `why` says why.
bool cuda_open_for(permc_context *c, char *why, size_t size);

#endif
