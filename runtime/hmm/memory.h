// Whether a memory machine fits in the memory that there is.
#ifndef PERMC_RUNTIME_HMM_MEMORY_H
#define PERMC_RUNTIME_HMM_MEMORY_H

#include "core/memory.h"

enum { HMM_MEMORY_WHY = 128 };

// False: why not, "14.0 TiB of memory; this machine has 31.3 GiB".
bool hmm_memory_fits(double bytes, char why[HMM_MEMORY_WHY]);

#endif
