// Private to kernels/emit/: blocks that look back (fusion/plan/plan.h): what they publish for those
// behind them, and what they make of what those before them have published.
//
//   PERMC_MARK(uint32_t)                          the block's number `b`, and the run's, `mark`
//     ...                                         the ops before
//     permc_publish(state + 1 + (b), mark, v33);  the total of the tile
//     for each look, by some warps                waits for totals, publishes that of all of them
//     ...                                         the ops that go down, and those behind
//
// `state`, the kernel's last parameter, is words of 8 bytes: first the number of runs that have
// ended, then for each published value its elements, each in pieces of 4 bytes with a mark beside:
// the number of the run. So a piece and its mark come at once, and nothing has to be cleared
// between runs on one state; before the first it is cleared. Runs at the same time have a state
// each. Blocks wait for earlier ones only, which have begun before them.
//
// A LOOK is at one level of the tree, or at two that are joined: what the groups of the lower level
// come to is then not published, but each block computes it of what it has looked at. So a total
// reaches other blocks by half as many steps from memory to memory:
//
//   2^28 i32, tiles of 2^12: 2^16 totals, levels of 16, joined by two
//     first look    of 256 blocks: up to 255 totals, by 128 threads: k and 128 + k
//                   16 threads: what groups of 16 come to; thread 0 of block 255: what all come to
//     second look   of 2^16 blocks: up to 255 totals of 256 blocks, by 128 other threads
#ifndef PERMC_KERNELS_EMIT_LOOK_BACK_H
#define PERMC_KERNELS_EMIT_LOOK_BACK_H

#include "kernels/emit/phase.h"

typedef struct c_look {
  uint32_t shift, bits;           // of the index: its levels
  uint32_t upper;                 // of the bits: those of the upper of two levels; 0: it is one
  uint32_t first, threads, each;  // the threads that look, and at how many elements each
  bool pauses;                    // they do before: others have not looked yet
} c_look;

typedef struct c_look_back {
  const plan_look_back *plan;
  const net_stage *stage;  // with the ops between
  uint32_t threads;        // of a block, log2
  uint32_t look_count;
  c_look *looks;         // at the lowest levels first
  uint64_t words;        // of state
  uint64_t *first_word;  // by value of the stage: where it is published; 0: it is not
  uint64_t *scratch;     // by such a value: the place of the elements that a block looks at
  uint32_t *level;       // ... and the bit of the index where its level begins
} c_look_back;

// For blocks of 2^threads threads. Reserves scratch behind that of the pass.
c_look_back *c_look_back_of(c_writer *w, const plan_look_back *l, uint32_t threads,
                            uint64_t *scratch_bytes);
// The numbers of the block and the run.
void c_look_back_begin(c_writer *w);
// How many blocks there are: those of padding alone, which come last, are none.
uint64_t c_look_back_blocks(const c_look_back *l);
// For a thread that holds what goes in, in register `number` of the slots.
void c_look_back_publish(const c_look_back *l, const c_phase *f, uint32_t number);
// For all threads, which have published before: sections of threads.
void c_look_back_wait(const c_look_back *l, c_phase *f);
// For a thread behind a barrier: what comes out, to that register.
void c_look_back_fold(const c_look_back *l, c_phase *f, uint32_t number);

#endif
