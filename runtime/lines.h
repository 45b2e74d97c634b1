// Where the passes of a plan come from in the text of the program, for profilers.
//
//   p->lines = lines_of_passes(c, memory, trace, p);      {"sort.perm:12", "sort.perm:14"}
#ifndef PERMC_RUNTIME_LINES_H
#define PERMC_RUNTIME_LINES_H

#include "fusion/plan/plan.h"
#include "runtime/context/context.h"

// By pass: the file and line that most of its ops come from, or NULL.
const char **lines_of_passes(const permc_context *c, arena *a, const trace *t, const plan *p);

#endif
