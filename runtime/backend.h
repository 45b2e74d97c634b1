// The backends: ways to execute a Trace, as rows of one table.
//
//   interp     the oracle: the Trace itself, step by step
//   cpu        Net, Plan, compiled for this machine (runtime/compiled.h); where there is no
//   compiler,
//              as portable
//   portable   Net, Plan, executed by C code that is part of permc (runtime/portable.h)
#ifndef PERMC_RUNTIME_BACKEND_H
#define PERMC_RUNTIME_BACKEND_H

#include "fusion/plan.h"
#include "lang/trace.h"
#include "runtime/pipeline.h"

typedef struct backend_run {
  permc_context *context;
  arena *memory;  // of this run
  const trace *trace;
  array *arguments;  // consumed
  size_t argument_count;
  array *results;  // by number; {0} on entry
} backend_run;

typedef struct backend {
  const char *name, *summary;
  bool (*run)(backend_run *r);  // false: reported
} backend;

// Whether there is a backend of that name (NULL and "auto": yes); if not, it is reported.
bool backend_exists(permc_context *c, const char *name);
// NULL or "auto": chosen by the size of the data.
const backend *backend_for(const char *name, const trace *t);

// A trace's Net and Plan. Each is verified; *wrong is NULL, or the sentence.
typedef struct lowered_program {
  net *net;
  plan *plan;
} lowered_program;
bool backend_plan(permc_context *c, arena *memory, const trace *t, const target *machine,
                  lowered_program *out);
// What this machine is to the planner.
const target *backend_target(const permc_context *c);

#endif
