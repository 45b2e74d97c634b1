// How much memory there is, so that a run that cannot fit fails in words before it starts.
#ifndef PERMC_RUNTIME_SYSTEM_MEMORY_H
#define PERMC_RUNTIME_SYSTEM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

// The bytes this process may hold: the least of the machine's memory, the control group's limit and
// the process's own limits (ulimit). UINT64_MAX: unknown. *owner is what has it: "this machine
// has".
uint64_t interp_memory_limit(const char **owner);

// "3.2 TiB", "512 bytes"
void interp_format_bytes(char *out, size_t size, uint64_t bytes);

#endif
