// The system's C compiler: finding it, the options that generated code wants, running it.
//
//   compiler c;
//   if (compiler_find(&c, message, sizeof message)) {
//     const char *options[COMPILER_OPTIONS];
//     size_t count = compiler_options("native", false, options);
//     ... compiler_run(&job, 1, folder, interrupted, message, sizeof message);
//   }
//
// It is $PERMC_CC (a path, or a name to look for on PATH), else the first of cc, gcc and clang on
// PATH. There is no shell between. Compilers run in process groups of their own and keep temporary
// files in a given folder, so that they can be ended, and forgotten, at any time.
#ifndef PERMC_RUNTIME_CPU_COMPILER_H
#define PERMC_RUNTIME_CPU_COMPILER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { COMPILER_PATH = 4096, COMPILER_OPTIONS = 80, COMPILER_JOBS = 16 };

typedef struct compiler {
  char path[COMPILER_PATH];
  char version[256];  // the first line that it says of itself
  bool clang;
} compiler;

// False: there is none that works, and `message` says so. What was found is remembered for the
// process as long as the environment names the same.
bool compiler_find(compiler *c, char *message, size_t size);

// The static string of the name of an instruction set, or NULL where this machine has none such:
// "native" (its own), "baseline" (every machine's of its kind), "avx2", "avx512".
const char *compiler_isa_named(const char *name);
// The widest that this machine has, of those but native.
const char *compiler_widest_isa(void);
// Options of compilation for an instruction set. Returns how many; 0: there is none such.
size_t compiler_options(const char *isa, bool fuse, const char *options[COMPILER_OPTIONS]);

// One process: its arguments, the first the program, ending in NULL; `product` is the file it
// makes.
typedef struct compiler_job {
  const char *const *arguments;
  const char *product;
} compiler_job;

// Runs at most COMPILER_JOBS jobs at once in `folder`. False: one failed (message: a line of what
// it said), or *interrupted (may be NULL) became true (message: "interrupted"); none is left
// running.
bool compiler_run(const compiler_job *jobs, size_t count, const char *folder,
                  const atomic_bool *interrupted, char *message, size_t size);

// For a signal's handler: ends the compilers that run.
void compiler_kill_all_from_signal(void);

#endif
