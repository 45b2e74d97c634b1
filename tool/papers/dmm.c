// The DMM/UMM paper by execution: Figure 4, the accesses of Table 1, and the constants of its
// transposes. Simulations have no random numbers: `trials` means nothing.
#include "kernels/hmm/algorithm.h"
#include "tool/papers/paper.h"

#include <assert.h>
#include <inttypes.h>

// What has been counted; memory is given back.
static hmm_counts counted(arena *a, const hmm_machine *m, const char *name, const hmm_task *t) {
  arena own = {.failure = a->failure};
  hmm_counts c = {0};
  const char *problem = hmm_algorithm_run(&own, m, hmm_algorithm_named(name), t, &c);
  assert(!problem);
  (void)problem;
  arena_free(&own);
  return c;
}

static double time_of(arena *a, const hmm_machine *m, const char *name, const hmm_task *t) {
  return (double)counted(a, m, name, t).time;
}

// ---- examples --------------------------------------------------------------------------------

static void add_figure(arena *a, paper_tables *out) {
  static const uint64_t list[] = {0, 1, 10, 6, 8, 9, 14, 15};
  paper_table *t = paper_add_table(a, out, "Figure 4: time units of two warps, w = 4, l = 3");
  for (int kind = HMM_KIND_DMM; kind <= HMM_KIND_UMM; kind++) {
    hmm_machine m = {(hmm_kind)kind, 1, 4, 3, 1, 8, true};
    paper_add(a, t,
              (paper_cell){kind ? "UMM" : "DMM", kind ? 7 : 5,
                           time_of(a, &m, "addresses", &(hmm_task){.n = 8, .list = list}), 0,
                           NULL});
  }
}

// ---- Table 1 ---------------------------------------------------------------------------------

// As the text of section 3 derives it, with p threads in each round: k p/w stages and l - 1 more,
// n/p times. (Where the text writes n/w for the p/w warps of a round it means these: its sum is the
// table's.)
static double closed(const hmm_machine *m, uint64_t n, bool stride) {
  uint64_t w = m->width, p = m->threads, apart = n / p;
  uint64_t k = !stride ? 1 : m->kind == HMM_KIND_DMM ? hmm_gcd(apart, w) : apart < w ? apart : w;
  return (double)((k * (p / w) + m->latency - 1) * apart);
}

static void add_accesses(arena *a, paper_tables *out, bool stride) {
  static const struct {
    uint64_t n, p, l;
    uint32_t w;
  } grid[] = {{1024, 64, 1, 16},     {1024, 64, 100, 16},  {1024, 256, 100, 32},
              {4096, 32, 100, 32},   {4096, 128, 100, 32}, {4096, 4096, 2, 32},
              {7168, 1024, 50, 32},  {9216, 1024, 50, 32}, {65536, 64, 400, 32},
              {65536, 1024, 400, 32}};
  paper_table *t = paper_add_table(a, out, "Table 1: time units of the %s access",
                                   stride ? "stride" : "contiguous");
  for (size_t i = 0; i < 2 * (sizeof grid / sizeof *grid); i++) {
    hmm_machine m = {i & 1 ? HMM_KIND_UMM : HMM_KIND_DMM,
                     1,
                     grid[i / 2].w,
                     grid[i / 2].l,
                     1,
                     grid[i / 2].p,
                     true};
    uint64_t n = grid[i / 2].n;
    const char *where = arena_printf(a, "%s n=%" PRIu64 " p=%" PRIu64 " w=%u l=%" PRIu64,
                                     i & 1 ? "UMM" : "DMM", n, m.threads, m.width, m.latency);
    double ours = time_of(a, &m, stride ? "stride" : "contiguous", &(hmm_task){.n = n});
    paper_add(a, t,
              (paper_cell){where, closed(&m, n, stride), ours, 0,
                           i ? NULL : "by the formula of section 3"});
  }
}

// ---- transposes ------------------------------------------------------------------------------

// The constants A and B of time = A n/w + B n (l - 1)/p: A by l = 1, B by what a longer latency
// adds.
static void add_constants(arena *a, paper_table *t, hmm_machine m, const char *name,
                          uint64_t registers, const char *note) {
  hmm_task task = {.n = 1 << 16, .registers = registers};
  double n = (double)task.n;
  double least = time_of(a, &m, name, &task);
  m.latency = 401;
  double longer = time_of(a, &m, name, &task) - least;
  const char *shown = registers ? arena_printf(a, "%s r=%" PRIu64, name, registers) : name;
  paper_add(a, t,
            (paper_cell){arena_printf(a, "%s on the %s, of n/w", shown, hmm_kind_names[m.kind]),
                         NAN, least * m.width / n, 0, note});
  paper_add(
      a, t,
      (paper_cell){arena_printf(a, "%s on the %s, of n(l-1)/p", shown, hmm_kind_names[m.kind]), NAN,
                   longer * (double)m.threads / (n * 400), 0, note});
}

static void add_transposes(arena *a, paper_tables *out) {
  paper_table *t =
      paper_add_table(a, out, "Section 5: transpose of 256 x 256, constants of the time");
  hmm_machine dmm = {HMM_KIND_DMM, 1, 32, 1, 1, 1024, true}, umm = dmm;
  umm.kind = HMM_KIND_UMM;
  add_constants(a, t, dmm, "crsw", 0, "straightforward: O(GCD(sqrt n, w)) of n/w");
  add_constants(a, t, dmm, "diagonal-transpose", 0, "Lemma 5.1: O(1)");
  add_constants(a, t, umm, "umm-transpose", 32, "Lemma 5.2: O(1)");
  add_constants(a, t, umm, "umm-transpose", 8, "Lemma 5.3: O(sqrt(w/r))");
  add_constants(a, t, umm, "umm-transpose", 2, "Lemma 5.3: O(sqrt(w/r))");
}

void paper_dmm(arena *a, uint64_t trials, paper_tables *out) {
  (void)trials;
  add_figure(a, out);
  add_accesses(a, out, false);
  add_accesses(a, out, true);
  add_transposes(a, out);
}
