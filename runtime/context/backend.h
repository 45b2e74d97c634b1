// What a backend is: a way to execute what the pipeline (runtime/pipeline.h) makes of a program.
//
//   interp     the oracle: the Trace itself, step by step
//   cpu        a Plan for this machine, compiled (runtime/compiled/compiled.h)
//   portable   the same Plan, executed by C code that is part of permc (runtime/portable/portable.h)
//   auto       the same Plan, portable at first, compiled where that is worth it
//              (runtime/adaptive/adaptive.h); the pipeline takes interp or cuda instead where the cost
//              model says so
//   cuda       a Plan for a GPU, compiled (runtime/gpu/program.h)
//
// A backend takes a verified Trace, Plan or text, and never makes one. One that was asked for by
// name and lacks what it needs is an error.
#ifndef PERMC_RUNTIME_CONTEXT_BACKEND_H
#define PERMC_RUNTIME_CONTEXT_BACKEND_H

#include "kernels/emit/emit.h"
#include "lang/trace.h"
#include "runtime/context/context.h"
#include "runtime/cpu/storage.h"
#include "runtime/model/model.h"
#include "runtime/values/value.h"

// A program for one backend, which runs it any number of times.
typedef struct backend_program {
  permc_context *context;
  arena *memory;  // of the compilation: not to be asked for more by `execute`
  const trace *trace;
  const plan *plan;  // NULL: the backend executes the Trace
  c_code *code;      // the Plan's text, which goes after `prepare`; NULL: the backend has none
  const cost_model *model;  // of trace and plan; NULL: the backend was asked for by name
  void *state;              // the backend's own; NULL on entry to `prepare`
  progress progress;        // to be told how many texts `prepare` has compiled, of several
  bool on_ranks;            // the plan is of a net in shares, for `executor` or `devices`
} backend_program;

typedef struct backend_run {
  array *arguments;
  size_t argument_count;
  bool keep;          // arguments stay the caller's, neither written to nor freed; else: consumed
  array *results;     // by number, {0}
  progress progress;  // to be told how many elements are done
} backend_run;

// A run on memory that is the caller's: where each array of the plan lies (runtime/cpu/storage.h).
typedef struct backend_call {
  void **data;              // by array of the plan; on a GPU, its addresses
  void *temporaries;        // of passes, while they run
  struct cpu_store *store;  // of the processor: one call's at a time
  void *stream;             // of a GPU: where the work goes; it is not waited for
  void *kept;               // ... what has the workspace, where it stays for later calls
} backend_call;

typedef enum backend_status {
  BACKEND_READY,
  BACKEND_FAILED,  // reported
  BACKEND_MISSING  // what it needs is not here: *why says what
} backend_status;

enum { BACKEND_WHY = 512 };

typedef struct backend {
  const char *name, *summary;
  const char *target;     // that it plans for: a name, or "" for this machine; NULL: no Plan
  bool at_hand;           // the machine is here: a target that permc_tune has stored will do
  uint64_t stream_bytes;  // of the text's options (kernels/emit/emit.h); 0: it needs no text
  // What can be known before there is a Plan. NULL: nothing has to be there.
  backend_status (*open)(permc_context *c, char why[BACKEND_WHY]);
  // The name under which permc_tune stores targets for its device. False: there is no device. NULL:
  // it is the processor.
  bool (*name_device)(const permc_context *c, char name[BACKEND_WHY]);
  // The most fast memory of a tile that its device has. 0: what the target says. NULL: the same.
  uint64_t (*tile_bytes)(const permc_context *c);
  backend_status (*prepare)(backend_program *p, char why[BACKEND_WHY]);
  bool (*execute)(backend_program *p, backend_run *r);  // false: reported
  // The same on the caller's memory, by several threads at once. NULL: there is nothing of the
  // kind.
  bool (*call)(const backend_program *p, const backend_call *call, error *failure);
  // How it executes the passes, for the places of arrays: of those that have `call`. `passes`, by
  // pass, are zeros at first.
  void (*passes)(const backend_program *p, storage_pass *passes);
  // Memory for the arrays between passes of one call, where it is not the host's: false, or (bytes
  // are 0) given back.
  bool (*workspace)(const backend_program *p, backend_call *call, uint64_t bytes, void **memory,
                    error *failure);
  // Waits for the call, and copies from that memory to the host's.
  bool (*fetch)(const backend_program *p, const backend_call *call, void *to, const void *from,
                uint64_t bytes, error *failure);
  // What executes its passes, of several runs at once: for ranks (runtime/ranks). NULL: none is.
  const struct cpu_executor *(*executor)(const backend_program *p);
  // The same on arrays in the memory of the ranks' GPUs. NULL: there are none.
  const struct ranks_devices *(*devices)(const backend_program *p);
  void (*release)(backend_program *p);  // frees the state, if there is one
  // As permc_time_call, or with copy_bytes permc_time_copy. NULL: it has no clock of its own.
  bool (*time)(backend_program *p, uint64_t copy_bytes, unsigned runs, double *seconds);
  // The most roots of a table, as a power of two: others are computed. NULL, or 0: what c_emit
  // takes.
  uint32_t (*root_bits)(const permc_context *c);
  // The device that it runs on: "NVIDIA H200, CUDA 13.0". NULL: the processor.
  const char *(*device)(const backend_program *p);
} backend;

extern const backend auto_backend, interp_backend, cpu_backend, portable_backend, cuda_backend;

// The options of the text that this backend compiles.
static inline c_options backend_text_options(const backend *b, const permc_context *c) {
  return (c_options){.stream_bytes = b->stream_bytes,
                     .layout = c->layout,
                     .layout_seed = c->layout_seed,
                     .root_bits = b->root_bits ? b->root_bits(c) : 0};
}

// Reports a run that failed: at its step; without one, memory was out. Returns false.
bool backend_fail(backend_program *p, const error *failure);

// The types and shapes of a run's results, which are arrays of one dimension by then.
void backend_shape_results(const trace *t, array *results);

#endif
