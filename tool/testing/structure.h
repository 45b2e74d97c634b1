// The structure of a test block against the plan of an entry. Private to testing/.
//
//   -- structure { n 20 passes <= 9 }            passes 11, expected <= 9
#ifndef PERMC_TOOL_TESTING_STRUCTURE_H
#define PERMC_TOOL_TESTING_STRUCTURE_H

#include "runtime/permc.h"
#include "tool/testing/block.h"

// False: *why says which counts are not as expected and, below, what the plan has; or why there is
// no plan.
bool structure_holds(permc_context *c, const char *entry, const block_structure *s, text *why);

#endif
