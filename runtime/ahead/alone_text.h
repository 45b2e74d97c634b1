// The routines of a library made ahead of time: one thread (runtime/routines/crew.h), and memory of
// the call's workspace, a block behind the other. Behind the files of runtime/routines, in a source
// of its own.

enum { PERMC_BLOCK_ALIGNED = 256 };

static bool crew_run(const crew *c, uint64_t items, uint64_t chunk, crew_work *work, void *with) {
  uint64_t first;
  (void)c;
  for (first = 0; first < items; first += chunk)
    if (!work(with, 0, first, items - first < chunk ? items : first + chunk))
      return false;
  return true;
}

static void *reserve(worker_memory *w, memory_block which, uint64_t bytes) {
  return w->bytes[which] < bytes ? NULL : w->blocks[which];
}

static void free_worker_memory(worker_memory *w) { (void)w; }

static crew crew_begin(const crew *c, worker_memory *own) {
  (void)own;
  return *c;
}

static void crew_end(const crew *c, crew *begun) {
  (void)c;
  (void)begun;
}

// False: its blocks have less than it takes.
__attribute__((visibility("hidden"))) bool
PERMC_RUN_ROUTINE(const routine_work *w, const uint64_t *bytes, void *const *arrays, char *memory) {
  worker_memory own;
  crew c = {1, NULL, &own};
  size_t b;
  for (b = 0; b < BLOCKS; b++) {
    own.blocks[b] = memory;
    own.bytes[b] = bytes[b];
    memory += (bytes[b] + PERMC_BLOCK_ALIGNED - 1) / PERMC_BLOCK_ALIGNED * PERMC_BLOCK_ALIGNED;
  }
  return routine_execute(w, arrays, &c);
}
