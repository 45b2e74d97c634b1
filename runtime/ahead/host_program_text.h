// The same of a program for a processor: its steps, which are passes and routines.
//
//   steps     {permc_pass_0, 16 items}  {permc_pass_1, 16 items}
//
// The workspace begins with addresses: of the arrays, of the tables of roots, and of the arrays of a
// step that has the code of an earlier one: where that finds its own.
#ifndef PERMC_AHEAD_HOST_PROGRAM
#define PERMC_AHEAD_HOST_PROGRAM

typedef struct permc_step {
  permc_pass *code;
  uint64_t items;
  // Instead of the two, or NULL: a routine (runtime/routines/work.h), and the bytes of its blocks.
  const routine_work *routine;
  const uint64_t *blocks;
  // Of other arrays than the code's own: the code's, and instead of it, in turn; so many.
  const uint32_t *instead;
  uint32_t instead_count;
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
