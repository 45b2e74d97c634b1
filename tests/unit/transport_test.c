// Transport: every kind by one table of laws and one of faults.
#include "core/clock.h"
#include "runtime/transport/mpi_library.h"
#include "tests/unit/transport_laws.h"

#include <pthread.h>
#include <stdatomic.h>

// ---- threads -----------------------------------------------------------------------------------

// The linker's --wrap (tests/CMakeLists.txt): of the allocations of rank 1, one may fail.
static long failing = -1;  // its number, from 0; -1: none
static atomic_bool some_failed;
static _Thread_local long allocations = -1;  // of this thread; below 0: none of them fails
static bool allocation_fails(void) {
  bool fails = allocations >= 0 && allocations++ == failing;
  if (fails)
    atomic_store(&some_failed, true);
  return fails;
}
#define WRAP(name, parameters, call)                                                               \
  void *__real_##name parameters;                                                                  \
  void *__wrap_##name parameters;                                                                  \
  void *__wrap_##name parameters { return allocation_fails() ? NULL : __real_##name call; }
WRAP(malloc, (size_t bytes), (bytes))
WRAP(calloc, (size_t count, size_t bytes), (count, bytes))
WRAP(realloc, (void *memory, size_t bytes), (memory, bytes))

typedef struct rank_thread {
  pthread_t id;
  transport_options options;
  bool carried;  // a function of the test's carries its messages, by that transport
  rank_work *work;
  bool good;
  error failure;
} rank_thread;

static void *run_rank(void *with) {
  rank_thread *r = with;
  long first = r->options.rank == 1 && failing >= 0 ? 0 : -1;
  allocations = r->carried ? -1 : first;
  transport *t = transport_open(&r->options, &r->failure), *below = NULL;
  if (r->carried) {
    below = t;
    r->options.kind = &transport_caller;
    r->options.carry = carry;
    r->options.with = below;
    t = transport_open(&r->options, &r->failure);
    allocations = first;  // before, the others hear nothing of this one
  }
  r->good = t != NULL && r->work(t, &r->failure);
  transport_close(t);
  transport_close(below);
  return NULL;
}

// All ranks but the last `absent` ones. `line`: as in a law.
static void run_ranks(bool carried, uint32_t ranks, uint32_t absent, double timeout,
                      rank_work *work, const char *line) {
  rank_thread all[MOST_RANKS];
  transport_group *g = transport_group_make(ranks);
  for (uint32_t r = 0; r < ranks - absent; r++) {
    all[r] = (rank_thread){.options = {.kind = &transport_threads,
                                       .rank = r,
                                       .ranks = ranks,
                                       .timeout = timeout,
                                       .group = g},
                           .carried = carried,
                           .work = work};
    CHECK(pthread_create(&all[r].id, NULL, run_rank, &all[r]) == 0);
  }
  for (uint32_t r = 0; r < ranks - absent; r++) {
    pthread_join(all[r].id, NULL);
    if (atomic_load(&some_failed))
      line = "rank 1: out of memory";
    CHECK(all[r].good == (line == NULL));
    CHECK_STR(all[r].failure.message, all[0].failure.message);
    CHECK_CONTAINS(all[r].failure.message, line == NULL ? "" : line);
  }
  transport_group_free(g);
}

static void run_threads(uint32_t ranks, uint32_t absent, double timeout, rank_work *work,
                        const char *line) {
  run_ranks(false, ranks, absent, timeout, work, line);
}

TEST(laws_of_threads) {
  static const uint32_t counts[] = {1, 2, 3, 4, 8, 16, 32};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    for (int l = 0; l < LAWS; l++)
      if ((counts[i] > 1 || laws[l].line == NULL) && laws[l].work != a_rank_hangs)
        run_threads(counts[i], 0, 60, laws[l].work, laws[l].line);
}

// A rank that leaves or hangs is for the caller's function to find: then it fails.
TEST(laws_of_callers) {
  static const uint32_t counts[] = {1, 2, 3, 8};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    for (int l = 0; l < LAWS; l++)
      if ((counts[i] > 1 || laws[l].line == NULL) && laws[l].work != a_rank_hangs &&
          laws[l].work != a_rank_leaves)
        run_ranks(true, counts[i], 0, 60, laws[l].work, laws[l].line);
  rank_thread alone = {
      .options = {.kind = &transport_caller, .rank = 1, .ranks = 1, .carry = carry}};
  CHECK(transport_open(&alone.options, &alone.failure) == NULL);
  CHECK_CONTAINS(alone.failure.message, "there is no rank 1 of 1");
}

