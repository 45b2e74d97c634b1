// The public API (permc.h): the pipeline text -> program -> trace -> arrays.
#include "lang/format.h"
#include "runtime/interp.h"
#include "runtime/pipeline.h"
#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { JOB_STACK = 256 << 20 };

static atomic_bool interrupted;

void permc_interrupt(void) { atomic_store(&interrupted, true); }

const char *permc_version(void) { return PERMC_VERSION; }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- contexts, messages, jobs ----------------------------------------------------------------

permc_context *permc_context_new(void) {
  permc_context *c = calloc(1, sizeof *c);
  if (c) {
    c->limits = default_limits;
    // A source of 64 MiB could make a tree of 20 GiB.
    c->program.memory.limit = 2 * c->limits.memory;
    c->limits.interrupted = &interrupted;
  }
  return c;
}

void permc_context_free(permc_context *c) {
  if (!c)
    return;
  program_free(&c->program);
  free(c);
}

const char *permc_message(const permc_context *c) {
  const text *t = &c->program.diagnostics.rendered;
  return t->data ? t->data : "";
}

void permc_allow_extern(permc_context *c, bool allow) { c->allow_extern = allow; }

permc_times permc_last_times(const permc_context *c) { return c->times; }

static void truncate_text(text *t, size_t length) {
  t->length = length;
  if (t->data)
    t->data[length] = 0;
}

void context_clear(permc_context *c) {
  diagnostics *d = &c->program.diagnostics;
  d->errors = d->warnings = 0;
  d->exhausted = d->wants_static = false;
  truncate_text(&d->rendered, 0);
}

void context_error(permc_context *c, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  diag_vreport(&c->program.diagnostics, DIAG_ERROR, (span){UINT32_MAX, 0, 0}, format, arguments);
  va_end(arguments);
}

typedef struct threaded_job {
  permc_context *context;
  context_job *job;
  void *with;
  bool good;
} threaded_job;

static void *job_thread(void *with) {
  threaded_job *j = with;
  jmp_buf failure;
  c_locale locale;
  if (!c_locale_enter(&locale)) {
    context_error(j->context, "out of memory");
    return NULL;
  }
  j->context->program.memory.failure = &failure;
  if (setjmp(failure)) {
    j->context->program.diagnostics.demote = NULL;
    context_error(j->context, "out of memory");
  } else {
    j->good = j->job(j->context, j->with);
  }
  j->context->program.memory.failure = NULL;
  c_locale_leave(&locale);
  return NULL;
}

bool context_run_job(permc_context *c, context_job *job, void *with) {
  threaded_job j = {c, job, with, false};
  if (c->in_place) {
    job_thread(&j);
    return j.good;
  }
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, JOB_STACK);
  int failed = pthread_create(&thread, &attributes, job_thread, &j);
  pthread_attr_destroy(&attributes);
  if (failed) {
    context_error(c, "no thread could be started: %s", strerror(failed));
    return false;
  }
  pthread_join(thread, NULL);
  return j.good;
}

// ---- loading ---------------------------------------------------------------------------------

typedef struct load_job {
  const char *name, *bytes;
  size_t length;
} load_job;

static bool run_load(permc_context *c, void *with) {
  load_job *j = with;
  double start = now();
  if (c->program.ready)
    program_forget(&c->program);
  if (!j->bytes) {
    const char *why;
    j->bytes = read_source(&c->program.memory, j->name, &j->length, &why);
    if (!j->bytes) {
      context_error(c, "%s: %s", j->name, why);
      return false;
    }
  }
  bool good = program_load(&c->program, j->name, j->bytes, j->length);
  c->times.load = now() - start;
  return good;
}

static bool load(permc_context *c, load_job j) {
  context_clear(c);
  c->program.diagnostics.memory = &c->program.memory;
  c->half_loaded = !context_run_job(c, run_load, &j);
  return !c->half_loaded;
}

bool permc_load(permc_context *c, const char *path) { return load(c, (load_job){path, NULL, 0}); }

bool permc_load_text(permc_context *c, const char *name, const char *bytes, size_t length) {
  return load(c, (load_job){name, bytes, length});
}

static bool run_define(permc_context *c, void *with) {
  double start = now();
  if (c->half_loaded && c->program.ready)
    program_forget(&c->program);
  c->half_loaded = false;
  bool good = program_define(&c->program, "-e", with);
  c->times.load += now() - start;
  return good;
}

bool permc_define(permc_context *c, const char *expression) {
  context_clear(c);
  c->program.diagnostics.memory = &c->program.memory;
  char *copy = strdup(expression);
  bool good = copy && context_run_job(c, run_define, copy);
  free(copy);
  return good;
}

