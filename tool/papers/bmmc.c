// The BMMC paper, as far as it can be counted: its examples, the factors of its section 5.2, its
// kernels (the strategies of fusion/plan/strategy.c) counted on an HMM, and what is left of its
// sorter's permutations. Times are for GPUs: bench/README.md.
#include "core/random.h"
#include "fusion/plan/plan.h"
#include "kernels/hmm/plan.h"
#include "runtime/cpu/cpu.h"
#include "runtime/pipeline.h"
#include "runtime/portable/portable.h"
#include "tool/papers/paper.h"

#include <assert.h>
#include <inttypes.h>

enum {
  BITS = 18,        // of what is executed
  EXECUTED = 5,     // random permutations of each kind
  PAPER_BITS = 30,  // of the arrays in the paper's Figures 9 and 10
  FACTORED = 1000,  // random matrices
  TILE = 5          // n_tile, log2 of a warp (section 4.1)
};

// ---- permutations ----------------------------------------------------------------------------

typedef enum family { BIT_REVERSAL, TRANSPOSE, RANDOM_BPC, RANDOM_BMMC, FAMILIES } family;
static const char *const family_names[] = {"bit reversal", "transpose", "random BPC",
                                           "random BMMC"};

static f2_matrix rotation(int n, int by) {  // output bit i is input bit i + by
  int bit[F2_MAX];
  for (int i = 0; i < n; i++)
    bit[i] = (i + by) % n;
  return f2_permutation(n, bit);
}

static f2_matrix random_bits(int n, uint64_t *state) {
  uint16_t order[F2_MAX];
  int bit[F2_MAX];
  draw_permutation(state, (uint32_t)n, order);
  for (int i = 0; i < n; i++)
    bit[i] = order[i];
  return f2_permutation(n, bit);
}

static f2_matrix random_matrix(int n, uint64_t *state) {
  f2_matrix m = f2_zero(n, n);
  do
    for (int i = 0; i < n; i++)
      m.row[i] = draw_word(state) & f2_mask(n);
  while (f2_rank(m) < n);
  return m;
}

static f2_affine draw(family kind, int n, uint64_t *state) {
  f2_affine f = {kind == BIT_REVERSAL ? f2_bit_reversal(n)
                 : kind == TRANSPOSE  ? rotation(n, n / 2)
                 : kind == RANDOM_BPC ? random_bits(n, state)
                                      : random_matrix(n, state),
                 0};
  if (kind >= RANDOM_BPC)
    f.c = draw_word(state) & f2_mask(n);
  return f;
}

// n_over of a tiled matrix: tile rows that are tile columns, too (section 4.1). -1: not tiled.
static int overlap(f2_matrix a) {
  uint64_t columns;
  return f2_tile_columns(a, TILE, &columns) ? f2_weight(columns & f2_mask(TILE)) : -1;
}

// ---- plans -----------------------------------------------------------------------------------

// What is done with a plan for a GPU of the expression, on 2^n u32, by a strategy (NULL: as it is
// planned).
static void with_plan(arena *a, const char *expression, int n, const char *strategy,
                      pipeline_use *use, void *with) {
  pipeline_request r = {
      .entry = "-e", .last = STAGE_PLAN, .types = arena_printf(a, "[2^%d]u32", n), .target = "gpu"};
  permc_context *c = permc_context_new();
  bool good = c && (!strategy || permc_use_strategy(c, strategy)) && permc_define(c, expression) &&
              pipeline_with(c, &r, use, with);
  permc_context_free(c);
  if (!good)
    arena_fail(a);  // nothing but memory can be wrong
}

// ---- execution -------------------------------------------------------------------------------

typedef struct counted {
  double kernels;
  uint64_t accesses[HMM_ACCESSES], stages[HMM_ACCESSES];
  uint64_t misplaced;  // words
} counted;

