// Laws that a program promises: the results of their Trace (lang/trace.h), looked through.
#ifndef PERMC_RUNTIME_LAWS_H
#define PERMC_RUNTIME_LAWS_H

#include "runtime/context/backend.h"

// Whether all laws of the Trace hold. False: the smallest counterexample of the first that does not
// is reported where the program gives the operator.
bool laws_hold(permc_context *c, const trace *t, const array *results);

#endif
