// Threads that sleep, one semaphore each, and shares of items that others may help with. See
// pool.h.
#include "runtime/system/pool.h"
#include "core/hash.h"
#include "runtime/system/locks.h"

#include <fenv.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>

enum {
  LOOKS = 200,  // at a semaphore before sleeping: some 10 microseconds
};

// ---- a job --------------------------------------------------------------------------------------

typedef struct share {
  _Alignas(64) atomic_uint_fast64_t next;  // chunk
  uint64_t end;
} share;

typedef struct job {
  pool_work *work;
  void *with;
  const atomic_bool *interrupted;
  uint64_t items, chunk;
  unsigned threads;
  share *shares;        // by worker
  atomic_bool stopped;  // some call returned false
  atomic_uint running;  // workers, besides the caller, that have not finished
} job;

static bool job_goes_on(job *j) {
  return !atomic_load_explicit(&j->stopped, memory_order_relaxed) &&
         !(j->interrupted && atomic_load_explicit(j->interrupted, memory_order_relaxed));
}

static void work_on_share(job *j, unsigned worker, share *s) {
  while (job_goes_on(j)) {
    uint64_t chunk = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
    if (chunk >= s->end)
      return;
    uint64_t first = chunk * j->chunk;
    uint64_t last = j->items - first < j->chunk ? j->items : first + j->chunk;
    if (!j->work(j->with, worker, first, last))
      atomic_store_explicit(&j->stopped, true, memory_order_relaxed);
  }
}

static void work_on_shares(job *j, unsigned worker) {
  for (unsigned i = 0; i < j->threads; i++)
    work_on_share(j, worker, &j->shares[(worker + i) % j->threads]);
}

// ---- threads ------------------------------------------------------------------------------------

typedef struct thread {
  pthread_t id;
  unsigned worker;
  sem_t wake;
} thread;

static struct {
  atomic_bool busy;  // whoever set it owns the rest
  uint32_t forks;    // of the process that started the threads
  unsigned count;
  thread *threads[POOL_MOST_THREADS];
  job *job;  // NULL when the threads are woken: the end
  sem_t done;
} pool;

