// Compilers of programs: what they make is cached; those that are missing, fail, are interrupted or
// killed, reach a limit, or do not answer.
#include "tests/unit/cache_place.h"

#include "fusion/plan/plan.h"
#include "runtime/compiled/compiler.h"
#include "runtime/system/temporary.h"
#include "tests/readers/readers.h"
#include "tests/unit/compiled.h"
#include "tests/unit/memory.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

// A plan that copies an array of 16 elements.
static plan *small_plan(void) {
  static const char description[] = "array a0 u32 16 argument 0\n"
                                    "array a1 u32 16 result 0\n"
                                    "stage n=4\n"
                                    "  v0 = load a0 at x0 + 2*x1 + 4*x2 + 8*x3\n"
                                    "  store v0 in a1 at x3 + 2*x2 + 4*x1 + 8*x0\n";
  const char *wrong = NULL;
  START();
  net *t = net_read(&memory, description, &wrong);
  return wrong ? NULL : plan_make(&memory, t, target_named("baseline"), NULL);
}

static bool runs(const plan *p, compiled *e) {
  uint32_t in[16], out[16] = {0};
  void *arrays[8] = {in, out};
  cpu_work w = compiled_pass(e, 0);
  void *scratch = aligned_alloc(64, w.scratch_bytes / 64 * 64 + 64);
  for (uint32_t i = 0; i < 16; i++)
    in[i] = i;
  bool good = p->passes.count == 1 && w.run(w.with, 0, arrays, 0, cpu_item_count(p, 0), scratch);
  free(scratch);
  return good && out[1] == 8 && out[8] == 1 && out[15] == 15 && out[3] == 12;
}

static compiled_status compile(const plan *p, const compiled_options *o, char message[512]) {
  error why = {0};
  compiled_status status;
  compiled *e = compiled_from_plan(p, NULL, o, &status, &why);
  set(message, 512, "%s", e ? "" : why.message);
  CHECK(!e || runs(p, e));
  compiled_free(e);
  return status;
}

static bool has_compiler(void) {
  compiler c;
  return compiler_find(&c, NULL);
}

// The compiler from here on: a shell script that says its version, or does what is given.
static void use_compiler(const char *name, const char *script) {
  char path[600], whole[2000];
  set(path, sizeof path, "%s", in_place(name));
  set(whole, sizeof whole, "#!/bin/sh\n[ \"$1\" = --version ] && echo %s && exit 0\n%s\n", name,
      script);
  write_text(path, whole, 0700);
  setenv("PERMC_CC", path, 1);
}

TEST(compiled_and_cached) {
  char message[512];
  compiled_options o = {.isa = "baseline"};
  enter("compiled");
  plan *p = small_plan();
  REQUIRE(p != NULL);
  if (!has_compiler())
    SKIP("there is no C compiler");
  CHECK_EQ_U64(compile(p, &o, message), COMPILED);
  CHECK_EQ_U64(count_entries(), 1);
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_CACHED);
  CHECK_EQ_U64(compile(p, &(compiled_options){.isa = "native"}, message), COMPILED);
  CHECK_EQ_U64(count_entries(), 2);
  CHECK_EQ_U64(compile(p, &(compiled_options){.isa = "baseline", .no_cache = true}, message),
               COMPILED);
  CHECK_EQ_U64(compile(p, &(compiled_options){.isa = "vax"}, message), COMPILED_FAILED);
  CHECK_CONTAINS(message, "\"vax\"");
  CHECK_EQ_U64(count_entries(), 2);
  // no cache at all
  unsetenv("PERMC_CACHE");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  CHECK_EQ_U64(compile(p, &o, message), COMPILED);
  setenv("PERMC_CACHE", cache_place, 1);
  CHECK_EQ_U64(count_entries(), 2);
  arena_free(&memory);
  leave();
}

