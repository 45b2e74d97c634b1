// Loading: from the text of a program, and the files that it imports, to typed definitions. The
// door of this room.
//
// In: .perm text. Out: a program whose entries elaborate/ can run.
//
//   loaded_program p = {.memory.failure = &handler};
//   program_load(&p, "keys.perm", text, length);      // also what it imports, and the library
//   p.program.entries.items[0]->name                  // "main"
//   program_define(&p, "-e", "sort 3");               // one more entry: an expression
//
//   program.c  the steps: library, sources and imports, names, types, entries
//   stdlib.h   the library's sources in the binary
#ifndef PERMC_LANG_LOAD_PROGRAM_H
#define PERMC_LANG_LOAD_PROGRAM_H

#include "lang/elaborate/elaborate.h"
#include <sys/types.h>

// What identifies a source file; its path does not.
typedef struct source_file {
  dev_t device;
  ino_t inode;
} source_file;

// What `import` may read.
typedef enum import_rule { IMPORT_ANY, IMPORT_BESIDE, IMPORT_NONE } import_rule;

// The standard library is parsed and typed once and stays, in an arena of its own, when another
// program replaces the one that is loaded: nothing of a program can change what the library means.
typedef struct loaded_program {
  diagnostics diagnostics;
  arena memory;  // of the program, not of the library
  builtin_table builtins;
  program program;
  VEC(source_file) files;  // that were loaded; a program that is only a text is none
  arena library_memory;
  diagnostics library_diagnostics;  // its sources are the first ones of all
  program library;
  bool ready;  // the library is there
  import_rule imports;
  c_callback *callbacks;  // the latest first, malloc'ed; the next program has them
} loaded_program;

// All of these report into p->diagnostics; false if there were errors. They may longjmp to
// p->memory.failure when memory is out.
void program_forget(loaded_program *p);  // all but the library
// The definition of that name in the program, not in the library; NULL: there is none.
binding *program_definition(const loaded_program *p, const char *name);
bool program_load(loaded_program *p, const char *name, const char *text, size_t length);
bool program_define(loaded_program *p, const char *name, const char *expression);
void program_free(loaded_program *p);

// Reads a whole file (a .perm source), 0-terminated, in the arena. NULL: *why says why not.
char *read_source(arena *a, const char *path, size_t *length, const char **why);

#endif
