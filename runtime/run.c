// Running a program once (permc.h): the pipeline, and the backend at its end.
#include "runtime/external/run.h"
#include "core/clock.h"
#include "runtime/alike.h"
#include "runtime/checks.h"
#include "runtime/laws.h"
#include "runtime/names.h"
#include "runtime/pipeline.h"
#include "runtime/system/pool.h"

#include <inttypes.h>
#include <stdio.h>

// The arrays in one row, taken over if they are to be consumed.
static void list_arrays(permc_value **arguments, size_t count, bool keep, array *all) {
  for (size_t i = 0; i < count; i++) {
    permc_value *v = arguments[i];
    for (size_t k = 0; k < v->count; k++) {
      *all++ = v->components[k];
      if (!keep)
        v->components[k] = (array){0};
    }
    if (keep)
      continue;
    permc_value_free(v);
    arguments[i] = NULL;
  }
}

// ---- results -----------------------------------------------------------------------------------

// As many values as the entry has results, with components that are all {0}. NULL: no memory.
static permc_value **new_results(const result_parts *parts) {
  permc_value **values = calloc(parts->count + 1, sizeof *values);
  for (size_t i = 0; values && i < parts->count; i++)
    if (!(values[i] = value_new(parts->arrays[i])))
      return permc_values_free(values, i), NULL;
  return values;
}

// Moves the arrays of the row to the values.
static void move_results(permc_value **values, size_t count, array *row) {
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < values[i]->count; k++, row++) {
      values[i]->components[k] = *row;
      *row = (array){0};
    }
}

static bool name_results(const trace *t, permc_value *const *arguments, size_t argument_count,
                         permc_value **results, size_t result_count) {
  uint32_t *origins = malloc((t->results.count + 1) * sizeof *origins);
  bool good = origins && trace_find_origins(t, origins) &&
              results_take_names(origins, arguments, argument_count, results, result_count);
  free(origins);
  return good;
}

// ---- compiling and executing -------------------------------------------------------------------

typedef struct run_job {
  const char *entry, *backend;
  permc_value **arguments;
  size_t argument_count;
  bool keep, laws;
  permc_value ***results;
  size_t *result_count;
  pipeline pipeline;
} run_job;

static bool compile(permc_context *c, void *with) {
  run_job *j = with;
  permc_value *const none[] = {NULL};
  pipeline_request r = {.entry = j->entry,
                        .last = STAGE_PROGRAM,
                        .arguments = j->arguments ? j->arguments : none,
                        .argument_count = j->argument_count,
                        .backend = j->backend,
                        .laws = j->laws,
                        .ranks = c->ranks && !j->laws ? ranks_count(c->ranks) : 0,
                        .memory = j->laws ? 0 : c->file_memory};
  return pipeline_make(c, &r, &j->pipeline);
}

static bool execute_on_ranks(permc_context *c, const char *entry, pipeline *p, backend_run *r) {
  error failure = {0};
  run_origin origin;
  run_origin_of(c, &origin);
  const backend *b = p->backend;
  ranks_run run = {.plan = p->plan,
                   .shares = p->shares,
                   .executor = b->executor ? b->executor(&p->program) : NULL,
                   .devices = b->devices ? b->devices(&p->program) : NULL,
                   .threads = c->threads ? c->threads : pool_processors(),
                   .interrupted = c->limits.interrupted,
                   .progress = r->progress,
                   .fast_floats = c->fuse,
                   .arguments = r->arguments,
                   .argument_count = r->argument_count,
                   .returned = (uint32_t)trace_returned(&p->trace),
                   .entry = entry,
                   .text = origin.text};
  if (!ranks_execute(c->ranks, &run, r->results, &failure))
    return context_error_of(c, PERMC_ERROR_RANKS, "%s", failure.message);
  backend_shape_results(&p->trace, r->results);
  return true;
}

enum { NOTE_SECONDS = 1 };  // of a run that may go on later

static permc_code code_in_files(const permc_context *c, const error *failure) {
  return atomic_load(&c->stop)                            ? PERMC_ERROR_INTERRUPTED
         : strcmp(failure->message, "out of memory") == 0 ? PERMC_ERROR_MEMORY
                                                          : PERMC_ERROR_FILE;
}

