// The compiling executor of the CPU backend: writes a Plan as C text (kernels/emit/emit.h), has the
// system's C compiler make a shared object of it, and executes its passes. What was compiled is
// kept in the cache on disk.
//
//   compiled *e = compiled_new(p, &(compiled_options){.interrupted = &flag}, &status, &failure);
//   cpu_run(p, &(cpu_options){.executor = &(cpu_executor){compiled_pass, e}}, ...);
//   compiled_free(e);
//
//   compiler.c   finds and runs the C compiler
//   cache.c      shared objects on disk, and the folders in which compilers work
//   digest.c     the names and check sums of both
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
  const atomic_bool *interrupted;         // ends the compiler, too; may be NULL
  bool no_cache;                          // nothing is looked up, nothing kept
  uint64_t stream_bytes;                  // as in c_options; 0: what is best here
  const struct bank_layout_kind *layout;  // as in c_options
  uint64_t layout_seed;
  unsigned compilers;  // at once; 0: as many as there are processors
} compiled_options;

typedef enum compiled_status {
  COMPILED,
  COMPILED_CACHED,       // ... some time ago
  COMPILED_UNAVAILABLE,  // there is no compiler, or it failed, or it had too much to do: another
                         // executor will do
  COMPILED_FAILED        // none will: a foreign function, interrupted, out of memory
} compiled_status;

// Prepares `p`, which must outlive the executor. NULL: *status and *failure say why.
compiled *compiled_new(const plan *p, const compiled_options *o, compiled_status *status,
                       cpu_failure *failure);
void compiled_free(compiled *e);  // NULL is allowed

// How it executes a pass: for cpu_executor, with the compiled as `with`.
cpu_work compiled_pass(void *with, uint32_t pass);

// The entry of the shared object, permc_entry (kernels/text/host.h): takes a host and the arrays of
// c_entry_arrays. And what its passes are to be given as imports.
void (*compiled_entry(const compiled *e))(void);
const permc_imports *compiled_imports(const compiled *e);

// Arrays of so many bytes are stored past the caches.
#define COMPILED_STREAM_BYTES (UINT64_C(1) << 23)

// More C than this is left uncompiled: a compiler would take a minute or more.
#define COMPILED_MOST_BYTES (UINT64_C(1) << 22)

// The C text of a plan in one file, as compiled_new would have it compiled. False: *problem says
// what of the plan cannot be written (valid until the next call of the thread), or memory is out.
bool compiled_text(const plan *p, const compiled_options *o, text *out, const char **problem);

#endif
