// Plans as programs of a machine. See hmm/plan.h.
#include "kernels/hmm/plan.h"

#include "kernels/hmm/pass.h"

#include <inttypes.h>

typedef struct plan_program {
  hmm_pass of;
  uint64_t slots;                    // blocks at once
  uint64_t first;                    // block that is executed
  uint64_t warp, step, unit[LANES];  // where the lanes of this request are
  uint32_t count, words;             // so many lanes, of so many words; 0: none has been found
} plan_program;

// ---- requests --------------------------------------------------------------------------------

static uint64_t warps_of(const plan_program *p) {
  return p->of.threads > LANES ? p->of.threads / LANES : 1;
}

static pass_place place_of(const plan_program *p, uint64_t warp, uint64_t step) {
  uint64_t each = warps_of(p), slot = warp / each;
  uint64_t item = p->first + slot + step / p->of.steps.count * p->slots;
  return (pass_place){item < p->of.items ? &p->of.steps.items[step % p->of.steps.count] : NULL,
                      item, warp % each};
}

// Finds where the lanes of a request are, which machines ask for twice.
static void find_request(plan_program *p, const pass_place *at, uint64_t warp, uint64_t step) {
  if (p->count && p->warp == warp && p->step == step)
    return;
  p->warp = warp;
  p->step = step;
  p->count = hmm_pass_units(&p->of, at, p->unit, &p->words);
}

static hmm_op plan_op(void *state, uint64_t warp, uint64_t step) {
  plan_program *p = state;
  pass_place at = place_of(p, warp, step);
  if (!at.step)
    return HMM_END;
  if (hmm_pass_skips(&p->of, at.item))
    return HMM_SKIP;
  hmm_op op = (hmm_op)at.step->of->kind;  // numbered alike
  if (op == HMM_SYNC || !hmm_pass_has_idle(&p->of, at.step->of))
    return op;
  find_request(p, &at, warp, step);
  uint32_t idle = 0;
  while (idle < p->count && p->unit[idle] == HMM_IDLE)
    idle++;
  return idle == p->count ? HMM_SKIP : op;
}

// All arrays begin at 0, as do the blocks' parts of scratch: blocks do not share their words.
static void plan_lanes(void *state, uint64_t warp, uint64_t step, uint64_t *address,
                       hmm_word *value) {
  plan_program *p = state;
  pass_place at = place_of(p, warp, step);
  const kernel_step *s = at.step->of;
  (void)value;
  find_request(p, &at, warp, step);
  uint32_t count = p->count, words = p->words;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < words; k++)
      address[i * words + k] =
          p->unit[i] == HMM_IDLE ? HMM_IDLE : (s->base + p->unit[i] * s->unit) / WORD + k;
}

// ---- all -------------------------------------------------------------------------------------

static const char *plan_problem(arena *a, const hmm_machine *m, const plan *p) {
  if (m->kind != HMM_KIND_HMM)
    return arena_printf(a, "a plan needs an hmm (permc machine hmm): a %s has one memory only",
                        hmm_kind_names[m->kind]);
  if (p->target->lane_bytes != 0)
    return arena_printf(a, "the plan is for the target %s, whose lanes are no threads",
                        p->target->name);
  if (m->width != HMM_PLAN_WIDTH)
    return arena_printf(a, "the warps of a plan have %d lanes: w = %u will not do", HMM_PLAN_WIDTH,
                        m->width);
  return NULL;
}

static hmm_program program_of(plan_program *p) {
  return (hmm_program){.warps = p->slots * warps_of(p),
                       .block_warps = warps_of(p),
                       .state = p,
                       .op = plan_op,
                       .lanes = plan_lanes,
                       .global_words = UINT64_MAX,
                       .shared_words = UINT64_MAX};
}

// NULL: *out can run, of the blocks that follow each other one.
static const char *open_program(arena *a, const hmm_machine *m, const plan *of, uint32_t number,
                                const c_options *options, plan_program **out) {
  plan_program *p = *out = NEW(a, plan_program);
  const char *problem = plan_problem(a, m, of);
  return problem ? problem : hmm_pass_open(a, of, number, options, &p->of);
}

