// The same of a program for a GPU: modules of kernels, and what is launched.
//
// Of each program a device has a block of memory that does not change: the tables of roots; two
// addresses and their list, as kernels take them; and the program's own tables.
#ifndef PERMC_AHEAD_GPU_PROGRAM
#define PERMC_AHEAD_GPU_PROGRAM

// Machine code of a module for one architecture: 90 is sm_90. The last of a list has 0.
typedef struct permc_image {
  int architecture;
  const void *code;
} permc_image;

typedef struct permc_program {
  uint32_t array_count, launch_count, kernel_count, module_count, root_count, check_count,
      copy_count;
  uint32_t checked_after;  // so many launches
  const permc_place *places;
  const permc_launch *launches;
  const permc_parameter *parameters;
  const permc_kernel *kernels;
  const permc_image *const *modules;
  const void *const *tables;  // by array, and below their bytes and places in the block
  const uint64_t *table_bytes, *tables_at;
  const permc_root_table *roots;
  const uint64_t *roots_at;
  const permc_check *checks;
  const permc_copy *copies;
  uint64_t head_at, block_bytes, workspace_bytes;
} permc_program;

// What a device has of a program.
typedef struct permc_loaded {
  void **modules, **functions;
  uint64_t block;
} permc_loaded;

#endif
