// The backend cuda: a plan for a machine of warps, executed by runtime/cuda/program.h. Where there
// is no GPU, no NVRTC, or a program needs what a GPU has not, the backend cpu does it, and says so
// once. What goes wrong on a GPU that is there is an error.
#include "runtime/backend.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/cuda/program.h"
#include "runtime/tuned/tuned.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct gpu_program {
  lowered_program lowered;
  cuda_program *program;  // NULL: the cpu backend has it
  backend_deputy cpu;
  char device[160];
} gpu_program;

static void tell(permc_context *c, const char *why) {
  if (!c->told_no_gpu)
    diag_report(&c->program.diagnostics, DIAG_WARNING, SPAN_NONE, "%s: the CPU does it instead",
                why);
  c->told_no_gpu = true;
}

// The context's device: opened when first asked for. NULL: told.
static cuda_device *device_of(permc_context *c) {
  char why[CUDA_WHY];
  if (!c->gpu && !(c->gpu = cuda_open(0, why, sizeof why)))
    tell(c, why);
  else if (!nvrtc_find(why, sizeof why))
    tell(c, why);
  else if (cuda_use_stream(c->gpu, c->stream))
    return c->gpu;
  else
    tell(c, cuda_message(c->gpu));
  return NULL;
}

static bool compile(backend_program *p, cuda_device *d) {
  permc_context *c = p->context;
  gpu_program *g = p->state;
  error failure = {0};
  cuda_options o = {.interrupted = c->limits.interrupted,
                    .fuse = c->fuse,
                    .layout = c->layout,
                    .layout_seed = c->layout_seed};
  // The next run may have another matrix: a kernel that is told serves both.
  const plan_strategy *strategy =
      c->strategy || !p->has_static ? c->strategy : plan_strategy_named("online");
  if (!backend_plan(c, p->memory, p->trace, target_named("gpu"), true, strategy, &g->lowered))
    return false;
  bool unsupported = false;
  g->program = cuda_program_new(d, g->lowered.plan, &o, &unsupported, &failure);
  const cuda_facts *facts = cuda_facts_of(d);
  snprintf(g->device, sizeof g->device, "%s, CUDA %d.%d", facts->name, facts->driver / 1000,
           facts->driver % 1000 / 10);
  if (g->program)
    return true;
  // A candidate of permc_tune that cannot run here is none.
  bool on_trial = c->trial && c->trial->target && c->trial->target->lane_bytes == 0;
  if (on_trial || !unsupported) {
    context_error(c, "%s", failure.message);
    return false;
  }
  tell(c, failure.message);
  return backend_deputy_prepare(p, &g->cpu);
}

bool backend_cuda_prepare(backend_program *p) {
  permc_context *c = p->context;
  double start = context_now();
  gpu_program *g = p->state = calloc(1, sizeof *g);
  if (!g) {
    context_error(c, "out of memory");
    return false;
  }
  g->cpu.row = backend_named("cpu");
  cuda_device *d = device_of(c);
  bool good = d ? compile(p, d) : backend_deputy_prepare(p, &g->cpu);
  c->times.compile = context_now() - start - c->times.plan;
  return good;
}

bool backend_cuda_execute(backend_program *p, backend_run *r) {
  gpu_program *g = p->state;
  error failure = {0};
  if (!g->program)
    return backend_deputy_execute(p, &g->cpu, r);
  bool good = cuda_program_run(g->program, r->arguments, r->argument_count, r->results, &failure);
  if (!good)
    context_error(p->context, "%s", failure.message);
  for (size_t i = 0; i < r->argument_count && !r->keep; i++) {
    array_destroy(&r->arguments[i]);
    r->arguments[i] = (array){0};
  }
  if (good)
    backend_shape_results(p->trace, r->results);
  return good;
}

const char *backend_cuda_device(const backend_program *p) {
  const gpu_program *g = p->state;
  return g->program ? g->device : NULL;
}

bool backend_cuda_time(backend_program *p, uint64_t copy_bytes, unsigned runs, double *seconds) {
  gpu_program *g = p->state;
  error failure = {0};
  if (!g->program)
    return false;
  bool good = copy_bytes ? cuda_program_time_copy(g->program, copy_bytes, runs, seconds, &failure)
                         : cuda_program_time(g->program, runs, seconds, &failure);
  if (!good)
    context_error(p->context, "%s", failure.message);
  return good;
}

void backend_cuda_release(backend_program *p) {
  gpu_program *g = p->state;
  if (!g)
    return;
  cuda_program_free(g->program);
  backend_deputy_release(p, &g->cpu);
  free(g);
}
