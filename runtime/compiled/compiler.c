// Finding compilers, running them, and tables of their options. See compiler.h.
#include "runtime/compiled/compiler.h"
#include "runtime/compiled/process.h"

#include "core/clock.h"
#include "core/units.h"
#include "runtime/system/locks.h"
#include "runtime/system/memory.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

enum {
  VERSION_SECONDS = 5,  // that a compiler may take to say its version
  VERSION_BYTES = 1 << 16
};
#define MOST_FILE_BYTES (UINT64_C(1) << 27)  // of a product; its messages are in memory

// ---- batches -----------------------------------------------------------------------------------

typedef struct batch {
  const compiler_job *jobs;
  process processes[COMPILER_JOBS];
  size_t count, started, done, failed;  // failed: the number of the job that did
  int start_error;                      // with COMPILER_NOT_STARTED: why
  compiler_status status;
  process_limits limits;
  double deadline;  // of clock_seconds
} batch;

// The environment with temporary files in `folder` and messages in English. malloc'd.
static char **make_environment(const char *folder, char temporary[COMPILER_PATH]) {
  static char english[] = "LC_ALL=C";
  size_t count = 0, used = 0;
  while (environ[count])
    count++;
  char **all = malloc((count + 3) * sizeof *all);
  snprintf(temporary, COMPILER_PATH, "TMPDIR=%s", folder);
  for (size_t i = 0; all && i < count; i++)
    if (strncmp(environ[i], "TMPDIR=", 7) != 0 && strncmp(environ[i], "LC_ALL=", 7) != 0)
      all[used++] = environ[i];
  if (all) {
    all[used++] = english;
    all[used++] = temporary;
    all[used] = NULL;
  }
  return all;
}

// False: there is no memory.
static bool start_batch(batch *b, const compiler_job *jobs, size_t count, const char *folder,
                        const process_limits *limits) {
  assert(count <= COMPILER_JOBS);
  char temporary[COMPILER_PATH], **environment = make_environment(folder, temporary);
  *b = (batch){.jobs = jobs,
               .count = count,
               .limits = *limits,
               .deadline = clock_seconds() + (double)limits->seconds};
  for (; environment && b->started < count && b->status == COMPILER_RUNNING; b->started++)
    if (!process_start(&b->processes[b->started], jobs[b->started].arguments, environment,
                       limits)) {
      b->start_error = errno;
      b->status = COMPILER_NOT_STARTED;
      b->failed = b->started;
    }
  free(environment);
  return environment != NULL;
}

compiler_limits compiler_limits_of(const compiler_limits *limits) {
  compiler_limits most = *limits;
  if (!most.seconds)
    most.seconds = COMPILER_SECONDS;
  if (!most.memory) {
    uint64_t half = memory_limit(NULL) / 2;
    most.memory = half < COMPILER_MEMORY ? half : COMPILER_MEMORY;
  }
  return most;
}

// Does not wait.
static compiler_status poll_batch(batch *b) {
  size_t left = 0;
  for (size_t i = 0; i < b->started && b->status == COMPILER_RUNNING; i++) {
    process *p = &b->processes[i];
    bool good = true;
    if (p->pid > 0 && !process_poll(p, b->jobs[i].product, &good))
      left++;
    if (!good) {
      b->status = COMPILER_FAILED;
      b->failed = i;
    }
  }
  b->done = b->started - left;
  if (b->status == COMPILER_RUNNING && left == 0)
    b->status = COMPILER_DONE;
  else if (b->status == COMPILER_RUNNING && clock_seconds() >= b->deadline)
    b->status = COMPILER_OUT_OF_TIME;
  return b->status;
}

// Ends what still runs.
static compiler_status end_batch(batch *b, error *failure) {
  char line[360] = "", size[NUMBER_SPACE];
  compiler_status status = b->status == COMPILER_RUNNING ? COMPILER_INTERRUPTED : b->status;
  const char *program = b->jobs[b->failed].arguments[0];
  if (status == COMPILER_FAILED) {
    char output[8192];
    int from = b->processes[b->failed].output;
    ssize_t length = from < 0 ? 0 : pread(from, output, sizeof output - 1, 0);
    output[length > 0 ? length : 0] = 0;
    error_line_of(output, line, sizeof line);
  }
  if (status == COMPILER_INTERRUPTED) {
    error_set(failure, SPAN_NONE, "interrupted");
  } else if (status == COMPILER_NOT_STARTED) {
    error_set(failure, SPAN_NONE, "the C compiler %.200s cannot be started: %s", program,
              strerrordesc_np(b->start_error));
  } else if (status == COMPILER_OUT_OF_TIME) {
    error_set(failure, SPAN_NONE,
              "the C compiler %.200s takes more than %llu s, its limit (--compile-seconds)",
              program, (unsigned long long)b->limits.seconds);
  } else if (status == COMPILER_FAILED && error_tells_of_memory(line)) {
    status = COMPILER_OUT_OF_MEMORY;
    error_set(
        failure, SPAN_NONE,
        "the C compiler %.200s needs more than %s of memory, its limit (--compile-memory): %s",
        program, show_bytes(size, b->limits.memory), line);
  } else if (status == COMPILER_FAILED) {
    error_set(failure, SPAN_NONE, "the C compiler %.200s failed%s%s", program, *line ? ": " : "",
              line);
  }
  for (size_t i = 0; i < b->started; i++)
    process_end(&b->processes[i]);
  return status;
}

