// The steps of tables: where the lanes of a warp are, and how many stages that takes. See
// hmm/rows.h.
#include "core/number.h"
#include "core/random.h"
#include "kernels/hmm/rows.h"

// ---- addresses -------------------------------------------------------------------------------

// Where lane 0 is. In a matrix: a warp is in one row. Or the block's tile, and the warp's line of
// it; and in its shared memory, which blocks that are on it share, where the block's part begins.
typedef struct cell {
  uint64_t row, column, line, shared;
} cell;

static cell cell_of(const hmm_lanes *x) {
  const hmm_machine *m = x->job->machine;
  uint64_t w = m->width, side = x->job->side, row = x->first / side;
  if (x->job->part->blocks != HMM_BLOCKS_TILES)
    return (cell){row, x->first % side, 0, row / m->dmms * 2 * side};
  uint64_t block = x->warp / w, across = side / w;
  uint64_t number = x->round * (m->threads / (w * w)) + block;
  return (cell){number / across, number % across, x->warp % w, block / m->dmms * w * w};
}

static uint64_t random_place(uint64_t state, uint64_t i, uint64_t n) {
  state += i * UINT64_C(0x2545f4914f6cdd1d);
  return (draw_word(&state) >> 32) * n >> 32;  // n is at most 2^31
}

void hmm_step_lanes(const hmm_lanes *x, const hmm_step *s, uint64_t *address) {
  const hmm_job *j = x->job;
  const hmm_task *t = j->task;
  cell c = cell_of(x);
  uint64_t w = j->machine->width, side = j->side, apart = t->n / j->machine->threads;
  uint64_t in_shared = c.shared + (s->array == ORDERED ? side : 0);
  uint64_t first = hmm_step_is_shared(s) ? in_shared : hmm_array_at(j, s->array, j->kernel);
#define EACH_LANE(place)                                                                           \
  for (uint64_t i = 0; i < w; i++)                                                                 \
    address[i] = first + (place);                                                                  \
  break;
  switch (s->place) {
  case IN_ORDER:
    EACH_LANE(x->first + i)
  case APART:
    EACH_LANE((x->warp * w + i) * apart + x->round)
  case RANDOM:
    EACH_LANE(random_place(t->seed + x->first, i, t->n))
  case LISTED:  // the list may end before the warp does
    EACH_LANE(x->first + i < t->n ? t->list[x->first + i] : HMM_IDLE)
  case COLUMN:
    EACH_LANE((c.column + i) * side + c.row)
  case DOWN:
    EACH_LANE((c.column + i) * side + (c.row + c.column + i) % side)
  case ACROSS:
    EACH_LANE((c.row + c.column + i) % side * side + c.column + i)
  case AT_VALUE:
    EACH_LANE(x->value[i])
  case AT_KEPT:
    EACH_LANE(x->kept[i])
  case AT_OLDER:
    EACH_LANE(x->older[i])
  case IN_ROW:
    EACH_LANE(c.column + i)
  case TILE_LINE:
    EACH_LANE((c.row * w + c.line) * side + c.column * w + i)
  case TILE_MIRRORED:
    EACH_LANE((c.column * w + c.line) * side + c.row * w + i)
  case TILE_ACROSS:
    EACH_LANE(c.line * w + (c.line + i) % w)
  case TILE_DOWN:
    EACH_LANE(i * w + (c.line + i) % w)
  }
#undef EACH_LANE
}

// ---- stages of all warps ---------------------------------------------------------------------

static uint64_t stages_of_pointers(arena *a, const hmm_machine *m, const hmm_task *t, bool reads) {
  const uint64_t *list = t->list;
  if (reads) {  // where elements come from
    uint64_t *inverse = NEW_ARRAY(a, uint64_t, t->n);
    for (uint64_t i = 0; i < t->n; i++)
      inverse[t->list[i]] = i;
    list = inverse;
  }
  return hmm_distribution(a, list, t->n, m->width, m->kind == HMM_KIND_DMM);
}

uint64_t hmm_step_stages(arena *a, const hmm_machine *m, const hmm_algorithm *r, const hmm_task *t,
                         const hmm_step *s) {
  uint64_t warps = t->n / m->width, apart = t->n / m->threads;
  bool banks = m->kind == HMM_KIND_DMM;
  if (s->does == SYNC || s->place == RANDOM || s->place == LISTED)
    return 0;
  switch (s->place) {
  // Lanes n / p words apart (DMM/UMM paper, section 3): GCD(n/p, w) of them share a bank. They touch
  // min(n/p, w) groups: the paper bounds these, and for any w the bound is met, as a warp's first
  // lane is at a multiple of n/p w plus t < n/p.
  case APART:
    return warps * (banks              ? greatest_common_divisor(apart, m->width)
                    : apart < m->width ? apart
                                       : m->width);
  case COLUMN:  // rows of a matrix apart, whose side is a multiple of w: one bank, or w groups
    return warps * m->width;
  case DOWN:  // rows apart and one more: a bank for each
  case ACROSS:
    return warps * (banks ? 1 : m->width);
  default:  // pointers are prepared so that no request has a conflict, or come as they are
    return s->place >= AT_VALUE && s->place <= AT_OLDER && !r->begin
               ? stages_of_pointers(a, m, t, s->does == READ)
               : warps;
  }
}
