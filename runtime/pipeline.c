// The pipeline. See pipeline.h.
#include "runtime/pipeline.h"

#include "fusion/lower/lower.h"
#include "runtime/compiled/compiler.h"
#include "runtime/tuned/tuned.h"

// ---- the arguments ---------------------------------------------------------------------------

static bool find_shapes(permc_context *c, const pipeline_request *r, binding *entry, pipeline *p) {
  arena *memory = &p->memory;
  if (r->types && r->size_count)
    return context_error(
        c, "sizes and the types of arguments exclude each other: the types say the sizes");
  if (r->types)
    return shapes_of_types(c, entry, r->types, memory, &p->shapes);
  if (r->arguments)
    return shapes_of_values(c, entry, r->arguments, r->argument_count, memory, &p->shapes);
  if (r->some_sizes)
    return shapes_at_some(c, entry, r->sizes, r->size_count, r->other, memory, &p->shapes);
  return shapes_at(c, entry, r->sizes, r->size_count, memory, &p->shapes);
}

// An argument of few integers, such as a matrix, that is needed before the program runs becomes
// static: its elements are here. `wanted`: its number among the arguments' arrays.
static bool make_static(pipeline *p, const pipeline_request *r, uint32_t wanted) {
  enum { MOST_ELEMENTS = 4096 };
  size_t next = 0;
  for (size_t i = 0; i < r->argument_count; next += r->arguments[i++]->count) {
    const array *a = &r->arguments[i]->components[0];
    if (next != wanted || r->arguments[i]->count != 1 || array_count(a) > MOST_ELEMENTS ||
        p->shapes.arrays.items[next].data)
      continue;
    void *data = arena_alloc(&p->memory, array_bytes(a) + 1);
    if (array_bytes(a))
      memcpy(data, a->data, array_bytes(a));
    p->shapes.arrays.items[next].data = data;
    p->has_static = true;
    return true;
  }
  return false;
}

// The Trace; again, with another argument static, where elaboration asks for it.
static bool make_trace(permc_context *c, const pipeline_request *r, binding *entry, pipeline *p) {
  diagnostics *d = &c->program.diagnostics;
  bool may_call_extern = c->allow_extern || r->last != STAGE_PROGRAM;
  while (!elaborate(d, &p->memory, &c->limits, may_call_extern, entry, p->shapes.instance,
                    p->shapes.arrays.items, p->shapes.arrays.count, &p->trace, &p->result)) {
    if (!d->can_be_static || !make_static(p, r, d->wanted))
      return false;
    context_clear(c);
    p->trace = (trace){0};
  }
  return true;
}

// ---- the Net ---------------------------------------------------------------------------------

// NULL, or what of the trace's results the net does not have, with as many elements.
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
    if (trace_step_count(s) != r->count || s->type != r->type)
      return arena_printf(a, "result %u is not that of the program", (unsigned)r->number);
  }
  return found == t->results.count ? NULL : "a result is missing";
}

// Whether nothing is wrong with a product; if something is, it is a fault of permc.
static bool verified(permc_context *c, const char *what, const char *wrong) {
  if (wrong)
    context_error(c, "the %s is wrong (please report this): %s", what, wrong);
  return !wrong;
}

static bool lower_and_rewrite(permc_context *c, arena *scratch, pipeline *p) {
  p->rules = (rule_log){.memory = &p->memory};
  net *n = p->net = lower(scratch, &p->trace, &p->rules);
  if (!verified(c, "net", net_verify(scratch, n)) ||
      !verified(c, "net", results_problem(scratch, &p->trace, n)))
    return false;
  rules_apply(scratch, n, &p->rules);
  return verified(c, "rewritten net", net_verify(scratch, n));
}

// The Net, unless there is one. Lowering and rewriting leave much behind that nobody needs: it goes
// with an arena of its own.
static bool make_net(permc_context *c, pipeline *p) {
  if (p->net)
    return true;
  jmp_buf failure, *outer = p->memory.failure;
  arena scratch = {.failure = &failure, .limit = p->memory.limit};
  p->memory.failure = &failure;
  if (setjmp(failure)) {
    arena_free(&scratch);
    p->memory.failure = outer;
    longjmp(*outer, 1);
  }
  bool good = lower_and_rewrite(c, &scratch, p);
  p->net = good ? net_copy(&p->memory, p->net) : NULL;
  p->memory.failure = outer;
  arena_free(&scratch);
  return good;
}

