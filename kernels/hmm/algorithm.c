// The table of accesses and algorithms, and running one. See hmm/algorithm.h.
#include "kernels/hmm/rows.h"

#include <inttypes.h>

enum {
  DMM = 1 << HMM_KIND_DMM,
  UMM = 1 << HMM_KIND_UMM,
  HMM = 1 << HMM_KIND_HMM,
  ANY = DMM | UMM | HMM
};

static const char dmm_umm[] = "DMM/UMM paper, Table 1", dmm_umm_5[] = "DMM/UMM paper, section 5";
static const char rap[] = "RAP paper, section III", hmm_1[] = "HMM paper, Table I";
#define STEPS(...) ((const hmm_step[]){__VA_ARGS__, {.does = STEPS_END}})

// clang-format off
static const hmm_algorithm rows[] = {
    {"contiguous", "thread i reads word t p + i in round t",
     "(p/w + l - 1) n/p", dmm_umm, ANY, HMM_INPUT_ARRAY, 1, 0,
     .steps = STEPS({READ, A, IN_ORDER})},
    {"stride", "thread i reads word i n/p + t in round t",
     "(k p/w + l - 1) n/p, k = GCD(n/p, w) (DMM) or min(n/p, w)", dmm_umm, ANY, HMM_INPUT_ARRAY, 1,
     0,
     .steps = STEPS({READ, A, APART})},
    {"diagonal", "a warp reads along a diagonal of a matrix",
     "(k p/w + l - 1) n/p, k = 1 (DMM) or w", rap, ANY, HMM_INPUT_MATRIX, 1, 0,
     .steps = STEPS({READ, A, DOWN})},
    {"random", "each thread reads a random word", NULL, NULL, ANY, HMM_INPUT_ARRAY, 1, 0,
     .steps = STEPS({READ, A, RANDOM}), .takes = HMM_TAKES_SEED},
    {"addresses", "thread i reads word list[t p + i] in round t", NULL, NULL, ANY,
     HMM_INPUT_ADDRESSES, 1, 0,
     .steps = STEPS({READ, A, LISTED})},
    {"crsw", "transpose: reads rows, writes columns",
     "(1 + w) n/w + 2 (l - 1) n/p", rap, ANY, HMM_INPUT_MATRIX, 2, 1,
     .steps = STEPS({READ, A, IN_ORDER}, {WRITE, B, COLUMN})},
    {"srcw", "transpose: reads columns, writes rows",
     "(1 + w) n/w + 2 (l - 1) n/p", rap, ANY, HMM_INPUT_MATRIX, 2, 1,
     .steps = STEPS({READ, A, COLUMN}, {WRITE, B, IN_ORDER})},
    {"drdw", "transpose: reads and writes along diagonals",
     "2 k n/w + 2 (l - 1) n/p, k = 1 (DMM) or w", rap, ANY, HMM_INPUT_MATRIX, 2, 1,
     .steps = STEPS({READ, A, ACROSS}, {WRITE, B, DOWN})},
    {"diagonal-transpose", "transpose by the diagonal access of the DMM",
     "2 k n/w + 2 (l - 1) n/p, k = 1 (DMM) or w", dmm_umm_5, ANY, HMM_INPUT_MATRIX, 2, 1,
     .steps = STEPS({READ, A, DOWN}, {WRITE, B, ACROSS})},
    {"umm-transpose", "transpose by rotations in r registers of each thread",
     "4 (n/w + n l/p - n/p) sqrt(w/r)", dmm_umm_5, DMM | UMM, HMM_INPUT_MATRIX, 3, 2,
     .takes = HMM_TAKES_REGISTERS,
     .problem = hmm_rotation_problem, .begin = hmm_rotation_begin,
     .op = hmm_rotation_op, .lanes = hmm_rotation_lanes, .time = hmm_rotation_time},
    {"hmm-transpose", "transpose of tiles in the shared memories",
     "2 n/w + 2 n/(w d) + 2 (L + l - 2) n/p", hmm_1, HMM, HMM_INPUT_MATRIX, 2, 1,
     .steps = STEPS({READ, A, TILE_LINE}, {WRITE, SHARED, TILE_ACROSS}, {.does = SYNC},
                    {READ, SHARED, TILE_DOWN}, {.does = SYNC}, {WRITE, B, TILE_MIRRORED}),
     .blocks = HMM_BLOCKS_TILES, .problem = hmm_tiles_problem},
    {"d-designated", "permutation: b[p[i]] = a[i]",
     "D_w(P) + 2 n/w + 3 (l - 1) n/p", hmm_1, ANY, HMM_INPUT_PERMUTATION, 3, 1,
     .steps = STEPS({READ, TO, IN_ORDER}, {READ, A, IN_ORDER}, {WRITE, B, AT_KEPT}),
     .takes = HMM_TAKES_SEED},
    {"s-designated", "permutation: b[i] = a[q[i]], q the inverse",
     "D_w(q) + 2 n/w + 3 (l - 1) n/p", hmm_1, ANY, HMM_INPUT_PERMUTATION, 3, 1,
     .steps = STEPS({READ, TO, IN_ORDER}, {READ, A, AT_VALUE}, {WRITE, B, IN_ORDER}),
     .takes = HMM_TAKES_SEED, .inverse = true},
    {"conflict-free", "permutation: copies in an order without bank conflicts",
     "4 n/w + 4 (l - 1) n/p", "DMM/UMM paper, section 6", DMM, HMM_INPUT_PERMUTATION, 4, 1,
     .steps = STEPS({READ, TO, IN_ORDER}, {READ, FROM, IN_ORDER}, {READ, A, AT_VALUE},
                    {WRITE, B, AT_OLDER}),
     .takes = HMM_TAKES_SEED, .problem = hmm_conflict_free_problem,
     .begin = hmm_conflict_free_begin},
    {"row-wise", "permutation inside the rows of a matrix",
     "4 n/w + 4 n/(w d) + 4 (L + l - 2)", hmm_1, HMM, HMM_INPUT_PERMUTATION, 4, 1,
     .steps = STEPS({READ, A, IN_ORDER}, {WRITE, SHARED, IN_ROW}, {READ, TO, IN_ORDER},
                    {READ, FROM, IN_ORDER}, {.does = SYNC}, {READ, SHARED, AT_VALUE},
                    {WRITE, ORDERED, AT_OLDER}, {.does = SYNC}, {READ, ORDERED, IN_ROW},
                    {WRITE, B, IN_ORDER}),
     .takes = HMM_TAKES_SEED, .blocks = HMM_BLOCKS_ROWS, .problem = hmm_row_wise_problem,
     .begin = hmm_row_wise_begin},
    {"column-wise", "permutation inside the columns of a matrix",
     "8 n/w + 8 n/(w d) + 8 (L + l - 2)", hmm_1, HMM, HMM_INPUT_PERMUTATION, 5, 1,
     .kernels = {"hmm-transpose", "row-wise", "hmm-transpose"},
     .takes = HMM_TAKES_SEED, .blocks = HMM_BLOCKS_ROWS, .problem = hmm_column_wise_problem,
     .begin = hmm_column_wise_begin},
    {"scheduled", "permutation: inside rows, columns, rows",
     "16 n/w + 16 n/(w d) + 16 (L + l - 2)", hmm_1, HMM, HMM_INPUT_PERMUTATION, 8, 1,
     .kernels = {"row-wise", "hmm-transpose", "row-wise", "hmm-transpose", "row-wise"},
     .takes = HMM_TAKES_SEED, .blocks = HMM_BLOCKS_ROWS, .problem = hmm_scheduled_problem,
     .begin = hmm_scheduled_begin},
};
// clang-format on
enum { ROWS = sizeof rows / sizeof *rows };

