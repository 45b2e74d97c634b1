// The system's C compiler: finding it, the options that generated code needs, running it.
//
//   in    the environment; commands
//   out   files; the first line of a compiler's output that has "error" in it
//
//   compiler c;
//   error failure = {0};
//   const char *options[COMPILER_OPTIONS];
//   if (compiler_find(&c, &failure)) {                           // "/usr/bin/cc", "cc 12.2.0"
//     size_t count = compiler_options("native", false, options); // "-std=gnu17", "-O2", ...
//     const char *words[] = {c.path, options[0], "-c", text, "-o", "/tmp/w/code.o", NULL};
//     compiler_run(&(compiler_job){words, "/tmp/w/code.o"}, 1, "/tmp/w", NULL, NULL, NULL,
//                  &failure);
//   }
//
// It is $PERMC_CC (a path, or a name to look for on PATH), else the first of cc, gcc and clang on
// PATH. No shell is used. Compilers run in process groups of their own and keep temporary files in
// a given folder, so that they can be ended, and their files removed, at any time. They have limits
// of time and memory, and end when permc ends, even if it is killed.
#ifndef PERMC_RUNTIME_COMPILED_COMPILER_H
#define PERMC_RUNTIME_COMPILED_COMPILER_H

#include "core/error.h"
#include "core/progress.h"
#include <stdatomic.h>
#include <stdint.h>

enum { COMPILER_PATH = 4096, COMPILER_OPTIONS = 80, COMPILER_JOBS = 16 };

typedef struct compiler {
  char path[COMPILER_PATH];
  char version[256];  // the first line of its answer to --version
} compiler;

// False: there is none that works, or none can be started now. What was found, or that there is
// none, is remembered for the process while PERMC_CC and PATH stay the same.
bool compiler_find(compiler *c, error *failure);

// The static string of the name of an instruction set, or NULL where this machine has none such:
// "native" (this machine's), "baseline" (that of all machines of its kind), "avx2", "avx512".
const char *compiler_isa_named(const char *name);
// The widest that this machine has, by its own name: never "native".
const char *compiler_widest_isa(void);
// Options of compilation for an instruction set. Returns how many; 0: there is none such.
size_t compiler_options(const char *isa, bool fuse, const char *options[COMPILER_OPTIONS]);

// One process: its arguments, the first the program, ending in NULL; `product` is the file it
// makes.
typedef struct compiler_job {
  const char *const *arguments;
  const char *product;
} compiler_job;

// What a job may use; 0: the default.
typedef struct compiler_limits {
  uint64_t seconds;  // from its start to its end: COMPILER_SECONDS
  uint64_t memory;   // bytes of each process: COMPILER_MEMORY, or half of the memory there is
} compiler_limits;
#define COMPILER_SECONDS UINT64_C(60)
#define COMPILER_MEMORY (UINT64_C(4) << 30)

// With the defaults in place of 0.
compiler_limits compiler_limits_of(const compiler_limits *limits);

typedef enum compiler_status {
  COMPILER_RUNNING,  // within compiler_run
  COMPILER_DONE,
  COMPILER_FAILED,
  COMPILER_OUT_OF_TIME,    // the limit was reached, and would be again
  COMPILER_OUT_OF_MEMORY,  // the same
  COMPILER_NOT_STARTED,    // memory, processes or files are lacking, now; the error says which
  COMPILER_INTERRUPTED
} compiler_status;

// Runs at most COMPILER_JOBS jobs at once, until all are done, one failed (the error has a line of
// its output), the limits are reached (NULL: the default; the error names limit and option), or
// *interrupted (may be NULL) became true. `watch` (may be NULL) is told how many are done. None is
// left running. Any thread may call it.
compiler_status compiler_run(const compiler_job *jobs, size_t count, const char *folder,
                             const compiler_limits *limits, const atomic_bool *interrupted,
                             const progress *watch, error *failure);

// For a signal handler: ends the compilers that run.
void compiler_kill_all_from_signal(void);

#endif