// ---- the Plan --------------------------------------------------------------------------------

static bool read_target(permc_context *c, arena *memory, const char *path, const target **out) {
  size_t length;
  const char *wrong = "";
  const char *lines = read_source(memory, path, &length, &wrong);
  if (lines) {
    *out = target_read(memory, lines, &wrong);
    if (!*out)
      context_error(c, "%s: %s", path, wrong);
    return *out != NULL;
  }
  text known = {0};
  for (size_t i = 0; i < target_count(); i++)
    text_printf(&known, "%s%s", i ? ", " : "", target_at(i)->name);
  context_error(c, "there is no target '%s', nor a file of that name; there is %s", path,
                text_content(&known));
  text_free(&known);
  return false;
}

// What to plan for: what was asked for; else what the backend runs on, as it was tuned.
static bool choose_target(permc_context *c, const pipeline_request *r, pipeline *p) {
  const char *name = r->target ? r->target : p->backend->target;
  const char *isa = c->isa ? c->isa : compiler_widest_isa();
  p->tuned = false;
  p->target = target_named(*name ? name : isa);
  if (!p->target && !*name)
    p->target = target_named(compiler_widest_isa());
  if (!p->target && !read_target(c, &p->memory, name, &p->target))
    return false;
  char device[BACKEND_WHY];
  bool on_device = p->backend->name_device != NULL;
  if (!r->target && p->backend->at_hand && (!on_device || p->backend->name_device(c, device)))
    p->target =
        tuned_target(&p->memory, p->net, p->target, on_device ? device : NULL, c->trial, &p->tuned);
  return true;
}

// The Plan for the backend's target, unless there is one. The next run may have another matrix: on a
// GPU, one kernel that gets its matrix when it runs serves both.
static bool make_plan(permc_context *c, const pipeline_request *r, pipeline *p) {
  bool runtime_matrix = !c->strategy && p->has_static && p->backend == &cuda_backend;
  const target *before = p->target;
  if (!choose_target(c, r, p))
    return false;
  if (!p->plan || p->target != before)
    p->plan = plan_make(&p->memory, p->net, p->target,
                        runtime_matrix ? plan_strategy_named("online") : c->strategy);
  c->passes = p->plan->passes.count;
  return true;
}

// ---- the backend -----------------------------------------------------------------------------

static const backend *const backends[] = {&interp_backend, &cpu_backend, &portable_backend,
                                          &cuda_backend, &hmm_backend};

static const backend *backend_named(const char *name) {
  for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
    if (!strcmp(backends[i]->name, name))
      return backends[i];
  return NULL;
}

const backend *pipeline_backend(permc_context *c, const char *name) {
  const backend *found = backend_named(!name || !strcmp(name, "auto") ? "interp" : name);
  if (found)
    return found;
  text known = {0};
  for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
    text_printf(&known, ", %s", backends[i]->name);
  context_error(c, "there is no backend '%s'; there is auto%s", name, text_content(&known));
  text_free(&known);
  return NULL;
}

// Work so little that interp is done before a compiler has started: elements times steps.
static bool is_small(const trace *t) {
  const uint64_t enough = UINT64_C(1) << 24;
  uint64_t work = 0;
  for (size_t i = 0; i < t->steps.count && work < enough; i++)
    work += trace_step_count(&t->steps.items[i]);
  return work < enough;
}

static const backend *choose_backend(const pipeline_request *r, const trace *t) {
  if (r->backend && strcmp(r->backend, "auto"))
    return backend_named(r->backend);
  return r->last == STAGE_PROGRAM && is_small(t) ? &interp_backend : &cpu_backend;
}

// The text for the backend's compiler.
static backend_status make_text(permc_context *c, pipeline *p, char why[BACKEND_WHY]) {
  c_options options = backend_text_options(p->backend, c);
  const char *problem = p->target->lane_bytes ? NULL : c_missing_on_gpu(p->plan);
  if (!problem && c_emit(&p->code, p->plan, &options, &problem))
    return BACKEND_READY;
  snprintf(why, BACKEND_WHY, "%s", problem ? problem : "");
  if (!problem)
    context_error(c, "out of memory");
  return problem ? BACKEND_MISSING : BACKEND_FAILED;
}

