// Private to kernels/schedule/ (door: schedule.h): what the threads of a kernel ask of memory, noted
// step by step while the text of the kernel is written (kernels/emit/). Memory machines
// (kernels/hmm/) execute it.
//
// In a STEP each lane asks for one address, or all threads of a block wait for each other:
//
//   bit reversal of 2^10 u32 by a block of 2^5 threads of 2^5 registers, a word at a time:
//     steps 0 ... 31    load: register i of thread t has element 32 i + t
//     steps 32 ... 63   put in shared memory, then a barrier
//     steps 65 ... 96   get, the other way round
//     steps 97 ... 128  store
//
// Addresses, and conditions on threads, are words (xor_sum.h) of one register each: what the
// register adds is in the constant, and the columns of blocks and threads are left. Step 33 above, a put of register 1: its
// address is one word, constant 32 ^ columns 1, 2, 4, 8, 16 of the thread.
#ifndef PERMC_KERNELS_SCHEDULE_RECORD_H
#define PERMC_KERNELS_SCHEDULE_RECORD_H

#include "kernels/schedule/xor_sum.h"

// A condition: threads take part whose word is at least `first` and less than `end`.
typedef struct thread_guard {
  xor_word word;
  uint64_t first, end;
  const uint64_t *end_column;  // `end` is XORed with these by bits of the block; NULL: with none
} thread_guard;

enum { RECORD_GUARDS = 3 };  // at most, of a block of text

typedef enum kernel_step_kind {
  STEP_LOAD,
  STEP_STORE,
  STEP_GET,
  STEP_PUT,
  STEP_BARRIER
} kernel_step_kind;

// Of each lane one address, in bytes: base + unit (offset + strides . loops + the sum of words). A
// step without words is a barrier, or a gather or a scatter, which goes where data says.
typedef struct kernel_step {
  kernel_step_kind kind;
  uint32_t bytes, unit;  // that a lane asks for; of a unit
  uint64_t base, offset;
  const int64_t *strides;  // NULL: loops do not matter
  uint32_t word_count;
  uint32_t blocks;  // so many columns of a word are of blocks: all, or none
  const xor_word *words;
  const struct c_swizzle *swizzle;  // through which all but the base goes, or NULL
  uint64_t limit;                   // units from here on are left out
  uint32_t guard_count;
  thread_guard guard[RECORD_GUARDS];  // lanes that fail one of them ask for nothing
} kernel_step;

typedef struct kernel_record {
  arena *memory;  // in which it lies
  const plan_pass *pass;
  const net_stage *stage;
  const c_space *space;  // of the pass's first phase
  VEC(kernel_step) steps;
  uint32_t guard_count;  // of the block of text at hand, which stands there for some threads
  thread_guard guard[RECORD_GUARDS];
} kernel_record;

// Notes a step of the block of text at hand. (r NULL: nobody asks.)
static inline void kernel_record_add(kernel_record *r, kernel_step s) {
  if (!r)
    return;
  for (uint32_t i = 0; i < r->guard_count; i++)
    s.guard[s.guard_count++] = r->guard[i];
  vec_push(r->memory, &r->steps, s);
}

// Begins a block of text for some threads.
static inline void kernel_record_begin(kernel_record *r, uint32_t count,
                                       const thread_guard *guard) {
  if (!r)
    return;
  r->guard_count = count;
  for (uint32_t i = 0; i < count; i++)
    r->guard[i] = guard[i];
}

#endif
