// The file of a run that may go on later. See journal.h.
#include "runtime/external/journal.h"
#include "core/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char title[] = "permc-journal 3 ";

static bool fail_journal(error *failure, const journal *j, int number) {
  return error_set_number(failure, number, "%s: %s", j->path, error_of_writing(number));
}

bool journal_fail_damaged(error *failure, const char *folder, const char *format, ...) {
  char what[200];
  WITH_ARGUMENTS(format, vsnprintf(what, sizeof what, format, arguments));
  return error_set(
      failure, SPAN_NONE,
      "%s: this folder of a run with --resume is damaged: %s; remove it to begin anew, "
      "or run without --resume",
      folder, what);
}

// ---- lines -------------------------------------------------------------------------------------

enum { WHOLE = 300 };
static int make_whole(char whole[WHOLE], const char *line) {
  return snprintf(whole, WHOLE, "%s %016" PRIx64 "\n", line, hash_bytes(line, strlen(line)));
}

// The line without its checksum; NULL: it is not whole.
static char *whole_line(char *line) {
  char *last = strrchr(line, ' ');
  if (!last || strtoull(last + 1, NULL, 16) != hash_bytes(line, (size_t)(last - line)))
    return NULL;
  *last = 0;
  return line;
}

static void read_line(journal *j, const char *line) {
  uint32_t step;
  uint64_t done;
  if (sscanf(line, "done %" SCNu32 " %" SCNu64, &step, &done) == 2) {
    j->step = step;
    j->done = done;
  } else {
    text_printf(&j->lines, "%s\n", line);
  }
}

// All lines that end; where the last does. NULL: one is not what was written.
static char *read_lines(journal *j, char *line) {
  for (char *end; (end = strchr(line, '\n')); line = end + 1) {
    *end = 0;
    if (!whole_line(line))
      return NULL;
    read_line(j, line);
  }
  return line;
}

static bool add_line(journal *j, const char *line, error *failure) {
  char whole[WHOLE];
  int length = make_whole(whole, line);
  errno = ENOSPC;  // of a part that is written
  if (write(j->descriptor, whole, (size_t)length) == length && fdatasync(j->descriptor) == 0)
    return true;
  return fail_journal(failure, j, errno);
}

bool journal_note_done(journal *j, uint32_t step, uint64_t done, error *failure) {
  char line[100];
  snprintf(line, sizeof line, "done %" PRIu32 " %" PRIu64, step, done);
  j->step = step;
  j->done = done;
  return add_line(j, line, failure);
}

static void made_line(char line[200], const char *name, uint64_t bytes) {
  snprintf(line, 200, "made %.100s %" PRIu64, name, bytes);
}

bool journal_note_made(journal *j, const char *name, uint64_t bytes, error *failure) {
  char line[200];
  made_line(line, name, bytes);
  text_printf(&j->lines, "%s\n", line);
  return !j->lines.failed ? add_line(j, line, failure) : error_no_memory(failure);
}

bool journal_has_made(const journal *j, const char *name, uint64_t bytes) {
  char line[202];
  made_line(line, name, bytes);
  strcat(line, "\n");
  return strstr(text_content(&j->lines), line) != NULL;
}

// ---- opening -----------------------------------------------------------------------------------

// NULL: *failure. What cannot be read is not lost: nothing is cut off.
static char *read_all(const journal *j, size_t *count, error *failure) {
  off_t size = lseek(j->descriptor, 0, SEEK_END);
  if (size < 0)
    return fail_journal(failure, j, errno), NULL;
  char *all = malloc((size_t)size + 1);
  if (!all)
    return error_no_memory(failure), NULL;
  size_t end = 0;
  ssize_t got = 1;
  while (got > 0 && end < (size_t)size) {
    got = pread(j->descriptor, all + end, (size_t)size - end, (off_t)end);
    end += got > 0 ? (size_t)got : 0;
  }
  if (got < 0) {
    fail_journal(failure, j, errno);
    return free(all), NULL;
  }
  all[end] = 0;
  *count = end;
  return all;
}

// Empty but for the first line.
static bool begin(journal *j, const char *first, error *failure) {
  off_t length = (off_t)strlen(first);
  errno = ENOSPC;  // of a part that is written
  return (ftruncate(j->descriptor, 0) == 0 &&
          pwrite(j->descriptor, first, (size_t)length, 0) == length &&
          lseek(j->descriptor, 0, SEEK_END) == length) ||
         fail_journal(failure, j, errno);
}

