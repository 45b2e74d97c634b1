// The table of backends, and the way from a Trace to a Plan. See backend.h.
#include "runtime/backend.h"

#include "fusion/lower/lower.h"
#include "runtime/compiled/compiled.h"
#include "runtime/compiled/compiler.h"
#include "runtime/cpu/cpu.h"
#include "runtime/cuda/cuda.h"
#include "runtime/interp/interp.h"
#include "runtime/portable/portable.h"
#include "runtime/tuned/tuned.h"

// ---- planning ---------------------------------------------------------------------------------

const target *backend_target(const permc_context *c) {
  const target *named = c->isa ? target_named(c->isa) : NULL;
  return named ? named : target_named(compiler_widest_isa());
}

static bool right(permc_context *c, const char *what, const char *wrong) {
  if (wrong)
    context_error(c, "the %s is wrong (please report this): %s", what, wrong);
  return !wrong;
}

// Whether the net has the trace's results, with as many elements.
static const char *results_problem(arena *a, const trace *t, const net *n) {
  size_t found = 0;
  for (size_t i = 0; i < n->arrays.count; i++) {
    const net_array *r = &n->arrays.items[i];
    if (r->role != NET_RESULT)
      continue;
    found++;
    if (r->number >= t->results.count)
      return arena_printf(a, "there is a result %u", (unsigned)r->number);
    const trace_step *s = &t->steps.items[t->results.items[r->number]];
    uint64_t count = s->batch;
    for (uint32_t k = 0; k < s->rank; k++)
      count *= s->dims[k];
    if (count != r->count || s->type != r->type)
      return arena_printf(a, "result %u is not that of the program", (unsigned)r->number);
  }
  return found == t->results.count ? NULL : "a result is missing";
}

static bool make_net(permc_context *c, arena *scratch, const trace *t, lowered_program *out) {
  net *n = lower(scratch, t, &out->rules);
  if (!right(c, "net", net_verify(scratch, n)) || !right(c, "net", results_problem(scratch, t, n)))
    return false;
  rules_apply(scratch, n, &out->rules);
  out->net = n;
  return right(c, "rewritten net", net_verify(scratch, n));
}

// Lowering and rewriting leave much behind that nobody needs: it goes with an arena of its own.
static bool keep_net(permc_context *c, arena *memory, const trace *t, lowered_program *out) {
  jmp_buf failure, *outer = memory->failure;
  arena scratch = {.failure = &failure, .limit = memory->limit};
  memory->failure = &failure;
  if (setjmp(failure)) {
    arena_free(&scratch);
    memory->failure = outer;
    longjmp(*outer, 1);
  }
  bool good = make_net(c, &scratch, t, out);
  if (good)
    out->net = net_copy(memory, out->net);
  memory->failure = outer;
  arena_free(&scratch);
  return good;
}

bool backend_plan(permc_context *c, arena *memory, const trace *t, const target *machine, bool here,
                  const plan_strategy *strategy, lowered_program *out) {
  double start = context_now();
  out->rules = (rule_log){.memory = memory};
  if (!keep_net(c, memory, t, out))
    return false;
  out->tuned = false;
  char gpu[160];
  bool on_gpu = machine->lane_bytes == 0;
  if (on_gpu && c->gpu) {
    const cuda_facts *facts = cuda_facts_of(c->gpu);
    snprintf(gpu, sizeof gpu, "%s, sm_%d", facts->name, facts->capability);
  }
  if (here && (!on_gpu || c->gpu))
    machine = tuned_target(memory, out->net, machine, on_gpu ? gpu : NULL, c->trial, &out->tuned);
  out->plan = plan_make(memory, out->net, machine, strategy);
  if (!right(c, "plan", plan_verify(memory, out->plan)))
    return false;
  c->passes = out->plan->passes.count;
  c->times.plan = context_now() - start;
  return true;
}

// ---- interp -----------------------------------------------------------------------------------

static bool prepare_interp(backend_program *p) {
  (void)p;
  return true;
}

static void forget(array *arrays, size_t count) {
  for (size_t i = 0; i < count; i++) {
    array_destroy(&arrays[i]);
    arrays[i] = (array){0};
  }
}