TEST(missing_and_failing_compilers) {
  static const struct {
    const char *name, *script, *message;
  } rows[] = {
      {"failing", "echo some words\necho 'x.c:1: error: no code today' >&2\nexit 1",
       "x.c:1: error: no code today"},
      {"idle", "exit 0", ""},  // makes nothing, and says that all is well
      {"writer", "while [ \"$1\" != -o ]; do shift; done; echo text >\"$2\"", "cannot be loaded"},
  };
  char message[512];
  compiled_options o = {.isa = "baseline"};
  enter("failing");
  plan *p = small_plan();
  REQUIRE(p != NULL);
  setenv("PERMC_CC", "/nonexistent/cc", 1);
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
  CHECK_CONTAINS(message, "/nonexistent/cc");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    use_compiler(rows[i].name, rows[i].script);
    CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
    CHECK_CONTAINS(message, rows[i].message);
    CHECK(strchr(message, '\n') == NULL);
  }
  // no compiler on PATH
  char *before = strdup(getenv("PATH"));
  unsetenv("PERMC_CC");
  setenv("PATH", cache_place, 1);
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
  CHECK_CONTAINS(message, "there is no C compiler");
  setenv("PATH", before, 1);
  free(before);
  arena_free(&memory);
  leave();
}

static void *interrupt_soon(void *flag) {
  nanosleep(&(struct timespec){.tv_nsec = 200 * 1000000}, NULL);
  atomic_store((atomic_bool *)flag, true);
  return NULL;
}

// Ended processes that nobody has waited for count as ended.
static bool lives(const char *pid_file) {
  int pid = 0;
  char state = 'X', path[64];
  FILE *f = fopen(pid_file, "r");
  bool known = f && fscanf(f, "%d", &pid) == 1;
  if (f)
    fclose(f);
  set(path, sizeof path, "/proc/%d/stat", pid);
  f = known ? fopen(path, "r") : NULL;
  if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
    state = 'X';
  if (f)
    fclose(f);
  return !known || (state != 'X' && state != 'Z');
}

// A compiler that takes long, and has started a process of its own.
static void use_slow_compiler(void) {
  use_compiler("slow", "sleep 100 & echo $! >${0%/*}/pid.new; mv ${0%/*}/pid.new ${0%/*}/pid\n"
                       "echo text >\"$TMPDIR/left-over\"\nwait");
}

TEST(interrupted) {
  char message[512];
  atomic_bool flag = false;
  pthread_t thread;
  enter("interrupted");
  use_slow_compiler();
  plan *p = small_plan();
  REQUIRE(p != NULL);
  REQUIRE(pthread_create(&thread, NULL, interrupt_soon, &flag) == 0);
  compiled_options o = {.isa = "baseline", .interrupted = &flag};
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_FAILED);
  CHECK_STR(message, "interrupted");
  pthread_join(thread, NULL);
  nanosleep(&(struct timespec){.tv_nsec = 50 * 1000000}, NULL);
  CHECK(!lives(in_place("pid")));
  CHECK_EQ_U64(count_files(in_place("permc-work")), 0);
  CHECK_EQ_U64(count_files(cache_place), 4);  // slow, pid, and the two of the cache
  arena_free(&memory);
  leave();
}

static void on_signal(int number) {
  (void)number;
  compiler_kill_all_from_signal();
  temporary_remove_all_from_signal();
  _exit(7);
}

TEST(ended_by_a_signal) {
  char message[512];
  int status = 0;
  enter("signal");
  use_slow_compiler();
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    signal(SIGTERM, on_signal);
    plan *p = small_plan();
    compile(p, &(compiled_options){.isa = "baseline"}, message);
    _exit(1);
  }
  for (int i = 0; i < 500 && access(in_place("pid"), F_OK) != 0; i++)
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000000}, NULL);
  nanosleep(&(struct timespec){.tv_nsec = 50 * 1000000}, NULL);
  kill(child, SIGTERM);
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  nanosleep(&(struct timespec){.tv_nsec = 50 * 1000000}, NULL);
  CHECK(!lives(in_place("pid")));
  CHECK_EQ_U64(count_files(in_place("permc-work")), 0);
  CHECK_EQ_U64(count_files(cache_place), 4);
  leave();
}

