// The thread pool: every item once, from however many threads; workers apart; stops; jobs at the
// same time; fork.
#include "tests/test.h"

#include "core/sanitized.h"
#include "runtime/system/pool.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 5000, THREADS = 8 };

typedef struct counting {
  atomic_uint times[MOST];  // by item
  atomic_uint inside[THREADS], together, calls, misplaced;
  uint64_t items, chunk, stop_at;
} counting;

static bool count(void *with, unsigned worker, uint64_t first, uint64_t last) {
  counting *c = with;
  atomic_fetch_add(&c->calls, 1);
  bool right = worker < THREADS && first < last && last <= c->items && first % c->chunk == 0 &&
               (last - first == c->chunk || last == c->items);
  if (!right || atomic_fetch_add(&c->inside[worker], 1) != 0)
    atomic_fetch_add(&c->misplaced, 1);
  for (uint64_t i = first; right && i < last; i++)
    atomic_fetch_add(&c->times[i], 1);
  if (right)
    atomic_fetch_sub(&c->inside[worker], 1);
  return !(first <= c->stop_at && c->stop_at < last);
}

static counting *counting_new(uint64_t items, uint64_t chunk) {
  counting *c = calloc(1, sizeof *c);
  c->items = items;
  c->chunk = chunk;
  c->stop_at = UINT64_MAX;
  return c;
}

static void check_once(unsigned threads, uint64_t items, uint64_t chunk) {
  counting *c = counting_new(items, chunk);
  CHECK(pool_run(threads, items, chunk, count, c, NULL));
  CHECK_EQ_U64(c->misplaced, 0);
  CHECK_EQ_U64(c->calls, (items + chunk - 1) / chunk);
  for (uint64_t i = 0; i < items; i++)
    if (!CHECK_EQ_U64(c->times[i], 1))
      break;
  free(c);
}

TEST(every_item_once) {
  static const uint64_t items[] = {0, 1, 2, 3, 7, 8, 9, 100, 1001, MOST};
  for (unsigned threads = 1; threads <= THREADS; threads++)
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
      for (uint64_t chunk = 1; chunk < 300; chunk = 3 * chunk + 1)
        check_once(threads, items[i], chunk);
}

TEST(many_jobs) {
  for (int i = 0; i < 2000; i++)
    check_once(1 + (unsigned)i % 3, 5, 1);
}

TEST(no_more_threads_than_chunks) {
  counting *c = counting_new(10, 5);
  c->items = 10;
  CHECK(pool_run(1000000, 10, 5, count, c, NULL));  // two workers
  CHECK_EQ_U64(c->misplaced, 0);
  free(c);
}

TEST(stops) {
  counting *c = counting_new(MOST, 1);
  c->stop_at = 3;
  CHECK(!pool_run(1, MOST, 1, count, c, NULL));
  CHECK_EQ_U64(c->calls, 4);
  CHECK(!pool_run(4, MOST, 1, count, c, NULL));
  free(c);
  atomic_bool interrupted = true;
  c = counting_new(MOST, 1);
  CHECK(!pool_run(4, MOST, 1, count, c, &interrupted));
  CHECK_EQ_U64(c->calls, 0);
  free(c);
}

// ---- several callers -------------------------------------------------------------------------

static void *caller(void *with) {
  for (int i = 0; i < 100; i++)
    check_once(3, 200, 7);
  return with;
}

TEST(jobs_at_the_same_time) {
  pthread_t others[3];
  for (int i = 0; i < 3; i++)
    REQUIRE(pthread_create(&others[i], NULL, caller, NULL) == 0);
  caller(NULL);
  for (int i = 0; i < 3; i++)
    pthread_join(others[i], NULL);
}

static bool inner_job(void *with, unsigned worker, uint64_t first, uint64_t last) {
  (void)worker;
  return pool_run(4, 10 * (last - first), 1, count, with, NULL);
}

TEST(job_in_a_job) {
  counting *c = counting_new(10, 1);
  CHECK(pool_run(1, 1, 1, inner_job, c, NULL));
  for (int i = 0; i < 10; i++)
    CHECK_EQ_U64(c->times[i], 1);
  free(c);
}

// ---- processes -------------------------------------------------------------------------------

TEST(after_fork) {
#if SANITIZED_THREAD
  SKIP("threads in a child of a process with threads");
#endif
  check_once(3, 100, 1);  // there are threads
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    size_t before = test_state.failures;
    check_once(3, 1000, 1);
    check_once(3, 1000, 10);
    exit(test_state.failures == before ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK_EQ_I64(status, 0);
  check_once(3, 100, 1);
}

TEST(processors) {
  cpu_set_t before, one;
  unsigned all = pool_processors();
  CHECK(all >= 1);
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CPU_ZERO(&one);
  for (size_t i = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET(i, &before)) {
      CPU_SET(i, &one);
      break;
    }
  if (sched_setaffinity(0, sizeof one, &one) != 0)
    SKIP("the affinity cannot be changed");
  CHECK_EQ_U64(pool_processors(), 1);
  sched_setaffinity(0, sizeof before, &before);
}

TEST_MAIN()
