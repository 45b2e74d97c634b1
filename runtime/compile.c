// Compiled programs: made, executed, described. See compile.h.
#include "runtime/compile.h"

#include "core/clock.h"
#include "core/hash.h"
#include "runtime/checks.h"
#include "runtime/external/run.h"
#include "runtime/laws.h"
#include "runtime/system/locks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

// ---- making ------------------------------------------------------------------------------------

// The program that is loaded: an expression, and on the next line a digest of all files and texts.
// (Its plans for ranks depend on no setting.)
static void describe_text(const permc_context *c, char *out, size_t size) {
  enum { SHOWN = 100 };
  const loaded_program *p = &c->program;
  const char *expression = "";
  uint64_t digest = 0;
  for (size_t i = 0; i < p->program.modules.count; i++) {
    const module *m = p->program.modules.items[i];
    const source *s = &p->diagnostics.sources.items[m->file];
    if (m->library)
      continue;
    digest = digest * 31 + hash_bytes(s->text, s->length);
    if (strcmp(s->name, "-e") == 0)
      expression = s->text;
  }
  snprintf(out, size, "%.*s\n%" PRIx64, SHOWN, expression, digest);
}

// The types of the results, as values.
static bool list_results(permc_compiled *p) {
  const result_parts *parts = &p->pipeline.result;
  const trace *t = &p->pipeline.trace;
  p->results = calloc(parts->count + 1, sizeof *p->results);
  p->origins = malloc((t->results.count + 1) * sizeof *p->origins);
  if (!p->results || !p->origins || !trace_find_origins(t, p->origins))
    return false;
  for (size_t next = 0; p->result_count < parts->count; p->result_count++) {
    permc_value *v = p->results[p->result_count] = value_new(parts->arrays[p->result_count]);
    if (!v)
      return false;
    for (size_t k = 0; k < v->count; k++) {
      const trace_step *s = &t->steps.items[t->results.items[next++]];
      v->components[k] = (array){.type = s->type, .rank = s->rank};
      for (uint32_t i = 0; i < s->rank; i++)
        v->components[k].dims[i] = s->dims[i];
    }
  }
  return true;
}

bool compiled_make(permc_context *c, pipeline_request r, permc_compiled *p) {
  permc_value *const none[] = {NULL};
  r.last = STAGE_PROGRAM;
  r.ranks = c->ranks && !r.laws ? ranks_count(c->ranks) : 0;
  r.memory = r.laws || r.often ? 0 : c->file_memory;
  if (!r.arguments && !r.types)
    r.arguments = none;
  if (!pipeline_make(c, &r, &p->pipeline))
    return false;
  p->argument_count = r.types ? p->pipeline.typed_count : r.argument_count;
  if (p->pipeline.shares) {
    p->ranks = ranks_keep(c->ranks);
    describe_text(c, p->text, sizeof p->text);
  }
  return list_results(p) || context_no_memory(c);
}

void compiled_end(permc_compiled *p) {
  pipeline_free(&p->pipeline);
  ranks_close(p->ranks);
  free(p->layout.places);
  free(p->origins);
  free(p->on_host);
  free(p->moves);
  if (p->arguments)
    permc_values_free(p->arguments, p->argument_count);
  permc_values_free(p->results, p->result_count);
  free(p->settings.program.diagnostics.sources.items);
  text_free(&p->settings.program.diagnostics.rendered);
  *p = (permc_compiled){0};
}

// ---- names of results --------------------------------------------------------------------------

static bool any_has_names(permc_value *const *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (values[i]->names)
      return true;
  return false;
}

// Of a component among those of all values; NULL: it has none, or there is no such component.
static const char *name_of(permc_value *const *values, size_t count, uint32_t component) {
  for (size_t i = 0; i < count; component -= (uint32_t)values[i++]->count)
    if (component < values[i]->count)
      return permc_value_name(values[i], component);
  return NULL;
}

