// Contexts, their messages and jobs. See context.h.
#include "runtime/context/context.h"
#include "core/units.h"
#include "runtime/system/locks.h"
#include "runtime/system/pool.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

// A call takes at most CALL_STACK of the stack of a job; what is not elaboration takes the rest.
enum { CALL_STACK = 20 << 10, STACK_BESIDES = 56 << 20 };

unsigned context_threads(const permc_context *c) {
  return c->threads ? c->threads : pool_processors();
}

void permc_interrupt(permc_context *c) {
  if (c)
    atomic_store(&c->stop, true);
}

// ---- contexts, messages, jobs ----------------------------------------------------------------

permc_context *permc_context_new(void) {
  permc_context *c = calloc(1, sizeof *c);
  if (c) {
    c->limits = default_limits;
    // A source of 64 MiB could make a tree of 20 GiB.
    c->program.diagnostics.memory = &c->program.memory;
    c->program.memory.limit = c->memory.limit = 2 * c->limits.memory;
    c->limits.interrupted = &c->stop;
    c->file_lock = -1;
  }
  return c;
}

bool permc_set_limit(permc_context *c, const char *name, uint64_t value) {
  uint64_t *limit = c && name ? limit_named(&c->limits, name) : NULL;
  if (!limit || !value || value > UINT64_C(1) << 50)
    return false;
  *limit = value;
  if (limit == &c->limits.calls && c->limits.stack / CALL_STACK < value)
    c->limits.stack = value * CALL_STACK;
  c->program.memory.limit = c->memory.limit = 2 * c->limits.memory;
  return true;
}

void context_unlock_files(permc_context *c) {
  if (c->file_lock >= 0)
    close(c->file_lock);
  c->file_lock = -1;
}

void permc_context_free(permc_context *c) {
  if (!c)
    return;
  if (c->ranks)
    c->end_ranks(c->ranks);
  if (c->refused)
    c->end_ranks(c->refused);
  context_unlock_files(c);
  free(c->file_folder);
  program_free(&c->program);
  arena_free(&c->memory);
  for (int i = 0; i < CONTEXT_GPUS; i++)
    if (c->gpus[i].open)
      c->gpus[i].close(c->gpus[i].open);
  free(c);
}

const char *permc_message(const permc_context *c) {
  const text *t = c ? &c->program.diagnostics.rendered : NULL;
  return !t          ? "permc: the context is NULL\n"
         : t->failed ? "permc: out of memory\n"
                     : text_content(t);
}

permc_times permc_last_times(const permc_context *c) { return c ? c->times : (permc_times){0}; }

void context_truncate_messages(permc_context *c, size_t length) {
  diag_truncate(&c->program.diagnostics, length);
}

void context_clear(permc_context *c) {
  if (!c)
    return;
  diagnostics *d = &c->program.diagnostics;
  c->code = PERMC_OK;
  c->interrupted = false;
  d->errors = d->warnings = 0;
  d->exhausted = d->wants_static = d->can_be_static = d->wants_extern = false;
  d->rendered.failed = false;
  context_truncate_messages(c, 0);
}

// `more` calls in progress; an interrupt is over with the last that it was meant for.
static void count_calls(permc_context *c, unsigned more) {
  library_lock(lock_of(c));
  if (c->forks != library_forks())  // those of other threads are not here
    c->calls = 0;
  c->forks = library_forks();
  if (c->calls == 0 && !c->trial)
    atomic_store(&c->stop, false);
  c->calls += more;
  library_unlock(lock_of(c));
}

void context_enter(permc_context *c) { count_calls(c, 1); }

void context_leave(permc_context *c) {
  library_lock(lock_of(c));
  c->calls -= c->calls && c->forks == library_forks();
  library_unlock(lock_of(c));
}

void context_begin_call(permc_context *c) {
  if (!c)
    return;
  count_calls(c, 0);
  context_clear(c);
  if (!c->in_job)
    arena_free(&c->memory);
}

bool context_error_of(permc_context *c, permc_code code, const char *format, ...) {
  if (!c)
    return false;
  c->code = c->code == PERMC_OK ? code : c->code;
  WITH_ARGUMENTS(format,
                 diag_vreport(&c->program.diagnostics, DIAG_ERROR, SPAN_NONE, format, arguments));
  return false;
}

bool context_given(permc_context *c, const void *pointer, const char *what) {
  return c && (pointer || context_error(c, "%s is NULL", what));
}

bool context_given_list(permc_context *c, const void *list, size_t count, const char *what) {
  return c && (list || !count || context_error(c, "the list of %zu %s is NULL", count, what));
}