// ---- entries ---------------------------------------------------------------------------------

size_t permc_entry_count(const permc_context *c) { return c->program.program.entries.count; }

const char *permc_entry_name(const permc_context *c, size_t index) {
  return index < permc_entry_count(c) ? c->program.program.entries.items[index]->name : NULL;
}

const char *permc_entry_type(permc_context *c, const char *entry) {
  const binding *b = context_entry(c, entry);
  if (!b)
    return NULL;
  if (!b->signature)
    return context_shown_type(c, b->scheme->type);
  const source *s = &c->program.diagnostics.sources.items[b->signature->where.file];
  span where = b->signature->where;
  return arena_copy(&c->program.memory, s->text + where.start, where.end - where.start);
}

binding *context_entry(permc_context *c, const char *name) {
  size_t count = permc_entry_count(c);
  for (size_t i = 0; i < count; i++)
    if (!strcmp(c->program.program.entries.items[i]->name, name))
      return c->program.program.entries.items[i];
  text list = {0};
  for (size_t i = 0; i < count && i < 8; i++)
    text_printf(&list, "%s'%s'", i ? ", " : "", c->program.program.entries.items[i]->name);
  if (count)
    context_error(c, "there is no entry point '%s'; there is %s", name, list.data ? list.data : "");
  else
    context_error(c,
                  "there is no entry point '%s': an entry point is 'main', or a function with a "
                  "signature, whose parameters and result hold no functions",
                  name);
  text_free(&list);
  return NULL;
}

size_t permc_parameter_count(permc_context *c, const char *entry) {
  const binding *b = context_entry(c, entry);
  if (!b)
    return (size_t)-1;
  size_t count = 0;
  for (type *t = type_prune(b->scheme->type); t->kind == TYPE_FUNCTION; t = type_prune(t->parts[1]))
    count++;
  return count;
}

// ---- values ----------------------------------------------------------------------------------

permc_value *permc_value_new(const char *element, uint32_t rank, const uint64_t *dims,
                             const void *data) {
  scalar_type t = scalar_named(element, strlen(element));
  permc_value *v = calloc(1, sizeof *v);
  array *a = calloc(1, sizeof *a);
  if (!v || !a || t == SCALAR_COUNT || rank > VALUE_MAX_RANK || !array_create(a, t, rank, dims)) {
    free(v);
    free(a);
    return NULL;
  }
  if (array_count(a))  // data may be NULL otherwise
    memcpy(a->data, data, array_count(a) * scalar_types[t].size);
  v->components = a;
  v->count = 1;
  return v;
}

permc_value *permc_value_tuple(permc_value **parts, size_t count) {
  size_t total = 0, next = 0;
  bool good = true;
  for (size_t i = 0; i < count; i++) {
    good = good && parts[i];
    total += parts[i] ? parts[i]->count : 0;
  }
  permc_value *v = good ? calloc(1, sizeof *v) : NULL;
  if (v)
    v->components = malloc((total ? total : 1) * sizeof(array));
  if (v && !v->components) {
    free(v);
    v = NULL;
  }
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; v && k < parts[i]->count; k++) {
      v->components[next++] = parts[i]->components[k];
      parts[i]->components[k] = (array){0};
    }
    permc_value_free(parts[i]);
  }
  if (v)
    v->count = total;
  return v;
}

void permc_value_free(permc_value *v) {
  if (!v)
    return;
  for (size_t i = 0; i < v->count; i++)
    array_destroy(&v->components[i]);
  free(v->components);
  free(v);
}

void permc_values_free(permc_value **values, size_t count) {
  for (size_t i = 0; values && i < count; i++)
    permc_value_free(values[i]);
  free(values);
}

size_t permc_value_components(const permc_value *v) { return v->count; }

const char *permc_value_type(const permc_value *v, size_t component) {
  return scalar_types[v->components[component].type].name;
}

uint32_t permc_value_rank(const permc_value *v, size_t component) {
  return v->components[component].rank;
}

const uint64_t *permc_value_dims(const permc_value *v, size_t component) {
  return v->components[component].dims;
}

const void *permc_value_data(const permc_value *v, size_t component) {
  return v->components[component].data;
}

bool permc_write_file(permc_context *c, const char *path, const permc_value *v) {
  context_clear(c);
  value_error error = {{0}};
  output_file *o = output_open(path, &error);
  bool good =
      o && value_write(output_stream(o), value_format_of(path), v->components, v->count, &error);
  // What went wrong with the stream is told by commit, which knows the file's name.
  if (good || (o && ferror(output_stream(o))))
    good = output_commit(o, &error);
  else if (o)
    output_discard(o);
  if (!good)
    context_error(c, "%s", error.message);
  return good;
}

