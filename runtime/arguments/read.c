// Arguments from files and bytes. See arguments.h.
#include "runtime/arguments/arguments.h"

typedef struct sources {
  value_source **open;
  size_t count, current;
  const value_source *taken;  // the last all of whose fields one parameter took; NULL: none
  size_t taker;               // its number, from 0
  permc_code wrong;           // what it is if they hold something else
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
  vec_push(&c->memory, out, e);
}

// Reads the next component of the value.
static bool read_component(permc_context *c, sources *s, value_expectation e, permc_value *to) {
  array a = {0};
  error why = {0};
  for (; s->current < s->count; s->current++) {
    value_source *from = s->open[s->current];
    value_status status = value_read(from, e, &a, &why);
    if (status == VALUE_ERROR)
      return context_error_of(c, s->wrong, "%s", why.message);
    if (status == VALUE_END)
      continue;
    if (value_append(to, &a, value_name(from)))
      return true;
    array_destroy(&a);
    return context_no_memory(c);
  }
  return false;
}

// Whether arrays of this type may hold tuples.
static bool is_open(type *t) {
  while (t->kind == TYPE_ARRAY)
    t = type_prune(t->parts[0]);
  return t->kind == TYPE_VARIABLE && t->constraint.kind != CONSTRAINT_SCALAR;
}

static bool holds_rows_of_tuples(const type *t) {
  uint32_t depth = 0;
  for (; t->kind == TYPE_ARRAY; depth++)
    t = type_prune(t->parts[0]);
  return depth > 1 && t->kind == TYPE_TUPLE;
}

// Reads the arrays of one parameter. A variable that may be a tuple takes all fields of a
// structured array, and all columns of a table.
static bool read_parameter(permc_context *c, sources *s, type *t, size_t number,
                           permc_value **out) {
  expectations e = {0};
  expect_type(c, t, 0, &e);
  permc_value *v = *out = value_new(0);
  if (!v)
    return context_no_memory(c);
  bool good = true;
  for (size_t i = 0; good && i < e.count; i++)
    good = read_component(c, s, e.items[i], v);
  while (good && e.count == 1 && is_open(t) && s->current < s->count &&
         value_pending(s->open[s->current])) {
    s->taken = s->open[s->current];
    s->taker = number;
    good = read_component(c, s, e.items[0], v);
  }
  if (!good)
    permc_value_free(v), *out = NULL;
  return good;
}

typedef struct text_reading {
  const char *name, *bytes;
  size_t count;
  type *wanted;
  value_source *open;
  permc_value *value;
  bool good;
} text_reading;

static bool read_text(permc_context *c, void *with) {
  text_reading *r = with;
  error why = {0};
  r->open = value_source_bytes(r->name, r->bytes, r->count, &why);
  sources s = {.open = &r->open, .count = 1, .wrong = PERMC_ERROR_ARGUMENT};
  if (!r->open)
    return context_error_of(c, s.wrong, "%s", why.message);
  r->good = read_parameter(c, &s, r->wanted, 0, &r->value);
  if (!r->good && !c->program.diagnostics.errors)
    context_error_of(c, s.wrong, "%s: '%.*s' is not the whole argument", r->name, (int)r->count,
                     r->bytes);
  return r->good;
}

static void end_text(void *with) {
  text_reading *r = with;
  value_source_close(r->open);
  if (!r->good)
    permc_value_free(r->value);
}

permc_value *value_of_text(permc_context *c, const char *name, const char *bytes, size_t count,
                           type *t) {
  text_reading r = {name, bytes, count, t, NULL, NULL, false};
  return context_do_and_end(c, read_text, end_text, &r) ? r.value : NULL;
}

// Of a row of numbers that becomes columns where an array may have been meant.
#define ONE_ROW                                                                                    \
  "the only row gives each number as a column; an array has one number a line, or all of them in " \
  "brackets: [3, 1, 2]"