const hmm_algorithm *hmm_algorithm_at(size_t index) { return index < ROWS ? &rows[index] : NULL; }

const hmm_algorithm *hmm_algorithm_named(const char *name) {
  for (size_t i = 0; i < ROWS; i++)
    if (!strcmp(rows[i].name, name))
      return &rows[i];
  return NULL;
}

static uint32_t step_count(const hmm_algorithm *r) {
  uint32_t count = 0;
  while (r->steps[count].does)
    count++;
  return count;
}

// ---- what cannot run -------------------------------------------------------------------------

static const char *matrix_problem(arena *a, const hmm_machine *m, const hmm_task *t) {
  uint64_t side = hmm_side(t->n);
  if (side * side != t->n)
    return arena_printf(a, "a square matrix has no %" PRIu64 " elements: n is to be a square",
                        t->n);
  if (side % m->width != 0)
    return arena_printf(a, "the side of the matrix, %" PRIu64 ", is no multiple of w = %u", side,
                        m->width);
  return NULL;
}

static const char *kind_problem(arena *a, const hmm_machine *m, const hmm_algorithm *r) {
  static const char *const article[] = {"a", "a", "an"};
  text kinds = {0};
  for (int kind = 0; kind < HMM_KINDS; kind++)
    if (r->machines >> kind & 1)
      text_printf(&kinds, "%s%s %s", kinds.length ? " and " : "", article[kind],
                  hmm_kind_names[kind]);
  return arena_printf(a, "%s does not run on %s %s, only on %s", r->name, article[m->kind],
                      hmm_kind_names[m->kind], arena_text(a, &kinds));
}

