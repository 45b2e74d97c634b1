// Entries, work folders and the bound of the cache. See cache.h.
#include "runtime/system/cache.h"

#include "runtime/system/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STALE_SECONDS = 3600, READ_BYTES = 1 << 16 };

// Behind the content of each entry.
typedef struct trailer {
  char magic[8];
  unsigned char check[DIGEST_BYTES];
} trailer;
static const char magic[8] = "permc 1\n";

// ---- paths -------------------------------------------------------------------------------------

static bool join_path(char path[CACHE_PATH], const char *folder, const char *name) {
  size_t front = strlen(folder), back = strlen(name);
  if (front + back + 2 > CACHE_PATH)
    return false;
  memmove(path, folder, front);
  path[front] = '/';
  memcpy(path + front + 1, name, back + 1);
  return true;
}

// The folder's path, or "".
static void choose_folder(char path[CACHE_PATH]) {
  const char *own = getenv("PERMC_CACHE"), *shared = getenv("XDG_CACHE_HOME"),
             *home = getenv("HOME");
  bool good = false;
  if (own && *own)
    good = strlen(own) < CACHE_PATH && memcpy(path, own, strlen(own) + 1);
  else if (shared && *shared == '/')
    good = join_path(path, shared, "permc");
  else if (home && *home == '/')
    good = join_path(path, home, ".cache/permc");
  if (!good)
    *path = 0;
}

// Creates the folder and those above it, for this user alone.
static bool make_folders(char *path) {
  for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = 0;
    bool good = mkdir(path, 0700) == 0 || errno == EEXIST || errno == EISDIR || errno == EACCES ||
                errno == EROFS || errno == EPERM;
    *slash = '/';
    if (!good)
      return false;
  }
  return mkdir(path, 0700) == 0 || errno == EEXIST;
}

// Whether the file is this user's, and nobody else may write to it.
static bool is_private(const struct stat *s) {
  return s->st_uid == geteuid() && (s->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// A regular file that is private, opened for reading, else -1.
static int open_private_file(int folder, const char *path, struct stat *s) {
  int file = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file >= 0 && fstat(file, s) == 0 && S_ISREG(s->st_mode) && is_private(s))
    return file;
  if (file >= 0)
    close(file);
  return -1;
}

static bool refuse_folder(cache *c, const char *path, const char *why) {
  snprintf(c->problem, sizeof c->problem, "the cache %.160s %s", path, why);
  c->folder[0] = 0;
  return false;
}

static bool check_folder(cache *c, bool create) {
  struct stat s;
  char path[CACHE_PATH];
  memcpy(path, c->folder, sizeof path);
  if ((create && !make_folders(path)) || stat(path, &s) != 0)
    return refuse_folder(c, path, strerror(errno));
  if (!S_ISDIR(s.st_mode))
    return refuse_folder(c, path, "is not a folder");
  if (!is_private(&s))
    return refuse_folder(c, path,
                         "can be written to by other users; remove their write permission");
  return true;
}

static void open_folder(cache *c, bool create) {
  *c = (cache){.most_bytes = CACHE_MOST_BYTES};
  choose_folder(c->folder);
  if (c->folder[0] == 0)
    snprintf(c->problem, sizeof c->problem,
             "there is no folder for the cache; set HOME or PERMC_CACHE");
  else
    check_folder(c, create);
}

void cache_open(cache *c) { open_folder(c, true); }
void cache_look(cache *c) { open_folder(c, false); }

// ---- entries -----------------------------------------------------------------------------------

// What entries are, by the ends of their names.
static const char code_entry[] = ".so", text_entry[] = ".text";

static bool entry_path(const cache *c, const char *key, const char *kind, char path[CACHE_PATH]) {
  char name[CACHE_KEY + 8];
  snprintf(name, sizeof name, "%.64s%s", key, kind);
  return c->folder[0] && join_path(path, c->folder, name);
}

// The digest of the file's first `length` bytes and the key. Leaves the offset behind them.
static bool digest_file(int file, uint64_t length, const char *key,
                        unsigned char out[DIGEST_BYTES]) {
  unsigned char *buffer = malloc(READ_BYTES);
  digest d = digest_start();
  bool good = buffer != NULL && lseek(file, 0, SEEK_SET) == 0;
  while (good && length > 0) {
    ssize_t got = read(file, buffer, length < READ_BYTES ? (size_t)length : READ_BYTES);
    good = got > 0 || (got < 0 && errno == EINTR);
    if (got > 0) {
      digest_add(&d, buffer, (size_t)got);
      length -= (uint64_t)got;
    }
  }
  digest_add(&d, key, CACHE_KEY - 1);
  digest_finish(&d, out);
  free(buffer);
  return good;
}

static bool is_good_entry(int file, off_t size, const char *key) {
  trailer found, wanted;
  memcpy(wanted.magic, magic, sizeof magic);
  return size >= (off_t)sizeof found &&
         digest_file(file, (uint64_t)size - sizeof found, key, wanted.check) &&
         read(file, &found, sizeof found) == (ssize_t)sizeof found &&
         memcmp(&found, &wanted, sizeof found) == 0;
}

// A good entry, opened and marked as used now, else -1.
static int open_entry(const cache *c, const char *key, const char *kind, char path[CACHE_PATH]) {
  struct stat s;
  int file = entry_path(c, key, kind, path) ? open_private_file(AT_FDCWD, path, &s) : -1;
  if (file >= 0 && is_good_entry(file, s.st_size, key)) {
    (void)!futimens(file, NULL);
    return file;
  }
  if (file >= 0)
    close(file);
  return -1;
}

bool cache_find(const cache *c, const char key[CACHE_KEY], char path[CACHE_PATH]) {
  int file = open_entry(c, key, code_entry, path);
  return file >= 0 && close(file) == 0;
}

static bool add_trailer(int folder, const char *name, const char *key) {
  struct stat s;
  trailer t;
  memcpy(t.magic, magic, sizeof magic);
  int file = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0)
    return false;
  bool good = fstat(file, &s) == 0 && S_ISREG(s.st_mode) && fchmod(file, 0700) == 0 &&
              digest_file(file, (uint64_t)s.st_size, key, t.check) &&
              write(file, &t, sizeof t) == (ssize_t)sizeof t;
  return close(file) == 0 && good;
}

