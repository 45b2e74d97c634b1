// Transport: every kind by one table of laws and one of faults.
#include "core/clock.h"
#include "core/sanitized.h"
#include "runtime/transport/transport.h"
#include "tests/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST_RANKS = 32, LONGEST = 3000, MOST_BLOCKS = 64 };

// What a rank does. False: *failure says why.
typedef bool rank_work(transport *t, error *failure);

// A number that all ranks can tell, from up to three others.
static uint64_t number_of(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) + b * UINT64_C(0xc2b2ae3d27d4eb4f) + c;
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static bool wrong(const transport *t, error *failure, const char *what) {
  return error_set(failure, SPAN_NONE, "rank %u of %u: wrong %s", t->rank, t->ranks, what);
}

static void fill(unsigned char *bytes, uint64_t count, uint64_t seed) {
  for (uint64_t i = 0; i < count; i++)
    bytes[i] = (unsigned char)(seed + 3 * i + (i >> 8));
}

static bool is_filled(const unsigned char *bytes, uint64_t count, uint64_t seed) {
  for (uint64_t i = 0; i < count; i++)
    if (bytes[i] != (unsigned char)(seed + 3 * i + (i >> 8)))
      return false;
  return true;
}

// ---- laws --------------------------------------------------------------------------------------

// Bytes of the message in a round, or -1: there is none.
static int64_t length_of(uint64_t round, uint32_t from, uint32_t to) {
  uint64_t x = number_of(round, from, to);
  return x % 8 == 0 ? -1 : x % 8 == 1 ? 0 : (int64_t)(x / 8 % LONGEST);
}

typedef struct traffic {
  transport_message sends[MOST_RANKS], receives[MOST_RANKS];
  uint32_t send_count, receive_count;
  unsigned char *memory;
} traffic;

static void traffic_make(traffic *w, const transport *t, uint64_t round) {
  *w = (traffic){.memory = calloc(2 * (size_t)t->ranks, LONGEST)};
  for (uint32_t i = 0; i < t->ranks; i++) {
    uint32_t peer = (i + (uint32_t)round) % t->ranks;
    int64_t out = length_of(round, t->rank, peer), in = length_of(round, peer, t->rank);
    unsigned char *place = w->memory + 2 * (size_t)i * LONGEST;
    if (out >= 0)
      w->sends[w->send_count++] = (transport_message){peer, place, (uint64_t)out};
    if (in >= 0)
      w->receives[w->receive_count++] = (transport_message){peer, place + LONGEST, (uint64_t)in};
    fill(place, out > 0 ? (uint64_t)out : 0, number_of(round, t->rank, peer));
  }
}

static bool exchange_of_round(transport *t, uint64_t round, error *failure) {
  traffic w;
  traffic_make(&w, t, round);
  bool good = transport_exchange(t, w.sends, w.send_count, w.receives, w.receive_count, failure);
  for (uint32_t i = 0; good && i < w.receive_count; i++) {
    const transport_message *m = &w.receives[i];
    if (!is_filled(m->data, m->bytes, number_of(round, m->rank, t->rank)))
      good = wrong(t, failure, "message");
  }
  free(w.memory);
  return good;
}

static bool random_exchanges(transport *t, error *failure) {
  bool good = true;
  uint64_t bytes = 0, sent = 0;
  for (uint64_t round = 0; good && round < 12; round++) {
    good = exchange_of_round(t, round, failure);
    for (uint32_t to = 0; to < t->ranks; to++) {
      int64_t out = length_of(round, t->rank, to);
      bytes += out > 0 ? (uint64_t)out : 0;
    }
  }
  for (uint32_t to = 0; to < t->ranks; to++)
    sent += t->sent[to].bytes;
  return good && (sent == bytes || wrong(t, failure, "count of bytes"));
}

// A random invertible map of n bits, from elementary steps; every third is a permutation of bits.
static f2_affine random_blocks(int n, uint64_t seed) {
  f2_affine f = f2_affine_identity(n);
  for (int i = 0; i < n; i++) {
    int j = (int)(number_of(seed, (uint64_t)i, 1) % (uint64_t)n);
    uint64_t row = f.a.row[i];
    f.a.row[i] = f.a.row[j];
    f.a.row[j] = row;
    for (int k = 0; k < n && seed % 3 != 0; k++)
      f.a.row[k] ^= k != i && number_of(seed, (uint64_t)i, (uint64_t)k) % 2 ? f.a.row[i] : 0;
  }
  f.c = number_of(seed, 0, 2) & f2_mask(n);
  return f;
}

