// Memory and text helpers shared by lang/ and runtime/.
//
//   arena    everything of one compilation, freed at once
//   vec      a growing array of any type:  VEC(int) v = {0};  vec_push(&v, 7);  v.items[0]
//   text     a growing string
//
// Out of memory: arena and vec jump to the handler of the arena's owner (arena.failure). A text
// notes that it failed, and arena_text passes that on to the handler. Nothing here exits or prints.
#ifndef PERMC_CORE_BASE_H
#define PERMC_CORE_BASE_H

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define NORETURN __attribute__((noreturn))
#else
#define PRINTF_LIKE(f, a)
#define NORETURN
#endif

// ---- arena ---------------------------------------------------------------------------------

typedef struct arena_block arena_block;
typedef struct arena {
  arena_block *blocks;
  size_t used;       // bytes handed out, for limits
  size_t limit;      // 0: none
  jmp_buf *failure;  // where to go when memory (or the limit) runs out
} arena;

// Zeroed memory, aligned for any type. Never returns NULL: jumps to a->failure instead.
void *arena_alloc(arena *a, size_t bytes);
char *arena_copy(arena *a, const char *text, size_t bytes);  // adds a terminating 0
typedef struct text text;
char *arena_text(arena *a, text *t);  // moves a text, unless it failed
char *arena_printf(arena *a, const char *format, ...) PRINTF_LIKE(2, 3);
void arena_free(arena *a);
#define NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define NEW_ARRAY(a, type, n) ((type *)arena_alloc((a), sizeof(type) * (size_t)(n)))

// ---- growing arrays, in an arena -----------------------------------------------------------

#define VEC(type)                                                                                  \
  struct {                                                                                         \
    type *items;                                                                                   \
    size_t count, capacity;                                                                        \
  }
#define vec_push(a, v, item)                                                                       \
  ((v)->items = vec_grow((a), (v)->items, sizeof *(v)->items, (v)->count, &(v)->capacity),         \
   (v)->items[(v)->count++] = (item))
void *vec_grow(arena *a, void *items, size_t item_size, size_t count, size_t *capacity);

// ---- text ------------------------------------------------------------------------------------

struct text {
  char *data;  // 0-terminated once anything was added, else NULL; owned, freed by text_free
  size_t length, capacity;
  bool failed;  // memory ran out: the rest is missing
};

void text_add(text *t, const char *bytes, size_t count);
void text_string(text *t, const char *string);
void text_printf(text *t, const char *format, ...) PRINTF_LIKE(2, 3);
void text_vprintf(text *t, const char *format, va_list arguments);
const char *text_content(const text *t);  // what was added; never NULL
void text_free(text *t);

// ---- numbers in texts ------------------------------------------------------------------------

// strtod and printf obey the thread's locale: between these it is C's, whatever the embedding
// program has set. False: memory is out, and nothing is to be left.
typedef struct c_locale {
  locale_t entered, before;
} c_locale;
bool c_locale_enter(c_locale *c);
void c_locale_leave(c_locale *c);

// ---- hashing ---------------------------------------------------------------------------------

uint64_t hash_bytes(const void *bytes, size_t count);

#endif
