// What is said about functions of the language: of the library by the comments in its sources, from
// which docs/library.md is made, of the others by docs/language.md, and of words by docs/running.md,
// which are embedded in the tool.
//
//   -- The first and the last element.
//   --   head [4, 5, 6] = 4
//   head : []a -> a                                    of the library: its signature and comment
//
//   ## Scalar functions
//   ### Floats
//   | function | type | value |
//   | `floor` `ceil` `trunc` | `a -> a`, float | rounds down, up, towards zero |   of each of them
//
//   ## Combinators
//   ### map, mapi                                       the whole section is the entry of both
//
//   ## How a program will run
//   | columns | functions on pairs, ... |               a word; so are those of test blocks
//
//   ## Expressions
//   **Conditions.** `if c then x else y`. With ...      the paragraph: of `if`, `then` and `else`
//
//   ## Values and file formats                            of `formats`, `csv` and such words
//
// The example of a function of the page is the first program of its section that uses it, with its
// test block; the tests run it.
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
  const char *section, *end;         // from its heading, or comment, to the next
  const char *header, *row;          // of the table; or NULL and a paragraph; or neither
  const struct embedded_file *file;  // of the library, or NULL
  const struct manual_file *page;    // of the others
} manual_entry;

typedef struct manual {
  VEC(manual_entry) entries;
  const struct manual_file *page;  // that is read
} manual;

manual manual_read(arena *a);
bool manual_is_syntax(const manual_entry *e);  // a word such as `let`, of which a paragraph speaks
// False: there is no such name.
bool manual_print(text *out, const manual *m, const char *name);

#endif
