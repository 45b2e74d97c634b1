// The compiling executor of the CPU backend: has the system's C compiler make a shared object of a
// Plan's C text (kernels/emit/emit.h), and executes its passes.
//
//   in    a Plan
//   out   an executor for cpu_run (runtime/cpu/cpu.h)
//
//   compiled_status status;
//   compiled *e = compiled_new(p, &(compiled_options){.interrupted = &flag}, &status, &failure);
//   cpu_executor executor = {compiled_pass, e};
//   cpu_run(p, &(cpu_options){.executor = &executor}, arguments, count, results, &failure);
//   compiled_free(e);
//
// What happens for a plan of three passes, on two processors:
//
//   c_emit                     definitions, pass 0, pass 1, pass 2
//   c_code_split               file 0: passes 0, 1       file 1: pass 2
//   cc -c, both at once        object 0                  object 1
//   cc -shared                 code.so, which the cache (runtime/system/cache.h) takes under a key:
//                              the digest of text, compiler, options and processor
//   dlopen                     permc_passes[0], [1], [2]
//
//   compiler.h   finds and runs the C compiler (a door of its own: it knows nothing of plans)
//   compiled.c   from text to an executor
#ifndef PERMC_RUNTIME_COMPILED_COMPILED_H
#define PERMC_RUNTIME_COMPILED_COMPILED_H

#include "kernels/emit/emit.h"
#include "kernels/text/host.h"
#include "runtime/cpu/cpu.h"

typedef struct compiled compiled;

typedef struct compiled_options {
  const char *isa;  // "native" (or NULL), "baseline", "avx2", "avx512"
  bool fuse;        // products and sums of floats may be rounded once: faster, other last bits
  bool allow_foreign;
  const atomic_bool *interrupted;  // also ends the compiler; may be NULL
  bool no_cache;                   // nothing is read from the cache or added to it
  unsigned compilers;              // at once; 0: as many as there are processors
} compiled_options;

typedef enum compiled_status {
  COMPILED,
  COMPILED_CACHED,       // compiled earlier
  COMPILED_UNAVAILABLE,  // no compiler, or it failed, or too much text: use another executor
  COMPILED_FAILED        // another one would fail, too: foreign function, interrupt, out of memory
} compiled_status;

// Prepares `p`, which must outlive the executor, from its text. NULL: *status and *failure say why.
compiled *compiled_new(const plan *p, const c_code *code, const compiled_options *o,
                       compiled_status *status, error *failure);
void compiled_free(compiled *e);  // NULL is allowed

// How it executes a pass: for cpu_executor, with the compiled as `with`.
cpu_work compiled_pass(void *with, uint32_t pass);

// Arrays of so many bytes are stored past the caches.
#define COMPILED_STREAM_BYTES (UINT64_C(1) << 23)

// More C than this is left uncompiled: a compiler would take a minute or more.
#define COMPILED_MOST_BYTES (UINT64_C(1) << 22)

#endif