// ---- checking --------------------------------------------------------------------------------

typedef struct check_job {
  const char *entry;
  const permc_size *sizes;
  size_t count;
} check_job;

// Memory that ran out between two looks of elaboration at its limit.
static void report_memory(permc_context *c, const binding *b) {
  diagnostics *d = &c->program.diagnostics;
  d->demote = NULL;
  d->exhausted = true;
  diag_report(d, DIAG_ERROR, b->where,
              "evaluating '%s' takes more than %zu MiB of memory: does its recursion end?", b->name,
              c->limits.memory >> 20);
}

static bool check_once(permc_context *c, binding *b, const check_job *j, int64_t other) {
  diagnostics *d = &c->program.diagnostics;
  jmp_buf failure;
  arena memory = {.failure = &failure, .limit = 2 * c->limits.memory};
  if (setjmp(failure)) {
    arena_free(&memory);
    report_memory(c, b);
    return false;
  }
  const char **names = NEW_ARRAY(&memory, const char *, j->count + 1);
  int64_t *sizes = NEW_ARRAY(&memory, int64_t, j->count + 1);
  for (size_t i = 0; i < j->count; i++) {
    names[i] = j->sizes[i].name;
    sizes[i] = j->sizes[i].value;
  }
  entry_types types = entry_types_start(c, b);
  entry_types_finish(c, &types);
  leaf_shapes leaves = {0};
  trace t = {0};
  value *result;
  bool good = shapes_at_sizes(d, &memory, &c->limits, b, types.instance, names, sizes, j->count,
                              other, &leaves) &&
              elaborate(d, &memory, &c->limits, true, b, types.instance, leaves.items, leaves.count,
                        &t, &result);
  assert(!good || !trace_verify(&memory, &t));
  arena_free(&memory);
  return good;
}

static bool is_given(const check_job *j, const char *name) {
  for (size_t i = 0; i < j->count; i++)
    if (!strcmp(j->sizes[i].name, name))
      return true;
  return false;
}

// Sizes that are not given go from 0 to 4; those that fail are warnings, unless all do. A limit
// that is reached ends the check.
static bool check_entry(permc_context *c, binding *b, const check_job *j) {
  enum { LAST = 4 };
  diagnostics *d = &c->program.diagnostics;
  const char *open = NULL;
  for (size_t i = 0; i < b->size_names.count && !open; i++)
    if (!is_given(j, b->size_names.items[i]))
      open = b->size_names.items[i];
  bool unsized = !b->size_names.count && !j->count && type_has_arrays(b->scheme->type);
  if (!open && !unsized)
    return check_once(c, b, j, 0);
  bool passed = false;
  size_t start = d->rendered.length;
  for (int64_t n = 0; n <= LAST; n++) {
    d->demote = open ? arena_printf(&c->program.memory, "with %s = %" PRId64 ": ", open, n)
                     : arena_printf(&c->program.memory,
                                    "with arrays of %" PRId64 " elements: ", INT64_C(1) << n);
    passed |= check_once(c, b, j, n);
    d->demote = NULL;
    if (d->exhausted)
      return false;
  }
  if (passed)
    return true;
  truncate_text(&d->rendered, start);
  return check_once(c, b, j, LAST);
}

// A function that wants an int static (a mask, a count, a list of them) is a helper, although its
// signature makes it look like an entry point: no fault of the program.
static bool check_listed(permc_context *c, binding *b, const check_job *j) {
  diagnostics *d = &c->program.diagnostics;
  unsigned errors = d->errors;
  size_t start = d->rendered.length;
  d->wants_static = false;
  bool good = check_entry(c, b, j);
  if (!d->wants_static || !strcmp(b->name, "main"))
    return good;
  d->errors = errors;
  truncate_text(&d->rendered, start);
  return true;
}

static bool run_check(permc_context *c, void *with) {
  const check_job *j = with;
  double start = now();
  bool good = true;
  if (j->entry) {
    binding *b = context_entry(c, j->entry);
    good = b && check_entry(c, b, j);
  } else {
    const diagnostics *d = &c->program.diagnostics;
    for (size_t i = 0; i < c->program.program.entries.count && !d->exhausted; i++)
      good &= check_listed(c, c->program.program.entries.items[i], j);
    if (!c->program.program.entries.count)
      diag_report(&c->program.diagnostics, DIAG_WARNING, (span){UINT32_MAX, 0, 0},
                  "there is no entry point ('main', or a function with a signature), so no size "
                  "was tried");
  }
  c->times.elaborate = now() - start;
  return good;
}

