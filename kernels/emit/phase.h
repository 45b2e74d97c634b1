// Private to kernels/emit/: one phase of a pass as text: a loop over threads that loads, computes
// and stores.
#ifndef PERMC_KERNELS_EMIT_PHASE_H
#define PERMC_KERNELS_EMIT_PHASE_H

#include "kernels/ops/op.h"

// What the phases of a pass share.
typedef struct pass_text {
  c_writer *w;
  c_pass of;
  uint32_t array_count;
  net_id *arrays;                       // that it touches
  bool *keyed;                          // by slot: it holds keys (kernels/ops/exchange.h)
  bool streams;                         // some stores may bypass the caches
  const char *prelude;                  // block and loop indices
  const char *skips;                    // of blocks in which there is nothing to do
  const char **phases;                  // the text of each
  const struct c_look_back *look_back;  // how blocks look back (kernels/emit/look_back.h), or NULL
} pass_text;

// The text of a phase, "" for one that does nothing.
const char *c_phase_write(pass_text *p, uint32_t phase);

// Of its ops: what they compute (ops.c).
void c_phase_write_ops(const pass_text *p, c_phase *f);

// The text that the writer has for items and threads, in the writer's memory: it has none then.
const char *c_take_text(c_writer *w);

// What comes between two phases. A barrier says to all threads what one of them has found of its
// keys.
const char *c_barrier(const pass_text *p);

#endif
