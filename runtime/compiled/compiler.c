// Processes of compilers, and tables of their options. See compiler.h.
#include "runtime/compiled/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { POLL_NANOSECONDS = 1000000, PATIENCE = 2000 };  // 2 s for a compiler to end

// ---- processes ---------------------------------------------------------------------------------

// Compilers that run, for a signal handler: each leads a process group. `starting`: how many are
// being started and not yet in the list.
static atomic_int running[COMPILER_JOBS * 4], starting;

static int add_running(pid_t pid) {
  for (size_t i = 0; i < sizeof running / sizeof *running; i++) {
    int expected = 0;
    if (atomic_compare_exchange_strong(&running[i], &expected, (int)pid))
      return (int)i;
  }
  return -1;
}

void compiler_kill_all_from_signal(void) {
  int saved = errno;
  for (int i = 0; i < 100 && atomic_load(&starting) > 0; i++)
    nanosleep(&(struct timespec){.tv_nsec = POLL_NANOSECONDS}, NULL);
  for (size_t i = 0; i < sizeof running / sizeof *running; i++) {
    pid_t pid = atomic_load(&running[i]);
    if (pid > 0 && kill(-pid, SIGKILL) == 0)
      waitpid(pid, NULL, 0);
  }
  errno = saved;
}

// The environment with temporary files in `folder` and messages in English. malloc'd.
static char **make_environment(const char *folder, char *temporary) {
  size_t count = 0, used = 0;
  while (environ[count])
    count++;
  char **all = malloc((count + 3) * sizeof *all);
  snprintf(temporary, COMPILER_PATH, "TMPDIR=%s", folder);
  for (size_t i = 0; all && i < count; i++)
    if (strncmp(environ[i], "TMPDIR=", 7) != 0 && strncmp(environ[i], "LC_ALL=", 7) != 0)
      all[used++] = environ[i];
  if (all) {
    static char english[] = "LC_ALL=C";
    all[used++] = english;
    all[used++] = temporary;
    all[used] = NULL;
  }
  return all;
}

static bool set_spawn_attributes(posix_spawnattr_t *a) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  return posix_spawnattr_setpgroup(a, 0) == 0 && posix_spawnattr_setsigmask(a, &none) == 0 &&
         posix_spawnattr_setsigdefault(a, &all) == 0 &&
         posix_spawnattr_setflags(a, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                         POSIX_SPAWN_SETSIGDEF) == 0;
}

// Starts a process whose output goes to the descriptor `output`. Returns an errno.
static int spawn_process(const char *const *arguments, int output, const char *folder, pid_t *pid) {
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  char *temporary = malloc(COMPILER_PATH);
  char **environment = temporary ? make_environment(folder, temporary) : NULL;
  int code = environment ? 0 : ENOMEM;
  if (!code && posix_spawnattr_init(&attributes) == 0) {
    if (posix_spawn_file_actions_init(&actions) == 0) {
      if (!set_spawn_attributes(&attributes) ||
          posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) != 0 ||
          posix_spawn_file_actions_adddup2(&actions, output, 1) != 0 ||
          posix_spawn_file_actions_adddup2(&actions, output, 2) != 0)
        code = ENOMEM;
      else
        code = posix_spawn(pid, arguments[0], &actions, &attributes, (char *const *)arguments,
                           environment);
      posix_spawn_file_actions_destroy(&actions);
    }
    posix_spawnattr_destroy(&attributes);
  }
  free(environment);
  free(temporary);
  return code;
}

// ---- jobs --------------------------------------------------------------------------------------

typedef struct process {
  pid_t pid;  // 0: none, or ended
  int slot;
  char output[COMPILER_PATH];
} process;

// Starts a process that a signal handler can end. Signals are blocked meanwhile, so that a handler
// in this thread never finds `starting` set.
static int start_process(process *p, const char *const *arguments, int output, const char *folder) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  atomic_fetch_add(&starting, 1);
  int code = spawn_process(arguments, output, folder, &p->pid);
  p->slot = code ? -1 : add_running(p->pid);
  atomic_fetch_sub(&starting, 1);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (code)
    p->pid = 0;
  return code;
}