static void wait_for_semaphore(sem_t *s) {
  for (int i = 0; i < LOOKS; i++) {
    if (sem_trywait(s) == 0)
      return;
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
  while (sem_wait(s) != 0)  // a signal
    ;
}

static void *thread_main(void *with) {
  thread *t = with;
  fesetenv(FE_DFL_ENV);  // not that of whoever started it
  for (;;) {
    wait_for_semaphore(&t->wake);
    job *j = pool.job;
    if (j == NULL)
      return NULL;
    work_on_shares(j, t->worker);
    if (atomic_fetch_sub_explicit(&j->running, 1, memory_order_acq_rel) == 1)
      sem_post(&pool.done);
  }
}

bool pool_start_thread(pthread_t *id, void *(*run)(void *with), void *with) {
  enum { STACK_BYTES = 8 << 20 };
  pthread_attr_t attributes;
  sigset_t all, before;
  if (pthread_attr_init(&attributes) != 0)
    return false;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool good = pthread_create(id, &attributes, run, with) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return good;
}

static bool start_thread(void) {
  thread *t = calloc(1, sizeof *t);
  if (t == NULL)
    return false;
  t->worker = pool.count + 1;
  sem_init(&t->wake, 0, 0);
  if (!pool_start_thread(&t->id, thread_main, t)) {
    sem_destroy(&t->wake);
    free(t);
    return false;
  }
  pool.threads[pool.count++] = t;
  return true;
}

// The threads of a parent process are not here, nor is who was in a job; what they left is.
static void drop_threads_of_parent(void) {
  library_lock(lock_of(&pool));
  if (pool.forks != library_forks()) {
    for (unsigned i = 0; i < pool.count; i++)
      free(pool.threads[i]);
    pool.count = 0;
    sem_init(&pool.done, 0, 0);
    atomic_store_explicit(&pool.busy, false, memory_order_release);
    pool.forks = library_forks();
  }
  library_unlock(lock_of(&pool));
}

// Makes the caller the owner of a pool that has up to `others` threads; how many, 0 if it is not.
static unsigned pool_enter(unsigned others) {
  if (others == 0)
    return 0;
  if (pool.forks != library_forks())
    drop_threads_of_parent();
  if (atomic_exchange_explicit(&pool.busy, true, memory_order_acquire))
    return 0;
  while (pool.count < others && pool.count < POOL_MOST_THREADS && start_thread())
    ;
  if (pool.count == 0)
    atomic_store_explicit(&pool.busy, false, memory_order_release);
  return pool.count < others ? pool.count : others;
}

static void pool_leave(void) { atomic_store_explicit(&pool.busy, false, memory_order_release); }

// At the end of the process, or of the library in it. Where another thread is in a job just then,
// there is nothing to be done.
__attribute__((destructor)) static void pool_end(void) {
  if (atomic_exchange_explicit(&pool.busy, true, memory_order_acquire) ||
      pool.forks != library_forks())
    return;
  pool.job = NULL;
  for (unsigned i = 0; i < pool.count; i++)
    sem_post(&pool.threads[i]->wake);
  for (unsigned i = 0; i < pool.count; i++) {
    pthread_join(pool.threads[i]->id, NULL);
    sem_destroy(&pool.threads[i]->wake);
    free(pool.threads[i]);
  }
  pool.count = 0;
}

// ---- the whole ----------------------------------------------------------------------------------

static void share_chunks(job *j, uint64_t chunks) {
  uint64_t each = chunks / j->threads, more = chunks % j->threads, next = 0;
  for (unsigned i = 0; i < j->threads; i++) {
    atomic_init(&j->shares[i].next, next);
    next += each + (i < more);
    j->shares[i].end = next;
  }
}

static void run_on_threads(job *j) {
  unsigned others = j->threads - 1;
  atomic_init(&j->running, others);
  pool.job = j;
  for (unsigned i = 0; i < others; i++)
    sem_post(&pool.threads[i]->wake);
  work_on_shares(j, 0);
  wait_for_semaphore(&pool.done);
}

bool pool_run(unsigned threads, uint64_t items, uint64_t chunk, pool_work *work, void *with,
              const atomic_bool *interrupted) {
  uint64_t chunks = items / chunk + (items % chunk != 0);
  share own;
  job j = {.work = work, .with = with, .interrupted = interrupted, .items = items, .chunk = chunk};
  if (threads > chunks)
    threads = (unsigned)chunks;
  unsigned others = threads > 1 ? pool_enter(threads - 1) : 0;
  j.threads = others + 1;
  j.shares = others ? aligned_alloc(_Alignof(share), j.threads * sizeof(share)) : NULL;
  if (j.shares == NULL)
    j.threads = 1, j.shares = &own;
  share_chunks(&j, chunks);
  if (j.threads > 1)
    run_on_threads(&j);
  else
    work_on_shares(&j, 0);
  if (others)
    pool_leave();
  if (j.shares != &own)
    free(j.shares);
  return job_goes_on(&j);
}

unsigned pool_processors(void) {
  for (int most = 1024; most <= 1 << 20; most *= 4) {
    cpu_set_t *set = CPU_ALLOC((size_t)most);
    size_t size = CPU_ALLOC_SIZE((size_t)most);
    if (set == NULL)
      return 1;
    int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (count > 0)
      return (unsigned)count;
  }
  return 1;
}

// ---- a hash ------------------------------------------------------------------------------------

enum { STRETCH = 1 << 18 };

typedef struct hashing {
  const char *bytes;
  uint64_t count;
  atomic_uint_fast64_t sum;  // of the stretches' hashes, each by its place
} hashing;

static bool hash_stretches(void *with, unsigned worker, uint64_t first, uint64_t last) {
  hashing *h = with;
  uint64_t sum = 0;
  (void)worker;
  for (uint64_t i = first; i < last; i++) {
    uint64_t left = h->count - i * STRETCH;
    uint64_t key[] = {i, hash_bytes(h->bytes + i * STRETCH, left < STRETCH ? left : STRETCH)};
    sum += hash_bytes(key, sizeof key);
  }
  atomic_fetch_add_explicit(&h->sum, sum, memory_order_relaxed);
  return true;
}

uint64_t pool_hash(unsigned threads, const void *bytes, uint64_t count) {
  hashing h = {.bytes = bytes, .count = count};
  pool_run(threads, (count + STRETCH - 1) / STRETCH, 1, hash_stretches, &h, NULL);
  return hash_bytes(&(uint64_t){h.sum}, sizeof(uint64_t)) + count;
}
