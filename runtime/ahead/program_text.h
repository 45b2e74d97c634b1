// What the sources of a library made ahead of time (ahead.h) say of a program at one size. Part of
// each of them, behind kernels/text/host.h.
//
// A program has arrays by number; each lies in an argument, a table of the source, a result, or
// the workspace. Here a0 is the argument, a1 the result, a2 between two passes:
//
//   places    {PERMC_ARGUMENT, 0}  {PERMC_RESULT, 0}  {PERMC_WORKSPACE, 512}
//   steps     {permc_pass_0, 16 items}  {permc_pass_1, 16 items}
//
// The workspace begins with addresses: of the arrays, then of the tables of roots.
#ifndef PERMC_AHEAD_PROGRAM
#define PERMC_AHEAD_PROGRAM

enum { PERMC_NOWHERE, PERMC_ARGUMENT, PERMC_TABLE, PERMC_RESULT, PERMC_WORKSPACE };
typedef struct permc_place {
  int home;
  uint64_t at;  // the number of the argument, table or result; a place in the workspace
} permc_place;

// ---- routines --------------------------------------------------------------------------------

enum { PERMC_SORT, PERMC_PLACES, PERMC_COUNT, PERMC_PERMUTE, PERMC_WRONG, PERMC_TRANSPOSE };
enum { PERMC_UNSIGNED, PERMC_SIGNED, PERMC_FLOAT };

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
  int kind, key_kind;
  int descending, distinct, back, counts;
  uint32_t key_bytes, bits;  // bits: not 0: the keys are integers below 2^bits
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

// What is checked of array `array`, of `count` elements: bools that are false, or the position and the
// value of the first that is wrong.
enum { PERMC_PADDING, PERMC_PLACE, PERMC_KEY, PERMC_ROW, PERMC_OFFSET };
typedef struct permc_check {
  int kind, is_unsigned;
  uint32_t array;
  uint64_t count, length, inner;
} permc_check;

// A result that is given to the caller when all checks are passed.
typedef struct permc_copy {
  uint32_t array, result;
  uint64_t bytes;
} permc_copy;

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