// ---- work folders ------------------------------------------------------------------------------

// The file that proves a folder to be a work folder: it tells the name and the inode that the
// folder has, so a folder of the same name, one that was renamed and a copy are not taken for one.
static const char marker[] = ".permc-work";
enum { MARKER_BYTES = 400 };

static bool marker_text(char out[MARKER_BYTES], int folder, const char *path) {
  struct stat s;
  const char *slash = strrchr(path, '/');
  if (fstat(folder, &s) != 0 || !is_private(&s))
    return false;
  int length = snprintf(out, MARKER_BYTES, "%.8swork folder %s, inode %" PRIuMAX "\n", magic,
                        slash ? slash + 1 : path, (uintmax_t)s.st_ino);
  return length > 0 && length < MARKER_BYTES;
}

static bool write_new_file(int folder, const char *name, const char *content) {
  size_t length = strlen(content);
  int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  bool good = file >= 0 && write(file, content, length) == (ssize_t)length;
  return file >= 0 && close(file) == 0 && good;
}

static bool make_work_folder(char path[CACHE_PATH], const char *above, const char *template) {
  char content[MARKER_BYTES];
  if (!join_path(path, above, template) || !mkdtemp(path))
    return false;
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  bool good =
      folder >= 0 && marker_text(content, folder, path) && write_new_file(folder, marker, content);
  if (folder >= 0 && !good)
    unlinkat(folder, marker, 0);
  if (folder >= 0)
    close(folder);
  if (!good)
    rmdir(path);
  return good;
}

