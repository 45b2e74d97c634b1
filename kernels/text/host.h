// What generated C code and the program that loads it have in common. This text stands in every
// generated file as it is here, and runtime/compiled/compiled.h includes it.
//
// A shared object has a table with a row for each pass of the plan, which the host runs in order,
// letting threads share the items of each:
//
//   const uint32_t permc_pass_count = 2;
//   const permc_pass_row permc_passes[3] = {
//     {permc_pass_0, 4096, 1},
//     {permc_pass_1, 4096, 0},
//     {0, 0, 0}
//   };
//
//   permc_passes[0].code(arrays, 0, 128, scratch, imports);     items 0 ... 127 of the first pass
#ifndef PERMC_KERNELS_TEXT_HOST_H
#define PERMC_KERNELS_TEXT_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A foreign function; `with`, if it is not NULL, comes before its operands.
typedef struct permc_foreign {
  void (*function)(void);
  void *with;
} permc_foreign;

typedef struct permc_imports {
  const permc_foreign *foreign;  // the program's foreign functions, by number
  const void *const *roots;      // permc_root_tables; the last of those has m = 0
} permc_imports;

// Executes the items first ... last - 1 of a pass. Item = number of the iteration of the stage's
// loops * number of blocks + block. `arrays` by number of the plan's arrays; `scratch` is the
// thread's own, aligned to 64 bytes (NULL will do if it has 0 bytes).
typedef void permc_pass(void *const *arrays, uint64_t first, uint64_t last, void *scratch,
                        const permc_imports *imports);

typedef struct permc_pass_row {
  permc_pass *code;
  uint64_t scratch_bytes;
  bool in_place;  // an array loaded and one stored by the same map may be one buffer
} permc_pass_row;

// A table that the code reads: roots exp(2 pi i k / m) of c64 (part_bytes = 4) or c128 (8), as
// scalar_root gives them.
//
// With vectors == NULL: entry k is root k, 0 <= k < m. Otherwise there are 2^bits real parts, then
// as many imaginary parts, and one vector's length more: entry q has k = offset + the sum of the
// weights of the rows that are 1, in row bits = constant ^ the sum of vectors[i] over the bits of
// q.
typedef struct permc_root_table {
  uint64_t m, part_bytes, bits, offset, constant;
  const uint64_t *vectors, *weights;
} permc_root_table;

// The bytes of such a table, and its room where one follows another. On a GPU table i begins so
// many bytes before the imports as the tables 0 ... i have room in all, so that code reads it
// without a list: the tables lie in reverse, and the imports are behind them.
static inline uint64_t permc_root_bytes(const permc_root_table *t) {
  return (2 * (t->vectors ? UINT64_C(1) << t->bits : t->m) + 64) * t->part_bytes;
}
static inline uint64_t permc_root_room(const permc_root_table *t) {
  return (permc_root_bytes(t) + 255) / 256 * 256;
}

#endif
