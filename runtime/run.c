// Running a program (permc.h): the pipeline, and the backend at its end.
//
//   permc_run = permc_compile (the pipeline) + permc_execute + permc_compiled_free
#include "core/clock.h"
#include "runtime/checks.h"
#include "runtime/laws.h"
#include "runtime/pipeline.h"

#include <inttypes.h>
#include <stdio.h>

struct permc_compiled {
  permc_context *context;
  char *entry;
  size_t argument_count;
  pipeline pipeline;
};

// ---- arguments ---------------------------------------------------------------------------------

// Whether the arguments are such as the program was compiled for.
static bool check_arguments(permc_context *c, const permc_compiled *p,
                            permc_value *const *arguments, size_t count) {
  const array_shapes *shapes = &p->pipeline.shapes.arrays;
  size_t next = 0;
  bool same_types = count == p->argument_count, same_elements = true, permutations = true;
  for (size_t i = 0; same_types && i < count; i++)
    for (size_t k = 0; same_types && k < arguments[i]->count; k++, next++) {
      const array *a = &arguments[i]->components[k];
      const array_shape *s = next < shapes->count ? &shapes->items[next] : NULL;
      same_types = s && a->type == s->type && a->rank == s->rank &&
                   memcmp(a->dims, s->dims, a->rank * sizeof *a->dims) == 0;
      same_elements = same_elements && same_types &&
                      (!s->data || memcmp(a->data, s->data, array_bytes(a)) == 0);
      permutations = permutations && same_types && (!s->permutation || a->permutation);
    }
  same_types = same_types && next == shapes->count;
  if (!same_types)
    context_error(c, "'%s' was compiled for arguments of other types or sizes", p->entry);
  else if (!same_elements)
    context_error(
        c,
        "'%s' was compiled for another value of an argument that it needs to know before it runs",
        p->entry);
  else if (!permutations)
    context_error(c, "'%s' was compiled for an argument that is read from a schedule", p->entry);
  return same_types && same_elements && permutations;
}

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

// Moves the arrays of the values to `row`, or back.
static void move_results(permc_value **values, size_t count, array *row, bool back) {
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < values[i]->count; k++, row++) {
      array *from = back ? row : &values[i]->components[k];
      *(back ? &values[i]->components[k] : row) = *from;
      *from = (array){0};
    }
}

static size_t count_components(permc_value *const *values, size_t count) {
  size_t total = 0;
  for (size_t i = 0; i < count; i++)
    total += values[i]->count;
  return total;
}

// Gives the results the names of the arguments that their elements come from (trace_find_origins).
static bool name_results(const trace *t, permc_value *const *arguments, size_t argument_count,
                         permc_value **results, size_t result_count) {
  size_t arrays = count_components(arguments, argument_count), next = 0;
  const char **names = calloc(arrays + 1, sizeof *names);
  uint32_t *origins = malloc((t->results.count + 1) * sizeof *origins);
  bool good = names && origins, named = false;
  for (size_t i = 0; good && i < argument_count; i++)
    for (size_t k = 0; k < arguments[i]->count; k++, next++) {
      names[next] = permc_value_name(arguments[i], k);
      named = named || names[next];
    }
  good = good && (!named || trace_find_origins(t, origins));
  next = 0;
  for (size_t i = 0; i < result_count; i++)
    for (size_t k = 0; good && k < results[i]->count; k++, next++)
      good = permc_value_set_name(results[i], k,
                                  named && origins[next] < arrays ? names[origins[next]] : NULL);
  free(names);
  free(origins);
  return good;
}

// ---- compiling and executing -------------------------------------------------------------------

typedef struct run_job {
  permc_compiled *compiled;
  const char *backend;
  permc_value **arguments;
  size_t argument_count;
  bool keep, often, laws;
  permc_value ***results;
  size_t *result_count;
} run_job;

static bool compile(permc_context *c, void *with) {
  run_job *j = with;
  pipeline_request r = {.entry = j->compiled->entry,
                        .last = STAGE_PROGRAM,
                        .arguments = j->arguments,
                        .argument_count = j->argument_count,
                        .backend = j->backend,
                        .laws = j->laws,
                        .often = j->often};
  return pipeline_make(c, &r, &j->compiled->pipeline);
}

static bool execute_arrays(permc_context *c, run_job *j, array *arguments, array *results) {
  permc_compiled *p = j->compiled;
  list_arrays(j->arguments, j->argument_count, j->keep, arguments);
  move_results(*j->results, *j->result_count, results, false);
  double start = clock_seconds();
  backend_run r = {arguments, p->pipeline.shapes.arrays.count, j->keep, results,
                   context_begin_stage(c, "running", "elements")};
  bool good = p->pipeline.backend->execute(&p->pipeline.program, &r);
  c->times.run = clock_seconds() - start;
  good = good && checks_pass(c, &p->pipeline.trace, results) &&
         laws_hold(c, &p->pipeline.trace, results);
  move_results(*j->results, *j->result_count, results, true);
  // What is known of an argument is not known of what it became.
  for (size_t i = 0; i < *j->result_count; i++)
    for (size_t k = 0; k < (*j->results)[i]->count; k++)
      (*j->results)[i]->components[k].permutation = false;
  size_t returned = trace_returned(&p->pipeline.trace);
  arrays_destroy(results + returned, p->pipeline.trace.results.count - returned);
  if (!j->keep)
    arrays_destroy(arguments, r.argument_count);
  return good;
}

