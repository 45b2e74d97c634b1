// Running a program: the whole pipeline, and the backends at its end.
#include "runtime/backend.h"
#include "runtime/pipeline.h"

typedef struct run_job {
  const char *entry, *backend;
  permc_value **arguments;
  size_t argument_count;
  bool consume;
  permc_value ***results;
  size_t *result_count;
} run_job;

static bool elaborate_job(permc_context *c, const run_job *j, arena *memory, trace *t,
                          value **result) {
  binding *b = context_entry(c, j->entry);
  if (!b)
    return false;
  size_t parameters = permc_parameter_count(c, j->entry);
  if (parameters != j->argument_count) {
    context_error(c, "'%s' has %zu parameter%s, but is given %zu argument%s", b->name, parameters,
                  parameters == 1 ? "" : "s", j->argument_count, j->argument_count == 1 ? "" : "s");
    return false;
  }
  entry_types types = entry_types_start(c, b);
  leaf_shapes leaves = {0};
  for (size_t i = 0; i < parameters; i++) {
    const permc_value *v = j->arguments[i];
    if (!entry_types_fit(c, &types, v, i))
      return false;
    for (size_t k = 0; k < v->count; k++) {
      leaf_shape l = {v->components[k].type, v->components[k].rank, v->components[k].dims};
      vec_push(memory, &leaves, l);
    }
  }
  entry_types_finish(c, &types);
  return elaborate(&c->program.diagnostics, memory, &c->limits, c->allow_extern, b, types.instance,
                   leaves.items, leaves.count, t, result);
}

// The argument arrays in one row: taken over when the arguments are consumed, else copied.
static bool gather(permc_context *c, const run_job *j, array *all) {
  for (size_t i = 0; i < j->argument_count; i++) {
    permc_value *v = j->arguments[i];
    for (size_t k = 0; k < v->count; k++, all++) {
      const array *from = &v->components[k];
      if (j->consume) {
        *all = *from;
        v->components[k] = (array){0};
      } else if (array_create(all, from->type, from->rank, from->dims)) {
        memcpy(all->data, from->data, array_count(from) * scalar_types[from->type].size);
      } else {
        context_error(c, "there is no memory for a copy of argument %zu", i + 1);
        return false;
      }
    }
    if (j->consume) {
      permc_value_free(v);
      j->arguments[i] = NULL;
    }
  }
  return true;
}

static size_t leaf_count(const value *v) {
  if (v->kind == VALUE_ARRAY)
    return leaf_count(v->u.array.element);
  if (v->kind != VALUE_TUPLE)
    return 1;
  size_t count = 0;
  for (uint32_t i = 0; i < v->u.parts.count; i++)
    count += leaf_count(v->u.parts.items[i]);
  return count;
}

// A tuple at the top is several results, anything else one.
static bool group_results(permc_context *c, const run_job *j, const value *result, array *arrays) {
  size_t count = result->kind == VALUE_TUPLE ? result->u.parts.count : 1;
  permc_value **values = calloc(count + 1, sizeof *values);
  bool good = values != NULL;
  for (size_t i = 0; i < count && good; i++) {
    const value *v = result->kind == VALUE_TUPLE ? result->u.parts.items[i] : result;
    values[i] = calloc(1, sizeof **values);
    size_t leaves = leaf_count(v);
    if (values[i])
      values[i]->components = calloc(leaves ? leaves : 1, sizeof(array));
    good = values[i] && values[i]->components;
    for (size_t k = 0; good && k < leaves; k++) {
      values[i]->components[values[i]->count++] = *arrays;
      *arrays++ = (array){0};
    }
  }
  if (!good) {
    context_error(c, "out of memory");
    permc_values_free(values, values ? count : 0);
    return false;
  }
  *j->results = values;
  *j->result_count = count;
  return true;
}

static bool execute(permc_context *c, const run_job *j, arena *memory, const trace *t,
                    const value *result) {
  const backend *chosen = backend_for(j->backend, t);
  size_t leaves = 0;
  for (size_t i = 0; i < j->argument_count; i++)
    leaves += j->arguments[i]->count;
  array *arguments = calloc(leaves + 1, sizeof *arguments);
  array *results = calloc(t->results.count + 1, sizeof *results);
  bool good = arguments && results && gather(c, j, arguments);
  if (good) {
    backend_run r = {c, memory, t, arguments, leaves, results};
    good = chosen->run(&r);
  }
  good = good && group_results(c, j, result, results);
  for (size_t i = 0; arguments && i < leaves; i++)
    array_destroy(&arguments[i]);
  for (size_t i = 0; results && i < t->results.count; i++)
    array_destroy(&results[i]);
  free(arguments);
  free(results);
  return good;
}

static bool run_run(permc_context *c, void *with) {
  run_job *j = with;
  jmp_buf failure;
  arena memory = {.failure = &failure, .limit = 2 * c->limits.memory};
  if (setjmp(failure)) {
    arena_free(&memory);
    const binding *b = context_entry(c, j->entry);
    if (b)
      context_report_memory(c, b);
    return false;
  }
  trace t = {0};
  value *result = NULL;
  double start = context_now();
  bool good = elaborate_job(c, j, &memory, &t, &result);
  c->times.elaborate = context_now() - start;
  if (good) {
    const char *wrong = trace_verify(&memory, &t);
    if (wrong)
      context_error(c, "the compiled program is wrong (please report this): %s", wrong);
    start = context_now();
    good = !wrong && execute(c, j, &memory, &t, result);
    c->times.run = context_now() - start;
  }
  arena_free(&memory);
  return good;
}

static bool run(permc_context *c, run_job *j) {
  context_clear(c);
  *j->results = NULL;
  *j->result_count = 0;
  if (!backend_exists(c, j->backend))
    return false;
  return context_run_job(c, run_run, j);
}

bool permc_run(permc_context *c, const char *entry, const char *backend_name,
               permc_value *const *arguments, size_t argument_count, permc_value ***results,
               size_t *result_count) {
  run_job j = {entry,   backend_name, (permc_value **)arguments, argument_count, false,
               results, result_count};
  return run(c, &j);
}

bool permc_run_consume(permc_context *c, const char *entry, const char *backend_name,
                       permc_value **arguments, size_t argument_count, permc_value ***results,
                       size_t *result_count) {
  run_job j = {entry, backend_name, arguments, argument_count, true, results, result_count};
  return run(c, &j);
}