bool context_given_sizes(permc_context *c, const permc_size *sizes, size_t count) {
  bool good = context_given_list(c, sizes, count, "sizes");
  for (size_t i = 0; good && i < count; i++)
    good = context_given(c, sizes[i].name, "the name of a size");
  return good;
}

bool context_results(permc_context *c, permc_value ***values, size_t *count) {
  if (!context_given(c, values, "where values go") ||
      !context_given(c, count, "where their number goes"))
    return false;
  *values = NULL;
  *count = 0;
  return true;
}

bool context_no_memory(permc_context *c) {
  return context_error_of(c, PERMC_ERROR_MEMORY, "out of memory");
}

permc_code permc_last_code(const permc_context *c) {
  const diagnostics *d = c ? &c->program.diagnostics : NULL;
  return !d                    ? PERMC_ERROR_ARGUMENT
         : d->rendered.failed  ? PERMC_ERROR_MEMORY
         : !d->errors          ? PERMC_OK
         : c->interrupted      ? PERMC_ERROR_INTERRUPTED
         : d->exhausted        ? PERMC_ERROR_MEMORY
         : c->code != PERMC_OK ? c->code
                               : PERMC_ERROR_PROGRAM;
}

permc_code failure_set(permc_error *e, permc_code code, const char *format, ...) {
  if (!e)
    return code;
  e->code = code;
  WITH_ARGUMENTS(format, vsnprintf(e->message, sizeof e->message, format, arguments));
  size_t length = strlen(e->message);
  if (length && e->message[length - 1] == '\n')
    e->message[length - 1] = 0;
  return code;
}

bool context_fail(permc_context *c, const permc_error *e) {
  diagnostics *d = &c->program.diagnostics;
  d->errors++;
  c->code = e->code;
  text_printf(&d->rendered, "%s\n", e->message);
  return false;
}

void context_warn_once(permc_context *c, context_warning kind, const char *format, ...) {
  if (c->warned[kind])
    return;
  c->warned[kind] = true;
  WITH_ARGUMENTS(format,
                 diag_vreport(&c->program.diagnostics, DIAG_WARNING, SPAN_NONE, format, arguments));
}

void context_warn_uncompiled(permc_context *c, const char *why) {
  context_warn_once(c, WARNING_NO_COMPILER, "%s: programs run uncompiled, which is slower", why);
}

void context_report_memory(permc_context *c, const arena *memory, const binding *entry) {
  diagnostics *d = &c->program.diagnostics;
  char limit[NUMBER_SPACE];
  d->demote = NULL;
  d->exhausted = true;
  if (!memory->at_limit) {
    context_no_memory(c);
    return;
  }
  if (entry)
    diag_report(d, DIAG_ERROR, entry->where,
                "evaluating '%s' takes more than %s of memory, which is the limit", entry->name,
                show_bytes(limit, c->limits.memory));
  else
    context_error(c, "loading this program takes more than %s of memory, which is the limit",
                  show_bytes(limit, c->limits.memory));
  diag_report(d, DIAG_HINT, SPAN_NONE, "--limit memory=%" PRIu64 " raises the limit",
              2 * c->limits.memory);
}

// ---- progress --------------------------------------------------------------------------------

void permc_on_progress(permc_context *c, permc_progress_report *report, void *with) {
  if (!c)
    return;
  c->report_progress = report;
  c->report_with = with;
}

static void report_progress(void *with, uint64_t done, uint64_t total) {
  permc_context *c = with;
  c->progress.done = done;
  c->progress.total = total;
  c->report_progress(c->report_with, &c->progress);
}

void context_end_stages(permc_context *c) {
  c->progress = (permc_progress){"", "", 0, 0};
  if (c->report_progress)
    c->report_progress(c->report_with, &c->progress);
}

progress context_begin_stage(permc_context *c, const char *stage, const char *unit) {
  progress p = {c->report_progress ? report_progress : NULL, c};
  c->progress = (permc_progress){.stage = stage, .unit = unit};
  progress_report(&p, 0, 0);
  return p;
}

// ---- jobs ------------------------------------------------------------------------------------

typedef struct threaded_job {
  permc_context *context;
  context_job *job;
  void *with;
  bool good;
} threaded_job;

