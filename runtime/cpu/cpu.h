// The driver of the CPU backend: executes a Plan's passes in order. It owns the arrays between the
// passes and the threads; how the items of one pass are executed is an executor's business
// (portable.h; compiled code).
//
//   cpu_failure failure;
//   cpu_options o = {.allow_foreign = false};             // all processors, portable executor
//   bool good = cpu_run(p, &o, arguments, argument_count, results, &failure);
//
// The same in steps, for a caller who has his own order of doing things (compiled code that calls
// back once per pass):
//
//   cpu_session *s = cpu_begin(p, &o, arguments, argument_count, &failure);
//   for (uint32_t i = 0; s && i < p->passes.count; i++)
//     good = good && cpu_pass(s, i, &(cpu_work){.run = ..., .with = ..., .scratch_bytes = ...});
//   good = cpu_end(s, good ? results : NULL);
//
// Memory. An array's buffer is allocated just before the first pass that stores to it and released
// after the last pass that touches it. A released buffer is kept if a later array has its size, so
// that its pages are not faulted in again; one that a pass loads for the last time may become the
// very array that the pass stores to, if each tile stores where it loaded. Buffers of the driver
// are aligned to 64 bytes; those of arguments as their owner allocated them.
#ifndef PERMC_RUNTIME_CPU_CPU_H
#define PERMC_RUNTIME_CPU_CPU_H

#include "fusion/plan/plan.h"
#include "runtime/values/value.h"
#include <stdatomic.h>

typedef struct cpu_failure {
  char message[512];  // one line, without a final full stop
  uint32_t origin;    // the Trace step that asked for it, when has_origin
  bool has_origin;
} cpu_failure;

// Writes the message, without an origin. False, for the caller to return.
bool cpu_fail(cpu_failure *failure, const char *format, ...) PRINTF_LIKE(2, 3);

// ---- executors -------------------------------------------------------------------------------

// Executes the items first, ..., last - 1 of a pass. Item i is block i mod 2^(n-d) of the iteration
// i / 2^(n-d) of the loops: the last loop is the fastest; block b is the coset of the sum of those
// vectors `blocks[j]` for which bit j of b is 1. `arrays` is by number of the plan's array.
// `scratch` is this thread's own, aligned to 64 bytes, zeros at first. False: memory ran out, or
// the run was interrupted.
typedef bool cpu_items(void *with, uint32_t pass, void *const *arrays, uint64_t first,
                       uint64_t last, void *scratch);

typedef struct cpu_work {
  cpu_items *run;
  void *with;
  uint64_t scratch_bytes;  // per thread
  uint64_t granularity;    // `first` and `last` are multiples of it: 2^g blocks (0: 1)
  uint64_t chunk;          // items that make a call worth while (0: 1)
  bool serial;             // one thread only
  bool in_place;           // an array may be loaded and stored in one buffer, as said above
} cpu_work;

// How to execute each pass of a plan.
typedef struct cpu_executor {
  cpu_work (*pass)(void *with, uint32_t pass);
  void *with;
} cpu_executor;

// ---- runs ------------------------------------------------------------------------------------

// What is kept between the runs of one plan, so that memory is faulted in once: dead buffers, and
// the threads' scratch memory.
typedef struct cpu_store cpu_store;
cpu_store *cpu_store_new(void);     // NULL: no memory
void cpu_store_free(cpu_store *s);  // NULL is allowed
// Hands over malloc'ed memory, such as that of an earlier run's result.
void cpu_store_give(cpu_store *s, void *data, uint64_t bytes);

typedef struct cpu_options {
  uint32_t threads;                // 0: as many as there are processors for this process
  bool allow_foreign;              // foreign functions may be called
  const atomic_bool *interrupted;  // looked at between chunks of items; may be NULL
  const cpu_executor *executor;    // NULL: the portable one, made for this run
  bool keep_arguments;             // they stay the caller's: neither written to nor freed
  cpu_store *store;                // NULL: nothing is kept
} cpu_options;

// Runs `p`, which plan_verify has accepted. The arguments are consumed, also on failure (but for
// keep_arguments): each one's data is taken over, freed as soon as it is dead, and the array is set
// to {0}. `results` has room for the net's results, by number; type, data (malloc'ed) and, as one
// dimension, their count are set, and the caller sets the true dimensions. On failure all are {0}.
bool cpu_run(const plan *p, const cpu_options *o, array *arguments, size_t argument_count,
             array *results, cpu_failure *failure);

typedef struct cpu_session cpu_session;

// Takes the arguments. NULL: *failure says why. The rest of a session reports there, too.
cpu_session *cpu_begin(const plan *p, const cpu_options *o, array *arguments, size_t argument_count,
                       cpu_failure *failure);
// Executes pass `pass`: 0, 1, 2, ... in this order, each once.
bool cpu_pass(cpu_session *s, uint32_t pass, const cpu_work *work);
// Ends a session (NULL: none) and hands over the results, after the last pass; `results` is NULL
// where something failed. True if there are results.
bool cpu_end(cpu_session *s, array *results);

// The most bytes of arrays that a run holds at any time, arguments and results included.
// UINT64_MAX when that overflows, or when memory for finding out is short.
uint64_t cpu_peak_bytes(const plan *p);

// How many items a pass has.
uint64_t cpu_item_count(const plan *p, uint32_t pass);

#endif
