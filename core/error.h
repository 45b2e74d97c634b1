// Errors: the one type that says what failed, and the list of messages that a context shows.
//
//   error why = {0};                           // in some function of any floor:
//   if (mask >= length)
//     return error_set(&why, where, "parm's mask is %d, but the array has %d elements", mask,
//                      length);
//
//   diag_report(&diagnostics, DIAG_ERROR, why.where, "%s", why.message);     // collected for the user:
//
//   keys.perm:3:14: error: parm's mask is 9, but the array has 8 elements
//     main xs = parm 9 f xs
//                    ^
//   hint: a mask m selects index bits: 0 < m < 8
//
// An error needs no memory but its own, so it can say that memory ran out. Where several errors of
// one source are reported (parsing, types), they go straight to the list. Nothing here prints.
#ifndef PERMC_CORE_ERROR_H
#define PERMC_CORE_ERROR_H

#include "core/text.h"

#include <stdatomic.h>

// ---- places in the source --------------------------------------------------------------------

typedef struct source {
  const char *name;  // as the user wrote it; in messages
  const char *text;  // 0-terminated
  uint32_t length;
  bool library;  // part of the standard library
  bool outside;  // imported from outside of the program's folder: messages show no line of it
} source;

typedef struct span {
  uint32_t file;        // index into diagnostics.sources
  uint32_t start, end;  // bytes [start, end)
} span;

// The line, and the column in characters, of a byte of the source; both from 1.
void source_position(const source *s, uint32_t offset, uint32_t *line, uint32_t *column);

#define SPAN_NONE ((span){UINT32_MAX, 0, 0})  // no place in any source

static inline span span_join(span a, span b) {
  return (span){a.file, a.start, b.end > a.end ? b.end : a.end};
}

// ---- one error -------------------------------------------------------------------------------

#define STEP_NONE UINT32_MAX  // no step of a trace

typedef struct error {
  char message[512];  // one line, without a final full stop; empty: there is no error
  // Once there is one:
  span where;     // the source that it came from; or SPAN_NONE
  uint32_t step;  // the step of the trace (lang/trace.h) that it came from; or STEP_NONE
  int number;     // errno, where the system has refused something, or memory (ENOMEM); else 0
  double bytes;   // of memory that were wanted and are not there; else 0
} error;

// Writes an error with its place, unless *e holds one already: the first error stays. The caller
// may add the step. Returns false, for the caller to return. e may be NULL.
bool error_set(error *e, span where, const char *format, ...) PRINTF_LIKE(3, 4);

// The same of what the system has refused, by errno; it has no place in a source.
bool error_set_number(error *e, int number, const char *format, ...) PRINTF_LIKE(3, 4);

// The same of an error that there is.
bool error_pass(error *e, const error *from);

// There is no memory; false.
bool error_no_memory(error *e);
// What works in memory has ended early, by the flag (which may be NULL) or without memory; false.
bool error_stopped(error *e, const atomic_bool *interrupted);

// Why a file cannot be read, by errno, and for a folder what to do.
const char *error_of_reading(int number);
// Why one cannot be written.
const char *error_of_writing(int number);
// The line of a program's output that says what is wrong: the first with "error" or about memory,
// else the first that is not empty. `line` stays as it is where there is none.
void error_line_of(const char *output, char *line, size_t size);
bool error_tells_of_memory(const char *line);
static inline bool error_is_set(const error *e) { return e->message[0] != 0; }

// ---- the list of messages --------------------------------------------------------------------

enum { DIAG_MAX_ERRORS = 20 };

typedef enum diag_kind { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE, DIAG_HINT } diag_kind;

// A message of `rendered`: its bytes are [from, end), its words without place and kind begin there.
typedef struct diagnostic {
  diag_kind kind;
  span where;
  size_t from, words, end;
} diagnostic;

typedef struct diagnostics {
  arena *memory;
  VEC(source) sources;
  text rendered;   // all that was reported so far
  text *reported;  // not NULL: gets a diagnostic of each message of it
  unsigned errors, warnings;
  const char *demote;  // not NULL: errors are reported as warnings whose text begins so
  bool wants_static;   // an error was that an argument is not known before the program runs
  bool can_be_static;  // ... a scalar, or a whole matrix: it could be, for one run
  uint32_t wanted;     // ... its number among the arguments' arrays
  bool wants_extern;   // an error was that a C function is not allowed
  bool exhausted;      // an error was that a limit (steps, depth, memory) was reached
} diagnostics;

uint32_t diag_add_source(diagnostics *d, source s);  // the file's number
// Whether there were more errors than are shown.
static inline bool diag_is_full(const diagnostics *d) { return d->errors > DIAG_MAX_ERRORS; }

extern const char *const diag_kind_names[];
// Renders one message. A hint has no location of its own and follows the message that it helps;
// hints and notes after a suppressed error (more than DIAG_MAX_ERRORS) are suppressed too.
void diag_report(diagnostics *d, diag_kind kind, span where, const char *format, ...)
    PRINTF_LIKE(4, 5);
void diag_vreport(diagnostics *d, diag_kind kind, span where, const char *format,
                  va_list arguments);
// Takes back what was rendered behind that length.
void diag_truncate(diagnostics *d, size_t length);
// A rendered message without the "permc: " that one without a place begins with.
const char *diag_unprefixed(const char *rendered);

#endif