bool compiled_name_results(const permc_compiled *p, permc_value *const *arguments,
                           permc_value *const *results) {
  const uint32_t *origin = p->origins;
  bool good = true;
  if (!any_has_names(arguments, p->argument_count) && !any_has_names(results, p->result_count))
    return true;
  for (size_t i = 0; i < p->result_count; i++)
    for (size_t k = 0; k < results[i]->count && good; k++)
      good = permc_value_set_name(results[i], k, name_of(arguments, p->argument_count, *origin++));
  return good;
}

// ---- executing ---------------------------------------------------------------------------------

// `run`: what is of this run alone.
static bool execute_on_ranks(permc_compiled *p, permc_context *c, ranks_run run, array *results) {
  const pipeline *l = &p->pipeline;
  const backend *b = l->backend;
  error failure = {0};
  run.plan = l->plan;
  run.shares = l->shares;
  run.executor = b->executor ? b->executor(&l->program) : NULL;
  run.devices = b->devices ? b->devices(&l->program) : NULL;
  run.threads = context_threads(c);
  run.interrupted = c->limits.interrupted;
  run.fast_floats = c->fuse;
  run.argument_count = l->shapes.arrays.count;
  run.returned = (uint32_t)trace_returned(&l->trace);
  run.entry = l->entry->name;
  run.text = p->text;
  return ranks_execute(p->ranks, &run, results, &failure) ||
         context_error_of(c, PERMC_ERROR_RANKS, "%s", failure.message);
}

static permc_code code_in_files(const permc_context *c, const error *failure) {
  return atomic_load(&c->stop)       ? PERMC_ERROR_INTERRUPTED
         : failure->number == ENOMEM ? PERMC_ERROR_MEMORY
                                     : PERMC_ERROR_FILE;
}

static bool execute_in_files(permc_compiled *p, permc_context *c, const backend_run *r) {
  const pipeline *l = &p->pipeline;
  error failure = {0};
  context_unlock_files(c);
  external_run run = {.steps = l->steps,
                      .plan = l->plan,
                      .executor = l->backend->executor(&l->program),
                      .threads = context_threads(c),
                      .interrupted = c->limits.interrupted,
                      .progress = r->progress,
                      .memory = c->file_memory,
                      .folder = c->file_folder,
                      .resume = c->file_resume,
                      .lock = &c->file_lock,
                      .arguments = r->arguments,
                      .argument_count = r->argument_count,
                      .returned = (uint32_t)trace_returned(&l->trace)};
  return external_execute(&run, r->results, &failure) ||
         context_error_of(c, code_in_files(c, &failure), "%s", failure.message);
}

bool compiled_execute(permc_compiled *p, permc_context *c, array *arguments, bool keep,
                      const array *wanted, array *results) {
  pipeline *l = &p->pipeline;
  double start = clock_seconds();
  const char *unit = p->ranks ? "steps" : l->steps ? "parts" : "elements";
  backend_run r = {arguments, l->shapes.arrays.count, keep, results,
                   context_begin_stage(c, "running", unit)};
  ranks_run on_ranks = {.arguments = arguments, .wanted = wanted, .progress = r.progress};
  bool good = p->ranks   ? execute_on_ranks(p, c, on_ranks, results)
              : l->steps ? execute_in_files(p, c, &r)
                         : l->backend->execute(&l->program, &r);
  c->times.run = clock_seconds() - start;
  if (!keep)
    arrays_destroy(arguments, r.argument_count);
  if (!good)
    return false;
  if (p->ranks || l->steps)
    backend_shape_results(&l->trace, results);
  if (checks_pass(&c->program.diagnostics, &l->trace, results))
    return laws_hold(c, &l->trace, results);
  if (l->steps)
    permc_remove_files(c);  // it would fail again
  return false;
}

// ---- for calls ---------------------------------------------------------------------------------

// Whether a pass reads an argument, but for the places of a permutation by a schedule.
static bool reads(const plan *p, const plan_pass *pass, net_id id) {
  const net_routine *r = plan_routine_of(p, pass);
  bool places = r && r->kind == NET_PERMUTE && r->pairs[0].from == id;
  return places ? r->pairs[1].from == id : plan_pass_touches(pass, id);
}

