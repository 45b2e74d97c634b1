// The table of accesses and algorithms, and running one. See hmm/algorithm.h.
#include "kernels/hmm/algorithm.h"

#include <inttypes.h>

enum {
  DMM = 1 << MACHINE_DMM,
  UMM = 1 << MACHINE_UMM,
  HMM = 1 << MACHINE_HMM,
  ANY = DMM | UMM | HMM
};

static const char dmm_umm[] = "DMM/UMM paper, Table 1", dmm_umm_5[] = "DMM/UMM paper, section 5";
static const char rap[] = "RAP paper, section III", hmm[] = "HMM paper, Table I";
// Where one warp writes what another then reads.
static const machine_step sync = {.sync = true};

// clang-format off
static const machine_algorithm rows[] = {
    {"contiguous", "thread i reads word t p + i in round t",
     "(p/w + l - 1) n/p", dmm_umm, ANY, MACHINE_ARRAY, 1, 0,
     .steps = {&machine_read_contiguous}},
    {"stride", "thread i reads word i n/p + t in round t",
     "(k p/w + l - 1) n/p, k = GCD(n/p, w) (DMM) or min(n/p, w)", dmm_umm, ANY, MACHINE_ARRAY, 1, 0,
     .steps = {&machine_read_stride}},
    {"diagonal", "a warp reads along a diagonal of a matrix",
     "(k p/w + l - 1) n/p, k = 1 (DMM) or w", rap, ANY, MACHINE_MATRIX, 1, 0,
     .steps = {&machine_read_down}},
    {"random", "each thread reads a random word", NULL, NULL, ANY, MACHINE_ARRAY, 1, 0,
     .steps = {&machine_read_random}, .takes = MACHINE_TAKES_SEED},
    {"addresses", "thread i reads word list[t p + i] in round t", NULL, NULL, ANY,
     MACHINE_ADDRESSES, 1, 0,
     .steps = {&machine_read_list}},
    {"crsw", "transpose: reads rows, writes columns",
     "(1 + w) n/w + 2 (l - 1) n/p", rap, ANY, MACHINE_MATRIX, 2, 1,
     .steps = {&machine_read_contiguous, &machine_write_column}},
    {"srcw", "transpose: reads columns, writes rows",
     "(1 + w) n/w + 2 (l - 1) n/p", rap, ANY, MACHINE_MATRIX, 2, 1,
     .steps = {&machine_read_column, &machine_write_contiguous}},
    {"drdw", "transpose: reads and writes along diagonals",
     "2 k n/w + 2 (l - 1) n/p, k = 1 (DMM) or w", rap, ANY, MACHINE_MATRIX, 2, 1,
     .steps = {&machine_read_across, &machine_write_down}},
    {"diagonal-transpose", "transpose by the diagonal access of the DMM",
     "2 k n/w + 2 (l - 1) n/p, k = 1 (DMM) or w", dmm_umm_5, ANY, MACHINE_MATRIX, 2, 1,
     .steps = {&machine_read_down, &machine_write_across}},
    {"umm-transpose", "transpose by rotations in r registers of each thread",
     "4 (n/w + n l/p - n/p) sqrt(w/r)", dmm_umm_5, DMM | UMM, MACHINE_MATRIX, 3, 2,
     .takes = MACHINE_TAKES_REGISTERS,
     .problem = machine_rotation_problem, .begin = machine_rotation_begin,
     .op = machine_rotation_op, .lanes = machine_rotation_lanes, .time = machine_rotation_time},
    {"hmm-transpose", "transpose of tiles in the shared memories",
     "2 n/w + 2 n/(w d) + 2 (L + l - 2) n/p", hmm, HMM, MACHINE_MATRIX, 2, 1,
     .steps = {&machine_tile_in, &machine_tile_put, &sync, &machine_tile_get, &sync,
               &machine_tile_out},
     .tiles = true, .problem = machine_tiles_problem},
    {"d-designated", "permutation: b[p[i]] = a[i]",
     "D_w(P) + 2 n/w + 3 (l - 1) n/p", hmm, ANY, MACHINE_PERMUTATION, 3, 1,
     .steps = {&machine_read_pointer, &machine_read_contiguous, &machine_write_pointed},
     .takes = MACHINE_TAKES_SEED},
    {"s-designated", "permutation: b[i] = a[q[i]], q the inverse",
     "D_w(q) + 2 n/w + 3 (l - 1) n/p", hmm, ANY, MACHINE_PERMUTATION, 3, 1,
     .steps = {&machine_read_pointer, &machine_read_pointed, &machine_write_contiguous},
     .takes = MACHINE_TAKES_SEED, .inverse = true},
};
// clang-format on
enum { ROWS = sizeof rows / sizeof *rows };

