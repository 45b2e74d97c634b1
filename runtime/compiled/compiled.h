// The compiling executor of the CPU backend: has the system's C compiler make a shared object of a
// Plan's C text (kernels/emit/emit.h), and executes its passes.
//
//   in    a Plan
//   out   an executor for cpu_run (runtime/cpu/cpu.h)
//
//   compiled_status status;
//   compiled *e = compiled_new(p, &(compiled_options){.interrupted = &flag}, &status, &failure);
//   cpu_executor executor = {compiled_pass, e, compiled_in_place};
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
//   record.c     which limits the compiler has reached with a text
#ifndef PERMC_RUNTIME_COMPILED_COMPILED_H
#define PERMC_RUNTIME_COMPILED_COMPILED_H

#include "kernels/emit/emit.h"
#include "kernels/text/host.h"
#include "runtime/compiled/compiler.h"
#include "runtime/cpu/cpu.h"
#include "runtime/system/cache.h"

typedef struct compiled compiled;

// The limits that a compiler has reached with a text (0: it has not), noted in the cache under the
// key of its code: they count for the same text, compiler, options and processor alone.
compiler_limits compile_record_find(const cache *c, const char key[CACHE_KEY]);
void compile_record_keep(const cache *c, const char key[CACHE_KEY], const compiler_limits *reached);
// Whether a compiler with these limits (not 0) would reach them again. *failure says so.
bool compile_record_forbids(const compiler_limits *reached, const compiler_limits *limits,
                            error *failure);

typedef struct compiled_options {
  const char *isa;  // "native" (or NULL), "baseline", "avx2", "avx512"
  bool fuse;        // products and sums of floats may be rounded once: faster, other last bits
  bool allow_foreign;
  const atomic_bool *interrupted;  // also ends the compiler; may be NULL
  bool no_cache;                   // nothing is read from the cache or added to it
  bool only_cached;                // nothing is compiled
  unsigned compilers;              // at once; 0: as many as there are processors
  compiler_limits limits;          // of each
  progress progress;               // told how many texts are compiled, where there are several
} compiled_options;

typedef enum compiled_status {
  COMPILED,
  COMPILED_CACHED,      // compiled earlier
  COMPILED_NOT_CACHED,  // asked for with only_cached
  // No compiler, or it failed or reached a limit (now or earlier), or too much text: use another
  // executor.
  COMPILED_UNAVAILABLE,
  COMPILED_FAILED  // another one would fail, too: foreign function, interrupt, out of memory
} compiled_status;

// Prepares `p`, which must outlive the executor, from its text. NULL: *status and *failure say why.
compiled *compiled_new(const plan *p, const c_code *code, const compiled_options *o,
                       compiled_status *status, error *failure);
void compiled_free(compiled *e);  // NULL is allowed

// The same on a thread of its own. Takes over the text; `isa` must live as long. NULL: out of
// memory, and the text stays.
typedef struct compilation compilation;
compilation *compilation_begin(c_code *code, const compiled_options *o);
bool compilation_has_ended(const compilation *c);
// Until it has ended, for so many seconds, or until *interrupted (may be NULL) is true.
void compilation_wait(const compilation *c, double seconds, const atomic_bool *interrupted);
// Of one that has ended: the executor of the plan that the text is of. NULL: *failure. Frees `c`.
compiled *compilation_take(compilation *c, const plan *p, const compiled_options *o,
                           error *failure);
// Stops the compiler, frees `c`. NULL is allowed.
void compilation_end(compilation *c);

// How it executes a pass: for cpu_executor, with the compiled as `with`.
cpu_work compiled_pass(void *with, uint32_t pass);
bool compiled_in_place(const void *with, uint32_t pass);
// Which passes are executed uncompiled, as their text is too much (c_code_bound); "": none.
const char *compiled_note(const compiled *e);

// Arrays of so many bytes are stored past the caches.
#define COMPILED_STREAM_BYTES (UINT64_C(1) << 23)

#endif
