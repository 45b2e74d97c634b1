// The text of the kernel with which GPUs wait for each other (barrier_text.h): permc_pass_barrier,
// one block of BARRIER_THREADS threads on each GPU. Its parameters, of 8 bytes each: 0, where the
// words of the first GPU are, how many words lie between those of one and those of the next, the
// GPU's number, how many GPUs there are: BARRIER_THREADS at most.
#ifndef PERMC_KERNELS_ROUTINES_BARRIER_BARRIER_H
#define PERMC_KERNELS_ROUTINES_BARRIER_BARRIER_H

#include "core/text.h"

enum { BARRIER_THREADS = 32 };

void barrier_kernel_write(text *out);

#endif
