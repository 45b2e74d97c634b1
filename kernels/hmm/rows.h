// Private to kernels/hmm: what the rows of the table of algorithms are made of.
#ifndef PERMC_KERNELS_HMM_ROWS_H
#define PERMC_KERNELS_HMM_ROWS_H

#include "kernels/hmm/algorithm.h"

typedef struct hmm_lanes hmm_lanes;

// One step of a table: all lanes read, or write what the last read brought.
struct hmm_step {
  bool sync;           // nothing but a barrier of the block
  bool write, shared;  // shared: of an HMM, not in the main memory
  void (*address)(const hmm_lanes *x, uint64_t *address);
  // The stages of all warps in closed form. NULL: there is none.
  uint64_t (*stages)(arena *a, const hmm_machine *m, const hmm_task *t);
};

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

// Where a step is: round t of warp, whose lane 0 has element `first`.
struct hmm_lanes {
  const hmm_job *job;
  uint64_t round, warp, first;
  const hmm_word *value, *kept, *older;
};

// Where the array begins that a kernel reads, or the one that it writes: every second one goes
// back.
static inline uint64_t hmm_array_of(const hmm_lanes *x, bool written) {
  return (x->job->kernel % 2 != 0) != written ? x->job->task->n : 0;
}

// Steps of tables (hmm/steps.c).
extern const hmm_step hmm_read_contiguous, hmm_read_stride, hmm_read_random, hmm_read_list,
    hmm_read_column, hmm_write_column, hmm_write_contiguous, hmm_read_down, hmm_write_down,
    hmm_write_across, hmm_read_across, hmm_read_pointer, hmm_read_pointed, hmm_write_pointed;

// Transposes (hmm/transpose.c).
const char *hmm_tiles_problem(arena *a, const hmm_machine *m, const hmm_task *t);
extern const hmm_step hmm_tile_in, hmm_tile_put, hmm_tile_get, hmm_tile_out;

// Permutations that are prepared (hmm/scheduled.c).
extern const hmm_step hmm_read_to, hmm_read_from, hmm_read_copied, hmm_write_copied;
extern const hmm_step hmm_row_in, hmm_row_put, hmm_row_get, hmm_row_set, hmm_row_take, hmm_row_out;
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
