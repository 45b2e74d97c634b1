// Private to kernels/hmm: what the rows of the table of algorithms are made of.
#ifndef PERMC_KERNELS_HMM_ROWS_H
#define PERMC_KERNELS_HMM_ROWS_H

#include "kernels/hmm/algorithm.h"

// A step of a table: what each lane does, in which array, and where. The steps are repeated n / p
// times.
//
//   d-designated: b[p[i]] = a[i]     {READ, TO, IN_ORDER}, {READ, A, IN_ORDER}, {WRITE, B, AT_KEPT}
typedef enum hmm_does {
  STEPS_END,
  READ,
  WRITE,  // what the last read brought
  SYNC    // nothing but a barrier of the block
} hmm_does;

typedef enum hmm_array {
  A,        // what a kernel reads: every second one goes back, from b to a
  B,        // what it writes
  TO,       // of each kernel: where its elements, or copies, go
  FROM,     // and where its copies come from
  SHARED,   // the block's part of an HMM's shared memory: a tile, or a row
  ORDERED,  // and the same row once more
} hmm_array;

// Of lane i, where lane 0 has element e of the array; of a matrix, that of row j and column k.
typedef enum hmm_place {
  IN_ORDER,       // e + i
  APART,          // each thread has n / p elements that follow one another
  RANDOM,         // anywhere
  LISTED,         // list[e + i]
  COLUMN,         // row k + i, column j
  DOWN,           // row k + i, column j + k + i: a diagonal, one down and one to the right
  ACROSS,         // row j + k + i, column k + i: its mirror image
  AT_VALUE,       // what the last read brought
  AT_KEPT,        // what the read before it brought
  AT_OLDER,       // what the read before that brought
  IN_ROW,         // k + i
  TILE_LINE,      // the warp's line of the block's tile
  TILE_MIRRORED,  // ... of the tile's mirror image
  TILE_ACROSS,    // in shared memory, the warp's row of the tile
  TILE_DOWN       // ... column of the tile
} hmm_place;

struct hmm_step {
  hmm_does does;
  hmm_array array;
  hmm_place place;
};
static inline bool hmm_step_is_shared(const hmm_step *s) { return s->array >= SHARED; }

// An algorithm while it runs.
struct hmm_job {
  arena *memory;
  const hmm_machine *machine;
  const hmm_algorithm *algorithm;
  const hmm_algorithm *part;  // the algorithm, or the one of its kernels that runs
  uint32_t kernel;            // its number
  const hmm_task *task;
  hmm_program program;
  uint64_t side;    // of a matrix
  hmm_word *kept;   // [p]: what the read before the last one brought; or [p r]: registers
  hmm_word *older;  // [p]: and the one before that
  uint64_t sum;     // of what was read, where nothing moves
};

// Where an array of the main memory begins.
static inline uint64_t hmm_array_at(const hmm_job *j, hmm_array array, uint32_t kernel) {
  return (array <= B ? (kernel + array) % 2 : kernel + array) * j->task->n;
}

// Where a step is: round t of warp, whose lane 0 has element `first`.
typedef struct hmm_lanes {
  const hmm_job *job;
  uint64_t round, warp, first;
  const hmm_word *value, *kept, *older;
} hmm_lanes;

// Steps of tables (hmm/steps.c): the addresses of a warp's lanes, and the stages of all warps in
// closed form; 0: there is none.
void hmm_step_lanes(const hmm_lanes *x, const hmm_step *s, uint64_t *address);
uint64_t hmm_step_stages(arena *a, const hmm_machine *m, const hmm_algorithm *r, const hmm_task *t,
                         const hmm_step *s);

// Transposes (hmm/transpose.c).
const char *hmm_tiles_problem(arena *a, const hmm_machine *m, const hmm_task *t);

// Permutations that are prepared (hmm/scheduled.c).
const char *hmm_conflict_free_problem(arena *a, const hmm_machine *m, const hmm_task *t);
const char *hmm_row_wise_problem(arena *a, const hmm_machine *m, const hmm_task *t);
const char *hmm_column_wise_problem(arena *a, const hmm_machine *m, const hmm_task *t);
const char *hmm_scheduled_problem(arena *a, const hmm_machine *m, const hmm_task *t);
void hmm_conflict_free_begin(hmm_job *job);
void hmm_row_wise_begin(hmm_job *job);
void hmm_column_wise_begin(hmm_job *job);
void hmm_scheduled_begin(hmm_job *job);

const char *hmm_rotation_problem(arena *a, const hmm_machine *m, const hmm_task *t);
void hmm_rotation_begin(hmm_job *job);
hmm_op hmm_rotation_op(void *job, uint64_t warp, uint64_t step);
void hmm_rotation_lanes(void *job, uint64_t warp, uint64_t step, uint64_t *address,
                        hmm_word *value);
uint64_t hmm_rotation_time(arena *a, const hmm_machine *m, const hmm_task *t);

#endif
