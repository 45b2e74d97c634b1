#include "core/base.h"

#include <stdalign.h>
#include <stdio.h>

// Under the address sanitizer what lies between two allocations of an arena is poisoned, as
// malloc's would be.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONED 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define POISONED 1
#endif
#ifdef POISONED
#include <sanitizer/asan_interface.h>
enum { GAP = alignof(max_align_t) };
#else
#define ASAN_POISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
enum { GAP = 0 };
#endif

// ---- arena ---------------------------------------------------------------------------------

// Blocks form a list, newest first; only the newest has free room. The header is padded so that
// what follows it is aligned for any type.
struct arena_block {
  arena_block *next;
  size_t size, used;  // of the room after the header
};

enum { ALIGNMENT = alignof(max_align_t), FIRST_BLOCK = 4096, LARGEST_STEP = 1 << 20 };

static const size_t header = (sizeof(arena_block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

static unsigned char *block_room(arena_block *block) { return (unsigned char *)block + header; }

NORETURN static void arena_fail(arena *a) { longjmp(*a->failure, 1); }

// Blocks double up to LARGEST_STEP, so that a small compilation stays small and a large one makes
// few calls of calloc. A request larger than that gets a block of its own.
static arena_block *block_new(const arena *a, size_t bytes) {
  size_t size = a->blocks ? a->blocks->size * 2 : FIRST_BLOCK;
  if (size > LARGEST_STEP)
    size = LARGEST_STEP;
  if (size < bytes)
    size = bytes;
  arena_block *block = calloc(1, header + size);
  if (block) {
    block->size = size;
    ASAN_POISON_MEMORY_REGION(block_room(block), size);
  }
  return block;
}

// NULL: no memory.
static void *arena_try_alloc(arena *a, size_t bytes) {
  if (bytes > SIZE_MAX / 4)
    return NULL;
  size_t wanted = bytes;
  bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (a->limit && (bytes > a->limit || a->used > a->limit - bytes))
    return NULL;
  arena_block *block = a->blocks;
  if (!block || block->size - block->used < bytes + GAP) {
    block = block_new(a, bytes + GAP);
    if (!block)
      return NULL;
    block->next = a->blocks;
    a->blocks = block;
  }
  void *memory = block_room(block) + block->used;
  ASAN_UNPOISON_MEMORY_REGION(memory, wanted);
  block->used += bytes + GAP;
  a->used += bytes;
  return memory;
}

void *arena_alloc(arena *a, size_t bytes) {
  void *memory = arena_try_alloc(a, bytes);
  if (!memory)
    arena_fail(a);
  return memory;
}

char *arena_copy(arena *a, const char *string, size_t bytes) {
  if (bytes == SIZE_MAX)
    arena_fail(a);
  char *copy = arena_alloc(a, bytes + 1);
  if (bytes)
    memcpy(copy, string, bytes);
  return copy;
}

char *arena_text(arena *a, text *t) {
  char *copy = t->failed ? NULL : arena_try_alloc(a, t->length + 1);
  if (copy && t->length)
    memcpy(copy, t->data, t->length);
  text_free(t);  // before the jump, which would lose it
  if (!copy)
    arena_fail(a);
  return copy;
}

char *arena_printf(arena *a, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length < 0) {
    va_end(again);
    arena_fail(a);
  }
  char *result = arena_alloc(a, (size_t)length + 1);
  vsnprintf(result, (size_t)length + 1, format, again);
  va_end(again);
  return result;
}

void arena_free(arena *a) {
  while (a->blocks) {
    arena_block *block = a->blocks;
    a->blocks = block->next;
    free(block);
  }
  a->used = 0;
}

// ---- growing arrays ------------------------------------------------------------------------

void *vec_grow(arena *a, void *items, size_t item_size, size_t count, size_t *capacity) {
  if (count < *capacity)
    return items;
  size_t larger = *capacity ? *capacity * 2 : 8;
  if (larger > SIZE_MAX / 4 / item_size)
    arena_fail(a);
  void *grown = arena_alloc(a, larger * item_size);
  if (count)
    memcpy(grown, items, count * item_size);
  *capacity = larger;
  return grown;
}

// ---- text ----------------------------------------------------------------------------------

// Room for `count` more bytes and the terminating 0.
static bool text_reserve(text *t, size_t count) {
  if (t->failed)
    return false;
  if (t->data && count < t->capacity - t->length)
    return true;
  if (count > SIZE_MAX / 4 || t->length > SIZE_MAX / 4) {
    t->failed = true;
    return false;
  }
  size_t capacity = t->capacity ? t->capacity : 64;
  while (capacity <= t->length + count)
    capacity *= 2;
  char *data = realloc(t->data, capacity);
  if (!data) {
    t->failed = true;
    return false;
  }
  t->data = data;
  t->capacity = capacity;
  return true;
}

void text_add(text *t, const char *bytes, size_t count) {
  if (!text_reserve(t, count))
    return;
  if (count)
    memcpy(t->data + t->length, bytes, count);
  t->length += count;
  t->data[t->length] = 0;
}

void text_string(text *t, const char *string) { text_add(t, string, strlen(string)); }

void text_printf(text *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  text_vprintf(t, format, arguments);
  va_end(arguments);
}

void text_vprintf(text *t, const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  if (length < 0)
    t->failed = true;
  else if (text_reserve(t, (size_t)length)) {
    vsnprintf(t->data + t->length, (size_t)length + 1, format, again);
    t->length += (size_t)length;
  }
  va_end(again);
}

const char *text_content(const text *t) { return t->data ? t->data : ""; }

void text_free(text *t) {
  free(t->data);
  *t = (text){0};
}

// ---- numbers in texts ----------------------------------------------------------------------

bool c_locale_enter(c_locale *c) {
  c->entered = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (c->entered)
    c->before = uselocale(c->entered);
  return c->entered;
}

void c_locale_leave(c_locale *c) {
  uselocale(c->before);
  freelocale(c->entered);
}

// ---- hashing -------------------------------------------------------------------------------

// Every bit of the result depends on every bit of x (the finaliser of MurmurHash3).
static uint64_t hash_mix(uint64_t x) {
  x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
  x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
  return x ^ x >> 33;
}

uint64_t hash_bytes(const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  uint64_t hash = count * UINT64_C(0x9e3779b97f4a7c15);
  for (; count >= 8; at += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    hash = hash_mix(hash ^ word) + UINT64_C(0x9e3779b97f4a7c15);
  }
  uint64_t rest = 0;
  if (count)
    memcpy(&rest, at, count);
  return hash_mix(hash ^ rest);
}