// What a call compares: arguments, and places, that are part of the program, and schedules that no
// pass reads.
static bool find_what_is_known(permc_compiled *p) {
  const pipeline *l = &p->pipeline;
  const array_shapes *shapes = &l->shapes.arrays;
  p->on_host = calloc(shapes->count + 1, sizeof *p->on_host);
  p->moves = calloc(shapes->count + 1, sizeof *p->moves);
  if (!p->on_host || !p->moves)
    return false;
  for (size_t i = 0; i < l->trace.steps.count; i++) {
    const trace_step *s = &l->trace.steps.items[i];
    if (trace_places_are_known(s))
      p->moves[s->number] = &s->places->moves;
  }
  for (size_t i = 0; i < shapes->count; i++)
    p->on_host[i] = shapes->items[i].data || shapes->items[i].permutation;
  for (size_t a = 0; l->plan && a < l->plan->arrays.count; a++) {
    const net_array *of = &l->plan->arrays.items[a];
    for (size_t i = 0; i < l->plan->passes.count && of->role == NET_ARGUMENT; i++)
      if (reads(l->plan, &l->plan->passes.items[i], (net_id)a))
        p->on_host[of->number] = shapes->items[of->number].data;
  }
  return true;
}

static bool lay_out(permc_compiled *p) {
  const pipeline *l = &p->pipeline;
  if (!find_what_is_known(p))
    return false;
  if (!l->backend->call || p->ranks)
    return true;
  FREED storage_pass *passes = calloc(l->plan->passes.count + 1, sizeof *passes);
  if (passes)
    l->backend->passes(&l->program, passes);
  return passes && array_layout_make(l->plan, passes, trace_returned(&l->trace), &p->layout);
}

// What a call may read while the context does something else.
static bool copy_settings(permc_compiled *p, const permc_context *c) {
  diagnostics *d = &p->settings.program.diagnostics;
  const diagnostics *from = &c->program.diagnostics;
  p->settings = (permc_context){.allow_extern = c->allow_extern,
                                .untrusted = c->untrusted,
                                .limits = c->limits,
                                .threads = context_threads(c),
                                .isa = c->isa,
                                .fuse = c->fuse};
  d->sources.items = calloc(from->sources.count + 1, sizeof *d->sources.items);
  if (!d->sources.items)
    return false;
  d->sources.count = from->sources.count;
  if (from->sources.count)
    memcpy(d->sources.items, from->sources.items, from->sources.count * sizeof *d->sources.items);
  p->pipeline.program.context = &p->settings;
  return true;
}

static bool list_arguments(permc_compiled *p, permc_value *const *like) {
  p->arguments = calloc(p->argument_count + 1, sizeof *p->arguments);
  for (size_t i = 0; p->arguments && i < p->argument_count; i++) {
    permc_value *v = p->arguments[i] = value_new(like[i]->count);
    if (!v)
      return false;
    for (size_t k = 0; k < v->count; k++) {
      v->components[k] = like[i]->components[k];
      v->components[k].data = NULL;
      v->components[k].owner = NULL;
    }
  }
  return p->arguments != NULL;
}

typedef struct compile_job {
  const pipeline_request *request;
  permc_compiled *made;
} compile_job;

static bool compile_for_calls(permc_context *c, void *with) {
  const compile_job *j = with;
  permc_compiled *p = j->made;
  if (!compiled_make(c, *j->request, p))
    return false;
  p->device = p->pipeline.backend == &cuda_backend && !p->ranks ? c->device : ARRAY_HOST;
  permc_value *const *like = j->request->types ? p->pipeline.typed : j->request->arguments;
  return (list_arguments(p, like) && lay_out(p) && copy_settings(p, c)) || context_no_memory(c);
}

void call_state_free(call_state *s) {
  cpu_store_free(s->store);
  free(s->workspace);
  free(s->arguments);
  free(s->results);
  free(s->data);
  free(s);
}

