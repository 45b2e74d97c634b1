// Many compilations by processes at once, some of which are killed: the cache keeps its limit at
// every moment, results are right, and nothing is left. The compiler is fake_cc.c, so that the
// cache has the most to do. PERMC_ALL=1 build/release/tests/cache_load_test
#include "tests/test.h"

#include "fusion/plan/plan.h"
#include "runtime/compiled/compiler.h"
#include "runtime/system/cache.h"
#include "tests/readers/readers.h"
#include "tests/unit/compiled.h"
#include "tests/unit/memory.h"
#include "tests/unit/splitmix.h"

#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 8, ELEMENTS = 16, SAMPLE = 800 };
static const uint64_t base = UINT64_C(0x4563918200000000);  // as in fake_cc.c

typedef struct counts {
  atomic_uint_fast64_t compiled, cached, wrong;
} counts;
static counts *all;  // of all processes

// A program that adds base + number, compiled and run once.
static compiled_status run_program(uint32_t number) {
  char description[500];
  const char *wrong = NULL;
  START();
  snprintf(description, sizeof description,
           "array a0 i64 16 argument 0\narray a1 i64 16 result 0\nstage n=4\n"
           "  v0 = load a0 at x0 + 2*x1 + 4*x2 + 8*x3\n"
           "  op\n    v1[0] = + v0[0] i64:%" PRIu64 "\n"
           "  store v1 in a1 at x0 + 2*x1 + 4*x2 + 8*x3\n",
           base + number);
  net *n = net_read(&memory, description, &wrong);
  if (wrong)
    abort();
  plan *p = plan_make(&memory, n, target_named("baseline"), NULL);
  _Alignas(64) int64_t in[ELEMENTS], out[ELEMENTS] = {0};
  for (int i = 0; i < ELEMENTS; i++)
    in[i] = i * 1000003;
  void *arrays[8] = {in, out};
  compiled_status status;
  error why = {0};
  compiled *e = compiled_from_plan(p, NULL, &(compiled_options){.isa = "baseline"}, &status, &why);
  if (!e) {
    printf("%s\n", why.message);
    return status;
  }
  cpu_work w = compiled_pass(e, 0);
  void *scratch = aligned_alloc(64, w.scratch_bytes / 64 * 64 + 64);
  bool good = w.run(w.with, 0, arrays, 0, cpu_item_count(p, 0), scratch);
  for (int i = 0; i < ELEMENTS; i++)
    good = good && out[i] == in[i] + (int64_t)(base + number);
  free(scratch);
  compiled_free(e);
  return good ? status : COMPILED_FAILED;
}

static void work(uint64_t wanted, uint32_t programs) {
  while (atomic_load(&all->compiled) < wanted && atomic_load(&all->wrong) == 0) {
    compiled_status status = run_program((uint32_t)(random_u64() % programs));
    if (status == COMPILED)
      atomic_fetch_add(&all->compiled, 1);
    else if (status == COMPILED_CACHED)
      atomic_fetch_add(&all->cached, 1);
    else
      atomic_fetch_add(&all->wrong, 1);
  }
  _exit(0);
}

static pid_t start_worker(uint64_t wanted, uint32_t programs) {
  fflush(stdout);
  random_state++;
  pid_t pid = fork();
  if (pid == 0)
    work(wanted, programs);
  return pid;
}

static uint64_t bytes_found, files_found;
static int add_file(const char *path, const struct stat *s, int kind, struct FTW *where) {
  (void)path;
  (void)where;
  if (kind == FTW_F || kind == FTW_SL) {
    uint64_t blocks = (uint64_t)s->st_blocks * 512, bytes = (uint64_t)s->st_size;
    bytes_found += blocks > bytes ? blocks : bytes;
    files_found++;
  }
  return 0;
}

static uint64_t measure(const char *folder) {
  bytes_found = files_found = 0;
  nftw(folder, add_file, 8, FTW_PHYS);
  return bytes_found;
}

