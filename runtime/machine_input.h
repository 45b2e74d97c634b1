// Files with addresses, one decimal or hexadecimal number after the other:
//
//   # a comment
//   0 1 10 6
//   0x8 9 14 15
#ifndef PERMC_RUNTIME_MACHINE_INPUT_H
#define PERMC_RUNTIME_MACHINE_INPUT_H

#include "lang/base.h"

// The numbers of the text, in the arena. NULL: *wrong says in which line, and what is there.
uint64_t *machine_read_addresses(arena *a, const char *string, uint64_t *count, const char **wrong);
// NULL, or which of them keeps 0 ... count - 1 from being there once each.
const char *machine_permutation_problem(arena *a, const uint64_t *list, uint64_t count);

#endif
