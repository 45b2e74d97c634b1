// Memory of a rank's arrays: the host's, or its GPU's. Private to this room.
//
//   rank_memory m = {.device = d};                 // NULL: the host's
//   void *a = rank_memory_new(&m, bytes);          // NULL: *rank_memory_problem(&m) says why
//   rank_memory_write(&m, a, from, bytes);         // from the host, to it: rank_memory_read
//   rank_memory_free(&m, a, bytes);                // is kept for an array of that size
//   rank_memory_end(&m);
#ifndef PERMC_RUNTIME_RANKS_MEMORY_H
#define PERMC_RUNTIME_RANKS_MEMORY_H

#include "runtime/cuda/cuda.h"
#include "runtime/values/value.h"

typedef struct rank_spare {
  void *memory;
  uint64_t bytes;
} rank_spare;

typedef struct rank_memory {
  cuda_device *device;  // NULL: the host's
  rank_spare *spares;   // of the GPU, which frees memory only when it is idle
  size_t spare_count;
} rank_memory;

// A multiple of so many bytes is one of the memory's lines.
static inline uint64_t rank_memory_line(const rank_memory *m) { return m->device ? 256 : 64; }

void *rank_memory_new(rank_memory *m, uint64_t bytes);
void rank_memory_free(rank_memory *m, void *memory, uint64_t bytes);  // NULL is allowed
void rank_memory_end(rank_memory *m);
const char *rank_memory_problem(const rank_memory *m);  // of the last call that failed

bool rank_memory_write(rank_memory *m, void *to, const void *from, uint64_t bytes);
bool rank_memory_read(rank_memory *m, void *to, const void *from, uint64_t bytes);

#endif
