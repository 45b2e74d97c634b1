// The backends: ways to execute a Trace, as rows of one table.
//
//   interp     the oracle: the Trace itself, step by step
//   cpu        Net, Plan, compiled for this machine (runtime/compiled/compiled.h); where there is
//              no compiler, as portable
//   portable   Net, Plan, executed by C code that is part of permc (runtime/portable/portable.h)
//   cuda       Net, Plan, compiled for a GPU (runtime/cuda/program.h); where there is none, as cpu
//   machine    Net, Plan for a GPU, executed on a memory machine (kernels/hmm/plan.h), which
//              counts time units; what it does not know, as cpu
#ifndef PERMC_RUNTIME_BACKEND_H
#define PERMC_RUNTIME_BACKEND_H

#include "fusion/plan/plan.h"
#include "fusion/rules/rules.h"
#include "lang/trace.h"
#include "runtime/pipeline.h"

// A program on its way to be run on one backend, any number of times. `memory` is the
// compilation's: it lives as long as the program, and is not to be asked for more by `execute`.
typedef struct backend_program {
  permc_context *context;
  arena *memory;
  const trace *trace;
  bool has_static;  // arguments are part of the program: a matrix, say, for this run alone
  void *state;      // the backend's own; NULL on entry to `prepare`
} backend_program;

typedef struct backend_run {
  array *arguments;
  size_t argument_count;
  bool keep;       // arguments stay the caller's, neither written to nor freed; else: consumed
  array *results;  // by number: {0}, or the results of an earlier run, whose memory is to be reused
} backend_run;

typedef struct backend {
  const char *name, *summary;
  bool (*prepare)(backend_program *p);                  // false: reported
  bool (*execute)(backend_program *p, backend_run *r);  // false: reported, and results are {0}
  void (*release)(backend_program *p);                  // frees the state
  // As permc_time_on_device. NULL: it has no clock of its own.
  bool (*time)(backend_program *p, uint64_t copy_bytes, unsigned runs, double *seconds);
  // What it runs on, if that may be missing: "NVIDIA H200, CUDA 13.0"; NULL: the cpu backend has
  // it.
  const char *(*device)(const backend_program *p);
} backend;

const backend *backend_named(const char *name);  // or NULL
// Whether there is a backend of that name (NULL and "auto": yes); if not, it is reported.
bool backend_exists(permc_context *c, const char *name);
// NULL or "auto": chosen by the size of the data.
const backend *backend_for(const char *name, const trace *t);

// A trace's Net and Plan. Each is verified; *wrong is NULL, or the sentence.
typedef struct lowered_program {
  rule_log rules;  // that fired
  net *net;
  plan *plan;
  bool tuned;  // for a target that permc_tune has stored
} lowered_program;
// `here`: the machine is the one at hand, so that a target in its place will do: the one that is on
// trial (tune.h), else what an earlier permc_tune has stored for this program. `strategy`: as of
// plan_make.
bool backend_plan(permc_context *c, arena *memory, const trace *t, const target *machine, bool here,
                  const plan_strategy *strategy, lowered_program *out);
// The shapes of a run's results, which are arrays of one dimension by then.
void backend_shape_results(const trace *t, array *results);

// Another backend that works on the program, with a state of its own, for the one that was chosen.
typedef struct backend_deputy {
  const backend *row;
  void *state;
} backend_deputy;
bool backend_deputy_prepare(backend_program *p, backend_deputy *d);
bool backend_deputy_execute(backend_program *p, backend_deputy *d, backend_run *r);
void backend_deputy_release(backend_program *p, backend_deputy *d);

// The backend cuda (cuda/backend.c).
bool backend_cuda_prepare(backend_program *p);
bool backend_cuda_execute(backend_program *p, backend_run *r);
void backend_cuda_release(backend_program *p);
const char *backend_cuda_device(const backend_program *p);
bool backend_cuda_time(backend_program *p, uint64_t copy_bytes, unsigned runs, double *seconds);

// The backend machine (hmm/backend.c).
bool backend_hmm_prepare(backend_program *p);
bool backend_hmm_execute(backend_program *p, backend_run *r);
void backend_hmm_release(backend_program *p);
const char *backend_hmm_device(const backend_program *p);

// What this machine is to the planner.
const target *backend_target(const permc_context *c);

#endif
