// Running a program once (permc.h): it is compiled, executed and freed. See compile.h.
#include "runtime/compile.h"

#include <stdio.h>

typedef struct run_job {
  pipeline_request request;
  permc_value **arguments;
  bool keep;
  permc_value ***results;
  size_t *result_count;
  permc_compiled program;  // not on the stack of the job, from which failures of memory jump
} run_job;

// The arrays in a row; values that are not kept are freed.
static void list_arrays(permc_value **arguments, size_t count, bool keep, array *row) {
  for (size_t i = 0; i < count; i++) {
    permc_value *v = arguments[i];
    for (size_t k = 0; k < v->count; k++) {
      *row++ = v->components[k];
      if (!keep)
        v->components[k] = (array){0};
    }
    if (keep)
      continue;
    permc_value_free(v);
    arguments[i] = NULL;
  }
}

// The values of the program's results become the caller's, with the arrays of the row.
static void move_results(run_job *j, array *row) {
  permc_compiled *p = &j->program;
  for (size_t i = 0; i < p->result_count; i++)
    for (size_t k = 0; k < p->results[i]->count; k++, row++) {
      p->results[i]->components[k] = *row;
      // What is known of an argument is not known of what it became.
      p->results[i]->components[k].permutation = false;
      *row = (array){0};
    }
  *j->results = p->results;
  *j->result_count = p->result_count;
  p->results = NULL;
  p->result_count = 0;
}

static bool execute(permc_context *c, run_job *j, bool keep) {
  permc_compiled *p = &j->program;
  size_t count = p->pipeline.trace.results.count;
  FREED array *arguments = calloc(p->pipeline.shapes.arrays.count + 1, sizeof *arguments);
  FREED array *results = calloc(count + 1, sizeof *results);
  bool good = arguments && results && compiled_name_results(p, j->arguments, p->results);
  if (good) {
    list_arrays(j->arguments, p->argument_count, keep, arguments);
    good = compiled_execute(p, c, arguments, keep, NULL, results);
  } else {
    context_no_memory(c);
  }
  if (good)
    move_results(j, results);
  if (results)
    arrays_destroy(results, count);
  return good;
}

// On a GPU that `auto` has taken. The arguments stay on the host until it is done: if it fails in
// the middle, the processor runs the program.
static bool execute_on_gpu(permc_context *c, run_job *j) {
  diagnostics *d = &c->program.diagnostics;
  size_t start = d->rendered.length;
  unsigned errors = d->errors;
  if (execute(c, j, true))
    return true;
  if (atomic_load(&c->stop))
    return false;
  char why[BACKEND_WHY];
  snprintf(why, sizeof why, "%s", text_content(&d->rendered) + start);
  why[strcspn(why, "\n")] = 0;
  d->errors = errors;
  context_truncate_messages(c, start);
  c->gpu_failed = true;
  context_warn_once(c, WARNING_GPU_FAILED, "the processor runs this, as the GPU failed: %s",
                    diag_unprefixed(why));
  compiled_end(&j->program);
  return compiled_make(c, j->request, &j->program) && execute(c, j, j->keep);
}

static bool compile_and_execute(permc_context *c, void *with) {
  run_job *j = with;
  const pipeline *l = &j->program.pipeline;
  if (!compiled_make(c, j->request, &j->program))
    return false;
  return l->backend == &cuda_backend && l->program.model ? execute_on_gpu(c, j)
                                                         : execute(c, j, j->keep);
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

static bool run(permc_context *c, pipeline_request r, bool consume, permc_value ***results,
                size_t *result_count) {
  permc_value **arguments = (permc_value **)(uintptr_t)r.arguments;  // written to if consumed
  run_job j = {
      .request = r, .arguments = arguments, .results = results, .result_count = result_count};
  bool borrowed;
  context_begin_call(c);
  if (!context_results(c, results, result_count) ||
      !context_given_list(c, arguments, r.argument_count, "arguments"))
    return false;
  if (c->ranks && c->file_memory)
    return context_error(c, "a run on ranks has its arrays in memory; leave out --memory, or run "
                            "on one rank (--ranks 1)");
  if (!pipeline_backend(c, r.backend) || !are_on_host(c, arguments, r.argument_count, &borrowed))
    return false;
  j.keep = !consume || borrowed;
  bool good = context_run_job(c, compile_and_execute, &j);
  compiled_end(&j.program);
  for (size_t i = 0; good && consume && i < r.argument_count; i++) {
    if (!is_among(arguments[i], arguments + i + 1, r.argument_count - i - 1))
      permc_value_free(arguments[i]);
    arguments[i] = NULL;
  }
  if (!good)
    values_drop(results, result_count);
  return good;
}

static pipeline_request request_of(const char *entry, const char *backend_name,
                                   permc_value *const *arguments, size_t argument_count) {
  return (pipeline_request){.entry = entry,
                            .backend = backend_name,
                            .arguments = arguments,
                            .argument_count = argument_count};
}

bool permc_run(permc_context *c, const char *entry, const char *backend_name,
               permc_value *const *arguments, size_t argument_count, permc_value ***results,
               size_t *count) {
  return run(c, request_of(entry, backend_name, arguments, argument_count), false, results, count);
}

bool permc_run_consume(permc_context *c, const char *entry, const char *backend_name,
                       permc_value **arguments, size_t argument_count, permc_value ***results,
                       size_t *count) {
  return run(c, request_of(entry, backend_name, arguments, argument_count), true, results, count);
}

bool permc_check_laws(permc_context *c, const char *entry, permc_value *const *arguments,
                      size_t argument_count) {
  permc_value **results = NULL;
  size_t count = 0;
  pipeline_request r = request_of(entry, "interp", arguments, argument_count);
  r.laws = true;
  bool good = run(c, r, false, &results, &count);
  permc_values_free(results, count);
  return good;
}