// Whatever the threads are.
static const char *size_problem(arena *a, const hmm_machine *m, const hmm_algorithm *r,
                                const hmm_task *t) {
  hmm_machine one_warp = *m;
  one_warp.threads = m->width;
  const char *problem = hmm_problem(a, &one_warp);
  if (problem)
    return problem;
  if (!(r->machines >> m->kind & 1))
    return kind_problem(a, m, r);
  if (t->n < 1 || t->n > UINT64_C(1) << HMM_SIZE_BITS_MAX)
    return arena_printf(a, "n is from 1 to 2^%d, not %" PRIu64, HMM_SIZE_BITS_MAX, t->n);
  if (r->data == HMM_INPUT_MATRIX)
    return matrix_problem(a, m, t);
  if (r->data != HMM_INPUT_ADDRESSES && t->n % m->width != 0)
    return arena_printf(a,
                        "n = %" PRIu64 " is no multiple of w = %u, so whole warps of threads "
                        "cannot share it: the next that is, is %" PRIu64,
                        t->n, m->width, (t->n / m->width + 1) * m->width);
  return NULL;
}

const char *hmm_algorithm_problem(arena *a, const hmm_machine *m, const hmm_algorithm *r,
                                  const hmm_task *t) {
  const char *problem = size_problem(a, m, r, t);
  if (!problem)
    problem = hmm_problem(a, m);
  if (problem)
    return problem;
  if (r->data != HMM_INPUT_ADDRESSES && t->n % m->threads != 0)
    return arena_printf(a,
                        "n = %" PRIu64 " is no multiple of p = %" PRIu64
                        ": --threads is a multiple of w = %u that divides n",
                        t->n, m->threads, m->width);
  return r->problem ? r->problem(a, m, t) : NULL;
}

// Words of each shared memory: those of as many blocks as are at work at once.
static uint64_t words_of_blocks(const hmm_machine *m, uint64_t threads, uint64_t words) {
  uint64_t blocks = (m->threads + threads - 1) / threads;
  return (blocks + m->dmms - 1) / m->dmms * words;
}

// A row's blocks have tiles, too, in the kernels that transpose.
static uint64_t shared_words(const hmm_machine *m, const hmm_algorithm *r, const hmm_task *t) {
  uint64_t tile = (uint64_t)m->width * m->width, side = hmm_side(t->n);
  uint64_t in_tiles = words_of_blocks(m, tile, tile);
  uint64_t in_rows = r->blocks == HMM_BLOCKS_ROWS ? words_of_blocks(m, side, 2 * side) : 0;
  return r->blocks == HMM_BLOCKS_NONE ? 0 : in_tiles > in_rows ? in_tiles : in_rows;
}

