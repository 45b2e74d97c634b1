// The threads that all CPU runs of the process share.
//
//   static bool add_up(void *with, unsigned worker, uint64_t first, uint64_t last) { ... }
//   pool_run(4, 1000, 10, add_up, sums, NULL);     // calls add_up for 0-10, 10-20, ..., 990-1000
//
// Each of the threads has a fixed share of the items, one stretch of neighbours, and takes it a
// chunk at a time; a thread that is done takes chunks of the others' shares. Which thread has an
// item, and when, is thus not determined: work on an item must not depend on other items.
//
// Threads are started when first asked for and sleep between jobs (after a few microseconds of
// looking out for the next). There is one job at a time: one that comes while another runs is done
// by its caller alone. Signals are the other threads' business. When the process ends or the
// library is unloaded, the threads are joined. After fork, the child has none of them and starts
// its own.
#ifndef PERMC_RUNTIME_SYSTEM_POOL_H
#define PERMC_RUNTIME_SYSTEM_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { POOL_MOST_THREADS = 1024 };

// Work on the items first, ..., last - 1. No two calls at once have the same `worker`. False: the
// items that no thread has begun are not wanted any more.
typedef bool pool_work(void *with, unsigned worker, uint64_t first, uint64_t last);

// Calls `work` so that each item of 0, ..., items - 1 is in one call, as long as all calls return
// true and *interrupted (may be NULL) is not set; whether that lasted to the end. Chunks begin at
// multiples of `chunk` (not 0), and all but the last have that length. At most `threads` threads
// (not 0), the caller among them, and no more than there are chunks; workers are numbered from 0.
bool pool_run(unsigned threads, uint64_t items, uint64_t chunk, pool_work *work, void *with,
              const atomic_bool *interrupted);

// A hash of many bytes, the same for any number of threads.
uint64_t pool_hash(unsigned threads, const void *bytes, uint64_t count);

// A thread of the library's own: signals are others' business, and its stack does not depend on
// what the process has as default. False: there is none.
bool pool_start_thread(pthread_t *id, void *(*run)(void *with), void *with);

// How many processors this process may use (its affinity mask): at least 1.
unsigned pool_processors(void);

#endif
