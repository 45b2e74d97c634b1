// Pieces in three buffers. See pipeline.h.
#include "runtime/external/routines/pipeline.h"

#include <stdlib.h>

bool transfers_add(transfers *t, external_place at, void *memory, uint64_t bytes, bool writes) {
  if (!at.file || bytes == 0)
    return true;
  if (!memory_grow(&t->parts, sizeof *t->parts, t->count, &t->room))
    return false;
  t->parts[t->count++] = (disk_part){at.file, at.offset, bytes, memory, writes};
  return true;
}

// Piece i is read in step i - first.
static bool run_step(const pipeline *p, transfers *t, uint64_t reads, error *failure) {
  uint64_t works = reads - 1, writes = reads - 2;
  bool read = reads<p->last, work = reads> p->first && works<p->last, write = reads> p->first + 1;
  t->count = 0;
  if ((read && !p->load(p->with, reads, t)) || (write && !p->store(p->with, writes, t)))
    return error_no_memory(failure);
  disk_begin(p->disk, t->parts, t->count);
  bool good = !work || p->work(p->with, works, failure);
  good = disk_end(p->disk, failure) && good;
  return good && (!write || !p->done || p->done(p->with, writes, failure));
}

bool pipeline_run(const pipeline *p, error *failure) {
  transfers t = {0};
  bool good = true;
  for (uint64_t i = p->first; p->first < p->last && i < p->last + 2 && good; i++)
    good = run_step(p, &t, i, failure);
  free(t.parts);
  return good;
}
