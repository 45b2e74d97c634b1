// The entries of the cache and their bound. See cache.h.
#include "core/memory.h"
#include "runtime/system/caching.h"
#include "runtime/system/locks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  READ_BYTES = 1 << 16,
  BLOCK_BYTES = 4096,  // of a disk: each entry counts as whole blocks
  PAUSE_NANOSECONDS = 200000,
  MOST_PAUSES = 25000  // for the lock of another process: 5 s
};

// Behind the content of each entry.
typedef struct trailer {
  char magic[8];
  unsigned char check[DIGEST_BYTES];
} trailer;
static const char magic[8] = "permc 1\n";

// ---- entries -----------------------------------------------------------------------------------

static const char *const kind_names[CACHE_KINDS] = {".so", ".text", ".runs", ".speed"};

static bool entry_path(const cache *c, const char *key, cache_kind kind, char path[CACHE_PATH]) {
  char name[CACHE_KEY + 32];
  snprintf(name, sizeof name, "%s/%.64s%s", cache_entries_folder, key, kind_names[kind]);
  return c->folder[0] && cache_join_path(path, c->folder, name);
}

// A regular file that is private, opened for what `how` says, else -1.
static int open_private_file(int folder, const char *path, int how, struct stat *s) {
  int file = openat(folder, path, how | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (file >= 0 && fstat(file, s) == 0 && S_ISREG(s->st_mode) && cache_is_private(s))
    return file;
  if (file >= 0)
    close(file);
  return -1;
}

// The digest of the file's first `length` bytes and the key. Leaves the offset behind them.
static bool digest_file(int file, uint64_t length, const char *key,
                        unsigned char out[DIGEST_BYTES]) {
  FREED unsigned char *buffer = malloc(READ_BYTES);
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
static int open_entry(const cache *c, const char *key, cache_kind kind, char path[CACHE_PATH]) {
  struct stat s;
  int file = entry_path(c, key, kind, path) ? open_private_file(AT_FDCWD, path, O_RDONLY, &s) : -1;
  if (file >= 0 && is_good_entry(file, s.st_size, key)) {
    (void)!futimens(file, NULL);
    return file;
  }
  if (file >= 0)
    close(file);
  return -1;
}

bool cache_find(const cache *c, const char key[CACHE_KEY], char path[CACHE_PATH]) {
  int file = open_entry(c, key, CACHE_CODE, path);
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

// ---- the index ---------------------------------------------------------------------------------

// How much the entries are, and may be. It is locked while it is read, entries are removed to make
// room, and one is added; and it counts an entry before that appears. So there are never more bytes
// than it says, whenever a process is killed; if there are less, the next count finds that.
static const char index_name[] = "index";
#define INDEX_FORMAT "permc cache: %20" PRIu64 " bytes of at most %20" PRIu64 "\n"
enum { INDEX_BYTES = 100 };

typedef struct cache_index {
  int folder, file;
  bool known;  // it was there, and right
  uint64_t bytes, limit;
} cache_index;

// So that the number of entries is bounded, too.
static uint64_t bytes_on_disk(off_t size) {
  return ((uint64_t)size + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
}

static void close_index(cache_index *x) {
  int why = errno;
  if (x->file >= 0)
    close(x->file);
  if (x->folder >= 0)
    close(x->folder);
  library_unlock(LOCK_CACHE);
  errno = why;
}

static bool read_index(cache_index *x) {
  char content[INDEX_BYTES + 1];
  ssize_t length = pread(x->file, content, INDEX_BYTES, 0);
  if (length < 0)
    return false;
  content[length] = 0;
  x->known = sscanf(content, "permc cache: %" SCNu64 " bytes of at most %" SCNu64, &x->bytes,
                    &x->limit) == 2;
  if (!x->known)
    x->limit = CACHE_MOST_BYTES;
  return true;
}

static bool write_index(const cache_index *x) {
  char content[INDEX_BYTES];
  int length = snprintf(content, sizeof content, INDEX_FORMAT, x->bytes, x->limit);
  return pwrite(x->file, content, (size_t)length, 0) == length;
}

// False: there is none that can be written to, or another process has it for too long a time. A
// file system without locks has to do without.
static bool lock_index(const cache *c, cache_index *x) {
  char path[CACHE_PATH];
  struct stat s;
  *x = (cache_index){-1, -1, false, 0, CACHE_MOST_BYTES};
  if (!c->folder[0] || !cache_join_path(path, c->folder, cache_entries_folder) ||
      (x->folder = cache_open_folder(AT_FDCWD, path)) < 0)
    return false;
  library_lock(LOCK_CACHE);
  x->file = open_private_file(x->folder, index_name, O_RDWR | O_CREAT, &s);
  bool good = x->file >= 0;
  for (int i = 0; good && flock(x->file, LOCK_EX | LOCK_NB) != 0; i++) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      break;
    good = i < MOST_PAUSES;
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NANOSECONDS}, NULL);
  }
  good = good && read_index(x);
  if (!good)
    close_index(x);
  return good;
}

// ---- the entries as a whole --------------------------------------------------------------------

static int compare_age(const void *a, const void *b) {
  const cache_entry *x = a, *y = b;
  if (x->used.tv_sec != y->used.tv_sec)
    return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
  return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

// CACHE_KINDS: it is not the name of an entry.
static cache_kind kind_of_name(const char *name) {
  const char *ending = name + strspn(name, "0123456789abcdef");
  cache_kind kind = ending - name == CACHE_KEY - 1 ? CACHE_CODE : CACHE_KINDS;
  while (kind < CACHE_KINDS && strcmp(ending, kind_names[kind]) != 0)
    kind++;
  return kind;
}

// Whether it is one by its trailer; whether the content is good does not matter here. False with
// errno set: the system does not say.
static bool is_entry(int folder, const char *name, struct stat *s) {
  trailer t;
  errno = 0;
  if (kind_of_name(name) == CACHE_KINDS)
    return false;
  int file = open_private_file(folder, name, O_RDONLY, s);
  if (file < 0) {
    errno = cache_lacks_resources() ? errno : 0;
    return false;
  }
  bool good = s->st_size >= (off_t)sizeof t &&
              pread(file, &t, sizeof t, s->st_size - (off_t)sizeof t) == (ssize_t)sizeof t &&
              memcmp(t.magic, magic, sizeof magic) == 0;
  close(file);
  return good;
}

static bool add_entry(cache_list *l, size_t *capacity, const char *name, const struct stat *s) {
  if (!memory_grow(&l->items, sizeof *l->items, l->count, capacity))
    return false;
  cache_entry *one = &l->items[l->count++];
  *one = (cache_entry){
      .kind = kind_of_name(name), .bytes = bytes_on_disk(s->st_size), .used = s->st_mtim};
  memcpy(one->name, name, strlen(name) + 1);
  l->bytes += one->bytes;
  return true;
}

// False: errno says why.
static bool list_entries(int above, cache_list *l) {
  DIR *folder = cache_open_files(above, ".");
  size_t capacity = 0;
  bool good = folder != NULL;
  while (good) {
    struct stat s;
    errno = 0;
    struct dirent *e = readdir(folder);
    if (!e)
      break;
    good = is_entry(above, e->d_name, &s) ? add_entry(l, &capacity, e->d_name, &s) : errno == 0;
  }
  int why = errno;
  if (folder)
    closedir(folder);
  if (l->items)
    qsort(l->items, l->count, sizeof *l->items, compare_age);
  errno = why;
  return why == 0;
}

void cache_list_free(cache_list *l) {
  free(l->items);
  *l = (cache_list){0};
}

// Removes the oldest entries until the others have at most so many bytes, and counts these. Entries
// that are in use stay in memory; only their names go. False: errno says why nothing was removed.
static bool bound_entries(cache_index *x, uint64_t most_bytes, uint64_t *removed) {
  cache_list l = {0};
  bool good = list_entries(x->folder, &l);
  *removed = 0;
  for (size_t i = 0; good && i < l.count && l.bytes - *removed > most_bytes; i++)
    if (unlinkat(x->folder, l.items[i].name, 0) == 0)
      *removed += l.items[i].bytes;
  x->bytes = l.bytes - *removed;
  int why = errno;
  cache_list_free(&l);
  errno = why;
  return good;
}

// Makes room in the index for an entry. All entries are looked at only where they are too many, and
// then an eighth of the limit becomes free, so that this is seldom.
static bool make_room(cache_index *x, uint64_t bytes) {
  if (bytes > x->limit)
    return false;
  if (!x->known || bytes > x->limit - x->bytes || x->bytes > x->limit) {
    uint64_t most = x->limit - x->limit / 8, removed;
    if (!bound_entries(x, most > bytes ? most - bytes : 0, &removed))
      return false;
  }
  x->bytes += bytes;
  return x->bytes <= x->limit && write_index(x);
}

bool cache_count(const cache *c, cache_list *l) {
  cache_index x;
  *l = (cache_list){.limit = CACHE_MOST_BYTES};
  if (!lock_index(c, &x))
    return false;
  bool good = list_entries(x.folder, l);
  l->limit = x.limit;
  close_index(&x);
  return good;
}

bool cache_limit(const cache *c, const uint64_t *limit, uint64_t *removed) {
  cache_index x;
  if (!lock_index(c, &x))
    return false;
  cache_remove_left_work(c);
  x.limit = limit ? *limit : x.limit;
  bool good = bound_entries(&x, limit ? *limit : 0, removed) && write_index(&x);
  close_index(&x);
  return good;
}

// ---- new entries ------------------------------------------------------------------------------

static bool keep_file(const cache *c, const cache_work *w, const char *name, const char *key,
                      cache_kind kind, char path[CACHE_PATH]) {
  struct stat s;
  cache_index x;
  int work = dirfd(w->opened);
  bool good = cache_work_is_whole(w) && entry_path(c, key, kind, path) &&
              add_trailer(work, name, key) && fstatat(work, name, &s, AT_SYMLINK_NOFOLLOW) == 0 &&
              lock_index(c, &x);
  if (good) {
    good = make_room(&x, bytes_on_disk(s.st_size)) && renameat(work, name, AT_FDCWD, path) == 0;
    close_index(&x);
  }
  if (!good)
    cache_join_path(path, w->folder, name);
  return good;
}

bool cache_keep(const cache *c, const cache_work *w, const char *name, const char key[CACHE_KEY],
                char path[CACHE_PATH]) {
  return keep_file(c, w, name, key, CACHE_CODE, path);
}

// ---- content in memory -------------------------------------------------------------------------

bool cache_find_bytes(const cache *c, const char key[CACHE_KEY], void **bytes, size_t *size) {
  char path[CACHE_PATH];
  struct stat s;
  int file = open_entry(c, key, CACHE_CODE, path);
  bool good = file >= 0 && fstat(file, &s) == 0 && s.st_size > (off_t)sizeof(trailer);
  *size = good ? (size_t)s.st_size - sizeof(trailer) : 0;
  *bytes = good ? malloc(*size) : NULL;
  good = *bytes && pread(file, *bytes, *size, 0) == (ssize_t)*size;
  if (file >= 0)
    close(file);
  if (!good) {
    free(*bytes);
    *bytes = NULL;
  }
  return good;
}

bool cache_find_text(const cache *c, cache_kind kind, const char key[CACHE_KEY],
                     char out[CACHE_TEXT]) {
  char path[CACHE_PATH];
  int file = open_entry(c, key, kind, path);
  ssize_t length = file < 0 ? -1 : pread(file, out, CACHE_TEXT, 0) - (ssize_t)sizeof(trailer);
  if (file >= 0)
    close(file);
  if (length < 0 || length >= CACHE_TEXT - (ssize_t)sizeof(trailer))
    return false;
  out[length] = 0;
  return strlen(out) == (size_t)length;
}

bool cache_keep_bytes(const cache *c, cache_kind kind, const char key[CACHE_KEY], const void *bytes,
                      size_t size, char path[CACHE_PATH], const char **why) {
  static const char name[] = "kept";
  cache_work w;
  *why = c->problem;
  if (!c->folder[0] || !cache_work_begin(c, &w, why))
    return false;
  *why = "its folder cannot be written to";
  bool good = (kind == CACHE_CODE || size < CACHE_TEXT - sizeof(trailer)) &&
              cache_work_write(&w, name, bytes, size) && keep_file(c, &w, name, key, kind, path);
  cache_work_end(&w);
  return good;
}

bool cache_remove_text(const cache *c, cache_kind kind, const char key[CACHE_KEY]) {
  char path[CACHE_PATH];
  return entry_path(c, key, kind, path) && unlink(path) == 0;
}
