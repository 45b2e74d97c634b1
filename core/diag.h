// Diagnostics: errors and warnings with the source line and a caret span.
//
//   keys.perm:3:14: error: parm's mask is 9, but the array has 8 elements
//     main xs = parm 9 f xs
//                    ^
//   hint: a mask m selects index bits: 0 < m < 8
//
// In: a span (file number and byte range) and a message. Out: rendered text. Nothing is printed.
#ifndef PERMC_CORE_DIAG_H
#define PERMC_CORE_DIAG_H

#include "core/base.h"

typedef struct source {
  const char *name;  // as the user wrote it; in messages
  const char *text;  // 0-terminated
  uint32_t length;
  bool library;  // part of the standard library
} source;

typedef struct span {
  uint32_t file;        // index into diagnostics.sources
  uint32_t start, end;  // bytes [start, end)
} span;

enum { DIAG_MAX_ERRORS = 20 };

typedef struct diagnostics {
  arena *memory;
  VEC(source) sources;
  text rendered;  // all that was reported so far
  unsigned errors, warnings;
  const char *demote;  // not NULL: errors are reported as warnings whose text begins so
  bool wants_static;   // an error was that an argument is not known before the program runs
  bool can_be_static;  // ... a scalar, or a whole matrix: it could be, for one run
  uint32_t wanted;     // ... its number among the arguments' arrays
  bool exhausted;      // an error was that a limit (steps, depth, memory) was reached
} diagnostics;

uint32_t diag_add_source(diagnostics *d, source s);  // the file's number

typedef enum diag_kind { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE, DIAG_HINT } diag_kind;
// Renders one message. A hint has no location of its own and follows the message that it helps;
// hints and notes after a suppressed error (more than DIAG_MAX_ERRORS) are suppressed too.
void diag_report(diagnostics *d, diag_kind kind, span where, const char *format, ...)
    PRINTF_LIKE(4, 5);
void diag_vreport(diagnostics *d, diag_kind kind, span where, const char *format,
                  va_list arguments);

// 1-based line and column (in characters, UTF-8) of a byte offset.
void diag_position(const source *s, uint32_t offset, uint32_t *line, uint32_t *column);

static inline span span_join(span a, span b) {
  return (span){a.file, a.start, b.end > a.end ? b.end : a.end};
}

#endif
