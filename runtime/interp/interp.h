// interp, the oracle: executes a Trace literally, one step after the other, moving elements one by
// one. It knows nothing of fusion; every other backend is compared with it.
//
// In: a verified Trace and the input arrays. Out: the result arrays. Memory is linear in the data:
// a value has memory of its own from the step that makes it to the last step that reads it. What a
// step does is in lang/execute.
#ifndef PERMC_RUNTIME_INTERP_INTERP_H
#define PERMC_RUNTIME_INTERP_INTERP_H

#include "core/error.h"
#include "lang/trace.h"
#include "runtime/values/value.h"
#include <stdatomic.h>

// Runs `t`, which trace_verify has accepted. `results` has room for t->results.count arrays, which
// the caller owns afterwards; on failure all are {0}. Foreign functions are called only if
// `allow_foreign`. `interrupted` (may be NULL) is looked at between steps and every few
// milliseconds inside; once it is true the run fails.
bool interp_run(const trace *t, const array *arguments, size_t argument_count, array *results,
                bool allow_foreign, const atomic_bool *interrupted, error *failure);

#endif
