// Running a program: the whole pipeline, and the backends at its end.
//
//   permc_run = permc_compile (elaborate, verify, prepare) + permc_execute + permc_compiled_free
#include "runtime/backend.h"
#include "runtime/pipeline.h"

struct permc_compiled {
  permc_context *context;
  const char *entry;
  arena memory;  // of the compilation: the trace, and what the backend plans
  trace trace;
  result_parts result;  // how the trace's results make up the entry's
  const backend *backend;
  backend_program program;
  array *shapes;  // of the arguments' arrays; data: of those that are static
  size_t argument_count, array_count;
};

// ---- compiling ---------------------------------------------------------------------------------

typedef struct compile_job {
  permc_compiled *compiled;
  const char *backend;
  permc_value *const *like;
} compile_job;

// Forgets what went wrong, and what was written.
static void start_again(permc_context *c, permc_compiled *p) {
  context_clear(c);
  p->trace = (trace){0};
}

// An argument of few integers, such as a matrix, that is needed before the program runs becomes
// static: its elements are here.
static bool make_static(permc_compiled *p, array_shapes *shapes, permc_value *const *like,
                        uint32_t wanted) {
  enum { MOST_ELEMENTS = 4096 };
  size_t next = 0;
  for (size_t i = 0; i < p->argument_count; next += like[i++]->count) {
    const array *a = &like[i]->components[0];
    if (next != wanted || like[i]->count != 1 || array_count(a) > MOST_ELEMENTS ||
        shapes->items[next].data)
      continue;
    void *data = arena_alloc(&p->memory, array_bytes(a) + 1);
    if (array_bytes(a))
      memcpy(data, a->data, array_bytes(a));
    shapes->items[next].data = p->shapes[next].data = data;
    p->program.has_static = true;
    return true;
  }
  return false;
}

static bool elaborate_entry(permc_context *c, permc_compiled *p, permc_value *const *like) {
  arena *memory = &p->memory;
  binding *b = context_entry(c, p->entry);
  if (!b)
    return false;
  size_t parameters = permc_parameter_count(c, p->entry);
  if (parameters != p->argument_count) {
    context_error(c, "'%s' has %zu parameter%s, but is given %zu argument%s", b->name, parameters,
                  parameters == 1 ? "" : "s", p->argument_count, p->argument_count == 1 ? "" : "s");
    return false;
  }
  entry_types types = entry_types_start(c, b);
  array_shapes shapes = {0};
  for (size_t i = 0; i < parameters; i++) {
    const permc_value *v = like[i];
    if (!entry_types_fit(c, &types, v, i))
      return false;
    for (size_t k = 0; k < v->count; k++) {
      array_shape s = {v->components[k].type, v->components[k].rank, v->components[k].dims, NULL};
      vec_push(memory, &shapes, s);
    }
  }
  entry_types_finish(c, &types);
  p->array_count = shapes.count;
  p->shapes = NEW_ARRAY(memory, array, shapes.count + 1);
  for (size_t i = 0; i < shapes.count; i++) {
    p->shapes[i] = (array){.type = shapes.items[i].type, .rank = shapes.items[i].rank};
    memcpy(p->shapes[i].dims, shapes.items[i].dims, p->shapes[i].rank * sizeof(uint64_t));
  }
  diagnostics *d = &c->program.diagnostics;
  while (!elaborate(d, memory, &c->limits, c->allow_extern, b, types.instance, shapes.items,
                    shapes.count, &p->trace, &p->result)) {
    if (!d->can_be_static || !make_static(p, &shapes, like, d->wanted))
      return false;
    start_again(c, p);
  }
  return true;
}

static bool prepare(permc_context *c, permc_compiled *p, const compile_job *j) {
  double start = context_now();
  bool good = elaborate_entry(c, p, j->like);
  c->times.elaborate = context_now() - start;
  if (!good)
    return false;
  const char *wrong = trace_verify(&p->memory, &p->trace);
  if (wrong) {
    context_error(c, "the compiled program is wrong (please report this): %s", wrong);
    return false;
  }
  p->backend = backend_for(j->backend, &p->trace);
  p->program.context = c;
  p->program.memory = &p->memory;
  p->program.trace = &p->trace;
  return p->backend->prepare(&p->program);
}

