// The files of a library. See making.h.
#include "runtime/ahead/making.h"

#include <stdarg.h>
#include <stdlib.h>

text *ahead_add_file(ahead_library *l, const char *format, ...) {
  ahead_file *files = realloc(l->files, (l->count + 1) * sizeof *files);
  char *name = NULL;
  va_list arguments;
  if (!files)
    return NULL;
  l->files = files;
  va_start(arguments, format);
  int length = vasprintf(&name, format, arguments);
  va_end(arguments);
  if (length < 0)
    return NULL;
  files[l->count] = (ahead_file){name, {0}};
  return &files[l->count++].content;
}

void ahead_free(ahead_library *l) {
  for (size_t i = 0; i < l->count; i++) {
    free(l->files[i].name);
    text_free(&l->files[i].content);
  }
  free(l->files);
  *l = (ahead_library){0};
}

void ahead_write_head(text *out, const ahead_making *m) {
  text_printf(out, "// %s\n// at %s. Written by permc %s.\n#include \"%s_private.h\"\n\n", m->title,
              m->request->types, PERMC_VERSION, m->request->name);
}
