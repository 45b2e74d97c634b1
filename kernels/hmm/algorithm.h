// A door of kernels/hmm: the papers' accesses and algorithms for the memory machines, rows of one
// table, each with what it must compute and, where a paper gives one, its time in closed form.
//
//   machine m = {HMM_KIND_DMM, 1, 4, 3, 1, 16, true};                    w = 4, l = 3, p = 16
//   hmm_task t = {.n = 16};
//   const hmm_algorithm *crsw = hmm_algorithm_named("crsw");
//   hmm_algorithm_run(&arena, &m, crsw, &t, &counts);               counts.time = 4+2 + 16+2
//   hmm_algorithm_time(&arena, &m, crsw, &t);                       24, by the formula
//
// An algorithm works on arrays of n words in the main memory (a DMM's only one, the global memory
// of the others), one after the other: a at 0, b at n, a third at 2 n. Thread i takes the elements
// i, i + p, i + 2 p, ...: most algorithms are a few STEPS, which are repeated n / p times.
//
// Files, in reading order: hmm/hmm.h (machines and their programs), hmm/algorithm.c (the table,
// running, checking), hmm/rows.h (what rows are made of), hmm/steps.c (where lanes are),
// hmm/transpose.c (transposes through shared memory and through registers), hmm/scheduled.c
// (permutations that are prepared by edge colouring), hmm/data.c (permutations, distributions).
#ifndef PERMC_KERNELS_HMM_ALGORITHM_H
#define PERMC_KERNELS_HMM_ALGORITHM_H

#include "kernels/hmm/hmm.h"

typedef struct hmm_task {
  uint64_t n;            // words of an array
  uint64_t registers;    // r of a thread, where the algorithm asks for them (0: w)
  uint64_t seed;         // of random addresses
  const uint64_t *list;  // n of them: addresses, or a permutation: element i goes to list[i]
} hmm_task;

// What an algorithm is about, besides n.
typedef enum hmm_input {
  HMM_INPUT_ARRAY,        // nothing
  HMM_INPUT_MATRIX,       // n is a square, its side a multiple of w
  HMM_INPUT_ADDRESSES,    // list: any addresses, counted only
  HMM_INPUT_PERMUTATION,  // list
} hmm_input;
enum { HMM_SIZE_BITS_MAX = 31 };  // n is at most 2^31

typedef struct hmm_job hmm_job;    // a run (hmm/rows.h)
typedef struct hmm_step hmm_step;  // what all lanes do

// Of a task, besides n and what the data is.
enum { HMM_TAKES_REGISTERS = 1, HMM_TAKES_SEED = 2 };

// Whose part of a shared memory a block of warps has.
typedef enum hmm_blocks {
  HMM_BLOCKS_NONE,
  HMM_BLOCKS_TILES,  // w warps: w x w words
  HMM_BLOCKS_ROWS,   // the warps of a row of a square matrix: two rows
} hmm_blocks;

typedef struct hmm_algorithm {
  const char *name, *summary;
  // Its time with a barrier after each round; NULL: no paper gives one. l is the latency of the
  // main memory; of an HMM, where the algorithm has blocks, that is L, and l that of the shared
  // ones.
  const char *formula;
  const char *source;
  uint32_t machines;  // bit k: hmm_kind k can
  hmm_input data;
  uint32_t arrays;         // in the main memory
  uint32_t result;         // the array with the result; 0: nothing moves, what was read is summed
  const hmm_step *steps;   // NULL: what is below stands for them
  const char *kernels[6];  // up to a NULL: algorithms that follow each other, from a to b and back
  uint32_t takes;          // of the above
  hmm_blocks blocks;       // and what they have of the shared memories
  bool inverse;            // of a permutation it reads the inverse
  // NULL where the table says all:
  const char *(*problem)(arena *a, const hmm_machine *m, const hmm_task *t);
  void (*begin)(hmm_job *job);
  hmm_op (*op)(void *job, uint64_t warp, uint64_t step);
  void (*lanes)(void *job, uint64_t warp, uint64_t step, uint64_t *address, hmm_word *value);
  uint64_t (*time)(arena *a, const hmm_machine *m, const hmm_task *t);
} hmm_algorithm;

const hmm_algorithm *hmm_algorithm_at(size_t index);         // NULL behind the last
const hmm_algorithm *hmm_algorithm_named(const char *name);  // or NULL

// NULL, or why the task cannot run: a sentence.
const char *hmm_algorithm_problem(arena *a, const hmm_machine *m, const hmm_algorithm *r,
                                  const hmm_task *t);
// Bytes that a run takes, about, or UINT64_MAX where no number can say them. (Threads may be 0.)
uint64_t hmm_algorithm_bytes(const hmm_machine *m, const hmm_algorithm *r, const hmm_task *t);
// Runs it, and compares what it leaves in memory with what it is to compute. NULL, or a sentence.
const char *hmm_algorithm_run(arena *a, const hmm_machine *m, const hmm_algorithm *r,
                              const hmm_task *t, hmm_counts *out);
// The closed form of its time in time units: with m->barrier, as the papers count; else
// free-running, where all accesses have one congestion: a warp's next request waits for its last
// one, or for the others' turns. 0: there is none.
#define HMM_FREE_FORMULA "(R - 1) max(k + l - 1, k p/w) + k p/w + l - 1 in R rounds of congestion k"
uint64_t hmm_algorithm_time(arena *a, const hmm_machine *m, const hmm_algorithm *r,
                            const hmm_task *t);
// D_w in the formula of a permutation: the stages of its casual round (HMM paper, section IV; of a
// DMM, by banks). 0: the algorithm is none.
uint64_t hmm_algorithm_distribution(arena *a, const hmm_machine *m, const hmm_algorithm *r,
                                    const hmm_task *t);

// ---- data ------------------------------------------------------------------------------------

typedef struct hmm_permutation {
  const char *name;
  // The image of i among n = 2^bits elements.
  uint64_t (*at)(uint64_t i, uint32_t bits);
  bool square;  // n is an even power
} hmm_permutation;
// The five of the HMM paper (section IV): identical, shuffle, random, bit-reversal, transpose.
const hmm_permutation *hmm_permutation_at(size_t index);  // NULL behind the last
const hmm_permutation *hmm_permutation_named(const char *name);
// 2^bits images, in the arena. `random` (at == NULL) by the seed: Fisher and Yates' shuffle.
uint64_t *hmm_permutation_list(arena *a, const hmm_permutation *p, uint32_t bits, uint64_t seed);
// NULL, or which number keeps 0 ... count - 1 from being in the list once each.
const char *hmm_permutation_problem(arena *a, const uint64_t *list, uint64_t count);
// D_w(P), the distribution (HMM paper, section IV): address groups that warps of w write to. n is a
// multiple of w. Or of banks: the sum over the warps of their congestion.
uint64_t hmm_distribution(arena *a, const uint64_t *list, uint64_t n, uint32_t width, bool banks);

// ---- numbers ---------------------------------------------------------------------------------

static inline uint64_t hmm_side(uint64_t n) {  // its root, rounded down
  uint64_t side = 0;
  for (uint64_t bit = UINT64_C(1) << 31; bit != 0; bit /= 2)
    if ((side | bit) * (side | bit) <= n)
      side |= bit;
  return side;
}

#endif
