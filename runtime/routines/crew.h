// Who executes a routine, and in what memory. A door of this room.
//
//   crew c = {.threads = 4};                 four threads at most, and memory as it is needed
//   crew_run(&c, 1000, 10, add_up, sums)     add_up for items 0-10, 10-20, ..., 990-1000
//
// crew.c has threads and memory of this process. A library made ahead of time has one thread, and
// memory of the call's workspace: runtime/ahead/alone_text.h.
#ifndef PERMC_RUNTIME_ROUTINES_CREW_H
#define PERMC_RUNTIME_ROUTINES_CREW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Of functions that the files of this room share: static where all of them are one file
// (runtime/ahead).
#ifndef ROUTINE_SCOPE
#define ROUTINE_SCOPE
#endif

// The memory of one worker: blocks that grow.
typedef enum memory_block {
  BLOCK_SCRATCH,
  BLOCK_WORDS,
  BLOCK_MOVED,
  BLOCK_ORDER,
  BLOCK_PAYLOADS,
  BLOCKS
} memory_block;
typedef struct worker_memory {
  void *blocks[BLOCKS];
  uint64_t bytes[BLOCKS];
} worker_memory;

typedef struct crew {
  unsigned threads;                // at most, and at least 1
  const atomic_bool *interrupted;  // looked at now and then; may be NULL
  worker_memory *memory;           // of worker 0; NULL: see crew_begin
} crew;

// Work on items as pool_run (runtime/system/pool.h) does it.
typedef bool crew_work(void *with, unsigned worker, uint64_t first, uint64_t last);
ROUTINE_SCOPE bool crew_run(const crew *c, uint64_t items, uint64_t chunk, crew_work *work,
                            void *with);

// The crew with memory: its own, or that which the process keeps for one routine at a time, or
// `own`. It is used until crew_end, which gets the crew as it was before.
ROUTINE_SCOPE crew crew_begin(const crew *c, worker_memory *own);
ROUTINE_SCOPE void crew_end(const crew *c, crew *begun);

// A block of at least so many bytes, whose contents are lost where it grows. NULL: there is no
// memory.
ROUTINE_SCOPE void *reserve(worker_memory *w, memory_block which, uint64_t bytes);
ROUTINE_SCOPE void free_worker_memory(worker_memory *w);

static inline bool crew_is_interrupted(const crew *c) {
  return c->interrupted && atomic_load_explicit(c->interrupted, memory_order_relaxed);
}

#endif