const machine_algorithm *machine_algorithm_at(size_t index) {
  return index < ROWS ? &rows[index] : NULL;
}

const machine_algorithm *machine_algorithm_named(const char *name) {
  for (size_t i = 0; i < ROWS; i++)
    if (!strcmp(rows[i].name, name))
      return &rows[i];
  return NULL;
}

static uint32_t step_count(const machine_algorithm *r) {
  uint32_t count = 0;
  while (r->steps[count])
    count++;
  return count;
}

// ---- what cannot run -------------------------------------------------------------------------

static const char *matrix_problem(arena *a, const machine *m, const machine_task *t) {
  uint64_t side = machine_side(t->n);
  if (side * side != t->n)
    return arena_printf(a, "a square matrix has no %" PRIu64 " elements: n is to be a square",
                        t->n);
  if (side % m->width != 0)
    return arena_printf(a, "the side of the matrix, %" PRIu64 ", is no multiple of w = %u", side,
                        m->width);
  return NULL;
}

static const char *wrong_kind(arena *a, const machine *m, const machine_algorithm *r) {
  static const char *const article[] = {"a", "a", "an"};
  text kinds = {0};
  for (int kind = 0; kind < MACHINE_KINDS; kind++)
    if (r->machines >> kind & 1)
      text_printf(&kinds, "%s%s %s", kinds.length ? " and " : "", article[kind],
                  machine_names[kind]);
  return arena_printf(a, "%s does not run on %s %s, only on %s", r->name, article[m->kind],
                      machine_names[m->kind], arena_text(a, &kinds));
}

// Whatever the threads are.
static const char *size_problem(arena *a, const machine *m, const machine_algorithm *r,
                                const machine_task *t) {
  machine one_warp = *m;
  one_warp.threads = m->width;
  const char *problem = machine_problem(a, &one_warp);
  if (problem)
    return problem;
  if (!(r->machines >> m->kind & 1))
    return wrong_kind(a, m, r);
  if (t->n < 1 || t->n > UINT64_C(1) << MACHINE_MOST_BITS)
    return arena_printf(a, "n is from 1 to 2^%d, not %" PRIu64, MACHINE_MOST_BITS, t->n);
  if (r->data == MACHINE_MATRIX)
    return matrix_problem(a, m, t);
  if (r->data != MACHINE_ADDRESSES && t->n % m->width != 0)
    return arena_printf(a,
                        "n = %" PRIu64 " is no multiple of w = %u, so whole warps of threads "
                        "cannot share it: the next that is, is %" PRIu64,
                        t->n, m->width, (t->n / m->width + 1) * m->width);
  return NULL;
}

const char *machine_algorithm_problem(arena *a, const machine *m, const machine_algorithm *r,
                                      const machine_task *t) {
  const char *problem = size_problem(a, m, r, t);
  if (!problem)
    problem = machine_problem(a, m);
  if (problem)
    return problem;
  if (r->data != MACHINE_ADDRESSES && t->n % m->threads != 0)
    return arena_printf(a,
                        "n = %" PRIu64 " is no multiple of p = %" PRIu64
                        ": --threads is a multiple of w = %u that divides n",
                        t->n, m->threads, m->width);
  return r->problem ? r->problem(a, m, t) : NULL;
}

// Words of each shared memory: those of tiles, as many as are at work at once.
static uint64_t shared_words(const machine *m) {
  uint64_t tile = (uint64_t)m->width * m->width, blocks = (m->threads + tile - 1) / tile;
  return (blocks + m->dmms - 1) / m->dmms * tile;
}

uint64_t machine_algorithm_bytes(const machine *m, const machine_algorithm *r,
                                 const machine_task *t) {
  double n = (double)t->n, threads = (double)m->threads, words = n * r->arrays;
  double rounds = m->threads ? n / threads + 1 : 0;
  double steps = rounds * (r->op ? 4.0 * (double)(machine_side(m->width) + 1) : step_count(r));
  words += n * (t->list ? 4 : 0) + threads * (2 + (r->op ? m->width : 0));
  if (r->tiles)
    words += (double)shared_words(m) * m->dmms;
  double bytes = words * sizeof(machine_word) + machine_run_bytes(m, threads / m->width, 1, steps);
  return bytes < 0x1p63 ? (uint64_t)bytes : UINT64_MAX;
}

