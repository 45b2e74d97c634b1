// What is inside a permc_context: for the files that make up its API.
//
//   context.c      contexts, messages, loading
//   check.c        trying an entry at sizes
//   run.c          running an entry: elaborate, then a backend (backend.h)
//   values.c       values as embedders see them
//   arguments.c    data to arguments: which types an entry takes, reading
//   random.c       arguments at random
//   tune.c         measuring plans for other targets (tune.h)
#ifndef PERMC_RUNTIME_PIPELINE_H
#define PERMC_RUNTIME_PIPELINE_H

#include "lang/load/program.h"
#include "runtime/context.h"
#include <stdatomic.h>

struct permc_context {
  loaded_program program;
  bool half_loaded;  // the last load failed: what is there of its program is not to be used
  bool allow_extern;
  permc_times times;
  atomic_bool stop;                       // permc_interrupt was called since the last call began
  limits limits;                          // of elaboration; tests lower them
  unsigned threads;                       // of the cpu backend; 0: all processors
  const struct plan_strategy *strategy;   // NULL: the cheapest
  const struct bank_layout_kind *layout;  // of exchanges (kernels/banks/banks.h); NULL: optimal
  uint64_t layout_seed;
  size_t passes;              // of the last plan; 0: none was made
  const char *isa;            // that programs are compiled for; NULL: this machine's
  bool fuse;                  // floats: see permc_use_fast_floats
  bool told_uncompiled;       // that there is no compiler
  struct cuda_device *gpu;    // NULL: not opened
  void *stream;               // the caller's, for the GPU; NULL: its own
  bool told_no_gpu;           // that there is none
  bool told_no_machine;       // that the memory machines do not know a program
  struct tuned_trial *trial;  // of permc_tune (runtime/tuned/tuned.h); NULL: none is at work
  bool in_place;              // jobs run on the caller's stack: of tests, whose programs are small
};

// Runs `job` on a thread of its own with a stack that nested programs need, with memory failures
// caught. False: the job returned false, or memory was out (reported).
typedef bool context_job(permc_context *c, void *with);
bool context_run_job(permc_context *c, context_job *job, void *with);

// The same on the caller's stack: for jobs that do not recurse.
bool context_run_here(permc_context *c, context_job *job, void *with);

double context_now(void);  // seconds
void context_truncate(text *t, size_t length);
// Memory that ran out between two looks of elaboration at its limit.
void context_report_memory(permc_context *c, const binding *b);
void context_clear(permc_context *c);  // forgets the messages of the last call
// At the start of a call of the API: the same, and forgets an interrupt from before. The calls that
// permc_tune makes are parts of one call.
void context_begin_call(permc_context *c);
void context_error(permc_context *c, const char *format, ...) PRINTF_LIKE(2, 3);  // "permc: ..."
binding *context_entry(permc_context *c, const char *name);  // or NULL, reported

size_t context_array_count(type *t);  // arrays that a value of that type is made of
const char *context_shown_type(permc_context *c, type *t);  // in the context's memory

// An entry's types while arguments are being fitted to it.
typedef struct entry_types {
  binding *entry;
  type *rest;       // the type after the parameters fitted so far
  type **instance;  // what the entry's type variables became
} entry_types;
entry_types entry_types_start(permc_context *c, binding *entry);
// Makes the next parameter's type and the value agree; false (reported) if they cannot.
bool entry_types_fit(permc_context *c, entry_types *t, const permc_value *v, size_t number);
// Type variables that no argument decides become their defaults.
void entry_types_finish(permc_context *c, entry_types *t);

#endif
