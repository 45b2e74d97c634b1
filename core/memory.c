#include "core/memory.h"

#include "core/sanitized.h"

#include <stdalign.h>

// Under the address sanitizer what lies between two allocations of an arena is poisoned, as
// malloc's would be.
#if SANITIZED_ADDRESS
#include <sanitizer/asan_interface.h>
enum { GAP = alignof(max_align_t) };
#else
#define ASAN_POISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
enum { GAP = 0 };
#endif

// ---- arena ---------------------------------------------------------------------------------

// Blocks form a list, newest first; only the newest has free bytes. The header is padded so that
// what follows it is aligned for any type.
struct arena_block {
  arena_block *next;
  size_t size, used;  // of the bytes after the header
};

enum { ALIGNMENT = alignof(max_align_t), FIRST_BLOCK = 4096, LARGEST_STEP = 1 << 20 };

static const size_t header = (sizeof(arena_block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

static unsigned char *block_bytes(arena_block *block) { return (unsigned char *)block + header; }

void arena_fail(arena *a) { longjmp(*a->failure, 1); }

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
    ASAN_POISON_MEMORY_REGION(block_bytes(block), size);
  }
  return block;
}

void *arena_try_alloc(arena *a, size_t bytes) {
  if (bytes > SIZE_MAX / 4)
    return NULL;
  size_t wanted = bytes;
  bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (a->limit && (bytes > a->limit || a->used > a->limit - bytes)) {
    a->at_limit = true;
    return NULL;
  }
  arena_block *block = a->blocks;
  if (!block || block->size - block->used < bytes + GAP) {
    block = block_new(a, bytes + GAP);
    if (!block)
      return NULL;
    block->next = a->blocks;
    a->blocks = block;
  }
  void *memory = block_bytes(block) + block->used;
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

void arena_free(arena *a) {
  while (a->blocks) {
    arena_block *block = a->blocks;
    a->blocks = block->next;
    free(block);
  }
  a->used = 0;
  a->at_limit = false;
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

bool memory_grow(void *items, size_t item_size, size_t count, size_t *capacity) {
  if (count < *capacity)
    return true;
  void *old, *grown;
  memcpy(&old, items, sizeof old);
  if (!(grown = realloc(old, (2 * *capacity + 16) * item_size)))
    return false;
  memcpy(items, &grown, sizeof grown);
  *capacity = 2 * *capacity + 16;
  return true;
}
