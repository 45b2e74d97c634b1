// Which function each choice of an open Trace takes: the one that is predicted to be the fastest.
//
// In: an open Trace (lang/trace.h), and what it is planned for. Out: the number of a function for
// each choice, with the reason and the times.
//
//   choose [sort, odd_even_sort] xs         0.0031 s   0.0029 s    predicted: function 1 is taken
//
// Each function is planned alone, as a program whose arguments are the values from before the
// choice; of the choices inside of it the function that these have taken. For ranks it is planned
// in shares, and takes what the rank that sends the most takes (fusion/shares/cost.h). Equal calls
// (copies, trace_choice) are planned once. What would take longer to plan than MOST_PLANNED steps
// in all is not compared: the first function is taken. So is it by `interp`, everywhere.
#ifndef PERMC_RUNTIME_CHOICES_H
#define PERMC_RUNTIME_CHOICES_H

#include "fusion/plan/plan.h"
#include "runtime/context/backend.h"
#include "runtime/tuned/tuned.h"

typedef enum choice_reason {
  CHOICE_FIRST,      // there is no Plan, or too much to plan
  CHOICE_PREDICTED,  // the fastest by the cost model
  CHOICE_MEASURED    // the fastest when permc_tune measured them, or on trial
} choice_reason;

typedef struct choice_list {
  uint32_t count;
  uint32_t *taken;        // by choice
  choice_reason *reason;  // by choice
  double **seconds;       // by choice: NULL, or by function
} choice_list;

typedef struct choice_setting {
  permc_context *context;
  const backend *backend;
  const target *target;  // the machine's own
  const char *gpu;       // as for tuned_target
  bool may_be_tuned;     // for the machine at hand
  unsigned threads;
  uint64_t ranks;  // that share the arrays; 0: one has all
} choice_setting;

// The first function of each.
choice_list choices_first(arena *memory, const trace *open);
choice_list choices_cheapest(arena *memory, const trace *open, const choice_setting *s);
bool choices_same(const choice_list *a, const choice_list *b);

#endif
