// Requests: what one call of the system moves. Private to runtime/disk/.
//
//   disk_request r;                       // a slot, with two pages
//   while (disk_next(d, &r))              // the next stretch of the batch
//     do
//       answer = preadv(r.descriptor, r.vectors, r.vector_count, r.first);
//     while (disk_answer(d, &r, answer)); // true: the request, as it is now, is to be made again
#ifndef PERMC_RUNTIME_DISK_REQUEST_H
#define PERMC_RUNTIME_DISK_REQUEST_H

#include "runtime/disk/disk.h"
#include <pthread.h>
#include <sys/uio.h>

enum { DISK_DEPTH = 16 };  // requests under way

typedef struct disk_request {
  const disk_file *file;
  bool writes;
  unsigned again;          // how often the system has asked to make it again
  uint64_t offset, bytes;  // wanted, and not there yet
  char *memory;
  // What is moved for it: the file's bytes from `first` on.
  int descriptor;
  uint64_t first;
  struct iovec vectors[3];
  int vector_count;
  char *pages;        // two
  char *head, *tail;  // of them, those that the first and the last page go through; or NULL
} disk_request;

// Reads and writes take turns.
typedef struct disk_batch {
  const disk_part *parts;
  size_t count;
  struct disk_cursor {
    size_t part;
    uint64_t done;  // of it
  } cursors[2];     // of reads, of writes
  bool turn;
  error failure;
} disk_batch;

struct disk {
  const disk_kind *kind;
  void *state;  // the kind's
  const atomic_bool *interrupted;
  char *pages;  // of all requests
  disk_request requests[DISK_DEPTH];
  disk_batch batch;
  pthread_t thread;
  bool has_thread;
  pthread_mutex_t mutex;  // of the batch and the counts
  disk_counts counts;
};

struct disk_kind {
  const char *name;
  bool (*open)(disk *d);  // false: not here
  void (*move)(disk *d);  // all requests of the batch
  void (*close)(disk *d);
};
extern const disk_kind disk_ring, disk_threads;

// The next request of the batch. False: there is none, or something has failed.
bool disk_next(disk *d, disk_request *r);
// After `answer` bytes, or an error's negative number. Whether something is left to be done.
bool disk_answer(disk *d, disk_request *r, int64_t answer);
// Makes the request here, to its end (threads.c).
void disk_make(disk *d, disk_request *r);

// How many threads are worth their start for so many bytes: a few pages are moved in less time.
uint64_t disk_threads_worth(const disk_part *parts, size_t count);

// What fails, in a line (file.c); false.
bool disk_fail_short(error *failure, const disk_file *f, uint64_t end, uint64_t wanted);
bool disk_fail_at(error *failure, const disk_file *f, bool writes, uint64_t offset, int number);

#endif
