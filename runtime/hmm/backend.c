// The backend machine: a plan for GPUs, executed on a Hierarchical Memory Machine, whose threads
// compute and whose memories hold the words (kernels/hmm/plan.h). What the machine does not
// know the backend cpu does, and says so once.
#include "runtime/backend.h"

#include "kernels/hmm/plan.h"
#include "runtime/system/memory.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct hmm_state {
  lowered_program lowered;
  c_options options;
  hmm_machine machine;
  char name[80];  // "HMM(1, 32, 100)"
  bool known;     // else the backend cpu has it
  backend_deputy cpu;
} hmm_state;

static void tell(permc_context *c, const char *why) {
  if (!c->told_no_machine)
    diag_report(&c->program.diagnostics, DIAG_WARNING, SPAN_NONE, "%s: the CPU does it instead",
                why);
  c->told_no_machine = true;
}

// Whether the machine knows all passes; if not, it is told.
static bool all_known(backend_program *p, const hmm_state *h, arena *scratch) {
  const plan *made = h->lowered.plan;
  const char *problem = NULL;
  for (uint32_t i = 0; i < made->passes.count && !problem; i++) {
    problem = hmm_plan_problem(scratch, made, i, &h->options);
    if (problem)
      tell(p->context, problem);
    arena_free(scratch);
  }
  return !problem;
}

// The same, and false if memory runs out.
static bool is_known(backend_program *p, const hmm_state *h, arena *scratch) {
  jmp_buf failure;
  scratch->failure = &failure;
  if (setjmp(failure)) {
    tell(p->context, "there is no memory for the machine's program");
    return false;
  }
  return all_known(p, h, scratch);
}

static hmm_state *program_new(const permc_context *c) {
  hmm_state *h = calloc(1, sizeof *h);
  if (!h)
    return NULL;
  h->cpu.row = backend_named("cpu");
  h->machine = hmm_plan_default;
  h->options = (c_options)C_OPTIONS_OF_GPU(c->layout, c->layout_seed);
  snprintf(h->name, sizeof h->name, "HMM(%" PRIu32 ", %" PRIu32 ", %" PRIu64 ")", h->machine.dmms,
           h->machine.width, h->machine.latency);
  return h;
}

bool backend_hmm_prepare(backend_program *p) {
  permc_context *c = p->context;
  hmm_state *h = p->state = program_new(c);
  arena scratch = {0};
  if (!h) {
    context_error(c, "out of memory");
    return false;
  }
  if (!backend_plan(c, p->memory, p->trace, target_named("gpu"), false, c->strategy, &h->lowered))
    return false;
  h->known = is_known(p, h, &scratch);
  arena_free(&scratch);
  return h->known || backend_deputy_prepare(p, &h->cpu);
}

// ---- running ---------------------------------------------------------------------------------

static bool fits(permc_context *c, arena *scratch, const hmm_state *h) {
  char why[MEMORY_WHY];
  hmm_estimate e;
  const char *problem = hmm_plan_estimate(scratch, &h->machine, h->lowered.plan, &h->options, &e);
  if (problem)
    context_error(c, "%s", problem);
  else if (!memory_suffices(e.with_words, why))
    context_error(c, "a memory machine for this needs %s", why);
  else
    return true;
  return false;
}

static void read_arguments(const plan *p, const backend_run *r, const hmm_arrays *m) {
  for (net_id i = 0; i < p->arrays.count; i++) {
    const net_array *a = &p->arrays.items[i];
    if (a->role == NET_ARGUMENT && a->count > 0)
      memcpy(m->words + m->place[i], r->arguments[a->number].data,
             a->count * scalar_types[a->type].size);
  }
}

static bool run_passes(permc_context *c, arena *scratch, const hmm_state *h,
                       const hmm_arrays *arrays) {
  const plan *p = h->lowered.plan;
  c->times.units = 0;
  for (uint32_t i = 0; i < p->passes.count; i++) {
    hmm_counts counts;
    const char *problem = hmm_plan_run(scratch, &h->machine, p, i, &h->options, arrays, &counts);
    if (problem) {
      context_error(c, "%s", problem);
      return false;
    }
    c->times.units += counts.time;
    arena_free(scratch);
  }
  return true;
}

static bool write_results(permc_context *c, const backend_program *p, const plan *made,
                          const hmm_arrays *m, array *results) {
  for (net_id i = 0; i < made->arrays.count; i++) {
    const net_array *a = &made->arrays.items[i];
    if (a->role != NET_RESULT)
      continue;
    array *to = &results[a->number];
    if (!array_create(to, a->type, 1, &a->count)) {
      context_error(c, "out of memory");
      return false;
    }
    memcpy(to->data, m->words + m->place[i], array_bytes(to));
  }
  backend_shape_results(p->trace, results);
  return true;
}

static bool run(backend_program *p, backend_run *r, arena *words, arena *scratch) {
  hmm_state *h = p->state;
  const plan *made = h->lowered.plan;
  jmp_buf failure;
  words->failure = scratch->failure = &failure;
  if (setjmp(failure)) {
    context_error(p->context, "out of memory");
    return false;
  }
  if (!fits(p->context, scratch, h))
    return false;
  arena_free(scratch);
  hmm_arrays arrays = hmm_arrays_of(words, made);
  arrays.interrupted = p->context->limits.interrupted;
  read_arguments(made, r, &arrays);
  return run_passes(p->context, scratch, h, &arrays) &&
         write_results(p->context, p, made, &arrays, r->results);
}

static void forget(array *arrays, size_t count) {
  for (size_t i = 0; i < count; i++) {
    array_destroy(&arrays[i]);
    arrays[i] = (array){0};
  }
}

bool backend_hmm_execute(backend_program *p, backend_run *r) {
  hmm_state *h = p->state;
  arena words = {0}, scratch = {0};
  if (!h->known)
    return backend_deputy_execute(p, &h->cpu, r);
  forget(r->results, p->trace->results.count);
  bool good = run(p, r, &words, &scratch);
  arena_free(&scratch);
  arena_free(&words);
  if (!good)
    forget(r->results, p->trace->results.count);
  if (!r->keep)
    forget(r->arguments, r->argument_count);
  return good;
}

const char *backend_hmm_device(const backend_program *p) {
  const hmm_state *h = p->state;
  return h->known ? h->name : NULL;
}

void backend_hmm_release(backend_program *p) {
  hmm_state *h = p->state;
  if (!h)
    return;
  backend_deputy_release(p, &h->cpu);
  free(h);
}
