// A loaded program: sources, modules, types. In: .perm text. Out: entry points that elaborate.h runs.
#ifndef PERMC_LANG_PROGRAM_H
#define PERMC_LANG_PROGRAM_H

#include "lang/elaborate.h"

typedef struct loaded_program {
  diagnostics diagnostics;
  arena memory;
  builtin_table builtins;
  program program;
  bool ready;  // the standard library is parsed
} loaded_program;

// All of these report into p->diagnostics; false if there were errors. They may longjmp to
// p->memory.failure when memory is out.
void program_start(loaded_program *p);
bool program_load(loaded_program *p, const char *name, const char *text, size_t length);
bool program_define(loaded_program *p, const char *name, const char *expression);
void program_free(loaded_program *p);

// Reads a whole file (a .perm source), 0-terminated, in the arena. NULL: *why says why not.
char *read_source(arena *a, const char *path, size_t *length, const char **why);

#endif
