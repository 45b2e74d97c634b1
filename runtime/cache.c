#include "runtime/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_WORK = 16, STALE_SECONDS = 3600, READ_BYTES = 1 << 16 };

// Behind the content of each entry.
typedef struct trailer {
  char magic[8];
  unsigned char check[DIGEST_BYTES];
} trailer;
static const char magic[8] = "permc 1\n";

// ---- paths -------------------------------------------------------------------------------------

static bool join(char path[CACHE_PATH], const char *folder, const char *name) {
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
    good = join(path, shared, "permc");
  else if (home && *home == '/')
    good = join(path, home, ".cache/permc");
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

static bool is_ours(const struct stat *s) {
  return s->st_uid == geteuid() && (s->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static bool refuse(cache *c, const char *path, const char *why) {
  snprintf(c->problem, sizeof c->problem, "the cache %.160s %s", path, why);
  c->folder[0] = 0;
  return false;
}

static bool check_folder(cache *c, bool create) {
  struct stat s;
  char path[CACHE_PATH];
  memcpy(path, c->folder, sizeof path);
  if ((create && !make_folders(path)) || stat(path, &s) != 0)
    return refuse(c, path, strerror(errno));
  if (!S_ISDIR(s.st_mode))
    return refuse(c, path, "is no folder");
  if (!is_ours(&s))
    return refuse(c, path, "may be written to by others");
  return true;
}

static void open_folder(cache *c, bool create) {
  *c = (cache){.most_bytes = CACHE_MOST_BYTES};
  choose_folder(c->folder);
  if (c->folder[0] == 0)
    snprintf(c->problem, sizeof c->problem, "there is no folder for a cache: HOME is not set");
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
  return c->folder[0] && join(path, c->folder, name);
}

// The digest of the file's first `length` bytes and the key. Leaves the offset behind them.
static bool check_of(int file, uint64_t length, const char *key, unsigned char out[DIGEST_BYTES]) {
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

static bool is_good(int file, const char *key) {
  struct stat s;
  trailer found, wanted;
  memcpy(wanted.magic, magic, sizeof magic);
  if (fstat(file, &s) != 0 || !S_ISREG(s.st_mode) || !is_ours(&s) ||
      s.st_size < (off_t)sizeof found)
    return false;
  uint64_t length = (uint64_t)s.st_size - sizeof found;
  return check_of(file, length, key, wanted.check) &&
         read(file, &found, sizeof found) == (ssize_t)sizeof found &&
         memcmp(&found, &wanted, sizeof found) == 0;
}

bool cache_find(const cache *c, const char key[CACHE_KEY], char path[CACHE_PATH]) {
  if (!entry_path(c, key, code_entry, path))
    return false;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0)
    return false;
  bool good = is_good(file, key);
  if (good)
    (void)!futimens(file, NULL);  // used now
  close(file);
  return good;
}

static bool add_trailer(const char *path, const char *key) {
  struct stat s;
  trailer t;
  memcpy(t.magic, magic, sizeof magic);
  int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0)
    return false;
  bool good = fstat(file, &s) == 0 && fchmod(file, 0700) == 0 &&
              check_of(file, (uint64_t)s.st_size, key, t.check) &&
              write(file, &t, sizeof t) == (ssize_t)sizeof t;
  return close(file) == 0 && good;
}

// ---- the bound ---------------------------------------------------------------------------------

typedef struct entry {
  char name[CACHE_KEY + 8];
  uint64_t bytes;
  struct timespec used;
} entry;

static int by_age(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->used.tv_sec != y->used.tv_sec)
    return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
  return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

static bool is_entry(const char *name) {
  const char *kind = name + strspn(name, "0123456789abcdef");
  return kind - name == CACHE_KEY - 1 &&
         (strcmp(kind, code_entry) == 0 || strcmp(kind, text_entry) == 0);
}

static bool is_work(const char *name) { return strncmp(name, "work-", 5) == 0; }

static void remove_folder(const char *path) {
  DIR *folder = opendir(path);
  for (struct dirent *e; folder && (e = readdir(folder)) != NULL;)
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
      unlinkat(dirfd(folder), e->d_name, 0);
  if (folder)
    closedir(folder);
  rmdir(path);
}

// What a process that was killed has left.
static void remove_stale(const cache *c, const char *name, const struct stat *s) {
  char path[CACHE_PATH];
  if (is_work(name) && S_ISDIR(s->st_mode) && time(NULL) - s->st_mtime > STALE_SECONDS &&
      join(path, c->folder, name))
    remove_folder(path);
}

// All entries, malloc'd, with *total their bytes.
static entry *list_entries(const cache *c, size_t *count, uint64_t *total) {
  entry *all = NULL;
  size_t room = 0;
  DIR *folder = opendir(c->folder);
  *count = 0;
  *total = 0;
  for (struct dirent *e; folder && (e = readdir(folder)) != NULL;) {
    struct stat s;
    if (fstatat(dirfd(folder), e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    remove_stale(c, e->d_name, &s);
    if (!is_entry(e->d_name))
      continue;
    if (*count == room) {
      entry *more = realloc(all, (room = 2 * room + 16) * sizeof *all);
      if (!more)
        break;
      all = more;
    }
    entry *one = &all[(*count)++];
    *one = (entry){.bytes = (uint64_t)s.st_size, .used = s.st_mtim};
    memcpy(one->name, e->d_name, strlen(e->d_name) + 1);
    *total += one->bytes;
  }
  if (folder)
    closedir(folder);
  return all;
}

// Entries that are in use stay in memory; only their names go.
static void keep_bounded(const cache *c) {
  size_t count;
  uint64_t total;
  entry *all = list_entries(c, &count, &total);
  if (total > c->most_bytes)
    qsort(all, count, sizeof *all, by_age);
  for (size_t i = 0; i < count && total > c->most_bytes; i++) {
    char path[CACHE_PATH];
    if (join(path, c->folder, all[i].name) && unlink(path) == 0)
      total -= all[i].bytes;
  }
  free(all);
}

uint64_t cache_clear(const cache *c) {
  size_t count;
  uint64_t total, removed = 0;
  if (c->folder[0] == 0)
    return 0;
  entry *all = list_entries(c, &count, &total);
  for (size_t i = 0; i < count; i++) {
    char path[CACHE_PATH];
    if (join(path, c->folder, all[i].name) && unlink(path) == 0)
      removed += all[i].bytes;
  }
  free(all);
  return removed;
}

// ---- work --------------------------------------------------------------------------------------

typedef enum slot_state { SLOT_FREE, SLOT_CLAIMED, SLOT_LIVE } slot_state;
static struct {
  atomic_int state;
  char path[CACHE_PATH];
} works[MOST_WORK];

static int register_work(const char *path) {
  for (int i = 0; i < MOST_WORK; i++) {
    int expected = SLOT_FREE;
    if (!atomic_compare_exchange_strong(&works[i].state, &expected, SLOT_CLAIMED))
      continue;
    memcpy(works[i].path, path, strlen(path) + 1);
    atomic_store(&works[i].state, SLOT_LIVE);
    return i;
  }
  return -1;
}

bool cache_work_begin(const cache *c, cache_work *w, const char **why) {
  const char *temporary = getenv("TMPDIR");
  *w = (cache_work){.slot = -1};
  bool made = c->folder[0] && join(w->folder, c->folder, "work-XXXXXX") && mkdtemp(w->folder);
  if (!made && temporary && *temporary)
    made = join(w->folder, temporary, "permc-XXXXXX") && mkdtemp(w->folder);
  if (!made)
    made = join(w->folder, "/tmp", "permc-XXXXXX") && mkdtemp(w->folder);
  if (!made) {
    *why = "there is no folder to compile in";
    return false;
  }
  w->slot = register_work(w->folder);
  return true;
}

static bool keep_file(const cache *c, const cache_work *w, const char *name, const char *key,
                      const char *kind, char path[CACHE_PATH]) {
  char from[CACHE_PATH];
  bool good = join(from, w->folder, name) && entry_path(c, key, kind, path) &&
              add_trailer(from, key) && rename(from, path) == 0;
  if (good)
    keep_bounded(c);
  else
    join(path, w->folder, name);
  return good;
}

bool cache_keep(const cache *c, const cache_work *w, const char *name, const char key[CACHE_KEY],
                char path[CACHE_PATH]) {
  return keep_file(c, w, name, key, code_entry, path);
}

void cache_work_end(cache_work *w) {
  if (w->folder[0])
    remove_folder(w->folder);
  if (w->slot >= 0)
    atomic_store(&works[w->slot].state, SLOT_FREE);
  *w = (cache_work){.slot = -1};
}

// ---- texts -------------------------------------------------------------------------------------

bool cache_find_text(const cache *c, const char key[CACHE_KEY], char out[CACHE_TEXT]) {
  char path[CACHE_PATH];
  if (!entry_path(c, key, text_entry, path))
    return false;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0)
    return false;
  struct stat s;
  bool good = fstat(file, &s) == 0 && s.st_size >= (off_t)sizeof(trailer) &&
              s.st_size - (off_t)sizeof(trailer) < CACHE_TEXT && is_good(file, key);
  size_t length = good ? (size_t)s.st_size - sizeof(trailer) : 0;
  good = good && pread(file, out, length, 0) == (ssize_t)length;
  out[good ? length : 0] = 0;
  if (good)
    (void)!futimens(file, NULL);  // used now
  close(file);
  return good && strlen(out) == length;
}

static bool write_new(const char *path, const char *content) {
  size_t length = strlen(content);
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  bool good = file >= 0 && write(file, content, length) == (ssize_t)length;
  return file >= 0 && close(file) == 0 && good;
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
  bool good = strlen(content) < CACHE_TEXT && join(from, w.folder, name) &&
              write_new(from, content) && keep_file(c, &w, name, key, text_entry, path);
  cache_work_end(&w);
  return good;
}

bool cache_remove_text(const cache *c, const char key[CACHE_KEY]) {
  char path[CACHE_PATH];
  return entry_path(c, key, text_entry, path) && unlink(path) == 0;
}

// ---- in a signal's handler ---------------------------------------------------------------------

// Without readdir, which may allocate. What the kernel calls linux_dirent64.
typedef struct directory_entry {
  uint64_t inode;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[];
} directory_entry;

static void empty_folder(const char *path) {
  _Alignas(directory_entry) char buffer[4096];
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (folder < 0)
    return;
  long got;
  while ((got = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0)
    for (long at = 0; at < got;) {
      directory_entry *e = (directory_entry *)(void *)(buffer + at);
      unlinkat(folder, e->name, 0);  // fails for . and ..
      at += e->length;
    }
  close(folder);
}

// A compiler that was just killed may still finish creating a file.
void cache_discard_all_from_signal(void) {
  int saved = errno;
  for (int i = 0; i < MOST_WORK; i++)
    for (int again = 0; atomic_load(&works[i].state) == SLOT_LIVE && again < 50; again++) {
      empty_folder(works[i].path);
      if (rmdir(works[i].path) == 0 || errno == ENOENT)
        break;
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
  errno = saved;
}