// True as well if it was ended before it could write its number.
static bool ends_soon(const char *pid_file) {
  for (int i = 0; i < 1000 && access(pid_file, F_OK) == 0 && lives(pid_file); i++)
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000000}, NULL);
  return access(pid_file, F_OK) != 0 || !lives(pid_file);
}

TEST(ended_with_a_killed_process) {
  char message[512];
  enter("killed");
  use_slow_compiler();
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    compile(small_plan(), &(compiled_options){.isa = "baseline"}, message);
    _exit(1);
  }
  for (int i = 0; i < 500 && access(in_place("pid"), F_OK) != 0; i++)
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000000}, NULL);
  kill(child, SIGKILL);
  CHECK(waitpid(child, NULL, 0) == child);
  CHECK(ends_soon(in_place("pid")));
  leave();
}

TEST(limits_of_a_compiler) {
  char message[512];
  enter("limits");
  plan *p = small_plan();
  REQUIRE(p != NULL);
  use_slow_compiler();
  compiled_options o = {.isa = "baseline", .limits = {.seconds = 1}};
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
  CHECK_CONTAINS(message, "takes more than 1 s, its limit (--compile-seconds)");
  CHECK(ends_soon(in_place("pid")));
  // a process that the compiler leaves behind
  use_compiler("leaving", "sleep 100 >/dev/null 2>&1 & echo $! >${0%/*}/pid; exit 1");
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
  CHECK(ends_soon(in_place("pid")));
  // files and messages without end
  use_compiler("wordy", "exec yes error");
  o.limits.seconds = 20;
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
  CHECK_CONTAINS(message, "failed: error");
  arena_free(&memory);
  leave();
}

// A compiler that reached its limit is not tried again for this program, until it may have more.
TEST(limits_are_remembered) {
  static const struct {
    const char *name, *script;
    compiler_limits limits, less, more;
    const char *message, *remembered;
  } rows[] = {{"late",
               "echo >>${0%/*}/calls; exec sleep 1000",
               {1, 0},
               {1, UINT64_C(1) << 32},
               {2, 0},
               "takes more than ",
               "reached its limit of time with this program in an earlier run; give it more "
               "(--compile-seconds)"},
              {"large",
               "echo >>${0%/*}/calls; echo 'error: out of memory allocating 8 bytes' >&2; exit 1",
               {0, UINT64_C(1) << 30},
               {90, UINT64_C(1) << 29},
               {0, UINT64_C(1) << 31},
               "needs more than ",
               "reached its limit of memory with this program in an earlier run; give it more "
               "(--compile-memory)"}};
  char message[512];
  for (size_t i = 0; i < 2; i++) {
    enter("remembered");
    plan *p = small_plan();
    REQUIRE(p != NULL);
    use_compiler(rows[i].name, rows[i].script);
    compiled_options o = {.isa = "baseline", .limits = rows[i].limits};
    for (uint64_t run = 0; run < 3; run++) {
      struct stat s;
      CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
      CHECK_CONTAINS(message, run ? rows[i].remembered : rows[i].message);
      CHECK(stat(in_place("calls"), &s) == 0 && s.st_size == 1);
      o.limits = rows[i].less;
    }
    CHECK_EQ_U64(
        compile(p,
                &(compiled_options){.isa = "baseline", .limits = rows[i].limits, .no_cache = true},
                message),
        COMPILED_UNAVAILABLE);
    CHECK_CONTAINS(message, rows[i].message);
    o.limits = rows[i].more;
    CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
    CHECK_CONTAINS(message, rows[i].message);
    CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
    CHECK_CONTAINS(message, rows[i].remembered);
    arena_free(&memory);
    leave();
  }
}

TEST(limit_of_the_memory_of_a_compiler) {
  char message[512];
  compiled_options o = {.isa = "baseline", .limits = {.memory = UINT64_C(64) << 20}};
  enter("memory");
  plan *p = small_plan();
  REQUIRE(p != NULL);
  setenv("PERMC_CC", "gcc", 1);
  if (!has_compiler())
    SKIP("there is no gcc");
  use_compiler("needy", "(echo 'int a[]={'; seq -s, 1000000; echo '};') |"
                        " gcc -x c - -c -o /dev/null");
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
  CHECK_CONTAINS(message, "needs more than 64 MiB of memory, its limit (--compile-memory)");
  arena_free(&memory);
  leave();
}

