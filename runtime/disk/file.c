// Files, and what is said where one cannot be read or written.
#include "runtime/disk/request.h"
#include "runtime/system/unnamed.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail_file(error *failure, const disk_file *f, const char *doing, int number) {
  return error_set_number(failure, number, "%s: %s: %s", f->path, doing, error_of_writing(number));
}

// The blocks are taken now where the file system can do that. Sparse otherwise.
static int allocate(int descriptor, uint64_t bytes) {
  if (bytes == 0 || fallocate(descriptor, 0, 0, (off_t)bytes) == 0)
    return 0;
  if (errno != EOPNOTSUPP && errno != ENOSYS)
    return errno;
  return ftruncate(descriptor, (off_t)bytes) == 0 ? 0 : errno;
}

// The same file, whatever has become of its path.
static int open_by_number(int descriptor, int flags) {
  char path[UNNAMED_PATH];
  unnamed_path(path, descriptor);
  return open(path, flags | O_CLOEXEC);
}

// The file of a descriptor, which becomes the disk_file's, with room for so many bytes. Below 0: why
// there is none is in errno.
static bool take_file(disk_file *f, const char *path, int descriptor, int flags, uint64_t bytes,
                      error *failure) {
  *f = (disk_file){.path = path, .cached = descriptor, .direct = -1};
  if (descriptor < 0)
    return error_set_number(failure, errno, "%s: %s", path, error_of_reading(errno));
  int why = allocate(descriptor, bytes);
  if (why != 0) {
    fail_file(failure, f, "making room in it", why);
    disk_close(f);
    return false;
  }
  f->direct = open_by_number(descriptor, flags | O_DIRECT);
  return true;
}

bool disk_open(disk_file *f, const char *path, disk_use use, uint64_t bytes, error *failure) {
  int flags = use == DISK_READ ? O_RDONLY : O_RDWR, create = use == DISK_CREATE;
  int descriptor = open(path, flags | O_CLOEXEC | (create ? O_CREAT | O_TRUNC : 0), 0666);
  return take_file(f, path, descriptor, flags, create ? bytes : 0, failure);
}

bool disk_open_again(disk_file *f, const char *path, int descriptor, error *failure) {
  int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  return take_file(f, path, own, O_RDONLY, 0, failure);
}

bool disk_take(disk_file *f, const char *path, int descriptor, uint64_t bytes, error *failure) {
  return take_file(f, path, descriptor, O_RDWR, bytes, failure);
}

// Where the file system has no files without a name, one that has lost it.
static int create_unnamed(const char *folder) {
  int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  char path[4096];
  if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
    return descriptor;
  if ((size_t)snprintf(path, sizeof path, "%s/.permc-XXXXXX", folder) >= sizeof path)
    return errno = ENAMETOOLONG, -1;
  descriptor = mkostemp(path, O_CLOEXEC);
  if (descriptor >= 0)
    unlink(path);
  return descriptor;
}

bool disk_open_unnamed(disk_file *f, const char *folder, uint64_t bytes, error *failure) {
  return take_file(f, folder, create_unnamed(folder), O_RDWR, bytes, failure);
}

void disk_close(disk_file *f) {
  if (!f->path)
    return;
  close(f->cached);
  if (f->direct >= 0)
    close(f->direct);
  f->path = NULL;
}

bool disk_size(const disk_file *f, uint64_t *bytes, error *failure) {
  struct stat s;
  if (fstat(f->cached, &s) != 0)
    return fail_file(failure, f, "its size", errno);
  *bytes = (uint64_t)s.st_size;
  return true;
}

bool disk_sync(const disk_file *f, error *failure) {
  return fdatasync(f->cached) == 0 || fail_file(failure, f, "writing", errno);
}

bool disk_fail_short(error *failure, const disk_file *f, uint64_t end, uint64_t wanted) {
  return error_set(failure, SPAN_NONE, "%s: it ends at byte %" PRIu64 ", before byte %" PRIu64,
                   f->path, end, wanted);
}

bool disk_fail_at(error *failure, const disk_file *f, bool writes, uint64_t offset, int number) {
  return error_set_number(failure, number, "%s: %s at byte %" PRIu64 ": %s", f->path,
                          writes ? "writing" : "reading", offset, error_of_writing(number));
}

bool disk_read(const disk_file *f, uint64_t offset, void *memory, uint64_t bytes, error *failure) {
  for (char *to = memory; bytes > 0;) {
    ssize_t got = pread(f->cached, to, bytes, (off_t)offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return got == 0 ? disk_fail_short(failure, f, offset, offset + bytes)
                      : disk_fail_at(failure, f, false, offset, errno);
    to += got;
    offset += (uint64_t)got;
    bytes -= (uint64_t)got;
  }
  return true;
}

bool disk_write(const disk_file *f, uint64_t offset, const void *memory, uint64_t bytes,
                error *failure) {
  for (const char *from = memory; bytes > 0;) {
    ssize_t got = pwrite(f->cached, from, bytes, (off_t)offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return disk_fail_at(failure, f, true, offset, got < 0 ? errno : ENOSPC);
    from += got;
    offset += (uint64_t)got;
    bytes -= (uint64_t)got;
  }
  return true;
}
