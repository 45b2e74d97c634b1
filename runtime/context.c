// The public API (permc.h): the pipeline text -> program -> trace -> arrays.
#include "fusion/plan/plan.h"
#include "kernels/banks/banks.h"
#include "lang/syntax/tree.h"
#include "runtime/compiled/compiler.h"
#include "runtime/cuda/cuda.h"
#include "runtime/interp/interp.h"
#include "runtime/pipeline.h"
#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { JOB_STACK = 256 << 20 };

void permc_interrupt(permc_context *c) { atomic_store(&c->stop, true); }

const char *permc_version(void) { return PERMC_VERSION; }

double context_now(void) {
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
    c->limits.interrupted = &c->stop;
  }
  return c;
}

void permc_context_free(permc_context *c) {
  if (!c)
    return;
  program_free(&c->program);
  cuda_close(c->gpu);
  free(c);
}

const char *permc_message(const permc_context *c) {
  const text *t = &c->program.diagnostics.rendered;
  return t->failed ? "permc: out of memory\n" : text_content(t);
}

void permc_allow_extern(permc_context *c, bool allow) { c->allow_extern = allow; }

void permc_use_threads(permc_context *c, unsigned threads) { c->threads = threads; }

void permc_use_fast_floats(permc_context *c, bool fast) { c->fuse = fast; }

bool permc_use_isa(permc_context *c, const char *name) {
  c->isa = compiler_isa_named(name);
  if (!c->isa)
    context_error(c, "there is no instruction set '%s' here", name);
  return c->isa != NULL;
}

bool permc_use_cuda_stream(permc_context *c, void *stream) {
  context_clear(c);
  c->stream = stream;
  if (!c->gpu || cuda_use_stream(c->gpu, stream))
    return true;
  context_error(c, "%s", cuda_message(c->gpu));
  return false;
}

bool permc_use_strategy(permc_context *c, const char *name) {
  c->strategy = name ? plan_strategy_named(name) : NULL;
  if (name && !c->strategy)
    context_error(c, "there is no strategy '%s'", name);
  return !name || c->strategy;
}

bool permc_use_layout(permc_context *c, const char *name) {
  c->layout = name ? bank_layout_kind_and_seed(name, &c->layout_seed) : NULL;
  if (name && !c->layout)
    context_error(c, "there is no layout '%s'", name);
  return !name || c->layout;
}

permc_times permc_last_times(const permc_context *c) { return c->times; }

void context_truncate(text *t, size_t length) {
  t->length = length;
  if (t->data)
    t->data[length] = 0;
}

void context_clear(permc_context *c) {
  diagnostics *d = &c->program.diagnostics;
  d->errors = d->warnings = 0;
  d->exhausted = d->wants_static = d->can_be_static = false;
  d->rendered.failed = false;
  context_truncate(&d->rendered, 0);
}

void context_begin_call(permc_context *c) {
  if (!c->trial)
    atomic_store(&c->stop, false);
  context_clear(c);
}

void context_error(permc_context *c, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  diag_vreport(&c->program.diagnostics, DIAG_ERROR, SPAN_NONE, format, arguments);
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

bool context_run_here(permc_context *c, context_job *job, void *with) {
  threaded_job j = {c, job, with, false};
  job_thread(&j);
  return j.good;
}

bool context_run_job(permc_context *c, context_job *job, void *with) {
  threaded_job j = {c, job, with, false};
  if (c->in_place)
    return context_run_here(c, job, with);
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
  double start = context_now();
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
  c->times.load = context_now() - start;
  return good;
}

static bool load(permc_context *c, load_job j) {
  context_begin_call(c);
  c->program.diagnostics.memory = &c->program.memory;
  c->half_loaded = !context_run_job(c, run_load, &j);
  return !c->half_loaded;
}

bool permc_load(permc_context *c, const char *path) { return load(c, (load_job){path, NULL, 0}); }

bool permc_load_text(permc_context *c, const char *name, const char *bytes, size_t length) {
  return load(c, (load_job){name, bytes, length});
}

static bool run_define(permc_context *c, void *with) {
  double start = context_now();
  if (c->half_loaded && c->program.ready)
    program_forget(&c->program);
  c->half_loaded = false;
  bool good = program_define(&c->program, "-e", with);
  c->times.load += context_now() - start;
  return good;
}

bool permc_define(permc_context *c, const char *expression) {
  context_begin_call(c);
  c->program.diagnostics.memory = &c->program.memory;
  char *copy = strdup(expression);
  if (!copy) {
    context_error(c, "out of memory");
    return false;
  }
  bool good = context_run_job(c, run_define, copy);
  free(copy);
  return good;
}

// ---- entries ---------------------------------------------------------------------------------

size_t permc_entry_count(const permc_context *c) { return c->program.program.entries.count; }

const char *permc_entry_name(const permc_context *c, size_t index) {
  return index < permc_entry_count(c) ? c->program.program.entries.items[index]->name : NULL;
}

typedef struct type_job {
  const binding *entry;
  const char *shown;
} type_job;

static bool run_entry_type(permc_context *c, void *with) {
  type_job *j = with;
  const type_expr *written = j->entry->signature;
  if (!written) {
    j->shown = context_shown_type(c, j->entry->scheme->type);
    return true;
  }
  const source *s = &c->program.diagnostics.sources.items[written->where.file];
  j->shown = arena_copy(&c->program.memory, s->text + written->where.start,
                        written->where.end - written->where.start);
  return true;
}

const char *permc_entry_type(permc_context *c, const char *entry) {
  type_job j = {context_entry(c, entry), NULL};
  return j.entry && context_run_job(c, run_entry_type, &j) ? j.shown : NULL;
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
    context_error(c, "there is no entry point '%s'; there is %s", name, text_content(&list));
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
  context_begin_call(c);
  c->program.diagnostics.memory = &c->program.memory;
  format_job j = {name, bytes, length, {0}};
  bool good = context_run_job(c, run_format, &j);
  if (good)
    text_string(&j.out, "");
  if (j.out.failed)
    context_error(c, "out of memory");
  if (!good || j.out.failed)
    text_free(&j.out);
  return j.out.data;
}
