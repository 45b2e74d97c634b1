// Calls that differ in nothing but the elements of their arguments, as one call. Private to
// lang/elaborate.
#ifndef PERMC_LANG_ELABORATE_GROUPS_H
#define PERMC_LANG_ELABORATE_GROUPS_H

#include "lang/elaborate/elaborator.h"

// More are evaluated one after the other: looking for equal ones among them would take longer.
enum { MOST_TOGETHER = 256 };

// Calls of one function. steps[i * leaves + k] is the k-th dynamic value in the arguments of call
// i.
typedef struct call_group {
  elaborator *e;
  uint32_t count, leaves, next;
  value_id *steps;
  uint64_t outer;  // batch
} call_group;

// Call number `first`, which is not taken, with those that are and that one call can be made of;
// members: their numbers. A count of 0: it has no arrays.
call_group find_group(elaborator *e, uint32_t count, const closure *const *calls, uint32_t first,
                      const bool *taken, uint32_t *members);
// Whether two calls in a recursion are no group, but their arrays would be.
bool are_alike(elaborator *e, const closure *a, const closure *b);
// The call of all, at a batch for all of them, which e->batch becomes.
const closure *stack_calls(call_group *g, const closure *first);
// The result of all for each of them. false: it is no data.
bool share_result(call_group *g, value *result, value **results);

#endif