static bool execute(permc_context *c, void *with) {
  run_job *j = with;
  permc_compiled *p = j->compiled;
  size_t wanted = p->pipeline.trace.results.count;
  if (!check_arguments(c, p, j->arguments, j->argument_count))
    return false;
  if (!*j->results) {
    *j->results = new_results(&p->pipeline.result);
    *j->result_count = *j->results ? p->pipeline.result.count : 0;
  }
  array *arguments = calloc(p->pipeline.shapes.arrays.count + 1, sizeof *arguments);
  array *results = calloc(wanted + 1, sizeof *results);
  bool good = false;
  if (!*j->results || !arguments || !results)
    context_error(c, "out of memory");
  else if (count_components(*j->results, *j->result_count) != trace_returned(&p->pipeline.trace))
    context_error(c, "these are no results of this program");
  else if (!name_results(&p->pipeline.trace, j->arguments, j->argument_count, *j->results,
                         *j->result_count))
    context_error(c, "out of memory");
  else
    good = execute_arrays(c, j, arguments, results);
  free(arguments);
  free(results);
  return good;
}

// ---- the API -----------------------------------------------------------------------------------

permc_compiled *permc_compile(permc_context *c, const char *entry, const char *backend_name,
                              permc_value *const *like, size_t argument_count) {
  context_begin_call(c);
  if (!pipeline_backend(c, backend_name))
    return NULL;
  permc_compiled *p = calloc(1, sizeof *p);
  char *name = strdup(entry);
  if (!p || !name) {
    free(p);
    free(name);
    return context_error(c, "out of memory"), NULL;
  }
  *p = (permc_compiled){.context = c, .entry = name, .argument_count = argument_count};
  run_job j = {p, backend_name, (permc_value **)(uintptr_t)like, argument_count, .often = true};
  if (context_run_job(c, compile, &j))
    return p;
  permc_compiled_free(p);
  return NULL;
}

bool permc_execute(permc_compiled *p, permc_value *const *arguments, size_t argument_count,
                   permc_value ***results, size_t *count) {
  run_job j = {.compiled = p,
               .arguments = (permc_value **)(uintptr_t)arguments,
               .argument_count = argument_count,
               .keep = true,
               .results = results,
               .result_count = count};
  context_begin_call(p->context);
  if (context_run_here(p->context, execute, &j))
    return true;
  values_drop(results, count);
  return false;
}

bool permc_time_on_device(permc_compiled *p, uint64_t copy_bytes, unsigned runs, double *seconds) {
  const backend *b = p->pipeline.backend;
  context_begin_call(p->context);
  return b->time && b->time(&p->pipeline.program, copy_bytes, runs, seconds);
}

const char *permc_compiled_device(const permc_compiled *p) {
  const backend *b = p->pipeline.backend;
  return b->device ? b->device(&p->pipeline.program) : NULL;
}

const char *permc_compiled_backend(const permc_compiled *p) { return p->pipeline.backend->name; }

void permc_compiled_free(permc_compiled *p) {
  if (!p)
    return;
  pipeline_free(&p->pipeline);
  free(p->entry);
  free(p);
}

// On a GPU that `auto` has taken. The arguments stay on the host until it is done: if it fails in
// the middle, the processor runs the program.
static bool execute_on_gpu(permc_context *c, run_job *j) {
  pipeline *p = &j->compiled->pipeline;
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
  const pipeline *p = &j->compiled->pipeline;
  if (!compile(c, j))
    return false;
  return p->backend == &cuda_backend && p->program.model ? execute_on_gpu(c, j) : execute(c, j);
}

static bool run_program(permc_context *c, const char *entry, run_job *j) {
  permc_compiled p = {
      .context = c, .entry = (char *)(uintptr_t)entry, .argument_count = j->argument_count};
  j->compiled = &p;
  context_begin_call(c);
  *j->results = NULL;
  *j->result_count = 0;
  bool good = pipeline_backend(c, j->backend) && context_run_job(c, compile_and_execute, j);
  pipeline_free(&p.pipeline);
  if (!good)
    values_drop(j->results, j->result_count);
  return good;
}

bool permc_run(permc_context *c, const char *entry, const char *backend_name,
               permc_value *const *arguments, size_t argument_count, permc_value ***results,
               size_t *count) {
  permc_value **kept = (permc_value **)(uintptr_t)arguments;
  run_job j = {NULL, backend_name, kept, argument_count, true, false, false, results, count};
  return run_program(c, entry, &j);
}

bool permc_run_consume(permc_context *c, const char *entry, const char *backend_name,
                       permc_value **arguments, size_t argument_count, permc_value ***results,
                       size_t *count) {
  run_job j = {NULL, backend_name, arguments, argument_count, false, false, false, results, count};
  return run_program(c, entry, &j);
}

bool permc_check_laws(permc_context *c, const char *entry, permc_value *const *arguments,
                      size_t argument_count) {
  permc_value **kept = (permc_value **)(uintptr_t)arguments, **results;
  size_t count;
  run_job j = {NULL, "interp", kept, argument_count, true, false, true, &results, &count};
  bool good = run_program(c, entry, &j);
  permc_values_free(results, count);
  return good;
}