static bool execute_in_files(permc_context *c, pipeline *p, backend_run *r) {
  error failure = {0};
  context_unlock_files(c);
  external_run run = {.steps = p->steps,
                      .plan = p->plan,
                      .executor = p->backend->executor(&p->program),
                      .threads = c->threads ? c->threads : pool_processors(),
                      .interrupted = c->limits.interrupted,
                      .progress = r->progress,
                      .memory = c->file_memory,
                      .note_seconds = NOTE_SECONDS,
                      .folder = c->file_folder,
                      .resume = c->file_resume,
                      .lock = &c->file_lock,
                      .arguments = r->arguments,
                      .argument_count = r->argument_count,
                      .returned = (uint32_t)trace_returned(&p->trace)};
  if (!external_execute(&run, r->results, &failure))
    return context_error_of(c, code_in_files(c, &failure), "%s", failure.message);
  backend_shape_results(&p->trace, r->results);
  return true;
}

static bool execute_arrays(permc_context *c, run_job *j, array *arguments, array *results) {
  pipeline *p = &j->pipeline;
  list_arrays(j->arguments, j->argument_count, j->keep, arguments);
  double start = clock_seconds();
  backend_run r = {arguments, p->shapes.arrays.count, j->keep, results,
                   context_begin_stage(c, "running",
                                       p->shares  ? "steps"
                                       : p->steps ? "parts"
                                                  : "elements")};
  bool good = p->shares  ? execute_on_ranks(c, j->entry, p, &r)
              : p->steps ? execute_in_files(c, p, &r)
                         : p->backend->execute(&p->program, &r);
  c->times.run = clock_seconds() - start;
  if (good && !checks_pass(&c->program.diagnostics, &p->trace, results)) {
    good = false;
    if (p->steps)
      permc_remove_files(c);  // it would fail again
  }
  good = good && laws_hold(c, &p->trace, results);
  move_results(*j->results, *j->result_count, results);
  // What is known of an argument is not known of what it became.
  for (size_t i = 0; i < *j->result_count; i++)
    for (size_t k = 0; k < (*j->results)[i]->count; k++)
      (*j->results)[i]->components[k].permutation = false;
  size_t returned = trace_returned(&p->trace);
  arrays_destroy(results + returned, p->trace.results.count - returned);
  if (!j->keep)
    arrays_destroy(arguments, r.argument_count);
  return good;
}

static bool execute(permc_context *c, void *with) {
  run_job *j = with;
  pipeline *p = &j->pipeline;
  size_t wanted = p->trace.results.count;
  values_drop(j->results, j->result_count);  // of a GPU that has failed
  *j->results = new_results(&p->result);
  *j->result_count = *j->results ? p->result.count : 0;
  array *arguments = calloc(p->shapes.arrays.count + 1, sizeof *arguments);
  array *results = calloc(wanted + 1, sizeof *results);
  bool good = false;
  if (!*j->results || !arguments || !results)
    context_no_memory(c);
  else if (!name_results(&p->trace, j->arguments, j->argument_count, *j->results, *j->result_count))
    context_no_memory(c);
  else
    good = execute_arrays(c, j, arguments, results);
  free(arguments);
  free(results);
  return good;
}

// On a GPU that `auto` has taken. The arguments stay on the host until it is done: if it fails in
// the middle, the processor runs the program.
static bool execute_on_gpu(permc_context *c, run_job *j) {
  pipeline *p = &j->pipeline;
  diagnostics *d = &c->program.diagnostics;
  size_t start = d->rendered.length;
  unsigned errors = d->errors;
  bool keep = j->keep;
  j->keep = true;
  bool good = execute(c, j);
  if (!good && !atomic_load(&c->stop)) {
    char why[BACKEND_WHY];
    snprintf(why, sizeof why, "%s", text_content(&d->rendered) + start);
    why[strcspn(why, "\n")] = 0;
    d->errors = errors;
    context_truncate_messages(c, start);
    c->gpu_failed = true;
    context_warn_once(c, WARNING_GPU_FAILED, "the processor runs this, as the GPU failed: %s",
                      strncmp(why, "permc: ", 7) ? why : why + 7);
    pipeline_free(p);
    good = compile(c, j) && execute(c, j);
  }
  for (size_t i = 0; i < j->argument_count && !keep; i++) {
    permc_value_free(j->arguments[i]);
    j->arguments[i] = NULL;
  }
  return good;
}

