// What is told where ranks differ in what they run: see ranks_run.
#ifndef PERMC_RUNTIME_ALIKE_H
#define PERMC_RUNTIME_ALIKE_H

#include "runtime/context/context.h"
#include "runtime/ranks/ranks.h"

// The program that is loaded. (Its plans for ranks depend on no setting.)
typedef struct run_origin {
  char text[200];  // an expression; on the next line a digest of all files and texts
} run_origin;

void run_origin_of(const permc_context *c, run_origin *out);

#endif
