// Names of components, from arguments to results.
#ifndef PERMC_RUNTIME_NAMES_H
#define PERMC_RUNTIME_NAMES_H

#include "runtime/pipeline.h"

// Gives the components of the results the names of those of the arguments that their elements come
// from:
// origins (lang/trace.h, trace_find_origins), by component. Quick where nothing has a name. False:
// there is no memory.
bool results_take_names(const uint32_t *origins, permc_value *const *arguments,
                        size_t argument_count, permc_value *const *results, size_t result_count);

#endif
