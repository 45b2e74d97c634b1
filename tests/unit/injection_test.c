// Failures of memory and of the system, injected into the tool: for each verb the n-th allocation,
// open, read, write, mmap, rename ... fails, or all from the n-th on. Whatever fails:
//
//   the status is 0, and then all output is there, or 1: never 2, never a signal, never a hang;
//   with 1 there is one message, which says what failed, and no part of an output file;
//   no temporary file stays.
//
// Allocations fail in a preloaded library (fake_memory.c), system calls under ptrace, since the C
// library's own calls (of stdio, say) cannot be replaced otherwise. Tries a random sample with a
// fixed seed; `injection_test --all` tries every one (minutes).
#include "core/sanitized.h"
#include "tests/test.h"
#include "tests/unit/fake_memory.h"
#include "tests/unit/splitmix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static bool every_one;

// ---- what fails --------------------------------------------------------------------------------

enum { MOST_CALLS = 3 };
typedef struct failure_class {
  const char *name;
  int error;
  size_t call_count;  // 0: allocations
  long calls[MOST_CALLS];
  const char *words[3];  // one of them is in the message
} failure_class;

#ifndef SYS_open
#define SYS_open -2
#define SYS_rename -2
#define SYS_mkdir -2
#define SYS_vfork -2
#endif

static const failure_class classes[] = {
    {"allocation", ENOMEM, 0, {0}, {"memory", "thread"}},
    {"mmap", ENOMEM, 2, {SYS_mmap, SYS_mremap}, {"memory", "thread", "failed to map"}},
    {"open", EMFILE, 2, {SYS_open, SYS_openat}, {"Too many open files"}},
    {"read", EIO, 2, {SYS_read, SYS_pread64}, {"Input/output error"}},
    {"write",
     ENOSPC,
     3,
     {SYS_write, SYS_pwrite64, SYS_writev},
     {"No space left on device", "cannot write"}},
    {"rename", EACCES, 3, {SYS_rename, SYS_renameat, SYS_renameat2}, {"Permission denied"}},
    {"link", EACCES, 1, {SYS_linkat}, {"Permission denied"}},
    {"mkdir",
     EACCES,
     2,
     {SYS_mkdir, SYS_mkdirat},
     {"Permission denied", "no folder can be written to"}},
    {"thread", EAGAIN, 2, {SYS_clone, SYS_clone3}, {"thread"}},
    {"process", EAGAIN, 1, {SYS_vfork}, {"cannot be started: Resource temporarily unavailable"}},
    {"descriptor", EMFILE, 2, {SYS_memfd_create, SYS_pipe2}, {"Too many open files"}},
};
enum { CLASSES = sizeof classes / sizeof *classes };

// Numbers of the calls of a class that fail, from 1.
typedef struct plan {
  const failure_class *what;
  long first, last;
} plan;

// ---- what is run -------------------------------------------------------------------------------

static const char program[] = "main : [2^n]i32 -> [2^n]i32\n"
                              "main = sort\n"
                              "\n"
                              "-- ==\n"
                              "-- input { [3i32, 1i32] }\n"
                              "-- output { [1i32, 3i32] }\n"
                              "-- property: sorted\n"
                              "-- input { [3i32, 1i32, 2i32] } error: padded\n"
                              "-- structure { n 4 passes <= 1 }\n";
static const char unformatted[] = "main : [2^n]i32->[2^n]i32\nmain   =   sort\n";
static const char keys[] = "[7i32, 1i32, 5i32, 3i32, 2i32, 6i32, 0i32, 4i32]\n";

enum { MOST_WORDS = 12 };
typedef struct command {
  const char *words[MOST_WORDS];
  const char *output;  // a file that appears whole or stays as it was; or NULL
  bool varies;         // figures in its output differ each time
  bool compiles;       // takes long
} command;

// ---- folders and files -------------------------------------------------------------------------

// Two programs, keys, tmp, cache, and an output.
enum { MOST_FILES = 6 };
static char folder[4096];  // of all files here

static const char *path_of(const char *name) {
  static char paths[4][4200];
  static unsigned next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof *paths, "%s/%s", folder, name);
  return path;
}

static void write_text(const char *name, const char *content) {
  FILE *f = fopen(path_of(name), "w");
  CHECK(f && fputs(content, f) >= 0 && fclose(f) == 0);
}

// All of a file, malloc'd and 0-terminated; NULL: there is none.
static char *read_all(int file) {
  struct stat s;
  if (file < 0 || fstat(file, &s) != 0)
    return NULL;
  char *bytes = calloc(1, (size_t)s.st_size + 1);
  if (bytes && pread(file, bytes, (size_t)s.st_size, 0) != s.st_size)
    bytes[0] = 0;
  return bytes;
}

