// What is inside a permc_context: a loaded program, the settings, the messages of the last call.
//
//   permc_context *c                      one program at a time, for one thread at a time
//   context_begin_call(c);                forgets messages and interrupts of the call before
//   context_run_job(c, job, with);        on a stack for nested programs, memory failures caught
//   context_error(c, "...");              what permc_message shows
//
// Comes in: .perm text (lang/load/program.h) and settings. Goes out: the program, for the pipeline.
//
//   context.c    contexts, messages, jobs
//   backend.h    what a backend is: the rooms of the backends implement it, the pipeline calls them
#ifndef PERMC_RUNTIME_CONTEXT_CONTEXT_H
#define PERMC_RUNTIME_CONTEXT_CONTEXT_H

#include "core/progress.h"
#include "lang/load/program.h"
#include "runtime/permc.h"
#include <pthread.h>
#include <stdatomic.h>

// What is worth a warning once in the life of a context.
typedef enum context_warning {
  WARNING_NO_COMPILER,
  WARNING_NO_STRATEGY,
  WARNING_NO_LAYOUT,
  WARNING_GPU_FAILED,
  WARNING_COUNT
} context_warning;

// A device that stays open as long as the context.
typedef struct context_device {
  void *open;  // NULL: not opened
  void (*close)(void *open);
} context_device;

enum { CONTEXT_GPUS = 16 };

struct permc_context {
  loaded_program program;
  arena memory;      // of the call in progress: gone when the next one begins
  bool in_job;       // it is in context_run_job
  bool interrupted;  // its last job failed after permc_interrupt
  permc_code code;   // of its first error, where that was said; PERMC_OK: it is of the program
  bool half_loaded;  // the last load failed: what is there of its program is not to be used
  bool allow_extern;
  bool untrusted;  // see permc_use_untrusted
  permc_times times;
  permc_progress_report *report_progress;  // NULL: nobody wants to know
  void *report_with;
  permc_progress progress;
  atomic_bool stop;  // permc_interrupt was called since the first of the calls in progress began
  unsigned calls;    // in progress: one on the context itself, any number of permc_call
  uint32_t forks;    // of the process that counts them; both with lock_of the context
  limits limits;     // of elaboration; tests lower them
  unsigned threads;  // of the cpu backend; 0: all processors (context_threads)
  const struct plan_strategy *strategy;   // NULL: the cheapest
  const struct bank_layout_kind *layout;  // of exchanges (kernels/banks/banks.h); NULL: optimal
  uint64_t layout_seed;
  size_t passes;                             // of the last plan; 0: none was made
  double predicted;                          // seconds of a call of the last program
  const char *isa;                           // that programs are compiled for; NULL: this machine's
  bool fuse;                                 // floats: see permc_use_fast_floats
  uint64_t compile_seconds, compile_memory;  // of the C compiler; 0: the default
  bool gpu_failed;                           // in the middle of a run: `auto` takes it no more
  int32_t device;                            // the GPU that programs are compiled for
  unsigned peer_count;                // the GPUs that share what is compiled, that one first;
  int peers[CONTEXT_GPUS];            // 0 or 1 of them: it alone
  context_device gpus[CONTEXT_GPUS];  // each a cuda_device (runtime/cuda/cuda.h), by number
  bool warned[WARNING_COUNT];
  struct tuned_trial *trial;  // of permc_tune (runtime/tuned/tuned.h); NULL: none is at work
  bool in_place;              // jobs run on the caller's stack: of tests, whose programs are small
  struct rank_world
      *ranks;  // that runs are shared among (runtime/ranks/ranks.h); NULL: there are none
  void (*end_ranks)(struct rank_world *ranks);
  struct rank_world *refused;  // they refused each other, and end when that is said
  uint64_t file_memory;  // of runs on arrays in files (permc_use_files); 0: arrays are in memory
  char *file_folder;     // ... where these files are
  bool file_resume;      // ... whose folder stays, for the same run later
  int file_lock;         // ... and which keeps others out of it (run.h); -1: none
};