// Words of a permutation by f that the plan does not put in their places.
static uint64_t misplaced(const plan *p, f2_affine f) {
  uint64_t count = f2_unit(BITS), right = 0;
  array from = {0}, to = {0};
  error failure = {0};
  portable *e = portable_new(p, &(portable_options){0}, &failure);
  cpu_executor executor = {portable_pass, e, NULL};
  if (e && array_create(&from, SCALAR_U32, 1, &count)) {
    for (uint64_t x = 0; x < count; x++)
      ((uint32_t *)from.data)[x] = (uint32_t)x;
    if (cpu_run(p, &(cpu_options){.executor = &executor}, &from, 1, &to, &failure))
      for (uint64_t x = 0; x < count; x++)
        right += ((const uint32_t *)to.data)[f2_affine_apply(f, x)] == x;
  }
  arrays_destroy(&to, 1);
  portable_free(e);
  return count - right;
}

typedef struct execution {
  arena *memory;
  f2_affine f;
  counted *to;
} execution;

// Of the plan of a permutation.
static bool execute(permc_context *c, pipeline *made, void *with) {
  const execution *e = with;
  const plan *p = made->plan;
  FREED_BY(arena_free) arena own = {.failure = e->memory->failure};
  hmm_machine m = {HMM_KIND_HMM, 1, HMM_PLAN_WIDTH, 1, 1, 0, true};
  (void)c;
  for (uint32_t i = 0; i < p->passes.count; i++) {
    hmm_counts counts;
    const char *problem = hmm_plan_run(&own, &m, p, i, NULL, &counts);
    assert(!problem);
    (void)problem;
    for (int op = 0; op < HMM_ACCESSES; op++) {
      e->to->accesses[op] += counts.accesses[op];
      e->to->stages[op] += counts.stages[op];
    }
  }
  e->to->kernels += (double)p->passes.count;
  e->to->misplaced += misplaced(p, e->f);
  return true;
}

static double per_access(const counted *c, hmm_op op) {
  return (double)c->stages[op] / (double)c->accesses[op];
}

// ---- strategies ------------------------------------------------------------------------------

// What the paper says of a strategy for BPC permutations and for BMMC permutations: kernels, and
// whether writes are coalesced and scratch is free of conflicts (sections 4, 5 and 6).
typedef struct row {
  const char *strategy;
  double kernels[2];  // NAN: it does not say
  bool tiles, coalesced, free;
} row;
static const row rows[] = {
    {"naive", {1, 2}, false, false, false},    {"tile", {1, 2}, true, true, false},
    {"tile+banks", {1, 2}, true, true, true},  {"tile+banks+iters", {1, NAN}, true, true, true},
    {"onepass", {NAN, NAN}, true, true, true}, {"ulp", {NAN, NAN}, true, true, true},
};
enum { ROWS = sizeof rows / sizeof *rows };

typedef struct results {
  counted of[ROWS][FAMILIES];
  // Random BPC permutations, and those of which 2^(5 - n_over) is what naive has of groups per
  // write, and tile of turns per get.
  uint64_t drawn, by_overlap[2];
} results;

static double access_of_overlap(const counted *before, const counted *after, hmm_op op) {
  return (double)(after->stages[op] - before->stages[op]) /
         (double)(after->accesses[op] - before->accesses[op]);
}

static void execute_all(arena *a, family kind, uint64_t number, results *r) {
  uint64_t state = 1000 * (uint64_t)kind + number;
  f2_affine f = draw(kind, BITS, &state);
  const char *move = "bmmc [";
  for (int i = 0; i < BITS; i++)
    move = arena_printf(a, "%s%s%" PRIu64, move, i ? ", " : "", f.a.row[i]);
  move = arena_printf(a, "%s] %" PRIu64, move, f.c);
  for (int i = 0; i < ROWS; i++) {
    counted *c = &r->of[i][kind], before = *c;
    with_plan(a, move, BITS, rows[i].strategy, execute, &(execution){a, f, c});
    if (kind != RANDOM_BPC || i > 1)
      continue;
    hmm_op op = i == 0 ? HMM_WRITE_GLOBAL : HMM_READ_SHARED;
    r->by_overlap[i] += access_of_overlap(&before, c, op) == (double)(1 << (TILE - overlap(f.a)));
    r->drawn += i == 0;
  }
}

