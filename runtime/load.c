// Loading programs, their entry points, formatting (permc.h).
#include "core/clock.h"
#include "lang/syntax/tree.h"
#include "runtime/context/context.h"
#include <ctype.h>

const char *permc_version(void) { return PERMC_VERSION; }

// ---- loading ---------------------------------------------------------------------------------

typedef struct load_job {
  const char *name, *bytes;
  size_t length;
} load_job;

static bool run_load(permc_context *c, void *with) {
  load_job *j = with;
  double start = clock_seconds();
  context_begin_stage(c, "loading", "");
  if (c->program.ready)
    program_forget(&c->program);
  if (!j->bytes) {
    const char *why;
    j->bytes = read_source(&c->program.memory, j->name, &j->length, &why);
    if (!j->bytes)
      return context_error_of(c, PERMC_ERROR_FILE, "%s: %s", j->name, why);
  }
  bool good = program_load(&c->program, j->name, j->bytes, j->length);
  c->times.load = clock_seconds() - start;
  return good;
}

static bool load(permc_context *c, load_job j) {
  context_begin_call(c);
  if (!context_given(c, j.name, "the name of the program"))
    return false;
  c->half_loaded = !context_run_job(c, run_load, &j);
  return !c->half_loaded;
}

bool permc_load(permc_context *c, const char *path) { return load(c, (load_job){path, NULL, 0}); }

bool permc_load_text(permc_context *c, const char *name, const char *bytes, size_t length) {
  if (bytes || !length)
    return load(c, (load_job){name, bytes ? bytes : "", length});
  context_begin_call(c);
  return context_given(c, bytes, "the program");
}

static bool run_define(permc_context *c, void *with) {
  double start = clock_seconds();
  if (c->half_loaded && c->program.ready)
    program_forget(&c->program);
  c->half_loaded = false;
  bool good = program_define(&c->program, "-e", with);
  c->times.load += clock_seconds() - start;
  return good;
}

bool permc_define(permc_context *c, const char *expression) {
  context_begin_call(c);
  if (!context_given(c, expression, "the expression"))
    return false;
  FREED char *copy = strdup(expression);
  if (!copy)
    return context_no_memory(c);
  return context_run_job(c, run_define, copy);
}

// ---- functions of the caller -------------------------------------------------------------------

static bool is_name(const char *name) {
  bool good = name && (isalpha((unsigned char)*name) || *name == '_');
  for (; good && *name; name++)
    good = isalnum((unsigned char)*name) || *name == '_' || *name == '\'';
  return good;
}

// "f64 -> i32 -> f64" as three element types. False: it is no such type.
static bool read_type(const char *at, scalar_type types[C_FUNCTION_TYPES], uint32_t *count) {
  for (*count = 0;; at += 2) {
    at += strspn(at, " ");
    size_t length = strcspn(at, " -");
    scalar_type t = scalar_named(at, length);
    at += length;
    at += strspn(at, " ");
    if (t == SCALAR_COUNT || CLASS_OF(t) & CLASS_SMALL || *count == C_FUNCTION_TYPES)
      return false;
    types[(*count)++] = t;
    if (strncmp(at, "->", 2) != 0)
      return *at == 0 && *count > 1;
  }
}

bool permc_define_extern(permc_context *c, const char *name, const char *written,
                         permc_function *address, void *with) {
  scalar_type types[C_FUNCTION_TYPES];
  uint32_t count = 1;
  context_begin_call(c);
  if (!c || !is_name(name) || !address)
    return context_error_of(c, PERMC_ERROR_ARGUMENT,
                            "an extern function needs a name and an address");
  if (written && !read_type(written, types, &count))
    return context_error_of(c, PERMC_ERROR_ARGUMENT,
                            "'%s' cannot be the type of the C function '%s': it takes and returns "
                            "elements, such as f64 -> i32 -> f64",
                            written, name);
  size_t bytes = strlen(name) + 1;
  c_callback *made = malloc(sizeof *made + count * sizeof *types + bytes);
  if (!made)
    return context_no_memory(c);
  scalar_type *kept = (scalar_type *)(made + 1);
  char *named = (char *)(kept + count);
  memcpy(kept, types, written ? count * sizeof *types : 0);
  memcpy(named, name, bytes);
  *made =
      (c_callback){c->program.callbacks, named, count - 1, written ? kept : NULL, address, with};
  c->program.callbacks = made;
  return true;
}

// ---- entries ---------------------------------------------------------------------------------

size_t permc_entry_count(const permc_context *c) {
  return c ? c->program.program.entries.count : 0;
}

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
    const char *shown = context_shown_type(c, j->entry->scheme->type);
    j->shown = arena_copy(&c->program.memory, shown, strlen(shown));
    return true;
  }
  const source *s = &c->program.diagnostics.sources.items[written->where.file];
  j->shown = arena_copy(&c->program.memory, s->text + written->where.start,
                        written->where.end - written->where.start);
  return true;
}

const char *context_entry_type(permc_context *c, const char *entry) {
  type_job j = {context_entry(c, entry), NULL};
  return j.entry && context_run_job(c, run_entry_type, &j) ? j.shown : NULL;
}

const char *permc_entry_type(permc_context *c, const char *entry) {
  context_begin_call(c);
  return context_entry_type(c, entry);
}

size_t context_parameter_count(permc_context *c, const char *entry) {
  const binding *b = context_entry(c, entry);
  if (!b)
    return (size_t)-1;
  size_t count = 0;
  for (type *t = type_prune(b->scheme->type); t->kind == TYPE_FUNCTION; t = type_prune(t->parts[1]))
    count++;
  return count;
}

size_t permc_parameter_count(permc_context *c, const char *entry) {
  context_begin_call(c);
  return context_parameter_count(c, entry);
}

// ---- formatting ------------------------------------------------------------------------------

typedef struct format_job {
  const char *name, *bytes;
  size_t length;
  text out;
} format_job;

// The text is no part of the program that is loaded.
static bool run_format(permc_context *c, void *with) {
  format_job *j = with;
  diagnostics *d = &c->program.diagnostics;
  size_t before = d->sources.count;
  source s = {.name = arena_copy(&c->program.memory, j->name, strlen(j->name)),
              .text = arena_copy(&c->program.memory, j->bytes, j->length),
              .length = (uint32_t)j->length};
  bool good = format_source(d, diag_add_source(d, s), &j->out);
  d->sources.count = before;
  return good;
}

char *permc_format(permc_context *c, const char *name, const char *bytes, size_t length) {
  context_begin_call(c);
  if (!context_given(c, name, "the name of the program") || !context_given(c,
                                                                           bytes    ? bytes
                                                                           : length ? NULL
                                                                                    : "",
                                                                           "the program"))
    return NULL;
  format_job j = {name, bytes, length, {0}};
  bool good = context_run_job(c, run_format, &j);
  if (good)
    text_string(&j.out, "");
  if (j.out.failed)
    context_no_memory(c);
  if (!good || j.out.failed)
    text_free(&j.out);
  return j.out.data;
}
