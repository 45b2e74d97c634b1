// The DMM/UMM paper by execution: Figure 4, the accesses of Table 1, and the constants of its
// transposes and of its permutation on the DMM. Nothing is random: `trials` has no effect.
#include "core/number.h"
#include "kernels/hmm/algorithm.h"
#include "tool/papers/paper.h"

#include <assert.h>
#include <inttypes.h>

// The time units of the algorithm; its memory is given back.
static double time_of(arena *a, const hmm_machine *m, const char *name, const hmm_task *t) {
  FREED_BY(arena_free) arena own = {.failure = a->failure};
  hmm_counts c = {0};
  const char *problem = hmm_algorithm_run(&own, m, hmm_algorithm_named(name), t, &c);
  assert(!problem);
  (void)problem;
  return (double)c.time;
}

// ---- examples --------------------------------------------------------------------------------

static void add_figure_4(paper_tables *out) {
  static const uint64_t list[] = {0, 1, 10, 6, 8, 9, 14, 15};
  static const double published[] = {[HMM_KIND_DMM] = 5, [HMM_KIND_UMM] = 7};
  paper_table *t = paper_add_table(out, "Figure 4: time units of two warps, w = 4, l = 3");
  for (int kind = HMM_KIND_DMM; kind <= HMM_KIND_UMM; kind++) {
    hmm_machine m = {(hmm_kind)kind, 1, 4, 3, 1, 8, true};
    paper_add(t, published[kind],
              time_of(out->memory, &m, "addresses", &(hmm_task){.n = 8, .list = list}),
              kind == HMM_KIND_UMM ? "UMM" : "DMM");
  }
}

// ---- Table 1 ---------------------------------------------------------------------------------

// As the text of section 3 derives it, with p threads in each round: k p/w stages and l - 1 more,
// n/p times. (Where the text writes n/w for the p/w warps of a round it means these: its sum is the
// table's.)
static double formula_of_access(const hmm_machine *m, uint64_t n, bool stride) {
  uint64_t w = m->width, p = m->threads, apart = n / p;
  uint64_t k = !stride                   ? 1
               : m->kind == HMM_KIND_DMM ? greatest_common_divisor(apart, w)
               : apart < w               ? apart
                                         : w;
  return (double)((k * (p / w) + m->latency - 1) * apart);
}

static void add_accesses(paper_tables *out, bool stride) {
  static const struct {
    uint64_t n, p, l;
    uint32_t w;
  } grid[] = {{1024, 64, 1, 16},     {1024, 64, 100, 16},  {1024, 256, 100, 32},
              {4096, 32, 100, 32},   {4096, 128, 100, 32}, {4096, 4096, 2, 32},
              {7168, 1024, 50, 32},  {9216, 1024, 50, 32}, {65536, 64, 400, 32},
              {65536, 1024, 400, 32}};
  const char *name = stride ? "stride" : "contiguous";
  paper_table *t = paper_add_table(out, "Table 1: time units of the %s access", name);
  for (size_t i = 0; i < 2 * (sizeof grid / sizeof *grid); i++) {
    hmm_kind kind = i & 1 ? HMM_KIND_UMM : HMM_KIND_DMM;
    hmm_machine m = {kind, 1, grid[i / 2].w, grid[i / 2].l, 1, grid[i / 2].p, true};
    uint64_t n = grid[i / 2].n;
    paper_cell *c = paper_add(t, formula_of_access(&m, n, stride),
                              time_of(out->memory, &m, name, &(hmm_task){.n = n}),
                              "%s n=%" PRIu64 " p=%" PRIu64 " w=%u l=%" PRIu64,
                              i & 1 ? "UMM" : "DMM", n, m.threads, m.width, m.latency);
    c->note = i ? NULL : "by the formula of section 3";
  }
}

// ---- transposes ------------------------------------------------------------------------------

// The constants A and B of time = A n/w + B n (l - 1)/p: A by l = 1, B by what a longer latency
// adds.
static void add_constants(paper_table *t, hmm_kind kind, const char *algorithm,
                          const hmm_task *task, const char *name, const char *const *notes) {
  hmm_machine m = {kind, 1, 32, 1, 1, 1024, true};
  double n = (double)task->n, least = time_of(t->memory, &m, algorithm, task);
  m.latency = 401;
  double longer = time_of(t->memory, &m, algorithm, task) - least;
  paper_add(t, NAN, least * m.width / n, "%s, of n/w", name)->note = notes[0];
  paper_add(t, NAN, longer * (double)m.threads / (n * 400), "%s, of n(l-1)/p", name)->note =
      notes[1];
}

static void add_transposes(paper_tables *out) {
  static const struct {
    hmm_kind kind;
    const char *name, *algorithm;
    uint64_t registers;
    const char *note;
  } rows[] = {
      {HMM_KIND_DMM, "crsw on the dmm", "crsw", 0, "straightforward: O(GCD(sqrt n, w)) of n/w"},
      {HMM_KIND_DMM, "diagonal-transpose on the dmm", "diagonal-transpose", 0, "Lemma 5.1: O(1)"},
      {HMM_KIND_UMM, "umm-transpose r=32 on the umm", "umm-transpose", 32, "Lemma 5.2: O(1)"},
      {HMM_KIND_UMM, "umm-transpose r=8 on the umm", "umm-transpose", 8, "Lemma 5.3: O(sqrt(w/r))"},
      {HMM_KIND_UMM, "umm-transpose r=2 on the umm", "umm-transpose", 2, "Lemma 5.3: O(sqrt(w/r))"},
  };
  paper_table *t = paper_add_table(out, "Section 5: transpose of 256 x 256, constants of the time");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    add_constants(t, rows[i].kind, rows[i].algorithm,
                  &(hmm_task){.n = 1 << 16, .registers = rows[i].registers}, rows[i].name,
                  (const char *[]){rows[i].note, rows[i].note});
}

// ---- permutations ----------------------------------------------------------------------------

// Section 6: an order of the copies without bank conflicts, by edge colouring, beside copies as
// they come. Both read arrays that say where from and where to, which the paper does not count: 2
// of 4 rounds, 1 of 3.
static void add_permutations(paper_tables *out) {
  enum { BITS = 12 };
  static const char *const algorithms[] = {"conflict-free", "d-designated"};
  static const char *const notes[][2] = {{"Theorem 6.3: O(1)"}, {"straightforward: O(n)"}};
  paper_table *t =
      paper_add_table(out, "Section 6: permutations of 2^%d, constants of the time", BITS);
  for (size_t i = 0; hmm_permutation_at(i); i++)
    for (size_t k = 0; k < sizeof algorithms / sizeof *algorithms; k++) {
      const hmm_permutation *p = hmm_permutation_at(i);
      uint64_t *list = hmm_permutation_list(out->memory, p, BITS, 1);
      add_constants(t, HMM_KIND_DMM, algorithms[k], &(hmm_task){.n = 1 << BITS, .list = list},
                    arena_printf(out->memory, "%s, %s", p->name, algorithms[k]), notes[k]);
    }
}

void paper_dmm(paper_tables *out, uint64_t trials) {
  (void)trials;
  add_figure_4(out);
  add_accesses(out, false);
  add_accesses(out, true);
  add_transposes(out);
  add_permutations(out);
}
