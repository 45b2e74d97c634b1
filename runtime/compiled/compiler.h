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
//     compiler_run(&(compiler_job){words, "/tmp/w/code.o"}, 1, "/tmp/w", NULL, &failure);
//   }
//
// It is $PERMC_CC (a path, or a name to look for on PATH), else the first of cc, gcc and clang on
// PATH. No shell is used. Compilers run in process groups of their own and keep temporary files in
// a given folder, so that they can be ended, and their files removed, at any time.
#ifndef PERMC_RUNTIME_COMPILED_COMPILER_H
#define PERMC_RUNTIME_COMPILED_COMPILER_H

#include "core/error.h"
#include <stdatomic.h>

enum { COMPILER_PATH = 4096, COMPILER_OPTIONS = 80, COMPILER_JOBS = 16 };

typedef struct compiler {
  char path[COMPILER_PATH];
  char version[256];  // the first line of its answer to --version
  bool clang;
} compiler;

// False: there is none that works. The result is remembered for the process while PERMC_CC and PATH
// stay the same.
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

// Runs at most COMPILER_JOBS jobs at once, with their output in `folder`. False: one failed (the
// error has a line of its output), or *interrupted (may be NULL) became true (the error is
// "interrupted"); none is left running.
bool compiler_run(const compiler_job *jobs, size_t count, const char *folder,
                  const atomic_bool *interrupted, error *failure);

// For a signal handler: ends the compilers that run.
void compiler_kill_all_from_signal(void);

#endif