static bool blocks_of_seed(transport *t, int n, uint64_t seed, error *failure) {
  enum { MOST_BYTES = 40 };
  static _Thread_local unsigned char from[MOST_BLOCKS * MOST_BYTES], to[sizeof from];
  transport_blocks b = {random_blocks(n, seed), seed % MOST_BYTES};
  uint64_t count = ((uint64_t)1 << n) / t->ranks;
  for (uint64_t i = 0; i < count; i++)
    fill(from + i * b.bytes, b.bytes, t->rank * count + i);
  if (!transport_exchange_blocks(t, &b, from, to, failure))
    return false;
  for (uint64_t q = 0; q < (uint64_t)1 << n; q++) {
    uint64_t place = f2_affine_apply(b.blocks, q);
    if (place / count == t->rank && !is_filled(to + place % count * b.bytes, b.bytes, q))
      return wrong(t, failure, "block");
  }
  return true;
}

static bool exchanges_of_blocks(transport *t, error *failure) {
  int p = 0;
  while ((uint32_t)1 << p < t->ranks)
    p++;
  bool good = true;  // of 2^p ranks only
  for (int more = 0; good && (uint32_t)1 << p == t->ranks && more <= 3; more++)
    for (uint64_t seed = 0; good && seed < 6; seed++)
      good = blocks_of_seed(t, p + more, seed + 10 * (uint64_t)more, failure);
  return good;
}

static bool gathers(transport *t, error *failure) {
  uint64_t bytes[MOST_RANKS], sum = 0, before = 0;
  for (uint32_t r = 0; r < t->ranks; r++) {
    bytes[r] = number_of(r, 5, 5) % LONGEST * (r % 3 != 1);
    before += r < t->rank ? bytes[r] : 0;
    sum += bytes[r];
  }
  unsigned char *all = calloc(sum + 1, 1);
  fill(all + before, bytes[t->rank], t->rank);
  bool good = transport_gather(t, all + before, bytes, all, failure);
  const unsigned char *place = all;
  for (uint32_t r = 0; good && r < t->ranks; place += bytes[r++])
    good = is_filled(place, bytes[r], r) || wrong(t, failure, "slab");
  free(all);
  return good;
}

static bool agreements(transport *t, error *failure) {
  const transport_part parts[] = {{"program", "sort", 4}, {"sizes", "\0\1", 2}};
  return transport_agree(t, parts, 2, failure) && transport_agree(t, parts, 0, failure);
}

static bool memory_of_all(transport *t, error *failure) {
  void *peers[MOST_RANKS];
  for (uint64_t bytes = 1; t->kind->memory != NULL && bytes < 10000; bytes *= 100) {
    if (!t->kind->memory(t, bytes * t->ranks, peers, failure))
      return false;
    for (uint32_t r = 0; r < t->ranks; r++)
      fill((unsigned char *)peers[r] + t->rank * bytes, bytes, t->rank + r);
    if (!transport_barrier(t, failure))
      return false;
    for (uint32_t r = 0; r < t->ranks; r++)
      if (!is_filled((unsigned char *)peers[t->rank] + r * bytes, bytes, t->rank + r))
        return wrong(t, failure, "memory of a rank");
  }
  return true;
}

// ---- faults ------------------------------------------------------------------------------------

static bool barriers(transport *t, error *failure) {
  bool good = true;
  for (int i = 0; good && i < 3; i++)
    good = transport_barrier(t, failure);
  return good;
}

static bool a_rank_fails(transport *t, error *failure) {
  if (!exchange_of_round(t, 1, failure))
    return false;
  if (t->rank == 1)
    transport_fail(t, "out of memory");
  return exchange_of_round(t, 2, failure) && barriers(t, failure);
}

static bool a_rank_leaves(transport *t, error *failure) {
  if (t->rank == 1)
    return error_set(failure, SPAN_NONE, "rank 1 ended before the others");
  return barriers(t, failure);
}

static bool a_rank_hangs(transport *t, error *failure) {
  if (!barriers(t, failure))
    return false;
  if (t->rank == 1)
    usleep((useconds_t)(1.5e6 * t->timeout));
  return exchange_of_round(t, 2, failure) && barriers(t, failure);
}

static bool a_rank_dies(transport *t, error *failure) {
  if (t->rank == 1)
    raise(SIGKILL);
  return exchange_of_round(t, 2, failure) && barriers(t, failure);
}

static bool a_rank_disagrees(transport *t, error *failure) {
  const transport_part parts[] = {{"program", "sort", 4}, {"sizes", t->rank == 1 ? "8" : "9", 1}};
  return transport_agree(t, parts, 2, failure);
}

static bool a_rank_is_of_another_version(transport *t, error *failure) {
  const transport_part parts[] = {{"program", "sort", 4}, {"sizes", "8", 1}};
  return transport_agree(t, parts, t->rank == 1 ? 1 : 2, failure);
}