static char *read_named(const char *name) {
  int file = name ? open(path_of(name), O_RDONLY) : -1;
  char *bytes = read_all(file);
  if (file >= 0)
    close(file);
  return bytes;
}

// Entries of a folder; with `remove`, they are removed, those of folders in it first.
static size_t count_entries(const char *path, bool remove) {
  size_t count = 0;
  DIR *d = opendir(path);
  for (struct dirent *e; d && (e = readdir(d));) {
    char child[4800];
    if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
      continue;
    count++;
    snprintf(child, sizeof child, "%s/%s", path, e->d_name);
    if (remove && unlink(child) != 0) {
      count_entries(child, true);
      rmdir(child);
    }
  }
  if (d)
    closedir(d);
  return count;
}

// As every run finds it: an empty cache, no output.
static void make_folder(void) {
  count_entries(folder, true);
  mkdir(path_of("tmp"), 0700);
  write_text("program.perm", program);
  write_text("unformatted.perm", unformatted);
  write_text("keys.txt", keys);
}

// ---- runs --------------------------------------------------------------------------------------

typedef struct outcome {
  int status;     // as of waitpid
  bool hung;      // and killed
  long calls;     // of the class, made by the program
  char *printed;  // standard output
  char *messages;
  char *output;  // the command's file, or NULL
} outcome;

static void free_outcome(outcome *o) {
  free(o->printed);
  free(o->messages);
  free(o->output);
}

static allocation_plan *allocations;
static int allocation_file;
static volatile sig_atomic_t too_long;

static void on_alarm(int number) {
  (void)number;
  too_long = 1;
}

static bool is_of_class(const failure_class *what, const struct __ptrace_syscall_info *i) {
  bool found = false;
  for (size_t k = 0; k < what->call_count; k++)
    found = found || (uint64_t)what->calls[k] == i->entry.nr;
  bool to_stderr = i->entry.nr == SYS_write && i->entry.args[0] == STDERR_FILENO;
  return found && !to_stderr;
}

#if defined(__x86_64__)
enum { CAN_TRACE = 1 };
static void set_registers(pid_t p, bool entry, int error) {
  struct user_regs_struct r;
  ptrace(PTRACE_GETREGS, p, 0, &r);
  if (entry)
    r.orig_rax = (unsigned long long)-1;
  else
    r.rax = (unsigned long long)-(long)error;
  ptrace(PTRACE_SETREGS, p, 0, &r);
}
#else
enum { CAN_TRACE = 0 };
static void set_registers(pid_t p, bool entry, int error) { (void)p, (void)entry, (void)error; }
#endif

// Follows all threads of the process, not its children. Each thread's system calls come in pairs.
static int trace(pid_t child, const plan *p, long *calls) {
  bool started = false;
  pid_t failing[64] = {0};  // threads in a call that fails
  int status = 0;
  waitpid(child, &status, 0);
  ptrace(PTRACE_SETOPTIONS, child, 0,
         PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
  ptrace(PTRACE_SYSCALL, child, 0, 0);
  for (;;) {
    pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0 && errno == EINTR) {
      kill(child, SIGKILL);
      continue;
    }
    if (thread < 0 || (thread == child && (WIFEXITED(status) || WIFSIGNALED(status))))
      return status;
    if (!WIFSTOPPED(status))
      continue;
    int signal = WSTOPSIG(status), deliver = 0;
    if (signal == (SIGTRAP | 0x80)) {
      struct __ptrace_syscall_info i = {0};
      ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof i, &i);
      pid_t *slot = &failing[thread % 64];
      if (i.op == PTRACE_SYSCALL_INFO_ENTRY) {
        started = started || (i.entry.nr == SYS_prctl && i.entry.args[0] == PROGRAM_STARTS);
        if (started && is_of_class(p->what, &i)) {
          ++*calls;
          if (*calls >= p->first && *calls <= p->last) {
            set_registers(thread, true, 0);
            *slot = thread;
          }
        }
      } else if (i.op == PTRACE_SYSCALL_INFO_EXIT && *slot == thread) {
        set_registers(thread, false, p->what->error);
        *slot = 0;
      }
    } else if (signal != SIGSTOP && signal != SIGTRAP) {
      deliver = signal;
    }
    ptrace(PTRACE_SYSCALL, thread, 0, deliver);
  }
}

