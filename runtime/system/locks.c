#include "runtime/system/locks.h"

static pthread_mutex_t locks[LIBRARY_LOCKS];
static uint32_t forks;

library_lock_name lock_of(const void *object) {
  uintptr_t at = (uintptr_t)object;
  return LOCK_OBJECTS + (at >> 6 ^ at >> 12) % (LIBRARY_LOCKS - LOCK_OBJECTS);
}

void library_lock(library_lock_name name) { pthread_mutex_lock(&locks[name]); }

void library_unlock(library_lock_name name) { pthread_mutex_unlock(&locks[name]); }

uint32_t library_forks(void) { return forks; }

void lock_for_long(pthread_mutex_t *lock, uint32_t *lock_forks) {
  library_lock_name own = lock_of(lock);
  library_lock(own);
  if (*lock_forks != forks)
    pthread_mutex_init(lock, NULL);
  *lock_forks = forks;
  library_unlock(own);
  pthread_mutex_lock(lock);
}

static void before_fork(void) {
  for (int i = 0; i < LIBRARY_LOCKS; i++)
    pthread_mutex_lock(&locks[i]);
}

static void after_fork(void) {
  for (int i = LIBRARY_LOCKS; i-- > 0;)
    pthread_mutex_unlock(&locks[i]);
}

// What is loaded may fork meanwhile: a thread may take its own locks again.
static void make_locks(void) {
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  for (int i = 0; i < LIBRARY_LOCKS; i++)
    pthread_mutex_init(&locks[i], &recursive);
  pthread_mutexattr_destroy(&recursive);
}

// The child's thread has another number, by which recursive locks know their owner.
static void after_fork_in_child(void) {
  make_locks();
  forks++;
}

__attribute__((constructor)) static void watch_forks(void) {
  make_locks();
  pthread_atfork(before_fork, after_fork, after_fork_in_child);
}