TEST(limit_under_load) {
  const char *temporary = getenv("PERMC_TMP");
  uint64_t wanted = test_all() ? 100000 : SAMPLE;
  uint64_t limit = UINT64_C(1) << 20, most = 0, removed, killed = 0, looks = 0;
  limit *= wanted > SAMPLE ? 10 : 1;
  char place[300], cache_path[400], path[500];
  compiler found;
  all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(all != MAP_FAILED);
  if (!compiler_find(&found, NULL))
    SKIP("there is no C compiler");
  snprintf(place, sizeof place, "%s/load-XXXXXX", temporary ? temporary : "/tmp");
  REQUIRE(mkdtemp(place) != NULL);
  snprintf(cache_path, sizeof cache_path, "%s/cache", place);
  setenv("PERMC_CACHE", cache_path, 1);
  setenv("TMPDIR", place, 1);

  // The template is what the compiler makes of program 0.
  glob_t entries;
  REQUIRE(run_program(0) == COMPILED);
  snprintf(path, sizeof path, "%s/permc-entries/*.so", cache_path);
  REQUIRE(glob(path, 0, NULL, &entries) == 0 && entries.gl_pathc == 1);
  snprintf(path, sizeof path, "%s/template", place);
  REQUIRE(rename(entries.gl_pathv[0], path) == 0);
  globfree(&entries);
  setenv("FAKE_CC_TEMPLATE", path, 1);
  setenv("PERMC_CC", FAKE_CC, 1);
  cache c;
  cache_open(&c);
  REQUIRE(cache_limit(&c, &limit, &removed));

  uint32_t programs = (uint32_t)(limit / 2000);  // about eight times as many as there is room for
  pid_t workers[WORKERS];
  for (int i = 0; i < WORKERS; i++)
    workers[i] = start_worker(wanted, programs);
  while (atomic_load(&all->compiled) < wanted && atomic_load(&all->wrong) == 0) {
    uint64_t now = measure(cache_path);
    most = now > most ? now : most;
    if (++looks % 8 == 0) {
      size_t i = random_u64() % WORKERS;
      kill(workers[i], SIGKILL);
      waitpid(workers[i], NULL, 0);
      workers[i] = start_worker(wanted, programs);
      killed++;
    }
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
  }
  for (int i = 0; i < WORKERS; i++) {
    int status = 1;
    CHECK(waitpid(workers[i], &status, 0) == workers[i] && status == 0);
  }
  printf("%" PRIu64 " compilations, %" PRIu64 " from the cache, %" PRIu64 " processes killed, "
         "%" PRIu64 " looks: at most %.3f MiB, limit %.3f MiB\n",
         (uint64_t)atomic_load(&all->compiled), (uint64_t)atomic_load(&all->cached), killed, looks,
         (double)most / 0x1p20, (double)limit / 0x1p20);
  CHECK_EQ_U64(atomic_load(&all->wrong), 0);
  CHECK(killed > 0);
  CHECK(most <= limit + (UINT64_C(1) << 20));  // with the work folders of 8 processes

  // What the last killed processes have left goes with the next compilation.
  CHECK(run_program(programs + 1) == COMPILED);
  cache_list l;
  REQUIRE(cache_count(&c, &l));
  CHECK(l.bytes <= limit);
  snprintf(path, sizeof path, "%s/permc-work", cache_path);
  measure(path);
  CHECK_EQ_U64(files_found, 0);
  CHECK(rmdir(path) == 0);
  measure(cache_path);
  CHECK_EQ_U64(files_found, l.count + 1);  // and the index
  measure(place);
  CHECK_EQ_U64(files_found, l.count + 2);  // and the template
  cache_list_free(&l);
  char command[400];
  snprintf(command, sizeof command, "rm -rf %s", place);
  CHECK(system(command) == 0);
  arena_free(&memory);
}

TEST_MAIN()
