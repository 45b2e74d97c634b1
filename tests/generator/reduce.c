// Making a program that hides a plan smaller: see hidden.h.
#include "tests/generator/hidden.h"

#include <string.h>

typedef struct reduction {
  hidden_program *best;
  hidden_test *test;
  void *with;
} reduction;

static bool keep_if_it_holds(reduction *r, hidden_program *p) {
  if (hidden_problem(p))
    hidden_fit_tiles(p);
  if (memcmp(p, r->best, sizeof *p) == 0 || hidden_problem(p) || !r->test(p, r->with))
    return false;
  *r->best = *p;
  return true;
}

// ---- parts ---------------------------------------------------------------------------------------

static uint32_t first_op(const hidden_program *p, uint32_t run) {
  uint32_t first = 0;
  for (uint32_t i = 0; i < run; i++)
    first += p->runs[i].op_count;
  return first;
}

static void remove_ops(hidden_program *p, uint32_t run, uint32_t first, uint32_t count) {
  memmove(&p->ops[first], &p->ops[first + count], (p->op_count - first - count) * sizeof *p->ops);
  memset(&p->ops[p->op_count - count], 0, count * sizeof *p->ops);
  p->op_count -= count;
  p->runs[run].op_count -= count;
}

static void remove_run(hidden_program *p, uint32_t run) {
  remove_ops(p, run, first_op(p, run), p->runs[run].op_count);
  memmove(&p->runs[run], &p->runs[run + 1], (p->run_count - run - 1) * sizeof *p->runs);
  memset(&p->runs[--p->run_count], 0, sizeof *p->runs);
}

static bool reduce_runs(reduction *r) {
  bool progress = false;
  for (uint32_t run = 0; run < r->best->run_count && r->best->run_count > 1;) {
    hidden_program p = *r->best;
    remove_run(&p, run);
    if (keep_if_it_holds(r, &p))
      progress = true;
    else
      run++;
  }
  return progress;
}

static bool reduce_ops(reduction *r) {
  bool progress = false;
  for (uint32_t run = r->best->run_count; run-- > 0;)
    for (uint32_t size = r->best->runs[run].op_count; size > 0; size /= 2)
      for (uint32_t i = 0; i + size <= r->best->runs[run].op_count;) {
        hidden_program p = *r->best;
        remove_ops(&p, run, first_op(&p, run) + i, size);
        if (keep_if_it_holds(r, &p))
          progress = true;
        else
          i += size;
      }
  return progress;
}

// Without index bit `bit`.
static void remove_bit(hidden_program *p, int bit) {
  uint64_t rest = f2_mask(p->n) & ~f2_unit(bit);
  p->n--;
  for (uint32_t i = 0; i < p->run_count; i++) {
    f2_space tile = f2_space_zero(p->n);
    for (int k = 0; k < p->runs[i].tile.dimension; k++)
      f2_space_insert(&tile, f2_extract(rest, p->runs[i].tile.basis[k]));
    p->runs[i].tile = tile;
  }
  for (uint32_t i = 0; i < p->op_count; i++) {
    p->ops[i].mask = f2_extract(rest, p->ops[i].mask);
    p->ops[i].other = f2_extract(rest, p->ops[i].other);
  }
  p->first = p->last = f2_affine_identity(p->n);
}

static bool reduce_bits(reduction *r) {
  bool progress = false;
  for (int bit = r->best->n - 1; bit >= 0 && r->best->n > 1; bit--) {
    hidden_program p = *r->best;
    remove_bit(&p, bit);
    progress |= keep_if_it_holds(r, &p);
  }
  return progress;
}

// ---- simpler -------------------------------------------------------------------------------------

static void use_one_component(hidden_program *p) {
  p->part_count = 1;
  p->types[0] = SCALAR_U32;
  p->types[1] = SCALAR_COUNT;
  for (uint32_t i = 0; i < p->op_count; i++)
    if (p->ops[i].kind == PAIR_PARTS || p->ops[i].kind == PAIR_CROSS)
      p->ops[i].kind = PAIR_FULL;
}

static void forget_moves(hidden_program *p) { p->first = p->last = f2_affine_identity(p->n); }
static void forget_groups(hidden_program *p) { p->grouped = false; }
static void forget_rows(hidden_program *p) { p->rows = 0; }
static void forget_window(hidden_program *p) {
  p->window = 1;
  p->brick = false;
}
static void lower_window(hidden_program *p) { p->window -= p->window > 2; }
static void use_neighbours(hidden_program *p) { p->by_halves = false; }
static void lower_levels(hidden_program *p) { p->levels -= p->levels > 1; }

static bool reduce_whole(reduction *r) {
  static void (*const steps[])(hidden_program *) = {use_one_component, forget_moves,  forget_groups,
                                                    forget_rows,       forget_window, lower_window,
                                                    use_neighbours,    lower_levels};
  bool progress = false;
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    hidden_program p = *r->best;
    steps[i](&p);
    progress |= keep_if_it_holds(r, &p);
  }
  return progress;
}

static bool reduce_op(reduction *r, uint32_t i) {
  bool progress = false;
  hidden_program p = *r->best;
  p.ops[i].spelling = HIDDEN_COLUMNS;
  progress |= keep_if_it_holds(r, &p);
  p = *r->best;
  p.ops[i].kind = PAIR_FULL;
  p.ops[i].other = 0;
  progress |= keep_if_it_holds(r, &p);
  p = *r->best;
  p.ops[i].bit = 0;
  p.ops[i].noise = 0;
  progress |= keep_if_it_holds(r, &p);
  p = *r->best;
  p.ops[i].mask = f2_unit(f2_lsb(p.ops[i].mask));
  return keep_if_it_holds(r, &p) || progress;
}

void hidden_reduce(hidden_program *p, hidden_test *test, void *with) {
  reduction r = {p, test, with};
  for (bool progress = true; progress;) {
    progress = reduce_runs(&r);
    progress |= reduce_ops(&r);
    progress |= reduce_bits(&r);
    progress |= reduce_whole(&r);
    for (uint32_t i = 0; i < p->op_count; i++)
      progress |= reduce_op(&r, i);
  }
}