static uint64_t block_warps(const hmm_machine *m, const hmm_algorithm *r, const hmm_task *t) {
  return r->blocks == HMM_BLOCKS_NONE    ? 1
         : r->blocks == HMM_BLOCKS_TILES ? m->width
                                         : hmm_side(t->n) / m->width;
}

// The algorithms that it consists of: itself, or its kernels. NULL behind the last.
static const hmm_algorithm *part_at(const hmm_algorithm *r, uint32_t number) {
  if (!r->kernels[0])
    return number == 0 ? r : NULL;
  return r->kernels[number] ? hmm_algorithm_named(r->kernels[number]) : NULL;
}

uint64_t hmm_algorithm_bytes(const hmm_machine *m, const hmm_algorithm *r, const hmm_task *t) {
  double n = (double)t->n, threads = (double)m->threads, words = n * r->arrays;
  double rounds = m->threads ? n / threads + 1 : 0;
  double steps =
      rounds * (r->op ? 4.0 * (double)(hmm_side(m->width) + 1) : step_count(part_at(r, 0)));
  words += n * (t->list ? 4 : 0) + threads * (3 + (r->op ? m->width : 0));
  if (r->blocks && m->threads)
    words += (double)shared_words(m, r, t) * m->dmms;
  double bytes = words * sizeof(hmm_word) + hmm_run_bytes(m, threads / m->width, 1, steps);
  return bytes < 0x1p63 ? (uint64_t)bytes : UINT64_MAX;
}

// ---- running ---------------------------------------------------------------------------------

static hmm_op table_op(void *state, uint64_t warp, uint64_t step) {
  const hmm_job *j = state;
  uint64_t count = step_count(j->part), round = step / count;
  uint64_t threads = j->machine->threads, rounds = (j->task->n + threads - 1) / threads;
  const hmm_step *s = &j->part->steps[step % count];
  bool shared = hmm_step_is_shared(s) || j->machine->kind == HMM_KIND_DMM;
  if (round >= rounds)
    return HMM_END;
  if (s->does == SYNC)
    return HMM_SYNC;
  if (round * threads + warp * j->machine->width >= j->task->n)  // the last of a list
    return HMM_SKIP;
  return (shared ? HMM_READ_SHARED : HMM_READ_GLOBAL) + (s->does == WRITE);
}

static void table_lanes(void *state, uint64_t warp, uint64_t step, uint64_t *address,
                        hmm_word *value) {
  hmm_job *j = state;
  uint64_t count = step_count(j->part), w = j->machine->width, threads = j->machine->threads;
  const hmm_step *s = &j->part->steps[step % count];
  hmm_word *kept = j->kept ? j->kept + warp * w : NULL;
  hmm_word *older = j->kept ? j->older + warp * w : NULL;
  for (uint32_t i = 0; i < w && j->algorithm->result == 0; i++) {
    j->sum += value[i];
    value[i] = 0;
  }
  if (kept && s->does == READ) {
    memcpy(older, kept, w * sizeof *value);
    memcpy(kept, value, w * sizeof *value);
  }
  hmm_step_lanes(
      &(hmm_lanes){j, step / count, warp, step / count * threads + warp * w, value, kept, older}, s,
      address);
}

// Words by which one can tell elements: a bijection (an odd factor).
static hmm_word initial_word(uint64_t i) { return (hmm_word)(i * 2654435761U + 12345); }

static void fill_arrays(hmm_job *j, hmm_word *words) {
  const hmm_task *t = j->task;
  bool inverse = j->algorithm->inverse;
  for (uint64_t i = 0; i < t->n; i++)
    words[i] = initial_word(i);
  bool directly = j->algorithm->data == HMM_INPUT_PERMUTATION && !j->algorithm->begin;
  for (uint64_t i = 0; i < t->n && directly; i++)
    words[2 * t->n + (inverse ? t->list[i] : i)] = (hmm_word)(inverse ? i : t->list[i]);
}

