// The file of a run that may go on later. See journal.h.
#include "runtime/external/journal.h"
#include "runtime/disk/disk.h"

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

static const char title[] = "permc-journal 1 ";

static bool fail_journal(error *failure, const journal *j, const char *why) {
  return error_set(failure, SPAN_NONE, "%s: %s", j->path, why);
}

// ---- lines -------------------------------------------------------------------------------------

static uint16_t check_of(const char *line, size_t length) {
  return (uint16_t)disk_sum(line, length);
}

// The line without its checksum; NULL: it is not whole.
static char *whole_line(char *line) {
  char *last = strrchr(line, ' ');
  if (!last || strtoul(last + 1, NULL, 16) != check_of(line, (size_t)(last - line)) || !last[1])
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
    j->notes++;
  } else {
    text_printf(&j->lines, "%s\n", line);
  }
}

// All lines that are whole; *good: bytes up to there.
static void read_lines(journal *j, char *from, size_t *good) {
  char *line = from;
  for (char *end; (end = strchr(line, '\n')); line = end + 1) {
    *end = 0;
    if (line > from && !whole_line(line))
      break;
    if (line > from)
      read_line(j, line);
  }
  *good = (size_t)(line - from);
}

static bool add_line(journal *j, const char *line, error *failure) {
  char whole[300];
  int length = snprintf(whole, sizeof whole, "%s %04x\n", line, check_of(line, strlen(line)));
  if (write(j->descriptor, whole, (size_t)length) == length && fdatasync(j->descriptor) == 0)
    return true;
  return fail_journal(failure, j, errno == ENOSPC ? "the disk is full" : strerror(errno));
}

bool journal_note_done(journal *j, uint32_t step, uint64_t done, error *failure) {
  char line[100];
  snprintf(line, sizeof line, "done %" PRIu32 " %" PRIu64, step, done);
  j->step = step;
  j->done = done;
  j->notes++;
  return add_line(j, line, failure);
}

static void made_line(char line[200], const char *name, uint64_t bytes) {
  snprintf(line, 200, "made %.100s %" PRIu64, name, bytes);
}

static bool note_line(journal *j, const char *line, error *failure) {
  text_printf(&j->lines, "%s\n", line);
  return !j->lines.failed ? add_line(j, line, failure) : fail_journal(failure, j, "out of memory");
}

static bool has_line(const journal *j, char line[202]) {
  strcat(line, "\n");
  return strstr(text_content(&j->lines), line) != NULL;
}

bool journal_note_made(journal *j, const char *name, uint64_t bytes, error *failure) {
  char line[200];
  made_line(line, name, bytes);
  return note_line(j, line, failure);
}

bool journal_has_made(const journal *j, const char *name, uint64_t bytes) {
  char line[202];
  made_line(line, name, bytes);
  return has_line(j, line);
}

bool journal_note_filled(journal *j, const char *name, error *failure) {
  char line[200];
  snprintf(line, sizeof line, "filled %.100s", name);
  return note_line(j, line, failure);
}

bool journal_has_filled(const journal *j, const char *name) {
  char line[202];
  snprintf(line, sizeof line, "filled %.100s", name);
  return has_line(j, line);
}

// ---- opening -----------------------------------------------------------------------------------

// NULL: *failure. What cannot be read is not lost: nothing is cut off.
static char *read_all(const journal *j, size_t *count, error *failure) {
  off_t size = lseek(j->descriptor, 0, SEEK_END);
  if (size < 0)
    return fail_journal(failure, j, strerror(errno)), NULL;
  char *all = malloc((size_t)size + 1);
  if (!all)
    return fail_journal(failure, j, "out of memory"), NULL;
  *count = 0;
  for (ssize_t got = 1; got > 0 && *count<(size_t)size; *count += got> 0 ? (size_t)got : 0) {
    got = pread(j->descriptor, all + *count, (size_t)size - *count, (off_t)*count);
    if (got < 0) {
      fail_journal(failure, j, strerror(errno));
      return free(all), NULL;
    }
  }
  all[*count] = 0;
  return all;
}

static bool begin(journal *j, const char *digest, error *failure) {
  char line[200];
  int length = snprintf(line, sizeof line, "%s%s\n", title, digest);
  if (ftruncate(j->descriptor, 0) == 0 && pwrite(j->descriptor, line, (size_t)length, 0) == length)
    return lseek(j->descriptor, 0, SEEK_END) == length || fail_journal(failure, j, strerror(errno));
  return fail_journal(failure, j, errno == ENOSPC ? "the disk is full" : strerror(errno));
}

// What is there, of the run of this digest; nothing of it, or a part of its first line: a new one.
static bool take_up(journal *j, char *all, size_t size, const char *digest, error *failure) {
  size_t prefix = sizeof title - 1, length = strlen(digest), good;
  char *end = memchr(all, '\n', size);
  if (memcmp(all, title, size < prefix ? size : prefix) != 0)
    return fail_journal(failure, j, "it is no journal of permc; remove it, or write elsewhere");
  if (!end)
    return begin(j, digest, failure);
  if ((size_t)(end - all) != prefix + length || memcmp(all + prefix, digest, length) != 0)
    return fail_journal(failure, j,
                        "the run that was begun here has another program, other arguments, or "
                        "another --memory; repeat that one, or remove the folder to begin anew");
  read_lines(j, all, &good);
  if (j->lines.failed)
    return fail_journal(failure, j, "out of memory");
  return (ftruncate(j->descriptor, (off_t)good) == 0 &&
          lseek(j->descriptor, 0, SEEK_END) == (off_t)good) ||
         fail_journal(failure, j, strerror(errno));
}

// Before a journal is made: the folder has nothing but it then. Hidden files are the system's.
static bool is_empty(const char *folder, error *failure) {
  DIR *all = opendir(folder);
  bool good = all || error_set(failure, SPAN_NONE, "%s: %s", folder, strerror(errno));
  for (struct dirent *e; good && (e = readdir(all));)
    good = e->d_name[0] == '.' ||
           error_set(failure, SPAN_NONE,
                     "%s: it has '%s', which is of no run; remove it, or write elsewhere", folder,
                     e->d_name);
  if (all)
    closedir(all);
  return good;
}

static const char at_work[] = "another run is at work here";

// Not one that a run which ended has removed, after it was opened here.
static bool is_at_its_path(const journal *j, error *failure) {
  struct stat own, there;
  if (fstat(j->descriptor, &own) != 0)
    return fail_journal(failure, j, strerror(errno));
  bool same =
      stat(j->path, &there) == 0 && own.st_dev == there.st_dev && own.st_ino == there.st_ino;
  return same || fail_journal(failure, j, at_work);
}

static bool open_file(journal *j, const char *folder, error *failure) {
  struct stat s;
  j->descriptor = open(j->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (j->descriptor < 0 && errno == ENOENT) {
    if (!is_empty(folder, failure))
      return false;
    j->descriptor = open(j->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  }
  if (j->descriptor < 0 || fstat(j->descriptor, &s) != 0)
    return fail_journal(failure, j, strerror(errno));
  if (!S_ISREG(s.st_mode))
    return fail_journal(failure, j, "it is no file; remove it, or write elsewhere");
  if (flock(j->descriptor, LOCK_EX | LOCK_NB) == 0)
    return is_at_its_path(j, failure);
  return fail_journal(failure, j, errno == EWOULDBLOCK ? at_work : strerror(errno));
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
  char *all = read_all(j, &size, failure);
  bool good = all && take_up(j, all, size, digest, failure);
  free(all);
  return good;
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