// Says nothing of why.
static bool carry_nothing(void *with, const permc_transfer *sends, size_t send_count,
                          const permc_transfer *receives, size_t receive_count, permc_error *why) {
  (void)with, (void)sends, (void)send_count, (void)receives, (void)receive_count, (void)why;
  return false;
}

TEST(a_function_of_the_caller_fails) {
  error failure = {0}, silent = {0};
  transport_group *g = transport_group_make(2);
  transport_options o = {.kind = &transport_threads, .ranks = 2, .timeout = patience(), .group = g};
  transport *below = transport_open(&o, &failure);
  o.kind = &transport_caller;
  o.carry = carry;
  o.with = below;
  transport *t = transport_open(&o, &failure);
  CHECK(!transport_barrier(t, &failure));
  CHECK_CONTAINS(failure.message, "rank 0: rank 1 did not come within ");
  transport_fail(t, "again", NULL);
  transport_close(t);
  o.carry = carry_nothing;
  t = transport_open(&o, &silent);
  CHECK(!transport_barrier(t, &silent));
  CHECK_STR(silent.message, "rank 0: the caller's function for messages has failed");
  transport_close(t);
  transport_close(below);
  transport_group_free(g);
}

TEST(threads_where_a_rank_fails) {
  for (uint64_t i = 0; i < test_amount(20, 1000); i++)
    run_threads(8, 0, 60, a_rank_fails, "rank 1: out of memory");
}

static void run_out_of_memory(bool carried) {
  static rank_work *const works[] = {barriers, agreements, exchanges_of_blocks};
  for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
    uint64_t step = works[i] == exchanges_of_blocks ? 7 : 1;
    atomic_store(&some_failed, true);
    for (failing = 0; atomic_load(&some_failed); failing += (long)step) {
      atomic_store(&some_failed, false);
      run_ranks(carried, 2, 0, 60, works[i], NULL);
    }
  }
  failing = -1;
}

TEST(threads_where_memory_is_out) { run_out_of_memory(false); }
TEST(callers_where_memory_is_out) { run_out_of_memory(true); }

TEST(threads_where_a_rank_does_not_come) {
  run_threads(4, 0, patience(), a_rank_hangs, "rank 1 did not come within ");
  run_threads(4, 1, patience(), barriers, "rank 3 did not come within ");
}

TEST(kinds_have_names) {
  for (const transport_kind *const *k = transport_kinds; *k != NULL; k++)
    CHECK(transport_kind_named((*k)->name) == *k);
  CHECK(transport_kind_named("pigeons") == NULL);
}

// ---- MPI ---------------------------------------------------------------------------------------

// Runs a law on a transport of its own; writes what is wrong.
static void run_mpi_law(const struct law *l, FILE *f) {
  error failure = {0};
  transport_options o = {.kind = &transport_mpi, .timeout = 60};
  if (l->work == a_rank_hangs || l->work == a_rank_dies)
    o.timeout = patience();
  transport *t = transport_open(&o, &failure);
  bool good = t != NULL && l->work(t, &failure);
  transport_close(t);
  if (good != (l->line == NULL) || strstr(failure.message, l->line ? l->line : "") == NULL)
    fprintf(f, "%s: '%s', expected '%s'\n", l->name, failure.message, l->line ? l->line : "");
}

// Rank 0 comes to the others after more than half of the time that they wait for it.
static void open_late(const transport *outer, FILE *f) {
  enum { SECONDS = 2 };
  error failure = {0};
  if (outer->rank == 0)
    nanosleep(&(struct timespec){.tv_sec = SECONDS / 2, .tv_nsec = 400000000}, NULL);
  transport *t =
      transport_open(&(transport_options){.kind = &transport_mpi, .timeout = SECONDS}, &failure);
  if (t == NULL)
    fprintf(f, "late: %s\n", failure.message);
  transport_close(t);
}