// A work folder, as the marker in it proves, else -1.
static int open_work_folder(int above, const char *path) {
  char wanted[MARKER_BYTES], found[MARKER_BYTES];
  struct stat s;
  int folder = openat(above, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (folder < 0)
    return -1;
  int file = open_private_file(folder, marker, &s);
  bool good = file >= 0 && marker_text(wanted, folder, path) &&
              read(file, found, sizeof found) == (ssize_t)strlen(wanted) &&
              memcmp(found, wanted, strlen(wanted)) == 0;
  if (file >= 0)
    close(file);
  if (good)
    return folder;
  close(folder);
  return -1;
}

static bool has_subfolder(DIR *folder) {
  struct stat s;
  for (struct dirent *e; (e = readdir(folder)) != NULL;)
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
        (fstatat(dirfd(folder), e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(s.st_mode)))
      return true;
  return false;
}

// Compilers put files there, not folders: a work folder with a folder in it stays as it is. The
// marker goes last.
static void remove_work_folder(int above, const char *path) {
  int opened = open_work_folder(above, path);
  DIR *folder = opened < 0 ? NULL : fdopendir(opened);
  if (!folder) {
    if (opened >= 0)
      close(opened);
    return;
  }
  if (!has_subfolder(folder)) {
    rewinddir(folder);
    for (struct dirent *e; (e = readdir(folder)) != NULL;)
      if (strcmp(e->d_name, marker) != 0)
        unlinkat(dirfd(folder), e->d_name, 0);  // fails for . and ..
    unlinkat(dirfd(folder), marker, 0);
    unlinkat(above, path, AT_REMOVEDIR);
  }
  closedir(folder);
}

// ---- the bound ---------------------------------------------------------------------------------

typedef struct entry {
  char name[CACHE_KEY + 8];
  uint64_t bytes;
  struct timespec used;
} entry;

typedef struct entry_list {
  entry *items;
  size_t count, capacity;
  uint64_t bytes;  // of all of them
} entry_list;

static int compare_age(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->used.tv_sec != y->used.tv_sec)
    return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
  return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

static bool is_entry_name(const char *name) {
  const char *kind = name + strspn(name, "0123456789abcdef");
  return kind - name == CACHE_KEY - 1 &&
         (strcmp(kind, code_entry) == 0 || strcmp(kind, text_entry) == 0);
}

// By its trailer. Whether the content is good does not matter here.
static bool is_entry(int folder, const char *name) {
  struct stat s;
  trailer t;
  int file = open_private_file(folder, name, &s);
  bool good = file >= 0 && s.st_size >= (off_t)sizeof t &&
              pread(file, &t, sizeof t, s.st_size - (off_t)sizeof t) == (ssize_t)sizeof t &&
              memcmp(t.magic, magic, sizeof magic) == 0;
  if (file >= 0)
    close(file);
  return good;
}

// Lists what has the name of an entry, and removes what a process that was killed has left.
static entry_list list_entries(DIR *folder) {
  entry_list l = {0};
  for (struct dirent *e; (e = readdir(folder)) != NULL;) {
    struct stat s;
    if (fstatat(dirfd(folder), e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (strncmp(e->d_name, "work-", 5) == 0 && S_ISDIR(s.st_mode) &&
        time(NULL) - s.st_mtime > STALE_SECONDS)
      remove_work_folder(dirfd(folder), e->d_name);
    if (!S_ISREG(s.st_mode) || !is_entry_name(e->d_name))
      continue;
    if (l.count == l.capacity) {
      entry *more = realloc(l.items, (2 * l.capacity + 16) * sizeof *more);
      if (!more)
        break;
      l.items = more;
      l.capacity = 2 * l.capacity + 16;
    }
    entry *one = &l.items[l.count++];
    *one = (entry){.bytes = (uint64_t)s.st_size, .used = s.st_mtim};
    memcpy(one->name, e->d_name, strlen(e->d_name) + 1);
    l.bytes += one->bytes;
  }
  return l;
}

static void keep_proven_entries(int folder, entry_list *l) {
  size_t kept = 0;
  for (size_t i = 0; i < l->count; i++)
    if (is_entry(folder, l->items[i].name))
      l->items[kept++] = l->items[i];
    else
      l->bytes -= l->items[i].bytes;
  l->count = kept;
}

// Removes the oldest entries until the others have at most so many bytes; returns the bytes of what
// was removed. Entries that are in use stay in memory; only their names go.
static uint64_t bound_entries(const cache *c, uint64_t most_bytes) {
  uint64_t removed = 0;
  DIR *folder = opendir(c->folder);
  if (!folder)
    return 0;
  entry_list l = list_entries(folder);
  if (l.bytes > most_bytes) {  // rarely; only then files are opened
    keep_proven_entries(dirfd(folder), &l);
    qsort(l.items, l.count, sizeof *l.items, compare_age);
  }
  for (size_t i = 0; i < l.count && l.bytes - removed > most_bytes; i++)
    if (unlinkat(dirfd(folder), l.items[i].name, 0) == 0)
      removed += l.items[i].bytes;
  free(l.items);
  closedir(folder);
  return removed;
}

uint64_t cache_clear(const cache *c) { return bound_entries(c, 0); }

// ---- compilations ------------------------------------------------------------------------------

bool cache_work_begin(const cache *c, cache_work *w, const char **why) {
  const char *temporary = getenv("TMPDIR");
  *w = (cache_work){.slot = -1};
  if (!(c->folder[0] && make_work_folder(w->folder, c->folder, "work-XXXXXX")) &&
      !(temporary && *temporary && make_work_folder(w->folder, temporary, "permc-XXXXXX")) &&
      !make_work_folder(w->folder, "/tmp", "permc-XXXXXX")) {
    w->folder[0] = 0;
    *why = "no folder can be written to: neither the cache nor $TMPDIR nor /tmp";
    return false;
  }
  w->slot = temporary_register(w->folder);
  return true;
}

static bool keep_file(const cache *c, const cache_work *w, const char *name, const char *key,
                      const char *kind, char path[CACHE_PATH]) {
  int folder = open_work_folder(AT_FDCWD, w->folder);
  bool good = folder >= 0 && entry_path(c, key, kind, path) && add_trailer(folder, name, key) &&
              renameat(folder, name, AT_FDCWD, path) == 0;
  if (folder >= 0)
    close(folder);
  if (good)
    bound_entries(c, c->most_bytes);
  else
    join_path(path, w->folder, name);
  return good;
}

bool cache_keep(const cache *c, const cache_work *w, const char *name, const char key[CACHE_KEY],
                char path[CACHE_PATH]) {
  return keep_file(c, w, name, key, code_entry, path);
}

void cache_work_end(cache_work *w) {
  if (w->folder[0])
    remove_work_folder(AT_FDCWD, w->folder);
  temporary_unregister(w->slot);
  *w = (cache_work){.slot = -1};
}

// ---- texts -------------------------------------------------------------------------------------

bool cache_find_text(const cache *c, const char key[CACHE_KEY], char out[CACHE_TEXT]) {
  char path[CACHE_PATH];
  int file = open_entry(c, key, text_entry, path);
  ssize_t length = file < 0 ? -1 : pread(file, out, CACHE_TEXT, 0) - (ssize_t)sizeof(trailer);
  if (file >= 0)
    close(file);
  if (length < 0 || length >= CACHE_TEXT - (ssize_t)sizeof(trailer))
    return false;
  out[length] = 0;
  return strlen(out) == (size_t)length;
}

bool cache_keep_text(const cache *c, const char key[CACHE_KEY], const char *content,
                     char path[CACHE_PATH], const char **why) {
  static const char name[] = "kept.text";
  char from[CACHE_PATH];
  cache_work w;
  *why = c->problem;
  if (!c->folder[0] || !cache_work_begin(c, &w, why))
    return false;
  *why = "its folder cannot be written to";
  bool good = strlen(content) < CACHE_TEXT - sizeof(trailer) && join_path(from, w.folder, name) &&
              write_new_file(AT_FDCWD, from, content) &&
              keep_file(c, &w, name, key, text_entry, path);
  cache_work_end(&w);
  return good;
}

bool cache_remove_text(const cache *c, const char key[CACHE_KEY]) {
  char path[CACHE_PATH];
  return entry_path(c, key, text_entry, path) && unlink(path) == 0;
}