// Whether some entry has a size of that name; *known collects the names there are.
static bool known_size(const permc_context *c, const char *name, text *known) {
  bool found = false;
  for (size_t i = 0; i < c->program.program.entries.count; i++) {
    const binding *b = c->program.program.entries.items[i];
    for (size_t k = 0; k < b->size_names.count; k++) {
      found |= !strcmp(b->size_names.items[k], name);
      text_printf(known, "%s'%s' of '%s'", known->length ? ", " : "; there is ",
                  b->size_names.items[k], b->name);
    }
  }
  return found;
}

bool permc_check(permc_context *c, const char *entry, const permc_size *sizes, size_t count) {
  context_clear(c);
  for (size_t i = 0; i < count; i++) {
    text known = {0};
    bool found = known_size(c, sizes[i].name, &known);
    if (!found)
      context_error(c, "no entry point has a size named '%s'%s", sizes[i].name,
                    known.data ? known.data : "");
    text_free(&known);
    if (!found)
      return false;
  }
  check_job j = {entry, sizes, count};
  return context_run_job(c, run_check, &j);
}

// ---- running ---------------------------------------------------------------------------------

typedef struct run_job {
  const char *entry;
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

static bool execute(permc_context *c, const run_job *j, const trace *t, const value *result) {
  size_t leaves = 0;
  for (size_t i = 0; i < j->argument_count; i++)
    leaves += j->arguments[i]->count;
  array *arguments = calloc(leaves + 1, sizeof *arguments);
  array *results = calloc(t->results.count + 1, sizeof *results);
  bool good = arguments && results && gather(c, j, arguments);
  if (good) {
    interp_failure failure = {0};
    good = interp_run(t, arguments, leaves, results, c->allow_extern, &interrupted, &failure);
    if (!good) {
      span where = failure.has_span ? failure.where : (span){UINT32_MAX, 0, 0};
      diag_report(&c->program.diagnostics, DIAG_ERROR, where, "%s", failure.message);
    }
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
      report_memory(c, b);
    return false;
  }
  trace t = {0};
  value *result = NULL;
  double start = now();
  bool good = elaborate_job(c, j, &memory, &t, &result);
  c->times.elaborate = now() - start;
  if (good) {
    const char *wrong = trace_verify(&memory, &t);
    if (wrong)
      context_error(c, "the compiled program is wrong (please report this): %s", wrong);
    start = now();
    good = !wrong && execute(c, j, &t, result);
    c->times.run = now() - start;
  }
  arena_free(&memory);
  return good;
}

static bool run(permc_context *c, const char *backend, run_job *j) {
  context_clear(c);
  *j->results = NULL;
  *j->result_count = 0;
  if (backend && strcmp(backend, "auto") && strcmp(backend, "interp")) {
    context_error(c, "there is no backend '%s'; there is auto, interp", backend);
    return false;
  }
  return context_run_job(c, run_run, j);
}

bool permc_run(permc_context *c, const char *entry, const char *backend,
               permc_value *const *arguments, size_t argument_count, permc_value ***results,
               size_t *result_count) {
  run_job j = {entry, (permc_value **)arguments, argument_count, false, results, result_count};
  return run(c, backend, &j);
}

bool permc_run_consume(permc_context *c, const char *entry, const char *backend,
                       permc_value **arguments, size_t argument_count, permc_value ***results,
                       size_t *result_count) {
  run_job j = {entry, arguments, argument_count, true, results, result_count};
  return run(c, backend, &j);
}

// ---- formatting ------------------------------------------------------------------------------

typedef struct format_job {
  const char *name, *bytes;
  size_t length;
  text out;
} format_job;

static bool run_format(permc_context *c, void *with) {
  format_job *j = with;
  source s = {.name = arena_copy(&c->program.memory, j->name, strlen(j->name)),
              .text = arena_copy(&c->program.memory, j->bytes, j->length),
              .length = (uint32_t)j->length};
  return format_source(&c->program.diagnostics, diag_add_source(&c->program.diagnostics, s),
                       &j->out);
}

char *permc_format(permc_context *c, const char *name, const char *bytes, size_t length) {
  context_clear(c);
  c->program.diagnostics.memory = &c->program.memory;
  format_job j = {name, bytes, length, {0}};
  bool good = context_run_job(c, run_format, &j);
  if (good)
    text_string(&j.out, "");
  if (good && !j.out.failed)
    return j.out.data ? j.out.data : strdup("");
  text_free(&j.out);
  return NULL;
}
