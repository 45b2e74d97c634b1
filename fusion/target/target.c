// The targets that are known by name. See target.h.
#include "fusion/target/target.h"

#include <string.h>

enum { KIB = 1024 };

// Rates are those of a current server core pair and of an H200 (docs/benchmarks.md); they only have
// to put plans in the right order.
static const target rows[] = {
    {"avx512", 128, 128 * KIB, 64, 4, 1024, 0, 16, 40e9, 30e9, 2, 3e-6},
    {"avx2", 128, 128 * KIB, 32, 3, 256, 0, 16, 35e9, 15e9, 2, 3e-6},
    {"baseline", 128, 128 * KIB, 16, 2, 128, 0, 16, 30e9, 6e9, 2, 3e-6},
    {"gpu", 128, 64 * KIB, 0, 5, 128, 1, 16, 4e12, 15e12, 4, 3e-6},
    // For tests and for the figures of the design: lines and tiles in round numbers.
    {"line32-tile128k", 32, 128 * KIB, 64, 4, 1024, 0, 16, 40e9, 30e9, 2, 3e-6},
    {"line64-tile128k", 64, 128 * KIB, 64, 4, 1024, 0, 16, 40e9, 30e9, 2, 3e-6},
    {"line128-tile128k", 128, 128 * KIB, 64, 4, 1024, 0, 16, 40e9, 30e9, 2, 3e-6},
    {"line128-tile32k", 128, 32 * KIB, 64, 4, 1024, 0, 16, 40e9, 30e9, 2, 3e-6},
    // For pictures: lines of 4 words, tiles of 16, so that few elements are many tiles.
    {"sketch", 16, 64, 0, 2, 16, 0, 4, 4e10, 3e10, 4, 3e-6},
};

size_t target_count(void) { return sizeof rows / sizeof *rows; }
const target *target_at(size_t index) { return index < target_count() ? &rows[index] : NULL; }

const target *target_named(const char *name) {
  for (size_t i = 0; i < target_count(); i++)
    if (!strcmp(rows[i].name, name))
      return &rows[i];
  return NULL;
}
