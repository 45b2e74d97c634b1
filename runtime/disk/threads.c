// Requests by threads that wait for each: where there is no io_uring.
#include "runtime/disk/request.h"
#include "runtime/system/pool.h"

#include <errno.h>

typedef struct requester {
  disk *disk;
  disk_request *request;
} requester;

void disk_make(disk *d, disk_request *r) {
  ssize_t answer;
  do
    answer = r->writes ? pwritev(r->descriptor, r->vectors, r->vector_count, (off_t)r->first)
                       : preadv(r->descriptor, r->vectors, r->vector_count, (off_t)r->first);
  while (disk_answer(d, r, answer < 0 ? -errno : answer));
}

static void *make_requests(void *with) {
  requester *by = with;
  while (disk_next(by->disk, by->request))
    disk_make(by->disk, by->request);
  return NULL;
}

// The caller is one of them, and the only one where threads cannot be had.
static void move(disk *d) {
  requester by[DISK_DEPTH];
  pthread_t threads[DISK_DEPTH];
  bool started[DISK_DEPTH] = {0};
  uint64_t most = disk_threads_worth(d->batch.parts, d->batch.count);
  for (int i = 0; i < DISK_DEPTH; i++) {
    by[i] = (requester){d, &d->requests[i]};
    started[i] = i > 0 && (uint64_t)i < d->batch.count && (uint64_t)i <= most &&
                 pool_start_thread(&threads[i], make_requests, &by[i]);
  }
  make_requests(&by[0]);
  for (int i = 0; i < DISK_DEPTH; i++)
    if (started[i])
      pthread_join(threads[i], NULL);
}

static bool open_threads(disk *d) { return d != NULL; }
static void close_threads(disk *d) { (void)d; }

const disk_kind disk_threads = {"threads", open_threads, move, close_threads};
