// The executor of the backend `auto`: a run begins at once with the portable executor, and goes
// over to compiled code at the end of a pass, where that is faster for the rest.
//
//   in    a Plan and what the cost model (runtime/model/model.h) predicts of it
//   out   an executor for cpu_run (runtime/cpu/cpu.h)
//
// Before each pass the rest of the work is weighed. The prediction for it is scaled by how long the
// passes so far took.
//
//   what compiled code would save of the rest         then
//   less than writing the C text takes                portable goes on
//   more                                              the text is written; its code is taken if it
//                                                     is in the cache
//   more than the compiler takes as well              the compiler begins beside portable, which
//                                                     goes on with the processors that are left
//
// From then on a pass that takes portable longer than the compiler still needs waits for the code,
// but no longer than compiled code saves of that pass.
//
// For example a program of four passes, 0.3 s each by portable and 0.03 s compiled, on four
// processors; the compiler takes one of them for 0.7 s:
//
//   portable alone      | 0.3 | 0.3 | 0.3 | 0.3 |        1.2 s
//   compiler            |----- 0.7 s ----|
//   portable, compiled  | 0.4   | 0.3+   |.03|.03|       0.8 s
//
// A compiler that still runs when the program is done is ended. Nothing outlives the run.
#ifndef PERMC_RUNTIME_ADAPTIVE_ADAPTIVE_H
#define PERMC_RUNTIME_ADAPTIVE_ADAPTIVE_H

#include "runtime/compiled/compiled.h"
#include "runtime/model/model.h"
#include "runtime/portable/portable.h"

typedef struct adaptive adaptive;

typedef struct adaptive_options {
  portable_options portable;
  compiled_options compiled;
  c_options text;
  const cost_model *model;  // of the plan; must outlive the executor
  unsigned threads;         // of the run
} adaptive_options;

// Prepares `p`, which must outlive the executor: compiled code from the cache, where that is worth
// the search, else the portable executor. NULL: *failure says why.
adaptive *adaptive_new(const plan *p, const adaptive_options *o, error *failure);
void adaptive_free(adaptive *e);  // NULL is allowed

// How it executes a pass, at its beginning: for cpu_executor, with the executor as `with`.
cpu_work adaptive_pass(void *with, uint32_t pass);
bool adaptive_in_place(const void *with, uint32_t pass);
// Whether the passes to come are compiled.
bool adaptive_has_code(const adaptive *e);

// Why code that was worth compiling is not there; "": it is, or it was not.
const char *adaptive_problem(const adaptive *e);
const char *adaptive_note(const adaptive *e);  // of the code that is there: compiled_note

#endif
