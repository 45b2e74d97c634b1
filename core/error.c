// Errors and the rendering of messages: see the picture in error.h.
#include "core/error.h"
#include <errno.h>
#include <stdio.h>

// ---- one error -------------------------------------------------------------------------------

static void vset(error *e, span where, int number, const char *format, va_list arguments) {
  if (!e || error_is_set(e))
    return;
  vsnprintf(e->message, sizeof e->message, format, arguments);
  e->where = where;
  e->step = STEP_NONE;
  e->number = number;
}

bool error_set(error *e, span where, const char *format, ...) {
  WITH_ARGUMENTS(format, vset(e, where, 0, format, arguments));
  return false;
}

bool error_set_number(error *e, int number, const char *format, ...) {
  WITH_ARGUMENTS(format, vset(e, SPAN_NONE, number, format, arguments));
  return false;
}

bool error_pass(error *e, const error *from) {
  if (e && !error_is_set(e))
    *e = *from;
  return false;
}

bool error_no_memory(error *e) { return error_set_number(e, ENOMEM, "out of memory"); }

bool error_stopped(error *e, const atomic_bool *interrupted) {
  bool stopped = interrupted && atomic_load(interrupted);
  return stopped ? error_set(e, SPAN_NONE, "interrupted") : error_no_memory(e);
}

const char *error_of_reading(int number) {
  return number == EISDIR ? "this is a folder; name a file in it" : strerror(number);
}

const char *error_of_writing(int number) {
  return number == ENOSPC ? "the disk is full" : strerror(number);
}

bool error_tells_of_memory(const char *line) {
  return strstr(line, "out of memory") || strstr(line, "Cannot allocate memory") ||
         strstr(line, "memory exhausted");
}

void error_line_of(const char *output, char *line, size_t size) {
  bool have = false, is_error = false;
  for (const char *from = output; *from && !is_error;) {
    size_t length = strcspn(from, "\n");
    char one[400];
    snprintf(one, sizeof one, "%.*s", (int)length, from);
    is_error = strstr(one, "error") || error_tells_of_memory(one);
    if (is_error || (!have && length > 0))
      snprintf(line, size, "%s", one);
    have = have || length > 0;
    from += length + (from[length] == '\n');
  }
}

// ---- the list of messages --------------------------------------------------------------------

static const char program_prefix[] = "permc: ";

const char *diag_unprefixed(const char *rendered) {
  size_t length = strlen(program_prefix);
  return rendered + (strncmp(rendered, program_prefix, length) ? 0 : length);
}

uint32_t diag_add_source(diagnostics *d, source s) {
  vec_push(d->memory, &d->sources, s);
  return (uint32_t)d->sources.count - 1;
}

static bool starts_character(char c) { return ((unsigned char)c & 0xC0) != 0x80; }

// Where the text begins: after a byte order mark.
static uint32_t text_start(const source *s) {
  return s->length >= 3 && !memcmp(s->text, "\xEF\xBB\xBF", 3) ? 3 : 0;
}

void source_position(const source *s, uint32_t offset, uint32_t *line, uint32_t *column) {
  *line = *column = 1;
  if (offset > s->length)
    offset = s->length;
  for (uint32_t i = text_start(s); i < offset; i++) {
    if (s->text[i] == '\n') {
      ++*line;
      *column = 1;
    } else if (starts_character(s->text[i])) {
      ++*column;
    }
  }
}

// The line and, below it, carets. Long lines are cut around the span.
static void render_line(text *out, const source *s, span where) {
  enum { WIDTH = 120 };
  uint32_t begin = where.start > s->length ? s->length : where.start, end = begin;
  while (begin > text_start(s) && s->text[begin - 1] != '\n')
    begin--;
  while (end < s->length && s->text[end] != '\n')
    end++;
  if (end > begin && s->text[end - 1] == '\r')
    end--;
  uint32_t first = begin;
  if (end - begin > WIDTH && where.start - begin > WIDTH / 2) {
    first = where.start - WIDTH / 2;
    while (first < where.start && !starts_character(s->text[first]))
      first++;
  }
  uint32_t last = end - first > WIDTH ? first + WIDTH : end;
  while (last < end && !starts_character(s->text[last]))
    last++;
  text_string(out, first > begin ? "  ..." : "  ");
  text_shown(out, s->text + first, last - first);
  text_string(out, last < end ? "...\n" : "\n");
  text_string(out, first > begin ? "     " : "  ");
  uint32_t carets = where.end > last ? last : where.end;
  for (uint32_t i = first; i < where.start && i < last; i++)
    if (starts_character(s->text[i]))
      text_add(out, s->text[i] == '\t' ? "\t" : " ", 1);
  text_add(out, "^", 1);
  for (uint32_t i = where.start + 1; i < carets; i++)
    if (starts_character(s->text[i]))
      text_add(out, "^", 1);
  text_add(out, "\n", 1);
}

const char *const diag_kind_names[] = {"error", "warning", "note", "hint"};

void diag_truncate(diagnostics *d, size_t length) {
  text *t = &d->rendered, *r = d->reported;
  t->length = length;
  if (t->data)
    t->data[length] = 0;
  while (r && r->length && ((diagnostic *)(void *)(r->data + r->length))[-1].end > length)
    r->length -= sizeof(diagnostic);
}

void diag_vreport(diagnostics *d, diag_kind kind, span where, const char *format,
                  va_list arguments) {
  const char *prefix = kind == DIAG_ERROR && d->demote ? d->demote : "";
  if (kind == DIAG_ERROR && d->demote)
    kind = DIAG_WARNING;
  if (kind == DIAG_ERROR && d->errors++ >= DIAG_MAX_ERRORS) {
    if (d->errors == DIAG_MAX_ERRORS + 1)
      text_printf(&d->rendered, "permc: these are the first %d errors\n", DIAG_MAX_ERRORS);
    return;
  }
  if (kind == DIAG_WARNING)
    d->warnings++;
  if ((kind == DIAG_NOTE || kind == DIAG_HINT) && d->errors > DIAG_MAX_ERRORS)
    return;
  const source *s = where.file < d->sources.count ? &d->sources.items[where.file] : NULL;
  bool placed = s && kind != DIAG_HINT;
  diagnostic m = {.kind = kind, .where = where, .from = d->rendered.length};
  if (placed) {
    uint32_t line, column;
    source_position(s, where.start, &line, &column);
    text_shown(&d->rendered, s->name, strlen(s->name));
    text_printf(&d->rendered, ":%u:%u: ", line, column);
  } else if (kind != DIAG_HINT) {
    text_string(&d->rendered, program_prefix);
  }
  if (placed || kind != DIAG_ERROR)
    text_printf(&d->rendered, "%s: ", diag_kind_names[kind]);
  m.words = d->rendered.length;
  text_string(&d->rendered, placed ? prefix : "");
  text_message(&d->rendered, format, arguments);
  text_string(&d->rendered, "\n");
  if (placed && !s->outside)
    render_line(&d->rendered, s, where);
  m.end = d->rendered.length;
  if (d->reported)
    text_add(d->reported, (const char *)&m, sizeof m);
}

void diag_report(diagnostics *d, diag_kind kind, span where, const char *format, ...) {
  WITH_ARGUMENTS(format, diag_vreport(d, kind, where, format, arguments));
}