static results execute_families(arena *a, uint64_t trials) {
  results r = {0};
  uint64_t count = trials && trials < EXECUTED ? trials : EXECUTED;
  for (int kind = 0; kind < FAMILIES; kind++)
    for (uint64_t i = 0; i < (kind < RANDOM_BPC ? 1 : count); i++)
      execute_all(a, (family)kind, i, &r);
  return r;
}

// A cell of a strategy and a kind of permutations.
static void add_cell(paper_table *t, const row *s, int kind, const char *what, double published,
                     double ours) {
  paper_add(t, published, ours, "%s, %s%s", s->strategy, family_names[kind], what);
}

static void add_kernels(paper_tables *out, const results *r) {
  paper_table *t =
      paper_add_table(out, "Sections 4 and 5: kernels for a permutation of 2^%d words", BITS);
  uint64_t wrong = 0;
  for (int i = 0; i < ROWS; i++)
    for (int kind = 0; kind < FAMILIES; kind++) {
      const counted *c = &r->of[i][kind];
      uint64_t drawn = kind < RANDOM_BPC ? 1 : r->drawn;
      wrong += c->misplaced;
      add_cell(t, &rows[i], kind, "", rows[i].kernels[kind == RANDOM_BMMC],
               c->kernels / (double)drawn);
    }
  paper_add(t, 0, (double)wrong, "words that none of them puts in their places");
}

// Of uncoalesced writes, and of conflicts: what each access costs where n_over = 0, 1 where there
// are none; the paper has no mean for random bits, whose n_over differ.
static double published_stages(const row *s, int kind, bool good) {
  if (isnan(s->kernels[kind == RANDOM_BMMC]))
    return NAN;
  return good ? 1 : kind == RANDOM_BPC ? NAN : 1 << TILE;
}

static void add_groups(paper_tables *out, const results *r) {
  paper_table *t = paper_add_table(
      out, "Sections 4.1 and 6: segments of %d words that an access of a warp touches, mean",
      HMM_PLAN_WIDTH);
  for (int i = 0; i < ROWS; i++)
    for (int kind = 0; kind < FAMILIES; kind++) {
      const counted *c = &r->of[i][kind];
      add_cell(t, &rows[i], kind, ": reads", published_stages(&rows[i], kind, true),
               per_access(c, HMM_READ_GLOBAL));
      add_cell(t, &rows[i], kind, ": writes", published_stages(&rows[i], kind, rows[i].coalesced),
               per_access(c, HMM_WRITE_GLOBAL));
    }
  paper_add(t, (double)r->drawn, (double)r->by_overlap[0],
            "naive, random BPC: those with 2^(5 - n_over) per write");
}

static void add_turns(paper_tables *out, const results *r) {
  paper_table *t = paper_add_table(
      out, "Section 4.2: turns at %d banks that an access of a warp takes, mean", HMM_PLAN_WIDTH);
  for (int i = 0; i < ROWS; i++)
    for (int kind = 0; kind < FAMILIES && rows[i].tiles; kind++) {
      const counted *c = &r->of[i][kind];
      add_cell(t, &rows[i], kind, ": puts", published_stages(&rows[i], kind, true),
               per_access(c, HMM_WRITE_SHARED));
      add_cell(t, &rows[i], kind, ": gets", published_stages(&rows[i], kind, rows[i].free),
               per_access(c, HMM_READ_SHARED));
    }
  paper_add(t, (double)r->drawn, (double)r->by_overlap[1],
            "tile, random BPC: those with 2^(5 - n_over) per get");
}