// What is there, of the run of this digest; nothing of it, or a part of its first line: a new one.
static bool take_up(journal *j, const char *folder, char *all, size_t size, const char *digest,
                    error *failure) {
  char own[200], first[WHOLE];
  snprintf(own, sizeof own, "%s%s", title, digest);
  size_t length = (size_t)make_whole(first, own);
  if (size < length && memcmp(all, first, size) == 0)
    return begin(j, first, failure);
  char *end = memchr(all, '\n', size), *last;
  if (end)
    *end = 0;
  if (!end || strncmp(all, title, sizeof title - 1) != 0 || !whole_line(all) ||
      !(last = read_lines(j, end + 1)))
    return journal_fail_damaged(failure, folder, "its journal is not what was written");
  if (strcmp(all, own) != 0)
    return error_set(failure, SPAN_NONE,
                     "%s: the run that was begun here has another program, other arguments, or "
                     "another --memory, --backend or version of permc; repeat that one, or remove "
                     "the folder to begin anew",
                     folder);
  off_t good = last - all;
  if (j->lines.failed)
    return error_no_memory(failure);
  return (ftruncate(j->descriptor, good) == 0 && lseek(j->descriptor, 0, SEEK_END) == good) ||
         fail_journal(failure, j, errno);
}

// f2, s1-0, argument0
bool journal_is_of_run(const char *name) {
  static const char *const kinds[] = {"f", "s", "argument"};
  bool is = false;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !is; i++) {
    size_t letters = strlen(kinds[i]);
    if (strncmp(name, kinds[i], letters) != 0)
      continue;
    size_t digits = strspn(name + letters, "0123456789-");
    const char *rest = name + letters + digits;
    is = digits && (!*rest || strcmp(rest, ".sums") == 0);
  }
  return is;
}

static bool fail_beside(error *failure, const char *folder, const char *name) {
  if (journal_is_of_run(name))
    return journal_fail_damaged(failure, folder, "it has '%s', and no journal", name);
  return error_set(failure, SPAN_NONE,
                   "%s: it holds '%s', which no run has written; remove it, or write elsewhere",
                   folder, name);
}

// Before a journal is made: the folder has nothing but it then. Hidden files are the system's.
static bool is_empty(const char *folder, error *failure) {
  DIR *all = opendir(folder);
  bool good = all || error_set_number(failure, errno, "%s: %s", folder, strerror(errno));
  for (struct dirent *e; good && (e = readdir(all));)
    good = e->d_name[0] == '.' || fail_beside(failure, folder, e->d_name);
  if (all)
    closedir(all);
  return good;
}

static bool fail_at_work(error *failure, const journal *j) {
  return error_set(failure, SPAN_NONE, "%s: another run is at work here", j->path);
}

// Not one that a run which ended has removed, after it was opened here.
static bool is_at_its_path(const journal *j, error *failure) {
  struct stat own, there;
  if (fstat(j->descriptor, &own) != 0)
    return fail_journal(failure, j, errno);
  bool same =
      stat(j->path, &there) == 0 && own.st_dev == there.st_dev && own.st_ino == there.st_ino;
  return same || fail_at_work(failure, j);
}

static bool open_file(journal *j, const char *folder, error *failure) {
  struct stat s;
  j->descriptor = open(j->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (j->descriptor < 0 && errno == EISDIR)
    return journal_fail_damaged(failure, folder, "its journal is no file");
  if (j->descriptor < 0 && errno == ENOENT) {
    if (!is_empty(folder, failure))
      return false;
    j->descriptor = open(j->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  }
  if (j->descriptor < 0 || fstat(j->descriptor, &s) != 0)
    return fail_journal(failure, j, errno);
  if (!S_ISREG(s.st_mode))
    return journal_fail_damaged(failure, folder, "its journal is no file");
  if (flock(j->descriptor, LOCK_EX | LOCK_NB) == 0)
    return is_at_its_path(j, failure);
  return errno == EWOULDBLOCK ? fail_at_work(failure, j) : fail_journal(failure, j, errno);
}

bool journal_open(journal *j, const char *folder, const char *digest, error *failure) {
  *j = (journal){.descriptor = -1};
  text path = {0};
  size_t size;
  text_printf(&path, "%s/journal", folder);
  if (path.failed)
    return text_free(&path), error_no_memory(failure);
  j->path = path.data;
  if (!open_file(j, folder, failure))
    return false;
  FREED char *all = read_all(j, &size, failure);
  return all && take_up(j, folder, all, size, digest, failure);
}

int journal_keep(journal *j) {
  int lock = j->descriptor;
  j->descriptor = -1;
  return lock;
}

int journal_clear(int folder, int lock) {
  int own = lock >= 0 ? lock : openat(folder, "journal", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  bool locked = own >= 0 && (lock >= 0 || flock(own, LOCK_EX | LOCK_NB) == 0);
  if (locked && ftruncate(own, 0) == 0)
    return own;
  if (own >= 0)
    close(own);
  return -1;
}

void journal_close(journal *j) {
  if (!j->path)
    return;
  if (j->descriptor >= 0)
    close(j->descriptor);
  text_free(&j->lines);
  free(j->path);
  *j = (journal){.descriptor = -1};
}
