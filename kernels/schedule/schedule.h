// What a pass does, step by step, as numbers: for those who write its code (kernels/emit/).
//
// In: a plan, and options of kernels. Out: of each pass a c_pass. It says for every slot and phase
// whether the content comes from memory or scratch and where it goes, and answers which registers
// one access moves, at which addresses, and what of it is padding.
//
//   c_context c = c_context_of(&memory, plan, &options);
//   c_pass p = c_pass_of(&c, 0);
//
//   sort of 2^4 u32 in one pass, vectors of 4 lanes; slot 0 has the array:
//
//     phase        0       1       2       ...   9
//     load         0       -       -             -       the load of a0 in phase 0
//     in           -       0       0             0       from scratch region 0
//     out          0       0       0             -       to it: each thread writes where it has
//     read store_phase                                9       the store in a1
//
// A slot's content is loaded in the phase that needs it first, or in an earlier one whose registers
// hold whole lines of its array, and stored likewise, at the last change or later. Between two
// phases that use it, it lies in scratch, in the basis of the exchange before the later one. (Where
// lanes are threads, that is an exchange between those two, whose lanes do not meet in a bank.) It
// lies where it came from if every thread writes only where it alone has read, else in a second
// region. Phases that do not use it leave it where it is.
//
//   xor_sum.h         indices and the maps that depend on them: addresses
//   access.h          layouts of registers, and which of them one load or store moves
//   record.h          what a kernel asks of memory, noted while it is written
//   swizzle.h         bank layouts of scratch that options ask for; the options
//   moves.c           the schedule of a pass
//   scratch.c         which elements have a place in scratch, and where
//   pass.c            what of a pass is padding or dead, which phases exchange
//   runtime_matrix.h  passes that only move, as data for one kernel
#ifndef PERMC_KERNELS_SCHEDULE_SCHEDULE_H
#define PERMC_KERNELS_SCHEDULE_SCHEDULE_H

#include "kernels/schedule/access.h"
#include "kernels/schedule/record.h"
#include "kernels/schedule/runtime_matrix.h"
#include "kernels/schedule/swizzle.h"

// ---- where content goes ----------------------------------------------------------------------

enum { C_NOWHERE = -1 };

typedef struct c_content {
  net_id value;  // of the stage; NET_NONE: none
  scalar_type type;
  const f2_space *live;  // where it matters (net.h); NULL: everywhere
} c_content;

typedef struct c_use {
  bool needed;        // what it holds before the phase is read in it
  bool made;          // ops of the phase write it
  int load;           // the load that this phase executes, or C_NOWHERE
  int in, out;        // the scratch region it comes from, and goes to; or C_NOWHERE
  c_swizzle swizzle;  // how it lies in scratch, from which it comes in
  uint32_t next;      // the phase for which it goes out
  c_content before, after;
} c_use;

typedef struct c_schedule {
  uint32_t phase_count;
  plan_phase *phases;                  // the plan's, or with one more in front that only loads
  c_space *spaces;                     // of the phases
  c_use *uses;                         // [phase * slot_count + slot]
  uint32_t *load_phase, *store_phase;  // by load, by store
  uint64_t *region[2];                 // by slot: offset in scratch, in bytes
  uint64_t scratch_bytes;
} c_schedule;

// ---- a pass ----------------------------------------------------------------------------------

typedef struct c_pass {
  c_context *context;
  const plan_pass *pass;
  const net_stage *stage;
  c_schedule schedule;
} c_pass;

c_pass c_pass_of(c_context *c, uint32_t number);

static inline c_use *c_use_of(const c_pass *p, uint32_t phase, uint32_t slot) {
  return &p->schedule.uses[(size_t)phase * p->pass->slot_count + slot];
}

// Whether a buffer may be loaded and stored: all of an array is loaded before what is stored by an
// equal map.
bool c_pass_in_place(const c_pass *p);

// What a phase does: its ops make something; it loads from memory, or stores there; it reads scratch,
// or writes it.
typedef struct c_activity {
  bool makes, loads, stores, reads, writes;
} c_activity;
c_activity c_pass_activity(const c_pass *p, uint32_t phase);
// Whether it reads scratch and writes it: all threads read before any writes.
static inline bool c_pass_reads_and_writes(const c_pass *p, uint32_t phase) {
  c_activity does = c_pass_activity(p, phase);
  return does.reads && does.writes;
}

// What matters, as forms that are 0 there, but for those that are 0 in the set `known` anyway; it
// has all of them then.
f2_space c_pass_live_of_blocks(const c_pass *p);  // of the blocks that are executed
net_form *c_pass_forms_within(const c_pass *p, f2_space set, f2_space *known, uint32_t *count);
// Whether dead elements of that type have no place in scratch: where lanes are threads, of those
// less than a bank wide, and where bank layouts are compared, all have one.
bool c_pass_packs_live(const c_pass *p, scalar_type type);
// Of what comes to a phase from scratch, or goes `out` to it: other elements have no place there.
net_form *c_pass_live_in_scratch(const c_pass *p, uint32_t phase, uint32_t slot, bool out,
                                 f2_space *known, uint32_t *count);
// Of a load or store; of a load where lanes are vectors only if addresses may else lie outside.
net_form *c_pass_live_of_move(const c_pass *p, const plan_move *move, f2_space *known,
                              uint32_t *count);
// Of the threads of a phase: all that the others store or put into scratch matters nowhere. (None
// where ops scatter, and where lanes are threads that are told apart by their padding.)
net_form *c_pass_live_threads(const c_pass *p, uint32_t phase, f2_space *known, uint32_t *count);

// Scratch as `phase` finds it, of elements of that type: for the threads and registers of phase
// `space`.
xor_sum c_pass_scratch_map(const c_pass *p, uint32_t space, uint32_t phase, uint32_t slot,
                           scalar_type type);

// ---- padding that stays where it is (fusion/plan/padding.h) ----------------------------------

// Registers of the phase, where lanes are threads, all of whose indices are padding, whatever the
// block and the thread: by number, or NULL if there are none. They are neither read from scratch
// nor stored.
bool *c_pass_padding_registers(const c_pass *p, const c_space *s);
// Whether threads may have padding alone: those whose least index, the sum of block[] and thread[]
// at the bits of the block and the thread, is padding. They only write scratch.
bool c_pass_has_padding_threads(const c_pass *p, const c_space *s, uint64_t block[F2_MAX],
                                uint64_t thread[F2_MAX]);
// What padding is in a value.
static inline scalar_bits c_pass_padding_value(const c_pass *p, net_id value) {
  return p->context->plan->padding_values[p->pass->stage][value];
}

// A line for each exchange with a bank layout: "pass 2, before phase 3: k1 = 0, k2 = 5, mask = 31".
void c_swizzle_print(arena *a, text *to, const plan *p, const c_options *options);

#endif
