// Private to runtime/gpu/: a launch table's kernels on a device, and its launches.
//
//   table_code code = {0};
//   launch_place at = {.arrays = addresses, .temporaries = memory};
//   bool good = table_code_new(&code, &table) &&
//               table_code_load(&code, d, &table, pass, NULL, &source, &failure) &&
//               table_launch(&table, &code, d, pass, &at);             // any number of times
//   table_code_free(&code, d, &table);
#ifndef PERMC_RUNTIME_GPU_LAUNCHER_H
#define PERMC_RUNTIME_GPU_LAUNCHER_H

#include "runtime/cuda/code.h"
#include "runtime/cuda/cuda.h"
#include "runtime/gpu/launch_table.h"

// What a device has of a table: by module and by kernel, what is not loaded {0}.
typedef struct table_code {
  cuda_module **modules;
  cuda_kernel *kernels;
} table_code;

// What the launches of a pass mean by their parameters.
typedef struct launch_place {
  const cuda_address *arrays;  // by array of the plan: where it begins
  const cuda_address *shared;  // by shared array of the pass
  const uint64_t *shared_bytes;
  cuda_address temporaries, block;
  bool cleared;          // of these what is to be 0 at first is so: they are the launches' own
  bool alone;            // each launch begins when that before it has ended
  uint32_t part;         // of the table's parts, where arrays are in parts
  uint64_t first, last;  // blocks; last 0: all
} launch_place;

bool table_code_new(table_code *c, const launch_table *t);  // false: memory is out
// The kernels of the pass, unless they are there. `made`: by module the code that there is, and what
// is made then; NULL: none is. False: *failure, or if that has none the device's message, says why.
bool table_code_load(table_code *c, cuda_device *d, const launch_table *t, uint32_t pass,
                     cuda_code *made, const cuda_code_source *s, error *failure);
void table_code_free(table_code *c, cuda_device *d, const launch_table *t);  // {0} is allowed
// False: the device's message says why.
bool table_launch(const launch_table *t, const table_code *c, cuda_device *d, uint32_t pass,
                  const launch_place *at);
// One of its launches.
bool table_launch_one(const launch_table *t, const table_code *c, cuda_device *d, uint32_t launch,
                      const launch_place *at);

#endif
