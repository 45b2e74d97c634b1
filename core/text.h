// Growing texts, and texts in an arena.
//
//   text t = {0};
//   text_printf(&t, "%d elements", 8);        // t.data: "8 elements", t.length: 10
//   const char *copy = arena_text(&a, &t);    // or text_free(&t)
//
// A text that memory ran out for notes it (`failed`); arena_text passes that on to the arena's
// handler. One whose `memory` is set grows in that arena: it need not be freed, also where the
// arena's handler is jumped to before it is complete. Nothing here exits or prints.
#ifndef PERMC_CORE_TEXT_H
#define PERMC_CORE_TEXT_H

#include "core/float_environment.h"
#include "core/memory.h"
#include <locale.h>

typedef struct text {
  char *data;  // 0-terminated once anything was added, else NULL; owned, freed by text_free
  size_t length, capacity;
  bool failed;    // memory ran out: the rest is missing
  arena *memory;  // where it grows; NULL: it is malloc'd
} text;

void text_add(text *t, const char *bytes, size_t count);
void text_string(text *t, const char *string);
void text_printf(text *t, const char *format, ...) PRINTF_LIKE(2, 3);
void text_vprintf(text *t, const char *format, va_list arguments);
// Adds a character as UTF-8; what is none, or 0, as U+FFFD.
void text_character(text *t, uint32_t character);
// Bytes of the UTF-8 character that begins here (RFC 3629, section 4); 0: there is none.
size_t text_character_length(const char *bytes, size_t left);
// Adds bytes as a terminal may get them: what it cannot show, or would obey, is a question mark.
// Line ends and tabs stay.
void text_shown(text *t, const char *bytes, size_t count);
// Adds a message as a terminal may get it; of a long one, with names from a file of any size, the
// middle is left out.
void text_message(text *t, const char *format, va_list arguments);
// Adds a word as a shell takes it, between quotes where it needs them: 'my keys.txt'.
void text_shell_word(text *t, const char *word);
const char *text_content(const text *t);  // what was added; never NULL
// Insertions, deletions, replacements and swaps of neighbours that turn word a into b (Damerau
// 1964, restricted to one edit per place). Of more than 40 characters: SIZE_MAX.
size_t text_distance(const char *a, const char *b);
// The name that is closest to a word, of those considered; NULL: none is near.
//
//   text_closest c = {.word = "srot"};
//   text_consider(&c, "sort");
//   text_consider(&c, "scan");               // c.name is "sort"
typedef struct text_closest {
  const char *word, *name;
  size_t distance;
} text_closest;
void text_consider(text_closest *c, const char *candidate);
void text_free(text *t);

char *arena_text(arena *a, text *t);  // moves a text, unless it failed
char *arena_printf(arena *a, const char *format, ...) PRINTF_LIKE(2, 3);

// ---- numbers ---------------------------------------------------------------------------------

// strtod and printf obey the thread's locale, and arithmetic its rounding mode and what it does
// with subnormal numbers: between these all is as when a C program starts, whatever the embedding
// program has set. False: memory is out, and nothing is to be left.
typedef struct c_environment {
  locale_t entered, before;
  float_environment floats;
} c_environment;
bool c_environment_enter(c_environment *c);
void c_environment_leave(c_environment *c);

#endif