static void begin_job(hmm_job *j) {
  const hmm_machine *m = j->machine;
  hmm_program *p = &j->program;
  bool moves = j->algorithm->data != HMM_INPUT_ADDRESSES;
  uint64_t room = moves ? j->task->n * j->algorithm->arrays : UINT64_MAX;
  hmm_word *words = moves ? NEW_ARRAY(j->memory, hmm_word, room) : NULL;
  *p = (hmm_program){.warps = m->threads / m->width,
                     .state = j,
                     .op = j->algorithm->op ? j->algorithm->op : table_op,
                     .lanes = j->algorithm->lanes ? j->algorithm->lanes : table_lanes};
  if (moves)
    fill_arrays(j, words);
  if (moves)
    p->value = NEW_ARRAY(j->memory, hmm_word, m->threads);
  if (m->kind == HMM_KIND_DMM) {
    p->shared = words;
    p->shared_words = room;
  } else {
    p->global = words;
    p->global_words = room;
    p->shared_words = shared_words(m, j->algorithm, j->task);
    p->shared = NEW_ARRAY(j->memory, hmm_word, p->shared_words * m->dmms + 1);
  }
  j->side = hmm_side(j->task->n);
  if (j->algorithm->data == HMM_INPUT_PERMUTATION) {
    j->kept = NEW_ARRAY(j->memory, hmm_word, m->threads);
    j->older = NEW_ARRAY(j->memory, hmm_word, m->threads);
  }
  if (j->algorithm->begin)
    j->algorithm->begin(j);
}

static void add_counts(hmm_counts *sum, const hmm_counts *c) {
  sum->time += c->time;
  sum->requests += c->requests;
  for (hmm_op op = 0; op < HMM_ACCESSES; op++) {
    sum->accesses[op] += c->accesses[op];
    sum->stages[op] += c->stages[op];
    sum->rounds[op] += c->rounds[op];
    sum->casual[op] += c->casual[op];
  }
  for (uint32_t k = 0; k <= 2 * c->width + 1; k++)
    sum->histogram[k / (c->width + 1)][k % (c->width + 1)] +=
        c->histogram[k / (c->width + 1)][k % (c->width + 1)];
}

// One kernel begins when the one before it has ended.
static const char *run_parts(hmm_job *j, hmm_counts *out) {
  for (j->kernel = 0; (j->part = part_at(j->algorithm, j->kernel)) != NULL; j->kernel++) {
    hmm_counts own;
    j->program.block_warps = block_warps(j->machine, j->part, j->task);
    const char *problem = hmm_run(j->memory, j->machine, &j->program, j->kernel ? &own : out);
    if (problem)
      return problem;
    if (j->kernel)
      add_counts(out, &own);
  }
  return NULL;
}

// ---- results ---------------------------------------------------------------------------------

static const char *check_moved(const hmm_job *j) {
  const hmm_word *words = j->machine->kind == HMM_KIND_DMM ? j->program.shared : j->program.global;
  for (uint64_t i = 0; i < j->task->n; i++) {
    uint64_t mirrored = i % j->side * j->side + i / j->side;
    uint64_t to = j->algorithm->data == HMM_INPUT_PERMUTATION ? j->task->list[i] : mirrored;
    if (words[j->algorithm->result * j->task->n + to] != initial_word(i))
      return arena_printf(j->memory, "%s left element %" PRIu64 " where it does not belong",
                          j->algorithm->name, i);
  }
  return NULL;
}

// What all threads have read: each word once, or the random ones.
static const char *check_sum(hmm_job *j) {
  uint64_t expected = 0, w = j->machine->width, at[HMM_WIDTH_MAX];
  j->part = j->algorithm;
  for (uint64_t i = 0; i < j->machine->threads; i++)
    j->sum += j->program.value[i];
  for (uint64_t first = 0; first < j->task->n; first += w) {
    bool random = j->algorithm->takes & HMM_TAKES_SEED;
    if (random)
      hmm_step_lanes(&(hmm_lanes){.job = j, .first = first}, j->algorithm->steps, at);
    for (uint64_t i = 0; i < w; i++)
      expected += initial_word(random ? at[i] : first + i);
  }
  return j->sum == expected
             ? NULL
             : arena_printf(j->memory, "%s read other words than it is to", j->algorithm->name);
}

