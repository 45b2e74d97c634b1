// What the plan of an entry comes to: of `permc explain` only the counts, for structures of tests.
#ifndef PERMC_RUNTIME_EXPLAIN_FACTS_H
#define PERMC_RUNTIME_EXPLAIN_FACTS_H

#include "fusion/plan/plan.h"
#include "runtime/permc.h"

// At these sizes, all that the entry's signature names; target_name as in permc_explain_options.
// False: see permc_message.
bool explain_facts(permc_context *c, const char *entry, const permc_size *sizes, size_t count,
                   const char *target_name, plan_facts *facts);

#endif