compiler_status compiler_run(const compiler_job *jobs, size_t count, const char *folder,
                             const compiler_limits *limits, const atomic_bool *interrupted,
                             const progress *watch, error *failure) {
  compiler_limits allowed = compiler_limits_of(limits ? limits : &(compiler_limits){0});
  process_limits most = {allowed.seconds, allowed.memory, MOST_FILE_BYTES};
  batch b;
  if (!start_batch(&b, jobs, count, folder, &most))
    return error_no_memory(failure), COMPILER_NOT_STARTED;
  for (size_t told = 0; poll_batch(&b) == COMPILER_RUNNING; process_pause()) {
    if (interrupted && atomic_load(interrupted))
      break;
    if (watch && b.done > told)
      progress_report(watch, b.done, count);
    told = b.done;
  }
  return end_batch(&b, failure);
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
static compiler_status read_version(compiler *c, error *failure) {
  const char *const arguments[] = {c->path, "--version", NULL};
  const compiler_job job = {arguments, NULL};
  const process_limits limits = {VERSION_SECONDS, COMPILER_MEMORY, VERSION_BYTES};
  batch b;
  if (!start_batch(&b, &job, 1, "/tmp", &limits))
    return error_no_memory(failure), COMPILER_NOT_STARTED;
  while (poll_batch(&b) == COMPILER_RUNNING)
    process_pause();
  int output = b.processes[0].output;
  ssize_t length = output < 0 ? 0 : pread(output, c->version, sizeof c->version - 1, 0);
  if (length < 0) {
    b.status = COMPILER_NOT_STARTED;
    b.start_error = errno;
  }
  c->version[length > 0 ? length : 0] = 0;
  c->version[strcspn(c->version, "\n")] = 0;
  compiler_status status = end_batch(&b, failure);
  return status == COMPILER_DONE && !c->version[0] ? COMPILER_FAILED : status;
}

// COMPILER_DONE: it was found. Whatever keeps the first from being started keeps the others, too.
static compiler_status search_compiler(compiler *c, const char *wanted, error *failure) {
  const char *const names[] = {"cc", "gcc", "clang"}, *const *name = wanted ? &wanted : names;
  size_t count = wanted ? 1 : sizeof names / sizeof *names;
  compiler_status status = COMPILER_FAILED;
  for (size_t i = 0; i < count && status != COMPILER_DONE && status != COMPILER_NOT_STARTED; i++) {
    error why = {0};
    status = find_program(name[i], c->path) ? read_version(c, &why) : COMPILER_FAILED;
    if (status == COMPILER_NOT_STARTED)
      error_pass(failure, &why);
  }
  if (status != COMPILER_DONE && wanted)
    error_set(failure, SPAN_NONE,
              "PERMC_CC is %.200s, which %s; set it to the path of gcc or clang", wanted,
              status == COMPILER_OUT_OF_TIME ? "does not answer --version" : "is no C compiler");
  else if (status != COMPILER_DONE)
    error_set(failure, SPAN_NONE,
              "there is no C compiler on PATH; install gcc or clang, or set PERMC_CC");
  return status;
}

bool compiler_find(compiler *c, error *failure) {
  static compiler known;
  static error why;
  static compiler_status status;
  static char known_for[2 * COMPILER_PATH];
  const char *wanted = getenv("PERMC_CC"), *path = getenv("PATH");
  FREED char *key = malloc(2 * COMPILER_PATH);
  if (!key)
    return error_no_memory(failure);
  snprintf(key, 2 * COMPILER_PATH, "%s:%s", wanted ? wanted : "", path ? path : "");
  library_lock(LOCK_COMPILER);
  if (strcmp(key, known_for) != 0 || status == COMPILER_NOT_STARTED) {
    why = (error){0};
    status = search_compiler(&known, wanted && *wanted ? wanted : NULL, &why);
    memcpy(known_for, key, 2 * COMPILER_PATH);
  }
  *c = known;
  bool good = status == COMPILER_DONE;
  if (!good && failure && !error_is_set(failure))
    *failure = why;
  library_unlock(LOCK_COMPILER);
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
