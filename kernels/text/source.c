#include "kernels/text/source.h"

#include <assert.h>

const struct c_source *c_source_named(const char *name, size_t length) {
  for (size_t i = 0; i < c_source_count; i++)
    if (strlen(c_sources[i].name) == length && memcmp(c_sources[i].name, name, length) == 0)
      return &c_sources[i];
  return NULL;
}

// The file's name in a line `#include "..."`, or NULL.
static const char *included_name(const char *line, const char *end, size_t *length) {
  static const char word[] = "#include \"";
  if ((size_t)(end - line) < sizeof word || memcmp(line, word, sizeof word - 1) != 0)
    return NULL;
  const char *name = line + sizeof word - 1, *quote = memchr(name, '"', (size_t)(end - name));
  *length = quote ? (size_t)(quote - name) : 0;
  return quote ? name : NULL;
}

static bool is_blank_or_comment(const char *line, const char *end) {
  while (line < end && *line == ' ')
    line++;
  return line == end || (end - line >= 2 && line[0] == '/' && line[1] == '/');
}

static void add_lines(text *out, const struct c_source *s) {
  const char *end = s->text + s->length;
  for (const char *line = s->text, *next; line < end; line = next + 1) {
    next = memchr(line, '\n', (size_t)(end - line));
    assert(next);  // sources end with a line
    size_t length = 0;
    const char *name = included_name(line, next, &length);
    if (name && length > 4 && memcmp(name + length - 4, ".inc", 4) == 0)
      add_lines(out, c_source_named(name, length));
    else if (!name && !is_blank_or_comment(line, next))
      text_add(out, line, (size_t)(next + 1 - line));
  }
}

void c_source_add(text *out, const char *name) {
  const struct c_source *s = c_source_named(name, strlen(name));
  assert(s);
  add_lines(out, s);
}
