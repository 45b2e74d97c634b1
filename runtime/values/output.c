// Output files that appear whole or not at all.
//
//   output_open("keys.npy")   makes a file without a name in the same folder, with the mode of
//                             keys.npy (or what the umask gives a new file)
//   output_commit             names it keys.npy; where there is an old one, .permc-1f3a9c.tmp, and
//                             renames that, which replaces the old one
//
// Where the file system has no files without a name it is .permc-1f3a9c.tmp from the beginning, and
// is removed on any error. A process that is killed leaves that then.
//
// A symbolic link keeps pointing where it does: its target is replaced. What is not a regular file
// (pipe, terminal, /dev/full), and what is named through /dev (but /dev/shm) or /proc, is written
// directly.
//
// The stream writes through a cookie, so that the errno of the first failed write is still known
// at commit: the C library forgets it.
#include "runtime/system/temporary.h"
#include "runtime/system/unnamed.h"
#include "runtime/values/value.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_LINKS = 40 };

struct output_file {
  char *name;       // for messages
  char *target;     // what the file becomes
  char *temporary;  // its name until then; NULL: it has none
  bool unnamed;     // it gets one; else, without a temporary, it is written directly
  int slot;         // of system/temporary.h; -1: none
  int descriptor;
  bool owns_descriptor;
  int failure;  // errno of the first failed write
  progress progress;
  uint64_t written, total;  // bytes
  FILE *stream;
};

// ---- paths ------------------------------------------------------------------------------------

// The folder part of a path with its slash ("" if there is none), then `name`. malloc'd.
static char *path_beside(const char *path, const char *name) {
  const char *slash = strrchr(path, '/');
  size_t folder = slash ? (size_t)(slash - path) + 1 : 0, length = strlen(name);
  char *joined = malloc(folder + length + 1);
  if (!joined)
    return NULL;
  memcpy(joined, path, folder);
  memcpy(joined + folder, name, length + 1);
  return joined;
}

// Where a path leads through symbolic links, whether the last target exists or not. malloc'd; NULL
// with errno set.
static char *follow_links(const char *path) {
  char *at = strdup(path);
  for (int links = 0; at && links < MOST_LINKS; links++) {
    char target[PATH_MAX];
    ssize_t length = readlink(at, target, sizeof target - 1);
    if (length < 0)
      return at;  // no link, or nothing there
    target[length] = 0;
    char *next = target[0] == '/' ? strdup(target) : path_beside(at, target);
    free(at);
    at = next;
  }
  if (at)
    errno = ELOOP;
  free(at);
  return NULL;
}

// Where no files are made: names there are those of devices and of open files.
static bool is_in_special_folder(const char *path) {
  bool is_device = strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0;
  return is_device || strncmp(path, "/proc/", 6) == 0;
}

static bool is_special(const char *path, const char *target) {
  return is_in_special_folder(path) || is_in_special_folder(target);
}

// ---- before any work --------------------------------------------------------------------------

static bool fail_output(error *e, const char *path, const char *format, ...) {
  char why[512];
  WITH_ARGUMENTS(format, vsnprintf(why, sizeof why, format, arguments));
  size_t length = strlen(path);
  bool long_path = length > 200;  // which loses its beginning
  return error_set(e, SPAN_NONE, "%s%s: %s", long_path ? "..." : "",
                   long_path ? path + length - 197 : path, why);
}

static void fail_no_folder(error *e, const char *path, const char *folder) {
  FREED_BY(text_free) text word = {0};
  text_shell_word(&word, folder);
  if (word.failed || word.length > 120)
    fail_output(e, path, "there is no folder '%.120s'; make it, or write elsewhere", folder);
  else
    fail_output(e, path, "there is no folder '%s'; make it (mkdir -p %s), or write elsewhere",
                folder, word.data);
}

// The folder of `target`, in which a temporary is created and renamed.
static bool check_folder(const char *path, const char *target, error *e) {
  struct stat status;
  FREED char *folder = path_beside(target, "");
  if (!folder)
    return error_no_memory(e);
  size_t length = strlen(folder);
  bool names_file = target[length] != 0;
  if (length > 1)
    folder[length - 1] = 0;  // its slash
  const char *name = *folder ? folder : ".";
  bool exists = stat(name, &status) == 0;
  int reason = exists ? 0 : errno;
  bool writable = exists && faccessat(AT_FDCWD, name, W_OK | X_OK, AT_EACCESS) == 0;
  if (!exists && reason == ENOENT)
    fail_no_folder(e, path, name);
  else if (!exists)
    fail_output(e, path, "%s", strerror(reason));
  else if (!names_file)
    fail_output(e, path, "this is a folder; name a file in it");
  else if (!writable)
    fail_output(e, path,
                "files may not be created in the folder '%.120s'; write elsewhere, or "
                "change its mode",
                name);
  return exists && names_file && writable;
}

