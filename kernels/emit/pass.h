// One pass as a C function: the tile's base addresses, then its phases, each a loop over threads.
#ifndef PERMC_KERNELS_EMIT_PASS_H
#define PERMC_KERNELS_EMIT_PASS_H

#include "kernels/emit/emit.h"
#include "kernels/emit/schedule.h"
#include "kernels/text/writer.h"

// Adds `void permc_pass_<number>(...)` to `out`, or what follows the number of a kernel, the
// functions that it calls to `functions`, and what it needs to w->definitions.
c_pass_facts c_pass_write(c_writer *w, text *out, text *functions, uint32_t number);

// ---- what a pass touches, for those who do not write it (hmm/plan.h) ---------------------

typedef struct c_pass {
  c_writer *w;
  const plan_pass *pass;
  const net_stage *stage;
  c_schedule schedule;
  uint32_t array_count;
  net_id *arrays;       // that it touches
  bool *keyed;          // by slot: it holds keys (emit/exchange.h)
  const char *prelude;  // block and loop indices
  const char *skips;    // of blocks in which there is nothing to do
  const char **phases;  // the text of each
  bool streams;         // some stores may bypass the caches
} c_pass;

// The pass with its schedule; nothing is written yet.
c_pass c_pass_of(c_writer *w, uint32_t number);
// Whether the address is in the array, or not below the limit, for indices that are not alive, too.
// Loads have conditions only where it is not.
bool c_pass_always_inside(const c_pass *p, const plan_move *move);
// Registers of the phase, where lanes are threads, all of whose indices are from the limit on,
// whatever the block and the thread: by number, or NULL if there are none. They are neither got
// from scratch nor stored.
bool *c_pass_dead_registers(const c_pass *p, const c_space *s);
// Whether threads may have all their indices from the limit on: those whose least index, the sum of
// block[] and thread[] at the bits of the block and the thread, is. They only fill scratch.
bool c_pass_beyond(const c_pass *p, const c_space *s, uint64_t block[F2_MAX],
                   uint64_t thread[F2_MAX]);
// What the slot holds from the limit on before op `end` of the pass, where that is padding.
scalar_bits c_pass_fill(const c_pass *p, uint32_t slot, uint32_t end);
// Whether a phase reads scratch and writes it: all threads read before any writes.
bool c_pass_turns_around(const c_pass *p, uint32_t phase);
// Whether a phase moves or computes nothing: one that was to load or store may have been left
// nothing by another.
bool c_pass_is_idle(const c_pass *p, uint32_t phase);
// Scratch as `phase` finds it, of elements of that type: for the threads and registers of phase
// `space`.
c_map c_pass_scratch_map(const c_pass *p, uint32_t space, uint32_t phase, uint32_t slot,
                         scalar_type type);

#endif
