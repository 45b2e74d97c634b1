// The same of a program for a processor: its steps, which are passes and routines.
//
//   steps     {permc_pass_0, 16 items}  {permc_pass_1, 16 items}
//
// The workspace begins with addresses: of the arrays, then of the tables of roots.
#ifndef PERMC_AHEAD_HOST_PROGRAM
#define PERMC_AHEAD_HOST_PROGRAM

#include "runtime/routines/key_rank.h"

// ---- routines --------------------------------------------------------------------------------

enum { PERMC_SORT, PERMC_PLACES, PERMC_COUNT, PERMC_PERMUTE, PERMC_WRONG, PERMC_TRANSPOSE };

// From one array to another, elements of so many bytes. PERMC_NONE: the index, or no array.
#define PERMC_NONE UINT32_MAX
typedef struct permc_pair {
  uint32_t from, to, bytes;
} permc_pair;

typedef struct permc_dimension {
  uint64_t extent, from, to;
} permc_dimension;

// An algorithm on whole arrays: the first pair has the keys.
typedef struct permc_routine {
  int kind, is_signed, distinct, back, counts;
  uint32_t key_bytes;
  key_order order;
  uint64_t rows, length, limit;
  uint32_t offsets;  // PERMC_NONE: rows are whole
  uint64_t offset_count;
  uint32_t pair_count, dimension_count;
  const permc_pair *pairs;
  const permc_dimension *dimensions;
} permc_routine;

// ---- programs --------------------------------------------------------------------------------

typedef struct permc_step {
  permc_pass *code;
  uint64_t items;
  const permc_routine *routine;  // instead of the two; or NULL
} permc_step;

typedef struct permc_program {
  uint32_t array_count, step_count, root_count, check_count, copy_count;
  uint32_t checked_after;  // so many steps
  const permc_place *places;
  const permc_step *steps;
  const void *const *tables;
  const permc_root_table *roots;
  const uint64_t *roots_at;
  const permc_foreign *foreign;
  const permc_check *checks;
  const permc_copy *copies;
  uint64_t scratch_at, scratch_bytes;  // where each in the workspace is
  uint64_t arrays_at, temporaries_at, workspace_bytes;
} permc_program;

#endif