static void *job_thread(void *with) {
  threaded_job *j = with;
  jmp_buf failure;
  c_environment locale;
  if (!c_environment_enter(&locale))
    return context_no_memory(j->context), NULL;
  context_enter(j->context);
  loaded_program *p = &j->context->program;
  bool lost = p->diagnostics.rendered.failed;
  bool outermost = !j->context->in_job;
  j->context->in_job = true;
  p->memory.failure = j->context->memory.failure = &failure;
  if (setjmp(failure))
    context_report_memory(j->context,
                          j->context->memory.at_limit ? &j->context->memory : &p->memory, NULL);
  else
    j->good = j->job(j->context, j->with);
  // A message that is lost must not pass for none.
  j->good = j->good && (lost || !p->diagnostics.rendered.failed);
  p->memory.failure = j->context->memory.failure = NULL;
  j->context->interrupted = !j->good && atomic_load(&j->context->stop);
  j->context->in_job = !outermost;
  context_end_stages(j->context);
  context_leave(j->context);
  c_environment_leave(&locale);
  return NULL;
}

bool context_run_here(permc_context *c, context_job *job, void *with) {
  threaded_job j = {c, job, with, false};
  if (!c)
    return false;
  job_thread(&j);
  return j.good;
}

bool context_do_and_end(permc_context *c, context_job *part, void (*end)(void *with), void *with) {
  jmp_buf failure, *outer = c->memory.failure;
  c->program.memory.failure = c->memory.failure = &failure;
  bool failed = setjmp(failure) != 0;
  bool good = !failed && part(c, with);
  c->program.memory.failure = c->memory.failure = outer;
  end(with);
  if (failed)
    longjmp(*outer, 1);
  return good;
}

bool context_run_job(permc_context *c, context_job *job, void *with) {
  threaded_job j = {c, job, with, false};
  if (!c || c->in_place)
    return context_run_here(c, job, with);
  char stack[NUMBER_SPACE];
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, c->limits.stack + STACK_BESIDES);
  int failed = pthread_create(&thread, &attributes, job_thread, &j);
  pthread_attr_destroy(&attributes);
  if (failed)
    return context_error_of(
        c, PERMC_ERROR_MEMORY,
        "no thread could be started: %s; it takes %s of stack: raise the limit of "
        "memory (ulimit -v), or of processes (ulimit -u)",
        strerror(failed), show_bytes(stack, c->limits.stack + STACK_BESIDES));
  pthread_join(thread, NULL);
  return j.good;
}

// ---- entries ---------------------------------------------------------------------------------

// False: there is nothing to say of the definition of that name, or there is none.
static bool report_no_entry(permc_context *c, const char *name) {
  const binding *b = program_definition(&c->program, name);
  if (!b || !b->scheme)
    return false;
  if (!first_order_parameters(b->scheme->type)) {
    context_error(c, "'%s' is no entry point: it takes or returns functions", name);
    diag_report(&c->program.diagnostics, DIAG_HINT, SPAN_NONE, "%s",
                hint_for_functions(b->scheme->type));
    return true;
  }
  if (b->signature || !strcmp(name, "main"))
    return false;
  context_error(c, "'%s' is no entry point: it has no signature", name);
  diag_report(&c->program.diagnostics, DIAG_HINT, SPAN_NONE,
              "write one above its definition, such as '%s : %s'", name,
              context_shown_type(c, b->scheme->type));
  return true;
}

const char *context_program_name(const permc_context *c) {
  for (size_t i = 0; i < c->program.program.modules.count; i++) {
    const module *m = c->program.program.modules.items[i];
    if (!m->library)
      return c->program.diagnostics.sources.items[m->file].name;
  }
  return "the program";
}

binding *context_entry(permc_context *c, const char *name) {
  if (!context_given(c, name, "the entry point"))
    return NULL;
  size_t count = c->program.program.entries.count;
  for (size_t i = 0; i < count; i++)
    if (!strcmp(c->program.program.entries.items[i]->name, name))
      return c->program.program.entries.items[i];
  if (report_no_entry(c, name))
    return NULL;
  FREED_BY(text_free) text list = {0};
  for (size_t i = 0; i < count && i < 8; i++)
    text_printf(&list, "%s'%s'", i ? ", " : "", c->program.program.entries.items[i]->name);
  if (count)
    context_error_of(c, PERMC_ERROR_ARGUMENT,
                     "there is no entry point '%s'; there is %s (choose one, as in --entry %s)",
                     name, text_content(&list), c->program.program.entries.items[0]->name);
  else
    context_error(
        c,
        "there is no entry point '%s' in %s: an entry point is 'main', or a function with "
        "a signature, whose parameters and result hold no functions, as in main : [m]a -> "
        "[m]a and below it main xs = padded maxval sort xs",
        name, context_program_name(c));
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
  return arena_text(&c->memory, &out);
}
