// Locks of the library that are free in a child of fork, whatever other threads did meanwhile.
//
//   library_lock(lock_of(context));
//   context->calls++;
//   library_unlock(lock_of(context));
//
// A fork takes all of them, in the order of this list, and gives them back in both processes
// (pthread_atfork). So each is held for a short time, and with it at most others that come later.
// What is held for long, or waits for other threads, is made anew by a child that finds that
// library_forks has changed.
#ifndef PERMC_RUNTIME_SYSTEM_LOCKS_H
#define PERMC_RUNTIME_SYSTEM_LOCKS_H

#include <pthread.h>
#include <stdint.h>

typedef enum library_lock_name {
  LOCK_COMPILER,   // finding a C compiler; held over the start of processes, so it is the first
  LOCK_CACHE,      // the index of the cache: its lock is one of the file, which a child would keep
  LOCK_LIBRARIES,  // opening and closing them: the loader has a lock that fork does not give back
  LOCK_OBJECTS,    // from here on: each of some of the objects
  LIBRARY_LOCKS = LOCK_OBJECTS + 32
} library_lock_name;

library_lock_name lock_of(const void *object);
void library_lock(library_lock_name name);
void library_unlock(library_lock_name name);

#define FORKED_WITH_CUDA                                                                           \
  "this process was forked after CUDA was started, and CUDA works only in the process that "       \
  "started it: start other processes by spawn instead of fork"
#define FORKED_RANK                                                                                \
  "this process was forked from a rank and is none itself: start all ranks by the launcher"

// How many forks lie between this process and the one that loaded the library.
uint32_t library_forks(void);

// A lock of an object that may be held for long. *forks: those at its making; where there was one
// since, whoever held it is not here.
void lock_for_long(pthread_mutex_t *lock, uint32_t *forks);

#endif