// Section 6's figures are times of an RTX 4090; what they would be if segments were all that
// counts.
static void add_times(paper_tables *out, const results *r) {
  static const char elsewhere[] = "measured there; on another GPU in bench/README.md";
  static const struct {
    const char *where;
    int row;
    family kind;
    double published, tolerance;
  } cells[] = {
      // Section 2.3: 26.4 ms and 12.2 ms where a copy takes 9.3 ms.
      {"naive, transpose: times a copy", 0, TRANSPOSE, 26.4 / 9.3, INFINITY},
      {"tile, transpose: times a copy", 1, TRANSPOSE, 12.2 / 9.3, INFINITY},
      // Section 6: about as fast as a copy, and twice the work of a BPC permutation.
      {"tile+banks+iters, random BPC: times a copy", 3, RANDOM_BPC, 1, 0},
      {"tile+banks, random BMMC: times a copy", 2, RANDOM_BMMC, 2, 0},
      // Figure 10, as its text has it.
      {"tile+banks+iters, random BPC: % of bandwidth used", 3, RANDOM_BPC, 92, INFINITY},
      {"tile+banks, random BMMC: % of bandwidth used", 2, RANDOM_BMMC, 86, INFINITY},
  };
  paper_table *t =
      paper_add_table(out, "Sections 2.3 and 6: segments as multiples of a copy's, and time");
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
    const counted *c = &r->of[cells[i].row][cells[i].kind];
    uint64_t stages = c->stages[HMM_READ_GLOBAL] + c->stages[HMM_WRITE_GLOBAL];
    uint64_t drawn = cells[i].kind < RANDOM_BPC ? 1 : r->drawn;
    double copies = (double)stages / (double)(2 * drawn * (f2_unit(BITS) / HMM_PLAN_WIDTH));
    bool part = cells[i].published > 2.9;  // in percent
    paper_cell *cell =
        paper_add(t, cells[i].published, part ? 100 * c->kernels / (double)drawn / copies : copies,
                  "%s", cells[i].where);
    cell->tolerance = cells[i].tolerance;
    cell->note = isinf(cells[i].tolerance) ? elsewhere : NULL;
  }
}

// ---- factors ---------------------------------------------------------------------------------

// Which part of the BPC permutations of n bits has n_over = k: of the tile's row bits k are column
// bits.
static double part_with_overlap(int n, int k) {
  return paper_binomial(TILE, k) * paper_binomial(n - TILE, TILE - k) / paper_binomial(n, TILE);
}

static void add_overlaps(paper_tables *out) {
  double groups = 0;
  paper_table *t = paper_add_table(out, "Sections 4.1 and 6: n_over, bits of both sides of a tile");
  int shift = overlap(rotation(10, 1));
  paper_add(t, 4, shift, "cyclic shift of 10 bits");
  paper_add(t, 4, 10 - 2 * TILE + shift, "... bits of a thread block");
  paper_add(t, 0, overlap(f2_bit_reversal(PAPER_BITS)), "bit reversal of 30 bits");
  for (int k = 0; k <= TILE; k++)
    groups += part_with_overlap(PAPER_BITS, k) * (1 << (TILE - k));
  paper_add(t, NAN, 100 * (1 - part_with_overlap(PAPER_BITS, 0)),
            "BPC permutations of 30 bits with n_over > 0, %%")
      ->note = "the paper: likely";
  paper_add(t, NAN, groups, "segments that naive writes with an access, mean over them all")->note =
      "the paper: 16 or even 8";
}