bool output_parse(const char *word, const char **path, size_t *counter, error *e) {
  static const char first[] = "first";
  char *end = NULL;
  *e = (error){0};
  *path = word;
  *counter = 0;
  const char *number = word + sizeof first;
  if (strncmp(word, first, sizeof first - 1) || (number[-1] != ':' && number[-1] != '='))
    return true;
  unsigned long long n =
      number[-1] == ':' && *number >= '1' && *number <= '9' ? strtoull(number, &end, 10) : 0;
  if (!n || n > SIZE_MAX || *end != '=')
    return error_set(e, SPAN_NONE,
                     "%.300s: expected first:2=FILE, for as many elements as result 2 says; "
                     "a file of that name is ./%.300s",
                     word, word);
  *path = end + 1;
  *counter = (size_t)n;
  return true;
}

bool output_check(const char *path, error *e) {
  struct stat old;
  *e = (error){0};
  if (strcmp(path, "-") == 0)
    return true;
  if (!*path)
    return error_set(e, SPAN_NONE, "the name of an output file is empty");
  bool exists = stat(path, &old) == 0;
  if (!exists && errno != ENOENT)
    return fail_output(e, path, "%s", strerror(errno));
  if (exists && S_ISDIR(old.st_mode))
    return fail_output(e, path, "this is a folder; name a file in it");
  if (exists && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
    return fail_output(e, path,
                       "the file may not be written to; write elsewhere, or change its "
                       "mode (chmod u+w)");
  FREED char *target = follow_links(path);
  if (!target)
    return fail_output(e, path, "%s", strerror(errno));
  bool special = is_special(path, target), good = exists && (special || !S_ISREG(old.st_mode));
  if (!exists && special)
    fail_output(e, path, "there is no such device or open file; write elsewhere");
  else if (!good)
    good = check_folder(path, target, e);
  return good;
}

bool output_is_direct(const char *path) {
  struct stat old;
  FREED char *target = follow_links(path);
  return strcmp(path, "-") == 0 || (stat(path, &old) == 0 && !S_ISREG(old.st_mode)) ||
         (target && is_special(path, target));
}

static bool same_status(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

// Of files that are not there yet: the same name in the same folder.
static bool same_place(const char *a, const char *b) {
  struct stat x, y;
  const char *name_a = strrchr(a, '/'), *name_b = strrchr(b, '/');
  FREED char *folder_a = path_beside(a, "."), *folder_b = path_beside(b, ".");
  return folder_a && folder_b && stat(folder_a, &x) == 0 && stat(folder_b, &y) == 0 &&
         same_status(&x, &y) && !strcmp(name_a ? name_a + 1 : a, name_b ? name_b + 1 : b);
}

bool output_same(const char *a, const char *b) {
  struct stat x, y;
  bool there_a = stat(a, &x) == 0, there_b = stat(b, &y) == 0;
  if (!strcmp(a, "-") || !strcmp(b, "-") || there_a != there_b)
    return false;
  if (there_a)
    return S_ISREG(x.st_mode) && same_status(&x, &y);
  FREED char *target_a = follow_links(a), *target_b = follow_links(b);
  return target_a && target_b && same_place(target_a, target_b);
}

// ---- the stream -------------------------------------------------------------------------------

static ssize_t write_some(output_file *o, const char *bytes, size_t count) {
  enum { LARGEST_WRITE = 1 << 24 };  // so that progress is told in between
  for (;;) {
    ssize_t written = write(o->descriptor, bytes, count < LARGEST_WRITE ? count : LARGEST_WRITE);
    if (written >= 0)
      return written;
    struct pollfd wait = {.fd = o->descriptor, .events = POLLOUT};
    if ((errno == EAGAIN || errno == EWOULDBLOCK) && poll(&wait, 1, -1) >= 0)
      continue;
    if (errno != EINTR)
      return -1;
  }
}

// As fopencookie wants it: fewer than count bytes on an error, never a negative number.
static ssize_t stream_write(void *cookie, const char *bytes, size_t count) {
  output_file *o = cookie;
  size_t done = 0;
  while (done < count && !o->failure) {
    ssize_t written = write_some(o, bytes + done, count - done);
    if (written < 0) {
      o->failure = errno;
      break;
    }
    done += (size_t)written;
    o->written += (uint64_t)written;
    progress_report(&o->progress, o->written, o->total);
  }
  if (done < count)
    errno = o->failure;
  return (ssize_t)done;
}

// ---- opening ----------------------------------------------------------------------------------

// A name beside the target that no other file has.
static bool choose_temporary(output_file *o) {
  static atomic_uint serial;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  char name[64];
  snprintf(name, sizeof name, ".permc-%lx-%x-%lx.tmp", (long)getpid(), atomic_fetch_add(&serial, 1),
           (long)now.tv_nsec);
  o->temporary = path_beside(o->target, name);
  if (!o->temporary) {
    errno = ENOMEM;
    return false;
  }
  o->slot = temporary_register(o->temporary);
  return true;
}

static void drop_temporary(output_file *o) {
  int reason = errno;
  temporary_unregister(o->slot);
  o->slot = -1;
  free(o->temporary);
  o->temporary = NULL;
  errno = reason;
}

// Of the file without a name, or of a new file. open, unlike mkstemp, applies the umask (and a
// default ACL).
static bool take_temporary(output_file *o) {
  if (o->unnamed)
    return unnamed_link(o->descriptor, o->temporary);
  o->descriptor = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return o->descriptor >= 0;
}

static bool add_temporary(output_file *o) {
  bool good = false, again = true;
  for (int tries = 0; tries < 100 && again && !good; tries++) {
    if (!choose_temporary(o))
      return false;
    good = take_temporary(o);
    if (!good)
      drop_temporary(o);
    again = errno == EEXIST;
  }
  o->unnamed = o->unnamed && !good;
  return good;
}

// In the target's folder, without a name where that is possible.
static bool create_file(output_file *o) {
  char *folder = path_beside(o->target, ".");
  o->descriptor = folder ? unnamed_create(folder) : -1;
  o->unnamed = o->descriptor >= 0;
  free(folder);
  o->owns_descriptor = o->unnamed || add_temporary(o);
  return o->owns_descriptor;
}

// The mode and, where allowed, the owner of the file that will be replaced. Where the owner cannot
// be kept, nor are the set-user-id bits.
static bool copy_mode(int descriptor, const struct stat *old) {
  struct stat created;
  if (fstat(descriptor, &created) != 0)
    return false;
  mode_t mode = old->st_mode & 07777;
  bool same_owner = created.st_uid == old->st_uid && created.st_gid == old->st_gid;
  if (!same_owner && fchown(descriptor, old->st_uid, old->st_gid) != 0)
    mode &= 0777;
  return (created.st_mode & 07777) == mode || fchmod(descriptor, mode) == 0;
}

static bool open_directly(output_file *o, const char *path, int flags) {
  o->descriptor = open(path, O_WRONLY | O_CLOEXEC | flags);
  o->owns_descriptor = o->descriptor >= 0;
  return o->owns_descriptor;
}

static bool open_path(output_file *o, const char *path) {
  struct stat old;
  bool exists = stat(path, &old) == 0;
  if (exists && !S_ISREG(old.st_mode))
    return open_directly(o, path, 0);
  o->target = follow_links(path);
  if (!o->target)
    return false;
  if (is_special(path, o->target))
    return open_directly(o, path, O_TRUNC);
  return create_file(o) && (!exists || copy_mode(o->descriptor, &old));
}

static bool open_stream(output_file *o, const char *path) {
  if (strcmp(path, "-") == 0) {
    fflush(stdout);  // what the program printed comes first
    o->descriptor = STDOUT_FILENO;
  } else if (!open_path(o, path)) {
    return false;
  }
  o->stream = fopencookie(o, "w", (cookie_io_functions_t){.write = stream_write});
  return o->stream != NULL;
}

// Closes and frees all; the temporary is removed if it is still there.
static void destroy_output(output_file *o) {
  if (o->stream)
    fclose(o->stream);
  if (o->owns_descriptor)
    close(o->descriptor);
  if (o->temporary)
    unlink(o->temporary);
  temporary_unregister(o->slot);
  free(o->temporary);
  free(o->target);
  free(o->name);
  free(o);
}

output_file *output_open(const char *path, error *e) {
  if (!output_check(path, e))  // rename would replace a file that must not be written
    return NULL;
  output_file *o = calloc(1, sizeof *o);
  char *name = strdup(strcmp(path, "-") == 0 ? "standard output" : path);
  if (!o || !name) {
    free(o);
    free(name);
    error_no_memory(e);
    return NULL;
  }
  *o = (output_file){.name = name, .slot = -1, .descriptor = -1};
  if (!open_stream(o, path)) {
    int reason = errno;
    error_set(e, SPAN_NONE, "%.300s: %s", name, strerror(reason));
    destroy_output(o);
    return NULL;
  }
  return o;
}

FILE *output_stream(output_file *o) { return o->stream; }

const char *output_temporary(output_file *o) {
  return o->temporary || (o->unnamed && add_temporary(o)) ? o->temporary : NULL;
}

int output_descriptor(const output_file *o) {
  return o->temporary || o->unnamed ? o->descriptor : -1;
}

const char *output_name(const output_file *o) { return o->name; }

// ---- another file in its place ------------------------------------------------------------------

// Of a file system without files that have no name: whether a name can be given is known when it
// is.
static bool replace_temporary(const output_file *o, int descriptor) {
  char other[PATH_MAX];
  if (snprintf(other, sizeof other, "%s.own", o->temporary) >= (int)sizeof other)
    return false;
  int slot = temporary_register(other);
  bool linked = unnamed_link(descriptor, other);
  bool good = linked && rename(other, o->temporary) == 0;
  if (linked && !good)
    unlink(other);
  temporary_unregister(slot);
  return good;
}

bool output_take(output_file *o, int descriptor) {
  struct stat created;
  int own = output_descriptor(o) < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  bool good = own >= 0 && unnamed_together(own, o->descriptor) &&
              fstat(o->descriptor, &created) == 0 && copy_mode(own, &created) &&
              (o->unnamed || replace_temporary(o, own));
  int dropped = good ? o->descriptor : own;
  if (good)
    o->descriptor = own;
  if (dropped >= 0)
    close(dropped);
  return good;
}

void output_watch(output_file *o, progress p, uint64_t total) {
  o->progress = p;
  o->total = total;
}

// ---- closing ----------------------------------------------------------------------------------

// A file without a name is lost when it is closed; no file system that has these has an error then.
bool output_close(output_file *o, error *e) {
  *e = (error){0};
  bool flushed = !o->stream || fclose(o->stream) == 0;
  o->stream = NULL;
  if (!flushed && !o->failure)
    o->failure = errno;
  if (o->owns_descriptor && !o->unnamed) {
    if (close(o->descriptor) != 0 && !o->failure)
      o->failure = errno;
    o->owns_descriptor = false;
  }
  return !o->failure || error_set(e, SPAN_NONE, "%.300s: %s", o->name, strerror(o->failure));
}

void output_sync(output_file *o) {
  if (fflush(o->stream) == 0 && output_descriptor(o) >= 0 && fsync(o->descriptor) != 0 &&
      !o->failure)
    o->failure = errno;
}

static bool has_to_appear(const output_file *o) { return o && output_descriptor(o) >= 0; }

// All that are not written directly get their names. False: errno, and which has failed.
static bool appear(output_file **made, size_t count, size_t *failed) {
  size_t files = 0;
  for (size_t i = 0; i < count; i++)
    files += has_to_appear(made[i]);
  if (!files)  // of a rank that has none: it cannot fail when another's are there
    return true;
  unnamed_replacement *all = calloc(count + 1, sizeof *all);
  size_t *numbers = calloc(count + 1, sizeof *numbers), which = 0, used = 0;
  bool good = all && numbers;
  if (!good)
    errno = ENOMEM;
  for (size_t i = 0; i < count && good; i++) {
    output_file *o = made[i];
    if (!has_to_appear(o))
      continue;
    good = !o->unnamed || choose_temporary(o);
    which = used;  // if it is not good
    numbers[used] = i;
    all[used++] = (unnamed_replacement){o->unnamed ? o->descriptor : -1, o->temporary, o->target};
  }
  bool linked = good && used == 1 && all->descriptor >= 0 &&
                unnamed_link(all->descriptor, all->path);  // there is no old file
  good = linked || (good && unnamed_replace(all, used, &which));
  int reason = errno;
  *failed = numbers ? numbers[which] : 0;
  for (size_t i = 0; i < used && good; i++)
    drop_temporary(made[numbers[i]]);
  free(all);
  free(numbers);
  errno = reason;
  return good;
}

bool outputs_commit(output_file **made, size_t count, error *e) {
  size_t failed = 0;
  bool good = true;
  int reason = 0;
  *e = (error){0};
  for (size_t i = 0; i < count && good; i++)
    if (made[i] && !output_close(made[i], e)) {
      reason = made[i]->failure;
      good = false;
    }
  if (good && !appear(made, count, &failed)) {
    reason = errno;
    good = error_set(e, SPAN_NONE, "%.300s: %s", made[failed] ? made[failed]->name : "an output",
                     strerror(reason));
  }
  for (size_t i = 0; i < count; made[i++] = NULL)
    output_discard(made[i]);
  errno = reason;
  return good;
}

bool output_commit(output_file *o, error *e) { return outputs_commit(&o, 1, e); }

void output_discard(output_file *o) {
  if (!o)
    return;
  o->failure = o->failure ? o->failure : ECANCELED;  // what is still buffered is not written
  destroy_output(o);
}
