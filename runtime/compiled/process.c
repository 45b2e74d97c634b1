// Processes of compilers. See process.h.
#include "runtime/compiled/process.h"
#include "runtime/compiled/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POLL_NANOSECONDS = 1000000, PATIENCE = 2000 };

void process_pause(void) { nanosleep(&(struct timespec){.tv_nsec = POLL_NANOSECONDS}, NULL); }

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
    process_pause();
  for (size_t i = 0; i < sizeof running / sizeof *running; i++) {
    pid_t pid = atomic_load(&running[i]);
    if (pid > 0 && kill(-pid, SIGKILL) == 0)
      waitpid(pid, NULL, 0);
  }
  errno = saved;
}

static void limit_resource(int resource, uint64_t most) {
  struct rlimit limit;
  if (getrlimit((unsigned)resource, &limit) != 0)
    return;
  if (limit.rlim_max > most)
    limit.rlim_max = most;
  if (limit.rlim_cur > limit.rlim_max)
    limit.rlim_cur = limit.rlim_max;
  (void)setrlimit((unsigned)resource, &limit);
}

// In the new process, between vfork and execve: no memory of permc's changes. `watch` is a pipe
// whose other end permc alone holds. It closes when permc ends, in whatever way, and then the
// kernel kills the whole group; PR_SET_PDEATHSIG would leave out the compiler's own processes, and
// end the compiler with the thread that has started it.
static void set_up_process(const process_limits *most, int watch, int output) {
  sigset_t none;
  sigemptyset(&none);
  for (int i = 1; i < NSIG; i++)
    (void)sigaction(i, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  limit_resource(RLIMIT_CPU, most->seconds);
  limit_resource(RLIMIT_AS, most->memory);
  limit_resource(RLIMIT_FSIZE, most->file_bytes);
  limit_resource(RLIMIT_CORE, 0);
  int nothing = open("/dev/null", O_RDONLY);
  if (setpgid(0, 0) != 0 || fcntl(watch, F_SETFD, 0) != 0 || fcntl(watch, F_SETSIG, SIGKILL) != 0 ||
      fcntl(watch, F_SETOWN, -getpid()) != 0 || fcntl(watch, F_SETFL, O_ASYNC) != 0 ||
      dup2(nothing < 0 ? watch : nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
    _exit(127);
}

// No descriptor of the process is one of the three that it gets anew.
static int move_descriptor(int file) {
  int moved = file < 0 || file > 2 ? file : fcntl(file, F_DUPFD_CLOEXEC, 3);
  if (moved != file)
    close(file);
  return moved;
}

// Signals are blocked meanwhile, so that a handler in this thread never finds `starting` set.
bool process_start(process *p, const char *const *arguments, char *const *environment,
                   const process_limits *most) {
  sigset_t all, before;
  int ends[2] = {-1, -1};
  *p = (process){.slot = -1, .watch = -1};
  p->output = move_descriptor(memfd_create("compiler", MFD_CLOEXEC));
  if (p->output < 0 || pipe2(ends, O_CLOEXEC) != 0)
    return false;
  int watch = move_descriptor(ends[0]);
  p->watch = ends[1];
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  atomic_fetch_add(&starting, 1);
  pid_t pid = watch < 0 ? -1 : vfork();
  if (pid == 0) {
    set_up_process(most, watch, p->output);
    execve(arguments[0], (char *const *)arguments, environment);
    _exit(127);
  }
  int why = errno;
  p->pid = pid > 0 ? pid : 0;
  p->slot = pid > 0 ? add_running(pid) : -1;
  atomic_fetch_sub(&starting, 1);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (watch >= 0)
    close(watch);
  errno = why;
  return pid > 0;
}

bool process_poll(process *p, const char *product, bool *good) {
  int status = 0;
  siginfo_t ended = {.si_pid = 0};
  struct stat s;
  if (waitid(P_PID, (id_t)p->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0) {
    if (ended.si_pid == 0)
      return false;
    kill(-p->pid, SIGKILL);  // the group has this number until the process is waited for
    waitpid(p->pid, &status, 0);
  } else if (errno == EINTR) {
    return false;
  }
  *good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  *good = *good && (!product || (stat(product, &s) == 0 && s.st_size > 0));
  if (p->slot >= 0)
    atomic_store(&running[p->slot], 0);
  p->pid = 0;
  return true;
}

void process_end(process *p) {
  bool good;
  if (p->pid > 0)
    kill(-p->pid, SIGKILL);
  for (int i = 0; i < PATIENCE && p->pid > 0 && !process_poll(p, NULL, &good); i++)
    process_pause();
  if (p->output >= 0)
    close(p->output);
  if (p->watch >= 0)
    close(p->watch);
}
