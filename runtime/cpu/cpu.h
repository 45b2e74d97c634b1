// Runs the passes of a Plan on the processors of this machine: memory for the arrays between the
// passes, and the threads that share the items of each pass. An executor knows how to execute the
// items: the portable one (runtime/portable/portable.h) or compiled code
// (runtime/compiled/compiled.h).
//
//   in    a Plan, an executor for it, the arguments
//   out   the results, or a message
//
//   portable *e = portable_new(p, &(portable_options){.interrupted = &flag}, &failure);
//   cpu_executor executor = {portable_pass, e};
//   cpu_options o = {.threads = 4, .executor = &executor};
//   bool good = cpu_run(p, &o, arguments, argument_count, results, &failure);
//
// Items. A pass works on blocks (cosets of its tile) for each iteration of its stage's loops. Here
// n = 3, the tile has dimension 2 and the loop three iterations: the pass has 2 * 3 = 6 items, and
// two threads take them in chunks.
//
//   item       0 1   2 3   4 5
//   iteration   0     1     2        item i: iteration i / 2, block i mod 2
//   block      0 1   0 1   0 1
//
// Memory. Arrays of the same size share a room (storage.h), which is allocated just before the first
// pass that needs it and freed after the last. An array that a pass loads for the last time may share
// it with the array that the pass stores, if each tile stores where it loaded. Rooms are aligned to
// 64 bytes; that of an argument is its memory.
//
//   pass       0             1             2
//   loads      a0            a2            a3         all arrays of one size; a0 is an argument,
//   stores     a2            a3            a1         a1 the result
//   rooms      A -> B        B -> A        A -> B     executor not in place
//   rooms      A -> A        A -> B        B -> B     in place; pass 1 stores to other addresses
//
//   cpu.c        memory, threads, a whole run
//   sweeps.c     items that may be executed at one time, where blocks overlap
//   storage.c    where arrays lie, by their lifetimes (its own door: storage.h)
//   externs.c    the foreign functions that an executor calls
//   ranges.c     the names of passes for profilers (its own door: ranges.h)
//   roots.c      tables of roots of unity for generated code (its own door: roots.h)
#ifndef PERMC_RUNTIME_CPU_CPU_H
#define PERMC_RUNTIME_CPU_CPU_H

#include "core/error.h"
#include "core/progress.h"
#include "fusion/plan/plan.h"
#include "runtime/cpu/storage.h"
#include "runtime/foreign/foreign.h"
#include "runtime/values/value.h"
#include <stdatomic.h>

// ---- executors -------------------------------------------------------------------------------

// Executes the items first, ..., last - 1 of a pass. Item i is block i mod 2^(n-d) of the iteration
// i / 2^(n-d) of the loops: the last loop is the fastest; block b is the coset of the sum of those
// vectors `blocks[j]` for which bit j of b is 1. `arrays` is by number of the plan's array.
// `scratch` is this thread's own, aligned to 64 bytes, zeros at first. False: out of memory, or
// interrupted.
typedef bool cpu_items(void *with, uint32_t pass, void *const *arrays, uint64_t first,
                       uint64_t last, void *scratch);

typedef struct cpu_work {
  cpu_items *run;
  void *with;
  uint64_t scratch_bytes;  // per thread
  uint64_t granularity;    // `first` and `last` are multiples of it: 2^g blocks (0: 1)
  uint64_t chunk;          // items that make a call worth while (0: 1)
  uint32_t threads;        // at most (0: those of the run)
} cpu_work;

// How to execute each pass of a plan.
typedef struct cpu_executor {
  cpu_work (*pass)(void *with, uint32_t pass);  // asked when the pass begins
  void *with;
  // Whether an array loaded and one stored may share memory, as said above: asked before all passes
  // begin. NULL: they may.
  bool (*in_place)(const void *with, uint32_t pass);
} cpu_executor;

// ---- runs ------------------------------------------------------------------------------------

// The scratch memory of threads, for further runs in place, so that it is faulted in once. One run
// at a time uses it.
typedef struct cpu_store cpu_store;
cpu_store *cpu_store_new(void);     // NULL: out of memory
void cpu_store_free(cpu_store *s);  // NULL is allowed

typedef struct cpu_options {
  uint32_t threads;                // 0: as many as there are processors for this process
  const atomic_bool *interrupted;  // read between chunks of items; may be NULL
  const cpu_executor *executor;
  bool borrow_arguments;  // they stay the caller's: neither written to nor freed
  cpu_store *store;       // of runs in place; cpu_run has its own
  progress progress;      // told the elements done, of all passes together
} cpu_options;

// Runs `p`, which plan_verify has accepted. The arguments are consumed, also on failure (but for
// borrow_arguments): each one's data is taken over, freed as soon as it is dead, and the array is
// set to {0}. `results`, by number, {0} at first, are the caller's also on failure; type, data
// (malloc'ed) and, as one dimension, their count are set, and the caller sets the true dimensions.
bool cpu_run(const plan *p, const cpu_options *o, array *arguments, size_t argument_count,
             array *results, error *failure);

// The same where each array has its place already (storage.h), by number of the plan's array:
// nothing is allocated, but scratch memory in the store, which must be there, as must the number of
// threads.
bool cpu_run_in_place(const plan *p, const cpu_options *o, void **data, error *failure);

// Of one pass, and of its items those of a share (plan_share_items); a routine is one item. Only
// the elements that these items load and store need to be there: an array of which a part is may
// have the place where all of it would begin.
bool cpu_run_items(const plan *p, const cpu_options *o, uint32_t pass, uint64_t first,
                   uint64_t last, void **data, error *failure);

// ---- foreign functions ---------------------------------------------------------------------------

// The foreign functions of a plan, opened, for an executor.
typedef struct cpu_externs {
  size_t count;         // of the net's externs
  foreign **functions;  // by number; NULL: no pass calls it
  bool *serial;         // by pass: it calls one, so that one thread executes it
} cpu_externs;

// False: one cannot be opened, or they are not allowed (the error has the step that calls it), or
// out of memory; then nothing is open.
bool cpu_externs_open(cpu_externs *x, const plan *p, bool allowed, error *failure);
void cpu_externs_close(cpu_externs *x);  // {0} is allowed

// ---- facts of a plan that any backend needs -----------------------------------------------------

// The most bytes of arrays that a run holds at any time, arguments and results included;
// UINT64_MAX when that overflows.
uint64_t cpu_peak_bytes(arena *memory, const plan *p);
// How many items a pass has.
uint64_t cpu_item_count(const plan *p, uint32_t pass);
// The elements of an argument or table of a plan, which may have complex numbers for an argument's
// reals (net_pair_reals). False: an argument is missing, or of another type or length.
bool cpu_find_given(const net_array *wanted, const array *arguments, size_t count, void **data,
                    error *failure);
// How the executor's passes are executed: by pass, zeros at first.
void cpu_describe_passes(const plan *p, const cpu_executor *e, storage_pass *passes);
#endif
