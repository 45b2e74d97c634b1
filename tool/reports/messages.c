// See messages.h.
#include "tool/reports/messages.h"
#include "tool/reports/json.h"

// Without the last line's end, and without the source's line and carets below.
static json_t *words_of(const char *from, const char *end) {
  const char *newline = memchr(from, '\n', (size_t)(end - from));
  FREED_BY(text_free) text words = {0};
  text_add(&words, from, (size_t)((newline ? newline : end) - from));
  return report_string(text_content(&words));
}

static void add_place(json_t *to, const diagnostics *d, span where) {
  if (where.file >= d->sources.count)
    return;
  const source *s = &d->sources.items[where.file];
  uint32_t line, column;
  json_object_set_new(to, "file", report_string(s->name));
  source_position(s, where.start, &line, &column);
  json_object_set_new(to, "line", json_integer(line));
  json_object_set_new(to, "column", json_integer(column));
  source_position(s, where.end, &line, &column);
  json_object_set_new(to, "end_line", json_integer(line));
  json_object_set_new(to, "end_column", json_integer(column));
}

static json_t *add_message(json_t *list, diag_kind severity, const char *from, const char *end) {
  json_t *m = json_pack("{s:s, s:o, s:[], s:[]}", "severity", diag_kind_names[severity], "message",
                        words_of(from, end), "help", "notes");
  json_array_append_new(list, m);
  return m;
}

void report_words_json(json_t *list, const char *words) {
  add_message(list, DIAG_ERROR, words, words + strlen(words));
}

void report_messages_json(json_t *list, const diagnostics *d) {
  const char *all = text_content(&d->rendered), *at = all;
  json_t *last = NULL;
  for (size_t i = 0; i < d->reported->length; i += sizeof(diagnostic)) {
    diagnostic m;
    memcpy(&m, d->reported->data + i, sizeof m);
    if (all + m.from > at)  // what was added as a text
      last = add_message(list, DIAG_ERROR, diag_unprefixed(at), all + m.from);
    const char *words = all + m.words;
    at = all + m.end;
    json_t *own = NULL;
    if (m.kind == DIAG_HINT && last) {
      json_array_append_new(json_object_get(last, "help"), words_of(words, at));
    } else if (m.kind == DIAG_NOTE && last) {
      own = json_pack("{s:o}", "message", words_of(words, at));
      json_array_append_new(json_object_get(last, "notes"), own);
    } else {
      own = last = add_message(list, m.kind, words, at);
    }
    if (own)
      add_place(own, d, m.where);
  }
  if (*at)
    report_words_json(list, diag_unprefixed(at));
}
