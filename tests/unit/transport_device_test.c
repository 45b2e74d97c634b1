// Transports of memory of GPUs, without a GPU: by NCCL and through memory of the host, by the laws
// of all transports. The driver is fake_cuda.c, NCCL fake_nccl.c.
//
//   transport_device_test --times 2 1073741824     on true GPUs: an all-to-all of so many bytes on each of
//                                                  2 ranks, checked, with its time
#include "tests/unit/transport_laws.h"

#include "core/clock.h"
#include "runtime/cuda/device.h"
#include "tests/unit/fake_driver.h"
#include "tests/unit/library.h"

#include <pthread.h>

// ---- ranks that are threads ----------------------------------------------------------------------

static struct {
  void (*set)(const char *settings);
  size_t (*left)(void);
} nccl;

static void find_nccl(void) {
  void *library = dlopen(FAKE_NCCL, RTLD_NOW);
  void *set = library ? dlsym(library, "fake_nccl_set") : NULL;
  void *left = library ? dlsym(library, "fake_nccl_left") : NULL;
  REQUIRE(set != NULL && left != NULL);
  memcpy(&nccl.set, &set, sizeof set);
  memcpy(&nccl.left, &left, sizeof left);
}

static void enter(const char *cuda, const char *settings) {
  fake_driver_load();
  if (!nccl.set)
    find_nccl();
  fake.set(cuda);
  nccl.set(settings);
  setenv("PERMC_NCCL", FAKE_NCCL, 1);
}

typedef struct rank_thread {
  pthread_t id;
  transport_options options;
  rank_work *work;
  const char *kind;  // that it opened
  bool good;
  error failure;
} rank_thread;

static void work(rank_thread *r, transport *below) {
  char why[CUDA_WHY];
  cuda_device *d = cuda_open((int)r->options.rank, why, sizeof why);
  if (!CHECK(d != NULL))
    return;
  transport *t = transport_open_device(below, d, &r->failure);
  r->kind = t ? t->kind->name : "";
  r->good = t && r->work(t, &r->failure);
  transport_close(t);
  cuda_close(d);
}

static void *run_rank(void *with) {
  rank_thread *r = with;
  transport *first = transport_open(&r->options, &r->failure), *below = first;
  if (r->options.carry) {
    transport_options o = r->options;
    o.kind = &transport_caller;
    o.with = first;
    below = transport_open(&o, &r->failure);
  }
  if (CHECK(below != NULL))
    work(r, below);
  transport_close(below);
  if (below != first)
    transport_close(first);
  return NULL;
}

// The line that all end with; "": all went well.
static const char *run_ranks(const char *kind, transport_carry *by, uint32_t ranks, double timeout,
                             rank_work *of_each) {
  static rank_thread all[MOST_RANKS];
  transport_group *g = transport_group_make(ranks);
  for (uint32_t r = 0; r < ranks; r++) {
    all[r] = (rank_thread){.options = {.kind = &transport_threads,
                                       .rank = r,
                                       .ranks = ranks,
                                       .timeout = timeout,
                                       .group = g,
                                       .carry = by},
                           .work = of_each};
    CHECK(pthread_create(&all[r].id, NULL, run_rank, &all[r]) == 0);
  }
  for (uint32_t r = 0; r < ranks; r++)
    pthread_join(all[r].id, NULL);
  for (uint32_t r = 0; r < ranks; r++) {
    if (all[r].good || *all[r].kind)  // another rank may fail before this one has opened
      CHECK_STR(all[r].kind, kind);
    CHECK(all[r].good == !*all[0].failure.message);
    CHECK_STR(all[r].failure.message, all[0].failure.message);
  }
  transport_group_free(g);
  fake_driver_check();
  CHECK_EQ_U64(nccl.left(), 0);
  return all[0].failure.message;
}

// ---- laws ----------------------------------------------------------------------------------------

static void check_laws(const char *kind, transport_carry *by) {
  static const uint32_t counts[] = {1, 2, 3, 4, 8};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i += slower() == 1 || test_all() ? 1 : 3)
    for (int l = 0; l < LAWS; l++) {
      bool waits = laws[l].work == a_rank_hangs || laws[l].work == a_rank_leaves;
      if ((counts[i] == 1 && laws[l].line) || (by && waits))
        continue;
      enter("devices=8", "");
      if (strcmp(kind, "nccl") != 0)
        setenv("PERMC_NCCL", "off", 1);
      double timeout = laws[l].work == a_rank_hangs ? patience() : 60;
      const char *line =
          run_ranks(counts[i] == 1 ? "staged" : kind, by, counts[i], timeout, laws[l].work);
      if (!CHECK(laws[l].line ? strstr(line, laws[l].line) != NULL : !*line))
        printf("  %s, %u ranks: %s\n", laws[l].name, (unsigned)counts[i], line);
    }
}

