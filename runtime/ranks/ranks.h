// Ranks: a program whose arrays lie in shares (fusion/shares) at threads or processes, its RANKS,
// which all execute it at one time. They exchange by a transport (runtime/transport).
//
//   in    a Plan of a Net in shares, an executor for it, the arguments
//   out   the results: whole, or what this process has of them
//
//   $ permc run -e sort --ranks 4 -i keys.npy            ranks 0 ... 3 are threads of this process
//   $ mpirun -n 4 permc run -e sort -i keys.npy -o s.npy  ranks are processes, one in each
//
// For example 4 ranks, a sort of 10 keys; the padded length is 16, so a slab has 4 elements:
//
//   rank 0  keys 0 1 2 3   reads these of the file, executes its share of each pass, has 0 1 2 3 of
//   rank 1  keys 4 5 6 7   the result, and writes them to their place in the file
//   rank 2  keys 8 9
//   rank 3  none           (it takes part in exchanges all the same)
//
// A rank's memory is its slab of each array in slabs, and all of each other array, from the first
// step that needs the array to the last. A STEP is a pass, or the exchange or gather that stands
// for all passes of a stage. Code gets the address that element 0 would have, so that addresses are
// those in whole arrays on every rank.
//
// Where ranks have GPUs, slabs are in their memory and exchanges between these
// (transport_open_device); arguments are uploaded when they are first needed, results downloaded.
// Sorts of rows, of which each rank has some, are the GPU's; other routines the host's: what they
// read is downloaded, what they write uploaded.
//
//   rank.c    what one rank does (state.h)    steps.c   passes, exchanges    arrays.c   its arrays
//   agree.c   that all do the same, or that one has failed
//   world.c   whose turn it is; GPUs, and transports that stay from run to run
//   parts.c   parts of an array that change ranks
//   ranks.c   the ranks of this process: threads that do so, the whole arrays of what they have
//   write.c   one file of what all have
//   launch.c  what the launcher of a parallel job says of this process
#ifndef PERMC_RUNTIME_RANKS_RANKS_H
#define PERMC_RUNTIME_RANKS_RANKS_H

#include "fusion/shares/shares.h"
#include "runtime/cpu/cpu.h"
#include "runtime/cuda/cuda.h"
#include "runtime/transport/transport.h"

// ---- all ranks -------------------------------------------------------------------------------

typedef struct rank_world rank_world;

typedef struct ranks_options {
  const transport_kind *kind;
  uint32_t count;  // a power of two; 0: as many as the launcher has started
  double timeout;  // seconds that a rank waits for another; 0: RANKS_TIMEOUT
  // Threads that are ranks of several contexts, one of each: where they meet.
  transport_group *group;
  uint32_t rank;           // which of them this is; or of the launcher's, or of the caller's
  uint32_t launched;       // mpi: so many has the launcher started; 0: it does not say
  uintptr_t communicator;  // mpi: see transport_options
  transport_carry *carry;  // caller: the same
  void *with;
  rank_world **
      refused;  // to be set where ranks refuse each other: to be closed when that is shown; may be NULL
} ranks_options;
enum { RANKS_TIMEOUT = 60, RANKS_MOST_TIMEOUT = 1000000, RANKS_MOST_THREADS = 1 << 14 };

// Threads without a group are all ranks, of this process; else this process, or context, is one.
// NULL:
// *failure says why, with the rank unless all refuse alike.
rank_world *ranks_open(const ranks_options *o, error *failure);
rank_world *ranks_keep(rank_world *r);  // for another owner; NULL is allowed
void ranks_close(rank_world *r);        // by each; NULL is allowed
uint32_t ranks_count(const rank_world *r);
// Of this process, 0 if it has all.
uint32_t ranks_own(const rank_world *r);
bool ranks_are_here(const rank_world *r);  // all of them
// This process cannot go on, and the others end: "rank 3: CAUSE".
void ranks_fail(rank_world *r, const char *cause);
// This process does not do what the others do next: they end that so, and all go on. True: all
// refuse alike.
bool ranks_refuse(rank_world *r, const char *cause);
// All ranks have ended with the same line, and call this: one of them is to show it.
bool ranks_speaks(rank_world *r);

