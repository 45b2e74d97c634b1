// Arguments from files and bytes. See arguments.h.
#include "runtime/arguments/arguments.h"

typedef struct sources {
  value_source **open;
  size_t count, current;
} sources;

typedef VEC(value_expectation) expectations;

static void expect_type(permc_context *c, type *t, uint32_t depth, expectations *out) {
  t = type_prune(t);
  if (t->kind == TYPE_ARRAY) {
    expect_type(c, t->parts[0], depth + 1, out);
    return;
  }
  if (t->kind == TYPE_TUPLE) {
    for (uint32_t i = 0; i < t->count; i++)
      expect_type(c, t->parts[i], depth, out);
    return;
  }
  value_expectation e = {closed_scalar(t), (int)depth};
  if (t->kind == TYPE_VARIABLE && t->constraint.kind == CONSTRAINT_NONE)
    e.rank = -1 - (int)depth;
  vec_push(&c->program.memory, out, e);
}

static bool read_array(permc_context *c, sources *s, value_expectation e, array *out) {
  error why = {0};
  for (; s->current < s->count; s->current++) {
    value_status status = value_read(s->open[s->current], e, out, &why);
    if (status == VALUE_OK)
      return true;
    if (status == VALUE_ERROR)
      return context_error(c, "%s", why.message);
  }
  return false;
}

// Reads the arrays of one parameter. A variable takes all fields of a structured array.
static bool read_parameter(permc_context *c, sources *s, type *t, permc_value **out) {
  expectations e = {0};
  expect_type(c, t, 0, &e);
  VEC(array) got = {0};
  bool good = true;
  for (size_t i = 0; good && i < e.count; i++) {
    array a = {0};
    good = read_array(c, s, e.items[i], &a);
    if (good)
      vec_push(&c->program.memory, &got, a);
  }
  while (good && e.count == 1 && s->current < s->count && value_pending(s->open[s->current])) {
    array a = {0};
    good = read_array(c, s, e.items[0], &a);
    if (good)
      vec_push(&c->program.memory, &got, a);
  }
  *out = good ? value_new(got.count) : NULL;
  if (!*out) {
    arrays_destroy(got.items, got.count);
    return good && context_error(c, "out of memory");
  }
  memcpy((*out)->components, got.items, got.count * sizeof(array));
  return true;
}

static bool all_read(permc_context *c, sources *s, const char *entry, size_t parameters) {
  for (; s->current < s->count; s->current++) {
    array extra = {0};
    error why = {0};
    value_status status =
        value_read(s->open[s->current], (value_expectation){SCALAR_COUNT, -1}, &extra, &why);
    array_destroy(&extra);
    if (status == VALUE_END)
      continue;
    if (status == VALUE_ERROR)
      context_error(c, "%s", why.message);
    else
      context_error(c, "there is more input than the %zu argument%s of '%s'", parameters,
                    parameters == 1 ? "" : "s", entry);
    return false;
  }
  return true;
}

// The parameter's type as the signature writes it.
static const char *written_parameter(permc_context *c, const binding *b, size_t number) {
  const type_expr *t = b->signature;
  for (size_t i = 0; t && t->kind == TYPE_EXPR_FUNCTION && i < number; i++)
    t = t->parts[1];
  if (!t || t->kind != TYPE_EXPR_FUNCTION)
    return "";
  span where = t->parts[0]->where;
  const source *from = &c->program.diagnostics.sources.items[where.file];
  return arena_printf(&c->program.memory, " : %.*s", (int)(where.end - where.start),
                      from->text + where.start);
}

static bool report_missing(permc_context *c, const sources *s, const binding *b, size_t number) {
  const char *last = s->count ? value_source_name(s->open[s->count - 1]) : "the input";
  return context_error(c, "%s: ends before argument %zu of '%s'%s", last, number + 1, b->name,
                       written_parameter(c, b, number));
}

static bool read_arguments(permc_context *c, const char *entry, sources *s,
                           permc_value ***arguments, size_t *count) {
  binding *b = context_entry(c, entry);
  if (!b)
    return false;
  entry_types t = entry_types_start(c, b);
  size_t parameters = permc_parameter_count(c, entry);
  *arguments = calloc(parameters + 1, sizeof **arguments);
  if (!*arguments)
    return context_error(c, "out of memory");
  for (*count = 0; *count < parameters;) {
    type *wanted = type_prune(t.rest)->parts[0];
    if (!read_parameter(c, s, wanted, &(*arguments)[*count]))
      return !c->program.diagnostics.errors && report_missing(c, s, b, *count);
    ++*count;
    if (!entry_types_fit(c, &t, (*arguments)[*count - 1], *count - 1))
      return false;
  }
  return all_read(c, s, entry, parameters);
}

typedef struct read_job {
  const char *entry;
  sources sources;
  permc_value ***arguments;
  size_t *count;
} read_job;

static bool run_read(permc_context *c, void *with) {
  read_job *j = with;
  return read_arguments(c, j->entry, &j->sources, j->arguments, j->count);
}

// Reads all, if the sources could be opened, and closes them.
static bool read_and_close(permc_context *c, read_job *j, bool opened) {
  bool good = opened && context_run_job(c, run_read, j);
  for (size_t i = 0; i < j->sources.count; i++)
    value_source_close(j->sources.open[i]);
  if (!good)
    values_drop(j->arguments, j->count);
  return good;
}

bool permc_read_files(permc_context *c, const char *entry, const char *const *paths,
                      size_t path_count, permc_value ***arguments, size_t *count) {
  context_begin_call(c);
  *arguments = NULL;
  *count = 0;
  value_source **open = calloc(path_count + 1, sizeof *open);
  if (!open)
    return context_error(c, "out of memory");
  read_job j = {entry, {open, 0, 0}, arguments, count};
  bool good = true;
  for (size_t i = 0; good && i < path_count; i++) {
    error why = {0};
    open[i] = value_source_open(paths[i], &why);
    good = open[i] || context_error(c, "%s", why.message);
    j.sources.count += good;
  }
  good = read_and_close(c, &j, good);
  free(open);
  return good;
}

bool permc_read_bytes(permc_context *c, const char *entry, const char *name, const void *bytes,
                      size_t byte_count, permc_value ***arguments, size_t *count) {
  context_begin_call(c);
  *arguments = NULL;
  *count = 0;
  error why = {0};
  value_source *s = value_source_bytes(name, bytes, byte_count, &why);
  if (!s)
    return context_error(c, "%s", why.message);
  read_job j = {entry, {&s, 1, 0}, arguments, count};
  return read_and_close(c, &j, true);
}
