// Batches of parts, moved by the first kind of requests that works here.
#include "runtime/disk/request.h"
#include "runtime/system/pool.h"

#include <stdlib.h>
#include <string.h>

// ---- batches -----------------------------------------------------------------------------------

static void *move_batch(void *with) {
  disk *d = with;
  d->kind->move(d);
  return NULL;
}

void disk_begin(disk *d, const disk_part *parts, size_t count) {
  d->batch = (disk_batch){.parts = parts, .count = count};
  d->has_thread =
      disk_threads_worth(parts, count) > 0 && pool_start_thread(&d->thread, move_batch, d);
  if (!d->has_thread)
    move_batch(d);
}

bool disk_end(disk *d, error *failure) {
  if (d->has_thread)
    pthread_join(d->thread, NULL);
  d->has_thread = false;
  return !error_is_set(&d->batch.failure) || error_pass(failure, &d->batch.failure);
}

disk_counts disk_counts_of(const disk *d) { return d->counts; }

// ---- the whole ---------------------------------------------------------------------------------

static const disk_kind *const kinds[] = {&disk_ring, &disk_threads};

size_t disk_kind_count(void) { return sizeof kinds / sizeof *kinds; }
const char *disk_kind_name(size_t index) { return kinds[index]->name; }

static bool choose_kind(disk *d, const char *name) {
  for (size_t i = 0; i < disk_kind_count(); i++)
    if ((!name || strcmp(name, kinds[i]->name) == 0) && kinds[i]->open(d))
      return d->kind = kinds[i], true;
  return false;
}

disk *disk_new(const char *kind, const atomic_bool *interrupted, error *failure) {
  disk *d = calloc(1, sizeof *d);
  char *pages = aligned_alloc(DISK_PAGE, (size_t)DISK_DEPTH * 2 * DISK_PAGE);
  if (!d || !pages || !choose_kind(d, kind)) {
    bool memory = d && pages;
    free(pages);
    free(d);
    if (!memory)
      error_no_memory(failure);
    error_set(failure, SPAN_NONE, "this kind of requests to the disk is not available here");
    return NULL;
  }
  d->pages = pages;
  d->interrupted = interrupted;
  pthread_mutex_init(&d->mutex, NULL);
  for (int i = 0; i < DISK_DEPTH; i++)
    d->requests[i].pages = pages + (size_t)i * 2 * DISK_PAGE;
  return d;
}

void disk_free(disk *d) {
  if (!d)
    return;
  d->kind->close(d);
  pthread_mutex_destroy(&d->mutex);
  free(d->pages);
  free(d);
}
