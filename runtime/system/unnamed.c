// Files without names, by O_TMPFILE and /proc. See unnamed.h.
#include "runtime/system/unnamed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

// The number behind a word at the beginning of a line, such as "Umask:"; -1: there is none.
static long number_in(const char *path, const char *word, int base) {
  char line[256];
  long number = -1;
  FILE *from = fopen(path, "re");
  while (from && number < 0 && fgets(line, sizeof line, from))
    if (strncmp(line, word, strlen(word)) == 0)
      number = strtol(line + strlen(word), NULL, base);
  if (from)
    fclose(from);
  return number;
}

void unnamed_path(char path[UNNAMED_PATH], int descriptor) {
  snprintf(path, UNNAMED_PATH, "/proc/self/fd/%d", descriptor);
}

// Linux before 6.0 forgets the umask where the file system has no ACLs.
static bool has_mode(int descriptor, const char *folder) {
  struct stat s;
  if (fstat(descriptor, &s) != 0)
    return false;
  return (s.st_mode & 0666) != 0666 || number_in("/proc/self/status", "Umask:", 8) == 0 ||
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

// A file system may be mounted twice, and no name leads from one mount to the other.
static long mount_of(int descriptor) {
  char path[UNNAMED_PATH + 8];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", descriptor);
  return number_in(path, "mnt_id:", 10);
}

bool unnamed_together(int a, int b) {
  struct stat x, y;
  long mount = mount_of(a);
  return mount >= 0 && mount == mount_of(b) && fstat(a, &x) == 0 && fstat(b, &y) == 0 &&
         x.st_dev == y.st_dev;
}