static int start_job(process *p, const compiler_job *job, const char *folder, size_t number) {
  snprintf(p->output, sizeof p->output, "%s/output-%zu", folder, number);
  int output = open(p->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  int code = output < 0 ? errno : start_process(p, job->arguments, output, folder);
  if (output >= 0)
    close(output);
  return code;
}

// Whether it has ended; then *good says whether it succeeded. If the program ignores SIGCHLD, there
// is no exit status, and only the product shows it.
static bool poll_process(process *p, const compiler_job *job, bool *good) {
  int status = 0;
  struct stat s;
  pid_t got = waitpid(p->pid, &status, WNOHANG);
  if (got == 0 || (got < 0 && errno == EINTR))
    return false;
  *good = got < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
  *good = *good && (!job->product || (stat(job->product, &s) == 0 && s.st_size > 0));
  if (p->slot >= 0)
    atomic_store(&running[p->slot], 0);
  p->pid = 0;
  return true;
}

static void pause_shortly(void) {
  nanosleep(&(struct timespec){.tv_nsec = POLL_NANOSECONDS}, NULL);
}

// By SIGTERM, so that a compiler removes its files; after 2 s by SIGKILL.
static void end_processes(process *processes, const compiler_job *jobs, size_t count) {
  for (int waited = 0; waited < 2 * PATIENCE; waited++) {
    bool left = false, good;
    for (size_t i = 0; i < count; i++) {
      if (processes[i].pid == 0 || poll_process(&processes[i], &jobs[i], &good))
        continue;
      left = true;
      if (waited == 0 || waited == PATIENCE)
        kill(-processes[i].pid, waited == 0 ? SIGTERM : SIGKILL);
    }
    if (!left)
      return;
    pause_shortly();
  }
}

// The line of a compiler's output that says what is wrong: the first with "error", else the first.
static void read_error_line(const char *path, char *line, size_t size) {
  char one[360];
  FILE *file = fopen(path, "re");
  line[0] = 0;
  while (file && fgets(one, sizeof one, file)) {
    one[strcspn(one, "\n")] = 0;
    bool is_error = strstr(one, "error") != NULL;
    if (is_error || !line[0])
      snprintf(line, size, "%s", one);
    if (is_error)
      break;
  }
  if (file)
    fclose(file);
}

bool compiler_run(const compiler_job *jobs, size_t count, const char *folder,
                  const atomic_bool *interrupted, error *failure) {
  process *processes = calloc(count + 1, sizeof *processes);
  size_t left = 0, failed = SIZE_MAX;
  bool stopped = false;
  if (!processes)
    return error_set(failure, SPAN_NONE, "out of memory");
  for (size_t i = 0; i < count && failed == SIZE_MAX; i++) {
    if (start_job(&processes[i], &jobs[i], folder, i) != 0)
      failed = i;
    else
      left++;
  }
  while (left > 0 && failed == SIZE_MAX && !stopped) {
    for (size_t i = 0; i < count; i++) {
      bool good = true;
      if (processes[i].pid == 0 || !poll_process(&processes[i], &jobs[i], &good))
        continue;
      left--;
      if (!good && failed == SIZE_MAX)
        failed = i;
    }
    stopped = interrupted && atomic_load(interrupted);
    if (left > 0 && failed == SIZE_MAX && !stopped)
      pause_shortly();
  }
  end_processes(processes, jobs, count);
  if (stopped) {
    error_set(failure, SPAN_NONE, "interrupted");
  } else if (failed != SIZE_MAX) {
    char line[400];
    read_error_line(processes[failed].output, line, sizeof line);
    error_set(failure, SPAN_NONE, "the C compiler %.200s failed%s%s", jobs[failed].arguments[0],
              *line ? ": " : "", line);
  }
  free(processes);
  return failed == SIZE_MAX && !stopped;
}

// ---- finding -----------------------------------------------------------------------------------

static bool is_program(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

static bool find_program(const char *name, char path[COMPILER_PATH]) {
  const char *folders = getenv("PATH");
  if (strchr(name, '/')) {
    snprintf(path, COMPILER_PATH, "%s", name);
    return is_program(path);
  }
  for (const char *from = folders; from && *from;) {
    size_t length = strcspn(from, ":");
    int written = snprintf(path, COMPILER_PATH, "%.*s/%s", (int)length, from, name);
    if (length > 0 && written < COMPILER_PATH && is_program(path))
      return true;
    from += length + (from[length] == ':');
  }
  return false;
}

// The first line of its answer to --version.
static bool read_version(compiler *c) {
  const char *const arguments[] = {c->path, "--version", NULL};
  const compiler_job job = {arguments, NULL};
  process p = {.slot = -1};
  int ends[2];
  bool good = false;
  if (pipe2(ends, O_CLOEXEC) != 0)
    return false;
  int code = start_process(&p, arguments, ends[1], "/tmp");
  close(ends[1]);
  FILE *answer = fdopen(ends[0], "r");
  bool spoke = !code && answer && fgets(c->version, sizeof c->version, answer);
  while (!code && answer && fgetc(answer) != EOF)
    ;
  if (answer)
    fclose(answer);
  else
    close(ends[0]);
  while (!code && !poll_process(&p, &job, &good))
    pause_shortly();
  c->version[strcspn(c->version, "\n")] = 0;
  c->clang = strstr(c->version, "clang") != NULL;
  return good && spoke;
}

static bool search_compiler(compiler *c, const char *wanted, error *failure) {
  static const char *const names[] = {"cc", "gcc", "clang"};
  if (wanted && *wanted) {
    if (find_program(wanted, c->path) && read_version(c))
      return true;
    return error_set(
        failure, SPAN_NONE,
        "PERMC_CC is %.200s, which is no C compiler; set it to the path of gcc or clang", wanted);
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (find_program(names[i], c->path) && read_version(c))
      return true;
  return error_set(failure, SPAN_NONE,
                   "there is no C compiler on PATH; install gcc or clang, or set PERMC_CC");
}

bool compiler_find(compiler *c, error *failure) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static compiler known;
  static char known_for[2 * COMPILER_PATH];
  const char *wanted = getenv("PERMC_CC"), *path = getenv("PATH");
  char *key = malloc(2 * COMPILER_PATH);
  if (!key)
    return error_set(failure, SPAN_NONE, "out of memory");
  snprintf(key, 2 * COMPILER_PATH, "%s:%s", wanted ? wanted : "", path ? path : "");
  pthread_mutex_lock(&lock);
  bool good = known.path[0] && strcmp(key, known_for) == 0;
  if (!good && (good = search_compiler(&known, wanted, failure)))
    memcpy(known_for, key, 2 * COMPILER_PATH);
  else if (!good)
    known.path[0] = 0;
  *c = known;
  pthread_mutex_unlock(&lock);
  free(key);
  return good;
}

// ---- options -----------------------------------------------------------------------------------

// Functions that the C library computes: a compiler with builtins for them would compute constants
// and powers differently.
#define LIBRARY(f) "-fno-builtin-" f, "-fno-builtin-" f "f"
static const char *const common_options[] = {
    "-std=gnu17",
    "-O2",
    "-w",
    "-pipe",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-strict-aliasing",
    "-fno-math-errno",
    "-fwrapv",
    "-fno-tree-slp-vectorize",  // gcc 12 drops a rounding in two adjacent (double)(float)x
    LIBRARY("exp"),
    LIBRARY("log"),
    LIBRARY("sin"),
    LIBRARY("cos"),
    LIBRARY("tan"),
    LIBRARY("asin"),
    LIBRARY("acos"),
    LIBRARY("atan"),
    LIBRARY("atan2"),
    LIBRARY("sinh"),
    LIBRARY("cosh"),
    LIBRARY("tanh"),
    LIBRARY("pow"),
    LIBRARY("fmod"),
    LIBRARY("hypot"),
    LIBRARY("cexp"),
    LIBRARY("clog"),
    LIBRARY("csin"),
    LIBRARY("ccos"),
    LIBRARY("csqrt"),
    LIBRARY("cpow"),
};

typedef struct isa_row {
  const char *name, *option[2];
} isa_row;

// Widest first. "native" is for the features that this process sees: under an emulator such as
// valgrind the compiler sees others.
static const isa_row isas[] = {
#if defined(__x86_64__)
    {"avx512", {"-march=x86-64-v4", "-mprefer-vector-width=512"}},
    {"avx2", {"-march=x86-64-v3", NULL}},
#endif
    {"baseline", {NULL, NULL}},
};
#if defined(__x86_64__)
static const isa_row native = {"native", {"-march=native", "-mprefer-vector-width=512"}};
#elif defined(__aarch64__)
static const isa_row native = {"native", {"-mcpu=native", NULL}};
#else
static const isa_row native = {"native", {NULL, NULL}};
#endif

static bool has_isa(const char *isa) {
#if defined(__x86_64__)
  if (!strcmp(isa, "avx512"))
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (!strcmp(isa, "avx2"))
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return !strcmp(isa, "baseline");
}

const char *compiler_isa_named(const char *name) {
  if (!strcmp(name, native.name))
    return native.name;
  for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
    if (!strcmp(isas[i].name, name) && has_isa(name))
      return isas[i].name;
  return NULL;
}

const char *compiler_widest_isa(void) {
  const isa_row *row = isas;
  while (!has_isa(row->name))
    row++;
  return row->name;
}

static const isa_row *find_isa_row(const char *isa) {
  const char *widest = compiler_widest_isa();
  if (!strcmp(isa, native.name)) {
    if (!strcmp(widest, isas[0].name))
      return &native;
    isa = widest;
  }
  for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
    if (!strcmp(isas[i].name, isa))
      return &isas[i];
  return NULL;
}

size_t compiler_options(const char *isa, bool fuse, const char *options[COMPILER_OPTIONS]) {
  const isa_row *row = find_isa_row(isa);
  size_t count = 0;
  if (!row)
    return 0;
  for (size_t k = 0; k < sizeof common_options / sizeof *common_options; k++)
    options[count++] = common_options[k];
  for (size_t k = 0; k < 2; k++)
    if (row->option[k])
      options[count++] = row->option[k];
  options[count++] = fuse ? "-ffp-contract=fast" : "-ffp-contract=off";
  return count;
}