TEST(laws_by_nccl) { check_laws("nccl", NULL); }
TEST(laws_by_nccl_over_callers) { check_laws("nccl", carry); }
TEST(laws_through_the_host) { check_laws("staged", NULL); }

// ---- which of the two ----------------------------------------------------------------------------

TEST(one_gpu_for_two_ranks) {
  enter("devices=2 same=1", "");
  CHECK_CONTAINS(run_ranks("", NULL, 2, 60, barriers),
                 "rank 1: it has the GPU of rank 0, and NCCL needs one for each");
  setenv("PERMC_NCCL", "off", 1);
  CHECK_STR(run_ranks("staged", NULL, 2, 60, barriers), "");
}

// ---- failures ------------------------------------------------------------------------------------

static bool some_exchanges(transport *t, error *failure) {
  bool good = true;
  for (uint64_t round = 0; good && round < 3; round++)
    good = exchange_of_round(t, round, failure);
  return good;
}

// Each function of NCCL fails once, on one rank: all end with its line.
TEST(nccl_fails) {
  static const struct {
    const char *settings, *line;
  } rows[] = {
      {"fail=ncclGetUniqueId", "rank 0: ncclGetUniqueId: unhandled system error: the cable is out"},
      {"fail=ncclCommInitRankConfig rank=1",
       "rank 1: ncclCommInitRankConfig: unhandled system error: the cable is out"},
      {"fail=ncclCommGetAsyncError rank=1", "rank 1: ncclCommGetAsyncError: unhandled"},
      {"fail=ncclGroupStart", ": ncclGroupStart: unhandled system error: the cable is out"},
      {"fail=ncclSend rank=1", "rank 1: ncclSend to rank "},
      {"fail=ncclRecv rank=2 at=2", "rank 2: ncclRecv from rank "},
      {"fail=ncclGroupEnd rank=1", "rank 1: ncclGroupEnd: unhandled system error"},
      {"fail=async rank=1", "rank 1: NCCL's exchange: unhandled system error"},
      {"fail=async rank=3 status=6 at=2", "rank 3: NCCL's exchange: other error"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    enter("devices=4", rows[i].settings);
    const char *line = run_ranks("nccl", NULL, 4, 60, some_exchanges);
    if (!CHECK_CONTAINS(line, rows[i].line))
      printf("  %s\n", rows[i].settings);
  }
}

// At the end nobody has to know.
TEST(nccl_fails_when_it_ends) {
  enter("devices=4", "fail=ncclCommFinalize rank=1");
  CHECK_STR(run_ranks("nccl", NULL, 4, 60, some_exchanges), "");
}

TEST(nothing_comes) {
  enter("devices=4", "silent=1");
  const char *line = run_ranks("nccl", NULL, 4, patience(), some_exchanges);
  CHECK_CONTAINS(line, ": NCCL's exchange has not ended within ");
}

// Each function of the driver that is called fails at one of its calls.
TEST(the_driver_fails) {
  static const char *const functions[] = {
      "cuDeviceGetUuid_v2",   "cuMemcpyDtoDAsync_v2", "cuStreamQuery",
      "cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2", "cuStreamSynchronize",
  };
  static const char *const kinds[] = {"nccl", "staged"};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    for (int way = 0; way < 2; way++)
      for (int at = 1; at <= 40; at = 3 * at + 1) {
        char settings[100];
        snprintf(settings, sizeof settings, "devices=4 fail=%s at=%d status=700", functions[i], at);
        enter(settings, "");
        if (way == 1)
          setenv("PERMC_NCCL", "off", 1);
        const char *line = run_ranks(kinds[way], NULL, 4, 60, random_exchanges);
        if (*line || (i == 0 && at == 1))
          CHECK_CONTAINS(line, "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access");
      }
}

// ---- the library ---------------------------------------------------------------------------------

// NCCL is loaded once for a process: each case has a process of its own (main).
static void check_library(const char *path, const char *settings, const char *line) {
  char command[2000], self[1000] = "", out[700] = "";
  REQUIRE(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
  snprintf(command, sizeof command, "FAKE_NCCL='%s' PERMC_NCCL='%s' %s --open", settings, path,
           self);
  FILE *f = popen(command, "r");
  REQUIRE(f != NULL);
  out[fread(out, 1, sizeof out - 1, f)] = 0;
  pclose(f);
  CHECK_CONTAINS(out, line);
}

TEST(libraries) {
  char folder[300], link[2000];
  snprintf(folder, sizeof folder, "%s/lib", getenv("PERMC_TMP"));
  snprintf(link, sizeof link, "mkdir -p %s && ln -sf %s %s/libnccl.so.2", folder, FAKE_NCCL,
           folder);
  REQUIRE(system(link) == 0);
  check_library(FAKE_NCCL, "", "nccl\n");
  check_library(folder, "", "nccl\n");
  check_library("off", "", "staged\n");
  check_library("/nowhere", "", "rank 0: PERMC_NCCL does not name a library that can be loaded");
  check_library(FAKE_CUDA, "", "is not a library of NCCL: it has no function ncclGetVersion\n");
  check_library(FAKE_NCCL, "version=2708", "is version 2708, permc needs 21400 or later\n");
  check_library(library_without(FAKE_NCCL, "ncclCommAbort"), "",
                " has no function ncclCommAbort; install a newer one\n");
}

static int open_and_say(void) {
  static rank_thread all[2];
  transport_group *g = transport_group_make(2);
  fake_driver_load();
  fake.set("devices=2");
  for (uint32_t r = 0; r < 2; r++) {
    all[r] = (rank_thread){
        .options = {.kind = &transport_threads, .rank = r, .ranks = 2, .timeout = 20, .group = g},
        .work = barriers};
    pthread_create(&all[r].id, NULL, run_rank, &all[r]);
  }
  for (uint32_t r = 0; r < 2; r++)
    pthread_join(all[r].id, NULL);
  transport_group_free(g);
  puts(all[0].good ? all[0].kind : all[0].failure.message);
  return 0;
}

// ---- times on true GPUs --------------------------------------------------------------------------

static uint64_t bytes_of_each;

static uint64_t word_of(uint64_t from, uint64_t place) {
  return number_of(from, place / sizeof(uint64_t), 1);
}

// What each rank has for others: equal parts.
static bool all_to_all(transport *t, unsigned char *from, unsigned char *to, error *failure) {
  transport_message sends[MOST_RANKS], receives[MOST_RANKS];
  uint64_t part = bytes_of_each / t->ranks;
  for (uint32_t r = 0; r < t->ranks; r++) {
    sends[r] = (transport_message){r, from + r * part, part};
    receives[r] = (transport_message){r, to + r * part, part};
  }
  return transport_exchange(t, sends, t->ranks, receives, t->ranks, failure);
}

static bool has_come(const transport *t, const uint64_t *words) {
  uint64_t part = bytes_of_each / t->ranks;
  for (uint64_t i = 0; i < bytes_of_each / sizeof *words; i++) {
    uint64_t at = i * sizeof *words;
    if (words[i] != word_of(at / part, t->rank * part + at % part))
      return false;
  }
  return true;
}

static bool time_exchanges(transport *t, error *failure) {
  enum { TIMES = 10 };
  cuda_device *d = t->device;
  unsigned char *from = (void *)(uintptr_t)cuda_memory_new(d, bytes_of_each);
  unsigned char *to = (void *)(uintptr_t)cuda_memory_new(d, bytes_of_each);
  uint64_t *words = malloc(bytes_of_each);
  for (uint64_t i = 0; words && i < bytes_of_each / sizeof *words; i++)
    words[i] = word_of(t->rank, i * sizeof *words);
  bool good = from && to && words && cuda_upload(d, (uintptr_t)from, words, bytes_of_each) &&
              cuda_wait(d, NULL);
  double start = 0, least = 1e9;
  for (int i = 0; good && i < TIMES; i++) {
    good = transport_barrier(t, failure);
    start = clock_seconds();
    good = good && all_to_all(t, from, to, failure);
    double seconds = clock_seconds() - start;
    least = seconds < least ? seconds : least;
  }
  good = good && cuda_download(d, words, (uintptr_t)to, bytes_of_each) && has_come(t, words);
  double sent = (double)bytes_of_each * (t->ranks - 1) / t->ranks;
  printf("rank %u: %s, %s, %.3f ms, %.1f GB/s\n", (unsigned)t->rank, t->kind->name,
         good ? "all bytes in place" : "wrong", least * 1e3, sent / least * 1e-9);
  cuda_memory_free(d, (uintptr_t)from);
  cuda_memory_free(d, (uintptr_t)to);
  free(words);
  return good;
}

static int show_times(uint32_t ranks, uint64_t bytes) {
  static rank_thread all[MOST_RANKS];
  transport_group *g = transport_group_make(ranks);
  bool good = true;
  bytes_of_each = bytes;
  for (uint32_t r = 0; r < ranks; r++) {
    all[r] = (rank_thread){.options = {.kind = &transport_threads,
                                       .rank = r,
                                       .ranks = ranks,
                                       .timeout = 60,
                                       .group = g},
                           .work = time_exchanges};
    pthread_create(&all[r].id, NULL, run_rank, &all[r]);
  }
  for (uint32_t r = 0; r < ranks; r++) {
    pthread_join(all[r].id, NULL);
    good = good && all[r].good;
  }
  if (!good)
    puts(all[0].failure.message);
  transport_group_free(g);
  return !good;
}

int main(int count, char **words) {
  if (count == 4 && strcmp(words[1], "--times") == 0)
    return show_times((uint32_t)strtoul(words[2], NULL, 10), strtoull(words[3], NULL, 10));
  return count == 2 && strcmp(words[1], "--open") == 0 ? open_and_say() : test_main(count, words);
}