// It consumes what it is given, so that it gets copies of arguments that are kept.
static array *copies(permc_context *c, const backend_run *r) {
  array *copy = calloc(r->argument_count + 1, sizeof *copy);
  bool good = copy != NULL;
  for (size_t i = 0; good && i < r->argument_count; i++) {
    const array *from = &r->arguments[i];
    good = array_create(&copy[i], from->type, from->rank, from->dims);
    if (good)
      memcpy(copy[i].data, from->data, array_bytes(from));
  }
  if (good)
    return copy;
  context_error(c, "there is no memory for a copy of the arguments");
  if (copy)
    forget(copy, r->argument_count);
  free(copy);
  return NULL;
}

static bool execute_interp(backend_program *p, backend_run *r) {
  permc_context *c = p->context;
  forget(r->results, p->trace->results.count);
  array *arguments = r->keep ? copies(c, r) : r->arguments;
  if (!arguments)
    return false;
  error failure = {0};
  bool good = interp_run(p->trace, arguments, r->argument_count, r->results, c->allow_extern,
                         c->limits.interrupted, &failure);
  if (r->keep)
    free(arguments);
  if (good)
    return true;
  diag_error(&c->program.diagnostics, &failure);
  return false;
}

static void release_interp(backend_program *p) { (void)p; }

// ---- plans ------------------------------------------------------------------------------------

typedef struct planned_program {
  lowered_program lowered;
  cpu_store *store;
  portable *portable;  // one of the two
  compiled *compiled;
  cpu_executor executor;
} planned_program;

static void report_failure(backend_program *p, const error *failure) {
  span where = SPAN_NONE;
  if (failure->step != STEP_NONE)
    where = p->trace->steps.items[failure->step].where;
  diag_report(&p->context->program.diagnostics, DIAG_ERROR, where, "%s", failure->message);
}

static bool plan_program(backend_program *p) {
  permc_context *c = p->context;
  planned_program *state = p->state = calloc(1, sizeof *state);
  if (state)
    state->store = cpu_store_new();
  if (!state || !state->store) {
    context_error(c, "out of memory");
    return false;
  }
  return backend_plan(c, p->memory, p->trace, backend_target(c), true, c->strategy,
                      &state->lowered);
}

static bool use_portable(backend_program *p) {
  permc_context *c = p->context;
  planned_program *state = p->state;
  error failure = {0};
  portable_options o = {.allow_foreign = c->allow_extern, .interrupted = c->limits.interrupted};
  state->portable = portable_new(state->lowered.plan, &o, &failure);
  state->executor = (cpu_executor){portable_pass, state->portable};
  if (!state->portable)
    report_failure(p, &failure);
  return state->portable != NULL;
}

static bool prepare_portable(backend_program *p) {
  double start = context_now();
  bool good = plan_program(p) && use_portable(p);
  p->context->times.compile = context_now() - start - p->context->times.plan;
  return good;
}

// Without a compiler the portable executor does the same, slower; said once.
static bool use_compiled(backend_program *p) {
  permc_context *c = p->context;
  planned_program *state = p->state;
  error failure = {0};
  compiled_status status;
  compiled_options o = {.isa = c->isa,
                        .fuse = c->fuse,
                        .allow_foreign = c->allow_extern,
                        .interrupted = c->limits.interrupted,
                        .layout = c->layout,
                        .layout_seed = c->layout_seed};
  state->compiled = compiled_new(state->lowered.plan, &o, &status, &failure);
  state->executor = (cpu_executor){compiled_pass, state->compiled};
  if (state->compiled)
    return true;
  if (status != COMPILED_UNAVAILABLE) {
    report_failure(p, &failure);
    return false;
  }
  if (!c->told_uncompiled)
    diag_report(&c->program.diagnostics, DIAG_WARNING, SPAN_NONE,
                "%s: programs run uncompiled, which is slower", failure.message);
  c->told_uncompiled = true;
  return use_portable(p);
}

static bool prepare_cpu(backend_program *p) {
  double start = context_now();
  bool good = plan_program(p) && use_compiled(p);
  p->context->times.compile = context_now() - start - p->context->times.plan;
  return good;
}

