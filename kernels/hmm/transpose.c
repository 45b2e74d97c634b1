// Transposes that need more than the main memory: tiles in an HMM's shared memory, and rotations in
// the registers of a UMM's threads. See hmm/algorithm.h.
#include "kernels/hmm/rows.h"

#include <inttypes.h>

// ---- tiles of w x w in shared memory (HMM paper, section V) ----------------------------------

// Blocks of w^2 threads: warp i of a block has row i of a tile. Element (i, j) of the tile is at
// i w + (i + j) mod w of the block's part of the shared memory: rows and columns lie in w banks.

const char *hmm_tiles_problem(arena *a, const hmm_machine *m, const hmm_task *t) {
  uint64_t block = (uint64_t)m->width * m->width;
  (void)t;
  if (m->threads % block != 0)
    return arena_printf(
        a, "its blocks have w^2 = %" PRIu64 " threads, of which p = %" PRIu64 " is no multiple",
        block, m->threads);
  return NULL;
}

// ---- rotations in registers (DMM/UMM paper, section 5) ---------------------------------------

// Tiles of s x s, s = sqrt(r w): w threads are s groups of w / s, and a group's registers, r of
// each of its threads, are as s of one thread. Element u of group g is in register u mod r of its
// thread u / r. A warp transposes its tiles one after the other:
//
//   steps 0 ... s-1      read row t of the tile: group g reads column (t + g) mod s into element t
//   steps s ... 2s-1     write row t: group g writes its element (t - g) mod s to that column
//   steps 2s ... 4s-1    copy row t to the tile's mirror image: read, write
//
// Each row of a tile is in one address group. With r = w this is Lemma 5.2's algorithm, with r < w
// Lemma 5.3's, whose rounds have s of w lanes at work. (The paper writes the rows of Lemma 5.3 as
// columns, which would be s groups; the rotation of Lemma 5.2 serves for both.)

typedef struct rotation {
  uint64_t r, s, tiles, across, n;  // tiles of all, and in a row
} rotation;

static rotation rotation_of(const hmm_machine *m, const hmm_task *t) {
  rotation o = {.r = t->registers ? t->registers : m->width, .n = t->n};
  o.s = hmm_side(o.r * m->width);
  o.across = o.s ? hmm_side(t->n) / o.s : 0;
  o.tiles = o.across * o.across;
  return o;
}

const char *hmm_rotation_problem(arena *a, const hmm_machine *m, const hmm_task *t) {
  rotation o = rotation_of(m, t);
  if (o.r < 1 || o.r > m->width)
    return arena_printf(a, "a thread has from 1 to w = %u registers, not %" PRIu64, m->width, o.r);
  if (o.s * o.s != o.r * m->width || m->width % o.s != 0)
    return arena_printf(a,
                        "tiles have the side sqrt(r w), a divisor of w: with w = %u, r = %" PRIu64
                        " there are none",
                        m->width, o.r);
  if (o.tiles % (m->threads / m->width) != 0)
    return arena_printf(a,
                        "each warp has as many of the %" PRIu64 " tiles of %" PRIu64 " x %" PRIu64
                        ": p / w = %" PRIu64 " is no divisor",
                        o.tiles, o.s, o.s, m->threads / m->width);
  return NULL;
}

void hmm_rotation_begin(hmm_job *job) {
  rotation o = rotation_of(job->machine, job->task);
  job->kept = NEW_ARRAY(job->memory, hmm_word, job->machine->threads * o.r);
}

hmm_op hmm_rotation_op(void *state, uint64_t warp, uint64_t step) {
  const hmm_job *job = state;
  rotation o = rotation_of(job->machine, job->task);
  (void)warp;
  if (step >= 4 * o.s * (o.tiles / job->program.warps))
    return HMM_END;
  bool write = step % (4 * o.s) < 2 * o.s ? step / o.s % 2 : step % 2;
  bool shared = job->machine->kind == HMM_KIND_DMM;
  return (shared ? HMM_READ_SHARED : HMM_READ_GLOBAL) + write;
}

typedef struct rotating {
  rotation o;
  uint64_t threads, tile, row;  // threads of a group
  hmm_word *registers;          // [r][w] of the warp
} rotating;

// Address of element `column` of a row of the tile, or of its mirror image, in array `number`.
static uint64_t element_at(const rotating *x, uint64_t number, bool mirrored, uint64_t column) {
  uint64_t side = x->o.across * x->o.s, row = x->tile / x->o.across, across = x->tile % x->o.across;
  uint64_t down = mirrored ? across : row, right = mirrored ? row : across;
  return number * x->o.n + (down * x->o.s + x->row) * side + right * x->o.s + column;
}

// What row t's read has brought goes to element t of each group.
static void keep_row(const rotating *x, uint64_t row, uint32_t width, const hmm_word *value) {
  for (uint64_t g = 0; g < x->o.s; g++) {
    uint64_t lane = g * x->threads + row / x->o.r;
    x->registers[row % x->o.r * width + lane] = value[lane];
  }
}

static void rotate_row(const rotating *x, bool write, uint32_t width, uint64_t *address,
                       hmm_word *value) {
  uint64_t s = x->o.s;
  for (uint64_t g = 0; g < s; g++) {
    uint64_t back = (x->row + s - g) % s, element = write ? back : x->row;
    uint64_t lane = g * x->threads + element / x->o.r;
    address[lane] = element_at(x, write, false, write ? back : (x->row + g) % s);
    if (write)
      value[lane] = x->registers[element % x->o.r * width + lane];
  }
}

void hmm_rotation_lanes(void *state, uint64_t warp, uint64_t step, uint64_t *address,
                        hmm_word *value) {
  hmm_job *job = state;
  uint32_t width = job->machine->width;
  rotation o = rotation_of(job->machine, job->task);
  uint64_t s = o.s, at = step % (4 * s);
  rotating x = {o, width / s, step / (4 * s) * job->program.warps + warp,
                at < 2 * s ? at % s : (at - 2 * s) / 2, job->kept + warp * width * o.r};
  for (uint32_t i = 0; i < width; i++)
    address[i] = HMM_IDLE;
  if (at >= 1 && at <= s)
    keep_row(&x, at - 1, width, value);
  if (at < 2 * s) {
    rotate_row(&x, at >= s, width, address, value);
    return;
  }
  for (uint64_t j = 0; j < s; j++)
    address[j] = element_at(&x, at % 2 ? 2 : 1, at % 2, j);
}

// 4 s rounds for each of n / s^2 tiles, shared among p / w warps: (n/w + nl/p - n/p) 4 sqrt(w/r).
uint64_t hmm_rotation_time(arena *a, const hmm_machine *m, const hmm_task *t) {
  rotation o = rotation_of(m, t);
  uint64_t warps = m->threads / m->width;
  (void)a;
  return 4 * o.s * (o.tiles / warps) * (warps + m->latency - 1);
}