// As many blocks at once as the machine's threads allow.
static const char *set_blocks_at_once(arena *a, const hmm_machine *m, plan_program *p,
                                      uint32_t number) {
  uint64_t block = warps_of(p) * LANES;
  if (m->threads % LANES != 0)
    return arena_printf(a, "the threads are whole warps: p = %" PRIu64 " is no multiple of w = %d",
                        m->threads, LANES);
  if (m->threads != 0 && m->threads < block)
    return arena_printf(
        a, "the blocks of pass %u have %" PRIu64 " threads: p = %" PRIu64 " is not enough for one",
        number + 1, block, m->threads);
  p->slots = m->threads && m->threads / block < p->of.items ? m->threads / block : p->of.items;
  return NULL;
}

const char *hmm_plan_estimate(arena *a, const hmm_machine *m, const plan *of,
                              const c_options *options, hmm_estimate *out) {
  *out = (hmm_estimate){0};
  for (uint32_t i = 0; i < of->passes.count; i++) {
    plan_program *p;
    if (plan_routine_of(of, &of->passes.items[i]))
      continue;
    const char *problem = open_program(a, m, of, i, options, &p);
    if (!problem)
      problem = set_blocks_at_once(a, m, p, i);
    if (problem)
      return problem;
    double accesses = 0, warps = (double)p->slots * (double)warps_of(p);
    double times = (double)((p->of.items + p->slots - 1) / p->slots);
    for (size_t k = 0; k < p->of.steps.count; k++)
      accesses += p->of.steps.items[k].of->kind != STEP_BARRIER;
    out->requests += accesses * LANES * (double)warps_of(p) * (double)p->of.items;
    out->bytes += hmm_run_bytes(m, warps, (double)warps_of(p), times * (double)p->of.steps.count);
  }
  return NULL;
}

// A routine by digits of its keys: for each, all that it reads is read in order, and all that it
// writes written anywhere: n/w + l and n + l time units (HMM paper, section 3). A transpose writes
// whole lines.
static void count_routine(arena *a, const hmm_machine *m, const plan *of, const plan_pass *pass,
                          hmm_counts *out) {
  uint64_t digits = plan_routine_digits(of, plan_routine_of(of, pass));
  bool scatters = plan_routine_of(of, pass)->kind != NET_TRANSPOSE;
  *out = (hmm_counts){.width = m->width};
  for (int i = 0; i < 2; i++)
    out->histogram[i] = NEW_ARRAY(a, uint64_t, m->width + 1);
  for (uint32_t i = 0; i < pass->access_count; i++) {
    const plan_access *x = &pass->accesses[i];
    uint64_t n = of->arrays.items[x->array].count, warps = (n + m->width - 1) / m->width;
    bool casual = x->writes && scatters;
    int op = x->writes ? HMM_WRITE_GLOBAL : HMM_READ_GLOBAL;
    out->requests += digits * n;
    out->rounds[op] += digits;
    out->casual[op] += casual ? digits : 0;
    out->accesses[op] += digits * warps;
    out->stages[op] += digits * (casual ? n : warps);
    out->time += digits * ((casual ? n : warps) + m->latency);
    out->histogram[0][casual ? m->width : 1] += digits * warps;
  }
}

const char *hmm_plan_run(arena *a, const hmm_machine *m, const plan *of, uint32_t number,
                         const c_options *options, hmm_counts *out) {
  plan_program *p;
  if (plan_routine_of(of, &of->passes.items[number])) {
    count_routine(a, m, of, &of->passes.items[number], out);
    return NULL;
  }
  const char *problem = open_program(a, m, of, number, options, &p);
  if (!problem)
    problem = set_blocks_at_once(a, m, p, number);
  if (problem)
    return problem;
  hmm_program program = program_of(p);
  hmm_machine own = *m;
  own.threads = program.warps * LANES;
  return hmm_run(a, &own, &program, out);
}

const char *hmm_plan_block(arena *a, const plan *of, uint32_t number, const c_options *options,
                           hmm_program *out, uint64_t *times) {
  static const hmm_machine like = {HMM_KIND_HMM, 1, HMM_PLAN_WIDTH, 1, 1, 0, true};
  plan_program *p;
  const char *problem = open_program(a, &like, of, number, options, &p);
  if (problem)
    return problem;
  *times = hmm_pass_working(&p->of, &p->first);
  p->of.items = p->first + 1;
  p->slots = 1;
  *out = program_of(p);
  return NULL;
}
