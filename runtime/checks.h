// What a program checks when it runs: the results of its checks (lang/trace.h), looked through.
#ifndef PERMC_RUNTIME_CHECKS_H
#define PERMC_RUNTIME_CHECKS_H

#include "runtime/context/backend.h"

// Whether all checks of the Trace are passed; results: all arrays of the run. False: the first that
// is not is reported.
bool checks_pass(diagnostics *d, const trace *t, const array *results);

#endif
