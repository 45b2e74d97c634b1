// Requests by io_uring: the kernel has all of them at once, and no thread waits for one.
#include "runtime/disk/request.h"

#ifdef PERMC_URING
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <time.h>

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

typedef struct idle_requests {
  disk_request *of[DISK_DEPTH];
  unsigned count;
} idle_requests;

// What the ring has answered; `works`: it also makes again what is to be made again.
static void take_answers(disk *d, idle_requests *idle, bool works) {
  struct io_uring *ring = d->state;
  for (struct io_uring_cqe *answer; io_uring_peek_cqe(ring, &answer) == 0;) {
    disk_request *r = io_uring_cqe_get_data(answer);
    int64_t bytes = answer->res;
    io_uring_cqe_seen(ring, answer);
    bool again = disk_answer(d, r, bytes);
    if (again && works) {
      submit(ring, r);
      continue;
    }
    if (again)
      disk_make(d, r);
    idle->of[idle->count++] = r;
  }
}

// The kernel takes no more requests: those that it has end, the others are made without it.
static void leave_ring(disk *d, idle_requests *idle) {
  static const struct timespec moment = {.tv_nsec = 100000};
  bool is_idle[DISK_DEPTH] = {false};
  for (unsigned left = io_uring_sq_ready(d->state); idle->count + left < DISK_DEPTH;) {
    take_answers(d, idle, false);
    nanosleep(&moment, NULL);
  }
  close_ring(d);
  d->kind = &disk_threads;
  for (unsigned i = 0; i < idle->count; i++)
    is_idle[idle->of[i] - d->requests] = true;
  for (int i = 0; i < DISK_DEPTH; i++)
    if (!is_idle[i])
      disk_make(d, &d->requests[i]);
  d->kind->move(d);
}

static void move(disk *d) {
  struct io_uring *ring = d->state;
  idle_requests idle = {.count = DISK_DEPTH};
  for (int i = 0; i < DISK_DEPTH; i++)
    idle.of[i] = &d->requests[i];
  for (;;) {
    while (idle.count > 0 && disk_next(d, idle.of[idle.count - 1]))
      submit(ring, idle.of[--idle.count]);
    if (idle.count == DISK_DEPTH)
      return;
    int taken = io_uring_submit_and_wait(ring, 1);
    if (taken < 0 && taken != -EINTR) {
      leave_ring(d, &idle);
      return;
    }
    take_answers(d, &idle, true);
  }
}

#else
static bool open_ring(disk *d) { return d == NULL; }
static void close_ring(disk *d) { (void)d; }
static void move(disk *d) { (void)d; }
#endif

const disk_kind disk_ring = {"ring", open_ring, move, close_ring};