// Whether another backend has the program now, because this one lacks what it needs.
static bool fall_back(permc_context *c, const pipeline_request *r, pipeline *p, const char *why) {
  // A candidate of permc_tune for a GPU that it cannot run is none.
  bool on_trial = c->trial && c->trial->target && c->trial->target->lane_bytes == 0;
  if (!p->backend->fallback || on_trial || r->last != STAGE_PROGRAM)
    return context_error(c, "%s", why);
  context_warn_once(c, p->backend->missing, "%s: %s", why, p->backend->instead);
  p->backend->release(&p->program);
  p->program.state = NULL;
  p->backend = backend_named(p->backend->fallback);
  return true;
}

// ---- the whole -------------------------------------------------------------------------------

// The products in their order, each from the one before it.
static bool run_pipeline(permc_context *c, const pipeline_request *r, pipeline *p) {
  arena *memory = &p->memory;
  bool runs = r->last == STAGE_PROGRAM;
  double start = context_now();

  // The loaded program and the arguments to a Trace.
  binding *entry = context_entry(c, r->entry);
  p->entry = entry;
  if (!entry || !find_shapes(c, r, entry, p) || !make_trace(c, r, entry, p) ||
      !verified(c, "compiled program", trace_verify(memory, &p->trace)))
    return false;
  c->times.elaborate = context_now() - start;
  p->backend = r->last == STAGE_TRACE ? NULL : choose_backend(r, &p->trace);

  // The Trace to what a backend executes. One that lacks what it needs has another in its place.
  for (backend_status status = BACKEND_MISSING; p->backend && status != BACKEND_READY;) {
    char why[BACKEND_WHY] = "";
    const backend *b = p->backend;
    p->program = (backend_program){c, memory, &p->trace, NULL, &p->code, NULL};
    start = context_now();
    status = runs && b->open ? b->open(c, why) : BACKEND_READY;

    // The Trace to a Net, the Net to a Plan.
    if (status == BACKEND_READY && b->target) {
      if (!make_net(c, p) || !make_plan(c, r, p) ||
          !verified(c, "plan", plan_verify(memory, p->plan)))
        return false;
      p->program.plan = p->plan;
      c->times.plan = context_now() - start;
    }

    // The Plan to a text, and what the backend makes of it.
    bool has_text = runs ? b->stream_bytes > 0 : r->last == STAGE_TEXT;
    if (status == BACKEND_READY && has_text)
      status = make_text(c, p, why);
    if (status == BACKEND_READY && runs) {
      status = b->prepare(&p->program, why);
      c->times.compile = context_now() - start - c->times.plan;
      c_code_free(&p->code);
    }
    if (status == BACKEND_FAILED || (status == BACKEND_MISSING && !fall_back(c, r, p, why)))
      return false;
  }
  return true;
}

bool pipeline_make(permc_context *c, const pipeline_request *r, pipeline *p) {
  jmp_buf failure;
  *p = (pipeline){.memory = {.failure = &failure, .limit = 2 * c->limits.memory}};
  c->times = (permc_times){.load = c->times.load};
  bool good = false;
  if (!setjmp(failure))
    good = run_pipeline(c, r, p);
  else if (p->entry)
    context_report_memory(c, p->entry);
  p->memory.failure = NULL;
  return good;
}

void pipeline_free(pipeline *p) {
  if (p->backend)
    p->backend->release(&p->program);
  c_code_free(&p->code);
  arena_free(&p->memory);
  *p = (pipeline){0};
}

typedef struct pipeline_job {
  const pipeline_request *request;
  pipeline_use *use;
  void *with;
} pipeline_job;

static bool run_job(permc_context *c, void *with) {
  const pipeline_job *j = with;
  jmp_buf failure;
  pipeline p;
  bool good = pipeline_make(c, j->request, &p);
  p.memory.failure = &failure;
  if (good && setjmp(failure)) {
    context_report_memory(c, p.entry);
    good = false;
  } else if (good) {
    good = j->use(c, &p, j->with);
  }
  pipeline_free(&p);
  return good;
}

bool pipeline_with(permc_context *c, const pipeline_request *r, pipeline_use *use, void *with) {
  pipeline_job j = {r, use, with};
  return context_run_job(c, run_job, &j);
}
