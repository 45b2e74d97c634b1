// The backend machine: a Plan for GPUs, executed on a Hierarchical Memory Machine, whose threads
// compute and whose memories hold the words (kernels/hmm/plan.h).
#include "runtime/context/backend.h"
#include "kernels/hmm/plan.h"
#include "runtime/routines/routine.h"
#include "runtime/system/memory.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct hmm_state {
  c_options options;
  hmm_machine machine;
  char name[80];  // "HMM(1, 32, 100)"
} hmm_state;

static backend_status prepare_hmm(backend_program *p, char why[BACKEND_WHY]) {
  hmm_state *h = p->state = calloc(1, sizeof *h);
  jmp_buf failure;
  arena scratch = {.failure = &failure};
  if (!h) {
    context_no_memory(p->context);
    return BACKEND_FAILED;
  }
  h->machine = hmm_plan_default;
  h->options = (c_options)C_OPTIONS_OF_GPU(p->context->layout, p->context->layout_seed);
  snprintf(h->name, sizeof h->name, "HMM(%" PRIu32 ", %" PRIu32 ", %" PRIu64 ")", h->machine.dmms,
           h->machine.width, h->machine.latency);
  if (setjmp(failure)) {
    snprintf(why, BACKEND_WHY, "there is no memory for the machine's program");
    arena_free(&scratch);
    return BACKEND_MISSING;
  }
  const char *problem = NULL;
  for (uint32_t i = 0; i < p->plan->passes.count && !problem; i++) {
    problem = hmm_plan_problem(&scratch, p->plan, i, &h->options);
    if (problem)
      snprintf(why, BACKEND_WHY, "%s", problem);
    arena_free(&scratch);
  }
  return problem ? BACKEND_MISSING : BACKEND_READY;
}

// ---- running ---------------------------------------------------------------------------------

static bool check_memory(permc_context *c, arena *scratch, const hmm_state *h, const plan *p) {
  char why[MEMORY_WHY];
  hmm_estimate e;
  const char *problem = hmm_plan_estimate(scratch, &h->machine, p, &h->options, &e);
  if (problem)
    context_error(c, "%s", problem);
  else if (!memory_suffices(e.with_words, 0, why))
    context_error_of(c, PERMC_ERROR_MEMORY, "a memory machine for this needs %s", why);
  else
    return true;
  return false;
}

static void copy_given(const plan *p, const backend_run *r, const hmm_arrays *m) {
  for (net_id i = 0; i < p->arrays.count; i++) {
    const net_array *a = &p->arrays.items[i];
    hmm_word *to = m->words + m->place[i];
    if (net_array_is_given(a) && a->count > 0)
      memcpy(to, a->role == NET_TABLE ? a->table : r->arguments[a->number].data,
             a->count * scalar_types[a->type].size);
    if (net_array_has_bytes(a))
      scalar_convert(SCALAR_U8, SCALAR_BOOL, a->count, to, to);
  }
}

// On the words, by the processor.
static bool run_routine(permc_context *c, arena *scratch, const plan *p, const net_routine *r,
                        const hmm_arrays *m) {
  const atomic_bool *flag = c->limits.interrupted;
  void **data = NEW_ARRAY(scratch, void *, p->arrays.count + 1);
  for (size_t i = 0; i < p->arrays.count; i++)
    data[i] = m->words + m->place[i];
  return routine_run(p, r, data, 1, flag) ||
         context_error_of(c, PERMC_ERROR_MEMORY,
                          flag && atomic_load(flag) ? "interrupted" : "out of memory");
}

static bool run_passes(permc_context *c, arena *scratch, const hmm_state *h, const plan *p,
                       const hmm_arrays *arrays) {
  c->times.units = 0;
  for (uint32_t i = 0; i < p->passes.count; i++) {
    hmm_counts counts;
    const char *problem = hmm_plan_run(scratch, &h->machine, p, i, &h->options, arrays, &counts);
    const net_routine *r = plan_routine_of(p, &p->passes.items[i]);
    if (problem)
      return context_error(c, "%s", problem);
    if (r && !run_routine(c, scratch, p, r, arrays))
      return false;
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
    if (!array_create(to, a->type, 1, &a->count))
      return context_no_memory(c);
    memcpy(to->data, m->words + m->place[i], array_bytes(to));
  }
  backend_shape_results(p->trace, results);
  return true;
}

static bool run_on_hmm(backend_program *p, backend_run *r, arena *words, arena *scratch) {
  hmm_state *h = p->state;
  const plan *made = p->plan;
  jmp_buf failure;
  words->failure = scratch->failure = &failure;
  if (setjmp(failure))
    return context_no_memory(p->context);
  if (!check_memory(p->context, scratch, h, made))
    return false;
  arena_free(scratch);
  hmm_arrays arrays = hmm_arrays_of(words, made);
  arrays.interrupted = p->context->limits.interrupted;
  copy_given(made, r, &arrays);
  return run_passes(p->context, scratch, h, made, &arrays) &&
         write_results(p->context, p, made, &arrays, r->results);
}

static bool execute_on_hmm(backend_program *p, backend_run *r) {
  arena words = {0}, scratch = {0};
  bool good = run_on_hmm(p, r, &words, &scratch);
  arena_free(&scratch);
  arena_free(&words);
  if (!good)
    arrays_destroy(r->results, p->trace->results.count);
  if (!r->keep)
    arrays_destroy(r->arguments, r->argument_count);
  return good;
}

static const char *name_hmm(const backend_program *p) {
  return ((const hmm_state *)p->state)->name;
}

static void release_hmm(backend_program *p) { free(p->state); }

const backend hmm_backend = {.name = "machine",
                             .summary = "fused passes on a memory machine, which counts time",
                             .target = "gpu",
                             .prepare = prepare_hmm,
                             .execute = execute_on_hmm,
                             .release = release_hmm,
                             .device = name_hmm};