void permc_compiled_free(permc_compiled *p) {
  if (!p)
    return;
  for (call_state *s = p->idle, *next; s; s = next) {
    next = s->next;
    call_state_free(s);
  }
  pthread_mutex_destroy(&p->turn);
  compiled_end(p);
  free(p);
}

static permc_compiled *compile(permc_context *c, pipeline_request r) {
  context_begin_call(c);
  r.often = true;
  if (!context_given(c, r.entry, "the entry point") || !pipeline_backend(c, r.backend) ||
      !context_given_list(c, r.arguments, r.argument_count, "arguments"))
    return NULL;
  permc_compiled *p = calloc(1, sizeof *p);
  if (!p)
    return context_no_memory(c), NULL;
  p->context = c;
  p->device = ARRAY_HOST;
  p->forks = p->turn_forks = library_forks();
  pthread_mutex_init(&p->turn, NULL);
  compile_job j = {&r, p};
  if (context_run_job(c, compile_for_calls, &j))
    return p;
  permc_compiled_free(p);
  return NULL;
}

permc_compiled *permc_compile(permc_context *c, const char *entry, const char *backend_name,
                              permc_value *const *like, size_t argument_count) {
  return compile(c, (pipeline_request){.entry = entry,
                                       .backend = backend_name,
                                       .arguments = like,
                                       .argument_count = argument_count});
}

permc_compiled *permc_compile_types(permc_context *c, const char *entry, const char *backend_name,
                                    const char *types) {
  return compile(
      c, (pipeline_request){.entry = entry, .backend = backend_name, .types = types ? types : ""});
}

// ---- what it is --------------------------------------------------------------------------------

const permc_value *permc_compiled_argument(const permc_compiled *p, size_t number) {
  return p && number < p->argument_count ? p->arguments[number] : NULL;
}

const permc_value *permc_compiled_result(const permc_compiled *p, size_t number) {
  return p && number < p->result_count ? p->results[number] : NULL;
}

permc_value **permc_results_new(const permc_compiled *p, size_t *count) {
  if (!p || !count)
    return NULL;
  permc_value **values = calloc(p->result_count + 1, sizeof *values);
  bool good = values != NULL;
  for (*count = 0; good && *count < p->result_count; *count += good)
    good = (values[*count] = permc_value_like(p->results[*count])) != NULL;
  if (!good)
    values_drop(&values, count);
  return values;
}

const char *permc_compiled_backend(const permc_compiled *p) {
  return p ? p->pipeline.backend->name : NULL;
}

const char *permc_compiled_device(const permc_compiled *p) {
  const backend *b = p ? p->pipeline.backend : NULL;
  return b && b->device ? b->device(&p->pipeline.program) : NULL;
}

// ---- times -------------------------------------------------------------------------------------

static bool time_on_ranks(permc_compiled *p, unsigned runs, double *seconds) {
  FREED array *none = calloc(p->pipeline.trace.results.count + 1, sizeof *none);
  ranks_run run = {.runs = runs, .seconds = seconds};
  return none ? execute_on_ranks(p, &p->settings, run, none) : context_no_memory(&p->settings);
}

static bool time_on_device(permc_compiled *p, uint64_t copy_bytes, unsigned runs, double *seconds) {
  if (!p || !seconds)
    return false;
  const backend *b = p->pipeline.backend;
  context_begin_call(p->context);
  context_clear(&p->settings);
  if (!b->time)
    return false;
  bool good = p->ranks && !copy_bytes ? time_on_ranks(p, runs, seconds)
                                      : b->time(&p->pipeline.program, copy_bytes, runs, seconds);
  if (!good) {
    diagnostics *d = &p->context->program.diagnostics;
    d->errors++;
    p->context->code = permc_last_code(&p->settings);
    text_string(&d->rendered, permc_message(&p->settings));
  }
  return good;
}

bool permc_time_call(permc_compiled *p, unsigned runs, double *seconds) {
  return time_on_device(p, 0, runs, seconds);
}

bool permc_time_copy(permc_compiled *p, uint64_t bytes, unsigned runs, double *seconds) {
  return time_on_device(p, bytes, runs, seconds);
}
