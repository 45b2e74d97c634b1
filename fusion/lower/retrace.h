// Private to fusion/lower: a Trace that is made of another one, before it is lowered.
//
// Step after step of the old one is added, or others in its place:
//
//   old   %0 argument 0   %1 argument 1   %2 gather %0 %1          step 2: now[1] is 1
//   to    %0 argument 0   %1 argument 1   %2 bmmc %1               origins 0 1 2
#ifndef PERMC_FUSION_LOWER_RETRACE_H
#define PERMC_FUSION_LOWER_RETRACE_H

#include "fusion/rules/rules.h"
#include "lang/trace.h"

typedef struct retrace {
  arena *memory;
  const trace *old;
  trace *to;
  const uint32_t *first;  // by old step: that of the program's Trace; NULL: the same
  VEC(uint32_t) origins;  // by new step: that of the program's Trace
  uint32_t step;          // the old one that is being replaced
  value_id *now;          // by old step: what has its value
  hash_table once;        // of steps that retrace_add_once has added
} retrace;
// All that the old one has, but without steps and results.
retrace retrace_of(arena *a, const trace *old, const uint32_t *first);
static inline const trace_step *retrace_old(const retrace *r) {
  return &r->old->steps.items[r->step];
}
static inline uint32_t retrace_origin(const retrace *r) {
  return r->first ? r->first[r->step] : r->step;
}
trace_step retrace_step(retrace *r);  // the old step, on new operands
void retrace_set_operands(retrace *r, trace_step *s, uint32_t count, const value_id *operands);
value_id retrace_add(retrace *r, trace_step s);
// An equal step that was added so, or a new one.
value_id retrace_add_once(retrace *r, trace_step s);
// The whole, with results, and its origins.
const trace *retrace_end(retrace *r, const uint32_t **origins);

// The trace, or another one that makes the same results; *origins: by its steps, those of the
// program's Trace, or NULL where they are the same.
//
// Without gathers and scatters by places that are known and do something simple (lower/movements.c).
const trace *trace_without_known_places(arena *a, const trace *t, rule_log *log,
                                        const uint32_t **origins);
// Without concatenations of what was done to slices of one array (lower/whole.c).
const trace *trace_on_wholes(arena *a, const trace *t, rule_log *log, const uint32_t **origins);

#endif
