// `permc explain`: how an entry runs at given sizes, without running it.
//
//   explain.c        an entry and sizes (permc.h, permc_explain) to an explanation
//   explain/print_text.c   the explanation for a reader
//   explain/print_json.c   the same as one JSON object
//   explain/print_hmm.c   its passes on a memory machine, and on a GPU
//   explain/facts.h  its counts alone, for tests
#ifndef PERMC_RUNTIME_EXPLAIN_EXPLAIN_H
#define PERMC_RUNTIME_EXPLAIN_EXPLAIN_H

#include "runtime/backend.h"
#include "runtime/explain/facts.h"

typedef struct explanation {
  const char *entry, *type;  // "main", "[2^n]i32 -> [2^n]i32"
  const permc_size *sizes;   // as given; none where types were
  size_t size_count;
  const trace *trace;
  lowered_program program;
  plan_facts facts;
  uint64_t moving_steps;          // of the trace, that put elements into another order
  uint64_t peak_bytes;            // of arrays, in a run on the CPU
  double planning_seconds;        // lowering, rules and planner
  const plan_strategy *strategy;  // that was asked for, or NULL
  bool show_rules;
} explanation;

void explain_text(text *out, const explanation *e);
void explain_json(text *out, const explanation *e);
// False: reported.
bool explain_machine(permc_context *c, arena *a, const explanation *e, bool json, text *out);

#endif
