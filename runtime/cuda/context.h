// The GPU of a context, opened when first asked for; it stays open as long as the context.
#ifndef PERMC_RUNTIME_CUDA_CONTEXT_H
#define PERMC_RUNTIME_CUDA_CONTEXT_H

#include "runtime/context/context.h"

// False: there is no GPU, and `why` says why.
bool cuda_open_for(permc_context *c, char *why, size_t size);

#endif