// One for all users on a communicator, until the last has gone, on each rank another; after a
// failure a new one.
static void share(uint32_t rank, FILE *f) {
  error failure = {0}, none = {0};
  transport_options o = {.kind = &transport_mpi, .timeout = 60, .shared = true};
  bool good = transport_find(&o) == NULL;
  transport *t = transport_open(&o, &failure), *own = NULL;
  good = good && t != NULL && transport_find(&o) == t && transport_find(&o) == t;
  o.shared = false;
  good = good && transport_find(&o) == NULL && (own = transport_open(&o, &failure)) != t;
  for (int i = 0; i < 2 && good; i++)
    transport_close(t);
  good = good && transport_barrier(t, &failure) && transport_barrier(own, &failure);
  o.shared = true;
  if (rank == 0)
    transport_fail(t, "on purpose", NULL);
  while (good && transport_check(t, &none))
    sched_yield();
  good = good && transport_find(&o) == NULL;
  transport *next = transport_open(&o, &failure);
  good = good && next != t && transport_find(&o) == next && transport_barrier(next, &failure);
  transport_close(next);
  transport_close(rank % 2 ? next : t);
  transport_close(rank % 2 ? t : next);
  transport_close(own);
  if (!good || transport_find(&o) != NULL)
    fprintf(f, "shared: '%s'\n", failure.message);
}

// What a rank of mpirun does: all laws, one after the other, while another transport stays. Writes
// to RESULTS.RANK what is wrong, and then that it is done. At last a rank may die.
static int run_mpi_rank(const char *results, bool dies) {
  static const struct law death = {"a_rank_dies", a_rank_dies, "rank 1 did not come within "};
  char path[4096];
  error failure = {0};
  transport *outer = transport_open(
      &(transport_options){.kind = &transport_mpi, .timeout = dies ? 5 : 100}, &failure);
  snprintf(path, sizeof path, "%s.%u", results, outer ? outer->rank : 0);
  FILE *f = fopen(path, "w");
  for (int l = 0; outer != NULL && l < LAWS && transport_barrier(outer, &failure); l++)
    run_mpi_law(&laws[l], f);
  if (outer != NULL && !dies) {
    share(outer->rank, f);
    open_late(outer, f);
  }
  if (outer != NULL)
    transport_barrier(outer, &failure);
  fprintf(f, "%s", failure.message);
  if (dies && outer != NULL && outer->rank == 1)
    fprintf(f, "done\n");
  fflush(f);
  if (dies)
    run_mpi_law(&death, f);
  fprintf(f, "done\n");
  fclose(f);
  transport_close(outer);
  return 0;
}

static void *exchange_elsewhere(void *with) {
  error failure = {0};
  CHECK(!transport_barrier(with, &failure));
  CHECK_CONTAINS(failure.message, ": MPI was begun for one thread, and another calls it here");
  return NULL;
}

// MPI that was begun by MPI_Init: for the thread that did so.
static int run_mpi_single(const char *results) {
  char path[4096], why[512];
  error failure = {0};
  int level = -1, rank = 0;
  const mpi_library *m = mpi_library_find(why, sizeof why);
  m->init_thread(NULL, NULL, 0, &level);
  m->comm_rank(m->world, &rank);
  transport *t =
      transport_open(&(transport_options){.kind = &transport_mpi, .timeout = 60}, &failure);
  bool good = t != NULL && transport_barrier(t, &failure);
  pthread_t other;
  if (good && level < m->serialized &&
      CHECK(pthread_create(&other, NULL, exchange_elsewhere, t) == 0))
    pthread_join(other, NULL);
  transport_close(t);
  m->finalize();
  snprintf(path, sizeof path, "%s.%d", results, rank);
  FILE *f = fopen(path, "w");
  fprintf(f, "%s%s", failure.message, test_state.failures == 0 ? "done\n" : "failed\n");
  fclose(f);
  return 0;
}