static bool a_message_is_too_long(transport *t, error *failure) {
  unsigned char bytes[16] = {0};
  transport_message m = {1 - t->rank % 2, bytes, t->rank == 1 ? 16 : 8};
  return transport_exchange(t, &m, t->rank == 1, &m, t->rank == 0, failure) && barriers(t, failure);
}

static bool two_messages_for_one_rank(transport *t, error *failure) {
  transport_message m[] = {{0, NULL, 0}, {0, NULL, 0}};
  return transport_exchange(t, m, t->rank == 1 ? 2 : 0, NULL, 0, failure) && barriers(t, failure);
}

static const struct law {
  const char *name;
  rank_work *work;
  const char *line;  // NULL: all goes well; else what is in the line that all ranks end with
} laws[] = {
    {"random_exchanges", random_exchanges, NULL},
    {"exchanges_of_blocks", exchanges_of_blocks, NULL},
    {"gathers", gathers, NULL},
    {"agreements", agreements, NULL},
    {"barriers", barriers, NULL},
    {"memory_of_all", memory_of_all, NULL},
    {"a_rank_fails", a_rank_fails, "rank 1: out of memory"},
    {"a_rank_leaves", a_rank_leaves, "rank 1 ended before the others"},
    {"a_rank_hangs", a_rank_hangs, "rank 1 did not come within "},
    {"a_rank_disagrees", a_rank_disagrees, "rank 1 differs from rank 0 in its sizes"},
    {"a_rank_is_of_another_version", a_rank_is_of_another_version,
     "rank 1 differs from rank 0 in its version"},
    {"a_message_is_too_long", a_message_is_too_long,
     "rank 0 expects another number of bytes than rank 1 sends"},
    {"two_messages_for_one_rank", two_messages_for_one_rank,
     "rank 1: two messages of one exchange for one rank"},
};
enum { LAWS = sizeof laws / sizeof *laws };

// Long enough for a rank that only has to wait for a processor.
static double patience(void) { return slower() > 1 ? 1 : 0.3; }

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

static bool carry(void *with, const permc_transfer *sends, size_t send_count,
                  const permc_transfer *receives, size_t receive_count) {
  error why = {0};
  return transport_exchange(with, sends, (uint32_t)send_count, receives, (uint32_t)receive_count,
                            &why);
}

static void *run_rank(void *with) {
  rank_thread *r = with;
  allocations = r->options.rank == 1 && failing >= 0 ? 0 : -1;
  transport *t = transport_open(&r->options, &r->failure), *below = NULL;
  if (r->carried) {
    below = t;
    r->options.kind = &transport_caller;
    r->options.carry = carry;
    r->options.with = below;
    t = transport_open(&r->options, &r->failure);
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

TEST(a_function_of_the_caller_fails) {
  error failure = {0};
  transport_group *g = transport_group_make(2);
  transport_options o = {.kind = &transport_threads, .ranks = 2, .timeout = patience(), .group = g};
  transport *below = transport_open(&o, &failure);
  o.kind = &transport_caller;
  o.carry = carry;
  o.with = below;
  transport *t = transport_open(&o, &failure);
  CHECK(!transport_barrier(t, &failure));
  CHECK_STR(failure.message, "rank 0: the caller's function for messages has failed");
  transport_fail(t, "again");
  transport_close(t);
  transport_close(below);
  transport_group_free(g);
}

TEST(threads_where_a_rank_fails) {
  for (uint64_t i = 0; i < test_amount(20, 1000); i++)
    run_threads(8, 0, 60, a_rank_fails, "rank 1: out of memory");
}

TEST(threads_where_memory_is_out) {
  static rank_work *const works[] = {barriers, agreements, memory_of_all, exchanges_of_blocks};
  for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
    uint64_t step = works[i] == exchanges_of_blocks ? 7 : 1;
    atomic_store(&some_failed, true);
    for (failing = 0; atomic_load(&some_failed); failing += (long)step) {
      atomic_store(&some_failed, false);
      run_threads(2, 0, 60, works[i], NULL);
    }
  }
  failing = -1;
}

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

// What a rank of mpirun does: all laws, one after the other, while another transport stays. Writes to
// RESULTS.RANK what is wrong, and then that it is done. At last a rank may die.
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
  } rows[] = {{"mpirun.openmpi", 4, "--mpi", true},  {"mpirun.mpich", 2, "--mpi", true},
              {"mpirun.openmpi", 2, "--mpi", false}, {"mpirun.openmpi", 8, "--mpi-death", false},
              {"mpirun.mpich", 4, "--mpi", false},   {"mpirun.mpich", 8, "--mpi", false}};
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
    return run_mpi_rank(words[2], strcmp(words[1], "--mpi-death") == 0);
  if (count == 2 && strcmp(words[1], "--mpi-times") == 0)
    return run_mpi_times();
  return test_main(count, words);
}
