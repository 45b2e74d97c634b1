// How much memory there is, so that a run that needs more fails with a message before it starts.
//
//   char why[MEMORY_WHY];
//   if (!memory_suffices(1.5e13, 0, why))   // "14 TiB of memory; this machine has 31.3 GiB"
//     context_error(c, "the run needs %s", why);
#ifndef PERMC_RUNTIME_SYSTEM_MEMORY_H
#define PERMC_RUNTIME_SYSTEM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

enum { MEMORY_WHY = 128 };

// The bytes that this process may take: at most the machine's memory, and what the control group's
// limits (of version 1 or 2, and of the groups above it) and the process's own (ulimit) leave.
// *owner (may be NULL): which of them, "this machine has".
uint64_t memory_limit(const char **owner);

// Whether a run may hold so many bytes, `held` of which it holds already. False: `why` says what is
// needed and what there is.
bool memory_suffices(double bytes, uint64_t held, char why[MEMORY_WHY]);

// The number behind `key` at the beginning of a line of a file, such as "MemAvailable:" of
// /proc/meminfo; `otherwise`: there is none.
uint64_t number_in_file(const char *path, const char *key, int base, uint64_t otherwise);

// What the limits of the control group leave, read below `root` ("": the machine's own files).
// UINT64_MAX: there are none.
uint64_t memory_group_room(const char *root);

#endif