const char *hmm_algorithm_run(arena *a, const hmm_machine *m, const hmm_algorithm *r,
                              const hmm_task *t, hmm_counts *out) {
  const char *problem = hmm_algorithm_problem(a, m, r, t);
  if (problem)
    return problem;
  hmm_job job = {.memory = a, .machine = m, .algorithm = r, .task = t};
  begin_job(&job);
  problem = run_parts(&job, out);
  if (problem || r->data == HMM_INPUT_ADDRESSES)
    return problem;
  return r->result ? check_moved(&job) : check_sum(&job);
}

// ---- closed forms ----------------------------------------------------------------------------

// n / p times as many rounds as steps, each with its stages and the latency.
static uint64_t time_of_steps(arena *a, const hmm_machine *m, const hmm_algorithm *r,
                              const hmm_task *t) {
  uint64_t time = 0;
  for (const hmm_step *s = r->steps; s->does; s++) {
    bool shared = hmm_step_is_shared(s);
    uint64_t stages = hmm_step_stages(a, m, r, t, s);
    if (s->does == SYNC)
      continue;
    if (stages == 0)
      return 0;
    time += (shared ? stages / m->dmms : stages) +
            t->n / m->threads * ((shared ? m->shared_latency : m->latency) - 1);
  }
  return time;
}

static uint64_t time_with_barriers(arena *a, const hmm_machine *m, const hmm_algorithm *r,
                                   const hmm_task *t) {
  uint64_t time = 0;
  for (uint32_t k = 0; part_at(r, k); k++)
    time += time_of_steps(a, m, part_at(r, k), t);
  return time;
}

uint64_t hmm_algorithm_distribution(arena *a, const hmm_machine *m, const hmm_algorithm *r,
                                    const hmm_task *t) {
  uint64_t most = 0;
  bool casual = r->data == HMM_INPUT_PERMUTATION && !r->begin;
  for (const hmm_step *s = r->steps; casual && s->does; s++) {
    uint64_t own = hmm_step_stages(a, m, r, t, s);
    most = own > most ? own : most;
  }
  return most;
}

// Where every access has the same congestion; not for permutations, whose accesses differ.
static uint64_t time_free_running(arena *a, const hmm_machine *m, const hmm_algorithm *r,
                                  const hmm_task *t) {
  uint64_t stages = 0, rounds = 0;
  if (r->data == HMM_INPUT_PERMUTATION || r->op)
    return 0;
  for (const hmm_step *s = r->steps; s->does; s++) {
    uint64_t own = hmm_step_is_shared(s) ? 0 : hmm_step_stages(a, m, r, t, s);
    if (own == 0 || (stages != 0 && own != stages))
      return 0;
    stages = own;
    rounds += t->n / m->threads;
  }
  uint64_t each = stages / (t->n / m->width), all = each * (m->threads / m->width);
  uint64_t apart = each + m->latency - 1 > all ? each + m->latency - 1 : all;
  return (rounds - 1) * apart + all + m->latency - 1;
}

uint64_t hmm_algorithm_time(arena *a, const hmm_machine *m, const hmm_algorithm *r,
                            const hmm_task *t) {
  if (!m->barrier)
    return time_free_running(a, m, r, t);
  if (r->time)
    return r->time(a, m, t);
  uint64_t tiles = m->threads / m->width / m->width;
  bool even =
      tiles % m->dmms == 0 && (r->blocks != HMM_BLOCKS_ROWS || hmm_side(t->n) % m->dmms == 0);
  return m->dmms > 1 && r->blocks && !even ? 0 : time_with_barriers(a, m, r, t);
}