static inline context_device *context_gpu(permc_context *c) { return &c->gpus[c->device]; }
unsigned context_threads(const permc_context *c);

// ---- messages --------------------------------------------------------------------------------

void context_clear(permc_context *c);  // forgets the messages of the last call
// At the start of a call of the API: the same, and forgets an interrupt from before. The calls that
// permc_tune makes are parts of one call.
void context_begin_call(permc_context *c);
void context_unlock_files(permc_context *c);  // others may go on in the folder of the last run
// Around what an interrupt ends: jobs (which do this themselves), and permc_call in any thread.
void context_enter(permc_context *c);
void context_leave(permc_context *c);
// "permc: ...": errors of the program have a place. Returns false, for the caller to return.
bool context_error_of(permc_context *c, permc_code code, const char *format, ...) PRINTF_LIKE(3, 4);
// The same of what the call was given.
#define context_error(c, ...) context_error_of(c, PERMC_ERROR_ARGUMENT, __VA_ARGS__)
// Whether a pointer that the call was given is one: "... is NULL".
bool context_given(permc_context *c, const void *pointer, const char *what);
bool context_given_list(permc_context *c, const void *list, size_t count, const char *what);
bool context_given_sizes(permc_context *c, const permc_size *sizes, size_t count);
// The same of where a list of values goes, which becomes empty.
bool context_results(permc_context *c, permc_value ***values, size_t *count);
bool context_no_memory(permc_context *c);  // "out of memory"
// A warning, unless the context has shown one of this kind before.
void context_warn_once(permc_context *c, context_warning kind, const char *format, ...)
    PRINTF_LIKE(3, 4);
// For functions that several threads may call at once: in *e (which may be NULL) instead of the
// context. The message loses its final newline. Returns the code.
permc_code failure_set(permc_error *e, permc_code code, const char *format, ...) PRINTF_LIKE(3, 4);
// What such a function has said, as the message of the context. Returns false.
bool context_fail(permc_context *c, const permc_error *e);
// That a program runs uncompiled, and why.
void context_warn_uncompiled(permc_context *c, const char *why);
void context_truncate_messages(permc_context *c, size_t length);
// That an allocation in `memory` failed: at its limit, or there is no more. `entry`: what was
// evaluated, or NULL.
void context_report_memory(permc_context *c, const arena *memory, const binding *entry);

// ---- jobs ------------------------------------------------------------------------------------

// Runs `job` on a thread of its own with a stack that nested programs need, with memory failures
// caught. False: the job returned false, or memory was out (reported).
typedef bool context_job(permc_context *c, void *with);
bool context_run_job(permc_context *c, context_job *job, void *with);
// The same on the caller's stack: for jobs that do not recurse.
bool context_run_here(permc_context *c, context_job *job, void *with);
// Inside of a job: does the part, then ends what it holds besides arenas, also where memory ends in
// it.
bool context_do_and_end(permc_context *c, context_job *part, void (*end)(void *with), void *with);

// A stage of the call begins, and is reported: permc_on_progress. `unit`: what its work is counted
// in. The result tells how far it is; it may be ignored.
progress context_begin_stage(permc_context *c, const char *stage, const char *unit);
void context_end_stages(permc_context *c);  // the call is over; jobs do this themselves

// ---- entries ---------------------------------------------------------------------------------

binding *context_entry(permc_context *c, const char *name);           // or NULL, reported
const char *context_entry_type(permc_context *c, const char *entry);  // as permc_entry_type
size_t context_parameter_count(permc_context *c, const char *entry);  // as permc_parameter_count
const char *context_program_name(const permc_context *c);             // of its file
size_t context_array_count(type *t);  // arrays that a value of that type is made of
const char *context_shown_type(permc_context *c, type *t);  // in the memory of the call

#endif