static bool compile_and_execute(permc_context *c, void *with) {
  run_job *j = with;
  const pipeline *p = &j->pipeline;
  if (!compile(c, j))
    return false;
  return p->backend == &cuda_backend && p->program.model ? execute_on_gpu(c, j) : execute(c, j);
}

static bool is_among(const permc_value *v, permc_value *const *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (values[i] == v)
      return true;
  return false;
}

// Whether the arguments are in the host's memory; *borrowed: whether any of it is another's, or
// given twice, and is not to be written to or freed.
static bool are_on_host(permc_context *c, permc_value *const *arguments, size_t count,
                        bool *borrowed) {
  *borrowed = false;
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; arguments[i] && k < arguments[i]->count; k++) {
      const array *a = &arguments[i]->components[k];
      *borrowed = *borrowed || a->owner || is_among(arguments[i], arguments, i);
      if ((c->ranks || c->file_memory) && array_is_apart(a))
        continue;
      if (!a->data && array_bytes(a))
        return context_error(c, "argument %zu has no elements in memory", i + 1);
      if (array_device(a) != ARRAY_HOST)
        return context_error_of(
            c, PERMC_ERROR_DEVICE,
            "argument %zu is in the memory of GPU %d, where compiled programs alone "
            "take it (permc_call)",
            i + 1, (int)array_device(a));
    }
  return true;
}

static bool run_program(permc_context *c, run_job *j) {
  bool consume = !j->keep, borrowed;
  context_begin_call(c);
  if (!context_results(c, j->results, j->result_count) ||
      !context_given_list(c, j->arguments, j->argument_count, "arguments"))
    return false;
  if (c->ranks && c->file_memory)
    return context_error(c, "a run on ranks has its arrays in memory; leave out --memory, or run "
                            "on one rank (--ranks 1)");
  bool good =
      pipeline_backend(c, j->backend) && are_on_host(c, j->arguments, j->argument_count, &borrowed);
  if (good) {
    j->keep = j->keep || borrowed;
    good = context_run_job(c, compile_and_execute, j);
    pipeline_free(&j->pipeline);
  }
  for (size_t i = 0; good && consume && i < j->argument_count; i++) {
    if (!is_among(j->arguments[i], j->arguments + i + 1, j->argument_count - i - 1))
      permc_value_free(j->arguments[i]);
    j->arguments[i] = NULL;
  }
  if (!good)
    values_drop(j->results, j->result_count);
  return good;
}

bool permc_run(permc_context *c, const char *entry, const char *backend_name,
               permc_value *const *arguments, size_t argument_count, permc_value ***results,
               size_t *count) {
  permc_value **kept = (permc_value **)(uintptr_t)arguments;
  run_job j = {.entry = entry,
               .backend = backend_name,
               .arguments = kept,
               .argument_count = argument_count,
               .keep = true,
               .results = results,
               .result_count = count};
  return run_program(c, &j);
}

bool permc_run_consume(permc_context *c, const char *entry, const char *backend_name,
                       permc_value **arguments, size_t argument_count, permc_value ***results,
                       size_t *count) {
  run_job j = {.entry = entry,
               .backend = backend_name,
               .arguments = arguments,
               .argument_count = argument_count,
               .results = results,
               .result_count = count};
  return run_program(c, &j);
}

bool permc_check_laws(permc_context *c, const char *entry, permc_value *const *arguments,
                      size_t argument_count) {
  permc_value **kept = (permc_value **)(uintptr_t)arguments, **results = NULL;
  size_t count = 0;
  run_job j = {.entry = entry,
               .backend = "interp",
               .arguments = kept,
               .argument_count = argument_count,
               .keep = true,
               .laws = true,
               .results = &results,
               .result_count = &count};
  bool good = run_program(c, &j);
  permc_values_free(results, count);
  return good;
}