// The GPUs of the ranks of this process, *count of them, which are opened by the first call and
// stay as long as the ranks: number `chosen`, or, if that is below 0, those of this machine in
// turn. NULL: *why.
cuda_device *const *ranks_gpus(rank_world *r, int chosen, unsigned *count, char *why, size_t size);

// ---- a run -----------------------------------------------------------------------------------

// The GPUs of these, by number, and what executes passes there, of a program of runtime/gpu.
typedef struct ranks_devices {
  cuda_device *const *gpus;
  struct cuda_program *program;
  // The items first ... last - 1 of a pass that is no routine, on arrays of which element 0 is at
  // these addresses. False: the device's message says why.
  bool (*run)(const struct cuda_program *g, unsigned own, uint32_t pass, uint64_t first,
              uint64_t last, const cuda_address *addresses);
  // A pass that is a routine, on all of its rows, or those of rank `part`. *done: it has kernels for
  // that. False: *failure.
  bool (*routine)(struct cuda_program *g, unsigned own, uint32_t pass, bool all, uint32_t part,
                  const cuda_address *addresses, bool *done, error *failure);
} ranks_devices;

typedef struct ranks_run {
  const plan *plan;              // of shares->net
  const shares *shares;          // of as many ranks
  const cpu_executor *executor;  // on arrays in memory of the host
  const ranks_devices *devices;  // not NULL: arrays are in the memory of GPUs, and these execute
  uint32_t threads;              // of this process
  const atomic_bool *interrupted;
  progress progress;       // of this process, or its rank 0: steps that it has done
  bool fast_floats;        // see permc_use_fast_floats
  const array *arguments;  // stay the caller's; in memory or in files (array_fetch)
  size_t argument_count;
  uint32_t returned;  // results from this number on are for each rank as a whole
  // Not 0, on GPUs: how often all is done, after a first time, on arguments that are zeros.
  // *seconds: of one time; there are no results.
  unsigned runs;
  double *seconds;
  // Where the results below `returned` are wanted, in memory: all of them, or a part. NULL: as they
  // are.
  const array *wanted;
  // What the plan was made of, to say how ranks differ: texts, or NULL.
  const char *entry, *text;
} ranks_run;

// Runs it. `results`, by number, {0} at first, are the caller's also on failure; they have one
// dimension, their count, and are arrays in memory if this process has all ranks, or each rank all elements; else
// the part that this one has (array_part). Where they are wanted elsewhere they are copied there,
// and are {0}.
// False: *failure is the line of a rank. Several runs of one process are made one
// after the other.
bool ranks_execute(rank_world *r, const ranks_run *run, array *results, error *failure);

// ---- values in parts -------------------------------------------------------------------------

// Of `count` parts that this rank has of arrays: see permc_place_parts. By all ranks at one time.
bool ranks_place(rank_world *r, const char *what, const uint64_t *lengths, size_t count,
                 uint64_t *first, uint64_t *whole, error *failure);
// Both are called by all ranks at one time, with the same value in parts.
// Rank 0's becomes a value in its memory.
bool ranks_gather(rank_world *r, permc_value *v, error *failure);
// One file, which is written whole. Each rank writes its part of a .npy; of other formats, and what
// is no regular file, rank 0 writes all. Of rank 0 *made is the file, also where that fails; of
// others NULL.
bool ranks_write(rank_world *r, const char *path, value_format format, permc_value *v,
                 output_file **made, error *failure);
// When all are written: they get their names. What was tried is NULL then.
bool ranks_commit(rank_world *r, output_file **made, size_t count, error *failure);

// ---- launchers -------------------------------------------------------------------------------

// How this process was started: with others, by mpirun or torchrun.
typedef struct ranks_launch {
  const char *launcher, *transport;
  uint32_t rank, count, local;  // count 0: the transport knows; local: the rank on this machine
  const char *child_of;         // alone, but started by a rank of this launcher; or NULL
} ranks_launch;
bool ranks_launched(ranks_launch *out);  // false: alone

#endif
