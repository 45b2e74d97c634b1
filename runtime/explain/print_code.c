// The text that a program's passes are compiled from, with names and lines of its source.
#include "runtime/explain/explain.h"

#include <stdio.h>

enum { WIDTH = 60 };  // characters of a source line

// "sort.perm:12: merge n . two (sort n)" of a step of the trace.
static const char *line_of_step(void *with, uint32_t step) {
  explain_lines *l = with;
  if (step >= l->pipeline->trace.steps.count)
    return NULL;
  span where = l->pipeline->trace.steps.items[step].where;
  if (where.file >= l->sources->sources.count)
    return NULL;
  const source *s = &l->sources->sources.items[where.file];
  if (s->outside)
    return NULL;
  uint32_t number = 1, first = 0;  // of the line; where it begins
  for (uint32_t i = 0; i < where.start; i++)
    if (s->text[i] == '\n') {
      number++;
      first = i + 1;
    }
  first += (uint32_t)strspn(s->text + first, " ");
  int length = (int)strcspn(s->text + first, "\n"), shown = length < WIDTH ? length : WIDTH;
  snprintf(l->line, sizeof l->line, "%s:%u: %.*s%s", s->name, (unsigned)number, shown,
           s->text + first, shown < length ? "..." : "");
  return l->line;
}

static const expr *first_body(const function *f) {
  return f && f->equations.count > 0 ? f->equations.items[0].alternatives[0].body : NULL;
}

// The name of the parameter, where each is one array.
static const char *argument_name(void *with, uint32_t number) {
  const explain_lines *l = with;
  const plan *made = l->pipeline->plan;
  const function *f = l->pipeline->entry->code;
  const expr *body = first_body(f);
  uint32_t arrays = 0;
  if (body && f->arity == 0 && body->kind == EXPR_LAMBDA)
    f = body->u.lambda;
  for (size_t i = 0; i < made->arrays.count; i++)
    arrays += made->arrays.items[i].role == NET_ARGUMENT;
  if (!body || f->arity != arrays || number >= arrays)
    return NULL;
  const pattern *p = f->equations.items[0].patterns[number];
  return p->kind == PATTERN_NAME ? p->name : NULL;
}

static int text_of_span(const permc_context *c, span where, const char **out) {
  *out = c->program.diagnostics.sources.items[where.file].text + where.start;
  return (int)(where.end - where.start);
}

// "main : [2^n]u32 -> [2^n]u32"; an expression of a command line stands for its name.
static void write_title(permc_context *c, const binding *entry, char *out, size_t size) {
  const expr *body = first_body(entry->code);
  const char *name = entry->name, *type_text;
  int length = (int)strlen(name), type_length;
  if (*name == '-' && body)
    length = text_of_span(c, body->where, &name);
  if (entry->signature) {
    type_length = text_of_span(c, entry->signature->where, &type_text);
  } else {
    type_text = context_shown_type(c, entry->scheme->type);
    type_length = (int)strlen(type_text);
  }
  snprintf(out, size, "%.*s%s : %.*s", length < WIDTH ? length : WIDTH, name,
           length < WIDTH ? "" : "...", type_length, type_text);
}

c_comments explain_comments(permc_context *c, const pipeline *p, explain_lines *lines) {
  *lines = (explain_lines){.sources = &c->program.diagnostics, .pipeline = p};
  write_title(c, p->entry, lines->title, sizeof lines->title);
  return (c_comments){lines->title, lines, argument_name, line_of_step};
}

bool explain_code(text *out, permc_context *c, const pipeline *p) {
  explain_lines lines;
  c_comments comments = explain_comments(c, p, &lines);
  c_options options = backend_text_options(p->backend, c);
  FREED_BY(c_code_free) c_code code = {0};
  const char *problem;
  options.comments = &comments;
  bool good = c_emit(&code, p->plan, &options, &problem);
  if (good)
    c_code_program(out, &code);
  else
    context_error(c, "this program has no such text: %s", problem ? problem : "out of memory");
  return good;
}
