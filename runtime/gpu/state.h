// Private to runtime/gpu/: what a program has, and what its files do for each other.
//
//   program.c    making and freeing it
//   devices.c    its devices as one        compile.c    its kernels, for each device
//   arrays.c     where arrays lie; what is uploaded and downloaded
//   launch_table.c  what is launched, as a table; routine.h   ... of routines
//   launcher.c   the table's launches on a device
//   launches.c   passes on the program's own arrays, recorded as graphs
//   runs.c       runs of these graphs, and their times
//   calls.c      passes on arrays of the caller, on streams of the caller
//   permuting.h  permutations by schedules      streams.h    sequences of calls
#ifndef PERMC_RUNTIME_GPU_STATE_H
#define PERMC_RUNTIME_GPU_STATE_H

#include "runtime/context/backend.h"
#include "runtime/cuda/code.h"
#include "runtime/gpu/barrier.h"
#include "runtime/gpu/launcher.h"
#include "runtime/gpu/permuting.h"
#include "runtime/gpu/program.h"
#include "runtime/gpu/streams.h"
#include "runtime/ranks/ranks.h"

#include <stdlib.h>

typedef struct buffer {
  cuda_address address;
  uint64_t bytes;
} buffer;

// How the next call is started: the first time, and then its launches as one, unless that fails.
enum { STARTS_FIRST, STARTS_AS_ONE, STARTS_ONE_BY_ONE };

// What a device launches: all, or of a routine the part of the rows that is its own.
enum { OF_ALL, OF_PART, TABLES };

// What each of the devices has of its own.
typedef struct program_part {
  cuda_device *device;
  table_code code[TABLES];
  cuda_address roots;         // the tables; behind them:
  cuda_address imports;       // permc_imports, and the list of tables
  cuda_address *temporaries;  // by pass, of runs
} program_part;

typedef cuda_address shared_arrays[LAUNCH_MOST_SHARED];

struct cuda_program {
  cuda_device *device;   // the first
  cuda_peers *peers;     // all of them; NULL: that one alone
  gpu_barrier *barrier;  // of these; NULL: they wait by events, as where some are the same GPU
  bool has_sides;        // of these, for passes that overlap
  const plan *plan;
  const atomic_bool *interrupted;
  unsigned part_count;
  program_part parts[CUDA_MOST_PEERS];
  launch_table tables[TABLES];
  c_pass_facts *facts;         // by pass
  cuda_permuting **permuting;  // by pass: a permutation by a schedule, or NULL
  uint64_t state_bytes;        // the most of any look-back kernel, which come one after the other
  cuda_address state;          // of runs
  storage storage;             // of runs: rooms for all arrays
  cuda_address *own;           // by array: where it is, or 0
  shared_arrays *shared;       // by pass, of runs by several devices
  bool has_own_arrays;  // tables are there from the beginning, the others from the first run on
  pthread_mutex_t schedules;  // of permutations, and of the graphs
  cuda_graph *one, *many;     // one run; MANY runs, for cuda_program_time
  cache cache;
  cuda_code_source source;
  buffer copied;         // two halves, of cuda_program_time_copy
  cuda_streams streams;  // the sequences of calls
  atomic_uint starts;    // how the next call is started
};

// ---- devices.c: memory that all reach, and messages --------------------------------------------

cuda_address program_memory_new(const cuda_program *g, uint64_t bytes);
void program_memory_free(const cuda_program *g, cuda_address a);
bool program_wait(const cuda_program *g);
bool program_fail(const cuda_program *g, error *failure);
bool program_fail_of(const cuda_program *g, const program_part *part, error *failure);

// ---- compile.c ---------------------------------------------------------------------------------

// The table's kernels.
bool program_compile(cuda_program *g, const cuda_options *o, int table, error *failure);

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

// Of the first device, on `d`: its own stream, or that of a call.
bool program_launch(const cuda_program *g, cuda_device *d, uint32_t number,
                    const cuda_address *arrays, cuda_address temporaries, bool cleared);
// The table of whose launches runs of the pass are made.
int program_table_of(const cuda_program *g, uint32_t number);
// So many runs of the passes first ... last - 1, one after the other. NULL: failed.
cuda_graph *program_record(cuda_program *g, uint32_t first, uint32_t last, unsigned runs,
                           error *failure);

// ---- calls.c: rows of the backend (runtime/context/backend.h) ----------------------------------

// What the backend has of a program.
typedef struct gpu_program {
  cuda_peers *peers;  // NULL: it is the context's GPU alone
  cuda_device *own;   // that GPU once more: its stream is the program's, whatever others do at once
  cuda_program *program;
  cuda_device *const *ranks;  // those of the ranks of this process, or NULL
  unsigned rank_count;
  ranks_devices devices;
  char device[192];
} gpu_program;

static inline cuda_program *program_of(const backend_program *p) {
  return ((gpu_program *)p->state)->program;
}

bool program_call(const backend_program *p, const backend_call *call, error *failure);
void program_describe(const backend_program *p, storage_pass *passes);
// Little is kept with the sequence that the call will be started as; else it is taken in the order
// of the stream.
bool program_workspace(const backend_program *p, backend_call *call, uint64_t bytes, void **memory,
                       error *failure);
bool program_fetch(const backend_program *p, const backend_call *call, void *to, const void *from,
                   uint64_t bytes, error *failure);

// ---- runs.c ------------------------------------------------------------------------------------

void program_drop_graphs(cuda_program *g);
// A permutation has its schedule. What was recorded with another one is dropped.
bool program_prepare(cuda_program *g, cuda_device *d, cuda_permuting *r, const void *places,
                     error *failure);

#endif
