// What each pass of a plan costs on a Hierarchical Memory Machine like a GPU, and, where there is a
// GPU, how long it takes there.
#include "runtime/cuda/nvrtc.h"
#include "runtime/gpu/context.h"
#include "runtime/gpu/program.h"
#include "runtime/system/memory.h"
#include "tool/reports/explain.h"
#include "tool/reports/hmm.h"

// An H200: 132 multiprocessors of 2048 threads; latencies in cycles, measured by a chain of reads
// (bench/README.md, "Latencies").
static const hmm_machine usual = {.kind = HMM_KIND_HMM,
                                  .dmms = 132,
                                  .width = HMM_PLAN_WIDTH,
                                  .latency = 700,
                                  .shared_latency = 29,
                                  .threads = 132 * 2048};

// Runs the plan's passes one by one on memory as it is: what they compute means nothing. NULL:
// there is no GPU, or it cannot run the plan.
static const double *measure(permc_context *c, arena *a, const plan *p, const c_options *options,
                             hmm_machine *like) {
  enum { RUNS = 100 };
  char why[CUDA_WHY];
  const char *problem = c_missing_on_gpu(p);
  c_code code = {0};
  error failure = {0};
  cuda_options o = {.interrupted = c->limits.interrupted, .fuse = c->fuse};
  cuda_program *g = NULL;
  if (problem || !cuda_open_for(c, why, sizeof why) || !nvrtc_find(why, sizeof why))
    return NULL;
  if (c_emit(&code, p, options, &problem))
    g = cuda_program_new(context_gpu(c)->open, p, &code, &o, &failure);
  c_code_free(&code);
  const cuda_facts *facts = cuda_facts_of(context_gpu(c)->open);
  double *seconds = NEW_ARRAY(a, double, p->passes.count);
  bool good = g != NULL;
  for (uint32_t i = 0; i < p->passes.count && good; i++)
    good = cuda_program_time_pass(g, i, RUNS, &seconds[i], &failure);
  cuda_program_free(g);
  if (!good)
    return NULL;
  like->dmms = (uint32_t)facts->multiprocessors;
  like->threads = (uint64_t)facts->multiprocessors * (uint64_t)facts->threads_per_multiprocessor;
  return seconds;
}

// False: it does not fit, or would take minutes; reported.
static bool check_size(permc_context *c, arena *a, const plan *p, const hmm_machine *m,
                       const c_options *options) {
  const double most = 1e10;  // requests: more than a minute
  hmm_estimate e;
  char why[MEMORY_WHY];
  const char *problem = hmm_plan_report_estimate(a, m, p, options, &e);
  if (problem)
    return context_error(c, "%s", problem), false;
  if (!memory_suffices(e.bytes, 0, why))
    return context_error(c, "a memory machine for this plan needs %s: take smaller arrays", why),
           false;
  if (e.requests <= most)
    return true;
  context_error(c,
                "%.2g requests would be simulated, more than %.0g: take smaller arrays, or permc "
                "machine hmm, which has the time",
                e.requests, most);
  return false;
}

bool report_explain_machine(permc_context *c, const explanation *e, bool json, text *out) {
  const plan *p = e->pipeline->plan;
  arena *a = &e->pipeline->memory;
  hmm_machine like = usual;
  hmm_plan_report r;
  c_options options = C_OPTIONS_OF_GPU(c->layout, c->layout_seed);
  const double *seconds = p->target->lane_bytes == 0 ? measure(c, a, p, &options, &like) : NULL;
  if (!check_size(c, a, p, &like, &options))
    return false;
  const char *problem = hmm_plan_report_make(a, &like, p, e->entry, &options, &r);
  if (problem)
    return context_error(c, "%s", problem);
  r.seconds = seconds;
  r.like = seconds ? "d and p are this GPU's, L and l those of an H200, in cycles"
                   : "d, p, L and l are those of an H200, latencies in cycles";
  (json ? hmm_plan_report_json : hmm_plan_report_text)(out, &r);
  return true;
}