static bool compile(permc_context *c, compile_job *j) {
  permc_compiled *p = j->compiled;
  jmp_buf failure;
  p->memory = (arena){.failure = &failure, .limit = 2 * c->limits.memory};
  c->times = (permc_times){.load = c->times.load};
  if (setjmp(failure)) {
    const binding *b = context_entry(c, p->entry);
    if (b)
      context_report_memory(c, b);
    p->memory.failure = NULL;
    return false;
  }
  bool good = prepare(c, p, j);
  p->memory.failure = NULL;
  return good;
}

// Leaves *p empty.
static void clear(permc_compiled *p) {
  if (p->backend)
    p->backend->release(&p->program);
  arena_free(&p->memory);
  *p = (permc_compiled){0};
}

// ---- arguments ---------------------------------------------------------------------------------

static bool same_shape(const array *a, const array *b) {
  return a->type == b->type && a->rank == b->rank &&
         memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

static bool same_elements(const array *a, const array *b) {
  return !b->data || memcmp(a->data, b->data, array_bytes(a)) == 0;
}

// Whether the arguments are such as the program was compiled for.
static bool fit(permc_context *c, const permc_compiled *p, permc_value *const *arguments,
                size_t count) {
  size_t next = 0;
  bool good = count == p->argument_count, same = true;
  for (size_t i = 0; good && i < count; i++)
    for (size_t k = 0; good && k < arguments[i]->count; k++, next++) {
      good = next < p->array_count && same_shape(&arguments[i]->components[k], &p->shapes[next]);
      same = same && good && same_elements(&arguments[i]->components[k], &p->shapes[next]);
    }
  good = good && next == p->array_count;
  if (!good)
    context_error(c, "'%s' was compiled for arguments of other types or sizes", p->entry);
  else if (!same)
    context_error(
        c,
        "'%s' was compiled for another value of an argument that it needs to know before it runs",
        p->entry);
  return good && same;
}

// The arrays in one row, taken over if they are to be consumed.
static void gather(permc_value **arguments, size_t count, bool keep, array *all) {
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
static permc_value **new_results(const permc_compiled *p) {
  size_t count = p->result.count;
  permc_value **values = calloc(count + 1, sizeof *values);
  bool good = values != NULL;
  for (size_t i = 0; i < count && good; i++) {
    size_t arrays = p->result.arrays[i];
    values[i] = calloc(1, sizeof **values);
    if (values[i])
      values[i]->components = calloc(arrays ? arrays : 1, sizeof(array));
    good = values[i] && values[i]->components;
    if (good)
      values[i]->count = arrays;
  }
  if (good)
    return values;
  permc_values_free(values, values ? count : 0);
  return NULL;
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

static size_t arrays_of(permc_value *const *values, size_t count) {
  size_t total = 0;
  for (size_t i = 0; i < count; i++)
    total += values[i]->count;
  return total;
}

// ---- executing ---------------------------------------------------------------------------------

typedef struct execute_job {
  permc_compiled *compiled;
  permc_value **arguments;
  size_t argument_count;
  bool keep;
  permc_value ***results;
  size_t *result_count;
} execute_job;

static bool execute_arrays(permc_context *c, execute_job *j, array *arguments, array *results) {
  permc_compiled *p = j->compiled;
  gather(j->arguments, j->argument_count, j->keep, arguments);
  move_results(*j->results, *j->result_count, results, false);
  backend_run r = {arguments, p->array_count, j->keep, results};
  double start = context_now();
  bool good = p->backend->execute(&p->program, &r);
  c->times.run = context_now() - start;
  move_results(*j->results, *j->result_count, results, true);
  return good;
}

static bool execute(permc_context *c, execute_job *j) {
  permc_compiled *p = j->compiled;
  if (!fit(c, p, j->arguments, j->argument_count))
    return false;
  if (!*j->results) {
    *j->results = new_results(p);
    *j->result_count = *j->results ? p->result.count : 0;
  }
  bool good = *j->results && arrays_of(*j->results, *j->result_count) == p->trace.results.count;
  array *arguments = calloc(p->array_count + 1, sizeof *arguments);
  array *results = calloc(p->trace.results.count + 1, sizeof *results);
  bool memory = *j->results && arguments && results;
  if (good && memory)
    good = execute_arrays(c, j, arguments, results);
  else
    context_error(c, memory ? "these are no results of this program" : "out of memory");
  good = good && memory;
  for (size_t i = 0; arguments && !j->keep && i < p->array_count; i++)
    array_destroy(&arguments[i]);
  free(arguments);
  free(results);
  return good;
}

static void drop_results(execute_job *j) {
  permc_values_free(*j->results, *j->result_count);
  *j->results = NULL;
  *j->result_count = 0;
}

// ---- the API -----------------------------------------------------------------------------------

static bool run_compile(permc_context *c, void *with) { return compile(c, with); }

permc_compiled *permc_compile(permc_context *c, const char *entry, const char *backend_name,
                              permc_value *const *like, size_t argument_count) {
  context_begin_call(c);
  if (!backend_exists(c, backend_name))
    return NULL;
  permc_compiled *p = calloc(1, sizeof *p);
  char *name = strdup(entry);
  if (!p || !name) {
    context_error(c, "out of memory");
    free(p);
    free(name);
    return NULL;
  }
  *p = (permc_compiled){.context = c, .entry = name, .argument_count = argument_count};
  compile_job j = {p, backend_name, like};
  if (context_run_job(c, run_compile, &j))
    return p;
  permc_compiled_free(p);
  return NULL;
}

static bool run_execute(permc_context *c, void *with) { return execute(c, with); }

bool permc_execute(permc_compiled *p, permc_value *const *arguments, size_t argument_count,
                   permc_value ***results, size_t *count) {
  permc_context *c = p->context;
  context_begin_call(c);
  execute_job j = {p, (permc_value **)(uintptr_t)arguments, argument_count, true, results, count};
  if (context_run_here(c, run_execute, &j))
    return true;
  drop_results(&j);
  return false;
}

bool permc_time_on_device(permc_compiled *p, uint64_t copy_bytes, unsigned runs, double *seconds) {
  context_begin_call(p->context);
  return p->backend->time && p->backend->time(&p->program, copy_bytes, runs, seconds);
}

const char *permc_compiled_device(const permc_compiled *p) {
  return p->backend->device ? p->backend->device(&p->program) : NULL;
}

const char *permc_compiled_backend(const permc_compiled *p) {
  return p->backend->device && !permc_compiled_device(p) ? "cpu" : p->backend->name;
}

void permc_compiled_free(permc_compiled *p) {
  if (!p)
    return;
  char *entry = (char *)(uintptr_t)p->entry;
  clear(p);
  free(entry);
  free(p);
}

typedef struct run_job {
  const char *entry, *backend;
  execute_job execute;
} run_job;

static bool run_run(permc_context *c, void *with) {
  run_job *j = with;
  permc_compiled p = {.context = c, .entry = j->entry, .argument_count = j->execute.argument_count};
  compile_job compilation = {&p, j->backend, j->execute.arguments};
  j->execute.compiled = &p;
  bool good = compile(c, &compilation) && execute(c, &j->execute);
  clear(&p);
  return good;
}

static bool run(permc_context *c, run_job *j) {
  context_begin_call(c);
  *j->execute.results = NULL;
  *j->execute.result_count = 0;
  if (backend_exists(c, j->backend) && context_run_job(c, run_run, j))
    return true;
  drop_results(&j->execute);
  return false;
}

bool permc_run(permc_context *c, const char *entry, const char *backend_name,
               permc_value *const *arguments, size_t argument_count, permc_value ***results,
               size_t *count) {
  run_job j = {entry,
               backend_name,
               {NULL, (permc_value **)(uintptr_t)arguments, argument_count, true, results, count}};
  return run(c, &j);
}

bool permc_run_consume(permc_context *c, const char *entry, const char *backend_name,
                       permc_value **arguments, size_t argument_count, permc_value ***results,
                       size_t *count) {
  run_job j = {entry, backend_name, {NULL, arguments, argument_count, false, results, count}};
  return run(c, &j);
}