// ---- running ---------------------------------------------------------------------------------

static bool in_shared(const machine_job *j, const machine_step *s) {
  return s->shared || j->machine->kind == MACHINE_DMM;
}

static machine_op table_op(void *state, uint64_t warp, uint64_t step) {
  const machine_job *j = state;
  uint64_t count = step_count(j->algorithm), round = step / count;
  uint64_t threads = j->machine->threads, rounds = (j->task->n + threads - 1) / threads;
  const machine_step *s = j->algorithm->steps[step % count];
  if (round >= rounds)
    return MACHINE_END;
  if (s->sync)
    return MACHINE_SYNC;
  if (round * threads + warp * j->machine->width >= j->task->n)  // the last of a list
    return MACHINE_SKIP;
  return (in_shared(j, s) ? MACHINE_READ_SHARED : MACHINE_READ_GLOBAL) + s->write;
}

static void add_up(machine_job *j, machine_word *value) {
  for (uint32_t i = 0; i < j->machine->width; i++) {
    j->sum += value[i];
    value[i] = 0;
  }
}

static void table_lanes(void *state, uint64_t warp, uint64_t step, uint64_t *address,
                        machine_word *value) {
  machine_job *j = state;
  uint64_t count = step_count(j->algorithm), w = j->machine->width, threads = j->machine->threads;
  const machine_step *s = j->algorithm->steps[step % count];
  machine_word *kept = j->kept ? j->kept + warp * w : NULL;
  if (j->algorithm->result == 0)
    add_up(j, value);
  else if (kept && !s->write)
    memcpy(kept, value, w * sizeof *value);
  s->address(
      &(machine_lanes){j, step / count, warp, step / count * threads + warp * w, value, kept},
      address);
}

// Words by which one can tell elements: a bijection (an odd factor).
static machine_word content(uint64_t i) { return (machine_word)(i * 2654435761U + 12345); }

static void fill_arrays(machine_job *j, machine_word *words) {
  const machine_task *t = j->task;
  bool inverse = j->algorithm->inverse;
  for (uint64_t i = 0; i < t->n; i++)
    words[i] = content(i);
  for (uint64_t i = 0; i < t->n && j->algorithm->data == MACHINE_PERMUTATION; i++)
    words[2 * t->n + (inverse ? t->list[i] : i)] = (machine_word)(inverse ? i : t->list[i]);
}

static void begin(machine_job *j) {
  const machine *m = j->machine;
  machine_program *p = &j->program;
  bool tiles = j->algorithm->tiles, moves = j->algorithm->data != MACHINE_ADDRESSES;
  uint64_t room = moves ? j->task->n * j->algorithm->arrays : UINT64_MAX;
  machine_word *words = moves ? NEW_ARRAY(j->memory, machine_word, room) : NULL;
  *p = (machine_program){.warps = m->threads / m->width,
                         .block_warps = tiles ? m->width : 1,
                         .state = j,
                         .op = j->algorithm->op ? j->algorithm->op : table_op,
                         .lanes = j->algorithm->lanes ? j->algorithm->lanes : table_lanes};
  if (moves)
    fill_arrays(j, words);
  if (moves)
    p->value = NEW_ARRAY(j->memory, machine_word, m->threads);
  if (m->kind == MACHINE_DMM) {
    p->shared = words;
    p->shared_words = room;
  } else {
    p->global = words;
    p->global_words = room;
    p->shared_words = tiles ? shared_words(m) : 0;
    p->shared = NEW_ARRAY(j->memory, machine_word, p->shared_words * m->dmms + 1);
  }
  j->side = machine_side(j->task->n);
  if (j->algorithm->begin)
    j->algorithm->begin(j);
  else if (j->algorithm->data == MACHINE_PERMUTATION)
    j->kept = NEW_ARRAY(j->memory, machine_word, m->threads);
}

// ---- results ---------------------------------------------------------------------------------

static uint64_t moved_to(const machine_job *j, uint64_t i) {
  if (j->algorithm->data == MACHINE_PERMUTATION)
    return j->task->list[i];
  return i % j->side * j->side + i / j->side;
}