static bool all_read(permc_context *c, sources *s, const char *entry, size_t parameters) {
  const value_source *last = s->current < s->count ? s->open[s->current] : NULL;
  if (last && value_pending(last)) {
    size_t left = value_pending(last), used = value_taken(last);
    FREED_BY(text_free) text example = {0};
    value_print_fields(&example, last, used);
    context_error_of(c, s->wrong,
                     "%s gives %zu columns, and '%s' takes only %zu; choose by name or number: %s",
                     value_source_name(last), used + left, entry, used, text_content(&example));
    if (value_is_one_row(last))
      diag_report(&c->program.diagnostics, DIAG_HINT, SPAN_NONE, ONE_ROW);
    return false;
  }
  for (; s->current < s->count; s->current++) {
    array extra = {0};
    error why = {0};
    value_status status =
        value_read(s->open[s->current], (value_expectation){SCALAR_COUNT, -1}, &extra, &why);
    array_destroy(&extra);
    if (status == VALUE_END)
      continue;
    if (status == VALUE_ERROR)
      return context_error_of(c, s->wrong, "%s", why.message);
    context_error_of(c, s->wrong, "there is more input than the %zu argument%s of '%s'", parameters,
                     parameters == 1 ? "" : "s", entry);
    diag_report(&c->program.diagnostics, DIAG_HINT, SPAN_NONE,
                "leave the rest out, or give '%s' a parameter for it", entry);
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
  return arena_printf(&c->memory, " : %.*s", (int)(where.end - where.start),
                      from->text + where.start);
}

// Nothing is left for a parameter, for an earlier one took all fields of a file.
static bool report_taken(permc_context *c, const sources *s, const binding *b, size_t number) {
  FREED_BY(text_free) text example = {0};
  value_print_fields(&example, s->taken, SIZE_MAX);
  context_error_of(
      c, s->wrong,
      "%s: argument %zu of '%s' may be an array of tuples and took all columns; none is "
      "left for argument %zu",
      value_source_name(s->taken), s->taker + 1, b->name, number + 1);
  diag_report(&c->program.diagnostics, DIAG_HINT, SPAN_NONE, "give each argument its own: %s",
              text_content(&example));
  return false;
}

static bool report_missing(permc_context *c, const sources *s, const binding *b, size_t number,
                           type *wanted) {
  const char *last = s->count ? value_source_name(s->open[s->count - 1]) : "the input";
  if (s->taken)
    return report_taken(c, s, b, number);
  bool empty = number == 0 && s->count && value_source_is_empty(s->open[s->count - 1]);
  context_error_of(c, s->wrong, "%s: %s argument %zu of '%s'%s", last,
                   empty ? "this is empty, and should hold" : "ends before", number + 1, b->name,
                   written_parameter(c, b, number));
  diag_report(
      &c->program.diagnostics, DIAG_HINT, SPAN_NONE, "%s",
      empty ? "arguments come from files, -i FILE, from standard input, or from --random "
              "'[8]f32'"
      : holds_rows_of_tuples(wanted)
          ? "rows of tuples are one array of rank 2 or more for each component, one after "
            "the other: [[1, 2]] [[0.5, 1.5]]; a table gives one such array, or columns "
            "of rank 1"
      : s->count && value_is_in_program(s->open[0])
          ? "arguments stand one after the other: { [3, 1] 5 }"
          : "arguments stand one after the other, as in [3, 1] 5, in one file or in several "
            "(-i A -i B)");
  return false;
}

// What the signature asks for, or the type that was inferred, and the data are not.
static bool report_other_type(permc_context *c, const sources *s, const binding *b, size_t number,
                              type *wanted) {
  const char *written = written_parameter(c, b, number);
  if (s->current == s->count || !value_has_other_type(s->open[s->current]))
    return false;
  entry_note_literal(c, wanted);
  bool inferred = !*written && !type_literal(wanted);
  bool scalar = type_prune(wanted)->kind != TYPE_ARRAY;
  int rank = 0, found = value_found_rank(s->open[s->current]);
  for (; (wanted = type_prune(wanted))->kind == TYPE_ARRAY; rank++)
    wanted = wanted->parts[0];
  if (inferred && scalar && number + 1 < context_parameter_count(c, b->name))
    diag_report(&c->program.diagnostics, DIAG_HINT, SPAN_NONE,
                "the program is of type %s, whose argument %zu is one number: write it into the "
                "program, such as top_k 3, or give it in a file of its own: -i A -i B",
                context_shown_type(c, b->scheme->type), number + 1);
  else if (inferred && closed_scalar(wanted) == SCALAR_I64)
    diag_report(&c->program.diagnostics, DIAG_HINT, SPAN_NONE,
                "the program is of type %s; length gives an i64: of floats, f64 (length xs)",
                context_shown_type(c, b->scheme->type));
  if (*written)
    diag_report(
        &c->program.diagnostics, DIAG_HINT, SPAN_NONE,
        found < 0 || found == rank ? "'%s' takes %s as argument %zu; data are never converted, but "
                                     "its signature may name another type, or a for any: main : "
                                     "[m]a -> [m]a"
        : found > rank && !rank ? "'%s' takes %s as argument %zu: a number stands alone, without "
                                  "brackets"
        : found > rank
            ? "'%s' takes %s as argument %zu: rows are [m][n]f64 in a signature, and map "
              "sort works on each row"
        : found ? "'%s' takes %s as argument %zu: an array of rows is [[1, 2], [3, 4]]"
                : "'%s' takes %s as argument %zu: an array stands in brackets, as [3, 1, 2] or [3]",
        b->name, written + strlen(" : "), number + 1);
  return false;
}

static bool read_arguments(permc_context *c, const char *entry, sources *s,
                           permc_value ***arguments, size_t *count) {
  binding *b = context_entry(c, entry);
  if (!b)
    return false;
  entry_types t = entry_types_start(c, b);
  size_t parameters = context_parameter_count(c, entry);
  *arguments = calloc(parameters + 1, sizeof **arguments);
  if (!*arguments)
    return context_no_memory(c);
  for (*count = 0; *count < parameters;) {
    type *wanted = type_prune(t.rest)->parts[0];
    if (!read_parameter(c, s, wanted, *count, &(*arguments)[*count]))
      return c->program.diagnostics.errors ? report_other_type(c, s, b, *count, wanted)
                                           : report_missing(c, s, b, *count, wanted);
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
  for (size_t i = 0; i < j->sources.count; i++) {
    const value_source *s = j->sources.open[i];
    if (good && *value_note(s))
      diag_report(&c->program.diagnostics, DIAG_WARNING, SPAN_NONE, "%s: %s", value_source_name(s),
                  value_note(s));
    if (good && s == j->sources.taken && value_is_one_row(s))
      diag_report(&c->program.diagnostics, DIAG_WARNING, SPAN_NONE, "%s: " ONE_ROW,
                  value_source_name(s));
    value_source_close(j->sources.open[i]);
  }
  if (!good)
    values_drop(j->arguments, j->count);
  return good;
}

bool permc_read_files(permc_context *c, const char *entry, const char *const *paths,
                      size_t path_count, permc_value ***arguments, size_t *count) {
  context_begin_call(c);
  if (!context_results(c, arguments, count) || !context_given_list(c, paths, path_count, "paths"))
    return false;
  FREED value_source **open = calloc(path_count + 1, sizeof *open);
  if (!open)
    return context_no_memory(c);
  read_job j = {entry, {.open = open, .wrong = PERMC_ERROR_FILE}, arguments, count};
  bool good = true;
  for (size_t i = 0; good && i < path_count; i++) {
    error why = {0};
    if (!(good = context_given(c, paths[i], "a path")))
      break;
    open[i] = value_source_open(paths[i], &why);
    good = open[i] || context_error_of(c, PERMC_ERROR_FILE, "%s", why.message);
    j.sources.count += good;
    if (good)
      value_source_watch(open[i], context_begin_stage(c, "reading", "bytes"));
    if (good && (c->ranks || c->file_memory))
      value_source_leave(open[i], VALUES_APART);
  }
  good = read_and_close(c, &j, good);
  return good;
}

bool permc_read_bytes(permc_context *c, const char *entry, const char *name, const void *bytes,
                      size_t byte_count, permc_value ***arguments, size_t *count) {
  context_begin_call(c);
  if (!context_results(c, arguments, count) || !context_given(c, name, "the name of the bytes") ||
      !context_given_list(c, bytes, byte_count, "bytes"))
    return false;
  error why = {0};
  value_source *s = value_source_bytes(name, bytes, byte_count, &why);
  if (!s)
    return context_error_of(c, PERMC_ERROR_FILE, "%s", why.message);
  read_job j = {entry, {.open = &s, .count = 1, .wrong = PERMC_ERROR_FILE}, arguments, count};
  return read_and_close(c, &j, true);
}
