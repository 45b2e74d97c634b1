// Memory of one compilation: an arena, freed at once, and growing arrays in it.
//
//   arena a = {.failure = &handler};          // where to jump when memory is out
//   VEC(int) v = {0};
//   vec_push(&a, &v, 7);                      // v.items[0] == 7, v.count == 1
//   arena_free(&a);                           // v and all else are gone
//
// Nothing here exits or prints.
#ifndef PERMC_CORE_MEMORY_H
#define PERMC_CORE_MEMORY_H

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

// ---- locals ------------------------------------------------------------------------------------

// A local variable that a function ends where its scope is left, by whatever return; but not by a
// jump (arena_fail).
//
//   FREED uint64_t *order = malloc(bytes);
//   FREED_BY(text_free) text line = {0};
#define FREED_BY(function) __attribute__((cleanup(function)))
#define FREED FREED_BY(memory_free)
static inline void memory_free(void *variable) {
  void *memory;
  memcpy(&memory, variable, sizeof memory);
  free(memory);
}

// A call with what stands behind the last named argument of a function; there it is `arguments`.
//
//   WITH_ARGUMENTS(format, text_vprintf(&line, format, arguments));
#define WITH_ARGUMENTS(last, call)                                                                 \
  do {                                                                                             \
    va_list arguments;                                                                             \
    va_start(arguments, last);                                                                     \
    call;                                                                                          \
    va_end(arguments);                                                                             \
  } while (0)

// ---- arena ---------------------------------------------------------------------------------

typedef struct arena_block arena_block;
typedef struct arena {
  arena_block *blocks;
  size_t used;       // bytes handed out, for limits
  size_t limit;      // 0: none
  bool at_limit;     // an allocation has failed because of it
  jmp_buf *failure;  // where to go when memory (or the limit) runs out
} arena;

// Zeroed memory, aligned for any type. Never returns NULL: jumps to a->failure instead.
void *arena_alloc(arena *a, size_t bytes);
void *arena_try_alloc(arena *a, size_t bytes);                 // NULL: no memory
NORETURN void arena_fail(arena *a);                            // the jump
char *arena_copy(arena *a, const char *string, size_t bytes);  // adds a terminating 0
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
// Of malloc'd items: room for one more than `count`; items: where the pointer to them is. False:
// there is no memory, and all is as it was.
bool memory_grow(void *items, size_t item_size, size_t count, size_t *capacity);
void *vec_grow(arena *a, void *items, size_t item_size, size_t count, size_t *capacity);

#endif
