// Numbers for readers, with their units.
//
//   char text[NUMBER_SPACE];
//   puts(show_bytes(text, 3 << 29));        // 1.5 GiB
//   puts(show_seconds(text, 0.00125));      // 1.25 ms
#ifndef PERMC_CORE_UNITS_H
#define PERMC_CORE_UNITS_H

#include <stdint.h>

enum { NUMBER_SPACE = 40 };

// Each writes to `out` and returns it. Numbers have three digits, or all of those before the point:
// 0.123, 12.3, 1234, and no exponent.
const char *show_number(char out[NUMBER_SPACE], double number);
const char *show_bytes(char out[NUMBER_SPACE], uint64_t bytes);
const char *show_seconds(char out[NUMBER_SPACE], double seconds);

#endif
