// The pipeline: an entry of a loaded program, at given arguments, to a program that a backend runs.
//
//   .perm ─▶ lang ─▶ Trace ─▶ fusion ─▶ Net ─▶ Plan ─▶ kernels ─▶ C, CUDA text ─▶ a backend
//
//   pipeline p;
//   pipeline_request r = {.entry = "main", .types = "[2^4]u32", .last = STAGE_PLAN};
//   if (pipeline_make(c, &r, &p))
//     plan_print(&out, p.plan);
//   pipeline_free(&p);
//
// Each product is verified before the next one is made of it, and can be printed: tree and types of
// the loaded program, the others as they are made.
//
//   stage          product                                                        printed by
//   STAGE_TRACE    straight-line steps at one size (lang/trace.h)                 trace
//   STAGE_PLAN     ops on index spaces (fusion/net/net.h), rewritten;             net
//                  for ranks, in shares (fusion/shares/shares.h), or for arrays in files
//                  in steps (fusion/external/external.h);
//                  passes over memory (fusion/plan/plan.h)                        plan
//   STAGE_TEXT     their C or CUDA text (kernels/emit/emit.h)                     c, cuda
//   STAGE_PROGRAM  what the backend has made of it (runtime/context/backend.h)
#ifndef PERMC_RUNTIME_PIPELINE_H
#define PERMC_RUNTIME_PIPELINE_H

#include "fusion/external/external.h"
#include "fusion/plan/plan.h"
#include "fusion/rules/rules.h"
#include "fusion/shares/shares.h"
#include "runtime/arguments/arguments.h"
#include "runtime/context/backend.h"

typedef enum pipeline_stage { STAGE_TRACE, STAGE_PLAN, STAGE_TEXT, STAGE_PROGRAM } pipeline_stage;

typedef struct pipeline_request {
  const char *entry;
  pipeline_stage last;  // the last product that is wanted
  // The arguments, in one of three ways.
  permc_value *const *arguments;
  size_t argument_count;
  const char *types;  // "[2^24]u32 [8](u32, f64) 5": types, or values
  const permc_size *sizes;
  size_t size_count;
  bool some_sizes;  // ... of them; those that are not given are `other`, integers `guess`
  int64_t other, guess;
  // What is planned for.
  const char *backend;  // NULL or "auto": chosen by the cost model
  bool laws;            // results are those of the laws that it promises (lang/trace.h)
  bool often;           // it will run many times: what that takes counts, not what it takes once
  bool shows_times;     // that are predicted, to a user: this machine is measured before
  const char *target;   // instead of the backend's: a name, or a file (fusion/target/target.h)
  uint32_t ranks;       // a power of two: the Plan is of shares of so many ranks; 0: it is for one
  uint64_t
      memory;  // bytes: arrays are in files, and the Plan is of steps by so much; 0: they are not
} pipeline_request;

typedef struct pipeline {
  arena memory;  // of all products
  arena loops;   // of the Net, where loops are planned once
  binding *entry;
  permc_value **typed;  // arguments whose types were given in words; NULL: none
  size_t typed_count;
  argument_shapes shapes;
  bool has_static;    // arguments are part of the program: a matrix, say, for this run alone
  const target *own;  // what the Trace is for: what was asked for, or the machine's own target
  trace trace;
  result_parts result;  // how the trace's results make up the entry's
  cost_model model;
  const backend *backend;
  const target *target;  // as it was tuned
  rule_log rules;        // that fired
  net *net;
  const shares *shares;   // of the net, for ranks; or NULL
  const external *steps;  // of the net, for arrays in files; or NULL
  plan *plan;             // of the net in shares, or of the steps' net, or else of the net
  bool tuned;             // for a target that permc_tune has stored
  c_code code;            // until the backend has compiled it
  backend_program program;
} pipeline;

// The whole way, as far as r->last. False: reported. In both cases pipeline_free ends it. Runs on a
// stack for nested programs (context_run_job).
bool pipeline_make(permc_context *c, const pipeline_request *r, pipeline *p);
void pipeline_free(pipeline *p);

// The same for callers of the API: makes the products, hands them to `use`, frees them. False:
// reported, or `use` has returned false.
typedef bool pipeline_use(permc_context *c, pipeline *p, void *with);
bool pipeline_with(permc_context *c, const pipeline_request *r, pipeline_use *use, void *with);

// What `auto` begins with, on the processor, where the model is of a Trace.
const backend *pipeline_auto(const permc_context *c, const pipeline_request *r,
                             const cost_model *m);

// NULL: there is no backend of that name, which is reported.
const backend *pipeline_backend(permc_context *c, const char *name);

#endif
