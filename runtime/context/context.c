// Contexts, their messages and jobs. See context.h.
#include "runtime/context/context.h"

#include <pthread.h>
#include <time.h>

enum { JOB_STACK = 256 << 20 };

void permc_interrupt(permc_context *c) { atomic_store(&c->stop, true); }

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
    c->program.diagnostics.memory = &c->program.memory;
    c->program.memory.limit = 2 * c->limits.memory;
    c->limits.interrupted = &c->stop;
  }
  return c;
}

void permc_context_free(permc_context *c) {
  if (!c)
    return;
  program_free(&c->program);
  if (c->gpu.open)
    c->gpu.close(c->gpu.open);
  free(c);
}

const char *permc_message(const permc_context *c) {
  const text *t = &c->program.diagnostics.rendered;
  return t->failed ? "permc: out of memory\n" : text_content(t);
}

permc_times permc_last_times(const permc_context *c) { return c->times; }

void context_truncate_messages(permc_context *c, size_t length) {
  text *t = &c->program.diagnostics.rendered;
  t->length = length;
  if (t->data)
    t->data[length] = 0;
}

void context_clear(permc_context *c) {
  diagnostics *d = &c->program.diagnostics;
  d->errors = d->warnings = 0;
  d->exhausted = d->wants_static = d->can_be_static = false;
  d->rendered.failed = false;
  context_truncate_messages(c, 0);
}

void context_begin_call(permc_context *c) {
  if (!c->trial)
    atomic_store(&c->stop, false);
  context_clear(c);
}

bool context_error(permc_context *c, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  diag_vreport(&c->program.diagnostics, DIAG_ERROR, SPAN_NONE, format, arguments);
  va_end(arguments);
  return false;
}

void context_warn_once(permc_context *c, context_warning kind, const char *format, ...) {
  va_list arguments;
  if (c->warned[kind])
    return;
  c->warned[kind] = true;
  va_start(arguments, format);
  diag_vreport(&c->program.diagnostics, DIAG_WARNING, SPAN_NONE, format, arguments);
  va_end(arguments);
}

void context_report_memory(permc_context *c, const binding *entry) {
  diagnostics *d = &c->program.diagnostics;
  d->demote = NULL;
  d->exhausted = true;
  diag_report(d, DIAG_ERROR, entry->where,
              "evaluating '%s' takes more than %zu MiB of memory: does its recursion end?",
              entry->name, c->limits.memory >> 20);
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
  if (!c_locale_enter(&locale))
    return context_error(j->context, "out of memory"), NULL;
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
  if (failed)
    return context_error(c, "no thread could be started: %s", strerror(failed));
  pthread_join(thread, NULL);
  return j.good;
}

// ---- entries ---------------------------------------------------------------------------------

binding *context_entry(permc_context *c, const char *name) {
  size_t count = c->program.program.entries.count;
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

size_t context_array_count(type *t) {
  t = type_prune(t);
  if (t->kind == TYPE_ARRAY)
    return context_array_count(t->parts[0]);
  size_t count = t->kind == TYPE_TUPLE ? 0 : 1;
  for (uint32_t i = 0; t->kind == TYPE_TUPLE && i < t->count; i++)
    count += context_array_count(t->parts[i]);
  return count;
}

const char *context_shown_type(permc_context *c, type *t) {
  text out = {0};
  type_print(&out, t);
  return arena_text(&c->program.memory, &out);
}