// What a rank does for tests/tools/hosts.py: exchanges with all, of some sizes. Rank 0 writes BYTES
// SECONDS for each, and what all have sent to the other of two hosts.
static int run_mpi_times(void) {
  enum { TIMES = 10, LARGEST = 1 << 14 };  // below what MPI asks the receiver about first
  static unsigned char from[LARGEST], to[MOST_RANKS][LARGEST];
  error failure = {0};
  transport *t =
      transport_open(&(transport_options){.kind = &transport_mpi, .timeout = 60}, &failure);
  bool good = t != NULL && transport_barrier(t, &failure);
  uint64_t crossing = 0;
  for (uint64_t bytes = 64; good && bytes <= LARGEST; bytes *= 16) {
    transport_message sends[MOST_RANKS], receives[MOST_RANKS];
    double start = clock_seconds();
    for (uint32_t r = 0; r < t->ranks; r++) {
      sends[r] = (transport_message){r, r == t->rank ? to[r] : from, bytes};
      receives[r] = (transport_message){r, to[r], bytes};
    }
    for (int i = 0; good && i < TIMES; i++)
      good = transport_exchange(t, sends, t->ranks, receives, t->ranks, &failure);
    if (t->rank == 0)
      printf("%" PRIu64 " %g\n", bytes, (clock_seconds() - start) / TIMES);
  }
  for (uint32_t r = 0; good && r < t->ranks; r++)
    crossing += (r < t->ranks / 2) == (t->rank < t->ranks / 2) ? 0 : t->sent[r].bytes;
  if (good && t->rank == 0)
    printf("crossing %" PRIu64 "\n", crossing * t->ranks);
  if (!good)
    printf("%s\n", failure.message);
  fflush(stdout);
  transport_close(t);
  return !good;
}

static void check_results(const char *results, int rank) {
  char path[4096], found[4096] = "";
  snprintf(path, sizeof path, "%s.%d", results, rank);
  FILE *f = fopen(path, "r");
  if (f) {
    found[fread(found, 1, sizeof found - 1, f)] = 0;
    fclose(f);
  }
  CHECK_STR(found, "done\n");
}

static bool run_mpi(const char *launcher, int ranks, const char *mode) {
  char command[8192], results[2048], self[2048] = "";
  const char *folder = getenv("PERMC_TMP");
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
    return false;
  snprintf(results, sizeof results, "%s/%s.%d", folder ? folder : "/tmp", launcher, ranks);
  snprintf(command, sizeof command, "command -v %s >%s.out 2>&1", launcher, results);
  if (system(command) != 0)
    return false;
  // Open MPI wants to be told that this is root's, and that there are few processors.
  snprintf(command, sizeof command,
           "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
           "OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader "
           "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe ASAN_OPTIONS=detect_leaks=0 "
           "OMPI_MCA_orte_enable_recovery=1 %s -n %d %s %s %s >%s.out 2>&1 </dev/null",
           launcher, ranks, self, mode, results, results);
  if (system(command) != 0) {
    // After failures there is no clean end, which the launcher says: results tell.
  }
  for (int r = 0; r < ranks; r++)
    check_results(results, r);
  return true;
}

TEST(laws_of_mpi) {
  static const struct {
    const char *launcher;
    int ranks;
    const char *mode;
    bool sample;
  } rows[] = {
      {"mpirun.openmpi", 4, "--mpi", true},        {"mpirun.mpich", 2, "--mpi", true},
      {"mpirun.openmpi", 2, "--mpi-single", true}, {"mpirun.mpich", 2, "--mpi-single", true},
      {"mpirun.openmpi", 2, "--mpi", false},       {"mpirun.openmpi", 8, "--mpi-death", false},
      {"mpirun.mpich", 4, "--mpi", false},         {"mpirun.mpich", 8, "--mpi", false}};
  bool found = false;
#if SANITIZED_THREAD
  SKIP("MPI is not made for the thread sanitizer");
#endif
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].sample || test_all())
      found = run_mpi(rows[i].launcher, rows[i].ranks, rows[i].mode) || found;
  if (!found)
    SKIP("there is no MPI");
}

int main(int count, char **words) {
  if (count == 3 && strncmp(words[1], "--mpi", 5) == 0)
    return strcmp(words[1], "--mpi-single") == 0
               ? run_mpi_single(words[2])
               : run_mpi_rank(words[2], strcmp(words[1], "--mpi-death") == 0);
  if (count == 2 && strcmp(words[1], "--mpi-times") == 0)
    return run_mpi_times();
  return test_main(count, words);
}
