// What a Plan launches on a GPU, as a table. It is made without a GPU, and read by runs, calls and
// ranks (launches.c), and by what makes libraries ahead of time (runtime/ahead/gpu.c).
//
//   in    a Plan, its text, the GPU that launches are for
//   out   kernels, launches and their parameters (launch_text.h); the text of kernels, in modules
//
// For example a sort of 1000 u32 by keys, behind a pass that makes these, a0 -> a2, and in front of
// one that reads them, a3 -> a1:
//
//   kernels     0    module 0  permc_pass_0         of the Plan's text
//               1    module 0  permc_pass_2
//               2    module 1  permc_pass_count     of the routine's text
//               3    module 1  permc_pass_digit
//
//   launches    0    kernel 0     8 blocks   first a0 a2 block
//               1    kernel 2     1 block    first a2 +0 1 1000           +0 ... is cleared before it
//               2    kernel 3     1 block    first a2 a3 +0 1 1000 0
//               3    kernel 1     8 blocks   first a3 a1 block
//
//   passes      0    launch 0
//               1    launches 1, 2; 8192 bytes of temporaries, from +0 on
//               2    launch 3
//
// A pass has no launches where the kernel of an earlier one executes it, where a routine makes its
// keys itself, and where it permutes by a schedule (permuting.h).
#ifndef PERMC_RUNTIME_GPU_LAUNCH_TABLE_H
#define PERMC_RUNTIME_GPU_LAUNCH_TABLE_H

#include "core/error.h"
#include "kernels/emit/emit.h"
#include "kernels/routines/launch.h"
#include "runtime/cpu/storage.h"
#include "runtime/gpu/launch_text.h"

// The GPU that launches are for.
typedef struct cuda_machine {
  uint32_t multiprocessors, shared_per_block;
} cuda_machine;

// What several devices do for a launch: see routine_launch.
typedef struct launch_way {
  launch_scope scope;
  bool meets;
} launch_way;

typedef struct launch_pass {
  uint32_t first, count;                // launches
  uint32_t kernel;                      // of the Plan's text
  uint64_t bytes;                       // of temporaries
  uint64_t shared[LAUNCH_MOST_SHARED];  // bytes of arrays of which each device has a part
  bool makes_keys;  // a routine that does what the pass would that makes keys for it
} launch_pass;

typedef struct launch_table {
  arena memory;
  const plan *plan;
  uint32_t parts;  // of arrays, of which a launch has one: part 1 of 2 begins in their middle
  VEC(permc_kernel) kernels;
  VEC(permc_launch) launches;
  VEC(launch_way) ways;  // of launches
  VEC(permc_parameter) parameters;
  VEC(text) modules;      // of the Plan, then of each routine
  uint32_t plan_modules;  // ... how many are the Plan's
  launch_pass *passes;
  uint32_t starts;  // launches and clears, of all passes
} launch_table;

typedef struct launch_options {
  const c_code *code;   // the Plan's; NULL: only routines
  uint64_t file_bytes;  // its text in modules of about so many; 0: in one
  cuda_machine machine;
  // Only routines each of whose parts has as many rows, whole ones, of all its arrays.
  bool by_rows;
  bool by_shares;  // ... and sorts of one long row, whose parts are merged
  uint32_t parts;  // 0: 1
} launch_options;

// The plan and the matrices of its text must outlive it. False: *failure; it is to be freed, too.
bool launch_table_make(launch_table *t, const plan *p, const launch_options *o, error *failure);
void launch_table_free(launch_table *t);  // {0} is allowed

// The launches of a pass by the kernels of a text, which becomes the table's. Of the arrays of
// these launches: the parameter that each is.
void launch_table_add(launch_table *t, launch_pass *pass, text code, uint32_t count,
                      const routine_launch *launches, const permc_parameter *arrays);

// How the passes are executed: by pass, zeros at first.
void launch_table_describe(const launch_table *t, const c_pass_facts *facts, storage_pass *passes);

#endif
