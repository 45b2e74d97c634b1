// A program for certain arguments, ready to be executed, behind permc_run and permc_call (permc.h).
//
//   compile.c   makes it by the pipeline, and executes it: results in new memory, by ranks, on
//               files or by a backend
//   run.c       permc_run: compiles, executes once, and moves the results to the caller's values
//   call.c      permc_call: on the caller's memory where the backend can; else executes, and copies
//
// An execution has its arrays in a row: the components of all values in their order, and behind
// those of the results what the program's checks look at (lang/trace.h). A function with the
// results ([4]u32, [4](u8, f64)) and one check:
//
//   value        0    1         check 0
//   component    0    0    1
//   row          0    1    2    3             3 are returned
#ifndef PERMC_RUNTIME_COMPILE_H
#define PERMC_RUNTIME_COMPILE_H

#include "runtime/cpu/cpu.h"
#include "runtime/cpu/storage.h"
#include "runtime/pipeline.h"
#include "runtime/ranks/ranks.h"

// What one call at a time has, beside the program.
typedef struct call_state {
  struct call_state *next;
  array *arguments, *results;  // of all values, in order: as the caller has them; then the checks
  void **data;                 // by array of the plan
  void *workspace;             // NULL: not needed yet
  cpu_store *store;
} call_state;

struct permc_compiled {
  pipeline pipeline;
  size_t argument_count, result_count;
  permc_value **arguments, **results;  // without data; of permc_run no arguments
  uint32_t *origins;                   // by component of the results: trace_find_origins
  rank_world *ranks;                   // that executions are shared among; NULL: there are none
  char text[200];                      // ... what is told where they differ: see ranks_run
  // For calls.
  permc_context *context;  // whose interrupts end them
  permc_context settings;  // as they were; the messages of the call that has the lock
  bool *on_host;           // by argument: the host alone reads it, in any call
  const movement **moves;  // ... and where its places take elements, if the program knows it
  int32_t device;          // ARRAY_HOST, or the number of a GPU
  array_layout layout;     // of backends that have `call`
  call_state *idle;        // with lock_of the program
  uint32_t forks;          // of the process that compiled it (system/locks.h)
  pthread_mutex_t turn;    // of calls that execute
  uint32_t turn_forks;     // ... and those of the lock
};

// Sets the results' types, and what else both need, of a program that is {0}. The request's last
// stage, ranks and memory are set here: those of the context, but no ranks or files for laws, and
// no files for what runs often. In a job. False: reported; compiled_end frees it in both cases.
bool compiled_make(permc_context *c, pipeline_request request, permc_compiled *p);
void compiled_end(permc_compiled *p);
void call_state_free(call_state *s);

// Executes it with the settings of `c`, and makes its checks. `wanted`: where ranks put the results
// that are returned; NULL, and of all else: in new memory, `results`, which the caller frees also
// on failure. Arguments that are not kept are freed. False: reported to `c`.
bool compiled_execute(permc_compiled *p, permc_context *c, array *arguments, bool keep,
                      const array *wanted, array *results);

// Gives components of results the names of those of the arguments that their elements come from.
// Quick where nothing has a name. False: out of memory.
bool compiled_name_results(const permc_compiled *p, permc_value *const *arguments,
                           permc_value *const *results);

#endif
