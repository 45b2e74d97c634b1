// Private to runtime/gpu/: what a program has, and what its files do for each other.
//
//   program.c    making and freeing it
//   devices.c    its devices as one        compile.c    its kernels, for each device
//   arrays.c     where arrays lie; what is uploaded and downloaded
//   launches.c   passes on the program's own arrays, recorded as graphs
//   runs.c       runs of these graphs, and their times
//   calls.c      passes on arrays of the caller, on streams of the caller
//   routine.h, permuting.h, rows.h    routines      streams.h    sequences of calls
#ifndef PERMC_RUNTIME_GPU_STATE_H
#define PERMC_RUNTIME_GPU_STATE_H

#include "runtime/cuda/code.h"
#include "runtime/gpu/barrier.h"
#include "runtime/gpu/permuting.h"
#include "runtime/gpu/program.h"
#include "runtime/gpu/routine.h"
#include "runtime/gpu/rows.h"
#include "runtime/gpu/streams.h"

#include <stdlib.h>

enum { MOST_FILES = 32 };  // of text, compiled by themselves
#define NEVER UINT32_MAX

typedef struct buffer {
  cuda_address address;
  uint64_t bytes;
} buffer;

// Passes that follow each other without the host, as a graph (NULL: there are none); then a routine
// that has no kernels, which the host executes (NEVER: none).
typedef struct stretch {
  cuda_graph *graph;
  uint32_t routine;
} stretch;

// A pass: how it is launched, and what executes it if its own kernel does not.
typedef struct program_pass {
  c_pass_facts facts;
  uint32_t array_count;
  net_id *arrays;  // parameters of the kernel
  uint64_t items;
  cuda_permuting *permuting;  // a permutation by a schedule, or NULL
  cuda_routine *routine;      // NULL: it is none, or the host's
  cuda_rows *rows;            // of one whose rows several devices share; NULL: the first does it
} program_pass;

// What each of the devices has of its own.
typedef struct program_part {
  cuda_device *device;
  size_t module_count;
  cuda_module *modules[MOST_FILES];
  cuda_kernel *kernels;  // by pass
  cuda_rows **rows;      // by pass, of ranks: routines that have kernels, from the first run on
  cuda_address imports;  // permc_imports, the list of tables, and the tables
} program_part;

struct cuda_program {
  cuda_device *device;   // the first
  cuda_peers *peers;     // all of them; NULL: that one alone
  gpu_barrier *barrier;  // of these; NULL: they wait by events, as where some are the same GPU
  bool has_sides;        // of these, for passes that overlap
  const plan *plan;
  const atomic_bool *interrupted;
  unsigned part_count;
  program_part parts[CUDA_MOST_PEERS];
  program_pass *passes;
  uint64_t state_bytes;  // the most of any look-back kernel, which come one after the other
  cuda_address state;    // of runs
  storage storage;       // of runs: rooms for all arrays
  cuda_address *own;     // by array: where it is, or 0
  bool has_own_arrays;   // tables are there from the beginning, the others from the first run on
  pthread_mutex_t schedules;  // of permutations, and of the stretches
  stretch *stretches;         // one run
  size_t stretch_count;
  cuda_graph *many;  // MANY runs, for cuda_program_time, where no routine is the host's
  cache cache;
  cuda_code_source source;
  buffer copied;                 // two halves, of cuda_program_time_copy
  cuda_streams streams;          // the sequences of calls
  atomic_uint launches_of_call;  // 0: not known yet
};

// ---- devices.c: memory that all reach, and messages --------------------------------------------

cuda_address program_memory_new(const cuda_program *g, uint64_t bytes);
void program_memory_free(const cuda_program *g, cuda_address a);
bool program_wait(const cuda_program *g);
bool program_fail(const cuda_program *g, error *failure);
bool program_fail_of(const cuda_program *g, const program_part *part, error *failure);

// ---- compile.c ---------------------------------------------------------------------------------

bool program_compile(cuda_program *g, const cuda_options *o, const c_code *code, error *failure);

// ---- arrays.c ----------------------------------------------------------------------------------

bool program_place_arrays(cuda_program *g, error *failure);
// Tables alone, or all.
bool program_allocate_arrays(cuda_program *g, bool tables, error *failure);
// The arrays of that role: arguments in every run, tables once.
bool program_upload(cuda_program *g, net_role role, const array *arguments, size_t count,
                    error *failure);
bool program_upload_roots(cuda_program *g, const permc_root_table *rows, error *failure);
bool program_download(cuda_program *g, array *results, error *failure);

// ---- launches.c --------------------------------------------------------------------------------

bool program_plan_launches(cuda_program *g);  // false: memory is out
// By `d`, the first device: on its own stream, or on that of a call. `state` of look-back kernels.
bool program_launch(const cuda_program *g, cuda_device *d, uint32_t number, cuda_address *addresses,
                    cuda_address state);
// So many runs of the passes first ... last - 1, one after the other. NULL: failed.
cuda_graph *program_record(cuda_program *g, uint32_t first, uint32_t last, unsigned runs,
                           error *failure);

// ---- runs.c ------------------------------------------------------------------------------------

void program_drop_graphs(cuda_program *g);
// A permutation has its schedule. What was recorded with another one is dropped.
bool program_prepare(cuda_program *g, cuda_device *d, cuda_permuting *r, const void *places,
                     error *failure);

#endif
