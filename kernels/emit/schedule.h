// What moves where in a pass: of every slot and phase, whether its content comes from memory or
// scratch and where it goes.
//
// A slot's content is loaded in the phase that needs it first, or in an earlier one whose registers
// hold whole lines of its array, and stored likewise, at the last change or later. Between two
// phases that use it, it lies in scratch in the layout of the exchange before the later one (where
// lanes are threads: of an exchange between those two, whose lanes shall not meet in a bank): in
// the place from which it came if every thread writes only where it alone has read, else in a
// second region. Phases that do not use it leave it where it is.
#ifndef PERMC_KERNELS_EMIT_SCHEDULE_H
#define PERMC_KERNELS_EMIT_SCHEDULE_H

#include "kernels/emit/access.h"
#include "kernels/emit/swizzle.h"

enum { C_NOWHERE = -1 };

typedef struct c_use {
  bool needed;        // what it holds before the phase is read in it
  bool made;          // ops of the phase write it
  int load;           // the load that this phase executes, or C_NOWHERE
  int in, out;        // the scratch region it comes from, and goes to; or C_NOWHERE
  c_swizzle swizzle;  // how it lies in scratch, from which it comes in
  uint32_t next;      // the phase for which it goes out
  scalar_type before, after;
} c_use;

typedef struct c_schedule {
  uint32_t phase_count;
  plan_phase *phases;                  // the plan's, or with one more in front that only loads
  c_space *spaces;                     // of the phases
  c_use *uses;                         // [phase * slot_count + slot]
  uint32_t *load_phase, *store_phase;  // by load, by store
  scalar_type *loaded;                 // by load: of the value, which the array's need not be
  uint64_t *region[2];                 // by slot: offset in scratch, in bytes
  uint64_t scratch_bytes;
} c_schedule;

static inline c_use *c_use_of(const c_schedule *s, const plan_pass *p, uint32_t phase,
                              uint32_t slot) {
  return &s->uses[(size_t)phase * p->slot_count + slot];
}

c_schedule c_schedule_of(c_writer *w, const plan_pass *p);

#endif