static const char *check_moved(const machine_job *j) {
  const machine_word *words =
      j->machine->kind == MACHINE_DMM ? j->program.shared : j->program.global;
  for (uint64_t i = 0; i < j->task->n; i++)
    if (words[j->algorithm->result * j->task->n + moved_to(j, i)] != content(i))
      return arena_printf(j->memory, "%s left element %" PRIu64 " where it does not belong",
                          j->algorithm->name, i);
  return NULL;
}

// What all threads have read: each word once, or the random ones.
static const char *check_sum(machine_job *j) {
  uint64_t expected = 0, w = j->machine->width, at[MACHINE_WIDEST];
  for (uint64_t i = 0; i < j->machine->threads; i++)
    j->sum += j->program.value[i];
  for (uint64_t first = 0; first < j->task->n; first += w) {
    bool random = j->algorithm->takes & MACHINE_TAKES_SEED;
    if (random)
      machine_read_random.address(&(machine_lanes){.job = j, .first = first}, at);
    for (uint64_t i = 0; i < w; i++)
      expected += content(random ? at[i] : first + i);
  }
  return j->sum == expected
             ? NULL
             : arena_printf(j->memory, "%s read other words than it is to", j->algorithm->name);
}

const char *machine_algorithm_run(arena *a, const machine *m, const machine_algorithm *r,
                                  const machine_task *t, machine_counts *out) {
  const char *problem = machine_algorithm_problem(a, m, r, t);
  if (problem)
    return problem;
  machine_job job = {.memory = a, .machine = m, .algorithm = r, .task = t};
  begin(&job);
  problem = machine_run(a, m, &job.program, out);
  if (problem || r->data == MACHINE_ADDRESSES)
    return problem;
  return r->result ? check_moved(&job) : check_sum(&job);
}

// ---- closed forms ----------------------------------------------------------------------------

// n / p times as many rounds as steps, each with its stages and the latency.
static uint64_t with_barriers(arena *a, const machine *m, const machine_algorithm *r,
                              const machine_task *t) {
  uint64_t time = 0;
  for (uint32_t i = 0; r->steps[i]; i++) {
    const machine_step *s = r->steps[i];
    bool shared = s->shared || m->kind == MACHINE_DMM;
    if (s->sync)
      continue;
    if (!s->stages)
      return 0;
    uint64_t stages = s->stages(a, m, t);
    time += (s->shared ? stages / m->dmms : stages) +
            t->n / m->threads *
                ((shared && m->kind == MACHINE_HMM ? m->shared_latency : m->latency) - 1);
  }
  return time;
}

uint64_t machine_algorithm_distribution(arena *a, const machine *m, const machine_algorithm *r,
                                        const machine_task *t) {
  uint64_t most = 0;
  for (uint32_t i = 0; r->data == MACHINE_PERMUTATION && r->steps[i]; i++) {
    uint64_t own = r->steps[i]->stages(a, m, t);
    most = own > most ? own : most;
  }
  return most;
}

// Where every access has the same congestion; not for permutations, whose accesses differ.
static uint64_t without(arena *a, const machine *m, const machine_algorithm *r,
                        const machine_task *t) {
  uint64_t stages = 0, rounds = 0;
  if (r->data == MACHINE_PERMUTATION || r->op)
    return 0;
  for (uint32_t i = 0; r->steps[i]; i++) {
    const machine_step *s = r->steps[i];
    uint64_t own = s->stages && !s->shared ? s->stages(a, m, t) : 0;
    if (own == 0 || (stages != 0 && own != stages))
      return 0;
    stages = own;
    rounds += t->n / m->threads;
  }
  uint64_t each = stages / (t->n / m->width), all = each * (m->threads / m->width);
  uint64_t apart = each + m->latency - 1 > all ? each + m->latency - 1 : all;
  return (rounds - 1) * apart + all + m->latency - 1;
}

uint64_t machine_algorithm_time(arena *a, const machine *m, const machine_algorithm *r,
                                const machine_task *t) {
  if (!m->barrier)
    return without(a, m, r, t);
  if (r->time)
    return r->time(a, m, t);
  bool even = m->threads / m->width / m->width % m->dmms == 0;
  return m->dmms > 1 && r->tiles && !even ? 0 : with_barriers(a, m, r, t);
}
