// Threads of the pool, and memory that stays for the next routine. See crew.h.
#include "runtime/routines/crew.h"
#include "runtime/system/pool.h"
#include "runtime/values/value.h"

#include <stdlib.h>

enum { KEPT_BYTES = 1 << 24 };  // of a block that stays

bool crew_run(const crew *c, uint64_t items, uint64_t chunk, crew_work *work, void *with) {
  return pool_run(c->threads, items, chunk, work, with, c->interrupted);
}

void *reserve(worker_memory *w, memory_block which, uint64_t bytes) {
  if (w->bytes[which] < bytes) {
    free(w->blocks[which]);
    w->blocks[which] = array_memory(bytes);
    w->bytes[which] = w->blocks[which] ? bytes : 0;
  }
  return w->blocks[which];
}

void free_worker_memory(worker_memory *w) {
  for (size_t b = 0; b < BLOCKS; b++)
    free(w->blocks[b]);
  *w = (worker_memory){0};
}

// New memory costs more than a short sort in it: the first worker's stays, if it is small, for who
// sorts next and finds that nobody else does.
static worker_memory kept;
static atomic_flag kept_in_use = ATOMIC_FLAG_INIT;

__attribute__((destructor)) static void free_kept(void) {
  if (!atomic_flag_test_and_set_explicit(&kept_in_use, memory_order_acquire))
    free_worker_memory(&kept);
}

crew crew_begin(const crew *c, worker_memory *own) {
  crew begun = *c;
  if (!c->memory)
    begun.memory =
        atomic_flag_test_and_set_explicit(&kept_in_use, memory_order_acquire) ? own : &kept;
  return begun;
}

void crew_end(const crew *c, crew *begun) {
  bool large = begun->memory != &kept;
  if (c->memory)
    return;
  for (size_t b = 0; b < BLOCKS; b++)
    large |= begun->memory->bytes[b] > KEPT_BYTES;
  if (large)
    free_worker_memory(begun->memory);
  if (begun->memory == &kept)
    atomic_flag_clear_explicit(&kept_in_use, memory_order_release);
}
