// Addresses of one step of all lanes of a warp, and how many stages they take. See
// hmm/algorithm.h.
#include "core/number.h"
#include "core/random.h"
#include "kernels/hmm/rows.h"

typedef const hmm_lanes lanes;

// ---- stages of all warps ---------------------------------------------------------------------

static uint64_t stages_of_all_warps(const hmm_machine *m, const hmm_task *t, uint64_t congestion) {
  return t->n / m->width * congestion;
}

// One stage for each warp.
static uint64_t stages_contiguous(arena *a, const hmm_machine *m, const hmm_task *t) {
  (void)a;
  return stages_of_all_warps(m, t, 1);
}

// Lanes n / p words apart (DMM/UMM paper, section 3): GCD(n/p, w) of them share a bank. They touch
// min(n/p, w) groups: the paper bounds these, and for any w the bound is met,
// as a warp's first lane is at a multiple of n/p w plus t < n/p.
static uint64_t stages_stride(arena *a, const hmm_machine *m, const hmm_task *t) {
  uint64_t apart = t->n / m->threads;
  (void)a;
  if (m->kind == HMM_KIND_DMM)
    return stages_of_all_warps(m, t, greatest_common_divisor(apart, m->width));
  return stages_of_all_warps(m, t, apart < m->width ? apart : m->width);
}

// Rows of a matrix apart, whose side is a multiple of w: one bank, or w groups.
static uint64_t stages_column(arena *a, const hmm_machine *m, const hmm_task *t) {
  (void)a;
  return stages_of_all_warps(m, t, m->width);
}

// Rows apart and one more: a bank for each.
static uint64_t stages_diagonal(arena *a, const hmm_machine *m, const hmm_task *t) {
  (void)a;
  return stages_of_all_warps(m, t, m->kind == HMM_KIND_DMM ? 1 : m->width);
}

static uint64_t stages_scattered(arena *a, const hmm_machine *m, const hmm_task *t) {
  return m->kind == HMM_KIND_DMM ? hmm_bank_distribution(a, t->list, t->n, m->width)
                                 : hmm_distribution(a, t->list, t->n, m->width);
}

static uint64_t stages_gathered(arena *a, const hmm_machine *m, const hmm_task *t) {
  uint64_t *inverse = NEW_ARRAY(a, uint64_t, t->n);
  for (uint64_t i = 0; i < t->n; i++)
    inverse[t->list[i]] = i;
  return stages_scattered(a, m, &(hmm_task){.n = t->n, .list = inverse});
}

// ---- addresses -------------------------------------------------------------------------------

#define FOR_LANES(x) for (uint32_t i = 0; i < (x)->job->machine->width; i++)

static void address_contiguous(lanes *x, uint64_t *address) {
  FOR_LANES(x) address[i] = x->first + i;
}

static void address_contiguous_b(lanes *x, uint64_t *address) {
  uint64_t first = x->job->task->n + x->first;
  FOR_LANES(x) address[i] = first + i;
}

static void address_apart(lanes *x, uint64_t *address) {
  const hmm_machine *m = x->job->machine;
  uint64_t step = x->job->task->n / m->threads, first = x->warp * m->width * step + x->round;
  FOR_LANES(x) address[i] = first + i * step;
}

static void address_random(lanes *x, uint64_t *address) {
  uint64_t n = x->job->task->n, state = x->job->task->seed + x->first;
  FOR_LANES(x) {
    uint64_t own = state + i * UINT64_C(0x2545f4914f6cdd1d);
    address[i] = (draw_word(&own) >> 32) * n >> 32;  // n is at most 2^31
  }
}

static void address_listed(lanes *x, uint64_t *address) {
  const hmm_task *t = x->job->task;
  FOR_LANES(x) address[i] = x->first + i < t->n ? t->list[x->first + i] : HMM_IDLE;
}

// Element e of a matrix is row j, column k + i; a warp is in one row.
typedef struct cell {
  uint64_t side, row, column;
} cell;
static cell cell_of(lanes *x) {
  uint64_t side = x->job->side;
  return (cell){side, x->first / side, x->first % side};
}

// Row k + i, column j of the array at `offset`.
static void address_column(lanes *x, uint64_t offset, uint64_t *address) {
  cell c = cell_of(x);
  FOR_LANES(x) address[i] = offset + (c.column + i) * c.side + c.row;
}
static void address_column_a(lanes *x, uint64_t *address) { address_column(x, 0, address); }
static void address_column_b(lanes *x, uint64_t *address) {
  address_column(x, x->job->task->n, address);
}

// Row k + i, column j + k + i: a diagonal, one down and one to the right.
static void address_down(lanes *x, uint64_t offset, uint64_t *address) {
  cell c = cell_of(x);
  FOR_LANES(x) {
    uint64_t row = c.column + i;
    address[i] = offset + row * c.side + (c.row + row) % c.side;
  }
}
static void address_down_a(lanes *x, uint64_t *address) { address_down(x, 0, address); }
static void address_down_b(lanes *x, uint64_t *address) {
  address_down(x, x->job->task->n, address);
}

// Row j + k + i, column k + i: its mirror image.
static void address_across(lanes *x, uint64_t offset, uint64_t *address) {
  cell c = cell_of(x);
  FOR_LANES(x) {
    uint64_t to = c.column + i;
    address[i] = offset + (c.row + to) % c.side * c.side + to;
  }
}
static void address_across_a(lanes *x, uint64_t *address) { address_across(x, 0, address); }
static void address_across_b(lanes *x, uint64_t *address) {
  address_across(x, x->job->task->n, address);
}

// The third array holds where elements go to, or come from.
static void address_pointer(lanes *x, uint64_t *address) {
  uint64_t first = 2 * x->job->task->n + x->first;
  FOR_LANES(x) address[i] = first + i;
}
static void address_pointed_a(lanes *x, uint64_t *address) {
  FOR_LANES(x) address[i] = x->value[i];
}
static void address_pointed_b(lanes *x, uint64_t *address) {
  uint64_t n = x->job->task->n;
  FOR_LANES(x) address[i] = n + x->kept[i];
}

const hmm_step hmm_read_contiguous = {.address = address_contiguous, .stages = stages_contiguous};
const hmm_step hmm_read_stride = {.address = address_apart, .stages = stages_stride};
const hmm_step hmm_read_random = {.address = address_random};
const hmm_step hmm_read_list = {.address = address_listed};
const hmm_step hmm_read_column = {.address = address_column_a, .stages = stages_column};
const hmm_step hmm_write_column = {
    .write = true, .address = address_column_b, .stages = stages_column};
const hmm_step hmm_write_contiguous = {
    .write = true, .address = address_contiguous_b, .stages = stages_contiguous};
const hmm_step hmm_read_down = {.address = address_down_a, .stages = stages_diagonal};
const hmm_step hmm_write_down = {
    .write = true, .address = address_down_b, .stages = stages_diagonal};
const hmm_step hmm_read_across = {.address = address_across_a, .stages = stages_diagonal};
const hmm_step hmm_write_across = {
    .write = true, .address = address_across_b, .stages = stages_diagonal};
const hmm_step hmm_read_pointer = {.address = address_pointer, .stages = stages_contiguous};
const hmm_step hmm_read_pointed = {.address = address_pointed_a, .stages = stages_gathered};
const hmm_step hmm_write_pointed = {
    .write = true, .address = address_pointed_b, .stages = stages_scattered};
