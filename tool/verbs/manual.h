// What docs/reference.md says about a function of the language: the page is embedded in the tool,
// so that `permc help reduce` and the page cannot differ.
//
//   ## The library
//   ### Arrays
//   | function | type | value |
//   | `reduce op xs` | `(a -> a -> a) -> [2^n]a -> a` | x₀ op x₁ op … |     the entry of reduce
//
//   ## Combinators
//   ### map, mapi                                       the whole section is the entry of both
//
//   ## How a program will run
//   | columns | functions on pairs, ... |               a word; so are those of test blocks
//
//   ## Values and file formats                            of `formats`, `csv` and such words
//
// Its example is the first program of the section that uses it, with its test block; the tests run
// it.
#ifndef PERMC_TOOL_VERBS_MANUAL_H
#define PERMC_TOOL_VERBS_MANUAL_H

#include "core/error.h"
#include <stdio.h>

struct manual_file {
  const char *name, *text;
  size_t length;
};
extern const struct manual_file manual_files[];
extern const size_t manual_file_count;

typedef struct manual_entry {
  const char *name;
  const char *section, *end;  // from its heading to the next
  const char *header, *row;   // of the table, or NULL
} manual_entry;

typedef struct manual {
  VEC(manual_entry) entries;
} manual;

manual manual_read(arena *a);
// False: there is no such name.
bool manual_print(text *out, const manual *m, const char *name);

#endif
