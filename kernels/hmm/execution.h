// Private to kernels/hmm: a program while it is executed.
//
//   hmm.c             with a barrier after each round    |
//   free_running.c    each warp as soon as it can        | both call hmm_serve for each request
//   request.c         one request of a warp              |
#ifndef PERMC_KERNELS_HMM_EXECUTION_H
#define PERMC_KERNELS_HMM_EXECUTION_H

#include "kernels/hmm/hmm.h"

typedef struct hmm_execution {
  arena *memory;
  const hmm_machine *machine;
  const hmm_program *program;
  hmm_counts *counts;
  bank_counter *counter;
  uint64_t *step;       // by warp
  uint64_t *address;    // of the request at hand
  hmm_word *value;      // where there are no contents
  VEC(uint8_t) rounds;  // by step: bit op, it occurs; bit 4 + op, it is casual
  const char *wrong;
} hmm_execution;

// ---- requests (hmm/request.c) ------------------------------------------------------------------

// The warp's request at its step: counts it, moves its words, and gives its stages.
uint32_t hmm_serve(hmm_execution *e, uint64_t warp, hmm_op op);
// The memory that a request goes to: one of d DMMs, or the UMM as number d; and its latency.
uint32_t hmm_port(const hmm_execution *e, uint64_t warp, hmm_op op);
uint64_t hmm_latency(const hmm_machine *m, bool shared);

// ---- free-running (hmm/free_running.c) ---------------------------------------------------------

void hmm_run_free_running(hmm_execution *e);
double hmm_free_running_bytes(const hmm_machine *m);  // of a warp

#endif