static void add_factors(paper_tables *out, uint64_t trials) {
  uint64_t count = trials ? trials : FACTORED, state = 30, product = 0, tiled = 0, apart = 0;
  for (uint64_t i = 0; i < count; i++) {
    f2_matrix m = random_matrix(PAPER_BITS, &state), first, second;
    product += f2_factor_tiled(m, &first, &second) && f2_equal(f2_multiply(second, first), m);
    tiled += overlap(first) >= 0 && overlap(second) >= 0;
    apart += overlap(first) == 0 && overlap(second) == 0;
  }
  paper_table *t = paper_add_table(
      out, "Section 5.2: A = (U R)(R L P) of %" PRIu64 " random matrices of %d bits", count,
      PAPER_BITS);
  paper_add(t, (double)count, (double)product, "products that are A");
  paper_add(t, (double)count, (double)tiled, "both factors tiled");
  paper_add(t, NAN, (double)apart, "n_over = 0 in both")->note =
      "the paper: almost always (section 6)";
}

// ---- examples --------------------------------------------------------------------------------

static void add_examples(paper_tables *out) {
  static const double images[] = {0, 1, 4, 5, 6, 7, 2, 3}, masks[] = {2, 4, 8, 3};
  f2_matrix shift = rotation(5, 1);
  paper_table *t = paper_add_table(out, "Sections 1, 3 and 4.1: where elements go");
  paper_add(t, 14, (double)f2_apply(f2_bit_reversal(4), 7), "bit reversal of 16: 7");
  paper_add(t, 9, (double)f2_apply(rotation(4, 2), 6), "transpose of 4 x 4: 6");
  paper_add(t, 28, (double)f2_apply(shift, 25), "cyclic shift of 32: 25");
  t = paper_add_table(out, "Figure 14: parm 6 of 8 elements, 4 sub-array + sub-index");
  for (unsigned x = 0; x < 8; x++)
    paper_add(t, images[x], (double)f2_apply(f2_parm(3, 6), x), "element %u", x);
  t = paper_add_table(out, "Section 3: the matrix of parm 3 of 16 elements");
  for (int i = 0; i < 4; i++)
    paper_add(t, masks[i], (double)f2_parm(4, 3).row[i], "row %d", i);
}

// ---- the sorter ------------------------------------------------------------------------------

static bool store_facts(permc_context *c, pipeline *p, void *with) {
  (void)c;
  *(plan_facts *)with = plan_facts_of(p->plan);
  return true;
}

// parms of the sorter as section 7.1 writes it, each of which section 7.2 puts between two bmmcs:
// n - 1 of a V-column, one more for the rest of each merger, one for each sorter.
static uint64_t parms_of_sorter(uint64_t n) {
  uint64_t parms = 0;
  for (uint64_t k = 1; k <= n; k++)
    parms += 1 + k * (k + 1) / 2;
  return parms;
}

static void add_sorter(paper_tables *out) {
  static const int sizes[] = {10, 16, 20, 24};
  paper_table *t = paper_add_table(out, "Section 7: the network of sorters, by its plan for GPUs");
  plan_facts f;
  with_plan(out->memory, "balanced_merge", 4, NULL, store_facts, &f);
  paper_add(t, 4, (double)f.columns, "columns of the merger of 16 (Figure 13)");
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    int n = sizes[i];
    with_plan(out->memory, "balanced_sort", n, NULL, store_facts, &f);
    paper_add(t, n * (n + 1) / 2, (double)f.columns, "columns of 2^%d", n);
    paper_add(t, NAN, (double)f.permutations, "permutations that are left of 2^%d", n)->note =
        arena_printf(out->memory, "of %" PRIu64 " parms, two bmmcs each as written",
                     parms_of_sorter((uint64_t)n));
    paper_add(t, NAN, (double)f.passes, "passes over memory of 2^%d", n);
  }
}

void paper_bmmc(paper_tables *out, uint64_t trials) {
  add_examples(out);
  add_overlaps(out);
  add_factors(out, trials);
  results r = execute_families(out->memory, trials);
  add_kernels(out, &r);
  add_groups(out, &r);
  add_turns(out, &r);
  add_times(out, &r);
  add_sorter(out);
}