static void note_done(void *with, uint64_t done, uint64_t total) {
  uint64_t *seen = with;
  seen[0]++;
  seen[1] = done;
  seen[2] = total;
  write_text(in_place("go"), "", 0600);
}

// The second process waits until the end of the first was told.
TEST(processes_that_are_done_are_told) {
  char paths[2][600], waits[800], makes[700];
  uint64_t seen[3] = {0, 0, 0};
  progress watch = {note_done, seen};
  error why = {0};
  enter("told");
  for (int i = 0; i < 2; i++)
    set(paths[i], sizeof paths[i], "%s/%d", cache_place, i);
  set(makes, sizeof makes, "echo a >%s", paths[0]);
  set(waits, sizeof waits, "until [ -e %s/go ]; do sleep 0.01; done; echo b >%s", cache_place,
      paths[1]);
  const char *const first[] = {"/bin/sh", "-c", makes, NULL};
  const char *const second[] = {"/bin/sh", "-c", waits, NULL};
  const compiler_job jobs[] = {{first, paths[0]}, {second, paths[1]}};
  CHECK_EQ_U64(compiler_run(jobs, 2, cache_place, NULL, NULL, &watch, &why), COMPILER_DONE);
  CHECK(seen[0] == 1 && seen[1] == 1 && seen[2] == 2);
  leave();
}

// One that speaks without end, and one that says nothing.
TEST(versions_without_end) {
  error why = {0};
  compiler c;
  enter("versions");
  write_text(in_place("yes"), "#!/bin/sh\nexec yes\n", 0700);
  setenv("PERMC_CC", in_place("yes"), 1);
  CHECK(!compiler_find(&c, &why));
  CHECK_CONTAINS(why.message, "/yes, which is no C compiler");
  why = (error){0};
  write_text(in_place("silent"), "#!/bin/sh\nsleep 1000\n", 0700);
  setenv("PERMC_CC", in_place("silent"), 1);
  CHECK(!compiler_find(&c, &why));
  CHECK_CONTAINS(why.message, "/silent, which does not answer --version");
  why = (error){0};
  CHECK(!compiler_find(&c, &why));  // is not asked again
  CHECK_CONTAINS(why.message, "/silent, which does not answer --version");
  leave();
}

TEST(no_descriptor_for_a_compiler) {
  struct rlimit before;
  error why = {0};
  compiler c;
  enter("descriptors");
  write_text(in_place("own"), "#!/bin/sh\necho own\n", 0700);
  setenv("PERMC_CC", in_place("own"), 1);
  getrlimit(RLIMIT_NOFILE, &before);
  setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, before.rlim_max});
  CHECK(!compiler_find(&c, &why));
  setrlimit(RLIMIT_NOFILE, &before);
  CHECK_CONTAINS(why.message, "/own cannot be started: Too many open files");
  CHECK(compiler_find(&c, NULL));  // asked again
  leave();
}

TEST(processes_at_once) {
  char message[512];
  pid_t children[4];
  enter("processes");
  if (!has_compiler())
    SKIP("there is no C compiler");
  fflush(stdout);
  for (int i = 0; i < 4; i++)
    if ((children[i] = fork()) == 0) {
      plan *p = small_plan();
      compiled_status status = compile(p, &(compiled_options){.isa = "baseline"}, message);
      _exit(test_state.failures == 0 && (status == COMPILED || status == COMPILED_CACHED) ? 0 : 1);
    }
  for (int i = 0; i < 4; i++) {
    int status = 1;
    CHECK(waitpid(children[i], &status, 0) == children[i]);
    CHECK_EQ_U64(status, 0);
  }
  CHECK_EQ_U64(count_entries(), 1);
  leave();
}

TEST_MAIN()
