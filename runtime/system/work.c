// Folders in which compilers work. See caching.h.
#include "runtime/system/caching.h"
#include "runtime/system/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { STALE_SECONDS = 3600 };

// A work folder is proved by a link in it, which is made in one step and tells the name and the
// inode that the folder has: so a folder of the same name, one that was renamed and a copy are not
// taken for one. The process at work holds a lock on the folder, which the system drops when the
// process ends, in whatever way.
static const char marker[] = ".permc-work";
enum { MARKER_BYTES = 400 };

static bool marker_text(char out[MARKER_BYTES], int folder, const char *path) {
  struct stat s;
  const char *slash = strrchr(path, '/');
  if (fstat(folder, &s) != 0 || !cache_is_private(&s))
    return false;
  int length = snprintf(out, MARKER_BYTES, "work folder %s of permc, inode %" PRIuMAX,
                        slash ? slash + 1 : path, (uintmax_t)s.st_ino);
  return length > 0 && length < MARKER_BYTES;
}

static bool is_marked(int folder, const char *path) {
  char wanted[MARKER_BYTES], found[MARKER_BYTES];
  return marker_text(wanted, folder, path) &&
         readlinkat(folder, marker, found, sizeof found) == (ssize_t)strlen(wanted) &&
         memcmp(found, wanted, strlen(wanted)) == 0;
}

// Whether no other process has the folder; some file systems cannot tell.
typedef enum lock_state { LOCK_TAKEN, LOCK_MINE, LOCK_UNKNOWN } lock_state;
static lock_state lock_folder(int folder) {
  if (flock(folder, LOCK_EX | LOCK_NB) == 0)
    return LOCK_MINE;
  return errno == EWOULDBLOCK ? LOCK_TAKEN : LOCK_UNKNOWN;
}

// Again, if another process has taken the folder for one that was left before it was locked.
static bool make_work_folder(cache_work *w, const char *above, const char *template) {
  bool again = true;
  for (int tries = 0; again && tries < 100; tries++) {
    char content[MARKER_BYTES];
    if (!cache_join_path(w->folder, above, template) || !mkdtemp(w->folder))
      return false;
    w->opened = cache_open_files(AT_FDCWD, w->folder);
    if (w->opened && lock_folder(dirfd(w->opened)) != LOCK_TAKEN &&
        marker_text(content, dirfd(w->opened), w->folder) &&
        symlinkat(content, dirfd(w->opened), marker) == 0)
      return true;
    again = w->opened || !cache_lacks_resources();
    int why = errno;
    if (w->opened)
      closedir(w->opened);
    rmdir(w->folder);
    errno = why;
  }
  return false;
}

static void remove_files(DIR *folder) {
  rewinddir(folder);
  for (struct dirent *e; (e = readdir(folder)) != NULL;)
    if (strcmp(e->d_name, marker) != 0)
      unlinkat(dirfd(folder), e->d_name, 0);  // fails for folders
}

// Whether the opened folder is the one at the path, with its marker.
static bool is_whole(int above, const char *path, int opened) {
  struct stat here, there;
  return is_marked(opened, path) && fstat(opened, &here) == 0 &&
         fstatat(above, path, &there, AT_SYMLINK_NOFOLLOW) == 0 && here.st_ino == there.st_ino &&
         here.st_dev == there.st_dev;
}

bool cache_work_is_whole(const cache_work *w) {
  return is_whole(AT_FDCWD, w->folder, dirfd(w->opened));
}

// Compilers put files there, not folders: a work folder with a folder in it stays. The marker goes
// last. A compiler that was just killed may still finish creating a file: then once more.
static void remove_work_folder(int above, const char *path, DIR *folder) {
  char content[MARKER_BYTES];
  int opened = dirfd(folder);
  for (int tries = 0; tries < 20 && is_whole(above, path, opened); tries++) {
    remove_files(folder);
    unlinkat(opened, marker, 0);
    if (unlinkat(above, path, AT_REMOVEDIR) == 0 || !marker_text(content, opened, path) ||
        symlinkat(content, opened, marker) != 0)
      return;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
}

// What processes that were killed have left: it is locked no more. Where the file system has no
// such locks, it is what is old.
void cache_remove_left_work(const cache *c) {
  char path[CACHE_PATH];
  DIR *folder = cache_join_path(path, c->folder, cache_work_folder) ? opendir(path) : NULL;
  for (struct dirent *e; folder && (e = readdir(folder)) != NULL;) {
    struct stat s;
    DIR *opened =
        strncmp(e->d_name, "work-", 5) == 0 ? cache_open_files(dirfd(folder), e->d_name) : NULL;
    if (!opened)
      continue;
    lock_state state = lock_folder(dirfd(opened));
    if (state == LOCK_MINE || (state == LOCK_UNKNOWN && fstat(dirfd(opened), &s) == 0 &&
                               time(NULL) - s.st_mtime > STALE_SECONDS)) {
      if (is_marked(dirfd(opened), e->d_name))
        remove_work_folder(dirfd(folder), e->d_name, opened);
      else
        unlinkat(dirfd(folder), e->d_name, AT_REMOVEDIR);  // if it is empty
    }
    closedir(opened);
  }
  if (folder)
    closedir(folder);
}

bool cache_work_begin(const cache *c, cache_work *w, const char **why) {
  const char *temporary = getenv("TMPDIR");
  char within[CACHE_PATH];
  *w = (cache_work){.slot = -1};
  if (c->folder[0])
    cache_remove_left_work(c);
  if (!(c->folder[0] && cache_join_path(within, c->folder, cache_work_folder) &&
        make_work_folder(w, within, "work-XXXXXX")) &&
      !(temporary && *temporary && make_work_folder(w, temporary, "permc-XXXXXX")) &&
      !make_work_folder(w, "/tmp", "permc-XXXXXX")) {
    w->folder[0] = 0;
    *why = cache_lacks_resources()
               ? strerrordesc_np(errno)
               : "no folder can be written to: neither the cache nor $TMPDIR nor /tmp";
    return false;
  }
  w->slot = temporary_register(w->folder);
  return true;
}

bool cache_work_write(const cache_work *w, const char *name, const void *bytes, size_t size) {
  int file = openat(dirfd(w->opened), name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  size_t done = 0;
  while (file >= 0 && done < size) {
    ssize_t some = write(file, (const char *)bytes + done, size - done);
    if (some < 0 && errno != EINTR)
      break;
    done += some > 0 ? (size_t)some : 0;
  }
  return file >= 0 && close(file) == 0 && done == size;
}

void cache_work_end(cache_work *w) {
  if (w->opened) {
    remove_work_folder(AT_FDCWD, w->folder, w->opened);
    closedir(w->opened);
  }
  temporary_unregister(w->slot);
  *w = (cache_work){.slot = -1};
}