// The memory of an earlier run's results becomes this run's.
static void recycle(const planned_program *state, const trace *t, array *results) {
  for (size_t i = 0; i < t->results.count; i++) {
    if (results[i].data)
      cpu_store_give(state->store, results[i].data, array_bytes(&results[i]));
    results[i] = (array){0};
  }
}

void backend_shape_results(const trace *t, array *results) {
  for (size_t i = 0; i < t->results.count; i++) {
    const trace_step *s = &t->steps.items[t->results.items[i]];
    results[i].rank = s->rank;
    for (uint32_t k = 0; k < s->rank; k++)
      results[i].dims[k] = s->dims[k];
  }
}

static bool execute_plan(backend_program *p, backend_run *r) {
  permc_context *c = p->context;
  const trace *t = p->trace;
  planned_program *state = p->state;
  error failure = {0};
  cpu_options o = {.threads = c->threads,
                   .interrupted = c->limits.interrupted,
                   .executor = &state->executor,
                   .borrow_arguments = r->keep,
                   .store = state->store};
  recycle(state, t, r->results);
  if (!cpu_run(state->lowered.plan, &o, r->arguments, r->argument_count, r->results, &failure)) {
    report_failure(p, &failure);
    return false;
  }
  backend_shape_results(t, r->results);
  return true;
}

static void release_plan(backend_program *p) {
  planned_program *state = p->state;
  if (!state)
    return;
  portable_free(state->portable);
  compiled_free(state->compiled);
  cpu_store_free(state->store);
  free(state);
}

// ---- deputies ---------------------------------------------------------------------------------

bool backend_deputy_prepare(backend_program *p, backend_deputy *d) {
  void *own = p->state;
  p->state = NULL;
  bool good = d->row->prepare(p);
  d->state = p->state;
  p->state = own;
  return good;
}

bool backend_deputy_execute(backend_program *p, backend_deputy *d, backend_run *r) {
  void *own = p->state;
  p->state = d->state;
  bool good = d->row->execute(p, r);
  d->state = p->state;
  p->state = own;
  return good;
}

void backend_deputy_release(backend_program *p, backend_deputy *d) {
  void *own = p->state;
  p->state = d->state;
  if (d->state)
    d->row->release(p);
  d->state = NULL;
  p->state = own;
}

// ---- the table --------------------------------------------------------------------------------

static const backend rows[] = {
    {"interp", "step by step, the definition of the language", prepare_interp, execute_interp,
     release_interp, NULL, NULL},
    {"cpu", "fused passes, compiled for this machine", prepare_cpu, execute_plan, release_plan,
     NULL, NULL},
    {"portable", "fused passes, without a compiler", prepare_portable, execute_plan, release_plan,
     NULL, NULL},
    {"cuda", "fused passes on an NVIDIA GPU", backend_cuda_prepare, backend_cuda_execute,
     backend_cuda_release, backend_cuda_time, backend_cuda_device},
    {"machine", "fused passes on a memory machine, which counts time", backend_hmm_prepare,
     backend_hmm_execute, backend_hmm_release, NULL, backend_hmm_device},
};

// Work so little that interp is done before a compiler has started: elements times steps.
static bool tiny(const trace *t) {
  const uint64_t enough = UINT64_C(1) << 24;
  uint64_t work = 0;
  for (size_t i = 0; i < t->steps.count && work < enough; i++) {
    const trace_step *s = &t->steps.items[i];
    uint64_t elements = s->batch;
    for (uint32_t k = 0; k < s->rank; k++)
      elements *= s->dims[k];
    work += elements;
  }
  return work < enough;
}

const backend *backend_named(const char *name) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].name, name))
      return &rows[i];
  return NULL;
}

static bool is_auto(const char *name) { return !name || !strcmp(name, "auto"); }

bool backend_exists(permc_context *c, const char *name) {
  bool exists = is_auto(name) || backend_named(name);
  if (!exists)
    context_error(
        c, "there is no backend '%s'; there is auto, interp, cpu, portable, cuda, machine", name);
  return exists;
}

const backend *backend_for(const char *name, const trace *t) {
  return backend_named(!is_auto(name) ? name : tiny(t) ? "interp" : "cpu");
}
