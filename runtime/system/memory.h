// How much memory there is, so that a run that needs more fails with a message before it starts.
#ifndef PERMC_RUNTIME_SYSTEM_MEMORY_H
#define PERMC_RUNTIME_SYSTEM_MEMORY_H

#include <stdbool.h>

enum { MEMORY_WHY = 128 };

// Whether this process may hold so many bytes: at most the machine's memory, the control group's
// limit and the process's own limits (ulimit). False: `why` says what is needed and what there is,
// "14 TiB of memory; this machine has 31.3 GiB".
bool memory_suffices(double bytes, char why[MEMORY_WHY]);

#endif
