// The papers' accesses and algorithms for the memory machines: rows of one table, each with what it
// must compute and, where a paper gives one, its time in closed form.
//
//   machine m = {MACHINE_DMM, 1, 4, 3, 1, 16, true};                    w = 4, l = 3, p = 16
//   machine_task t = {.n = 16};
//   const machine_algorithm *crsw = machine_algorithm_named("crsw");
//   machine_algorithm_run(&arena, &m, crsw, &t, &counts);               counts.time = 4+2 + 16+2
//   machine_algorithm_time(&arena, &m, crsw, &t);                       24, by the formula
//
// An algorithm works on arrays of n words in the main memory (a DMM's only one, the global memory
// of the others), one after the other: a at 0, b at n, a third at 2 n. Thread i takes the elements
// i, i + p, i + 2 p, ...: most algorithms are a few STEPS, which are repeated n / p times.
//
// Files: hmm/algorithm.c (the table, running, checking), hmm/steps.c (addresses of steps),
// hmm/transpose.c (transposes through shared memory and through registers), hmm/data.c
// (permutations, distributions).
#ifndef PERMC_KERNELS_HMM_ALGORITHM_H
#define PERMC_KERNELS_HMM_ALGORITHM_H

#include "kernels/hmm/hmm.h"

typedef struct machine_task {
  uint64_t n;            // words of an array
  uint64_t registers;    // r of a thread, where the algorithm asks for them (0: w)
  uint64_t seed;         // of random addresses
  const uint64_t *list;  // n of them: addresses, or a permutation: element i goes to list[i]
} machine_task;

// What an algorithm is about, besides n.
typedef enum machine_data {
  MACHINE_ARRAY,        // nothing
  MACHINE_MATRIX,       // n is a square, its side a multiple of w
  MACHINE_ADDRESSES,    // list: any addresses, counted only
  MACHINE_PERMUTATION,  // list
} machine_data;
enum { MACHINE_MOST_BITS = 31 };  // n is at most 2^31

typedef struct machine_job machine_job;
typedef struct machine_lanes machine_lanes;

// One step of a table: all lanes read, or write what the last read brought.
typedef struct machine_step {
  bool sync;           // nothing but a barrier of the block
  bool write, shared;  // shared: of an HMM, not in the main memory
  void (*address)(const machine_lanes *x, uint64_t *address);
  // The stages of all warps in closed form. NULL: there is none.
  uint64_t (*stages)(arena *a, const machine *m, const machine_task *t);
} machine_step;

// Of a task, besides n and what the data is.
enum { MACHINE_TAKES_REGISTERS = 1, MACHINE_TAKES_SEED = 2 };

typedef struct machine_algorithm {
  const char *name, *summary;
  // Its time with a barrier after each round; NULL: no paper gives one. l is the latency of the
  // main memory; of an HMM, where the algorithm has `tiles`, that is L, and l that of the shared
  // ones.
  const char *formula;
  const char *source;
  uint32_t machines;  // bit k: machine_kind k can
  machine_data data;
  uint32_t arrays;  // in the main memory
  uint32_t result;  // the array with the result; 0: nothing moves, what was read is summed
  const machine_step *steps[7];  // up to a NULL; none: the functions below stand for them
  uint32_t takes;                // of the above
  bool tiles;                    // blocks of w warps, and tiles in the shared memories
  bool inverse;                  // of a permutation it reads the inverse
  // NULL where the table says all:
  const char *(*problem)(arena *a, const machine *m, const machine_task *t);
  void (*begin)(machine_job *job);
  machine_op (*op)(void *job, uint64_t warp, uint64_t step);
  void (*lanes)(void *job, uint64_t warp, uint64_t step, uint64_t *address, machine_word *value);
  uint64_t (*time)(arena *a, const machine *m, const machine_task *t);
} machine_algorithm;

// An algorithm while it runs.
struct machine_job {
  arena *memory;
  const machine *machine;
  const machine_algorithm *algorithm;
  const machine_task *task;
  machine_program program;
  uint64_t side;       // of a matrix
  machine_word *kept;  // [p]: what the read before the last one brought; or [p r]: registers
  uint64_t sum;        // of what was read, where nothing moves
};

// Where a step is: round t of warp, whose lane 0 has element `first`.
struct machine_lanes {
  const machine_job *job;
  uint64_t round, warp, first;
  const machine_word *value, *kept;
};

