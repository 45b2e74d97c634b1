// The executor of the backend `auto`: a run begins at once with the portable executor, and goes
// over to compiled code where that is faster for the rest.
//
//   in    a Plan and what the cost model (runtime/model/model.h) predicts of it
//   out   an executor for cpu_run (runtime/cpu/cpu.h)
//
// Before each pass, and after each slice of some 20 ms of a longer one, the rest of the work is
// weighed; the prediction for it is scaled by how long the passes so far took in truth.
//
//   what the rest would gain by compiled code         then
//   less than writing the C text takes                portable goes on
//   more                                              the text is written; its code is taken if it
//                                                     is in the cache
//   more than the compiler takes as well              the compiler begins, and portable goes on with
//                                                     the processors that are left
//   ... and the compiler is done                      its code takes over
//
// For example a program of ten passes, 0.3 s each on four processors, 0.03 s compiled; the compiler
// takes one processor 0.9 s:
//
//   portable 4 processors        alone:  3.0 s        compiler   |-----0.9 s-----|
//   compiled after the compiler         : 1.2 s       portable   | 0.4 | 0.4 | .1|
//   together                            : 1.13 s      compiled                   |.02|.03|...
//
// A compiler that runs when the program is done is given `patience` when the context is freed (or
// until the next run of this program, which goes on with it): 0.1 s and a fifth of what the passes
// took. Then it is ended. Nothing outlives the process.
//
// Where interp (which executes the Trace) is thought to be faster than all of that, it has the
// program, unless the code is in the cache.
//
// What compiled code would have saved is noted in the cache when the program is done without it
// (compile_record). A later run counts that as its own gain, so that a program of 0.3 s that runs
// ten times a day is compiled at the fifth run: all together they lose at most about twice what
// they would lose if they had known. Its compiler is given as much more patience as was lost
// before.
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
  bool may_leave;           // the program to interp, where that is faster
  // Where the compilation of an earlier run is (NULL: there is none), and that of this one is left.
  compilation **pending;
} adaptive_options;

// Prepares `p`, which must outlive the executor: compiled code from the cache, where that is worth
// the search, else the portable executor. NULL: *failure says why.
adaptive *adaptive_new(const plan *p, const adaptive_options *o, error *failure);
void adaptive_free(adaptive *e);  // NULL is allowed
// Whether interp is faster, and there is no compiled code: it is to have the program, and this
// executor executes nothing.
bool adaptive_leaves(const adaptive *e);

// How it executes a pass: for cpu_executor, with the executor as `with`.
cpu_work adaptive_pass(void *with, uint32_t pass);

// Why code that was worth compiling is not there; "": it is, or it was not.
const char *adaptive_problem(const adaptive *e);

#endif
