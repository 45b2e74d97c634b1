// Growing texts, and texts in an arena.
//
//   text t = {0};
//   text_printf(&t, "%d elements", 8);        // t.data: "8 elements", t.length: 10
//   const char *copy = arena_text(&a, &t);    // or text_free(&t)
//
// A text that memory ran out for notes it (`failed`); arena_text passes that on to the arena's
// handler. Nothing here exits or prints.
#ifndef PERMC_CORE_TEXT_H
#define PERMC_CORE_TEXT_H

#include "core/memory.h"
#include <locale.h>

typedef struct text {
  char *data;  // 0-terminated once anything was added, else NULL; owned, freed by text_free
  size_t length, capacity;
  bool failed;  // memory ran out: the rest is missing
} text;

void text_add(text *t, const char *bytes, size_t count);
void text_string(text *t, const char *string);
void text_printf(text *t, const char *format, ...) PRINTF_LIKE(2, 3);
void text_vprintf(text *t, const char *format, va_list arguments);
const char *text_content(const text *t);  // what was added; never NULL
void text_free(text *t);

char *arena_text(arena *a, text *t);  // moves a text, unless it failed
char *arena_printf(arena *a, const char *format, ...) PRINTF_LIKE(2, 3);

// ---- numbers in texts ------------------------------------------------------------------------

// strtod and printf obey the thread's locale: between these it is C's, whatever the embedding
// program has set. False: memory is out, and nothing is to be left.
typedef struct c_locale {
  locale_t entered, before;
} c_locale;
bool c_locale_enter(c_locale *c);
void c_locale_leave(c_locale *c);

#endif
