// What is launched on a GPU, as rows of tables (launch_table.h). This text stands in each library
// that is made ahead of time for CUDA as it is here.
#ifndef PERMC_LAUNCH_TEXT
#define PERMC_LAUNCH_TEXT

typedef struct permc_kernel {
  uint32_t module, shared_bytes;
  const char *name;
} permc_kernel;

enum {
  PERMC_IS_FIRST,      // the number of the first block of the launch
  PERMC_IS_ARRAY,      // the address of array `value`
  PERMC_IS_TEMPORARY,  // an address in the workspace
  PERMC_IS_NUMBER,
  PERMC_IS_BLOCK,  // the address of the device's block
  PERMC_IS_DATA,   // what is at `data`
  PERMC_IS_SHARED  // the address of array `value` of a pass that several devices execute
};
typedef struct permc_parameter {
  int kind;
  uint64_t value;
  const void *data;
} permc_parameter;

typedef struct permc_launch {
  uint32_t kernel, threads;
  uint64_t blocks;
  uint32_t first_parameter, parameter_count;
  uint64_t clear_at, clear_bytes;  // of the workspace, before it
} permc_launch;

#endif