static void start_command(const command *c, bool traced, int out, int messages) {
  const char *words[MOST_WORDS + 2] = {getenv("PERMC")};
  char number[16];
  for (size_t i = 0; i < MOST_WORDS; i++)
    words[i + 1] = c->words[i];
  snprintf(number, sizeof number, "%d", allocation_file);
  setenv("FAILING_ALLOCATION", number, 1);
  setenv("LD_PRELOAD", FAKE_MEMORY, 1);
  setenv("PERMC_CACHE", path_of("cache"), 1);
  setenv("TMPDIR", path_of("tmp"), 1);
  int input = open("/dev/null", O_RDONLY);
  if (chdir(folder) != 0 || dup2(input, 0) < 0 || dup2(out, 1) < 0 || dup2(messages, 2) < 0)
    _exit(99);
  if (traced && ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
    _exit(99);
  execv(words[0], (char *const *)(uintptr_t)words);
  _exit(99);
}

static outcome run(const command *c, const plan *p) {
  outcome o = {0};
  bool traced = p->what->call_count;
  int out = memfd_create("out", 0), messages = memfd_create("messages", 0);
  atomic_store(&allocations->calls, 0);
  allocations->first = traced ? 0 : p->first;
  allocations->last = traced ? 0 : p->last;
  make_folder();
  fflush(stdout);
  too_long = 0;
  alarm(60);
  pid_t child = fork();
  if (child == 0)
    start_command(c, traced, out, messages);
  if (traced)
    o.status = trace(child, p, &o.calls);
  else
    while (waitpid(child, &o.status, 0) < 0 && errno == EINTR)
      kill(child, SIGKILL);
  alarm(0);
  o.hung = too_long;
  if (!traced)
    o.calls = atomic_load(&allocations->calls);
  o.printed = read_all(out);
  o.messages = read_all(messages);
  o.output = read_named(c->output);
  close(out);
  close(messages);
  return o;
}

// ---- laws --------------------------------------------------------------------------------------

static size_t count_lines(const char *text) {
  size_t count = 0;
  for (; *text; text++)
    count += *text == '\n';
  return count;
}

// Lines that begin an error: "permc: ..." but no warning, or "FILE:LINE:COLUMN: error: ...".
static size_t count_errors(const char *text) {
  size_t count = 0;
  for (const char *line = text; line && *line; line = strchr(line, '\n')) {
    line += *line == '\n';
    size_t length = strcspn(line, "\n");
    const char *located = strstr(line, ": error: ");
    // A warning, and bench's verdict on a case whose error stands above, are none.
    bool plain = !strncmp(line, "permc: ", 7) && strncmp(line, "permc: warning: ", 16) != 0 &&
                 strncmp(line, "permc: bench: no figures", 24) != 0;
    count += plain || (located && located < line + length);
  }
  return count;
}

static bool same(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

// What is wrong after a failure; NULL: nothing. `whole`: the same command without a failure.
static const char *find_problem(const command *c, const failure_class *what, const outcome *whole,
                                const outcome *o) {
  static const char *const never[] = {"without a message", "please report", "recursion"};
  bool as_whole = o->status == whole->status, reports = !strcmp(c->words[0], "test");
  if (o->hung)
    return "it hangs";
  if (WIFSIGNALED(o->status))
    return strsignal(WTERMSIG(o->status));
  if (WEXITSTATUS(o->status) > 1)
    return "the exit status is neither 0 nor 1";
  if (count_entries(path_of("tmp"), false) || count_entries(path_of("cache/permc-work"), false) ||
      count_entries(folder, false) > MOST_FILES)
    return "files are left over";
  for (size_t i = 0; i < sizeof never / sizeof *never; i++)
    if (strstr(o->messages, never[i]) || strstr(o->printed, never[i]))
      return "the message says something else";
  bool complete = c->varies ? !o->output == !whole->output &&
                                  count_lines(o->printed) == count_lines(whole->printed)
                            : same(o->output, whole->output) && same(o->printed, whole->printed);
  if (as_whole && complete && !count_errors(o->messages))
    return NULL;
  if (WEXITSTATUS(o->status) == 0)
    return "it succeeds without all of its output";
  if (o->output && !c->varies &&
      !same(o->output, same(c->output, "unformatted.perm") ? unformatted : NULL))
    return "there is a part of an output file";
  if (!reports && !c->varies && strncmp(o->printed, whole->printed, strlen(o->printed)) != 0)
    return "it prints what it should not";
  // Tests report on standard output.
  const char *message = reports && !count_errors(o->messages) ? o->printed : o->messages;
  bool clear = false;
  for (size_t i = 0; i < 3 && what->words[i]; i++)
    clear = clear || strcasestr(message, what->words[i]);
  if (!clear)
    return "the message does not say what failed";
  // The plot and the table are two outputs.
  if (message == o->messages && count_errors(message) != 1 && !c->varies)
    return "there is more than one message";
  return NULL;
}

static long injected;

static void try_failure(const command *c, const plan *p, const outcome *whole) {
  outcome o = run(c, p);
  injected += o.calls >= p->first;
  const char *problem = o.calls < p->first ? NULL : find_problem(c, p->what, whole, &o);
  if (problem && (test_fail(__FILE__, __LINE__, "injected") || every_one))
    printf(": %s: %s %ld%s: %s; status %d\n%s%s", test_state.name, p->what->name, p->first,
           p->last > p->first ? " and all later ones" : "", problem, WEXITSTATUS(o.status),
           c->varies ? "" : o.printed, o.messages);
  free_outcome(&o);
}

// Sanitizers take memory of their own, and cannot do without it.
static void inject(command c) {
  enum { SAMPLE = 3 };
  if (SANITIZED)
    SKIP("sanitizers cannot do without memory");
  random_state = 1;
  for (size_t i = 0; i < CLASSES; i++) {
    const failure_class *what = &classes[i];
    if (!CAN_TRACE && what->call_count)
      continue;
    outcome whole = run(&c, &(plan){what, LONG_MAX, LONG_MAX});
    CHECK(!WIFSIGNALED(whole.status) && WEXITSTATUS(whole.status) <= 1);
    CHECK_STR(whole.messages, "");
    long count = every_one ? whole.calls : c.compiles ? 2 : SAMPLE;
    for (long k = 1; k <= count && whole.calls; k++) {
      long number = every_one ? k : 1 + (long)(random_u64() % (uint64_t)whole.calls);
      try_failure(&c, &(plan){what, number, number}, &whole);
      try_failure(&c, &(plan){what, number, LONG_MAX}, &whole);
    }
    free_outcome(&whole);
  }
  if (every_one)
    printf("%s: %ld injected so far\n", test_state.name, injected);
}

#define COMMAND(...)                                                                               \
  (command) {                                                                                      \
    .words = { __VA_ARGS__ }                                                                       \
  }

TEST(check) { inject(COMMAND("check", "program.perm")); }
TEST(run_interp) {
  inject(COMMAND("run", "program.perm", "-i", "keys.txt", "--backend", "interp"));
}
TEST(run_portable) {
  inject(COMMAND("run", "-e", "sort", "--random", "[2^4]f32", "--backend", "portable"));
}
TEST(run_to_file) {
  command c = COMMAND("run", "program.perm", "-i", "keys.txt", "-o", "out.npy");
  c.output = "out.npy";
  inject(c);
}
TEST(run_compiled) {
  command c = COMMAND("run", "-e", "sort", "--random", "[2^4]u8", "--backend", "cpu");
  c.compiles = true;
  inject(c);
}
TEST(explain) {
  command c = COMMAND("explain", "program.perm", "--size", "n=10");
  c.varies = true;  // "planned in 2 ms"
  inject(c);
}
TEST(explain_json) {
  command c = COMMAND("explain", "program.perm", "--size", "n=4", "--json");
  c.varies = true;
  inject(c);
}
TEST(explain_dump) {
  inject(COMMAND("explain", "-e", "sort", "--arguments", "[2^4]u8", "--dump", "c"));
}
TEST(fmt) {
  command c = COMMAND("fmt", "unformatted.perm");
  c.output = "unformatted.perm";
  inject(c);
}
TEST(fmt_check) { inject(COMMAND("fmt", "--check", "unformatted.perm")); }
TEST(cache) { inject(COMMAND("cache")); }
TEST(cache_clear) { inject(COMMAND("cache", "--clear", "--limit", "2^20")); }
TEST(test) { inject(COMMAND("test", "program.perm")); }
TEST(bench) {
  command c = COMMAND("bench", "-e", "sort", "--arguments", "[2^4]u8", "--seconds", "0",
                      "--backend", "portable");
  c.varies = true;
  inject(c);
}
TEST(bench_turns) {
  command c = COMMAND("bench", "-e", "sort", "--arguments", "[2^4]u8", "--backend", "interp",
                      "--turns", "-o", "sorted.npy");
  c.varies = true;
  c.output = "sorted.npy";
  inject(c);
}

int main(int argc, char **argv) {
  every_one = test_all() || (argc > 1 && !strcmp(argv[1], "--all"));
  const char *given = getenv("PERMC_TMP");
  snprintf(folder, sizeof folder, "%s/injection", given ? given : "/tmp");
  mkdir(folder, 0700);
  allocation_file = memfd_create("allocations", 0);
  void *shared = MAP_FAILED;
  if (ftruncate(allocation_file, sizeof *allocations) == 0)
    shared =
        mmap(NULL, sizeof *allocations, PROT_READ | PROT_WRITE, MAP_SHARED, allocation_file, 0);
  struct sigaction action = {.sa_handler = on_alarm};
  sigaction(SIGALRM, &action, NULL);
  if (shared == MAP_FAILED)
    return 1;
  allocations = shared;
  return test_main(argc - every_one, argv + every_one);
}
