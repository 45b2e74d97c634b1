// Memory of the host or of a GPU. See memory.h.
#include "runtime/ranks/memory.h"

#include <stdlib.h>
#include <string.h>

static cuda_address address_of(const void *p) { return (uintptr_t)p; }

static void *take_spare(rank_memory *m, uint64_t bytes) {
  for (size_t i = 0; i < m->spare_count; i++)
    if (m->spares[i].bytes == bytes) {
      void *memory = m->spares[i].memory;
      m->spares[i] = m->spares[--m->spare_count];
      return memory;
    }
  return NULL;
}

static void free_spares(rank_memory *m) {
  while (m->spare_count > 0)
    cuda_memory_free(m->device, address_of(m->spares[--m->spare_count].memory));
}

void *rank_memory_new(rank_memory *m, uint64_t bytes) {
  if (!m->device)
    return array_memory(bytes);
  void *spare = take_spare(m, bytes);
  cuda_address a = spare ? address_of(spare) : cuda_memory_new(m->device, bytes);
  if (!a && m->spare_count) {
    free_spares(m);
    a = cuda_memory_new(m->device, bytes);
  }
  return (void *)(uintptr_t)a;
}

void rank_memory_free(rank_memory *m, void *memory, uint64_t bytes) {
  if (!m->device) {
    free(memory);
    return;
  }
  if (!memory)
    return;
  rank_spare *more = realloc(m->spares, (m->spare_count + 1) * sizeof *more);
  if (more) {
    m->spares = more;
    m->spares[m->spare_count++] = (rank_spare){memory, bytes};
  } else {
    cuda_memory_free(m->device, address_of(memory));
  }
}

void rank_memory_end(rank_memory *m) {
  free_spares(m);
  free(m->spares);
  m->spares = NULL;
}

const char *rank_memory_problem(const rank_memory *m) {
  return m->device ? cuda_message(m->device) : "out of memory";
}

bool rank_memory_write(rank_memory *m, void *to, const void *from, uint64_t bytes) {
  if (m->device)
    return cuda_upload(m->device, address_of(to), from, bytes);
  if (bytes)
    memcpy(to, from, bytes);
  return true;
}

bool rank_memory_read(rank_memory *m, void *to, const void *from, uint64_t bytes) {
  if (m->device)
    return cuda_download(m->device, to, address_of(from), bytes);
  if (bytes)
    memcpy(to, from, bytes);
  return true;
}
