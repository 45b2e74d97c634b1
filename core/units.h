// Numbers with units, for readers.
#ifndef PERMC_CORE_UNITS_H
#define PERMC_CORE_UNITS_H

#include <stdint.h>

enum { NUMBER_SPACE = 40 };

// "64 MiB", "1.5 GiB", "12 bytes". Each writes to `out` and returns it.
const char *show_bytes(char out[NUMBER_SPACE], uint64_t bytes);
// "1.25 ms", "3.07 us".
const char *show_seconds(char out[NUMBER_SPACE], double seconds);

#endif
