// Permutations that are prepared by edge colouring, so that no request has a conflict: of a DMM's
// memory (DMM/UMM paper, section 6), of the rows and the columns of a matrix, and of any array in
// three such steps (HMM paper, sections VI and VII). See hmm/algorithm.h.
#include "core/permutation/schedule.h"
#include "kernels/hmm/rows.h"

#include <inttypes.h>

// ---- what can be prepared --------------------------------------------------------------------

enum { MOST = 1 << 16 };  // elements that a row's copies are prepared for

const char *hmm_conflict_free_problem(arena *a, const hmm_machine *m, const hmm_task *t) {
  (void)m;
  if (t->n <= MOST)
    return NULL;
  return arena_printf(a, "n is at most 2^16, as a shared memory's words are, not %" PRIu64, t->n);
}

// A block of threads for each row, and tiles of w x w.
static const char *square_problem(arena *a, const hmm_machine *m, const hmm_task *t) {
  uint64_t side = hmm_side(t->n);
  if (side * side != t->n || side % m->width != 0 || side > MOST)
    return arena_printf(a,
                        "n is to be a square whose side is a multiple of w = %u and at most 2^16, "
                        "which %" PRIu64 " is not",
                        m->width, t->n);
  if (m->threads != t->n)
    return arena_printf(
        a, "it has a thread for each of the n = %" PRIu64 " elements: --threads %" PRIu64, t->n,
        t->n);
  return NULL;
}

static const char *inside_problem(arena *a, const hmm_machine *m, const hmm_task *t, bool rows) {
  const char *problem = square_problem(a, m, t);
  uint64_t side = hmm_side(t->n);
  for (uint64_t i = 0; i < t->n && !problem; i++)
    if (rows ? i / side != t->list[i] / side : i % side != t->list[i] % side)
      problem = arena_printf(
          a, "the permutation does not stay inside %s of %" PRIu64 ": %" PRIu64 " goes to %" PRIu64,
          rows ? "rows" : "columns", side, i, t->list[i]);
  return problem;
}

const char *hmm_row_wise_problem(arena *a, const hmm_machine *m, const hmm_task *t) {
  return inside_problem(a, m, t, true);
}
const char *hmm_column_wise_problem(arena *a, const hmm_machine *m, const hmm_task *t) {
  return inside_problem(a, m, t, false);
}

const char *hmm_scheduled_problem(arena *a, const hmm_machine *m, const hmm_task *t) {
  const char *problem = square_problem(a, m, t);
  uint64_t side = hmm_side(t->n);
  if (!problem && (side & (side - 1)) != 0)
    problem = arena_printf(a, "the side of the matrix is to be a power of two, not %" PRIu64, side);
  return problem;
}

// ---- preparing -------------------------------------------------------------------------------

// Rows that gather by `steps`, in this kernel.
static void put_copies(hmm_job *j, uint32_t kernel, const uint16_t *steps, uint64_t length) {
  hmm_word *words = j->machine->kind == HMM_KIND_DMM ? j->program.shared : j->program.global;
  uint32_t count = (uint32_t)length, banks = j->machine->width;
  uint16_t *from = NEW_ARRAY(j->memory, uint16_t, length),
           *to = NEW_ARRAY(j->memory, uint16_t, length);
  uint32_t *scratch = NEW_ARRAY(j->memory, uint32_t, row_copies_scratch(count, banks));
  for (uint64_t first = 0; first < j->task->n; first += length) {
    row_copies_make(steps + first, count, banks, from, to, scratch);
    for (uint64_t i = 0; i < length; i++) {
      words[hmm_array_at(j, TO, kernel) + first + i] = to[i];
      words[hmm_array_at(j, FROM, kernel) + first + i] = from[i];
    }
  }
}

// What each place of a row gathers; of a matrix that is turned, where its columns are rows.
static uint16_t *gathers(hmm_job *j, uint64_t length, bool turned) {
  uint16_t *steps = NEW_ARRAY(j->memory, uint16_t, j->task->n);
  for (uint64_t i = 0; i < j->task->n; i++) {
    uint64_t row = turned ? i % length : i / length, from = turned ? i / length : i % length;
    uint64_t to = turned ? j->task->list[i] / length : j->task->list[i] % length;
    steps[row * length + to] = (uint16_t)from;
  }
  return steps;
}

void hmm_conflict_free_begin(hmm_job *j) {
  put_copies(j, 0, gathers(j, j->task->n, false), j->task->n);
}
void hmm_row_wise_begin(hmm_job *j) { put_copies(j, 0, gathers(j, j->side, false), j->side); }
void hmm_column_wise_begin(hmm_job *j) { put_copies(j, 1, gathers(j, j->side, true), j->side); }

void hmm_scheduled_begin(hmm_job *j) {
  permutation_schedule s = schedule_shape(j->task->n);
  for (int i = 0; i < SCHEDULE_STEPS; i++)
    s.steps[i] = NEW_ARRAY(j->memory, uint16_t, j->task->n);
  schedule_means means = {.threads = 1};
  means.scratch = NEW_ARRAY(j->memory, uint32_t, schedule_scratch(&s, 1));
  place_list places = {j->task->list, sizeof *j->task->list, j->task->n};
  schedule_make(&s, &places, &means);
  for (uint32_t i = 0; i < SCHEDULE_STEPS; i++)  // the kernels between them transpose
    put_copies(j, 2 * i, s.steps[i], j->side);
}
