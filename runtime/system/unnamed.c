// Files without names, by O_TMPFILE and /proc. See unnamed.h.
#include "runtime/system/unnamed.h"
#include "runtime/system/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

void unnamed_path(char path[UNNAMED_PATH], int descriptor) {
  snprintf(path, UNNAMED_PATH, "/proc/self/fd/%d", descriptor);
}

// Linux before 6.0 forgets the umask where the file system has no ACLs.
static bool has_mode(int descriptor, const char *folder) {
  struct stat s;
  if (fstat(descriptor, &s) != 0)
    return false;
  return (s.st_mode & 0666) != 0666 || number_in_file("/proc/self/status", "Umask:", 8, 1) == 0 ||
         getxattr(folder, "system.posix_acl_default", NULL, 0) > 0;
}

int unnamed_create(const char *folder) {
  char path[UNNAMED_PATH];
  int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return -1;
  unnamed_path(path, descriptor);
  if (access(path, F_OK) == 0 && has_mode(descriptor, folder))
    return descriptor;
  close(descriptor);
  return -1;
}

bool unnamed_link(int descriptor, const char *path) {
  char from[UNNAMED_PATH];
  unnamed_path(from, descriptor);
  return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

// ---- replacing ----------------------------------------------------------------------------------

typedef struct replacing {
  const unnamed_replacement *all;
  size_t count, done;  // of the two calls for each
  int failure;         // errno
} replacing;

static bool replace_next(replacing *r) {
  const unnamed_replacement *next = &r->all[r->done % r->count];
  if (r->done >= r->count) {
    bool good = rename(next->temporary, next->path) == 0;
    if (good)
      unlink(next->temporary);  // it stays where both were names of one file
    return good;
  }
  return next->descriptor < 0 || unnamed_link(next->descriptor, next->temporary);
}

static int replace_all(void *with) {
  replacing *r = with;
  while (r->done < 2 * r->count && replace_next(r))
    r->done++;
  if (r->done == 2 * r->count)
    return 0;
  r->failure = errno;
  bool renames = r->done >= r->count;
  size_t first = renames ? r->done - r->count : 0, end = renames ? r->count : r->done;
  for (size_t i = first; i < end; i++)
    if (r->all[i].descriptor >= 0)
      unlink(r->all[i].temporary);
  return r->failure;
}

// This thread waits for it, as of vfork, and it sends no signal, and gets none. Where no process
// can be started it is done here.
static void replace_apart(replacing *r) {
  enum { STACK = 1 << 16 };
  char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  sigset_t all, before;
  if (stack == MAP_FAILED) {
    replace_all(r);
    return;
  }
  replacing *shared = (replacing *)(void *)stack;
  *shared = *r;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pid_t child = clone(replace_all, stack + STACK, CLONE_VM | CLONE_VFORK, shared);
  if (child < 0)
    replace_all(shared);
  else
    waitpid(child, NULL, (int)__WCLONE);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  *r = *shared;
  munmap(stack, STACK);
}

bool unnamed_replace(const unnamed_replacement *all, size_t count, size_t *failed) {
  replacing r = {.all = all, .count = count};
  if (count == 1 && all->descriptor < 0)
    replace_all(&r);
  else if (count > 0)
    replace_apart(&r);
  *failed = count ? r.done % count : 0;
  errno = r.failure ? r.failure : EINTR;  // somebody has killed it
  return r.done == 2 * count;
}

// ---- where names can be -------------------------------------------------------------------------

// A file system may be mounted twice, and no name leads from one mount to the other.
static uint64_t mount_of(int descriptor) {
  char path[UNNAMED_PATH + 8];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", descriptor);
  return number_in_file(path, "mnt_id:", 10, UINT64_MAX);
}

bool unnamed_together(int a, int b) {
  struct stat x, y;
  uint64_t mount = mount_of(a);
  return mount != UINT64_MAX && mount == mount_of(b) && fstat(a, &x) == 0 && fstat(b, &y) == 0 &&
         x.st_dev == y.st_dev;
}