const machine_algorithm *machine_algorithm_at(size_t index);         // NULL behind the last
const machine_algorithm *machine_algorithm_named(const char *name);  // or NULL

// NULL, or why the task cannot run: a sentence.
const char *machine_algorithm_problem(arena *a, const machine *m, const machine_algorithm *r,
                                      const machine_task *t);
// Bytes that a run takes, about, or UINT64_MAX where no number can say them. (Threads may be 0.)
uint64_t machine_algorithm_bytes(const machine *m, const machine_algorithm *r,
                                 const machine_task *t);
// Runs it, and compares what it leaves in memory with what it is to compute. NULL, or a sentence.
const char *machine_algorithm_run(arena *a, const machine *m, const machine_algorithm *r,
                                  const machine_task *t, machine_counts *out);
// The closed form of its time in time units: with m->barrier, as the papers count; else
// free-running, where all accesses have one congestion: a warp's next request waits for its last
// one, or for the others' turns. 0: there is none.
#define MACHINE_FREE_FORMULA                                                                       \
  "(R - 1) max(k + l - 1, k p/w) + k p/w + l - 1 in R rounds of congestion k"
uint64_t machine_algorithm_time(arena *a, const machine *m, const machine_algorithm *r,
                                const machine_task *t);
// D_w in the formula of a permutation: the stages of its casual round (HMM paper, section IV; of a
// DMM, by banks). 0: the algorithm is none.
uint64_t machine_algorithm_distribution(arena *a, const machine *m, const machine_algorithm *r,
                                        const machine_task *t);

// ---- data ------------------------------------------------------------------------------------

typedef struct machine_permutation {
  const char *name;
  // The image of i among n = 2^bits elements.
  uint64_t (*at)(uint64_t i, uint32_t bits);
  bool square;  // n is an even power
} machine_permutation;
// The five of the HMM paper (section IV): identical, shuffle, random, bit-reversal, transpose.
const machine_permutation *machine_permutation_at(size_t index);  // NULL behind the last
const machine_permutation *machine_permutation_named(const char *name);
// 2^bits images, in the arena. `random` (at == NULL) by the seed: Fisher and Yates' shuffle.
uint64_t *machine_permutation_list(arena *a, const machine_permutation *p, uint32_t bits,
                                   uint64_t seed);
// NULL, or which number keeps 0 ... count - 1 from being in the list once each.
const char *machine_permutation_problem(arena *a, const uint64_t *list, uint64_t count);
// D_w(P), the distribution (HMM paper, section IV): address groups that warps of w write to. n is a
// multiple of w.
uint64_t machine_distribution(arena *a, const uint64_t *list, uint64_t n, uint32_t width);
// The same of banks: the sum over the warps of their congestion.
uint64_t machine_bank_distribution(arena *a, const uint64_t *list, uint64_t n, uint32_t width);

// ---- for rows --------------------------------------------------------------------------------

static inline uint64_t machine_side(uint64_t n) {  // its root, rounded down
  uint64_t side = 0;
  for (uint64_t bit = UINT64_C(1) << 31; bit != 0; bit /= 2)
    if ((side | bit) * (side | bit) <= n)
      side |= bit;
  return side;
}
uint64_t machine_gcd(uint64_t a, uint64_t b);

// Steps of tables (hmm/steps.c).
extern const machine_step machine_read_contiguous, machine_read_stride, machine_read_random,
    machine_read_list, machine_read_column, machine_write_column, machine_write_contiguous,
    machine_read_down, machine_write_down, machine_write_across, machine_read_across,
    machine_read_pointer, machine_read_pointed, machine_write_pointed;

// Transposes (hmm/transpose.c).
const char *machine_tiles_problem(arena *a, const machine *m, const machine_task *t);
extern const machine_step machine_tile_in, machine_tile_put, machine_tile_get, machine_tile_out;
const char *machine_rotation_problem(arena *a, const machine *m, const machine_task *t);
void machine_rotation_begin(machine_job *job);
machine_op machine_rotation_op(void *job, uint64_t warp, uint64_t step);
void machine_rotation_lanes(void *job, uint64_t warp, uint64_t step, uint64_t *address,
                            machine_word *value);
uint64_t machine_rotation_time(arena *a, const machine *m, const machine_task *t);

#endif
