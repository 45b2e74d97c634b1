// Private to kernels/machine*.c: a program while it is executed.
#ifndef PERMC_KERNELS_HMM_EXECUTION_H
#define PERMC_KERNELS_HMM_EXECUTION_H

#include "kernels/hmm/hmm.h"

// ---- congestion (hmm/stages.c) -----------------------------------------------------------

// Tables that are never cleared: an entry counts if it has the number of the request at hand.
typedef struct stage_entry {
  uint64_t serial, key;
} stage_entry;
typedef struct stage_table {
  uint32_t width, shift;  // shift: log2 w, or 64 where w is no power of two
  uint64_t serial;
  uint64_t slots;     // a power of two, at least 8 w
  stage_entry *seen;  // [slots]: addresses, or groups
  uint32_t *banks;    // [w]: addresses in each
} stage_table;

typedef struct stage_request {
  const uint64_t *address;  // w of them
  uint32_t active;          // that are not HMM_IDLE
  uint64_t highest;         // of these
  uint64_t differs;         // bits in which any differs from the first
  bool rises;               // all lanes are active, each at a higher address than the one before
} stage_request;

stage_table stage_table_of(arena *a, uint32_t width);
stage_request stage_request_of(const uint64_t *address, uint32_t width);
// The stages that it takes, at least 1.
uint32_t stages_of_banks(stage_table *t, const stage_request *r);
uint32_t stages_of_groups(stage_table *t, const stage_request *r);

// ---- a run -----------------------------------------------------------------------------------

typedef struct hmm_execution {
  arena *memory;
  const hmm_machine *machine;
  const hmm_program *program;
  hmm_counts *counts;
  stage_table table;
  uint64_t *step;       // by warp
  uint64_t *address;    // of the request at hand
  hmm_word *value;      // where there are no contents
  VEC(uint8_t) rounds;  // by step: bit op, it occurs; bit 4 + op, it is casual
  const char *wrong;
} hmm_execution;

// Whether nothing is wrong, and nobody has interrupted it, which is then what is wrong.
static inline bool hmm_continues(hmm_execution *e) {
  if (e->program->interrupted && atomic_load(e->program->interrupted))
    e->wrong = "interrupted";
  return !e->wrong;
}

// The warp's request at its step: counts it, moves its words, and gives its stages.
uint32_t hmm_serve(hmm_execution *e, uint64_t warp, hmm_op op);
// The memory that a request goes to: one of d DMMs, or the UMM as number d; and its latency.
uint32_t hmm_port(const hmm_execution *e, uint64_t warp, hmm_op op);
uint64_t hmm_latency(const hmm_machine *m, bool shared);

// hmm/free_running.c
void hmm_run_free_running(hmm_execution *e);
double hmm_free_running_bytes(const hmm_machine *m);  // of a warp

#endif
