// Requests by io_uring: the kernel has all of them at once, and no thread waits for one.
#include "runtime/disk/request.h"

#ifdef PERMC_URING
#include <liburing.h>
#include <stdlib.h>

static bool open_ring(disk *d) {
  struct io_uring *ring = malloc(sizeof *ring);
  if (ring && io_uring_queue_init(DISK_DEPTH, ring, 0) == 0)
    return d->state = ring, true;
  free(ring);
  return false;
}

static void close_ring(disk *d) {
  io_uring_queue_exit(d->state);
  free(d->state);
}

static void submit(struct io_uring *ring, disk_request *r) {
  struct io_uring_sqe *entry = io_uring_get_sqe(ring);  // there are as many as requests
  if (r->writes)
    io_uring_prep_writev(entry, r->descriptor, r->vectors, (unsigned)r->vector_count, r->first);
  else
    io_uring_prep_readv(entry, r->descriptor, r->vectors, (unsigned)r->vector_count, r->first);
  io_uring_sqe_set_data(entry, r);
}

static void move(disk *d) {
  struct io_uring *ring = d->state;
  disk_request *idle[DISK_DEPTH];
  int idle_count = DISK_DEPTH;
  for (int i = 0; i < DISK_DEPTH; i++)
    idle[i] = &d->requests[i];
  for (;;) {
    while (idle_count > 0 && disk_next(d, idle[idle_count - 1]))
      submit(ring, idle[--idle_count]);
    if (idle_count == DISK_DEPTH)
      return;
    io_uring_submit_and_wait(ring, 1);
    for (struct io_uring_cqe *answer; io_uring_peek_cqe(ring, &answer) == 0;) {
      disk_request *r = io_uring_cqe_get_data(answer);
      int64_t bytes = answer->res;
      io_uring_cqe_seen(ring, answer);
      if (disk_answer(d, r, bytes))
        submit(ring, r);
      else
        idle[idle_count++] = r;
    }
  }
}

#else
static bool open_ring(disk *d) { return d == NULL; }
static void close_ring(disk *d) { (void)d; }
static void move(disk *d) { (void)d; }
#endif

const disk_kind disk_ring = {"ring", open_ring, move, close_ring};
